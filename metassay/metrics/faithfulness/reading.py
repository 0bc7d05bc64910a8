"""Cases that a model can read: blank passages and statements are left out, and have no score."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from metassay.metrics.faithfulness.record import Case

Value = TypeVar("Value")
Asked = tuple[tuple[str, ...], str]  # passages and a statement, none of them blank


def by_text(
    cases: Sequence[Case], score: Callable[[Sequence[Case]], Sequence[Sequence[Value]]], null: Value
) -> list[list[Value]]:
    """What `score` gives for cases without blanks; `null` for a blank statement or no passage."""
    bare = [
        Case(*(tuple(text.strip() for text in side if text.strip()) for side in case))
        for case in cases
    ]
    found = iter(score([case for case in bare if all(case)]))
    values = [iter(next(found)) if all(case) else iter(()) for case in bare]
    return [
        [next(its, null) if text.strip() else null for text in case.statements]
        for its, case in zip(values, cases, strict=True)
    ]


def by_statement(
    cases: Sequence[Case], score: Callable[[Sequence[Asked]], Sequence[Value]], null: Value
) -> list[list[Value]]:
    """The same for what is read statement by statement, whatever case it is in."""

    def scores(cases: Sequence[Case]) -> list[list[Value]]:
        asked = [(case.passages, said) for case in cases for said in case.statements]
        found = iter(score(asked))
        return [[next(found) for _ in case.statements] for case in cases]

    return by_text(cases, scores, null)

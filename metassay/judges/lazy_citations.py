"""Ask judges that read one premise and one hypothesis at a time only what can matter.

A citation is useful if all passages together entail the statement, and its passage does
so alone or the others without it do not. So a single passage matters only if all
together may entail, and the others only if it may not entail alone (DocLens, Xie et al.
2024, section 3.3; its code asks an NLI model in this order). A failed answer may be
either, so what depends on it is asked.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Sequence

from metassay.judges.protocol import Judgment, Pair
from metassay.scoring.pairing.instruments import (
    ATTRIBUTION,
    ATTRIBUTION_ALONE,
    ATTRIBUTION_REST,
)

_Statement = tuple[str | None, str]  # all passages that it cites, and what it states


def judge_as_needed(
    pairs: Sequence[Pair], decide: Callable[[Sequence[Pair]], Sequence[Judgment]]
) -> list[Judgment | None]:
    """Return a judgment per pair, None if an answer could change nothing.

    `decide` returns one judgment per pair and is called at most three times: with the
    questions that are always asked, with single passages, and with the other passages.
    A question about a citation is always asked if the pairs have none about all
    passages of its statement.
    """
    answers: list[Judgment | None] = [None] * len(pairs)

    def ask(places: Sequence[int]) -> None:
        judgments = decide([pairs[place] for place in places]) if places else ()
        for place, judgment in zip(places, judgments, strict=True):
            answers[place] = judgment

    singles, others = (
        _places(pairs, i.name) for i in (ATTRIBUTION_ALONE, ATTRIBUTION_REST)
    )
    ask(sorted({*range(len(pairs))} - {*singles, *others}))
    unsupported = {
        (pairs[place].premise, pairs[place].hypothesis)
        for place in _places(pairs, ATTRIBUTION.name)
        if _has_label(answers[place], "not_entailed")
    }
    ask([place for place in singles if _statement(pairs[place]) not in unsupported])
    entailing: dict[_Statement, dict[str, bool]] = defaultdict(dict)  # by passage
    for place in singles:
        entails = _has_label(answers[place], "entailed")
        entailing[_statement(pairs[place])][pairs[place].premise] = entails

    def may_count(rest: Pair) -> bool:
        passages = entailing[_statement(rest)].items()
        alone = [entails for passage, entails in passages if leaves_out(rest, passage)]
        return _statement(rest) not in unsupported and not (alone and all(alone))

    ask([place for place in others if may_count(pairs[place])])
    return answers


def question_of(pair: Pair) -> tuple[str, ...]:
    """Return a key that the pairs about a statement and its citations share; others are alone."""
    if pair.instrument.startswith(ATTRIBUTION.name):
        return pair.premise if pair.context is None else pair.context, pair.hypothesis
    return (pair.pair_id,)


def leaves_out(rest: Pair, passage: str) -> bool:
    """Return whether a question of instrument attribution_rest leaves out this passage."""
    whole = f"\n{rest.context}\n"
    cut = f"\n{passage}"
    starts = [match.start() for match in re.finditer(rf"(?={re.escape(cut)}\n)", whole)]
    return any(
        whole[:i] + whole[i + len(cut) :] == f"\n{rest.premise}\n" for i in starts
    )


def _places(pairs: Sequence[Pair], instrument: str) -> list[int]:
    return [place for place, pair in enumerate(pairs) if pair.instrument == instrument]


def _statement(citation: Pair) -> _Statement:
    return citation.context, citation.hypothesis


def _has_label(judgment: Judgment | None, label: str) -> bool:
    return judgment is not None and judgment.status == "ok" and judgment.label == label

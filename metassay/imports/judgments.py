"""Judgments of the values that tools keep."""

from collections.abc import Iterable, Iterator

from metassay.imports.record import Judgment
from metassay.imports.values import key, number, scalars
from metassay.tabular.numbers import absent

PERSON = "person"  # a rater whom the tool does not name


def judged(
    name: object, value: object, by: object = "", *, person: bool = False, label: object = ""
) -> Iterator[Judgment]:
    """What a judge said: one judgment per number or word in the value, none in words for a number.

    A value that is null, NaN or an empty object is a judgment that says nothing.
    """
    rater = key(by) or (PERSON if person else "")
    for called, one in scalars(key(name) or "score", value):
        found, said = number(one), key(label)
        if found is None and isinstance(one, str) and not absent(one):
            said = said or key(one)
        yield Judgment(called, found, said, rater, person)


def rated(name: object, value: object, by: object = "", label: object = "") -> Iterator[Judgment]:
    """What a person said; nothing where the value is null or an empty cell."""
    if value is not None and not (isinstance(value, str) and absent(value)):
        yield from judged(name, value, by, person=True, label=label)


def several(judgments: Iterable[Iterable[Judgment]]) -> tuple[Judgment, ...]:
    """All of these, in one."""
    return tuple(one for some in judgments for one in some)

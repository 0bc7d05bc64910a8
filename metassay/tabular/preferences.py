"""Preferences between two texts in tables: the columns of the two, and words for the better one."""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from metassay.tabular.column_synonyms import WINNERS, fold_name
from metassay.tabular.name_patterns import OF_TWO

# Fields of the two systems, and of the two texts, in tools whose names are no pattern's.
SYSTEMS = (("generator_1", "generator_2"), ("chosen_model", "rejected_model"))
TEXTS = (("conversation_a", "conversation_b"), ("chosen", "rejected"))
# Things of which two are compared, by the names of their columns: systems, then texts.
NAMES = ("system", "model", "method", "author", "candidate")
CONTENTS = (
    "output",
    "response",
    "answer",
    "text",
    "summary",
    "note",
    "report",
    "completion",
)
_CHOSEN = ("chosen", "rejected")
_SIDES = (("a", "b"), ("1", "2"), ("left", "right"), ("first", "second"))
_TIE = re.compile(
    r"(?:it.?s )?(?:a )?(?:tie|ties|tied|draw|equal|same|both|neither|none|no_preference|even)"
    r"(?:_.*)?|a_?=_?b|(?:both|equally)_\w+",
)
# Words before the side that is better: `assistant_a`.
_SUBJECTS = (*NAMES, *CONTENTS, "assistant", "option", "side")


def two_fields(
    by_name: Mapping[str, str],
    known: tuple[tuple[str, str], ...],
    things: tuple[str, ...],
) -> tuple[str, str] | None:
    """Return the two fields with known names, or of one thing, such as `model_a` and `model_b`."""
    for left, right in known:
        if left in by_name and right in by_name:
            return by_name[left], by_name[right]
    sides = [match for name in by_name if (match := OF_TWO.fullmatch(name))]
    fields = {(match[1], match[2]): by_name[match[0]] for match in sides}
    for thing in things:
        for left, right in _SIDES:
            if (thing, left) in fields and (thing, right) in fields:
                return fields[thing, left], fields[thing, right]
    return None


def is_pairs(names: Iterable[str]) -> bool:
    """Whether columns with these names are of two systems or texts, and of the better one."""
    by_name = {fold_name(name): name for name in names}
    pairs = two_fields(by_name, SYSTEMS, NAMES) or two_fields(by_name, TEXTS, CONTENTS)
    return pairs is not None and any(name in by_name for name in WINNERS)


class Pair(NamedTuple):
    """The names of two systems, and the columns that hold these names, or their texts."""

    first: str
    second: str
    columns: tuple[str, str]


def system_columns(names: Iterable[str]) -> tuple[str, str] | None:
    """Return the columns with the names of two systems, such as `model_a` and `model_b`.

    >>> system_columns(["id", "system_a", "system_b", "judge"])
    ('system_a', 'system_b')
    """
    by_name = {fold_name(name): name for name in names}
    return two_fields(by_name, SYSTEMS, NAMES)


def are_positions(first: str, second: str) -> bool:
    """Whether two names say where two texts stand, and not who wrote them.

    >>> are_positions("A", "B"), are_positions("gpt-4o A", "gpt-4o B")
    (True, True)
    >>> are_positions("gpt-4o", "llama")
    False
    """
    left, right = first.casefold().split(), second.casefold().split()
    if not (left and right) or left[:-1] != right[:-1]:
        return False
    ends = (left[-1], right[-1])
    return any(sorted(ends) == sorted(sides) for sides in (*_SIDES, _CHOSEN))


def preferred_share(value: object, number: float | None, pair: Pair) -> float | None:
    """Return 1 for the first text, 0 for the second, .5 for a tie; None if it is none of these.

    `value` is a cell, `number` the same as a number, if it is one: AlpacaEval writes
    probabilities between 1 and 2; 0 is a tie.

    >>> pair = Pair("x", "y", ("system_a", "system_b"))
    >>> [preferred_share(word, None, pair) for word in ("A", "system_b", "x", "tie", "?")]
    [1.0, 0.0, 1.0, 0.5, None]
    """
    if number is None:
        return _share_of_word(str(value), pair)
    if number == 0:
        return 0.5
    return 2.0 - number if 1 <= number <= 2 else None


def _share_of_word(value: str, pair: Pair) -> float | None:
    word = fold_name(value)
    compact = re.sub(r"\s+", "", value).casefold()
    sides = zip((1.0, 0.0), (pair.first, pair.second), pair.columns, strict=True)
    for share, name, column in sides:
        if value == name or word == fold_name(column):
            return share
    if compact in ("a>b", "a>>b"):
        return 1.0
    if compact in ("b>a", "b>>a", "a<b", "a<<b"):
        return 0.0
    last = word.rpartition("_")[2]
    for left, right in _SIDES:
        if last in (left, right) and (
            word == last or word.rpartition("_")[0] in _SUBJECTS
        ):
            return 1.0 if last == left else 0.0
    return 0.5 if _TIE.fullmatch(word) or compact in ("a=b", "b=a") else None

"""Other numbers, other doses, other units.

A number grows, since who has five of something also has two; a dose grows or shrinks. What follows
"less than", "up to" and the like stays, because another limit may be true as well. So do numbers
that are names (COVID-19, L4, grade 2).
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from metassay.text.edits.wording import (
    FILE,
    NUMBER_WORD,
    VALUES,
    WORDS,
    Match,
    each,
    listed,
    replaced,
    table,
)
from metassay.text.patterns import Patterns

_P = Patterns(FILE, "values")

_EMERGENCY = ("911", "988")
_DOSES = frozenset(listed("doses"))
_TIMES = frozenset(listed("times"))
_GLUED = _DOSES | {"%", "cm", "mm"}  # units that are written against their number
_OTHER_UNITS = table("values other_units")
_TYPES = {"1": "2", "2": "1", "i": "II", "ii": "I"}
_WORD = re.compile(rf"{NUMBER_WORD}(?! (?:to|or|and|{'|'.join(sorted(_TIMES))})\b)", re.IGNORECASE)


class Value(NamedTuple):
    """A number of a sentence, or a range, and the word behind it (lower-cased, may be empty)."""

    low: str
    high: str  # empty if it is no range
    to: str
    start: int
    end: int  # of the number, without its unit
    unit: str
    unit_span: tuple[int, int]


def values(sentence: str) -> Iterator[Value]:
    """The numbers that stand for themselves: no names, and nothing next to "up to" and the like."""
    for match in _P.value.finditer(sentence):
        before = sentence[: match.start()]
        if _P.limit.search(before) or _P.names.search(before) or match["low"] in _EMERGENCY:
            continue
        end = match.end("high") if match["high"] else match.end("low")
        unit = (match["unit"] or "").lower()
        glued = unit and not match["gap"] and unit not in _GLUED
        if not glued and not _P.range_or_size.match(sentence[end:]):
            span = match.span("unit")
            yield Value(
                match["low"], match["high"] or "", match["to"] or "", match.start(), end, unit, span
            )


def number(sentence: str) -> Iterator[str]:
    """The sentence with another count, age, grade, pressure or laboratory value."""
    for value in values(sentence):
        if _counts(value):
            yield from _with(sentence, value, grown(value))
    yield from each(sentence, _P.pressure, _pressure, "high")
    yield from each(sentence, _P.score, _score, "got")
    yield from each(sentence, _P.type, _TYPES)

    def more(match: Match) -> str | None:
        before = sentence[: match.start()]
        fits = not _P.limit.search(before) and not _P.whose.search(before)
        return WORDS[min(20, 2 * VALUES[match[0].lower()] + 1)] if fits else None

    yield from each(sentence, _WORD, more)


def _pressure(match: Match) -> str | None:
    high, low = int(match["high"]), int(match["low"])
    return str(high + 30) if high > low >= 40 else None


def _score(match: Match) -> str | None:
    got = int(match["got"])
    return str(got - 2 if got >= 3 else got + 2) if got <= int(match["top"]) else None


def _counts(value: Value) -> bool:
    """Whether it is neither dose, time nor year; nor 1, whose noun is in the singular."""
    year = value.unit not in _OTHER_UNITS and re.fullmatch(r"(?:19|20)\d\d", value.low)
    singular = value.low == "1" and value.unit != "" and value.unit not in _OTHER_UNITS
    return not (year or singular or value.unit in _DOSES or value.unit in _TIMES)


def dose(sentence: str) -> Iterator[str]:
    """The sentence with another amount of a drug: twice or half of it, or a range above its own."""
    for value in values(sentence):
        if value.unit not in _DOSES:
            continue
        amount = _real(value.low)
        if not value.high:
            half = amount / 2
            if half == int(half) and half > value.unit.endswith("s"):
                yield from _with(sentence, value, _written(half, value.low))
            if value.low != "1":  # its unit may stand in the singular
                yield from _with(sentence, value, _written(2 * amount, value.low))
        else:
            yield from _with(sentence, value, grown(value))


def unit(sentence: str) -> Iterator[str]:
    """The sentence with another unit behind the same number."""
    for value in values(sentence):
        other = _OTHER_UNITS.get(value.unit)
        behind = sentence[value.unit_span[1] :]
        if other and not re.match(r" ?Hg|/", behind):
            yield replaced(sentence, *value.unit_span, other)


def grown(value: Value) -> str:
    """A number, or a range, that is clearly above: as it is to be written."""
    low = _real(value.low)
    if value.high:
        high = _real(value.high)
        return f"{_written(low + high, value.low)}{value.to}{_written(2 * high, value.high)}"
    if value.unit in ("%", "percent") and low > 60:
        return _written(round(low * 0.6), value.low)
    if "." in value.low:
        return _written(low * 1.5, value.low)
    step = max(2, round(0.4 * low))
    if low >= 10 and low % 10 == 0:
        step = max(10, 10 * round(step / 10))
    return _written(low + step, value.low)


def _with(sentence: str, value: Value, new: str) -> Iterator[str]:
    """The sentence with a new value, unless it has that one already."""
    there = re.search(rf"(?<!\d){re.escape(new)}(?!\d)", sentence)
    if there is None:
        yield replaced(sentence, value.start, value.end, new)


def _real(written: str) -> float:
    return float(written.replace(",", ""))


def _written(number: float, like: str) -> str:
    places = len(like.partition(".")[2])
    text = f"{number:,.{places}f}" if "," in like else f"{number:.{places}f}"
    return text.rstrip("0").rstrip(".") if places else text

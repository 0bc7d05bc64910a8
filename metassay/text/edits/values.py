"""Edits of numbers, doses and units.

A number grows, since five of something include two; a dose grows or shrinks. Numbers
after "less than", "up to" and the like stay, because another limit can be true as well.
So do numbers that are names (COVID-19, L4, grade 2).
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from metassay.text.edits.wording import (
    NUMBER_VALUES,
    NUMBER_WORD,
    NUMBER_WORDS,
    Match,
    replace_each,
    replace_text,
)
from metassay.text.patterns import any_of

_EMERGENCY = ("911", "988")  # telephone numbers
_DOSES = frozenset(
    """
    mg mcg milligram milligrams microgram micrograms unit units puff puffs tablet tablets pill pills
    capsule capsules drop drops ml iu
    """.split()
)
_TIMES = frozenset(
    """
    second minute hour day week month year decade time seconds minutes hours days weeks months years
    decades times hr hrs min mins wk wks yr yrs am pm a.m p.m th st nd rd x
    """.split()
)
_GLUED = _DOSES | {"%", "cm", "mm"}  # units written without a blank after their number
_OTHER_UNITS = {
    "mg": "mcg",
    "mcg": "mg",
    "milligrams": "micrograms",
    "micrograms": "milligrams",
    "g": "kg",
    "grams": "milligrams",
    "cm": "mm",
    "mm": "cm",
    "centimeters": "millimeters",
    "millimeters": "centimeters",
    "centimeter": "millimeter",
    "millimeter": "centimeter",
    "inch": "foot",
    "inches": "feet",
    "feet": "inches",
    "pounds": "kilograms",
    "pound": "kilogram",
    "lbs": "kg",
    "lb": "kg",
    "kg": "lb",
    "kilograms": "pounds",
    "puffs": "tablets",
    "tablets": "puffs",
    "pills": "drops",
    "ounces": "gallons",
    "ounce": "gallon",
    "miles": "feet",
    "blocks": "miles",
    "ml": "liters",
}

# ---- values in a sentence

_NUMBER = r"\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?"
_VALUE = re.compile(
    rf"""
    (?<![\w.,/:#$'\u2019+-])
    (?P<low>{_NUMBER})
    (?: (?P<to>\ ?[-\u2013]\ ?|\ to\ ) (?P<high>{_NUMBER}) )?
    (?! [\d/:'\u2019+] | [.,]\d | [-\u2013]\d )
    (?P<gap>[ -]?)
    (?P<unit> % | [A-Za-z]+ (?: [-\ ]old )? )?
    """,
    re.VERBOSE,
)
# What stands before a number that is a limit, or one of several.
_LIMIT = re.compile(
    r"(?:\b"
    + any_of(
        r"(?:less|more|fewer|greater|higher|lower|older|younger|better)\sthan",
        r"at\s(?:least|most)|up\sto|over|under|above|below|within|almost|nearly|exceed\w*",
        r"maximum(?:\sof)?|minimum(?:\sof)?|max|min",
        "between|or|and",
    )
    + r"|[<>\u2264\u2265~=])\s*\Z",
    re.IGNORECASE,
)
# What stands before numbers that are names, or years.
_NAMES = re.compile(
    r"\b"
    + any_of(
        "covid|omega|tylenol|phase|grade|stage|class|category|level|step",
        r"no\.?|number|factor|room|vitamin|view|type|weber|part|day|week",
        r"call(?:\sme\sor)?|oriented\sx|pod|cn|out\sof|\d\sof|dr\.?|cranial\snerves?",
    )
    + r"\s*\Z",
    re.IGNORECASE,
)
_RANGE_OR_SIZE = re.compile(
    r"[ ]?(?:or|and|x|/|to) ?\d"
)  # what goes on behind a number


class Value(NamedTuple):
    """A number or range in a sentence, and the word after it (lower-cased, can be empty)."""

    low: str
    high: str  # empty if not a range
    to: str
    start: int
    end: int  # of the number, without its unit
    unit: str
    unit_span: tuple[int, int]


def find_values(sentence: str) -> Iterator[Value]:
    """Find the numbers that are quantities: not names, and not after "up to" and the like."""
    for match in _VALUE.finditer(sentence):
        before = sentence[: match.start()]
        is_name = _NAMES.search(before) or match["low"] in _EMERGENCY
        if is_name or _LIMIT.search(before):
            continue
        end = match.end("high") if match["high"] else match.end("low")
        unit = (match["unit"] or "").lower()
        is_glued = unit and not match["gap"] and unit not in _GLUED
        if is_glued or _RANGE_OR_SIZE.match(sentence[end:]):
            continue
        yield Value(
            low=match["low"],
            high=match["high"] or "",
            to=match["to"] or "",
            start=match.start(),
            end=end,
            unit=unit,
            unit_span=match.span("unit"),
        )


def _replace_value(sentence: str, value: Value, new: str) -> Iterator[str]:
    """Replace a value, unless the sentence already contains the new value."""
    if not re.search(rf"(?<!\d){re.escape(new)}(?!\d)", sentence):
        yield replace_text(sentence, value.start, value.end, new)


# ---- counts, ages, grades, pressures and laboratory values

_PRESSURE = re.compile(r"(?<![\w./-])(?P<high>\d{2,3})/(?P<low>\d{2,3})(?![\w/-])")
_SCORE = re.compile(
    r"(?<![\w./-])(?<! to )(?P<got>\d{1,2})(?:/| / | out of )(?P<top>5|6|10)(?![\w/.-]\d|[/-])"
)
_TYPE = re.compile(
    r"(?<=type )(?:1|2|I|II)(?= diabetes)|(?<=diabetes type )(?:1|2|I|II)\b",
    re.IGNORECASE,
)
_OTHER_TYPE = {"1": "2", "2": "1", "i": "II", "ii": "I"}
_WHOSE = re.compile(r"\b(?:the|these|those|to|of|his|her)\s\Z")
_WORD = re.compile(
    rf"{NUMBER_WORD}(?! {any_of('to', 'or', 'and', *sorted(_TIMES))}\b)", re.IGNORECASE
)


def number(sentence: str) -> Iterator[str]:
    """Change a count, age, grade, pressure or laboratory value."""

    def name_more(match: Match) -> str | None:
        before = sentence[: match.start()]
        if _LIMIT.search(before) or _WHOSE.search(before):
            return None
        more = 2 * NUMBER_VALUES[match[0].lower()] + 1
        return NUMBER_WORDS[min(20, more)]

    for value in find_values(sentence):
        is_time_or_dose = value.unit in _DOSES or value.unit in _TIMES
        if not (is_time_or_dose or _is_year(value) or _is_singular(value)):
            yield from _replace_value(sentence, value, larger_value(value))
    yield from replace_each(sentence, _PRESSURE, _other_pressure, "high")
    yield from replace_each(sentence, _SCORE, _other_score, "got")
    yield from replace_each(sentence, _TYPE, _OTHER_TYPE)
    yield from replace_each(sentence, _WORD, name_more)


def _is_year(value: Value) -> bool:
    looks_like_year = re.fullmatch(r"(?:19|20)\d\d", value.low)
    return bool(looks_like_year) and value.unit not in _OTHER_UNITS


def _is_singular(value: Value) -> bool:
    """Return whether a noun in the singular follows."""
    return value.low == "1" and value.unit != "" and value.unit not in _OTHER_UNITS


def _other_pressure(match: Match) -> str | None:
    high = int(match["high"])
    low = int(match["low"])
    return str(high + 30) if high > low >= 40 else None


def _other_score(match: Match) -> str | None:
    points = int(match["got"])
    top = int(match["top"])
    if points > top:
        return None
    return str(points - 2 if points >= 3 else points + 2)


def larger_value(value: Value) -> str:
    """Return a clearly higher number or range, as text.

    >>> [larger_value(value) for value in find_values("Pulse 72, glucose 100 to 120.")]
    ['101', '220 to 240']
    """
    low = _read_number(value.low)
    if value.high:
        high = _read_number(value.high)
        return (
            f"{_format(low + high, value.low)}{value.to}{_format(2 * high, value.high)}"
        )
    if value.unit in ("%", "percent") and low > 60:  # a share is 100 at most
        return _format(round(low * 0.6), value.low)
    if "." in value.low:
        return _format(low * 1.5, value.low)
    step = max(2, round(0.4 * low))
    if low >= 10 and low % 10 == 0:
        step = max(10, 10 * round(step / 10))
    return _format(low + step, value.low)


def _read_number(written: str) -> float:
    return float(written.replace(",", ""))


def _format(number: float, like: str) -> str:
    """Write a number with as many decimals as another, and its commas."""
    places = len(like.partition(".")[2])
    text = f"{number:,.{places}f}" if "," in like else f"{number:.{places}f}"
    return text.rstrip("0").rstrip(".") if places else text


# ---- doses and units


def dose(sentence: str) -> Iterator[str]:
    """Change the amount of a drug: twice or half of it, or a higher range."""
    for value in find_values(sentence):
        if value.unit not in _DOSES:
            continue
        if value.high:
            yield from _replace_value(sentence, value, larger_value(value))
            continue
        amount = _read_number(value.low)
        half = amount / 2
        fewest = 1 if value.unit.endswith("s") else 0  # a plural is of more than one
        if half == int(half) and half > fewest:
            yield from _replace_value(sentence, value, _format(half, value.low))
        if value.low != "1":  # its unit can be in the singular
            yield from _replace_value(sentence, value, _format(2 * amount, value.low))


def unit(sentence: str) -> Iterator[str]:
    """Replace the unit after a number."""
    for value in find_values(sentence):
        other = _OTHER_UNITS.get(value.unit)
        behind = sentence[value.unit_span[1] :]
        if other and not re.match(r" ?Hg|/", behind):
            yield replace_text(sentence, *value.unit_span, other)

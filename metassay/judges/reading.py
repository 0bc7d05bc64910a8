"""Read a text for the lexical judge: places of content tokens, negations, sides and units.

Reading is cheap and uses no grammar. Sentences, lines and contrasts (but, however, ...)
divide a text into clauses; negations, sides and units hold within a clause. A question
in one passage and its answer in the next ("Any fever?" "No.") are two clauses, so the
answer is lost.

Numbers in words become digits, so that dialogues can be compared with notes: one to
ninety-nine, hundreds ("two hundred and five"), and spoken pairs ("one twenty eight over
eighty", "128 over 80", "128 / 80": 128/80). "one" alone is often a pronoun: it is a
number only before a unit. Ordinals, fractions and thousands in words stay words.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from metassay.text.tokens import alphanumeric, content_tokens

# scope of a negation in content tokens after it: lists of symptoms are long
NEGATION_REACH = 8
BACKWARD_REACH = 4  # and before it: "Murphy sign negative"
SIDE_REACH = 2  # scope of left, right, ... in content tokens after it


def _count(words: str, first: int, step: int = 1) -> dict[str, int]:
    return {word: first + step * n for n, word in enumerate(words.split())}


_ONES = _count("one two three four five six seven eight nine", 1)
_TEENS = _count(
    "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen",
    10,
)
_TENS = _count("twenty thirty forty fifty sixty seventy eighty ninety", 20, 10)
_VALUES = _ONES | _TEENS | _TENS

_WORD = rf"(?:{'|'.join([*_VALUES, 'hundred'])})\b"
_RUN = rf"{_WORD}(?:[ -](?:and )?{_WORD})*"
_NUMBER = re.compile(rf"\b({_RUN}|\d+)(?: over ({_RUN}|\d+\b))?")
_PART = re.compile(r"[ -]")
_SPACED_PAIR = re.compile(r"(?<=\d) / (?=\d)")


def digits(units: Iterable[str]) -> Callable[[str], str]:
    """Return a function that writes the numbers of a lower-cased text in digits."""
    before_unit = re.compile(rf"[ -](?:{'|'.join(sorted(units))})s?\b")

    def replace(match: re.Match[str]) -> str:
        first, second = match.groups()
        if second:
            return f"{_spoken(first)}/{_spoken(second)}"
        if first[0].isdigit() or (
            first == "one" and not before_unit.match(match.string, match.end())
        ):
            return first
        return " ".join(_values(_PART.split(first)))

    return lambda text: _NUMBER.sub(replace, _SPACED_PAIR.sub("/", text))


def _spoken(run: str) -> str:
    """Return one side of a pair, in which "one twenty eight" is 128."""
    values = _values(_PART.split(run)) if run[0].isalpha() else [run]
    if len(values) == 2 and values[0] in ("1", "2") and len(values[1]) == 2:
        return "".join(values)
    return " ".join(values)


def _values(words: list[str]) -> list[str]:
    """Return the numbers of a run of number words."""
    values: list[int | str] = []
    open_until = 1  # a next number smaller than this is added to the last one
    for word in words:
        value = _VALUES.get(word, 0)
        if word == "hundred":
            count = values.pop() if values and values[-1] in _ONES.values() else 1
            values.append(100 * int(count))
            open_until = 100
        elif word == "and":
            if open_until != 100:
                values.append(word)
        elif value < open_until:
            values.append(int(values.pop()) + value)
            open_until = 1
        else:
            values.append(value)
            open_until = 10 if word in _TENS else 1
    return [str(value) for value in values]


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Content tokens have no plural endings: denies is deny, lacks is lack.
_FORWARD = _set(
    "no not cannot never neither nor without deny denied denying lack lacking absence"
)
BACKWARD = _set("absent negative none")
NEGATIONS = _FORWARD | BACKWARD
# The subject of notes, which claims name and notes need not name.
SUBJECTS = _set("patient pt")
# A negation ends at these words: "denies fever, reports cough".
RESTARTS = _set(
    "report reported reporting complain complained admit endorse endorsed continue start take"
)

AXES = (
    _set("left right bilateral unilateral"),
    _set("upper lower"),
    _set("medial lateral"),
    _set("anterior posterior"),
    _set("proximal distal"),
)
SIDES = frozenset[str]().union(*AXES)
_OF_SIDES = _set("side sided aspect only")  # words beside a side: "on the right side"

_UNIT_NAMES = {
    "mg": "milligram mgs",
    "mcg": "microgram ug",
    "g": "gram gm",
    "kg": "kilogram kgs",
    "lb": "pound lbs",
    "oz": "ounce",
    "ml": "milliliter mls cc",
    "l": "liter",
    "mm": "millimeter",
    "cm": "centimeter",
    "hour": "hr hrs",
    "minute": "min mins",
    "week": "wk wks",
    "year": "yr yrs yo",
    "tablet": "tab tabs pill",
    "capsule": "cap caps",
}
UNITS = (
    _set("day month percent mmhg bpm unit puff drop degree inch") | _UNIT_NAMES.keys()
)
_SAME = {"both": "bilateral", "bilaterally": "bilateral", "unilaterally": "unilateral"}
for _unit, _names in _UNIT_NAMES.items():
    _SAME |= dict.fromkeys(_names.split(), _unit)

_to_digits = digits(UNITS | _SAME.keys())
# "No, it hurts": an answer, no negation
_ANSWER = re.compile(r"(^|[.?!\n]\s*)no,(?=\s)")
_FREE_OF = re.compile(r"\b(?:negative for|free of)\b")
CLAUSE_END = re.compile(
    r"[.;?!](?=\s|$)|\n|\b(?:but|however|although|though|except|yet|while)\b"
    # "the knee is swollen and the hip is not"
    r"|\band\b(?=[^,.;\n]*\b(?:is|are|was|were|do|does|did|has|have|had) not\s*(?:[,.;\n]|$))"
)


@dataclass(frozen=True)
class Reading:
    """A text's content tokens by place, counted from 0 over the text."""

    # token -> where, ascending
    places: dict[str, list[int]] = field(default_factory=dict)
    negated: set[int] = field(default_factory=set)
    # place -> left, right, upper, ...
    sides: dict[int, set[str]] = field(default_factory=dict)
    units: dict[int, str] = field(default_factory=dict)  # place of a number -> its unit


def read(text: str) -> Reading:
    """Read the content tokens, with numbers in digits and one name for each unit and side.

    >>> sorted(read("Left knee pain for two weeks.").places)
    ['2', 'knee', 'left', 'pain', 'week']
    """
    reading = Reading()
    start = 0
    text = _FREE_OF.sub("without", _ANSWER.sub(r"\1", _to_digits(text.lower())))
    for clause in CLAUSE_END.split(text):
        tokens = [_number(_SAME.get(token, token)) for token in content_tokens(clause)]
        for place, token in enumerate(tokens, start):
            reading.places.setdefault(token, []).append(place)
        _negate(tokens, start, reading.negated)
        _side(tokens, start, reading.sides)
        for i in range(1, len(tokens)):
            if tokens[i] in UNITS and tokens[i - 1][0].isdigit():
                reading.units[start + i - 1] = tokens[i]
        start += len(tokens)
    return reading


def read_plainly(text: str) -> Reading:
    """Read all tokens unchanged, including stop words, without negations, sides or units."""
    reading = Reading()
    for place, token in enumerate(alphanumeric(text)):
        reading.places.setdefault(token, []).append(place)
    return reading


def _number(token: str) -> str:
    """Return 5 for 5.0 and 5.00; other tokens unchanged."""
    if "." in token and token.replace(".", "", 1).isdigit():
        return token.rstrip("0").rstrip(".")
    return token


def _negate(tokens: list[str], start: int, negated: set[int]) -> None:
    last = len(tokens) - 1
    for i, token in enumerate(tokens):
        if token not in NEGATIONS:
            continue
        backward = i > 0 and (token in BACKWARD or i == last)
        if backward:
            negated.update(range(start + max(0, i - BACKWARD_REACH), start + i))
            continue
        for j in range(i + 1, min(i + 1 + NEGATION_REACH, last + 1)):
            if tokens[j] in RESTARTS:
                break
            negated.add(start + j)


def _side(tokens: list[str], start: int, sides: dict[int, set[str]]) -> None:
    skipped = SIDES | _OF_SIDES
    for i, token in enumerate(tokens):
        if token not in SIDES:
            continue
        following = [j for j in range(i + 1, len(tokens)) if tokens[j] not in skipped]
        # "knee pain on the left": nothing follows, so the side is that of the tokens
        # before
        reach = following[:SIDE_REACH] or [
            j for j in range(max(0, i - SIDE_REACH), i) if tokens[j] not in skipped
        ]
        for j in reach:
            sides.setdefault(start + j, set()).add(token)

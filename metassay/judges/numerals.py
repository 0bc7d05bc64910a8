"""Numbers in words as digits, so that a dialogue can be compared with a note.

one to ninety-nine, hundreds ("two hundred and five"), and spoken pairs ("one twenty eight over
eighty", "128 over 80", "128 / 80": 128/80). "one" alone is as often a pronoun: it is a number only
before one of the given units. Ordinals, fractions and thousands in words are left as they are.
"""

import re
from collections.abc import Callable, Iterable


def _count(words: str, first: int, step: int = 1) -> dict[str, int]:
    return {word: first + step * n for n, word in enumerate(words.split())}


_ONES = _count("one two three four five six seven eight nine", 1)
_TEENS = _count(
    "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen", 10
)
_TENS = _count("twenty thirty forty fifty sixty seventy eighty ninety", 20, 10)
_VALUES = _ONES | _TEENS | _TENS

_WORD = rf"(?:{'|'.join([*_VALUES, 'hundred'])})\b"
_RUN = rf"{_WORD}(?:[ -](?:and )?{_WORD})*"
_NUMBER = re.compile(rf"\b({_RUN}|\d+)(?: over ({_RUN}|\d+\b))?")
_PART = re.compile(r"[ -]")
_SPACED_PAIR = re.compile(r"(?<=\d) / (?=\d)")


def digits(units: Iterable[str]) -> Callable[[str], str]:
    """The function that writes the numbers of a lower-cased text in digits."""
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
    """One side of a pair; "one twenty eight" is 128 there."""
    values = _values(_PART.split(run)) if run[0].isalpha() else [run]
    if len(values) == 2 and values[0] in ("1", "2") and len(values[1]) == 2:
        return "".join(values)
    return " ".join(values)


def _values(words: list[str]) -> list[str]:
    """The numbers that a run of number words stands for."""
    values: list[int | str] = []
    open_until = 1  # the last number takes up a next one smaller than this
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

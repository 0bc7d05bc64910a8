"""Answers as lines, `1: entailed`, read as strictly as JSON: from one list, or not at all.

What a value says is for a caller to read; what is no value of its kind validates as nothing.
Blank lines and the marks of a code block (```) do not count as lines.

Lenient reading takes the list for the same where it is marked up otherwise: with bullets, `1.`,
`1)` or `**1**`, in other case, in quotation marks, with a full stop. It says no less strictly
where the list stands and that nothing else does.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

Read = Callable[[str], dict[str, Any]]

MARK = "ANSWERS"  # the line below which the answers of a model that thinks aloud stand

_LINE = re.compile(r"(0|[1-9]\d{0,8}): (.+)")
_FENCE = re.compile(r"```\w*")
_MARK = re.compile(r"(?:final )?answers?:?", re.IGNORECASE)

# As some write it, without what Markdown adds. `1.2` and `1 - 2` are numbers, and not read.
_LENIENT = re.compile(
    r"[(\[]?([0-9]{1,9})[)\]]?(?:\s*:\s*|[.)]\s+|\s+[-–—]\s+(?=[A-Za-z])|\s+(?=[A-Za-z]))(.+)"
)
_FIRST = re.compile(r"[\W_]*([0-9]{1,9})")
_BULLET = re.compile(r"(?:[-*+•]|#+)\s+")
_MARKUP = re.compile(r"[*`#]|__|\\(?=_)")
_QUOTES = " \t\"'“”‘’"
_LISTED = re.compile(r"[\[(]([0-9]+(?:\s*,\s*[0-9]+)*)[\])]")
_AND = re.compile(r",?\s+and\s+|\s*[,;&]\s*")
_PASSAGES = re.compile(r"\bpassages?\s+(?=[0-9])")


class _Line(NamedTuple):
    number: int | None  # None: it is no answer's line
    value: str
    said: str


def last_lines(text: str, read: Read, *, lenient: bool = False) -> list[dict[str, Any]]:
    """The answers of a reply that ends with them; words may stand before.

    None if a line of their form stands apart from the others: nobody knows which list counts.
    Lenient: a reply of one line without a number is an answer without a number.
    """
    lines = _lines(text, lenient=lenient)
    start = len(lines)
    while start and lines[start - 1].number is not None:
        start -= 1
    if any(line.number is not None for line in lines[:start]):
        return []
    if lenient and len(lines) == 1:
        start = 0
    return _entries(lines[start:], read, lenient=lenient)


def lines_below(text: str, read: Read, *, lenient: bool = False) -> list[dict[str, Any]]:
    """The answers below the one line ANSWERS, each with the `reason` that stands above it, or None.

    A reason is the paragraph that begins with the answer's number, `1: ...`; where there is but one
    answer, it is all that was thought. No answers if there is another such line, as in a text that
    the reply quotes, or if anything else stands below. Lenient: as in `last_lines`, and the mark
    may be written otherwise.
    """
    lines = _lines(text, lenient=lenient)
    marks = [place for place, line in enumerate(lines) if _is_mark(line.said, lenient=lenient)]
    if len(marks) != 1:
        return []
    above, below = lines[: marks[0]], lines[marks[0] + 1 :]
    if any(line.number is None for line in below) and not (lenient and len(below) == 1):
        return []
    reasons = _reasons(above)
    if len(below) == 1:
        reasons.setdefault(below[0].number, "\n".join(line.said for line in above) or None)
    found = _entries(below, read, lenient=lenient)
    return [entry | {"reason": reasons.get(entry.get("number"))} for entry in found]


def value_starts(text: str) -> dict[int | None, int]:
    """Where what follows the number of a line starts in a reply, in characters: the last of each.

    Under None it is where the last line without a number starts.
    """
    found: dict[int | None, int] = {}
    start = 0
    for line in text.split("\n"):
        if line.strip() and not _FENCE.fullmatch(line.strip()):
            number = _FIRST.match(line)
            found[int(number[1]) if number else None] = start + (number.end() if number else 0)
        start += len(line) + 1
    return found


def _is_mark(line: str, *, lenient: bool) -> bool:
    if not lenient:
        return line == MARK
    return _MARK.fullmatch(_MARKUP.sub("", line).strip(" _")) is not None


def _lines(text: str, *, lenient: bool) -> list[_Line]:
    """Only a line feed ends a line: other breaks can be part of what is quoted."""
    return [
        _Line(*_numbered(line, lenient=lenient), line)
        for line in map(str.strip, text.split("\n"))
        if line and not _FENCE.fullmatch(line)
    ]


def _numbered(line: str, *, lenient: bool) -> tuple[int | None, str]:
    """A line's number and value; without a number the line is the value."""
    if not lenient:
        match = _LINE.fullmatch(line)
        return (int(match[1]), match[2]) if match else (None, line)
    bullet = _BULLET.match(line)
    bare = _MARKUP.sub("", line[bullet.end() :] if bullet else line).strip()
    match = _LENIENT.fullmatch(bare)
    number, value = (int(match[1]), match[2]) if match else (None, bare)
    return number, value


def _entries(lines: Iterable[_Line], read: Read, *, lenient: bool) -> list[dict[str, Any]]:
    values = [(line.number, _tidy(line.value) if lenient else line.value) for line in lines]
    return [
        read(value) | ({} if number is None else {"number": number})
        for number, value in values
        if number is not None or any(map(str.isalpha, value))  # a number alone: which one is it?
    ]


def _tidy(value: str) -> str:
    """A value in small letters, without quotation marks and full stop; `1 and [2]` as `1, 2`."""
    value = value.lstrip(_QUOTES).rstrip(_QUOTES + ".,;").lower()
    return _PASSAGES.sub("", _AND.sub(", ", _LISTED.sub(r"\1", value)))


def _reasons(lines: Iterable[_Line]) -> dict[int | None, str | None]:
    """What was thought of each number; None of one that was taken up twice."""
    found: dict[int | None, str | None] = {}
    number = None
    for line in lines:
        if line.number is not None:
            number = line.number
            found[number] = None if number in found else line.value
        elif number is not None and found[number] is not None:
            found[number] = f"{found[number]}\n{line.said}"
    return found

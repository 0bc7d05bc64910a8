"""Find answers that have a line each: `1: entailed`.

Lenient reading also accepts other markup: bullets, `1.`, `1)` or `**1**`, `Hypothesis
1:`, other case, quotation marks, a full stop; and `Answer: entailed` for the only
question.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from metassay.llm.answers import FENCE, Reading, remove_template

MARK = "ANSWERS"  # the line before the answers of a model that thinks aloud

_LINE = re.compile(r"(0|[1-9]\d{0,8}): (.+)")
# Other forms of a line, without Markdown. `1.2` and `1 - 2` are numbers, and are not
# read.
_SUBJECT = r"(?:(?:hypothesis|statement|claim|item|question|answer|criterion|number)(?:\s+|:\s*))?"
_LENIENT = re.compile(
    rf"{_SUBJECT}[(\[]?([0-9]{{1,9}})[)\]]?"
    r"(?:\s*:\s*|[.)]\s+|\s+[-–—]\s+(?=[A-Za-z])|\s+(?=[A-Za-z]))(.+)",
    re.IGNORECASE,
)
_ONLY = re.compile(
    r"(?:(?:the|my) )?(?:final )?(?:answer|label|verdict|judge?ment|classification|grade|score)"
    r"(?:\s*:\s*|\s+is:?\s+)(.+)",
    re.IGNORECASE,
)
_MARK = re.compile(r"(?:(?:the|my) )?(?:final )?answers?:?", re.IGNORECASE)
_LEADING = re.compile(r"[\W_]*([0-9]{1,9})")
_BULLET = re.compile(r"(?:[-*+•]|#+)\s+")
_MARKUP = re.compile(r"[*`#]|__|\\(?=_)")
_AROUND_VALUE = " \t\"'“”‘’"
_LISTED = re.compile(r"[\[(]([0-9]+(?:\s*,\s*[0-9]+)*)[\])]")
_AND = re.compile(r",?\s+and\s+|\s*[,;&]\s*")
_PASSAGES = re.compile(r"\bpassages?\s+(?=[0-9])")

Read = Callable[[str], dict[str, Any]]


class _Line(NamedTuple):
    """A line of a reply. `value` is None if it is not the line of an answer."""

    number: int | None
    value: str | None
    text: str


def last_lines(text: str, read: Read, *, lenient: bool = False) -> Reading:
    """Find the lines of answers, which follow each other; none if some are apart from the others.

    Then it is not clear which ones count. `read` makes the fields of an answer of its
    value. Lenient: a reply of one line without a number, or one line `Answer: ...`, is
    an answer without a number.

    >>> last_lines("1: yes\\n2: no", lambda value: {"label": value}).entries
    [{'label': 'yes', 'number': 1}, {'label': 'no', 'number': 2}]
    """
    lines = _lines(text, lenient=lenient)
    start, end = _block(lines)
    if start == end and lenient:
        lines = _only_answer(lines)
        start, end = _block(lines)
    entries = _entries(lines[start:end], read, lenient=lenient)
    problem = "" if entries else _lines_problem(lines)
    before = _join(lines[:start])
    after = _join(lines[end:])
    return Reading(entries, before, after, problem=problem)


def lines_below(text: str, read: Read, *, lenient: bool = False) -> Reading:
    """Find the answers below the line ANSWERS, each with the `reason` above that line, or None.

    A reason is the paragraph that begins with the answer's number, `1: ...`; if there
    is only one answer, all text above. There are none if there is another such line.
    """
    lines = _lines(text, lenient=lenient)
    if lenient:
        lines = _split_marks(lines)
    marks = [
        place
        for place, line in enumerate(lines)
        if _is_mark(line.text, lenient=lenient)
    ]
    if len(marks) != 1:
        times = "several times" if marks else "missing"
        return Reading([], problem=f"the line {MARK} is {times}")
    above = lines[: marks[0]]
    below = lines[marks[0] + 1 :]
    start, end = _block(below)
    if lenient and len(below) == 1 and start == end:
        below = [below[0]._replace(value=_remove_markup(below[0].text))]
        start = 0
        end = 1
    if start:
        return Reading([], problem=f"words stand between {MARK} and the answers")
    reasons = _reasons(above)
    if end == 1:
        reasons.setdefault(below[0].number, _join(above) or None)
    entries = _entries(below[:end], read, lenient=lenient)
    entries = [
        entry | {"reason": reasons.get(entry.get("number"))} for entry in entries
    ]
    # The form asks for paragraphs that begin with numbers; other words are read with
    # more care.
    reasoned = not above or above[0].number is not None
    problem = "" if entries else _lines_problem(below)
    before = _join(above)
    after = _join(below[end:])
    return Reading(entries, before, after, reasoned=reasoned, problem=problem)


def value_starts(text: str) -> dict[int | None, int]:
    """Return the offset after each line's number in a reply, in characters; the last of each.

    The key None has the start of the last line without a number.
    """
    starts: dict[int | None, int] = {}
    start = 0
    for line in text.split("\n"):
        if line.strip() and not FENCE.fullmatch(line.strip()):
            number = _LEADING.match(line)
            starts[int(number[1]) if number else None] = start + (
                number.end() if number else 0
            )
        start += len(line) + 1
    return starts


def _lines(text: str, *, lenient: bool) -> list[_Line]:
    """Split at line feeds only: other breaks can be part of quotes."""
    text = remove_template(text) if lenient else text
    lines = []
    for line in map(str.strip, text.split("\n")):
        if not line or FENCE.fullmatch(line):
            continue
        match = (_LENIENT if lenient else _LINE).fullmatch(
            _remove_markup(line) if lenient else line
        )
        number, value = (int(match[1]), match[2]) if match else (None, None)
        lines.append(_Line(number, value, line))
    return lines


def _remove_markup(line: str) -> str:
    bullet = _BULLET.match(line)
    return _MARKUP.sub("", line[bullet.end() :] if bullet else line).strip()


def _block(lines: Sequence[_Line]) -> tuple[int, int]:
    """Return start and end of the answers; an empty block if there are none, or several blocks."""
    places = [place for place, line in enumerate(lines) if line.value is not None]
    if not places or places[-1] - places[0] + 1 != len(places):
        return 0, 0
    return places[0], places[-1] + 1


def _lines_problem(lines: Sequence[_Line]) -> str:
    """Return why there is no block of answers."""
    if any(line.value is not None for line in lines):
        return "the reply has answers in several places"
    return "no line of the reply begins with a number and a colon"


def _only_answer(lines: Sequence[_Line]) -> list[_Line]:
    """Return the lines, with the value of the only answer if it has no number."""
    if any(line.value is not None for line in lines):
        return list(lines)
    if len(lines) == 1:
        value = _remove_markup(lines[0].text)
        named = _ONLY.fullmatch(value)
        return [lines[0]._replace(value=named[1] if named else value)]
    matches = [_ONLY.fullmatch(_remove_markup(line.text)) for line in lines]
    return [
        line._replace(value=match[1]) if match else line
        for line, match in zip(lines, matches, strict=True)
    ]


def _is_mark(line: str, *, lenient: bool) -> bool:
    if not lenient:
        return line == MARK
    return _MARK.fullmatch(_MARKUP.sub("", line).strip(" _")) is not None


def _split_marks(lines: Iterable[_Line]) -> list[_Line]:
    """Split `Answer: entailed` into a mark and the line of an answer."""
    split: list[_Line] = []
    for line in lines:
        mark, colon, rest = _remove_markup(line.text).partition(":")
        if colon and rest.strip() and _is_mark(mark, lenient=True):
            split.append(_Line(None, None, mark))
            split += _lines(rest, lenient=True)
        else:
            split.append(line)
    return split


def _entries(
    lines: Iterable[_Line], read: Read, *, lenient: bool
) -> list[dict[str, Any]]:
    entries = []
    for line in lines:
        value = _tidy(line.value or "") if lenient else (line.value or "")
        if line.number is not None:
            entries.append(read(value) | {"number": line.number})
        elif any(
            map(str.isalpha, value)
        ):  # a bare number may be a question's or a value
            entries.append(read(value))
    return entries


def _tidy(value: str) -> str:
    """Return a value in lower case without quotation marks and full stop; `1 and [2]` is `1, 2`."""
    value = value.lstrip(_AROUND_VALUE).rstrip(_AROUND_VALUE + ".,;").lower()
    return _PASSAGES.sub("", _AND.sub(", ", _LISTED.sub(r"\1", value)))


def _reasons(lines: Iterable[_Line]) -> dict[int | None, str | None]:
    """Return the paragraph of each number; None for a number with two paragraphs."""
    reasons: dict[int | None, str | None] = {}
    number = None
    for line in lines:
        if line.number is not None:
            number = line.number
            reasons[number] = None if number in reasons else line.value
        elif number is not None and reasons[number] is not None:
            reasons[number] = f"{reasons[number]}\n{line.text}"
    return reasons


def _join(lines: Iterable[_Line]) -> str:
    return "\n".join(line.text for line in lines)

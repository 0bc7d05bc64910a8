"""Citations: numbers in brackets after a statement that name the passages that support it.

A group is `[n]`, `[n, m]` or `[n-m]`, or a mix of these; groups can follow each other:
`[n][m]`, `[n] [m]`, `[n], [m]`. They are citations directly after a statement: before
or after its full stop, or at the end of a line without full stop. Groups in
mid-sentence, with a word after them, are text, as is everything else in brackets (`BP
[120/80]`, `[doctor]`, a number of more than six digits).
"""

import re
from typing import NamedTuple

from metassay.text.spans import BREAKS, MARKS

# A range of more passages than this, or a descending one, cites only its two ends as
# written, so that a wrong one counts as wrong, and none can fill the memory.
LONGEST_RANGE = 1000

_STOPS = ".?!\u2026"
_CLOSERS = ")\"'\u2019\u201d*_"
_BLANK = r"[ \t\u00a0]*+"
_ITEM = r"\d{1,6}(?:[ \t]*+[-\u2010-\u2014][ \t]*+\d{1,6})?"
# Groups are repeated with *, not *+: in Python 3.11.0 to 3.11.4 a possessive repeat of
# a group that fails half-way ends after the failed part.
_GROUP = rf"\[[ \t]*+{_ITEM}(?:[ \t]*+[,;][ \t]*+{_ITEM})*[ \t]*+\]"

GROUP = re.compile(_GROUP, re.ASCII)
_GROUPS = re.compile(rf"{_GROUP}(?:{_BLANK}[,;]?{_BLANK}{_GROUP})*", re.ASCII)
_FULL_STOP = re.compile(
    rf"[ \t]*+([{_CLOSERS}]*+(?:\.(?!\d)|[?!\u2026])[{_STOPS}{_CLOSERS}]*+)", re.ASCII
)
_SECOND_STOP = re.compile(r"[ \t]*+\.(?![\d.])", re.ASCII)
_LINE_END = re.compile(
    rf"([{_CLOSERS}]*+)(?=[ \t\u00a0{MARKS}]*+(?:[{BREAKS}]|\Z))", re.ASCII
)
# A longer number is no passage, and fits no table.
_DOCLENS = re.compile(r" ?\[(\d{1,9})", re.ASCII)
_RANGE = re.compile(r"(\d+)(?:[ \t]*[-\u2010-\u2014][ \t]*(\d+))?", re.ASCII)


class CitedStatement(NamedTuple):
    """A statement without its citations, and the cited passages: in order, no repeats."""

    text: str
    citations: tuple[int, ...]


class _Mark(NamedTuple):
    """The end of a cited statement: groups, and the full stop between or after them."""

    start: int
    end: int
    text: str  # of text[start:end], without citations
    groups: tuple[tuple[int, int], ...]  # places of the groups


def parse(statement: str) -> CitedStatement:
    """Split a statement from the citations at its end.

    Passages are counted from 0. A statement of citations alone has an empty text, or
    only its full stop. Does not check whether cited passages exist.

    >>> parse("She takes aspirin [1][3-5].")
    CitedStatement(text='She takes aspirin.', citations=(1, 3, 4, 5))
    >>> parse("BP [120/80] is normal.").citations
    ()
    """
    statement = statement.strip()
    marks = _marks(statement)
    if not marks or marks[-1].end != len(statement):
        return CitedStatement(statement, ())
    last = marks[-1]
    cited = " ".join(statement[slice(*group)] for group in last.groups)
    return CitedStatement(
        (statement[: last.start] + last.text).strip(), _numbers(cited)
    )


def parse_as_doclens(statement: str) -> CitedStatement:
    """Parse a statement as DocLens's released code does: its words, and the cited passages, sorted.

    Exactly the numbers after an opening bracket are citations: `[1-3]` and `[1, 2]`
    cite passage 1, `[120/80]` cites passage 120. The words lose each of these numbers
    with its bracket and a blank before it, every closing bracket and every ` |`: `BP
    [120/80] is up [1-3].` becomes `BP/80 is up-3.`.

    >>> parse_as_doclens("BP [120/80] is up [1-3].")
    CitedStatement(text='BP/80 is up-3.', citations=(1, 120))
    """
    line = " ".join(statement.split())
    words = _DOCLENS.sub("", line).replace(" |", "").replace("]", "")
    return CitedStatement(
        words, tuple(sorted({int(number) for number in _DOCLENS.findall(line)}))
    )


def strip_citations(text: str) -> str:
    """Remove the citations of a text of any length; nothing else changes.

    Removes what `parse` removes from each of `sentences(text)`.

    >>> strip_citations("No fever [2]. She sleeps well [3].")
    'No fever. She sleeps well.'
    """
    parts = []
    start = 0
    for mark in _marks(text):
        parts += [text[start : mark.start], mark.text]
        start = mark.end
    return "".join([*parts, text[start:]])


def ends(text: str) -> list[int]:
    """Return where cited statements end, with their citations; no statement crosses these."""
    return [mark.end for mark in _marks(text)]


def blank_citations(text: str) -> str:
    """Replace citations by blanks, so that offsets stay the same.

    >>> blank_citations("No fever [2].")
    'No fever    .'
    """
    parts = []
    start = 0
    for mark in _marks(text):
        for left, right in mark.groups:
            parts += [text[start:left], " " * (right - left)]
            start = right
    return "".join([*parts, text[start:]])


def _marks(text: str) -> list[_Mark]:
    marks: list[_Mark] = []
    for match in _GROUPS.finditer(text) if "[" in text else ():
        mark = _mark(text, match)
        if mark and marks and marks[-1].end == mark.start:
            last = marks.pop()
            mark = _Mark(
                start=last.start,
                end=mark.end,
                text=last.text + mark.text,
                groups=last.groups + mark.groups,
            )
        if mark:
            marks.append(mark)
    return marks


def _mark(text: str, groups: re.Match[str]) -> _Mark | None:
    start, end = groups.span()
    while start and text[start - 1] in " \t\u00a0":
        start -= 1
    before = start
    while before and text[before - 1] in _CLOSERS:
        before -= 1
    if before and text[before - 1] in _STOPS:
        second_stop = _SECOND_STOP.match(text, end)
        return _Mark(
            start=start,
            end=second_stop.end() if second_stop else end,
            text="",
            groups=(groups.span(),),
        )
    following = _FULL_STOP.match(text, end) or _LINE_END.match(text, end)
    return following and _Mark(
        start=start, end=following.end(), text=following[1], groups=(groups.span(),)
    )


def _numbers(cited: str) -> tuple[int, ...]:
    numbers: dict[int, None] = {}
    for first, last in _RANGE.findall(cited):
        a = int(first)
        b = int(last or first)
        numbers.update(
            dict.fromkeys(range(a, b + 1) if 0 <= b - a < LONGEST_RANGE else (a, b))
        )
    return tuple(numbers)

"""Statements: the sentences of a part, and what each of them cites."""

from typing import NamedTuple

from metassay.text.citations import parse
from metassay.text.sentences import sentences
from metassay.units.marks import EMPTY_SECTION, LINE_BREAK


class Statement(NamedTuple):
    """A sentence without its citations, the passages cited, and where both stand in the part."""

    text: str
    citations: tuple[int, ...]
    start: int
    end: int


def statements(text: str) -> list[Statement]:
    """The statements of a part's text, in order.

    `start` and `end` are those of the sentence with its citations. What has no letter and no digit
    but in citations states nothing, nor does the mark of an absent section; a `__lf1__` of compat
    doclens-table24 is the line break it stands for.
    """
    found = []
    for start, end in sentences(_readable(text)):
        said, citations = parse(text[start:end])
        if any(map(str.isalnum, said)):
            found.append(Statement(said, citations, start, end))
    return found


def _readable(text: str) -> str:
    """The text with DocLens's marks as white space of the same length."""
    text = text.replace(EMPTY_SECTION, " " * len(EMPTY_SECTION))
    return text.replace(LINE_BREAK, "\n" + " " * (len(LINE_BREAK) - 1))

"""Spans of a text."""

from typing import NamedTuple

# What ends a line, as the inside of a character class; a bullet always starts a line.
BREAKS = r"\n\r\v\f\x85\u2028\u2029\u2022\u25cf\u25e6\u25aa\u2023\u2043"
# Marks after a sentence that are not part of it; must be last in a character class.
MARKS = "*#_=>\u00b7\u2013\u2014-"


class Span(NamedTuple):
    """Start and end of a part of a text, in characters: `text[start:end]`."""

    start: int
    end: int


def strip_span(text: str, start: int, end: int) -> Span:
    """Return the span without white space around it; empty if there is nothing else.

    >>> strip_span("  fever ", 0, 8)
    Span(start=2, end=7)
    """
    inner = text[start:end]
    left = len(inner) - len(inner.lstrip())
    return Span(start + left, max(start + left, start + len(inner.rstrip())))

"""Sentences, with exact spans.

Definition of a sentence:

- Each line is split separately, as is text after a round bullet. A list marker ("- ",
  "2. ") is not part of its item, and markdown around a line not part of the line.
- A line that is only a known heading ("CHIEF COMPLAINT", "Results:", "## Plan") is no
  sentence. A line that only introduces others ("Blood pressure:", "**Diabetes**") is
  one only if the text has no other; `lead_ins` returns those that are none. A line that
  states something ("No skull fracture:") is a sentence. A section heading before its
  content ("Exam: normal gait.") is removed.
- A sentence includes the citations after its full stop.

Every letter and digit outside headings, lead-ins and markers is in exactly one
sentence.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from metassay.text import citations
from metassay.text.boundaries import STOPS, boundaries
from metassay.text.headings import section_heading, stands_alone
from metassay.text.lead_ins import states_something
from metassay.text.spans import BREAKS, MARKS, Span, strip_span

_LINE = re.compile(rf"[^{BREAKS}]+")
_NUMBER = r"\(?(?:\d{1,2}|[a-h]|i{1,3}|iv|vi{0,3})[.)](?=\s)|\(?\d{1,2}[.)](?=\*)|[A-H]\)(?=\s)"
_MARKER = re.compile(rf"[\s+:;,.{MARKS}]*(?:(?:{_NUMBER})[\s*_]*)?")
_SIGNS = ".-+<>=~"  # part of the number directly before a digit
_ENUMERATION = re.compile(r"\W*(\d{1,2})[.)]")
_LONGEST_ITEM = 1000  # characters between the numbers of a list within a line
_LEAD_IN = re.compile(rf"[^{STOPS};]{{1,80}}:[\s*_]*")
_LONGEST_LEAD_IN = 8  # words
_MARKDOWN = re.compile(
    rf"\s*(?:#+\s[^{STOPS}]*|\*\*[^*{STOPS}]+\*\*:?|__[^_{STOPS}]+__:?)\s*"
)


def sentences(text: str) -> list[Span]:
    """Split a text into sentences: disjoint, in order, without white space around them.

    Returns an empty list if there are none. Never fails, for any characters.

    >>> text = "Plan:\\n1. Rest [2]. Return in 2 wk. if worse."
    >>> [text[start:end] for start, end in sentences(text)]
    ['Rest [2].', 'Return in 2 wk. if worse.']
    """
    spans, introducing = _spans(text)
    return spans or introducing


def lead_ins(text: str) -> list[Span]:
    """Return the lines that only introduce others and so are no sentences.

    >>> lead_ins("Blood pressure:\\n120/80")
    [Span(start=0, end=15)]
    """
    spans, introducing = _spans(text)
    return introducing if spans else []


def _spans(text: str) -> tuple[list[Span], list[Span]]:
    """Return the sentences, and the spans of lines that only introduce others."""
    spans: list[Span] = []
    introducing: list[Span] = []
    for match in _LINE.finditer(text):
        start, end = _content(match.group())
        content = text[match.start() + start : match.start() + end]
        target = introducing if _leads_in(match[0], content) else spans
        target.extend(
            Span(match.start() + start + s, match.start() + start + e)
            for s, e in _split(content)
        )
    return spans, introducing


def _leads_in(line: str, content: str) -> bool:
    """Return whether a line only introduces others; a heading of Markdown always does."""
    if _MARKDOWN.fullmatch(line):
        return line.lstrip().startswith("#") or not states_something(content)
    is_short = len(content.split()) <= _LONGEST_LEAD_IN
    ends_in_colon = is_short and _LEAD_IN.fullmatch(content)
    return bool(ends_in_colon) and not states_something(content)


def _content(line: str) -> Span:
    """Return the content of a line without its heading; empty if it is only a heading."""
    start = _marker_end(line)
    # a heading can contain a marker (**1. Plan**) or follow one
    for offset in (0, start):
        if stands_alone(line[offset:]):
            return Span(0, 0)
        heading = section_heading(line[offset:])
        if heading and heading[1]:
            return Span(offset + heading[1], len(line))
    return Span(0, len(line))


# references, systems and both kinds of segmentation share their lines
@lru_cache(maxsize=4096)
def _split(line: str) -> tuple[Span, ...]:
    spans: list[Span] = []
    for start, end in _stretches(line):
        span = _trimmed(line, start, end)
        has_words = any(map(str.isalnum, line[slice(*span)]))
        if has_words and not _enumerates(line, span, first=not spans):
            spans.append(span)
    return tuple(spans)


def _stretches(line: str) -> Iterator[tuple[int, int]]:
    """Split the whole line at sentence boundaries and after citations."""
    blanked = citations.blank_citations(line)
    start = 0
    for end in [*citations.ends(line), len(line)]:
        starts = [start, *(start + offset for offset in boundaries(blanked[start:end]))]
        yield from zip(starts, [*starts[1:], end], strict=True)
        start = end


def _trimmed(line: str, start: int, end: int) -> Span:
    # "45. " alone is an answer, not a marker
    start += _marker_end(line[start:end].rstrip())
    last = end
    while last > start and (line[last - 1].isspace() or line[last - 1] in MARKS):
        last -= 1
    while last < end and not line[last].isspace() and line[last] not in "*_":
        last += 1  # keep marks that are attached to the last word ("30-")
    return strip_span(line, start, last)


def _marker_end(line: str) -> int:
    match = _MARKER.match(line)
    end = match.end() if match else 0
    if line[end : end + 1].isdigit():
        end = len(line[:end].rstrip(_SIGNS))
    return end


def _enumerates(line: str, span: Span, *, first: bool) -> bool:
    """Return whether a span is only an item's number: the first of its line, or the next."""
    match = _ENUMERATION.fullmatch(line, *span)
    if not match or not line[span.end :].strip():
        return False
    before = line[max(0, span.start - _LONGEST_ITEM) : span.start]
    counted = re.search(rf"(?<!\S){int(match[1]) - 1}[.)]\s", before)
    return first or match[1] == "1" or counted is not None

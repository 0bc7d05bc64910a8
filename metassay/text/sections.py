"""The SOAP sections of a clinical note."""

from typing import Literal

from metassay.text.headings import SECTIONS, original, section_heading
from metassay.text.spans import Span, stripped

Compat = Literal["none", "doclens-table24"]


def divide(note: str, *, compat: Compat) -> dict[str, list[Span]]:
    """Cut a note at its section headings; a section that is absent has no key.

    Keys stand in SOAP order: subjective, objective_exam, objective_results, assessment_and_plan.

    `none`: every line that opens with a heading of `headings.section_heading` starts a piece, which
    runs to the next heading of another section; a section that recurs has several pieces, in order.
    Text before the first heading is subjective. Pieces include their heading, have no white space
    around them, are disjoint, and together hold every character of the note that is not white
    space. A note without any heading gives {}.

    `doclens-table24`: the rules behind Table 24 of DocLens (Xie et al. 2024), to the letter. Only
    the first occurrence of a section counts, so each has exactly one piece; text before the first
    heading, even if it is blank, counts as the occurrence of subjective; white space around a piece
    is kept. A note without any heading is all subjective.
    """
    lines = _lines(note)
    return _first_occurrences(note, lines) if compat == "doclens-table24" else _pieces(note, lines)


def _lines(note: str) -> list[Span]:
    lines, start = [], 0
    for line in note.split("\n"):
        lines.append(Span(start, start + len(line)))
        start += len(line) + 1
    return lines


def _pieces(note: str, lines: list[Span]) -> dict[str, list[Span]]:
    opened: list[tuple[str, int]] = []
    for line in lines:
        found = section_heading(note[line.start : line.end])
        if found and (not opened or opened[-1][0] != found[0]):
            opened.append((found[0], line.start))
    if not opened:
        return {}
    if note[: opened[0][1]].strip():
        if opened[0][0] == SECTIONS[0]:
            opened.pop(0)
        opened.insert(0, (SECTIONS[0], 0))
    ends = [start for _, start in opened[1:]] + [len(note)]
    pieces: dict[str, list[Span]] = {}
    for (section, start), end in zip(opened, ends, strict=True):
        pieces.setdefault(section, []).append(stripped(note, start, end))
    return {section: pieces[section] for section in SECTIONS if section in pieces}


def _first_occurrences(note: str, lines: list[Span]) -> dict[str, list[Span]]:
    first: dict[str, int] = {}
    for line in lines:
        section = original(note[line.start : line.end])
        if section:
            first.setdefault(section, line.start)
    if min(first.values(), default=1) > 0:
        first[SECTIONS[0]] = 0
    starts = sorted(first.values())
    ends = dict(zip(starts, [*starts[1:], len(note)], strict=True))
    return {s: [Span(first[s], ends[first[s]])] for s in SECTIONS if s in first}

"""Recognise headings and the SOAP sections of a clinical note; headings.txt has the lists.

There are two sets of rules. `original` has DocLens's, unchanged, to reproduce its Table
24. `section_heading` also recognises markdown and headings that the original rules
miss.
"""

import re
from pathlib import Path
from typing import Literal

from metassay.text.patterns import read_patterns
from metassay.text.spans import Span, strip_span

Compat = Literal["none", "doclens-table24"]
SECTIONS = ("subjective", "objective_exam", "objective_results", "assessment_and_plan")

_PREFIXES = frozenset({"history of present illness", "hpi", "summary plan"})
_COLON_ONLY = frozenset({"s", "o"})


_Rules = list[tuple[str, re.Pattern[str]]]  # sections, and what opens them

_TABLE = read_patterns(Path(__file__).with_suffix(".txt"))


def _names(section: str) -> list[str]:
    """Read the headings of a section of headings.txt."""
    return [name.strip() for name in " ".join(_TABLE[section].rows).split(",")]


def _original_rules() -> _Rules:
    rules = []
    for section in SECTIONS:
        alternatives = []
        for name in _names(f"original {section}"):
            body = r"\s*".join(re.escape(word) for word in name.split())
            alternatives.append(body if name in _PREFIXES else rf"{body}(?::|\s*$)")
        rules.append((section, re.compile(rf"\s*(?:{'|'.join(alternatives)})", re.I)))
    # Capitals only, with any text after it: needed to reproduce a system's published
    # numbers.
    return [*rules, ("assessment_and_plan", re.compile(r"\s*IMPRESSION"))]


# Markdown before a heading: #, **, __, >, and a number next to one of these. A single
# star before a blank is a bullet, and "1." alone is a list item.
_OPENING = (
    r"\s*(?:>\s*)*(?:\#+\s*)?(?:\d{1,2}[.)]\s*(?=[*_]{2}))?"
    r"[*_]{0,3}(?:(?<=[*_#])\d{1,2}[.)]\s*)?"
)
_CLOSING = r"\s*+[*_]{0,3}\s*+(?::[ \t*_]*|\#*\s*$)"


def _spaced(name: str) -> str:
    body = r"[\s_]*".join(re.escape(word) for word in name.split())
    return body.replace(r"\-", r"[\s_-]*")


def _extended_rules() -> _Rules:
    rules = []
    for section in SECTIONS:
        names = _names(f"original {section}") + _names(f"added {section}")
        closed = "|".join(_spaced(n) for n in names if n not in _COLON_ONLY)
        colon = "|".join(_spaced(n) for n in names if n in _COLON_ONLY)
        patterns = [rf"(?:{closed}){_CLOSING}"]
        patterns += [rf"(?:{colon})\s*+[*_]{{0,3}}\s*+:[ \t*_]*"] if colon else []
        patterns += [
            rf"{_spaced(n)}\b[ \t*_]*+:?[ \t*_]*" for n in names if n in _PREFIXES
        ]
        rules.append(
            (section, re.compile(rf"{_OPENING}(?:{'|'.join(patterns)})", re.I))
        )
    capital = re.compile(rf"{_OPENING}IMPRESSION\b[ \t*_]*+:?[ \t*_]*")
    return [*rules, ("assessment_and_plan", capital)]


_ORIGINAL_RULES = _original_rules()
_EXTENDED_RULES = _extended_rules()
_MINOR = "|".join(map(_spaced, _names("minor")))
_MINOR_RULE = re.compile(rf"{_OPENING}(?:{_MINOR}){_CLOSING}$", re.I)


def original(line: str) -> str | None:
    """Return the section that a line opens by DocLens's rules, or None."""
    return next(
        (section for section, opens in _ORIGINAL_RULES if opens.match(line)), None
    )


def section_heading(line: str) -> tuple[str, int] | None:
    """Return the section that a line opens by the extended rules and the heading's end, or None.

    A heading includes its markdown and colon; the rest of the line is its content. The
    end is 0 if the heading is part of the line's sentence ("History of present illness
    is unremarkable").
    """
    for section, opens in _EXTENDED_RULES:
        if match := opens.match(line):
            heading, rest = match.group(), line[match.end() :]
            complete = ":" in heading or not rest.strip() or heading.isupper()
            return section, match.end() if complete else 0
    return None


def stands_alone(line: str) -> bool:
    """Return whether the line is a known heading and nothing else."""
    heading = section_heading(line)
    if heading and not line[heading[1] :].strip():
        return True
    return bool(_MINOR_RULE.match(line.rstrip()))


def divide(note: str, *, compat: Compat) -> dict[str, list[Span]]:
    """Split a note at its section headings; a missing section has no key.

    Keys are in SOAP order: subjective, objective_exam, objective_results,
    assessment_and_plan.

    `none`: each line with a heading by `section_heading` starts a piece, which ends at
    the next heading of another section; a section that recurs has several pieces, in
    order. Text before the first heading is subjective. Pieces include their heading,
    have no white space around them, are disjoint, and contain all characters of the
    note but white space. {} without headings.

    `doclens-table24`: the exact rules behind Table 24 of DocLens (Xie et al. 2024).
    Only the first occurrence of a section counts, so each has exactly one piece; text
    before the first heading, even if blank, counts as the occurrence of subjective;
    white space around a piece stays. A note without headings is all subjective.
    """
    lines, start = [], 0
    for line in note.split("\n"):
        lines.append(Span(start, start + len(line)))
        start += len(line) + 1
    return (
        _first_occurrences(note, lines)
        if compat == "doclens-table24"
        else _pieces(note, lines)
    )


def _pieces(note: str, lines: list[Span]) -> dict[str, list[Span]]:
    opened: list[tuple[str, int]] = []
    for line in lines:
        heading = section_heading(note[line.start : line.end])
        if heading and (not opened or opened[-1][0] != heading[0]):
            opened.append((heading[0], line.start))
    if not opened:
        return {}
    if note[: opened[0][1]].strip():
        if opened[0][0] == SECTIONS[0]:
            opened.pop(0)
        opened.insert(0, (SECTIONS[0], 0))
    ends = [start for _, start in opened[1:]] + [len(note)]
    pieces: dict[str, list[Span]] = {}
    for (section, start), end in zip(opened, ends, strict=True):
        pieces.setdefault(section, []).append(strip_span(note, start, end))
    return {section: pieces[section] for section in SECTIONS if section in pieces}


def _first_occurrences(note: str, lines: list[Span]) -> dict[str, list[Span]]:
    first: dict[str, int] = {}
    for line in lines:
        if section := original(note[line.start : line.end]):
            first.setdefault(section, line.start)
    if min(first.values(), default=1) > 0:
        first[SECTIONS[0]] = 0
    starts = sorted(first.values())
    ends = dict(zip(starts, [*starts[1:], len(note)], strict=True))
    return {s: [Span(first[s], ends[first[s]])] for s in SECTIONS if s in first}

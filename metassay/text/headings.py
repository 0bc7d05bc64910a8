"""Recognise headings and the SOAP sections of a clinical note.

There are two sets of rules. `original` has DocLens's, unchanged, to reproduce its Table
24. `section_heading` also recognises markdown and headings that the original rules
miss.
"""

import re
from collections.abc import Sequence
from typing import Literal

from metassay.text.patterns import any_of
from metassay.text.spans import Span, strip_span

Compat = Literal["none", "doclens-table24"]
SECTIONS = ("subjective", "objective_exam", "objective_results", "assessment_and_plan")

# DocLens's headings, in its order: the first that matches a line names it.
_ORIGINAL_HEADINGS = {
    "subjective": (
        "cc",
        "chief complaint",
        "reason for visit",
        "history",
        "history of present illness",
        "hpi",
        "hpi notes",
        "interval history",
        "interval hx",
        "subjective",
        "ros",
        "review of system",
        "review of systems",
    ),
    "objective_exam": (
        "physical exam",
        "physical examination",
        "pe",
        "physical findings",
        "examination",
        "exam",
    ),
    "objective_results": (
        "results",
        "findings",
    ),
    "assessment_and_plan": (
        "assessment",
        "a",
        "plan",
        "plan of care",
        "p",
        "medical decision-making plan",
        "summary plan",
        "ap",
        "a / p",
        "assessment and plan",
        "assessment & plan",
        "disposition / plan",
    ),
}

# The headings that ours add. Labs, imaging, medications and instructions are left out on
# purpose: in real notes they stand inside the section they belong to, results as often as
# plan.
_ADDED_HEADINGS = {
    "subjective": (
        "s",
        "history of the present illness",
        "subjective findings",
    ),
    "objective_exam": (
        "o",
        "objective",
        "objective exam",
        "objective examination",
        "objective findings",
        "vitals",
        "vital signs",
        "vitals reviewed",
        "vital signs reviewed",
        "physical exam findings",
        "physical examination findings",
        "exam findings",
        "examination findings",
    ),
    "objective_results": (
        "objective results",
        "results reviewed",
        "lab results",
        "laboratory results",
        "laboratory data",
        "test results",
        "diagnostic results",
        "diagnostic studies",
        "imaging results",
    ),
    "assessment_and_plan": (
        "a & p",
        "a and p",
        "assessment + plan",
        "assessment / plan",
        "assessment / plan of care",
        "assessment and plan of care",
        "impression and plan",
        "impression & plan",
        "impression / plan",
        "treatment plan",
        "plan of treatment",
        "medical decision making",
    ),
}

# Headings within sections (histories, organ systems), and of reports and abstracts: alone
# on a line they state nothing.
_MINOR_HEADINGS = (
    "allergies",
    "background",
    "birth history",
    "breast",
    "cardiovascular",
    "comparison",
    "conclusion",
    "conclusions",
    "constitutional",
    "current medications",
    "discussion",
    "ears",
    "endocrine",
    "extremities",
    "eyes",
    "family history",
    "gastrointestinal",
    "general",
    "genitourinary",
    "gynecologic history",
    "head",
    "heent",
    "hematologic",
    "hent",
    "history of the present illness",
    "home medications",
    "imaging",
    "impression",
    "indication",
    "instructions",
    "integumentary",
    "introduction",
    "labs",
    "labs and imaging",
    "lymphatic",
    "medical",
    "medical history",
    "medications",
    "methods",
    "msk",
    "musculoskeletal",
    "neck",
    "neuro",
    "neurologic",
    "neurological",
    "objective",
    "objectives",
    "obstetric history",
    "past history",
    "past medical history",
    "past social history",
    "past surgical history",
    "procedure",
    "procedures",
    "psychiatric",
    "pulmonary",
    "recommendation",
    "recommendations",
    "respiratory",
    "skin",
    "social history",
    "surgical",
    "surgical history",
    "technique",
)

# A sentence may begin with these words, without a colon.
_PREFIXES = frozenset({"history of present illness", "hpi", "summary plan"})
# These letters are a heading only before a colon.
_COLON_ONLY = frozenset({"s", "o"})

_Rules = list[tuple[str, re.Pattern[str]]]  # sections, and what opens them


# ---- DocLens's rules


def _original_rules() -> _Rules:
    rules = []
    for section in SECTIONS:
        headings = any_of(*map(_original_pattern, _ORIGINAL_HEADINGS[section]))
        rules.append((section, re.compile(rf"\s*{headings}", re.IGNORECASE)))
    # Capitals only, with any text after it: needed to reproduce a system's published
    # numbers.
    rules.append(("assessment_and_plan", re.compile(r"\s*IMPRESSION")))
    return rules


def _original_pattern(name: str) -> str:
    pattern = r"\s*".join(re.escape(word) for word in name.split())
    return pattern if name in _PREFIXES else rf"{pattern}(?::|\s*$)"


# ---- our rules

# Markdown before a heading: #, **, __, >, and a number next to one of these. A single
# star before a blank is a bullet, and "1." alone is a list item.
_OPENING = (
    r"\s*(?:>\s*)*(?:\#+\s*)?(?:\d{1,2}[.)]\s*(?=[*_]{2}))?"
    r"[*_]{0,3}(?:(?<=[*_#])\d{1,2}[.)]\s*)?"
)
_CLOSING = r"\s*+[*_]{0,3}\s*+(?::[ \t*_]*|\#*\s*$)"
_COLON = r"\s*+[*_]{0,3}\s*+:[ \t*_]*"
_AS_PREFIX = r"\b[ \t*_]*+:?[ \t*_]*"


def _extended_rules() -> _Rules:
    rules = []
    for section in SECTIONS:
        names = (*_ORIGINAL_HEADINGS[section], *_ADDED_HEADINGS[section])
        opened = any_of(*_extended_patterns(names))
        rules.append((section, re.compile(_OPENING + opened, re.IGNORECASE)))
    capitals = re.compile(rf"{_OPENING}IMPRESSION{_AS_PREFIX}")
    rules.append(("assessment_and_plan", capitals))
    return rules


def _extended_patterns(names: Sequence[str]) -> list[str]:
    """Return the patterns of a section's headings: closed ones, with a colon, as prefixes."""
    closed = [_spaced(name) for name in names if name not in _COLON_ONLY]
    colon_only = [_spaced(name) for name in names if name in _COLON_ONLY]
    patterns = [any_of(*closed) + _CLOSING]
    if colon_only:
        patterns.append(any_of(*colon_only) + _COLON)
    patterns += [_spaced(name) + _AS_PREFIX for name in names if name in _PREFIXES]
    return patterns


def _spaced(name: str) -> str:
    """Return a pattern of a name, with any blanks, underscores and hyphens in it."""
    pattern = r"[\s_]*".join(re.escape(word) for word in name.split())
    return pattern.replace(r"\-", r"[\s_-]*")


_ORIGINAL_RULES = _original_rules()
_EXTENDED_RULES = _extended_rules()
_MINOR_RULE = re.compile(
    _OPENING + any_of(*map(_spaced, _MINOR_HEADINGS)) + _CLOSING + "$", re.IGNORECASE
)


def original(line: str) -> str | None:
    """Return the section that a line opens by DocLens's rules, or None.

    >>> original("HPI notes from today")
    'subjective'
    """
    for section, opens in _ORIGINAL_RULES:
        if opens.match(line):
            return section
    return None


def section_heading(line: str) -> tuple[str, int] | None:
    """Return the section that a line opens by the extended rules and the heading's end, or None.

    A heading includes its markdown and colon; the rest of the line is its content. The
    end is 0 if the heading is part of the line's sentence ("History of present illness
    is unremarkable").

    >>> section_heading("**Exam:** normal gait")
    ('objective_exam', 10)
    """
    for section, opens in _EXTENDED_RULES:
        if match := opens.match(line):
            heading = match.group()
            content = line[match.end() :].strip()
            is_complete = ":" in heading or not content or heading.isupper()
            return section, match.end() if is_complete else 0
    return None


def stands_alone(line: str) -> bool:
    """Return whether the line is a known heading and nothing else.

    >>> stands_alone("## Plan"), stands_alone("Plan: rest")
    (True, False)
    """
    heading = section_heading(line)
    if heading:
        _, end = heading
        if not line[end:].strip():
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

    >>> note = "HPI: cough\\nExam: clear\\nPlan: rest"
    >>> list(divide(note, compat="none"))
    ['subjective', 'objective_exam', 'assessment_and_plan']
    """
    lines = _line_spans(note)
    if compat == "doclens-table24":
        return _first_occurrences(note, lines)
    return _pieces(note, lines)


def _line_spans(note: str) -> list[Span]:
    lines = []
    start = 0
    for line in note.split("\n"):
        lines.append(Span(start, start + len(line)))
        start += len(line) + 1
    return lines


def _pieces(note: str, lines: list[Span]) -> dict[str, list[Span]]:
    """Return the pieces of each section, by the extended rules."""
    opened: list[tuple[str, int]] = []  # sections, and where they start
    for line in lines:
        heading = section_heading(note[line.start : line.end])
        if heading is None:
            continue
        section, _ = heading
        if not opened or opened[-1][0] != section:
            opened.append((section, line.start))
    if not opened:
        return {}
    first_section, first_start = opened[0]
    if note[:first_start].strip():
        # Text before the first heading is subjective.
        if first_section == SECTIONS[0]:
            opened.pop(0)
        opened.insert(0, (SECTIONS[0], 0))
    ends = [start for _, start in opened[1:]] + [len(note)]
    pieces: dict[str, list[Span]] = {}
    for (section, start), end in zip(opened, ends, strict=True):
        pieces.setdefault(section, []).append(strip_span(note, start, end))
    return {section: pieces[section] for section in SECTIONS if section in pieces}


def _first_occurrences(note: str, lines: list[Span]) -> dict[str, list[Span]]:
    """Return one piece of each section, by DocLens's rules."""
    first: dict[str, int] = {}
    for line in lines:
        if section := original(note[line.start : line.end]):
            first.setdefault(section, line.start)
    if min(first.values(), default=1) > 0:
        first[SECTIONS[0]] = 0
    starts = sorted(first.values())
    ends = dict(zip(starts, [*starts[1:], len(note)], strict=True))
    return {
        section: [Span(first[section], ends[first[section]])]
        for section in SECTIONS
        if section in first
    }

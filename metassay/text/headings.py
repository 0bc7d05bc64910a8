"""The SOAP sections of a clinical note, and what a heading looks like, behind sentences too.

headings.txt has the literal lists.

Two sets of rules. `original` is DocLens's, needed to the letter to regenerate its Table 24.
`section_heading` is ours: it also knows markdown and the headings that the original swallows.
"""

import re
from pathlib import Path
from typing import Literal, NamedTuple

from metassay.text.patterns import read_patterns
from metassay.text.spans import Span, stripped

Compat = Literal["none", "doclens-table24"]
SECTIONS = ("subjective", "objective_exam", "objective_results", "assessment_and_plan")

_PREFIXES = frozenset({"history of present illness", "hpi", "summary plan"})
_COLON_ONLY = frozenset({"s", "o"})


class _Rule(NamedTuple):
    section: str
    pattern: re.Pattern[str]


_TABLE = read_patterns(Path(__file__).with_suffix(".txt"))


def _names(section: str) -> list[str]:
    """The headings of a section of headings.txt."""
    return [name.strip() for name in " ".join(_TABLE[section].rows).split(",")]


def _original_rules() -> list[_Rule]:
    rules = []
    for section in SECTIONS:
        alternatives = []
        for name in _names(f"original {section}"):
            body = r"\s*".join(re.escape(word) for word in name.split())
            alternatives.append(body if name in _PREFIXES else rf"{body}(?::|\s*$)")
        rules.append(_Rule(section, re.compile(rf"\s*(?:{'|'.join(alternatives)})", re.I)))
    # Capitals only, and whatever follows: published numbers of one system need it so.
    rules.append(_Rule("assessment_and_plan", re.compile(r"\s*IMPRESSION")))
    return rules


# Markdown before a heading: #, **, __, >, and a number if one of these stands beside it. A single
# star before a blank is a bullet, and "1." alone is a list item.
_OPENING = (
    r"\s*(?:>\s*)*(?:\#+\s*)?(?:\d{1,2}[.)]\s*(?=[*_]{2}))?[*_]{0,3}(?:(?<=[*_#])\d{1,2}[.)]\s*)?"
)
_CLOSING = r"\s*+[*_]{0,3}\s*+(?::[ \t*_]*|\#*\s*$)"


def _spaced(name: str) -> str:
    body = r"[\s_]*".join(re.escape(word) for word in name.split())
    return body.replace(r"\-", r"[\s_-]*")


def _own_rules() -> list[_Rule]:
    rules = []
    for section in SECTIONS:
        names = _names(f"original {section}") + _names(f"added {section}")
        closed = "|".join(_spaced(n) for n in names if n not in _COLON_ONLY)
        colon = "|".join(_spaced(n) for n in names if n in _COLON_ONLY)
        patterns = [rf"(?:{closed}){_CLOSING}"]
        patterns += [rf"(?:{colon})\s*+[*_]{{0,3}}\s*+:[ \t*_]*"] if colon else []
        patterns += [rf"{_spaced(n)}\b[ \t*_]*+:?[ \t*_]*" for n in names if n in _PREFIXES]
        whole = rf"{_OPENING}(?:{'|'.join(patterns)})"
        rules.append(_Rule(section, re.compile(whole, re.I)))
    capital = re.compile(rf"{_OPENING}IMPRESSION\b[ \t*_]*+:?[ \t*_]*")
    rules.append(_Rule("assessment_and_plan", capital))
    return rules


_ORIGINAL_RULES = _original_rules()
_OWN_RULES = _own_rules()
_MINOR = "|".join(map(_spaced, _names("minor")))
_MINOR_RULE = re.compile(rf"{_OPENING}(?:{_MINOR}){_CLOSING}$", re.I)


def original(line: str) -> str | None:
    """The section that a line opens by DocLens's own rules, or None."""
    return next((rule.section for rule in _ORIGINAL_RULES if rule.pattern.match(line)), None)


def section_heading(line: str) -> tuple[str, int] | None:
    """The section that a line opens by our rules and where its heading ends, or None.

    A heading takes its markdown and its colon with it, so the rest of the line is what is said. It
    ends at 0 where it opens the line's sentence ("History of present illness is unremarkable").
    """
    for rule in _OWN_RULES:
        match = rule.pattern.match(line)
        if match:
            heading, rest = match.group(), line[match.end() :]
            apart = ":" in heading or not rest.strip() or heading.isupper()
            return rule.section, match.end() if apart else 0
    return None


def stands_alone(line: str) -> bool:
    """Whether the line is a known heading and nothing else."""
    found = section_heading(line)
    if found and not line[found[1] :].strip():
        return True
    return bool(_MINOR_RULE.match(line.rstrip()))


def divide(note: str, *, compat: Compat) -> dict[str, list[Span]]:
    """Cut a note at its section headings; a section that is absent has no key.

    Keys stand in SOAP order: subjective, objective_exam, objective_results, assessment_and_plan.

    `none`: every line that opens with a heading of `section_heading` starts a piece, which
    runs to the next heading of another section; a section that recurs has several pieces, in order.
    Text before the first heading is subjective. Pieces include their heading, have no white space
    around them, are disjoint, and together hold every character of the note that is not white
    space. A note without any heading gives {}.

    `doclens-table24`: the rules behind Table 24 of DocLens (Xie et al. 2024), to the letter. Only
    the first occurrence of a section counts, so each has exactly one piece; text before the first
    heading, even if it is blank, counts as the occurrence of subjective; white space around a piece
    is kept. A note without any heading is all subjective.
    """
    lines, start = [], 0
    for line in note.split("\n"):
        lines.append(Span(start, start + len(line)))
        start += len(line) + 1
    return _first_occurrences(note, lines) if compat == "doclens-table24" else _pieces(note, lines)


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

"""What a heading looks like: the literal lists behind sections and sentences.

Two sets of rules. `original` is DocLens's, needed to the letter to regenerate its Table 24.
`section_heading` is ours: it also knows markdown and the headings that the original swallows.
"""

import re
from typing import NamedTuple

SECTIONS = ("subjective", "objective_exam", "objective_results", "assessment_and_plan")

# In DocLens's order: the first that matches a line names it.
_ORIGINAL = {
    "subjective": (
        "cc, chief complaint, reason for visit, history, history of present illness, hpi,"
        " hpi notes, interval history, interval hx, subjective, ros, review of system,"
        " review of systems"
    ),
    "objective_exam": (
        "physical exam, physical examination, pe, physical findings, examination, exam"
    ),
    "objective_results": "results, findings",
    "assessment_and_plan": (
        "assessment, a, plan, plan of care, p, medical decision-making plan, summary plan, ap,"
        " a / p, assessment and plan, assessment & plan, disposition / plan"
    ),
}

# What ours adds. Labs, imaging, medications and instructions are left out on purpose: in real notes
# they stand inside the section they belong to, results as often as plan.
_ADDED = {
    "subjective": "s, history of the present illness, subjective findings",
    "objective_exam": (
        "o, objective, objective exam, objective examination, objective findings, vitals,"
        " vital signs, vitals reviewed, vital signs reviewed, physical exam findings,"
        " physical examination findings, exam findings, examination findings"
    ),
    "objective_results": (
        "objective results, results reviewed, lab results, laboratory results, laboratory data,"
        " test results, diagnostic results, diagnostic studies, imaging results"
    ),
    "assessment_and_plan": (
        "a & p, a and p, assessment + plan, assessment / plan, assessment / plan of care,"
        " assessment and plan of care, impression and plan, impression & plan, impression / plan,"
        " treatment plan, plan of treatment, medical decision making"
    ),
}

# Headings within sections (histories, organ systems), and of reports and abstracts: alone on a line
# they state nothing.
_MINOR = (
    "allergies, background, birth history, breast, cardiovascular, comparison, conclusion,"
    " conclusions, constitutional, current medications, discussion, ears, endocrine,"
    " extremities, eyes, family history, gastrointestinal, general, genitourinary, gynecologic"
    " history, head, heent, hematologic, hent, history of the present illness, home"
    " medications, imaging, impression, indication, instructions, integumentary, introduction,"
    " labs, labs and imaging, lymphatic, medical, medical history, medications, methods, msk,"
    " musculoskeletal, neck, neuro, neurologic, neurological, objective, objectives, obstetric"
    " history, past history, past medical history, past social history, past surgical history,"
    " procedure, procedures, psychiatric, pulmonary, recommendation, recommendations,"
    " respiratory, skin, social history, surgical, surgical history, technique"
)

_PREFIXES = frozenset({"history of present illness", "hpi", "summary plan"})
_COLON_ONLY = frozenset({"s", "o"})


class _Rule(NamedTuple):
    section: str
    pattern: re.Pattern[str]


def _listed(names: str) -> list[str]:
    return [name.strip() for name in names.split(",")]


def _original_rules() -> list[_Rule]:
    rules = []
    for section, names in _ORIGINAL.items():
        alternatives = []
        for name in _listed(names):
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
        names = _listed(_ORIGINAL[section]) + _listed(_ADDED[section])
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
_MINOR_RULE = re.compile(
    rf"{_OPENING}(?:{'|'.join(_spaced(n) for n in _listed(_MINOR))}){_CLOSING}$", re.I
)


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

"""Headings of structured abstracts, and the roles of the sentences below them."""

import re
from typing import NamedTuple

from metassay.units.role_cues import ROLES, Role

_NAMES: dict[Role, tuple[str, ...]] = {
    "background": (
        "background",
        "introduction",
        "context",
        "importance",
        "rationale",
        "motivation",
        "problem",
        "problem statement",
    ),
    "objective": (
        "objective",
        "objectives",
        "aim",
        "aims",
        "purpose",
        "purposes",
        "goal",
        "goals",
        "hypothesis",
        "hypotheses",
        "question",
        "research question",
        "research questions",
        "study objective",
        "study objectives",
        "study aim",
        "study aims",
        "aim of the study",
        "purpose of the study",
        "purpose of review",
        "main objective",
        "primary objective",
    ),
    "method": (
        "method",
        "methods",
        "methodology",
        "materials",
        "materials and methods",
        "material and methods",
        "patients",
        "participants",
        "subjects",
        "population",
        "study population",
        "sample",
        "design",
        "study design",
        "research design",
        "trial design",
        "design of study",
        "setting",
        "settings",
        "intervention",
        "interventions",
        "measurements",
        "measures",
        "outcome measures",
        "main outcome measure",
        "main outcome measures",
        "main outcomes and measures",
        "primary outcome",
        "exposure",
        "exposures",
        "data source",
        "data sources",
        "data collection",
        "data extraction",
        "data synthesis",
        "data analysis",
        "study selection",
        "selection criteria",
        "search methods",
        "search strategy",
        "eligibility criteria",
        "review methods",
        "approach",
        "procedure",
        "procedures",
        "experimental design",
        "statistical analysis",
        "analysis",
    ),
    "result": (
        "result",
        "results",
        "main results",
        "key results",
        "finding",
        "findings",
        "main findings",
        "recent findings",
        "observations",
        "outcome",
        "outcomes",
        "evaluation",
        "experiments",
    ),
    "conclusion": (
        "conclusion",
        "conclusions",
        "discussion",
        "interpretation",
        "interpretations",
        "implication",
        "implications",
        "practical implications",
        "clinical implications",
        "social implications",
        "research implications",
        "theoretical implications",
        "clinical relevance",
        "relevance",
        "clinical significance",
        "significance",
        "recommendation",
        "recommendations",
        "limitation",
        "limitations",
        "research limitations",
        "take-home message",
        "author's conclusions",
        "authors' conclusions",
        "impact",
        "originality",
        "value",
        "meaning",
    ),
    "other": (
        "keywords",
        "key words",
        "index terms",
        "funding",
        "trial registration",
        "registration",
        "clinical trial registration",
        "systematic review registration",
        "copyright",
        "availability",
        "availability and implementation",
        "contact",
        "supplementary information",
        "acknowledgements",
        "acknowledgments",
        "conflict of interest",
        "conflicts of interest",
        "competing interests",
    ),
}
_ROLE_OF_NAME: dict[str, Role] = {}
for _role in ROLES:
    _ROLE_OF_NAME |= dict.fromkeys(_NAMES[_role], _role)

# ---- patterns

_AND = r"\s*(?:,\s*(?:and\b|&)?|/|&|\+|\band\b)\s*"
_LONGEST_FIRST = sorted(_ROLE_OF_NAME, key=lambda name: (-len(name), name))
_NAME = "|".join(
    re.escape(name).replace(r"\ ", r"\s+").replace("'", "['\u2019]")
    for name in _LONGEST_FIRST
)
# Names, with markdown and brackets before them.
_LIST = rf"\W*(?P<names>(?:{_NAME})\b(?:{_AND}(?:{_NAME})\b)*)"
_COLON = r"(?P<colon>:[*_]{0,3})"
_DASH = r"(?P<dash>(?<=\s)[\u2013\u2014](?=\s))"
_STOP = r"(?:\.|[-\u2013\u2014]+)(?=\s|[A-Z])"
_BEFORE_TEXT = re.compile(
    rf"{_LIST}\s*[*_\])]{{0,3}}\s*(?:{_COLON}|{_DASH}|{_STOP})\s*", re.IGNORECASE
)
_ALONE = re.compile(rf"{_LIST}[\s:.*_#\])\u2013\u2014-]*", re.IGNORECASE)


class Heading(NamedTuple):
    """The roles under a heading, and its end in the text."""

    roles: frozenset[str]
    end: int


def read_heading(text: str) -> Heading | None:
    """Return the heading of a structured abstract at the start of a text, or None.

    A name is a heading before a colon in any case; before a dash between spaces, or as
    the whole text, with a capital; before a full stop or any other dash in capitals.

    >>> read_heading("Results: Pain fell.")
    Heading(roles=frozenset({'result'}), end=9)
    >>> read_heading("Results were mixed.") is None
    True
    """
    alone = _ALONE.fullmatch(text)
    if alone and _is_heading(
        alone["names"], has_colon=":" in text, needs_capitals="." in text
    ):
        return Heading(roles=_find_roles(alone["names"]), end=len(text))
    leading = _BEFORE_TEXT.match(text)
    if leading and _is_heading(
        leading["names"],
        has_colon=leading["colon"] is not None,
        needs_capitals=leading["dash"] is None,
    ):
        return Heading(roles=_find_roles(leading["names"]), end=leading.end())
    return None


def _is_heading(names: str, *, has_colon: bool, needs_capitals: bool) -> bool:
    if has_colon:
        return True
    return names.isupper() if needs_capitals else names[0].isupper()


def _find_roles(names: str) -> frozenset[str]:
    plain = " ".join(names.lower().replace("\u2019", "'").split())
    if plain in _ROLE_OF_NAME:
        return frozenset({_ROLE_OF_NAME[plain]})
    return frozenset(
        _ROLE_OF_NAME[match[0]]
        for match in re.finditer(_NAME, plain)
        if match[0] in _ROLE_OF_NAME
    )

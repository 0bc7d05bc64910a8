"""Headings of structured abstracts ("METHODS:"), and which roles they leave to what follows."""

import re
from typing import NamedTuple

_NAMES = {
    "background": (
        "background, introduction, context, importance, rationale, motivation"
        ", problem, problem statement"
    ),
    "objective": (
        "objective, objectives, aim, aims, purpose, purposes, goal, goals, hypothesis, hypotheses"
        ", question, research question, research questions, study objective, study objectives"
        ", study aim, study aims, aim of the study, purpose of the study, purpose of review"
        ", main objective, primary objective"
    ),
    "method": (
        "method, methods, methodology, materials, materials and methods, material and methods"
        ", patients, participants, subjects, population, study population, sample, design"
        ", study design, research design, trial design, design of study, setting, settings"
        ", intervention, interventions, measurements, measures, outcome measures"
        ", main outcome measure, main outcome measures, main outcomes and measures"
        ", primary outcome, exposure, exposures, data source, data sources, data collection"
        ", data extraction, data synthesis, data analysis, study selection, selection criteria"
        ", search methods, search strategy, eligibility criteria, review methods, approach"
        ", procedure, procedures, experimental design, statistical analysis, analysis"
    ),
    "result": (
        "result, results, main results, key results, finding, findings, main findings"
        ", recent findings, observations, outcome, outcomes, evaluation, experiments"
    ),
    "conclusion": (
        "conclusion, conclusions, discussion, interpretation, interpretations, implication"
        ", implications, practical implications, clinical implications, social implications"
        ", research implications, theoretical implications, clinical relevance, relevance"
        ", clinical significance, significance, recommendation, recommendations, limitation"
        ", limitations, research limitations, take-home message, author's conclusions"
        ", authors' conclusions, impact, originality, value, meaning"
    ),
    "other": (
        "keywords, key words, index terms, funding, trial registration, registration"
        ", clinical trial registration, systematic review registration, copyright, availability"
        ", availability and implementation, contact, supplementary information, acknowledgements"
        ", acknowledgments, conflict of interest, conflicts of interest, competing interests"
    ),
}
_ROLES = {name.strip(): role for role, names in _NAMES.items() for name in names.split(",")}
_AND = r"\s*(?:,\s*(?:and\b|&)?|/|&|\+|\band\b)\s*"
_NAME = "|".join(
    re.escape(name).replace(r"\ ", r"\s+").replace("'", "['\u2019]")
    for name in sorted(_ROLES, key=lambda name: (-len(name), name))
)
_LIST = rf"(?P<names>(?:{_NAME})\b(?:{_AND}(?:{_NAME})\b)*)"
_OPEN = r"\W*"  # markdown and brackets
_COLON, _DASH = r"(?P<colon>:[*_]{0,3})", r"(?P<dash>(?<=\s)[\u2013\u2014](?=\s))"
_STOP = r"(?:\.|[-\u2013\u2014]+)(?=\s|[A-Z])"
_LED = re.compile(
    rf"{_OPEN}{_LIST}\s*[*_\])]{{0,3}}\s*(?:{_COLON}|{_DASH}|{_STOP})\s*",
    re.I,
)
_ALONE = re.compile(rf"{_OPEN}{_LIST}[\s:.*_#\])\u2013\u2014-]*", re.I)


class Heading(NamedTuple):
    """`roles` that a heading leaves; `end`: where it ends in the text that it opens."""

    roles: frozenset[str]
    end: int


def opening(text: str) -> Heading | None:
    """The heading that a text opens with, or that it is, or None.

    A name is a heading before a colon in any case; before a dash between blanks, or alone, with a
    capital; before a full stop or any other dash in capitals.
    """
    alone, led = _ALONE.fullmatch(text), _LED.match(text)
    if alone and _stands(alone["names"], ":" in text, "." in text):
        return Heading(_roles(alone["names"]), len(text))
    if led and _stands(led["names"], led["colon"] is not None, led["dash"] is None):
        return Heading(_roles(led["names"]), led.end())
    return None


def _stands(names: str, colon: bool, capitals: bool) -> bool:
    return colon or (names.isupper() if capitals else names[0].isupper())


def _roles(names: str) -> frozenset[str]:
    plain = " ".join(names.lower().replace("\u2019", "'").split())
    if plain in _ROLES:
        return frozenset({_ROLES[plain]})
    return frozenset(
        _ROLES[name] for match in re.finditer(_NAME, plain) if (name := match.group()) in _ROLES
    )

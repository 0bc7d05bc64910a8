"""A certificate in one sentence: the verdict first, then the number that it rests on."""

from typing import Any, Literal

import numpy as np

from metassay.meta_evaluation.verdicts import (
    AS_A_RATER,
    CANNOT_TELL,
    CONTRARY,
    EXPLAINED,
    HOLDS,
    NO_USE,
    THESE_SYSTEMS,
    UNDEFINED,
    WEAK,
    kind_of,
)

_WHERE = {"global": "over all texts", "document": "within documents", "system": "between systems"}
_COMPONENTS = {
    "between_systems": "between systems",
    "between_documents": "between documents",
    "within": "text by text",
}
_COEFFICIENT = {
    "pearson": "Pearson",
    "spearman": "Spearman",
    "kendall": "Kendall's tau-b",
    "kendall_c": "Stuart's tau-c",
}


def sentence(row: dict[str, Any], better: Literal["higher", "lower"]) -> str:
    """The verdict of `row` in at most 30 words (names counted as one); `better`: the criterion's.

    Every number stands in the row as well.
    """
    metric = row["metric"] if row["judge"] == "none" else f"{row['metric']} ({row['judge']})"
    criterion = f"low {row['criterion']}" if better == "lower" else str(row["criterion"])
    where, kind = _WHERE[row["level"]], kind_of(row["verdict"])
    if kind == UNDEFINED:
        return f"Undefined: {where}, {metric} and {criterion} have no correlation to compute."
    plain = f"{_COEFFICIENT[row['coefficient']]} {number(row['value'])}"
    value, here = f"{plain}{_ends(row, '')}", f"{plain}{_ends(row, '_these_systems')}"
    if kind == AS_A_RATER:
        worst = -row["against_rater_low"]
        less = f", at worst {number(worst)} less" if worst > 0 else ""
        return (
            f"As good as a rater: {where}, {metric} reaches {number(row['with_raters'])} where a"
            f" rater reaches {number(row['rater'])}{less}."
        )
    said = {
        HOLDS: f"{metric} follows {criterion}: {value}, {_p(row)}{_shown_by(row)}.",
        WEAK: f"{metric} follows {criterion} too little to rely on: {value}, {_p(row)}.",
        THESE_SYSTEMS: f"{metric} follows {criterion} here ({here}), but nothing says that it does"
        " for other systems.",
        EXPLAINED: f"of {metric}'s correlation with {criterion}, {number(row['value'])}, only"
        f" {number(row['given_confound'])} is left with {_confound(row)} held constant.",
        CANNOT_TELL: f"{value} of {metric} and {criterion} neither shows nor excludes a useful"
        f" relation{_needed(row)}.",
        NO_USE: f"{metric} is not shown to follow {criterion}, and a useful correlation is"
        f" excluded: {value}, {_p(row)}.",
        CONTRARY: f"{metric} goes against {criterion}: {value}, {_p(row)}{_shown_by(row)}.",
    }[kind]
    # A confound's name keeps its capitals.
    return f"{row['verdict'][0].upper()}{row['verdict'][1:]}: {where}, {said}"


def number(value: float) -> str:
    """Two decimals without the zero before the point; one that rounds to 0 shows its side."""
    text = f"{value:.2f}"
    if float(text) == 0:
        return "0" if value == 0 else ("<.01" if value > 0 else ">−.01")
    return text.replace("0.", ".", 1).replace("-", "−")


def _ends(row: dict[str, Any], whose: str) -> str:
    if np.isnan(row[f"low{whose}"]):
        return ""
    return f" [{number(row[f'low{whose}'])}, {number(row[f'high{whose}'])}]"


def _shown_by(row: dict[str, Any]) -> str:
    """Where the relation shows, if the interval of the whole does not say so."""
    if row["shown_by"] not in _COMPONENTS or not row["low"] <= 0 <= row["high"]:
        return ""
    return f" {_COMPONENTS[row['shown_by']]}"


def _p(row: dict[str, Any]) -> str:
    if np.isnan(row["p"]):
        return "not tested"
    if row["p"] < 0.001:
        return "adjusted p < .001"
    return f"adjusted p {row['p']:.3f}".replace("0.", ".", 1)


def _confound(row: dict[str, Any]) -> str:
    return "the system" if row["confound"] == "system" else str(row["confound"])


def _needed(row: dict[str, Any]) -> str:
    systems, documents = row["needed_systems"], row["needed_documents"]
    if np.isnan(systems):
        return ""
    return f"; about {systems:,.0f} systems, {documents:,.0f} documents would do"

"""A certificate in one sentence: the verdict first, then the number that it rests on."""

from typing import Any

import pandas as pd

from metassay.meta_evaluation.certify import certify
from metassay.meta_evaluation.options import CertificationOptions
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
from metassay.reporting.numbers import equals, missing, short, short_interval
from metassay.reporting.tables import records
from metassay.reporting.words import COEFFICIENT_NAMES, COMPONENTS, WHERE
from metassay.tables.certificates import CERTIFICATES
from metassay.tables.names import metric_label


def certificates(evidence: pd.DataFrame, options: CertificationOptions) -> pd.DataFrame:
    """The table `certificates` from the table `evidence`: verdicts, each with its sentence."""
    decided = certify(evidence, options)
    said = decided.assign(sentence=[sentence(row) for row in records(decided)])
    return said[list(CERTIFICATES.columns)]


def sentence(row: dict[str, Any]) -> str:
    """The verdict of `row` in at most 30 words (names counted as one).

    `row`: what `certify` made of a row of `evidence`; every number stands in it as well. A number
    that is missing is NaN or None.
    """
    metric = metric_label(row["metric"], row["judge"])
    criterion = f"low {row['criterion']}" if row["better"] == "lower" else str(row["criterion"])
    where, kind = WHERE[row["level"]], kind_of(row["verdict"])
    if kind == UNDEFINED:
        return f"Undefined: {where}, {metric} and {criterion} have no correlation to compute."
    plain = f"{COEFFICIENT_NAMES[row['coefficient']]} {short(row['value'])}"
    ends = short_interval(row["low"], row["high"])
    ends_here = short_interval(row["low_these_systems"], row["high_these_systems"])
    value, here = f"{plain} {ends}".strip(), f"{plain} {ends_here}".strip()
    if kind == AS_A_RATER:
        worst = -row["against_rater_low"]
        less = f", at worst {short(worst)} less" if worst > 0 else ""
        return (
            f"As good as a rater: {where}, {metric} reaches {short(row['with_raters'])} where a"
            f" rater reaches {short(row['rater'])}{less}."
        )
    said = {
        HOLDS: f"{metric} follows {criterion}: {value}, {_p(row)}{_shown_by(row)}.",
        WEAK: f"{metric} follows {criterion} too little to rely on: {value}, {_p(row)}.",
        THESE_SYSTEMS: f"{metric} follows {criterion} here ({here}), but nothing says that it does"
        " for other systems.",
        EXPLAINED: f"of {metric}'s correlation with {criterion}, {short(row['value'])}, only"
        f" {short(row['given_confound'])} is left with {_confound(row)} held constant.",
        CANNOT_TELL: f"{value} of {metric} and {criterion} neither shows nor excludes a useful"
        f" relation{_needed(row)}.",
        NO_USE: f"{metric} is not shown to follow {criterion}, and a useful correlation is"
        f" excluded: {value}, {_p(row)}.",
        CONTRARY: f"{metric} goes against {criterion}: {value}, {_p(row)}{_shown_by(row)}.",
    }[kind]
    # A confound's name keeps its capitals.
    return f"{row['verdict'][0].upper()}{row['verdict'][1:]}: {where}, {said}"


def _shown_by(row: dict[str, Any]) -> str:
    """Where the relation shows, if the interval of the whole does not say so."""
    if row["shown_by"] not in COMPONENTS or missing(row["low"]):
        return ""
    return f" {COMPONENTS[row['shown_by']]}" if row["low"] <= 0 <= row["high"] else ""


def _p(row: dict[str, Any]) -> str:
    if missing(row["p"]):
        return "not tested"
    return f"adjusted {equals(row['p'])}".replace("p = ", "p ")


def _confound(row: dict[str, Any]) -> str:
    return "the system" if row["confound"] == "system" else str(row["confound"])


def _needed(row: dict[str, Any]) -> str:
    systems, documents = row["needed_systems"], row["needed_documents"]
    if missing(systems):
        return ""
    return f"; about {systems:,.0f} systems, {documents:,.0f} documents would do"

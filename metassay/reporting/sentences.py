"""A certificate in words: the verdict first, then the numbers that it rests on, then what to do."""

from typing import Any

import pandas as pd

from metassay.format.frames import records
from metassay.format.numbers import counted, equals, missing, short, short_interval
from metassay.format.terms import COEFFICIENT_NAMES, DECISIONS
from metassay.meta_evaluation.options import CertificationOptions
from metassay.meta_evaluation.verdicts import (
    CANNOT_TELL,
    CONTRARY,
    EXPLAINED,
    MORE_DOCUMENTS,
    MORE_SYSTEMS,
    PROMISING,
    THESE_SYSTEMS,
    TOO_WEAK,
    UNDEFINED,
    USE,
    certify,
    is_shown,
    kind_of,
)
from metassay.tables.certificates import CERTIFICATES
from metassay.tables.names import metric_label


def certificates(evidence: pd.DataFrame, options: CertificationOptions) -> pd.DataFrame:
    """The table `certificates` from the table `evidence`: verdicts, each with its sentence."""
    decided = certify(evidence, options)
    said = decided.assign(sentence=[sentence(row, options) for row in records(decided)])
    return said[list(CERTIFICATES.columns)]


def sentence(row: dict[str, Any], options: CertificationOptions) -> str:
    """The verdict of `row` in two or three short sentences.

    `row`: what `certify` made of a row of `evidence`; every number stands in it as well. A number
    that is missing is NaN or None.
    """
    said = f"{row['verdict'][0].upper()}{row['verdict'][1:]}: {_why(row, options)}"
    return " ".join([said, *_more(row)])


def _why(row: dict[str, Any], options: CertificationOptions) -> str:
    metric = metric_label(row["metric"], row["judge"])
    criterion = f"low {row['criterion']}" if row["better"] == "lower" else str(row["criterion"])
    decision, useful = DECISIONS[row["level"]], short(options.useful)
    of = f"{metric} and {criterion}"
    if kind_of(row["verdict"]) == UNDEFINED:
        return f"for {decision}, {of} have no correlation to compute."
    plain = f"{COEFFICIENT_NAMES[row['coefficient']]} {short(row['value'])}"
    value = f"{plain} {short_interval(row['low'], row['high'])}".strip()
    least = short(row["corrected_low"])
    p = "not tested" if missing(row["p"]) else f"adjusted {equals(row['p'])}".replace(" = ", " ")
    if row["verdict"] == CANNOT_TELL and not missing(row["p"]) and is_shown(row):
        return f"for {decision}, {of} are related, perhaps too weakly to be of use ({value}, {p})."
    return {
        USE: f"for {decision}, {metric} follows {criterion} ({value}), and by at least {least} with"
        " other systems and documents.",
        THESE_SYSTEMS: f"for {decision}, {metric} follows {criterion} ({value}), and by at least"
        f" {least} with other documents. No other system was rated.",
        PROMISING: f"for {decision}, {metric} follows {criterion} ({value}, {p}), but"
        f" {_doubt(row, options)}.",
        CANNOT_TELL: f"for {decision}, {of} are not shown to be related ({value}, {p}), but a"
        f" useful {useful} is possible.",
        EXPLAINED: f"for {decision}, {of} correlate ({plain}), but only"
        f" {short(row['given_confound'])} is left among texts of equal {row['confound']}.",
        TOO_WEAK: f"for {decision}, {of} correlate less than the useful {useful} ({value}).",
        CONTRARY: f"for {decision}, {metric} goes against {criterion} ({value}, {p}).",
    }[kind_of(row["verdict"])]


def _doubt(row: dict[str, Any], options: CertificationOptions) -> str:
    """Why a promising metric is not one to use."""
    if row["confound"] is not None:
        left = short(row["given_confound"])
        return f"among texts of equal {row['confound']} only {left} is left"
    if missing(row["corrected_low"]):
        return "nothing shows how much less it is elsewhere"
    if row["corrected_low"] < options.useful:
        return f"elsewhere it may be as low as {short(row['corrected_low'])}"
    if row["n"] < row["n_tied"]:
        return "it cannot tell the texts of most documents apart"
    return f"{counted(row['n_families'], 'system')} say too little of others"


def _more(row: dict[str, Any]) -> list[str]:
    said = []
    if row["as_good_as_rater"]:
        said.append("It agrees with raters as well as a rater does.")
    if row["only_between_systems"]:
        said.append("It tells systems apart, not two texts of one system.")
    if row["verdict"] in (PROMISING, CANNOT_TELL):
        said.append(to_do(row))
    return said


def to_do(row: dict[str, Any]) -> str:
    """What to do about a verdict that is `promising` or `cannot tell`, and how much of it."""
    systems, documents = row["needed_systems"], row["needed_documents"]
    advice = f"{row['advice'][0].upper()}{row['advice'][1:]}"
    if missing(systems):
        return f"{advice}."
    of_systems = counted(int(systems), "system")
    of_documents = counted(int(documents), "document")
    enough = {MORE_SYSTEMS: of_systems, MORE_DOCUMENTS: of_documents}
    both = f"{of_systems} and {of_documents}"
    return f"{advice}: about {enough.get(row['advice'], both)} would settle it."

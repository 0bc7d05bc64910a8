"""What the numbers of a certificate add up to: the one place where a verdict is made."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from metassay.meta_evaluation.options import CertificationOptions

USE: Final = "use"
THESE_SYSTEMS: Final = "these systems only"
PROMISING: Final = "promising"
CANNOT_TELL: Final = "cannot tell"
TOO_WEAK: Final = "too weak"
EXPLAINED: Final = "explained by"  # and the confound's name
CONTRARY: Final = "contrary"
UNDEFINED: Final = "undefined"

# From the one to trust to the one of which nothing is known; pages and terminals keep this order.
VERDICTS: Final = (
    USE,
    THESE_SYSTEMS,
    PROMISING,
    CANNOT_TELL,
    EXPLAINED,
    TOO_WEAK,
    CONTRARY,
    UNDEFINED,
)
TRUSTED: Final = (USE, THESE_SYSTEMS)
FEWEST_SYSTEMS: Final = 6  # with fewer, nothing is claimed of other systems
OF_NO_OTHERS: Final = ("one system", "no systems")  # designs that show no other systems


def verdict(  # noqa: PLR0911 - one return per rung of the ladder
    row: Mapping[str, Any], options: CertificationOptions
) -> str:
    """The verdict on one metric, criterion and level.

    `row`: a row of the table `evidence`, of which it takes value, high, p, confidence,
    corrected_low, confound, given_confound, given_confound_p, n, n_tied, n_families and design;
    NaN, or None for confound, where unknown. Unknown is never counted in a metric's favour.

    With the same value, a wider interval never gives a better verdict; with an interval as wide, a
    larger value never gives a worse one. `use` and `these systems only` are best, then comes
    `promising`; the others are told apart by what to do, not by how good they are.
    """
    if np.isnan(row["value"]):
        return UNDEFINED
    if shown(row) and row["value"] < 0:
        return CONTRARY
    if row["high"] < options.useful:
        return TOO_WEAK
    if not shown(row):
        return CANNOT_TELL
    explained = row["confound"] is not None
    rest = row["given_confound"], row["given_confound_p"]
    if explained and not promising(*rest, row["confidence"], options):
        return f"{EXPLAINED} {row['confound']}"
    if not explained and _sure(row, options):
        if row["design"] in OF_NO_OTHERS:
            return THESE_SYSTEMS
        if row["n_families"] >= FEWEST_SYSTEMS:
            return USE
    return PROMISING if row["value"] >= options.useful else CANNOT_TELL


def shown(row: Mapping[str, Any]) -> bool:
    """Whether the metric is shown to have something in common with people."""
    return _below(row["p"], row["confidence"])


def as_good_as_rater(row: Mapping[str, Any], options: CertificationOptions) -> bool:
    """Whether the metric agrees with raters as well as a rater does, or at most `margin` less.

    The lower end counts, for other systems and documents and all metrics at once; and only of a
    metric whose verdict is `promising` or better.
    """
    enough = verdict(row, options) in (*TRUSTED, PROMISING)
    return enough and bool(row["against_rater_low"] > -options.margin)


def _sure(row: Mapping[str, Any], options: CertificationOptions) -> bool:
    """Whether the lower end reaches what is useful, of a metric that tells most texts apart."""
    return bool(row["corrected_low"] >= options.useful and row["n"] >= row["n_tied"])


def promising(value: float, p: float, confidence: float, options: CertificationOptions) -> bool:
    """Whether a correlation is shown, and its value useful."""
    return _below(p, confidence) and bool(value >= options.useful)


def _below(p: float, confidence: float) -> bool:
    # Shares of orders can equal the level exactly (6 of 120); 1 - .95 is a little more than .05.
    return p < 1.0 - confidence - 1e-9


def kind_of(said: str) -> str:
    """The verdict without the confound's name."""
    return EXPLAINED if said.startswith(EXPLAINED) else said

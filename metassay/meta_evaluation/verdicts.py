"""What the numbers of a certificate add up to: the one place where a verdict is made."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from metassay.meta_evaluation.options import CertificationOptions

AS_A_RATER: Final = "as good as a rater"
HOLDS: Final = "holds"
WEAK: Final = "weak"
THESE_SYSTEMS: Final = "these systems only"
EXPLAINED: Final = "explained by"  # and the confound's name
CANNOT_TELL: Final = "cannot tell"
NO_USE: Final = "no use"
CONTRARY: Final = "contrary"
UNDEFINED: Final = "undefined"

# From the one to trust to the one of which nothing is known; pages and terminals keep this order.
VERDICTS: Final = (
    AS_A_RATER,
    HOLDS,
    WEAK,
    THESE_SYSTEMS,
    EXPLAINED,
    CANNOT_TELL,
    NO_USE,
    CONTRARY,
    UNDEFINED,
)
ONE_SYSTEM: Final = "one system"  # evidence.design, where nothing can be said of other systems
TRUSTED: Final = (AS_A_RATER, HOLDS)


def verdict(row: Mapping[str, Any], options: CertificationOptions) -> str:
    """The verdict on one metric, criterion and level.

    `row`: a row of the table `evidence`, of which it takes value, low, high, p, confidence,
    against_rater_low, confound, given_confound_p, given_confound_high, joint_low_these_systems and
    design; NaN, or None for confound, where unknown. Unknown is never counted in a metric's favour.
    """
    if np.isnan(row["value"]):
        return UNDEFINED
    if _below(row["p"], row["confidence"]):
        return CONTRARY if row["value"] < 0 else _related(row, options)
    if row["high"] < options.useful:
        return NO_USE
    return THESE_SYSTEMS if row["joint_low_these_systems"] > 0 else CANNOT_TELL


def _related(row: Mapping[str, Any], options: CertificationOptions) -> str:
    """The verdict where p shows that the metric and people have something in common."""
    rest_holds = (
        _below(row["given_confound_p"], row["confidence"])
        and row["given_confound_high"] >= options.useful
    )
    if row["confound"] is not None and not rest_holds:
        return f"{EXPLAINED} {row['confound']}"
    if row["high"] < options.useful:
        return WEAK
    if row["design"] == ONE_SYSTEM or np.isnan(row["high"]):
        return THESE_SYSTEMS
    return AS_A_RATER if row["against_rater_low"] > -options.margin else HOLDS


def _below(p: float, confidence: float) -> bool:
    # Shares of orders can equal the level exactly (6 of 120); 1 - .95 is a little more than .05.
    return p < 1.0 - confidence - 1e-9


def kind_of(said: str) -> str:
    """The verdict without the confound's name."""
    return EXPLAINED if said.startswith(EXPLAINED) else said

"""What the numbers of a certificate add up to: the one place where a verdict is made."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from metassay.meta_evaluation.options import MetaOptions

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
TRUSTED: Final = (AS_A_RATER, HOLDS)


def verdict(row: Mapping[str, Any], options: MetaOptions) -> str:
    """The verdict on one metric, criterion and level.

    `row`: value, low, high, p, against_rater_low, confound, given_confound_p, given_confound_high,
    these_systems_low (which holds for all metrics of the level at once) and carries (whether there
    are systems enough to speak of others), NaN or None where unknown. Unknown is never counted in
    a metric's favour.
    """
    if np.isnan(row["value"]):
        return UNDEFINED
    if _below(row["p"], options):
        return CONTRARY if row["value"] < 0 else _related(row, options)
    if row["high"] < options.useful:
        return NO_USE
    return THESE_SYSTEMS if row["these_systems_low"] > 0 else CANNOT_TELL


def _related(row: Mapping[str, Any], options: MetaOptions) -> str:
    """The verdict where p shows that the metric and people have something in common."""
    rest_holds = (
        _below(row["given_confound_p"], options) and row["given_confound_high"] >= options.useful
    )
    if row["confound"] is not None and not rest_holds:
        return f"{EXPLAINED} {row['confound']}"
    if row["high"] < options.useful:
        return WEAK
    if not row["carries"] or np.isnan(row["high"]):
        return THESE_SYSTEMS
    return AS_A_RATER if row["against_rater_low"] > -options.margin else HOLDS


def _below(p: float, options: MetaOptions) -> bool:
    # Shares of orders can equal the level exactly (6 of 120); 1 - .95 is a little more than .05.
    return p < 1.0 - options.confidence - 1e-9


def kind_of(said: str) -> str:
    """The verdict without the confound's name."""
    return EXPLAINED if said.startswith(EXPLAINED) else said

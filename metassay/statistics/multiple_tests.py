"""Adjust p values where many tests are made at once."""

import numpy as np
from numpy.typing import ArrayLike

from metassay.statistics.exact_sums import Array, Index

_ROUNDING = 1e-9  # more than floats lose, less than any two shares of orders differ


def holm(p: ArrayLike) -> Array:
    """Return Holm's adjusted p values (n,), which bound the chance of any false finding.

    NaN (a test without a value) is not a member of the family and stays NaN. Source:
    Holm 1979, A simple sequentially rejective multiple test procedure.
    """
    values, order, adjusted = _family(p)
    factor = np.arange(values.size, 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(values * factor), 1.0)
    return adjusted


def benjamini_hochberg(p: ArrayLike) -> Array:
    """Return Benjamini and Hochberg's adjusted p values (n,), which bound the false discovery rate.

    NaN as for `holm`. Source: Benjamini and Hochberg 1995, Controlling the false
    discovery rate.
    """
    values, order, adjusted = _family(p)
    raised = values * values.size / np.arange(1, values.size + 1)
    adjusted[order] = np.minimum(np.minimum.accumulate(raised[::-1])[::-1], 1.0)
    return adjusted


def _family(p: ArrayLike) -> tuple[Array, Index, Array]:
    # The p values in ascending order, their places, and an array for the adjusted ones.
    values = np.asarray(p, dtype=np.float64)
    if values.ndim != 1 or np.any((values < 0) | (values > 1)):
        raise ValueError("expected a one-dimensional array of p values between 0 and 1")
    defined = np.flatnonzero(~np.isnan(values))
    order = defined[np.argsort(values[defined], kind="stable")]
    return values[order], order, np.full(values.shape, np.nan)


def significance_level(confidence: float) -> float:
    """Return the level that p must be below: 1 - `confidence`, less what rounding adds.

    Shares of orders can equal the level exactly, as 6 of 120 is .05, and are not below it;
    in floats, 1 - .95 is a little more than .05.

    >>> 6 / 120 < 1 - 0.95, 6 / 120 < significance_level(0.95)
    (True, False)
    """
    return 1.0 - confidence - _ROUNDING

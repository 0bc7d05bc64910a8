"""Fisher's interval of a correlation: no resampling, but items taken for independent."""

from typing import NamedTuple

import numpy as np
import scipy.special

from metassay.statistics.correlation import Coefficient


class Fisher(NamedTuple):
    """An interval from the coefficient and n alone; NaN where it does not apply."""

    low: float
    high: float


def fisher_interval(value: float, n: int, coefficient: Coefficient, *, confidence: float) -> Fisher:
    """Interval of a coefficient of n independent pairs, by Fisher's transform.

    It applies at system level; at global level items share documents and systems, so it is too
    narrow. It does not apply at document level, to tau-c, with n <= 3 (tau-b: 4) and to a value of
    1 or -1: both ends are NaN. Source: Bonett and Wright 2000, Sample size requirements for
    estimating Pearson, Kendall and Spearman correlations.
    """
    taken, scale = {
        "pearson": (3, 1.0),
        "spearman": (3, float(np.sqrt(1.0 + value**2 / 2.0))),
        "kendall": (4, float(np.sqrt(0.437))),
        "kendall_c": (n, np.nan),
    }[coefficient]
    if n <= taken or not abs(value) < 1.0 - 1e-12:
        return Fisher(np.nan, np.nan)
    reach = scipy.special.ndtri((1.0 + confidence) / 2.0) * scale / np.sqrt(n - taken)
    low, high = np.tanh(np.arctanh(value) + np.array([-reach, reach]))
    return Fisher(float(low), float(high))

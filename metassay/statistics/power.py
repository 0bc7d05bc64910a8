"""What a study of this size could have seen: the smallest effect it finds with a given power.

All tests are two-sided at level `alpha`; `power` is the chance of a finding. Items are taken for
independent, so that items sharing documents or systems see less than this.
"""

from collections.abc import Callable

import numpy as np
import scipy.special

from metassay.statistics.significance import williams_test

CERTAIN = 20  # times the critical t: any sample of such an effect is a finding
STEPS = 60  # halvings of an interval: to the last bit


def detectable_correlation(n: int, *, alpha: float = 0.05, power: float = 0.8) -> float:
    """The smallest |Pearson r| that n pairs tell from 0; NaN with fewer than 4.

    By Fisher's transform with its bias r / (2 (n - 1)), against the t test's own critical value.
    Source: Cohen 1988, Statistical power analysis, chapter 3; Fisher 1925.
    """
    if n < 4:
        return np.nan
    t = float(scipy.special.stdtrit(n - 2, 1 - alpha / 2))
    critical = t / np.sqrt(t**2 + n - 2)

    def found(r: float) -> float:
        moved = (np.arctanh([critical, -critical]) - np.arctanh(r) - r / (2 * (n - 1))) * np.sqrt(
            n - 3
        )
        return float(scipy.special.ndtr(-moved[0]) + scipy.special.ndtr(moved[1]))

    return _smallest(found, power, 0.0, 1.0 - 1e-12)


def detectable_difference(
    n: int, r12: float, r23: float, *, alpha: float = 0.05, power: float = 0.8
) -> float:
    """How much lower than r12 another metric's correlation must be for Williams' test to find it.

    r12: the better metric's correlation with people, r23: that of the two metrics. The test's t is
    taken for noncentral t around the t of the true correlations. NaN if no possible difference is
    found, or with n < 4. Source: Steiger 1980, Tests for comparing elements of a correlation
    matrix.
    """
    if n < 4 or not np.isfinite(r12 + r23):
        return np.nan
    critical = float(scipy.special.stdtrit(n - 3, 1 - alpha / 2))
    # r13 so small that no data could have the three: the matrix's determinant is 0.
    lowest = r12 * r23 - np.sqrt((1 - r12**2) * (1 - r23**2))

    def found(difference: float) -> float:
        t = williams_test(r12, r12 - difference, r23, n)[0]
        return np.nan if np.isnan(t) else _of_t(t, n - 3, critical)

    return _smallest(found, power, 0.0, (r12 - lowest) * (1.0 - 1e-6))


def detectable_mean_difference(
    sd: float, n: int, *, alpha: float = 0.05, power: float = 0.8
) -> float:
    """The smallest difference of two systems' means that n documents tell from 0, by a paired t.

    sd: standard deviation of the documents' differences, in the unit of the result. NaN with fewer
    than two documents. Source: Cohen 1988, Statistical power analysis, chapter 2.
    """
    if n < 2 or not sd >= 0:
        return np.nan
    critical = float(scipy.special.stdtrit(n - 1, 1 - alpha / 2))

    def found(effect: float) -> float:
        return _of_t(effect * np.sqrt(n), n - 1, critical)

    return sd * _smallest(found, power, 0.0, 100.0)


def _of_t(t: float, freedom: int, critical: float) -> float:
    # The chance that a noncentral t leaves the critical range; beyond CERTAIN scipy gives up.
    if t > CERTAIN * max(1.0, critical):
        return 1.0
    tails = scipy.special.nctdtr(freedom, t, np.array([-critical, critical]))
    inside = np.nan_to_num(tails)  # scipy gives NaN for some chances too small to matter
    return float(1.0 - inside[1] + inside[0])


def _smallest(found: Callable[[float], float], power: float, low: float, high: float) -> float:
    if not found(high) >= power:
        return np.nan
    for _ in range(STEPS):
        middle = (low + high) / 2.0
        low, high = (low, middle) if found(middle) >= power else (middle, high)
    return high

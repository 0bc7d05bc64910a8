"""Agreement between raters: percent, Cohen's kappa, Krippendorff's alpha. 1 is perfect agreement.

Ratings are numbers, NaN where a rater did not rate. A coefficient that chance correction leaves
without a meaning is NaN: when every rating is the same value, agreement by chance is already
perfect, and there is no variation from which reliability could be told. (Some programs say 1.)
"""

from typing import Literal, NamedTuple

import krippendorff
import numpy as np
from numpy.typing import ArrayLike

from metassay.statistics.arithmetic import Array

Scale = Literal["nominal", "ordinal", "interval"]
Weights = Literal["none", "linear", "quadratic"]


class Agreement(NamedTuple):
    """One coefficient and what it rests on."""

    value: float  # 1 is perfect; NaN if undefined
    n: int  # items rated by both raters (alpha: by two or more)
    n_missing: int  # items rated by one of the two only (alpha: by one rater only)


def percent(a: ArrayLike, b: ArrayLike) -> Agreement:
    """Share (0 to 1) of the items that both raters gave the same value; NaN without such items."""
    both, other, missing = _complete(a, b)
    value = float(np.mean(both == other)) if both.size else np.nan
    return Agreement(value, both.size, missing)


def cohen_kappa(a: ArrayLike, b: ArrayLike, weights: Weights = "none") -> Agreement:
    """Cohen's kappa: 1 - observed / chance disagreement of two raters.

    `none` counts any difference as 1; `linear` and `quadratic` count by the distance of the two
    ratings and its square, so that 3 for 4 is a smaller matter than 1 for 4. Each rater has chances
    of their own, taken from the items that both rated. NaN without such items and where both gave
    every item one and the same value. Source: Cohen 1960, A coefficient of agreement for nominal
    scales; Cohen 1968, Weighted kappa.
    """
    both, other, missing = _complete(a, b)
    values, codes = np.unique(np.concatenate((both, other)), return_inverse=True)
    if values.size < 2:
        return Agreement(np.nan, both.size, missing)
    first, second = np.split(codes, 2)
    distance = np.abs(values[:, None] - values)
    cost = {"none": np.sign(distance), "linear": distance, "quadratic": distance**2}[weights]
    shares = [np.bincount(c, minlength=values.size) / both.size for c in (first, second)]
    chance = float(np.sum(cost * shares[0][:, None] * shares[1]))
    value = 1.0 - float(np.mean(cost[first, second])) / chance
    return Agreement(value, both.size, missing)


def krippendorff_alpha(ratings: ArrayLike, scale: Scale) -> Agreement:
    """Krippendorff's alpha of ratings (raters, items): 1 - observed / expected disagreement.

    Items with fewer than two ratings are left out, as alpha's definition has it. NaN if none is
    left or all ratings left are one value. Source: Krippendorff 2011, Computing Krippendorff's
    Alpha-Reliability. Raises ValueError unless ratings are two-dimensional.
    """
    table = np.asarray(ratings, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"want a raters x items array, got {table.shape}")
    known = np.isfinite(table)
    raters = np.sum(known, axis=0)
    pairable = table[:, raters >= 2]
    n, missing = pairable.shape[1], int(np.sum(raters == 1))
    if np.unique(pairable[np.isfinite(pairable)]).size < 2:
        return Agreement(np.nan, n, missing)
    if scale == "interval":
        return Agreement(_interval_alpha(pairable), n, missing)
    pairable = np.where(np.isfinite(pairable), pairable, np.nan)
    value = krippendorff.alpha(reliability_data=pairable, level_of_measurement=scale)
    return Agreement(float(value), n, missing)


def _complete(a: ArrayLike, b: ArrayLike) -> tuple[Array, Array, int]:
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape:
        raise ValueError(f"want two rows of ratings of equal length, got {x.shape}, {y.shape}")
    both = np.isfinite(x) & np.isfinite(y)
    missing = int(np.sum(np.isfinite(x) != np.isfinite(y)))
    return x[both], y[both], missing


def _interval_alpha(ratings: Array) -> float:
    # The package takes items x values**2 of memory, too much for ratings on a continuum. The mean
    # squared difference of all pairs is twice the variance, so that no pair needs a visit.
    known = np.isfinite(ratings)
    count = np.sum(known, axis=0)
    values = np.where(known, ratings - np.mean(ratings[known]), 0.0)
    strayed = np.where(known, values - np.sum(values, axis=0) / count, 0.0)
    observed = np.sum(np.sum(strayed**2, axis=0) * count / (count - 1))
    n = np.sum(count)
    expected = np.sum(values**2) * n / (n - 1)
    return float(1.0 - observed / expected)

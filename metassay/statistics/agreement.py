"""Agreement between raters: percent, Cohen's kappa, Krippendorff's alpha. 1 is perfect agreement.

Ratings are numbers, NaN where a rater did not rate. A coefficient that chance correction leaves
without a meaning is NaN: when every rating is the same value, agreement by chance is already
perfect, and there is no variation from which reliability could be told. (Some programs say 1.)
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from metassay.statistics import weighted_agreement
from metassay.statistics.arithmetic import Array
from metassay.statistics.weighted_agreement import Scale, Weights


class Agreement(NamedTuple):
    """One coefficient and what it rests on."""

    value: float  # 1 is perfect; NaN if undefined
    n: int  # items rated by both raters (alpha: by two or more)
    n_missing: int  # items rated by one of the two only (alpha: by one rater only)


def percent(a: ArrayLike, b: ArrayLike) -> Agreement:
    """Share (0 to 1) of the items that both raters gave the same value; NaN without such items."""
    pair, missing = complete(a, b)
    return unweighted(partial(weighted_agreement.share_within, tolerance=0), pair, missing)


def cohen_kappa(a: ArrayLike, b: ArrayLike, weights: Weights = "none") -> Agreement:
    """Cohen's kappa: 1 - observed / chance disagreement of two raters.

    `none` counts any difference as 1; `linear` and `quadratic` count by the distance of the two
    ratings and its square, so that 3 for 4 is a smaller matter than 1 for 4. Each rater has chances
    of their own, taken from the items that both rated. NaN without such items and where both gave
    every item one and the same value. Source: Cohen 1960, A coefficient of agreement for nominal
    scales; Cohen 1968, Weighted kappa.
    """
    pair, missing = complete(a, b)
    return unweighted(partial(weighted_agreement.cohen_kappa, distance=weights), pair, missing)


def krippendorff_alpha(ratings: ArrayLike, scale: Scale) -> Agreement:
    """Krippendorff's alpha of ratings (raters, items): 1 - observed / expected disagreement.

    Items with fewer than two ratings are left out, as alpha's definition has it. NaN if none is
    left or all ratings left are one value. Source: Krippendorff 2011, Computing Krippendorff's
    Alpha-Reliability. Raises ValueError unless ratings are two-dimensional.
    """
    of = partial(weighted_agreement.krippendorff_alpha, scale=scale)
    return unweighted(of, *pairable(ratings))


def complete(a: ArrayLike, b: ArrayLike) -> tuple[Array, int]:
    """The items (2, n) that both raters rated, and how many only one of them did.

    Raises ValueError for rows of unequal length.
    """
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape:
        raise ValueError(f"want two rows of ratings of equal length, got {x.shape}, {y.shape}")
    pair = np.stack((x, y))
    known = np.isfinite(pair)
    return pair[:, known.all(axis=0)], int(np.count_nonzero(known[0] != known[1]))


def pairable(ratings: ArrayLike) -> tuple[Array, int]:
    """The items (raters, n) with two or more ratings, and how many have one.

    Raises ValueError unless ratings are two-dimensional.
    """
    table = rated(ratings)
    raters = np.sum(np.isfinite(table), axis=0)
    return table[:, raters >= 2], int(np.count_nonzero(raters == 1))


def rated(ratings: ArrayLike) -> Array:
    """Ratings (raters, items) with NaN wherever there is no number.

    Raises ValueError unless they are two-dimensional.
    """
    table = np.asarray(ratings, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"want a raters x items array, got {table.shape}")
    return np.where(np.isfinite(table), table, np.nan)


def unweighted(of: Callable[[Array, Array], Array], table: Array, missing: int) -> Agreement:
    """A coefficient of `weighted_agreement` with every item of the table counted once."""
    n = table.shape[1]
    value = float(of(table, np.ones((1, n)))[0]) if n else np.nan
    return Agreement(value, n, missing)

"""The difference of two means over items that come in documents, and its interval."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Reals = NDArray[np.float64]


class Shift(NamedTuple):
    """Both means, their difference, and the ends of its interval (NaN with one document)."""

    before: float
    after: float
    difference: float
    low: float
    high: float


def shift(before: Reals, after: Reals, items: Reals, confidence: float) -> Shift:
    """Means of after and before, and their difference after - before.

    All of shape (documents,): sums of worth over a document's items, and the number of items (both
    may be weighted). The interval is that of a ratio of sums, linearised, with documents - 1
    degrees of freedom (Cochran 1977, Sampling Techniques, 6.3). Where no document differs that has
    no width, which would be too sure: then the ends are the share of documents up to which that is
    no surprise (Clopper and Pearson 1934), as if all of such a document changed.
    """
    total, documents = items.sum(), len(items)
    apart = after - before
    difference = float(apart.sum() / total)
    means = float(before.sum() / total), float(after.sum() / total)
    if documents < 2:
        return Shift(*means, difference, np.nan, np.nan)
    if np.allclose(apart, 0, rtol=0, atol=1e-9):  # means of draws leave a rounding error
        most = 1 - ((1 - confidence) / 2) ** (1 / documents)
        return Shift(*means, 0.0, -most, most)
    residuals = (apart - difference * items) / total
    error = np.sqrt(documents / (documents - 1) * np.square(residuals).sum())
    width = float(stats.t.ppf((1 + confidence) / 2, documents - 1) * error)
    return Shift(*means, difference, difference - width, difference + width)

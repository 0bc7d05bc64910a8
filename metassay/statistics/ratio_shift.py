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
    may be weighted). The interval leaves out one document after another (the jackknife of a ratio
    of sums: Cochran 1977, Sampling Techniques, chapter 6). Its degrees of freedom are those of so
    many equally large documents, less one, as tell as much (Kish 1965, Survey Sampling, 11.7),
    so that a few large documents do not pass for many. Where all documents differ alike, or none
    does, that has no width, which would be too sure: then it reaches as far as the share of
    documents up to which that is no surprise (Clopper and Pearson 1934), as if all of such a
    document changed otherwise.
    """
    total, documents = items.sum(), len(items)
    apart = after - before
    difference = float(apart.sum() / total)
    means = float(before.sum() / total), float(after.sum() / total)
    if documents < 2:
        return Shift(*means, difference, np.nan, np.nan)
    # Means of draws leave a rounding error.
    if np.allclose(apart, difference * items, rtol=0, atol=1e-9 * items.max()):
        difference = round(difference, 9) + 0.0
        width = 1 - ((1 - confidence) / 2) ** (1 / documents)
        return Shift(*means, difference, difference - width, difference + width)
    without = (apart.sum() - apart) / (total - items)
    error = np.sqrt((documents - 1) / documents * np.square(without - without.mean()).sum())
    freedom = max(total**2 / np.square(items).sum() - 1, 1.0)
    width = float(stats.t.ppf((1 + confidence) / 2, freedom) * error)
    return Shift(*means, difference, difference - width, difference + width)

"""Means over documents, and what they would be with other documents: for numbers of the page."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metassay.statistics.exact_sums import quotient
from metassay.statistics.resampling import expanded_percentiles, tallies

Reals = NDArray[np.float64]


class Resampling(NamedTuple):
    """How many resamples, the confidence of intervals, the seed: as params.yaml has them."""

    resamples: int
    confidence: float
    seed: int


class Means(NamedTuple):
    """One mean per column, and both ends of its interval.

    NaN where no document, or for an interval fewer than two, has a value.
    """

    mean: Reals
    low: Reals
    high: Reals


def means(values: Reals, how: Resampling, numbers: Reals | None = None) -> Means:
    """Means of (documents, columns) over documents; NaN is left out.

    With `numbers` a value is the sum of so many things, and the mean is over these. Percentile
    bootstrap over documents, further out the fewer there are (`expanded_percentiles`), as in table
    rating_summaries. All columns get the same resamples, so that their differences are those of the
    columns; a resample without a value is left out.
    """
    n_documents, n_columns = values.shape
    defined = ~np.isnan(values)
    weights = np.where(defined, 1.0 if numbers is None else numbers, 0.0)
    if not n_documents:
        nothing = np.full(n_columns, np.nan)
        return Means(nothing, nothing, nothing)
    draws = mean_draws(values, how, weights)
    low, high = np.full((2, n_columns), np.nan)
    for at, number in enumerate(np.sum(defined, axis=0).tolist()):
        (low[at],), (high[at],) = expanded_percentiles(draws[1:, [at]], number, how.confidence)
    return Means(draws[0], low, high)


def mean_draws(values: Reals, how: Resampling, weights: Reals | None = None) -> Reals:
    """The means of `means` (1 + resamples, columns): of the documents, then of each resample.

    `weights` (documents, columns): how many things each value is a sum of; by default 1, and 0 of
    NaN. Needs a document.
    """
    n = len(values)
    drawn = np.random.default_rng(how.seed).integers(0, n, (how.resamples, n))
    counts = tallies(drawn, n)
    there = (~np.isnan(values)).astype(float) if weights is None else weights
    once = _means(np.ones((1, n)), values, there)
    return np.vstack([once, _means(counts, values, there)])


def _means(counts: Reals, values: Reals, weights: Reals) -> Reals:
    """einsum and not @: BLAS adds up in an order that depends on the processor."""
    totals = np.einsum("rd,dk->rk", counts, np.where(np.isnan(values), 0.0, values))
    numbers = np.einsum("rd,dk->rk", counts, weights)
    return quotient(totals, numbers, numbers > 0)

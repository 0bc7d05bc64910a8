"""Means over documents, and what they would be with other documents."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metassay.statistics.exact_sums import quotient
from metassay.statistics.layout import Index, numbered_by
from metassay.statistics.resampling import expanded_percentiles, tallies

Reals = NDArray[np.float64]


NO_CLUSTERS: Final[Mapping[str, str]] = {}


class Resampling(NamedTuple):
    """How many resamples, the confidence of intervals, the seed: as params.yaml has them.

    `clusters`: documents -> what they are of (table document_clusters); one without stands alone.
    """

    resamples: int
    confidence: float
    seed: int
    clusters: Mapping[str, str] = NO_CLUSTERS

    def number(self, documents: Sequence[str]) -> Index:
        """The number of each document's cluster, from 0."""
        return numbered_by(documents, self.clusters)


class Means(NamedTuple):
    """One mean per column, and both ends of its interval.

    NaN where no document, or for an interval fewer than two, has a value.
    """

    mean: Reals
    low: Reals
    high: Reals


def means(
    values: Reals, documents: Sequence[str], how: Resampling, numbers: Reals | None = None
) -> Means:
    """Means of (documents, columns) over `documents`; NaN is left out.

    With `numbers` a value is the sum of so many things, and the mean is over these. Percentile
    bootstrap over clusters of documents, further out the fewer they are worth (`worth`,
    `expanded_percentiles`). All columns get the same resamples, so that their differences are those
    of the columns; a resample without a value is left out.
    """
    cluster = how.number(documents)
    n_documents, n_columns = values.shape
    if not n_documents:
        nothing = np.full(n_columns, np.nan)
        return Means(nothing, nothing, nothing)
    draws = mean_draws(values, how, cluster, numbers)
    low, high = np.full((2, n_columns), np.nan)
    for at, number in enumerate(worth(~np.isnan(values), cluster).tolist()):
        (low[at],), (high[at],) = expanded_percentiles(draws[1:, [at]], number, how.confidence)
    return Means(draws[0], low, high)


def mean_draws(
    values: Reals, how: Resampling, cluster: Index, numbers: Reals | None = None
) -> Reals:
    """The means of `means` (1 + resamples, columns): of the documents, then of each resample.

    `cluster` (documents,): as `Resampling.number`. Needs a document; NaN where a resample has no
    value.
    """
    there = np.where(np.isnan(values), 0.0, 1.0 if numbers is None else numbers)
    totals, weights = by_cluster(values, cluster), by_cluster(there, cluster)
    n = len(totals)
    drawn = np.random.default_rng(how.seed).integers(0, n, (how.resamples, n))
    counts = tallies(drawn, n)
    once = _means(np.ones((1, n)), totals, weights)
    return np.vstack([once, _means(counts, totals, weights)])


def by_cluster(values: Reals, cluster: Index) -> Reals:
    """(clusters, columns) sums of (documents, columns); NaN counts as 0."""
    known = np.where(np.isnan(values), 0.0, values)
    size = int(cluster.max(initial=-1)) + 1
    if size == len(values):
        return known[np.argsort(cluster)]
    sums = np.zeros((size, values.shape[1]))
    np.add.at(sums, cluster, known)
    return sums


def worth(there: NDArray[np.bool_], cluster: Index) -> Reals:
    """How many independent documents those that are there (documents, columns) are worth at least.

    The number of clusters, where they are of one size; less, the more a few of them hold most of
    the documents. 3, 1 and 1 documents of three clusters: 5 * 5 / (9 + 1 + 1) = 2.27. Source: Kish
    1965, Survey Sampling, section 8.2, for clusters that are alike throughout.
    """
    sizes = by_cluster(there.astype(np.float64), cluster)
    squares = np.sum(sizes**2, axis=0)
    found: Reals = np.sum(sizes, axis=0) ** 2 / np.maximum(squares, 1.0)
    return found


def _means(counts: Reals, values: Reals, weights: Reals) -> Reals:
    """einsum and not @: BLAS adds up in an order that depends on the processor."""
    totals = np.einsum("rd,dk->rk", counts, values)
    numbers = np.einsum("rd,dk->rk", counts, weights)
    return quotient(totals, numbers, numbers > 0)

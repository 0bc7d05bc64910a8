"""Means over documents, with intervals for new documents."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metassay.statistics.exact_sums import quotient
from metassay.statistics.layout import Index, factorize_by
from metassay.statistics.resampling import expanded_percentiles, tallies

Reals = NDArray[np.float64]


NO_CLUSTERS: Final[Mapping[str, str]] = {}


class Resampling(NamedTuple):
    """Number of resamples, confidence of intervals, and seed, from params.yaml.

    `clusters`: documents -> cluster (table document_clusters); others are clusters of
    their own.
    """

    resamples: int
    confidence: float
    seed: int
    clusters: Mapping[str, str] = NO_CLUSTERS

    def number(self, documents: Sequence[str]) -> Index:
        """Return the number of each document's cluster, from 0."""
        return factorize_by(documents, self.clusters)


class Means(NamedTuple):
    """The mean of each column, and both ends of its interval.

    NaN without documents with a value; intervals also with fewer than two.
    """

    mean: Reals
    low: Reals
    high: Reals


def means(
    values: Reals,
    documents: Sequence[str],
    how: Resampling,
    numbers: Reals | None = None,
) -> Means:
    """Return the means of (documents, columns) over `documents`; NaN is left out.

    With `numbers`, each value is the sum of that many items, and the mean is over
    items. Percentile bootstrap over clusters of documents, with ends further out for
    fewer effective clusters (`worth`, `expanded_percentiles`). All columns share the
    resamples, so that chance does not add to their differences; a resample without a
    value is left out.
    """
    cluster = how.number(documents)
    n_documents, n_columns = values.shape
    if not n_documents:
        undefined = np.full(n_columns, np.nan)
        return Means(undefined, undefined, undefined)
    draws = mean_draws(values, how, cluster, numbers)
    low, high = np.full((2, n_columns), np.nan)
    for column, n in enumerate(worth(~np.isnan(values), cluster).tolist()):
        resamples = draws[1:, [column]]
        (low[column],), (high[column],) = expanded_percentiles(
            resamples, n, how.confidence
        )
    return Means(draws[0], low, high)


def mean_draws(
    values: Reals, how: Resampling, cluster: Index, numbers: Reals | None = None
) -> Reals:
    """Return the means (1 + resamples, columns): of the documents, then of each resample.

    `cluster` (documents,): see `Resampling.number`. Needs a document; NaN where a
    resample has no value.
    """
    present = np.where(np.isnan(values), 0.0, 1.0 if numbers is None else numbers)
    totals, weights = sum_clusters(values, cluster), sum_clusters(present, cluster)
    n = len(totals)
    draws = np.random.default_rng(how.seed).integers(0, n, (how.resamples, n))
    counts = tallies(draws, n)
    observed = _means(np.ones((1, n)), totals, weights)
    return np.vstack([observed, _means(counts, totals, weights)])


def sum_clusters(values: Reals, cluster: Index) -> Reals:
    """Sum (documents, columns) by cluster: (clusters, columns); NaN counts as 0."""
    filled = np.where(np.isnan(values), 0.0, values)
    size = int(cluster.max(initial=-1)) + 1
    if size == len(values):
        return filled[np.argsort(cluster)]
    sums = np.zeros((size, values.shape[1]))
    np.add.at(sums, cluster, filled)
    return sums


def worth(present: NDArray[np.bool_], cluster: Index) -> Reals:
    """Return the effective number of clusters with documents present (documents, columns).

    The number of clusters if all have the same size; less, the more unequal they are.
    3, 1 and 1 documents of three clusters: 5 * 5 / (9 + 1 + 1) = 2.27. Source: Kish
    1965, Survey Sampling, section 8.2, for clusters of identical documents.
    """
    sizes = sum_clusters(present.astype(np.float64), cluster)
    squares = np.sum(sizes**2, axis=0)
    effective: Reals = np.sum(sizes, axis=0) ** 2 / np.maximum(squares, 1.0)
    return effective


def _means(counts: Reals, values: Reals, weights: Reals) -> Reals:
    # einsum, not @: BLAS sums in an order that depends on the processor.
    totals = np.einsum("rd,dk->rk", counts, values)
    numbers = np.einsum("rd,dk->rk", counts, weights)
    return quotient(totals, numbers, numbers > 0)

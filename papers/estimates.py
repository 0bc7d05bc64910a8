"""Means and correlations for figures, with bootstrap intervals over documents.

Their settings are those of reports in params.yaml (`Resampling`); figures read tables,
no params.
"""

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metassay.statistics.correlation import weighted_pearson
from metassay.statistics.document_means import Reals, Resampling, means
from metassay.statistics.ensembles import standardise
from metassay.statistics.exact_sums import NOISE
from metassay.statistics.resampling import expanded_percentiles

RESAMPLING = Resampling(resamples=1000, confidence=0.95, seed=20261121)
ESTIMATE = ["value", "low", "high", "n"]
ALONE, ADDED = "alone", "with coverage"
SHARES = (25, 50, 75, 100)  # per cent of the texts

Estimate = tuple[float | None, float | None, float | None, int]


def mean_of(values: pd.DataFrame, column: str) -> tuple[float, float, float, int]:
    """Return the mean over all rows of all documents, its interval, and the number of rows."""
    per = values.groupby("doc_id", sort=True)[column].agg(["sum", "count"])
    sums, numbers = (per[[name]].to_numpy(dtype=float) for name in ("sum", "count"))
    estimate = means(sums, list(per.index), RESAMPLING, numbers)
    return estimate.mean[0], estimate.low[0], estimate.high[0], len(values)


class Texts(NamedTuple):
    """A number per text: a metric, people's mean, the share that is copied; and its document."""

    metric: Reals
    people: Reals
    coverage: Reals
    document: NDArray[np.intp]


def correlate_shares(texts: Texts, metric: str) -> Iterator[tuple[object, ...]]:
    """Yield share, ALONE or ADDED, and the correlation with people, as `least_copied` has them."""
    if len(texts.metric) < 2:
        return
    for share in SHARES:
        least = _least(texts.coverage, share)
        chosen = texts.metric[least], texts.people[least], texts.document[least]
        yield (str(share), ALONE, *correlation(*chosen))
    if metric != "coverage":
        both = standardise(np.array([texts.metric, texts.coverage])).mean(axis=0)
        if np.isfinite(both).all():
            yield ("100", ADDED, *correlation(both, texts.people, texts.document))


def _least(coverage: Reals, share: int) -> NDArray[np.bool_]:
    n = int(np.ceil(share * len(coverage) / 100 - 1e-9))
    most = np.sort(coverage)[n - 1]
    least: NDArray[np.bool_] = coverage <= most + NOISE * abs(most)
    return least


def correlation(metric: Reals, people: Reals, document: NDArray[np.intp]) -> Estimate:
    """Return Pearson's r over texts, its bootstrap interval, and the number of texts."""
    return difference(metric, None, people, document)


def difference(
    metric: Reals, other: Reals | None, people: Reals, document: NDArray[np.intp]
) -> Estimate:
    """Return a metric's r with people, less another's (None: 0), by the same resamples."""
    documents = np.unique(document, return_inverse=True)[1].astype(np.intp)
    n = int(documents.max()) + 1
    weights = np.concatenate((np.ones((1, n)), resample_counts(n)))
    r = weighted_pearson(metric, people, documents, weights)
    if other is not None:
        r = r - weighted_pearson(other, people, documents, weights)
    (low,), (high,) = expanded_percentiles(r[1:, None], n, RESAMPLING.confidence)
    value, low, high = (
        None if np.isnan(end) else float(end) for end in (r[0], low, high)
    )
    return value, low, high, len(metric)


@cache
def resample_counts(n: int) -> Reals:
    """Return how often each of n documents is in each resample: (resamples, n)."""
    random = np.random.default_rng(RESAMPLING.seed)
    return random.multinomial(n, np.full(n, 1 / n), RESAMPLING.resamples).astype(
        np.float64
    )

"""Means and correlations for figures, with bootstrap intervals over documents.

Their settings are those that params.yaml has for reports (`Resampling`); a figure reads
tables and no params.
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


def mean_of(things: pd.DataFrame, column: str) -> tuple[float, float, float, int]:
    """Mean over all things of all documents, its interval, and how many there are."""
    per = things.groupby("doc_id", sort=True)[column].agg(["sum", "count"])
    sums, numbers = (per[[name]].to_numpy(dtype=float) for name in ("sum", "count"))
    found = means(sums, list(per.index), RESAMPLING, numbers)
    return found.mean[0], found.low[0], found.high[0], len(things)


class Texts(NamedTuple):
    """One number each per text: a metric, people's mean, the share that is copied; its document."""

    metric: Reals
    people: Reals
    coverage: Reals
    document: NDArray[np.intp]


def by_share(texts: Texts, metric: str) -> Iterator[tuple[object, ...]]:
    """Share, ALONE or ADDED, and the correlation with people, as `least_copied` has them."""
    if len(texts.metric) < 2:
        return
    for share in SHARES:
        least = _least(texts.coverage, share)
        metric_there, people, coverage = (column[least] for column in texts[:3])
        chosen = Texts(metric_there, people, coverage, texts.document[least])
        yield (str(share), ALONE, *correlation(chosen.metric, chosen.people, chosen.document))
    if metric != "coverage":
        both = standardise(np.array([texts.metric, texts.coverage])).mean(axis=0)
        if np.isfinite(both).all():
            yield ("100", ADDED, *correlation(both, texts.people, texts.document))


def _least(coverage: Reals, share: int) -> NDArray[np.bool_]:
    taken = int(np.ceil(share * len(coverage) / 100 - 1e-9))
    most = np.sort(coverage)[taken - 1]
    least: NDArray[np.bool_] = coverage <= most + NOISE * abs(most)
    return least


def correlation(metric: Reals, people: Reals, document: NDArray[np.intp]) -> Estimate:
    """Pearson's r of two numbers per text, the bootstrap interval, and how many texts there are."""
    return difference(metric, None, people, document)


def difference(
    metric: Reals, other: Reals | None, people: Reals, document: NDArray[np.intp]
) -> Estimate:
    """The correlation of a metric with people, less that of another one, by the same resamples."""
    documents = np.unique(document, return_inverse=True)[1].astype(np.intp)
    n = int(documents.max()) + 1
    weights = np.concatenate((np.ones((1, n)), resample_counts(n)))
    every = weighted_pearson(metric, people, documents, weights)
    if other is not None:
        every = every - weighted_pearson(other, people, documents, weights)
    once, draws = every[0], every[1:]
    (low,), (high,) = expanded_percentiles(draws[:, None], n, RESAMPLING.confidence)
    value, low, high = (None if np.isnan(end) else float(end) for end in (once, low, high))
    return value, low, high, len(metric)


@cache
def resample_counts(n: int) -> Reals:
    """How often each of n documents is in each resample."""
    random = np.random.default_rng(RESAMPLING.seed)
    return random.multinomial(n, np.full(n, 1 / n), RESAMPLING.resamples).astype(np.float64)

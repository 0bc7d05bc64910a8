"""Metrics against people on the texts that copy least, and with copying added, with intervals.

Table `confounds` has the same numbers without intervals, on which no figure should rest.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metassay.paper_figures.of_texts import RESAMPLING
from metassay.paper_figures.scorers import ALONE
from metassay.reporting.resampled import Reals
from metassay.statistics import weighted
from metassay.statistics.arithmetic import NOISE
from metassay.statistics.ensembles import expanded_percentiles, standardise
from metassay.tables.names import FULL, NO_JUDGE, is_reference

SHARES = (25, 50, 75, 100)  # per cent of the texts
ADDED = "with coverage"
_COVERAGE = "coverage"
_KEY = ["doc_id", "author"]
_COLUMNS = ("criterion", "metric", "judge", "share", "what", "value", "low", "high", "n")


class _Texts(NamedTuple):
    """One number each per text: a metric, people's mean, the share that is copied; its document."""

    metric: Reals
    people: Reals
    coverage: Reals
    document: NDArray[np.intp]


def least_copied(frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Pearson's r over systems' whole texts, with its true sign, by criterion and metric.

    `share`: of the texts that have metric, rating and coverage, so many per cent that copy least
    (lowest coverage; ties with the last one taken are in, too). `what`: the metric alone, or the
    mean of metric and coverage, both standardised over those texts (of 100 per cent, and not of
    coverage itself). Ratings of a text are averaged over raters. low, high: bootstrap over
    documents, the texts taken once for all. Source: Adams et al. 2023, section 7.4.
    """
    scores = _of_systems(frames["scores"])
    people = _of_systems(frames["ratings"]).groupby(["criterion", *_KEY])["value"].mean()
    covered = scores[(scores["metric"] == _COVERAGE) & (scores["judge"] == NO_JUDGE)]
    coverage = covered.set_index(_KEY)["value"].rename("coverage")
    made: list[tuple[object, ...]] = []
    for (metric, judge), mine in scores.groupby(["metric", "judge"], sort=True):
        values = mine.set_index(_KEY)["value"].rename("metric")
        for criterion in sorted(set(people.index.get_level_values(0))):
            rated = people.loc[criterion].rename("people")
            both = pd.concat([values, rated, coverage], axis=1, join="inner").dropna().sort_index()
            document = pd.factorize(both.index.get_level_values(0))[0].astype(np.intp)
            own, graded, copied = both.to_numpy(dtype=float).T
            texts = _Texts(own, graded, copied, document)
            made += [(criterion, metric, judge, *row) for row in _rows(texts, str(metric))]
    return pd.DataFrame(made, columns=list(_COLUMNS))


def _of_systems(frame: pd.DataFrame) -> pd.DataFrame:
    own = ~frame["author"].map(is_reference).astype(bool)
    return frame[own & (frame["part"] == FULL)].dropna(subset=["value"])


def _rows(texts: _Texts, metric: str) -> Iterator[tuple[object, ...]]:
    if len(texts.metric) < 2:
        return
    for share in SHARES:
        kept = _least(texts.coverage, share)
        some = _Texts(
            texts.metric[kept], texts.people[kept], texts.coverage[kept], texts.document[kept]
        )
        yield (str(share), ALONE, *_correlated(some.metric, some))
    if metric != _COVERAGE:
        both = standardise(np.array([texts.metric, texts.coverage])).mean(axis=0)
        if np.isfinite(both).all():
            yield ("100", ADDED, *_correlated(both, texts))


def _least(coverage: Reals, share: int) -> NDArray[np.bool_]:
    taken = int(np.ceil(share * len(coverage) / 100 - 1e-9))
    most = np.sort(coverage)[taken - 1]
    kept: NDArray[np.bool_] = coverage <= most + NOISE * abs(most)
    return kept


def _correlated(
    metric: Reals, texts: _Texts
) -> tuple[float | None, float | None, float | None, int]:
    documents = np.unique(texts.document, return_inverse=True)[1].astype(np.intp)
    n = int(documents.max()) + 1
    drawn = _drawn(n)
    once = weighted.pearson(metric, texts.people, documents, np.ones((1, n)))
    draws = weighted.pearson(metric, texts.people, documents, drawn)[:, None]
    (low,), (high,) = expanded_percentiles(draws, n, RESAMPLING.confidence)
    ends = (None if np.isnan(end) else float(end) for end in (once[0], low, high))
    value, least, most = ends
    return value, least, most, len(metric)


@cache
def _drawn(n: int) -> Reals:
    """How often each of n documents is in each resample."""
    random = np.random.default_rng(RESAMPLING.seed)
    return random.multinomial(n, np.full(n, 1 / n), RESAMPLING.resamples).astype(np.float64)

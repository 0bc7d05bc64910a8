"""Tables of metrics of notes against people's counts, for the figures of Ben Abacha et al.

Texts are systems' whole ones. All correlations of a benchmark use one set of resamples of its
documents, so that their differences, sums and means have intervals, too.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from metassay.paper_figures.estimates import ESTIMATE, RESAMPLING, resample_counts
from metassay.paper_figures.statement_tables import AVERAGE, of_systems
from metassay.statistics.best import behind_best, places
from metassay.statistics.correlation import weighted_pearson
from metassay.statistics.document_means import Reals
from metassay.statistics.exact_sums import Mask
from metassay.statistics.facts import quality
from metassay.statistics.resampling import expanded_percentiles
from metassay.tables.names import FULL, SIGNS

Frames = Mapping[str, pd.DataFrame]
Parts = tuple[tuple[float, str, str], ...]  # weights of correlations, by study and criterion

AGGREGATE = "aggregate"
ENOUGH = 0.95  # the share of the texts that a metric must score to be ranked
FACTS = ("factual_precision", "factual_recall", "factual_f1", "hallucination_rate", "omission_rate")
PHRASES = ("hallucination_count", "omission_count")  # key phrases per word
_WEIGHTS = {"factual_f1": 0.5, "hallucination_rate": -0.25, "omission_rate": -0.25}
_LESS_IS_BETTER = (*FACTS[3:], *PHRASES)
_TEXT = ["doc_id", "author"]


class _Column(NamedTuple):
    """A column of the paper's tables: a correlation, or a weighted sum of several."""

    study: str
    criterion: str
    parts: Parts

    @property
    def sign(self) -> float:
        """-1 where a good metric has a negative correlation."""
        return -1.0 if self.criterion in _LESS_IS_BETTER else 1.0


def metrics_of_notes(frames: Frames) -> pd.DataFrame:
    """Pearson's r of metrics with people's counts by study and criterion, and which is best.

    `value` has its true sign: a good metric has a high one with factual precision, recall and F1,
    and a low one with rates and counts of errors. Criterion AGGREGATE is (2 F1 - hallucination -
    omission) / 4 of the correlations. Study AVERAGE, if there are several: the mean over studies of
    facts, for precision, recall and F1; for hallucination and omission the mean of two means, over
    studies of facts and over studies of key phrases per word, as in Ben Abacha et al. 2023. n:
    texts, over all studies. `place`: 1 for the best of all metrics with a direction, with judges,
    too. `p`: of its being as good as the best (`statistics.best.behind_best`), metrics compared in
    pairs on texts that both score; small if the best one is closer to people. Both are null for a
    metric that scores less than ENOUGH of the texts that others do: its correlation is of other
    texts.
    """
    people = _people(frames["ratings"])
    rows: list[tuple[object, ...]] = []
    if len(people):
        correlations = _Correlations(_scores(frames), people)
        for column in _columns(people):
            estimates = correlations.compare(column)
            rows += [
                (column.study, column.criterion, *name, *row) for name, row in estimates.items()
            ]
    names = ["study", "criterion", "metric", "judge", *ESTIMATE, "place", "p"]
    return pd.DataFrame(rows, columns=names).astype({"place": "Int64", "p": "float64"})


def error_weights(_: Frames) -> pd.DataFrame:
    """What one error of each kind takes from `statistics.facts.quality` of a sentence."""
    errors = {"critical": (1, 0, 0), "non_critical": (0, 1, 0), "spelling": (0, 0, 1)}
    rows = [(error, 1 - (quality(*counts, 1, 1) or 0.0), 1) for error, counts in errors.items()]
    return pd.DataFrame(rows, columns=["error", "value", "n"]).assign(low=np.nan, high=np.nan)


def _scores(frames: Frames) -> pd.DataFrame:
    """Return texts by metrics with a direction, oriented so that more is better."""
    better = frames["leaderboard"].drop_duplicates(["metric", "judge"])
    signs = better.set_index(["metric", "judge"])["better"].astype(object).map(SIGNS).dropna()
    scores = of_systems(frames["scores"])
    wide = scores[scores["part"] == FULL].pivot(
        index=_TEXT, columns=["metric", "judge"], values="value"
    )
    metrics = wide.columns.intersection(signs.index)
    oriented = wide[metrics].astype("float64") * signs.loc[metrics].to_numpy(dtype=float)
    return oriented.dropna(axis=1, how="all")


def _people(ratings: pd.DataFrame) -> pd.DataFrame:
    """Return the mean rating over raters: study, criterion, _TEXT and value."""
    rated = of_systems(ratings[(ratings["unit"] == "text") & (ratings["part"] == FULL)])
    rated = rated[rated["criterion"].isin([*FACTS, *PHRASES])].dropna(subset=["value"])
    return rated.groupby(["study", "criterion", *_TEXT], sort=True)["value"].mean().reset_index()


def _columns(people: pd.DataFrame) -> Iterator[_Column]:
    pairs = sorted(set(zip(people["study"].map(str), people["criterion"].map(str), strict=True)))
    for study, criterion in pairs:
        yield _Column(study, criterion, ((1.0, study, criterion),))
    facts, phrases = (
        [study for study, criterion in pairs if criterion == name]
        for name in (FACTS[2], PHRASES[0])
    )
    for study in facts:
        yield _Column(study, AGGREGATE, _aggregate({name: ((1.0, study, name),) for name in FACTS}))
    if facts and len(facts) + len(phrases) > 1:
        averages = {name: _mean(facts, name) for name in FACTS}
        for count, rate in zip(PHRASES, FACTS[3:], strict=True) if phrases else ():
            both = (*averages[rate], *_mean(phrases, count))
            averages[rate] = tuple((weight / 2, study, name) for weight, study, name in both)
        for criterion, parts in {**averages, AGGREGATE: _aggregate(averages)}.items():
            yield _Column(AVERAGE, criterion, parts)


def _mean(studies: Sequence[str], criterion: str) -> Parts:
    return tuple((1 / len(studies), study, criterion) for study in studies)


def _aggregate(parts: Mapping[str, Parts]) -> Parts:
    return tuple(
        (weight * share, study, name)
        for criterion, weight in _WEIGHTS.items()
        for share, study, name in parts[criterion]
    )


class _Correlations:
    """Pearson's r of metrics with people, for the data and every resample of the documents."""

    def __init__(self, values: pd.DataFrame, people: pd.DataFrame) -> None:
        keys = people[_TEXT].drop_duplicates().sort_values(_TEXT)
        texts = pd.MultiIndex.from_frame(keys)
        self._names = [tuple(map(str, name)) for name in values.columns]
        self._values = values.reindex(texts).to_numpy(dtype=np.float64).T
        self._documents = pd.factorize(keys["doc_id"])[0].astype(np.intp)
        size = int(self._documents.max(initial=-1)) + 1
        self._weights = np.concatenate((np.ones((1, size)), resample_counts(size)))
        self._people = {
            (str(study), str(criterion)): group.set_index(_TEXT)["value"].reindex(texts).to_numpy()
            for (study, criterion), group in people.groupby(["study", "criterion"], sort=True)
        }
        self._cache: dict[tuple[int, str, str, bytes], Reals] = {}

    def compare(self, column: _Column) -> dict[tuple[str, ...], tuple[object, ...]]:
        """Return ESTIMATE, place and p of each metric with a value."""
        scored = np.isfinite(self._values)
        r = np.stack([self._r(column, metric, texts) for metric, texts in enumerate(scored)])
        metrics = np.flatnonzero(np.isfinite(r[:, 0]))
        if not metrics.size:
            return {}
        rated = np.array([np.isfinite(self._people[part[1:]]) for part in column.parts])
        n = np.array([np.count_nonzero(rated & scored[metric]) for metric in metrics])
        n_documents = len(set(self._documents[rated.any(axis=0)]))
        ends = expanded_percentiles(r[metrics].T[1:], n_documents, RESAMPLING.confidence)
        place, p = np.zeros(metrics.size, dtype=np.int64), np.full(metrics.size, np.nan)
        ranked = n >= ENOUGH * n.max()
        place[ranked] = places(column.sign * r[metrics[ranked], 0].round(12))
        differences = self._differences(column, metrics[ranked].tolist())
        p[ranked] = behind_best(differences, place[ranked].tolist().index(1), n_documents)
        rows = zip(r[metrics, 0], *ends, n, place, p, strict=True)
        return {
            self._names[metric]: (
                *map(float, row[:3]),
                int(row[3]),
                int(row[4]) or None,
                float(row[5]),
            )
            for metric, row in zip(metrics, rows, strict=True)
        }

    def _differences(self, column: _Column, metrics: Sequence[int]) -> Reals:
        """Return how much better j is than i at [., i, j]: (1 + resamples, metrics, metrics)."""
        scored = np.isfinite(self._values)
        differences = np.zeros((len(self._weights), len(metrics), len(metrics)))
        for i, first in enumerate(metrics):
            for j, second in enumerate(metrics[:i]):
                both = scored[first] & scored[second]
                less = self._r(column, second, both) - self._r(column, first, both)
                differences[:, i, j], differences[:, j, i] = column.sign * less, -column.sign * less
        return differences

    def _r(self, column: _Column, metric: int, texts: Mask) -> Reals:
        total: Reals = np.zeros(len(self._weights))
        for weight, study, criterion in column.parts:
            people = self._people[study, criterion]
            both = texts & np.isfinite(people)
            key = metric, study, criterion, both.tobytes()
            if key not in self._cache:
                self._cache[key] = weighted_pearson(
                    self._values[metric, both], people[both], self._documents[both], self._weights
                )
            total = total + weight * self._cache[key]
        return total

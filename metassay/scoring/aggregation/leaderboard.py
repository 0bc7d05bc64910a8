"""Clusters of documents, and the leaderboard: a mean per author and metric with an interval."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metassay.core.errors import raise_problems, shown
from metassay.core.options import Confidence, Draws, Options, Seed
from metassay.metrics.describe import Description
from metassay.scoring.pairing.instruments import Reals
from metassay.statistics.document_means import NO_CLUSTERS, Resampling, means
from metassay.statistics.exact_sums import Array, mean_without_gaps
from metassay.statistics.layout import duplicate_items, factorize, join_partitions
from metassay.tables.documents import DOCUMENT_CLUSTERS
from metassay.tables.leaderboard import LEADERBOARD
from metassay.tables.names import FULL
from metassay.tables.parquet import empty, round_trip


def document_clusters(scores: pd.DataFrame, labels: Mapping[str, str]) -> pd.DataFrame:
    """Return table `document_clusters` of the documents in table `scores`.

    A cluster has documents with the same of the user's `labels` (document -> cluster),
    and those with equal scores of whole texts throughout, beyond chance
    (`layout.duplicate_items`).
    """
    documents = sorted(scores["doc_id"].unique())
    used = set(labels.values())
    alone = {name: f"document {name}" if name in used else name for name in documents}
    clusters = [labels.get(name) or alone[name] for name in documents]
    number = join_partitions(
        factorize(clusters), duplicate_items(_profiles(scores, documents))
    )
    first = np.unique(number, return_index=True)[1]
    cluster = [clusters[first[at]] for at in number]
    return round_trip(
        DOCUMENT_CLUSTERS,
        pd.DataFrame({"doc_id": documents, "cluster": cluster}, dtype=object),
    )


def _profiles(scores: pd.DataFrame, documents: list[str]) -> Array:
    """Return (metrics, authors, documents) scores of whole texts; NaN where missing."""
    whole = scores[scores["part"] == FULL]
    metric = whole.groupby(["metric", "judge"]).ngroup().to_numpy()
    author, names = pd.factorize(whole["author"])
    values = np.full((metric.max(initial=-1) + 1, len(names), len(documents)), np.nan)
    at = pd.Index(documents).get_indexer(pd.Index(whole["doc_id"]))
    values[metric, author, at] = whole["value"].to_numpy(dtype=float)
    return values


_COLUMN = ["part", "metric", "judge"]
_KEY = [*_COLUMN, "author"]


class LeaderboardOptions(Options):
    """`resamples` of the documents, `confidence` of the interval, `seed` of the draws."""

    resamples: Draws
    confidence: Confidence
    seed: Seed


def leaderboard(
    scores: pd.DataFrame,
    descriptions: Mapping[str, Description],
    options: LeaderboardOptions,
    clusters: Mapping[str, str] = NO_CLUSTERS,
) -> pd.DataFrame:
    """Return table `leaderboard` of table `scores`, sorted by key; `descriptions` are by metric.

    macro: mean over the documents where the score is defined; null if there are none.
    low, high: `document_means.means` over all documents of `scores`, drawn by their
    `clusters`; null where the defined scores are worth less than two documents. micro:
    from the statistics of the documents that have them, as the metric's description
    pools them (a ratio of sums; for BLEU, corpus BLEU); null if there is nothing to
    pool. Failed answers are in neither; n_failed counts them. least, most: bounds of
    macro with them, the means of the scores' bounds; null if there are none, or a
    failed score has no bound.

    Raises BadInput if the scores of a part, metric and judge have several recipes, or
    if a metric has no description.
    """
    raise_problems(_problems(scores, descriptions))
    if scores.empty:
        return empty(LEADERBOARD)
    ordered = scores.sort_values([*_KEY, "doc_id"], ignore_index=True)
    groups = ordered.groupby(_KEY, sort=True)
    rows = groups.agg(
        n_documents=("value", "size"),
        n_defined=("value", "count"),
        n_expected=("n_expected", "sum"),
        n_failed=("n_failed", "sum"),
        recipe=("recipe", "first"),
    ).reset_index()
    columns = groups.ngroup().to_numpy()
    documents, values = _matrix(ordered, "value", columns, len(rows))
    resampling = Resampling(
        resamples=options.resamples,
        confidence=options.confidence,
        seed=options.seed,
        clusters=clusters,
    )
    rows["macro"], rows["low"], rows["high"] = means(values, documents, resampling)
    for name, bound in (("least", "low"), ("most", "high")):
        open_ = (ordered["n_failed"] > 0) & ordered[bound].isna()
        _, bounds = _matrix(ordered, bound, columns, len(rows))
        bounds[:, columns[open_.to_numpy()]] = np.nan
        rows[name] = mean_without_gaps(bounds, 0)
    rows["micro"] = [
        _pooled(descriptions[metric], group["statistics"])
        for metric, (_, group) in zip(rows["metric"], groups, strict=True)
    ]
    rows["n_undefined"] = rows["n_documents"] - rows["n_defined"]
    rows["better"] = [descriptions[metric].better for metric in rows["metric"]]
    return rows[list(LEADERBOARD.columns)]


def _problems(
    scores: pd.DataFrame, descriptions: Mapping[str, Description]
) -> list[str]:
    unknown = sorted(set(scores["metric"]) - set(descriptions))
    problems = [
        f"scores: metric {name!r} has no description; describe it in the module that computes it"
        for name in unknown
    ]
    for (part, metric, judge), recipes in scores.groupby(_COLUMN)["recipe"]:
        mixed = sorted(recipes.unique())
        if len(mixed) > 1:
            problems.append(
                f"scores: part={shown(part)}, metric={shown(metric)}, judge={shown(judge)} has"
                f" {len(mixed)} recipes ({'; '.join(mixed)}); numbers of different recipes cannot"
                " be compared: measure or judge all of them again with one setting"
            )
    return problems


def _matrix(
    ordered: pd.DataFrame, name: str, columns: NDArray[np.integer[Any]], n_columns: int
) -> tuple[list[str], Reals]:
    """Return the sorted documents, and (documents, columns) of a column of scores; NaN for null."""
    documents, names = pd.factorize(ordered["doc_id"], sort=True)
    values = np.full((len(names), n_columns), np.nan)
    values[documents, columns] = ordered[name].to_numpy(dtype=float)
    return list(names), values


def _pooled(description: Description, statistics: Iterable[object]) -> float:
    """Return the corpus value, NaN if there is nothing to pool."""
    rows = [
        list(numbers) for numbers in statistics if isinstance(numbers, list | tuple)
    ]
    if not rows:
        return np.nan
    if description.pool is not None:
        return description.pool(rows)
    numerator, denominator = np.sum(np.asarray(rows, dtype=float), axis=0)
    return float(numerator / denominator) if denominator else np.nan

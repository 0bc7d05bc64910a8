"""Which systems a metric cannot tell apart, and how often two metrics disagree."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metassay.reporting.names import Metric, sorted_authors, sorted_metrics
from metassay.statistics.best import apart, compact_letters, places
from metassay.statistics.document_means import Reals, Resampling, mean_draws, worth
from metassay.tables.names import FULL, SIGNS, is_reference
from metassay.tables.summaries import framed


def system_groups(
    scores: pd.DataFrame, better: Mapping[Metric, str], how: Resampling, designs: pd.DataFrame
) -> pd.DataFrame:
    """One row per metric and system: its mean over whole texts, its place, and `group`, letters.

    Systems that share a letter cannot be told apart at 1 - `how.confidence`. All pairs of systems
    of a metric are tested at once, on the documents that both have: `best.behind_best`, each system
    taken for the best in turn, over a bootstrap of clusters of documents, two-sided. Letters are a
    compact letter display (Piepho 2004, An algorithm for a letter-based representation of
    all-pairwise comparisons), `a` for the best. Metrics without a direction, references and systems
    without any score are left out; one system has no row. n_missing: documents of the metric
    without a score of the system.

    No rows where ratings and scores of a study in `designs` show that documents belong together
    and nobody gave the clusters: systems would be told apart that are equal.
    """
    if _clusters_found(designs, how):
        return framed("system_groups", [])
    whole = scores[(scores["part"] == FULL) & ~scores["author"].map(is_reference).astype(bool)]
    made: list[tuple[object, ...]] = []
    for metric in sorted_metrics(m for m, which in better.items() if which in SIGNS):
        mine = whole[(whole["metric"] == metric[0]) & (whole["judge"] == metric[1])]
        values = mine.pivot(index="doc_id", columns="author", values="value").sort_index()
        values = values[sorted_authors(values.columns[values.notna().any()])]
        if values.shape[1] < 2:
            continue
        table = SIGNS[better[metric]] * values.to_numpy(dtype=np.float64)
        means = np.array([np.mean(column[np.isfinite(column)]) for column in table.T])
        letters = compact_letters(
            _apart(table, list(values.index), how), np.argsort(-means, kind="stable")
        )
        n = np.isfinite(table).sum(axis=0)
        counts = zip(n.tolist(), (len(table) - n).tolist(), strict=True)
        for author, mean, place, letter, (there, lacking) in zip(
            values.columns,
            SIGNS[better[metric]] * means,
            places(means),
            letters,
            counts,
            strict=True,
        ):
            made.append((*metric, author, float(mean), int(place), letter, there, lacking))
    return framed("system_groups", made)


def _clusters_found(designs: pd.DataFrame, how: Resampling) -> bool:
    """Whether the data of any study show clusters that `how`, by the user or by copies, has not."""
    known = len(set(how.clusters.values())) if how.clusters else np.inf
    fewer = designs["n_clusters"] < np.minimum(known, designs["n_documents"])
    return bool((fewer & ~designs["given"].str.contains("cluster")).any())


def _apart(values: Reals, documents: Sequence[str], how: Resampling) -> NDArray[np.bool_]:
    """Which two columns of (documents, systems) differ: (systems, systems)."""
    size = values.shape[1]
    first, second = np.triu_indices(size, 1)
    cluster = how.number(documents)
    drawn = mean_draws(values[:, second] - values[:, first], how, cluster)
    draws = np.full((len(drawn), size, size), np.nan)
    draws[:, first, second], draws[:, second, first] = drawn, -drawn
    there = np.isfinite(values).any(axis=1, keepdims=True)
    (n,) = worth(np.asarray(there), cluster)
    return apart(draws, float(n), 1 - how.confidence)


def conflict_shares(conflicts: pd.DataFrame) -> pd.DataFrame:
    """Table `conflicts` over all documents: a row per part and two metrics; share null of none."""
    totals = (
        conflicts.assign(n_documents=(conflicts["n_pairs"] > 0).astype("int64"))
        .groupby(["part", "metric_a", "metric_b"], as_index=False)[
            ["n_pairs", "n_disagreements", "n_documents"]
        ]
        .sum()
    )
    some = totals["n_pairs"].where(totals["n_pairs"] > 0)
    return totals.assign(share=(totals["n_disagreements"] / some).astype("float64"))

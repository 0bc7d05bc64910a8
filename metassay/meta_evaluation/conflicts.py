"""The tables `conflicts` and `disagreements`: where two metrics prefer different texts.

They need no ratings: they say where ratings are worth the most. All authors but the reference
take part, in each part, and every two of the compared metrics, the smaller label first.
"""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd

from metassay.meta_evaluation.options import MetaOptions
from metassay.meta_evaluation.study import Better, Measured, generator
from metassay.parquet import empty
from metassay.statistics.preference import disagreements as all_disagreements
from metassay.statistics.preference import draw_disagreements
from metassay.tables.names import REFERENCE, metric_label
from metassay.tables.orderings import CONFLICTS, DISAGREEMENTS


class _Pair(NamedTuple):
    """Two metrics' scores of the same texts of one part."""

    part: str
    authors: pd.Index  # the rows of both metrics' values
    documents: pd.Index  # their columns
    a: Measured
    b: Measured

    @property
    def key(self) -> dict[str, str]:
        return {"part": self.part, "metric_a": self.a.label, "metric_b": self.b.label}


def conflicts(
    scores: pd.DataFrame, better: Mapping[str, Better], options: MetaOptions
) -> pd.DataFrame:
    """One row per pair of metrics and document, also where they have no two texts to compare.

    A tie on either side is no disagreement. `scores`: the table; `better`: each metric's direction.
    """
    frames = []
    for pair in _pairs(scores, better, options):
        found = all_disagreements(pair.a.oriented, pair.b.oriented)
        both = np.isfinite(pair.a.values) & np.isfinite(pair.b.values)
        texts = np.count_nonzero(both, axis=0)
        columns = {
            **pair.key,
            "doc_id": pair.documents,
            "n_pairs": texts * (texts - 1) // 2,
            "n_disagreements": found.per_document,
        }
        frames.append(pd.DataFrame(columns))
    return pd.concat(frames, ignore_index=True) if frames else empty(CONFLICTS)


def disagreements(
    scores: pd.DataFrame, better: Mapping[str, Better], options: MetaOptions
) -> pd.DataFrame:
    """At most `annotate` pairs of texts per part and pair of metrics, drawn as `draw` says.

    Metric a prefers author a's text and metric b author b's. Each pair of metrics has random
    numbers of its own, so that another metric changes no draw. Arguments as for `conflicts`.
    """
    frames = []
    for pair in _pairs(scores, better, options):
        found = all_disagreements(pair.a.oriented, pair.b.oriented)
        rng = generator(options.seed, "disagreements", *pair.key.values())
        drawn = draw_disagreements(found, n=options.annotate, rng=rng, order=options.draw)
        columns = {
            **pair.key,
            "doc_id": pair.documents[found.document[drawn]],
            "author_a": pair.authors[found.preferred_by_a[drawn]],
            "author_b": pair.authors[found.preferred_by_b[drawn]],
            "conflict": found.conflict[drawn],
        }
        frames.append(pd.DataFrame(columns))
    return pd.concat(frames, ignore_index=True) if frames else empty(DISAGREEMENTS)


def _pairs(
    scores: pd.DataFrame, better: Mapping[str, Better], options: MetaOptions
) -> Iterator[_Pair]:
    directed = {name for name, which in better.items() if which != "neither"}
    both = scores[["metric", "judge"]].drop_duplicates()
    named = [
        (metric, judge)
        for metric, judge in zip(both["metric"], both["judge"], strict=True)
        if metric in directed and options.compares(metric, metric_label(metric, judge))
    ]
    chosen = pd.MultiIndex.from_frame(scores[["metric", "judge"]]).isin(named)
    wanted = scores[chosen & (scores["author"] != REFERENCE)]
    for part, rows in wanted.groupby("part", sort=True):
        authors = pd.Index(sorted(rows["author"].unique()))
        documents = pd.Index(sorted(rows["doc_id"].unique()))
        metrics = [
            Measured(
                str(metric),
                str(judge),
                better[str(metric)],
                str(mine["recipe"].iloc[0]),
                mine.pivot(index="author", columns="doc_id", values="value")
                .reindex(index=authors, columns=documents)
                .to_numpy(dtype=np.float64),
            )
            for (metric, judge), mine in rows.groupby(["metric", "judge"], sort=True)
        ]
        for a, b in combinations(sorted(metrics, key=lambda one: one.label), 2):
            yield _Pair(str(part), authors, documents, a, b)

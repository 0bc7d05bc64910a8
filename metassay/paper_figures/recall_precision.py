"""Metrics of recall, and of precision, among themselves: how alike they order texts."""

from collections.abc import Iterator, Mapping
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
import pandas as pd

from metassay.statistics.arithmetic import Array
from metassay.statistics.correlation import sorted_kendall
from metassay.statistics.preference import disagreements
from metassay.tables.names import FULL, is_reference, metric_label

_GROUPS = ("recall", "precision")
_MATRIX = ("group", "first", "second", "tau", "n")
_CONFLICTS = ("part", "first", "second", "n_pairs", "n_conflicts")


class _Scores(NamedTuple):
    part: str
    label: str  # of the metric, with its judge
    values: Array  # systems by documents; NaN where there is none


def matrix(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Kendall's tau-b of every two metrics of a group over all whole texts that both score.

    A group is the metrics whose name ends in `recall` or in `precision`; references are left out.
    tau is null where fewer than two texts are scored by both, or one of them gives all the same; n:
    texts. Both orders of a pair are there, and none of a metric with itself.
    """
    made: list[tuple[object, ...]] = []
    for group in _GROUPS:
        found = list(_scores(tables["scores"], group, FULL))
        for a, b in product(found, found):
            if a.label == b.label:
                continue
            both = np.isfinite(a.values) & np.isfinite(b.values)
            x, y = a.values[both], b.values[both]
            varied = len(set(x)) > 1 and len(set(y)) > 1
            tau = sorted_kendall(x, y) if varied else np.nan
            made.append((group, a.label, b.label, tau, len(x)))
    return pd.DataFrame(made, columns=list(_MATRIX)).astype({"tau": "float64"})


def conflicts(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Pairs of texts of one document that two metrics of recall put in opposite orders, by part.

    A tie on either side is no conflict. n_pairs: pairs that both metrics score.
    """
    scores = tables["scores"]
    made: list[tuple[object, ...]] = []
    for part in sorted(set(scores["part"])):
        for a, b in combinations(_scores(scores, _GROUPS[0], part), 2):
            texts = np.count_nonzero(np.isfinite(a.values) & np.isfinite(b.values), axis=0)
            n_pairs = int((texts * (texts - 1) // 2).sum())
            n = int(disagreements(a.values, b.values).per_document.sum())
            made += [(part, *of, n_pairs, n) for of in ((a.label, b.label), (b.label, a.label))]
    return pd.DataFrame(made, columns=list(_CONFLICTS))


def _scores(scores: pd.DataFrame, group: str, part: str) -> Iterator[_Scores]:
    """Of the metrics of a group, by label, with the same systems and documents in all."""
    own = scores[(scores["part"] == part) & ~scores["author"].map(is_reference).astype(bool)]
    own = own[own["metric"].str.endswith(f"_{group}")]
    authors, documents = sorted(set(own["author"])), sorted(set(own["doc_id"]))
    for (metric, judge), mine in own.groupby(["metric", "judge"], sort=True):
        values = mine.pivot(index="author", columns="doc_id", values="value")
        yield _Scores(
            part,
            metric_label(str(metric), str(judge)),
            values.reindex(index=authors, columns=documents).to_numpy(dtype=np.float64),
        )

"""Scores of two sides, side by side: rows (part, metric, judge, author) by documents."""

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from metassay.parquet import as_written, empty
from metassay.tables.comparisons import CHANGED_DOCUMENTS

ROW: Final = ["part", "metric", "judge", "author"]
ROUNDING = 1e-9  # scores whose difference is a smaller share of them are the same
NOTHING = 1e-12  # so is a difference that is a smaller share of the row's largest score

Array = npt.NDArray[np.float64]


class Scores(NamedTuple):
    """Columns of table SCORES, each (rows, documents); NaN where there is none."""

    value: Array
    low: Array
    high: Array
    n_failed: Array


class Grid(NamedTuple):
    """Both sides in the same rows and documents."""

    rows: pd.MultiIndex
    documents: pd.Index
    before: Scores
    after: Scores

    def change(self) -> Array:
        """After less before; NaN where one of them has no score."""
        return _change(self.before.value, self.after.value)

    def extremes(self) -> tuple[Array, Array]:
        """The smallest and the largest change that missing answers leave possible.

        Documents that lack the score of one side for want of answers count here, too. What both
        sides lack says nothing of a change: a document without either score is left out, and one
        with the same score and bounds, for want of as many answers, has not changed. One whose
        missing answers could be worth anything is left out; `unbounded` tells.
        """
        neither = np.isnan(self.before.value) & np.isnan(self.after.value)
        alike = self._alike()
        ends = ((self.before.high, self.after.low), (self.before.low, self.after.high))
        least, most = (
            np.where(neither, np.nan, np.where(alike, 0.0, _change(*pair))) for pair in ends
        )
        return least, most

    def unbounded(self) -> npt.NDArray[np.int64]:
        """How many documents' change nothing bounds from below, and from above: (2, rows)."""
        failed = [side.n_failed > 0 for side in (self.before, self.after)]
        scored = [np.isfinite(side.value) for side in (self.before, self.after)]
        counts = (scored[0] & failed[1] | failed[0] & scored[1]) & ~self._alike()
        least = np.isnan(self.before.high) | np.isnan(self.after.low)
        most = np.isnan(self.before.low) | np.isnan(self.after.high)
        return np.stack([(counts & least).sum(axis=1), (counts & most).sum(axis=1)])

    def _alike(self) -> npt.NDArray[np.bool_]:
        """Where both sides have the same score and bounds, for want of as many answers."""
        alike: npt.NDArray[np.bool_]
        alike = (self.before.n_failed > 0) & (self.before.n_failed == self.after.n_failed)
        alike &= self.change() == 0
        for before, after in zip(self.before[1:3], self.after[1:3], strict=True):
            alike &= (_change(before, after) == 0) | (np.isnan(before) & np.isnan(after))
        return alike


def grid_of(before: pd.DataFrame, after: pd.DataFrame) -> Grid:
    """Two tables SCORES on the rows and documents that either has."""
    both = pd.concat([before[ROW], after[ROW]]).drop_duplicates().sort_values(ROW)
    rows = pd.MultiIndex.from_frame(both)
    documents = pd.Index(sorted(set(before["doc_id"]) | set(after["doc_id"])), name="doc_id")
    return Grid(rows, documents, _filled(before, rows, documents), _filled(after, rows, documents))


def mean(values: Array) -> Array:
    """The mean of each row over what is not NaN; NaN where nothing is."""
    n = np.isfinite(values).sum(axis=1)
    total = np.nansum(values, axis=1)
    found: Array = np.divide(total, n, out=np.full(len(values), np.nan), where=n > 0)
    return found


def changed_documents(grid: Grid, most: int) -> pd.DataFrame:
    """Table CHANGED_DOCUMENTS: of each row the documents whose score moved furthest."""
    change = np.nan_to_num(grid.change())
    failed = np.nan_to_num(grid.before.n_failed) + np.nan_to_num(grid.after.n_failed)
    pieces = []
    for at, row in enumerate(grid.rows):
        first = np.argsort(-np.abs(change[at]), kind="stable")[:most]
        first = first[change[at, first] != 0]
        if first.size:
            columns = {
                **dict(zip(ROW, row, strict=True)),
                "position": np.arange(1, len(first) + 1),
                "doc_id": grid.documents[first],
                "before": grid.before.value[at, first],
                "after": grid.after.value[at, first],
                "difference": change[at, first],
                "n_failed": failed[at, first].astype(int),
            }
            pieces.append(pd.DataFrame(columns))
    return as_written(CHANGED_DOCUMENTS, pd.concat(pieces)) if pieces else empty(CHANGED_DOCUMENTS)


def _filled(scores: pd.DataFrame, rows: pd.MultiIndex, documents: pd.Index) -> Scores:
    at = rows.get_indexer(pd.MultiIndex.from_frame(scores[ROW]))
    to = documents.get_indexer(pd.Index(scores["doc_id"]))

    def column(name: str) -> Array:
        values = np.full((len(rows), len(documents)), np.nan)
        values[at, to] = scores[name].to_numpy(dtype=float)
        return values

    return Scores(column("value"), column("low"), column("high"), column("n_failed"))


def _change(before: Array, after: Array) -> Array:
    change: Array = after - before
    size = np.maximum(np.abs(before), np.abs(after))
    largest = np.max(np.nan_to_num(size), axis=1, keepdims=True, initial=0.0)
    alike = np.maximum(ROUNDING * size, NOTHING * largest)  # a score may be 0 but for rounding
    change[np.abs(change) <= alike] = 0.0
    return change

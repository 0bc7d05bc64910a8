"""Matrices as a permutation test takes them: one side alone, centred, of length 1, 0 where missing.

Each side is prepared without the other, so that putting people's systems and documents in another
order only moves their prepared rows and columns. The sum of products of two prepared matrices is,
with complete data, the coefficient itself (document level: the mean over documents, up to a
factor). Pooled Kendall takes ranks: its own statistic would look at all pairs in every order.
"""

from itertools import combinations
from typing import NamedTuple

import numpy as np

from metassay.statistics.arithmetic import NOISE, Array, Mask, ranked
from metassay.statistics.components import Relation, double_centred
from metassay.statistics.correlation import TIE, Coefficient, tied


class Prepared(NamedTuple):
    """One side of a relation. Rows are systems, pairs of systems (tau), or one for all."""

    values: Array  # (rows, columns); columns are documents, or one for all
    present: Array  # (rows, columns) 1 where there was a score, else 0
    of_pairs: bool = False  # whether rows are pairs of systems, in the order of `row_pairs`

    @property
    def row_means(self) -> "Prepared":
        """Each row's mean, as one column: squares sum to what the rows' levels explain."""
        count = self.present.sum(axis=1, keepdims=True)
        total = self.values.sum(axis=1, keepdims=True)
        means = np.divide(total, np.sqrt(count), out=np.zeros_like(total), where=count > 0)
        return Prepared(_zeroed(means), (count > 0).astype(np.float64), self.of_pairs)

    @property
    def rests(self) -> "Prepared":
        """What is left of each cell less its row's mean."""
        count = np.maximum(self.present.sum(axis=1, keepdims=True), 1)
        left = self.values - self.present * self.values.sum(axis=1, keepdims=True) / count
        return self._replace(values=_zeroed(left))


def prepared(scores: Array, relation: Relation, coefficient: Coefficient) -> Prepared:
    """A (systems, documents) matrix, NaN missing, made ready for one relation."""
    kendall = coefficient in ("kendall", "kendall_c")
    by_rank = coefficient != "pearson"
    if relation in ("system", "between_systems"):
        means = _means(scores, axis=1)
        return _pairs(means) if kendall else _pooled(means, by_rank=by_rank)
    if relation == "between_documents":
        return _pooled(_means(scores, axis=0), by_rank=by_rank)
    if relation == "document":
        return _pairs(scores, coefficient) if kendall else _by_column(scores, by_rank=by_rank)
    rest = double_centred(scores) if relation == "within" else scores
    return _pooled(rest, by_rank=by_rank)


def row_pairs(systems: int) -> list[tuple[int, int]]:
    """The pairs of systems that the rows stand for, where `prepared` makes rows of pairs."""
    return list(combinations(range(systems), 2))


def _means(scores: Array, axis: int) -> Array:
    present = np.isfinite(scores)
    count = present.sum(axis=axis, keepdims=True)
    total = np.where(present, scores, 0.0).sum(axis=axis, keepdims=True)
    mean = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
    size = float(np.max(np.abs(scores), initial=0.0, where=present))
    flat: Array = tied(mean.ravel(), tolerance=TIE * size).reshape(mean.shape)
    return flat


def _pooled(scores: Array, *, by_rank: bool) -> Prepared:
    present = np.isfinite(scores)
    values = np.zeros(scores.shape)
    if present.any():
        known = ranked(scores[present]) if by_rank else scores[present]
        values[present] = _deviations(known[None], np.ones((1, known.size), dtype=bool))[0]
    return Prepared(_unit(values), present.astype(np.float64))


def _by_column(scores: Array, *, by_rank: bool) -> Prepared:
    present = np.isfinite(scores)
    known = np.where(present, scores, np.inf if by_rank else 0.0)
    if by_rank:
        known = np.where(present, ranked(known, axis=0), 0.0)
    left = _deviations(known.T, present.T).T
    length = np.sqrt(np.sum(left**2, axis=0))
    values = np.divide(left, length, out=np.zeros_like(left), where=length > 0)
    return Prepared(_unit(values), present.astype(np.float64))


def _pairs(scores: Array, coefficient: Coefficient = "kendall") -> Prepared:
    pairs = row_pairs(len(scores))
    first, second = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    present = np.isfinite(scores)
    both = present[first] & present[second]
    known = np.where(present, scores, 0.0)
    signs = np.sign(known[first] - known[second]) * both
    untied = np.count_nonzero(signs, axis=0)
    length = np.sqrt(untied) if coefficient == "kendall" else (untied > 0).astype(np.float64)
    values = np.divide(signs, length, out=np.zeros_like(signs), where=length > 0)
    return Prepared(_unit(values), both.astype(np.float64), of_pairs=True)


def _deviations(rows: Array, present: Mask) -> Array:
    # Each row less its mean; 0 throughout where it differs from its mean by rounding alone.
    count = np.maximum(present.sum(axis=1, keepdims=True), 1)
    mean = np.sum(rows, axis=1, keepdims=True, where=present) / count
    left = np.where(present, rows - mean, 0.0)
    spread = np.max(np.abs(left), axis=1, keepdims=True, initial=0.0)
    return np.where(spread <= NOISE * np.abs(mean), 0.0, left)


def _zeroed(left: Array) -> Array:
    # What differs from 0 by rounding alone, of values whose squares sum to 1.
    return np.where(np.abs(left) <= 10 * NOISE, 0.0, left)


def _unit(values: Array) -> Array:
    length = float(np.sqrt(np.sum(values**2)))
    return values / length if length > 0 else values

"""Where an agreement lies: between systems, between documents, or within (text by text).

Arrays are system x document, NaN missing. A score is taken for a system's level plus a document's
level plus a rest that belongs to the one text: a metric that only knows who wrote a text agrees
with people between systems and nowhere else.
"""

import math
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from metassay.statistics.correlation import (
    EVERY_COEFFICIENT,
    TIE,
    Coefficient,
    Correlation,
    Level,
    correlate,
    in_turn,
    tied,
)
from metassay.statistics.exact_sums import NOISE, Array, Mask, mean_of_defined, quotient
from metassay.statistics.layout import FEWEST, Layout, Part

Component = Literal["between_systems", "between_documents", "within"]
Relation = Level | Component  # all that can be correlated between two such arrays

BETWEEN: tuple[Relation, ...] = ("system", "between_systems", "between_documents")  # of means
COMPONENTS: tuple[Component, ...] = ("between_systems", "between_documents", "within")
# What a level is made of: texts of one document differ by system and by text, not by document.
PARTS_OF_LEVEL: dict[Level, tuple[Component, ...]] = {
    "global": COMPONENTS,
    "document": ("between_systems", "within"),
    "system": ("between_systems",),
}
SWEEPS = 200  # rounds of centring rows and columns, where cells are missing
SETTLED = 1e-10  # centring stops when nothing moves by more, relative to the largest score


class VarianceComponents(NamedTuple):
    """Estimated variances of y = mean + system + document + rest; NaN where not estimable.

    An estimate may be negative: then the true one is small. Source: Searle, Casella and McCulloch
    1992, Variance Components, chapter 5 (Henderson's method 1; on a complete table the analysis of
    variance).
    """

    systems: float
    documents: float
    within: float


def correlate_at(
    metric: ArrayLike,
    human: ArrayLike,
    relation: Relation,
    coefficient: Coefficient,
    layout: Layout | None = None,
) -> Correlation:
    """`correlate` at a level, or of one component; with strata the mean of the strata's.

    - between_systems: of the systems' means, as at system level.
    - between_documents: of the documents' means.
    - within: of what is left of each text's score less its system's and its document's level, all
      texts pooled; Spearman ranks what is left.

    Strata count by what they rest on: texts (global, within), documents that have a coefficient
    (document), systems less 1 or documents less 1 (between their means; a stratum of fewer than
    `FEWEST` does not count there beside larger ones). n is the sum over the strata that count.
    """

    def of_these(a: Array, b: Array, present: Mask) -> Correlation:
        if layout is None or layout.n_strata == 1:
            return _correlate_at(a, b, present, relation, coefficient)
        each = [
            _correlate_at(part.of(a), part.of(b), part.of(present), relation, coefficient)
            for part in layout.parts(present)
        ]
        missing = np.sum(np.isfinite(a) != np.isfinite(b), axis=(1, 2))
        shape = len(each), len(a)
        values, n, undefined = (
            np.array([one[place] for one in each]).reshape(shape) for place in range(3)
        )
        weights = strata_weights(relation, n, values)
        total = weights.sum(axis=0)
        value = quotient(np.where(weights > 0, weights * values, 0.0).sum(axis=0), total, total > 0)
        n = np.where(weights > 0, n, 0).sum(axis=0, dtype=np.intp)
        return Correlation(value, n, undefined.sum(axis=0, dtype=np.intp), missing)

    return in_turn(of_these, metric, human)


def strata_weights(relation: Relation, n: ArrayLike, values: ArrayLike = 0.0) -> Array:
    """What strata count that rest on `n` texts, documents or systems; 0 where `values` are NaN."""
    weights = np.where(np.isnan(values), 0, np.asarray(n, dtype=np.float64))
    if relation not in BETWEEN:
        return weights
    enough = weights >= FEWEST
    counts = np.where(enough.any(axis=0), enough, weights > 1)
    return np.where(counts, weights - 1.0, 0.0)


def mean_over_strata(
    of: Callable[[Part], Array],
    size: int | tuple[int, ...],
    present: Mask,
    layout: Layout,
    level: Level,
) -> Array:
    """The strata's mean of the values of this shape that `of` gives for each; NaN counts nothing.

    `present` (systems, documents): the cells that have what is needed. NaN of nothing.
    """
    total, weight = np.zeros(size), np.zeros(size)
    parts = layout.parts(present)
    weights = strata_weights(level, [rests_on(part.of(present), level) for part in parts])
    for part, of_stratum in zip(parts, weights, strict=True):
        values = of(part)
        known = ~np.isnan(values)
        total += np.where(known, values, 0.0) * of_stratum
        weight += known * of_stratum
    return quotient(total, weight, weight > 0)


def rests_on(present: Mask, relation: Relation) -> Any:
    """How many texts, documents or systems there are to correlate, whatever their scores."""
    if relation in ("system", "between_systems"):
        return np.count_nonzero(present.any(axis=-1), axis=-1)
    if relation == "between_documents":
        return np.count_nonzero(present.any(axis=-2), axis=-1)
    if relation == "document":
        return np.count_nonzero(present.sum(axis=-2) > 1, axis=-1)
    return np.count_nonzero(present, axis=(-2, -1))


def _correlate_at(
    a: Array, b: Array, present: Mask, relation: Relation, coefficient: Coefficient
) -> Correlation:
    if relation in ("global", "document", "system"):
        return correlate(a, b, relation, coefficient)
    if relation == "within":
        x, y = (double_centred(np.where(present, side, np.nan)) for side in (a, b))
        found = correlate(x, y, "global", coefficient)
        return found._replace(n_missing=np.sum(np.isfinite(a) != np.isfinite(b), axis=(1, 2)))
    if relation == "between_documents":
        a, b = a.mT, b.mT
    return correlate(a, b, "system", coefficient)


def value_at(metric: Array, human: Array, relation: Relation, coefficient: Coefficient) -> Any:
    """The value of `correlate_at` alone, without what it costs to count and to test."""
    of = EVERY_COEFFICIENT[coefficient]
    if relation == "document":
        return mean_of_defined(of(metric.mT, human.mT))
    if relation == "global":
        x, y = (side.reshape(*side.shape[:-2], -1) for side in (metric, human))
        return of(x, y)[()]
    return correlate_at(metric, human, relation, coefficient).value


def double_centred(scores: Array) -> Array:
    """What is left of each score less its row's and its column's level; NaN stays.

    Matrices (..., systems, documents) have the same cells. Where cells are missing, levels are
    fitted by least squares (rows and columns centred in turn).
    Where no document has two texts, a document's level is its text's own, and only the systems'
    levels are taken out. What differs from 0 by rounding alone is 0.
    """
    each = scores.reshape(math.prod(scores.shape[:-2]), *scores.shape[-2:])
    present = np.isfinite(each[0])
    left = np.where(present, each, 0.0)
    size = np.max(np.abs(left), axis=(1, 2), keepdims=True, initial=0.0)
    nested = bool(np.all(present.sum(axis=0) <= 1))
    sweeps = 1 if present.all() or nested else SWEEPS
    moving = np.arange(len(left))
    for _ in range(sweeps):
        some = left if moving.size == len(left) else left[moving]
        moved = _centre(some, present, 2)
        if not nested:
            moved = np.maximum(moved, _centre(some, present, 1))
        left[moving] = some
        moving = moving[moved > SETTLED * size[moving, 0, 0]]
        if not moving.size:
            break
    left[np.abs(left) <= max(10 * NOISE, 0.0 if sweeps == 1 else 10 * SETTLED) * size] = 0.0
    # Rests of equal scores differ by rounding only; ranks must not see that.
    flat = tied(left.reshape(len(left), -1), tolerance=TIE * size[:, 0])
    return np.where(present, flat.reshape(left.shape), np.nan).reshape(scores.shape)


def _centre(left: Array, present: Mask, axis: int) -> Array:
    # Takes each row's (column's) mean out, in place; the largest mean taken, of each matrix.
    count = np.maximum(np.sum(present, axis=axis - 1, keepdims=True), 1)
    mean = np.sum(left, axis=axis, keepdims=True) / count
    left -= np.where(present, mean, 0.0)
    return np.asarray(np.max(np.abs(mean), axis=(1, 2), initial=0.0))


def variance_components(scores: ArrayLike) -> VarianceComponents:
    """How much of the scores' variance is the systems', the documents' and the texts' own.

    Missing cells are allowed. NaN throughout with fewer than two systems, two documents, or no
    degree of freedom left for the rest.
    """
    y = np.asarray(scores, dtype=np.float64)
    present = np.isfinite(y)
    rows, columns = present.sum(axis=1), present.sum(axis=0)
    present, y = present[rows > 0][:, columns > 0], y[rows > 0][:, columns > 0]
    rows, columns = rows[rows > 0], columns[columns > 0]
    n, s, d = int(present.sum()), rows.size, columns.size
    if s < 2 or d < 2 or n - s - d + 1 < 1:
        return VarianceComponents(np.nan, np.nan, np.nan)
    known = np.where(present, y - np.mean(y[present]), 0.0)
    # A constant's mean may be a rounding error off; shares of that would be shares of nothing.
    known[np.abs(known) <= NOISE * float(np.max(np.abs(y[present])))] = 0.0
    of_rows = float(np.sum(known.sum(axis=1) ** 2 / rows))
    of_columns = float(np.sum(known.sum(axis=0) ** 2 / columns))
    total = float(np.sum(known**2))
    k_rows, k_columns = float(np.sum(rows**2)) / n, float(np.sum(columns**2)) / n
    # Expected sums of squares, in the order systems, documents, within.
    expected = np.array(
        [
            [n - k_rows, s - k_columns, s - 1.0],
            [d - k_rows, n - k_columns, d - 1.0],
            [n - k_rows, n - k_columns, n - 1.0],
        ]
    )
    return VarianceComponents(*_solve(np.column_stack((expected, [of_rows, of_columns, total]))))


def _solve(equations: Array) -> list[float]:
    """The unknowns of as many equations, (n, n + 1); NaN where they do not tell.

    By elimination, as LAPACK rounds in an order that depends on the processor and its threads.
    """
    left = equations.copy()
    n = len(left)
    for column in range(n):
        pivot = column + int(np.argmax(np.abs(left[column:, column])))
        left[[column, pivot]] = left[[pivot, column]]
        if np.abs(left[column, column]) <= NOISE * np.max(np.abs(equations[:, :n])):
            return [np.nan] * n
        left[column] /= left[column, column]
        for row in range(n):
            if row != column:
                left[row] -= left[row, column] * left[column]
    return [float(value) for value in left[:, n]]

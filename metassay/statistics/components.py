"""Correlations between systems, between documents, and within both (of single texts).

Arrays are system x document, NaN missing. A score is modelled as a system's level plus
a document's level plus the text's residual: a metric that only recognises the system
agrees with people between systems and nowhere else.
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
    map_cells,
    tie_near,
)
from metassay.statistics.exact_sums import NOISE, Array, Mask, mean_of_defined, quotient
from metassay.statistics.layout import FEWEST, Layout, Part

Component = Literal["between_systems", "between_documents", "within"]
Relation = Level | Component  # everything that can be correlated

# of means
BETWEEN: tuple[Relation, ...] = ("system", "between_systems", "between_documents")
COMPONENTS: tuple[Component, ...] = ("between_systems", "between_documents", "within")
# The components of a level: texts of a document differ by system and text, not by
# document.
PARTS_OF_LEVEL: dict[Level, tuple[Component, ...]] = {
    "global": COMPONENTS,
    "document": ("between_systems", "within"),
    "system": ("between_systems",),
}
SWEEPS = 200  # rounds of centring rows and columns, where cells are missing
SETTLED = 1e-10  # centring stops at smaller changes, relative to the largest score


class VarianceComponents(NamedTuple):
    """Estimated variances of y = mean + system + document + rest; NaN where not estimable.

    An estimate can be negative: then the true variance is small. Source: Searle,
    Casella and McCulloch 1992, Variance Components, chapter 5 (Henderson's method 1; on
    a complete table the analysis of variance).
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
    """Compute `correlate` at a level or of a component; with strata, the mean over strata.

    - between_systems: of the systems' means, as at system level.
    - between_documents: of the documents' means.
    - within: of the texts' residuals (scores less their system's and document's level),
      pooled; Spearman ranks the residuals.

    Strata are weighted by their numbers of texts (global, within), of documents with a
    coefficient (document), or of systems or documents less 1 (between means; there a
    stratum of fewer than `FEWEST` has weight 0 if others are larger). n is the sum over
    the strata with weight.
    """

    def correlate_group(a: Array, b: Array, present: Mask) -> Correlation:
        if layout is None or layout.n_strata == 1:
            return _correlate_at(a, b, present, relation, coefficient)
        strata = [
            _correlate_at(
                part.select(a),
                part.select(b),
                part.select(present),
                relation,
                coefficient,
            )
            for part in layout.parts(present)
        ]
        missing = np.sum(np.isfinite(a) != np.isfinite(b), axis=(1, 2))
        shape = len(strata), len(a)
        values, n, undefined = (
            np.array([stratum[place] for stratum in strata]).reshape(shape)
            for place in range(3)
        )
        weights = strata_weights(relation, n, values)
        total = weights.sum(axis=0)
        value = quotient(
            np.where(weights > 0, weights * values, 0.0).sum(axis=0), total, total > 0
        )
        n = np.where(weights > 0, n, 0).sum(axis=0, dtype=np.intp)
        return Correlation(value, n, undefined.sum(axis=0, dtype=np.intp), missing)

    return map_cells(correlate_group, metric, human)


def strata_weights(relation: Relation, n: ArrayLike, values: ArrayLike = 0.0) -> Array:
    """Return weights of strata with `n` texts, documents or systems; 0 where `values` are NaN."""
    weights = np.where(np.isnan(values), 0, np.asarray(n, dtype=np.float64))
    if relation not in BETWEEN:
        return weights
    large = weights >= FEWEST
    counts = np.where(large.any(axis=0), large, weights > 1)
    return np.where(counts, weights - 1.0, 0.0)


def mean_over_strata(
    of: Callable[[Part], Array],
    size: int | tuple[int, ...],
    present: Mask,
    layout: Layout,
    level: Level,
) -> Array:
    """Return the weighted mean over strata of the values of shape `size` that `of` returns.

    `present` (systems, documents): the cells with all scores. NaN is left out; NaN if
    all are.
    """
    total, weight = np.zeros(size), np.zeros(size)
    parts = layout.parts(present)
    weights = strata_weights(
        level, [rests_on(part.select(present), level) for part in parts]
    )
    for part, stratum_weight in zip(parts, weights, strict=True):
        values = of(part)
        defined = ~np.isnan(values)
        total += np.where(defined, values, 0.0) * stratum_weight
        weight += defined * stratum_weight
    return quotient(total, weight, weight > 0)


def rests_on(present: Mask, relation: Relation) -> Any:
    """Count the texts, documents or systems to correlate."""
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
        x, y = (double_centre(np.where(present, side, np.nan)) for side in (a, b))
        correlation = correlate(x, y, "global", coefficient)
        return correlation._replace(
            n_missing=np.sum(np.isfinite(a) != np.isfinite(b), axis=(1, 2))
        )
    if relation == "between_documents":
        a, b = a.mT, b.mT
    return correlate(a, b, "system", coefficient)


def value_at(
    metric: Array, human: Array, relation: Relation, coefficient: Coefficient
) -> Any:
    """Compute only the value of `correlate_at`, without its counts and checks: faster."""
    of = EVERY_COEFFICIENT[coefficient]
    if relation == "document":
        return mean_of_defined(of(metric.mT, human.mT))
    if relation == "global":
        x, y = (side.reshape(*side.shape[:-2], -1) for side in (metric, human))
        return of(x, y)[()]
    return correlate_at(metric, human, relation, coefficient).value


def double_centre(scores: Array) -> Array:
    """Subtract each score's row and column level; NaN stays.

    Matrices (..., systems, documents) have the same cells. Where cells are missing,
    levels are fitted by least squares (rows and columns centred in turn). Where no
    document has two texts, only the systems' levels are subtracted. Rounding errors
    become 0.
    """
    matrices = scores.reshape(math.prod(scores.shape[:-2]), *scores.shape[-2:])
    present = np.isfinite(matrices[0])
    rests = np.where(present, matrices, 0.0)
    size = np.max(np.abs(rests), axis=(1, 2), keepdims=True, initial=0.0)
    nested = bool(np.all(present.sum(axis=0) <= 1))
    sweeps = 1 if present.all() or nested else SWEEPS
    active = np.arange(len(rests))
    for _ in range(sweeps):
        current = rests if active.size == len(rests) else rests[active]
        shift = _centre(current, present, 2)
        if not nested:
            shift = np.maximum(shift, _centre(current, present, 1))
        rests[active] = current
        active = active[shift > SETTLED * size[active, 0, 0]]
        if not active.size:
            break
    rests[
        np.abs(rests) <= max(10 * NOISE, 0.0 if sweeps == 1 else 10 * SETTLED) * size
    ] = 0.0
    # Residuals of equal scores differ by rounding only, which ranks must ignore.
    flat = tie_near(rests.reshape(len(rests), -1), tolerance=TIE * size[:, 0])
    return np.where(present, flat.reshape(rests.shape), np.nan).reshape(scores.shape)


def _centre(values: Array, present: Mask, axis: int) -> Array:
    # Subtracts each row's (column's) mean in place; returns each matrix's largest mean.
    count = np.maximum(np.sum(present, axis=axis - 1, keepdims=True), 1)
    mean = np.sum(values, axis=axis, keepdims=True) / count
    values -= np.where(present, mean, 0.0)
    return np.asarray(np.max(np.abs(mean), axis=(1, 2), initial=0.0))


def variance_components(scores: ArrayLike) -> VarianceComponents:
    """Estimate the variance of the scores between systems, between documents and within.

    Missing cells are allowed. All NaN with fewer than two systems or documents, or
    without a degree of freedom for the rest.
    """
    y = np.asarray(scores, dtype=np.float64)
    present = np.isfinite(y)
    rows, columns = present.sum(axis=1), present.sum(axis=0)
    present, y = present[rows > 0][:, columns > 0], y[rows > 0][:, columns > 0]
    rows, columns = rows[rows > 0], columns[columns > 0]
    n, s, d = int(present.sum()), rows.size, columns.size
    if s < 2 or d < 2 or n - s - d + 1 < 1:
        return VarianceComponents(np.nan, np.nan, np.nan)
    centred = np.where(present, y - np.mean(y[present]), 0.0)
    # The mean of a constant can have a rounding error, which is no variance.
    centred[np.abs(centred) <= NOISE * float(np.max(np.abs(y[present])))] = 0.0
    of_rows = float(np.sum(centred.sum(axis=1) ** 2 / rows))
    of_columns = float(np.sum(centred.sum(axis=0) ** 2 / columns))
    total = float(np.sum(centred**2))
    k_rows, k_columns = float(np.sum(rows**2)) / n, float(np.sum(columns**2)) / n
    # Expected sums of squares, in the order systems, documents, within.
    expected = np.array(
        [
            [n - k_rows, s - k_columns, s - 1.0],
            [d - k_rows, n - k_columns, d - 1.0],
            [n - k_rows, n - k_columns, n - 1.0],
        ]
    )
    return VarianceComponents(
        *_solve(np.column_stack((expected, [of_rows, of_columns, total])))
    )


def _solve(equations: Array) -> list[float]:
    """Solve linear equations (n, n + 1); NaN where singular.

    By elimination, since LAPACK rounds in an order that depends on processor and
    threads.
    """
    rows = equations.copy()
    n = len(rows)
    for column in range(n):
        pivot = column + int(np.argmax(np.abs(rows[column:, column])))
        rows[[column, pivot]] = rows[[pivot, column]]
        if np.abs(rows[column, column]) <= NOISE * np.max(np.abs(equations[:, :n])):
            return [np.nan] * n
        rows[column] /= rows[column, column]
        for row in range(n):
            if row != column:
                rows[row] -= rows[row, column] * rows[column]
    return [float(value) for value in rows[:, n]]

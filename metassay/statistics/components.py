"""Where an agreement lies: between systems, between documents, or within (text by text).

Arrays are system x document, NaN missing. A score is taken for a system's level plus a document's
level plus a rest that belongs to the one text: a metric that only knows who wrote a text agrees
with people between systems and nowhere else.
"""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from metassay.statistics.arithmetic import NOISE, Array, Mask
from metassay.statistics.correlation import (
    EVERY_COEFFICIENT,
    TIE,
    Coefficient,
    Correlation,
    Level,
    correlate,
    matrices,
    tied,
)

Component = Literal["between_systems", "between_documents", "within"]
Relation = Level | Component  # all that can be correlated between two such arrays

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
    metric: ArrayLike, human: ArrayLike, relation: Relation, coefficient: Coefficient
) -> Correlation:
    """`correlate` at a level, or of one component.

    - between_systems: of the systems' means, as at system level.
    - between_documents: of the documents' means.
    - within: of what is left of each text's score less its system's and its document's level, all
      texts pooled; Spearman ranks what is left.
    """
    if relation in ("global", "document", "system"):
        return correlate(metric, human, relation, coefficient)
    a, b, present = matrices(metric, human)
    if relation == "between_systems":
        return correlate(a, b, "system", coefficient)
    if relation == "between_documents":
        return correlate(a.T, b.T, "system", coefficient)
    rest_a, rest_b = (double_centred(np.where(present, side, np.nan)) for side in (a, b))
    found = correlate(rest_a, rest_b, "global", coefficient)
    return found._replace(n_missing=int(np.sum(np.isfinite(a) != np.isfinite(b))))


def value_at(metric: Array, human: Array, relation: Relation, coefficient: Coefficient) -> float:
    """The value of `correlate_at` alone, without what it costs to count and to test."""
    of = EVERY_COEFFICIENT[coefficient]
    if relation == "document":
        values = of(metric.T, human.T)
        defined = values[~np.isnan(values)]
        return float(np.mean(defined)) if defined.size else np.nan
    if relation == "global":
        return float(of(metric.ravel(), human.ravel()))
    return correlate_at(metric, human, relation, coefficient).value


def double_centred(scores: Array) -> Array:
    """What is left of each score less its row's and its column's level; NaN stays.

    Where cells are missing, levels are fitted by least squares (rows and columns centred in turn).
    Where no document has two texts, a document's level is its text's own, and only the systems'
    levels are taken out. What differs from 0 by rounding alone is 0.
    """
    present = np.isfinite(scores)
    left = np.where(present, scores, 0.0)
    size = float(np.max(np.abs(left), initial=0.0))
    nested = bool(np.all(present.sum(axis=0) <= 1))
    sweeps = 1 if present.all() or nested else SWEEPS
    for _ in range(sweeps):
        moved = _centre(left, present, 1)
        moved = max(moved, 0.0 if nested else _centre(left, present, 0))
        if moved <= SETTLED * size:
            break
    left[np.abs(left) <= max(10 * NOISE, 0.0 if sweeps == 1 else 10 * SETTLED) * size] = 0.0
    # Rests of equal scores differ by rounding only; ranks must not see that.
    flat: Array = tied(left.ravel(), tolerance=TIE * size).reshape(left.shape)
    return np.where(present, flat, np.nan)


def _centre(left: Array, present: Mask, axis: int) -> float:
    # Takes each row's (column's) mean out, in place; the largest mean taken.
    count = np.maximum(np.sum(present, axis=axis, keepdims=True), 1)
    mean = np.sum(left, axis=axis, keepdims=True) / count
    left -= np.where(present, mean, 0.0)
    return float(np.max(np.abs(mean), initial=0.0))


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
    found = np.linalg.lstsq(expected, np.array([of_rows, of_columns, total]), rcond=None)[0]
    return VarianceComponents(*(float(value) for value in found))

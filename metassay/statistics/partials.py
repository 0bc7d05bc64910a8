"""Does a metric measure quality, or copying, length, or which system wrote the text?

Partial correlations given a confound, or the system, at each level; and correlations on
the texts that copy least. A metric's correlation with coverage, density or length is
`correlation.correlate(metric, coverage, ...)`.

Arrays are system x document, NaN missing; only texts that have metric, people and
control count. Several metrics are an array with axes before these two, and results have
the same axes. There are two different partial rank correlations: ranks first (rank,
then partial out) and residuals first (partial out, then rank). For Pearson they are the
same.
"""

import hashlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.special
from numpy.typing import ArrayLike

from metassay.statistics.components import correlate_at, mean_over_strata, value_at
from metassay.statistics.correlation import (
    Coefficient,
    Correlation,
    Level,
    map_cells,
    matrices,
    system_means,
)
from metassay.statistics.exact_sums import (
    NOISE,
    Array,
    Mask,
    mean_without_gaps,
    quotient,
    rankdata,
)
from metassay.statistics.jackknife import LeaveOneOut, leave_out
from metassay.statistics.layout import Layout, Part

_DEPENDENT = 1e-9  # a column with a smaller residual is a combination of the others


def most_abstractive(
    metric: ArrayLike,
    human: ArrayLike,
    coverage: ArrayLike,
    level: Level,
    coefficient: Coefficient,
    *,
    share: float,
    layout: Layout | None = None,
) -> Correlation:
    """Compute `correlate_at` on the `share` (0 to 1] of items that copy least, by coverage.

    The share is of the items with metric, human and coverage; ties with the last item
    are included. Source: Adams et al. 2023, A meta-evaluation of faithfulness metrics
    for long-form hospital-course summarization. Raises ValueError for another share, or
    shapes that differ.
    """
    if not 0 < share <= 1:
        raise ValueError(f"expected a share above 0 and up to 1, got {share}")
    copied = matrices(coverage, human)[0]

    def correlate_group(a: Array, b: Array, present: Mask) -> Correlation:
        complete = present & np.isfinite(copied)
        coverages = np.sort(copied[complete])
        n_items = int(np.ceil(share * coverages.size - 1e-9))
        cutoff = coverages[n_items - 1] if n_items else -np.inf
        selected = complete & (
            np.where(complete, copied, np.inf) <= cutoff + NOISE * abs(cutoff)
        )
        x, y = (np.where(selected, side, np.nan) for side in (a, b))
        scored = np.isfinite(a) | np.isfinite(b)
        missing = np.count_nonzero(scored & ~complete, axis=(1, 2))
        return correlate_at(x, y, level, coefficient, layout)._replace(
            n_missing=missing
        )

    return map_cells(correlate_group, metric, human)


def partial(
    metric: ArrayLike,
    human: ArrayLike,
    control: ArrayLike,
    level: Level,
    coefficient: Coefficient,
    layout: Layout | None = None,
) -> LeaveOneOut:
    """Return the ranks-first partial correlation given a number per text (coverage, length).

    (r_mh - r_mc r_hc) / sqrt((1 - r_mc**2) (1 - r_hc**2)) of the three correlations at
    a level: pooled, means over documents, or between systems. For Kendall the same
    formula of taus (Kendall 1942, Partial rank correlation). NaN if undefined, or if
    the control fully explains a side. Raises ValueError for tau-c, which has no
    partial.
    """
    if coefficient == "kendall_c":
        raise ValueError("tau-c has no partial correlation; ask for kendall")
    a, b, c = _trio(metric, human, control)
    three = (
        leave_out(x, y, level, coefficient, layout) for x, y in ((a, b), (a, c), (b, c))
    )
    return partial_of(*three)


def partial_of(
    of_both: LeaveOneOut, of_metric: LeaveOneOut, of_human: LeaveOneOut
) -> LeaveOneOut:
    """Compute `partial` from three correlations on the same texts."""
    three = of_both, of_metric, of_human
    value, systems, documents = (
        _partial(*(np.asarray(x[i]) for x in three)) for i in range(3)
    )
    return of_both._replace(value=value[()], systems=systems, documents=documents)


def partial_given_system(
    metric: ArrayLike,
    human: ArrayLike,
    level: Level,
    coefficient: Coefficient,
    layout: Layout | None = None,
) -> tuple[LeaveOneOut, Any]:
    """Return the partial correlation given the system, of both sides less their system's mean.

    Also returns the number of texts. Spearman ranks first (all texts, or those of a
    document), Kendall subtracts the systems' means first. Systems with a single text
    are left out. Undefined at system level.
    """
    a, b, present = matrices(metric, human)
    present &= np.sum(present, axis=-1, keepdims=True) > 1
    a, b = np.where(present, a, np.nan), np.where(present, b, np.nan)
    n = np.count_nonzero(present, axis=(-2, -1))
    if level == "system":
        empty = np.empty((*a.shape[:-2], 0))
        return LeaveOneOut(np.full(a.shape[:-2], np.nan)[()], empty, empty), n
    statistic = coefficient
    if coefficient == "spearman":
        a, b, statistic = _rank(a, level), _rank(b, level), "pearson"
    return leave_out(less_system(a), less_system(b), level, statistic, layout), n


class Rests(NamedTuple):
    """Residuals of metrics and people given a control, on the texts that have all three."""

    metric: Array  # (metrics, systems, documents)
    human: Array
    n: Array  # (metrics,) texts


def rests_of_any_shape(
    metrics: Array, human: Array, control: Array, less: Callable[[Array], Array]
) -> Rests:
    """Return the residuals by `less_any_shape` of each metric, and of people on the same texts.

    Where metric and people depend on the control, by curves of any shape, and are
    otherwise independent, their residuals are uncorrelated at every level. Leave-outs
    are of the residuals: the curves are not fitted again. For rank coefficients the
    ranks of all texts are fitted. `less`: the `shape_remover` of this control.
    """
    complete = np.isfinite(metrics) & np.isfinite(human) & np.isfinite(control)
    of_metric, of_people = np.empty((2, *metrics.shape))
    for place, metric in enumerate(metrics):
        of_metric[place] = less(np.where(complete[place], metric, np.nan))
        of_people[place] = less(np.where(complete[place], human, np.nan))
    return Rests(of_metric, of_people, np.count_nonzero(complete, axis=(1, 2)))


def shape_remover(
    control: Array, coefficient: Coefficient, layout: Layout
) -> Callable[[Array], Array]:
    """Return `less_any_shape` for this control, with a cache: each side is fitted once."""
    cache: dict[bytes, Array] = {}

    def less(side: Array) -> Array:
        side = np.where(np.isfinite(side), side, np.nan)  # NaN has several bit patterns
        key = hashlib.sha256(side.tobytes()).digest()
        if key not in cache:
            cache[key] = less_any_shape(side, control, coefficient, layout)
        return cache[key]

    return less


def less_any_shape(
    side: ArrayLike, control: ArrayLike, coefficient: Coefficient, layout: Layout
) -> Array:
    """Subtract from each score its fit by the control, a curve of any shape; per stratum.

    First subtracts the best monotone steps, up or down (isotonic regression), which fit
    thresholds and saturation; then a natural cubic spline (five degrees of freedom) of
    the control's normal scores, which fits a U. NaN where side or control is missing.
    Sources: Barlow et al. 1972, Statistical inference under order restrictions; Hastie
    et al. 2009, The elements of statistical learning, 5.2.1.
    """
    y, c, present = matrices(side, control)
    rests = np.full(y.shape, np.nan)
    for part in layout.parts(present):
        cells = part.select(present)
        x, values = part.select(c)[cells], part.select(y)[cells]
        if not values.size:
            continue
        if coefficient != "pearson":
            values = rankdata(values)
        rest = np.full(cells.shape, np.nan)
        rest[cells] = _clear_rounding(_less_curve(values - np.mean(values), x), values)
        rests[part.rows[:, None], part.columns] = rest
    return rests


def _less_curve(values: Array, control: Array) -> Array:
    _, level, count = np.unique(control, return_inverse=True, return_counts=True)
    means = np.bincount(level, values) / count
    counts = count.astype(np.float64)
    rising = _isotonic(means, counts)[level]
    falling = _isotonic(means[::-1], counts[::-1])[::-1][level]
    curves = [rising, falling]
    rest = min(
        (values - curve for curve in curves), key=lambda rest: float(np.sum(rest**2))
    )
    basis = _natural_spline(
        scipy.special.ndtri((rankdata(control) - 0.5) / control.size)
    )
    return _less_columns(rest, basis)


def _isotonic(values: Array, weights: Array) -> Array:
    # The closest values that never fall, by weighted squares: neighbours that fall are
    # pooled to their mean. scipy.optimize.isotonic_regression, to the last bit; that
    # takes half a second to import. Source: Busing 2022, Monotone regression, J. Stat.
    # Softw. 102, code snippet 1.
    n = values.size
    x, w = values.tolist(), weights.tolist()
    means, sizes, starts = x[:1], w[:1], [0]  # of blocks
    i = 0
    while (i := i + 1) < n:
        start, mean, size = i, x[i], w[i]
        if means[-1] >= mean:
            start = starts.pop()
            before, others = means.pop(), sizes.pop()
            total = others * before + size * mean
            size += others
            mean = total / size
            while i < n - 1 and mean >= x[i + 1]:
                i += 1
                total += w[i] * x[i]
                size += w[i]
                mean = total / size
            while means and means[-1] >= mean:
                start = starts.pop()
                others = sizes.pop()
                total += others * means.pop()
                size += others
                mean = total / size
        means.append(mean)
        sizes.append(size)
        starts.append(start)
    return np.repeat(np.array(means), np.diff(starts, append=n))


def _less_columns(values: Array, basis: Array) -> Array:
    # Least-squares residuals of values on the columns of basis, by Gram and Schmidt:
    # LAPACK rounds in an order that depends on the processor, which ranks of residuals
    # would show. Each column is made orthogonal twice, which is as exact as LAPACK.
    directions: list[Array] = []
    remaining = values
    for column in basis.T:
        rest = column
        for direction in 2 * directions:
            rest = rest - np.sum(direction * rest) * direction
        size = np.sqrt(np.sum(rest * rest))
        if size > _DEPENDENT * np.sqrt(np.sum(column * column)):
            directions.append(rest / size)
            remaining = remaining - np.sum(directions[-1] * remaining) * directions[-1]
    return remaining


def _natural_spline(x: Array) -> Array:
    # (n, 6): a constant and five functions that are cubic between six quantiles.
    knots = np.quantile(x, np.linspace(0.0, 1.0, 6))
    last, before = knots[-1], knots[-2]

    def bend(knot: float) -> Array:
        if last <= knot:
            return np.zeros_like(x)
        above, beyond = np.maximum(x - knot, 0.0), np.maximum(x - last, 0.0)
        # Products, not powers, which processors round differently.
        return np.asarray(
            (above * above * above - beyond * beyond * beyond) / (last - knot)
        )

    return np.stack(
        [np.ones_like(x), x, *(bend(k) - bend(before) for k in knots[:-2])], axis=1
    )


def residuals_first(
    metric: ArrayLike,
    human: ArrayLike,
    control: ArrayLike | None,
    level: Level,
    layout: Layout | None = None,
) -> float:
    """Return Spearman's partial of residuals given the control; None: given the system.

    The control is fitted by least squares: over all texts, over the texts less their
    document's means, or over the systems' means. With strata, each is fitted and their
    mean returned. NaN if undefined.
    """
    if layout is None or layout.n_strata == 1:
        return float(_residuals_first(metric, human, control, level))
    sides = (metric, human) if control is None else (metric, human, control)
    arrays = [np.asarray(side, dtype=np.float64) for side in sides]
    present = np.all(np.isfinite(arrays), axis=0)

    def residuals_of_stratum(part: Part) -> Array:
        a, b, *c = (part.select(side) for side in arrays)
        return np.array([_residuals_first(a, b, c[0] if c else None, level)])

    return float(mean_over_strata(residuals_of_stratum, 1, present, layout, level)[0])


def _residuals_first(
    metric: ArrayLike, human: ArrayLike, control: ArrayLike | None, level: Level
) -> Any:
    if control is None:
        a, b, present = matrices(metric, human)
        a, b = (less_system(np.where(present, side, np.nan)) for side in (a, b))
        return np.nan if level == "system" else value_at(a, b, level, "spearman")
    a, b, c = _trio(metric, human, control)
    if level == "system":
        ones = np.ones((1, a.shape[1]))
        x, z = (mean.T for mean in system_means(a, c, ones))
        y = system_means(b, c, ones)[0].T
        return value_at(_residuals(x, z), _residuals(y, z), "global", "spearman")
    if level == "document":
        a, b, c = (side - mean_without_gaps(side) for side in (a, b, c))
    return value_at(_residuals(a, c), _residuals(b, c), level, "spearman")


def less_system(scores: Array) -> Array:
    """Subtract each system's mean from its scores; rounding errors become 0."""
    rests = scores - mean_without_gaps(scores, axis=-1, keepdims=True)
    return _clear_rounding(rests, np.where(np.isfinite(scores), scores, 0.0))


def _partial(with_people: Array, metric: Array, people: Array) -> Array:
    rest = (1.0 - metric**2) * (1.0 - people**2)
    size = np.sqrt(np.maximum(rest, NOISE))
    return np.clip(
        quotient(with_people - metric * people, size, rest > NOISE), -1.0, 1.0
    )


def _trio(
    metric: ArrayLike, human: ArrayLike, control: ArrayLike
) -> tuple[Array, Array, Array]:
    a, b, present = matrices(metric, human)
    c, _, controlled = matrices(control, b)
    a, b, c = (np.where(present & controlled, side, np.nan) for side in (a, b, c))
    return a, b, c


def _rank(scores: Array, level: Level) -> Array:
    if level == "document":
        return rankdata(scores, axis=-2, nan_policy="omit")
    rows = scores.reshape(*scores.shape[:-2], -1)
    return rankdata(rows, axis=-1, nan_policy="omit").reshape(scores.shape)


def _residuals(side: Array, control: Array) -> Array:
    present = np.isfinite(side)
    if not present.any():
        return side
    values, x = side[present], control[present]
    deviation = x - np.mean(x)
    size = float(np.sum(deviation**2))
    slope = float(np.sum(deviation * values)) / size if size > 0 else 0.0
    rests = np.full(side.shape, np.nan)
    rests[present] = _clear_rounding(
        values - np.mean(values) - slope * deviation, values
    )
    return rests


def _clear_rounding(rests: Array, of: Array) -> Array:
    # Residuals of a perfect fit are rounding errors, which must not correlate.
    axes = (-2, -1)[-of.ndim :]
    size = np.max(np.abs(of), axis=axes, keepdims=True, initial=0.0)
    return np.where(np.abs(rests) <= 10 * NOISE * size, 0.0, rests)

"""Is it quality that a metric sees, or copying, length, or who wrote the text?

What is left of a correlation when a confound, or the system, is held constant, at each level; and
the correlation on the texts that copy least. A metric's plain correlation with coverage, density or
length is `correlation.correlate(metric, coverage, ...)`.

Arrays are system x document, NaN missing; only texts that have metric, people and control count.
Many metrics are one array with axes before these two, and results have the same axes.
Rank correlations can be made partial in two ways that differ: ranks first (rank, then hold
constant) and residuals first (hold constant, then rank). Pearson has one.
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
    in_turn,
    matrices,
    system_means,
)
from metassay.statistics.exact_sums import NOISE, Array, Mask, mean_without_gaps, quotient, ranked
from metassay.statistics.jackknife import LeftOut, left_out
from metassay.statistics.layout import Layout, Part

_DEPENDENT = 1e-9  # a column of which no more is left is a combination of the others


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
    """`correlate_at` on the `share` (0 to 1] of the items that copy least, by coverage.

    The share is of the items that have metric, human and coverage; items that tie with the last
    one taken are taken too. Source: Adams et al. 2023, A meta-evaluation of faithfulness metrics
    for long-form hospital-course summarization. Raises ValueError for another share, or shapes
    that differ.
    """
    if not 0 < share <= 1:
        raise ValueError(f"want a share above 0 and up to 1, got {share}")
    copied = matrices(coverage, human)[0]

    def of_these(a: Array, b: Array, present: Mask) -> Correlation:
        there = present & np.isfinite(copied)
        known = np.sort(copied[there])
        taken = int(np.ceil(share * known.size - 1e-9))
        most = known[taken - 1] if taken else -np.inf
        least = there & (np.where(there, copied, np.inf) <= most + NOISE * abs(most))
        x, y = (np.where(least, side, np.nan) for side in (a, b))
        some = np.isfinite(a) | np.isfinite(b)
        missing = np.count_nonzero(some & ~there, axis=(1, 2))
        return correlate_at(x, y, level, coefficient, layout)._replace(n_missing=missing)

    return in_turn(of_these, metric, human)


class Partial(NamedTuple):
    """A partial correlation; `left` has its leave-outs, for an interval."""

    left: LeftOut
    n: Any  # int; texts that have all it needs
    n_missing: Any  # int; texts that have some of it but not all

    @property
    def value(self) -> Any:
        """True sign; NaN if undefined, or if the control explains one side wholly."""
        return self.left.value


def partial(
    metric: ArrayLike,
    human: ArrayLike,
    control: ArrayLike,
    level: Level,
    coefficient: Coefficient,
    layout: Layout | None = None,
) -> Partial:
    """Ranks-first partial correlation given a number per text (coverage, length), at a level.

    (r_mh - r_mc r_hc) / sqrt((1 - r_mc**2) (1 - r_hc**2)) of the three correlations at that level:
    pooled, means over documents, or between systems. For Kendall the same formula of taus (Kendall
    1942, Partial rank correlation). Raises ValueError for tau-c, which has no partial.
    """
    if coefficient == "kendall_c":
        raise ValueError("tau-c has no partial correlation; ask for kendall")
    a, b, c, n, missing = _trio(metric, human, control)
    three = (left_out(x, y, level, coefficient, layout) for x, y in ((a, b), (a, c), (b, c)))
    return Partial(given_control(*three), n, missing)


def given_control(of_both: LeftOut, of_metric: LeftOut, of_human: LeftOut) -> LeftOut:
    """`partial` of three correlations on the same texts: of both, and of each with the control."""
    three = of_both, of_metric, of_human
    value, systems, documents = (_given(*(np.asarray(one[i]) for one in three)) for i in range(3))
    return of_both._replace(value=value[()], systems=systems, documents=documents)


def partial_given_system(
    metric: ArrayLike,
    human: ArrayLike,
    level: Level,
    coefficient: Coefficient,
    layout: Layout | None = None,
) -> Partial:
    """What is left given who wrote the text: both sides less their system's mean.

    Spearman ranks first (all texts pooled, or those of one document), Kendall takes the systems'
    means away first. Systems with one text say nothing and drop out. Undefined at system level.
    """
    a, b, present = matrices(metric, human)
    missing = np.sum(np.isfinite(a) != np.isfinite(b), axis=(-2, -1))
    present &= np.sum(present, axis=-1, keepdims=True) > 1
    a, b = np.where(present, a, np.nan), np.where(present, b, np.nan)
    n = np.count_nonzero(present, axis=(-2, -1))
    if level == "system":
        nothing = np.empty((*a.shape[:-2], 0))
        return Partial(LeftOut(np.full(a.shape[:-2], np.nan)[()], nothing, nothing), n, missing)
    used = coefficient
    if coefficient == "spearman":
        a, b, used = _ranked(a, level), _ranked(b, level), "pearson"
    return Partial(left_out(less_system(a), less_system(b), level, used, layout), n, missing)


class Rests(NamedTuple):
    """What a control leaves of metrics and people, on the texts that have all three."""

    metric: Array  # (metrics, systems, documents)
    human: Array
    n: Array  # (metrics,) texts


def rests_of_any_shape(
    metrics: Array, human: Array, control: Array, less: Callable[[Array], Array]
) -> Rests:
    """What `less_any_shape` leaves of each metric, and of people beside it.

    Where metric and people each follow the control, whatever the shapes, and have nothing else in
    common, their rests correlate 0 but for chance, at every level. Leave-outs are of the rests: the
    shapes are not fitted again. Rank coefficients take the shape out of the ranks of all texts.
    `less`: of `shape_remover`, for this control.
    """
    there = np.isfinite(metrics) & np.isfinite(human) & np.isfinite(control)
    of_metric, of_people = np.empty((2, *metrics.shape))
    for place, metric in enumerate(metrics):
        of_metric[place] = less(np.where(there[place], metric, np.nan))
        of_people[place] = less(np.where(there[place], human, np.nan))
    return Rests(of_metric, of_people, np.count_nonzero(there, axis=(1, 2)))


def shape_remover(
    control: Array, coefficient: Coefficient, layout: Layout
) -> Callable[[Array], Array]:
    """`less_any_shape` of this control, which fits each side once however often it is asked."""
    known: dict[bytes, Array] = {}

    def less(side: Array) -> Array:
        side = np.where(np.isfinite(side), side, np.nan)  # NaN has more than one pattern of bits
        key = hashlib.sha256(side.tobytes()).digest()
        if key not in known:
            known[key] = less_any_shape(side, control, coefficient, layout)
        return known[key]

    return less


def less_any_shape(
    side: ArrayLike, control: ArrayLike, coefficient: Coefficient, layout: Layout
) -> Array:
    """Each score less what the control says of it, by a curve of any shape; per stratum.

    First the best monotone steps, up or down, are taken out (isotonic regression), which find
    thresholds and saturation; then of what is left a natural cubic spline, five degrees of freedom,
    of the control's normal scores, which finds a U. NaN where side or control is missing. Sources:
    Barlow et al. 1972, Statistical inference under order restrictions; Hastie et al. 2009, The
    elements of statistical learning, 5.2.1.
    """
    y, c, present = matrices(side, control)
    left = np.full(y.shape, np.nan)
    for part in layout.parts(present):
        there = part.of(present)
        given, known = part.of(c)[there], part.of(y)[there]
        if not known.size:
            continue
        if coefficient != "pearson":
            known = ranked(known)
        rest = np.full(there.shape, np.nan)
        rest[there] = _cleaned(_less_curve(known - np.mean(known), given), known)
        left[part.rows[:, None], part.columns] = rest
    return left


def _less_curve(values: Array, control: Array) -> Array:
    from scipy.optimize import isotonic_regression  # slow to import, as in exact_sums.ranked

    _, level, count = np.unique(control, return_inverse=True, return_counts=True)
    means = np.bincount(level, values) / count
    curves = [
        isotonic_regression(means, weights=count, increasing=up).x[level] for up in (True, False)
    ]
    left = min((values - one for one in curves), key=lambda rest: float(np.sum(rest**2)))
    basis = _natural_spline(scipy.special.ndtri((ranked(control) - 0.5) / control.size))
    return _less_columns(left, basis)


def _less_columns(values: Array, basis: Array) -> Array:
    # What least squares on the columns of basis leave of values, by Gram and Schmidt: LAPACK rounds
    # in an order that depends on the processor, and ranks of what is left would show it. Each
    # column is made orthogonal twice, which is as exact as LAPACK is.
    directions: list[Array] = []
    left = values
    for column in basis.T:
        rest = column
        for direction in 2 * directions:
            rest = rest - np.sum(direction * rest) * direction
        size = np.sqrt(np.sum(rest * rest))
        if size > _DEPENDENT * np.sqrt(np.sum(column * column)):
            directions.append(rest / size)
            left = left - np.sum(directions[-1] * left) * directions[-1]
    return left


def _natural_spline(x: Array) -> Array:
    # (n, 6): a constant and five functions that are cubic between six quantiles.
    knots = np.quantile(x, np.linspace(0.0, 1.0, 6))
    last, before = knots[-1], knots[-2]

    def bend(knot: float) -> Array:
        if last <= knot:
            return np.zeros_like(x)
        above, beyond = np.maximum(x - knot, 0.0), np.maximum(x - last, 0.0)
        # Products, not powers, which processors round differently.
        return np.asarray((above * above * above - beyond * beyond * beyond) / (last - knot))

    return np.stack([np.ones_like(x), x, *(bend(k) - bend(before) for k in knots[:-2])], axis=1)


def residuals_first(
    metric: ArrayLike,
    human: ArrayLike,
    control: ArrayLike | None,
    level: Level,
    layout: Layout | None = None,
) -> float:
    """Spearman's partial with the control taken out before ranking; `control` None: the system.

    A number is taken out by least squares: over all texts, over the texts less their document's
    means, or over the systems' means; with strata in each, and then the strata's mean is taken. NaN
    if undefined.
    """
    if layout is None or layout.n_strata == 1:
        return float(_residuals_first(metric, human, control, level))
    sides = (metric, human) if control is None else (metric, human, control)
    each = [np.asarray(side, dtype=np.float64) for side in sides]
    present = np.all(np.isfinite(each), axis=0)

    def of_stratum(part: Part) -> Array:
        a, b, *c = (part.of(side) for side in each)
        return np.array([_residuals_first(a, b, c[0] if c else None, level)])

    return float(mean_over_strata(of_stratum, 1, present, layout, level)[0])


def _residuals_first(
    metric: ArrayLike, human: ArrayLike, control: ArrayLike | None, level: Level
) -> Any:
    if control is None:
        a, b, present = matrices(metric, human)
        a, b = (less_system(np.where(present, side, np.nan)) for side in (a, b))
        return np.nan if level == "system" else value_at(a, b, level, "spearman")
    a, b, c, _, _ = _trio(metric, human, control)
    if level == "system":
        once = np.ones((1, a.shape[1]))
        x, z = (mean.T for mean in system_means(a, c, once))
        y = system_means(b, c, once)[0].T
        return value_at(_less(x, z), _less(y, z), "global", "spearman")
    if level == "document":
        a, b, c = (side - mean_without_gaps(side) for side in (a, b, c))
    return value_at(_less(a, c), _less(b, c), level, "spearman")


def less_system(scores: Array) -> Array:
    """Each score less its system's mean; what is a rounding error from 0 is 0."""
    left = scores - mean_without_gaps(scores, axis=-1, keepdims=True)
    return _cleaned(left, np.where(np.isfinite(scores), scores, 0.0))


def _given(with_people: Array, metric: Array, people: Array) -> Array:
    rest = (1.0 - metric**2) * (1.0 - people**2)
    size = np.sqrt(np.maximum(rest, NOISE))
    return np.clip(quotient(with_people - metric * people, size, rest > NOISE), -1.0, 1.0)


def _trio(
    metric: ArrayLike, human: ArrayLike, control: ArrayLike
) -> tuple[Array, Array, Array, Any, Any]:
    a, b, present = matrices(metric, human)
    c, _, controlled = matrices(control, b)
    some = np.isfinite(a) | np.isfinite(b)
    whole = present & controlled
    sides = (np.where(whole, side, np.nan) for side in (a, b, c))
    return *sides, *(np.count_nonzero(one, axis=(-2, -1)) for one in (whole, some & ~whole))


def _ranked(scores: Array, level: Level) -> Array:
    if level == "document":
        return ranked(scores, axis=-2, nan_policy="omit")
    rows = scores.reshape(*scores.shape[:-2], -1)
    return ranked(rows, axis=-1, nan_policy="omit").reshape(scores.shape)


def _less(side: Array, control: Array) -> Array:
    present = np.isfinite(side)
    if not present.any():
        return side
    known, given = side[present], control[present]
    moved = given - np.mean(given)
    size = float(np.sum(moved**2))
    slope = float(np.sum(moved * known)) / size if size > 0 else 0.0
    left = np.full(side.shape, np.nan)
    left[present] = _cleaned(known - np.mean(known) - slope * moved, known)
    return left


def _cleaned(left: Array, of: Array) -> Array:
    # The rest of what is explained wholly is rounding, and must not correlate.
    axes = (-2, -1)[-of.ndim :]
    size = np.max(np.abs(of), axis=axes, keepdims=True, initial=0.0)
    return np.where(np.abs(left) <= 10 * NOISE * size, 0.0, left)

"""Intervals of correlations for new systems and new documents, of one metric and of many at once.

Systems and documents are both samples. The variance is the sum of two: that of leaving
out a system, and that of leaving out a document (or one of 20 groups of documents).
Noise of a single text counts in both, so the interval errs on the wide side. A
bootstrap of so few systems fails: four systems drawn with replacement are often two,
whose correlation is 1 or -1. Sources: Efron and Stein 1981, The jackknife estimate of
variance; Owen 2007, The pigeonhole bootstrap (crossed random effects); degrees of
freedom by Satterthwaite 1946. Coverage is simulated in tests/calibration/rates.md.

With eight systems, a variance between systems has seven degrees of freedom. Twenty
metrics of the same systems show how large such variances usually are: each is moderated
towards that and gains degrees of freedom. Source: Smyth 2004, Linear models and
empirical Bayes methods for assessing differential expression in microarray experiments,
6.2 (the prior by the moments of log variances).
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import scipy.special
from numpy.typing import ArrayLike

from metassay.statistics.components import (
    Relation,
    correlate_at,
    rests_on,
    strata_weights,
    value_at,
)
from metassay.statistics.correlation import (
    EVERY_COEFFICIENT,
    Coefficient,
    Level,
    map_cells,
    matrices,
    pearson_of_sums,
    system_means,
    taus_without,
)
from metassay.statistics.exact_sums import (
    Array,
    Index,
    Mask,
    mean_of_defined,
    quotient,
    sums_by,
)
from metassay.statistics.layout import (
    FEWEST,
    Layout,
    Part,
    default_layout,
    factorize,
    family_sets,
)

Over = Literal["both", "documents", "systems"]
Without = tuple[Array, Array]  # (systems,) and (groups,): the statistic without each

TAUS: tuple[Coefficient, ...] = ("kendall", "kendall_c")
GROUPS = 20  # of documents, one left out in turn
NEAR_ONE = 0.9999  # correlations are clipped to this, so that Fisher's z is finite
POWER = 0.8
LEAST_FREEDOM = 1e-6  # degrees of freedom below which moderation changes nothing
DRAWS = 20_000  # simulations of the largest deviation
GRID = 201  # places on which the distribution of true values is fitted
ROUNDS = 300  # of fitting it
LEAST_ERROR = 1e-6  # smallest standard error on the scale of Fisher's z


class LeaveOneOut(NamedTuple):
    """A statistic of all data, and without each system and each group of documents in turn.

    The axes of several metrics come first. Only leave-outs of the same set are compared
    with each other; each stratum has its sets.
    """

    value: Any  # float
    # (..., systems or families) without each; NaN where that is undefined
    systems: Array
    documents: Array  # (..., groups) without each group of documents
    # (..., systems) set of each; None: the same for all
    system_set: Index | None = None
    document_set: Index | None = None

    def take(self, places: Any) -> "LeaveOneOut":
        """Select the metrics at these places."""
        return LeaveOneOut._make(
            None if side is None else side[places] for side in self
        )


class Ends(NamedTuple):
    """An interval and its variance; NaN where it is undefined."""

    low: Any  # float
    high: Any
    of_systems: Any  # variance from new systems, on the scale of the interval
    of_documents: Any  # variance from new documents
    freedom: Any  # degrees of freedom


def leave_out(
    metric: ArrayLike,
    human: ArrayLike,
    relation: Relation,
    coefficient: Coefficient,
    layout: Layout | None = None,
) -> LeaveOneOut:
    """Correlate all data, and the data without each system and each group of documents.

    See `components.correlate_at`. Either side may hold several metrics: (..., systems,
    documents). With a `layout`, whole families of systems and whole clusters of
    documents are left out, each in its strata. NaN for a system or group of documents
    in which no text has both scores.
    """

    def leave_out_group(a: Array, b: Array, present: Mask) -> LeaveOneOut:
        groups = layout or default_layout(present.shape)

        def correlate_part(part: Part) -> tuple[LeaveOneOut, Any]:
            sides = part.select(a), part.select(b)
            left = _leave_out(*sides, relation, coefficient, part.layout)
            # One stratum needs no weight, and counting costs as much as a correlation.
            n: Any = 0
            if groups.n_strata > 1:
                n = _count(*sides, relation, coefficient)
            return left, n

        return average_strata(correlate_part, present, groups, relation)

    return map_cells(leave_out_group, *_present(metric, human))


def _count(a: Array, b: Array, relation: Relation, coefficient: Coefficient) -> Array:
    """Return n of `correlate_at`, (metrics,): only that of documents needs coefficients."""
    if relation == "document":
        return np.asarray(correlate_at(a, b, relation, coefficient).n)
    return np.full(len(a), rests_on(np.isfinite(a[0]), relation))


def leave_out_all(
    metric: ArrayLike, human: ArrayLike, level: Level, layout: Layout | None = None
) -> dict[Coefficient, LeaveOneOut]:
    """Compute `leave_out` by every coefficient; the two taus share their counts."""
    a, b = _present(metric, human)
    # Taus of all texts rest on the same counts.
    shared = TAUS if level == "global" else ()
    by_name: dict[Coefficient, LeaveOneOut] = {
        coefficient: leave_out(a, b, level, coefficient, layout)
        for coefficient in get_args(Coefficient)
        if coefficient not in shared
    }

    def both_taus(a: Array, b: Array, present: Mask) -> tuple[Any, ...]:
        groups = layout or default_layout(present.shape)
        of_parts: dict[int, dict[Coefficient, Without]] = {}

        def correlate_part(part: Part, tau: Coefficient) -> tuple[LeaveOneOut, Any]:
            sides, units = (part.select(a), part.select(b)), units_of(part.layout)
            if part.number not in of_parts:
                of_parts[part.number] = _pooled_taus(*sides, units)
            without = of_parts[part.number][tau]
            value, cells = value_at(*sides, level, tau), part.select(present)
            left = _mask_unusable(value, without, cells, level, units)
            return left, _count(*sides, level, tau)

        first, second = (
            average_strata(partial(correlate_part, tau=tau), present, groups, level)
            for tau in TAUS
        )
        return (*first, *second)

    if shared:
        sides = map_cells(both_taus, a, b)
        n = len(LeaveOneOut._fields)
        by_name |= {
            tau: LeaveOneOut(*some)
            for tau, some in zip(TAUS, (sides[:n], sides[n:]), strict=True)
        }
    return by_name


class Units(NamedTuple):
    """Which systems, and which documents, are left out together: the number of each one's group."""

    system: Index
    document: Index

    @property
    def n(self) -> tuple[int, int]:
        """Numbers of groups of systems and of documents."""
        return int(self.system.max(initial=-1)) + 1, int(
            self.document.max(initial=-1)
        ) + 1


def units_of(layout: Layout) -> Units:
    """Return the families of systems and clusters of documents, the latter in at most `GROUPS`."""
    n = layout.n_clusters
    return Units(layout.family, layout.cluster * min(n, GROUPS) // max(1, n))


def average_strata(
    of: Callable[[Part], tuple[LeaveOneOut, Any]],
    present: Mask,
    layout: Layout,
    relation: Relation,
) -> LeaveOneOut:
    """Average the strata by `strata_weights`, with all data and without each family or cluster.

    `of` returns a stratum's leave-outs of all metrics and their n (see `correlate_at`);
    `present` (systems, documents): the cells with all scores. A stratum keeps its
    weight when something is left out.
    """
    # Without any text with all scores each stratum is unknown, and so is their mean.
    parts = layout.parts(present) or layout.parts(np.ones_like(present))
    if layout.n_strata == 1:
        return of(parts[0])[0]
    lefts, n = zip(*map(of, parts), strict=True)
    # strata, metrics
    values = np.array([left.value for left in lefts]).reshape(len(parts), -1)
    weights = strata_weights(relation, np.reshape(n, values.shape), values)
    total, counts = weights.sum(axis=0), weights > 0
    # The same places for every metric: a stratum without weight has NaN there.
    of_stratum = [
        factorize(layout.cluster[layout.stratum == n]) for n in range(layout.n_strata)
    ]
    n_groups = [
        min(int(clusters.max(initial=-1)) + 1, GROUPS) for clusters in of_stratum
    ]
    document_set = np.repeat(np.arange(layout.n_strata), n_groups)
    value = quotient(
        np.where(counts, weights * values, 0.0).sum(axis=0), total, total > 0
    )
    shifts, covered = np.zeros((2, value.size, layout.n_families))
    documents = np.full((value.size, sum(n_groups)), np.nan)
    for weight, left, part in zip(weights, lefts, parts, strict=True):
        counted = np.flatnonzero(weight > 0)
        share, centre = (
            (weight / np.maximum(total, 1.0))[counted, None],
            left.value[counted, None],
        )
        shifts[np.ix_(counted, part.families)] += share * (
            left.systems[counted] - centre
        )
        covered[np.ix_(counted, part.families)] = 1.0
        cells = np.ix_(counted, np.flatnonzero(document_set == part.number))
        documents[cells] = value[counted, None] + share * (
            left.documents[counted] - centre
        )
    systems = np.where(covered > 0, value[:, None] + shifts, np.nan)
    sets = family_sets(parts, layout.n_families), document_set
    return LeaveOneOut(
        value, systems, documents, *(np.tile(ids, (value.size, 1)) for ids in sets)
    )


# a coefficient of (..., systems, documents) per document
Across = Callable[[Array, Array], Array]


def leave_out_documents(
    values_by: Callable[[Across], Array],
    coefficient: Coefficient,
    present: Mask,
    layout: Layout,
) -> LeaveOneOut:
    """Average a value per document, with all data and without each family or group of documents.

    `values_by(of)` returns each document's value (..., metrics, documents) by the
    coefficient `of` across its systems, NaN where undefined; `present` (systems,
    documents): the cells with all scores. Takes one stratum.
    """
    units, of = units_of(layout), EVERY_COEFFICIENT[coefficient]
    families, groups = units.n

    def leave_out_families(x: Array, y: Array) -> Array:
        if coefficient in TAUS:
            per_group = taus_without(x.mT, y.mT, units.system, families)
            return np.moveaxis(per_group[coefficient], -1, 0)
        remaining = np.empty(
            (families, *np.broadcast_shapes(x.shape, y.shape)[:-2], x.shape[-1])
        )
        for family in range(families):
            rest = units.system != family
            remaining[family] = of(x[..., rest, :].mT, y[..., rest, :].mT)
        return remaining

    values = values_by(lambda x, y: of(x.mT, y.mT))
    systems = mean_of_defined(values_by(leave_out_families)).T
    # A document's value does not change when another document is left out.
    defined = ~np.isnan(values)
    sides = defined, np.where(defined, values, 0.0)
    counts, totals = (sums_by(units.document, side, groups) for side in sides)
    others, rest = (sums.sum(axis=1, keepdims=True) - sums for sums in (counts, totals))
    # Leaving out a group without a value changes nothing: it is not a replicate.
    documents = quotient(rest, others, (others > 0) & (counts > 0))
    return _mask_unusable(
        mean_of_defined(values), (systems, documents), present, "document", units
    )


def _leave_out(
    a: Array, b: Array, relation: Relation, coefficient: Coefficient, layout: Layout
) -> LeaveOneOut:
    present, units = np.isfinite(a[0]), units_of(layout)
    if relation == "document":
        return leave_out_documents(lambda of: of(a, b), coefficient, present, layout)
    value = value_at(a, b, relation, coefficient)
    if relation in ("system", "between_systems"):
        without = _leave_out_means(a, b, units, coefficient)
    elif relation == "between_documents":
        without = _leave_out_means(a.mT, b.mT, Units(*units[::-1]), coefficient)[::-1]
    elif relation == "global" and coefficient == "pearson":
        without = _pooled_pearson(a, b, units)
    elif relation == "global" and coefficient in TAUS:
        without = _pooled_taus(a, b, units)[coefficient]
    else:
        systems, documents = (np.empty((len(a), n)) for n in units.n)
        for axis, values in enumerate((systems, documents)):
            for i in range(values.shape[1]):
                values[:, i] = _correlate_without(
                    a, b, units, (axis, i), relation, coefficient
                )
        without = systems, documents
    return _mask_unusable(value, without, present, relation, units)


def _present(metric: ArrayLike, human: ArrayLike) -> tuple[Array, Array]:
    a, b, present = matrices(metric, human)
    return np.where(present, a, np.nan), np.where(present, b, np.nan)


def _mask_unusable(
    value: Array, without: Without, present: Mask, relation: Relation, units: Units
) -> LeaveOneOut:
    """Set NaN where nothing is left out, or too little remains."""
    of_systems, of_documents = without
    families, n = units.n
    occurs_system = (
        np.bincount(units.system, present.any(axis=1), minlength=families) > 0
    )
    has = np.bincount(units.document, present.any(axis=0), minlength=n) > 0
    # A value that is undefined without a system depends on it to an unknown degree.
    defined = ~np.isnan(of_systems[:, occurs_system]).any(axis=1, keepdims=True)
    of_systems = np.where(defined & occurs_system, of_systems, np.nan)
    if relation != "document":
        has = has & ~np.isnan(of_documents[:, has]).any(axis=1, keepdims=True)
    of_documents = np.where(has, of_documents, np.nan)
    # Two means always correlate 1 or -1: leaving one out of three says nothing.
    if relation in ("system", "between_systems") and occurs_system.sum() < FEWEST:
        of_systems[:] = np.nan
    if relation == "between_documents" and present.any(axis=0).sum() < FEWEST:
        of_documents[:] = np.nan
    return LeaveOneOut(value, of_systems, of_documents)


def _correlate_without(
    a: Array,
    b: Array,
    units: Units,
    place: tuple[int, int],
    relation: Relation,
    coefficient: Coefficient,
) -> Array:
    axis, number = place
    rest = units[axis] != number
    x, y = (a[:, rest], b[:, rest]) if axis == 0 else (a[..., rest], b[..., rest])
    return np.asarray(value_at(x, y, relation, coefficient))


def _leave_out_means(
    a: Array, b: Array, units: Units, coefficient: Coefficient
) -> Without:
    # All leave-outs at once: documents by weights of 0, systems as NaN.
    of = EVERY_COEFFICIENT[coefficient]
    families, n = units.n
    others = (units.document != np.arange(n)[:, None]).astype(np.float64)
    documents = of(*system_means(a, b, others))
    x, y = system_means(a, b, np.ones((1, a.shape[2])))
    if coefficient in TAUS:
        without = taus_without(x[:, 0], y[:, 0], units.system, families)
        return without[coefficient], documents
    gone = units.system == np.arange(families)[:, None]
    return of(*(np.where(gone, np.nan, mean) for mean in (x, y))), documents


def _pooled_pearson(a: Array, b: Array, units: Units) -> Without:
    # From sums per unit of deviations from the mean, so that little precision is lost.
    present = np.isfinite(a[0])
    if not present.any():
        return np.full((len(a), units.n[0]), np.nan), np.full(
            (len(a), units.n[1]), np.nan
        )
    means = (
        np.ascontiguousarray(side[:, present]).mean(axis=1)[:, None, None]
        for side in (a, b)
    )
    x, y = (
        np.where(present, side - mean, 0.0)
        for side, mean in zip((a, b), means, strict=True)
    )
    parts = [np.where(present, 1.0, np.zeros(a.shape)), x, y, x * x, y * y, x * y]
    totals = [part.reshape(len(a), -1).sum(axis=1, keepdims=True) for part in parts]
    leave_outs = []
    for axis, (unit, n) in enumerate(zip(units, units.n, strict=True)):
        per_unit = (sums_by(unit, part.sum(axis=2 - axis), n) for part in parts)
        rests = (
            np.asarray(all_ - sums) for all_, sums in zip(totals, per_unit, strict=True)
        )
        values, poor = pearson_of_sums(rests, totals[3], totals[4])
        # so little spread is left that sums cannot tell it from 0
        for k, i in np.argwhere(poor):
            pair = a[k : k + 1], b[k : k + 1]
            values[k, i] = _correlate_without(
                *pair, units, (axis, i), "global", "pearson"
            )[0]
        leave_outs.append(values)
    return leave_outs[0], leave_outs[1]


def _pooled_taus(a: Array, b: Array, units: Units) -> dict[Coefficient, Without]:
    # tau-b and tau-c, which rest on the same counts.
    present = np.isfinite(a[0])
    places, x, y = np.nonzero(present), a[:, present], b[:, present]
    axes = zip(units, places, units.n, strict=True)
    systems, documents = (
        taus_without(x, y, unit[place], n, times=0.5) for unit, place, n in axes
    )
    return {tau: (systems[tau], documents[tau]) for tau in TAUS}


class Spread(NamedTuple):
    """A jackknife variance and its degrees of freedom; NaN where unknown."""

    variance: Any  # float
    freedom: Any


Moderate = Callable[[Spread], Spread]


def spread(values: Array, of: Index | None = None) -> Spread:
    """Return the jackknife variance of leave-outs (..., places), the sum over their sets (`of`).

    NaN where a set has fewer than two leave-outs.
    """
    rows = values.reshape(math.prod(values.shape[:-1]), values.shape[-1])
    sets = np.zeros(rows.shape, dtype=np.intp) if of is None else of.reshape(rows.shape)
    complete = (~np.isnan(rows)).all(axis=1) & (of is None) & (rows.shape[1] > 1)
    variance, freedom = np.full((2, len(rows)), np.nan)
    if complete.any():
        variance[complete], freedom[complete] = _sum([_spread_of_set(rows[complete])])
    for row in np.flatnonzero(~complete):
        defined = ~np.isnan(rows[row])
        groups = [
            rows[row, defined & (sets[row] == n)] for n in np.unique(sets[row, defined])
        ]
        if groups and min(group.size for group in groups) > 1:
            variance[row], freedom[row] = _sum(
                [_spread_of_set(group) for group in groups]
            )
    return Spread(
        *(side.reshape(values.shape[:-1])[()] for side in (variance, freedom))
    )


def _spread_of_set(values: Array) -> Spread:
    n = values.shape[-1]
    variance = (n - 1) * np.mean(
        (values - values.mean(axis=-1, keepdims=True)) ** 2, axis=-1
    )
    return Spread(variance, np.full(np.shape(variance), n - 1.0))


def _sum(spreads: Sequence[Spread]) -> Spread:
    # Variance of a sum of independent parts; degrees of freedom by Satterthwaite.
    total = sum(spread.variance for spread in spreads)
    terms = np.asarray(sum(spread.variance**2 / spread.freedom for spread in spreads))
    freedom = np.where(terms == 0, sum(spread.freedom for spread in spreads), np.nan)
    np.divide(total**2, terms, out=freedom, where=terms > 0)
    return Spread(total, freedom[()])


def interval(
    left: LeaveOneOut,
    *,
    confidence: float | Array,
    over: Over = "both",
    difference: bool = False,
    moderate: Moderate | None = None,
) -> Ends:
    """Return the interval of the mean value in studies of this size with new systems and documents.

    `over`: what is new; `documents` keeps these systems. It is computed on Fisher's z
    scale, within -1 to 1; for a `difference` of two correlations, on that scale of half
    the difference, within -2 to 2. `confidence`: of all, or of each metric. `moderate`
    may change the variance between systems (`moderator`). NaN if the value is
    undefined, or with fewer than two leave-outs.
    """
    size, value = 2.0 if difference else 1.0, np.asarray(left.value)
    by_system = by_document = Spread(np.zeros(value.shape), np.ones(value.shape))
    if over != "documents":
        by_system = spread(fisher_z(left.systems / size), left.system_set)
        by_system = by_system if moderate is None else moderate(by_system)
    if over != "systems":
        by_document = spread(fisher_z(left.documents / size), left.document_set)
    total = _sum([by_system, by_document])
    critical = scipy.special.stdtrit(
        total.freedom, (1.0 + np.asarray(confidence)) / 2.0
    )
    centre, reach = fisher_z(value / size), critical * np.sqrt(total.variance)
    # A clipped value of 1 (NEAR_ONE), and a value without variance, must lie in its
    # interval.
    still = total.variance == 0
    low = np.where(still, value, np.minimum(size * np.tanh(centre - reach), value))
    high = np.where(still, value, np.maximum(size * np.tanh(centre + reach), value))
    ends = Ends(low, high, by_system.variance, by_document.variance, total.freedom)
    defined = ~np.isnan(value + total.variance)
    return Ends(*(np.where(defined, end, np.nan)[()] for end in ends))


def fisher_z(values: Array) -> Array:
    """Return Fisher's z of correlations, which are clipped to -.9999 to .9999."""
    return np.asarray(np.arctanh(np.clip(values, -NEAR_ONE, NEAR_ONE)))


def smallest_study(
    variances: tuple[float, float],
    shape: tuple[int, int],
    target: float,
    *,
    confidence: float,
    level: Level,
) -> tuple[float, float]:
    """Return how many systems and documents distinguish correlations that differ by `target`.

    `variances`: of the correlation from new systems and from new documents, in a study
    of `shape` (systems, independent documents). They and `target` are on Fisher's z
    scale; each variance shrinks as its systems or documents grow in number. The power
    is 4/5; of all pairs that reach it, the one with the fewest texts. At system level,
    and for NaN variances, Fisher's approximation is applied to the systems alone. NaN
    where a hundred times the study is too small, for a target of 0 or less, and for
    invalid variances or shapes. A rough guide: the variances are estimates.
    """
    systems, documents = shape
    of_systems, of_documents = variances
    if not target > 0 or min(shape) < 1 or of_systems < 0 or of_documents < 0:
        return np.nan, np.nan
    tail = (1.0 + confidence) / 2.0
    if level == "system" or np.isnan(of_systems) or np.isnan(of_documents):
        reach = float(scipy.special.ndtri(tail) + scipy.special.ndtri(POWER)) / target
        enough = float(max(systems, np.ceil(reach**2 + 3)))
        return (
            (enough, float(documents)) if enough <= 100 * systems else (np.nan, np.nan)
        )
    best = (np.nan, np.nan)
    for n_systems in _steps(systems, 100 * systems):
        for n_documents in _steps(documents, 100 * documents):
            if best[0] * best[1] <= n_systems * n_documents:
                break
            shrunk = (
                of_systems * systems / n_systems,
                of_documents * documents / n_documents,
            )
            total = sum(shrunk)
            freedoms = max(n_systems - 1, 1), max(n_documents - 1, 1)
            parts = sum(v**2 / f for v, f in zip(shrunk, freedoms, strict=True))
            freedom = total**2 / parts if parts > 0 else 1e6
            reach = scipy.special.stdtrit(freedom, tail) + scipy.special.ndtri(POWER)
            if reach * np.sqrt(total) <= target:
                best = (float(n_systems), float(n_documents))
                break
    return best


def _steps(first: int, last: int) -> list[int]:
    # Each about a tenth more than the last; two digits beyond 100, as it is a rough
    # guide.
    steps = [first]
    while steps[-1] < last:
        more = max(steps[-1] + 1, round(steps[-1] * 1.1))
        digits = max(0, len(str(more)) - 2)
        steps.append(max(steps[-1] + 1, int(np.ceil(more / 10**digits) * 10**digits)))
    return steps


def variance_between_systems(left: LeaveOneOut, *, difference: bool = False) -> Spread:
    """Return the variance between systems of each metric; NaN where unknown."""
    return spread(
        fisher_z(left.systems / 2.0 if difference else left.systems), left.system_set
    )


def moderator(spreads: Spread, moves: Array, *, alone: bool = False) -> Moderate:
    """Return a function that moderates a variance by the variances of all metrics.

    `moves` (metrics, leave-outs): see `deviations`. The larger of the raw and the
    moderated variance is used. Correlated metrics count as fewer: degrees of freedom
    never exceed those of the effective number of independent metrics. `alone`: the
    interval covers new systems only, and the metric keeps its degrees of freedom,
    because with more, too many lower ends are too high (`tests/calibration/rates.md`). With
    fewer than three metrics nothing changes.
    """
    defined = spreads.variance > 0
    if defined.sum() < 3:
        return lambda raw: raw
    variance, freedom = spreads.variance[defined], spreads.freedom[defined]
    half = freedom / 2.0
    e = np.log(variance) - scipy.special.digamma(half) + np.log(half)
    excess = float(np.var(e, ddof=1) - np.mean(scipy.special.polygamma(1, half)))
    prior = 2.0 * _inverse_trigamma(excess) if excess > 0 else np.inf
    # The effective number of independent metrics. No BLAS: its order of summation, and
    # so the last bit, differs between processors.
    unit = _directions(moves)
    independent = float(
        len(unit) ** 2 / np.sum(np.einsum("ml,nl->mn", unit, unit) ** 2)
    )
    prior = min(prior, (independent - 1.0) * float(np.mean(freedom)))
    if prior < LEAST_FREEDOM:
        return lambda raw: raw
    common = np.exp(
        np.mean(e) + scipy.special.digamma(prior / 2.0) - np.log(prior / 2.0)
    )

    def moderate(raw: Spread) -> Spread:
        total = prior + raw.freedom
        shrunk = (prior * common + raw.freedom * raw.variance) / total
        return Spread(np.maximum(raw.variance, shrunk), raw.freedom if alone else total)

    return moderate


def _directions(moves: Array) -> Array:
    # The nonzero rows, each scaled to length 1.
    length = np.sqrt(np.sum(moves**2, axis=1))
    return np.asarray(moves[length > 0] / length[length > 0, None])


def _inverse_trigamma(value: float) -> float:
    # x with trigamma(x) = value, above 0; by Newton's method as in Smyth 2004,
    # appendix.
    if value > 1e7:
        return float(1.0 / np.sqrt(value))
    if value < 1e-6:
        return 1.0 / value
    x = 0.5 + 1.0 / value
    for _ in range(50):
        tri = float(scipy.special.polygamma(1, x))
        step = tri * (1.0 - tri / value) / float(scipy.special.polygamma(2, x))
        x += step
        if -step / x < 1e-8:
            break
    return float(x)


def deviations(left: LeaveOneOut, *, difference: bool = False) -> Array:
    """Return each leave-out's effect (metrics, leave-outs); squares sum to a metric's variance.

    NaN counts as no effect. The scale is that of `interval`.
    """
    sides = (left.systems, left.system_set), (left.documents, left.document_set)
    return np.hstack(
        [_deviations(side / (2.0 if difference else 1.0), of) for side, of in sides]
    )


def _deviations(values: Array, of: Index | None) -> Array:
    moves = fisher_z(values)
    for row, sets in zip(
        moves, np.zeros(values.shape, np.intp) if of is None else of, strict=True
    ):
        defined = ~np.isnan(row)
        n = np.bincount(sets[defined], minlength=int(sets.max(initial=0)) + 1)
        centre = np.bincount(
            sets[defined], row[defined], minlength=n.size
        ) / np.maximum(n, 1)
        scale = np.sqrt(np.maximum(n - 1, 0) / np.maximum(n, 1))
        row[:] = np.where(defined, row - centre[sets], 0.0) * scale[sets]
    return moves


def joint_confidence(
    moves: Array, *, confidence: float, rng: np.random.Generator
) -> float:
    """Return the confidence of each interval at which all hold together with `confidence`.

    `moves`: see `deviations`. Errors are assumed normal, correlated as the metrics'
    leave-outs are. A single metric needs no more than `confidence`.
    """
    directions = _directions(moves)
    if len(directions) < 2:
        return confidence
    # No BLAS: its order of summation, and so the last bit, differs between processors.
    errors = np.einsum(
        "ml,ld->md", directions, rng.standard_normal((directions.shape[1], DRAWS))
    )
    largest = np.max(np.abs(errors), axis=0)
    reach = np.quantile(largest, confidence)
    return max(confidence, float(2.0 * scipy.special.ndtr(reach) - 1.0))


def correct_for_choice(values: Array, moves: Array) -> Array:
    """Correct each metric's value for the luck of the best: the value to expect in a new study.

    `values` (metrics,) are correlations, `moves` those of `deviations`. The
    distribution of true values is fitted without assuming a shape (Kiefer and Wolfowitz
    1956, by expectation maximisation), and each metric gets its posterior mean. The
    error that all metrics share does not affect the choice, and stays in. A single
    metric is returned as it is; NaN stays NaN.
    """
    defined = np.flatnonzero(~np.isnan(values))
    corrected = np.array(values, dtype=np.float64)
    if defined.size < 2:
        return corrected
    z, relative = (
        fisher_z(corrected[defined]),
        moves[defined] - np.mean(moves[defined], axis=0),
    )
    spread = np.sqrt(np.sum(relative**2, axis=1) * defined.size / (defined.size - 1))
    # The mean of all can be noisier than a precise metric.
    error = np.maximum(
        np.minimum(spread, np.sqrt(np.sum(moves[defined] ** 2, axis=1))), LEAST_ERROR
    )
    if np.ptp(z) == 0:
        return corrected
    # The grid contains the values, so that one with almost no error has a place on it.
    places = np.union1d(np.linspace(z.min(), z.max(), GRID), z)
    likelihood = (
        np.exp(-0.5 * ((z[:, None] - places) / error[:, None]) ** 2) / error[:, None]
    )
    likelihood /= np.maximum(
        likelihood.max(axis=1, keepdims=True), np.finfo(float).tiny
    )
    weight = np.full(places.size, 1.0 / places.size)
    for _ in range(ROUNDS):
        joint = likelihood * weight
        weight = np.mean(joint / joint.sum(axis=1, keepdims=True), axis=0)
    joint = likelihood * weight
    corrected[defined] = np.tanh(np.sum(joint * places, axis=1) / joint.sum(axis=1))
    return corrected

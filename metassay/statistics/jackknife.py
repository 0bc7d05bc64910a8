"""Intervals of correlations for new systems and new documents, of one metric and of many at once.

Systems and documents are both drawn from more of their kind: the variance is that of leaving out
one system plus that of leaving out one document (or one of 20 groups of them). What belongs to the
one text counts in both, so that the interval errs to the wide side. A bootstrap of so few systems
fails: four systems drawn again are often two, whose correlation is 1 or -1. Sources: Efron and
Stein 1981, The jackknife estimate of variance; Owen 2007, The pigeonhole bootstrap (crossed random
effects); degrees of freedom by Satterthwaite 1946. Coverage is simulated in docs/calibration.md.

Of many metrics, variances learn from each other, and intervals hold together. With eight systems a
variance between systems has seven degrees of freedom; twenty metrics of the same systems say how
large such variances are, so that each is moderated towards what they have in common and gains
degrees of freedom. Source: Smyth 2004, Linear models and empirical Bayes methods for assessing
differential expression in microarray experiments, 6.2 (the prior by the moments of log variances).
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import scipy.special
from numpy.typing import ArrayLike

from metassay.statistics.components import Relation, correlate_at, strata_weights, value_at
from metassay.statistics.correlation import (
    EVERY_COEFFICIENT,
    Coefficient,
    Level,
    in_turn,
    matrices,
    pearson_of_sums,
    system_means,
    taus_without,
)
from metassay.statistics.exact_sums import Array, Mask, mean_of_defined, quotient, sums_by
from metassay.statistics.layout import FEWEST, Index, Layout, Part, exchangeable, numbered, plain

Over = Literal["both", "documents", "systems"]
Without = tuple[Array, Array]  # (systems,) and (groups,): the statistic without each

TAUS: tuple[Coefficient, ...] = ("kendall", "kendall_c")
GROUPS = 20  # of documents, one left out in turn
NEAR_ONE = 0.9999  # correlations nearer to 1 are taken for this, so that Fisher's z is finite
POWER = 0.8  # four times in five
LEAST_FREEDOM = 1e-6  # degrees of freedom that metrics must lend each other to count
DRAWS = 20_000  # of the largest of all deviations
GRID = 201  # places on which the distribution of true values is fitted
ROUNDS = 300  # of fitting it
LEAST_ERROR = 1e-6  # smallest standard error on the scale of Fisher's z


class LeftOut(NamedTuple):
    """A statistic of all data, and without each system and each group of documents in turn.

    Of many metrics, all arrays have axes for these first. Leave-outs of one set stand beside each
    other; strata have sets of their own.
    """

    value: Any  # float
    systems: Array  # (..., systems or families) without each; NaN where that is undefined
    documents: Array  # (..., groups) without each group of documents
    system_set: Index | None = None  # (..., systems) which set each belongs to; None: all to one
    document_set: Index | None = None

    def take(self, places: Any) -> "LeftOut":
        """Those of some metrics, or of one."""
        return LeftOut._make(None if side is None else side[places] for side in self)


class Ends(NamedTuple):
    """An interval, and the variance that it was made of; NaN where there is none."""

    low: Any  # float
    high: Any
    of_systems: Any  # variance from new systems, on the scale of the interval
    of_documents: Any  # variance from new documents
    freedom: Any  # degrees of freedom


def left_out(
    metric: ArrayLike,
    human: ArrayLike,
    relation: Relation,
    coefficient: Coefficient,
    layout: Layout | None = None,
) -> LeftOut:
    """A correlation (see `components.correlate_at`) of all data and of each leave-one-out.

    Of many metrics where either side is (..., systems, documents). With a `layout`, whole families
    of systems and whole clusters of documents are left out, each in its strata. NaN for a system,
    and a group of documents, without any text that has both scores.
    """

    def of_these(a: Array, b: Array, present: Mask) -> LeftOut:
        groups = layout or plain(present.shape)

        def of(part: Part) -> tuple[LeftOut, Any]:
            sides = part.of(a), part.of(b)
            # One stratum needs no weight, and counting costs as much as a correlation.
            n = correlate_at(*sides, relation, coefficient).n if groups.n_strata > 1 else 0
            return _left_out(*sides, relation, coefficient, part.layout), n

        return over_strata(of, present, groups, relation)

    return in_turn(of_these, *_present(metric, human))


def left_out_all(
    metric: ArrayLike, human: ArrayLike, level: Level, layout: Layout | None = None
) -> dict[Coefficient, LeftOut]:
    """`left_out` by every coefficient; the two taus share what they count."""
    a, b = _present(metric, human)
    layout = layout or plain(a.shape)
    # Taus of all texts of one stratum rest on the same counts.
    shared = TAUS if level == "global" and layout.n_strata == 1 else ()
    found: dict[Coefficient, LeftOut] = {
        coefficient: left_out(a, b, level, coefficient, layout)
        for coefficient in get_args(Coefficient)
        if coefficient not in shared
    }
    units = units_of(layout)

    def both_taus(a: Array, b: Array, present: Mask) -> tuple[Any, ...]:
        lefts = [
            _checked(value_at(a, b, level, tau), without, present, level, units)
            for tau, without in _pooled_taus(a, b, units).items()
        ]
        return tuple(side for left in lefts for side in left[:3])

    if shared:
        sides = in_turn(both_taus, a, b)
        found |= {tau: LeftOut(*sides[3 * i : 3 * i + 3]) for i, tau in enumerate(TAUS)}
    return found


class Units(NamedTuple):
    """What is left out together: a number for each system, and for each document."""

    system: Index
    document: Index

    @property
    def n(self) -> tuple[int, int]:
        """How many of both there are."""
        return int(self.system.max(initial=-1)) + 1, int(self.document.max(initial=-1)) + 1


def units_of(layout: Layout) -> Units:
    """Families of systems, and clusters of documents: `GROUPS` groups where there are more."""
    n = layout.n_clusters
    return Units(layout.family, layout.cluster * min(n, GROUPS) // max(1, n))


def over_strata(
    of: Callable[[Part], tuple[LeftOut, Any]], present: Mask, layout: Layout, relation: Relation
) -> LeftOut:
    """The mean over the strata by `strata_weights`, and without each family or cluster.

    `of` gives a stratum's leave-outs of all metrics and what their values rest on (the n of
    `correlate_at`); `present` (systems, documents): the cells that have what is needed. What a
    stratum counts stays when something is left out.
    """
    parts = layout.parts(present)
    if layout.n_strata == 1:
        return of(parts[0])[0]
    lefts, n = zip(*map(of, parts), strict=True) if parts else ((), ())
    values = np.array([left.value for left in lefts]).reshape(len(parts), -1)  # strata, metrics
    weights = strata_weights(relation, np.reshape(n, values.shape), values)
    total, counts = weights.sum(axis=0), weights > 0
    # Alike for every metric of a study: a stratum that does not count has places without a number.
    of_stratum = [numbered(layout.cluster[layout.stratum == n]) for n in range(layout.n_strata)]
    n_groups = [min(int(clusters.max(initial=-1)) + 1, GROUPS) for clusters in of_stratum]
    document_set = np.repeat(np.arange(layout.n_strata), n_groups)
    value = quotient(np.where(counts, weights * values, 0.0).sum(axis=0), total, total > 0)
    moved, there = np.zeros((2, value.size, layout.n_families))
    documents = np.full((value.size, sum(n_groups)), np.nan)
    for weight, left, part in zip(weights, lefts, parts, strict=True):
        some = np.flatnonzero(weight > 0)
        share, centre = (weight / np.maximum(total, 1.0))[some, None], left.value[some, None]
        moved[np.ix_(some, part.families)] += share * (left.systems[some] - centre)
        there[np.ix_(some, part.families)] = 1.0
        of_part = np.ix_(some, np.flatnonzero(document_set == part.number))
        documents[of_part] = value[some, None] + share * (left.documents[some] - centre)
    systems = np.where(there > 0, value[:, None] + moved, np.nan)
    sets = exchangeable(parts, layout.n_families), document_set
    return LeftOut(value, systems, documents, *(np.tile(one, (value.size, 1)) for one in sets))


Across = Callable[[Array, Array], Array]  # a coefficient of (..., systems, documents) per document


def left_out_documents(
    values_by: Callable[[Across], Array], coefficient: Coefficient, present: Mask, layout: Layout
) -> LeftOut:
    """The mean of a number per document, and without each family and each group of documents.

    `values_by(of)` gives each document's number (..., metrics, documents) by the coefficient `of`
    across its systems, NaN where it has none; `present` (systems, documents): the cells that have
    what is needed. Of one stratum.
    """
    units, of = units_of(layout), EVERY_COEFFICIENT[coefficient]
    families, groups = units.n

    def without(x: Array, y: Array) -> Array:
        if coefficient in TAUS:
            each = taus_without(x.mT, y.mT, units.system, families)
            return np.moveaxis(each[coefficient], -1, 0)
        found = np.empty((families, *np.broadcast_shapes(x.shape, y.shape)[:-2], x.shape[-1]))
        for family in range(families):
            rest = units.system != family
            found[family] = of(x[..., rest, :].mT, y[..., rest, :].mT)
        return found

    values = values_by(lambda x, y: of(x.mT, y.mT))
    systems = mean_of_defined(values_by(without)).T
    # A document's number is the same whichever other document is left out.
    known = ~np.isnan(values)
    sides = known, np.where(known, values, 0.0)
    each = [sums_by(units.document, side, groups) for side in sides]
    (count, rest), (_, left) = ((one, one.sum(axis=1, keepdims=True) - one) for one in each)
    # A group without a number moves nothing when it goes: that is no replicate.
    documents = quotient(left, rest, (rest > 0) & (count > 0))
    return _checked(mean_of_defined(values), (systems, documents), present, "document", units)


def _left_out(
    a: Array, b: Array, relation: Relation, coefficient: Coefficient, layout: Layout
) -> LeftOut:
    present, units = np.isfinite(a[0]), units_of(layout)
    if relation == "document":
        return left_out_documents(lambda of: of(a, b), coefficient, present, layout)
    value = value_at(a, b, relation, coefficient)
    if relation in ("system", "between_systems"):
        without = _of_means(a, b, units, coefficient)
    elif relation == "between_documents":
        turned = Units(units.document, units.system)
        without = _of_means(a.mT, b.mT, turned, coefficient)[::-1]
    elif relation == "global" and coefficient == "pearson":
        without = _pooled_pearson(a, b, units)
    elif relation == "global" and coefficient in TAUS:
        without = _pooled_taus(a, b, units)[coefficient]
    else:
        systems, documents = (np.empty((len(a), n)) for n in units.n)
        for axis, values in enumerate((systems, documents)):
            for i in range(values.shape[1]):
                values[:, i] = _without(a, b, units, (axis, i), relation, coefficient)
        without = systems, documents
    return _checked(value, without, present, relation, units)


def _present(metric: ArrayLike, human: ArrayLike) -> tuple[Array, Array]:
    a, b, present = matrices(metric, human)
    return np.where(present, a, np.nan), np.where(present, b, np.nan)


def _checked(
    value: Array, without: Without, present: Mask, relation: Relation, units: Units
) -> LeftOut:
    """NaN where nothing is left out, and where what is left cannot tell anything."""
    of_systems, of_documents = without
    families, n = units.n
    there_systems = np.bincount(units.system, present.any(axis=1), minlength=families) > 0
    there = np.bincount(units.document, present.any(axis=0), minlength=n) > 0
    # What is undefined without a system rests on that system: how much is not known.
    known = ~np.isnan(of_systems[:, there_systems]).any(axis=1, keepdims=True)
    of_systems = np.where(known & there_systems, of_systems, np.nan)
    if relation != "document":
        there = there & ~np.isnan(of_documents[:, there]).any(axis=1, keepdims=True)
    of_documents = np.where(there, of_documents, np.nan)
    # Two means always correlate 1 or -1: leaving one out of three says nothing.
    if relation in ("system", "between_systems") and there_systems.sum() < FEWEST:
        of_systems[:] = np.nan
    if relation == "between_documents" and present.any(axis=0).sum() < FEWEST:
        of_documents[:] = np.nan
    return LeftOut(value, of_systems, of_documents)


def _without(
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


def _of_means(a: Array, b: Array, units: Units, coefficient: Coefficient) -> Without:
    # All leave-outs at a time: documents by weights of 0, systems as gaps.
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
    # From sums per unit; texts are taken from their mean first, so little is lost.
    present = np.isfinite(a[0])
    if not present.any():
        return np.full((len(a), units.n[0]), np.nan), np.full((len(a), units.n[1]), np.nan)
    means = (np.ascontiguousarray(side[:, present]).mean(axis=1)[:, None, None] for side in (a, b))
    x, y = (np.where(present, side - mean, 0.0) for side, mean in zip((a, b), means, strict=True))
    parts = [np.where(present, 1.0, np.zeros(a.shape)), x, y, x * x, y * y, x * y]
    whole = [part.reshape(len(a), -1).sum(axis=1, keepdims=True) for part in parts]
    found = []
    for axis, (unit, n) in enumerate(zip(units, units.n, strict=True)):
        each = (sums_by(unit, part.sum(axis=2 - axis), n) for part in parts)
        left = (np.asarray(all_ - one) for all_, one in zip(whole, each, strict=True))
        values, poor = pearson_of_sums(left, whole[3], whole[4])
        for k, i in np.argwhere(poor):  # so little spread is left that sums cannot tell it from 0
            one = slice(k, k + 1)
            values[one, i] = _without(a[one], b[one], units, (axis, i), "global", "pearson")
        found.append(values)
    return found[0], found[1]


def _pooled_taus(a: Array, b: Array, units: Units) -> dict[Coefficient, Without]:
    # tau-b and tau-c, which rest on the same counts.
    present = np.isfinite(a[0])
    places, x, y = np.nonzero(present), a[:, present], b[:, present]
    each = zip(units, places, units.n, strict=True)
    systems, documents = (taus_without(x, y, unit[at], n, times=0.5) for unit, at, n in each)
    return {tau: (systems[tau], documents[tau]) for tau in TAUS}


class Spread(NamedTuple):
    """A jackknife variance, and its degrees of freedom; NaN where it is not known."""

    variance: Any  # float
    freedom: Any


Moderate = Callable[[Spread], Spread]


def spread(values: Array, of: Index | None = None) -> Spread:
    """The variance that leave-outs (..., places) show, those of one set (`of`) beside each other.

    NaN where a set has fewer than two: then it is not known.
    """
    rows = values.reshape(math.prod(values.shape[:-1]), values.shape[-1])
    sets = np.zeros(rows.shape, dtype=np.intp) if of is None else of.reshape(rows.shape)
    whole = (~np.isnan(rows)).all(axis=1) & (of is None) & (rows.shape[1] > 1)
    variance, freedom = np.full((2, len(rows)), np.nan)
    if whole.any():
        variance[whole], freedom[whole] = _sum([_of_set(rows[whole])])
    for row in np.flatnonzero(~whole):
        known = ~np.isnan(rows[row])
        each = [rows[row, known & (sets[row] == n)] for n in np.unique(sets[row, known])]
        if each and min(one.size for one in each) > 1:
            variance[row], freedom[row] = _sum([_of_set(one) for one in each])
    return Spread(*(side.reshape(values.shape[:-1])[()] for side in (variance, freedom)))


def _of_set(known: Array) -> Spread:
    n = known.shape[-1]
    variance = (n - 1) * np.mean((known - known.mean(axis=-1, keepdims=True)) ** 2, axis=-1)
    return Spread(variance, np.full(np.shape(variance), n - 1.0))


def _sum(found: Sequence[Spread]) -> Spread:
    # Of independent parts; degrees of freedom by Satterthwaite.
    total = sum(part.variance for part in found)
    parts = np.asarray(sum(part.variance**2 / part.freedom for part in found))
    freedom = np.where(parts == 0, sum(part.freedom for part in found), np.nan)
    np.divide(total**2, parts, out=freedom, where=parts > 0)
    return Spread(total, freedom[()])


def interval(
    left: LeftOut,
    *,
    confidence: float | Array,
    over: Over = "both",
    difference: bool = False,
    moderate: Moderate | None = None,
) -> Ends:
    """Interval of the mean value that studies of this size show, with other systems, documents.

    `over`: what may be others; `documents` speaks for these systems alone. It is made on Fisher's
    z scale, and so lies within -1 to 1; that of a `difference` of two correlations on the scale of
    half of it, within -2 to 2. `confidence`: of all, or of each metric. `moderate` may change the
    variance between systems (`moderator`). NaN if the value is undefined, or with fewer than two of
    what may be others.
    """
    size, value = 2.0 if difference else 1.0, np.asarray(left.value)
    by_system = by_document = Spread(np.zeros(value.shape), np.ones(value.shape))
    if over != "documents":
        by_system = spread(fisher_z(left.systems / size), left.system_set)
        by_system = by_system if moderate is None else moderate(by_system)
    if over != "systems":
        by_document = spread(fisher_z(left.documents / size), left.document_set)
    whole = _sum([by_system, by_document])
    critical = scipy.special.stdtrit(whole.freedom, (1.0 + np.asarray(confidence)) / 2.0)
    centre, reach = fisher_z(value / size), critical * np.sqrt(whole.variance)
    # A value of 1 is taken for less (NEAR_ONE), yet lies in its own interval, as without variance.
    still = whole.variance == 0
    low = np.where(still, value, np.minimum(size * np.tanh(centre - reach), value))
    high = np.where(still, value, np.maximum(size * np.tanh(centre + reach), value))
    found = Ends(low, high, by_system.variance, by_document.variance, whole.freedom)
    known = ~np.isnan(value + whole.variance)
    return Ends(*(np.where(known, one, np.nan)[()] for one in found))


def fisher_z(values: Array) -> Array:
    """Fisher's transform; what is nearer to 1 or -1 than .9999 is taken for that."""
    return np.asarray(np.arctanh(np.clip(values, -NEAR_ONE, NEAR_ONE)))


def needed(
    variances: tuple[float, float],
    shape: tuple[int, int],
    target: float,
    *,
    confidence: float,
    level: Level,
) -> tuple[float, float]:
    """How many systems and documents would tell correlations apart that differ by `target`.

    variances: of the correlation from new systems and from new documents, in a study of `shape`
    (systems, documents that count by themselves), on Fisher's z scale as `target` is; each shrinks
    with the number of its own. Wanted is an interval so narrow that its end lies beyond what is so
    far away, four times in five; of all such pairs the one with the fewest texts. At system level,
    and without variances (NaN), by Fisher's transform for the systems alone. NaN where more of both
    would not do within a hundred times the study, for a target of 0 or less, and for what no study
    has. A rough guide: the variances are estimates.
    """
    systems, documents = shape
    of_systems, of_documents = variances
    if not target > 0 or min(shape) < 1 or of_systems < 0 or of_documents < 0:
        return np.nan, np.nan
    tail = (1.0 + confidence) / 2.0
    if level == "system" or np.isnan(of_systems) or np.isnan(of_documents):
        reach = float(scipy.special.ndtri(tail) + scipy.special.ndtri(POWER)) / target
        enough = float(max(systems, np.ceil(reach**2 + 3)))
        return (enough, float(documents)) if enough <= 100 * systems else (np.nan, np.nan)
    best = (np.nan, np.nan)
    for wanted in _steps(systems, 100 * systems):
        for many in _steps(documents, 100 * documents):
            if best[0] * best[1] <= wanted * many:
                break
            shrunk = of_systems * systems / wanted, of_documents * documents / many
            total = sum(shrunk)
            freedoms = max(wanted - 1, 1), max(many - 1, 1)
            parts = sum(v**2 / f for v, f in zip(shrunk, freedoms, strict=True))
            freedom = total**2 / parts if parts > 0 else 1e6
            reach = scipy.special.stdtrit(freedom, tail) + scipy.special.ndtri(POWER)
            if reach * np.sqrt(total) <= target:
                best = (float(wanted), float(many))
                break
    return best


def _steps(first: int, last: int) -> list[int]:
    # Each about a tenth more than the one before; two digits beyond 100, as it is a rough guide.
    steps = [first]
    while steps[-1] < last:
        more = max(steps[-1] + 1, round(steps[-1] * 1.1))
        digits = max(0, len(str(more)) - 2)
        steps.append(max(steps[-1] + 1, int(np.ceil(more / 10**digits) * 10**digits)))
    return steps


def between_systems(left: LeftOut, *, difference: bool = False) -> Spread:
    """The variance between systems of each metric; NaN where it is not known."""
    return spread(fisher_z(left.systems / 2.0 if difference else left.systems), left.system_set)


def moderator(found: Spread, moves: Array, *, alone: bool = False) -> Moderate:
    """What `interval` does to a variance, from those of all metrics.

    `moves` (metrics, leave-outs): of `deviations`. The larger of the variance and the moderated one
    is taken. Metrics that move alike count as fewer: degrees of freedom never exceed those of so
    many independent ones. `alone`: the interval rests on systems alone, and the metric keeps its
    own degrees of freedom, because with more of them too many lower ends are too high
    (`docs/calibration.md`). With fewer than three metrics nothing changes.
    """
    known = found.variance > 0
    if known.sum() < 3:
        return lambda one: one
    variance, freedom = found.variance[known], found.freedom[known]
    half = freedom / 2.0
    e = np.log(variance) - scipy.special.digamma(half) + np.log(half)
    excess = float(np.var(e, ddof=1) - np.mean(scipy.special.polygamma(1, half)))
    prior = 2.0 * _inverse_trigamma(excess) if excess > 0 else np.inf
    # To how many independent metrics these come, by how alike they move. No BLAS: its order of
    # summation, and so the last bit, differs between processors.
    used = _directions(moves)
    independent = float(len(used) ** 2 / np.sum(np.einsum("ml,nl->mn", used, used) ** 2))
    prior = min(prior, (independent - 1.0) * float(np.mean(freedom)))
    if prior < LEAST_FREEDOM:
        return lambda one: one
    common = np.exp(np.mean(e) + scipy.special.digamma(prior / 2.0) - np.log(prior / 2.0))

    def moderate(one: Spread) -> Spread:
        total = prior + one.freedom
        shrunk = (prior * common + one.freedom * one.variance) / total
        return Spread(np.maximum(one.variance, shrunk), one.freedom if alone else total)

    return moderate


def _directions(moves: Array) -> Array:
    # The metrics that move at all, each of length 1.
    length = np.sqrt(np.sum(moves**2, axis=1))
    return np.asarray(moves[length > 0] / length[length > 0, None])


def _inverse_trigamma(value: float) -> float:
    # x with trigamma(x) = value, above 0; by Newton's method as in Smyth 2004, appendix.
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


def deviations(left: LeftOut, *, difference: bool = False) -> Array:
    """(metrics, leave-outs): how each leave-out moves each metric; squares sum to its variance.

    NaN counts as no move. The scale is that of `jackknife.interval`.
    """
    sides = (left.systems, left.system_set), (left.documents, left.document_set)
    return np.hstack([_deviations(side / (2.0 if difference else 1.0), of) for side, of in sides])


def _deviations(values: Array, of: Index | None) -> Array:
    moved = fisher_z(values)
    for row, sets in zip(moved, np.zeros(values.shape, np.intp) if of is None else of, strict=True):
        known = ~np.isnan(row)
        n = np.bincount(sets[known], minlength=int(sets.max(initial=0)) + 1)
        centre = np.bincount(sets[known], row[known], minlength=n.size) / np.maximum(n, 1)
        scale = np.sqrt(np.maximum(n - 1, 0) / np.maximum(n, 1))
        row[:] = np.where(known, row - centre[sets], 0.0) * scale[sets]
    return moved


def joint_confidence(moves: Array, *, confidence: float, rng: np.random.Generator) -> float:
    """The confidence that each interval needs so that all hold together with `confidence`.

    `moves`: of `deviations`. The metrics' errors are taken for normal with the correlations that
    their leave-outs have; one metric alone needs no more than `confidence`.
    """
    used = _directions(moves)
    if len(used) < 2:
        return confidence
    # No BLAS: its order of summation, and so the last bit, differs between processors.
    drawn = np.einsum("ml,ld->md", used, rng.standard_normal((used.shape[1], DRAWS)))
    largest = np.max(np.abs(drawn), axis=0)
    reach = np.quantile(largest, confidence)
    return max(confidence, float(2.0 * scipy.special.ndtr(reach) - 1.0))


def corrected_for_choice(values: Array, moves: Array) -> Array:
    """Each metric's value as it is expected to be when it is met again: less luck for the best.

    Values (metrics,) are correlations, `moves` of `deviations` on Fisher's scale. The distribution
    of all metrics' true values is fitted without assuming a shape (Kiefer and Wolfowitz 1956, by
    expectation maximisation), and each metric gets its posterior mean. The error that all metrics
    share is not chosen by, and stays in. One metric alone is returned as it is; NaN stays NaN.
    """
    known = np.flatnonzero(~np.isnan(values))
    found = np.array(values, dtype=np.float64)
    if known.size < 2:
        return found
    z, own = fisher_z(found[known]), moves[known] - np.mean(moves[known], axis=0)
    spread = np.sqrt(np.sum(own**2, axis=1) * known.size / (known.size - 1))
    # The mean of all can be noisier than a metric that is known well.
    error = np.maximum(np.minimum(spread, np.sqrt(np.sum(moves[known] ** 2, axis=1))), LEAST_ERROR)
    if np.ptp(z) == 0:
        return found
    # With the values themselves, so that one with next to no error has a place where it may be.
    places = np.union1d(np.linspace(z.min(), z.max(), GRID), z)
    likelihood = np.exp(-0.5 * ((z[:, None] - places) / error[:, None]) ** 2) / error[:, None]
    likelihood /= np.maximum(likelihood.max(axis=1, keepdims=True), np.finfo(float).tiny)
    weight = np.full(places.size, 1.0 / places.size)
    for _ in range(ROUNDS):
        joint = likelihood * weight
        weight = np.mean(joint / joint.sum(axis=1, keepdims=True), axis=0)
    joint = likelihood * weight
    found[known] = np.tanh(np.sum(joint * places, axis=1) / joint.sum(axis=1))
    return found

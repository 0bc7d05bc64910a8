"""Intervals of correlations for new systems and new documents, by leaving each out in turn.

Systems and documents are both drawn from more of their kind: the variance is that of leaving out
one system plus that of leaving out one document (or one of 20 groups of them). What belongs to the
one text counts in both, so that the interval errs to the wide side. Sources: Efron and Stein 1981,
The jackknife estimate of variance; Owen 2007, The pigeonhole bootstrap (crossed random effects);
degrees of freedom by Satterthwaite 1946. Coverage is simulated in docs/calibration.md.

A bootstrap of so few systems fails: four systems drawn again are often two, whose correlation is 1
or -1, and means over documents drawn again carry the documents' noise twice.
"""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np
import scipy.special
from numpy.typing import ArrayLike

from metassay.statistics.components import Relation, correlate_at, strata_weights, value_at
from metassay.statistics.correlation import (
    EVERY_COEFFICIENT,
    Coefficient,
    Level,
    concordance,
    matrices,
    pearson_of_sums,
    system_means,
    taus_without,
)
from metassay.statistics.exact_sums import Array, Mask, mean_of_defined, quotient
from metassay.statistics.layout import FEWEST, Index, Layout, Part, exchangeable, numbered, plain

Over = Literal["both", "documents", "systems"]

Without = tuple[Array, Array]  # (systems,) and (groups,): the statistic without each

TAUS: tuple[Coefficient, ...] = ("kendall", "kendall_c")
GROUPS = 20  # of documents, one left out in turn
NEAR_ONE = 0.9999  # correlations nearer to 1 are taken for this, so that Fisher's z is finite


class LeftOut(NamedTuple):
    """A statistic of all data, and without each system and each group of documents in turn.

    Leave-outs of one set stand beside each other; strata have sets of their own.
    """

    value: float
    systems: Array  # (systems or families,) without each; NaN where that is undefined
    documents: Array  # (groups,) without each group of documents
    system_set: Index | None = None  # (systems,) which set each belongs to; None: all to one
    document_set: Index | None = None

    @property
    def sources(self) -> tuple[tuple[Array, Index], tuple[Array, Index]]:
        """Of systems, then of documents: the leave-outs, and the set of each."""
        return tuple(
            (values, np.zeros(len(values), dtype=np.intp) if of is None else of)
            for values, of in (
                (self.systems, self.system_set),
                (self.documents, self.document_set),
            )
        )  # type: ignore[return-value] # two of two


class Ends(NamedTuple):
    """An interval, and the variance that it was made of; NaN where there is none."""

    low: float
    high: float
    of_systems: float  # variance from new systems, on the scale of the interval
    of_documents: float  # variance from new documents
    freedom: float  # degrees of freedom


NONE = Ends(np.nan, np.nan, np.nan, np.nan, np.nan)


def left_out(
    metric: ArrayLike,
    human: ArrayLike,
    relation: Relation,
    coefficient: Coefficient,
    layout: Layout | None = None,
) -> LeftOut:
    """A correlation (see `components.correlate_at`) of all data and of each leave-one-out.

    With a `layout`, whole families of systems and whole clusters of documents are left out, each in
    its strata. NaN for a system, and a group of documents, without any text that has both scores.
    """
    a, b = _present(metric, human)
    layout = layout or plain(a.shape)

    def of(part: Part) -> Counted:
        sides = part.of(a), part.of(b)
        # One stratum needs no weight, and counting costs as much as a correlation.
        n = correlate_at(*sides, relation, coefficient).n if layout.n_strata > 1 else 0
        return Counted(_left_out(*sides, relation, coefficient, part.layout), n)

    return over_strata(of, np.isfinite(a), layout, relation)


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
    for tau, without in zip(shared, _pooled_taus(a, b, units) if shared else (), strict=True):
        value = value_at(a, b, level, tau)
        found[tau] = _checked(value, without, np.isfinite(a), level, units)
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


class Counted(NamedTuple):
    """The leave-outs of one stratum, and what its value rests on (the n of `correlate_at`)."""

    left: LeftOut
    n: int


def over_strata(
    of: Callable[[Part], Counted], present: Mask, layout: Layout, relation: Relation
) -> LeftOut:
    """The mean over the strata by `strata_weights`, and without each family or cluster.

    `present` (systems, documents): the cells that have what is needed. What a stratum counts stays
    when something is left out.
    """
    parts = layout.parts(present)
    if layout.n_strata == 1:
        return of(parts[0]).left
    each = [of(part) for part in parts]
    values = np.array([one.left.value for one in each])
    weights = strata_weights(relation, [one.n for one in each], values)
    sets = exchangeable(parts, layout.n_families)
    total = float(weights.sum())
    # Alike for every metric of a study: a stratum that does not count has places without a number.
    of_stratum = [numbered(layout.cluster[layout.stratum == n]) for n in range(layout.n_strata)]
    n_groups = [min(int(one.max(initial=-1)) + 1, GROUPS) for one in of_stratum]
    document_set = np.repeat(np.arange(layout.n_strata), n_groups)
    systems, documents = np.full(layout.n_families, np.nan), np.full(sum(n_groups), np.nan)
    if not total > 0:
        return LeftOut(np.nan, systems, documents, sets, document_set)
    counts = weights > 0
    value = float(np.sum(weights[counts] * values[counts])) / total
    moved, there = np.zeros(layout.n_families), np.zeros(layout.n_families, dtype=bool)
    for place in np.flatnonzero(counts):
        share, left, part = weights[place] / total, each[place].left, parts[place]
        moved[part.families] += share * (left.systems - left.value)
        there[part.families] = True
        documents[document_set == part.number] = value + share * (left.documents - left.value)
    systems[there] = value + moved[there]
    return LeftOut(value, systems, documents, sets, document_set)


def left_out_documents(of: Callable[[Mask], Array], present: Mask, layout: Layout) -> LeftOut:
    """The mean of a number per document, and without each family and each group of documents.

    `of(rows)` gives each document's number from these systems (a mask), NaN where it has none;
    `present` (systems, documents): the cells that have what is needed. Of one stratum.
    """
    units = units_of(layout)
    systems = [mean_of_defined(of(units.system != i)) for i in range(units.n[0])]
    values = of(np.ones(len(present), dtype=bool))
    found = np.array(systems), _means_without(values, units)
    return _checked(mean_of_defined(values), found, present, "document", units)


def _means_without(values: Array, units: Units) -> Array:
    # A document's number is the same whichever other document is left out.
    known = ~np.isnan(values)
    n = units.n[1]
    count = np.bincount(units.document[known], minlength=n)
    total = np.bincount(units.document[known], values[known], minlength=n)
    rest = count.sum() - count
    # A group without a number moves nothing when it goes: that is no replicate.
    telling = (rest > 0) & (count > 0)
    return quotient(total.sum() - total, rest, telling)


def _left_out(
    a: Array, b: Array, relation: Relation, coefficient: Coefficient, layout: Layout
) -> LeftOut:
    if relation == "document":
        of = EVERY_COEFFICIENT[coefficient]
        present = np.isfinite(a)
        return left_out_documents(lambda rows: of(a[rows].T, b[rows].T), present, layout)
    without = _WITHOUT.get(relation, _one_by_one)
    if relation == "global" and coefficient != "spearman":
        without = _pooled_pearson if coefficient == "pearson" else _pooled_kendall
    value = value_at(a, b, relation, coefficient)
    units = units_of(layout)
    found = without(a, b, units, relation, coefficient)
    return _checked(value, found, np.isfinite(a), relation, units)


def _present(metric: ArrayLike, human: ArrayLike) -> tuple[Array, Array]:
    a, b, present = matrices(metric, human)
    return np.where(present, a, np.nan), np.where(present, b, np.nan)


def _checked(
    value: float, without: Without, present: Mask, relation: Relation, units: Units
) -> LeftOut:
    """NaN where nothing is left out, and where what is left cannot tell anything."""
    of_systems, of_documents = without
    families, n = units.n
    there_systems = np.bincount(units.system, present.any(axis=1), minlength=families) > 0
    there = np.bincount(units.document, present.any(axis=0), minlength=n) > 0
    # What is undefined without a system rests on that system: how much is not known.
    if np.isnan(of_systems[there_systems]).any():
        of_systems = np.full(families, np.nan)
    if relation != "document" and np.isnan(of_documents[there]).any():
        of_documents = np.full(n, np.nan)
    of_systems = np.where(there_systems, of_systems, np.nan)
    # Two means always correlate 1 or -1: leaving one out of three says nothing.
    if relation in ("system", "between_systems") and there_systems.sum() < FEWEST:
        of_systems[:] = np.nan
    if relation == "between_documents" and present.any(axis=0).sum() < FEWEST:
        of_documents[:] = np.nan
    return LeftOut(value, of_systems, np.where(there, of_documents, np.nan))


def _one_by_one(
    a: Array, b: Array, units: Units, relation: Relation, coefficient: Coefficient
) -> Without:
    systems, documents = units.n
    without_system = [
        value_at(a[units.system != i], b[units.system != i], relation, coefficient)
        for i in range(systems)
    ]
    without_document = [
        value_at(a[:, units.document != i], b[:, units.document != i], relation, coefficient)
        for i in range(documents)
    ]
    return np.array(without_system), np.array(without_document)


def _of_means(a: Array, b: Array, units: Units, _: Relation, coefficient: Coefficient) -> Without:
    # All leave-outs at a time: documents by weights of 0, systems as gaps.
    of = EVERY_COEFFICIENT[coefficient]
    families, n = units.n
    documents = of(*system_means(a, b, _but(units.document, n)))
    means = system_means(a, b, np.ones((1, a.shape[1])))
    gone = units.system == np.arange(families)[:, None]
    return of(*(np.where(gone, np.nan, mean) for mean in means)), documents


def _of_means_by_document(
    a: Array, b: Array, units: Units, relation: Relation, coefficient: Coefficient
) -> Without:
    turned = Units(units.document, units.system)
    documents, systems = _of_means(a.T, b.T, turned, relation, coefficient)
    return systems, documents


def _but(unit: Index, n: int) -> Array:
    # (n, items): weight 0 for the items of each unit in turn, 1 for the others.
    others: Array = (unit != np.arange(n)[:, None]).astype(np.float64)
    return others


def _pooled_pearson(
    a: Array, b: Array, units: Units, relation: Relation, coefficient: Coefficient
) -> Without:
    # From sums per unit; texts are taken from their mean first, so little is lost.
    present = np.isfinite(a)
    families, n = units.n
    if not present.any():
        return np.full(families, np.nan), np.full(n, np.nan)
    x = np.where(present, a - np.mean(a[present]), 0.0)
    y = np.where(present, b - np.mean(b[present]), 0.0)
    parts = [present.astype(np.float64), x, y, x * x, y * y, x * y]
    whole = [float(part.sum()) for part in parts]
    by_system = [_sums(units.system, part.sum(axis=1), families) for part in parts]
    by_group = [_sums(units.document, part.sum(axis=0), n) for part in parts]
    systems, poor_systems = _without_each(whole, by_system)
    documents, poor_documents = _without_each(whole, by_group)
    for i in poor_systems:
        rest = units.system != i
        systems[i] = value_at(a[rest], b[rest], relation, coefficient)
    for i in poor_documents:
        rest = units.document != i
        documents[i] = value_at(a[:, rest], b[:, rest], relation, coefficient)
    return systems, documents


def _sums(unit: Index, values: Array, n: int) -> Array:
    return np.bincount(unit, values, minlength=n).astype(np.float64)


def _pooled_kendall(
    a: Array, b: Array, units: Units, _: Relation, coefficient: Coefficient
) -> Without:
    return _pooled_taus(a, b, units)[0 if coefficient == "kendall" else 1]


def _pooled_taus(a: Array, b: Array, units: Units) -> tuple[Without, Without]:
    # tau-b and tau-c, which rest on the same counts.
    system, document = np.nonzero(np.isfinite(a))
    x, y = a[system, document], b[system, document]
    whole = concordance(x, y)
    families, n = units.n
    systems = taus_without(x, y, whole, units.system[system], families)
    documents = taus_without(x, y, whole, units.document[document], n)
    return (systems[0], documents[0]), (systems[1], documents[1])


def _without_each(whole: list[float], each: list[Array]) -> tuple[Array, Index]:
    # Of n, x, y, xx, yy, xy; and where so little spread is left that sums cannot tell it from none.
    left = (total - part for total, part in zip(whole, each, strict=True))
    return pearson_of_sums(left, whole[3], whole[4])


_WITHOUT: dict[Relation, Callable[[Array, Array, Units, Relation, Coefficient], Without]] = {
    "system": _of_means,
    "between_systems": _of_means,
    "between_documents": _of_means_by_document,
}


class Spread(NamedTuple):
    """A jackknife variance, and its degrees of freedom."""

    variance: float
    freedom: float


def spread(values: Array, of: Index) -> Spread | None:
    """The variance that leave-outs show, those of one set (`of`) beside each other.

    None where a set has fewer than two: then it is not known.
    """
    found = []
    for one in np.unique(of[~np.isnan(values)]):
        known = values[(of == one) & ~np.isnan(values)]
        if known.size < 2:
            return None
        variance = float((known.size - 1) * np.mean((known - known.mean()) ** 2))
        found.append(Spread(variance, known.size - 1.0))
    return added(found) if found else None


def added(found: Sequence[Spread]) -> Spread:
    """The variance of a sum of independent parts; degrees of freedom by Satterthwaite."""
    total = sum(one.variance for one in found)
    parts = sum(one.variance**2 / one.freedom for one in found)
    freedom = total**2 / parts if parts > 0 else sum(one.freedom for one in found)
    return Spread(total, freedom)


def interval(
    left: LeftOut,
    *,
    confidence: float,
    over: Over = "both",
    difference: bool = False,
    moderate: Callable[[Spread], Spread] | None = None,
) -> Ends:
    """Interval of the mean value that studies of this size show, with other systems, documents.

    `over`: what may be others; `documents` speaks for these systems alone. It is made on Fisher's
    z scale, and so lies within -1 to 1; that of a `difference` of two correlations on the scale of
    half of it, within -2 to 2. `moderate` may change the variance between systems
    (`moderation.moderator`). Both ends are NaN if the value is undefined, or with fewer than two of
    what may be others.
    """
    if np.isnan(left.value):
        return NONE
    size = 2.0 if difference else 1.0
    parts = []
    for (values, of), wanted in zip(
        left.sources, (over != "documents", over != "systems"), strict=True
    ):
        found = spread(fisher_z(values / size), of) if wanted else Spread(0.0, 1.0)
        if found is None:
            return NONE
        parts.append(found)
    if moderate is not None and over != "documents":
        parts[0] = moderate(parts[0])
    whole = added(parts)
    of_systems, of_documents = (one.variance for one in parts)
    if whole.variance == 0:
        return Ends(left.value, left.value, 0.0, 0.0, whole.freedom)
    critical = float(scipy.special.stdtrit(whole.freedom, (1.0 + confidence) / 2.0))
    centre = float(fisher_z(np.array(left.value / size)))
    reach = critical * np.sqrt(whole.variance)
    low, high = size * np.tanh(centre - reach), size * np.tanh(centre + reach)
    # A value of 1 is taken for less (NEAR_ONE), yet lies in its own interval.
    low, high = min(float(low), left.value), max(float(high), left.value)
    return Ends(low, high, of_systems, of_documents, whole.freedom)


def fisher_z(values: Array) -> Array:
    """Fisher's transform; what is nearer to 1 or -1 than .9999 is taken for that."""
    moved: Array = np.arctanh(np.clip(values, -NEAR_ONE, NEAR_ONE))
    return moved


POWER = 0.8  # four times in five


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
    (systems, documents that count by themselves). Each shrinks with the number of its own. They
    and `target` are on Fisher's z scale. Wanted is an interval so narrow that its end lies beyond
    what is so far away, four times in five; of all such pairs the one with the fewest texts.
    At system level, and without variances (NaN), by Fisher's transform for the systems alone. NaN
    where more of both would not do within a hundred times the study, for a target of 0 or less, and
    for what no study has: nothing in it, or variances below 0.
    A rough guide: the variances are estimates.
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

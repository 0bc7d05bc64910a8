"""Is one metric closer to people than another, or is it chance?

Paired permutation tests, Williams' test, the paired bootstrap, and corrections for many tests. All
three-way comparisons use only cells that have both metrics and people, and count signs: negate a
metric of which less is better. NaN is undefined.

Under the null the two metrics, standardised, are exchangeable: a permutation swaps their scores
for some systems, some documents, or both (then a cell that both would swap stays). Sums and ranks
are had from the swaps alone, all permutations at a time. Source: Deutsch et al. 2021, A Statistical
Analysis of Summarization Evaluation Metrics Using Resampling Methods (PERM-SYS, PERM-INPUT,
PERM-BOTH).
"""

import hashlib
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np
import scipy.special
from numpy.typing import ArrayLike, NDArray

from metassay.statistics.components import correlate_at, mean_over_strata
from metassay.statistics.correlation import (
    CANCELS,
    EVERY_COEFFICIENT,
    TIE,
    WEIGHTED,
    Coefficient,
    Level,
    correlate,
    matrices,
    tied,
)
from metassay.statistics.exact_sums import (
    Array,
    Mask,
    blocks,
    deviations,
    mean_of_defined,
    product_moment,
    quotient,
    ratio,
    weighted_sums,
)
from metassay.statistics.layout import Layout, Part, plain
from metassay.statistics.resampling import HELD, Draws, Resample, resampled, varied

Alternative = Literal["two-sided", "greater", "less"]
EQUAL = 1e-12  # differences closer than this are equal
PAIRED_ITEMS = 512  # items up to which looking at every pair once beats ranking each time
ROWS = 1024  # permutations at a time; with many documents fewer, so that memory is bounded


class Swaps(NamedTuple):
    """Which systems and which documents each permutation swaps; a cell in both stays."""

    systems: Mask  # (permutations, systems)
    documents: Mask  # (permutations, documents)


class PermutationTest(NamedTuple):
    """The difference of two metrics' correlations, and how often chance makes one as large."""

    difference: float  # correlation of a less that of b, on the same texts and documents
    p: float  # of no difference; NaN if undefined, or in most permutations
    n: int  # cells that have a, b and human
    n_undefined: int  # permutations without a difference
    n_missing: int  # cells that have some of the three but not all


class Trio(NamedTuple):
    """Two metrics, standardised, and people, in the cells that have all three; NaN elsewhere."""

    a: Array
    b: Array
    human: Array
    present: Mask
    n_missing: int


def permutation_test(  # noqa: PLR0913 - the data, the question, the resampling
    a: ArrayLike,
    b: ArrayLike,
    human: ArrayLike,
    level: Level,
    coefficient: Coefficient,
    *,
    resample: Resample,
    n: int,
    rng: np.random.Generator,
    alternative: Alternative = "two-sided",
    layout: Layout | None = None,
) -> PermutationTest:
    """Test whether metrics a and b correlate equally with people, by n random permutations.

    `greater` asks whether a's correlation is the larger one. p counts the data as one permutation
    more (Phipson and Smyth 2010), so that it is never 0. At document level only documents in which
    both metrics have a coefficient take part. With a `layout`, families and clusters swap as a
    whole, and each stratum has its own difference. Raises ValueError unless the three are system x
    document arrays of one shape.
    """
    trio = common(a, b, human)
    systems, documents = trio.present.shape
    shape, layout = (systems, documents), layout or plain(trio.present.shape)
    swaps = draw_swaps(shape, resample=resample, n=n, rng=rng, layout=layout)
    return by_permutation(
        trio, level, coefficient, swaps, resample, layout, alternative=alternative
    )


Known = dict[tuple[bytes, ...], Array]  # what is a metric's own, for its next pair


def by_permutation(  # noqa: PLR0913 - as `permutation_test`
    trio: Trio,
    level: Level,
    coefficient: Coefficient,
    swaps: Swaps,
    resample: Resample,
    layout: Layout,
    *,
    alternative: Alternative = "two-sided",
    known: Known | None = None,
) -> PermutationTest:
    """`permutation_test` by these swaps; pairs of the same people and swaps share `known`."""
    none = Swaps(*(np.zeros((1, size), dtype=bool) for size in trio.present.shape))
    observed = float(_in_strata(trio, level, coefficient, none, "documents", layout, None)[0])
    values = _in_strata(trio, level, coefficient, swaps, resample, layout, known)
    defined, p = values[~np.isnan(values)], np.nan
    if not np.isnan(observed) and 2 * defined.size >= values.size:
        turn = {"two-sided": np.abs, "greater": np.positive, "less": np.negative}[alternative]
        extreme = np.count_nonzero(turn(defined) >= turn(observed) - EQUAL)
        p = (1 + int(extreme)) / (1 + defined.size)
    n_undefined = values.size - defined.size
    return PermutationTest(observed, p, int(trio.present.sum()), n_undefined, trio.n_missing)


def _in_strata(
    trio: Trio,
    level: Level,
    coefficient: Coefficient,
    swaps: Swaps,
    resample: Resample,
    layout: Layout,
    known: Known | None,
) -> Array:
    """`permuted`; where there are strata the mean of theirs, as `correlate_at` has it."""
    if layout.n_strata == 1 or level == "document":  # documents count alike in any stratum
        return permuted(trio, level, coefficient, swaps, resample, known)

    def of(part: Part) -> Array:
        inside = common(part.of(trio.a), part.of(trio.b), part.of(trio.human))
        moved = Swaps(swaps.systems[:, part.rows], swaps.documents[:, part.columns])
        return permuted(inside, level, coefficient, moved, resample)

    return mean_over_strata(of, len(swaps.systems), trio.present, layout, level)


def draw_swaps(
    shape: tuple[int, int],
    *,
    resample: Resample,
    n: int,
    rng: np.random.Generator,
    layout: Layout | None = None,
) -> Swaps:
    """n permutations of a (systems, documents) matrix: each thing swaps by a fair coin.

    With a `layout`, whole families of systems and whole clusters of documents do.
    """
    layout = layout or plain(shape)
    systems: Mask = np.zeros((n, layout.n_families), dtype=bool)
    documents: Mask = np.zeros((n, layout.n_clusters), dtype=bool)
    for coins in [systems] * (resample != "documents") + [documents] * (resample != "systems"):
        for rows in blocks(n, coins.shape[1], numbers=HELD):
            coins[rows] = rng.random(coins[rows].shape) < 0.5
    if systems.shape[1] < shape[0]:
        systems = systems[:, layout.family]
    return Swaps(systems, documents[:, layout.cluster] if layout.clustered else documents)


def common(a: ArrayLike, b: ArrayLike, human: ArrayLike) -> Trio:
    """The three arrays in the cells that have all of them, a and b each with mean 0 and SD 1.

    A constant metric becomes 0. Raises ValueError as `matrices`.
    """
    x, z, has_x = matrices(a, human)
    y, _, has_y = matrices(b, human)
    present = has_x & has_y
    some = np.isfinite(x) | np.isfinite(y) | np.isfinite(z)
    weights = present.ravel().astype(np.float64)
    standard = []
    for values in (x, y):
        deviation = deviations(np.where(present, values, 0.0).ravel(), weights)
        spread = np.sqrt(np.sum(deviation**2) / max(1.0, float(np.sum(weights))))
        scaled = (deviation / (spread if spread > 0 else 1.0)).reshape(values.shape)
        standard.append(np.where(present, scaled, np.nan))
    missing = int(np.count_nonzero(some & ~present))
    return Trio(standard[0], standard[1], np.where(present, z, np.nan), present, missing)


def permuted(
    trio: Trio,
    level: Level,
    coefficient: Coefficient,
    swaps: Swaps,
    resample: Resample,
    known: Known | None = None,
) -> Array:
    """Correlation of a less that of b in each permutation: (permutations,), NaN if undefined."""
    difference = {"system": _of_means, "document": _within_documents, "global": _pooled}[level]
    values = np.empty(len(swaps.systems))
    # A document's correlations need the swaps of one document at a time.
    width = swaps.systems.shape[1] if level == "document" else swaps.documents.shape[1]
    for rows in blocks(values.size, max(width, HELD // ROWS), numbers=HELD):
        part = Swaps(swaps.systems[rows], swaps.documents[rows])
        values[rows] = difference(trio, coefficient, part, resample, _Own(known, str(rows)))
    return values


class _Own(NamedTuple):
    """What is a metric's own in some permutations, for the next pair of it in the same cells."""

    known: Known | None
    rows: str

    def of(self, metric: Array, make: Callable[[Array], Array]) -> Array:
        if self.known is None:
            return make(metric)
        key = self.rows.encode(), hashlib.sha256(metric.tobytes()).digest()  # it may be large
        if key not in self.known:
            self.known[key] = make(metric)
        return self.known[key]


def _of_means(trio: Trio, coefficient: Coefficient, swaps: Swaps, _: Resample, own: _Own) -> Array:
    has = np.any(trio.present, axis=1)
    a, b, z = (np.where(trio.present, v, 0.0)[has] for v in (trio.a, trio.b, trio.human))
    counts = np.count_nonzero(trio.present[has], axis=1)
    here = Swaps(swaps.systems[:, has], swaps.documents)

    def sums(metric: Array) -> Array:
        return _swapped(np.where(trio.present, metric, 0.0)[has], here)

    moved = own.of(trio.b, sums) - own.of(trio.a, sums)
    x = (np.sum(a, axis=1) + moved) / counts
    y = (np.sum(b, axis=1) - moved) / counts
    human = _even(np.sum(z, axis=1) / counts, z)
    if coefficient == "pearson":
        once = np.ones(human.size)
        people = deviations(human, once)
        first, second = (product_moment(deviations(one, once), people, once) for one in (x, y))
        return first - second
    of = EVERY_COEFFICIENT[coefficient]
    return of(_even(x, a), human) - of(_even(y, b), human)


def _even(means: Array, scores: Array) -> Array:
    return tied(means, tolerance=TIE * float(np.max(np.abs(scores), initial=0.0)))


def _swapped(values: Array, swaps: Swaps) -> Array:
    # The sum of each row's swapped cells, (permutations, systems), exact in any order.
    of_documents = weighted_sums(values, swaps.documents.astype(np.float64))
    rows = np.sum(values, axis=1)
    return np.where(swaps.systems, rows - of_documents, of_documents)


def _within_documents(
    trio: Trio, coefficient: Coefficient, swaps: Swaps, resample: Resample, own: _Own
) -> Array:
    # The mean over the documents in which both metrics have a coefficient: the same for both.
    n = len(swaps.systems)
    totals, defined = np.zeros((2, n))
    if resample == "documents":  # whole documents change sides: their correlations stay
        of = EVERY_COEFFICIENT[coefficient]
        a, b = (
            own.of(metric, lambda metric: of(metric.T, trio.human.T)) for metric in (trio.a, trio.b)
        )
        differences = a - b
        known = ~np.isnan(differences)
        if not known.any():
            return np.full(n, np.nan)
        for rows in blocks(n, int(known.sum())):
            swapped = swaps.documents[rows][:, known]
            totals[rows] = np.where(swapped, -differences[known], differences[known]).sum(axis=1)
        return np.asarray(totals / known.sum())
    for d, there in enumerate(trio.present.T):
        x, y, z = (v[there, d] for v in (trio.a, trio.b, trio.human))
        both = _one_document(x, y, z, coefficient, swaps.systems[:, there])
        difference = np.where(swaps.documents[:, d], -1.0, 1.0) * (both[0] - both[1])
        known = ~np.isnan(difference)
        totals += np.where(known, difference, 0.0)
        defined += known
    return quotient(totals, defined, defined > 0)


def paired_differences(trio: Trio, coefficient: Coefficient) -> Array:
    """(documents,) the correlation of a less that of b; NaN where one of the two has none."""
    of = EVERY_COEFFICIENT[coefficient]
    return of(trio.a.T, trio.human.T) - of(trio.b.T, trio.human.T)


def _one_document(x: Array, y: Array, z: Array, coefficient: Coefficient, swap: Mask) -> Array:
    # Both metrics' correlation with z (systems,) under each row of swaps: (2, permutations).
    if x.size < 2:
        return np.full((2, len(swap)), np.nan)
    if coefficient == "pearson":
        return _pearson_of_swaps(x, y, z, swap)
    if coefficient != "kendall":
        of = EVERY_COEFFICIENT[coefficient]
        return np.stack([of(np.where(swap, y, x), z), of(np.where(swap, x, y), z)])
    # Which of the 2 k scores each metric has now: whole numbers, so that BLAS is exact.
    chosen = np.concatenate((~swap, swap), axis=1).astype(np.float64)
    scores = np.concatenate((x, y))
    sign, order = np.sign(scores[:, None] - scores), np.sign(z[:, None] - z)
    values = []
    alike = sign * np.tile(order, (2, 2))
    size = np.sqrt(np.full(len(chosen), np.sum(np.abs(order))))
    for taken in (chosen, 1 - chosen):
        agreement, untied = (
            np.sum((taken @ pairs) * taken, axis=1) for pairs in (alike, np.abs(sign))
        )
        values.append(ratio(agreement, np.sqrt(untied), size))
    return np.stack(values)


def _pearson_of_swaps(x: Array, y: Array, z: Array, swap: Mask) -> Array:
    k = x.size
    both = deviations(np.concatenate((x, y)), np.ones(2 * k))
    drawn = swap.astype(np.float64)

    a, b, human = both[:k], both[k:], deviations(z, np.ones(k))
    sums = [weighted_sums(_terms(one, human), drawn).T for one in (a, b)]
    values = _from_sums(a, b, human, k, sums[1] - sums[0])
    for metric, row in zip(*np.nonzero(np.isinf(values)), strict=True):
        now = np.where(swap[row], y, x) if metric == 0 else np.where(swap[row], x, y)
        values[metric, row] = EVERY_COEFFICIENT["pearson"](now, z)
    return values


def _terms(metric: Array, human: Array) -> Array:
    return np.stack((metric, metric * metric, metric * human))


def _from_sums(a: Array, b: Array, human: Array, n: int, moved: Array) -> Array:
    # Both metrics' Pearson correlation (2, permutations) from sums of x, x x and x z; infinite
    # where they cancel. `moved` (3, permutations): the sums of what changes sides, b's less a's.
    start = np.array([[np.sum(t) for t in _terms(one, human)] for one in (a, b)])
    sums = np.stack((start[0, :, None] + moved, start[1, :, None] - moved))
    size = sums[:, 1] - sums[:, 0] ** 2 / n
    sound = size > CANCELS * (np.sum(a * a) + np.sum(b * b))
    size_z = np.full_like(size, np.sqrt(np.sum(human**2)))
    values = ratio(sums[:, 2], np.sqrt(np.where(sound, size, 1.0)), size_z)
    return np.where(sound, values, np.inf)


def _pooled(trio: Trio, coefficient: Coefficient, swaps: Swaps, _: Resample, own: _Own) -> Array:
    if coefficient != "pearson":
        return _pooled_explicitly(trio, coefficient, swaps)
    cells = trio.present
    n = int(np.count_nonzero(cells))
    human = np.zeros(cells.shape)
    human[cells] = deviations(trio.human[cells], np.ones(n))
    a, b = (np.where(cells, v, 0.0) for v in (trio.a, trio.b))

    def swapped(metric: Array) -> Array:
        terms = _terms(np.where(cells, metric, 0.0), human)
        return np.stack([np.sum(_swapped(term, swaps), axis=1) for term in terms])

    moved = own.of(trio.b, swapped) - own.of(trio.a, swapped)
    values = _from_sums(a, b, human, max(n, 1), moved)
    difference = np.zeros(values.shape[1])
    sound = np.all(np.isfinite(values), axis=0) | np.any(np.isnan(values), axis=0)
    np.subtract(values[0], values[1], out=difference, where=sound)
    if not np.all(sound):
        again = Swaps(swaps.systems[~sound], swaps.documents[~sound])
        difference[~sound] = _pooled_explicitly(trio, coefficient, again)
    return difference


def _pooled_explicitly(trio: Trio, coefficient: Coefficient, swaps: Swaps) -> Array:
    cells = trio.present
    a, b, human = trio.a[cells], trio.b[cells], trio.human[cells]
    system, document = np.nonzero(cells)
    values = np.empty((2, len(swaps.systems)))
    of = EVERY_COEFFICIENT[coefficient]
    paired = coefficient == "kendall" and a.size <= PAIRED_ITEMS
    for rows in blocks(values.shape[1], 1 if paired else 4 * a.size):
        swap = swaps.systems[rows][:, system] ^ swaps.documents[rows][:, document]
        if paired:
            values[:, rows] = _one_document(a, b, human, coefficient, swap)
        else:
            values[:, rows] = [of(np.where(other, b, a), human) for other in (swap, ~swap)]
    return np.asarray(values[0] - values[1])


class Williams(NamedTuple):
    """The test of two correlations that share people; NaN if undefined."""

    difference: float  # r12 - r13
    t: float  # n - 3 degrees of freedom
    p: float  # of r12 = r13
    n: int  # what the correlations rest on: items, systems, or systems per document
    n_missing: int  # cells with some of the three scores but not all


def williams_test(
    r12: float, r13: float, r23: float, n: int, *, alternative: Alternative = "two-sided"
) -> tuple[float, float]:
    """t and p of Williams' test that correlations r12 and r13 are equal, r23 between 2 and 3.

    `greater`: that r12 is larger. NaN with n < 4, an undefined correlation, or 2 and 3 the same
    but for their sign. Source: Steiger 1980, Tests for comparing elements of a correlation matrix,
    eq. 7 (Williams' T2).
    """
    if n < 4 or not np.isfinite(r12 + r13 + r23) or abs(r23) >= 1.0 - 1e-12:
        return np.nan, np.nan
    determinant = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    size = 2 * (n - 1) / (n - 3) * max(determinant, 0.0) + ((r12 + r13) / 2) ** 2 * (1 - r23) ** 3
    if size <= 0:
        return np.nan, np.nan
    t = (r12 - r13) * np.sqrt((n - 1) * (1 + r23) / size)
    tail = {"two-sided": -abs(t), "greater": -t, "less": t}[alternative]
    p = (2 if alternative == "two-sided" else 1) * scipy.special.stdtr(n - 3, tail)
    return float(t), float(p)


def williams(
    a: ArrayLike,
    b: ArrayLike,
    human: ArrayLike,
    level: Level,
    coefficient: Coefficient,
    *,
    alternative: Alternative = "two-sided",
) -> Williams:
    """Williams' test that metrics a and b correlate equally with people at a level.

    It takes items for independent and scores for normal: sound at system level; at global level too
    sure, since items share documents; at document level (n is the largest number of systems in a
    document) too unsure, since documents are averaged. Prefer `permutation_test` at both. The
    nlpstats package drops all signs, also that of the correlation of a and b, and so may take three
    correlations for ones that no data can have.
    """
    return williams_of(common(a, b, human), level, coefficient, alternative=alternative)


def williams_of(
    trio: Trio, level: Level, coefficient: Coefficient, *, alternative: Alternative = "two-sided"
) -> Williams:
    """`williams` of metrics in the cells that both and people have."""
    r12 = correlate(trio.a, trio.human, level, coefficient)
    r13 = correlate(trio.b, trio.human, level, coefficient).value
    r23 = correlate(trio.a, trio.b, level, coefficient).value
    n = r12.n if level != "document" else int(np.max(trio.present.sum(axis=0), initial=0))
    t, p = williams_test(r12.value, r13, r23, n, alternative=alternative)
    return Williams(r12.value - r13, t, p, n, trio.n_missing)


class Sampled(NamedTuple):
    """A correlation, or a difference of two, in the data and in each resample."""

    value: float
    samples: Array  # (resamples,), NaN where undefined
    varied: bool  # whether the resamples differ in anything that could be correlated

    def less(self, other: "Sampled") -> "Sampled":
        """The difference of two metrics' correlations, resampled by the same draws."""
        both = self.varied and other.varied
        return Sampled(self.value - other.value, self.samples - other.samples, both)


def sampled(
    metric: Array,
    human: Array,
    level: Level,
    coefficient: Coefficient,
    draws: Draws,
    layout: Layout | None = None,
) -> Sampled:
    """One metric's correlation; metrics with the same missing cells can share theirs."""
    return Sampled(
        correlate_at(metric, human, level, coefficient, layout).value,
        resampled(metric, human, level, coefficient, draws, layout),
        varied(metric, human, level, coefficient, draws),
    )


def sampled_by_document(
    trios: Sequence[Trio], coefficient: Coefficient, draws: Draws
) -> list[Sampled]:
    """Of each two metrics the mean difference over the documents in which both have a coefficient.

    The trios are of one study, so that a metric that several have is computed once per document.
    """
    n, n_documents = draws.documents.shape
    fixed = [paired_differences(trio, coefficient) for trio in trios]
    totals, counts = np.zeros((2, len(trios), n))
    for place in range(n_documents):
        drawn = draws.documents[:, place]
        columns: dict[bytes, Array] = {}
        for number, trio in enumerate(trios):
            if draws.resample == "documents":
                difference = np.broadcast_to(fixed[number][place], n)
            else:
                difference = _drawn_difference(trio, place, coefficient, draws, columns)
            known = ~np.isnan(difference)
            totals[number] += np.where(known, difference, 0.0) * drawn
            counts[number] += known * drawn
    means = quotient(totals, counts, counts > 0)
    found = []
    for trio, differences, samples in zip(trios, fixed, means, strict=True):
        there = ~np.isnan(differences)
        systems = bool(trio.present[:, there].any(axis=1).sum() > 1)
        documents = bool(there.sum() > 1)
        moved = {"systems": systems, "documents": documents, "both": systems and documents}
        found.append(Sampled(mean_of_defined(differences), samples, moved[draws.resample]))
    return found


def _drawn_difference(
    trio: Trio, place: int, coefficient: Coefficient, draws: Draws, columns: dict[bytes, Array]
) -> Array:
    there = np.flatnonzero(trio.present[:, place])
    human = trio.human[there, place]
    both = []
    for metric in (trio.a, trio.b):
        scores = metric[there, place]
        key = there.tobytes() + scores.tobytes()
        if key not in columns:
            weights = draws.systems.astype(np.float64)
            columns[key] = WEIGHTED[coefficient](scores, human, there, weights)
        both.append(columns[key])
    return both[0] - both[1]


class PairedBootstrap(NamedTuple):
    """The difference of two metrics' correlations over shared resamples; NaN if undefined."""

    difference: float  # correlation of a less that of b
    low: float
    high: float
    p: float  # two-sided, of no difference
    n: int  # cells that have all three scores
    n_undefined: int  # resamples without a difference
    n_missing: int  # cells with some of the three scores but not all


def paired(found: Sampled, trio: Trio, *, confidence: float) -> PairedBootstrap:
    """Percentile interval of how much more a correlates with people than b, and its p.

    p is twice the smaller share of resamples on either side of 0 (0 itself counts on both), the
    data counted as one resample more. All NaN but the difference if fewer than half of the
    resamples have one, or if only one of the documents (or systems) that are drawn has anything to
    correlate.
    """
    values = found.samples
    defined = values[~np.isnan(values)]
    counts = int(np.count_nonzero(trio.present)), values.size - defined.size, trio.n_missing
    if np.isnan(found.value) or 2 * defined.size < values.size or not found.varied:
        return PairedBootstrap(found.value, np.nan, np.nan, np.nan, *counts)
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(defined, (tail, 1.0 - tail))
    side = min(np.count_nonzero(defined <= EQUAL), np.count_nonzero(defined >= -EQUAL))
    p = min(1.0, 2.0 * (1 + side) / (1 + defined.size))
    return PairedBootstrap(found.value, float(low), float(high), p, *counts)


def holm(p: ArrayLike) -> Array:
    """Holm's adjusted p values (n,): the chance of any false finding in the family is bounded.

    NaN (a test without a value) is not a member of the family and stays NaN. Source: Holm 1979, A
    simple sequentially rejective multiple test procedure.
    """
    values, order, adjusted = _family(p)
    factor = np.arange(values.size, 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(values * factor), 1.0)
    return adjusted


def benjamini_hochberg(p: ArrayLike) -> Array:
    """Benjamini and Hochberg's adjusted p values (n,): bounds the share of findings that are false.

    NaN as for `holm`. Source: Benjamini and Hochberg 1995, Controlling the false discovery rate.
    """
    values, order, adjusted = _family(p)
    raised = values * values.size / np.arange(1, values.size + 1)
    adjusted[order] = np.minimum(np.minimum.accumulate(raised[::-1])[::-1], 1.0)
    return adjusted


def _family(p: ArrayLike) -> tuple[Array, NDArray[np.intp], Array]:
    # The values that are there, ascending, where they came from, and room for the adjusted.
    given = np.asarray(p, dtype=np.float64)
    if given.ndim != 1 or np.any((given < 0) | (given > 1)):
        raise ValueError("want a row of p values between 0 and 1")
    there = np.flatnonzero(~np.isnan(given))
    order = there[np.argsort(given[there], kind="stable")]
    return given[order], order, np.full(given.shape, np.nan)

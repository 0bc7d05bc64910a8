"""Does one metric agree better with people than another, or is it chance?

Paired permutation tests, Williams' test, the paired bootstrap, and corrections for many
tests. All comparisons use only cells that have both metrics and people, and keep signs:
negate a metric of which less is better. NaN is undefined.

Under the null the two standardised metrics are exchangeable: a permutation swaps their
scores for some systems, some documents, or both (a cell that both swap stays as it is).
Sums are computed from the swaps, for all permutations at once. Source: Deutsch et al.
2021, A Statistical Analysis of Summarization Evaluation Metrics Using Resampling
Methods (PERM-SYS, PERM-INPUT, PERM-BOTH).
"""

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np
import scipy.special
from numpy.typing import ArrayLike

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
    tie_near,
)
from metassay.statistics.exact_sums import (
    Array,
    Index,
    Mask,
    blocks,
    deviations,
    mean_of_defined,
    product_moment,
    quotient,
    ratio,
    weighted_sums,
)
from metassay.statistics.layout import Layout, Part, default_layout
from metassay.statistics.resampling import (
    CHUNK,
    Draws,
    Resample,
    correlate_resamples,
    varies,
)

Alternative = Literal["two-sided", "greater", "less"]
EQUAL = 1e-12  # differences closer than this are equal
PAIRED_ITEMS = 512  # items up to which comparing all pairs once beats ranking each time
ROWS = 1024  # permutations at a time; fewer with many documents, to bound memory


class Swaps(NamedTuple):
    """Which systems and which documents each permutation swaps; a cell in both stays."""

    systems: Mask  # (permutations, systems)
    documents: Mask  # (permutations, documents)


class PermutationTest(NamedTuple):
    """The difference of two metrics' correlations, and its p value by permutation."""

    # correlation of a less that of b, on the same texts and documents
    difference: float
    p: float  # of no difference; NaN if undefined, in the data or in most permutations
    n: int  # cells that have a, b and human
    n_undefined: int  # permutations without a difference
    n_missing: int  # cells that have some of the three but not all


class Trio(NamedTuple):
    """Two standardised metrics and people, in the cells that all have; NaN elsewhere."""

    a: Array
    b: Array
    human: Array
    present: Mask
    n_missing: int


class Trios(NamedTuple):
    """Pairs of standardised metrics and people, in the cells that all have; NaN elsewhere."""

    metrics: Array  # (metrics, systems, documents)
    human: Array  # (systems, documents)
    present: Mask
    pairs: Index  # (2, pairs): the places of a, and of b
    n_missing: Index  # (pairs,) cells that have some of the three but not all

    def select(self, pair: int) -> Trio:
        """Return one pair."""
        a, b = self.pairs[:, pair]
        missing = int(self.n_missing[pair])
        return Trio(self.metrics[a], self.metrics[b], self.human, self.present, missing)


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

    `greater`: the alternative that a's correlation is larger. p counts the data as one
    more permutation (Phipson and Smyth 2010), so that it is never 0. At document level
    only documents in which both metrics have a coefficient count. With a `layout`,
    families and clusters swap as a whole, and the difference is computed within each
    stratum. Raises ValueError unless the three are system x document arrays of one
    shape.
    """
    trios = common(a, b, human)
    layout = layout or default_layout(trios.present.shape)
    swaps = draw_swaps(
        trios.present.shape, resample=resample, n=n, rng=rng, layout=layout
    )
    how = level, coefficient, swaps, resample, layout
    return permutation_tests(trios, *how, alternative=alternative)[0]


def permutation_tests(
    trios: Trios,
    level: Level,
    coefficient: Coefficient,
    swaps: Swaps,
    resample: Resample,
    layout: Layout,
    *,
    alternative: Alternative = "two-sided",
) -> list[PermutationTest]:
    """Run `permutation_test` of each pair with these swaps."""
    keep = Swaps(*(np.zeros((1, size), dtype=bool) for size in trios.present.shape))
    differences = _permute_strata(trios, level, coefficient, keep, "documents", layout)[
        :, 0
    ].tolist()
    permutations = _permute_strata(trios, level, coefficient, swaps, resample, layout)
    turn = {"two-sided": np.abs, "greater": np.positive, "less": np.negative}[
        alternative
    ]
    n, tests = int(trios.present.sum()), []
    for pair, (observed, values) in enumerate(
        zip(differences, permutations, strict=True)
    ):
        defined, p = values[~np.isnan(values)], np.nan
        if not np.isnan(observed) and 2 * defined.size >= values.size:
            extreme = np.count_nonzero(turn(defined) >= turn(observed) - EQUAL)
            p = (1 + int(extreme)) / (1 + defined.size)
        counts = n, values.size - defined.size, int(trios.n_missing[pair])
        tests.append(PermutationTest(observed, p, *counts))
    return tests


def _permute_strata(
    trios: Trios,
    level: Level,
    coefficient: Coefficient,
    swaps: Swaps,
    resample: Resample,
    layout: Layout,
) -> Array:
    """Compute `permuted_differences`; with strata their mean, as in `correlate_at`."""
    # documents count alike in any stratum
    if layout.n_strata == 1 or level == "document":
        return permuted_differences(trios, level, coefficient, swaps, resample)

    def permute_part(part: Part) -> Array:
        present = part.select(trios.present)
        scores = (
            _standardise(part.select(trios.metrics), present),
            part.select(trios.human),
            present,
        )
        moved = Swaps(swaps.systems[:, part.rows], swaps.documents[:, part.columns])
        return permuted_differences(
            Trios(*scores, *trios[3:]), level, coefficient, moved, resample
        )

    size = len(trios.n_missing), len(swaps.systems)
    return mean_over_strata(permute_part, size, trios.present, layout, level)


def draw_swaps(
    shape: tuple[int, ...],
    *,
    resample: Resample,
    n: int,
    rng: np.random.Generator,
    layout: Layout | None = None,
) -> Swaps:
    """Draw n permutations of a (systems, documents) matrix: each row or column swaps with p = 1/2.

    With a `layout`, whole families of systems and whole clusters of documents swap.
    """
    layout = layout or default_layout(shape)
    systems: Mask = np.zeros((n, layout.n_families), dtype=bool)
    documents: Mask = np.zeros((n, layout.n_clusters), dtype=bool)
    for coins in [systems] * (resample != "documents") + [documents] * (
        resample != "systems"
    ):
        for rows in blocks(n, coins.shape[1], numbers=CHUNK):
            coins[rows] = rng.random(coins[rows].shape) < 0.5
    if systems.shape[1] < shape[0]:
        systems = systems[:, layout.family]
    return Swaps(
        systems, documents[:, layout.cluster] if layout.clustered else documents
    )


def common(a: ArrayLike, b: ArrayLike, human: ArrayLike) -> Trios:
    """Return the three arrays in the cells that have all, a and b with mean 0 and SD 1.

    A constant metric becomes 0. Raises ValueError as `matrices` does.
    """
    return all_pairs((a, b), human)[0][1]


def all_pairs(
    metrics: Sequence[ArrayLike], human: ArrayLike
) -> list[tuple[Index, Trios]]:
    """Return all pairs of metrics as `common` does, grouped by the cells that they share.

    Each group comes with its pairs' places among the `combinations` of the metrics.
    """
    sides = [matrices(metric, human) for metric in metrics]
    groups: dict[bytes, list[tuple[int, int, int]]] = {}
    for place, (i, j) in enumerate(combinations(range(len(sides)), 2)):
        groups.setdefault((sides[i][2] & sides[j][2]).tobytes(), []).append(
            (place, i, j)
        )
    trios_by_cells = []
    for group in groups.values():
        places, *pairs = np.array(group).T
        present, people = sides[group[0][1]][2] & sides[group[0][2]][2], sides[0][1]
        rated = [
            np.isfinite([sides[i][0], sides[j][0], people]).any(axis=0)
            for _, i, j in group
        ]
        missing = np.array([np.count_nonzero(cells & ~present) for cells in rated])
        columns, local = np.unique(pairs, return_inverse=True)
        scores = _standardise(np.stack([sides[i][0] for i in columns]), present)
        human_scores = np.where(present, people, np.nan)
        trios = Trios(scores, human_scores, present, local.reshape(2, -1), missing)
        trios_by_cells.append((places, trios))
    return trios_by_cells


def _standardise(metrics: Array, present: Mask) -> Array:
    weights = present.ravel().astype(np.float64)
    standard = np.full(metrics.shape, np.nan)
    for metric, scaled in zip(metrics, standard, strict=True):
        deviation = deviations(np.where(present, metric, 0.0).ravel(), weights)
        spread = np.sqrt(np.sum(deviation**2) / max(1.0, float(np.sum(weights))))
        scaled[present] = (deviation / (spread if spread > 0 else 1.0))[present.ravel()]
    return standard


def permuted_differences(
    trios: Trios,
    level: Level,
    coefficient: Coefficient,
    swaps: Swaps,
    resample: Resample,
) -> Array:
    """Return (pairs, permutations) the correlation of a less that of b; NaN if undefined."""
    difference = {
        "system": _permute_means,
        "document": _permute_documents,
        "global": _pooled,
    }[level]
    values = np.empty((len(trios.n_missing), len(swaps.systems)))
    # A document's correlations need the swaps of one document at a time.
    width = swaps.systems.shape[1] if level == "document" else swaps.documents.shape[1]
    for rows in blocks(len(swaps.systems), max(width, CHUNK // ROWS), numbers=CHUNK):
        part = Swaps(swaps.systems[rows], swaps.documents[rows])
        values[:, rows] = difference(trios, coefficient, part, resample)
    return values


def _permute_means(
    trios: Trios, coefficient: Coefficient, swaps: Swaps, _: Resample
) -> Array:
    rows = np.any(trios.present, axis=1)
    both = trios.metrics, trios.human
    scores, z = (np.where(trios.present, side, 0.0)[..., rows, :] for side in both)
    counts = np.count_nonzero(trios.present[rows], axis=1)
    sides = swaps.systems[:, rows], swaps.documents.astype(np.float64)
    sums = np.sum(scores, axis=2)
    swapped = np.stack([_swap_sums(k, *sides) for k in scores])
    slack = TIE * np.max(np.abs(scores), axis=(1, 2), initial=0.0)
    slack_z = TIE * float(np.max(np.abs(z), initial=0.0))
    human = tie_near(np.sum(z, axis=1) / counts, tolerance=slack_z)
    ones = np.ones(human.size)
    people = deviations(human, ones)

    def correlate_means(k: Index, moves: Array) -> Array:
        means = (sums[k, None] + moves) / counts
        if coefficient == "pearson":
            return product_moment(deviations(means, ones), people, ones)
        return EVERY_COEFFICIENT[coefficient](
            tie_near(means, tolerance=slack[k, None, None]), human
        )

    values = np.empty((trios.pairs.shape[1], len(swaps.systems)))
    for some in blocks(len(values), values.shape[1] * human.size):
        a, b = trios.pairs[:, some]
        moves = swapped[b] - swapped[a]
        values[some] = correlate_means(a, moves) - correlate_means(b, -moves)
    return values


def _swap_sums(values: Array, systems: Mask, documents: Array) -> Array:
    # The sum of each row's swapped cells, (permutations, ..., systems), exact in any
    # order.
    flat = values.reshape(math.prod(values.shape[:-1]), values.shape[-1])
    of_documents = weighted_sums(flat, documents).reshape(
        len(documents), *values.shape[:-1]
    )
    return np.where(systems, np.sum(values, axis=-1) - of_documents, of_documents)


def _permute_documents(
    trios: Trios, coefficient: Coefficient, swaps: Swaps, resample: Resample
) -> Array:
    # The mean over the documents in which both metrics have a coefficient: the same for
    # both.
    means = np.full((len(trios.n_missing), len(swaps.systems)), np.nan)
    if resample == "documents":  # whole documents change sides: their correlations stay
        for values, difference in zip(
            means, paired_differences(trios, coefficient), strict=True
        ):
            defined = ~np.isnan(difference)
            n, cells = int(defined.sum()), slice(None) if defined.all() else defined
            for rows in blocks(len(values) if n else 0, n):
                swapped = swaps.documents[rows][:, cells]
                moved = np.where(swapped, -difference[cells], difference[cells])
                values[rows] = moved.sum(axis=1) / n
        return means
    for place, values in enumerate(means):
        trio = trios.select(place)
        totals, counts = np.zeros((2, len(values)))
        for d, rows in enumerate(trio.present.T):
            x, y, z = (v[rows, d] for v in (trio.a, trio.b, trio.human))
            both = _one_document(x, y, z, coefficient, swaps.systems[:, rows])
            difference = np.where(swaps.documents[:, d], -1.0, 1.0) * (
                both[0] - both[1]
            )
            defined = ~np.isnan(difference)
            totals += np.where(defined, difference, 0.0)
            counts += defined
        values[:] = quotient(totals, counts, counts > 0)
    return means


def paired_differences(trios: Trios, coefficient: Coefficient) -> Array:
    """Return (pairs, documents) the correlation of a less that of b; NaN if one is undefined."""
    of = EVERY_COEFFICIENT[coefficient]
    values = np.stack([of(metric.T, trios.human.T) for metric in trios.metrics])
    return np.asarray(values[trios.pairs[0]] - values[trios.pairs[1]])


def _one_document(
    x: Array, y: Array, z: Array, coefficient: Coefficient, swap: Mask
) -> Array:
    # Both metrics' correlation with z (systems,) under each row of swaps: (2,
    # permutations).
    if x.size < 2:
        return np.full((2, len(swap)), np.nan)
    if coefficient == "pearson":
        return _pearson_of_swaps(x, y, z, swap)
    if coefficient != "kendall":
        of = EVERY_COEFFICIENT[coefficient]
        return np.stack([of(np.where(swap, y, x), z), of(np.where(swap, x, y), z)])
    # Which of the 2 k scores each metric gets: whole numbers, so that BLAS is exact.
    chosen = np.concatenate((~swap, swap), axis=1).astype(np.float64)
    scores = np.concatenate((x, y))
    sign, order = np.sign(scores[:, None] - scores), np.sign(z[:, None] - z)
    values = []
    concordance = sign * np.tile(order, (2, 2))
    size = np.sqrt(np.full(len(chosen), np.sum(np.abs(order))))
    for choice in (chosen, 1 - chosen):
        agreement, untied = (
            np.sum((choice @ pairs) * choice, axis=1)
            for pairs in (concordance, np.abs(sign))
        )
        values.append(ratio(agreement, np.sqrt(untied), size))
    return np.stack(values)


def _pearson_of_swaps(x: Array, y: Array, z: Array, swap: Mask) -> Array:
    k = x.size
    both = deviations(np.concatenate((x, y)), np.ones(2 * k)).reshape(2, k)
    human = deviations(z, np.ones(k))
    a, b = (
        weighted_sums(_terms(metric, human), swap.astype(np.float64)).T
        for metric in both
    )
    values = _correlate_sums(both, human, k, b - a)
    for metric, row in zip(*np.nonzero(np.isinf(values)), strict=True):
        swapped = (
            np.where(swap[row], y, x) if metric == 0 else np.where(swap[row], x, y)
        )
        values[metric, row] = EVERY_COEFFICIENT["pearson"](swapped, z)
    return values


def _terms(metric: Array, human: Array) -> Array:
    return np.stack((metric, metric * metric, metric * human))


def _correlate_sums(both: Array, human: Array, n: int, moved: Array) -> Array:
    # Both metrics' Pearson correlation (2, permutations) from sums of x, x x and x z;
    # infinite where they cancel. `moved` (3, permutations): the swapped cells' sums,
    # b's less a's.
    start = np.array([[np.sum(t) for t in _terms(metric, human)] for metric in both])
    sums = start[:, :, None] + np.stack((moved, -moved))
    size = sums[:, 1] - sums[:, 0] ** 2 / n
    stable = size > CANCELS * (np.sum(both[0] * both[0]) + np.sum(both[1] * both[1]))
    size_z = np.full_like(size, np.sqrt(np.sum(human**2)))
    values = ratio(sums[:, 2], np.sqrt(np.where(stable, size, 1.0)), size_z)
    return np.where(stable, values, np.inf)


def _pooled(trios: Trios, coefficient: Coefficient, swaps: Swaps, _: Resample) -> Array:
    if coefficient != "pearson":
        each_trio = map(trios.select, range(len(trios.n_missing)))
        return np.stack(
            [_pooled_explicitly(trio, coefficient, swaps) for trio in each_trio]
        )
    cells = trios.present
    n = int(np.count_nonzero(cells))
    human = np.zeros(cells.shape)
    human[cells] = deviations(trios.human[cells], np.ones(n))
    scores = np.where(cells, trios.metrics, 0.0)
    swapped_by = swaps.systems[:, None], swaps.documents.astype(np.float64)
    swapped = [
        _swap_sums(_terms(metric, human), *swapped_by).sum(axis=2).T
        for metric in scores
    ]
    differences = np.zeros((len(trios.n_missing), len(swaps.systems)))
    for place, (a, b) in enumerate(trios.pairs.T):
        values = _correlate_sums(
            scores[[a, b]], human, max(n, 1), swapped[b] - swapped[a]
        )
        stable = np.all(np.isfinite(values), axis=0) | np.any(np.isnan(values), axis=0)
        np.subtract(values[0], values[1], out=differences[place], where=stable)
        if not np.all(stable):
            others = Swaps(swaps.systems[~stable], swaps.documents[~stable])
            differences[place, ~stable] = _pooled_explicitly(
                trios.select(place), coefficient, others
            )
    return differences


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
            values[:, rows] = [
                of(np.where(other, b, a), human) for other in (swap, ~swap)
            ]
    return np.asarray(values[0] - values[1])


class Williams(NamedTuple):
    """Williams' test of two correlations with the same ratings; NaN if undefined."""

    difference: float  # r12 - r13
    t: float  # n - 3 degrees of freedom
    p: float  # of r12 = r13
    n: int  # items, systems, or systems per document, by level
    n_missing: int  # cells with some of the three scores but not all


def williams_test(
    r12: float,
    r13: float,
    r23: float,
    n: int,
    *,
    alternative: Alternative = "two-sided",
) -> tuple[float, float]:
    """Return t and p of Williams' test that r12 = r13, where r23 is the correlation of 2 and 3.

    `greater`: the alternative that r12 is larger. NaN with n < 4, an undefined correlation, or
    |r23| = 1. Source: Steiger 1980, Tests for comparing elements of a correlation matrix,
    eq. 7 (Williams' T2).
    """
    if n < 4 or not np.isfinite(r12 + r13 + r23) or abs(r23) >= 1.0 - 1e-12:
        return np.nan, np.nan
    determinant = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    size = (
        2 * (n - 1) / (n - 3) * max(determinant, 0.0)
        + ((r12 + r13) / 2) ** 2 * (1 - r23) ** 3
    )
    if size <= 0:
        return np.nan, np.nan
    t = (r12 - r13) * np.sqrt((n - 1) * (1 + r23) / size)
    tail = {"two-sided": -abs(t), "greater": -t, "less": t}[alternative]
    p = (2 if alternative == "two-sided" else 1) * scipy.special.stdtr(n - 3, tail)
    return float(t), float(p)


def williams_of(
    trio: Trio,
    level: Level,
    coefficient: Coefficient,
    *,
    alternative: Alternative = "two-sided",
) -> Williams:
    """Test by Williams whether metrics a and b (`common`) correlate equally with people at a level.

    Assumes independent items and normal scores. That suits the system level. At global
    level p is too small, since items share documents; at document level (n is the
    largest number of systems in a document) too large, since documents are averaged.
    Prefer `permutation_test` at both. The nlpstats package drops all signs, also that
    of r23, and so can combine three correlations that no data can have.
    """
    r12 = correlate(trio.a, trio.human, level, coefficient)
    r13 = correlate(trio.b, trio.human, level, coefficient).value
    r23 = correlate(trio.a, trio.b, level, coefficient).value
    n = (
        r12.n
        if level != "document"
        else int(np.max(trio.present.sum(axis=0), initial=0))
    )
    t, p = williams_test(r12.value, r13, r23, n, alternative=alternative)
    return Williams(r12.value - r13, t, p, n, trio.n_missing)


class Bootstrap(NamedTuple):
    """A correlation, or a difference of two, in the data and in each resample."""

    value: float
    samples: Array  # (resamples,), NaN where undefined
    varied: bool  # whether the resamples differ in scores that can be correlated

    def less(self, other: "Bootstrap") -> "Bootstrap":
        """Subtract another metric's correlation; both are resampled by the same draws."""
        both = self.varied and other.varied
        return Bootstrap(self.value - other.value, self.samples - other.samples, both)


def resample_metric(
    metric: Array,
    human: Array,
    level: Level,
    coefficient: Coefficient,
    draws: Draws,
    layout: Layout | None = None,
) -> Bootstrap:
    """Resample a metric's correlation; pairs with the same missing cells can share it."""
    return Bootstrap(
        correlate_at(metric, human, level, coefficient, layout).value,
        correlate_resamples(metric, human, level, coefficient, draws, layout),
        varies(metric, human, level, coefficient, draws),
    )


def resample_by_document(
    trios: Trios, coefficient: Coefficient, draws: Draws
) -> list[Bootstrap]:
    """Resample each pair's mean difference over the documents where both have a coefficient.

    A metric that is in several pairs is computed once per document.
    """
    n, n_documents = draws.documents.shape
    fixed = paired_differences(trios, coefficient)
    totals, counts = np.zeros((2, len(fixed), n))
    weights = draws.systems.astype(np.float64)
    for some in blocks(n_documents, n):
        for place, times in enumerate(
            draws.documents[:, some].T.copy(), start=some.start
        ):
            differences = fixed[:, place, None]
            if draws.resample != "documents":
                rows = np.flatnonzero(trios.present[:, place])
                *scores, human = (v[rows, place] for v in (*trios.metrics, trios.human))
                of = WEIGHTED[coefficient]
                values = np.stack(
                    [of(metric, human, rows, weights) for metric in scores]
                )
                differences = values[trios.pairs[0]] - values[trios.pairs[1]]
            defined = ~np.isnan(differences)
            totals += np.where(defined, differences, 0.0) * times
            counts += defined * times
    means = quotient(totals, counts, counts > 0)
    pairs = []
    for differences, samples in zip(fixed, means, strict=True):
        rows = ~np.isnan(differences)
        systems = bool(trios.present[:, rows].any(axis=1).sum() > 1)
        several = bool(rows.sum() > 1)
        moved = {"systems": systems, "documents": several, "both": systems and several}
        pairs.append(
            Bootstrap(mean_of_defined(differences), samples, moved[draws.resample])
        )
    return pairs


class PairedBootstrap(NamedTuple):
    """The difference of two metrics' correlations over shared resamples; NaN if undefined."""

    difference: float  # correlation of a less that of b
    low: float
    high: float
    p: float  # two-sided, of no difference
    n: int  # cells that have all three scores
    n_undefined: int  # resamples without a difference
    n_missing: int  # cells with some of the three scores but not all


def bootstrap_pair(
    sampled: Bootstrap, trio: Trio, *, confidence: float
) -> PairedBootstrap:
    """Return the percentile interval of a's correlation less that of b, and its p.

    p is twice the smaller share of resamples on either side of 0 (0 counts on both
    sides), with the data as one more resample. Only the difference is not NaN if fewer
    than half of the resamples have one, or if only one of the resampled documents (or
    systems) has scores to correlate.
    """
    values = sampled.samples
    defined = values[~np.isnan(values)]
    counts = (
        int(np.count_nonzero(trio.present)),
        values.size - defined.size,
        trio.n_missing,
    )
    if np.isnan(sampled.value) or 2 * defined.size < values.size or not sampled.varied:
        return PairedBootstrap(sampled.value, np.nan, np.nan, np.nan, *counts)
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(defined, (tail, 1.0 - tail))
    side = min(np.count_nonzero(defined <= EQUAL), np.count_nonzero(defined >= -EQUAL))
    p = min(1.0, 2.0 * (1 + side) / (1 + defined.size))
    return PairedBootstrap(sampled.value, float(low), float(high), p, *counts)

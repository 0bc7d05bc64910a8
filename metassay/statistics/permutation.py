"""Paired permutation tests: is one metric closer to people than another, or is it chance.

Under the null the two metrics, standardised, are exchangeable: a permutation swaps their scores
for some systems, some documents, or both (then a cell that both would swap stays). No permuted
matrix is built where sums or ranks can be had from the swaps alone, all permutations at a time.
Source: Deutsch et al. 2021, A Statistical Analysis of Summarization Evaluation Metrics Using
Resampling Methods (PERM-SYS, PERM-INPUT, PERM-BOTH).
"""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from metassay.statistics.arithmetic import Array, Mask, blocks, deviations, ratio, weighted_sums
from metassay.statistics.components import mean_over_strata, rests_on, weights_of
from metassay.statistics.correlation import (
    EVERY_COEFFICIENT,
    TIE,
    Coefficient,
    Level,
    matrices,
    tied,
)
from metassay.statistics.layout import Layout, plain
from metassay.statistics.resampling import HELD, Resample
from metassay.statistics.weighted import CANCELS

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
    swaps: Swaps | None = None,
    layout: Layout | None = None,
) -> PermutationTest:
    """Test whether metrics a and b correlate equally with people, by n random permutations.

    `greater` asks whether a's correlation is the larger one, signs counted: negate a metric of
    which less is better. p counts the data as one permutation more (Phipson and Smyth 2010), so
    that it is never 0. `swaps` are drawn if not given. Only cells that have all three scores take
    part, and at document level only documents in which both metrics have a coefficient. With a
    `layout`, families and clusters swap as a whole, and each stratum has its own difference.
    Raises ValueError unless the three are system x document arrays of one shape.
    """
    trio = common(a, b, human)
    shape = (trio.a.shape[0], trio.a.shape[1])
    layout = layout or plain(shape)
    swaps = swaps or draw_swaps(shape, resample=resample, n=n, rng=rng, layout=layout)
    none = Swaps(*(np.zeros((1, size), dtype=bool) for size in shape))
    observed = float(_in_strata(trio, level, coefficient, none, "documents", layout)[0])
    values = _in_strata(trio, level, coefficient, swaps, resample, layout)
    defined, p = values[~np.isnan(values)], np.nan
    if not np.isnan(observed) and 2 * defined.size >= values.size:
        p = (1 + _as_extreme(defined, observed, alternative)) / (1 + defined.size)
    n_undefined = values.size - defined.size
    return PermutationTest(observed, p, int(trio.present.sum()), n_undefined, trio.n_missing)


def _in_strata(
    trio: Trio,
    level: Level,
    coefficient: Coefficient,
    swaps: Swaps,
    resample: Resample,
    layout: Layout,
) -> Array:
    """`permuted`; where there are strata the mean of theirs, as `correlate_at` has it."""
    if layout.n_strata == 1 or level == "document":  # documents count alike in any stratum
        return permuted(trio, level, coefficient, swaps, resample)
    parts = layout.parts(trio.present)
    if not parts:
        return np.full(len(swaps.systems), np.nan)
    each = [
        permuted(
            common(part.of(trio.a), part.of(trio.b), part.of(trio.human)),
            level,
            coefficient,
            Swaps(swaps.systems[:, part.rows], swaps.documents[:, part.columns]),
            resample,
        )
        for part in parts
    ]
    n = [rests_on(part.of(trio.present), level) for part in parts]
    return mean_over_strata(each, weights_of(level, n))


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
    x, y = (np.where(present, _standard(values, present), np.nan) for values in (x, y))
    human_scores = np.where(present, z, np.nan)
    return Trio(x, y, human_scores, present, int(np.count_nonzero(some & ~present)))


def permuted(
    trio: Trio, level: Level, coefficient: Coefficient, swaps: Swaps, resample: Resample
) -> Array:
    """Correlation of a less that of b in each permutation: (permutations,), NaN if undefined."""
    difference = {"system": _of_means, "document": _within_documents, "global": _pooled}[level]
    values = np.empty(len(swaps.systems))
    # A document's correlations need the swaps of one document at a time.
    width = swaps.systems.shape[1] if level == "document" else swaps.documents.shape[1]
    for rows in blocks(values.size, max(width, HELD // ROWS), numbers=HELD):
        part = Swaps(swaps.systems[rows], swaps.documents[rows])
        values[rows] = difference(trio, coefficient, part, resample)
    return values


def _as_extreme(values: Array, observed: float, alternative: Alternative) -> int:
    turn = {"two-sided": np.abs, "greater": np.positive, "less": np.negative}[alternative]
    return int(np.count_nonzero(turn(values) >= turn(observed) - EQUAL))


def _standard(values: Array, present: Mask) -> Array:
    weights = present.ravel().astype(np.float64)
    deviation = deviations(np.where(present, values, 0.0).ravel(), weights)
    spread = np.sqrt(np.sum(deviation**2) / max(1.0, float(np.sum(weights))))
    standard: Array = (deviation / (spread if spread > 0 else 1.0)).reshape(values.shape)
    return standard


def _of_means(trio: Trio, coefficient: Coefficient, swaps: Swaps, _: Resample) -> Array:
    has = np.any(trio.present, axis=1)
    a, b, z = (np.where(trio.present, v, 0.0)[has] for v in (trio.a, trio.b, trio.human))
    counts = np.count_nonzero(trio.present[has], axis=1)
    moved = _swapped(b - a, Swaps(swaps.systems[:, has], swaps.documents))
    x = (np.sum(a, axis=1) + moved) / counts
    y = (np.sum(b, axis=1) - moved) / counts
    human = _even(np.sum(z, axis=1) / counts, z)
    if coefficient != "pearson":
        x, y = _even(x, a), _even(y, b)
    of = EVERY_COEFFICIENT[coefficient]
    return of(x, human) - of(y, human)


def _even(means: Array, scores: Array) -> Array:
    return tied(means, tolerance=TIE * float(np.max(np.abs(scores), initial=0.0)))


def _swapped(values: Array, swaps: Swaps) -> Array:
    # The sum of each row's swapped cells, (permutations, systems), exact in any order.
    of_documents = weighted_sums(values, swaps.documents.astype(np.float64))
    rows = np.sum(values, axis=1)
    return np.where(swaps.systems, rows - of_documents, of_documents)


def _within_documents(
    trio: Trio, coefficient: Coefficient, swaps: Swaps, resample: Resample
) -> Array:
    # The mean over the documents in which both metrics have a coefficient: the same for both.
    n = len(swaps.systems)
    totals, defined = np.zeros((2, n))
    if resample == "documents":  # whole documents change sides: their correlations stay
        differences = paired_differences(trio, coefficient)
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
    return np.asarray(np.divide(totals, defined, out=np.full(n, np.nan), where=defined > 0))


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
    if coefficient == "kendall_c":
        of = EVERY_COEFFICIENT[coefficient]
        return np.stack([of(np.where(swap, y, x), z), of(np.where(swap, x, y), z)])
    # Which of the 2 k scores each metric has now: whole numbers, so that BLAS is exact.
    chosen = np.concatenate((~swap, swap), axis=1).astype(np.float64)
    scores = np.concatenate((x, y))
    sign = np.sign(scores[:, None] - scores)
    order = np.sign(z[:, None] - z)
    if coefficient == "spearman":
        return _spearman_of_swaps(chosen, sign, np.tile(np.sum(order, axis=1), 2))
    return _kendall_of_swaps(chosen, sign, np.tile(order, (2, 2)))


def _spearman_of_swaps(chosen: Array, sign: Array, human: Array) -> Array:
    # Twice the rank less its mean is what is smaller less what is larger.
    ranks = chosen @ sign.T
    size = np.sqrt(np.full(len(chosen), np.sum(human**2) / 2))
    values = []
    for taken, rank in ((chosen, ranks), (1 - chosen, np.sum(sign, axis=1) - ranks)):
        now = rank * taken
        values.append(ratio(np.sum(now * human, axis=1), np.sqrt(np.sum(now * now, axis=1)), size))
    return np.stack(values)


def _kendall_of_swaps(chosen: Array, sign: Array, order: Array) -> Array:
    k = len(order) // 2
    size = np.sqrt(np.full(len(chosen), np.sum(np.abs(order[:k, :k]))))
    values = []
    for taken in (chosen, 1 - chosen):
        agreement = np.sum((taken @ (sign * order)) * taken, axis=1)
        untied = np.sum((taken @ np.abs(sign)) * taken, axis=1)
        values.append(ratio(agreement, np.sqrt(untied), size))
    return np.stack(values)


def _pearson_of_swaps(x: Array, y: Array, z: Array, swap: Mask) -> Array:
    k = x.size
    both = deviations(np.concatenate((x, y)), np.ones(2 * k))
    u, v = both[:k], both[k:]
    human = deviations(z, np.ones(k))
    terms = np.stack((v - u, v * v - u * u, (v - u) * human))
    moved = weighted_sums(terms, swap.astype(np.float64)).T
    start = np.array([[np.sum(t), np.sum(t * t), np.sum(t * human)] for t in (u, v)])
    sums = np.stack((start[0, :, None] + moved, start[1, :, None] - moved))
    values = _from_sums(sums, k, np.sum(both**2), human)
    for metric, row in zip(*np.nonzero(np.isinf(values)), strict=True):
        now = np.where(swap[row], y, x) if metric == 0 else np.where(swap[row], x, y)
        values[metric, row] = EVERY_COEFFICIENT["pearson"](now, z)
    return values


def _from_sums(sums: Array, n: int, spread: float, human: Array) -> Array:
    # From sums (2, 3, permutations) of x, x x and x z; infinite where they cancel too much.
    size = sums[:, 1] - sums[:, 0] ** 2 / n
    sound = size > CANCELS * spread
    size_z = np.full_like(size, np.sqrt(np.sum(human**2)))
    values = ratio(sums[:, 2], np.sqrt(np.where(sound, size, 1.0)), size_z)
    return np.where(sound, values, np.inf)


def _pooled(trio: Trio, coefficient: Coefficient, swaps: Swaps, _: Resample) -> Array:
    if coefficient != "pearson":
        return _pooled_explicitly(trio, coefficient, swaps)
    cells = trio.present
    n = int(np.count_nonzero(cells))
    human = np.zeros(cells.shape)
    human[cells] = deviations(trio.human[cells], np.ones(n))
    a, b = (np.where(cells, v, 0.0) for v in (trio.a, trio.b))
    terms = (b - a, b * b - a * a, (b - a) * human)
    moved = np.stack([np.sum(_swapped(term, swaps), axis=1) for term in terms])
    start = np.array([[np.sum(t), np.sum(t * t), np.sum(t * human)] for t in (a, b)])
    sums = np.stack((start[0, :, None] + moved, start[1, :, None] - moved))
    values = _from_sums(sums, max(n, 1), float(np.sum(a * a) + np.sum(b * b)), human)
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
    paired = coefficient in ("spearman", "kendall") and a.size <= PAIRED_ITEMS
    for rows in blocks(values.shape[1], 1 if paired else 4 * a.size):
        swap = swaps.systems[rows][:, system] ^ swaps.documents[rows][:, document]
        if paired:
            values[:, rows] = _one_document(a, b, human, coefficient, swap)
        else:
            values[:, rows] = [of(np.where(other, b, a), human) for other in (swap, ~swap)]
    return np.asarray(values[0] - values[1])

"""Which of two texts or systems is better: compare a metric's order with people's or a metric's.

Pairwise accuracy is how often a metric orders, or ties, two texts or systems as people
do. Source: Deutsch, Foster, Freitag 2023, Ties Matter: Meta-Evaluating Modern Metrics
with Pairwise Accuracy and Tie Calibration (their acc_eq). Arrays of scores are system x
document, NaN missing.
"""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from metassay.statistics.correlation import TIE, Level, matrices, system_means, tie_near
from metassay.statistics.exact_sums import Array, Index, blocks, rankdata

# scores this close, relative to the largest, are tied; and accuracies are equal
ROUNDING = 1e-12


class PreferenceAgreement(NamedTuple):
    """A metric's order against people's preferences. The seven counts sum to all comparisons."""

    # share ordered or tied alike of those that both judged; NaN without any
    value: float
    # share ordered alike where people have a preference; a metric's tie is half
    decisive: float
    n_same: int  # both prefer the same text
    n_opposite: int  # they prefer different texts
    n_metric_tie: int  # the metric ties, people prefer one
    n_human_tie: int  # people tie, the metric prefers one
    n_both_tie: int
    n_abstained: int  # people gave no judgment
    n_missing: int  # people judged, but the metric lacks a score


class Disagreements(NamedTuple):
    """The pairs of one document's texts that two metrics order in opposite ways."""

    document: Index  # (pairs,) ascending
    preferred_by_a: Index  # (pairs,) the system that metric a prefers and b does not
    preferred_by_b: Index  # (pairs,) the other
    # (pairs,) distance in ranks by a plus that by b, 2 or more without ties
    conflict: Array
    n_pairs: int  # pairs whose texts both metrics scored, disagreements or not
    per_document: Index  # (documents,) number of disagreements


def preference_agreement(
    first: ArrayLike, second: ArrayLike, preferred: ArrayLike, *, epsilon: float = 0.0
) -> PreferenceAgreement:
    """Compare a metric's scores of the two texts of each comparison with people's preferences.

    preferred (comparisons,): 1 the first text, 0 the second, .5 a tie, NaN abstained;
    values between (the mean of several people) count for the nearer side. The metric
    ties scores that differ by at most epsilon. Raises ValueError for rows of unequal
    length, preferences outside 0 to 1, or a negative epsilon.
    """
    x, y, people = (
        np.asarray(row, dtype=np.float64) for row in (first, second, preferred)
    )
    if x.ndim != 1 or x.shape != y.shape or x.shape != people.shape or not epsilon >= 0:
        raise ValueError(
            "expected three rows of one length, and an epsilon of 0 or more"
        )
    if np.any((people < 0) | (people > 1)):
        raise ValueError("expected preferences of 0 to 1, NaN where people abstained")
    judged, scored = ~np.isnan(people), np.isfinite(x) & np.isfinite(y)
    both = judged & scored
    step = x[both] - y[both]
    slack = ROUNDING * np.maximum(np.abs(x[both]), np.abs(y[both]))
    by_metric = np.where(np.abs(step) <= epsilon + slack, 0.0, np.sign(step))
    by_people = np.sign(np.round(people[both] - 0.5, 12))
    agreement, ties = by_metric * by_people, (by_metric == 0, by_people == 0)
    same, opposite = int(np.sum(agreement == 1)), int(np.sum(agreement == -1))
    both_tie = int(np.sum(ties[0] & ties[1]))
    metric_tie, human_tie = (int(np.sum(tie)) - both_tie for tie in ties)
    n, decided = step.size, same + opposite + metric_tie
    value = (same + both_tie) / n if n else np.nan
    decisive = (same + metric_tie / 2) / decided if decided else np.nan
    excluded = int(np.sum(~judged)), int(np.sum(judged & ~scored))
    counts = (same, opposite, metric_tie, human_tie, both_tie, *excluded)
    return PreferenceAgreement(value, decisive, *counts)


def disagreements(a: ArrayLike, b: ArrayLike) -> Disagreements:
    """Return all pairs of systems within a document that metrics a and b order in opposite ways.

    Higher is better for both: negate other metrics. A tie on either side is no
    disagreement. Ranks are among the document's texts that both scored, mean ranks for
    ties. Raises ValueError unless both are system x document arrays of one shape.
    """
    x, y, present = matrices(a, b)
    first, second = np.triu_indices(len(x), 1)
    both = present[first] & present[second]
    steps = []
    for scores in (x, y):  # missing items sort last and do not change the other ranks
        filled = np.where(present, scores, np.inf)
        ranks = rankdata(filled, axis=0) if scores.size else np.zeros(scores.shape)
        steps.append(ranks[first] - ranks[second])
    opposite = both & (steps[0] * steps[1] < 0)
    document, pair = np.nonzero(opposite.T)
    step = steps[0][pair, document]
    a_system, b_system = first[pair], second[pair]
    return Disagreements(
        document,
        np.where(step > 0, a_system, b_system),
        np.where(step > 0, b_system, a_system),
        np.abs(step) + np.abs(steps[1][pair, document]),
        int(np.count_nonzero(both)),
        np.count_nonzero(opposite, axis=0).astype(np.intp),
    )


def draw_disagreements(
    disagreements: Disagreements,
    *,
    n: int,
    rng: np.random.Generator,
    order: Literal["largest", "uniform"],
) -> Index:
    """Draw the positions, ascending, of at most n pairs to annotate.

    `largest` takes the largest conflicts, random among equals: they decide most, but
    their agreement with people says nothing about other pairs. `uniform` draws all with
    equal chance.
    """
    shuffled = rng.permutation(disagreements.conflict.size)
    if order == "largest":
        shuffled = shuffled[
            np.argsort(-disagreements.conflict[shuffled], kind="stable")
        ]
    return np.sort(shuffled[:n])


class PairwiseAccuracy(NamedTuple):
    """The share of pairs ordered or tied alike, and its counts."""

    value: float  # 0 to 1, the mean over documents (document level); NaN without a pair
    chance: float  # expectation for randomly permuted scores at this epsilon
    epsilon: float  # the metric's scores within this distance are tied
    n: int  # document: documents with a pair; else pairs
    n_undefined: int  # documents without a pair (document level), else 0
    n_missing: int  # cells with only one of the two scores


class _Pairs(NamedTuple):
    gap: Array  # (..., pairs) distance of the metric's two scores
    right: Array  # (..., pairs) 1 if untied on both sides and ordered alike, else 0
    human_tie: Array  # (pairs,) 1 if people tie the two, else 0
    block: Index  # (pairs,) the document, or 0
    weight: Array  # (pairs,) what the pair adds to the mean over documents
    n_blocks: int  # documents with a pair
    slack: float  # rounding error of a gap


def pairwise_accuracy(
    metric: ArrayLike, human: ArrayLike, level: Level, *, epsilon: float = 0.0
) -> PairwiseAccuracy:
    """Compute acc_eq of a metric whose scores within `epsilon` of each other count as tied.

    - document: pairs of systems within a document, then the mean over documents with a
      pair.
    - system: pairs of the systems' means; global: pairs of any two items, n**2 / 2 of
      them.

    A pair that people tie counts as right only if the metric ties it, and vice versa.
    `chance` is the exact expectation under random permutation of the metric's scores.
    An epsilon chosen by `calibrate` on the same data makes value and chance look better
    than on new data; compare with `calibrated_chance` then. Raises ValueError for a
    negative epsilon, or shapes that differ.
    """
    if not epsilon >= 0:
        raise ValueError(f"expected an epsilon of 0 or more, got {epsilon}")
    a, b, missing = _cells(metric, human, level)
    pairs = _pairs(a, b)
    undefined = a.shape[1] - pairs.n_blocks if level == "document" else 0
    n = pairs.n_blocks if level == "document" else pairs.gap.size
    if not pairs.gap.size:
        return PairwiseAccuracy(np.nan, np.nan, epsilon, 0, undefined, missing)
    tie = pairs.gap <= epsilon + pairs.slack
    value = float(np.sum(np.where(tie, pairs.human_tie, pairs.right) * pairs.weight))
    # Each pair of people's occurs with each pair of the metric's equally often, in
    # either order.
    count = np.bincount(pairs.block)
    occupied = count > 0
    by_metric, by_people = (
        np.bincount(pairs.block, ties)[occupied] / count[occupied]
        for ties in (tie, pairs.human_tie)
    )
    chance = by_metric * by_people + (1 - by_metric) * (1 - by_people) / 2
    return PairwiseAccuracy(
        value, float(np.mean(chance)), epsilon, n, undefined, missing
    )


def calibrate(metric: ArrayLike, human: ArrayLike, level: Level) -> float:
    """Return the smallest epsilon that maximises `pairwise_accuracy`; 0 without pairs.

    Only 0 and the gaps that occur between the metric's scores are candidates.
    """
    return float(_best(_pairs(*_cells(metric, human, level)[:2]))[0])


def calibrated_chance(
    metric: ArrayLike,
    human: ArrayLike,
    level: Level,
    *,
    n: int,
    rng: np.random.Generator,
) -> float:
    """Return the mean accuracy of n random permutations of the metric's scores, each calibrated.

    Scores are permuted within documents at document level, else among all systems or
    items. A calibrated accuracy has to exceed this value, which is at least the share
    of pairs that people tie. NaN without a pair.
    """
    a, b, _ = _cells(metric, human, level)
    present = np.isfinite(a) & np.isfinite(b)
    scores, places = (
        np.where(present, a, np.nan),
        np.argsort(~present, axis=0, kind="stable"),
    )
    accuracies: list[Array] = []
    for rows in blocks(n, len(a) * a.size):
        # Present cells in random order, put back into the present cells.
        keys = np.where(present, rng.random((len(range(n)[rows]), *a.shape)), np.inf)
        all_scores, all_places = (
            np.broadcast_to(side, keys.shape) for side in (scores, places)
        )
        shuffled = np.take_along_axis(all_scores, np.argsort(keys, axis=1), axis=1)
        metrics = np.full_like(keys, np.nan)
        np.put_along_axis(metrics, all_places, shuffled, axis=1)
        accuracies.append(_best(_pairs(metrics, b))[1])
    return float(np.mean(np.concatenate(accuracies))) if accuracies else np.nan


def _cells(
    metric: ArrayLike, human: ArrayLike, level: Level
) -> tuple[Array, Array, int]:
    # A column per block of cells that are compared with each other.
    a, b, _ = matrices(metric, human)
    missing = int(np.sum(np.isfinite(a) != np.isfinite(b)))
    if level == "system":
        means = system_means(a, b, np.ones((1, a.shape[1])))
        return means[0].T, means[1].T, missing
    if level == "global":
        return a.reshape(-1, 1), b.reshape(-1, 1), missing
    return a, b, missing


def _pairs(metric: Array, human: Array) -> _Pairs:
    # `metric` is (..., systems, blocks), `human` (systems, blocks): every permutation
    # of the metric's scores has the same cells.
    present = np.isfinite(metric[(0,) * (metric.ndim - 2)]) & np.isfinite(human)
    first, second = np.triu_indices(len(human), 1)
    both = present[first] & present[second]
    pair, block = np.nonzero(both)
    cells_a, cells_b = (first[pair], block), (second[pair], block)
    step = metric[..., *cells_a] - metric[..., *cells_b]
    order = np.sign(human[cells_a] - human[cells_b])
    slack = TIE * float(np.max(np.abs(metric[..., present]), initial=0.0))
    # .3 - .2 and .2 - .1 are equal gaps.
    gaps = np.concatenate((np.abs(step), np.zeros((*step.shape[:-1], 1))), axis=-1)
    gap = tie_near(gaps, tolerance=slack)[..., : step.shape[-1]]
    correct = np.where(gap > 0, np.sign(step), 0.0) * order == 1
    counts = np.sum(both, axis=0)
    n_blocks = int(np.count_nonzero(counts))
    weight = 1.0 / (counts[block] * n_blocks)
    ties = (order == 0).astype(float)
    return _Pairs(gap, correct.astype(float), ties, block, weight, n_blocks, slack)


def _best(pairs: _Pairs) -> tuple[Array, Array]:
    """Return (...,) the smallest best threshold and its accuracy; 0 and NaN without pairs."""
    shape = pairs.gap.shape[:-1]
    if not pairs.gap.size:
        return np.zeros(shape), np.full(shape, np.nan)
    # The gain of each threshold from turning the pairs with that gap into ties.
    order = np.argsort(pairs.gap, axis=-1, kind="stable")
    start = np.zeros((*shape, 1))
    gap = np.concatenate(
        (start, np.take_along_axis(pairs.gap, order, axis=-1)), axis=-1
    )
    gain = (
        np.take_along_axis(pairs.human_tie - pairs.right, order, axis=-1)
        * pairs.weight[order]
    )
    at_zero = np.sum(pairs.right * pairs.weight, axis=-1, keepdims=True)
    accuracy = np.cumsum(np.concatenate((at_zero, gain), axis=-1), axis=-1)
    last = np.concatenate((gap[..., 1:] != gap[..., :-1], start == 0), axis=-1)
    of_last = np.where(last, accuracy, -np.inf)
    best = np.max(of_last, axis=-1, keepdims=True)
    # the smallest threshold
    place = np.argmax(of_last >= best - ROUNDING, axis=-1, keepdims=True)
    return np.take_along_axis(gap, place, axis=-1)[..., 0], best[..., 0]

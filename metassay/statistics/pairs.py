"""Which of two texts, or systems, is better: a metric's order beside people's, or another metric's.

Pairwise accuracy says how often a metric orders, or ties, two texts or systems as people do.
Source: Deutsch, Foster, Freitag 2023, Ties Matter: Meta-Evaluating Modern Metrics with Pairwise
Accuracy and Tie Calibration (their acc_eq). Arrays of scores are system x document, NaN missing.
"""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metassay.statistics.correlation import TIE, Level, matrices, system_means, tied
from metassay.statistics.exact_sums import Array, blocks, ranked

Index = NDArray[np.intp]
ROUNDING = 1e-12  # scores this close, relative to the largest, are tied


class PreferenceAgreement(NamedTuple):
    """A metric's order against people's preferences. The seven counts sum to all comparisons."""

    value: float  # ordered or tied alike, of those that both judged; NaN without
    decisive: float  # of those where people preferred one: alike, a metric's tie counting half
    n_same: int  # both prefer the same text
    n_opposite: int  # each prefers another
    n_metric_tie: int  # the metric ties, people prefer one
    n_human_tie: int  # people tie, the metric prefers one
    n_both_tie: int
    n_abstained: int  # people gave no judgment
    n_missing: int  # people did, the metric has not both scores


class Disagreements(NamedTuple):
    """The pairs of one document's texts that two metrics order in opposite ways."""

    document: Index  # (pairs,) ascending
    preferred_by_a: Index  # (pairs,) the system that metric a prefers, and b does not
    preferred_by_b: Index  # (pairs,) the other
    conflict: Array  # (pairs,) distance in ranks by a plus that by b, 2 or more without ties
    n_pairs: int  # pairs whose texts both metrics scored: what the disagreements are a share of
    per_document: Index  # (documents,) number of disagreements


def preference_agreement(
    first: ArrayLike, second: ArrayLike, preferred: ArrayLike, *, epsilon: float = 0.0
) -> PreferenceAgreement:
    """Hold a metric's scores of each comparison's two texts against what people preferred.

    preferred (comparisons,): 1 the first text, 0 the second, .5 a tie, NaN abstained; values
    between (the mean of several people) lean to the side they are on. The metric ties scores that
    differ by at most epsilon. Raises ValueError for rows of unequal length, preferences outside 0
    to 1, or a negative epsilon.
    """
    x, y, people = (np.asarray(row, dtype=np.float64) for row in (first, second, preferred))
    if x.ndim != 1 or x.shape != y.shape or x.shape != people.shape or not epsilon >= 0:
        raise ValueError("want three rows of one length, and an epsilon of 0 or more")
    if np.any((people < 0) | (people > 1)):
        raise ValueError("want preferences of 0 to 1, NaN where people abstained")
    judged, scored = ~np.isnan(people), np.isfinite(x) & np.isfinite(y)
    both = judged & scored
    step = x[both] - y[both]
    slack = ROUNDING * np.maximum(np.abs(x[both]), np.abs(y[both]))
    by_metric = np.where(np.abs(step) <= epsilon + slack, 0.0, np.sign(step))
    by_people = np.sign(np.round(people[both] - 0.5, 12))
    alike, ties = by_metric * by_people, (by_metric == 0, by_people == 0)
    same, opposite = int(np.sum(alike == 1)), int(np.sum(alike == -1))
    both_tie = int(np.sum(ties[0] & ties[1]))
    metric_tie, human_tie = (int(np.sum(tie)) - both_tie for tie in ties)
    n, decided = step.size, same + opposite + metric_tie
    value = (same + both_tie) / n if n else np.nan
    decisive = (same + metric_tie / 2) / decided if decided else np.nan
    rest = int(np.sum(~judged)), int(np.sum(judged & ~scored))
    counts = (same, opposite, metric_tie, human_tie, both_tie, *rest)
    return PreferenceAgreement(value, decisive, *counts)


def disagreements(a: ArrayLike, b: ArrayLike) -> Disagreements:
    """All pairs of systems, within a document, of which metric a prefers one and b the other.

    More is better for both: negate a metric of which less is. A tie on either side is no
    disagreement. Ranks are among the document's texts that both scored, ties sharing theirs.
    Raises ValueError unless both are system x document arrays of one shape.
    """
    x, y, present = matrices(a, b)
    first, second = np.triu_indices(len(x), 1)
    both = present[first] & present[second]
    steps = []
    for scores in (x, y):  # the absent sort behind everything and so move no rank of the present
        known = np.where(present, scores, np.inf)
        ranks = ranked(known, axis=0) if scores.size else np.zeros(scores.shape)
        steps.append(ranks[first] - ranks[second])
    against = both & (steps[0] * steps[1] < 0)
    document, pair = np.nonzero(against.T)
    step = steps[0][pair, document]
    one, other = first[pair], second[pair]
    return Disagreements(
        document,
        np.where(step > 0, one, other),
        np.where(step > 0, other, one),
        np.abs(step) + np.abs(steps[1][pair, document]),
        int(np.count_nonzero(both)),
        np.count_nonzero(against, axis=0).astype(np.intp),
    )


def draw_disagreements(
    found: Disagreements, *, n: int, rng: np.random.Generator, order: Literal["largest", "uniform"]
) -> Index:
    """Positions, ascending, of the (at most n) pairs worth annotating.

    `largest` takes the largest conflicts, equal ones by lot: they decide most, but their agreement
    with people says nothing of the other pairs. `uniform` takes any with equal chance.
    """
    lot = rng.permutation(found.conflict.size)
    if order == "largest":
        lot = lot[np.argsort(-found.conflict[lot], kind="stable")]
    return np.sort(lot[:n])


SAME = 1e-12  # accuracies closer than this are one accuracy, and the smaller threshold wins


class PairwiseAccuracy(NamedTuple):
    """The share of pairs ordered or tied alike, and what it rests on."""

    value: float  # 0 to 1, the mean over documents (document level); NaN without a pair
    chance: float  # what the same scores dealt at random would expect at this epsilon
    epsilon: float  # the metric's scores this close are tied
    n: int  # document: documents with a pair; else pairs
    n_undefined: int  # documents without a pair (document level), else 0
    n_missing: int  # cells with one of the two scores but not both


class _Pairs(NamedTuple):
    gap: Array  # (..., pairs) distance of the metric's two scores
    right: Array  # (..., pairs) 1 if untied on both sides and ordered alike, else 0
    human_tie: Array  # (pairs,) 1 if people tie the two, else 0
    block: Index  # (pairs,) the document, or 0
    weight: Array  # (pairs,) what the pair adds to the mean over documents
    n_blocks: int  # documents with a pair
    slack: float  # rounding of a gap


def pairwise_accuracy(
    metric: ArrayLike, human: ArrayLike, level: Level, *, epsilon: float = 0.0
) -> PairwiseAccuracy:
    """acc_eq of a metric whose scores within `epsilon` of each other count as tied.

    - document: pairs of systems within a document, then the mean over documents with a pair.
    - system: pairs of the systems' means; global: pairs of any two items, n**2 / 2 of them.

    A pair that people tie counts as right only if the metric ties it, and the other way round.
    `chance` is exact: what dealing the metric's scores at random to the same texts expects. An
    epsilon found by `calibrate` on the same data makes value and chance look better than on new
    data; `calibrated_chance` gives the level to beat then. Raises ValueError for a negative
    epsilon, or shapes that differ.
    """
    if not epsilon >= 0:
        raise ValueError(f"want an epsilon of 0 or more, got {epsilon}")
    a, b, missing = _cells(metric, human, level)
    pairs = _pairs(a, b)
    undefined = a.shape[1] - pairs.n_blocks if level == "document" else 0
    n = pairs.n_blocks if level == "document" else pairs.gap.size
    if not pairs.gap.size:
        return PairwiseAccuracy(np.nan, np.nan, epsilon, 0, undefined, missing)
    tie = pairs.gap <= epsilon + pairs.slack
    value = float(np.sum(np.where(tie, pairs.human_tie, pairs.right) * pairs.weight))
    # A pair of people's meets any of the metric's pairs equally often, in either order.
    count = np.bincount(pairs.block)
    used = count > 0
    by_metric, by_people = (
        np.bincount(pairs.block, ties)[used] / count[used] for ties in (tie, pairs.human_tie)
    )
    alike = by_metric * by_people + (1 - by_metric) * (1 - by_people) / 2
    return PairwiseAccuracy(value, float(np.mean(alike)), epsilon, n, undefined, missing)


def calibrate(metric: ArrayLike, human: ArrayLike, level: Level) -> float:
    """The epsilon that maximises `pairwise_accuracy`: the smallest of the best; 0 without pairs.

    Only 0 and the gaps that occur between the metric's scores are candidates.
    """
    return float(_best(_pairs(*_cells(metric, human, level)[:2]))[0])


def calibrated_chance(
    metric: ArrayLike, human: ArrayLike, level: Level, *, n: int, rng: np.random.Generator
) -> float:
    """The mean accuracy of n random dealings of the metric's scores, each with its best epsilon.

    Scores move within a document at document level, else among all systems or items. The level
    that a calibrated accuracy has to beat: never below the share of pairs that people tie. NaN
    without a pair.
    """
    a, b, _ = _cells(metric, human, level)
    present = np.isfinite(a) & np.isfinite(b)
    known, places = np.where(present, a, np.nan), np.argsort(~present, axis=0, kind="stable")
    accuracies: list[Array] = []
    for rows in blocks(n, len(a) * a.size):
        # Present cells in a random order, then put back where cells are present.
        keys = np.where(present, rng.random((len(range(n)[rows]), *a.shape)), np.inf)
        all_known, all_places = (np.broadcast_to(one, keys.shape) for one in (known, places))
        dealt = np.take_along_axis(all_known, np.argsort(keys, axis=1), axis=1)
        again = np.full_like(keys, np.nan)
        np.put_along_axis(again, all_places, dealt, axis=1)
        accuracies.append(_best(_pairs(again, b))[1])
    return float(np.mean(np.concatenate(accuracies))) if accuracies else np.nan


def _cells(metric: ArrayLike, human: ArrayLike, level: Level) -> tuple[Array, Array, int]:
    # One column per block within which pairs are made.
    a, b, _ = matrices(metric, human)
    missing = int(np.sum(np.isfinite(a) != np.isfinite(b)))
    if level == "system":
        means = system_means(a, b, np.ones((1, a.shape[1])))
        return means[0].T, means[1].T, missing
    if level == "global":
        return a.reshape(-1, 1), b.reshape(-1, 1), missing
    return a, b, missing


def _pairs(metric: Array, human: Array) -> _Pairs:
    """`metric` is (..., systems, blocks), `human` (systems, blocks): every dealing of the metric's
    scores has them in the same cells."""
    present = np.isfinite(metric[(0,) * (metric.ndim - 2)]) & np.isfinite(human)
    first, second = np.triu_indices(len(human), 1)
    both = present[first] & present[second]
    pair, block = np.nonzero(both)
    one, other = (first[pair], block), (second[pair], block)
    step = metric[..., *one] - metric[..., *other]
    order = np.sign(human[one] - human[other])
    slack = TIE * float(np.max(np.abs(metric[..., present]), initial=0.0))
    # .3 - .2 and .2 - .1 are one gap.
    gaps = np.concatenate((np.abs(step), np.zeros((*step.shape[:-1], 1))), axis=-1)
    gap = tied(gaps, tolerance=slack)[..., : step.shape[-1]]
    right = np.where(gap > 0, np.sign(step), 0.0) * order == 1
    counts = np.sum(both, axis=0)
    n_blocks = int(np.count_nonzero(counts))
    weight = 1.0 / (counts[block] * n_blocks)
    ties = (order == 0).astype(float)
    return _Pairs(gap, right.astype(float), ties, block, weight, n_blocks, slack)


def _best(pairs: _Pairs) -> tuple[Array, Array]:
    """(...,) the smallest of the best thresholds, and its accuracy; 0 and NaN without a pair."""
    shape = pairs.gap.shape[:-1]
    if not pairs.gap.size:
        return np.zeros(shape), np.full(shape, np.nan)
    # What each threshold adds when it turns the pairs with that gap into ties.
    order = np.argsort(pairs.gap, axis=-1, kind="stable")
    start = np.zeros((*shape, 1))
    gap = np.concatenate((start, np.take_along_axis(pairs.gap, order, axis=-1)), axis=-1)
    added = np.take_along_axis(pairs.human_tie - pairs.right, order, axis=-1) * pairs.weight[order]
    none = np.sum(pairs.right * pairs.weight, axis=-1, keepdims=True)
    accuracy = np.cumsum(np.concatenate((none, added), axis=-1), axis=-1)
    last = np.concatenate((gap[..., 1:] != gap[..., :-1], start == 0), axis=-1)
    of_last = np.where(last, accuracy, -np.inf)
    best = np.max(of_last, axis=-1, keepdims=True)
    place = np.argmax(of_last >= best - SAME, axis=-1, keepdims=True)
    return np.take_along_axis(gap, place, axis=-1)[..., 0], best[..., 0]

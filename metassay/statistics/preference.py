"""Which of two texts is better: a metric's word against people's, and one metric's against another.

Arrays of scores are system x document, NaN missing.
"""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metassay.statistics.arithmetic import Array, ranked
from metassay.statistics.correlation import matrices

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
    same = int(np.sum((by_metric == by_people) & (by_people != 0)))
    opposite = int(np.sum(by_metric * by_people == -1))
    metric_tie = int(np.sum((by_metric == 0) & (by_people != 0)))
    human_tie = int(np.sum((by_metric != 0) & (by_people == 0)))
    both_tie = int(np.sum((by_metric == 0) & (by_people == 0)))
    n, decided = step.size, same + opposite + metric_tie
    value = (same + both_tie) / n if n else np.nan
    decisive = (same + metric_tie / 2) / decided if decided else np.nan
    rest = (int(np.sum(~judged)), int(np.sum(judged & ~scored)))
    return PreferenceAgreement(
        value, decisive, same, opposite, metric_tie, human_tie, both_tie, *rest
    )


def disagreements(a: ArrayLike, b: ArrayLike) -> Disagreements:
    """All pairs of systems, within a document, of which metric a prefers one and b the other.

    More is better for both: negate a metric of which less is. A tie on either side is no
    disagreement. Ranks are among the document's texts that both scored, ties sharing theirs.
    Raises ValueError unless both are system x document arrays of one shape.
    """
    x, y, present = matrices(a, b)
    first, second = np.triu_indices(len(x), 1)
    both = present[first] & present[second]
    ranks = [_ranks(scores, present) for scores in (x, y)]
    steps = [rank[first] - rank[second] for rank in ranks]
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
    found: Disagreements,
    *,
    n: int,
    rng: np.random.Generator,
    order: Literal["largest", "uniform"],
) -> Index:
    """Positions, ascending, of the (at most n) pairs worth annotating.

    `largest` takes the largest conflicts, equal ones by lot: they decide most, but their agreement
    with people says nothing of the other pairs. `uniform` takes any with equal chance.
    """
    lot = rng.permutation(found.conflict.size)
    if order == "largest":
        lot = lot[np.argsort(-found.conflict[lot], kind="stable")]
    drawn: Index = np.sort(lot[:n])
    return drawn


def _ranks(scores: Array, present: NDArray[np.bool_]) -> Array:
    # The absent sort behind everything and so move no rank of the present.
    if not scores.size:
        return np.zeros(scores.shape)
    ranks: Array = ranked(np.where(present, scores, np.inf), axis=0)
    return ranks

"""May a judge replace a rater? The alternative annotator test, and one that holds with clusters.

Each rater is left out in turn, and judge and rater are held against the others: on how many items
is the judge as near to them as the rater is. Labels are numbers (raters, items), NaN where a rater
gave none; 1 and 0 or any other codes.
"""

from typing import NamedTuple

import numpy as np
import scipy.special
from numpy.typing import ArrayLike

from metassay.statistics.exact_sums import Array, Mask
from metassay.statistics.shares import Clusters, design_effect, own_clusters

EPSILON = 0.2  # for experts; its authors advise .15 for skilled raters, .1 for crowds
LEVEL = 0.05
FEWEST = 30  # items of a rater below which the published test leaves a rater out


class Contest(NamedTuple):
    """The judge against one rater; NaN where nothing can be told."""

    n: int  # items that judge, rater and another rater labelled
    n_clusters: int  # documents that they are of
    advantage: float  # share of items on which the judge is as near to the others, or nearer
    rater_advantage: float  # the same of the rater; ties count for both
    p_published: float  # by t; NaN below FEWEST items
    p: float  # by score, items of one document being alike
    wins_published: bool  # rejected by Benjamini and Yekutieli, over the raters
    wins: bool


class AnnotatorTest(NamedTuple):
    """What the contests add up to; NaN and None without any."""

    winning_rate_published: float  # share of raters that the judge beats
    passes_published: bool | None  # whether these are half of them or more
    winning_rate: float
    passes: bool | None
    advantage: float  # the mean of the contests': compare judges by it
    contests: list[Contest]  # by rater


def annotator_test(
    judge: ArrayLike,
    ratings: ArrayLike,
    *,
    epsilon: float = EPSILON,
    level: float = LEVEL,
    cluster: ArrayLike | None = None,
) -> AnnotatorTest:
    """The alternative annotator test of a judge (items,) against ratings (raters, items).

    For each rater the items count that the rater, somebody else and the judge labelled. Whose
    label more of the others gave is nearer to them. The null hypothesis is that the rater is nearer
    more often, by `epsilon` of the items or more. `level` is that of Benjamini and Yekutieli's
    procedure over the raters. A judge passes that beats half of them.

    As published: a one-sided t-test of rater less judge (1, 0, -1), items being independent, and a
    rater with fewer than 30 items is left out. `p` is Tango's score test, whose variance is that
    under the null hypothesis and so does not vanish where few labels differ; the score is divided
    by the root of the design effect of `cluster` (items,), told as if most of one more document had
    been lost, and held against t, whose degrees of freedom are those of as many equal documents as
    tell as much (Satterthwaite's). A document's items are alike, and the published test then passes
    far too many (docs/calibration.md).

    Sources: Calderon, Reichart and Dror 2025, The Alternative Annotator Test for LLM-as-a-Judge,
    and its released code; Tango 1998, Equivalence test and confidence interval for the difference
    in proportions for the paired-sample design; Benjamini and Yekutieli 2001, The control of the
    false discovery rate in multiple testing under dependency. Raises ValueError unless shapes fit
    and 0 <= epsilon < 1.
    """
    labels, table = np.asarray(judge, np.float64), np.asarray(ratings, np.float64)
    if table.ndim != 2 or labels.shape != table.shape[1:]:
        raise ValueError(f"want raters x items and a judge's, got {table.shape}, {labels.shape}")
    if not 0 <= epsilon < 1:
        raise ValueError(f"want an epsilon of 0 or more and below 1, got {epsilon}")
    of = own_clusters(cluster, labels.size)
    rows = [_contest(labels, table, rater, of, epsilon) for rater in range(len(table))]
    by = [benjamini_yekutieli(np.array([row[k] for row in rows]), level) for k in (4, 5)]
    contests = [Contest(*row, bool(by[0][n]), bool(by[1][n])) for n, row in enumerate(rows)]
    published = [one.wins_published for one in contests if np.isfinite(one.p_published)]
    held = [one.wins for one in contests if np.isfinite(one.p)]
    every = published, held, [one.advantage for one in contests if np.isfinite(one.p)]
    old, new, advantage = (float(np.mean(each)) if each else np.nan for each in every)
    passes = (rate >= 0.5 if np.isfinite(rate) else None for rate in (old, new))
    return AnnotatorTest(old, next(passes), new, next(passes), advantage, contests)


def benjamini_yekutieli(p: Array, level: float) -> Mask:
    """Which hypotheses (n,) fall, at a false discovery rate of `level`; NaN is no hypothesis."""
    held = np.flatnonzero(np.isfinite(p))
    order = held[np.argsort(p[held], kind="stable")]
    rank = np.arange(1, order.size + 1)
    below = np.flatnonzero(p[order] <= rank / order.size * level / np.sum(1.0 / rank))
    return np.isin(np.arange(p.size), order[: below[-1] + 1] if below.size else [])


def _contest(
    judge: Array, ratings: Array, rater: int, cluster: Clusters, epsilon: float
) -> tuple[int, int, float, float, float, float]:
    others = np.delete(ratings, rater, axis=0)
    here = np.isfinite(judge) & np.isfinite(ratings[rater]) & np.isfinite(others).any(axis=0)
    n = int(np.count_nonzero(here))
    if not n:
        return 0, 0, np.nan, np.nan, np.nan, np.nan
    own, others, of = ratings[rater][here], others[:, here], cluster[here]
    as_judge = np.sum(others == judge[here], axis=0)  # of the same others: counts will do
    as_rater = np.sum(others == own, axis=0)
    better = np.asarray(np.sign(as_rater - as_judge), dtype=np.float64)
    advantages = float(np.mean(better <= 0)), float(np.mean(better >= 0))
    k = np.unique(of).size
    return n, k, *advantages, _t_test(better, epsilon), _score_test(better, of, k, epsilon)


def _t_test(better: Array, epsilon: float) -> float:
    if better.size < FEWEST:
        return np.nan
    gap, spread = float(np.mean(better)) - epsilon, float(np.std(better, ddof=1))
    if spread <= 1e-12:
        return float(gap >= 0)
    return float(scipy.special.stdtr(better.size - 1, gap / spread * np.sqrt(better.size)))


def _score_test(better: Array, cluster: Clusters, k: int, epsilon: float) -> float:
    if k < 2:
        return np.nan
    n, more, less = better.size, np.count_nonzero(better > 0), np.count_nonzero(better < 0)
    # The share of items on which the judge is nearer, if the rater's lead were epsilon: the
    # likelihood's root.
    linear = (2 * n - more + less) * epsilon - more - less
    root = np.sqrt(linear**2 + 8 * n * less * epsilon * (1 - epsilon))
    nearer = (root - linear) / (4 * n)
    variance = n * (2 * nearer + epsilon * (1 - epsilon))
    if variance <= 0:
        return np.nan
    _, of, sizes = np.unique(cluster, return_inverse=True, return_counts=True)
    effect, _ = design_effect(better, of)
    if k < n:
        # Losses that come by whole documents are in few of them, by luck in none: how alike items
        # are is told as if one more document had been lost, as far as those that were and two
        # thirds of one are on average.
        also = int(np.ceil((more + n / k * 2 / 3) / (np.unique(of[better > 0]).size + 1)))
        lost = np.append(better, np.ones(also)), np.append(of, np.full(also, k))
        effect = max(effect, design_effect(*lost)[0])
    # A large document weighs more the more alike its items are: as so many equal ones know.
    alike = min((effect - 1) / max(float(np.sum(sizes**2)) / n - 1, 1e-9), 1.0)
    spread = sizes * (1 + (sizes - 1) * alike)
    equal = float(np.sum(spread) ** 2 / np.sum(spread**2))
    score = (more - less - n * epsilon) / np.sqrt(variance * effect)
    return float(scipy.special.stdtr(max(equal - 1, 1), score))

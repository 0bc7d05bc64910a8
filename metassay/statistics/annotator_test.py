"""Can a judge replace a rater? The alternative annotator test, and a version for clustered items.

Each rater is left out in turn, and judge and rater are compared with the others: on how many items
is the judge at least as near to them as the rater. Labels are codes (raters, items), NaN where a
rater did not label.
"""

from typing import NamedTuple

import numpy as np
import scipy.special
from numpy.typing import ArrayLike

from metassay.statistics.exact_sums import Array, Mask
from metassay.statistics.shares import Clusters, cluster_codes, design_effect

EPSILON = 0.2  # for experts; the test's authors advise .15 for skilled raters, .1 for crowds
LEVEL = 0.05
FEWEST = 30  # items of a rater below which the published test leaves a rater out


class Contest(NamedTuple):
    """The judge against one rater; NaN where undefined."""

    n: int  # items that judge, rater and another rater labelled
    n_clusters: int  # documents of these items
    advantage: float  # share of items on which the judge is at least as near to the others
    rater_advantage: float  # the same of the rater; ties count for both
    p_published: float  # by t; NaN below FEWEST items
    p: float  # by score test, for items clustered in documents
    wins_published: bool  # rejected by Benjamini and Yekutieli, over the raters
    wins: bool


class AnnotatorTest(NamedTuple):
    """The result over all contests; NaN and None without any."""

    winning_rate_published: float  # share of raters that the judge beats
    passes_published: bool | None  # whether these are half of them or more
    winning_rate: float
    passes: bool | None
    advantage: float  # mean over the contests, to compare judges
    contests: list[Contest]  # by rater


def annotator_test(
    judge: ArrayLike,
    ratings: ArrayLike,
    *,
    epsilon: float = EPSILON,
    level: float = LEVEL,
    cluster: ArrayLike | None = None,
) -> AnnotatorTest:
    """Run the alternative annotator test of a judge (items,) against ratings (raters, items).

    For each rater, the items count that the rater, another rater and the judge labelled. Nearer to
    the others is whose label more of them gave. The null hypothesis is that the rater is nearer
    more often, by `epsilon` of the items or more. `level` is that of Benjamini and Yekutieli's
    procedure over the raters. A judge that beats half of the raters passes.

    As published: a one-sided t-test of rater less judge (1, 0, -1) over independent items; raters
    with fewer than 30 items are left out. `p` is Tango's score test, whose variance is that under
    the null hypothesis and so does not vanish where few labels differ. The score is divided by the
    root of the design effect of `cluster` (items,), computed as if most of another document had
    been lost, and compared with t; its degrees of freedom are those of the equivalent number of
    equal documents (Satterthwaite's). Items of a document are correlated, and then the published
    test passes far too many judges (docs/calibration.md).

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
    clusters = cluster_codes(cluster, labels.size)
    rows = [_contest(labels, table, rater, clusters, epsilon) for rater in range(len(table))]
    rejected = [benjamini_yekutieli(np.array([row[k] for row in rows]), level) for k in (4, 5)]
    wins = zip(*(mask.tolist() for mask in rejected), strict=True)
    contests = [Contest(*row, *pair) for row, pair in zip(rows, wins, strict=True)]
    published = [contest.wins_published for contest in contests if np.isfinite(contest.p_published)]
    tested = [contest for contest in contests if np.isfinite(contest.p)]
    by_test = published, [c.wins for c in tested], [c.advantage for c in tested]
    old, new, advantage = (float(np.mean(values)) if values else np.nan for values in by_test)
    passes = (rate >= 0.5 if np.isfinite(rate) else None for rate in (old, new))
    return AnnotatorTest(old, next(passes), new, next(passes), advantage, contests)


def benjamini_yekutieli(p: Array, level: float) -> Mask:
    """Return which hypotheses (n,) are rejected at false discovery rate `level`; NaN is none."""
    tested = np.flatnonzero(np.isfinite(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    rank = np.arange(1, order.size + 1)
    below = np.flatnonzero(p[order] <= rank / order.size * level / np.sum(1.0 / rank))
    return np.isin(np.arange(p.size), order[: below[-1] + 1] if below.size else [])


def _contest(
    judge: Array, ratings: Array, rater: int, cluster: Clusters, epsilon: float
) -> tuple[int, int, float, float, float, float]:
    others = np.delete(ratings, rater, axis=0)
    labelled = np.isfinite(judge) & np.isfinite(ratings[rater]) & np.isfinite(others).any(axis=0)
    n = int(np.count_nonzero(labelled))
    if not n:
        return 0, 0, np.nan, np.nan, np.nan, np.nan
    label, others, clusters = ratings[rater][labelled], others[:, labelled], cluster[labelled]
    as_judge = np.sum(others == judge[labelled], axis=0)  # the same others for both: counts suffice
    as_rater = np.sum(others == label, axis=0)
    lead = np.asarray(np.sign(as_rater - as_judge), dtype=np.float64)
    advantages = float(np.mean(lead <= 0)), float(np.mean(lead >= 0))
    k = np.unique(clusters).size
    return n, k, *advantages, _t_test(lead, epsilon), _score_test(lead, clusters, k, epsilon)


def _t_test(lead: Array, epsilon: float) -> float:
    if lead.size < FEWEST:
        return np.nan
    mean_gap, spread = float(np.mean(lead)) - epsilon, float(np.std(lead, ddof=1))
    if spread <= 1e-12:
        return float(mean_gap >= 0)
    return float(scipy.special.stdtr(lead.size - 1, mean_gap / spread * np.sqrt(lead.size)))


def _score_test(lead: Array, cluster: Clusters, k: int, epsilon: float) -> float:
    if k < 2:
        return np.nan
    n, n_rater, n_judge = lead.size, np.count_nonzero(lead > 0), np.count_nonzero(lead < 0)
    # The maximum-likelihood share of items where the judge is nearer, if the lead is epsilon.
    linear = (2 * n - n_rater + n_judge) * epsilon - n_rater - n_judge
    root = np.sqrt(linear**2 + 8 * n * n_judge * epsilon * (1 - epsilon))
    nearer = (root - linear) / (4 * n)
    variance = n * (2 * nearer + epsilon * (1 - epsilon))
    if variance <= 0:
        return np.nan
    _, codes, sizes = np.unique(cluster, return_inverse=True, return_counts=True)
    effect, _ = design_effect(lead, codes)
    if k < n:
        # Losses of whole documents occur in few documents, by chance in none: the design effect
        # is computed as if another document had been lost, as much of it as is lost on average of
        # the others and of two thirds of a document.
        added = int(np.ceil((n_rater + n / k * 2 / 3) / (np.unique(codes[lead > 0]).size + 1)))
        extended = np.append(lead, np.ones(added)), np.append(codes, np.full(added, k))
        effect = max(effect, design_effect(*extended)[0])
    # A large document's weight grows with the correlation of its items: count equal documents.
    icc = min((effect - 1) / max(float(np.sum(sizes**2)) / n - 1, 1e-9), 1.0)
    spread = sizes * (1 + (sizes - 1) * icc)
    n_equal = float(np.sum(spread) ** 2 / np.sum(spread**2))
    score = (n_rater - n_judge - n * epsilon) / np.sqrt(variance * effect)
    return float(scipy.special.stdtr(max(n_equal - 1, 1), score))

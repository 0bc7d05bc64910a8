"""Which texts to have labelled next, with known chances; and estimates weighted by those chances.

A text that moves a number much, and of whose label little is known, gets a larger chance. Weighting
each label by 1 / chance (Horvitz and Thompson 1952, A generalization of sampling without
replacement from a finite universe) keeps estimates right whatever the chances were made of; chances
that suit the number make its interval narrow (Neyman 1934). No chance is below FLOOR of an equal
one, so that no weight is large where the guess behind the chances is wrong.
"""

from typing import Literal, NamedTuple

import numpy as np
import scipy.special
from numpy.typing import ArrayLike

from metassay.statistics import shares
from metassay.statistics.exact_sums import Array, Index, Mask, quotient
from metassay.statistics.shares import DRAWS, UNDEFINED, Estimate

FLOOR = 0.4  # of the chance that all would have if all were equal
BINS = 4  # of a judge's probabilities, beside its verdict
SURE = 0.02, 0.98  # no stratum's share of passes is expected beyond
ENOUGH = 10  # ratings that tell a correlation to plan for
EXPECTED = 0.3  # the correlation that is planned for where nobody rated yet
Level = Literal["global", "system"]


class WeightedCard(NamedTuple):
    """The numbers of a card that say most, of labels with unequal chances."""

    sensitivity: Estimate
    specificity: Estimate
    pass_rate: Estimate  # of all judged texts, as people would have it


def chances(worth: ArrayLike, n: int) -> Array:
    """Chances (texts,) in proportion to `worth`, FLOOR apart, that add up to n; none is above 1.

    With n texts or fewer every chance is 1. ValueError for a worth below 0 or n below 1.
    """
    size = np.asarray(worth, dtype=np.float64)
    if n < 1 or size.ndim != 1 or (size < 0).any() or not np.isfinite(size).all():
        raise ValueError("want worths of 0 or more in one row, and at least 1 text to draw")
    if size.size <= n:
        return np.ones(size.size)
    mean = float(np.mean(size))
    aim = np.ones(size.size) if mean <= 0 else FLOOR + (1.0 - FLOOR) * size / mean
    low, high = 0.0, float(n)
    for _ in range(200):  # where some chances are cut to 1, the others rise
        middle = (low + high) / 2.0
        low, high = (middle, high) if np.sum(np.minimum(aim * middle, 1.0)) < n else (low, middle)
    return np.minimum(aim * high, 1.0)


def drawn_by(chance: Array, order: Index, start: float) -> Index:
    """The texts that are drawn, as many as the chances add up to, each with its own chance.

    Systematic: `order` puts the texts side by side, each as wide as its chance; those are drawn
    that `start` (0 to 1, drawn by lot) plus a whole number falls on. Order the texts by lot within
    groups, and each group has its share. Source: Madow 1949, On the theory of systematic sampling.
    """
    edges = np.cumsum(chance[order])
    first = np.concatenate(([0.0], edges[:-1]))
    # An edge that is a whole number but for rounding belongs to one text, not to none.
    hit = np.ceil(np.round(edges - start, 9)) - np.ceil(np.round(first - start, 9)) > 0
    return np.asarray(order[hit], dtype=np.intp)


def strata(judge: ArrayLike) -> Index:
    """The stratum of each judged text (texts,): its verdict, and among probabilities their place.

    Strata are numbered from 0; -1 without a verdict.
    """
    p = shares.probabilities(judge)
    verdict = shares.judgments(p)
    key = np.where(np.isnan(p), -1.0, verdict * BINS)
    for side in (0.0, 1.0):
        here = verdict == side
        order = np.sort(p[here])
        cuts = np.unique(order)[1:]
        if cuts.size >= BINS:
            # Cut where the doubt adds up to equal shares: all sure texts are one stratum.
            doubt = np.cumsum(np.sqrt(order * (1.0 - order)))
            cuts = order[np.searchsorted(doubt, doubt[-1] * np.arange(1, BINS) / BINS)]
        key[here] += np.searchsorted(cuts, p[here], side="right")
    _, place = np.unique(key, return_inverse=True)
    return np.asarray(place - bool((key < 0).any()), dtype=np.intp)


def card_worth(judge: ArrayLike, people: ArrayLike, of_number: str = "") -> Array:
    """How far a label of each text (texts,) moves the card, or its `of_number` alone.

    `judge`: verdicts or probabilities; 0 without one. `people`: labels so far, NaN where there is
    none: they say how often texts of a stratum pass, with a judge's mean probability as one label
    more. The worth is the root of the variance that one label stands for (Neyman), in all three
    numbers of `WeightedCard` unless one is named.
    """
    of = strata(judge)
    table, passes, prior = _counted(shares.probabilities(judge), shares.pass_or_fail(people), of)
    bare = np.where(prior == 0.5, 0.1 + 0.8 * table.verdict, prior)  # of verdicts without a label
    passing = (passes + bare) / (table.labelled + 1.0)
    slopes = dict(zip(WeightedCard._fields, _slopes(table, passing), strict=True))
    moved = np.array([slopes[of_number]] if of_number else [*slopes.values()])
    worth = np.sqrt(passing * (1.0 - passing) * np.sum(moved**2, axis=0))
    return np.where(of >= 0, worth[of], 0.0)


def weighted_card(
    judge: ArrayLike,
    people: ArrayLike,
    chance: ArrayLike,
    *,
    confidence: float,
    rng: np.random.Generator,
    cluster: ArrayLike | None = None,
) -> WeightedCard:
    """The card of all judged texts (texts,), of labels that were drawn by `chance`.

    Texts of one verdict and one chance are a group: its share of passes is that of its labels, and
    counts by the group's size, so that a label stands for 1 / chance texts. A group without a label
    joins its neighbour. Intervals draw the groups' shares from their posteriors (one text a group);
    texts of one `cluster` are alike. NaN with fewer than two labels; sensitivity and specificity
    also where one of the judge's two verdicts has none.
    """
    p, labels = shares.probabilities(judge), shares.pass_or_fail(people)
    known = np.isfinite(labels) & np.isfinite(p)
    n = int(np.count_nonzero(known))
    if n < 2:
        return WeightedCard(*(Estimate(*UNDEFINED, n, float(n)),) * 3)
    verdict = shares.judgments(p)
    untold = np.isin((0.0, 1.0), verdict) & ~np.isin((0.0, 1.0), verdict[known])
    of = _groups(verdict, np.asarray(chance, np.float64), known)
    table, passes, prior = _counted(p, labels, of)
    passing, alike = passes / table.labelled, shares.own_clusters(cluster, p.size)[known]
    of_label, found = of[known], []
    numbers, slopes = _numbers(table, passing[None]), _slopes(table, passing)
    for place, slope in enumerate(slopes):
        value = float(numbers[place][0])
        step = slope * table.size / table.labelled
        moved = step[of_label] * (labels[known] - passing[of_label])
        # A number that is undefined is moved by nothing.
        worth = shares.effective_size(np.nan_to_num(moved), alike, confidence=confidence)
        a, b = passes * worth / n + prior, (table.labelled - passes) * worth / n + 1.0 - prior
        sizes = rng.dirichlet(np.bincount(of[of >= 0]) + 0.5, DRAWS)
        drawn = _numbers(table._replace(size=sizes), rng.beta(a, b, (DRAWS, a.size)))[place]
        ends = value, *shares.ends(drawn, value, confidence=confidence)
        found.append(Estimate(*(UNDEFINED if untold.any() and place < 2 else ends), n, worth))
    return WeightedCard(*found)


def _groups(verdict: Array, chance: Array, known: Mask) -> Index:
    # Numbered from 0, by verdict and chance; -1 without a verdict.
    judged = np.isfinite(verdict)
    keys = np.stack((verdict[judged], np.round(chance[judged], 12)))
    groups, place = np.unique(keys, axis=1, return_inverse=True)
    filled = np.unique(place.reshape(-1)[known[judged]])
    # The nearest of the same verdict, if any is filled.
    apart = np.abs(np.arange(groups.shape[1])[:, None] - filled)
    apart = apart + groups.shape[1] * (groups[0][:, None] != groups[0][filled])
    made = np.full(verdict.size, -1, dtype=np.intp)
    made[judged] = np.argmin(apart, axis=1)[place.reshape(-1)]
    return made


class _Strata(NamedTuple):
    size: Array  # shares of the judged texts
    verdict: Array  # 1 where the judge passes them
    labelled: Array  # how many have a label


def _counted(p: Array, labels: Array, place: Index) -> tuple[_Strata, Array, Array]:
    # The strata, how many of their labels pass, and the share to expect before any label.
    judged, many = place >= 0, int(place.max(initial=-1)) + 1
    known = judged & np.isfinite(labels)
    count = np.bincount(place[judged], minlength=many).astype(np.float64)
    mean = quotient(np.bincount(place[judged], p[judged], many), count)
    labelled = np.bincount(place[known], minlength=many).astype(np.float64)
    # Bare verdicts do not say how sure they are.
    prior = np.where((mean == 0.0) | (mean == 1.0), 0.5, np.clip(mean, *SURE))
    table = _Strata(count / count.sum(), (mean >= 0.5).astype(np.float64), labelled)
    passes = np.bincount(place[known], labels[known], many)
    return table, np.asarray(passes, np.float64), prior


def _numbers(table: _Strata, passing: Array) -> list[Array]:
    # Sensitivity, specificity and pass rate of shares (..., strata).
    rate = np.sum(table.size * passing, axis=-1)
    hits = np.sum(table.size * table.verdict * passing, axis=-1)
    right = np.sum(table.size * (1.0 - table.verdict) * (1.0 - passing), axis=-1)
    return [quotient(hits, rate), quotient(right, 1.0 - rate), rate]


def _slopes(table: _Strata, passing: Array) -> list[Array]:
    # By how much each number moves with a stratum's share, over the stratum's size.
    sensitivity, specificity, rate = _numbers(table, passing[None])
    ones = np.ones(passing.size)
    return [
        quotient(table.verdict - sensitivity, rate * ones),
        quotient(specificity - (1.0 - table.verdict), (1.0 - rate) * ones),
        ones,
    ]


def correlation_worth(
    metric: ArrayLike, people: ArrayLike, system: ArrayLike, level: Level
) -> Array:
    """How far a rating of each text (texts,) moves the correlation of metric and people.

    `metric` (texts,) is known of all; `people` has NaN where nobody rated. Of all texts
    (`global`) the worth is the root of the mean square of r's influence, given the metric, were
    both normal: texts with the highest and lowest scores count most. The r to plan for is that of
    ENOUGH ratings, else EXPECTED. Between systems (`system`) it is EXPECTED, and those count most
    whose mean is far from the others'.
    """
    x: Array = np.asarray(metric, np.float64)
    y = np.asarray(people, np.float64)
    known, r = np.isfinite(y), EXPECTED
    if level == "system":
        _, of = np.unique(np.asarray(system), return_inverse=True)
        size = np.bincount(of).astype(np.float64)
        x = np.asarray(np.bincount(of, x) / size)
    elif np.count_nonzero(known) >= ENOUGH and min(np.ptp(x[known]), np.ptp(y[known])) > 0:
        r = min(max(abs(float(np.corrcoef(x[known], y[known])[0, 1])), 0.1), 0.9)
    if np.ptp(x) <= 0:
        return np.ones(known.size)
    x, rest = _standard(x), 1.0 - r * r
    if level == "system":
        # The slope of r in a system's mean is m - r h, and h is r m but for what is its own.
        return np.asarray((np.sqrt((rest * x) ** 2 + r * r * rest) / size)[of])
    square = (r * rest * x * x / 2) ** 2 + rest**3 * x * x + 0.75 * (r * rest) ** 2
    return np.asarray(np.sqrt(square - (r * rest * x) ** 2 / 2))


def weighted_correlation(
    metric: ArrayLike,
    people: ArrayLike,
    chance: ArrayLike,
    *,
    system: ArrayLike,
    document: ArrayLike,
    level: Level,
    confidence: float,
) -> Estimate:
    """Pearson's correlation over all texts, or of systems' means, of ratings drawn by `chance`.

    All arrays (texts,); `people` is NaN where nobody rated. Each rating counts 1 / chance times.
    Systems' means of the metric are of all texts; the noise in people's means, which pulls the
    correlation to 0, is taken off. The interval is for these systems and other texts: Fisher's z,
    the variance by linearization over documents, Student's t with Satterthwaite's degrees of
    freedom. NaN with fewer than 3 documents, or without variance. Source: Binder 1983, On the
    variances of asymptotically normal estimators from complex surveys.
    """
    x, y, p = (np.asarray(one, np.float64) for one in (metric, people, chance))
    _, of = np.unique(np.asarray(system), return_inverse=True)
    known = np.isfinite(y)
    w, rated = np.where(known, 1.0 / p, 0.0), np.where(known, y, 0.0)
    r, moved = _between(x, rated, w, of) if level == "system" else _of_texts(x, rated, w)
    _, place = np.unique(np.asarray(document)[known], return_inverse=True)
    squares = np.bincount(place, moved[known]) ** 2 if known.any() else np.zeros(0)
    n, k, total = int(np.count_nonzero(known)), squares.size, float(squares.sum())
    if k < 3 or not abs(r) < 1.0 or not total > 0:
        return Estimate(r if abs(r) <= 1.0 else np.nan, np.nan, np.nan, n, float(k))
    kurtosis = k * float(np.sum(squares**2)) / total**2
    freedom = min(k - 1.0, 2.0 * k / (kurtosis - 1.0)) if kurtosis > 1.0 else k - 1.0
    error = np.sqrt(total * k / (k - 1)) / (1.0 - r * r)
    reach = float(scipy.special.stdtrit(freedom, (1.0 + confidence) / 2.0)) * error
    low, high = np.tanh(np.arctanh(r) - reach), np.tanh(np.arctanh(r) + reach)
    return Estimate(r, float(low), float(high), n, float(k))


def _standard(values: Array, w: Array | None = None) -> Array:
    # With mean 0 and variance 1 by the weights; NaN without variance.
    centred = values - np.average(values, weights=w)
    return np.asarray(centred / np.sqrt(np.average(centred**2, weights=w)))


def _of_texts(x: Array, y: Array, w: Array) -> tuple[float, Array]:
    here = w > 0
    if not here.any() or min(np.ptp(x[here]), np.ptp(y[here])) <= 0:
        return np.nan, w
    a, b = _standard(x, w), _standard(y, w)
    r = float(np.average(a * b, weights=w))
    return r, w * (a * b - r * (a * a + b * b) / 2.0) / w.sum()


def _between(x: Array, y: Array, w: Array, of: Index) -> tuple[float, Array]:
    total, rated, size = np.bincount(of, w), np.bincount(of, w > 0), np.bincount(of)
    metric = np.bincount(of, x) / size
    if size.size < 3 or (rated < 2).any() or np.ptp(metric) <= 0:
        return np.nan, w
    means, m = np.bincount(of, w * y) / total, _standard(metric)
    moved = w * (y - means[of]) / total[of]
    noise = np.mean(np.bincount(of, moved**2) * rated / (rated - 1))
    variance = float(np.var(means) - noise * (1 - 1 / size.size))
    if variance <= 0:
        return np.nan, w
    h = (means - means.mean()) / np.sqrt(variance)
    r = float(np.mean(m * h))
    return r, moved * ((m - r * h) / np.sqrt(variance) / size.size)[of]

"""Choose the texts to label next with known chances, and estimate with weights by those chances.

A text with a large influence on a statistic and an uncertain label gets a larger
chance. Weighting each label by 1 / chance (Horvitz and Thompson 1952, A generalization
of sampling without replacement from a finite universe) keeps estimates unbiased for any
chances; chances that suit the statistic make its interval narrow (Neyman 1934). No
chance is below FLOOR times that of an equal one, which bounds the weights if the guess
behind the chances is wrong.
"""

from typing import Literal, NamedTuple

import numpy as np
import scipy.special
from numpy.typing import ArrayLike

from metassay.statistics import shares
from metassay.statistics.exact_sums import Array, Index, Mask, quotient
from metassay.statistics.shares import DRAWS, UNDEFINED, Estimate

FLOOR = 0.4  # of the chance that every text would have with equal chances
BINS = 4  # of a judge's probabilities per verdict
SURE = 0.02, 0.98  # limits of a stratum's expected share of passes
ENOUGH = 10  # ratings needed to estimate the correlation to plan for
EXPECTED = 0.3  # the correlation to plan for before any ratings
Level = Literal["global", "system"]


class WeightedCard(NamedTuple):
    """A judge's main statistics, estimated from labels with unequal chances."""

    sensitivity: Estimate
    specificity: Estimate
    pass_rate: Estimate  # people's, of all judged texts


def chances(worth: ArrayLike, n: int) -> Array:
    """Return chances (texts,) proportional to `worth`, above FLOOR, that sum to n; at most 1.

    With n texts or fewer every chance is 1. Raises ValueError for a worth below 0 or n
    below 1.
    """
    worths = np.asarray(worth, dtype=np.float64)
    if n < 1 or worths.ndim != 1 or (worths < 0).any() or not np.isfinite(worths).all():
        raise ValueError(
            "expected worths of 0 or more in one row, and at least 1 text to draw"
        )
    if worths.size <= n:
        return np.ones(worths.size)
    mean = float(np.mean(worths))
    shape = np.ones(worths.size) if mean <= 0 else FLOOR + (1.0 - FLOOR) * worths / mean
    low, high = 0.0, float(n)
    for _ in range(200):  # where some chances are clipped to 1, the others rise
        middle = (low + high) / 2.0
        low, high = (
            (middle, high)
            if np.sum(np.minimum(shape * middle, 1.0)) < n
            else (low, middle)
        )
    return np.minimum(shape * high, 1.0)


def draw_texts(chance: Array, order: Index, start: float) -> Index:
    """Draw texts, each with its chance, in a number equal to the sum of the chances.

    Systematic: the texts lie side by side in this `order`, each as wide as its chance;
    a text is drawn if `start` (random, 0 to 1) plus a whole number falls on it. With a
    random order within groups, each group gets its share. Source: Madow 1949, On the
    theory of systematic sampling.
    """
    edges = np.cumsum(chance[order])
    first = np.concatenate(([0.0], edges[:-1]))
    # Rounded, so that an edge at a whole number belongs to exactly one text.
    hit = np.ceil(np.round(edges - start, 9)) - np.ceil(np.round(first - start, 9)) > 0
    return np.asarray(order[hit], dtype=np.intp)


def strata(judge: ArrayLike) -> Index:
    """Return each judged text's stratum (texts,): by verdict and bin of probabilities.

    Strata are numbered from 0; -1 without a verdict.
    """
    p = shares.probabilities(judge)
    verdict = shares.judgments(p)
    key = np.where(np.isnan(p), -1.0, verdict * BINS)
    for side in (0.0, 1.0):
        texts = verdict == side
        order = np.sort(p[texts])
        cuts = np.unique(order)[1:]
        if cuts.size >= BINS:
            # Bins have equal sums of uncertainty: all certain texts are in one stratum.
            doubt = np.cumsum(np.sqrt(order * (1.0 - order)))
            cuts = order[np.searchsorted(doubt, doubt[-1] * np.arange(1, BINS) / BINS)]
        key[texts] += np.searchsorted(cuts, p[texts], side="right")
    _, place = np.unique(key, return_inverse=True)
    return np.asarray(place - bool((key < 0).any()), dtype=np.intp)


def card_worth(judge: ArrayLike, people: ArrayLike, of_number: str = "") -> Array:
    """Return how much a label of each text (texts,) improves the card, or only `of_number`.

    `judge`: verdicts or probabilities; 0 without one. `people`: labels so far, NaN
    where missing. They estimate each stratum's share of passes, with the judge's mean
    probability as another label. The worth is the root of a label's share of the
    variance (Neyman), of all three statistics of `WeightedCard` or of the one named.
    """
    stratum = strata(judge)
    labels = shares.pass_or_fail(people)
    table, passes, prior = _count(shares.probabilities(judge), labels, stratum)
    # For verdicts without probabilities.
    prior = np.where(prior == 0.5, 0.1 + 0.8 * table.verdict, prior)
    passing = (passes + prior) / (table.labelled + 1.0)
    slopes = dict(zip(WeightedCard._fields, _slopes(table, passing), strict=True))
    effects = np.array([slopes[of_number]] if of_number else [*slopes.values()])
    worth = np.sqrt(passing * (1.0 - passing) * np.sum(effects**2, axis=0))
    return np.where(stratum >= 0, worth[stratum], 0.0)


def weighted_card(
    judge: ArrayLike,
    people: ArrayLike,
    chance: ArrayLike,
    *,
    confidence: float,
    rng: np.random.Generator,
    cluster: ArrayLike | None = None,
) -> WeightedCard:
    """Estimate the card of all judged texts (texts,) from labels that were drawn by `chance`.

    Texts with the same verdict and chance are a group: its share of passes is that of
    its labels, weighted by the group's size, so that a label counts 1 / chance texts. A
    group without a label joins its neighbour. Intervals draw the groups' shares from
    their posteriors (one text per group); texts of a `cluster` are correlated. NaN with
    fewer than two labels; sensitivity and specificity also where one of the judge's two
    verdicts has no labels.
    """
    p, labels = shares.probabilities(judge), shares.pass_or_fail(people)
    labelled = np.isfinite(labels) & np.isfinite(p)
    n = int(np.count_nonzero(labelled))
    if n < 2:
        return WeightedCard(*(Estimate(*UNDEFINED, n, float(n)),) * 3)
    verdict = shares.judgments(p)
    unlabelled = np.isin((0.0, 1.0), verdict) & ~np.isin((0.0, 1.0), verdict[labelled])
    group = _groups(verdict, np.asarray(chance, np.float64), labelled)
    table, passes, prior = _count(p, labels, group)
    passing, clusters = (
        passes / table.labelled,
        shares.cluster_codes(cluster, p.size)[labelled],
    )
    of_label, estimates = group[labelled], []
    numbers, slopes = _numbers(table, passing[None]), _slopes(table, passing)
    for place, slope in enumerate(slopes):
        value = float(numbers[place][0])
        step = slope * table.size / table.labelled
        influence = step[of_label] * (labels[labelled] - passing[of_label])
        # An undefined statistic has no influences.
        worth = shares.effective_size(
            np.nan_to_num(influence), clusters, confidence=confidence
        )
        a, b = (
            passes * worth / n + prior,
            (table.labelled - passes) * worth / n + 1.0 - prior,
        )
        sizes = rng.dirichlet(np.bincount(group[group >= 0]) + 0.5, DRAWS)
        draws = _numbers(table._replace(size=sizes), rng.beta(a, b, (DRAWS, a.size)))[
            place
        ]
        ends = value, *shares.ends(draws, value, confidence=confidence)
        ends = UNDEFINED if unlabelled.any() and place < 2 else ends
        estimates.append(Estimate(*ends, n, worth))
    return WeightedCard(*estimates)


def _groups(verdict: Array, chance: Array, labelled: Mask) -> Index:
    # Numbered from 0, by verdict and chance; -1 without a verdict.
    judged = np.isfinite(verdict)
    keys = np.stack((verdict[judged], np.round(chance[judged], 12)))
    groups, place = np.unique(keys, axis=1, return_inverse=True)
    filled = np.unique(place.reshape(-1)[labelled[judged]])
    # The nearest group with labels, of the same verdict if there is one.
    distance = np.abs(np.arange(groups.shape[1])[:, None] - filled)
    distance = distance + groups.shape[1] * (groups[0][:, None] != groups[0][filled])
    group = np.full(verdict.size, -1, dtype=np.intp)
    group[judged] = np.argmin(distance, axis=1)[place.reshape(-1)]
    return group


class _Strata(NamedTuple):
    size: Array  # shares of the judged texts
    verdict: Array  # 1 where the judge passes them
    labelled: Array  # how many have a label


def _count(p: Array, labels: Array, place: Index) -> tuple[_Strata, Array, Array]:
    # The strata, their numbers of labels that pass, and the expected share before any
    # label.
    judged, n = place >= 0, int(place.max(initial=-1)) + 1
    with_label = judged & np.isfinite(labels)
    count = np.bincount(place[judged], minlength=n).astype(np.float64)
    mean = quotient(np.bincount(place[judged], p[judged], n), count)
    labelled = np.bincount(place[with_label], minlength=n).astype(np.float64)
    # Verdicts without probabilities have no certainty.
    prior = np.where((mean == 0.0) | (mean == 1.0), 0.5, np.clip(mean, *SURE))
    table = _Strata(count / count.sum(), (mean >= 0.5).astype(np.float64), labelled)
    passes = np.bincount(place[with_label], labels[with_label], n)
    return table, np.asarray(passes, np.float64), prior


def _numbers(table: _Strata, passing: Array) -> list[Array]:
    # Sensitivity, specificity and pass rate of shares (..., strata).
    rate = np.sum(table.size * passing, axis=-1)
    hits = np.sum(table.size * table.verdict * passing, axis=-1)
    right = np.sum(table.size * (1.0 - table.verdict) * (1.0 - passing), axis=-1)
    return [quotient(hits, rate), quotient(right, 1.0 - rate), rate]


def _slopes(table: _Strata, passing: Array) -> list[Array]:
    # The derivative of each statistic by a stratum's share, divided by the stratum's
    # size.
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
    """Return how much a rating of each text (texts,) improves the correlation of metric and people.

    `metric` (texts,) has no missing values; `people` has NaN where nobody rated. Over
    all texts (`global`) the worth is the root mean square influence on r given the
    metric, if both are normal: texts with the highest and lowest scores count most. The
    r to plan for is that of the ratings if there are ENOUGH, else EXPECTED. Between
    systems (`system`) it is EXPECTED, and systems whose mean is far from the others
    count most.
    """
    x: Array = np.asarray(metric, np.float64)
    y = np.asarray(people, np.float64)
    rated, r = np.isfinite(y), EXPECTED
    if level == "system":
        _, number = np.unique(np.asarray(system), return_inverse=True)
        size = np.bincount(number).astype(np.float64)
        x = np.asarray(np.bincount(number, x) / size)
    elif (
        np.count_nonzero(rated) >= ENOUGH
        and min(np.ptp(x[rated]), np.ptp(y[rated])) > 0
    ):
        r = min(max(abs(float(np.corrcoef(x[rated], y[rated])[0, 1])), 0.1), 0.9)
    if np.ptp(x) <= 0:
        return np.ones(rated.size)
    x, rest = _standard(x), 1.0 - r * r
    if level == "system":
        # The slope of r in a system's mean is m - r h, where h is r m plus an
        # independent error.
        return np.asarray((np.sqrt((rest * x) ** 2 + r * r * rest) / size)[number])
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
    """Estimate Pearson's correlation over all texts, or of system means, from sampled ratings.

    All arrays (texts,); `people` is NaN where nobody rated. Each rating has weight 1 /
    chance. Systems' means of the metric are over all texts; the noise in people's
    means, which shrinks the correlation, is subtracted. The interval is for these
    systems and new texts: Fisher's z, the variance by linearization over documents,
    Student's t with Satterthwaite's degrees of freedom. NaN with fewer than 3
    documents, or without variance. Source: Binder 1983, On the variances of
    asymptotically normal estimators from complex surveys.
    """
    x, y, p = (np.asarray(values, np.float64) for values in (metric, people, chance))
    _, number = np.unique(np.asarray(system), return_inverse=True)
    has_rating = np.isfinite(y)
    w, rated = np.where(has_rating, 1.0 / p, 0.0), np.where(has_rating, y, 0.0)
    r, influence = (
        _correlate_systems(x, rated, w, number)
        if level == "system"
        else _correlate_texts(x, rated, w)
    )
    _, place = np.unique(np.asarray(document)[has_rating], return_inverse=True)
    squares = (
        np.bincount(place, influence[has_rating]) ** 2
        if has_rating.any()
        else np.zeros(0)
    )
    n, k, total = int(np.count_nonzero(has_rating)), squares.size, float(squares.sum())
    if k < 3 or not abs(r) < 1.0 or not total > 0:
        return Estimate(r if abs(r) <= 1.0 else np.nan, np.nan, np.nan, n, float(k))
    kurtosis = k * float(np.sum(squares**2)) / total**2
    freedom = min(k - 1.0, 2.0 * k / (kurtosis - 1.0)) if kurtosis > 1.0 else k - 1.0
    error = np.sqrt(total * k / (k - 1)) / (1.0 - r * r)
    reach = float(scipy.special.stdtrit(freedom, (1.0 + confidence) / 2.0)) * error
    low, high = np.tanh(np.arctanh(r) - reach), np.tanh(np.arctanh(r) + reach)
    return Estimate(r, float(low), float(high), n, float(k))


def _standard(values: Array, w: Array | None = None) -> Array:
    # Scaled to weighted mean 0 and variance 1; NaN without variance.
    centred = values - np.average(values, weights=w)
    return np.asarray(centred / np.sqrt(np.average(centred**2, weights=w)))


def _correlate_texts(x: Array, y: Array, w: Array) -> tuple[float, Array]:
    counted = w > 0
    if not counted.any() or min(np.ptp(x[counted]), np.ptp(y[counted])) <= 0:
        return np.nan, w
    a, b = _standard(x, w), _standard(y, w)
    r = float(np.average(a * b, weights=w))
    return r, w * (a * b - r * (a * a + b * b) / 2.0) / w.sum()


def _correlate_systems(
    x: Array, y: Array, w: Array, system: Index
) -> tuple[float, Array]:
    total, rated, size = (
        np.bincount(system, w),
        np.bincount(system, w > 0),
        np.bincount(system),
    )
    metric = np.bincount(system, x) / size
    if size.size < 3 or (rated < 2).any() or np.ptp(metric) <= 0:
        return np.nan, w
    means, m = np.bincount(system, w * y) / total, _standard(metric)
    influence = w * (y - means[system]) / total[system]
    noise = np.mean(np.bincount(system, influence**2) * rated / (rated - 1))
    variance = float(np.var(means) - noise * (1 - 1 / size.size))
    if variance <= 0:
        return np.nan, w
    h = (means - means.mean()) / np.sqrt(variance)
    r = float(np.mean(m * h))
    return r, influence * ((m - r * h) / np.sqrt(variance) / size.size)[system]

"""Classes of systems, or of documents: does a correlation say more than which class?

Where six of sixteen systems are far worse than the others, every metric that notices as
much correlates with people, though it may know nothing of the other ten (Mathur et al.
2020, Tangled up in BLEU). Means of systems in classes look different from means that
spread out, and a metric that knows the class only lies on steps rather than on a line.

Units are systems (or families of them), or documents (or clusters).
"""

from typing import Final, NamedTuple

import numpy as np

from metassay.statistics.exact_sums import Array, Index, Mask, sums_by

NUMBERS: Final = (2, 3)  # of classes that are looked for
FEWEST: Final = 4  # units; with fewer there are no classes to find
# Shares of the variance that are left within the best 2 and 3 classes of means from one
# normal distribution: by number of units, the share that 3 % of samples stay below, and
# the median. Simulated in tests/statistics/test_classes.py.
_SIZES: Final = (4, 5, 6, 7, 8, 10, 12, 16, 20, 30, 50, 100, 200, 400)
_LEAST: Final = {
    2: (0.0085, 0.0279, 0.05, 0.0716, 0.0889, 0.1203, 0.1437, 0.174, 0.1937, 0.2254,
        0.2615, 0.2946, 0.3171, 0.3284),
    3: (0.0, 0.0013, 0.0054, 0.0113, 0.0178, 0.0317, 0.0435, 0.0614, 0.0738, 0.0953,
        0.116, 0.1399, 0.1549, 0.1667),
}  # fmt: skip
_USUAL: Final = {
    2: (0.1362, 0.1755, 0.2039, 0.2255, 0.2421, 0.2644, 0.2818, 0.3009, 0.3141, 0.3309,
        0.3424, 0.3529, 0.3596, 0.3624),
    3: (0.0092, 0.0294, 0.0464, 0.0602, 0.0705, 0.0877, 0.1009, 0.1185, 0.1303, 0.1494,
        0.1635, 0.1759, 0.1827, 0.1858),
}  # fmt: skip
# How much worse than a line steps may fit, in twice the log likelihood, and still be the
# account of one metric: where nobody looked at single texts; where the metric follows
# people among the texts of one system, so that it knows more than the class; and where
# it does not. Few systems' means look alike on steps and on a line, so that this
# evidence weighs much. What honest metrics lose: tests/calibration/rates.md.
_MARGIN: Final[dict[bool | None, dict[int, float]]] = {
    None: {2: 5.0, 3: 6.0},
    True: {2: 8.0, 3: 9.0},
    False: {2: 0.0, 3: -3.0},
}
# Below so many units, three classes fit nearly any means, and a line must fit so much
# better the fewer there are: a metric that knows three classes of 8 systems was one to
# use in 12 of 100 studies without it, and is in 4 with it.
_FEW: Final = 16
# However sure it is that people's means come in classes, a metric may follow them within.
_SURE: Final = 12.0
_OF_MANY: Final = 1.5  # by the logarithm of the number of metrics
_DIGITS: Final = 9  # so that a processor's order of summation changes no decision
_MOST: Final = 400  # units; more are joined with their neighbours


class Classes(NamedTuple):
    """A partition of units by their means."""

    label: Index  # (units,) 0 for the class with the lowest means
    share: float  # of the variance that is left within the classes


def best_classes(means: Array, n: int, error: float = 0.0) -> Classes:
    """Return the `n` classes of neighbouring means with the least variance within.

    `error`: the variance of a mean's own error, which blurs classes. Source: Fisher
    1958, On grouping for maximum homogeneity.

    >>> best_classes(np.array([1.0, 5.0, 1.2, 5.1]), 2).label.tolist()
    [0, 1, 0, 1]
    """
    order = np.argsort(means, kind="stable")
    size = min(means.size, _MOST)
    block = np.arange(means.size) * size // means.size
    weight = np.bincount(block).astype(np.float64)
    deviation = means[order] - np.mean(means)
    first, second = sums_by(block, np.stack((deviation, deviation**2)), size)
    within = _sum_squares_within(weight, first, second)
    least, cuts = within[0], []
    for _ in range(n - 1):
        sums = least[:, None] + within
        cuts.append(np.argmin(sums, axis=0))
        least = np.min(sums, axis=0)
    ends, end = [], size
    for cut in reversed(cuts):
        end = int(cut[end])
        ends.append(end)
    label = np.empty(means.size, dtype=np.intp)
    label[order] = np.searchsorted(np.sort(ends), block, side="right")
    noise = error * means.size
    total = within[0, size] + noise
    share = float((least[size] + noise) / total) if total > 0 else 1.0
    return Classes(label, share)


def _sum_squares_within(weight: Array, first: Array, second: Array) -> Array:
    """Return (size + 1, size + 1) sums of squares within blocks i to j - 1; inf elsewhere."""
    totals = [np.concatenate(([0.0], np.cumsum(x))) for x in (weight, first, second)]
    n, sums, squares = (total[None, :] - total[:, None] for total in totals)
    filled = n > 0
    within = squares - np.divide(sums**2, n, out=np.zeros_like(n), where=filled)
    return np.where(filled, np.maximum(within, 0.0), np.inf)


def set_apart(means: Array, error: float = 0.0) -> Mask:
    """Return (units,) which people's means set apart: those outside of the largest class.

    None where the means are as close together as 3 % of samples of one normal
    distribution. Of classes of equal size the best one stays.
    """
    nobody = np.zeros(means.size, dtype=bool)
    candidates: list[tuple[float, Classes]] = []
    for n in NUMBERS:
        if means.size >= max(FEWEST, 2 * n):
            classes = best_classes(means, n, error)
            excess = classes.share / _interpolate_share(_LEAST[n], means.size)
            candidates.append((round(excess, _DIGITS), classes))
    if not candidates:
        return nobody
    excess, classes = min(candidates, key=lambda pair: pair[0])
    if excess >= 1:
        return nobody
    sizes = np.bincount(classes.label)
    largest = int(np.flatnonzero(sizes == sizes.max())[-1])
    return np.asarray(classes.label != largest)


def fit_classes(
    people: Array,
    metric: Array,
    error: float = 0.0,
    *,
    n_metrics: int = 1,
    follows_texts: bool | None = None,
) -> Index | None:
    """Return the classes (units,) that explain a metric's means better than people's do.

    None where a line fits better, which has to fit better the more metrics there are:
    of many, one looks by chance as if it followed people within classes. Both accounts
    are weighed by their likelihood: that the means of people come in classes rather
    than from one normal distribution, and that those of the metric lie on steps rather
    than on a line. `follows_texts`: whether the metric is shown to follow people among
    the texts of one unit; None where nobody looked.
    """
    size = people.size
    best: tuple[float, Index] | None = None
    for n in NUMBERS:
        if size < max(FEWEST, 2 * n):
            continue
        classes = best_classes(people, n, error)
        steps = _left_by_steps(metric, classes.label)
        line = _left_by_line(people, metric)
        if not (steps > 0 and line > 0 and classes.share > 0):
            continue
        compact = size * np.log(classes.share / _interpolate_share(_USUAL[n], size))
        compact = max(float(compact), -_SURE)
        # BIC: each class beyond the second costs a parameter.
        better = size * np.log(steps / line) + (n - 2) * np.log(size)
        margin = _MARGIN[follows_texts][n]
        if margin < 0:
            margin *= max(1.0, _FEW / size) ** 1.5
        margin -= _OF_MANY * np.log(n_metrics)
        excess = round(float(compact + better + margin), _DIGITS)
        if excess < 0 and (best is None or excess < best[0]):
            best = excess, classes.label
    return None if best is None else best[1]


def _left_by_steps(values: Array, label: Index) -> float:
    mean = np.bincount(label, values) / np.bincount(label)
    return float(np.sum((values - mean[label]) ** 2))


def _left_by_line(x: Array, y: Array) -> float:
    x, y = x - np.mean(x), y - np.mean(y)
    spread = float(np.sum(x**2))
    explained = float(np.sum(x * y)) ** 2 / spread if spread > 0 else 0.0
    return float(np.sum(y**2)) - explained


def _interpolate_share(shares: tuple[float, ...], n: int) -> float:
    # They are nearly on a line in 1 / n.
    return float(np.interp(-1.0 / n, [-1.0 / size for size in _SIZES], shares))


def less_classes(scores: Array, label: Index, axis: int) -> Array:
    """Subtract from (..., systems, documents) scores the mean of each class of an axis.

    `axis`: -2 for classes of systems, -1 for classes of documents. `label`: their
    numbers from 0.
    """
    rest = np.array(scores, dtype=np.float64)
    for number in range(int(label.max(initial=0)) + 1):
        inside = np.flatnonzero(label == number)
        part = np.take(rest, inside, axis=axis)
        present = np.isfinite(part)
        total = np.sum(np.where(present, part, 0.0), axis=(-2, -1), keepdims=True)
        count = np.sum(present, axis=(-2, -1), keepdims=True)
        part = part - total / np.maximum(count, 1)
        if axis == -2:
            rest[..., inside, :] = part
        else:
            rest[..., inside] = part
    return rest


def cuts_of(means: Array, most: int = 19) -> list[Index]:
    """Return the labels (units,) of lower and other units, for cuts at up to `most` places."""
    rank = np.argsort(np.argsort(means, kind="stable"), kind="stable")
    n = means.size
    places = np.unique(np.rint(np.linspace(0, n, min(n, most + 1) + 1)).astype(int))
    return [np.asarray(rank >= place, dtype=np.intp) for place in places[1:-1]]

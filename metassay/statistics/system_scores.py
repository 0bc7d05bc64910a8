"""Systems with one score and one human score each: a leaderboard, and nothing of texts.

Everything here is about other systems like these: the only thing that is drawn is the
system. Correlations of a handful of systems have wide intervals, and the best of many
scores looks good by chance; `permutation_p` allows for both.
"""

from collections.abc import Callable
from itertools import permutations
from typing import NamedTuple

import numpy as np
import scipy.special

from metassay.statistics.correlation import kendall, pearson, spearman
from metassay.statistics.exact_sums import Array
from metassay.statistics.shares import UNDEFINED, Estimate

FEWEST = 4  # systems below which nothing has an interval
ALL_ORDERS = 7  # systems up to which every order is tried
DRAWS = 10_000  # orders that are drawn of more systems
_DIGITS = 12  # of a coefficient: beyond them, machines differ
_Coefficient = Callable[[Array, Array], Array]


class _Kind(NamedTuple):
    """A coefficient, and what its interval rests on, by the number of systems."""

    coefficient: _Coefficient
    variance: Callable[[int], float]  # of Fisher's z, of normal scores
    # from 1 to the next smaller value; None where there is no next one
    step: Callable[[int], float] | None


# Sources: Fisher 1921, On the "probable error" of a coefficient of correlation; Fieller,
# Hartley and Pearson 1957, Tests for rank correlation coefficients I.
_KINDS = {
    "pearson": _Kind(
        coefficient=pearson,
        variance=lambda n: 1.0 / (n - 3),
        step=None,
    ),
    "spearman": _Kind(
        coefficient=spearman,
        variance=lambda n: 1.06 / (n - 3),
        step=lambda n: 12.0 / (n * (n**2 - 1)),
    ),
    "kendall": _Kind(
        coefficient=kendall,
        variance=lambda n: 0.437 / (n - 4) if n > 4 else 1.0,
        step=lambda n: 4.0 / (n * (n - 1)),
    ),
}
NAMES = tuple(_KINDS)


class PairsInOrder(NamedTuple):
    """How many pairs of systems a score orders as people do."""

    right: int
    wrong: int
    tied: int  # by the score or by people


def correlate_systems(
    score: Array, people: Array, *, confidence: float
) -> dict[str, Estimate]:
    """Return pearson, spearman and kendall (tau b) of systems (systems,), with intervals.

    The interval is that of t on the scale of Fisher's z. Its variance is the larger one
    of that of normal scores and that of the jackknife, which notices a system that
    stands apart from all others. Systems in people's order are taken to be half a step
    from it: of few systems, a perfect order is no certainty. NaN where a side is
    constant; no interval below FEWEST systems. Source: Efron and Tibshirani 1993, An
    Introduction to the Bootstrap, 11.
    """
    n = score.size
    numbers = {}
    for name, kind in _KINDS.items():
        value = round(float(kind.coefficient(score, people)), _DIGITS)
        if n < FEWEST or np.isnan(value):
            numbers[name] = Estimate(value, *UNDEFINED[1:], n, float(n))
            continue
        left_out = np.array(
            [
                float(
                    kind.coefficient(np.delete(score, place), np.delete(people, place))
                )
                for place in range(n)
            ]
        )
        z = _fisher(left_out[np.isfinite(left_out)], _step_of(kind, n - 1))
        spread = float(np.sum((z - np.mean(z)) ** 2)) * (n - 1) / n
        variance = max(spread, kind.variance(n))
        upper = (1.0 + confidence) / 2.0
        reach = float(scipy.special.stdtrit(n - 1, upper)) * np.sqrt(variance)
        centre = float(_fisher(value, _step_of(kind, n)))
        low, high = float(np.tanh(centre - reach)), float(np.tanh(centre + reach))
        ends = round(min(low, value), _DIGITS), round(max(high, value), _DIGITS)
        numbers[name] = Estimate(value, *ends, n, float(n))
    return numbers


def _step_of(kind: _Kind, n: int) -> float:
    return kind.step(n) if kind.step else 0.0


def _fisher(value: Array | float, step: float) -> Array:
    most = 1.0 - max(step / 2.0, 1e-6)
    return np.asarray(np.arctanh(np.clip(value, -most, most)))


def count_pairs(score: Array, people: Array) -> PairsInOrder:
    """Return how many pairs of systems (systems,) have people's order.

    >>> count_pairs(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0]))
    PairsInOrder(right=2, wrong=1, tied=0)
    """
    left, right = np.triu_indices(score.size, 1)
    product = np.sign(score[left] - score[right]) * np.sign(
        people[left] - people[right]
    )
    right_order, wrong_order = int(np.sum(product > 0)), int(np.sum(product < 0))
    return PairsInOrder(
        right=right_order,
        wrong=wrong_order,
        tied=product.size - right_order - wrong_order,
    )


def permutation_p(
    scores: Array, people: Array, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Return p (scores,) that a score is related to people by chance, alone and the best of all.

    `scores` (scores, systems) without gaps, `people` (systems,). Two-sided, by Pearson's
    r where people's values are given to the systems in another order: in each order up
    to ALL_ORDERS systems, else in DRAWS. The second p is that of the largest r of all
    scores. NaN for a constant score. Source: Westfall and Young 1993, Resampling-based
    multiple testing.
    """
    n = people.size
    if n <= ALL_ORDERS:
        orders = np.array([*permutations(range(n))])
        added = 0
    else:
        orders = np.array([rng.permutation(n) for _ in range(DRAWS)])
        added = 1  # the order that was seen
    of_orders = _correlations(scores, people[orders])
    seen = np.abs(_correlations(scores, people[None, :])[:, 0])
    size = np.round(np.abs(of_orders), 9)
    seen = np.round(seen, 9)
    largest = np.max(np.where(np.isfinite(size), size, 0.0), axis=0)
    total = len(orders) + added
    alone = (np.sum(size >= seen[:, None], axis=1) + added) / total
    of_best = (np.sum(largest >= seen[:, None], axis=1) + added) / total
    undefined = np.isnan(seen)
    return np.where(undefined, np.nan, alone), np.where(undefined, np.nan, of_best)


def _correlations(scores: Array, people: Array) -> Array:
    """Return Pearson's r (scores, orders) of scores and of people in each order."""
    x = scores - scores.mean(axis=1, keepdims=True)
    y = people - people.mean(axis=1, keepdims=True)
    size = np.sqrt(np.sum(x * x, axis=1))[:, None] * np.sqrt(np.sum(y * y, axis=1))
    # Not by `@`, whose order of summation depends on the processor.
    products = np.array([np.sum(row * y, axis=1) for row in x])
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(size > 1e-12, products / size, np.nan)

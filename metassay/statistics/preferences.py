"""Preferences between two texts: a judge's beside people's, its position bias, and systems.

A preference is a code: FIRST, SECOND or TIE, of the two texts of a pair. Which of them is
called first is arbitrary: numbers of agreement do not depend on it. Where a judge saw a
pair in both orders, `position_card` tells how often the order decides. `strengths` are
those of Bradley and Terry, on the scale of log odds, with mean 0 over the systems.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.special

from metassay.statistics.classification import accuracy, cohen_kappa, mean_of
from metassay.statistics.exact_sums import Array, Index, Mask, quotient
from metassay.statistics.label_rows import (
    PRIOR,
    LabelRows,
    label_estimate,
    share_among,
)
from metassay.statistics.shares import (
    UNDEFINED,
    Clusters,
    Coefficient,
    Estimate,
    Tables,
    posterior_estimate,
    share,
)

FIRST, SECOND, TIE = range(3)
PREFERENCES = 3
# What a preference says in favour of the first text.
SCORE = np.array([1.0, -1.0, 0.0])
FEWEST_SYSTEMS = 4  # below which strengths have no correlation
ROUNDS = 100
# A game that two systems who met are taken to have tied: else a system that won all its
# games would be infinitely strong.
PRIOR_GAME = 0.5
_DIGITS = 9  # of strengths: beyond them, machines differ


def preference_card(
    rows: LabelRows, *, confidence: float, rng: np.random.Generator
) -> dict[str, Estimate]:
    """Return how often judge and people agree, each with an interval; more is better.

    agreement: of all pairs, a tie being an answer as others. agreement_without_ties: of
    the pairs on which both prefer a text. cohen_kappa: the first beyond chance, where
    each pair counts in both orders, so that it does not matter which text is first.
    """
    options: dict[str, Any] = {"confidence": confidence, "rng": rng}
    decided = (rows.judge != TIE) & (rows.people != TIE) & rows.labelled
    hits = rows.judge == rows.people
    numbers = {}
    for name, among in (
        ("agreement", rows.labelled),
        ("agreement_without_ties", decided),
    ):
        if rows.is_whole:
            numbers[name] = share_among(hits, among, rows, confidence=confidence)
        else:
            numbers[name] = label_estimate(_COEFFICIENTS[name], rows, **options)
            n = int(np.count_nonzero(among))
            numbers[name] = numbers[name]._replace(n=n)
    kappa = label_estimate(_COEFFICIENTS["cohen_kappa"], rows, **options)
    return {**numbers, "cohen_kappa": kappa}


def _square(table: Tables) -> Tables:
    return table.reshape(*table.shape[:-1], PREFERENCES, PREFERENCES)


def _agreement_without_ties(table: Tables) -> Tables:
    return accuracy(_square(table)[..., :TIE, :TIE])


def _mirrored_kappa(table: Tables) -> Tables:
    """Return kappa of each pair and of the same pair with the texts in the other order."""
    square = _square(table)
    mirror = [SECOND, FIRST, TIE]
    return cohen_kappa(square + square[..., mirror, :][..., mirror])


_COEFFICIENTS: dict[str, Coefficient] = {
    "agreement": lambda table: accuracy(_square(table)),
    "agreement_without_ties": _agreement_without_ties,
    "cohen_kappa": _mirrored_kappa,
}


MORE_IS_BETTER = tuple(_COEFFICIENTS)


def base_rates(rows: LabelRows, guess: Index) -> dict[str, float]:
    """Return the same numbers of a judge that knows only which system is better.

    `guess` (rows,): its preference, that for the better system.
    """
    other = rows._replace(judge=guess)
    has_label = other.labelled
    counts = np.zeros(PREFERENCES**2)
    np.add.at(counts, other.cell, other.weight[has_label])
    values = {name: float(of(counts)) for name, of in _COEFFICIENTS.items()}
    return {name: round(value, 12) + 0.0 for name, value in values.items()}


# ---- position


def combine_orders(games: Index) -> Index:
    """Return the preference (pairs,) of two games (2, pairs), as codes of the pair's texts.

    -1 is a game that was not played. A text is preferred that is so in one order and
    not worse in the other; else it is a tie.

    >>> games = np.array([[FIRST, FIRST, FIRST, -1], [FIRST, SECOND, TIE, SECOND]])
    >>> combine_orders(games).tolist()
    [0, 2, 0, 1]
    """
    played = games >= 0
    score = np.where(played, SCORE[np.maximum(games, 0)], 0.0).sum(axis=0)
    code = np.where(score > 0, FIRST, np.where(score < 0, SECOND, TIE))
    return np.where(played.any(axis=0), code, -1).astype(np.intp)


def position_card(
    games: Index,
    cluster: Clusters,
    *,
    confidence: float,
    rng: np.random.Generator,
) -> dict[str, Estimate]:
    """Return how far the order of the texts decides, of pairs that were shown in both orders.

    `games` (2, pairs): the preference with the pair's first text shown first, then with
    its second text shown first; codes of the pair's texts, -1 for a game not played.

    consistency: the share of pairs with the same preference in both orders; 1 is best.
    position_bias: the share of pairs where the text that is shown first wins in both
    orders, less that where the text shown second does, from -1 to 1; one such game
    beside a tie counts half. 0 is best; above 0, the judge favours what it reads first.
    """
    both = (games >= 0).all(axis=0)
    first, second = games[:, both]
    n, clusters = int(np.count_nonzero(both)), cluster[both]
    if not n:
        none = Estimate(*UNDEFINED, 0, 0.0)
        return {"consistency": none, "position_bias": none}
    # In favour of what was shown first: of the second game, the pair's second text.
    gain = (SCORE[:, None] - SCORE[None, :]) / 2.0
    flat = gain.reshape(-1)

    def bias(table: Tables) -> Tables:
        return quotient((table * flat).sum(axis=-1), table.sum(axis=-1))

    return {
        "consistency": share(first == second, clusters, confidence=confidence),
        "position_bias": posterior_estimate(
            bias,
            first * PREFERENCES + second,
            clusters,
            cells=PREFERENCES**2,
            prior=PRIOR / PREFERENCES**2,
            confidence=confidence,
            rng=rng,
        ),
    }


def first_beside_people(
    judge: Index, people: Array, cluster: Clusters, *, confidence: float
) -> Estimate:
    """Return how much more often than people a judge prefers what is shown first: -2 to 2.

    `judge` (pairs,): codes by the order in which it saw the texts, once. `people`
    (pairs,): people's score in favour of the same text, -1 to 1, NaN without one. The
    mean of the judge's score less people's, by t.
    """
    both = (judge >= 0) & np.isfinite(people)
    if not both.any():
        return Estimate(*UNDEFINED, 0, 0.0)
    gap = SCORE[judge[both]] - people[both]
    return mean_of(gap, cluster[both], confidence=confidence)


# ---- systems


class Strengths(NamedTuple):
    """Systems' strengths; NaN where systems do not meet, not even by way of others."""

    value: Array  # (systems,) log odds, mean 0
    low: Array
    high: Array
    n: Index  # (systems,) games of each


def strengths(
    first: Index,
    second: Index,
    won: Array,
    cluster: Clusters,
    *,
    systems: int,
    confidence: float,
) -> Strengths:
    """Return Bradley-Terry strengths of systems from games, with intervals by clusters.

    `first`, `second` (games,): codes of the systems, 0 to `systems` - 1. `won` (games,):
    the first system's share of the win, a tie being 1/2. The odds that a system wins
    against another are exp(difference of strengths). Two systems that met are taken to
    have tied half a game more. Intervals: t of the sandwich variance of sums over
    clusters. Sources: Bradley and Terry 1952, Rank analysis of incomplete block
    designs: the method of paired comparisons; Liang and Zeger 1986, Longitudinal data
    analysis using generalized linear models.
    """
    n = np.bincount(first, minlength=systems) + np.bincount(second, minlength=systems)
    codes = np.unique(cluster)
    undefined = np.full(systems, np.nan)
    if codes.size < 2 or not _are_connected(first, second, systems):
        return Strengths(value=undefined, low=undefined, high=undefined, n=n)
    met = np.unique(np.sort(np.stack((first, second), axis=1), axis=1), axis=0)
    x = np.concatenate((first, met[:, 0]))
    y = np.concatenate((second, met[:, 1]))
    share_won = np.concatenate((won, np.full(len(met), 0.5)))
    weight = np.concatenate((np.ones(won.size), np.full(len(met), PRIOR_GAME)))
    value: Array = np.zeros(systems)
    inverse: Any = np.zeros((systems, systems))
    for _ in range(ROUNDS):
        expected = scipy.special.expit(value[x] - value[y])
        certain = weight * expected * (1 - expected)
        information = _information(x, y, certain, systems)
        # Equal shifts of all strengths change nothing: an eigenvalue is 0 but for rounding.
        inverse = np.asarray(np.linalg.pinv(information, rcond=1e-10, hermitian=True))
        surprise = weight * (share_won - expected)
        gradient = np.bincount(x, weights=surprise, minlength=systems)
        gradient -= np.bincount(y, weights=surprise, minlength=systems)
        step = inverse @ gradient
        value = value + np.clip(step, -2.0, 2.0)
        if np.max(np.abs(step)) < 1e-10:
            break
    # By cluster: how its games pull at each strength.
    surprise = won - scipy.special.expit(value[first] - value[second])
    number = np.searchsorted(codes, cluster)
    pulls = np.zeros((codes.size, systems))
    np.add.at(pulls, (number, first), surprise)
    np.add.at(pulls, (number, second), -surprise)
    moves = pulls @ inverse
    k = codes.size
    error = np.sqrt(np.sum(moves**2, axis=0) * k / (k - 1))
    reach = scipy.special.stdtrit(k - 1, (1.0 + confidence) / 2.0) * error
    return Strengths(
        value=np.round(value, _DIGITS),
        low=np.round(value - reach, _DIGITS),
        high=np.round(value + reach, _DIGITS),
        n=n,
    )


def _information(x: Index, y: Index, weight: Array, systems: int) -> Array:
    matrix = np.zeros((systems, systems))
    for row, column, sign in ((x, x, 1), (y, y, 1), (x, y, -1), (y, x, -1)):
        np.add.at(matrix, (row, column), sign * weight)
    return matrix


def _are_connected(first: Index, second: Index, systems: int) -> bool:
    """Whether each two systems meet, or are linked by others that they met."""
    reached: Mask = np.zeros(systems, dtype=np.bool_)
    reached[first[:1]] = True
    for _ in range(systems):
        linked = reached[first] | reached[second]
        reached[first[linked]] = True
        reached[second[linked]] = True
    return bool(reached.all())


def strength_correlation(judge: Array, people: Array, *, confidence: float) -> Estimate:
    """Return the correlation of strengths by judge and by people, over the systems (systems,).

    The interval is Fisher's, and is for other systems like these: a handful of systems
    says little. NaN below 4 systems. Source: Fisher 1921, On the "probable error" of a
    coefficient of correlation.
    """
    n = judge.size
    usable = np.isfinite(judge) & np.isfinite(people)
    if n < FEWEST_SYSTEMS or not usable.all():
        return Estimate(*UNDEFINED, n, float(n))
    x, y = judge - np.mean(judge), people - np.mean(people)
    size = float(np.sqrt(np.sum(x * x) * np.sum(y * y)))
    if size <= 1e-12:
        return Estimate(*UNDEFINED, n, float(n))
    value = float(np.clip(np.sum(x * y) / size, -1.0, 1.0))
    reach = scipy.special.ndtri((1.0 + confidence) / 2.0) / np.sqrt(n - 3)
    centre = np.arctanh(np.clip(value, -1 + 1e-12, 1 - 1e-12))
    low, high = np.tanh(centre - reach), np.tanh(centre + reach)
    return Estimate(value, float(low), float(high), n, float(n))

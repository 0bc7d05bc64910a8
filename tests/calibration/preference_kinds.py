"""Preferences with a known truth: do the intervals of `judge-check` hold it?

People and a judge compare two of six systems about a document. A document's pairs share
some draws of both. The truth of every number is its value on 100,000 independent pairs,
but that of the strengths' correlation, which is the one systems are drawn with.

`python -m tests.calibration.preference_kinds` prints the section of the page.
"""

import sys
from collections import defaultdict
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from metassay.statistics.label_rows import LabelRows
from metassay.statistics.preferences import (
    FIRST,
    SECOND,
    TIE,
    combine_orders,
    position_card,
    preference_card,
    strength_correlation,
    strengths,
)

STUDIES = 200
WHOLE = 100_000
CONFIDENCE = 0.95
STRENGTH = np.array([-1.2, -0.6, -0.1, 0.2, 0.6, 1.1])
SHARE = np.array([1.0, 0.0, 0.5])
TIES = 0.6  # of the largest share that ties can have
CORRELATION = (
    0.8  # of systems' strengths by judge and by people, where systems are drawn
)


class World(NamedTuple):
    """How pairs are compared: their number, by document, and the judge's position bias."""

    what: str
    pairs: int
    per: int
    bias: float


WORLDS = (
    World("no position bias", 100, 1, 0.0),
    World("position bias .1", 120, 1, 0.1),
    World("position bias .1, 3 pairs a document", 120, 3, 0.1),
    World("position bias .3, 4 pairs a document", 200, 4, 0.3),
)
SYSTEMS = ((6, 300), (10, 600), (20, 1500))  # systems and pairs, of the correlation


def _prefer(uniform, gap):
    """Return codes of preferences whose mean share of wins is that of Bradley and Terry."""
    p = expit(gap)
    tie = TIES * np.minimum(p, 1 - p)
    win = p - tie / 2
    return np.where(uniform < win, FIRST, np.where(uniform < win + tie, TIE, SECOND))


def _draw(rng, world, pairs):
    documents = -(-pairs // world.per)
    of = np.repeat(np.arange(documents), world.per)[:pairs]
    first = rng.integers(STRENGTH.size, size=pairs)
    second = (first + rng.integers(1, STRENGTH.size, size=pairs)) % STRENGTH.size
    gap = STRENGTH[first] - STRENGTH[second]

    def uniform(*others):
        """Uniform numbers, of which each of `others` gives a share."""
        values = rng.random(pairs)
        for share, other in others:
            values = np.where(rng.random(pairs) < share, other, values)
        return values

    shared = uniform((0.4, rng.random(documents)[of]))
    people = _prefer(shared, gap)
    of_judge = uniform((0.6, shared))
    games = []
    for position in (FIRST, SECOND):
        code = _prefer(uniform((0.8, of_judge)), 1.2 * gap)
        games.append(np.where(uniform() < world.bias, position, code))
    return first, second, people, np.array(games), of


def numbers(rng, world, pairs):
    """Return value and interval of each number of one study, by name."""
    first, second, people, games, of = _draw(rng, world, pairs)
    judge = combine_orders(games)
    rows = LabelRows(
        judge=judge,
        people=people,
        weight=np.ones(pairs),
        cluster=of,
        n_judge=3,
        n_people=3,
    )
    options = {"confidence": CONFIDENCE, "rng": rng}
    card = preference_card(rows, **options) | position_card(games, of, **options)
    intervals = {name: estimate[:3] for name, estimate in card.items()}
    for who, codes in (("people", people), ("judge", judge)):
        fitted = strengths(
            first,
            second,
            SHARE[codes],
            of,
            systems=STRENGTH.size,
            confidence=CONFIDENCE,
        )
        for place in range(STRENGTH.size):
            ends = fitted.value[place], fitted.low[place], fitted.high[place]
            intervals[f"strength by {who}", place] = ends
    return intervals


def coverage(world, *, studies=STUDIES, seed=0):
    """Return the coverage of each number's interval, by name; strengths' together."""
    rng = np.random.default_rng([seed, 44])
    truth = numbers(rng, world._replace(per=1), WHOLE)
    counts = defaultdict(lambda: np.zeros(2))
    for _ in range(studies):
        for name, (_, low, high) in numbers(rng, world, world.pairs).items():
            if np.isfinite(low):
                kind = name[0] if isinstance(name, tuple) else name
                counts[kind] += low <= truth[name][0] <= high, 1
    return {name: hits / n for name, (hits, n) in counts.items()}


def correlation_coverage(systems, pairs, *, studies=STUDIES, seed=0):
    """Return how often the interval of the strengths' correlation holds it."""
    rng = np.random.default_rng([seed, 45])
    hits = 0
    for _ in range(studies):
        people, other = rng.normal(size=(2, systems))
        judge = CORRELATION * people + np.sqrt(1 - CORRELATION**2) * other
        first = rng.integers(systems, size=pairs)
        second = (first + rng.integers(1, systems, size=pairs)) % systems
        fitted = []
        for strength in (judge, people):
            code = _prefer(rng.random(pairs), strength[first] - strength[second])
            won = SHARE[code]
            fitted.append(
                strengths(
                    first,
                    second,
                    won,
                    np.arange(pairs),
                    systems=systems,
                    confidence=CONFIDENCE,
                ).value
            )
        result = strength_correlation(*fitted, confidence=CONFIDENCE)
        hits += result.low <= CORRELATION <= result.high
    return hits / studies


def rates(studies=STUDIES):
    """Return the coverage in each world, and that of the correlation by number of systems."""
    cards = [
        (world, coverage(world, studies=studies, seed=seed))
        for seed, world in enumerate(WORLDS)
    ]
    return cards, [
        (*sizes, correlation_coverage(*sizes, studies=studies, seed=seed))
        for seed, sizes in enumerate(SYSTEMS)
    ]


def section(results):
    """The section of the page, as lines."""
    cards, correlations = results
    names = list(cards[0][1])
    lines = [
        "## Preferences checked in one command",
        "",
        "How often the 95 % intervals of `judge-check` hold the truth where labels are preferences"
        f" between two of six systems. {STUDIES} studies per row, so that one standard error at"
        " 95 % is 1.5 points; of strengths there are six times as many.",
        "",
        f"| judge | pairs | {' | '.join(names)} |",
        f"|---|---:|{'---:|' * len(names)}",
    ]
    for world, shares in cards:
        cells = " | ".join(f"{shares[name]:.1%}" for name in names)
        lines.append(f"| {world.what} | {world.pairs} | {cells} |")
    lines += [
        "",
        "The correlation of strengths by judge and by people, of systems drawn with one of"
        f" {CORRELATION:g}:",
        "",
        "| systems | pairs | covered |",
        "|---:|---:|---:|",
        *(f"| {n} | {pairs} | {share:.1%} |" for n, pairs, share in correlations),
        "",
    ]
    return lines


if __name__ == "__main__":
    print("\n".join(section(rates(int(sys.argv[1]) if sys.argv[1:] else STUDIES))))

"""How many labels chances that suit a decision save, and whether weighted intervals then cover.

`python -m tests.calibration.next_labels` prints the section of the page.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from metassay.statistics.next_labels import (
    WeightedCard,
    card_worth,
    chances,
    correlation_worth,
    draw_texts,
    strata,
    weighted_card,
    weighted_correlation,
)

STUDIES = 300
# what is promised: in three worlds, anywhere, everywhere
SAVES, LOSES, COVERS = 0.25, -0.05, 0.93


def probabilities(rng, n, unsure, passing, wrong=0.0):
    """A judge that is unsure of a share of texts; of those it is sure of, `wrong` are otherwise."""
    sure = np.where(rng.random(n) < passing, rng.beta(60, 1.2, n), rng.beta(1.2, 60, n))
    p = np.where(rng.random(n) < unsure, rng.uniform(0.15, 0.85, n), sure)
    shift = wrong * ((p < 0.1).astype(float) - (p > 0.9))
    return p, (rng.random(n) < p + shift).astype(float)


def verdicts(rng, n, passing, sensitivity, specificity):
    people = rng.random(n) < passing
    judge = np.where(people, rng.random(n) < sensitivity, rng.random(n) >= specificity)
    return judge.astype(float), people.astype(float)


def scores(
    rng,
    systems,
    documents,
    of_text,
    of_system,
    *,
    heavy=False,
    ceiling=False,
    middle=False,
):
    """Metric and ratings with so much correlation of texts and of systems; (systems, documents)."""
    shape = (systems, documents)
    t = rng.standard_t(4, shape) / np.sqrt(2) if heavy else rng.normal(size=shape)
    m = rng.normal(size=(systems, 1))
    h = of_system * m + np.sqrt(1 - of_system**2) * rng.normal(size=(systems, 1))
    noise = rng.normal(size=shape)
    if middle:  # ratings are noisiest where no chance is above its floor
        noise *= 2 * np.exp(-t * t) + 0.3
    x, y = 0.5 * m + t, 0.5 * h + of_text * t + np.sqrt(1 - of_text**2) * noise
    if ceiling:
        y = np.clip(np.round(y), -2, 0)
    of = (
        np.repeat(np.arange(systems), documents),
        np.tile(np.arange(documents), systems),
    )
    return x.ravel(), y.ravel(), *of


class World(NamedTuple):
    """What is drawn, how many labels, and which number is to be narrow."""

    what: str
    make: Callable
    n: int
    decision: str  # a number of the card, or a level


def _judge(what, number, *shape, **more):
    return World(what, partial(probabilities, n=2000, **more), 150, number) if not shape else World(
        what, partial(verdicts, n=2000, passing=shape[0], sensitivity=shape[1],
                      specificity=shape[2]), 150, number)  # fmt: skip


def _texts(what, r, **more):
    make = partial(scores, systems=6, documents=200, of_text=r, of_system=r, **more)
    return World(what, make, 120, "global")


def _systems(what, r):
    make = partial(scores, systems=8, documents=100, of_text=0.4, of_system=r)
    return World(what, make, 240, "system")


WORLDS = (
    _judge("judge sure of 80 %, specificity", "specificity", unsure=0.2, passing=0.7),
    _judge("judge sure of 90 %, 10 % fail, specificity", "specificity", unsure=0.1, passing=0.9),
    _judge("judge sure of 80 %, pass rate", "pass_rate", unsure=0.2, passing=0.7),
    _judge("judge wrong in 8 % of what it is sure of, pass rate", "pass_rate", unsure=0.2,
           passing=0.7, wrong=0.08),
    _judge("verdicts alone, 5 % fail, specificity", "specificity", 0.95, 0.95, 0.8),
    _judge("verdicts alone, 30 % fail, all three numbers", "", 0.7, 0.9, 0.8),
    _texts("texts, r .2", 0.2),
    _texts("texts, r .4, some scores far out", 0.4, heavy=True),
    _texts("texts, r .8", 0.8),
    _texts("texts, r .5, ratings at the ceiling", 0.5, ceiling=True),
    _systems("8 systems, r .2", 0.2),
    _systems("8 systems, r .7", 0.7),
    _texts("texts, ratings noisy in the middle", 0.5, middle=True),
)  # fmt: skip


def _draw(rng, worth, n, group):
    chance = chances(worth, n)
    order = np.lexsort((rng.random(worth.size), group))
    return chance, draw_texts(chance, order, rng.random())


def study(rng, world, *, suited):
    """The truth, and the interval of a study; `suited`: by unequal chances."""
    population = world.make(rng)
    x, y = population[:2]
    nobody = np.full(x.size, np.nan)
    if len(population) == 2:
        worth = card_worth(x, nobody, world.decision) if suited else np.ones(x.size)
        chance, got = _draw(rng, worth, world.n, strata(x))
        labels = nobody.copy()
        labels[got] = y[got]
        card = weighted_card(x, labels, chance, confidence=0.95, rng=rng)._asdict()
        judge = x >= 0.5
        truth = {"sensitivity": judge[y == 1].mean(), "specificity": (~judge)[y == 0].mean(),
                 "pass_rate": y.mean()}  # fmt: skip
        names = [world.decision] if world.decision else WeightedCard._fields
        return [(truth[name], card[name]) for name in names]
    system, document = population[2:]
    level = world.decision
    worth = correlation_worth(x, nobody, system, level) if suited else np.ones(x.size)
    chance, got = _draw(rng, worth, world.n, system)
    labels = nobody.copy()
    labels[got] = y[got]
    correlation = weighted_correlation(
        x,
        labels,
        chance,
        system=system,
        document=document,
        level=level,
        confidence=0.95,
    )
    truth = np.corrcoef(x, y)[0, 1]
    if level == "system":
        means = [[v[system == s].mean() for s in np.unique(system)] for v in (x, y)]
        truth = np.corrcoef(*means)[0, 1]
    return [(truth, correlation)]


def compared(world, *, studies=STUDIES, seed=0):
    """Share of labels saved for the same width, and coverage by chance and by suited chances.

    A width falls as the root of the labels, so that a ratio of widths, squared, is one
    of labels.
    """
    widths, covers = [], []
    for suited in (False, True):
        estimates = [
            estimate
            for run in range(studies)
            for estimate in study(
                np.random.default_rng([seed, run, 51]), world, suited=suited
            )
        ]
        defined = [
            (truth, interval)
            for truth, interval in estimates
            if np.isfinite(interval.low)
        ]
        widths.append(
            np.mean([interval.high - interval.low for _, interval in defined])
        )
        covers.append(
            np.mean(
                [interval.low <= truth <= interval.high for truth, interval in defined]
            )
        )
    return 1 - (widths[1] / widths[0]) ** 2, *covers


def rates(studies=STUDIES):
    """By world what `compared` gives."""
    return [
        (world, *compared(world, studies=studies, seed=k))
        for k, world in enumerate(WORLDS)
    ]


def section(rows):
    """The section of the page, as lines."""
    return [
        "## Which labels next?",
        "",
        "Labels that are saved for the same width by drawing texts by chances that suit the"
        " decision (`study export --next`), against equal chances; estimates are weighted by 1 /"
        " chance in both. Promised: 25 % in three worlds, nowhere more than 5 % lost, and 93 % of"
        f" the 95 % intervals hold the truth. Nobody has rated before. {STUDIES} studies.",
        "",
        "| world | labels | saved | covers, equal chances | covers, suited chances |",
        "|---|---:|---:|---:|---:|",
        *(
            f"| {world.what} | {world.n} | {saved:.0%} | {equal:.1%} | {suited:.1%} |"
            for world, saved, equal, suited in rows
        ),
        "",
    ]


if __name__ == "__main__":
    print("\n".join(section(rates())))

"""Studies whose documents or systems are not alike: topics, duplicates, versions, pooled data sets.

In each the metrics and people have nothing in common but that. `DECLARED` are studies in
which the user says what belongs together, or does not, and `DETECTED` those in which
the data show it.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from metassay.meta_evaluation.layouts import NO_GROUPS, Groups
from metassay.statistics.correlation import LEVELS
from tests.calibration.verdicts import Claims, claims_at
from tests.calibration.worlds import (
    N_METRICS,
    PLAIN,
    certified,
    effects,
    noise_for,
    options,
    rated,
    study_of,
)


class Kind(NamedTuple):
    """One kind of study."""

    name: str
    shape: tuple[int, int]
    # of (rng, shape): a function that draws one scorer's matrix, and the groups
    draw: Callable


def labels(numbers, of="d"):
    """What `study_of` calls documents (or systems) -> the label of each."""
    width = 5 if of == "d" else 2
    return {f"{of}{i:0{width}d}": f"group {number}" for i, number in enumerate(numbers)}


def topics(n, *, sd=0.7, by_system=0.0, unequal=False, nested=False):
    """Documents of `n` topics; every scorer finds some topics easier than others."""

    def draw(rng, shape):
        weight = np.arange(1, n + 1) ** 0.7 if unequal else np.ones(n)
        more = rng.choice(n, shape[1] - n, p=weight / weight.sum())
        topic = np.sort(np.concatenate((np.arange(n), more)))
        system = rng.integers(0, shape[0], shape[1])

        def scorer():
            seen = effects(rng, shape, PLAIN) + sd * rng.normal(size=n)[topic]
            seen = seen + by_system * rng.normal(size=(shape[0], n))[:, topic]
            nowhere = nested & (np.arange(shape[0])[:, None] != system)
            return np.where(nowhere, np.nan, seen)

        return scorer, Groups({}, labels(topic), {})

    return draw


def twice(share):
    """A share of the documents is there a second time, with the same scores and ratings."""

    def draw(rng, shape):
        once = round(shape[1] / (1 + share))
        again = np.concatenate(
            (np.arange(once), rng.choice(once, shape[1] - once, replace=False))
        )
        return lambda: effects(rng, (shape[0], once), PLAIN)[:, again], NO_GROUPS

    return draw


def in_time(rng, shape):
    """Documents in the order in which they came; neighbours are alike (autocorrelation .9)."""

    def scorer():
        drift = np.empty(shape[1])
        drift[0] = rng.normal()
        for place in range(1, shape[1]):
            drift[place] = 0.9 * drift[place - 1] + np.sqrt(0.19) * rng.normal()
        return effects(rng, shape, PLAIN) + drift

    return scorer, NO_GROUPS


def versions(sizes, alike, *, declared=False):
    """Systems in families, whose members have the part `alike` of all effects in common."""

    def draw(rng, shape):
        family = np.repeat(np.arange(len(sizes)), sizes)

        def scorer():
            shared = effects(rng, (len(sizes), shape[1]), PLAIN)[family]
            return np.sqrt(alike) * shared + np.sqrt(1 - alike) * effects(
                rng, shape, PLAIN
            )

        return scorer, Groups({}, {}, labels(family, "s") if declared else {})

    return draw


def pooled(systems, *, shared=False, by_topic=0, declared=False):
    """Two data sets, each with systems of its own or the same ones; scorers like one set more."""

    def draw(rng, shape):
        second = np.arange(shape[1]) >= shape[1] // 2
        in_second = np.repeat([False, True], systems)
        topic = (
            np.arange(shape[1]) * by_topic // shape[1]
            if by_topic
            else np.arange(shape[1])
        )

        def scorer():
            seen = effects(rng, shape, PLAIN) + rng.normal(size=2)[second.astype(int)]
            seen = seen + (
                0.7 * rng.normal(size=topic.max() + 1)[topic] if by_topic else 0.0
            )
            return (
                seen if shared else np.where(in_second[:, None] == second, seen, np.nan)
            )

        strata = labels(second) if declared else {}
        return scorer, Groups(strata, labels(topic) if by_topic else {}, {})

    return draw


DECLARED = (
    Kind("3 topics", (8, 40), topics(3, by_system=0.5)),
    Kind("5 topics", (8, 40), topics(5)),
    Kind(
        "5 topics of unequal size, by system",
        (8, 40),
        topics(5, by_system=0.5, unequal=True),
    ),
    Kind("8 topics", (8, 40), topics(8, by_system=0.5)),
    Kind("12 topics of unequal size", (8, 40), topics(12, by_system=0.5, unequal=True)),
    Kind("20 topics", (16, 100), topics(20, by_system=0.5)),
    Kind("topics matter to systems alone", (8, 40), topics(5, sd=0.0, by_system=0.5)),
    Kind("8 clusters that do not matter", (8, 40), topics(8, sd=0.0)),
    Kind("each document by one system, 5 topics", (8, 160), topics(5, nested=True)),
    Kind(
        "4 pairs of versions, .7 in common",
        (8, 40),
        versions((2,) * 4, 0.7, declared=True),
    ),
    Kind(
        "families of 5, 1, 1, 1, 1, 1, 1",
        (11, 40),
        versions((5, *[1] * 6), 0.8, declared=True),
    ),
    Kind(
        "two sets, the same 8 systems",
        (8, 60),
        pooled((8, 0), shared=True, declared=True),
    ),
    Kind(
        "two sets, 6 + 6 systems, 12 topics",
        (12, 60),
        pooled((6, 6), by_topic=12, declared=True),
    ),
)
DETECTED = (
    Kind("every document twice", (8, 40), twice(1.0)),
    Kind("a third of the documents twice", (8, 40), twice(0.33)),
    Kind("in order of time, 40", (8, 40), in_time),
    Kind("in order of time, 100", (8, 100), in_time),
    Kind("4 pairs of near-copies, .9 in common", (8, 40), versions((2,) * 4, 0.9)),
    Kind("4 pairs of equal systems", (8, 40), versions((2,) * 4, 1.0)),
    Kind("two sets, 5 + 4 systems", (9, 60), pooled((5, 4))),
)


def claims(
    kind: Kind, *, n=N_METRICS, declared=True, coefficient="pearson", runs, seed
):
    """Level -> `Claims`, and how often something was found or suspected."""
    rng = np.random.default_rng([seed, *kind.shape])
    chosen = options(coefficient=coefficient)
    by_level = {level: [] for level in LEVELS}
    noticed = 0
    for run in range(runs):
        scorer, groups = kind.draw(rng, kind.shape)
        metrics = [scorer() for _ in range(n)]
        ratings = rated(rng, scorer(), PLAIN)
        study = study_of(
            metrics, ratings, seed=run, groups=groups if declared else NO_GROUPS
        )
        noticed += bool(study.grouping.findings)
        for level in LEVELS:
            by_level[level].append(claims_at(study, level, chosen))
    return {
        level: Claims(*np.mean(claims, axis=0)) for level, claims in by_level.items()
    }, noticed / runs


def power(kind: Kind, level, r, *, runs, seed):
    """Shares of studies of this kind that call a metric one to use, and promising.

    Were its documents and systems alike, its correlation with people would be `r` on
    average.
    """
    noise = noise_for(r, kind.shape, level, PLAIN)
    rng = np.random.default_rng([seed, *kind.shape])
    verdicts = []
    for run in range(runs):
        scorer, groups = kind.draw(rng, kind.shape)
        quality = scorer()
        metrics = [
            quality + noise * scorer(),
            *(scorer() for _ in range(N_METRICS - 1)),
        ]
        study = study_of(metrics, rated(rng, quality, PLAIN), seed=run, groups=groups)
        verdicts.append(certified(study, options(), (level,))[level][0]["verdict"])
    return verdicts.count("use") / runs, verdicts.count("promising") / runs


def falsely_noticed(shape, world, *, runs, seed) -> float:
    """Share of studies in which something is found or suspected where all are alike."""
    rng = np.random.default_rng([seed, *shape])
    noticed = 0
    for run in range(runs):
        metrics = [effects(rng, shape, world) for _ in range(N_METRICS)]
        study = study_of(
            metrics, rated(rng, effects(rng, shape, world), world), seed=run
        )
        noticed += bool(study.grouping.findings)
    return noticed / runs

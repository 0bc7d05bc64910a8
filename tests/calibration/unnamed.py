"""Versions of systems, topics and orders in time that nobody names."""

from functools import partial

import numpy as np

from metassay.statistics.correlation import LEVELS
from tests.calibration import alike
from tests.calibration.doubts import Doubt, Outcome, Section, Shape
from tests.calibration.verdicts import claims_at
from tests.calibration.worlds import (
    PLAIN,
    certified,
    effects,
    noise_for,
    options,
    rated,
    study_of,
)

HEADS = ("p < .05", "`promising` or `use`", "`use`")


def claims(study, chosen=None) -> Outcome:
    """Whether any metric is related to people, gets a good verdict or `use`, by level."""
    by_level = [claims_at(study, level, chosen or options()) for level in LEVELS]
    return {
        head: [of_level[place] for of_level in by_level]
        for place, head in enumerate(HEADS)
    }


def watched(study) -> Outcome:
    """The same of the first metric alone."""
    rows = [certified(study, options(), (level,))[level][0] for level in LEVELS]
    good = [row["verdict"] in {"promising", "use"} for row in rows]
    return {
        HEADS[0]: [row["p"] < 0.05 and row["value"] > 0 for row in rows],
        HEADS[1]: good,
        HEADS[2]: [row["verdict"] == "use" for row in rows],
    }


def studied(rng, scorer, n) -> Outcome:
    """Claims on `n` metrics that have nothing in common with people but who is alike."""
    metrics = [scorer() for _ in range(n)]
    ratings = rated(rng, scorer(), PLAIN)
    return claims(study_of(metrics, ratings, seed=int(rng.integers(1 << 30))))


# ---- worlds ----------------------------------------------------------------------------------


def equal_versions(rng, shape: Shape, n, *, size: int) -> Outcome:
    """Families of `size` versions, equally good on average, with texts of their own."""
    family = np.arange(shape[0]) // size

    def scorer():
        level = rng.normal(size=shape[0])[family][:, None]
        return level + 0.5 * rng.normal(size=(1, shape[1])) + rng.normal(size=shape)

    return studied(rng, scorer, n)


def like_versions(rng, shape: Shape, n, *, alike_by: float) -> Outcome:
    """Pairs of versions with a part of all effects in common."""
    draw = alike.versions((2,) * (shape[0] // 2), alike_by)
    return studied(rng, draw(rng, shape)[0], n)


def topics(rng, shape: Shape, n, *, by_system: float, size: int = 1) -> Outcome:
    """Five topics in no order; systems are better at some; versions as above."""
    topic = rng.integers(0, 5, shape[1])
    family = np.arange(shape[0]) // size

    def scorer():
        of_topic = rng.normal(size=(shape[0], 5)) * by_system
        level = 0.7 * rng.normal(size=shape[0])[family][:, None]
        document = 0.5 * rng.normal(size=shape[1]) + 0.7 * rng.normal(size=5)[topic]
        return level + document + of_topic[:, topic] + rng.normal(size=shape)

    return studied(rng, scorer, n)


def in_time(rng, shape: Shape, n) -> Outcome:
    """Documents in the order in which they came (autocorrelation .9)."""
    return studied(rng, alike.in_time(rng, shape)[0], n)


def honest(rng, shape: Shape, n, *, r: float) -> Outcome:
    """A metric that correlates `r` with people over texts, beside others."""
    noise = noise_for(r, shape, "global", PLAIN)
    quality = effects(rng, shape, PLAIN)
    first, *others = [effects(rng, shape, PLAIN) for _ in range(n)]
    study = study_of([quality + noise * first, *others], rated(rng, quality, PLAIN))
    return watched(study)


def of_one_kind(rng, shape: Shape, n, *, axis: int) -> Outcome:
    """A metric that knows how good systems are (or documents: axis 0), and no more."""
    quality = effects(rng, shape, PLAIN)
    mean = quality.mean(axis=axis, keepdims=True)
    signal = 0.2 * rng.normal(size=mean.shape) + rng.normal(size=shape)
    others = [effects(rng, shape, PLAIN) for _ in range(n - 1)]
    study = study_of([mean + signal, *others], rated(rng, quality, PLAIN))
    return watched(study)


DOUBTS = (
    Doubt("pairs of equally good versions", partial(equal_versions, size=2)),
    Doubt("families of four equally good versions", partial(equal_versions, size=4)),
    Doubt(
        "pairs of versions, .5 of all in common", partial(like_versions, alike_by=0.5)
    ),
    Doubt(
        "pairs of versions, .7 of all in common", partial(like_versions, alike_by=0.7)
    ),
    Doubt("5 topics", partial(topics, by_system=0)),
    Doubt("5 topics, .5 by system", partial(topics, by_system=0.5)),
    Doubt("5 topics, 1 by system", partial(topics, by_system=1)),
    Doubt("in order of time", in_time),
    Doubt("pairs of versions and 5 topics", partial(topics, by_system=0.5, size=2)),
    Doubt("r = .5", partial(honest, r=0.5), honest=True),
    Doubt("r = .6", partial(honest, r=0.6), honest=True),
    Doubt(
        "knows how good systems are, no more", partial(of_one_kind, axis=1), honest=True
    ),
    Doubt(
        "knows how good documents are, no more",
        partial(of_one_kind, axis=0),
        honest=True,
    ),
)
SECTION = Section(
    "unnamed",
    "Versions, topics and orders that nobody names",
    """
Metrics and people find some topics easier (SD .7) or some versions better (SD 1), each their own,
and have nothing else in common; nobody says which documents or systems belong together. Without
that a relation must show where systems alone and where documents alone are put in other orders, so
that a metric that knows no more than how good systems (or documents) are on average is shown only
by many systems, or not at all; `family=system` (or `cluster=doc_id`) says that each stands for
itself.
""",
    DOUBTS,
)

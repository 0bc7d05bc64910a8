"""Raters who are not alike: a reversed scale, random ratings, raters who own texts, slips."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from metassay.statistics.correlation import LEVELS
from tests.calibration.classes import claims
from tests.calibration.doubts import Doubt, Outcome, Section
from tests.calibration.worlds import (
    PLAIN,
    certified,
    effects,
    noise_for,
    options,
    rated,
    study_of,
)

GOOD = "as good as a rater"


def as_good(
    rng, shape, n, *, r: float, reversed_raters: Sequence[int] = (), random=(), raters=3
) -> Outcome:
    """Whether the first of `n` metrics, which correlates `r` with people, is as good as one."""
    quality = effects(rng, shape, PLAIN)
    metric = quality + noise_for(r, shape, "global", PLAIN) * effects(rng, shape, PLAIN)
    others = [effects(rng, shape, PLAIN) for _ in range(n - 1)]
    ratings = quality + 0.7 * rng.normal(size=(raters, *shape))
    for place in reversed_raters:
        ratings[place] = -ratings[place]
    for place in random:
        ratings[place] = ratings.std() * rng.normal(size=shape)
    rows = certified(
        study_of([metric, *others], ratings), options(), LEVELS, raters=True
    )
    return {GOOD: [bool(rows[level][0]["as_good_as_rater"]) for level in LEVELS]}


def own_documents(
    rng, shape, n, *, sets: int, offset: float, r: float = 0.0
) -> Outcome:
    """Sets of documents, each with raters and a version of every metric of its own.

    Raters and metrics of a set give more or less than others, with this standard
    deviation, or of two sets the second gives so much more. `r` is that of the first
    metric where nothing differs.
    """
    of = rng.permutation(np.arange(shape[1]) % sets)
    moved = [offset * rng.normal(size=sets)[of] for _ in range(n + 1)]
    if sets == 2:
        moved = [offset * of for _ in range(n + 1)]
    people, *of_metrics = moved
    quality = effects(rng, shape, PLAIN)
    ratings = rated(rng, quality, PLAIN) + people
    owner = np.repeat(np.arange(sets), len(ratings))
    ratings = np.where(
        owner[:, None, None] == of, np.tile(ratings, (sets, 1, 1)), np.nan
    )
    metrics = [effects(rng, shape, PLAIN) + shift for shift in of_metrics]
    if r:
        noise = noise_for(r, shape, "global", PLAIN)
        metrics[0] = quality + noise * effects(rng, shape, PLAIN) + of_metrics[0]
    return claims(study_of(metrics, ratings), options(), watched=0 if r else None)


def own_systems(rng, shape, n, *, sets: int, offset: float) -> Outcome:
    """Sets of systems, each with a rater and a version of every metric of its own."""
    of = np.arange(shape[0]) % sets
    level = (offset * np.arange(sets) / max(1, sets - 1))[of][:, None]
    ratings = rated(rng, effects(rng, shape, PLAIN) + level, PLAIN)[:1]
    owned = of[:, None] == np.arange(sets)[:, None, None]
    ratings = np.where(owned, ratings, np.nan)
    metrics = [effects(rng, shape, PLAIN) + level for _ in range(n)]
    return claims(study_of(metrics, ratings), options())


DOUBTS = (
    Doubt(
        "one of 2 reversed, r = .55",
        partial(as_good, r=0.55, reversed_raters=[1], raters=2),
    ),
    Doubt("one of 3 reversed, r = .55", partial(as_good, r=0.55, reversed_raters=[2])),
    Doubt(
        "two of 5 reversed, r = .55",
        partial(as_good, r=0.55, reversed_raters=[0, 3], raters=5),
    ),
    Doubt("one of 3 at random, r = .55", partial(as_good, r=0.55, random=[1])),
    Doubt(
        "documents of 2 sets of raters, 1 apart",
        partial(own_documents, sets=2, offset=1.0),
    ),
    Doubt(
        "documents of 2 sets of raters, .5 apart",
        partial(own_documents, sets=2, offset=0.5),
    ),
    Doubt(
        "documents of 8 sets of raters, SD .7",
        partial(own_documents, sets=8, offset=0.7),
    ),
    Doubt("systems of 2 raters, 2 apart", partial(own_systems, sets=2, offset=2.0)),
    Doubt(
        "each system its own rater, up to 3 apart",
        partial(own_systems, sets=8, offset=3.0),
    ),
    Doubt("3 honest raters, r = .95", partial(as_good, r=0.95), honest=True),
    Doubt(
        "2 sets of raters who agree, r = .5",
        partial(own_documents, sets=2, offset=0.0, r=0.5),
        honest=True,
    ),
    Doubt(
        "2 sets of raters 1 apart, r = .5",
        partial(own_documents, sets=2, offset=1.0, r=0.5),
        honest=True,
    ),
)
SECTION = Section(
    "raters",
    "Raters who are not alike",
    """
Raters hear a text's quality with noise of .7. A reversed rater has the scale turned round. Raters
who own documents or systems share none with other raters; the metrics of their texts come from
another version, which gives more or less, too.
""",
    DOUBTS,
)

"""Many criteria, and metrics that were the best of many elsewhere."""

from functools import partial

import numpy as np

from metassay.statistics.components import value_at
from metassay.statistics.correlation import LEVELS
from tests.calibration.doubts import Doubt, Outcome, Section, Shape
from tests.calibration.unnamed import HEADS
from tests.calibration.worlds import (
    PLAIN,
    certified_together,
    effects,
    noise_for,
    options,
    rated,
    study_of,
)

CRITERIA = 6


def claims(studies, chosen, *, watched: tuple[int, int] | None = None) -> Outcome:
    """Whether any metric is claimed to follow any criterion, or one a certain one."""
    outcome: dict[str, list[bool]] = {head: [] for head in HEADS}
    for level in LEVELS:
        by_criterion = certified_together(studies, chosen, level)
        rows = [row for of_study in by_criterion for row in of_study]
        if watched is not None:
            rows = [by_criterion[watched[0]][watched[1]]]
        related = [row["p"] < 0.05 and row["value"] > 0 for row in rows]
        outcome[HEADS[0]].append(any(related))
        named = [row["verdict"] for row in rows]
        outcome[HEADS[1]].append("promising" in named or "use" in named)
        outcome[HEADS[2]].append("use" in named)
    return outcome


def criteria_of(metrics, ratings, run) -> list:
    """A study per criterion of the same texts and metrics."""
    return [
        study_of(metrics, of_criterion, seed=run)._replace(criterion=f"c{place}")
        for place, of_criterion in enumerate(ratings)
    ]


def several(rng, shape: Shape, alike: float, first=None) -> list:
    """Ratings by six criteria, which have so much of their effects in common."""
    shared = effects(rng, shape, PLAIN) if first is None else first
    keep, rest = np.sqrt(alike), np.sqrt(1 - alike)
    each = [keep * shared + rest * effects(rng, shape, PLAIN) for _ in range(CRITERIA)]
    if first is not None:
        each[0] = first
    return [rated(rng, quality, PLAIN)[:1] for quality in each]


def null_criteria(rng, shape: Shape, n, *, alike: float, primary=None) -> Outcome:
    """Six criteria that no metric knows anything of."""
    metrics = [effects(rng, shape, PLAIN) for _ in range(n)]
    studies = criteria_of(
        metrics, several(rng, shape, alike), int(rng.integers(1 << 30))
    )
    return claims(studies, options(primary_criterion=primary))


def honest_criteria(rng, shape: Shape, n, *, r: float, alike, primary=None) -> Outcome:
    """The first metric follows the first of six criteria."""
    quality = effects(rng, shape, PLAIN)
    first, *others = [effects(rng, shape, PLAIN) for _ in range(n)]
    metrics = [quality + noise_for(r, shape, "global", PLAIN) * first, *others]
    ratings = several(rng, shape, alike, quality)
    studies = criteria_of(metrics, ratings, int(rng.integers(1 << 30)))
    return claims(studies, options(primary_criterion=primary), watched=(0, 0))


def best_elsewhere(rng, shape: Shape, n, *, tried: int, declared: bool) -> Outcome:
    """Metrics that know nothing, each the best of so many on these very ratings."""
    ratings = rated(rng, effects(rng, shape, PLAIN), PLAIN)
    human = ratings.mean(axis=0)

    def best():
        every = [effects(rng, shape, PLAIN) for _ in range(tried)]
        return max(every, key=lambda m: float(value_at(m, human, "global", "pearson")))

    study = study_of([best() for _ in range(n)], ratings)
    return claims([study], options(tried=tried if declared else 1))


DOUBTS = (
    Doubt("6 criteria, nothing in common", partial(null_criteria, alike=0.0)),
    Doubt("6 criteria, .8 in common", partial(null_criteria, alike=0.8)),
    Doubt("6 criteria, all the same", partial(null_criteria, alike=1.0)),
    Doubt(
        "best of 20 elsewhere, `--tried 20`",
        partial(best_elsewhere, tried=20, declared=True),
        metrics=(1, 3),
    ),
    Doubt(
        "best of 20 elsewhere, not said",
        partial(best_elsewhere, tried=20, declared=False),
        metrics=(1, 3),
    ),
    Doubt(
        "r = .5, 6 criteria, .8 in common",
        partial(honest_criteria, r=0.5, alike=0.8),
        honest=True,
    ),
    Doubt(
        "r = .5, 6 criteria, primary criterion",
        partial(honest_criteria, r=0.5, alike=0.8, primary="c0"),
        honest=True,
    ),
    Doubt(
        "r = .6, 6 criteria, .8 in common",
        partial(honest_criteria, r=0.6, alike=0.8),
        honest=True,
    ),
)
SECTION = Section(
    "many",
    "Many criteria, and the best of many tried elsewhere",
    """
Six criteria that have nothing, or much, in common. In the null studies any metric by any criterion
counts; in honest studies the first metric by the first criterion, of which the others know part.
Best of many elsewhere: each metric was chosen among 20 that know nothing, by its correlation with
the very ratings that it is tested on.
""",
    DOUBTS,
)

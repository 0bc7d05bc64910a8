"""Texts chosen to be rated by a metric's scores, and ratings that cannot be grades."""

from functools import partial

import numpy as np
import pandas as pd

from metassay.meta_evaluation.options import CertificationOptions
from metassay.meta_evaluation.selected_texts import find_chosen
from metassay.meta_evaluation.study import Study
from metassay.meta_evaluation.verdicts import find_verdict
from metassay.statistics.correlation import LEVELS
from metassay.statistics.exact_sums import rankdata
from metassay.tabular.far_ratings import find_far_ratings
from tests.calibration.classes import CLAIMED, alone
from tests.calibration.doubts import Doubt, Outcome, Section, Shape
from tests.calibration.worlds import (
    PLAIN,
    certified,
    effects,
    noise_for,
    options,
    rated,
    study_of,
)

SHARE = 0.3  # of the texts that are rated


def extreme(rng, metrics: list[np.ndarray]) -> np.ndarray:
    """The texts with the highest and the lowest scores of the first metric."""
    distance = np.abs(metrics[0] - np.median(metrics[0]))
    return distance >= np.quantile(distance, 1 - SHARE)


def highest(rng, metrics: list[np.ndarray]) -> np.ndarray:
    return metrics[0] >= np.quantile(metrics[0], 1 - SHARE)


def often_high(rng, metrics: list[np.ndarray]) -> np.ndarray:
    """Texts above the median three times as often as the others."""
    above = metrics[0] > np.median(metrics[0])
    return rng.random(above.shape) < np.where(above, 0.45, 0.15)


def at_random(rng, metrics: list[np.ndarray]) -> np.ndarray:
    return rng.random(metrics[0].shape) < SHARE


def documents_at_random(rng, metrics: list[np.ndarray]) -> np.ndarray:
    systems, documents = metrics[0].shape
    drawn = rng.random(documents) < SHARE
    return np.tile(drawn, (systems, 1))


def disagreeing(metrics: list[np.ndarray], share: float) -> np.ndarray:
    """The share of texts of whose rank the first two metrics differ most."""
    ranks = [rankdata(metric.ravel()).reshape(metric.shape) for metric in metrics[:2]]
    apart = np.abs(ranks[0] - ranks[1])
    return apart >= np.quantile(apart, 1 - share)


def also_disagreeing(rng, metrics: list[np.ndarray]) -> np.ndarray:
    """A random sample, and as many texts on which two metrics disagree."""
    at_random = rng.random(metrics[0].shape) < SHARE / 2
    return at_random | disagreeing(metrics, SHARE / 2)


def disagreeing_left_out(rng, metrics: list[np.ndarray]) -> np.ndarray:
    """The same where the column `chosen_by` marks what was added: the random sample is left."""
    return rng.random(metrics[0].shape) < SHARE / 2


def scores_of(metrics: list[np.ndarray]) -> pd.DataFrame:
    """The table `scores` of all texts, those that nobody rated too."""
    system, document = np.indices(metrics[0].shape).reshape(2, -1)
    frames = [
        pd.DataFrame(
            {
                "doc_id": [f"d{place:05d}" for place in document],
                "author": [f"s{place:02d}" for place in system],
                "part": "full",
                "metric": f"m{k:02d}",
                "judge": "none",
                "value": metric.ravel(),
            }
        )
        for k, metric in enumerate(metrics)
    ]
    return pd.concat(frames, ignore_index=True)


def verdicts_of(study: Study, chosen: set[str]) -> dict[str, list[str]]:
    """Verdicts by level, of metrics in whose scores rated texts are more extreme, too."""
    return {
        level: [
            find_verdict(
                {**row, "selected": f"m{k:02d}" in chosen}, CertificationOptions()
            )
            for k, row in enumerate(rows)
        ]
        for level, rows in certified(study, options(), LEVELS).items()
    }


def selected(rng, shape: Shape, n: int, *, r: float, choose) -> Outcome:
    """Only some texts are rated; the first metric correlates `r` with people over all.

    The others know nothing. With one metric, there is another one to disagree with.
    """
    quality = effects(rng, shape, PLAIN)
    first, *others = [effects(rng, shape, PLAIN) for _ in range(max(n, 2))]
    metrics = [first, *others]
    if r:
        metrics[0] = quality + noise_for(r, shape, "global", PLAIN) * first
    rated_texts = choose(rng, metrics)
    metrics = metrics[:n]
    ratings = np.where(rated_texts, rated(rng, quality, PLAIN), np.nan)
    seen = [np.where(rated_texts, metric, np.nan) for metric in metrics]
    study = study_of(seen, ratings, groups=alone(shape))
    warned = find_chosen(study, scores_of(metrics))
    extreme = {metric.metric for metric in warned if metric.extreme}
    verdicts = verdicts_of(study, extreme).values()
    return {
        "called promising or `use`": [of[0] in CLAIMED for of in verdicts],
        "`use`": [of[0] == "use" for of in verdicts],
        "warned": [bool(warned)],
    }


def slip(rng, shape: Shape, n: int, *, values, levels: int = 5) -> Outcome:
    """One of 144 grades of 1 to `levels` is another number, or none is."""
    share = rng.dirichlet(np.ones(levels))
    grades = rng.choice(np.arange(1.0, levels + 1), size=144, p=share)
    value = rng.choice(values) if len(values) else None
    if value is not None:
        grades[rng.integers(144)] = value
    far = find_far_ratings(grades.tolist())
    return {
        "refused": [any(rating.impossible for rating in far)],
        "refused or warned of": [bool(far)],
    }


WEAK = "r = .2, rated where the metric is"
DOUBTS = (
    Doubt(f"{WEAK} extreme", partial(selected, r=0.2, choose=extreme), metrics=(1, 3)),
    Doubt(f"{WEAK} highest", partial(selected, r=0.2, choose=highest), metrics=(1, 3)),
    Doubt(
        "r = .2, high scores are rated three times as often",
        partial(selected, r=0.2, choose=often_high),
        metrics=(1, 3),
    ),
    Doubt(
        "r = .2, disagreements are rated, too",
        partial(selected, r=0.2, choose=also_disagreeing),
        metrics=(1, 3),
    ),
    Doubt(
        "r = .2, the same, marked",
        partial(selected, r=0.2, choose=disagreeing_left_out),
        metrics=(1, 3),
    ),
    Doubt(
        "knows nothing, rated where it is extreme",
        partial(selected, r=0.0, choose=extreme),
        metrics=(1, 3),
    ),
    Doubt(
        "knows nothing, disagreements are rated, too",
        partial(selected, r=0.0, choose=also_disagreeing),
        metrics=(1, 3),
    ),
    Doubt(
        "knows nothing, the same, marked",
        partial(selected, r=0.0, choose=disagreeing_left_out),
        metrics=(1, 3),
    ),
    Doubt(
        "one of 144 grades is 30, 55, 99 or -9",
        partial(slip, values=(30.0, 55.0, 99.0, -9.0)),
        shapes=((4, 36),),
        metrics=(1,),
        studies=1000,
    ),
    Doubt(
        "one of 144 grades is 11",
        partial(slip, values=(11.0,)),
        shapes=((4, 36),),
        metrics=(1,),
        studies=1000,
    ),
    Doubt(
        "texts at random",
        partial(selected, r=0.5, choose=at_random),
        honest=True,
        metrics=(1, 3),
    ),
    Doubt(
        "r = .2, texts at random",
        partial(selected, r=0.2, choose=at_random),
        metrics=(1, 3),
    ),
    Doubt(
        "documents at random",
        partial(selected, r=0.5, choose=documents_at_random),
        honest=True,
        metrics=(1, 3),
    ),
    Doubt(
        "144 grades of 1 to 5",
        partial(slip, values=()),
        honest=True,
        shapes=((4, 36),),
        metrics=(1,),
        studies=1000,
    ),
    Doubt(
        "144 grades of 1 to 10",
        partial(slip, values=(), levels=10),
        honest=True,
        shapes=((4, 36),),
        metrics=(1,),
        studies=1000,
    ),
)
SECTION = Section(
    "selected",
    "Texts that were chosen to be rated, and ratings that cannot be",
    """
Three in ten texts are rated, chosen by the scores of a metric that correlates .2 with people over
all texts, or not at all. Or half of these are drawn at random, and the other half are texts on
which this metric and one that knows nothing differ most in rank; where the column `chosen_by` marks
the latter, they are left out. A warning says that texts were chosen (of random samples, at most 5 %
may have it), and a metric whose scores are more extreme in rated texts gets `cannot tell`. Before,
nothing was said. Grades are drawn with shares of their levels that are drawn, too (Dirichlet); one
of them is another number.
""",
    DOUBTS,
)

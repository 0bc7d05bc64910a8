"""Studies with a known truth: how scores and ratings come about, and the verdicts they get.

Sizes are standard deviations; that of the text's own quality is 1.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd

from metassay.meta_evaluation import evidence
from metassay.meta_evaluation.exact_tests import StudyTests, run_level
from metassay.meta_evaluation.layouts import NO_GROUPS, Groups, Raters, layout_of
from metassay.meta_evaluation.options import CertificationOptions, MetaOptions
from metassay.meta_evaluation.study import MetricScores, Study, tie_rounding
from metassay.meta_evaluation.verdicts import find_verdict, is_as_good_as_rater
from metassay.statistics.components import value_at
from metassay.statistics.doubted_raters import find_doubted_raters

N_METRICS = 20
USEFUL = CertificationOptions().useful


@dataclass(frozen=True)
class World:
    """How the numbers of a study come about."""

    name: str
    raters: int = 3
    of_system: float = 0.7
    of_document: float = 0.5
    # of people's ratings: continuous, binary, tied (5 steps), ceiling
    scale: str = "continuous"
    # heavy: Student's t with 2.5 degrees; unequal: by system, each its own
    noise: str = "normal"
    # (`shared`: the same systems and documents are noisy for metrics and for people)
    # share of ratings that are not there, and of scores of the same texts
    missing: float = 0.0
    holes: float = 0.0  # share of each metric's scores that are not there, each its own
    # near-copies of so many metrics; 0: each metric has noise of its own
    groups: int = 0
    # by how much the metrics' noise differs between systems, on a log scale
    moods: float = 0.0


PLAIN = World("continuous, 3 raters")
WORLDS = (
    PLAIN,
    World("0/1, 1 rater", raters=1, scale="binary"),
    World("5 steps, 3 raters", scale="tied"),
    World("10 % missing, 1 rater", raters=1, missing=0.1),
    World("noisy for both: systems, documents", noise="shared"),
    World("heavy tails, biased raters", noise="heavy"),
    World("systems of unequal variance", noise="unequal", of_system=1.5),
    World("ceiling, 3 raters", scale="ceiling"),
)
HOLES = World("30 % of each metric's scores missing", holes=0.3)
COPIES = World("metrics in 4 groups of near-copies", groups=4)
MOODS = World("systems in whose texts metrics are more or less noisy", moods=0.5)


def scales(rng, shape, world):
    """How noisy each text of a study is, for metrics and people alike."""
    if world.noise != "shared":
        return 1.0
    return np.exp(
        0.7 * rng.normal(size=(shape[0], 1)) + 0.4 * rng.normal(size=(1, shape[1]))
    )


def effects(rng, shape, world, scale=1.0):
    """System, document and text effects, summed: (systems, documents)."""

    def draw_of(size):
        if world.noise == "heavy":
            return rng.standard_t(2.5, size) / np.sqrt(5)
        return rng.normal(size=size)

    residual = scale * draw_of(shape)
    if world.noise == "unequal":
        residual = residual * np.exp(0.7 * rng.normal(size=(shape[0], 1)))
    by_system = world.of_system * draw_of((shape[0], 1))
    return by_system + world.of_document * draw_of((1, shape[1])) + residual


def noises(rng, shape, world, n=N_METRICS):
    """What `n` metrics see that has nothing to do with people."""
    if not world.groups:
        scores = [effects(rng, shape, world) for _ in range(n)]
    else:
        shared = [effects(rng, shape, world) for _ in range(world.groups)]
        scores = [
            np.sqrt(0.95) * shared[k % world.groups]
            + np.sqrt(0.05) * effects(rng, shape, world)
            for k in range(n)
        ]
    if world.moods:
        scores = [
            values * np.exp(world.moods * rng.normal(size=(shape[0], 1)))
            for values in scores
        ]
    return scores


def rated(rng, quality, world):
    """(raters, systems, documents): quality with each rater's bias and noise, on the scale."""
    bias = 0.5 * rng.normal(size=(world.raters, 1, 1))
    seen = quality + bias + 0.7 * rng.normal(size=(world.raters, *quality.shape))
    if world.scale == "binary":
        seen = np.where(np.isnan(seen), np.nan, seen > 0)
    elif world.scale == "tied":
        seen = np.clip(np.rint(seen), -2, 2)
    elif world.scale == "ceiling":
        seen = np.minimum(seen, 0.2)
    return np.where(rng.random(seen.shape) < world.missing, np.nan, seen)


def scored(rng, metrics, ratings, world):
    """The metrics as the study has them: not of unrated texts, and with holes of their own."""
    unrated = np.isnan(ratings).all(axis=0)
    return [
        np.where(unrated | (rng.random(metric.shape) < world.holes), np.nan, metric)
        for metric in metrics
    ]


def study_of(
    metrics: Sequence[np.ndarray],
    ratings: np.ndarray,
    *,
    seed: int = 0,
    groups: Groups = NO_GROUPS,
) -> Study:
    """A study as `meta_evaluation.study.studies` makes it of tables, what is found included."""
    count = np.sum(np.isfinite(ratings), axis=0)
    human = np.where(
        count > 0, np.nansum(ratings, axis=0) / np.maximum(count, 1), np.nan
    )
    some = np.isfinite(human)
    rows, columns = some.any(axis=1), some.any(axis=0)
    human, ratings = (
        tie_rounding(human[rows][:, columns]),
        ratings[:, rows][:, :, columns],
    )
    values = [metric[rows][:, columns] for metric in metrics]
    systems = [f"s{i:02d}" for i in np.flatnonzero(rows)]
    documents = [f"d{i:05d}" for i in np.flatnonzero(columns)]
    rng = np.random.default_rng(seed)
    names = tuple(f"r{k}" for k in range(len(ratings)))
    ratings = tie_rounding(ratings)
    grouping = layout_of(
        systems, documents, human, values, groups, rng, Raters(names, ratings)
    )
    return Study(
        study=f"study {seed}",
        criterion="quality",
        part="full",
        better="higher",
        systems=pd.Index(systems),
        documents=pd.Index(documents),
        human=human,
        raters=ratings,
        metrics=tuple(
            MetricScores(f"m{k:02d}", "none", "higher", "simulated", scores)
            for k, scores in enumerate(values)
        ),
        grouping=grouping,
        rater_names=names,
        doubted=find_doubted_raters(ratings, grouping.layout),
    )


def options(**more) -> MetaOptions:
    settings = {"resamples": 1, "permutations": 400, "confidence": 0.95, "seed": 0}
    return MetaOptions(**(settings | more))


def certified(study, chosen, levels, *, raters=False):
    """Level -> the metrics' rows of evidence with their verdicts, confounds and accuracy apart.

    `raters`: whether metrics are compared with the raters, too.
    """
    rated = study if raters else study._replace(raters=study.raters[:1])
    return {level: certified_together([rated], chosen, level)[0] for level in levels}


def certified_together(studies, chosen, level):
    """The same of several criteria of a study, adjusted for all of them; a list per criterion."""
    unknown: dict[str, object] = dict.fromkeys(
        ("given_confound", "given_confound_p", "against_rater_low"), np.nan
    )
    unknown["selected"] = False
    by_criterion = []
    for study, tests in zip(studies, run_level(studies, level, chosen), strict=True):
        rows = []
        for numbers in evidence.numbers(
            StudyTests(study, {level: tests}), level, chosen
        ):
            row = {**unknown, **numbers, "confound": None}
            row["verdict"] = find_verdict(row, CertificationOptions())
            row["as_good_as_rater"] = is_as_good_as_rater(row, CertificationOptions())
            rows.append(row)
        by_criterion.append(rows)
    return by_criterion


@cache
def noise_for(wanted, shape, level, world, coefficient="pearson"):
    """The noise with which a metric correlates so much with people, on average over studies."""
    rng = np.random.default_rng(5)
    drawn = []
    for _ in range(200):
        quality = effects(rng, shape, world, scale := scales(rng, shape, world))
        human = np.nanmean(rated(rng, quality, world), axis=0)
        (unrelated,) = noises(rng, shape, world, 1)
        drawn.append((quality, human, unrelated * scale))

    def too_high(noise):
        values = [
            value_at(q + noise * unrelated, human, level, coefficient)
            for q, human, unrelated in drawn
        ]
        return float(np.nanmean(values)) > wanted

    return bisect(too_high, 0.0, 30.0)


def bisect(too_low: Callable[[float], bool], low: float, high: float) -> float:
    for _ in range(25):
        middle = (low + high) / 2
        low, high = (middle, high) if too_low(middle) else (low, middle)
    return high

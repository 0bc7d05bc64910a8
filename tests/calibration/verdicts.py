"""How often the verdicts are wrong, and the intervals miss, in studies with a known truth.

The null is the user's doubt: metrics and people each have favourites among systems, easy documents
and moods of their own, and nothing in common. `python -m tests.calibration.page` runs it all.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from metassay.meta_evaluation.confounds import confounds
from metassay.meta_evaluation.evidence import evidence
from metassay.meta_evaluation.gather import gather, run_test, sides
from metassay.meta_evaluation.options import CertificationOptions, MetaOptions
from metassay.meta_evaluation.study import Measured, Study, even
from metassay.reporting.sentences import certificates
from metassay.statistics.components import value_at
from metassay.statistics.correlation import LEVELS
from metassay.statistics.jackknife import interval, left_out

N_METRICS = 20
DESIGNS = [(systems, documents) for systems in (3, 4, 8, 16) for documents in (10, 30, 100)]


@dataclass(frozen=True)
class World:
    """How the numbers of a study come about. Sizes are standard deviations; the text's own is 1."""

    name: str
    raters: int = 3
    of_system: float = 0.7
    of_document: float = 0.5
    scale: str = "continuous"  # of people's ratings: continuous, binary, tied (5 steps), ceiling
    noise: str = "normal"  # heavy: Student's t with 2.5 degrees; unequal: by system, each its own
    # (`shared`: the same systems and documents are noisy for metrics and for people)
    missing: float = 0.0  # share of ratings that are not there, and of scores of the same texts


WORLDS = (
    World("continuous, 3 raters"),
    World("0/1, 1 rater", raters=1, scale="binary"),
    World("5 steps, 3 raters", scale="tied"),
    World("10 % missing, 1 rater", raters=1, missing=0.1),
    World("noisy for both: systems, documents", noise="shared"),
    World("heavy tails, biased raters", noise="heavy"),
    World("systems of unequal variance", noise="unequal", of_system=1.5),
    World("ceiling, 3 raters", scale="ceiling"),
)


def scales(rng: np.random.Generator, shape: tuple[int, int], world: World) -> np.ndarray | float:
    """How noisy each text of a study is, for metrics and people alike."""
    if world.noise != "shared":
        return 1.0
    return np.exp(0.7 * rng.normal(size=(shape[0], 1)) + 0.4 * rng.normal(size=(1, shape[1])))


def effects(
    rng: np.random.Generator, shape: tuple[int, int], world: World, scale: np.ndarray | float = 1.0
) -> np.ndarray:
    """System, document and text effects, summed."""

    def draw_of(size):
        if world.noise == "heavy":
            return rng.standard_t(2.5, size) / np.sqrt(5)
        return rng.normal(size=size)

    own = scale * draw_of(shape)
    if world.noise == "unequal":
        own = own * np.exp(0.7 * rng.normal(size=(shape[0], 1)))
    by_system = world.of_system * draw_of((shape[0], 1))
    return by_system + world.of_document * draw_of((1, shape[1])) + own


def rated(rng: np.random.Generator, quality: np.ndarray, world: World) -> np.ndarray:
    """(raters, systems, documents): quality with each rater's bias and noise, on the scale."""
    bias = 0.5 * rng.normal(size=(world.raters, 1, 1))
    seen = quality + bias + 0.7 * rng.normal(size=(world.raters, *quality.shape))
    if world.scale == "binary":
        seen = (seen > 0).astype(float)
    elif world.scale == "tied":
        seen = np.clip(np.rint(seen), -2, 2)
    elif world.scale == "ceiling":
        seen = np.minimum(seen, 0.2)
    return np.where(rng.random(seen.shape) < world.missing, np.nan, seen)


def study_of(metrics: Sequence[np.ndarray], ratings: np.ndarray, *, seed: int = 0) -> Study:
    """A study as `meta_evaluation.study.studies` makes it from tables."""
    count = np.sum(np.isfinite(ratings), axis=0)
    human = np.where(count > 0, np.nansum(ratings, axis=0) / np.maximum(count, 1), np.nan)
    some = np.isfinite(human)
    ratings, human = ratings[:, some.any(axis=1)], human[some.any(axis=1)]
    ratings, human = ratings[:, :, some.any(axis=0)], human[:, some.any(axis=0)]
    shape = human.shape
    values = [metric[some.any(axis=1)][:, some.any(axis=0)] for metric in metrics]
    return Study(
        f"study {seed}", "quality", "full", "higher",
        pd.Index([f"s{i:02d}" for i in range(shape[0])]),
        pd.Index([f"d{i:05d}" for i in range(shape[1])]),
        even(human), even(ratings),
        tuple(
            Measured(f"m{k:02d}", "none", "higher", "simulated", even(one))
            for k, one in enumerate(values)
        ),
    )  # fmt: skip


def options(**more) -> MetaOptions:
    return MetaOptions(
        **{"resamples": 1, "permutations": 1000, "confidence": 0.95, "seed": 0, **more}
    )


def certified(study: Study, chosen: MetaOptions) -> pd.DataFrame:
    """The certificates of one study."""
    found = gather([study], chosen)
    return certificates(evidence(found, confounds(found, chosen), chosen), CertificationOptions())


def false_findings(
    shape: tuple[int, int], world: World, *, coefficient: str = "pearson", runs: int, seed: int
) -> dict[str, float]:
    """Share of null studies, per level, in which any of 20 metrics is `weak` or better.

    Counted is every metric whose adjusted p is below .05 in the direction of people: what `weak`,
    `holds`, `as good as a rater` and `explained by` all need.
    """
    chosen = options(coefficient=coefficient, permutations=400)
    hits = dict.fromkeys(LEVELS, 0)
    rng = np.random.default_rng([seed, *shape])
    for run in range(runs):
        scale = scales(rng, shape, world)
        metrics = [effects(rng, shape, world, scale) for _ in range(N_METRICS)]
        ratings = rated(rng, effects(rng, shape, world, scale), world)
        unrated = np.isnan(ratings).all(axis=0)
        metrics = [np.where(unrated, np.nan, one) for one in metrics]
        study = study_of(metrics, ratings, seed=run)
        for level in LEVELS:
            each = [sides(study, one.oriented, level, chosen) for one in study.metrics]
            human = sides(study, study.oriented, level, chosen)
            tested = run_test(study, each, human, level, chosen)
            if tested is not None:
                adjusted = tested.adjusted(np.ones(N_METRICS, dtype=bool))
                agrees = (tested.signs == 1) & (tested.signs[:, :1] == 1)
                hits[level] += bool((agrees & (adjusted < 0.05)).any())
    return {level: hit / runs for level, hit in hits.items()}


def nested_findings(sizes: Sequence[int], *, runs: int, seed: int) -> dict[str, float]:
    """`false_findings` where each document has one system's text; `sizes`: texts per system."""
    rng = np.random.default_rng([seed, *sizes])
    system = np.repeat(np.arange(len(sizes)), sizes)
    shape, chosen = (len(sizes), system.size), options(permutations=400)

    def drawn():
        scores = np.full(shape, np.nan)
        own = rng.normal(size=shape[0])[system] + rng.normal(size=system.size)
        scores[system, np.arange(system.size)] = own
        return scores

    hits = {"global": 0, "system": 0}
    for run in range(runs):
        study = study_of([drawn() for _ in range(N_METRICS)], drawn()[None], seed=run)
        for level in ("global", "system"):
            each = [sides(study, one.oriented, level, chosen) for one in study.metrics]
            human = sides(study, study.oriented, level, chosen)
            tested = run_test(study, each, human, level, chosen)
            adjusted = tested.adjusted(np.ones(N_METRICS, dtype=bool))
            hits[level] += bool(((tested.signs == 1) & (adjusted < 0.05)).any())
    return {level: hit / runs for level, hit in hits.items()}


class Coverage(NamedTuple):
    """Shares of intervals that hold what they are for, and their mean width."""

    crossed: float  # other systems and documents: the mean value of studies of this size
    these: float  # these systems: the same over other documents
    width: float


def related(rng, shape, world: World, *, share: float = 0.5):
    """Metric and people's quality that share the given part of every effect's variance."""
    common, own, other = (effects(rng, shape, world) for _ in range(3))
    keep, rest = np.sqrt(share), np.sqrt(1 - share)
    return keep * common + rest * own, keep * common + rest * other


def coverage(
    shape: tuple[int, int],
    level: str,
    world: World,
    *,
    coefficient: str = "pearson",
    runs: int,
    seed: int,
) -> Coverage:
    """How often the crossed interval holds the mean value of all studies like it."""
    rng = np.random.default_rng([seed, *shape])
    found = []
    for _ in range(runs):
        metric, quality = related(rng, shape, world)
        human = np.nanmean(rated(rng, quality, world), axis=0)
        left = left_out(metric, human, level, coefficient)
        found.append((left.value, *interval(left, confidence=0.95)[:2]))
    values, low, high = np.array(found).T
    defined = ~np.isnan(values)
    truth = np.mean(values[defined])
    known = defined & ~np.isnan(low)
    crossed = np.mean((low <= truth) & (truth <= high), where=known) if known.any() else np.nan
    width = np.mean(high - low, where=known) if known.any() else np.nan
    return Coverage(float(crossed), _of_these(shape, level, world, coefficient, rng), float(width))


def _of_these(shape, level, world: World, coefficient: str, rng, *, worlds: int = 12) -> float:
    # The systems and a large pool of documents stay; studies take some of the pool.
    hits = []
    for _ in range(worlds):
        metric, quality = related(rng, (shape[0], 3000), world)
        human = np.nanmean(rated(rng, quality, world), axis=0)
        found = []
        for _ in range(60):
            some = rng.choice(3000, shape[1], replace=False)
            left = left_out(metric[:, some], human[:, some], level, coefficient)
            ends = interval(left, confidence=0.95, over="documents")
            found.append((left.value, ends.low, ends.high))
        values, low, high = np.array(found).T
        truth = np.nanmean(values)
        known = ~np.isnan(low)
        hits += list((low <= truth)[known] & (truth <= high)[known])
    return float(np.mean(hits)) if hits else np.nan


def power(*, runs: int, seed: int) -> dict[str, float]:
    """Share of 4 x 100 studies in which a metric with r = .6 between single texts holds.

    Beside it stand 19 metrics that have nothing to do with people.
    """
    rng = np.random.default_rng(seed)
    shape, world = (4, 100), World("power")
    hits = dict.fromkeys(LEVELS, 0)
    noise = _noise_for(0.6, world)
    for run in range(runs):
        quality = effects(rng, shape, world)
        metric = quality + noise * effects(rng, shape, world)
        others = [effects(rng, shape, world) for _ in range(N_METRICS - 1)]
        found = certified(
            study_of([metric, *others], rated(rng, quality, world), seed=run), options()
        )
        mine = found[found["metric"] == "m00"].set_index("level")
        for level in LEVELS:
            hits[level] += bool(mine.loc[level, "holds"])
    return {level: hit / runs for level, hit in hits.items()}


def _noise_for(wanted: float, world: World) -> float:
    """The noise that gives a metric this correlation with people's mean over many texts."""
    rng = np.random.default_rng(5)
    shape = (200, 200)
    quality, own = effects(rng, shape, world), effects(rng, shape, world)
    human = rated(rng, quality, world).mean(axis=0)

    def too_high(noise: float) -> bool:
        return value_at(quality + noise * own, human, "global", "pearson") > wanted

    return _bisect(too_high, 0.0, 10.0)


def _bisect(too_low: Callable[[float], bool], low: float, high: float) -> float:
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if too_low(middle) else (low, middle)
    return high


def at_the_margin(shape: tuple[int, int], *, level: str, runs: int, seed: int) -> float:
    """Share of studies that call any of 20 metrics, each .05 below a rater, as good as one."""
    world = World("margin", of_system=0.4)
    rng = np.random.default_rng([seed, *shape])

    def metric_of(quality, noise):
        return quality + noise * rng.normal(size=quality.shape)

    noise = _noise_at_margin(shape, level, world)
    hits = 0
    for run in range(runs):
        quality = effects(rng, shape, world)
        metrics = [metric_of(quality, noise) for _ in range(N_METRICS)]
        found = certified(study_of(metrics, rated(rng, quality, world), seed=run), options())
        mine = found[found["level"] == level]
        hits += bool((mine["verdict"] == "as good as a rater").any())
    return hits / runs


def _noise_at_margin(shape, level, world: World) -> float:
    rng = np.random.default_rng(9)
    drawn = []
    for _ in range(300):
        quality = effects(rng, shape, world)
        drawn.append((quality, rated(rng, quality, world), rng.normal(size=shape)))

    def still_close(noise: float) -> bool:
        gaps = []
        for quality, ratings, own in drawn:
            for rater in range(world.raters):
                others = np.delete(ratings, rater, axis=0).mean(axis=0)
                metric = value_at(quality + noise * own, others, level, "pearson")
                gaps.append(metric - value_at(ratings[rater], others, level, "pearson"))
        return float(np.nanmean(gaps)) > -0.05

    return _bisect(still_close, 0.0, 10.0)


def at_the_threshold(
    shape: tuple[int, int], *, level: str, runs: int, seed: int
) -> dict[str, float]:
    """Verdicts on one metric whose value is .3 on average over studies of this size."""
    world = World("threshold", of_system=0.4)
    draws = np.random.default_rng(11)
    drawn = []
    for _ in range(300):
        quality = effects(draws, shape, world)
        human = rated(draws, quality, world).mean(axis=0)
        drawn.append((quality, human, effects(draws, shape, world)))

    def too_high(noise: float) -> bool:
        found = [value_at(q + noise * own, human, level, "pearson") for q, human, own in drawn]
        return float(np.nanmean(found)) > 0.3

    noise = _bisect(too_high, 0.0, 20.0)
    rng = np.random.default_rng([seed, *shape])
    said: dict[str, int] = {}
    for run in range(runs):
        quality = effects(rng, shape, world)
        metric = quality + noise * effects(rng, shape, world)
        found = certified(study_of([metric], rated(rng, quality, world), seed=run), options())
        word = found[found["level"] == level]["verdict"].iloc[0].split(" by ")[0]
        said[word] = said.get(word, 0) + 1
    return {word: count / runs for word, count in sorted(said.items())}


def best_of_many(shape: tuple[int, int], *, level: str, runs: int, seed: int) -> dict[str, float]:
    """The best of 20 equally good metrics: how far its value is too high, plain and corrected.

    And how often the interval that stands beside the corrected value holds the truth.
    """
    world = World("best", of_system=0.4)
    rng = np.random.default_rng([seed, *shape])
    rows = []
    for run in range(runs):
        quality = effects(rng, shape, world)
        metrics = [quality + 2 * effects(rng, shape, world) for _ in range(N_METRICS)]
        found = certified(study_of(metrics, rated(rng, quality, world), seed=run), options())
        mine = found[found["level"] == level]
        best = mine.loc[mine["corrected"].idxmax()]
        rows.append(
            (
                mine["value"].mean(),
                mine["value"].max(),
                *best[["corrected", "corrected_low", "corrected_high"]],
            )
        )
    mean, plain, corrected, low, high = np.array(rows, dtype=float).T
    truth = mean.mean()
    return {
        "plain": float(plain.mean() - truth),
        "corrected": float(corrected.mean() - truth),
        "covers": float(np.mean((low <= truth) & (truth <= high))),
    }

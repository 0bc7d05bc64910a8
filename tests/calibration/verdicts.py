"""How often verdicts are wrong, and intervals miss, in studies with a known truth.

The null is the user's doubt: metrics and people each have favourites among systems,
easy documents and moods of their own, and nothing in common. `python -m
tests.calibration.page` runs it all.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from metassay.meta_evaluation.exact_tests import run_level
from metassay.meta_evaluation.layouts import Groups
from metassay.meta_evaluation.verdicts import TRUSTED
from metassay.statistics.components import value_at
from metassay.statistics.correlation import LEVELS
from metassay.statistics.jackknife import interval, leave_out
from metassay.statistics.layout import Layout
from tests.calibration.worlds import (
    N_METRICS,
    PLAIN,
    World,
    bisect,
    certified,
    effects,
    noise_for,
    noises,
    options,
    rated,
    scales,
    scored,
    study_of,
)

DESIGNS = [
    (systems, documents) for systems in (3, 4, 8, 16) for documents in (10, 30, 100)
]


class Claims(NamedTuple):
    """Shares of studies in which any metric that knows nothing gets such a verdict."""

    related: float  # adjusted p below .05, the way people go
    promising: float  # `promising` or better: that, and a useful value
    trusted: float  # `use`


def false_claims(
    shape, world, *, n=N_METRICS, coefficient="pearson", true=0, runs, seed
):
    """Level -> `Claims` in studies of n metrics; the first `true` of them follow people."""
    rng = np.random.default_rng([seed, *shape])
    chosen = options(coefficient=coefficient)
    by_level = {level: [] for level in LEVELS}
    for run in range(runs):
        scale = scales(rng, shape, world)
        quality = effects(rng, shape, world, scale)
        metrics = [noise * scale for noise in noises(rng, shape, world, n)]
        for place in range(true):
            metrics[place] = quality + metrics[place]
        ratings = rated(rng, quality, world)
        study = study_of(scored(rng, metrics, ratings, world), ratings, seed=run)
        for level in LEVELS:
            by_level[level].append(claims_at(study, level, chosen, true))
    return {
        level: Claims(*np.mean(claims, axis=0)) for level, claims in by_level.items()
    }


def claims_at(study, level, chosen, true=0) -> Claims:
    """What is claimed of the metrics but the first `true`; all claims need a p below .05."""
    (tests,) = run_level([study], level, chosen)
    if not np.any(tests.p_adjusted < 0.05):
        return Claims(False, False, False)
    return claims_of(certified(study, chosen, (level,))[level][true:])


def claims_of(rows) -> Claims:
    verdicts = {row["verdict"] for row in rows}
    related = any(row["p"] < 0.05 and row["value"] > 0 for row in rows)
    return Claims(
        related, bool(verdicts & {*TRUSTED, "promising"}), bool(verdicts & set(TRUSTED))
    )


def nested_claims(sizes: Sequence[int], *, n: int = N_METRICS, runs: int, seed: int):
    """`false_claims` where each document has one system's text; `sizes`: texts per system."""
    rng = np.random.default_rng([seed, *sizes])
    system = np.repeat(np.arange(len(sizes)), sizes)
    shape, levels = (len(sizes), system.size), ("global", "system")

    def drawn():
        scores = np.full(shape, np.nan)
        values = rng.normal(size=shape[0])[system] + rng.normal(size=system.size)
        scores[system, np.arange(system.size)] = values
        return scores

    by_level = {level: [] for level in levels}
    for run in range(runs):
        study = study_of([drawn() for _ in range(n)], drawn()[None], seed=run)
        for level in levels:
            by_level[level].append(claims_at(study, level, options()))
    return {
        level: Claims(*np.mean(claims, axis=0)) for level, claims in by_level.items()
    }


def statement_claims(
    documents: int,
    systems: int,
    per_text: int,
    *,
    n=N_METRICS,
    shares=False,
    runs,
    seed,
):
    """`false_claims` of single statements: `per_text` of each text, documents as clusters.

    People and each metric have systems, documents and texts of their own that they find
    better. `shares`: people mark 4 elements of a statement, most of them right.
    """
    rng = np.random.default_rng([seed, documents, systems, per_text])
    system, document = _places(documents, systems, per_text)
    groups = Groups(
        {}, {f"d{i:05d}": str(number) for i, number in enumerate(document)}, {}
    )
    by_level = {level: [] for level in ("global", "system")}
    for run in range(runs):
        metrics = [_alone(_found_in(rng, system, document), system) for _ in range(n)]
        people = _found_in(rng, system, document)
        people = _alone(_marked(rng, people) if shares else people, system)
        study = study_of(metrics, people[None], seed=run, groups=groups)
        for level, claims in by_level.items():
            claims.append(claims_at(study, level, options()))
    return {
        level: Claims(*np.mean(claims, axis=0)) for level, claims in by_level.items()
    }


def _places(documents: int, systems: int, per_text: int):
    """System and document of each statement."""
    system, rest = np.divmod(
        np.arange(systems * documents * per_text), documents * per_text
    )
    return system, rest // per_text


def _found_in(rng, system, document):
    """How good statements are, by what is alike in systems, documents and texts."""
    text = system * (document.max() + 1) + document
    alike = sum(rng.normal(size=of.max() + 1)[of] for of in (system, document, text))
    return alike * 0.5 + rng.normal(size=system.size)


def _marked(rng, quality):
    """The share of 4 elements with an error, less of it where the quality is high, turned."""
    return -rng.binomial(4, 1 / (1 + np.exp(2 + quality))) / 4.0


def _alone(values, system):
    """Each statement as a document with the text of its system."""
    scores = np.full((system.max() + 1, system.size), np.nan)
    scores[system, np.arange(system.size)] = values
    return scores


def statement_coverage(documents: int, systems: int, per_text: int, *, runs, seed):
    """How often the interval of statements' r holds its mean over such studies, width and mean.

    Of a single system it is the interval for this system and other documents. People
    mark 4 elements of a statement, and half of the variance of a metric is theirs.
    """
    rng = np.random.default_rng([seed, documents, systems, per_text])
    system, document = _places(documents, systems, per_text)
    layout = Layout(np.zeros(system.size, int), document, np.arange(systems))
    estimates = []
    for _ in range(runs):
        common, of_metric, of_people = (
            _found_in(rng, system, document) for _ in range(3)
        )
        metric, people = (
            common + of_metric,
            _marked(rng, (common + of_people) / np.sqrt(2)),
        )
        sides = _alone(metric, system), _alone(people, system)
        left = leave_out(*sides, "global", "pearson", layout)
        over = "both" if systems > 1 else "documents"
        estimates.append((left.value, *interval(left, confidence=0.95, over=over)[:2]))
    values, low, high = np.array(estimates).T
    covered = (low <= values.mean()) & (values.mean() <= high)
    return float(np.mean(covered)), float(np.mean(high - low)), float(values.mean())


def below_useful(
    shape, level, world, *, n=N_METRICS, coefficient="pearson", value=0.29, runs, seed
) -> float:
    """Share of studies that call any of n metrics with this true correlation one to use."""
    noise = noise_for(value, shape, level, world, coefficient)
    rng = np.random.default_rng([seed, *shape])
    hits = 0
    for run in range(runs):
        scale = scales(rng, shape, world)
        quality = effects(rng, shape, world, scale)
        metrics = [
            quality + noise * scale * unrelated
            for unrelated in noises(rng, shape, world, n)
        ]
        ratings = rated(rng, quality, world)
        study = study_of(scored(rng, metrics, ratings, world), ratings, seed=run)
        chosen = options(coefficient=coefficient, permutations=200)
        hits += claims_of(certified(study, chosen, (level,))[level]).trusted
    return hits / runs


def power(shape, level, r, *, primary=False, coefficient="pearson", runs, seed):
    """Shares of studies that call a metric one to use, and promising; 19 others know nothing.

    Its correlation with people is `r` on average. `primary`: it was named before
    anybody looked.
    """
    noise = noise_for(r, shape, level, PLAIN, coefficient)
    rng = np.random.default_rng([seed, *shape])
    chosen = options(primary="m00" if primary else None, coefficient=coefficient)
    verdicts = []
    for run in range(runs):
        quality = effects(rng, shape, PLAIN)
        first, *others = noises(rng, shape, PLAIN)
        study = study_of(
            [quality + noise * first, *others], rated(rng, quality, PLAIN), seed=run
        )
        verdicts.append(certified(study, chosen, (level,))[level][0]["verdict"])
    return verdicts.count("use") / runs, verdicts.count("promising") / runs


class Coverage(NamedTuple):
    """Shares of intervals that hold what they are for, and their mean width."""

    # other systems and documents: the mean value of studies of this size
    crossed: float
    these: float  # these systems: the same over other documents
    width: float


def related(rng, shape, world: World, *, share: float = 0.5):
    """Metric and people's quality that share the given part of every effect's variance."""
    common, of_metric, of_people = (effects(rng, shape, world) for _ in range(3))
    keep, rest = np.sqrt(share), np.sqrt(1 - share)
    return keep * common + rest * of_metric, keep * common + rest * of_people


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
    estimates = []
    for _ in range(runs):
        metric, quality = related(rng, shape, world)
        human = np.nanmean(rated(rng, quality, world), axis=0)
        left = leave_out(metric, human, level, coefficient)
        estimates.append((left.value, *interval(left, confidence=0.95)[:2]))
    values, low, high = np.array(estimates).T
    defined = ~np.isnan(values)
    truth = np.mean(values[defined])
    known = defined & ~np.isnan(low)
    crossed = (
        np.mean((low <= truth) & (truth <= high), where=known)
        if known.any()
        else np.nan
    )
    width = np.mean(high - low, where=known) if known.any() else np.nan
    return Coverage(
        float(crossed), _of_these(shape, level, world, coefficient, rng), float(width)
    )


def _of_these(
    shape, level, world: World, coefficient: str, rng, *, worlds: int = 12
) -> float:
    # The systems and a large pool of documents stay; studies take some of the pool.
    hits = []
    for _ in range(worlds):
        metric, quality = related(rng, (shape[0], 3000), world)
        human = np.nanmean(rated(rng, quality, world), axis=0)
        estimates = []
        for _ in range(60):
            some = rng.choice(3000, shape[1], replace=False)
            left = leave_out(metric[:, some], human[:, some], level, coefficient)
            ends = interval(left, confidence=0.95, over="documents")
            estimates.append((left.value, ends.low, ends.high))
        values, low, high = np.array(estimates).T
        truth = np.nanmean(values)
        known = ~np.isnan(low)
        hits += list((low <= truth)[known] & (truth <= high)[known])
    return float(np.mean(hits)) if hits else np.nan


def below_a_rater(
    shape: tuple[int, int], *, level: str, by: float, runs: int, seed: int
) -> float:
    """Share of studies that call any of 20 metrics, each `by` below a rater, as good as one."""
    world = World("margin", of_system=0.4)
    rng = np.random.default_rng([seed, *shape])
    noise = _noise_below_a_rater(shape, level, world, by)
    hits = 0
    for run in range(runs):
        quality = effects(rng, shape, world)
        metrics = [quality + noise * rng.normal(size=shape) for _ in range(N_METRICS)]
        study = study_of(metrics, rated(rng, quality, world), seed=run)
        rows = certified(study, options(), (level,), raters=True)[level]
        hits += any(row["as_good_as_rater"] for row in rows)
    return hits / runs


def _noise_below_a_rater(shape, level, world: World, by: float) -> float:
    rng = np.random.default_rng(9)
    drawn = []
    for _ in range(300):
        quality = effects(rng, shape, world)
        drawn.append((quality, rated(rng, quality, world), rng.normal(size=shape)))

    def still_close(noise: float) -> bool:
        gaps = []
        for quality, ratings, error in drawn:
            for rater in range(world.raters):
                others = np.delete(ratings, rater, axis=0).mean(axis=0)
                metric = value_at(quality + noise * error, others, level, "pearson")
                gaps.append(metric - value_at(ratings[rater], others, level, "pearson"))
        return float(np.nanmean(gaps)) > -by

    return bisect(still_close, 0.0, 10.0)


def rare_flag(shape: tuple[int, int], *, runs: int, seed: int) -> tuple[float, float]:
    """Shares of studies that call a flag of rare faults as good as a rater, and one to use.

    It is 1 where the worst of a document's texts is far below the others, which few
    are: in most documents it tells nothing apart.
    """
    world = World("flag", of_system=0.3)
    rng = np.random.default_rng([seed, *shape])
    good, used = 0, 0
    for run in range(runs):
        quality = effects(rng, shape, world)
        flag = -(quality < quality.mean() - 1.6 * quality.std()).astype(float)
        study = study_of([flag], rated(rng, quality, world), seed=run)
        (row,) = certified(study, options(), ("document",), raters=True)["document"]
        good += row["as_good_as_rater"]
        used += row["verdict"] in TRUSTED
    return good / runs, used / runs


def best_of_many(
    shape: tuple[int, int], *, level: str, runs: int, seed: int
) -> dict[str, float]:
    """The best of 20 equally good metrics: how far its value is too high, plain and corrected.

    And how often the interval that stands beside the corrected value holds the truth.
    """
    world = World("best", of_system=0.4)
    rng = np.random.default_rng([seed, *shape])
    rows = []
    for run in range(runs):
        quality = effects(rng, shape, world)
        metrics = [quality + 2 * effects(rng, shape, world) for _ in range(N_METRICS)]
        study = study_of(metrics, rated(rng, quality, world), seed=run)
        evidence = certified(study, options(permutations=100), (level,))[level]
        best = max(evidence, key=lambda row: row["corrected"])
        values = [row["value"] for row in evidence]
        ends = (best[name] for name in ("corrected", "corrected_low", "corrected_high"))
        rows.append((np.mean(values), np.max(values), *ends))
    mean, plain, corrected, low, high = np.array(rows, dtype=float).T
    truth = mean.mean()
    return {
        "plain": float(plain.mean() - truth),
        "corrected": float(corrected.mean() - truth),
        "covers": float(np.mean((low <= truth) & (truth <= high))),
    }

"""Systems, or documents, of two or three classes: better ones and worse ones, and noise within."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from metassay.meta_evaluation.layouts import Groups
from metassay.statistics.correlation import LEVELS
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


def alone(shape: Shape) -> Groups:
    """The user says that no system is a version of another, and no two documents alike."""
    documents = {f"d{i:05d}": f"d{i:05d}" for i in range(shape[1])}
    systems = {f"s{i:02d}": f"s{i:02d}" for i in range(shape[0])}
    return Groups({}, documents, systems)


CLAIMED = ("promising", "use")


def claims(
    study, chosen, *, watched: int | None = None, raters: bool = False
) -> Outcome:
    """Whether any metric, or one, gets such a verdict, by level.

    `watched`: the place of the one metric that counts. `raters`: whether any is as good
    as a rater.
    """
    by_level = certified(study, chosen, LEVELS, raters=raters)
    rows = {
        level: every if watched is None else [every[watched]]
        for level, every in by_level.items()
    }
    outcome = {
        "`use`": [
            any(row["verdict"] == "use" for row in rows[level]) for level in LEVELS
        ],
        "`promising` or `use`": [
            any(row["verdict"] in CLAIMED for row in rows[level]) for level in LEVELS
        ],
    }
    if raters:
        good = [any(row["as_good_as_rater"] for row in rows[level]) for level in LEVELS]
        outcome["as good as a rater"] = good
    return outcome


# ---- worlds ----------------------------------------------------------------------------------


def classes_of_systems(
    rng, shape, n, *, worse: Sequence[tuple[float, float]]
) -> Outcome:
    """Metrics and people agree which class a system is of, and on nothing else.

    `worse`: shares of systems, and how many standard deviations these are worse.
    """
    sizes = [(round(share * shape[0]), by) for share, by in worse]
    shift = np.zeros((shape[0], 1))
    start = 0
    for size, by in sizes:
        shift[start : start + size] = -by
        start += size
    metrics = [effects(rng, shape, PLAIN) + shift for _ in range(n)]
    ratings = rated(rng, effects(rng, shape, PLAIN) + shift, PLAIN)
    study = study_of(
        metrics, ratings, seed=int(rng.integers(1 << 30)), groups=alone(shape)
    )
    return claims(study, options())


def texts_of_classes(rng, shape, n, *, worse: float, by: float, r: float) -> Outcome:
    """Metrics know which class a system is of, and correlate `r` among one system's texts.

    Of systems of one class they know nothing, so that only `use` for two systems is false.
    """
    shift = np.zeros((shape[0], 1))
    shift[: round(worse * shape[0])] = -by

    def scorer(texts):
        between = 0.7 * rng.normal(size=(shape[0], 1))
        return shift + between + 0.5 * rng.normal(size=(1, shape[1])) + texts

    of_people = rng.normal(size=shape)
    noise = np.sqrt(1 - r**2)
    of_metrics = [r * of_people + noise * rng.normal(size=shape) for _ in range(n)]
    metrics = [scorer(texts) for texts in of_metrics]
    ratings = rated(rng, scorer(of_people), PLAIN)
    study = study_of(
        metrics, ratings, seed=int(rng.integers(1 << 30)), groups=alone(shape)
    )
    between_systems = claims(study, options())["`use`"][LEVELS.index("system")]
    return {"`use` for two systems": [between_systems]}


def classes_of_documents(rng, shape, n, *, share: float, by: float) -> Outcome:
    """Metrics and people agree which class a document is of, and on nothing else."""
    shift = np.zeros((1, shape[1]))
    shift[:, rng.permutation(shape[1])[: round(share * shape[1])]] = -by
    metrics = [effects(rng, shape, PLAIN) + shift for _ in range(n)]
    ratings = rated(rng, effects(rng, shape, PLAIN) + shift, PLAIN)
    study = study_of(
        metrics, ratings, seed=int(rng.integers(1 << 30)), groups=alone(shape)
    )
    return claims(study, options())


def honest(rng, shape, n, *, r: float) -> Outcome:
    """A metric that correlates `r` with people, beside others that know nothing."""
    noise = noise_for(r, shape, "global", PLAIN)
    quality = effects(rng, shape, PLAIN)
    first, *others = [effects(rng, shape, PLAIN) for _ in range(n)]
    metrics = [quality + noise * first, *others]
    study = study_of(metrics, rated(rng, quality, PLAIN), groups=alone(shape))
    return claims(study, options(), watched=0)


def below_useful(rng, shape, n, *, r: float) -> Outcome:
    """Whether a metric whose true `r` is just below the useful is called one to use."""
    return {"`use`": honest(rng, shape, n, r=r)["`use`"]}


def honest_spread(rng, shape, n, *, r: float, tails: str) -> Outcome:
    """The same where systems differ widely, with SD 1.5, or of heavy tails (t, 3).

    `tails`: of the systems' quality; uniform, skewed (exponential, a few far worse).
    """
    systems = (shape[0], 1)
    draws = {
        "normal": lambda: 1.5 * rng.normal(size=systems),
        "heavy": lambda: rng.standard_t(3, systems),
        "uniform": lambda: 1.5 * np.sqrt(12) * (rng.random(systems) - 0.5),
        "skewed": lambda: 1.5 * (1 - rng.exponential(size=systems)),
    }
    far = draws[tails]()
    noise = _noise_of_spread(shape, r, tails)

    def scorer(between):
        return between + 0.5 * rng.normal(size=(1, shape[1])) + rng.normal(size=shape)

    quality = scorer(far)
    others = [effects(rng, shape, PLAIN) for _ in range(n - 1)]
    metric = quality + noise * effects(rng, shape, PLAIN)
    people = rated(rng, quality, PLAIN)
    study = study_of([metric, *others], people, groups=alone(shape))
    return claims(study, options(), watched=0)


def _noise_of_spread(shape: Shape, r: float, tails: str) -> float:
    """The noise of a metric whose texts correlate `r` with people's mean, in the long run."""
    between = 3.0 if tails == "heavy" else 2.25
    quality = between + 0.25 + 1.0
    people = quality + 0.49 / 3
    of_noise = 0.49 + 0.25 + 1.0
    return float(np.sqrt((quality / people / r**2 - 1) * quality / of_noise))


def of_systems_alone(rng, shape, n, *, r: float, spread: float) -> Outcome:
    """A metric that correlates `r` with how good systems are, and not with their texts."""
    good = spread * rng.normal(size=(shape[0], 1))

    def scorer(systems):
        return systems + 0.5 * rng.normal(size=(1, shape[1])) + rng.normal(size=shape)

    noise = spread * np.sqrt(1 / r**2 - 1) * rng.normal(size=(shape[0], 1))
    others = [effects(rng, shape, PLAIN) for _ in range(n - 1)]
    people = rated(rng, scorer(good), PLAIN)
    study = study_of([scorer(good + noise), *others], people, groups=alone(shape))
    return claims(study, options(), watched=0)


MANY = 600  # studies, so that rates near the promised 5 % are told from it
DOUBTS = (
    Doubt(
        "6 of 16 systems 3 worse",
        partial(classes_of_systems, worse=[(6 / 16, 3)]),
        studies=MANY,
    ),
    Doubt(
        "half of the systems 3 worse",
        partial(classes_of_systems, worse=[(1 / 2, 3)]),
        studies=MANY,
    ),
    Doubt(
        "a quarter of the systems 4 better",
        partial(classes_of_systems, worse=[(3 / 4, 4)]),
        studies=MANY,
    ),
    Doubt("one system 6 worse", partial(classes_of_systems, worse=[(1 / 16, 6)])),
    Doubt(
        "three classes of systems, 3 apart",
        partial(classes_of_systems, worse=[(1 / 3, 6), (1 / 3, 3)]),
        studies=MANY,
    ),
    Doubt(
        "three classes of systems, 2.5 apart, 3 in 8 each of the worst and the best",
        partial(classes_of_systems, worse=[(3 / 8, 5), (1 / 4, 2.5)]),
    ),
    Doubt(
        "6 of 16 systems 3 worse, r = .5 among texts of a system",
        partial(texts_of_classes, worse=6 / 16, by=3, r=0.5),
    ),
    Doubt(
        "15 of 40 documents 3 worse", partial(classes_of_documents, share=15 / 40, by=3)
    ),
    Doubt(
        "half of the documents 3 worse",
        partial(classes_of_documents, share=1 / 2, by=3),
    ),
    Doubt("r = .29, below the useful", partial(below_useful, r=0.29)),
    Doubt("r = .5", partial(honest, r=0.5), honest=True),
    Doubt("r = .6", partial(honest, r=0.6), honest=True),
    Doubt(
        "r = .7, systems SD 1.5",
        partial(honest_spread, r=0.7, tails="normal"),
        honest=True,
    ),
    Doubt(
        "r = .8, systems SD 1.5",
        partial(honest_spread, r=0.8, tails="normal"),
        honest=True,
    ),
    Doubt(
        "r = .7, systems t(3)",
        partial(honest_spread, r=0.7, tails="heavy"),
        honest=True,
    ),
    Doubt(
        "r = .8, systems uniform, SD 1.5",
        partial(honest_spread, r=0.8, tails="uniform"),
        honest=True,
    ),
    Doubt(
        "r = .8, systems skewed, SD 1.5",
        partial(honest_spread, r=0.8, tails="skewed"),
        honest=True,
    ),
    Doubt(
        "knows systems (r = .95), not texts",
        partial(of_systems_alone, r=0.95, spread=0.7),
        honest=True,
    ),
    Doubt(
        "knows systems (r = .95, SD 1.5), not texts",
        partial(of_systems_alone, r=0.95, spread=1.5),
        honest=True,
    ),
)
SECTION = Section(
    "classes",
    "Classes of systems or documents",
    """
Systems (or documents) of two or three classes, by so many standard deviations of a text's quality
apart for raters and metrics alike; within a class metrics are noise. The user says that no system
is a version of another and no two documents are of one topic (in the columns before, nobody does).
A metric that knows the class alone does tell good systems from bad ones, so that these rates are no
errors as those of metrics without any relation are. Among 8 systems, classes and chance look alike,
and the texts of one system tell them apart: one kind of metric follows these, too, and is wrong
about systems alone. Of metrics that know systems and not their texts, fewer are `use`. Classes that
lie less than 3 standard deviations apart are the hardest.
""",
    DOUBTS,
)

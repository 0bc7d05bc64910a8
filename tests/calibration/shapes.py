"""Metrics that see a confound, such as length, through a curve; and metrics that do not.

People value the confound, too, and it is given. Verdicts are those of the whole
pipeline.
"""

import numpy as np

from metassay.meta_evaluation.confounds import confounds
from metassay.meta_evaluation.evidence import evidence
from metassay.meta_evaluation.exact_tests import run_tests
from metassay.meta_evaluation.options import CertificationOptions
from metassay.meta_evaluation.study import MetricScores
from metassay.reporting.sentences import make_certificates
from metassay.statistics.correlation import LEVELS
from metassay.tables.parquet import empty
from metassay.tables.scores import SCORES
from tests.calibration.worlds import PLAIN, effects, options, rated, study_of

# Of the confound in standard normal units, u.
SHAPES = {
    "straight": lambda u: u,
    "log of a log-normal length, sd .8": lambda u: u,
    "square": lambda u: (u + 1.5) ** 2 / 3,
    "exponential": lambda u: np.exp(0.8 * u),
    "threshold": lambda u: 2.0 * (u > 0.5),
    "saturating": lambda u: np.minimum(u, 0.0) * 1.6,
    "U": lambda u: np.abs(u) * 1.6,
}


def _standard(values):
    return (values - values.mean()) / values.std()


def _study(metric, ratings, length, run):
    study = study_of([metric], ratings, seed=run)
    words = MetricScores("words", "none", "neither", "simulated", length)
    return study._replace(metrics=(*study.metrics, words))


def _verdicts(study, coefficient):
    """Level -> the metric's verdict."""
    chosen = options(permutations=200, coefficient=coefficient)
    tests = run_tests([study], chosen)
    numbers = evidence(tests, confounds(tests, chosen), empty(SCORES), chosen)
    rows = make_certificates(numbers, CertificationOptions())
    rows = rows[rows["metric"] == "m00"]
    return dict(zip(rows["level"], rows["verdict"], strict=True))


def _shares(verdicts, of):
    return {
        level: float(np.mean([of(by_level[level]) for by_level in verdicts]))
        for level in LEVELS
    }


def caught(shape, name, *, coefficient="pearson", runs, seed) -> dict[str, float]:
    """Level -> share of studies that say a metric is explained by length.

    The metric is noisy length, seen through a curve; people like length through the
    same curve.
    """
    rng = np.random.default_rng([seed, *shape])
    of = SHAPES[name]
    verdicts = []
    for run in range(runs):
        u = effects(rng, shape, PLAIN) / 1.3
        length = np.exp(4 + (0.8 if "log" in name else 0.4) * u)
        metric = _standard(of(u)) + 0.7 * rng.normal(size=shape)
        liked = _standard(of(u)) + 0.5 * rng.normal(size=shape)
        study = _study(metric, rated(rng, liked, PLAIN), length, run)
        verdicts.append(_verdicts(study, coefficient))
    return _shares(verdicts, lambda verdict: verdict.startswith("explained"))


def wrongly_explained(
    shape, name, *, coefficient="pearson", runs, seed
) -> dict[str, float]:
    """Level -> share of studies that say a true metric, r about .5, is explained by length.

    Length correlates about .3 with both.
    """
    rng = np.random.default_rng([seed, *shape])
    of = SHAPES[name]
    verdicts = []
    for run in range(runs):
        quality = effects(rng, shape, PLAIN)
        u = _standard(0.4 * quality + effects(rng, shape, PLAIN))
        metric = _standard(
            quality + 1.1 * effects(rng, shape, PLAIN)
        ) + 0.15 * _standard(of(u))
        liked = quality + 0.15 * _standard(of(u))
        study = _study(metric, rated(rng, liked, PLAIN), np.exp(4 + 0.4 * u), run)
        verdicts.append(_verdicts(study, coefficient))
    return _shares(verdicts, lambda verdict: verdict.startswith("explained"))

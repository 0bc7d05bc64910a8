"""What is compared is compared on the same texts of the same documents.

`METASSAY_FUZZ=200 python -m pytest tests/meta_evaluation/test_pairs.py` compares 200
random studies with a slow computation.
"""

import os
from itertools import combinations

import numpy as np
import pytest

from metassay.meta_evaluation.evidence import evidence
from metassay.meta_evaluation.exact_tests import run_tests
from metassay.meta_evaluation.significance import significance
from metassay.statistics.agreement import compare_with_rater
from metassay.statistics.correlation import LEVELS
from tests.meta_evaluation.invented_study import (
    OPTIONS,
    confounds,
    only,
    studied,
    tables_of,
)
from tests.statistics import slow_pairs

NAN = np.nan
METRICS = ("coarse", "fine", "rare")
STUDIES = int(os.environ.get("METASSAY_FUZZ", "24"))


def random_study(seed):
    """Three raters and three metrics with holes; one flags few texts, one has three values."""
    rng = np.random.default_rng(seed)
    shape = int(rng.integers(2, 7)), int(rng.integers(3, 9))
    quality = rng.normal(size=(shape[0], 1)) + rng.normal(size=shape)
    raters = np.clip(np.rint(quality + rng.normal(size=(3, *shape))), -2, 2) + 3
    metrics = {
        "fine": quality + rng.normal(size=shape),
        "coarse": np.clip(np.rint(quality + rng.normal(size=shape)), -1, 1),
        "rare": (quality < -1.2).astype(float),
    }
    raters[rng.random(raters.shape) < rng.choice([0.0, 0.3])] = NAN
    holed = {
        name: np.where(rng.random(shape) < rng.choice([0.0, 0.25]), NAN, values)
        for name, values in metrics.items()
    }
    return raters, holed, ("pearson", "spearman", "kendall")[seed % 3]


def evidence_of(raters, metrics, options=OPTIONS):
    scores, ratings = tables_of(raters, metrics)
    tests = run_tests(studied(scores, ratings), options)
    return evidence(tests, confounds(tests, options), scores, options)


def test_metrics_and_raters_are_compared_on_the_same_texts():
    pairs, with_raters = 0, 0
    for seed in range(STUDIES):
        raters, metrics, coefficient = random_study(seed)
        more = {"coefficient": coefficient, "compared": [*METRICS], "permutations": 9}
        options = OPTIONS.model_copy(update=more)
        (study,) = studied(*tables_of(raters, metrics))
        table = significance([study], options)
        matrices = {metric.metric: metric.values.tolist() for metric in study.metrics}
        for level in LEVELS:
            how = level, coefficient
            for a, b in combinations(METRICS, 2):
                sides = matrices[a], matrices[b], study.human.tolist()
                expected, n = slow_pairs.difference(*sides, *how)
                for test in ("permutation_documents", "bootstrap_documents"):
                    row = only(table, level=level, test=test, metric_a=a, metric_b=b)
                    assert row["difference"] == pytest.approx(
                        expected, abs=1e-9, nan_ok=True
                    )
                    assert row["n"] == n
                pairs += not np.isnan(expected)
            for values in metrics.values():
                ours = compare_with_rater(values, raters, *how)
                expected = slow_pairs.against_rater(
                    values.tolist(), raters.tolist(), *how
                )
                numbers = ours.metric.value, ours.rater.value, ours.n
                assert numbers == pytest.approx(expected, abs=1e-9, nan_ok=True)
                with_raters += ours.n > 0
    assert pairs > 4 * STUDIES
    assert with_raters > 6 * STUDIES


def test_a_flag_of_a_rare_fault_does_not_pass_for_its_share():
    """Where it fires it is right; in nearly all documents it says nothing, and a rater does."""
    rng = np.random.default_rng(1)
    quality = rng.normal(size=(8, 60))
    raters = quality + 0.6 * rng.normal(size=(3, 8, 60))
    row = only(
        evidence_of(raters, {"flag": -(quality < -2.2).astype(float)}), level="document"
    )
    assert row["n"] + row["n_tied"] == 60 == row["n_against_rater"]
    assert row["n"] < row["n_tied"]
    # Over the documents where it fires it does as well as a rater or better; over all,
    # far worse.
    assert row["value"] > 0.5
    assert row["with_raters"] == pytest.approx(row["n"] / 60 * 0.55, abs=0.06)
    assert row["against_rater_high"] < -0.2


def test_intervals_of_differences_lie_where_differences_can_be():
    for seed in range(12):
        raters, metrics, coefficient = random_study(seed)
        rows = evidence_of(
            raters, metrics, OPTIONS.model_copy(update={"coefficient": coefficient})
        )
        known = rows.dropna(subset=["against_rater_low"])
        low, high = known["against_rater_low"], known["against_rater_high"]
        assert ((low >= -2) & (high <= 2) & (low <= known["against_rater"])).all()
        # Where nearly everything is possible, nothing is said.
        assert (high - low < 3.9).all()

"""Between systems, between documents and within both: by hand, regressions, and random effects."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.stats
import statsmodels.formula.api as models
from statsmodels.tools.sm_exceptions import ConvergenceWarning

from metassay.statistics.components import (
    COMPONENTS,
    correlate_at,
    double_centre,
    value_at,
    variance_components,
)
from metassay.statistics.correlation import EVERY_COEFFICIENT, LEVELS
from tests.support.statistics import NAN

# Three systems, four documents. Metric = system (0 3 6) + document (0 2 4 6) + rest;
# people = system (6 0 3) + document (0 2 4 6) + rest.
METRIC_REST = np.array([[1.0, -1, 1, -1], [-1, 1, -1, 1], [0, 0, 0, 0]])
PEOPLE_REST = np.array([[2.0, -2, 0, 0], [-2, 2, 0, 0], [0, 0, 0, 0]])
DOCUMENT = np.array([0.0, 2, 4, 6])
METRIC = np.array([[0.0], [3], [6]]) + DOCUMENT + METRIC_REST
PEOPLE = np.array([[6.0], [0], [3]]) + DOCUMENT + PEOPLE_REST


def gappy(seed=0, shape=(5, 7), share=0.25):
    rng = np.random.default_rng(seed)
    scores = (
        rng.normal(size=shape)
        + 3 * rng.normal(size=(shape[0], 1))
        + np.arange(shape[1])
    )
    scores[rng.random(shape) < share] = NAN
    return scores


def frame_of(scores):
    system, document = np.nonzero(np.isfinite(scores))
    values = scores[np.isfinite(scores)]
    return pd.DataFrame({"y": values, "system": system, "document": document, "all": 1})


def test_by_hand():
    """Rests of row and column sum 0, so that means are those of system and document alone."""
    np.testing.assert_allclose(double_centre(METRIC), METRIC_REST, atol=1e-12)
    np.testing.assert_allclose(double_centre(PEOPLE), PEOPLE_REST, atol=1e-12)
    for component, value, n in (
        # Systems' means 3 6 9 against 9 3 6: deviations -3 0 3 and 3 -3 0, r = -9 / 18.
        ("between_systems", -0.5, 3),
        ("between_documents", 1, 4),  # documents' means 3 5 7 9 in both
        # products 2 + 2 + 2 + 2 = 8; squares 8 and 16
        ("within", 8 / np.sqrt(8 * 16), 12),
    ):
        result = correlate_at(METRIC, PEOPLE, component, "pearson")
        assert (result.value, result.n) == (pytest.approx(value), n)
    # Where documents have one text only the systems' level goes.
    scores = np.array([[1.0, 3, NAN, NAN], [NAN, NAN, 10, 30]])
    expected = [[-1, 1, NAN, NAN], [NAN, NAN, -10, 10]]
    np.testing.assert_allclose(double_centre(scores), expected)


@pytest.mark.parametrize("coefficient", EVERY_COEFFICIENT)
def test_the_value_alone_is_the_value_and_levels_leave_nothing(coefficient):
    metric, human = gappy(2), gappy(3)
    both = np.isfinite(metric) & np.isfinite(human)
    sides = [np.where(both, side, NAN) for side in (metric, human)]
    for relation in (*LEVELS, *COMPONENTS):
        expected = correlate_at(metric, human, relation, coefficient).value
        assert value_at(*sides, relation, coefficient) == pytest.approx(
            expected, abs=1e-12
        )
    # .1 + .2 is not .3 in floats: the rests are rounding errors, and must not be
    # ranked.
    levels = np.array([[0.1], [0.2], [0.7]]) + np.array([0.1, 0.2, 1 / 3, 0.6])
    human = np.random.default_rng(0).normal(size=(3, 4))
    for _ in range(2):
        assert np.isnan(correlate_at(levels, human, "within", coefficient).value)
        levels[0, 0] = NAN


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5])
def test_rests_are_those_of_a_regression_on_system_and_document(share):
    scores = gappy(4, share=share)
    left = double_centre(scores)
    fitted = models.ols("y ~ C(system) + C(document)", frame_of(scores)).fit()
    np.testing.assert_allclose(left[np.isfinite(scores)], fitted.resid, atol=1e-8)
    assert (np.isnan(left) == np.isnan(scores)).all()
    metric, human = np.exp(np.random.default_rng(5).normal(size=(2, 4, 6)))
    rests = [double_centre(side).ravel() for side in (metric, human)]
    value = correlate_at(metric, human, "within", "spearman").value
    assert value == pytest.approx(scipy.stats.spearmanr(*rests)[0])


def test_undefined_and_counted():
    row = np.array([[1.0, 2, 3]])
    for sides, component, value in (
        (row, "between_systems", NAN),
        (row.T, "within", NAN),
        (row.T, "between_documents", NAN),
        (row, "between_documents", 1),
    ):
        result = correlate_at(sides, sides, component, "pearson")
        assert result.value == pytest.approx(value, nan_ok=True)
    some = np.array([[1.0, NAN, 3], [2, 2, NAN]])
    for component in COMPONENTS:
        assert correlate_at(some, np.ones((2, 3)), component, "pearson").n_missing == 2
    with pytest.raises(ValueError, match="expected one shape"):
        correlate_at(row, row.T, "within", "pearson")


def test_variance_components_by_hand():
    # METRIC: sums of squares, systems 4 * (9 + 0 + 9) = 72 (2 degrees), documents 3 *
    # (9 + 1 + 1 + 9) = 60 (3), within 8 (6). Mean squares 36, 20, 4/3.
    rest = 8 / 6
    expected = (36 - rest) / 4, (20 - rest) / 3, rest
    assert variance_components(METRIC) == pytest.approx(expected)
    # A constant added, or a row and a column of nothing, changes nothing.
    wider = np.full((4, 5), NAN)
    wider[:3, :4] = METRIC + 1000
    assert variance_components(wider) == pytest.approx(expected)
    for shape in ((1, 5), (5, 1), (0, 0)):
        assert np.isnan(variance_components(np.ones(shape))).all()
    for scores in (np.full((3, 3), NAN), np.array([[1.0, NAN], [NAN, 2]])):
        assert np.isnan(variance_components(scores)).all()
    # The mean of twelve .1 is a rounding error off, of which there are no shares.
    assert variance_components(np.full((3, 4), 0.1)) == (0, 0, 0)


def reml(scores):
    """Crossed random effects: everything is one group, systems and documents its components."""
    parts = {"system": "0 + C(system)", "document": "0 + C(document)"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = models.mixedlm(
            "y ~ 1", frame_of(scores), groups="all", vc_formula=parts
        )
        fitted = model.fit(reml=True)
    of = dict(zip(model.exog_vc.names, fitted.vcomp, strict=True))
    return of["system"], of["document"], fitted.scale


def test_variance_components_equal_restricted_maximum_likelihood():
    rng = np.random.default_rng(3)
    scores = rng.normal(size=(8, 1)) + rng.normal(size=12) + rng.normal(size=(8, 12))
    components = variance_components(scores)
    assert min(components) > 0
    assert components == pytest.approx(reml(scores), rel=1e-3)
    # With gaps the two estimators are no longer one, but near, and right on average.
    scores[rng.random(scores.shape) < 0.1] = NAN
    assert variance_components(scores) == pytest.approx(reml(scores), rel=0.15)
    every = []
    for _ in range(400):
        scores = (
            2 * rng.normal(size=(6, 1))
            + rng.normal(size=10)
            + 0.5 * rng.normal(size=(6, 10))
        )
        scores[rng.random(scores.shape) < 0.3] = NAN
        every.append(variance_components(scores))
    error = np.std(every, axis=0) / np.sqrt(len(every))
    assert (np.abs(np.mean(every, axis=0) - [4, 1, 0.25]) < 4 * error).all()

from functools import partial

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import cohen_kappa_score

from metassay.statistics import agreement as coefficients
from metassay.statistics.agreement import agreement
from tests.support.statistics import krippendorff_alpha, percent

NAN = np.nan
SCALES = ("nominal", "ordinal", "interval")
# Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, section C: 4 observers, 12 units.
OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
    [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
]
checked = settings(deadline=None, derandomize=True, max_examples=40)
TABLES = st.tuples(st.integers(1, 4), st.integers(0, 7)).flatmap(
    lambda shape: arrays(float, shape, elements=st.sampled_from([NAN, 0.0, 1.0, 2.0, 5.0]))
)


def cohen_kappa(a, b, weights="none"):
    return agreement((a, b), partial(coefficients.cohen_kappa, distance=weights))


def test_by_hand():
    a = [1, 1, 0, 0, 1, NAN, 1, NAN]
    b = [1, 0, 0, 0, 1, 1, NAN, NAN]
    # Both rated items 0 to 4: 4 of 5 alike. Chance: 3/5 * 2/5 of ones, 2/5 * 3/5 of zeros = 12/25.
    assert percent(a, b) == (pytest.approx(0.8), 5, 2)
    assert cohen_kappa(a, b) == (pytest.approx((0.8 - 0.48) / (1 - 0.48)), 5, 2)
    # Alpha: 10 ratings, 5 ones and 5 zeros. Observed disagreement 2 of 10; expected
    # 2 * 5 * 5 / (10 * 9) = 5/9. 1 - .2 / (5/9) = .64. With two values all scales are one.
    for scale in SCALES:
        assert krippendorff_alpha([a, b], scale) == (pytest.approx(0.64), 5, 2)


@pytest.mark.parametrize(
    ("scale", "expected"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_alpha_equals_krippendorffs_published_example(scale, expected):
    found = krippendorff_alpha(OBSERVERS, scale)
    assert found == (pytest.approx(expected, abs=5e-4), 11, 1)


@pytest.mark.parametrize("weights", ["none", "linear", "quadratic"])
@checked
@given(seed=st.integers(0, 10**6))
def test_kappa_equals_scikit_learn(weights, seed):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, rng.integers(2, 5), (2, rng.integers(2, 12))).astype(float)
    if np.unique([a, b]).size > 1:
        theirs = cohen_kappa_score(
            a, b, weights=None if weights == "none" else weights, labels=[0, 1, 2, 3, 4]
        )
        found = cohen_kappa(a, b, weights)
        assert found.value == pytest.approx(theirs, abs=1e-12)
        assert cohen_kappa(b, a, weights).value == pytest.approx(found.value, abs=1e-12)
        assert cohen_kappa(7 - 3 * a, 7 - 3 * b, weights).value == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("scale", SCALES)
@checked
@given(ratings=TABLES)
def test_alpha_equals_the_package_or_is_undefined(scale, ratings):
    found = krippendorff_alpha(ratings, scale)
    raters = np.sum(~np.isnan(ratings), axis=0)
    assert (found.n, found.n_missing) == (np.sum(raters >= 2), np.sum(raters == 1))
    pairable = ratings[:, raters >= 2]
    if np.unique(pairable[~np.isnan(pairable)]).size < 2:
        assert np.isnan(found.value)
    else:
        expected = krippendorff.alpha(pairable, level_of_measurement=scale)
        assert found.value == pytest.approx(expected, abs=1e-12)
    order = np.random.default_rng(0).permutation(len(ratings))
    again = krippendorff_alpha(ratings[order][:, ::-1], scale)
    assert again == pytest.approx(found, abs=1e-12, nan_ok=True)


def test_all_equal_ratings_have_no_reliability():
    same = [3.0, 3.0, 3.0]
    assert percent(same, same) == (1, 3, 0)
    assert cohen_kappa(same, same) == pytest.approx((NAN, 3, 0), nan_ok=True)
    for scale in SCALES:
        assert krippendorff_alpha([same, same], scale) == pytest.approx((NAN, 3, 0), nan_ok=True)


def test_two_constants_that_differ_agree_no_better_than_chance():
    # Chance agreement 0, observed 0.
    assert cohen_kappa([1.0, 1.0], [2.0, 2.0]) == (0, 2, 0)
    assert percent([1.0, 1.0], [2.0, 2.0]) == (0, 2, 0)


@pytest.mark.parametrize(
    "ratings", [np.empty((0, 0)), np.empty((2, 0)), [[1.0, 2.0]], [[1.0, NAN], [NAN, 2.0]]]
)
def test_nothing_to_compare(ratings):
    for scale in SCALES:
        found = krippendorff_alpha(ratings, scale)
        assert np.isnan(found.value)
        assert found.n == 0
        assert found.n_missing == np.sum(np.isfinite(ratings))
    for of_two in (percent, cohen_kappa):
        assert of_two([1.0, NAN], [NAN, 2.0]) == pytest.approx((NAN, 0, 2), nan_ok=True)
        assert of_two([], []) == pytest.approx((NAN, 0, 0), nan_ok=True)


def test_interval_alpha_of_a_continuum_needs_no_pairs():
    # 20,000 distinct values: the package would want 20,000**2 numbers per item.
    rng = np.random.default_rng(0)
    truth = rng.normal(size=10_000)
    ratings = truth + rng.normal(size=(2, 10_000))
    # For two raters alpha is near the intraclass correlation, here 1 / (1 + 1).
    assert krippendorff_alpha(ratings, "interval").value == pytest.approx(0.5, abs=0.03)


def test_shapes():
    with pytest.raises(ValueError, match="inhomogeneous"):
        percent([1.0, 2.0], [1.0])
    with pytest.raises(ValueError, match="raters x items"):
        krippendorff_alpha([1.0, 2.0], "nominal")


def test_plain_kappa_is_never_above_plain_agreement_and_a_weighted_one_can_be():
    rng = np.random.default_rng(2)
    above = 0
    for _ in range(200):
        a = rng.integers(1, 5, 30)
        b = np.clip(a + rng.integers(-1, 2, 30), 1, 4)
        share = percent(a, b).value
        assert cohen_kappa(a, b).value <= share
        above += cohen_kappa(a, b, "quadratic").value > share
    assert above > 100

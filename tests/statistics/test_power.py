import numpy as np
import pingouin
import pytest

from metassay.statistics.power import (
    detectable_correlation,
    detectable_difference,
    detectable_mean_difference,
)
from metassay.statistics.significance import williams_test


@pytest.mark.parametrize("n", [5, 16, 100, 1600])
@pytest.mark.parametrize("power", [0.8, 0.95])
def test_correlation_equals_pingouin(n, power):
    found = detectable_correlation(n, power=power)
    assert pingouin.power_corr(r=found, n=n) == pytest.approx(power, abs=1e-6)


@pytest.mark.parametrize("n", [3, 10, 200])
def test_mean_equals_pingouin(n):
    found = detectable_mean_difference(2.5, n, alpha=0.01, power=0.9)
    theirs = pingouin.power_ttest(d=found / 2.5, n=n, contrast="paired", alpha=0.01)
    assert theirs == pytest.approx(0.9, abs=1e-6)


def test_by_hand():
    # Far from small n: (1.96 + .8416) / sqrt(n).
    assert detectable_mean_difference(1.0, 10_000) == pytest.approx(0.028016, abs=1e-5)
    assert detectable_correlation(10_000) == pytest.approx(0.028013, abs=1e-5)


def test_williams_power_is_that_of_simulated_data():
    n, r12, r23 = 60, 0.6, 0.7
    difference = detectable_difference(n, r12, r23, power=0.8)
    r13 = r12 - difference
    cov = np.array([[1, r12, r13], [r12, 1, r23], [r13, r23, 1]])
    data = np.random.default_rng(0).multivariate_normal(np.zeros(3), cov, size=(1500, n))
    hits = [
        williams_test(r[0, 1], r[0, 2], r[1, 2], n)[1] < 0.05
        for r in (np.corrcoef(sample.T) for sample in data)
    ]
    assert np.mean(hits) == pytest.approx(0.8, abs=0.04)


def test_more_sees_more_and_too_little_nothing():
    sizes = [8, 20, 50, 400]
    for of in (
        detectable_correlation,
        lambda n: detectable_difference(n, 0.6, 0.7),
        lambda n: detectable_mean_difference(1.0, n),
    ):
        values = [of(n) for n in sizes]
        assert values == sorted(values, reverse=True)
    assert detectable_difference(50, 0.6, 0.9) < detectable_difference(50, 0.6, 0.5)
    assert np.isnan(detectable_correlation(3))
    assert np.isnan(detectable_difference(3, 0.5, 0.5))
    assert np.isnan(detectable_difference(50, np.nan, 0.5))
    assert np.isnan(detectable_mean_difference(1.0, 1))
    assert detectable_mean_difference(0.0, 10) == 0

"""Ensembles of metrics: by hand, by scipy, and the best of noise."""

import numpy as np
import pytest
import scipy.stats

from metassay.statistics.ensembles import (
    average_ensembles,
    best_subset,
    ensembles,
    moment_correlations,
    standardise,
    subsets,
)
from tests.support.statistics import NAN


def scored(rng, metrics=4, items=40, signal=0.5):
    human = rng.normal(size=items)
    return signal * human + rng.normal(size=(metrics, items)), human


def test_by_hand():
    # Metrics 1 2 3 and 2 2 5: standardised -1.2247 0 1.2247 and -.7071 -.7071 1.4142.
    metrics = np.array([[1.0, 2, 3], [2, 2, 5]])
    a, b = np.sqrt(1.5), np.sqrt(0.5)
    assert standardise(metrics) == pytest.approx(
        np.array([[-a, 0, a], [-b, -b, np.sqrt(2)]])
    )
    assert subsets(2).tolist() == [[True, False], [False, True], [True, True]]
    every = ensembles(
        metrics, [1.0, 2, 3], n=0, confidence=0.9, rng=np.random.default_rng(0)
    )
    # The second has r = sqrt(3) / 2 with 1 2 3. Of the sum of two standardised metrics
    # with r and 1 correlated by r, the correlation with the first is (1 + r) / sqrt(2 +
    # 2 r).
    r = np.sqrt(3) / 2
    assert every.value == pytest.approx([1, r, (1 + r) / np.sqrt(2 + 2 * r)])
    assert np.isnan(every.low).all()


def test_moments_equal_scipy():
    rng = np.random.default_rng(1)
    metrics, human = scored(rng)
    metrics[0] *= 1e-4
    metrics[1] += 1e4
    weights = rng.multinomial(40, np.full(40, 1 / 40), size=20).astype(float)
    values = moment_correlations(standardise(metrics), human, subsets(4), weights)
    z = scipy.stats.zscore(metrics, axis=1)
    for row, weight in zip(values, weights, strict=True):
        items = np.repeat(np.arange(40), weight.astype(int))
        means = (z[members].mean(axis=0)[items] for members in subsets(4))
        expected = [scipy.stats.pearsonr(mean, human[items])[0] for mean in means]
        assert row == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall"])
def test_ensembles_equal_scipy_or_are_undefined(coefficient):
    rng = np.random.default_rng(2)
    metrics, human = scored(rng, 3, 30)
    metrics[1, 4], human[7] = NAN, NAN
    every = ensembles(metrics, human, coefficient, n=50, confidence=0.8, rng=rng)
    assert (every.n, every.n_missing) == (28, 2)
    complete = np.delete(np.arange(30), [4, 7])
    of = getattr(
        scipy.stats, {"kendall": "kendalltau"}.get(coefficient, coefficient + "r")
    )
    z = scipy.stats.zscore(metrics[:, complete], axis=1)
    means = [z[members].mean(axis=0) for members in every.members]
    expected = [of(mean, human[complete])[0] for mean in means]
    assert every.value == pytest.approx(expected, abs=1e-12)
    assert every.low == pytest.approx(np.percentile(every.resampled, 10, axis=0))
    assert every.high == pytest.approx(np.percentile(every.resampled, 90, axis=0))
    assert np.all(every.low < every.value)
    metrics, human = scored(np.random.default_rng(5), 3, 10)
    metrics[1] = 0.1
    how = {"n": 20, "confidence": 0.9, "rng": rng}
    constant = ensembles(metrics, human, coefficient, **how)
    for values in (constant.value, constant.low):
        assert np.array_equal(np.isnan(values), constant.members[:, 1])
    for a, b in ((metrics, human * 0 + 0.3), (metrics[:, :0], human[:0])):
        assert np.isnan(ensembles(a, b, coefficient, **how).value).all()
    # A metric and its negation cancel; singles do not.
    both = ensembles(np.array([metrics[0], -metrics[0]]), human, **how)
    assert np.isnan(both.value).tolist() == [False, False, True]
    for a, items, message in (
        (np.zeros((13, 5)), 5, "1 to 12"),
        (np.zeros((0, 5)), 5, "1 to 12"),
        (np.zeros((2, 5)), 4, "metrics x items"),
    ):
        with pytest.raises(ValueError, match=message):
            ensembles(a, np.zeros(items), coefficient, **how)


def test_in_ensembles():
    rng = np.random.default_rng(4)
    metrics, human = scored(rng)
    metrics[0] += human  # the best
    every = ensembles(metrics, human, n=300, confidence=0.9, rng=rng)
    each = average_ensembles(every, n=500, confidence=0.9, rng=rng)
    assert [e.single for e in each] == pytest.approx(every.value[:4])
    for metric, e in enumerate(each):
        values = every.value[every.members[:, metric]]
        assert values.size == 8
        assert e.value == pytest.approx(values.mean())
        # Of eight values' mean, the paper's interval is a normal one of sd / sqrt(8),
        # roughly.
        reach = 1.645 * values.std() / np.sqrt(8)
        expected = e.value - reach, e.value + reach
        assert (e.low_paper, e.high_paper) == pytest.approx(expected, abs=0.03)
        # Items vary more than subsets of the same items.
        assert e.low < e.low_paper < e.high_paper < e.high
    assert each[0].value == max(e.value for e in each)


def test_the_best_of_noise_is_not_good():
    # No metric has to do with people. The best of 255 subsets looks good on its own
    # items; what cross-validation says averages to 0 over repetitions.
    honest, crowned = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        metrics, human = scored(rng, 8, 60, signal=0.0)
        best = best_subset(metrics, human, folds=5, rng=rng)
        honest.append(best.value)
        crowned.append(
            ensembles(metrics, human, n=0, confidence=0.9, rng=rng).value.max()
        )
        assert crowned[-1] >= best.in_sample - 1e-12
    assert np.mean(crowned) > 0.2
    assert abs(np.mean(honest)) < 3 * np.std(honest) / np.sqrt(12) + 0.02


def test_the_best_is_chosen():
    rng = np.random.default_rng(6)
    human, noise = rng.normal(size=200), rng.normal(size=(4, 200))
    # Metrics 1 and 2 err in opposite ways, so that together they are nearly people; 0,
    # 3 are noise.
    metrics = np.array(
        [noise[0], human + noise[1], human - noise[1] + 0.1 * noise[2], noise[3]]
    )
    metrics[0, 3] = NAN
    groups = np.repeat(np.arange(50), 4).astype(float)
    best = best_subset(metrics, human, folds=5, rng=rng, groups=groups)
    assert best.members.tolist() == [False, True, True, False]
    assert best.value > 0.95
    assert (best.n, best.n_missing, best.n_undefined) == (199, 1, 0)
    with pytest.raises(ValueError, match="folds"):
        best_subset(metrics[:, :6], human[:6], folds=5, rng=rng)

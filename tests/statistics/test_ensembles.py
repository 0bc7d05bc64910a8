import numpy as np
import pytest
import scipy.stats

from metassay.statistics.ensembles import (
    best_subset,
    ensembles,
    in_ensembles,
    moment_correlations,
    standardise,
    subsets,
)

NAN = np.nan


def scored(rng, metrics=4, items=40, signal=0.5):
    human = rng.normal(size=items)
    return signal * human + rng.normal(size=(metrics, items)), human


def by_scipy(metrics, human, members, items):
    z = metrics - metrics.mean(axis=1, keepdims=True)
    z /= metrics.std(axis=1, keepdims=True)
    return [scipy.stats.pearsonr(z[m].mean(axis=0)[items], human[items])[0] for m in members]


def test_by_hand():
    # Metrics 1 2 3 and 2 2 5: standardised -1.2247 0 1.2247 and -.7071 -.7071 1.4142.
    metrics = np.array([[1.0, 2, 3], [2, 2, 5]])
    z = standardise(metrics)
    assert z == pytest.approx(
        np.array([[-np.sqrt(1.5), 0, np.sqrt(1.5)], [-np.sqrt(0.5), -np.sqrt(0.5), np.sqrt(2)]])
    )
    assert subsets(2).tolist() == [[True, False], [False, True], [True, True]]
    found = ensembles(metrics, [1.0, 2, 3], n=0, confidence=0.9, rng=np.random.default_rng(0))
    # The second has r = sqrt(3) / 2 with 1 2 3. Of the sum of two standardised metrics with r and 1
    # correlated by r, the correlation with the first is (1 + r) / sqrt(2 + 2 r).
    r = np.sqrt(3) / 2
    assert found.value == pytest.approx([1, r, (1 + r) / np.sqrt(2 + 2 * r)])
    assert np.isnan(found.low).all()


def test_moments_equal_scipy():
    rng = np.random.default_rng(1)
    metrics, human = scored(rng)
    metrics[0] *= 1e-4
    metrics[1] += 1e4
    members = subsets(4)
    weights = rng.multinomial(40, np.full(40, 1 / 40), size=20).astype(float)
    found = moment_correlations(standardise(metrics), human, members, weights)
    for row, weight in zip(found, weights, strict=True):
        items = np.repeat(np.arange(40), weight.astype(int))
        expected = by_scipy(metrics, human, members, items)
        assert row == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall"])
def test_ensembles(coefficient):
    rng = np.random.default_rng(2)
    metrics, human = scored(rng, 3, 30)
    metrics[1, 4], human[7] = NAN, NAN
    found = ensembles(metrics, human, coefficient, n=50, confidence=0.8, rng=rng)
    assert (found.n, found.n_missing) == (28, 2)
    there = np.delete(np.arange(30), [4, 7])
    of = getattr(scipy.stats, {"kendall": "kendalltau"}.get(coefficient, coefficient + "r"))
    z = scipy.stats.zscore(metrics[:, there], axis=1)
    for members, value in zip(found.members, found.value, strict=True):
        expected = of(z[members].mean(axis=0), human[there])[0]
        assert value == pytest.approx(expected, abs=1e-12)
    assert found.low == pytest.approx(np.percentile(found.resampled, 10, axis=0))
    assert found.high == pytest.approx(np.percentile(found.resampled, 90, axis=0))
    assert np.all(found.low < found.value)


def test_in_ensembles():
    rng = np.random.default_rng(4)
    metrics, human = scored(rng)
    metrics[0] += human  # the best
    found = ensembles(metrics, human, n=300, confidence=0.9, rng=rng)
    each = in_ensembles(found, n=500, confidence=0.9, rng=rng)
    assert [e.single for e in each] == pytest.approx(found.value[:4])
    for metric, e in enumerate(each):
        there = found.members[:, metric]
        assert there.sum() == 8
        assert e.value == pytest.approx(found.value[there].mean())
        # Of eight values' mean, the paper's interval is a normal one of sd / sqrt(8), roughly.
        reach = 1.645 * found.value[there].std() / np.sqrt(8)
        assert e.low_paper == pytest.approx(e.value - reach, abs=0.03)
        assert e.high_paper == pytest.approx(e.value + reach, abs=0.03)
        # Items vary more than subsets of the same items.
        assert e.low < e.low_paper < e.high_paper < e.high
    assert each[0].value == max(e.value for e in each)


def test_undefined():
    rng = np.random.default_rng(5)
    metrics, human = scored(rng, 3, 10)
    metrics[1] = 0.1
    for coefficient in ("pearson", "spearman"):
        found = ensembles(metrics, human, coefficient, n=20, confidence=0.9, rng=rng)
        assert np.array_equal(np.isnan(found.value), found.members[:, 1])
        assert np.array_equal(np.isnan(found.low), found.members[:, 1])
        nothing = ensembles(metrics, human * 0 + 0.3, coefficient, n=9, confidence=0.9, rng=rng)
        assert np.isnan(nothing.value).all()
        none = ensembles(metrics[:, :0], human[:0], coefficient, n=9, confidence=0.9, rng=rng)
        assert np.isnan(none.value).all()
    # A metric and its negation cancel; singles do not.
    both = np.array([metrics[0], -metrics[0]])
    found = ensembles(both, human, n=5, confidence=0.9, rng=rng)
    assert np.isnan(found.value).tolist() == [False, False, True]
    for wrong in (np.zeros((13, 5)), np.zeros((0, 5))):
        with pytest.raises(ValueError, match="1 to 12"):
            ensembles(wrong, np.zeros(5), n=1, confidence=0.9, rng=rng)
    with pytest.raises(ValueError, match="metrics x items"):
        ensembles(np.zeros((2, 5)), np.zeros(4), n=1, confidence=0.9, rng=rng)


def test_the_best_of_noise_is_not_good():
    # No metric has to do with people. The best of 255 subsets looks good on its own items; what
    # cross-validation says averages to 0 over repetitions.
    honest, crowned = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        metrics, human = scored(rng, 8, 60, signal=0.0)
        found = best_subset(metrics, human, folds=5, rng=rng)
        honest.append(found.value)
        every = ensembles(metrics, human, n=0, confidence=0.9, rng=rng)
        crowned.append(every.value.max())
        assert crowned[-1] >= found.in_sample - 1e-12
    assert np.mean(crowned) > 0.2
    assert abs(np.mean(honest)) < 3 * np.std(honest) / np.sqrt(12) + 0.02


def test_the_best_is_found():
    rng = np.random.default_rng(6)
    human = rng.normal(size=200)
    noise = rng.normal(size=(4, 200))
    # Metrics 1 and 2 err in opposite ways, so that together they are nearly people; 0, 3 are noise.
    metrics = np.array([noise[0], human + noise[1], human - noise[1] + 0.1 * noise[2], noise[3]])
    groups = np.repeat(np.arange(50), 4).astype(float)
    metrics[0, 3] = NAN
    found = best_subset(metrics, human, folds=5, rng=rng, groups=groups)
    assert found.members.tolist() == [False, True, True, False]
    assert found.value > 0.95
    assert (found.n, found.n_missing, found.n_undefined) == (199, 1, 0)
    with pytest.raises(ValueError, match="folds"):
        best_subset(metrics[:, :6], human[:6], folds=5, rng=rng)

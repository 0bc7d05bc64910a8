import numpy as np
import pytest
import scipy.stats
from nlpstats.correlations.fisher import fisher as by_nlpstats

from metassay.statistics.correlation import COEFFICIENTS, correlate
from metassay.statistics.fisher import fisher_interval


def test_by_hand():
    # arctanh(.5) = .549306, 1.959964 / sqrt(28 - 3) = .391993: tanh(.157313), tanh(.941299).
    found = fisher_interval(0.5, 28, "pearson", confidence=0.95)
    assert found == pytest.approx((0.156028, 0.735818), abs=1e-6)


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@pytest.mark.parametrize("level", ["system", "global"])
def test_equals_nlpstats_and_scipy(coefficient, level):
    rng = np.random.default_rng(0)
    human = rng.normal(size=(9, 7))
    metric = human + rng.normal(size=human.shape)
    of = correlate(metric, human, level, coefficient)
    found = fisher_interval(of.value, of.n, coefficient, confidence=0.9)
    expected = by_nlpstats(metric, human, level, coefficient, confidence_level=0.9)
    assert found == pytest.approx((expected.lower, expected.upper), abs=1e-9)
    if coefficient == "pearson" and level == "global":
        theirs = scipy.stats.pearsonr(metric.ravel(), human.ravel()).confidence_interval(0.9)
        assert found == pytest.approx(tuple(theirs), abs=1e-9)
    turned = fisher_interval(-of.value, of.n, coefficient, confidence=0.9)
    assert turned == pytest.approx((-found.high, -found.low))


@pytest.mark.parametrize(
    ("value", "n", "coefficient"),
    [
        (0.5, 3, "pearson"),
        (0.5, 4, "kendall"),
        (1.0, 50, "spearman"),
        (np.nan, 50, "pearson"),
        (0.5, 50, "kendall_c"),
    ],
)
def test_where_it_does_not_apply(value, n, coefficient):
    assert np.isnan(fisher_interval(value, n, coefficient, confidence=0.95)).all()

import numpy as np
import pandas as pd
import pingouin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metassay.statistics.confounds import most_abstractive, partial, partial_given_system
from metassay.statistics.correlation import correlate, kendall

NAN = np.nan
checked = settings(deadline=None, derandomize=True, max_examples=20)


def test_by_hand():
    # r_mh = .5, r_mc = r_hc = 0 in the first; for the second the control is what both share.
    metric, human = np.array([[1.0, 2, 3, 4]]), np.array([[1.0, 3, 2, 4]])
    control = np.array([[1.0, -1, -1, 1]])
    # Control is uncorrelated with both (1 - 2 - 3 + 4 = 0): nothing is taken out.
    assert partial(metric, human, control, "pearson").value == pytest.approx(0.8)
    # Given 1 2 3 4 itself, nothing is left of the metric.
    assert np.isnan(partial(metric, human, metric, "pearson").value)
    # Two systems, within which order is opposite, but for the means of 0 and 10.
    metric = np.array([[-1.0, 0, 1], [9, 10, 11]])
    human = np.array([[1.0, 0, -1], [11, 10, 9]])
    assert correlate(metric, human, "global", "pearson").value > 0.9
    assert partial_given_system(metric, human, "pearson").value == pytest.approx(-1)
    coverage = np.array([[0.1, 0.9, 0.2], [0.2, 0.8, NAN]])
    # Of five items, 40 % are .1 and the two that tie at .2.
    found = most_abstractive(metric, human, coverage, "global", "pearson", share=0.4)
    assert (found.n, found.n_missing) == (3, 1)
    assert found.value == pytest.approx(np.corrcoef([-1, 1, 9], [1, -1, 11])[0, 1])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("coefficient", ["pearson", "spearman"])
@checked
@given(seed=st.integers(0, 10**6))
def test_partial_equals_pingouin(coefficient, seed):
    rng = np.random.default_rng(seed)
    control = rng.integers(0, 6, (3, 8)).astype(float)
    metric, human = control + rng.integers(0, 5, (2, 3, 8))
    frame = pd.DataFrame({"m": metric.ravel(), "h": human.ravel(), "c": control.ravel()})
    theirs = pingouin.partial_corr(frame, x="m", y="h", covar="c", method=coefficient).iloc[0]
    found = partial(metric, human, control, coefficient)
    assert found.value == pytest.approx(theirs["r"], abs=1e-9)
    assert found.p == pytest.approx(theirs.filter(like="p").iloc[0], abs=1e-9)
    assert found.n == 24
    order = rng.permutation(8)
    again = partial(metric[:, order] * 4, human[:, order], -control[:, order], coefficient)
    assert again == pytest.approx(found, abs=1e-9)
    negated = partial(-metric, human, control, coefficient)
    assert negated.value == pytest.approx(-found.value, abs=1e-9)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_given_system_equals_pingouin_with_dummies():
    rng = np.random.default_rng(0)
    level = np.array([[0.0], [3.0], [5.0]])
    human = level + rng.normal(size=(3, 10))
    metric = 2 * level + human * 0.5 + rng.normal(size=(3, 10))
    system = np.repeat(np.arange(3), 10)
    frame = pd.DataFrame({"m": metric.ravel(), "h": human.ravel()})
    frame["one"], frame["two"] = (system == 1).astype(float), (system == 2).astype(float)
    theirs = pingouin.partial_corr(frame, x="m", y="h", covar=["one", "two"]).iloc[0]
    found = partial_given_system(metric, human, "pearson")
    assert found.value == pytest.approx(theirs["r"], abs=1e-9)
    assert found.p == pytest.approx(theirs.filter(like="p").iloc[0], abs=1e-9)


def test_partial_kendall():
    rng = np.random.default_rng(1)
    m, h, c = rng.normal(size=(3, 1, 20)) + rng.normal(size=20)
    tau = [float(kendall(*pair)[0]) for pair in ((m, h), (m, c), (h, c))]
    expected = (tau[0] - tau[1] * tau[2]) / np.sqrt((1 - tau[1] ** 2) * (1 - tau[2] ** 2))
    assert partial(m, h, c, "kendall")[:1] == pytest.approx((expected,))


def test_undefined():
    rng = np.random.default_rng(2)
    metric, human = rng.normal(size=(2, 3, 4))
    constant = partial(metric, human, np.full((3, 4), 0.1), "pearson")
    assert np.isnan(constant.value)
    assert np.isnan(constant.p)
    assert np.isnan(partial_given_system(metric[:, :1], human[:, :1], "spearman").value)
    # Scores that only tell systems apart tell nothing within them.
    by_system = np.repeat([[0.1], [0.7], [0.3]], 4, axis=1)
    assert np.isnan(partial_given_system(by_system, human, "pearson").value)
    metric[0, 0], human[1, 1] = NAN, NAN
    found = partial(metric, human, rng.normal(size=(3, 4)), "spearman")
    assert (found.n, found.n_missing) == (10, 2)
    whole = most_abstractive(metric, human, rng.normal(size=(3, 4)), "document", "kendall", share=1)
    assert whole == pytest.approx(correlate(metric, human, "document", "kendall"), nan_ok=True)
    empty = np.empty((0, 2))
    assert most_abstractive(empty, empty, empty, "global", "pearson", share=0.5).n == 0
    for share in (0, 1.1):
        with pytest.raises(ValueError, match="share"):
            most_abstractive(metric, human, human, "global", "pearson", share=share)
    with pytest.raises(ValueError, match="tau-c"):
        partial(metric, human, human, "kendall_c")
    with pytest.raises(ValueError, match="kendall"):
        partial_given_system(metric, human, "kendall")

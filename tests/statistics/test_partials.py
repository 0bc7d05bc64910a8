import numpy as np
import pandas as pd
import pingouin
import pytest
import scipy.stats
import statsmodels.formula.api as models

from metassay.statistics.components import value_at
from metassay.statistics.correlation import LEVELS, correlate
from metassay.statistics.jackknife import leave_out
from metassay.statistics.layout import Layout
from metassay.statistics.layout import default_layout as plain_layout
from metassay.statistics.partials import (
    less_any_shape,
    partial,
    partial_given_system,
    residuals_first,
    rests_of_any_shape,
    shape_remover,
)

NAN = np.nan
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # inside pingouin


def frame_of(metric, human, control):
    system = np.repeat(np.arange(len(metric)), metric.shape[1])
    sides = {"m": metric, "h": human, "c": control}
    return pd.DataFrame({name: side.ravel() for name, side in sides.items()} | {"system": system})


def formula(r_mh, r_mc, r_hc):
    return (r_mh - r_mc * r_hc) / np.sqrt((1 - r_mc**2) * (1 - r_hc**2))


def by_system(seed=0, systems=12, documents=20):
    """Systems of different means, as where many models write: metric and people both know them."""
    rng = np.random.default_rng(seed)
    level = np.exp(2 * rng.normal(size=(systems, 1)))
    return level + rng.normal(size=(2, systems, documents))


def test_by_hand():
    metric, human = np.array([[1.0, 2, 3, 4]]), np.array([[1.0, 3, 2, 4]])
    control = np.array([[1.0, -1, -1, 1]])
    # Control is uncorrelated with both (1 - 2 - 3 + 4 = 0): nothing is taken out.
    assert partial(metric, human, control, "global", "pearson").value == pytest.approx(0.8)
    # Given 1 2 3 4 itself, nothing is left of the metric.
    assert np.isnan(partial(metric, human, metric, "global", "pearson").value)
    # Two systems, within which order is opposite, but for the means of 0 and 10.
    metric = np.array([[-1.0, 0, 1], [9, 10, 11]])
    human = np.array([[1.0, 0, -1], [11, 10, 9]])
    assert correlate(metric, human, "global", "pearson").value > 0.9
    assert partial_given_system(metric, human, "global", "pearson")[0].value == pytest.approx(-1)


@pytest.mark.parametrize("coefficient", ["pearson", "spearman"])
@pytest.mark.parametrize("seed", range(5))
def test_pooled_equals_pingouin(coefficient, seed):
    rng = np.random.default_rng(seed)
    control = rng.integers(0, 6, (3, 8)).astype(float)
    metric, human = control + rng.integers(0, 5, (2, 3, 8))
    frame = frame_of(metric, human, control)
    theirs = pingouin.partial_corr(frame, x="m", y="h", covar="c", method=coefficient).iloc[0]
    found = partial(metric, human, control, "global", coefficient)
    assert found.value == pytest.approx(theirs["r"], abs=1e-9)
    order = rng.permutation(8)
    sides = metric[:, order] * 4, human[:, order], -control[:, order]
    again = partial(*sides, "global", coefficient)
    assert again.value == pytest.approx(found.value, abs=1e-9)
    negated = partial(-metric, human, control, "global", coefficient)
    assert negated.value == pytest.approx(-found.value, abs=1e-9)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall"])
def test_at_each_level_it_is_the_formula_of_that_levels_correlations(level, coefficient):
    rng = np.random.default_rng(3)
    control = rng.normal(size=(5, 6))
    metric, human = control + rng.normal(size=(2, 5, 6))
    pairs = (metric, human), (metric, control), (human, control)
    found = partial(metric, human, control, level, coefficient)
    each = [correlate(*pair, level, coefficient).value for pair in pairs]
    assert found.value == pytest.approx(formula(*each))
    # And without a document the same of what is left.
    rest = [correlate(x[:, 1:], y[:, 1:], level, coefficient).value for x, y in pairs]
    assert found.documents[0] == pytest.approx(formula(*rest))
    without = [correlate(x[1:], y[1:], level, coefficient).value for x, y in pairs]
    assert found.systems[0] == pytest.approx(formula(*without))


def test_document_level_by_hand():
    # Two documents of four systems. d1: m 1 2 3 4, h 1 3 2 4 (.8), c 1 -1 -1 1 (0 with both).
    # d2: m 1 2 3 4, h 1 2 3 4 (1), c 1 2 4 3 (.8 with both). Means: .9, .4, .4.
    metric = np.array([[1.0, 2, 3, 4], [1, 2, 3, 4]]).T
    human = np.array([[1.0, 3, 2, 4], [1, 2, 3, 4]]).T
    control = np.array([[1.0, -1, -1, 1], [1, 2, 4, 3]]).T
    found = partial(metric, human, control, "document", "pearson")
    assert found.value == pytest.approx((0.9 - 0.16) / (1 - 0.16))


@pytest.mark.parametrize("coefficient", ["pearson", "spearman"])
@pytest.mark.parametrize("gaps", [False, True])
def test_given_system_equals_regression_residuals(coefficient, gaps):
    metric, human = by_system(systems=4)
    if gaps:
        metric[0, :5] = human[1, 3] = NAN
    frame = frame_of(metric, human, metric).dropna()
    if coefficient == "spearman":
        frame[["m", "h"]] = frame[["m", "h"]].rank()
    left = [models.ols(f"{side} ~ C(system)", frame).fit().resid for side in ("m", "h")]
    given, n = partial_given_system(metric, human, "global", coefficient)
    assert given.value == pytest.approx(scipy.stats.pearsonr(*left)[0], abs=1e-9)
    assert n == len(frame)
    # Within documents, of what is left of each text.
    rests = [np.full(metric.shape, NAN), np.full(metric.shape, NAN)]
    if coefficient == "pearson":
        for rest, side in zip(rests, left, strict=True):
            rest.ravel()[frame.index] = side
        expected = correlate(*rests, "document", "pearson").value
        given, _ = partial_given_system(metric, human, "document", "pearson")
        assert given.value == pytest.approx(expected, abs=1e-9)


def test_ranks_first_and_residuals_first_differ_and_each_is_its_own():
    metric, human = by_system()
    ranks, rests = [], []
    for side in (metric, human):
        rank = scipy.stats.rankdata(side).reshape(side.shape)
        ranks.append(rank - rank.mean(axis=1, keepdims=True))
        rests.append(scipy.stats.rankdata(side - side.mean(axis=1, keepdims=True)))
    one = partial_given_system(metric, human, "global", "spearman")[0].value
    other = residuals_first(metric, human, None, "global")
    assert one == pytest.approx(np.corrcoef(ranks[0].ravel(), ranks[1].ravel())[0, 1])
    assert other == pytest.approx(np.corrcoef(rests[0], rests[1])[0, 1])
    # The texts have nothing in common but their systems, whose means lie far apart; yet within
    # the crowded systems ranks move more than within the few that stand off.
    assert abs(one - other) > 0.01


def test_residuals_first_given_a_number():
    rng = np.random.default_rng(4)
    control = rng.normal(size=(5, 8))
    metric, human = np.exp(control) + rng.normal(size=(2, 5, 8))

    def rest(side, given):
        return side.ravel() - np.polyval(np.polyfit(given.ravel(), side.ravel(), 1), given.ravel())

    expected = scipy.stats.spearmanr(rest(metric, control), rest(human, control))[0]
    assert residuals_first(metric, human, control, "global") == pytest.approx(expected)
    sides = [side - side.mean(axis=0) for side in (metric, human, control)]
    rests = [rest(side, sides[2]).reshape(5, 8) for side in sides[:2]]
    within = correlate(*rests, "document", "spearman").value
    assert residuals_first(metric, human, control, "document") == pytest.approx(within)
    means = [side.mean(axis=1) for side in (metric, human, control)]
    between = scipy.stats.spearmanr(rest(means[0], means[2]), rest(means[1], means[2]))[0]
    assert residuals_first(metric, human, control, "system") == pytest.approx(between)
    assert partial(metric, human, control, "global", "spearman").value != pytest.approx(expected)


@pytest.mark.parametrize("level", LEVELS)
def test_undefined(level):
    rng = np.random.default_rng(2)
    metric, human = rng.normal(size=(2, 3, 4))
    assert np.isnan(partial(metric, human, np.full((3, 4), 0.1), level, "pearson").value)
    # Systems with one text say nothing within.
    assert np.isnan(partial_given_system(metric[:, :1], human[:, :1], level, "spearman")[0].value)
    assert np.isnan(partial_given_system(metric[:0], human[:0], level, "kendall")[0].value)
    # Scores that only tell systems apart tell nothing within them.
    alike = np.repeat([[0.1], [0.7], [0.3]], 4, axis=1)
    for coefficient in ("pearson", "spearman", "kendall"):
        assert np.isnan(partial_given_system(alike, human, level, coefficient)[0].value)
    assert np.isnan(residuals_first(alike, human, None, level))
    with pytest.raises(ValueError, match="tau-c"):
        partial(metric, human, human, level, "kendall_c")


def test_given_system_is_nothing_at_system_level():
    metric, human = by_system()
    assert np.isnan(partial_given_system(metric, human, "system", "pearson")[0].value)
    assert np.isnan(residuals_first(metric, human, None, "system"))


SHAPES = {
    "straight": lambda u: u,
    "square": lambda u: (u + 1.5) ** 2,
    "exponential": np.exp,
    "threshold": lambda u: (u > 0.4).astype(float),
    "two steps": lambda u: (u > -0.7).astype(float) + (u > 0.9),
    "saturating": lambda u: np.minimum(u, 0.0),
    "U": np.abs,
}


def seen_through(of, seed, shape=(8, 40)):
    """A metric and people who see one confound through a curve and have nothing else in common."""
    rng = np.random.default_rng(seed)
    u = (rng.normal(size=(shape[0], 1)) + rng.normal(size=shape)) / np.sqrt(2)
    shared = (of(u) - of(u).mean()) / of(u).std()
    metric, human = shared + 0.6 * rng.normal(size=(2, *shape))
    return metric, human, np.exp(5 + 0.8 * u)


def any_shape(metric, human, control, level, coefficient, layout=None):
    layout = layout or plain_layout(metric.shape)
    less = shape_remover(control, coefficient, layout)
    rest = rests_of_any_shape(metric[None], human, control, less)
    return leave_out(rest.metric[0], rest.human[0], level, coefficient, layout)


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall"])
@pytest.mark.parametrize("level", ["global", "document"])
def test_nothing_is_left_of_a_curve_of_any_shape(name, coefficient, level):
    plain, left, straight = [], [], []
    for seed in range(12):
        metric, human, length = seen_through(SHAPES[name], seed)
        plain.append(value_at(metric, human, level, coefficient))
        found = any_shape(metric, human, length, level, coefficient)
        left.append(found.value)
        straight.append(partial(metric, human, length, level, coefficient).value)
    assert np.mean(plain) > 0.3
    # .06 is about four standard errors of a mean of 12 studies of 320 texts.
    assert abs(np.mean(left)) < 0.06
    if name in ("U", "threshold"):
        assert np.mean(straight) > 0.2  # on a straight line most of it is left


def test_what_a_curve_does_not_explain_is_left():
    rng = np.random.default_rng(3)
    quality, u = rng.normal(size=(2, 8, 60))
    metric, human = quality + 0.5 * np.exp(u) + 0.7 * rng.normal(size=(2, 8, 60))
    found = any_shape(metric, human, u, "global", "pearson")
    expected = 1 / (1 + 0.7**2)
    assert found.value == pytest.approx(expected, abs=0.08)
    assert found.systems.size == 8
    # A confound that nobody sees takes nothing.
    found = any_shape(metric, human, rng.normal(size=(8, 60)), "global", "pearson")
    assert found.value == pytest.approx(value_at(metric, human, "global", "pearson"), abs=0.04)


def test_any_shape_by_hand():
    # With two values the curve is the mean of each: 1, 3 and 6, 10 leave -1, 1, -2, 2.
    side = np.array([[1.0, 3.0, 6.0, 10.0]])
    control = np.array([[0.0, 0.0, 5.0, 5.0]])
    left = less_any_shape(side, control, "pearson", plain_layout((1, 4)))
    assert left == pytest.approx(np.array([[-1.0, 1, -2, 2]]))
    # Of one with as many values as texts a rising side leaves nothing, and what is missing stays.
    side, control = np.array([[1.0, 2, 4, NAN]]), np.array([[1.0, 2, 3, 4]])
    left = less_any_shape(side, control, "pearson", plain_layout((1, 4)))
    np.testing.assert_array_equal(left, [[0, 0, 0, NAN]])


def test_each_stratum_has_a_curve_of_its_own():
    rng = np.random.default_rng(4)
    u = rng.normal(size=(6, 80))
    stratum = np.repeat([0, 1], 40)
    seen = np.where(stratum == 0, u, -u)  # in the second set people dislike length
    layout = Layout(stratum, np.arange(80), np.arange(6))
    metric, human = seen + 0.4 * rng.normal(size=(2, 6, 80))
    found = any_shape(metric, human, u, "global", "pearson", layout)
    assert abs(found.value) < 0.1

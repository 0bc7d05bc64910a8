"""Quality, or copying, length or the author: by hand, pingouin, regressions, planted curves."""

import numpy as np
import pandas as pd
import pingouin
import pytest
import scipy.stats
import statsmodels.formula.api as models

from metassay.statistics.components import value_at
from metassay.statistics.correlation import LEVELS, correlate
from metassay.statistics.jackknife import leave_out
from metassay.statistics.layout import Layout, default_layout
from metassay.statistics.partials import (
    less_any_shape,
    most_abstractive,
    partial,
    partial_given_system,
    residuals_first,
    rests_of_any_shape,
    shape_remover,
)
from tests.support.statistics import NAN

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # inside pingouin
every_level = pytest.mark.parametrize("level", LEVELS)
of_two = pytest.mark.parametrize("coefficient", ["pearson", "spearman"])
of_three = pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall"])


def frame_of(metric, human, control):
    system = np.repeat(np.arange(len(metric)), metric.shape[1])
    sides = {"m": metric, "h": human, "c": control}
    return pd.DataFrame(
        {name: side.ravel() for name, side in sides.items()} | {"system": system}
    )


def by_system(systems=12, documents=20):
    """Systems of different means, as where many models write: metric and people both know them."""
    rng = np.random.default_rng(0)
    level = np.exp(2 * rng.normal(size=(systems, 1)))
    return level + rng.normal(size=(2, systems, documents))


def test_by_hand():
    metric, human = np.array([[1.0, 2, 3, 4]]), np.array([[1.0, 3, 2, 4]])
    control = np.array([[1.0, -1, -1, 1]])
    # Control is uncorrelated with both (1 - 2 - 3 + 4 = 0): nothing is taken out.
    assert partial(metric, human, control, "global", "pearson").value == pytest.approx(
        0.8
    )
    # Given 1 2 3 4 itself, nothing is left of the metric.
    assert np.isnan(partial(metric, human, metric, "global", "pearson").value)
    # Two systems, within which order is opposite, but for the means of 0 and 10.
    metric = np.array([[-1.0, 0, 1], [9, 10, 11]])
    human = np.array([[1.0, 0, -1], [11, 10, 9]])
    assert correlate(metric, human, "global", "pearson").value > 0.9
    assert partial_given_system(metric, human, "global", "pearson")[
        0
    ].value == pytest.approx(-1)
    # Two documents of four systems. d1: m 1 2 3 4, h 1 3 2 4 (.8), c 1 -1 -1 1 (0 with
    # both). d2: m 1 2 3 4, h 1 2 3 4 (1), c 1 2 4 3 (.8 with both). Means: .9, .4, .4.
    metric = np.array([[1.0, 2, 3, 4], [1, 2, 3, 4]]).T
    human = np.array([[1.0, 3, 2, 4], [1, 2, 3, 4]]).T
    control = np.array([[1.0, -1, -1, 1], [1, 2, 4, 3]]).T
    left = partial(metric, human, control, "document", "pearson")
    assert left.value == pytest.approx((0.9 - 0.16) / (1 - 0.16))


@of_two
@pytest.mark.parametrize("seed", range(5))
def test_pooled_equals_pingouin(coefficient, seed):
    rng = np.random.default_rng(seed)
    control = rng.integers(0, 6, (3, 8)).astype(float)
    metric, human = control + rng.integers(0, 5, (2, 3, 8))
    frame = frame_of(metric, human, control)
    theirs = pingouin.partial_corr(
        frame, x="m", y="h", covar="c", method=coefficient
    ).iloc[0]
    order = rng.permutation(8)
    for a, b, c, sign in (
        (metric, human, control, 1),
        (metric[:, order] * 4, human[:, order], -control[:, order], 1),
        (-metric, human, control, -1),
    ):
        left = partial(a, b, c, "global", coefficient)
        assert left.value == pytest.approx(sign * theirs["r"], abs=1e-9)


@every_level
@of_three
def test_at_each_level_it_is_the_formula_of_that_levels_correlations(
    level, coefficient
):
    rng = np.random.default_rng(3)
    control = rng.normal(size=(5, 6))
    metric, human = control + rng.normal(size=(2, 5, 6))
    pairs = (metric, human), (metric, control), (human, control)

    def formula(systems=slice(None), documents=slice(None)):
        cells = systems, documents
        r, a, b = (
            correlate(x[cells], y[cells], level, coefficient).value for x, y in pairs
        )
        return (r - a * b) / np.sqrt((1 - a**2) * (1 - b**2))

    left = partial(metric, human, control, level, coefficient)
    assert left.value == pytest.approx(formula())
    assert left.documents[0] == pytest.approx(formula(documents=slice(1, None)))
    assert left.systems[0] == pytest.approx(formula(systems=slice(1, None)))


@of_two
@pytest.mark.parametrize("gaps", [False, True])
def test_given_system_equals_regression_residuals(coefficient, gaps):
    metric, human = by_system(systems=4)
    if gaps:
        metric[0, :5] = human[1, 3] = NAN
    frame = frame_of(metric, human, metric).dropna()
    if coefficient == "spearman":
        frame[["m", "h"]] = frame[["m", "h"]].rank()
    rests = [
        models.ols(f"{side} ~ C(system)", frame).fit().resid for side in ("m", "h")
    ]
    left, n = partial_given_system(metric, human, "global", coefficient)
    assert (left.value, n) == (
        pytest.approx(scipy.stats.pearsonr(*rests)[0]),
        len(frame),
    )
    if coefficient == "pearson":  # within documents, of what is left of each text
        matrices = np.full((2, *metric.shape), NAN)
        for matrix, rest in zip(matrices, rests, strict=True):
            matrix.ravel()[frame.index] = rest
        expected = correlate(*matrices, "document", "pearson").value
        left, _ = partial_given_system(metric, human, "document", "pearson")
        assert left.value == pytest.approx(expected, abs=1e-9)


def test_ranks_first_and_residuals_first_differ():
    metric, human = by_system()
    ranks, rests = [], []
    for side in (metric, human):
        rank = scipy.stats.rankdata(side).reshape(side.shape)
        ranks.append((rank - rank.mean(axis=1, keepdims=True)).ravel())
        rests.append(scipy.stats.rankdata(side - side.mean(axis=1, keepdims=True)))
    first = partial_given_system(metric, human, "global", "spearman")[0].value
    second = residuals_first(metric, human, None, "global")
    assert first == pytest.approx(np.corrcoef(*ranks)[0, 1])
    assert second == pytest.approx(np.corrcoef(*rests)[0, 1])
    # The texts have nothing in common but their systems, whose means lie far apart; yet
    # within the crowded systems ranks move more than within the few that stand off.
    assert abs(first - second) > 0.01


def test_residuals_first_given_a_number():
    rng = np.random.default_rng(4)
    control = rng.normal(size=(5, 8))
    metric, human = np.exp(control) + rng.normal(size=(2, 5, 8))
    both = metric, human, control

    def rest(side, of):
        return side.ravel() - np.polyval(
            np.polyfit(of.ravel(), side.ravel(), 1), of.ravel()
        )

    def spearman(a, b, c):
        return scipy.stats.spearmanr(rest(a, c), rest(b, c))[0]

    assert residuals_first(*both, "global") == pytest.approx(spearman(*both))
    a, b, c = (side - side.mean(axis=0) for side in both)
    rests = [rest(side, c).reshape(5, 8) for side in (a, b)]
    within = correlate(*rests, "document", "spearman").value
    assert residuals_first(*both, "document") == pytest.approx(within)
    between = spearman(*(side.mean(axis=1) for side in both))
    assert residuals_first(*both, "system") == pytest.approx(between)
    halves = default_layout((5, 8))._replace(stratum=np.repeat([0, 1], 4))
    apart = [
        residuals_first(*(s[:, i : i + 4] for s in both), "global") for i in (0, 4)
    ]
    assert residuals_first(*both, "global", halves) == pytest.approx(np.mean(apart))
    given_system = [
        residuals_first(*(s[:, i : i + 4] for s in both[:2]), None, "global")
        for i in (0, 4)
    ]
    assert residuals_first(*both[:2], None, "global", halves) == pytest.approx(
        np.mean(given_system)
    )
    assert partial(*both, "global", "spearman").value != pytest.approx(spearman(*both))


@every_level
def test_undefined(level):
    metric, human = np.random.default_rng(2).normal(size=(2, 3, 4))
    # Systems with one text, and scores that only tell systems apart, say nothing
    # within.
    alike = np.repeat([[0.1], [0.7], [0.3]], 4, axis=1)
    cases = [
        (metric[:, :1], human[:, :1], "spearman"),
        (metric[:0], human[:0], "kendall"),
        *((alike, human, name) for name in ("pearson", "spearman", "kendall")),
    ]
    if level == "system":
        cases.append((metric, human, "pearson"))
    for a, b, coefficient in cases:
        assert np.isnan(partial_given_system(a, b, level, coefficient)[0].value)
        assert np.isnan(residuals_first(a, b, None, level))
    assert np.isnan(
        partial(metric, human, np.full((3, 4), 0.1), level, "pearson").value
    )
    with pytest.raises(ValueError, match="tau-c"):
        partial(metric, human, human, level, "kendall_c")


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
    layout = layout or default_layout(metric.shape)
    less = shape_remover(control, coefficient, layout)
    rest = rests_of_any_shape(metric[None], human, control, less)
    return leave_out(rest.metric[0], rest.human[0], level, coefficient, layout)


@pytest.mark.parametrize("name", SHAPES)
@of_three
@pytest.mark.parametrize("level", ["global", "document"])
def test_nothing_is_left_of_a_curve_of_any_shape(name, coefficient, level):
    how, values = (level, coefficient), []
    for seed in range(12):
        metric, human, length = seen_through(SHAPES[name], seed)
        left = any_shape(metric, human, length, *how).value
        straight = partial(metric, human, length, *how).value
        values.append((value_at(metric, human, *how), left, straight))
    plain, left, straight = np.mean(values, axis=0)
    assert plain > 0.3
    # .06 is about four standard errors of a mean of 12 studies of 320 texts.
    assert abs(left) < 0.06
    if name in ("U", "threshold"):
        assert straight > 0.2  # on a straight line most of it is left


def test_what_a_curve_does_not_explain_is_left():
    rng = np.random.default_rng(3)
    quality, u = rng.normal(size=(2, 8, 60))
    metric, human = quality + 0.5 * np.exp(u) + 0.7 * rng.normal(size=(2, 8, 60))
    left = any_shape(metric, human, u, "global", "pearson")
    assert left.value == pytest.approx(1 / (1 + 0.7**2), abs=0.08)
    assert left.systems.size == 8
    # A confound that nobody sees takes nothing.
    left = any_shape(metric, human, rng.normal(size=(8, 60)), "global", "pearson")
    assert left.value == pytest.approx(
        value_at(metric, human, "global", "pearson"), abs=0.04
    )
    # Each stratum has a curve of its own: in the second set people dislike length.
    u, stratum = rng.normal(size=(6, 80)), np.repeat([0, 1], 40)
    metric, human = np.where(stratum == 0, u, -u) + 0.4 * rng.normal(size=(2, 6, 80))
    layout = Layout(stratum, np.arange(80), np.arange(6))
    assert abs(any_shape(metric, human, u, "global", "pearson", layout).value) < 0.1


@pytest.mark.parametrize(
    ("side", "control", "left"),
    [
        # With two values the curve is the mean of each: 1, 3 and 6, 10 leave -1, 1, -2,
        # 2.
        ([1.0, 3.0, 6.0, 10.0], [0.0, 0.0, 5.0, 5.0], [-1.0, 1, -2, 2]),
        # With as many values as texts a rising side leaves nothing, and what is missing
        # stays.
        ([1.0, 2, 4, NAN], [1.0, 2, 3, 4], [0, 0, 0, NAN]),
    ],
)
def test_any_shape_by_hand(side, control, left):
    layout = default_layout((1, 4))
    rests = less_any_shape(np.array([side]), np.array([control]), "pearson", layout)
    np.testing.assert_allclose(rests, [left], atol=1e-12)


def test_the_most_abstractive_by_hand():
    metric = np.array([[-1.0, 0, 1], [9, 10, 11]])
    human = np.array([[1.0, 0, -1], [11, 10, 9]])
    coverage = np.array([[0.1, 0.9, 0.2], [0.2, 0.8, NAN]])
    # Of five items, 40 % are .1 and the two that tie at .2.
    result = most_abstractive(metric, human, coverage, "global", "pearson", share=0.4)
    assert (result.n, result.n_missing) == (3, 1)
    assert result.value == pytest.approx(np.corrcoef([-1, 1, 9], [1, -1, 11])[0, 1])
    metric[0, 0] = NAN
    how = "document", "kendall"
    whole = most_abstractive(metric, human, human, *how, share=1)
    assert whole == pytest.approx(correlate(metric, human, *how), nan_ok=True)
    empty = np.empty((0, 2))
    assert most_abstractive(empty, empty, empty, "global", "pearson", share=0.5).n == 0
    for share in (0, 1.1):
        with pytest.raises(ValueError, match="share"):
            most_abstractive(metric, human, human, "global", "pearson", share=share)

import json
import warnings
from functools import partial

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from metassay.statistics import exact_sums
from metassay.statistics.correlation import (
    EVERY_COEFFICIENT,
    LEVELS,
    correlate,
    kendall,
    kendall_c,
    pearson,
    spearman,
    system_means,
    tie_near,
)
from tests.support.statistics import NAN, checked, published, two_matrices

every_coefficient = pytest.mark.parametrize("coefficient", EVERY_COEFFICIENT)
SCIPY = {
    "pearson": scipy.stats.pearsonr,
    "spearman": scipy.stats.spearmanr,
    "kendall": scipy.stats.kendalltau,
    "kendall_c": partial(scipy.stats.kendalltau, variant="c"),
}


def by_scipy(x, y, coefficient):
    both = np.isfinite(x) & np.isfinite(y)
    x, y = x[both], y[both]
    if x.size < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return NAN
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scipy divides by n - 2 = 0 for its p
        return float(SCIPY[coefficient](x, y)[0])


def test_by_hand():
    # x = 1 2 3 3, y = 1 3 2 4. Means 9/4 and 10/4; deviations x -5 -1 3 3 (/4), y -6 2
    # -2 6 (/4). Products 30 - 2 - 6 + 18 = 40; squares 25 + 1 + 9 + 9 = 44 and 36 + 4 +
    # 4 + 36 = 80.
    x, y = [1, 2, 3, 3], [1, 3, 2, 4]
    assert pearson(x, y) == pytest.approx(40 / np.sqrt(44 * 80), abs=1e-15)
    # Ranks 1 2 3.5 3.5 and 1 3 2 4, less 2.5: -1.5 -.5 1 1 and -1.5 .5 -.5 1.5.
    # Products 2.25 - .25 - .5 + 1.5 = 3; squares 4.5 and 5.
    assert spearman(x, y) == pytest.approx(3 / np.sqrt(4.5 * 5), abs=1e-15)
    # Six pairs: 12 13 14 24 concordant, 23 discordant, 34 tied in x: (4 - 1) / sqrt(5 *
    # 6).
    assert kendall(x, y) == pytest.approx(3 / np.sqrt(30), abs=1e-15)
    # Three distinct values in x, four in y: 2 (4 - 1) / (16 * 2 / 3).
    assert kendall_c(x, y) == pytest.approx(9 / 16, abs=1e-15)
    # Infinity is missing; the mean of nine .1 is not .1 to the last bit, which is no
    # spread.
    result = correlate(
        [[-np.inf, 1.0, 2.0, 3.0]], [[5.0, 1.0, 2.0, 3.0]], "global", "spearman"
    )
    assert result == (pytest.approx(1), 3, 0, 1)
    assert np.isnan(pearson([0.1] * 9, range(9)))
    assert pearson([1.0, 1.0 + 1e-9, 1.0], [1, 2, 3]) == pytest.approx(0)
    assert pearson([0.0, 1e-200, 2e-200], [1e200, 2e200, 3e200]) == pytest.approx(1)
    for side in ([[1.0, 2.0]], [1.0]):
        with pytest.raises(ValueError, match="expected one shape"):
            correlate(side, [[1.0], [2.0]], "global", "pearson")


@pytest.mark.parametrize("case", published()["cases"])
def test_published_values_with_ties(case):
    metric, human = np.array(case["metric"], float), np.array(case["human"], float)
    for level, coefficient, expected in case["values"]:
        turned = level == "transposed"
        sides = (metric.T, human.T, "document") if turned else (metric, human, level)
        result = correlate(*sides, coefficient)
        assert result.value == pytest.approx(expected, abs=1e-12), (level, coefficient)
        assert result.n_undefined == case["undefined"].get(level, 0)
        assert result.n_missing == 0


def test_published_values_of_scholarsum(mirror):
    # Pooled over 50 papers x 4 systems, to three digits as the datasets' description
    # gives them.
    printed = {
        "newrougel": (0.238, 0.258),
        "bert": (0.249, 0.246),
        "delta": (-0.016, -0.001),
        "questeval": (0.313, 0.324),
        "acu3": (-0.011, -0.083),
        "llama": (0.588, 0.574),
        "gpt35_fm": (0.543, 0.528),
        "gpt4_fm": (0.702, 0.693),
        "gpt4": (0.258, 0.280),
    }
    lines = (mirror / "scholarsum_arxiv" / "arxiv.json").read_text("utf-8").splitlines()
    papers = [json.loads(line) for line in lines]
    systems = ["gpt35", "llama2_70b", "bartlarge", "factsum"]

    def matrix(name):
        return np.array([[p[f"{system}_{name}"] for p in papers] for system in systems])

    for metric, values in printed.items():
        for coefficient, value in zip(("pearson", "spearman"), values, strict=True):
            result = correlate(matrix(metric), matrix("human"), "global", coefficient)
            assert result.value == pytest.approx(value, abs=5e-4), (metric, coefficient)
            assert result.n == 200
    # The printed ranks tell .8 from .7999999999999999, both of which the file has; as a
    # table (12 digits) holds them they are tied, and rho moves in the third digit.
    human = np.round(matrix("human"), 12)
    assert len(np.unique(human)) < len(np.unique(matrix("human")))
    result = correlate(matrix("newrougel"), human, "global", "spearman")
    assert result.value == pytest.approx(0.262, abs=5e-4)


@every_coefficient
@checked
@given(pair=two_matrices())
def test_rows_and_levels_equal_scipy(coefficient, pair):
    metric, human = pair
    present = np.isfinite(metric) & np.isfinite(human)
    missing = (
        np.sum(np.isfinite(metric)) + np.sum(np.isfinite(human)) - 2 * np.sum(present)
    )
    rows = [by_scipy(x, y, coefficient) for x, y in zip(*pair, strict=True)]
    assert EVERY_COEFFICIENT[coefficient](*pair) == pytest.approx(
        rows, abs=1e-12, nan_ok=True
    )
    documents = [
        by_scipy(x, y, coefficient) for x, y in zip(metric.T, human.T, strict=True)
    ]
    defined = [value for value in documents if not np.isnan(value)]
    scored = [
        (x[b], y[b]) for x, y, b in zip(metric, human, present, strict=True) if b.any()
    ]
    # Rounded, as ties of means must not hang on the last bit.
    means = np.round([[np.mean(x), np.mean(y)] for x, y in scored], 14).reshape(-1, 2)
    pooled = by_scipy(metric.ravel(), human.ravel(), coefficient)
    expected = {
        "global": (pooled, np.sum(present), 0),
        "document": (
            np.mean(defined or NAN),
            len(defined),
            len(documents) - len(defined),
        ),
        "system": (by_scipy(*means.T, coefficient), len(scored), 0),
    }
    for level, values in expected.items():
        result = correlate(metric, human, level, coefficient)
        assert result == pytest.approx((*values, missing), abs=1e-11, nan_ok=True), (
            level
        )
    itself = correlate(metric, metric, "global", coefficient).value
    assert np.isnan(itself) or 0 < itself <= 1


@every_coefficient
@pytest.mark.parametrize("n", [257, 1000])
def test_long_rows_equal_a_definition_by_pairs(coefficient, n):
    rng = np.random.default_rng(n)
    x = rng.integers(0, 30, n).astype(float)
    y = x + rng.integers(0, 30, n)
    x[:5] = NAN
    a, b = x[5:], y[5:]
    if coefficient == "spearman":
        a, b = scipy.stats.rankdata(a), scipy.stats.rankdata(b)
    # All are sums over pairs of products of differences (Kendall: of their signs).
    da, db = a[:, None] - a, b[:, None] - b
    if coefficient in ("kendall", "kendall_c"):
        da, db = np.sign(da), np.sign(db)
    expected = np.sum(da * db) / np.sqrt(np.sum(da**2) * np.sum(db**2))
    if coefficient == "kendall_c":
        fewest = min(len(set(a)), len(set(b)))
        expected = np.sum(da * db) / (len(a) ** 2 * (fewest - 1) / fewest)
    assert EVERY_COEFFICIENT[coefficient](x, y) == pytest.approx(expected, abs=1e-12)


@every_coefficient
def test_undefined_is_nan_and_counted(coefficient):
    row, column = np.array([[1.0, 2.0, 3.0]]), np.array([[1.0], [2.0], [3.0]])
    for scores, level, expected in (
        (row, "document", (NAN, 0, 3, 0)),
        (row, "system", (NAN, 1, 0, 0)),
        (row, "global", (1, 3, 0, 0)),
        (column, "document", (1, 1, 0, 0)),
    ):
        result = correlate(scores, scores, level, coefficient)
        assert result == pytest.approx(expected, nan_ok=True)
    for level in LEVELS:
        assert np.isnan(
            correlate(np.full((3, 1), 0.1), column, level, coefficient).value
        )
        nothing = correlate(np.full((3, 2), NAN), np.ones((3, 2)), level, coefficient)
        assert np.isnan(nothing.value)
        assert (nothing.n, nothing.n_missing) == (0, 6)
        for shape in ((0, 0), (0, 3), (3, 0)):
            undefined = shape[1] if level == "document" else 0
            result = correlate(np.empty(shape), np.empty(shape), level, coefficient)
            assert result == pytest.approx((NAN, 0, undefined, 0), nan_ok=True)


def test_system_means_skip_gaps_pairwise_and_tie():
    metric = np.array([[0.7, 0.1, NAN], [0.4, 0.4, 9.0], [0.9, NAN, 0.9]])
    human = np.array([[1.0, 1.0, 7.0], [2.0, 2.0, NAN], [3.0, 7.0, 3.0]])
    assert (0.7 + 0.1) / 2 != (0.4 + 0.4) / 2  # to the last bit
    x, y = system_means(metric, human, np.ones((1, 3)))
    assert x[0] == pytest.approx([0.4, 0.4, 0.9], abs=1e-15)
    assert x[0, 0] == x[0, 1]
    assert y[0].tolist() == [1, 2, 3]
    # Three pairs, one tied in the metric, two concordant: 2 / sqrt(2 * 3).
    result = correlate(metric, human, "system", "kendall")
    assert (result.value, result.n_missing) == (pytest.approx(2 / np.sqrt(6)), 3)
    x, y = system_means(metric, human, np.array([[0.0, 3.0, 1.0]]))
    assert x[0] == pytest.approx([0.1, 0.4, 0.9])
    assert np.isnan(
        system_means(metric, human, np.array([[0.0, 0.0, 1.0]]))[0][0, :2]
    ).all()
    chain = np.array([[3.0, NAN, 1.0, 1.0 + 1e-13, 2.0], [NAN] * 5])
    expected = [[3, NAN, 1, 1, 2], [NAN] * 5]
    np.testing.assert_array_equal(tie_near(chain, tolerance=1e-12), expected)


@checked
@given(st.integers(0, 10**6))
def test_weighted_sums_are_those_of_long_arithmetic(seed):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(3, 20)) * 10.0 ** rng.integers(-30, 30, (3, 1))
    weights = rng.integers(0, 5, (4, 20)).astype(float)
    result = exact_sums.weighted_sums(scores, weights)
    for r, k in np.ndindex(4, 3):
        ratios = [x.as_integer_ratio() for x in scores[k].tolist()]
        exact = sum(
            int(w) * a / b for w, (a, b) in zip(weights[r], ratios, strict=True)
        )
        assert result[r, k] == pytest.approx(
            exact, abs=1e-14 * np.max(np.abs(scores[k])) * 20
        )
    order = rng.permutation(20)
    assert np.array_equal(
        exact_sums.weighted_sums(scores[:, order], weights[:, order]), result
    )


@every_coefficient
def test_blocks_change_nothing(coefficient, monkeypatch):
    rng = np.random.default_rng(5)
    x, y = rng.integers(0, 4, (2, 30, 8)).astype(float)
    whole = EVERY_COEFFICIENT[coefficient](x, y)
    monkeypatch.setattr(exact_sums.blocks, "__kwdefaults__", {"numbers": 100})
    assert np.array_equal(EVERY_COEFFICIENT[coefficient](x, y), whole, equal_nan=True)


def test_a_hundred_thousand_documents():
    rng = np.random.default_rng(2)
    metric = rng.integers(0, 9, (3, 100_000)).astype(float)
    human = metric + rng.integers(0, 9, metric.shape)
    # Cov = Var(U) and Var = 2 Var(U), so r is near sqrt(1/2) for all items.
    assert correlate(metric, human, "global", "pearson").value == pytest.approx(
        0.7071, abs=0.01
    )
    result = correlate(metric, human, "document", "kendall")
    assert result.n + result.n_undefined == 100_000
    assert result.n_undefined > 0
    assert correlate(metric, human, "system", "spearman").n == 3

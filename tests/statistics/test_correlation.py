import json
import warnings
from functools import partial

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from metassay.statistics import exact_sums as arithmetic
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
from metassay.statistics.exact_sums import weighted_sums
from tests.support.statistics import NAN, checked, published, two_matrices

PUBLISHED = published()
SCIPY = {
    "pearson": scipy.stats.pearsonr,
    "spearman": scipy.stats.spearmanr,
    "kendall": scipy.stats.kendalltau,
    "kendall_c": partial(scipy.stats.kendalltau, variant="c"),
}
# Few distinct values, so that ties, constants and gaps are the rule.


def by_scipy(x, y, coefficient):
    both = np.isfinite(x) & np.isfinite(y)
    x, y = x[both], y[both]
    if x.size < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return NAN, NAN
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scipy divides by n - 2 = 0 for its p
        value, p = SCIPY[coefficient](x, y)
    return float(value), float(p)


def test_by_hand():
    # x = 1 2 3 3, y = 1 3 2 4. Means 9/4 and 10/4; deviations x -5 -1 3 3 (/4), y -6 2 -2 6 (/4).
    # Products 30 - 2 - 6 + 18 = 40; squares 25 + 1 + 9 + 9 = 44 and 36 + 4 + 4 + 36 = 80.
    x, y = [1, 2, 3, 3], [1, 3, 2, 4]
    assert pearson(x, y) == pytest.approx(40 / np.sqrt(44 * 80), abs=1e-15)
    # Ranks 1 2 3.5 3.5 and 1 3 2 4, less 2.5: -1.5 -.5 1 1 and -1.5 .5 -.5 1.5.
    # Products 2.25 - .25 - .5 + 1.5 = 3; squares 4.5 and 5.
    assert spearman(x, y) == pytest.approx(3 / np.sqrt(4.5 * 5), abs=1e-15)
    # Six pairs: 12 13 14 24 concordant, 23 discordant, 34 tied in x: (4 - 1) / sqrt(5 * 6).
    assert kendall(x, y) == pytest.approx(3 / np.sqrt(30), abs=1e-15)
    # Three distinct values in x, four in y: 2 (4 - 1) / (16 * 2 / 3).
    assert kendall_c(x, y) == pytest.approx(9 / 16, abs=1e-15)


@pytest.mark.parametrize("case", PUBLISHED["cases"])
def test_published_values_with_ties(case):
    metric, human = np.array(case["metric"], float), np.array(case["human"], float)
    for level, coefficient, expected in case["values"]:
        if level == "transposed":
            found = correlate(metric.T, human.T, "document", coefficient)
        else:
            found = correlate(metric, human, level, coefficient)
        assert found.value == pytest.approx(expected, abs=1e-12), (level, coefficient)
        assert found.n_undefined == case["undefined"].get(level, 0)
        assert found.n_missing == 0


def test_published_values_of_scholarsum(mirror):
    # Pooled over 50 papers x 4 systems, to three digits as the datasets' description gives them.
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

    for metric, (r, rho) in printed.items():
        for coefficient, value in (("pearson", r), ("spearman", rho)):
            found = correlate(matrix(metric), matrix("human"), "global", coefficient)
            assert found.value == pytest.approx(value, abs=5e-4), (metric, coefficient)
            assert found.n == 200
    # The printed ranks tell .8 from .7999999999999999, both of which the file has; as a table
    # (12 digits) holds them they are tied, and rho moves in the third digit.
    human = np.round(matrix("human"), 12)
    assert len(np.unique(human)) < len(np.unique(matrix("human")))
    found = correlate(matrix("newrougel"), human, "global", "spearman")
    assert found.value == pytest.approx(0.262, abs=5e-4)


@pytest.mark.parametrize("coefficient", EVERY_COEFFICIENT)
@checked
@given(pair=two_matrices())
def test_rows_equal_scipy(coefficient, pair):
    found = EVERY_COEFFICIENT[coefficient](*pair)
    assert found.shape == pair[0].shape[:-1]
    for value, x, y in zip(found, *pair, strict=True):
        assert value == pytest.approx(by_scipy(x, y, coefficient)[0], abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("coefficient", EVERY_COEFFICIENT)
@pytest.mark.parametrize("n", [257, 1000])
def test_long_rows_equal_a_definition_by_pairs(coefficient, n):
    rng = np.random.default_rng(n)
    x = rng.integers(0, 30, n).astype(float)
    y = x + rng.integers(0, 30, n)
    x[:5] = NAN
    a, b = x[5:], y[5:]
    if coefficient == "spearman":
        a, b = scipy.stats.rankdata(a), scipy.stats.rankdata(b)
    # All three are sums over pairs of products of differences (Kendall: of their signs).
    da, db = a[:, None] - a, b[:, None] - b
    if coefficient in ("kendall", "kendall_c"):
        da, db = np.sign(da), np.sign(db)
    expected = np.sum(da * db) / np.sqrt(np.sum(da**2) * np.sum(db**2))
    if coefficient == "kendall_c":
        fewest = min(len(set(a)), len(set(b)))
        expected = np.sum(da * db) / (len(a) ** 2 * (fewest - 1) / fewest)
    assert EVERY_COEFFICIENT[coefficient](x, y) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("coefficient", EVERY_COEFFICIENT)
@checked
@given(pair=two_matrices())
def test_levels_equal_scipy(coefficient, pair):
    metric, human = pair
    present = np.isfinite(metric) & np.isfinite(human)
    missing = np.sum(np.isfinite(metric)) + np.sum(np.isfinite(human)) - 2 * np.sum(present)

    found = correlate(metric, human, "global", coefficient)
    value = by_scipy(metric.ravel(), human.ravel(), coefficient)[0]
    assert found.value == pytest.approx(value, abs=1e-12, nan_ok=True)
    assert (found.n, found.n_undefined, found.n_missing) == (np.sum(present), 0, missing)

    documents = [by_scipy(x, y, coefficient)[0] for x, y in zip(metric.T, human.T, strict=True)]
    defined = [value for value in documents if not np.isnan(value)]
    found = correlate(metric, human, "document", coefficient)
    expected = np.mean(defined) if defined else NAN
    assert found.value == pytest.approx(expected, abs=1e-12, nan_ok=True)
    assert (found.n, found.n_undefined) == (len(defined), len(documents) - len(defined))
    assert found.n_missing == missing

    kept = [(x[b], y[b]) for x, y, b in zip(metric, human, present, strict=True) if b.any()]
    # Rounded, as ties of means must not hang on the last bit.
    means = np.round([[np.mean(x), np.mean(y)] for x, y in kept], 14).reshape(-1, 2)
    found = correlate(metric, human, "system", coefficient)
    value = by_scipy(*means.T, coefficient)[0]
    assert found.value == pytest.approx(value, abs=1e-11, nan_ok=True)
    assert (found.n, found.n_undefined, found.n_missing) == (len(kept), 0, missing)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("coefficient", EVERY_COEFFICIENT)
@checked
@given(pair=two_matrices(), factor=st.floats(1e-3, 1e3), seed=st.integers(0, 99))
def test_invariances(level, coefficient, pair, factor, seed):
    metric, human = pair
    found = correlate(metric, human, level, coefficient)
    rng = np.random.default_rng(seed)
    systems, documents = rng.permutation(len(metric)), rng.permutation(len(metric.T))
    order = np.ix_(systems, documents)
    same = [
        correlate(metric[order], human[order], level, coefficient),
        correlate(human, metric, level, coefficient),
        correlate(metric * factor, human, level, coefficient),
    ]
    for other in same:
        assert other == pytest.approx(found, abs=1e-12, nan_ok=True)
    negated = correlate(-metric, human, level, coefficient)
    assert negated == pytest.approx(found._replace(value=-found.value), abs=1e-12, nan_ok=True)
    itself = correlate(metric, metric, level, coefficient)
    assert np.isnan(itself.value) or 0 < itself.value <= 1
    if coefficient != "kendall_c":  # which reaches 1 only with values equally frequent
        assert np.isnan(itself.value) or itself.value == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("coefficient", EVERY_COEFFICIENT)
def test_undefined_is_nan_and_counted(coefficient):
    one_system, one_document = np.array([[1.0, 2.0, 3.0]]), np.array([[1.0], [2.0], [3.0]])
    found = correlate(one_system, one_system, "document", coefficient)
    assert found == pytest.approx((NAN, 0, 3, 0), nan_ok=True)
    found = correlate(one_system, one_system, "system", coefficient)
    assert found == pytest.approx((NAN, 1, 0, 0), nan_ok=True)
    assert correlate(one_system, one_system, "global", coefficient).value == pytest.approx(1)
    for level in LEVELS:
        assert correlate(one_document, one_document, level, coefficient).value == pytest.approx(1)
        constant = correlate(np.full((3, 1), 0.1), one_document, level, coefficient)
        assert np.isnan(constant.value)
        nothing = correlate(np.full((3, 2), NAN), np.ones((3, 2)), level, coefficient)
        assert np.isnan(nothing.value)
        assert (nothing.n, nothing.n_missing) == (0, 6)
    assert correlate(one_document, one_document, "document", coefficient).n == 1


@pytest.mark.parametrize("coefficient", EVERY_COEFFICIENT)
@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
def test_no_texts(coefficient, shape):
    for level in LEVELS:
        found = correlate(np.empty(shape), np.empty(shape), level, coefficient)
        assert np.isnan(found.value)
        assert found.n == 0
        assert found.n_undefined == (shape[1] if level == "document" else 0)


def test_constant_means_a_spread_of_rounding():
    # The mean of nine .1 is not .1 to the last bit.
    assert np.isnan(pearson([0.1] * 9, range(9)))
    assert pearson([1.0, 1.0 + 1e-9, 1.0], [1, 2, 3]) == pytest.approx(0)
    assert pearson([0.0, 1e-200, 2e-200], [1e200, 2e200, 3e200]) == pytest.approx(1)


def test_infinity_is_missing():
    found = correlate([[-np.inf, 1.0, 2.0, 3.0]], [[5.0, 1.0, 2.0, 3.0]], "global", "spearman")
    assert found[:4] == (pytest.approx(1), 3, 0, 1)


def test_system_means_skip_gaps_pairwise_and_tie():
    metric = np.array([[0.7, 0.1, NAN], [0.4, 0.4, 9.0], [0.9, NAN, 0.9]])
    human = np.array([[1.0, 1.0, 7.0], [2.0, 2.0, NAN], [3.0, 7.0, 3.0]])
    assert (0.7 + 0.1) / 2 != (0.4 + 0.4) / 2  # to the last bit
    x, y = system_means(metric, human, np.ones((1, 3)))
    assert x[0] == pytest.approx([0.4, 0.4, 0.9], abs=1e-15)
    assert x[0, 0] == x[0, 1]
    assert y[0].tolist() == [1, 2, 3]
    # Three pairs, one tied in the metric, two concordant: 2 / sqrt(2 * 3).
    found = correlate(metric, human, "system", "kendall")
    assert found.value == pytest.approx(2 / np.sqrt(6))
    assert found.n_missing == 3
    weights = np.array([[0.0, 3.0, 1.0]])
    x, y = system_means(metric, human, weights)
    assert x[0] == pytest.approx([0.1, 0.4, 0.9])
    assert np.isnan(system_means(metric, human, np.array([[0.0, 0.0, 1.0]]))[0][0, :2]).all()


def test_tied_chains_and_gaps():
    values = np.array([[3.0, NAN, 1.0, 1.0 + 1e-13, 2.0], [NAN] * 5])
    found = tie_near(values, tolerance=1e-12)
    assert found[0, 2] == found[0, 3]
    assert found[0, [0, 2, 4]].tolist() == [3, 1, 2]
    assert np.isnan(found[0, 1])
    assert np.isnan(found[1]).all()


@checked
@given(st.integers(0, 10**6))
def test_weighted_sums_are_those_of_long_arithmetic(seed):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(3, 20)) * 10.0 ** rng.integers(-30, 30, (3, 1))
    weights = rng.integers(0, 5, (4, 20)).astype(float)
    found = weighted_sums(scores, weights)
    for r in range(4):
        for k in range(3):
            exact = sum(
                (int(w) * x.as_integer_ratio()[0]) / x.as_integer_ratio()[1]
                for w, x in zip(weights[r], scores[k].tolist(), strict=True)
            )
            assert found[r, k] == pytest.approx(exact, abs=1e-14 * np.max(np.abs(scores[k])) * 20)
    order = rng.permutation(20)
    assert np.array_equal(weighted_sums(scores[:, order], weights[:, order]), found)


def test_shapes_must_match():
    with pytest.raises(ValueError, match="want one shape"):
        correlate([[1.0, 2.0]], [[1.0], [2.0]], "global", "pearson")
    with pytest.raises(ValueError, match="want one shape"):
        correlate([1.0, 2.0], [1.0, 2.0], "global", "pearson")


@pytest.mark.parametrize("coefficient", EVERY_COEFFICIENT)
def test_blocks_change_nothing(coefficient, monkeypatch):
    rng = np.random.default_rng(5)
    x, y = rng.integers(0, 4, (2, 30, 8)).astype(float)
    whole = EVERY_COEFFICIENT[coefficient](x, y)
    monkeypatch.setattr(arithmetic.blocks, "__kwdefaults__", {"numbers": 100})
    assert np.array_equal(EVERY_COEFFICIENT[coefficient](x, y), whole, equal_nan=True)


def test_a_hundred_thousand_documents():
    rng = np.random.default_rng(2)
    metric = rng.integers(0, 9, (3, 100_000)).astype(float)
    human = metric + rng.integers(0, 9, metric.shape)
    # Cov = Var(U) and Var = 2 Var(U), so r is near sqrt(1/2) for all items.
    assert correlate(metric, human, "global", "pearson").value == pytest.approx(0.7071, abs=0.01)
    found = correlate(metric, human, "document", "kendall")
    assert found.n + found.n_undefined == 100_000
    assert found.n_undefined > 0
    assert correlate(metric, human, "system", "spearman").n == 3

"""Agreement of raters: by hand, published, by other packages, and resamples written out."""

from functools import partial
from statistics import correlation

import krippendorff
import numpy as np
import pandas as pd
import pingouin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from sklearn.metrics import cohen_kappa_score, f1_score
from statsmodels.stats import inter_rater

from metassay.statistics import agreement as coefficients
from metassay.statistics.agreement import (
    COUNT_COEFFICIENTS,
    agreement,
    agreement_interval,
    count_agreement,
    mean_of_others,
)
from metassay.statistics.correlation import WEIGHTED
from tests.support.statistics import NAN, checked

SCALES, DISTANCES = ("nominal", "ordinal", "interval"), ("none", "linear", "quadratic")
# Shrout and Fleiss 1979, table 2: four judges, six targets, and their table 4.
TARGETS = [
    [9, 6, 8, 7, 10, 6],
    [2, 1, 4, 1, 5, 2],
    [5, 3, 6, 2, 6, 4],
    [8, 2, 8, 6, 9, 7],
]
PRINTED = {
    "icc1": 0.17,
    "icc2": 0.29,
    "icc3": 0.71,
    "icc1k": 0.44,
    "icc2k": 0.62,
    "icc3k": 0.91,
}
# Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, section C: 4 observers,
# 12 units.
OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
    [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
]
TABLES = st.tuples(st.integers(1, 4), st.integers(0, 7)).flatmap(
    lambda shape: arrays(
        float, shape, elements=st.sampled_from([NAN, 0.0, 1.0, 2.0, 5.0])
    )
)


def of_pairs(pair, weights, name):
    return WEIGHTED[name](*pair, np.arange(pair.shape[1]), weights)


PERCENT, FLEISS = coefficients.share_within, coefficients.fleiss_kappa
KAPPA = {d: partial(coefficients.cohen_kappa, distance=d) for d in DISTANCES}
ALPHA = {s: partial(coefficients.krippendorff_alpha, scale=s) for s in SCALES}
ICC = {kind: partial(coefficients.icc, kind=kind) for kind in PRINTED}
OF_TWO = {
    "percent": PERCENT,
    "f1": partial(PERCENT, tolerance=1.0),
    **KAPPA,
    **{name: partial(of_pairs, name=name) for name in ("spearman", "kendall")},
}
EVERY = OF_TWO | {"fleiss": FLEISS} | ALPHA | ICC


def icc(ratings, kind):
    return agreement(ratings, ICC[kind], fewest=len(ratings))


def test_by_hand():
    a = [1, 1, 0, 0, 1, NAN, 1, NAN]
    b = [1, 0, 0, 0, 1, 1, NAN, NAN]
    # Both rated items 0 to 4: 4 of 5 alike. Chance: 3/5 * 2/5 of ones, 2/5 * 3/5 of
    # zeros = 12/25.
    assert agreement((a, b), PERCENT) == (pytest.approx(0.8), 5, 2)
    assert agreement((a, b), KAPPA["none"]) == (
        pytest.approx((0.8 - 0.48) / (1 - 0.48)),
        5,
        2,
    )
    # Alpha: 10 ratings, 5 ones and 5 zeros. Observed disagreement 2 of 10; expected
    # 2 * 5 * 5 / (10 * 9) = 5/9. 1 - .2 / (5/9) = .64. With two values all scales are one.
    for alpha in ALPHA.values():
        assert agreement([a, b], alpha) == (pytest.approx(0.64), 5, 2)
    # Item 0: 1 1 1 (all 3 pairs agree), item 1: 1 1 0 (1 of 3), item 2: 0 0 (1 of 1),
    # item 3 one.
    ratings = [[1, 1, 0, 1], [1, 1, 0, NAN], [1, 0, NAN, NAN]]
    # Observed (1 + 1/3 + 1) / 3 = 7/9. Shares of 1: 1, 2/3, 0, mean 5/9; chance 25/81 +
    # 16/81.
    assert agreement(ratings, FLEISS) == (
        pytest.approx((7 / 9 - 41 / 81) / (1 - 41 / 81)),
        3,
        1,
    )
    # Of three items that both counted, one is equal, two within 1, all within 4.
    counts = [3, 0, 2, NAN], [4, 4, 2, 5]
    for tolerance, share in {0: 1 / 3, 1: 2 / 3, 2: 2 / 3, 4: 1}.items():
        result = agreement(counts, partial(PERCENT, tolerance=tolerance))
        assert result == (pytest.approx(share), 3, 1)
    exact = f1_score(counts[0][:3], counts[1][:3], average="micro")
    assert agreement(counts, PERCENT).value == pytest.approx(exact)
    ratings = np.array([[1.0, 2.0, NAN], [3.0, NAN, NAN], [5.0, 4.0, 2.0]])
    assert mean_of_others(ratings, 0) == pytest.approx([4, 4, 2])
    assert mean_of_others(ratings, 2) == pytest.approx([2, 2, NAN], nan_ok=True)


def test_published_values():
    for kind, value in PRINTED.items():
        assert icc(TARGETS, kind) == (pytest.approx(value, abs=5e-3), 6, 0)
    for scale, value in zip(SCALES, (0.743, 0.815, 0.849), strict=True):
        assert agreement(OBSERVERS, ALPHA[scale]) == (
            pytest.approx(value, abs=5e-4),
            11,
            1,
        )


@pytest.mark.parametrize("distance", DISTANCES)
@checked
@given(seed=st.integers(0, 10**6))
def test_kappas_equal_scikit_learn_and_statsmodels(distance, seed):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, rng.integers(2, 5), (2, rng.integers(2, 12))).astype(float)
    if np.unique([a, b]).size > 1:
        weights = None if distance == "none" else distance
        expected = cohen_kappa_score(a, b, weights=weights, labels=[0, 1, 2, 3, 4])
        for pair in ((a, b), (b, a), (7 - 3 * a, 7 - 3 * b)):
            result = agreement(pair, KAPPA[distance])
            assert result.value == pytest.approx(expected, abs=1e-12)
    ratings = rng.integers(0, 3, (rng.integers(2, 5), rng.integers(2, 9))).astype(float)
    if np.unique(ratings).size > 1:
        expected = inter_rater.fleiss_kappa(inter_rater.aggregate_raters(ratings.T)[0])
        assert agreement(ratings, FLEISS).value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("scale", SCALES)
@checked
@given(ratings=TABLES)
def test_alpha_equals_the_package_or_is_undefined(scale, ratings):
    result = agreement(ratings, ALPHA[scale])
    raters = np.sum(~np.isnan(ratings), axis=0)
    assert (result.n, result.n_missing) == (np.sum(raters >= 2), np.sum(raters == 1))
    pairable = ratings[:, raters >= 2]
    if np.unique(pairable[~np.isnan(pairable)]).size < 2:
        assert np.isnan(result.value)
    else:
        expected = krippendorff.alpha(pairable, level_of_measurement=scale)
        assert result.value == pytest.approx(expected, abs=1e-12)


# inside pingouin
@pytest.mark.filterwarnings("ignore:The inplace keyword:DeprecationWarning")
@settings(deadline=None, derandomize=True, max_examples=8)
@given(seed=st.integers(0, 10**6))
def test_icc_equals_pingouin(seed):
    rng = np.random.default_rng(seed)
    k, n = rng.integers(2, 5), rng.integers(3, 9)
    ratings = rng.normal(size=n) + rng.normal(size=(k, n))
    rows = [(r, i, ratings[r, i]) for r in range(k) for i in range(n)]
    frame = pd.DataFrame(rows, columns=["rater", "item", "value"])
    theirs = pingouin.intraclass_corr(
        frame, targets="item", raters="rater", ratings="value"
    )
    gappy = np.column_stack((ratings, [NAN] + [1.0] * (k - 1)))
    for kind, expected in zip(PRINTED, theirs["ICC"], strict=True):
        assert icc(ratings * 3 - 5, kind).value == pytest.approx(expected, abs=1e-9)
        assert icc(gappy, kind) == (pytest.approx(expected, abs=1e-9), n, 1)


def test_undefined():
    same = [3.0, 3.0, 3.0]
    for of in (*KAPPA.values(), *ALPHA.values(), FLEISS):
        assert agreement((same, same), of) == pytest.approx((NAN, 3, 0), nan_ok=True)
    assert agreement((same, same), PERCENT) == (1, 3, 0)
    assert np.isnan(
        [icc(r, "icc2").value for r in (np.full((3, 4), 2.0), [[1.0], [2.0]])]
    ).all()
    # Two constants that differ agree no better than chance: observed 0, by chance 0.
    for of in (PERCENT, KAPPA["none"]):
        assert agreement(([1.0, 1.0], [2.0, 2.0]), of) == (0, 2, 0)
        assert agreement(([1.0, NAN], [NAN, 2.0]), of) == pytest.approx(
            (NAN, 0, 2), nan_ok=True
        )
    # One rater is .2 above the other on every item: rounding alone is left between the
    # items.
    ratings = [[0.1] * 7, [0.3] * 7]
    assert np.isnan([icc(ratings, "icc3").value, icc(ratings, "icc3k").value]).all()
    # Within 2 * .1**2 of each item, between nothing: (0 - w) / (0 + w).
    assert icc(ratings, "icc1").value == pytest.approx(-1)
    for ratings in (
        np.empty((0, 0)),
        np.empty((2, 0)),
        [[1.0, 2.0]],
        [[1.0, NAN], [NAN, 2.0]],
    ):
        for of in (FLEISS, *ALPHA.values(), *ICC.values()):
            missing = np.sum(np.isfinite(ratings))
            assert agreement(ratings, of) == pytest.approx(
                (NAN, 0, missing), nan_ok=True
            )
    with pytest.raises(ValueError, match="raters x items"):
        agreement([1.0, 2.0], FLEISS)
    with pytest.raises(ValueError, match="inhomogeneous"):
        agreement(([1], [1, 2]), PERCENT)


def tails(n: float, confidence: float = 0.9) -> tuple[float, float]:
    """The quantiles of a bootstrap of n things that are as far out as Student's t is."""
    reach = stats.t(n - 1).ppf((1 + confidence) / 2) * np.sqrt(n / (n - 1))
    return stats.norm.sf(reach), stats.norm.cdf(reach)


@pytest.mark.parametrize("scale", ["two", "five", "continuous"])
@pytest.mark.parametrize("name", EVERY)
def test_intervals_are_those_of_resamples_with_items_repeated(name, scale, monkeypatch):
    rng, of = np.random.default_rng(len(name)), EVERY[name]
    ratings = rng.normal(size=40) + rng.normal(size=(2 if name in OF_TWO else 3, 40))
    if scale != "continuous":
        cuts = {"two": [0.5], "five": [-1.5, -0.5, 0.5, 1.5]}[scale]
        ratings = np.digitize(ratings, cuts) * 0.1
    if name not in (*OF_TWO, *ICC):
        ratings[rng.integers(3, size=15), np.arange(15)] = NAN
    how = {"n": 101, "confidence": 0.9}
    result, in_blocks = [], []
    for results, chunk in ((result, coefficients.CHUNK), (in_blocks, 150)):
        monkeypatch.setattr(coefficients, "CHUNK", chunk)
        rng = np.random.default_rng(5)
        results.extend(agreement_interval(ratings, of, np.arange(40), **how, rng=rng))
    drawn = np.random.default_rng(5).integers(40, size=(101, 40))
    values = [agreement(ratings[:, columns], of).value for columns in drawn]
    assert result[:2] == pytest.approx(np.nanquantile(values, tails(40)), abs=1e-9)
    assert result[2] == np.count_nonzero(~np.isnan(values))
    assert in_blocks == result


def test_intervals_that_are_known():
    # A share's interval is the normal one: sd sqrt(p (1 - p) / n).
    rng = np.random.default_rng(1)
    truth = rng.integers(1, 6, 150)
    ratings = np.clip(truth + rng.integers(-1, 2, (2, 150)), 1, 5).astype(float)
    interval = partial(agreement_interval, confidence=0.9, rng=rng)
    result = interval(ratings, PERCENT, np.arange(150), n=40_000)
    share = agreement(ratings, PERCENT).value
    reach = 1.645 * np.sqrt(share * (1 - share) / 150)
    assert result[:2] == pytest.approx((share - reach, share + reach), abs=0.01)
    rare = np.array([[1.0, 1, 1, 1, 2], [1, 1, 1, 1, 1]])
    result = interval(rare, KAPPA["none"], np.arange(5), n=500)
    # The only 2 is drawn in 1 - .8**5 = .67 of the resamples.
    assert result.n_defined / 500 == pytest.approx(0.67, abs=0.07)
    assert result.n_defined + result.n_undefined == 500
    for ratings in (np.ones((2, 9)), np.empty((2, 0))):
        result = interval(ratings, KAPPA["none"], np.arange(ratings.shape[1]), n=50)
        assert result == pytest.approx((NAN, NAN, 0, 50), nan_ok=True)


def test_items_of_a_document_are_drawn_together():
    """Raters differ by document: 15 documents of 8 claims; a slow loop, and how often alpha is in.

    The true alpha is that of very many documents.
    """
    of, rng, unit = (
        ALPHA["nominal"],
        np.random.default_rng(0),
        np.repeat(np.arange(15), 8),
    )

    def ratings(documents: int):
        hard = np.repeat(rng.random(documents) < 0.4, 8)
        truth = rng.random(8 * documents) < 0.5
        turned = rng.random((2, 8 * documents)) < np.where(hard, 0.4, 0.02)
        return (truth ^ turned).astype(float)

    sample, how = ratings(15), {"n": 200, "confidence": 0.9}
    result = agreement_interval(sample, of, unit, **how, rng=np.random.default_rng(5))
    drawn = np.random.default_rng(5).integers(15, size=(200, 15))
    every = (
        sample[:, np.concatenate([np.flatnonzero(unit == d) for d in row])]
        for row in drawn
    )
    values = [agreement(some, of).value for some in every]
    assert result[:2] == pytest.approx(np.quantile(values, tails(15)), abs=1e-9)
    true, covered = agreement(ratings(20_000), of).value, {"document": 0, "item": 0}
    for _ in range(200):
        sample = ratings(15)
        for name, units in (("document", unit), ("item", np.arange(120))):
            low, high, *_ = agreement_interval(sample, of, units, **how, rng=rng)
            covered[name] += low <= true <= high
    assert covered["item"] < 150  # 90 % were promised
    assert covered["document"] >= 170


A, B = [3, 0, 1, 2, 5, 4, 0, 2], [3, 1, 1, 4, 5, 2, 0, 3]


def of_counts(a, b):
    n = len(a)
    chance = sum(a.count(value) * b.count(value) for value in set(a)) / n**2
    near = [
        sum(abs(x - y) <= t for x, y in zip(a, b, strict=True)) / n for t in (0, 1, 2)
    ]
    return [(near[0] - chance) / (1 - chance), *near, correlation(a, b)]


def test_counts_are_those_of_documents_with_their_texts_written_out():
    """The worked example, and four documents of two texts each, drawn 0 to 3 times."""
    unit, ratings = np.repeat(np.arange(4), 2), np.array([A, B], float)
    weights = np.array([[1, 1, 1, 1], [2, 0, 1, 1], [0, 3, 1, 0], [1, 1, 0, 2]], float)
    result = count_agreement(ratings, unit, weights)
    assert len(COUNT_COEFFICIENTS) == len(result)
    assert result[:, 0].tolist() == pytest.approx(
        [0.407407, 0.5, 0.75, 1, 0.7797], abs=5e-7
    )
    for place, drawn in enumerate(weights):
        items = [i for i in range(8) for _ in range(int(drawn[unit[i]]))]
        expected = of_counts([A[i] for i in items], [B[i] for i in items])
        assert result[:, place].tolist() == pytest.approx(expected, abs=1e-12)
    constant = count_agreement(np.zeros((2, 4)), np.arange(4), np.ones((1, 4)))[:, 0]
    np.testing.assert_array_equal(constant, [NAN, 1, 1, 1, NAN])

from functools import partial

import numpy as np
import pandas as pd
import pingouin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import f1_score
from statsmodels.stats import inter_rater

from metassay.statistics import agreement as coefficients
from metassay.statistics.agreement import agreement, agreement_interval, mean_of_others
from metassay.statistics.correlation import EVERY_COEFFICIENT, WEIGHTED
from tests.support.statistics import krippendorff_alpha, percent

NAN = np.nan
# Shrout and Fleiss 1979, table 2: four judges, six targets, and their table 4.
TARGETS = np.array(
    [[9, 6, 8, 7, 10, 6], [2, 1, 4, 1, 5, 2], [5, 3, 6, 2, 6, 4], [8, 2, 8, 6, 9, 7]]
)
PRINTED = {"icc1": 0.17, "icc2": 0.29, "icc3": 0.71, "icc1k": 0.44, "icc2k": 0.62, "icc3k": 0.91}
checked = settings(deadline=None, derandomize=True, max_examples=30)


def count_f1(a, b, tolerance):
    return agreement((a, b), partial(coefficients.share_within, tolerance=tolerance))


def cohen_kappa(a, b, weights):
    return agreement((a, b), partial(coefficients.cohen_kappa, distance=weights))


def fleiss_kappa(ratings):
    return agreement(ratings, coefficients.fleiss_kappa)


def icc(ratings, kind):
    return agreement(ratings, partial(coefficients.icc, kind=kind), fewest=len(ratings))


def test_by_hand():
    # Item 0: 1 1 1 (all 3 pairs agree), item 1: 1 1 0 (1 of 3), item 2: 0 0 (1 of 1), item 3 one.
    ratings = [[1, 1, 0, 1], [1, 1, 0, NAN], [1, 0, NAN, NAN]]
    # Observed (1 + 1/3 + 1) / 3 = 7/9. Shares of 1: 1, 2/3, 0, mean 5/9; chance 25/81 + 16/81.
    expected = (7 / 9 - 41 / 81) / (1 - 41 / 81)
    assert fleiss_kappa(ratings) == (pytest.approx(expected), 3, 1)


def test_counts_by_hand():
    # Of three items that both counted, one is equal, two within 1, all within 4.
    a, b = [3, 0, 2, NAN], [4, 4, 2, 5]
    shares = {0: 1 / 3, 1: 2 / 3, 2: 2 / 3, 4: 1}
    for tolerance, share in shares.items():
        assert count_f1(a, b, tolerance=tolerance) == (pytest.approx(share), 3, 1)
        assert count_f1(b, a, tolerance=tolerance).value == pytest.approx(share)
    exact = f1_score(a[:3], b[:3], average="micro")
    assert count_f1(a, b, tolerance=0).value == pytest.approx(exact)
    assert np.isnan(count_f1([NAN], [0], tolerance=2).value)


@pytest.mark.parametrize("kind", PRINTED)
def test_icc_equals_shrout_and_fleiss(kind):
    assert icc(TARGETS, kind) == (pytest.approx(PRINTED[kind], abs=5e-3), 6, 0)


@pytest.mark.filterwarnings("ignore:The inplace keyword:DeprecationWarning")  # inside pingouin
@settings(deadline=None, derandomize=True, max_examples=8)
@given(seed=st.integers(0, 10**6))
def test_icc_equals_pingouin(seed):
    rng = np.random.default_rng(seed)
    k, n = rng.integers(2, 5), rng.integers(3, 9)
    ratings = rng.normal(size=n) + rng.normal(size=(k, n))
    rows = [(r, i, ratings[r, i]) for r in range(k) for i in range(n)]
    frame = pd.DataFrame(rows, columns=["rater", "item", "value"])
    theirs = pingouin.intraclass_corr(frame, targets="item", raters="rater", ratings="value")
    gappy = np.column_stack((ratings, [NAN] + [1.0] * (k - 1)))
    for kind, expected in zip(PRINTED, theirs["ICC"], strict=True):
        assert icc(ratings, kind).value == pytest.approx(expected, abs=1e-9)
        assert icc(gappy, kind) == (pytest.approx(expected, abs=1e-9), n, 1)
        again = icc(ratings[::-1, rng.permutation(n)] * 3 - 5, kind)
        assert again.value == pytest.approx(expected, abs=1e-9)


@checked
@given(seed=st.integers(0, 10**6))
def test_fleiss_equals_statsmodels(seed):
    rng = np.random.default_rng(seed)
    ratings = rng.integers(0, 3, (rng.integers(2, 5), rng.integers(2, 9))).astype(float)
    if np.unique(ratings).size > 1:
        expected = inter_rater.fleiss_kappa(inter_rater.aggregate_raters(ratings.T)[0])
        assert fleiss_kappa(ratings).value == pytest.approx(expected, abs=1e-12)


def test_mean_of_others_leaves_gaps_out():
    ratings = np.array([[1.0, 2.0, NAN], [3.0, NAN, NAN], [5.0, 4.0, 2.0]])
    assert mean_of_others(ratings, 0) == pytest.approx([4, 4, 2])
    assert mean_of_others(ratings, 2) == pytest.approx([2, 2, NAN], nan_ok=True)


def of_values(coefficient):
    def correlated(pair, weights):
        return WEIGHTED[coefficient](*pair, np.arange(pair.shape[1]), weights)

    return correlated


PAIRWISE = {
    "percent": (percent, lambda *of: coefficients.share_within(*of, 0.0)),
    "f1": (
        lambda a, b: count_f1(a, b, tolerance=1),
        lambda *of: coefficients.share_within(*of, 1.0),
    ),
    **{
        f"kappa_{distance}": (
            partial(cohen_kappa, weights=distance),
            partial(coefficients.cohen_kappa, distance=distance),
        )
        for distance in ("none", "linear", "quadratic")
    },
    **{
        name: (lambda a, b, name=name: EVERY_COEFFICIENT[name](a, b), of_values(name))
        for name in ("spearman", "kendall")
    },
}
OF_ALL = {
    "fleiss": (fleiss_kappa, coefficients.fleiss_kappa),
    **{
        f"alpha_{scale}": (
            partial(krippendorff_alpha, scale=scale),
            partial(coefficients.krippendorff_alpha, scale=scale),
        )
        for scale in ("nominal", "ordinal", "interval")
    },
}
ICC = {kind: (partial(icc, kind=kind), partial(coefficients.icc, kind=kind)) for kind in PRINTED}
SLOWLY = {
    **{name: (lambda r, p=point: p(*r), fast) for name, (point, fast) in PAIRWISE.items()},
    **OF_ALL,
    **ICC,
}


@pytest.mark.parametrize("scale", ["two", "five", "continuous"])
@pytest.mark.parametrize("name", SLOWLY)
def test_intervals_are_those_of_resamples_with_items_repeated(name, scale):
    rng = np.random.default_rng(len(name))
    k, items = (2, 40) if name in PAIRWISE else (3, 40)
    truth = rng.normal(size=items)
    ratings = truth + rng.normal(size=(k, items))
    if scale != "continuous":
        cuts = {"two": [0.5], "five": [-1.5, -0.5, 0.5, 1.5]}[scale]
        ratings = np.digitize(ratings, cuts) * 0.1
    if name in OF_ALL:
        ratings[rng.integers(3, size=15), np.arange(15)] = NAN
    slow, fast = SLOWLY[name]
    found = agreement_interval(
        ratings, fast, np.arange(items), n=101, confidence=0.9, rng=np.random.default_rng(5)
    )
    drawn = np.random.default_rng(5).integers(items, size=(101, items))
    values = [getattr(v := slow(ratings[:, columns]), "value", v) for columns in drawn]
    assert found[:2] == pytest.approx(np.nanquantile(values, tails(items)), abs=1e-9)
    assert found.n_defined == np.count_nonzero(~np.isnan(values))


def test_intervals():
    # A share's interval is the normal one: sd sqrt(p (1 - p) / n).
    rng = np.random.default_rng(1)
    truth = rng.integers(1, 6, 150)
    ratings = np.clip(truth + rng.integers(-1, 2, (2, 150)), 1, 5).astype(float)
    same = PAIRWISE["percent"][1]
    found = agreement_interval(ratings, same, np.arange(150), n=40_000, confidence=0.9, rng=rng)
    share = percent(*ratings).value
    reach = 1.645 * np.sqrt(share * (1 - share) / 150)
    assert found == (
        pytest.approx(share - reach, abs=0.01),
        pytest.approx(share + reach, abs=0.01),
        40_000,
        0,
    )
    rare = np.array([[1.0, 1, 1, 1, 2], [1, 1, 1, 1, 1]])
    kappa = PAIRWISE["kappa_none"][1]
    found = agreement_interval(rare, kappa, np.arange(5), n=500, confidence=0.9, rng=rng)
    # The only 2 is drawn in 1 - .8**5 = .67 of the resamples.
    assert found.n_defined / 500 == pytest.approx(0.67, abs=0.07)
    assert found.n_defined + found.n_undefined == 500
    found = agreement_interval(np.ones((2, 9)), kappa, np.arange(9), n=50, confidence=0.9, rng=rng)
    assert found == pytest.approx((NAN, NAN, 0, 50), nan_ok=True)


def tails(n: float, confidence: float = 0.9) -> tuple[float, float]:
    """The quantiles of a bootstrap of n things that are as far out as Student's t is."""
    reach = stats.t(n - 1).ppf((1 + confidence) / 2) * np.sqrt(n / (n - 1))
    return stats.norm.sf(reach), stats.norm.cdf(reach)


def test_items_of_a_document_are_drawn_together():
    """Raters differ by document: 15 documents of 8 claims; a slow loop, and how often alpha is in.

    The true alpha is that of very many documents.
    """
    of = partial(coefficients.krippendorff_alpha, scale="nominal")

    def ratings(documents: int, rng: np.random.Generator):
        hard = np.repeat(rng.random(documents) < 0.4, 8)
        truth = rng.random(8 * documents) < 0.5
        turned = rng.random((2, 8 * documents)) < np.where(hard, 0.4, 0.02)
        return (truth ^ turned).astype(float)

    rng, unit = np.random.default_rng(0), np.repeat(np.arange(15), 8)
    one = ratings(15, rng)
    asked = {"n": 200, "confidence": 0.9}
    found = agreement_interval(one, of, unit, **asked, rng=np.random.default_rng(5))
    drawn = np.random.default_rng(5).integers(15, size=(200, 15))
    every = (one[:, np.concatenate([np.flatnonzero(unit == at) for at in row])] for row in drawn)
    values = [agreement(some, of).value for some in every]
    assert found[:2] == pytest.approx(np.quantile(values, tails(15)), abs=1e-9)
    true = agreement(ratings(20_000, rng), of).value
    held = {"document": 0, "item": 0}
    for _ in range(200):
        some = ratings(15, rng)
        for name, units in (("document", unit), ("item", np.arange(120))):
            low, high, *_ = agreement_interval(some, of, units, **asked, rng=rng)
            held[name] += low <= true <= high
    assert held["item"] < 150  # 90 % were promised
    assert held["document"] >= 170


def test_blocks_of_resamples_draw_as_one(monkeypatch):
    rng = np.random.default_rng(3)
    ratings = rng.integers(0, 3, (2, 50)).astype(float)
    of = PAIRWISE["kappa_linear"][1]
    found = []
    for held in (1 << 22, 150):
        monkeypatch.setattr(coefficients, "CHUNK", held)
        rng = np.random.default_rng(0)
        found.append(agreement_interval(ratings, of, np.arange(50), n=31, confidence=0.9, rng=rng))
    assert found[0] == found[1]


def test_items_that_do_not_differ_have_no_icc():
    # One rater is .2 above the other on every item: rounding alone is left between the items.
    ratings = [[0.1] * 7, [0.3] * 7]
    assert np.isnan(icc(ratings, "icc3").value)
    assert np.isnan(icc(ratings, "icc3k").value)
    # Within 2 * .1**2 of each item, between nothing: (0 - w) / (0 + w).
    assert icc(ratings, "icc1").value == pytest.approx(-1)


@pytest.mark.parametrize("ratings", [np.empty((0, 0)), np.empty((2, 0)), [[1.0]], [[3.0], [3.0]]])
def test_nothing_to_compare(ratings):
    assert np.isnan(fleiss_kappa(ratings).value)
    for kind in PRINTED:
        assert np.isnan(icc(ratings, kind).value)
    found = agreement_interval(
        *(ratings, ICC["icc1"][1], np.arange(np.shape(ratings)[1])),
        **{"n": 5, "confidence": 0.9, "rng": np.random.default_rng(0)},
    )
    assert np.isnan(found.low)


def test_shapes():
    for of in (fleiss_kappa, lambda r: icc(r, "icc1")):
        with pytest.raises(ValueError, match="raters x items"):
            of([1.0, 2.0])
    with pytest.raises(ValueError, match="inhomogeneous"):
        count_f1([1], [1, 2], tolerance=0)
    assert np.isnan(icc(np.full((3, 4), 2.0), "icc2").value)

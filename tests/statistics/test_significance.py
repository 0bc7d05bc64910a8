import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nlpstats.correlations import williams as nlpstats_williams
from statsmodels.stats.multitest import multipletests

from metassay.statistics.correlation import COEFFICIENTS, LEVELS, correlate
from metassay.statistics.resampling import draw
from metassay.statistics.significance import (
    benjamini_hochberg,
    bootstrap_pair,
    common,
    holm,
    resample_by_document,
    resample_metric,
    williams_of,
    williams_test,
)
from tests.statistics import slow_pairs
from tests.support.statistics import NAN, NLPSTATS, published, three

PUBLISHED = published()


@pytest.mark.parametrize("case", PUBLISHED["williams"])
def test_published_williams(case):
    r12, r13, r23, n = (case[name] for name in ("r12", "r13", "r23", "n"))
    # The published one-sided p is of the direction seen.
    seen, unseen = ("greater", "less") if r12 >= r13 else ("less", "greater")
    t, p = williams_test(r12, r13, r23, n, alternative=seen)
    assert p == pytest.approx(case["one_sided"], abs=1e-12)
    assert np.sign(t) == np.sign(r12 - r13)
    assert williams_test(r12, r13, r23, n, alternative=unseen)[1] == pytest.approx(1 - p)
    assert williams_test(r12, r13, r23, n)[1] == pytest.approx(case["two_sided"], abs=1e-12)
    assert williams_test(r13, r12, r23, n) == pytest.approx((-t, case["two_sided"]))


def test_williams_by_hand():
    # n = 4: |R| = 1 - .36 - .16 - 0 = .48; 2 * 3 / 1 * .48 + .25 * 1 = 3.13; t = .2 sqrt(3 / 3.13).
    # With one degree of freedom P(T > t) = 1/2 - atan(t) / pi.
    t, p = williams_test(0.6, 0.4, 0.0, 4, alternative="greater")
    assert t == pytest.approx(0.2 * np.sqrt(3 / 3.13))
    assert p == pytest.approx(0.5 - np.arctan(t) / np.pi)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_williams_equals_nlpstats(level, coefficient):
    a, b, human = three(np.random.default_rng(1))
    a, b = a + human, b + a + human  # nlpstats drops signs: here there are none to drop
    for alternative in ("two-sided", "greater", "less"):
        found = williams_of(common(a, b, human).of(0), level, coefficient, alternative=alternative)
        expected = nlpstats_williams.williams_test(
            a, b, human, NLPSTATS[level], coefficient, alternative=alternative
        )
        assert found.p == pytest.approx(expected.pvalue, abs=1e-9)


@pytest.mark.parametrize(
    "values", [(NAN, 0.1, 0.2, 9), (0.5, 0.4, 0.3, 3), (0.5, 0.5, 1.0, 9), (0.5, -0.5, -1.0, 9)]
)
def test_williams_undefined(values):
    assert np.isnan(williams_test(*values)).all()


def test_williams_counts_gaps():
    a, b, human = three(np.random.default_rng(2))
    a[0, 0] = b[1, 1] = human[2, 2] = a[3, 3] = b[3, 3] = human[3, 3] = NAN
    found = williams_of(common(a, b, human).of(0), "global", "pearson")
    assert (found.n, found.n_missing) == (90 - 4, 3)
    there = np.isfinite(a + b + human)
    only = [np.where(there, values, NAN) for values in (a, b, human)]
    assert found.difference == pytest.approx(
        correlate(only[0], only[2], "global", "pearson").value
        - correlate(only[1], only[2], "global", "pearson").value
    )


def paired_bootstrap(a, b, human, level, coefficient, *, resample, n, confidence, rng):
    trios = common(a, b, human)
    trio = trios.of(0)
    draws = draw(trio.a.shape, resample=resample, n=n, rng=rng)
    if level == "document":
        (found,) = resample_by_document(trios, coefficient, draws)
    else:
        each = [
            resample_metric(one, trio.human, level, coefficient, draws) for one in (trio.a, trio.b)
        ]
        found = each[0].less(each[1])
    return bootstrap_pair(found, trio, confidence=confidence)


@pytest.mark.parametrize("resample", ["documents", "systems", "both"])
@pytest.mark.parametrize("level", LEVELS)
def test_paired_bootstrap(level, resample):
    a, b, human = three(np.random.default_rng(3))
    a[0, :3] = a[:, 4] = b[:, 5] = 1.0  # two documents in which one of the two tells nothing apart
    how = {"resample": resample, "n": 100, "confidence": 0.9}
    found = paired_bootstrap(a, b, human, level, "spearman", **how, rng=np.random.default_rng(4))
    draws = draw(a.shape, resample=resample, n=100, rng=np.random.default_rng(4))
    values = []
    for systems, documents in zip(draws.systems, draws.documents, strict=True):
        drawn = np.ix_(np.repeat(np.arange(6), systems), np.repeat(np.arange(15), documents))
        matrices = [one[drawn].tolist() for one in (a, b, human)]
        values.append(slow_pairs.difference(*matrices, level, "spearman")[0])
    values = np.array(values)[~np.isnan(values)]
    expected, _ = slow_pairs.difference(a.tolist(), b.tolist(), human.tolist(), level, "spearman")
    assert found.difference == pytest.approx(expected, abs=1e-12)
    assert found[1:3] == pytest.approx(tuple(np.percentile(values, [5, 95])), abs=1e-12)
    side = min(np.sum(values <= 1e-12), np.sum(values >= -1e-12))
    assert found.p == pytest.approx(min(1, 2 * (side + 1) / (values.size + 1)))
    assert found.n_undefined == 100 - values.size
    turned = paired_bootstrap(b, a, human, level, "spearman", **how, rng=np.random.default_rng(4))
    assert turned[:4] == pytest.approx((-found[0], -found[2], -found[1], found[3]), abs=1e-12)


def test_paired_bootstrap_sees_what_is_there_and_not_what_is_not():
    rng = np.random.default_rng(5)
    human = rng.normal(size=(6, 60))
    good, bad = human + 0.3 * rng.normal(size=human.shape), rng.normal(size=human.shape)
    how = {"resample": "documents", "n": 999, "confidence": 0.95, "rng": rng}
    found = paired_bootstrap(good, bad, human, "global", "pearson", **how)
    assert found.p == pytest.approx(0.002)
    assert found.low > 0.5
    same = paired_bootstrap(good, good * 3, human, "global", "pearson", **how)
    assert same[:2] == pytest.approx((0, 0), abs=1e-12)
    # Against a constant the difference is that one's own correlation, which has none.
    nothing = paired_bootstrap(good, human * 0, human, "global", "pearson", **how)
    assert np.isnan(nothing[:4]).all()
    assert nothing.n_undefined == 999


@pytest.mark.parametrize("level", LEVELS)
def test_one_document_has_no_interval(level):
    # The only document drawn again is the same one: its spread of 0 says nothing of others.
    a, b, human = three(np.random.default_rng(6), (5, 1))
    how = {"resample": "documents", "n": 99, "confidence": 0.9, "rng": np.random.default_rng(0)}
    found = paired_bootstrap(a, b, human, level, "pearson", **how)
    assert np.isfinite(found.difference)
    assert np.isnan(found[1:4]).all()
    assert (found.n, found.n_undefined) == (5, 0)
    of_systems = paired_bootstrap(a, b, human, level, "pearson", **how | {"resample": "systems"})
    assert np.isfinite(of_systems[:4]).all()
    # At document level one document with a correlation is one document, whatever else there is.
    more = [np.hstack((scores, np.full((5, 3), 2.0))) for scores in (a, b, human)]
    found = paired_bootstrap(*more, level, "pearson", **how)
    assert np.isnan(found.p) == (level == "document")


@settings(deadline=None, derandomize=True, max_examples=15)
@given(st.lists(st.floats(0, 1) | st.just(NAN), max_size=12))
def test_adjusted_equal_statsmodels(p):
    values = np.array(p, dtype=float)
    there = ~np.isnan(values)
    for adjust, method in ((holm, "holm"), (benjamini_hochberg, "fdr_bh")):
        found = adjust(values)
        assert np.array_equal(np.isnan(found), ~there)
        if there.any():
            expected = multipletests(values[there], method=method)[1]
            assert found[there] == pytest.approx(expected, abs=1e-12)


def test_adjusted_by_hand():
    # Holm: 3 * .01, 2 * .02, then never less: .04. Benjamini-Hochberg: .01 * 3, .02 * 3 / 2, .03.
    assert holm([0.03, 0.01, NAN, 0.02]) == pytest.approx([0.04, 0.03, NAN, 0.04], nan_ok=True)
    found = benjamini_hochberg([0.03, 0.01, NAN, 0.02])
    assert found == pytest.approx([0.03, 0.03, NAN, 0.03], nan_ok=True)
    for wrong in ([1.5], [[0.1]]):
        with pytest.raises(ValueError, match="p values"):
            holm(wrong)

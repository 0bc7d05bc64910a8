"""One metric against another: nlpstats, statsmodels, loops over resamples, and by hand."""

from itertools import product

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from nlpstats.correlations import williams as nlpstats_williams
from nlpstats.correlations.correlations import correlate as by_nlpstats
from nlpstats.correlations.permutation import permutation_test as nlpstats_test
from statsmodels.stats.multitest import multipletests

from metassay.statistics import significance
from metassay.statistics.correlation import (
    COEFFICIENTS,
    EVERY_COEFFICIENT,
    LEVELS,
    correlate,
)
from metassay.statistics.multiple_tests import benjamini_hochberg, holm
from metassay.statistics.resampling import draw
from metassay.statistics.significance import (
    Swaps,
    bootstrap_pair,
    common,
    draw_swaps,
    permutation_test,
    permuted_differences,
    resample_by_document,
    resample_metric,
    williams_of,
    williams_test,
)
from tests.statistics import slow_pairs
from tests.support.statistics import NAN, NLPSTATS, published, three

RESAMPLES = ("systems", "documents", "both")
every_level = pytest.mark.parametrize("level", LEVELS)
every_resample = pytest.mark.parametrize("resample", RESAMPLES)


def rng_of(seed):
    return np.random.default_rng(seed)


def rounded(of):
    # Ties of means must not hang on the last bit, as they do in nlpstats.
    return lambda x, y: of(np.round(x, 10), np.round(y, 10))[0] if len(x) > 1 else NAN


SCIPY = {
    "pearson": rounded(scipy.stats.pearsonr),
    "spearman": rounded(scipy.stats.spearmanr),
    "kendall": rounded(scipy.stats.kendalltau),
    "kendall_c": rounded(lambda x, y: scipy.stats.kendalltau(x, y, variant="c")),
}


@np.errstate(all="ignore")
def paired(a, b, human, of):
    """The mean difference over the documents in which both have a coefficient."""
    gaps = []
    for x, y, z in zip(a.T, b.T, human.T, strict=True):
        both = np.isfinite(x + y + z)
        gaps.append(of(x[both], z[both]) - of(y[both], z[both]))
    return np.nanmean(gaps) if not np.isnan(gaps).all() else NAN


def standard(values):
    return (values - np.nanmean(values)) / np.nanstd(values)


@pytest.mark.filterwarnings(
    "ignore::RuntimeWarning", "ignore:An input array is constant"
)
@every_resample
@pytest.mark.parametrize(
    ("shape", "discrete", "missing"),
    [((7, 12), False, 0.0), ((5, 12), True, 0.1), ((3, 6), True, 0.1)],
)
def test_a_permutation_is_nlpstats(shape, discrete, missing, resample):
    rng = rng_of(sum(shape))
    a, b, human = three(rng, shape, discrete=discrete, missing=missing)
    swaps = draw_swaps(shape, resample=resample, n=4, rng=rng)
    x, y, z = standard(a), standard(b), standard(human)
    for level, (coefficient, of) in product(LEVELS, SCIPY.items()):
        trios = common(a, b, human)
        (values,) = permuted_differences(trios, level, coefficient, swaps, resample)
        expected = []
        for systems, documents in zip(*swaps, strict=True):
            swap = systems[:, None] ^ documents
            swapped = np.where(swap, y, x), np.where(swap, x, y)
            # nlpstats has each metric's mean over its own documents
            if level == "document":
                expected.append(paired(*swapped, z, of))
                continue
            first, second = (
                by_nlpstats(side, z, NLPSTATS[level], of) for side in swapped
            )
            expected.append(first - second)
        assert values == pytest.approx(expected, abs=1e-9, nan_ok=True), (
            level,
            coefficient,
        )


@every_resample
@every_level
def test_p_is_that_of_nlpstats(level, resample):
    rng = rng_of(11)
    a, b, human = three(rng, (5, 5))
    b += rng.normal(size=b.shape)
    np.random.seed(0)
    name = {"documents": "inputs"}.get(resample, resample)
    theirs = nlpstats_test(
        a, b, human, NLPSTATS[level], "pearson", name, n_resamples=100
    ).pvalue
    ours = permutation_test(
        a, b, human, level, "pearson", resample=resample, n=10_000, rng=rng
    )
    assert ours.p == pytest.approx(
        theirs, abs=4 * np.sqrt(theirs * (1 - theirs) / 100) + 0.003
    )


def test_permutations_by_hand():
    # One document, three systems, Kendall; a orders as people, b has the last two
    # exchanged (2/3 less). Swapping systems: 8 permutations, all of which the data's
    # own difference bounds.
    a, b, human = (np.array([row]).T for row in ([1.0, 2, 3], [1.0, 3, 2], [5.0, 6, 7]))
    every = np.array(list(product([False, True], repeat=3)))
    how = "document", "kendall", Swaps(every, np.zeros((8, 1), dtype=bool)), "systems"
    # System 0 has one score in both. Of 1 and 2, a (2, 3), b (3, 2); one swapped gives
    # ties: a (2, 2) and b (3, 3), tau-b 2 / sqrt(6) each; or a (3, 3) and b (2, 2).
    (values,) = permuted_differences(common(a, b, human), *how)
    assert values == pytest.approx([2 / 3, 0, 0, -2 / 3] * 2, abs=1e-12)
    for alternative, p in (("two-sided", 1 / 2), ("greater", 1 / 4), ("less", 1)):
        options = {
            "resample": "systems",
            "n": 4000,
            "rng": rng_of(0),
            "alternative": alternative,
        }
        test = permutation_test(a, b, human, "document", "kendall", **options)
        assert (test.difference, test.p) == (
            pytest.approx(2 / 3),
            pytest.approx(p, abs=0.04),
        )


@pytest.mark.filterwarnings("ignore:An input array is constant")
@every_level
@pytest.mark.parametrize("coefficient", EVERY_COEFFICIENT)
def test_the_difference_is_on_the_cells_of_all_three_and_turns_with_them(
    level, coefficient
):
    a, b, human = three(rng_of(5), (4, 5), discrete=True, missing=0.1)

    def test(x, y, alternative="two-sided"):
        how = {
            "resample": "both",
            "n": 40,
            "rng": rng_of(1),
            "alternative": alternative,
        }
        return permutation_test(x, y, human, level, coefficient, **how)

    result = test(a, b)
    both = np.isfinite(a + b + human)
    only = [np.where(both, values, NAN) for values in (a, b, human)]
    each = [correlate(side, only[2], level, coefficient).value for side in only[:2]]
    expected = (
        paired(*only, SCIPY[coefficient]) if level == "document" else each[0] - each[1]
    )
    assert result.difference == pytest.approx(expected, abs=1e-9, nan_ok=True)
    assert result.n == both.sum()
    assert test(a * 7 + 3, b / 7) == pytest.approx(result, abs=1e-9, nan_ok=True)
    turned = result._replace(difference=-result.difference)
    assert test(b, a) == pytest.approx(turned, abs=1e-9, nan_ok=True)
    assert test(-a, -b, "less").p == pytest.approx(test(a, b, "greater").p, nan_ok=True)
    same = test(a, a)
    assert same[:2] == pytest.approx((0, 1), abs=1e-12)


@every_level
@pytest.mark.parametrize("coefficient", EVERY_COEFFICIENT)
def test_undefined(level, coefficient):
    how = {"resample": "both", "n": 9, "rng": rng_of(5)}
    for shape in ((0, 3), (3, 0), (1, 1)):
        nothing = permutation_test(*[np.ones(shape)] * 3, level, coefficient, **how)
        assert np.isnan(nothing[:2]).all()
        assert nothing.n_undefined == 9
    a, b, human = three(rng_of(5), (3, 4))
    constant = permutation_test(a, b, human * 0 + 0.1, level, coefficient, **how)
    assert np.isnan(constant[:2]).all()
    human[:, 0] = NAN
    result = permutation_test(a, b, human, level, coefficient, **how)
    assert (result.n, result.n_missing) == (9, 3)


@every_resample
def test_every_way_to_a_difference_gives_the_same(monkeypatch, resample):
    """A few permutations at a time, sums that are not trusted, and ranks instead of pairs."""
    trios = common(*three(rng_of(7), (4, 30), discrete=True, missing=0.1))
    swaps = draw_swaps((4, 30), resample=resample, n=64, rng=rng_of(1))

    def every():
        ways = product(LEVELS, ("pearson", "spearman", "kendall"))
        return np.array(
            [permuted_differences(trios, *way, swaps, resample) for way in ways]
        )

    whole = every()
    # three permutations of the documents
    monkeypatch.setattr(significance, "CHUNK", 90)
    monkeypatch.setattr(significance, "ROWS", 8)
    assert np.array_equal(every(), whole, equal_nan=True)
    for name, value in (("CANCELS", 10.0), ("PAIRED_ITEMS", 0)):
        monkeypatch.setattr(significance, name, value)
        assert every() == pytest.approx(whole, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("case", published()["williams"])
def test_published_williams(case):
    r12, r13, r23, n = (case[name] for name in ("r12", "r13", "r23", "n"))
    # The published one-sided p is of the direction seen.
    seen, unseen = ("greater", "less") if r12 >= r13 else ("less", "greater")
    t, p = williams_test(r12, r13, r23, n, alternative=seen)
    assert p == pytest.approx(case["one_sided"], abs=1e-12)
    assert np.sign(t) == np.sign(r12 - r13)
    assert williams_test(r12, r13, r23, n, alternative=unseen)[1] == pytest.approx(
        1 - p
    )
    assert williams_test(r12, r13, r23, n)[1] == pytest.approx(
        case["two_sided"], abs=1e-12
    )
    assert williams_test(r13, r12, r23, n) == pytest.approx((-t, case["two_sided"]))


def test_williams_by_hand():
    # n = 4: |R| = 1 - .36 - .16 - 0 = .48; 2 * 3 / 1 * .48 + .25 * 1 = 3.13; t = .2
    # sqrt(3 / 3.13). With one degree of freedom P(T > t) = 1/2 - atan(t) / pi.
    t, p = williams_test(0.6, 0.4, 0.0, 4, alternative="greater")
    assert t == pytest.approx(0.2 * np.sqrt(3 / 3.13))
    assert p == pytest.approx(0.5 - np.arctan(t) / np.pi)
    for undefined in (
        (NAN, 0.1, 0.2, 9),
        (0.5, 0.4, 0.3, 3),
        (0.5, 0.5, 1, 9),
        (0.5, -0.5, -1, 9),
    ):
        assert np.isnan(williams_test(*undefined)).all()
    a, b, human = three(rng_of(2))
    a[0, 0] = b[1, 1] = human[2, 2] = a[3, 3] = b[3, 3] = human[3, 3] = NAN
    result = williams_of(common(a, b, human).select(0), "global", "pearson")
    assert (result.n, result.n_missing) == (90 - 4, 3)
    both = np.isfinite(a + b + human)
    only = [np.where(both, values, NAN) for values in (a, b, human)]
    first, second = (
        correlate(side, only[2], "global", "pearson").value for side in only[:2]
    )
    assert result.difference == pytest.approx(first - second)


@every_level
@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_williams_equals_nlpstats(level, coefficient):
    a, b, human = three(rng_of(1))
    a, b = a + human, b + a + human  # nlpstats drops signs: here there are none to drop
    for alternative in ("two-sided", "greater", "less"):
        way = {"alternative": alternative}
        ours = williams_of(common(a, b, human).select(0), level, coefficient, **way)
        levels = NLPSTATS[level], coefficient
        expected = nlpstats_williams.williams_test(a, b, human, *levels, **way)
        assert ours.p == pytest.approx(expected.pvalue, abs=1e-9)


def paired_bootstrap(a, b, human, level, coefficient, *, resample, n, confidence, rng):
    trios = common(a, b, human)
    trio = trios.select(0)
    draws = draw(trio.a.shape, resample=resample, n=n, rng=rng)
    if level == "document":
        (result,) = resample_by_document(trios, coefficient, draws)
    else:
        how = trio.human, level, coefficient, draws
        result = resample_metric(trio.a, *how).less(resample_metric(trio.b, *how))
    return bootstrap_pair(result, trio, confidence=confidence)


@every_resample
@every_level
def test_paired_bootstrap(level, resample):
    a, b, human = three(rng_of(3))
    # two documents in which one of the two tells nothing apart
    a[0, :3] = a[:, 4] = b[:, 5] = 1.0
    how = {"resample": resample, "n": 100, "confidence": 0.9}
    result = paired_bootstrap(a, b, human, level, "spearman", **how, rng=rng_of(4))
    draws = draw(a.shape, resample=resample, n=100, rng=rng_of(4))
    values = []
    for systems, documents in zip(draws.systems, draws.documents, strict=True):
        drawn = np.ix_(
            np.repeat(np.arange(6), systems), np.repeat(np.arange(15), documents)
        )
        matrices = [side[drawn].tolist() for side in (a, b, human)]
        values.append(slow_pairs.difference(*matrices, level, "spearman")[0])
    values = np.array(values)[~np.isnan(values)]
    expected, _ = slow_pairs.difference(
        a.tolist(), b.tolist(), human.tolist(), level, "spearman"
    )
    assert result.difference == pytest.approx(expected, abs=1e-12)
    assert result[1:3] == pytest.approx(
        tuple(np.percentile(values, [5, 95])), abs=1e-12
    )
    side = min(np.sum(values <= 1e-12), np.sum(values >= -1e-12))
    assert result.p == pytest.approx(min(1, 2 * (side + 1) / (values.size + 1)))
    assert result.n_undefined == 100 - values.size
    turned = paired_bootstrap(b, a, human, level, "spearman", **how, rng=rng_of(4))
    expected = -result[0], -result[2], -result[1], result[3]
    assert turned[:4] == pytest.approx(expected, abs=1e-12)


def test_paired_bootstrap_sees_what_is_there_and_not_what_is_not():
    rng = rng_of(5)
    human = rng.normal(size=(6, 60))
    good, bad = human + 0.3 * rng.normal(size=human.shape), rng.normal(size=human.shape)
    how = {"resample": "documents", "n": 999, "confidence": 0.95, "rng": rng}
    result = paired_bootstrap(good, bad, human, "global", "pearson", **how)
    assert result.p == pytest.approx(0.002)
    assert result.low > 0.5
    same = paired_bootstrap(good, good * 3, human, "global", "pearson", **how)
    assert same[:2] == pytest.approx((0, 0), abs=1e-12)
    # A constant has no correlation.
    nothing = paired_bootstrap(good, human * 0, human, "global", "pearson", **how)
    assert np.isnan(nothing[:4]).all()
    assert nothing.n_undefined == 999


@every_level
def test_one_document_has_no_interval(level):
    # The only document drawn again is the same: its spread of 0 says nothing of others.
    a, b, human = three(rng_of(6), (5, 1))
    how = {"resample": "documents", "n": 99, "confidence": 0.9, "rng": rng_of(0)}
    result = paired_bootstrap(a, b, human, level, "pearson", **how)
    assert np.isfinite(result.difference)
    assert np.isnan(result[1:4]).all()
    assert (result.n, result.n_undefined) == (5, 0)
    of_systems = paired_bootstrap(
        a, b, human, level, "pearson", **how | {"resample": "systems"}
    )
    assert np.isfinite(of_systems[:4]).all()
    # At document level one document with a correlation is one document, whatever else
    # there is.
    more = [np.hstack((scores, np.full((5, 3), 2.0))) for scores in (a, b, human)]
    result = paired_bootstrap(*more, level, "pearson", **how)
    assert np.isnan(result.p) == (level == "document")


@settings(deadline=None, derandomize=True, max_examples=15)
@given(st.lists(st.floats(0, 1) | st.just(NAN), max_size=12))
def test_adjusted_equal_statsmodels(p):
    values = np.array(p, dtype=float)
    known = ~np.isnan(values)
    for adjust, method in ((holm, "holm"), (benjamini_hochberg, "fdr_bh")):
        expected = values.copy()
        if known.any():
            expected[known] = multipletests(values[known], method=method)[1]
        assert adjust(values) == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_adjusted_by_hand():
    # Holm: 3 * .01, 2 * .02, then never less: .04. Benjamini-Hochberg: .01 * 3, .02 * 3
    # / 2, .03.
    p = [0.03, 0.01, NAN, 0.02]
    assert holm(p) == pytest.approx([0.04, 0.03, NAN, 0.04], nan_ok=True)
    assert benjamini_hochberg(p) == pytest.approx([0.03, 0.03, NAN, 0.03], nan_ok=True)
    for wrong in ([1.5], [[0.1]]):
        with pytest.raises(ValueError, match="p values"):
            holm(wrong)

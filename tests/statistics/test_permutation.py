from itertools import product

import numpy as np
import pytest
import scipy.stats
from nlpstats.correlations.correlations import correlate as by_nlpstats
from nlpstats.correlations.permutation import permutation_test as nlpstats_test

from metassay.statistics import significance as permutation
from metassay.statistics.correlation import EVERY_COEFFICIENT, LEVELS
from metassay.statistics.significance import (
    Swaps,
    common,
    draw_swaps,
    permutation_test,
    permuted_differences,
)
from tests.support.statistics import NAN, NLPSTATS, three

RESAMPLES = ("systems", "documents", "both")


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
        there = np.isfinite(x + y + z)
        gaps.append(of(x[there], z[there]) - of(y[there], z[there]))
    return np.nanmean(gaps) if not np.isnan(gaps).all() else NAN


def standard(values):
    return (values - np.nanmean(values)) / np.nanstd(values)


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore:An input array is constant")
@pytest.mark.parametrize("resample", RESAMPLES)
@pytest.mark.parametrize(
    ("shape", "discrete", "missing"),
    [((7, 12), False, 0.0), ((5, 12), True, 0.1), ((3, 6), True, 0.1)],
)
def test_a_permutation_is_nlpstats(shape, discrete, missing, resample):
    rng = np.random.default_rng(sum(shape))
    a, b, human = three(rng, shape, discrete=discrete, missing=missing)
    swaps = draw_swaps(shape, resample=resample, n=4, rng=rng)
    x, y, z = standard(a), standard(b), standard(human)
    for level in LEVELS:
        for coefficient in EVERY_COEFFICIENT:
            found = permuted_differences(common(a, b, human), level, coefficient, swaps, resample)[
                0
            ]
            expected = []
            for systems, documents in zip(*swaps, strict=True):
                swap = systems[:, None] ^ documents
                of = SCIPY[coefficient], NLPSTATS[level]
                swapped = np.where(swap, y, x), np.where(swap, x, y)
                if level == "document":  # nlpstats has each metric's mean over its own documents
                    expected.append(paired(*swapped, z, of[0]))
                    continue
                each = [by_nlpstats(one, z, of[1], of[0]) for one in swapped]
                expected.append(each[0] - each[1])
            assert found == pytest.approx(expected, abs=1e-9, nan_ok=True), (level, coefficient)


@pytest.mark.parametrize("resample", RESAMPLES)
@pytest.mark.parametrize("level", LEVELS)
def test_p_is_that_of_nlpstats(level, resample):
    rng = np.random.default_rng(11)
    a, b, human = three(rng, (5, 5))
    b += rng.normal(size=b.shape)
    np.random.seed(0)
    name = {"documents": "inputs"}.get(resample, resample)
    theirs = nlpstats_test(a, b, human, NLPSTATS[level], "pearson", name, n_resamples=100).pvalue
    found = permutation_test(a, b, human, level, "pearson", resample=resample, n=10_000, rng=rng)
    assert found.p == pytest.approx(theirs, abs=4 * np.sqrt(theirs * (1 - theirs) / 100) + 0.003)


def test_by_hand():
    # One document, three systems, Kendall; a orders as people, b has the last two exchanged (2/3
    # less). Swapping systems: 8 permutations, all of which the data's own difference bounds.
    a, b, human = (np.array([row]).T for row in ([1.0, 2, 3], [1.0, 3, 2], [5.0, 6, 7]))
    every = np.array(list(product([False, True], repeat=3)))
    swaps = Swaps(every, np.zeros((8, 1), dtype=bool))
    found = permuted_differences(common(a, b, human), "document", "kendall", swaps, "systems")[0]
    # System 0 has one score in both. Of 1 and 2, a (2, 3), b (3, 2); one swapped gives ties:
    # a (2, 2) and b (3, 3), tau-b 2 / sqrt(6) each; or a (3, 3) and b (2, 2).
    assert found == pytest.approx([2 / 3, 0, 0, -2 / 3] * 2, abs=1e-12)
    rng = np.random.default_rng(0)
    test = permutation_test(a, b, human, "document", "kendall", resample="systems", n=4000, rng=rng)
    assert test.difference == pytest.approx(2 / 3)
    assert test.p == pytest.approx(1 / 2, abs=0.04)
    one_sided = permutation_test(
        a, b, human, "document", "kendall", resample="systems", n=4000, rng=rng,
        alternative="greater",
    )  # fmt: skip
    assert one_sided.p == pytest.approx(1 / 4, abs=0.04)


def test_sums_that_cancel_are_not_trusted(monkeypatch):
    a, b, human = three(np.random.default_rng(4), (4, 6))
    swaps = draw_swaps((4, 6), resample="both", n=30, rng=np.random.default_rng(0))
    trio = common(a, b, human)
    before = [permuted_differences(trio, level, "pearson", swaps, "both") for level in LEVELS]
    monkeypatch.setattr(permutation, "CANCELS", 10.0)
    after = [permuted_differences(trio, level, "pearson", swaps, "both") for level in LEVELS]
    assert np.array(after) == pytest.approx(np.array(before), abs=1e-12)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("coefficient", EVERY_COEFFICIENT)
def test_undefined(level, coefficient):
    rng = np.random.default_rng(5)
    for shape in ((0, 3), (3, 0), (1, 1)):
        nothing = np.ones(shape)
        found = permutation_test(
            nothing, nothing, nothing, level, coefficient, resample="both", n=9, rng=rng
        )
        assert np.isnan(found[:2]).all()
        assert found.n_undefined == 9
    a, b, human = three(rng, (3, 4))
    constant = permutation_test(
        a, b, human * 0 + 0.1, level, coefficient, resample="systems", n=9, rng=rng
    )
    assert np.isnan(constant[:2]).all()
    human[:, 0] = NAN
    found = permutation_test(a, b, human, level, coefficient, resample="systems", n=9, rng=rng)
    assert (found.n, found.n_missing) == (9, 3)


@pytest.mark.parametrize("resample", RESAMPLES)
def test_blocks_of_permutations_change_nothing(monkeypatch, resample):
    a, b, human = three(np.random.default_rng(7), (4, 30), discrete=True, missing=0.1)

    def test(level):
        how = {"resample": resample, "n": 64, "rng": np.random.default_rng(1)}
        return permutation_test(a, b, human, level, "pearson", **how)

    whole = [test(level) for level in LEVELS]
    monkeypatch.setattr(permutation, "CHUNK", 90)  # three permutations of the documents
    monkeypatch.setattr(permutation, "ROWS", 8)
    assert [test(level) for level in LEVELS] == whole


@pytest.mark.parametrize("coefficient", ["spearman", "kendall"])
def test_ranking_each_permutation_gives_what_looking_at_every_pair_gives(monkeypatch, coefficient):
    a, b, human = three(np.random.default_rng(8), (4, 12), discrete=True, missing=0.1)
    trio = common(a, b, human)
    swaps = draw_swaps((4, 12), resample="both", n=30, rng=np.random.default_rng(2))
    before = permuted_differences(trio, "global", coefficient, swaps, "both")
    monkeypatch.setattr(permutation, "PAIRED_ITEMS", 0)
    after = permuted_differences(trio, "global", coefficient, swaps, "both")
    assert before == pytest.approx(after, abs=1e-12)

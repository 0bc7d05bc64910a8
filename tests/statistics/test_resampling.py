import numpy as np
import pytest
import scipy.stats

from metassay.statistics import resampling, weighted
from metassay.statistics.correlation import EVERY_COEFFICIENT, LEVELS, correlate
from metassay.statistics.resampling import Draws, bootstrap, draw, interval, resampled

RESAMPLES = ("documents", "systems", "both")
# systems, documents, share of cells missing
SHAPES = ((4, 12, 0.1), (3, 4, 0.4), (2, 6, 0.1), (1, 7, 0.1), (5, 1, 0.0), (6, 9, 0.0))


def scored(systems, documents, missing, rng):
    """Two matrices with many ties and some gaps."""
    metric = rng.integers(0, 5, (systems, documents)) / 10
    human = np.round(metric + rng.normal(0, 0.3, metric.shape), 1)
    metric[rng.random(metric.shape) < missing] = np.nan
    human[rng.random(metric.shape) < missing] = np.nan
    return metric, human


def each_explicitly(metric, human, level, coefficient, draws):
    """The same draws as matrices, one by one."""
    for systems, documents in zip(draws.systems, draws.documents, strict=True):
        rows = np.repeat(np.arange(len(metric)), systems)
        columns = np.repeat(np.arange(len(metric.T)), documents)
        drawn = np.ix_(rows, columns)
        yield correlate(metric[drawn], human[drawn], level, coefficient).value


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("resample", RESAMPLES)
def test_a_resample_is_the_matrix_drawn(resample, shape):
    rng = np.random.default_rng(sum(shape[:2]))
    metric, human = scored(*shape, rng)
    draws = draw(metric.shape, resample=resample, n=25, rng=rng)
    for level in LEVELS:
        for coefficient in EVERY_COEFFICIENT:
            found = resampled(metric, human, level, coefficient, draws)
            expected = list(each_explicitly(metric, human, level, coefficient, draws))
            assert found == pytest.approx(expected, abs=1e-12, nan_ok=True), (level, coefficient)


def test_by_hand():
    # Two systems, three documents; metric minus its mean agrees with people in documents 0 and 1.
    metric = np.array([[1.0, 1.0, 2.0], [2.0, 2.0, 1.0]])
    human = np.array([[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]])
    # Drawn: 0 twice and 2 once; 2 three times. Per document Kendall is 1, 1, -1.
    draws = Draws(
        "documents", np.ones((2, 2), np.int32), np.array([[2, 0, 1], [0, 0, 3]], np.int32)
    )
    found = resampled(metric, human, "document", "kendall", draws)
    assert found == pytest.approx([1 / 3, -1])
    # Pooled, first draw: 1 1 2 2 2 1 against 1 1 1 2 2 2. 9 pairs differ in people's scores: of
    # the first three (1, 1, 2) with the last three (2, 2, 1) concordant 4, discordant 1, tied 4.
    # In the metric 9 differ too: (4 - 1) / 9.
    assert resampled(metric, human, "global", "kendall", draws)[0] == pytest.approx(1 / 3)
    # System means: metric 4/3 and 5/3, then 2 and 1; people 1 and 2.
    assert resampled(metric, human, "system", "pearson", draws) == pytest.approx([1, -1])


@pytest.mark.parametrize("coefficient", EVERY_COEFFICIENT)
def test_every_way_to_the_value_is_one_value(coefficient, monkeypatch):
    rng = np.random.default_rng(8)
    metric, human = scored(4, 15, 0.1, rng)
    of = {resample: draw(metric.shape, resample=resample, n=300, rng=rng) for resample in RESAMPLES}
    before = {r: resampled(metric, human, "global", coefficient, of[r]) for r in RESAMPLES}
    monkeypatch.setattr(weighted, "PAIRED_ITEMS", 0)  # Kendall by sorting
    monkeypatch.setattr(weighted, "CANCELS", 2.0)  # Pearson from the items
    monkeypatch.setattr(resampling, "HELD", 100)  # a few resamples at a time
    for resample in RESAMPLES:
        after = resampled(metric, human, "global", coefficient, of[resample])
        assert after == pytest.approx(before[resample], abs=1e-12, nan_ok=True)


def test_sums_that_cancel_are_not_trusted():
    # Nearly all of the spread is one document's; without it the rest is far below rounding of sums.
    rng = np.random.default_rng(1)
    metric = rng.normal(size=(3, 8)) * 1e-9
    human = metric + rng.normal(size=(3, 8)) * 1e-9
    metric[:, 0] = human[:, 0] = [1.0, 2.0, 3.0]
    draws = draw(metric.shape, resample="documents", n=40, rng=rng)
    assert (draws.documents[:, 0] == 0).any()
    found = resampled(metric, human, "global", "pearson", draws)
    expected = list(each_explicitly(metric, human, "global", "pearson", draws))
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("coefficient", EVERY_COEFFICIENT)
def test_interval_equals_scipys_bootstrap(coefficient):
    # With one system, documents are plain pairs, which scipy can resample. Ends of 4,000 resamples
    # have a Monte-Carlo error of about .005 here.
    rng = np.random.default_rng(3)
    x = rng.normal(size=60)
    y = x + rng.normal(size=60)
    expected = scipy.stats.bootstrap(
        (x, y),
        lambda a, b, axis: EVERY_COEFFICIENT[coefficient](a, b),
        paired=True,
        vectorized=True,
        n_resamples=4000,
        confidence_level=0.9,
        method="percentile",
        rng=np.random.default_rng(4),
    ).confidence_interval
    found = bootstrap(
        x[None],
        y[None],
        "global",
        coefficient,
        resample="documents",
        n=4000,
        confidence=0.9,
        rng=np.random.default_rng(5),
    )
    assert found[:2] == pytest.approx(tuple(expected), abs=0.02)
    assert found.n_defined == 4000


def test_interval_is_the_percentiles_of_what_is_defined():
    rng = np.random.default_rng(6)
    metric, human = scored(3, 3, 0.0, rng)
    human[:, 0] = 1  # drawn alone, this document is constant
    draws = draw(metric.shape, resample="documents", n=500, rng=rng)
    values = resampled(metric, human, "global", "spearman", draws)
    defined = values[~np.isnan(values)]
    assert 0 < defined.size < 500
    found = interval(metric, human, "global", "spearman", draws=draws, confidence=0.8)
    assert found == (*np.percentile(defined, [10, 90]), defined.size, 500 - defined.size)


def test_no_interval_if_most_resamples_are_undefined():
    # Only document 0 tells the systems apart; of 6 documents it is drawn in 1 - (5/6)**6 = .67 of
    # the resamples, with 8 systems 0 to 7 of which one is drawn in 1 - (7/8)**8 = .66: .44 of both.
    metric = np.zeros((8, 6))
    metric[0, 0] = 1
    human = metric + np.arange(6)
    human[:, 1:] = np.nan
    human[:, 1] = 1
    draws = draw(metric.shape, resample="both", n=1000, rng=np.random.default_rng(0))
    found = interval(metric, human, "global", "kendall", draws=draws, confidence=0.95)
    assert 0 < found.n_defined < 500
    assert np.isnan(found.low)
    assert np.isnan(found.high)


@pytest.mark.parametrize("level", LEVELS)
def test_no_interval_from_one_document_or_system(level):
    rng = np.random.default_rng(9)
    metric, human = rng.normal(size=(2, 5, 3))
    human[:, 1:] = np.nan  # three documents, one rated

    def ends(resample):
        draws = draw(metric.shape, resample=resample, n=200, rng=rng)
        return interval(metric, human, level, "spearman", draws=draws, confidence=0.95)

    assert np.isnan(ends("documents").low)
    assert np.isnan(ends("both").low)
    assert not np.isnan(ends("systems").low)
    metric, human = metric.T[:1], human.T[:1]  # one system, five documents
    assert np.isnan(ends("systems").low)
    assert np.isnan(ends("documents").low) == (level != "global")


@pytest.mark.parametrize("resample", RESAMPLES)
def test_draws(resample):
    draws = draw((3, 70), resample=resample, n=900, rng=np.random.default_rng(0))
    again = draw((3, 70), resample=resample, n=900, rng=np.random.default_rng(0))
    other = draw((3, 70), resample=resample, n=900, rng=np.random.default_rng(1))
    assert np.array_equal(draws.systems, again.systems)
    assert np.array_equal(draws.documents, again.documents)
    for mine, another, drawn in (
        (draws.systems, other.systems, resample != "documents"),
        (draws.documents, other.documents, resample != "systems"),
    ):
        assert np.all(mine.sum(axis=1) == mine.shape[1])
        assert np.array_equal(mine, another) != drawn
        # Each is drawn once on average, with a variance of 1 - 1/size (binomial).
        assert mine.mean(axis=0) == pytest.approx(1, abs=0.15)
        expected = 1 - 1 / mine.shape[1] if drawn else 0
        assert mine.var() == pytest.approx(expected, abs=0.05)


def test_drawing_in_pieces_counts_all(monkeypatch):
    monkeypatch.setattr(resampling, "HELD", 64)
    draws = draw((5, 11), resample="both", n=50, rng=np.random.default_rng(0))
    assert np.all(draws.systems.sum(axis=1) == 5)
    assert np.all(draws.documents.sum(axis=1) == 11)


def test_metrics_share_draws():
    # A metric and the same metric scaled get one interval; negated, the mirrored one.
    rng = np.random.default_rng(2)
    metric, human = scored(4, 20, 0.1, rng)
    draws = draw(metric.shape, resample="both", n=200, rng=rng)
    for level in LEVELS:
        for coefficient in EVERY_COEFFICIENT:
            low, high, *n = interval(metric, human, level, coefficient, draws=draws, confidence=0.9)
            scaled = interval(metric * 7, human, level, coefficient, draws=draws, confidence=0.9)
            negated = interval(-metric, human, level, coefficient, draws=draws, confidence=0.9)
            assert scaled == pytest.approx((low, high, *n), abs=1e-12)
            assert negated == pytest.approx((-high, -low, *n), abs=1e-12)


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
def test_no_texts(shape):
    empty = np.empty(shape)
    for resample in RESAMPLES:
        for level in LEVELS:
            for coefficient in EVERY_COEFFICIENT:
                found = bootstrap(
                    empty,
                    empty,
                    level,
                    coefficient,
                    resample=resample,
                    n=10,
                    confidence=0.95,
                    rng=np.random.default_rng(0),
                )
                assert found == pytest.approx((np.nan, np.nan, 0, 10), nan_ok=True)

import numpy as np
import pytest
import scipy.stats

from metassay.statistics import correlation, resampling
from metassay.statistics.correlation import EVERY_COEFFICIENT, LEVELS, correlate
from metassay.statistics.layout import Layout
from metassay.statistics.resampling import Draws, correlate_resamples, draw, percentiles, varies

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
            found = correlate_resamples(metric, human, level, coefficient, draws)
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
    found = correlate_resamples(metric, human, "document", "kendall", draws)
    assert found == pytest.approx([1 / 3, -1])
    # Pooled, first draw: 1 1 2 2 2 1 against 1 1 1 2 2 2. 9 pairs differ in people's scores: of
    # the first three (1, 1, 2) with the last three (2, 2, 1) concordant 4, discordant 1, tied 4.
    # In the metric 9 differ too: (4 - 1) / 9.
    assert correlate_resamples(metric, human, "global", "kendall", draws)[0] == pytest.approx(1 / 3)
    # System means: metric 4/3 and 5/3, then 2 and 1; people 1 and 2.
    assert correlate_resamples(metric, human, "system", "pearson", draws) == pytest.approx([1, -1])


@pytest.mark.parametrize("coefficient", EVERY_COEFFICIENT)
def test_every_way_to_the_value_is_one_value(coefficient, monkeypatch):
    rng = np.random.default_rng(8)
    metric, human = scored(4, 15, 0.1, rng)
    of = {resample: draw(metric.shape, resample=resample, n=300, rng=rng) for resample in RESAMPLES}
    before = {
        r: correlate_resamples(metric, human, "global", coefficient, of[r]) for r in RESAMPLES
    }
    monkeypatch.setattr(correlation, "PAIRED_ITEMS", 0)  # Kendall by sorting
    monkeypatch.setattr(correlation, "CANCELS", 2.0)  # Pearson from the items
    monkeypatch.setattr(resampling, "CHUNK", 100)  # a few resamples at a time
    for resample in RESAMPLES:
        after = correlate_resamples(metric, human, "global", coefficient, of[resample])
        assert after == pytest.approx(before[resample], abs=1e-12, nan_ok=True)


def test_sums_that_cancel_are_not_trusted():
    # Nearly all of the spread is one document's; without it the rest is far below rounding of sums.
    rng = np.random.default_rng(1)
    metric = rng.normal(size=(3, 8)) * 1e-9
    human = metric + rng.normal(size=(3, 8)) * 1e-9
    metric[:, 0] = human[:, 0] = [1.0, 2.0, 3.0]
    draws = draw(metric.shape, resample="documents", n=40, rng=rng)
    assert (draws.documents[:, 0] == 0).any()
    found = correlate_resamples(metric, human, "global", "pearson", draws)
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
    draws = draw((1, 60), resample="documents", n=4000, rng=np.random.default_rng(5))
    low, high = percentiles(
        correlate_resamples(x[None], y[None], "global", coefficient, draws)[:, None], 0.9
    )
    assert (low[0], high[0]) == pytest.approx(tuple(expected), abs=0.02)


def test_no_interval_if_most_resamples_are_undefined():
    # Only document 0 tells the systems apart; of 6 documents it is drawn in 1 - (5/6)**6 = .67 of
    # the resamples, with 8 systems 0 to 7 of which one is drawn in 1 - (7/8)**8 = .66: .44 of both.
    metric = np.zeros((8, 6))
    metric[0, 0] = 1
    human = metric + np.arange(6)
    human[:, 1:] = np.nan
    human[:, 1] = 1
    draws = draw(metric.shape, resample="both", n=1000, rng=np.random.default_rng(0))
    found = correlate_resamples(metric, human, "global", "kendall", draws)
    assert 0 < np.count_nonzero(~np.isnan(found)) < 500
    assert np.isnan(percentiles(found[:, None], 0.95)).all()


@pytest.mark.parametrize("level", LEVELS)
def test_one_document_or_system_drawn_again_does_not_vary(level):
    rng = np.random.default_rng(9)
    metric, human = rng.normal(size=(2, 5, 3))
    human[:, 1:] = np.nan  # three documents, one rated

    def with_resample(resample):
        draws = draw(metric.shape, resample=resample, n=200, rng=rng)
        return varies(metric, human, level, "spearman", draws)

    assert not with_resample("documents")
    assert not with_resample("both")
    assert with_resample("systems")
    metric, human = metric.T[:1], human.T[:1]  # one system, five documents
    assert not with_resample("systems")
    # One system has no coefficient within documents, nor between systems.
    assert with_resample("documents") == (level != "document")


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
    monkeypatch.setattr(resampling, "CHUNK", 64)
    draws = draw((5, 11), resample="both", n=50, rng=np.random.default_rng(0))
    assert np.all(draws.systems.sum(axis=1) == 5)
    assert np.all(draws.documents.sum(axis=1) == 11)


def test_metrics_share_draws():
    # A metric and the same metric scaled get the same values; negated, the negated ones.
    rng = np.random.default_rng(2)
    metric, human = scored(4, 20, 0.1, rng)
    draws = draw(metric.shape, resample="both", n=200, rng=rng)
    for level in LEVELS:
        for coefficient in EVERY_COEFFICIENT:
            plain, scaled, negated = (
                correlate_resamples(one, human, level, coefficient, draws)
                for one in (metric, metric * 7, -metric)
            )
            assert scaled == pytest.approx(plain, abs=1e-12, nan_ok=True)
            assert negated == pytest.approx(-plain, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
def test_no_texts(shape):
    empty = np.empty(shape)
    for resample in RESAMPLES:
        for level in LEVELS:
            for coefficient in EVERY_COEFFICIENT:
                draws = draw(shape, resample=resample, n=10, rng=np.random.default_rng(0))
                found = correlate_resamples(empty, empty, level, coefficient, draws)
                assert found.shape == (10,)
                assert np.isnan(found).all()


@pytest.mark.parametrize("resample", ["systems", "both"])
@pytest.mark.parametrize("coefficient", EVERY_COEFFICIENT)
def test_families_of_unequal_size_are_drawn_whole(resample, coefficient):
    rng = np.random.default_rng(8)
    human, noise = rng.normal(size=(2, 5, 6))
    layout = Layout(np.zeros(6, dtype=int), np.arange(6), np.array([0, 0, 0, 1, 2]))
    draws = draw((5, 6), resample=resample, n=9, rng=rng, layout=layout)
    assert len(set(draws.systems.sum(axis=1))) > 1
    found = correlate_resamples(human + noise, human, "system", coefficient, draws)
    for value, systems, documents in zip(found, draws.systems, draws.documents, strict=True):
        drawn = np.ix_(np.repeat(np.arange(5), systems), np.repeat(np.arange(6), documents))
        expected = correlate((human + noise)[drawn], human[drawn], "system", coefficient).value
        assert value == pytest.approx(expected, abs=1e-12, nan_ok=True)

import numpy as np
import pytest
import scipy.stats

from metassay.statistics import correlation, resampling
from metassay.statistics.correlation import EVERY_COEFFICIENT, LEVELS, correlate
from metassay.statistics.layout import Layout
from metassay.statistics.resampling import (
    Draws,
    correlate_resamples,
    draw,
    percentiles,
    varies,
)
from tests.support.statistics import NAN

RESAMPLES = ("documents", "systems", "both")
every_coefficient = pytest.mark.parametrize("coefficient", EVERY_COEFFICIENT)
every_resample = pytest.mark.parametrize("resample", RESAMPLES)


def scored(systems, documents, missing, rng):
    """Two matrices with many ties and some gaps."""
    metric = rng.integers(0, 5, (systems, documents)) / 10
    human = np.round(metric + rng.normal(0, 0.3, metric.shape), 1)
    metric[rng.random(metric.shape) < missing] = NAN
    human[rng.random(metric.shape) < missing] = NAN
    return metric, human


def each_explicitly(metric, human, level, coefficient, draws):
    """The same draws as matrices, one by one."""
    for systems, documents in zip(draws.systems, draws.documents, strict=True):
        rows = np.repeat(np.arange(len(metric)), systems)
        drawn = np.ix_(rows, np.repeat(np.arange(len(metric.T)), documents))
        yield correlate(metric[drawn], human[drawn], level, coefficient).value


# systems, documents, share of cells missing
@pytest.mark.parametrize(
    "shape",
    [(4, 12, 0.1), (3, 4, 0.4), (2, 6, 0.1), (1, 7, 0.1), (5, 1, 0.0), (6, 9, 0.0)],
)
@every_resample
def test_a_resample_is_the_matrix_drawn(resample, shape):
    rng = np.random.default_rng(sum(shape[:2]))
    metric, human = scored(*shape, rng)
    draws = draw(metric.shape, resample=resample, n=25, rng=rng)
    for level in LEVELS:
        for coefficient in EVERY_COEFFICIENT:
            values = correlate_resamples(metric, human, level, coefficient, draws)
            expected = list(each_explicitly(metric, human, level, coefficient, draws))
            assert values == pytest.approx(expected, abs=1e-12, nan_ok=True), (
                level,
                coefficient,
            )


def test_by_hand():
    # Two systems, three documents; metric minus its mean agrees with people in
    # documents 0 and 1.
    metric = np.array([[1.0, 1.0, 2.0], [2.0, 2.0, 1.0]])
    human = np.array([[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]])
    # Drawn: 0 twice and 2 once; 2 three times. Per document Kendall is 1, 1, -1.
    documents = np.array([[2, 0, 1], [0, 0, 3]], np.int32)
    draws = Draws("documents", np.ones((2, 2), np.int32), documents)
    values = correlate_resamples(metric, human, "document", "kendall", draws)
    assert values == pytest.approx([1 / 3, -1])
    # Pooled, first draw: 1 1 2 2 2 1 against 1 1 1 2 2 2. 9 pairs differ in people's
    # scores: of the first three (1, 1, 2) with the last three (2, 2, 1) concordant 4,
    # discordant 1, tied 4. In the metric 9 differ too: (4 - 1) / 9.
    assert correlate_resamples(metric, human, "global", "kendall", draws)[
        0
    ] == pytest.approx(1 / 3)
    # System means: metric 4/3 and 5/3, then 2 and 1; people 1 and 2.
    assert correlate_resamples(
        metric, human, "system", "pearson", draws
    ) == pytest.approx([1, -1])


@every_coefficient
@every_resample
def test_every_way_to_the_value_is_the_same_value(coefficient, resample, monkeypatch):
    rng = np.random.default_rng(8)
    metric, human = scored(4, 15, 0.1, rng)
    draws = draw(metric.shape, resample=resample, n=300, rng=rng)
    before = correlate_resamples(metric, human, "global", coefficient, draws)
    monkeypatch.setattr(correlation, "PAIRED_ITEMS", 0)  # Kendall by sorting
    monkeypatch.setattr(correlation, "CANCELS", 2.0)  # Pearson from the items
    monkeypatch.setattr(resampling, "CHUNK", 100)  # a few resamples at a time
    after = correlate_resamples(metric, human, "global", coefficient, draws)
    assert after == pytest.approx(before, abs=1e-12, nan_ok=True)


def test_sums_that_cancel_are_not_trusted():
    # Nearly all of the spread is one document's; without it the rest is far below
    # rounding of sums.
    rng = np.random.default_rng(1)
    metric = rng.normal(size=(3, 8)) * 1e-9
    human = metric + rng.normal(size=(3, 8)) * 1e-9
    metric[:, 0] = human[:, 0] = [1.0, 2.0, 3.0]
    draws = draw(metric.shape, resample="documents", n=40, rng=rng)
    assert (draws.documents[:, 0] == 0).any()
    values = correlate_resamples(metric, human, "global", "pearson", draws)
    expected = list(each_explicitly(metric, human, "global", "pearson", draws))
    assert values == pytest.approx(expected, abs=1e-12)


@every_coefficient
def test_interval_equals_scipys_bootstrap(coefficient):
    # With one system, documents are plain pairs, which scipy can resample. Ends of
    # 4,000 resamples have a Monte-Carlo error of about .005 here.
    rng = np.random.default_rng(3)
    x = rng.normal(size=60)
    y = x + rng.normal(size=60)
    expected = scipy.stats.bootstrap(
        (x, y),
        lambda a, b, axis: EVERY_COEFFICIENT[coefficient](a, b),
        paired=True,
        vectorized=True,
        n_resamples=4000,
        method="percentile",
        confidence_level=0.9,
        rng=np.random.default_rng(4),
    ).confidence_interval
    draws = draw((1, 60), resample="documents", n=4000, rng=np.random.default_rng(5))
    values = correlate_resamples(x[None], y[None], "global", coefficient, draws)
    low, high = percentiles(values[:, None], 0.9)
    assert (low[0], high[0]) == pytest.approx(tuple(expected), abs=0.02)


def test_no_interval_if_most_resamples_are_undefined():
    # Only document 0 tells the systems apart; of 6 documents it is drawn in 1 -
    # (5/6)**6 = .67 of the resamples, with 8 systems 0 to 7 of which one is drawn in 1
    # - (7/8)**8 = .66: .44 of both.
    metric = np.zeros((8, 6))
    metric[0, 0] = 1
    human = metric + np.arange(6)
    human[:, 1:] = NAN
    human[:, 1] = 1
    draws = draw(metric.shape, resample="both", n=1000, rng=np.random.default_rng(0))
    values = correlate_resamples(metric, human, "global", "kendall", draws)
    assert 0 < np.count_nonzero(~np.isnan(values)) < 500
    assert np.isnan(percentiles(values[:, None], 0.95)).all()


@pytest.mark.parametrize("level", LEVELS)
def test_one_document_or_system_drawn_again_does_not_vary(level):
    rng = np.random.default_rng(9)
    metric, human = rng.normal(size=(2, 5, 3))
    human[:, 1:] = NAN  # three documents, one rated
    # One system has no coefficient within documents, nor between systems.
    for sides, expected in (
        ((metric, human), {"documents": False, "both": False, "systems": True}),
        (
            (metric.T[:1], human.T[:1]),
            {"systems": False, "documents": level != "document"},
        ),
    ):
        for resample, varied in expected.items():
            draws = draw(sides[0].shape, resample=resample, n=200, rng=rng)
            assert varies(*sides, level, "spearman", draws) == varied


@every_resample
def test_draws(resample, monkeypatch):
    draws, again, other = (
        draw((3, 70), resample=resample, n=900, rng=np.random.default_rng(seed))
        for seed in (0, 0, 1)
    )
    assert np.array_equal(draws.systems, again.systems)
    assert np.array_equal(draws.documents, again.documents)
    for counts, others, drawn in (
        (draws.systems, other.systems, resample != "documents"),
        (draws.documents, other.documents, resample != "systems"),
    ):
        assert np.all(counts.sum(axis=1) == counts.shape[1])
        assert np.array_equal(counts, others) != drawn
        # Each is drawn once on average, with a variance of 1 - 1/size (binomial).
        assert counts.mean(axis=0) == pytest.approx(1, abs=0.15)
        expected = 1 - 1 / counts.shape[1] if drawn else 0
        assert counts.var() == pytest.approx(expected, abs=0.05)
    monkeypatch.setattr(resampling, "CHUNK", 64)
    draws = draw((5, 11), resample=resample, n=50, rng=np.random.default_rng(0))
    assert np.all(draws.systems.sum(axis=1) == 5)
    assert np.all(draws.documents.sum(axis=1) == 11)


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
@every_resample
def test_no_texts(shape, resample):
    draws = draw(shape, resample=resample, n=10, rng=np.random.default_rng(0))
    for level in LEVELS:
        values = correlate_resamples(
            np.empty(shape), np.empty(shape), level, "kendall", draws
        )
        assert values.shape == (10,)
        assert np.isnan(values).all()


@pytest.mark.parametrize("resample", ["systems", "both"])
@every_coefficient
def test_families_of_unequal_size_are_drawn_whole(resample, coefficient):
    rng = np.random.default_rng(8)
    human, noise = rng.normal(size=(2, 5, 6))
    layout = Layout(np.zeros(6, dtype=int), np.arange(6), np.array([0, 0, 0, 1, 2]))
    draws = draw((5, 6), resample=resample, n=9, rng=rng, layout=layout)
    assert len(set(draws.systems.sum(axis=1))) > 1
    sides = human + noise, human, "system", coefficient, draws
    expected = list(each_explicitly(*sides))
    assert correlate_resamples(*sides) == pytest.approx(
        expected, abs=1e-12, nan_ok=True
    )

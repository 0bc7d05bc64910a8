"""What does not count one by one, in worlds drawn here and by hand."""

import numpy as np
import pytest
from scipy.stats import kruskal

from metassay.statistics.layout import (
    clumps,
    differ_by_group,
    document_means,
    drift_with_order,
    duplicate_items,
    in_blocks,
    near_copies,
)

NAN = np.nan


def rng(seed=0):
    return np.random.default_rng(seed)


def world(draw, shape=(6, 40), n=10):
    """`n` scorers with favourites among systems and documents, and nothing in common."""
    systems, documents = shape
    return [
        draw.normal(size=(systems, 1)) + draw.normal(size=documents) + draw.normal(size=shape)
        for _ in range(n)
    ]


def test_doubles_are_equal_throughout():
    scores = np.stack(world(rng(), (3, 8), 2))
    scores[:, :, 5] = scores[:, :, 2]
    scores[:, 1, 7] = scores[:, 1, 6] = NAN
    scores[:, [0, 2], 7] = scores[:, :, 6][:, [0, 2]]  # missing in both, equal elsewhere
    assert duplicate_items(scores).tolist() == [0, 1, 2, 3, 4, 2, 5, 5]
    scores[0, 0, 5] += 1e-9
    assert duplicate_items(scores).tolist() == [0, 1, 2, 3, 4, 5, 6, 6]
    # Systems are doubles as documents are.
    turned = np.stack(world(rng(), (4, 9), 2))
    turned[:, 3] = turned[:, 1]
    assert duplicate_items(turned.transpose(0, 2, 1)).tolist() == [0, 1, 2, 1]


@pytest.mark.parametrize("shape", [(1, 60), (2, 60), (3, 60)])
def test_coarse_scores_that_meet_by_chance_are_no_doubles(shape):
    luck = rng(1)
    for _ in range(20):
        passes = (luck.random((2, *shape)) < 0.6).astype(float)
        assert np.unique(duplicate_items(passes)).size == 60
        # Nor are texts that every metric gives its best score.
        fine = luck.random((3, *shape))
        fine[:, luck.random(shape) < 0.5] = 1.0
        assert np.unique(duplicate_items(fine)).size == 60


def test_near_copies_are_found_and_others_are_not():
    found, false = 0, 0
    for seed in range(25):
        draw = rng(seed)
        shared = world(draw, (3, 40), 8)
        sides = [np.sqrt(0.9) * one[[0, 0, 1, 2, 2]] + np.sqrt(0.1) * own
                 for one, own in zip(shared, world(draw, (5, 40), 8), strict=True)]  # fmt: skip
        found += near_copies(sides).tolist() == [0, 0, 1, 2, 2]
        false += np.unique(near_copies(world(draw, (8, 40), 8))).size < 8
    assert found >= 23
    assert false == 0
    # Of two systems the one's up is the other's down; five documents say nothing.
    assert near_copies(world(rng(), (2, 40), 3)).tolist() == [0, 1]
    assert near_copies([np.zeros((3, 4))]).tolist() == [0, 1, 2]
    # Systems that share no document have nothing to be compared by.
    apart = np.where(np.eye(3, 30, dtype=bool), 1.0, NAN)
    assert near_copies([apart]).tolist() == [0, 1, 2]


def test_drift_is_seen_in_people_and_a_metric_together():
    draw = rng(3)
    walk = np.cumsum(draw.normal(size=60))
    drifting, still = world(draw, (4, 60), 2)
    assert drift_with_order(walk + drifting, [walk[::-1] + still, still]).tolist() == [True, False]
    assert not drift_with_order(still, [walk + drifting]).any()
    shuffled = draw.permutation(60)
    assert not drift_with_order((walk + drifting)[:, shuffled], [(walk + still)[:, shuffled]]).any()
    false = sum(
        drift_with_order(*_split(world(rng(seed), (4, 40), 21))).any() for seed in range(60)
    )
    assert false <= 2


def _split(sides):
    return sides[0], sides[1:]


def test_blocks_are_contiguous_and_of_four_or_more():
    assert np.bincount(in_blocks(40)).tolist() == [4] * 10
    assert np.bincount(in_blocks(23)).tolist() == [5, 5, 4, 5, 4]
    assert (np.diff(in_blocks(101)) >= 0).all()
    assert np.bincount(in_blocks(1000)).tolist() == [100] * 10
    assert in_blocks(3).tolist() == [0, 0, 0]


@pytest.mark.parametrize("topics", [3, 5, 8])
def test_topics_are_clumps_and_qualities_are_not(topics):
    topic = np.arange(48) % topics
    agree, beyond, false = [], [], []
    for seed in range(8):
        draw = rng(seed)
        noise = world(draw, (6, 48), 20)
        found = clumps([one + draw.normal(size=topics)[topic] for one in noise], draw)
        beyond.append(found.beyond)
        pairs = found.number[:, None] == found.number
        agree.append(np.mean(pairs == (topic[:, None] == topic)))
        # Metrics of one quality go together without any clump.
        quality = noise[0]
        false.append(clumps([quality + 0.5 * one for one in noise], draw).beyond)
        false.append(clumps([(one > 1).astype(float) for one in noise], draw).beyond)
    assert np.median(beyond) > 5
    assert np.median(agree) > 0.85
    assert max(false) < 4


def test_few_or_coarse_scorers_show_no_clumps():
    draw = rng()
    for sides in (world(draw, (4, 40), 2), [np.ones((1, 40))] * 9, world(draw, (3, 8), 9)):
        assert clumps(sides, draw).beyond == 0


def test_document_means_are_less_their_systems_levels():
    side = np.array([[1.0, 3.0, NAN, NAN], [NAN, NAN, 11.0, 13.0], [NAN] * 4])
    assert document_means(side).tolist() == [-1, 1, -1, 1]
    side = np.array([[1.0, NAN]])
    np.testing.assert_array_equal(document_means(side), [0, NAN])


def test_groups_of_names_differ_or_not():
    draw = rng(5)
    group = np.repeat([0, 1, 2], 10)
    (side,) = world(draw, (4, 30), 1)
    assert differ_by_group(side + 3.0 * group, group) < 1e-3
    assert differ_by_group(side, group) > 0.01
    assert differ_by_group(np.ones((2, 30)), group) == 1
    assert differ_by_group(side, np.arange(30)) == 1


def test_groups_of_two_documents_count_and_single_ones_do_not():
    side = rng(3).normal(size=(1, 13))
    pairs = side[0, :12].reshape(6, 2)
    group = np.arange(13) // 2  # the last document is alone
    assert differ_by_group(side, group) == kruskal(*pairs).pvalue

"""What does not count one by one: layouts by hand, and what scores show, in worlds drawn here."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kruskal

from metassay.statistics.layout import (
    Layout,
    blocks_of,
    clumps,
    clumps_of_systems,
    default_layout,
    differ_by_group,
    document_means,
    drift_with_order,
    duplicate_items,
    factorize,
    factorize_by,
    family_means,
    family_sets,
    find_near_copies,
    join_partitions,
    make_blocks,
)
from tests.support.statistics import NAN


def test_plain_layouts_have_one_part_in_which_each_counts_by_itself():
    layout = default_layout((2, 3))
    (part,) = layout.parts(np.zeros((2, 3), dtype=bool))
    values = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(part.select(values), values)
    assert (layout.n_strata, layout.n_families, layout.n_clusters) == (1, 2, 3)
    assert not layout.clustered
    np.testing.assert_array_equal(layout.less_strata(values), values)
    for shape in ((0, 0), (3, 0), (0, 3)):
        layout = default_layout(shape)
        assert (layout.n_families, layout.n_clusters) == shape
        assert len(layout.parts(np.zeros(shape, dtype=bool))) == 1


def test_parts_have_rows_columns_and_numbers_of_their_own():
    layout = Layout(
        stratum=np.array([0, 1, 0, 1]),
        cluster=np.array([0, 1, 2, 1]),
        family=np.array([0, 1, 0]),
    )
    present = np.array([[1, 0, 1, 0], [0, 1, 0, 1], [1, 1, 0, 0]], dtype=bool)
    first, second = layout.parts(present)
    assert (first.rows.tolist(), first.columns.tolist()) == ([0, 2], [0, 2])
    assert (second.rows.tolist(), second.columns.tolist()) == ([1, 2], [1, 3])
    assert first.layout.family.tolist() == [0, 0]
    # In the second stratum family 1 comes first.
    assert (second.families.tolist(), second.layout.family.tolist()) == ([1, 0], [0, 1])
    assert second.layout.clustered
    assert not first.layout.clustered
    values = np.arange(12.0).reshape(3, 4)
    assert second.select(values).tolist() == [[5, 7], [9, 11]]
    # Family 0 is in both strata and 1 in one: neither may take the other's place.
    assert family_sets([first, second], 2).tolist() == [0, 1]
    # Stratum 1 has 5, 7 and 9, whose mean is 7; its missing text stays missing.
    left = layout.less_strata(np.where(present, values, NAN))
    np.testing.assert_array_equal(left[1:, [1, 3]], [[-2, 0], [2, NAN]])
    # A stratum without any text is no part.
    layout = default_layout((2, 2))._replace(stratum=np.array([0, 1]))
    (only,) = layout.parts(np.array([[True, False], [True, False]]))
    assert only.number == 0


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12)
)
def test_joined_is_the_closure_of_both(pairs):
    a, b = (factorize(side) for side in zip(*pairs, strict=True))
    group = list(range(len(pairs)))
    for _ in pairs:  # what shares either number shares the group, again and again
        for i, j in np.ndindex(len(pairs), len(pairs)):
            if a[i] == a[j] or b[i] == b[j]:
                group[i] = group[j] = min(group[i], group[j])
    assert join_partitions(a, b).tolist() == factorize(group).tolist()


def test_numbers_by_hand():
    assert factorize(["b", "a", "b", "c"]).tolist() == [0, 1, 0, 2]
    assert factorize([]).size == 0
    assert factorize_by("abcd", {"a": "of one", "c": "of one", "d": ""}).tolist() == [
        0,
        1,
        0,
        2,
    ]
    # Blocks are what texts connect.
    present = np.array([[1, 1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]], dtype=bool)
    systems, documents = blocks_of(present)
    assert systems[0] == systems[1] == documents[0] == documents[1]
    assert systems[2] == documents[2] != systems[0]
    assert documents[3] not in {systems[0], systems[2]}
    scores = np.array([[1.0, NAN, 3], [3.0, 4, NAN], [9.0, 9, 9]])
    assert family_means(scores, np.array([0, 0, 1])).tolist() == [[2, 4, 3], [9, 9, 9]]
    np.testing.assert_array_equal(family_means(scores, np.arange(3)), scores)
    assert np.isnan(family_means(np.full((2, 1), NAN), np.array([0, 0]))).all()
    for documents, sizes in (
        (40, [4] * 10),
        (23, [5, 5, 4, 5, 4]),
        (1000, [100] * 10),
        (3, [3]),
    ):
        assert np.bincount(make_blocks(documents)).tolist() == sizes
    assert (np.diff(make_blocks(101)) >= 0).all()
    # Means of documents are less their systems' levels.
    side = np.array([[1.0, 3.0, NAN, NAN], [NAN, NAN, 11.0, 13.0], [NAN] * 4])
    assert document_means(side).tolist() == [-1, 1, -1, 1]
    np.testing.assert_array_equal(document_means(np.array([[1.0, NAN]])), [0, NAN])


def rng(seed=0):
    return np.random.default_rng(seed)


def world(draw, shape=(6, 40), n=10):
    """`n` scorers with favourites among systems and documents, and nothing in common."""
    systems, documents = shape
    return [
        draw.normal(size=(systems, 1))
        + draw.normal(size=documents)
        + draw.normal(size=shape)
        for _ in range(n)
    ]


def test_doubles_are_equal_throughout():
    scores = np.stack([*world(rng(), (3, 8), 2), np.full((3, 8), NAN)])
    assert duplicate_items(scores).tolist() == [*range(8)]
    scores[:, :, 5] = scores[:, :, 2]
    scores[:, 1, 7] = scores[:, 1, 6] = NAN
    # missing in both, equal elsewhere
    scores[:, [0, 2], 7] = scores[:, :, 6][:, [0, 2]]
    assert duplicate_items(scores).tolist() == [0, 1, 2, 3, 4, 2, 5, 5]
    scores[0, 0, 5] += 1e-9
    assert duplicate_items(scores).tolist() == [0, 1, 2, 3, 4, 5, 6, 6]
    # Systems are doubles as documents are.
    turned = np.stack(world(rng(), (4, 9), 2))
    turned[:, 3] = turned[:, 1]
    assert duplicate_items(turned.transpose(0, 2, 1)).tolist() == [0, 1, 2, 1]


def test_items_without_scores_are_no_doubles():
    """As in a study whose texts are not there: ratings alone, and no metric."""
    assert duplicate_items(np.empty((0, 1, 3))).tolist() == [0, 1, 2]
    assert duplicate_items(np.empty((0, 0, 0))).tolist() == []


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


def test_near_copies_are_recognised_and_others_are_not():
    copies, false = 0, 0
    for seed in range(25):
        draw = rng(seed)
        shared = world(draw, (3, 40), 8)
        noise = world(draw, (5, 40), 8)
        both = zip(shared, noise, strict=True)
        sides = [np.sqrt(0.9) * a[[0, 0, 1, 2, 2]] + np.sqrt(0.1) * b for a, b in both]
        copies += find_near_copies(sides).tolist() == [0, 0, 1, 2, 2]
        false += np.unique(find_near_copies(world(draw, (8, 40), 8))).size < 8
    assert copies >= 23
    assert false == 0
    # Of two systems the one's up is the other's down; five documents say nothing.
    assert find_near_copies(world(rng(), (2, 40), 3)).tolist() == [0, 1]
    assert find_near_copies([np.zeros((3, 4))]).tolist() == [0, 1, 2]
    # Systems that share no document have nothing to be compared by.
    assert find_near_copies(
        [np.where(np.eye(3, 30, dtype=bool), 1.0, NAN)]
    ).tolist() == [
        0,
        1,
        2,
    ]


def test_drift_is_seen_in_people_and_a_metric_together():
    draw = rng(3)
    walk = np.cumsum(draw.normal(size=60))
    drifting, still = world(draw, (4, 60), 2)
    assert drift_with_order(walk + drifting, [walk[::-1] + still, still]).tolist() == [
        True,
        False,
    ]
    assert not drift_with_order(still, [walk + drifting]).any()
    assert not drift_with_order(
        walk[:7] + drifting[:, :7], [walk[:7] + still[:, :7]]
    ).any()
    shuffled = draw.permutation(60)
    assert not drift_with_order(
        (walk + drifting)[:, shuffled], [(walk + still)[:, shuffled]]
    ).any()
    worlds = [world(rng(seed), (4, 40), 21) for seed in range(60)]
    assert (
        sum(drift_with_order(people, metrics).any() for people, *metrics in worlds) <= 2
    )


@pytest.mark.parametrize("topics", [3, 5, 8])
def test_topics_are_clumps_and_qualities_are_not(topics):
    topic = np.arange(48) % topics
    agree, beyond, false = [], [], []
    for seed in range(8):
        draw = rng(seed)
        noise = world(draw, (6, 48), 20)
        groups = clumps(
            [side + draw.normal(size=topics)[topic] for side in noise], draw
        )
        beyond.append(groups.beyond)
        pairs = groups.number[:, None] == groups.number
        agree.append(np.mean(pairs == (topic[:, None] == topic)))
        # Metrics of one quality go together without any clump.
        false.append(clumps([noise[0] + 0.5 * side for side in noise], draw).beyond)
        false.append(clumps([(side > 1).astype(float) for side in noise], draw).beyond)
    assert np.median(beyond) > 5
    assert np.median(agree) > 0.85
    assert max(false) < 4
    # Few or coarse scorers show none.
    for sides in (
        world(draw, (4, 40), 2),
        [np.ones((1, 40))] * 9,
        world(draw, (3, 8), 9),
    ):
        assert clumps(sides, draw).beyond == 0


def test_versions_have_means_that_clump_and_other_systems_have_not():
    """Four pairs whose texts differ and whose levels agree, for people and metrics alike."""
    shape, pair = (8, 40), np.arange(8) // 2

    def beyond(rng, n, alike):
        sides = [rng.normal(size=shape) for _ in range(n)]
        levels = rng.normal(size=(n, 8))
        if alike:
            levels = levels[:, pair]
        levelled = [s + level[:, None] for s, level in zip(sides, levels, strict=True)]
        return clumps_of_systems(levelled, rng)

    rngs = [np.random.default_rng(run) for run in range(40)]
    # Of two sides pairs are seen often, of four nearly always; others are not.
    assert np.mean([beyond(rng, 2, True) > 2.5 for rng in rngs]) > 0.6
    assert np.mean([beyond(rng, 4, True) > 2.5 for rng in rngs]) > 0.9
    assert np.mean([beyond(rng, 4, False) > 2.5 for rng in rngs]) < 0.25
    # Five systems, sides without a mean and constants tell nothing.
    sides = [np.random.default_rng(0).normal(size=(5, 9)) for _ in range(3)]
    assert clumps_of_systems(sides, rngs[0]) == 0
    for nothing in (np.full(shape, NAN), np.ones(shape)):
        assert clumps_of_systems([nothing, nothing], rngs[0]) == 0


def test_groups_of_names_differ_or_not():
    group = np.repeat([0, 1, 2], 10)
    (side,) = world(rng(5), (4, 30), 1)
    assert differ_by_group(side + 3.0 * group, group) < 1e-3
    assert differ_by_group(side, group) > 0.01
    assert differ_by_group(np.ones((2, 30)), group) == 1
    assert differ_by_group(side, np.arange(30)) == 1
    # Groups of two documents count, and single ones do not: the last document is alone.
    side = rng(3).normal(size=(1, 13))
    expected = kruskal(*side[0, :12].reshape(6, 2)).pvalue
    assert differ_by_group(side, np.arange(13) // 2) == expected

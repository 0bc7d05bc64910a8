import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metassay.statistics.layout import (
    Layout,
    blocks_of,
    default_layout,
    factorize,
    family_means,
    family_sets,
    join_partitions,
)

NAN = np.nan


def test_numbers_are_in_the_order_of_first_appearance():
    assert factorize(["b", "a", "b", "c"]).tolist() == [0, 1, 0, 2]
    assert factorize([]).size == 0


def test_plain_layouts_have_one_part_in_which_each_counts_by_itself():
    layout = default_layout((2, 3))
    (part,) = layout.parts(np.zeros((2, 3), dtype=bool))
    values = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(part.of(values), values)
    assert (layout.n_strata, layout.n_families, layout.n_clusters) == (1, 2, 3)
    assert not layout.clustered
    np.testing.assert_array_equal(layout.less_strata(values), values)


def test_parts_have_their_own_rows_columns_and_numbers():
    layout = Layout(
        stratum=np.array([0, 1, 0, 1]), cluster=np.array([0, 1, 2, 1]), family=np.array([0, 1, 0])
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
    assert second.of(values).tolist() == [[5, 7], [9, 11]]
    # Family 0 is in both strata and 1 in one: neither may take the other's place.
    assert family_sets([first, second], 2).tolist() == [0, 1]
    # Stratum 1 has 5, 7 and 9, whose mean is 7; its missing text stays missing.
    left = layout.less_strata(np.where(present, values, NAN))
    np.testing.assert_array_equal(left[1:, [1, 3]], [[-2, 0], [2, NAN]])


def test_a_stratum_without_any_text_is_no_part():
    layout = default_layout((2, 2))._replace(stratum=np.array([0, 1]))
    (only,) = layout.parts(np.array([[True, False], [True, False]]))
    assert only.number == 0


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12))
def test_joined_is_the_closure_of_both(pairs):
    one, other = (factorize(side) for side in zip(*pairs, strict=True))
    found = join_partitions(one, other)
    group = list(range(len(pairs)))
    for _ in pairs:  # what shares either number shares the group, again and again
        for i in range(len(pairs)):
            for j in range(len(pairs)):
                if one[i] == one[j] or other[i] == other[j]:
                    group[i] = group[j] = min(group[i], group[j])
    assert found.tolist() == factorize(group).tolist()


def test_blocks_are_what_texts_connect():
    present = np.array([[1, 1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]], dtype=bool)
    systems, documents = blocks_of(present)
    assert systems[0] == systems[1] == documents[0] == documents[1]
    assert systems[2] == documents[2] != systems[0]
    assert documents[3] not in {systems[0], systems[2]}


def test_family_means_by_hand():
    scores = np.array([[1.0, NAN, 3], [3.0, 4, NAN], [9.0, 9, 9]])
    found = family_means(scores, np.array([0, 0, 1]))
    assert found.tolist() == [[2, 4, 3], [9, 9, 9]]
    nothing = family_means(np.full((2, 1), NAN), np.array([0, 0]))
    assert np.isnan(nothing).all()


@pytest.mark.parametrize("shape", [(0, 0), (3, 0), (0, 3)])
def test_nothing_has_a_layout(shape):
    layout = default_layout(shape)
    assert (layout.n_families, layout.n_clusters) == shape
    assert len(layout.parts(np.zeros(shape, dtype=bool))) == 1

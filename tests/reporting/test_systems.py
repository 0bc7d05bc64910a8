"""Systems that cannot be told apart: letters by hand, pairs told apart and not."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metassay.meta_evaluation.summaries import conflict_shares, system_groups
from metassay.statistics.best import compact_letters
from metassay.statistics.document_means import Resampling

HOW = Resampling(resamples=300, confidence=0.95, seed=3)
NO_CLUSTERS = pd.DataFrame({"n_documents": [12], "n_clusters": [12], "given": [""]})
BLEU, TER = ("bleu", "none"), ("TER", "none")


def apart(size: int, *pairs: tuple[int, int]):
    found = np.zeros((size, size), dtype=bool)
    for one, other in pairs:
        found[one, other] = found[other, one] = True
    return found


def test_letters_by_hand():
    # The best is apart from the last, and the middle one from neither.
    assert compact_letters(apart(3, (0, 2)), range(3)) == ["a", "ab", "b"]
    assert compact_letters(apart(3), range(3)) == ["a", "a", "a"]
    assert compact_letters(apart(3, (0, 1), (0, 2), (1, 2)), [2, 0, 1]) == ["b", "c", "a"]
    # Piepho 2004's kind of case: 0 and 3 apart, 1 and 2 apart.
    assert compact_letters(apart(4, (0, 3), (1, 2)), range(4)) == ["ab", "ac", "bd", "cd"]


@given(st.integers(1, 7).flatmap(lambda n: st.tuples(st.just(n), st.sets(
    st.sampled_from(list(combinations(range(n), 2)) or [(0, 0)])))))  # fmt: skip
def test_two_share_a_letter_exactly_where_they_are_not_apart(drawn):
    size, pairs = drawn
    pairs = {pair for pair in pairs if pair[0] != pair[1]}
    letters = compact_letters(apart(size, *pairs), range(size))
    assert all(letters)
    for pair in combinations(range(size), 2):
        shared = set(letters[pair[0]]) & set(letters[pair[1]])
        assert bool(shared) == (pair not in pairs)


def scores_of(metric, **systems):
    return pd.DataFrame(
        [
            {"doc_id": f"d{d:02}", "author": author, "part": "full", "metric": metric,
             "judge": "none", "value": value}
            for author, values in systems.items()
            for d, value in enumerate(values)
        ]
    )  # fmt: skip


def test_a_system_that_is_better_on_every_document_stands_alone():
    rng = np.random.default_rng(0)
    level = rng.normal(size=20)  # documents differ more than systems: only pairs tell
    noise = rng.normal(scale=0.01, size=(3, 20))
    values = {"c": level + noise[0], "a": level + noise[1], "b": level + 0.5 + noise[2]}
    values["reference"] = level + 9
    found = system_groups(scores_of("bleu", **values), {BLEU: "higher"}, HOW, NO_CLUSTERS)
    assert found["author"].tolist() == ["a", "b", "c"]
    assert found["group"].tolist() == ["b", "a", "b"]
    assert found.loc[1, "place"] == 1
    assert found["value"].tolist() == [float(np.mean(values[one])) for one in "abc"]
    lower = system_groups(scores_of("TER", **values), {TER: "lower"}, HOW, NO_CLUSTERS)
    assert lower["group"].tolist() == ["a", "b", "a"]
    assert lower["value"].equals(found["value"])


def test_missing_scores_are_counted_and_pairs_are_of_documents_that_both_have():
    values = {"a": [0.0] * 10 + [np.nan] * 2, "b": [1.0, *[1.0 + k / 100 for k in range(11)]]}
    found = system_groups(scores_of("bleu", **values), {BLEU: "higher"}, HOW, NO_CLUSTERS)
    assert found[["n_documents", "n_missing"]].to_numpy().tolist() == [[10, 2], [12, 0]]
    assert found["group"].tolist() == ["b", "a"]


def test_one_document_tells_nothing_and_neither_direction_and_one_system_have_no_row():
    one = scores_of("bleu", a=[0.0], b=[1.0])
    assert system_groups(one, {BLEU: "higher"}, HOW, NO_CLUSTERS)["group"].tolist() == ["a", "a"]
    assert system_groups(one, {BLEU: "neither"}, HOW, NO_CLUSTERS).empty
    assert system_groups(one[one["author"] == "a"], {BLEU: "higher"}, HOW, NO_CLUSTERS).empty


def test_documents_that_the_data_show_together_get_no_letters():
    """Equal systems whose scores go by topic would be told apart in most tables, not in 1 of 20."""
    scores = scores_of("bleu", a=[0.0] * 12, b=[*range(1, 13)])
    assert not system_groups(scores, {BLEU: "higher"}, HOW, NO_CLUSTERS).empty
    clustered = NO_CLUSTERS.assign(n_clusters=4)
    assert system_groups(scores, {BLEU: "higher"}, HOW, clustered).empty
    topics = {f"d{at:02}": f"topic {at // 3}" for at in range(12)}
    known = HOW._replace(clusters=topics)
    given = clustered.assign(given="cluster")
    assert not system_groups(scores, {BLEU: "higher"}, known, given).empty
    # Copies that `clusters` names are no other finding of the data's.
    assert not system_groups(scores, {BLEU: "higher"}, known, clustered).empty
    fewer = NO_CLUSTERS.assign(n_clusters=2)
    assert system_groups(scores, {BLEU: "higher"}, known, fewer).empty


@pytest.mark.parametrize(
    "sizes", [[1] * 15, [5] * 4, [3] * 8, [30, 20, 8, 5, 3, 3, 2, 2, *[1] * 8]]
)
def test_equal_systems_are_seldom_told_apart(sizes):
    """All pairs of five together: at most 1 of 20 tables, and the noise of 200 of them.

    Nearly all of a score goes by the topic and the system, so that a topic counts once.
    """
    wrong, topic = 0, np.repeat(np.arange(len(sizes)), sizes)
    clusters = {f"d{at:02}": f"t{of}" for at, of in enumerate(topic)}
    for seed in range(200):
        rng = np.random.default_rng(seed)
        values = rng.normal(size=(5, len(sizes)))[:, topic]
        values += 0.3 * rng.normal(size=values.shape)
        scores = scores_of("bleu", **dict(zip("abcde", values, strict=True)))
        how = Resampling(200, 0.95, seed, clusters)
        found = system_groups(scores, {BLEU: "higher"}, how, NO_CLUSTERS)
        wrong += found["group"].nunique() > 1
    assert wrong <= 20


def test_conflicts_are_pooled_over_documents(frames):
    found = conflict_shares(frames["conflicts"])
    columns = ["metric_a", "n_disagreements", "n_pairs", "n_documents"]
    rows = found[columns].to_numpy().tolist()
    assert sorted(rows) == [["bleu", 0, 0, 0], ["bleu", 3, 9, 2]]  # 3 of 6 and 0 of 3
    shares = found.set_index("n_pairs")["share"]
    assert shares[9] == 3 / 9
    assert pd.isna(shares[0])

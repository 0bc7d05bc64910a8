"""What reports add for their reader: systems in order and told apart, texts, people; by hand."""

import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metassay.core.options import Criterion
from metassay.format.frames import records
from metassay.meta_evaluation import summaries
from metassay.statistics.best import compact_letters
from metassay.statistics.document_means import Resampling, means
from tests.reporting.invented_report import lines

HOW = Resampling(resamples=300, confidence=0.95, seed=3)
NO_CLUSTERS = pd.DataFrame({"n_documents": [12], "n_clusters": [12], "given": [""]})
BLEU, TER = ("bleu", "none"), ("TER", "none")
SCALES = {
    "overall": Criterion(low=1, high=5, better="higher"),
    "errors": Criterion(low=0, high=10, better="lower"),
}


# ---- systems that cannot be told apart -------------------------------------------------------


def apart(size: int, *pairs: tuple[int, int]):
    matrix = np.zeros((size, size), dtype=bool)
    for a, b in pairs:
        matrix[a, b] = matrix[b, a] = True
    return matrix


def test_letters_by_hand():
    # The best is apart from the last, and the middle one from neither.
    assert compact_letters(apart(3, (0, 2)), range(3)) == ["a", "ab", "b"]
    assert compact_letters(apart(3), range(3)) == ["a", "a", "a"]
    assert compact_letters(apart(3, (0, 1), (0, 2), (1, 2)), [2, 0, 1]) == [
        "b",
        "c",
        "a",
    ]
    # Piepho 2004's kind of case: 0 and 3 apart, 1 and 2 apart.
    assert compact_letters(apart(4, (0, 3), (1, 2)), range(4)) == [
        "ab",
        "ac",
        "bd",
        "cd",
    ]


@given(st.data())
def test_two_share_a_letter_exactly_where_they_are_not_apart(data):
    size = data.draw(st.integers(1, 7))
    every = list(combinations(range(size), 2))
    pairs = data.draw(st.sets(st.sampled_from(every)) if every else st.just(set()))
    letters = compact_letters(apart(size, *pairs), range(size))
    assert all(letters)
    for a, b in every:
        assert bool(set(letters[a]) & set(letters[b])) == ((a, b) not in pairs)


def scores_of(metric, **systems):
    rows = [
        (f"d{d:02}", a, value)
        for a, of in systems.items()
        for d, value in enumerate(of)
    ]
    shared = {"part": "full", "metric": metric, "judge": "none"}
    return pd.DataFrame(lines("doc_id author value", *rows, **shared)).astype(
        {"value": "float64"}
    )


def groups_of(scores, better="higher", how=HOW, designs=NO_CLUSTERS):
    metric = (scores["metric"].iloc[0], "none")
    return summaries.system_groups(scores, {metric: better}, how, designs)


def test_a_system_that_is_better_on_every_document_stands_alone():
    rng = np.random.default_rng(0)
    level = rng.normal(size=20)  # documents differ more than systems: only pairs tell
    noise = rng.normal(scale=0.01, size=(3, 20))
    values = {"c": level + noise[0], "a": level + noise[1], "b": level + 0.5 + noise[2]}
    values["reference"] = level + 9
    groups = groups_of(scores_of("bleu", **values))
    assert groups["author"].tolist() == ["a", "b", "c"]
    assert groups["group"].tolist() == ["b", "a", "b"]
    assert groups.loc[1, "place"] == 1
    assert groups["value"].tolist() == [float(np.mean(values[name])) for name in "abc"]
    lower = groups_of(scores_of("TER", **values), "lower")
    assert lower["group"].tolist() == ["a", "b", "a"]
    assert lower["value"].equals(groups["value"])


def test_missing_scores_are_counted_and_pairs_are_of_documents_that_both_have():
    values = {
        "a": [0.0] * 10 + [np.nan] * 2,
        "b": [1.0, *[1.0 + k / 100 for k in range(11)]],
    }
    groups = groups_of(scores_of("bleu", **values))
    assert groups[["n_documents", "n_missing"]].to_numpy().tolist() == [
        [10, 2],
        [12, 0],
    ]
    assert groups["group"].tolist() == ["b", "a"]


def test_one_document_tells_nothing_and_neither_direction_and_one_system_have_no_row():
    scores = scores_of("bleu", a=[0.0], b=[1.0])
    assert groups_of(scores)["group"].tolist() == ["a", "a"]
    assert groups_of(scores, "neither").empty
    assert groups_of(scores[scores["author"] == "a"]).empty


def test_documents_that_the_data_show_together_get_no_letters():
    """Equal systems whose scores go by topic would be told apart in most tables, not in 1 of 20."""
    scores = scores_of("bleu", a=[0.0] * 12, b=[*range(1, 13)])
    assert not groups_of(scores).empty
    clustered = NO_CLUSTERS.assign(n_clusters=4)
    assert groups_of(scores, designs=clustered).empty
    known = HOW._replace(clusters={f"d{at:02}": f"topic {at // 3}" for at in range(12)})
    assert not groups_of(
        scores, how=known, designs=clustered.assign(given="cluster")
    ).empty
    # Copies that `clusters` names are no other finding of the data's.
    assert not groups_of(scores, how=known, designs=clustered).empty
    assert groups_of(scores, how=known, designs=NO_CLUSTERS.assign(n_clusters=2)).empty


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
        groups = groups_of(scores, how=Resampling(200, 0.95, seed, clusters))
        wrong += groups["group"].nunique() > 1
    assert wrong <= 20


def test_conflicts_are_pooled_over_documents(frames):
    shares = summaries.conflict_shares(frames["conflicts"]).set_index("n_pairs")
    columns = ["metric_a", "n_disagreements", "n_documents", "share"]
    assert shares.loc[9, columns].tolist() == ["bleu", 3, 2, 3 / 9]  # 3 of 6 and 0 of 3
    assert shares.loc[0, columns[:3]].tolist() == ["bleu", 0, 0]
    assert pd.isna(shares.loc[0, "share"])


# ---- what texts are like ---------------------------------------------------------------------

SOURCES = pd.DataFrame(
    {"doc_id": ["d1", "d2"], "passages": [["Fever, fever.", "A cough."], ["the rash"]]}
)


def texts_of(*rows):
    """Parts `full` of (doc_id, author, text)."""
    return pd.DataFrame(lines("doc_id author text", *rows, part="full"))


def test_popularity_by_hand():
    texts = texts_of(
        ("d1", "reference", "Cough."),
        ("d2", "reference", "It is fever [0]."),
        ("d1", "a", "Fever, rash and pain [3]."),
        ("d2", "a", "Cough"),
        ("d1", "b", None),
        ("d2", "b", "It was the."),
    )
    common = summaries.popularity(SOURCES, texts)
    # Of d1 the other document has 2 content words: rash once, fever once. One is added
    # to each.
    six = math.log10(1e6 * 2 / 2)
    assert common["d1", "a"] == pytest.approx((six + six + math.log10(1e6 * 1 / 2)) / 3)
    # Of d2 it has 4: fever twice, cough twice.
    assert common["d2", "a"] == pytest.approx(math.log10(1e6 * 3 / 4))
    assert common["d2", "reference"] == pytest.approx(math.log10(1e6 * 3 / 4))
    assert common["d1", "b"] is common["d2", "b"] is None
    alone = summaries.popularity(
        SOURCES[:1], texts_of(("d1", "a", "fever"), ("d1", "reference", "fever"))
    )
    assert set(alone.values()) == {None}  # of a single document it is unknown


def test_differences_are_of_the_same_documents_and_missing_texts_are_counted():
    scores = scores_of("words", reference=[10, 20, 60], a=[7, 18, None])
    nothing = pd.DataFrame(columns=["doc_id", "author", "text", "part"])
    reference, a = records(summaries.profile_table(SOURCES, nothing, scores, HOW))
    assert (reference["author"], reference["mean"], reference["median"]) == (
        "reference",
        30,
        20,
    )
    assert reference["difference"] is None
    assert (a["mean"], a["n"], a["n_missing"]) == (12.5, 2, 1)
    assert (a["difference"], a["n_difference"]) == (-2.5, 2)  # -3 and -2
    assert (a["difference_low"], a["difference_high"]) == (-3, -2)
    assert (a["p10"], a["p90"]) == (pytest.approx(8.1), pytest.approx(16.9))
    scores = scores_of("numbers", a=[1, 3])
    (a,) = records(summaries.profile_table(SOURCES, nothing, scores, HOW))
    assert (a["mean"], a["difference"]) == (2, None)  # without a reference
    assert summaries.profile_table(SOURCES, nothing, scores[:0], HOW).empty


# ---- what people gave ------------------------------------------------------------------------


def test_means_of_a_column_are_over_its_documents_and_sums_over_what_they_are_sums_of():
    mean = means(np.array([[1.0, 6.0], [3.0, np.nan]]), ["d1", "d2"], HOW)
    assert list(mean.mean) == [2, 6]
    assert (mean.low[0], mean.high[0]) == (1, 3)
    assert np.isnan(mean.low[1])  # one document
    sums = means(np.array([[10.0], [2.0]]), ["d1", "d2"], HOW, np.array([[4.0], [1.0]]))
    assert (sums.mean[0], sums.low[0], sums.high[0]) == (12 / 5, 2.0, 2.5)
    assert np.isnan(means(np.empty((0, 1)), [], HOW).mean[0])


def test_intervals_of_few_documents_hold_what_they_are_for():
    """Plain percentiles of six documents held the mean in 86 of 100 studies, not in 95."""
    inside = []
    for seed in range(200):
        values = np.random.default_rng(seed).normal(size=(6, 1))
        mean = means(
            values, list(map(str, range(len(values)))), Resampling(400, 0.95, seed)
        )
        inside.append(mean.low[0] <= 0 <= mean.high[0])
    assert 0.91 <= np.mean(inside) <= 0.99


def test_ratings_are_brought_to_one_scale_and_only_texts_of_systems_count():
    ratings = lines(
        "doc_id author value criterion rater unit",
        ("d1", "a", 5, "overall", "r1", "text"),
        ("d1", "a", 2, "overall", "r2", "text"),
        ("d2", "a", 3, "overall", "r1", "text"),
        ("d1", "reference", 5, "overall", "r1", "text"),
        ("d1", "a", None, "overall", "r3", "text"),
        ("d1", "a", 1.0, "overall", "r1", "versus:b"),
        ("d1", "a", 3, "errors", "r1", "text"),
        study="s",
        part="full",
    )
    errors, overall = records(summaries.violins(pd.DataFrame(ratings), SCALES, HOW))
    # 1 - 3 / 10
    assert (errors["mean"], errors["n"], errors["all_ratings"]) == (0.7, 1, [0.7])
    assert errors["low"] is None
    assert overall["mean"] == pytest.approx((1 + 0.25 + 0.5) / 3)
    assert (overall["n"], overall["n_documents"]) == (3, 2)
    # as given, not means of resamples
    assert overall["all_ratings"] == [1.0, 0.25, 0.5]
    assert (overall["p25"], overall["median"], overall["p75"]) == (0.375, 0.5, 0.75)


def test_ranks_by_hand_ties_share_one_and_directions_count():
    board = pd.DataFrame(
        lines(
            "metric author macro better",
            *(
                ("bleu", a, v, "higher")
                for a, v in {"a": 0.2, "b": 0.3, "c": 0.2}.items()
            ),
            ("bleu", "reference", 1.0, "higher"),
            *(
                ("edit_distance", a, v, "lower")
                for a, v in (("a", 4.0), ("b", 7.0), ("c", None))
            ),
            ("words", "a", 70.0, "neither"),
            part="full",
            judge="none",
            low=0.0,
            high=1.0,
        )
    )
    people = pd.DataFrame(
        lines(
            "of name mean criterion",
            *(
                ("author", a, m, "overall")
                for a, m in (("a", 4), ("b", 5), ("reference", 5))
            ),
            ("author", "a", 2, "errors"),
            ("author", "b", 1, "errors"),
            ("rater", "r1", 3, "overall"),
            study="s",
            part="full",
            low=0.0,
            high=9.0,
            sd=0.25,
            n=10,
            n_missing=1,
            n_documents=5,
        )
    )
    ranks = summaries.ranks_table(board, people, SCALES)
    assert {(row["scorer"], row["author"]): row["rank"] for row in records(ranks)} == {
        ("bleu", "b"): 1,
        ("bleu", "a"): 2,
        ("bleu", "c"): 2,
        ("edit_distance", "a"): 1,
        ("edit_distance", "b"): 2,
        ("edit_distance", "c"): None,
        ("overall", "b"): 1,
        ("overall", "a"): 2,
        ("errors", "b"): 1,
        ("errors", "a"): 2,
    }
    # one system has no rank
    assert summaries.ranks_table(board[:1], people[:1], SCALES).empty

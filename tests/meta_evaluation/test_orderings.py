"""Which of two texts metrics prefer, beside each other and beside people."""

import numpy as np
import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.core.options import Criterion
from metassay.meta_evaluation import orderings
from metassay.meta_evaluation.orderings import PREFERENCES, preferences
from tests.meta_evaluation.invented_study import (
    CRITERIA,
    HIGHER,
    OPTIONS,
    only,
    rate,
    ratings_of,
    scores_of,
    study,
    table_of,
)

COMPARED = OPTIONS.model_copy(
    update={"compared": ["a", "b", "less", "length"], "annotate": 1000}
)
BETTER = {"a": "higher", "b": "higher", "less": "lower", "length": "neither"}
PAIR = ["part", "metric_a", "metric_b"]


def conflicts(scores, options=COMPARED):
    return orderings.conflicts(scores, BETTER, options)


def by_text(**documents):
    return {
        (d, "wxyz"[n]): v
        for d, values in documents.items()
        for n, v in enumerate(values)
    }


def by_hand():
    # In d1 a orders w < x < y < z and b has z lowest: z against each of the others, of
    # which w and z differ by 3 ranks of a and 1 of b. In d2 b ties x and y, w has no b,
    # and nobody compares z.
    a = by_text(d1=(1, 2, 3, 4), d2=(1, 2, 3)) | {("d2", "reference"): 9}
    b = by_text(d1=(6, 7, 8, 5), d2=(None, 1, 1)) | {("d2", "reference"): 0}
    return table_of({"a": a, "b": b})


def invented():
    rng = np.random.default_rng(0)
    texts = [(f"d{d}", f"s{s}") for d in range(7) for s in range(5)]
    return pd.concat(
        scores_of(
            {
                text: float(rng.integers(0, 6)) if rng.random() > 0.1 else None
                for text in texts
            },
            metric=metric,
            judge=judge,
            part=part,
        )
        for part in ("full", "plan")
        for metric, judge in (
            ("a", "none"),
            ("a", "nli"),
            ("less", "none"),
            ("length", "none"),
        )
    )


def test_conflicts_by_hand():
    counts, drawn = conflicts(by_hand())
    key = {"part": "full", "metric_a": "a", "metric_b": "b"}
    assert counts.to_dict("records") == [
        key | {"doc_id": "d1", "n_pairs": 6, "n_disagreements": 3},
        key | {"doc_id": "d2", "n_pairs": 1, "n_disagreements": 0},
    ]
    rows = drawn[["doc_id", "author_a", "author_b", "conflict"]].sort_values("author_b")
    # a prefers z, b the other one.
    assert rows.to_numpy().tolist() == [["d1", "z", other, 4] for other in "wxy"]
    assert set(drawn["metric_a"]) == {"a"}
    turned = by_hand().replace({"metric": {"b": "less"}})
    turned.loc[turned["metric"] == "less", "value"] *= -1
    of_less, _ = conflicts(turned)
    pd.testing.assert_frame_equal(of_less, counts.assign(metric_b="less"))


@pytest.mark.parametrize("draw", ["largest", "uniform"])
def test_a_sample_is_drawn_per_part_and_pair_of_metrics(draw):
    scores = invented()
    options = COMPARED.model_copy(update={"annotate": 4, "draw": draw})
    every, sample = conflicts(scores)[1], conflicts(scores, options)[1]
    assert (sample.groupby(PAIR).size() == 4).all()
    assert sample.merge(every, how="left", indicator=True)["_merge"].eq("both").all()
    largest = every.groupby(PAIR)["conflict"].nlargest(4).groupby(PAIR).sum()
    drawn = sample.groupby(PAIR)["conflict"].sum()
    assert (drawn == largest).all() == (draw == "largest")
    reseeded = options.model_copy(update={"seed": 1})
    assert not conflicts(scores, reseeded)[1].equals(sample)
    assert conflicts(scores, options.model_copy(update={"annotate": 0}))[1].empty
    # Another part and another judge's metric change no draw, nor does the order of
    # rows.
    two = scores[(scores["judge"] == "none") & (scores["part"] == "full")]
    shuffled = conflicts(scores.sample(frac=1, random_state=1), options)
    for alone, beside in zip(conflicts(two, options), shuffled, strict=True):
        same = (beside["part"] == "full") & (
            beside["metric_a"] + beside["metric_b"] == "aless"
        )
        pd.testing.assert_frame_equal(alone, beside[same].reset_index(drop=True))


def test_without_two_metrics_or_two_systems_or_where_all_are_equal():
    scores = invented()
    for nothing in (
        conflicts(scores, OPTIONS),
        conflicts(scores[scores["metric"].isin(["less", "length"])]),
    ):
        assert all(len(table) == 0 for table in nothing)
    counts, drawn = conflicts(scores[scores["author"] == "s0"])
    assert (counts[["n_pairs", "n_disagreements"]] == 0).to_numpy().all()
    assert drawn.empty
    counts, drawn = conflicts(scores.assign(value=1.0))
    assert (counts["n_disagreements"] == 0).all()
    assert (counts["n_pairs"] == 10).all()
    assert drawn.empty


COUNTS = [name for name in PREFERENCES.columns if name.startswith("n_")]
# In d1 the metric puts x before y before z; in d2 x and y tie and z has no score.
SCORED = {
    ("d1", "x"): 0.9,
    ("d1", "y"): 0.5,
    ("d1", "z"): 0.1,
    ("d1", "reference"): 0.7,
}
SCORED |= {("d2", "x"): 0.4, ("d2", "y"): 0.4, ("d2", "z"): np.nan}


def versus(author, other, doc, rater, value, criterion="preference", part="full"):
    return rate(criterion, author, doc, rater, value, unit=f"versus:{other}", part=part)


COMPARISONS = [
    ("x", "y", "d1", "amy", 1),  # same
    ("y", "x", "d1", "bob", 0),  # the same comparison by another rater: same
    ("z", "y", "d1", "amy", 1),  # opposite
    ("x", "z", "d1", "amy", 0.5),  # people tie
    ("x", "y", "d2", "amy", 0),  # the metric ties
    ("x", "y", "d2", "bob", 0.5),  # both tie
    ("x", "z", "d1", "bob", None),  # abstained
    ("x", "z", "d2", "amy", 1),  # z has no score
    ("x", "reference", "d1", "amy", 1),  # same
    ("reference", "y", "d2", "amy", 1),  # the reference has no score in d2
]


def preferred(rows=COMPARISONS, scored=SCORED, criteria=CRITERIA, better=HIGHER):
    ratings = ratings_of(*(versus(*row) for row in rows))
    return preferences(scores_of(scored), ratings, criteria, better)


def test_preferences_by_hand_whoever_stands_first():
    table = preferred()
    row = only(
        table, study="s1", criterion="preference", part="full", metric="m", judge="none"
    )
    assert {name: row[name] for name in COUNTS} == {
        "n_same": 3,
        "n_opposite": 1,
        "n_metric_tie": 1,
        "n_human_tie": 1,
        "n_both_tie": 1,
        "n_abstained": 1,
        "n_missing": 2,
    }
    # Alike: 3 same and 1 tied by both, of 7. Where people decided: 3 and half a tie, of
    # 5.
    assert (row["value"], row["decisive"]) == pytest.approx((4 / 7, 3.5 / 5))
    assert row["recipe"] == "m|v1"
    swapped = [
        (b, a, d, r, None if v is None else 1 - v) for a, b, d, r, v in COMPARISONS
    ]
    pd.testing.assert_frame_equal(preferred(swapped), table, check_exact=True)


def test_a_comparison_that_a_rater_made_both_ways_is_a_single_one():
    first = ("x", "y", "d1", "amy", 1)
    for again, count in (
        (0, "n_same"),
        (1, "n_human_tie"),  # whoever stands first, so neither
        (None, "n_same"),  # answered only one way
    ):
        row = only(preferred([first, ("y", "x", "d1", "amy", again)]))
        assert (row[count], sum(row[name] for name in COUNTS)) == (1, 1)


def test_directions_of_criterion_and_metric():
    criteria = {"harm": Criterion(low=1, high=5, better="lower", scale="ordinal")}
    rows = [
        ("x", "y", "d1", "amy", 2, "harm"),  # less than the middle, 3: x is preferred
        ("z", "y", "d1", "amy", 4.5, "harm"),  # y is preferred
        ("x", "z", "d1", "amy", 3, "harm"),
    ]
    for better, same in (("higher", 2), ("lower", 0)):
        row = only(preferred(rows, criteria=criteria, better={"m": better}))
        assert (row["n_same"], row["n_opposite"], row["n_human_tie"]) == (
            same,
            2 - same,
            1,
        )
    assert preferred(rows, criteria=criteria, better={"m": "neither"}).empty


def test_the_middle_is_a_tie_despite_rounding():
    criteria = {"preference": Criterion(low=0.1, high=0.7, better="higher")}
    assert (0.1 + 0.7) / 2 != 0.4
    for value, count in ((0.4, "n_human_tie"), (0.7, "n_same"), (0.1, "n_opposite")):
        row = only(preferred([("x", "y", "d1", "amy", value)], criteria=criteria))
        assert row[count] == 1


def test_each_part_metric_and_judge_by_itself():
    turned = {key: -value for key, value in SCORED.items()}
    of_plan = (
        scores_of(SCORED, part="plan", metric=name) for name in ("words", "other")
    )
    scores = pd.concat([scores_of(SCORED), scores_of(turned, judge="nli"), *of_plan])
    parts = {"full": 1, "plan": 0, "nothing scored": 0}
    ratings = ratings_of(
        *(
            versus("x", "y", "d1", "amy", value, part=part)
            for part, value in parts.items()
        )
    )
    better = {"m": "higher", "words": "neither", "other": "higher"}
    table = preferences(scores, ratings, CRITERIA, better)
    values = table.set_index(["part", "metric", "judge"])["value"].to_dict()
    expected = {
        ("full", "m", "none"): 1,
        ("full", "m", "nli"): 0,
        ("plan", "other", "none"): 0,
    }
    assert values == expected
    assert preferences(scores, study()[0], CRITERIA, better).empty  # nobody compared


def test_undeclared_criteria_and_mixed_recipes():
    with pytest.raises(BadInput, match="criterion 'preference' is not declared"):
        preferred(criteria={})
    ratings = ratings_of(*(versus(*row) for row in COMPARISONS))
    mixed = scores_of(SCORED)
    mixed.loc[mixed["author"] == "y", "recipe"] = "m|v2"
    with pytest.raises(BadInput, match=r"m \(judge none, part full\) mixes 2 recipes"):
        preferences(mixed, ratings, CRITERIA, HIGHER)
    # Texts that nobody compared may have another.
    mixed = pd.concat([scores_of(SCORED), scores_of({("d9", "x"): 1.0}, recipe="m|v2")])
    row = only(preferences(mixed, ratings, CRITERIA, HIGHER))
    assert (row["n_same"], row["recipe"]) == (3, "m|v1")

import numpy as np
import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.core.options import Criterion
from metassay.meta_evaluation.orderings import PREFERENCES, preferences
from metassay.tables.parquet import empty, write
from metassay.tables.ratings import RATINGS
from metassay.tables.scores import SCORES
from tests.meta_evaluation.invented_study import (
    CRITERIA,
    HIGHER,
    only,
    rate,
    ratings_of,
    scores_of,
    study,
)

COUNTS = [name for name in PREFERENCES.columns if name.startswith("n_")]
# In d1 the metric puts x before y before z; in d2 x and y tie and z has no score.
SCORED = {
    ("d1", "x"): 0.9,
    ("d1", "y"): 0.5,
    ("d1", "z"): 0.1,
    ("d1", "reference"): 0.7,
    ("d2", "x"): 0.4,
    ("d2", "y"): 0.4,
    ("d2", "z"): np.nan,
}


def versus(author, other, doc, rater, value, criterion="preference", part="full"):
    return rate(criterion, author, doc, rater, value, unit=f"versus:{other}", part=part)


ASKED = [
    versus("x", "y", "d1", "amy", 1),  # same
    versus("y", "x", "d1", "bob", 0),  # the same comparison by another rater: same
    versus("z", "y", "d1", "amy", 1),  # opposite
    versus("x", "z", "d1", "amy", 0.5),  # people tie
    versus("x", "y", "d2", "amy", 0),  # the metric ties
    versus("x", "y", "d2", "bob", 0.5),  # both tie
    versus("x", "z", "d1", "bob", None),  # abstained
    versus("x", "z", "d2", "amy", 1),  # z has no score
    versus("x", "reference", "d1", "amy", 1),  # same
    versus("reference", "y", "d2", "amy", 1),  # the reference has no score in d2
]


def preferred(rows=ASKED, scored=SCORED, criteria=CRITERIA, better=HIGHER):
    return preferences(scores_of(scored), ratings_of(*rows), criteria, better)


def test_by_hand(tmp_path):
    found = preferred()
    write(PREFERENCES, found, tmp_path / "p.parquet")
    row = only(found, study="s1", criterion="preference", part="full", metric="m", judge="none")
    assert {name: row[name] for name in COUNTS} == {
        "n_same": 3,
        "n_opposite": 1,
        "n_metric_tie": 1,
        "n_human_tie": 1,
        "n_both_tie": 1,
        "n_abstained": 1,
        "n_missing": 2,
    }
    # Alike: 3 same and 1 tied by both, of 7. Where people decided: 3 and half a tie, of 5.
    assert row["value"] == pytest.approx(4 / 7)
    assert row["decisive"] == pytest.approx(3.5 / 5)
    assert row["recipe"] == "m|v1"


def test_a_comparison_that_one_rater_was_asked_both_ways_is_one():
    both = [versus("x", "y", "d1", "amy", 1), versus("y", "x", "d1", "amy", 0)]
    row = only(preferred(both))
    assert [row[name] for name in COUNTS] == [1, 0, 0, 0, 0, 0, 0]
    # x when asked first, y when asked first: whoever stands first, so neither.
    row = only(preferred([both[0], versus("y", "x", "d1", "amy", 1)]))
    assert (row["n_human_tie"], sum(row[name] for name in COUNTS)) == (1, 1)
    # Answered only one way: what was said counts.
    row = only(preferred([both[0], versus("y", "x", "d1", "amy", None)]))
    assert (row["n_same"], sum(row[name] for name in COUNTS)) == (1, 1)


def test_directions_of_criterion_and_metric():
    criteria = {"harm": Criterion(low=1, high=5, better="lower", scale="ordinal")}
    rows = [
        versus("x", "y", "d1", "amy", 2, "harm"),  # less than the middle, 3: x is preferred
        versus("z", "y", "d1", "amy", 4.5, "harm"),  # y is preferred
        versus("x", "z", "d1", "amy", 3, "harm"),
    ]
    for better, same in (("higher", 2), ("lower", 0)):
        row = only(preferred(rows, criteria=criteria, better={"m": better}))
        assert (row["n_same"], row["n_opposite"], row["n_human_tie"]) == (same, 2 - same, 1)
    assert len(preferred(rows, criteria=criteria, better={"m": "neither"})) == 0


def test_the_middle_is_a_tie_despite_rounding():
    criteria = {"preference": Criterion(low=0.1, high=0.7, better="higher")}
    assert (0.1 + 0.7) / 2 != 0.4
    for value, count in ((0.4, "n_human_tie"), (0.7, "n_same"), (0.1, "n_opposite")):
        row = only(preferred([versus("x", "y", "d1", "amy", value)], criteria=criteria))
        assert row[count] == 1


def test_each_part_metric_and_judge_on_its_own():
    turned = {key: -value for key, value in SCORED.items()}
    scores = pd.concat(
        [
            scores_of(SCORED),
            scores_of(turned, judge="nli"),
            scores_of(SCORED, part="plan", metric="words"),
            scores_of(SCORED, part="plan", metric="other"),
        ]
    )
    ratings = ratings_of(
        versus("x", "y", "d1", "amy", 1),
        versus("x", "y", "d1", "amy", 0, part="plan"),
        versus("x", "y", "d1", "amy", 0, part="nothing scored"),
    )
    better = {"m": "higher", "words": "neither", "other": "higher"}
    found = preferences(scores, ratings, CRITERIA, better)
    values = found.set_index(["part", "metric", "judge"])["value"].to_dict()
    assert values == {
        ("full", "m", "none"): 1,
        ("full", "m", "nli"): 0,
        ("plan", "other", "none"): 0,
    }


def test_nothing_depends_on_the_order_of_rows_or_on_who_stands_first():
    rng = np.random.default_rng(0)
    found = preferred()
    swapped = [
        versus(
            row[4].removeprefix("versus:"),
            row[2],
            row[1],
            row[5],
            None if row[7] is None else 1 - row[7],
        )
        for row in ASKED
    ]
    for rows in (swapped, [ASKED[n] for n in rng.permutation(len(ASKED))]):
        pd.testing.assert_frame_equal(preferred(rows), found, check_exact=True)
    scores = scores_of(SCORED).sample(frac=1, random_state=1)
    again = preferences(scores, ratings_of(*ASKED), CRITERIA, HIGHER)
    pd.testing.assert_frame_equal(again, found, check_exact=True)


def test_value_is_that_of_counting_one_by_one():
    rng = np.random.default_rng(3)
    texts = [(f"d{d}", author) for d in range(12) for author in "xyz"]
    scored = {text: float(rng.integers(4)) for text in texts}
    rows, alike = [], []
    for d in range(12):
        for first, second in ("xy", "zx", "yz"):
            for rater in ("amy", "bob"):
                value = rng.integers(3) / 2
                rows.append(versus(first, second, f"d{d}", rater, value))
                step = scored[f"d{d}", first] - scored[f"d{d}", second]
                alike.append((step > 0) - (step < 0) == 2 * value - 1)
    row = only(preferred(rows, scored))
    assert row["value"] == pytest.approx(np.mean(alike))
    assert sum(row[name] for name in COUNTS) == 72


def test_no_comparisons_no_rows(tmp_path):
    ratings, scores, _ = study()
    for found in (
        preferences(scores_of(scores), ratings, CRITERIA, HIGHER),
        preferences(scores_of(scores), empty(RATINGS), CRITERIA, HIGHER),
        preferences(empty(SCORES), ratings_of(*ASKED), CRITERIA, HIGHER),
    ):
        assert len(found) == 0
        write(PREFERENCES, found, tmp_path / "p.parquet")


def test_bad_input():
    with pytest.raises(BadInput, match="criterion 'preference' is not declared"):
        preferred(criteria={})
    mixed = scores_of(SCORED)
    mixed.loc[mixed["author"] == "y", "recipe"] = "m|v2"
    with pytest.raises(BadInput, match=r"m \(judge none, part full\) mixes 2 recipes"):
        preferences(mixed, ratings_of(*ASKED), CRITERIA, HIGHER)
    # Texts that nobody compared may have another.
    mixed = pd.concat(
        [scores_of(SCORED), scores_of({("d9", "x"): 1.0}, recipe="m|v2")], ignore_index=True
    )
    row = only(preferences(mixed, ratings_of(*ASKED), CRITERIA, HIGHER))
    assert (row["n_same"], row["recipe"]) == (3, "m|v1")

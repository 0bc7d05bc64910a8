"""Ratings as one score per text: claims, comparisons, several raters; recipes and criteria."""

import pytest
from pydantic import ValidationError

from metassay.core.errors import BadInput
from metassay.meta_evaluation.agreement import agreement, rating_summaries
from metassay.meta_evaluation.options import MetaOptions
from metassay.meta_evaluation.study import human_scores
from tests.meta_evaluation.invented_study import (
    CRITERIA,
    OPTIONS,
    correlated,
    rate,
    ratings_of,
    scores_of,
    study,
)


def people(criterion, *rows):
    """Scores by author, of rows (author, rater, value, unit)."""
    ratings = ratings_of(
        *(
            rate(criterion, author, "d", rater, v, unit=unit)
            for author, rater, v, unit in rows
        )
    )
    return human_scores(ratings, CRITERIA).set_index("author")["value"].to_dict()


def test_claims_are_averaged_by_rater_then_over_raters():
    rows = [("x", "amy", value, f"claim:{n}") for n, value in enumerate((1, 1, 0, 0))]
    # abstained once
    rows += [("x", "bob", 1, "claim:0"), ("x", "bob", None, "claim:1")]
    rows += [("reference", "bob", 0, "claim:0")]
    # Amy 2/4, Bob 1/1: (.5 + 1) / 2; pooled over ratings it would be 3/5.
    assert people("coverage", *rows) == {"x": 0.75}


def test_preferences_become_rates_of_wins_on_their_scale():
    rows = [
        ("x", "amy", 1, "versus:y"),
        ("x", "amy", 0.5, "versus:z"),
        ("y", "amy", 0, "versus:z"),
        ("x", "bob", 0, "versus:y"),
        ("x", "bob", None, "versus:z"),
        ("reference", "bob", 1, "versus:y"),
    ]
    # Amy: x won and tied 1.5/2, y lost twice 0, z tied and won 1.5/2.
    # Bob: x lost 0; y beat x and lost against the reference 1/2; z was never judged.
    assert people("preference", *rows) == {"x": 0.375, "y": 0.25, "z": 0.75}
    assert people("grade", ("x", "amy", 2, "versus:y")) == {"x": 2, "y": 4}


@pytest.mark.parametrize(
    ("rows", "several"),
    [
        ([("amy", "text")], False),
        ([("amy", "text"), ("bob", "text")], True),
        ([("amy", "claim:0"), ("amy", "claim:1")], True),
    ],
)
def test_a_value_is_a_mean_where_two_rated_or_one_rated_two_claims(rows, several):
    ratings = ratings_of(
        *(rate("grade", "s1", "d1", rater, 3.0, unit=u) for rater, u in rows)
    )
    assert human_scores(ratings, CRITERIA)["several"].tolist() == [several]


def test_recipes_are_never_mixed_and_criteria_are_declared():
    ratings, scores, _ = study()
    mixed = scores_of(scores)
    mixed.loc[0, "recipe"] = "m|v2"
    with pytest.raises(BadInput, match=r"m \(judge none, part full\) mixes 2 recipes"):
        correlated(mixed, ratings)
    ratings["criterion"] = "erors"
    for call in (
        lambda: correlated(scores_of(scores), ratings),
        lambda: agreement(ratings, CRITERIA, OPTIONS),
        lambda: rating_summaries(ratings, CRITERIA, OPTIONS),
        lambda: human_scores(ratings, CRITERIA),
    ):
        with pytest.raises(BadInput, match="criterion 'erors' is not declared"):
            call()


@pytest.mark.parametrize(
    "wrong",
    [
        {"resamples": 0},
        {"confidence": 1.0},
        {"seed": -1},
        {"resample": "texts"},
        {"other": 1},
    ],
)
def test_options_are_strict(wrong):
    with pytest.raises(ValidationError):
        MetaOptions(**{"resamples": 10, "confidence": 0.95, "seed": 0} | wrong)

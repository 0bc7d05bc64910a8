import pytest
from pydantic import ValidationError

from metassay.core.errors import BadInput
from metassay.meta_evaluation.agreement import agreement
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


def test_claims_are_averaged_by_rater_then_over_raters():
    rows = [
        rate("coverage", "x", "d", "amy", value, unit=f"claim:{n}")
        for n, value in enumerate((1, 1, 0, 0))
    ]
    rows.append(rate("coverage", "x", "d", "bob", 1, unit="claim:0"))
    rows.append(rate("coverage", "x", "d", "bob", None, unit="claim:1"))  # abstained
    rows.append(rate("coverage", "reference", "d", "bob", 0, unit="claim:0"))
    (row,) = human_scores(ratings_of(*rows), CRITERIA).to_dict("records")
    # Amy 2/4, Bob 1/1: (.5 + 1) / 2; pooled over ratings it would be 3/5.
    assert row["value"] == 0.75
    assert (row["study"], row["doc_id"], row["author"]) == ("s1", "d", "x")


def test_preferences_become_rates_of_wins():
    rows = [
        rate("preference", "x", "d", "amy", 1, unit="versus:y"),
        rate("preference", "x", "d", "amy", 0.5, unit="versus:z"),
        rate("preference", "y", "d", "amy", 0, unit="versus:z"),
        rate("preference", "x", "d", "bob", 0, unit="versus:y"),
        rate("preference", "x", "d", "bob", None, unit="versus:z"),
        rate("preference", "reference", "d", "bob", 1, unit="versus:y"),
    ]
    found = human_scores(ratings_of(*rows), CRITERIA).set_index("author")["value"]
    # Amy: x won and tied 1.5/2, y lost twice 0, z tied and won 1.5/2.
    # Bob: x lost 0; y beat x and lost against the reference 1/2; z was never judged.
    assert found.to_dict() == {"x": 0.375, "y": 0.25, "z": 0.75}


def test_a_comparison_is_mirrored_on_its_own_scale():
    rows = [rate("grade", "x", "d", "amy", 2, unit="versus:y")]
    found = human_scores(ratings_of(*rows), CRITERIA).set_index("author")["value"]
    assert found.to_dict() == {"x": 2, "y": 4}


def test_recipes_are_never_mixed():
    ratings, scores, _ = study()
    mixed = scores_of(scores)
    mixed.loc[0, "recipe"] = "m|v2"
    with pytest.raises(BadInput, match=r"m \(judge none, part full\) mixes 2 recipes"):
        correlated(mixed, ratings)


def test_a_criterion_must_be_declared():
    ratings, scores, _ = study()
    ratings["criterion"] = "erors"
    for call in (
        lambda: correlated(scores_of(scores), ratings),
        lambda: agreement(ratings, CRITERIA, OPTIONS),
        lambda: human_scores(ratings, CRITERIA),
    ):
        with pytest.raises(BadInput, match="criterion 'erors' is not declared"):
            call()


@pytest.mark.parametrize(
    "wrong",
    [{"resamples": 0}, {"confidence": 1.0}, {"seed": -1}, {"resample": "texts"}, {"other": 1}],
)
def test_options_are_strict(wrong):
    with pytest.raises(ValidationError):
        MetaOptions(**{"resamples": 10, "confidence": 0.95, "seed": 0} | wrong)


def test_a_value_is_a_mean_where_two_rated_or_one_rated_two_claims():
    one = rate("grade", "s1", "d1", "amy", 3.0)
    for rows, several in (
        ([one], False),
        ([one, rate("grade", "s1", "d1", "bob", 3.0)], True),
        ([rate("grade", "s1", "d1", "amy", 3.0, unit=f"claim:{n}") for n in range(2)], True),
    ):
        assert human_scores(ratings_of(*rows), CRITERIA)["several"].tolist() == [several]

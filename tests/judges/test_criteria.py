"""Criteria out of a pair's context, and the grades that they allow."""

import dataclasses
import json
from typing import Any

import pytest

from metassay.core.errors import BadInput
from metassay.judges.criteria import Penalties, Scale, allows, criterion_of
from metassay.judges.lexical import LexicalJudge, LexicalOptions
from metassay.judges.protocol import Judgment
from tests.judges.rubric_setup import ADDED, BACKGROUND, FLUENT, FREE, SYMPTOMS, asks


def test_a_criterion_is_read_as_it_is_written() -> None:
    scale = criterion_of(asks(BACKGROUND))
    assert isinstance(scale, Scale)
    assert (scale.grades, scale.bounds, scale.levels["2"]) == ((1, 2, 3), (1, 3), "In part.")
    assert [one.grade for one in scale.examples] == [3, 1]
    ten = criterion_of(asks(FLUENT | {"levels": {str(n): "..." for n in (10, 9, 0)}}))
    assert isinstance(ten, Scale)
    assert ten.grades == (0, 9, 10)


@pytest.mark.parametrize(
    ("criterion", "most"),
    [
        (SYMPTOMS, 2),
        (SYMPTOMS | {"cap": None}, 3),
        (SYMPTOMS | {"cap": 9}, 3),
        (ADDED, 4),
        (FREE, None),
    ],
)
def test_the_most_penalties(criterion: dict[str, Any], most: int | None) -> None:
    found = criterion_of(asks(criterion))
    assert isinstance(found, Penalties)
    assert found.most == most
    assert allows(found, 0)
    assert allows(found, 1.5)
    assert allows(found, most or 1000)
    assert not allows(found, -1)
    assert allows(found, 4.5) == (most is None)
    assert not allows(found, float("nan"))


FAULTY = [
    ({"levels": {"1": "secret"}}, "levels: Dictionary should have at least 2 items"),
    ({"levels": {"1": "secret", "01": "secret"}}, "levels > 01"),
    ({"levels": {"1": "secret", "good": "secret"}}, "levels > good"),
    ({"more": "secret"}, "more: Extra inputs"),
    ({"kind": "penalties"}, "levels: Extra inputs"),
    ({"kind": "secret"}, "kind"),
    ({"asks": None}, "asks: Input should be a valid string"),
    ({"examples": [{"text": "secret", "grade": 4}]}, "examples: a grade must be one of the"),
    ({"examples": [{"text": "secret", "grade": "1"}]}, "examples > 0 > grade"),
]
UNFIT = [
    ({"items": []}, "items: Tuple should have at least 1 item"),
    ({"cap": 0}, "cap: Input should be greater than or equal to 1"),
    *(
        ({"examples": [{"text": "secret", "grade": grade, "violations": named}]}, "as many")
        for grade, named in (
            (1, []),
            (2, [{"item": 1}]),
            (2, [{"item": 1}, {"item": 1}]),
            (1, [{"item": 4}]),
            (1, [{"item": 0}]),
            (1, [{"what": "secret"}]),
            (3, [{"item": 1}, {"item": 2}, {"item": 3}]),
        )
    ),
]


@pytest.mark.parametrize(
    ("criterion", "problem"),
    [*((BACKGROUND | c, p) for c, p in FAULTY), *((SYMPTOMS | c, p) for c, p in UNFIT)],
)
def test_a_context_that_is_no_criterion_is_named_without_its_text(
    criterion: dict[str, Any], problem: str
) -> None:
    pair = asks(criterion)
    with pytest.raises(BadInput) as raised:
        criterion_of(pair)
    (said,) = raised.value.problems
    assert problem in said
    assert said.startswith(f"pairs: pair_id {pair.pair_id}: its context is not a criterion for")
    assert "secret" not in said.replace("'secret'", "")


def test_the_instrument_and_the_criterion_are_of_one_kind() -> None:
    for context in (None, "", "{", "[]", "null", json.dumps(SYMPTOMS)):
        with pytest.raises(BadInput, match="not a criterion for instrument 'scale'"):
            criterion_of(dataclasses.replace(asks(BACKGROUND), context=context))


# --- grades by words

FOUR = BACKGROUND | {"levels": {str(n): "..." for n in (1, 2, 3, 4)}, "examples": []}
AGAINST = "The patient took ten tablets daily"  # take? tokens: took, 10, tablet, daily


def graded(
    text: str, against: str = AGAINST, criterion: dict[str, Any] | None = None
) -> Judgment | None:
    judge = LexicalJudge(LexicalOptions(threshold=0.6, window=60))
    (found,) = judge.judge([asks(criterion or FOUR, text, against)])
    return found


@pytest.mark.parametrize(
    ("text", "grade", "found"),
    [
        ("", 1, 0),
        ("Nothing of it.", 1, 0),
        ("Daily walks.", 2, 1),
        ("10 walks, daily.", 3, 2),
        ("10 walks, daily, with a pill.", 4, 3),
        ("Ten tabs, took daily by the patient.", 4, 4),
    ],
)
def test_levels_are_equal_bands_of_the_share_of_words(text: str, grade: int, found: int) -> None:
    """Of four tokens (took, 10, tablet, daily): a quarter is the second of four levels."""
    said = f"{found} of 4 tokens found"
    assert graded(text) == Judgment("ok", grade=float(grade), explanation=said)
    worst_last = graded(text, criterion=FOUR | {"better": "lower"})
    assert worst_last == Judgment("ok", grade=float(5 - grade), explanation=said)


def test_names_of_what_a_text_is_held_against_are_no_words_of_it() -> None:
    found = graded("daily", "source:\nten daily\n\nphysical_examination:\nfever")
    assert found == Judgment("ok", grade=2.0, explanation="1 of 3 tokens found")


def test_two_levels_and_three() -> None:
    for share, two, three in (
        ("", 0, 1),
        ("daily", 0, 1),
        ("daily 10", 1, 2),
        ("daily 10 tablet", 1, 3),
    ):
        one, other = graded(share, criterion=FLUENT), graded(share, criterion=BACKGROUND)
        assert one is not None and other is not None  # noqa: PT018
        assert (one.grade, other.grade) == (two, three)


@pytest.mark.parametrize(
    ("against", "criterion"),
    [("", FOUR), ("The patient has not.", FOUR), (AGAINST, SYMPTOMS), (AGAINST, FREE)],
)
def test_what_words_cannot_tell_has_no_grade(against: str, criterion: dict[str, Any]) -> None:
    found = graded("Took ten tablets.", against, criterion)
    assert found is not None
    assert (found.status, found.grade, found.label) == ("abstained", None, None)

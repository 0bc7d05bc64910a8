"""Criteria out of a pair's context, the grades that they allow, and grades by words."""

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
    assert (scale.grades, scale.bounds, scale.levels["2"]) == (
        (1, 2, 3),
        (1, 3),
        "In part.",
    )
    assert [example.grade for example in scale.examples] == [3, 1]
    ten = criterion_of(asks(FLUENT | {"levels": {str(n): "..." for n in (10, 9, 0)}}))
    assert isinstance(ten, Scale)
    assert ten.grades == (0, 9, 10)


@pytest.mark.parametrize(
    ("criterion", "most"),
    [
        *(
            (SYMPTOMS | cap, most)
            for cap, most in (({}, 2), ({"cap": None}, 3), ({"cap": 9}, 3))
        ),
        (ADDED, 4),
        (FREE, None),
    ],
)
def test_the_most_penalties(criterion: dict[str, Any], most: int | None) -> None:
    read = criterion_of(asks(criterion))
    assert isinstance(read, Penalties)
    assert read.most == most
    grades = (0, 1.5, most or 1000, -1, 4.5, float("nan"))
    expected = [True, True, True, False, most is None, False]
    assert [allows(read, grade) for grade in grades] == expected


FAULTY: list[tuple[dict[str, Any], str]] = [
    ({"levels": {"1": "secret"}}, "levels: Dictionary should have at least 2 items"),
    ({"levels": {"1": "secret", "01": "secret"}}, "levels > 01"),
    ({"levels": {"1": "secret", "good": "secret"}}, "levels > good"),
    ({"more": "secret"}, "more: Extra inputs"),
    ({"kind": "penalties"}, "levels: Extra inputs"),
    ({"kind": "secret"}, "kind"),
    ({"asks": None}, "asks: Input should be a valid string"),
    (
        {"examples": [{"text": "secret", "grade": 4}]},
        "examples: a grade must be one of the",
    ),
    ({"examples": [{"text": "secret", "grade": "1"}]}, "examples > 0 > grade"),
]
VIOLATIONS: list[tuple[int, list[dict[str, Any]]]] = [
    (1, []),
    (2, [{"item": 1}]),
    (2, [{"item": 1}, {"item": 1}]),
    (1, [{"item": 4}]),
    (1, [{"item": 0}]),
    (1, [{"what": "secret"}]),
    (3, [{"item": n} for n in (1, 2, 3)]),
]
UNFIT: list[tuple[dict[str, Any], str]] = [
    ({"items": []}, "items: Tuple should have at least 1 item"),
    ({"cap": 0}, "cap: Input should be greater than or equal to 1"),
    *(
        (
            {
                "examples": [
                    {"text": "secret", "grade": grade, "violations": violations}
                ]
            },
            "as many",
        )
        for grade, violations in VIOLATIONS
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
    (line,) = raised.value.problems
    assert problem in line
    assert line.startswith(
        f"pairs: pair_id {pair.pair_id}: its context is not a criterion for"
    )
    assert "secret" not in line.replace("'secret'", "")


@pytest.mark.parametrize("context", [None, "", "{", "[]", "null", json.dumps(SYMPTOMS)])
def test_the_instrument_and_the_criterion_are_of_one_kind(context: str | None) -> None:
    with pytest.raises(BadInput, match="not a criterion for instrument 'scale'"):
        criterion_of(dataclasses.replace(asks(BACKGROUND), context=context))


# --- grades by words

FOUR = BACKGROUND | {"levels": {str(n): "..." for n in (1, 2, 3, 4)}, "examples": []}
AGAINST = "The patient took ten tablets daily"  # tokens: took, 10, tablet, daily


def grade(
    text: str, against: str = AGAINST, criterion: dict[str, Any] = FOUR
) -> Judgment:
    judge = LexicalJudge(LexicalOptions(threshold=0.6, window=60))
    (judgment,) = judge.judge([asks(criterion, text, against)])
    assert judgment is not None
    return judgment


@pytest.mark.parametrize(
    ("text", "tokens", "four", "three", "two"),  # levels of so many
    [
        ("", 0, 1, 1, 0),
        ("Nothing of it.", 0, 1, 1, 0),
        ("Daily walks.", 1, 2, 1, 0),
        ("10 walks, daily.", 2, 3, 2, 1),
        ("10 walks, daily, with a pill.", 3, 4, 3, 1),
        ("Ten tabs, took daily by the patient.", 4, 4, 3, 1),
    ],
)
def test_levels_are_equal_bands_of_the_share_of_words(
    text: str, tokens: int, four: int, three: int, two: int
) -> None:
    explanation = f"{tokens} of 4 tokens found"
    assert grade(text) == Judgment("ok", grade=float(four), explanation=explanation)
    assert grade(text, criterion=FOUR | {"better": "lower"}).grade == 5 - four
    levels = [
        grade(text, criterion=criterion).grade for criterion in (BACKGROUND, FLUENT)
    ]
    assert levels == [three, two]


def test_names_of_what_a_text_is_held_against_are_no_words_of_it() -> None:
    judgment = grade("daily", "source:\nten daily\n\nphysical_examination:\nfever")
    assert judgment == Judgment("ok", grade=2.0, explanation="1 of 3 tokens found")


@pytest.mark.parametrize(
    ("against", "criterion"),
    [("", FOUR), ("The patient has not.", FOUR), (AGAINST, SYMPTOMS), (AGAINST, FREE)],
)
def test_what_words_cannot_tell_has_no_grade(
    against: str, criterion: dict[str, Any]
) -> None:
    judgment = grade("Took ten tablets.", against, criterion)
    assert (judgment.status, judgment.grade, judgment.label) == (
        "abstained",
        None,
        None,
    )

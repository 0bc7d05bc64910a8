"""Ratings that cannot be grades: by hand on several scales, and in honest studies."""

import doctest

import numpy as np
import pytest

import metassay
from metassay.tabular import far_ratings
from metassay.tabular.far_ratings import find_far_ratings
from tests.api.small_study import FEW, problems, study

FIVE = [1, 2, 3, 4, 5] * 20
HUNDRED = list(range(20, 100)) * 2


@pytest.mark.parametrize(
    ("grades", "value", "impossible"),
    [
        (FIVE, 30, True),
        (FIVE, 55, True),
        (FIVE, -20, True),
        (FIVE, 11, False),
        (FIVE, 9, False),  # rare, and above whole numbers in a row
        (FIVE, 6, None),
        (FIVE, 0, None),
        ([0, 0.25, 0.5, 0.75, 1] * 20, 75, True),
        (HUNDRED, 999, True),
        (HUNDRED, 300, False),
        (HUNDRED, 120, None),
        ([0, 0, 0, 1, 1, 2] * 10, 9, False),  # counts of errors
        ([1, 0] * 20, 1, None),
    ],
)
def test_a_rating_far_from_all_others_by_hand(grades, value, impossible):
    far = find_far_ratings([*grades, value])
    assert [of.impossible for of in far] == ([] if impossible is None else [impossible])
    if far:
        assert (far[0].place, far[0].value) == (len(grades), value)
        assert far[0].others == (min(grades), max(grades))


def test_several_are_told_at_once_the_farthest_first():
    values = [of.value for of in find_far_ratings([*FIVE, 30, 99, -50, 9999])]
    assert values == [9999, 99, -50, 30]
    # A tenth of the ratings is no slip.
    assert find_far_ratings([*FIVE, *[30] * 12]) == []


def test_honest_ratings_are_seldom_doubted():
    rng = np.random.default_rng(3)
    honest = {
        "1 to 5": lambda: np.clip(np.rint(3 + rng.normal(size=144)), 1, 5),
        "ceiling": lambda: np.clip(np.rint(4.7 + 0.8 * rng.normal(size=144)), 1, 5),
        "0 to 10": lambda: np.clip(np.rint(9 + 1.5 * rng.normal(size=144)), 0, 10),
        "slider": lambda: np.clip(np.rint(70 + 20 * rng.normal(size=144)), 0, 100),
    }
    for draw in honest.values():
        doubted = [bool(find_far_ratings(draw().tolist())) for _ in range(200)]
        assert np.mean(doubted) <= 0.01


def test_the_examples_of_the_module_are_true():
    assert doctest.testmod(far_ratings).failed == 0


# ---- meta-eval -------------------------------------------------------------------------------


def rated(value):
    scores, ratings = study()
    ratings["grade"] = np.clip(ratings["grade"] + 3, 1, 5)
    ratings.loc[17, "grade"] = value
    return scores, ratings


def test_an_impossible_rating_is_refused_with_its_row_and_the_option_that_answers():
    (line,) = problems(*rated(30.0), **FEW)
    assert line.startswith("ratings: row 17: 'grade' has the value 30, far from")
    assert "scale={'grade': '1..30'}" in line
    results = metassay.meta_eval(*rated(30.0), scale={"grade": "1..30"}, **FEW)
    assert not any("far from" in line for line in results.warnings)


def test_a_doubtful_rating_is_warned_of_and_levels_are_printed():
    results = metassay.meta_eval(*rated(11.0), **FEW)
    (line,) = [line for line in results.warnings if "far from" in line]
    assert line.startswith("ratings: row 17: 'grade' has the value 11")
    assert any("levels: 1, 2, 3, 4, 5, 11 (once)" in note for note in results.notes)
    for scale in ("1..11", "count"):
        declared = metassay.meta_eval(*rated(11.0), scale={"grade": scale}, **FEW)
        assert not any("far from" in line for line in declared.warnings)


def test_declared_ends_come_first():
    (line,) = problems(*rated(6.0), scale={"grade": "1..5"}, **FEW)
    assert line.startswith("ratings: row 17: 'grade' is outside its scale of 1 to 5")
    assert "(value 6)" in line


def test_codes_of_no_rating_are_refused():
    (line,) = problems(*rated(-1.0), **FEW)
    assert "'grade' has the value -1, far from all others" in line

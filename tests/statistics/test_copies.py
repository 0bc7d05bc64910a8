"""Exact copies of ratings, beyond chance."""

import doctest

import numpy as np

from metassay.statistics import copies
from metassay.statistics.copies import count_copied, equal_pairs

GRADES = np.array([1.0, 2, 3, 4, 5, 1, 2, 3, 4, 5])


def test_a_copy_is_told_with_its_texts():
    other = GRADES[::-1]
    part = np.where(np.arange(10) < 8, GRADES, np.nan)
    assert list(equal_pairs(np.stack([GRADES, other, GRADES]))) == [(0, 2, 10)]
    assert list(equal_pairs(np.stack([GRADES, part]))) == [(0, 1, 8)]


def test_equal_by_chance_is_no_copy():
    """Of 9 passes and a fail there are 10 orders; nearly all of 5 texts pass anyway."""
    passes = np.array([1.0] * 9 + [0.0])
    assert list(equal_pairs(np.stack([passes, passes]))) == []
    assert list(equal_pairs(np.stack([GRADES[:4], GRADES[:4]]))) == []


def test_scores_that_are_ratings_on_another_scale():
    assert count_copied(GRADES, GRADES) == 10
    assert count_copied((GRADES - 1) / 4, GRADES) == 10
    assert count_copied(6 - GRADES, GRADES) == 10
    assert count_copied(GRADES + 0.01 * np.arange(10), GRADES) == 0
    assert count_copied(np.ones(10), GRADES) == 0


def test_the_examples_of_the_module_are_true():
    assert doctest.testmod(copies, extraglobs={"np": np}).failed == 0

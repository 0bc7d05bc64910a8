"""Raters whose scale is turned round, or who rate at random: found, and honest ones left alone."""

import numpy as np
import pytest

from metassay.statistics.doubted_raters import NOBODY, find_doubted_raters
from metassay.statistics.layout import default_layout


def ratings(rng, shape, raters, *, reliability=0.6, turned=(), random=()):
    """Grades of 1 to 5 by raters who hear the same quality; (raters, systems, documents)."""
    quality = rng.normal(size=shape) + 0.5 * rng.normal(size=(shape[0], 1))
    quality = quality / quality.std()
    grades = []
    for rater in range(raters):
        noise = np.sqrt(1 - reliability) * rng.normal(size=shape)
        heard = np.sqrt(reliability) * quality + noise
        if rater in random:
            heard = rng.normal(size=shape)
        heard = -heard if rater in turned else heard
        grades.append(np.clip(np.rint(3 + 1.2 * heard), 1, 5))
    return np.array(grades)


def doubted(grades):
    return find_doubted_raters(grades, default_layout(grades.shape[1:]))


@pytest.mark.parametrize(
    ("raters", "turned"),
    [(2, (0,)), (3, (2,)), (4, (1,)), (4, (0, 3)), (5, (4,)), (5, (1, 3))],
)
def test_raters_who_are_turned_round_are_named(raters, turned):
    rng = np.random.default_rng(2)
    named = doubted(ratings(rng, (8, 20), raters, turned=turned))
    others = set(range(raters)) - set(turned)
    # Of two camps of one size, either may be.
    assert set(named.turned) in (set(turned), others)
    assert len(named.turned) <= raters / 2
    assert named.agreement < -0.3
    assert named.apart == ()


def test_one_who_rates_at_random_stands_apart():
    rng = np.random.default_rng(3)
    assert doubted(ratings(rng, (8, 40), 3, random=(1,))).apart == (1,)
    assert doubted(ratings(rng, (8, 40), 5, random=(0,))).apart == (0,)


@pytest.mark.parametrize("raters", [2, 3, 5])
def test_honest_raters_are_seldom_doubted(raters):
    rng = np.random.default_rng(4)
    studies = [ratings(rng, (4, 10), raters, reliability=0.4) for _ in range(150)]
    every = [doubted(grades) for grades in studies]
    assert sum(bool(of.turned) for of in every) == 0
    assert sum(bool(of.apart) for of in every) <= 4


def test_raters_who_share_no_text_are_not_compared():
    grades = ratings(np.random.default_rng(5), (4, 20), 2, turned=(1,))
    grades[0, :, :10] = np.nan
    grades[1, :, 10:] = np.nan
    assert doubted(grades) == NOBODY
    assert doubted(grades[:1]) == NOBODY
    # A lenient rater agrees well.
    lenient = ratings(np.random.default_rng(6), (8, 20), 3)
    lenient[2] = np.minimum(lenient[2] + 1, 5)
    assert doubted(lenient) == NOBODY


def test_the_mean_correlation_by_hand():
    """Two raters of six texts in reverse order of each other."""
    grades = np.array([[1.0, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1]])[:, :, None]
    grades = np.repeat(grades, 4, axis=2)
    assert doubted(grades).agreement == pytest.approx(-1)

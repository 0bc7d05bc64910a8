"""Classes of systems or documents: by hand, beside all partitions, and how often they are found."""

import doctest
from itertools import combinations

import numpy as np
import pytest

from metassay.statistics import classes
from metassay.statistics.classes import (
    best_classes,
    cuts_of,
    fit_classes,
    less_classes,
    set_apart,
)


def share_within(means, label):
    within = sum(
        np.sum((means[label == k] - means[label == k].mean()) ** 2) for k in set(label)
    )
    return within / np.sum((means - means.mean()) ** 2)


@pytest.mark.parametrize("n", [2, 3])
def test_the_best_classes_are_those_of_all_partitions(n):
    rng = np.random.default_rng(1)
    for _ in range(30):
        means = rng.normal(size=rng.integers(6, 12))
        rank = np.argsort(np.argsort(means))
        labels = [
            np.searchsorted(cuts, rank, side="right")
            for cuts in combinations(range(1, means.size), n - 1)
        ]
        best = min(labels, key=lambda label: share_within(means, label))
        ours = best_classes(means, n)
        assert ours.label.tolist() == best.tolist()
        assert ours.share == pytest.approx(share_within(means, best))


def test_the_examples_of_the_module_are_true():
    assert doctest.testmod(classes, extraglobs={"np": np}).failed == 0


def test_those_outside_of_the_largest_class_are_set_apart():
    means = np.array([0.1, 5.0, 5.2, -0.1, 5.1, 4.9, 5.05, 0.0])
    assert set_apart(means).tolist() == [True, False, False, True, *[False] * 3, True]
    # Of two classes of a size the better one stays.
    assert set_apart(np.array([0, 0.1, 5, 5.1])).tolist() == [True, True, False, False]
    three = np.repeat([0.0, 3.0, 6.0], 4) + np.tile([0, 0.1, 0.2, 0.3], 3)
    assert set_apart(three).tolist() == [True] * 8 + [False] * 4
    # Errors of the means blur classes; three units have none.
    assert not set_apart(means, error=9.0).any()
    assert not set_apart(means[:3]).any()


@pytest.mark.parametrize("n", [8, 16, 40])
def test_means_that_spread_out_are_seldom_set_apart(n):
    """3 % of samples for each number of classes; 5 % for both together."""
    rng = np.random.default_rng(n)
    rate = np.mean([set_apart(rng.normal(size=n)).any() for _ in range(600)])
    assert rate < 0.08


@pytest.mark.parametrize("n", [8, 16, 50])
def test_the_table_of_shares_is_what_is_simulated(n):
    rng = np.random.default_rng(3)
    for k in (2, 3):
        shares = [best_classes(rng.normal(size=n), k).share for _ in range(1500)]
        usual = classes._interpolate_share(classes._USUAL[k], n)
        least = classes._interpolate_share(classes._LEAST[k], n)
        assert np.median(shares) == pytest.approx(usual, rel=0.05)
        assert 0.015 < np.mean(np.array(shares) < least) < 0.05


def test_steps_or_a_line():
    rng = np.random.default_rng(5)
    steps = np.repeat([0.0, 3.0], 8)
    people = steps + 0.5 * rng.normal(size=16)
    label = fit_classes(people, steps + 0.5 * rng.normal(size=16))
    assert label is not None
    assert label.tolist() == [0] * 8 + [1] * 8
    # One who follows people within classes too, and one of people who spread out.
    assert fit_classes(people, people + 0.2 * rng.normal(size=16)) is None
    quality = np.linspace(-2, 2, 16)
    assert fit_classes(quality, quality + 0.5 * rng.normal(size=16)) is None
    # Of many metrics one looks like that by chance.
    noise = people + 0.3 * rng.normal(size=16)
    assert fit_classes(people, noise) is None
    assert fit_classes(people, noise, n_metrics=1000) is not None


def test_texts_decide_between_steps_and_a_line():
    # Eight systems: the five and the three differ in people's means and in the metric's.
    people = np.array([0.0, 0.4, 0.9, 2.4, 2.7, 3.0, 3.4, 3.7])
    metric = np.array([0.7, 0.1, 0.4, 3.0, 2.6, 2.5, 3.3, 2.8])
    answers = [
        fit_classes(people, metric, follows_texts=f) for f in (True, None, False)
    ]
    explained = [answer is not None for answer in answers]
    # Never fewer classes the less a metric is known to follow people.
    assert explained == sorted(explained)
    assert explained[-1]
    # A line, whatever the texts say.
    line = np.linspace(-2, 2, 16)
    assert fit_classes(line, line + 0.01 * metric[0], follows_texts=False) is None


@pytest.mark.parametrize("n", [8, 12])
def test_three_classes_of_few_units_are_found(n):
    rng = np.random.default_rng(n)
    steps = np.repeat([0.0, 3.0, 6.0], [n // 4, n // 2 - n // 4, n - n // 2])
    labels = []
    for _ in range(300):
        people, metric = steps + 0.7 * rng.normal(size=(2, n))
        labels.append(fit_classes(people, metric, follows_texts=False))
    assert np.mean([label is not None for label in labels]) > 0.94


def test_class_means_are_subtracted():
    scores = np.array([[1.0, 3.0], [2.0, np.nan], [10.0, 20.0]])
    rest = less_classes(scores, np.array([0, 0, 1]), -2)
    assert rest == pytest.approx(np.array([[-1, 1], [0, np.nan], [-5, 5]]), nan_ok=True)
    by_document = less_classes(scores[[0, 2]], np.array([0, 1]), -1)
    assert by_document == pytest.approx(np.array([[-4.5, -8.5], [4.5, 8.5]]))


def test_cuts_lie_between_all_of_few_units_and_at_some_of_many():
    labels = cuts_of(np.array([3.0, 1.0, 2.0]))
    assert [label.tolist() for label in labels] == [[1, 0, 1], [1, 0, 0]]
    assert len(cuts_of(np.arange(500.0))) == 19

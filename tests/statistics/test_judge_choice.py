"""The best of several judges, on halves of documents: by hand, by enumeration, and by numpy."""

import itertools

import numpy as np
import pytest

from metassay.statistics.judge_choice import choose_judge, labels_for, pick_judge

DOCUMENTS, ROWS = 40, 3


def judged(*rates, seed=1):
    """Whether each judge is right, people's labels, and the documents of all rows."""
    rng = np.random.default_rng(seed)
    n = DOCUMENTS * ROWS
    right = (rng.random((len(rates), n)) < np.array(rates)[:, None]).astype(float)
    passed = (rng.random(n) < 0.8).astype(float)
    return right, passed, np.arange(n) // ROWS


def choose(right, passed, cluster, **options):
    return choose_judge(right, passed, cluster, rng=np.random.default_rng(0), **options)


def test_documents_are_split_and_each_half_has_its_own_numbers():
    right, passed, cluster = judged(0.7, 0.75, 0.95)
    choice = choose(right, passed, cluster)
    first, second = choice.choosing.rows, choice.telling.rows
    assert not (first & second).any()
    assert (first | second).all()
    assert not set(cluster[first]) & set(cluster[second])
    assert np.unique(cluster[first]).size == DOCUMENTS // 2
    assert choice.choosing.values == pytest.approx(right[:, first].mean(axis=1))
    assert choice.telling.values == pytest.approx(right[:, second].mean(axis=1))
    assert choice.chosen == np.argmax(right[:, first].mean(axis=1)) == 2
    assert choice.value == pytest.approx(right[2, second].mean())
    assert choice.gain == pytest.approx((right[2] - right[0])[second].mean())
    assert choice.outcome == "better"


def test_the_test_is_that_of_all_signs_of_the_documents_differences():
    rng = np.random.default_rng(5)
    right = (rng.random((2, 24)) < [[0.5], [0.85]]).astype(float)
    cluster = np.arange(24) // 2
    choice = choose(right, np.ones(24), cluster, present=0)
    assert choice.chosen == 1
    rows = choice.telling.rows
    difference = (right[1] - right[0])[rows]
    by_document = [
        difference[cluster[rows] == document].sum()
        for document in np.unique(cluster[rows])
    ]
    sums = [
        abs(np.dot(signs, by_document))
        for signs in itertools.product((1, -1), repeat=len(by_document))
    ]
    assert choice.p == pytest.approx(np.mean(np.array(sums) >= abs(sum(by_document))))


def test_balanced_accuracy_is_the_mean_over_passes_and_fails():
    right, passed, cluster = judged(0.7, 0.9)
    choice = choose(right, passed, cluster, by="balanced_accuracy")
    rows = choice.telling.rows
    of_classes = [right[:, rows & (passed == label)].mean(axis=1) for label in (0, 1)]
    assert choice.telling.values == pytest.approx(np.mean(of_classes, axis=0))
    gain = np.mean(of_classes, axis=0)[choice.chosen] - np.mean(of_classes, axis=0)[0]
    assert choice.gain == pytest.approx(gain)


def test_a_tie_keeps_the_present_judge_whatever_the_last_digits_are():
    # Of 10 passes and 30 fails: 3/10 and 0/30, or 2/10 and 3/30, whose sums are equal.
    passed = np.repeat([1.0, 0.0], [10, 30])
    present = np.zeros(40)
    present[:3] = 1
    other = np.zeros(40)
    other[:2] = 1
    other[10:13] = 1
    assert 0.2 + 0.1 > 0.3
    for right in ([present, other], [other, present]):
        picked = pick_judge(np.stack(right), passed, by="balanced_accuracy")
        assert picked == 0


def test_a_judge_that_passes_everything_is_not_the_best_by_balanced_accuracy():
    passed = np.array([1.0, 1.0, 1.0, 0.0] * 30)
    rng = np.random.default_rng(2)
    careful = (rng.random(120) < 0.6).astype(float)
    right = np.stack([careful, passed])  # the second passes all
    cluster = np.arange(120) // 4
    assert choose(right, passed, cluster).chosen == 1
    assert choose(right, passed, cluster, by="balanced_accuracy").chosen == 0


def test_a_tie_is_the_judges_that_is_in_use():
    right, passed, cluster = judged(0.8)
    twice = np.concatenate([right, right])
    for present in (0, 1):
        choice = choose(twice, passed, cluster, present=present)
        assert choice.chosen == present
        assert choice.outcome == "the same judge"
        assert np.isnan([choice.gain, choice.p, choice.labels]).all()


def test_labels_are_those_of_a_paired_test_of_independent_rows():
    difference = np.array([1.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 1.0] * 50)
    variance = np.var(difference)
    by_hand = 2 * np.ceil((1.96 + 0.84) ** 2 * variance / 0.05**2)
    assert labels_for(0.05, difference, np.arange(400)) == by_hand
    assert np.isnan(labels_for(0.05, np.zeros(10), np.arange(10)))


def test_one_document_cannot_be_split():
    with pytest.raises(ValueError, match="two halves"):
        choose(np.ones((2, 4)), np.ones(4), np.zeros(4, dtype=int))


def test_judges_with_the_same_counts_are_equal_to_the_last_bit():
    """Whichever rows they are right on: the one in use stays."""
    rng = np.random.default_rng(4)
    passed = np.array([1.0, 1.0, 0.0] * 70)
    cluster = np.arange(210) // 3
    for by in ("agreement", "balanced_accuracy"):
        for _ in range(20):
            places = rng.permutation(70)
            orders = [places, (places + 1) % 70]
            right = np.ones((2, 70, 3))
            # In each document each judge is wrong on one pass, at another place.
            right[0, :, 0] = 0
            right[1, :, 1] = 0
            # and on the fail of the same documents
            right[:, orders[0][:20], 2] = 0
            choice = choose(right.reshape(2, -1), passed, cluster, by=by, present=1)
            assert choice.outcome == "the same judge"


def test_balanced_accuracy_needs_both_labels_in_both_halves():
    right, _, cluster = judged(0.7, 0.9)
    with pytest.raises(ValueError, match="one label"):
        choose(right, np.ones(DOCUMENTS * ROWS), cluster, by="balanced_accuracy")

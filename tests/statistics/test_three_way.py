import numpy as np
import pytest
from sklearn import metrics

from metassay.statistics.classification import three_way

ENTAILED, NEUTRAL, CONTRADICTED = 0.0, 1.0, 2.0
NAN = np.nan


def found(judge, gold, **more):
    return three_way(judge, gold, confidence=0.95, rng=np.random.default_rng(0), **more)


def test_by_hand():
    # Right: e e e e n n c c. The judge finds three, one and both of them.
    gold = [0, 0, 0, 0, 1, 1, 2, 2]
    judge = [0, 0, 0, 2, 1, 0, 2, 2]
    made = found(judge, gold)
    value = {name: estimate.value for name, estimate in made.items()}
    assert value["accuracy_3way"] == pytest.approx(6 / 8)
    assert value["balanced_accuracy_3way"] == pytest.approx((3 / 4 + 1 / 2 + 2 / 2) / 3)
    f1 = (2 * 3 / (4 + 4), 2 * 1 / (2 + 1), 2 * 2 / (2 + 3))
    assert value["macro_f1_3way"] == pytest.approx(sum(f1) / 3)
    for estimate in made.values():
        assert estimate.low < estimate.value < estimate.high
        assert estimate.n == 8


@pytest.mark.parametrize("labels", [(0, 1, 2), (0, 1), (2,)])
def test_equals_scikit_learn_whatever_labels_are_used(labels):
    rng = np.random.default_rng(4)
    gold, judge = rng.choice(labels, 40), rng.choice((0, 1, 2), 40)
    made = found(judge, gold)
    assert made["accuracy_3way"].value == pytest.approx(metrics.accuracy_score(gold, judge))
    recalls = metrics.recall_score(gold, judge, labels=labels, average="macro")
    assert made["balanced_accuracy_3way"].value == pytest.approx(recalls)
    macro = metrics.f1_score(gold, judge, average="macro", zero_division=0)
    assert made["macro_f1_3way"].value == pytest.approx(macro)


def test_what_is_missing_is_left_out_and_nothing_is_undefined():
    some = found([0, NAN, 1, 2], [0, 1, NAN, 2])
    assert some == found([0, 2], [0, 2])
    assert all(np.isnan(estimate.value) for estimate in found([], []).values())
    assert all(np.isnan(estimate.value) for estimate in found([NAN], [1]).values())


def test_copies_of_texts_are_worth_no_more_than_the_texts():
    rng = np.random.default_rng(5)
    gold = rng.integers(0, 3, 90).astype(float)
    judge = np.where(rng.random(90) < 0.7, gold, rng.integers(0, 3, 90))
    once = found(judge, gold)
    of = np.repeat(np.arange(90), 3)
    thrice = found(np.repeat(judge, 3), np.repeat(gold, 3), cluster=of)
    for name, one in once.items():
        many = thrice[name]
        assert many.value == pytest.approx(one.value)
        assert many.high - many.low == pytest.approx(one.high - one.low, rel=0.12)


def test_wrong_values_are_refused():
    for judge, gold in (([3.0], [0.0]), ([0.5], [0.0]), ([0.0], [0.0, 1.0])):
        with pytest.raises(ValueError, match="want"):
            found(judge, gold)

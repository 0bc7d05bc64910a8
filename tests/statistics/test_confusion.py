"""Accuracy, precision, recall and F1 of labels: by hand, and as scikit-learn has them."""

import warnings

import numpy as np
import pytest
from sklearn import metrics

from metassay.statistics import classification as confusion
from metassay.statistics import shares

# Four abstracts' sentences by hand: background, method, result; `none` is a label like others.
RIGHT = [0, 0, 0, 1, 1, 1, 2, 2]
SAID = [0, 0, 1, 1, 1, 3, 2, 1]
TABLE = np.array(
    [[2, 1, 0, 0], [0, 2, 0, 1], [0, 1, 1, 0], [0, 0, 0, 0]], dtype=np.float64
)  # rows: right


def test_by_hand() -> None:
    counts = confusion.tables(RIGHT, SAID, [0, 0, 1, 1, 1, 2, 2, 3], labels=4, documents=4)
    assert counts.shape == (4, 4, 4)
    assert np.array_equal(counts.sum(axis=0), TABLE)
    assert counts[3, 2, 1] == 1
    assert confusion.support(TABLE).tolist() == [3, 3, 2, 0]
    assert confusion.precision(TABLE).tolist()[:3] == [1.0, 0.5, 1.0]
    assert confusion.precision(TABLE)[3] == 0.0  # given once, never right
    assert confusion.recall(TABLE).tolist()[:3] == pytest.approx([2 / 3, 2 / 3, 1 / 2])
    assert np.isnan(confusion.recall(TABLE)[3])
    each = [0.8, 4 / 7, 2 / 3]  # 2*2/(3+2), 2*2/(3+4), 2*1/(2+1)
    assert confusion.f1(TABLE).tolist()[:3] == pytest.approx(each)
    assert confusion.macro_f1(TABLE) == pytest.approx(sum(each) / 4)  # `none`, nobody's, is given
    assert confusion.weighted_f1(TABLE) == pytest.approx((3 * 0.8 + 3 * 4 / 7 + 2 * 2 / 3) / 8)
    assert confusion.accuracy(TABLE) == 5 / 8
    assert confusion.accuracy(TABLE, 2) == 5 / 10  # of two more that have no label
    assert confusion.accuracy(TABLE, 2, 2) == 7 / 10
    assert confusion.failure_rate(TABLE, 2) == 2 / 10
    assert confusion.majority_guess(TABLE) == 3 / 8
    by_chance = (3 * 2 + 3 * 4 + 2 * 1 + 0) / 64
    assert confusion.cohen_kappa(TABLE) == pytest.approx((5 / 8 - by_chance) / (1 - by_chance))


def test_a_label_that_is_never_given_has_no_precision_and_an_f1_of_0() -> None:
    table = np.array([[3.0, 0.0], [2.0, 0.0]])
    assert np.isnan(confusion.precision(table)[1])
    assert confusion.f1(table)[1] == 0
    assert confusion.macro_f1(table) == pytest.approx(0.75 / 2)


def test_without_texts_nothing_is_defined() -> None:
    empty = np.zeros((2, 3, 3))
    for of in (*confusion.OF_ALL.values(), *confusion.OF_LABEL.values()):
        assert np.isnan(of(empty)).all()
    one = np.array([[4.0, 0.0], [0.0, 0.0]])
    assert np.isnan(confusion.cohen_kappa(one))  # chance agrees on all


@pytest.mark.parametrize("seed", range(6))
def test_as_scikit_learn_has_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = 2 + seed
    right = rng.integers(labels - (seed % 2), size=60)  # of odd seeds the last label is nobody's
    said = np.where(rng.random(60) < 0.6, right, rng.integers(labels, size=60))
    table = confusion.tables(right, said, np.arange(60) % 7, labels=labels, documents=7).sum(axis=0)
    every = np.arange(labels)
    assert np.array_equal(table, metrics.confusion_matrix(right, said, labels=every))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        p, r, f, n = metrics.precision_recall_fscore_support(
            right, said, labels=every, zero_division=np.nan
        )
    assert confusion.support(table).tolist() == n.tolist()
    for mine, theirs in zip(
        (confusion.precision(table), confusion.recall(table), confusion.f1(table)),
        (p, r, f),
        strict=True,
    ):
        assert mine == pytest.approx(theirs, nan_ok=True)
    for average, found in (
        ("macro", confusion.macro_f1(table)),
        ("weighted", confusion.weighted_f1(table)),
    ):
        theirs = metrics.f1_score(right, said, average=average, zero_division=0)
        assert found == pytest.approx(theirs)
    assert confusion.accuracy(table) == pytest.approx(metrics.accuracy_score(right, said))
    assert confusion.cohen_kappa(table) == pytest.approx(metrics.cohen_kappa_score(right, said))


def test_resamples_draw_whole_documents() -> None:
    """Two documents, one all right and one all wrong: 0, 1 or 2 of the right one are drawn."""
    counts = confusion.tables([0, 0, 0, 1], [0, 0, 0, 0], [0, 0, 0, 1], labels=2, documents=2)
    sums = confusion.resample_tables(counts, n=400, rng=np.random.default_rng(3))
    found = confusion.accuracy(sums)
    assert set(found.tolist()) == {0.0, 0.75, 1.0}
    assert np.mean(found == 0.75) == pytest.approx(0.5, abs=0.07)


def test_the_interval_is_that_of_the_cluster_bootstrap() -> None:
    """Against a plain loop over resampled documents."""
    rng = np.random.default_rng(5)
    documents = np.repeat(np.arange(40), 5)
    bad = rng.random(40) < 0.4
    right = rng.integers(3, size=200)
    said = np.where(bad[documents] & (rng.random(200) < 0.8), (right + 1) % 3, right)
    counts = confusion.tables(right, said, documents, labels=3, documents=40)
    value = float(confusion.accuracy(counts.sum(axis=0)))
    drawn = confusion.accuracy(
        confusion.resample_tables(counts, n=4000, rng=np.random.default_rng(1))
    )
    low, high = shares.ends(drawn, value, confidence=0.95)
    plain = [
        np.mean([np.mean(right[documents == d] == said[documents == d]) for d in chosen])
        for chosen in np.random.default_rng(2).integers(40, size=(2000, 40))
    ]
    assert (low, high) == pytest.approx(np.quantile(plain, (0.025, 0.975)), abs=0.012)
    assert low < value < high
    assert np.isnan(shares.ends(np.array([np.nan]), 0.5, confidence=0.95)).all()
    assert shares.ends(np.array([0.6, 0.7]), 0.5, confidence=0.95)[0] == 0.5

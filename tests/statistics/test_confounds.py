import numpy as np
import pytest

from metassay.statistics.correlation import correlate
from metassay.statistics.partials import most_abstractive

NAN = np.nan


def test_by_hand():
    metric = np.array([[-1.0, 0, 1], [9, 10, 11]])
    human = np.array([[1.0, 0, -1], [11, 10, 9]])
    coverage = np.array([[0.1, 0.9, 0.2], [0.2, 0.8, NAN]])
    # Of five items, 40 % are .1 and the two that tie at .2.
    found = most_abstractive(metric, human, coverage, "global", "pearson", share=0.4)
    assert (found.n, found.n_missing) == (3, 1)
    assert found.value == pytest.approx(np.corrcoef([-1, 1, 9], [1, -1, 11])[0, 1])


def test_all_of_it_and_nothing():
    rng = np.random.default_rng(2)
    metric, human = rng.normal(size=(2, 3, 4))
    metric[0, 0], human[1, 1] = NAN, NAN
    whole = most_abstractive(metric, human, rng.normal(size=(3, 4)), "document", "kendall", share=1)
    assert whole == pytest.approx(correlate(metric, human, "document", "kendall"), nan_ok=True)
    empty = np.empty((0, 2))
    assert most_abstractive(empty, empty, empty, "global", "pearson", share=0.5).n == 0
    for share in (0, 1.1):
        with pytest.raises(ValueError, match="share"):
            most_abstractive(metric, human, human, "global", "pearson", share=share)

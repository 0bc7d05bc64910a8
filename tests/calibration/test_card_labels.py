"""Labels drawn by verdict for a card: do the card's intervals hold the truth?"""

import numpy as np
import pandas as pd
import pytest

from tests.studies.test_card_items import drawn, rows

TRUTH = {"sensitivity": 0.9, "specificity": 0.8}  # of `rows`


@pytest.mark.calibration
@pytest.mark.parametrize("n", [30, 80])
def test_intervals_of_labels_that_are_drawn_by_verdict_hold_the_truth(n):
    rng = np.random.default_rng(n)
    hits = pd.Series(0, index=["sensitivity", "specificity"])
    for _ in range(1000):
        verdict, people = rows(rng, 1000)
        here = drawn(rng, verdict, people, n)
        for name, value in TRUTH.items():
            hits[name] += here[name].low <= value <= here[name].high
    assert hits.min() >= 930

"""Tables of scorers for figures."""

import numpy as np
import pandas as pd

from metassay.paper_figures.derived_tables import (
    ALONE,
    BEST,
    LARGEST,
    TOGETHER,
    WITHIN,
    in_ensembles,
    pairs_of_scorers,
)


def test_each_pair_is_there_in_both_orders() -> None:
    pair = {"study": "s", "part": "full", "coefficient": "pearson", "first": "a", "second": "b"}
    found = pairs_of_scorers(
        {"metric_correlations": pd.DataFrame([{**pair, "value": 0.5, "n": 7}])}
    )
    assert sorted(zip(found["row"], found["column"], strict=True)) == [("a", "b"), ("b", "a")]
    assert found["value"].tolist() == [0.5, 0.5]


def test_members_stand_alone_and_in_ensembles_and_the_best_twice() -> None:
    rows = [
        *(("subset", "a", 1, 0.1, np.nan), ("subset", "a + b", 2, 0.2, np.nan)),
        # Larger than what cross-validation chose: what papers print as the best.
        *(("subset", "a + c", 2, 0.3, np.nan), ("subset", "b + c", 2, np.nan, np.nan)),
        *(("containing", "a", 1, 0.15, np.nan), ("best", "a + b", 2, 0.12, 0.2)),
    ]
    names = ["kind", "members", "size", "value", "in_sample"]
    frame = pd.DataFrame(rows, columns=names).assign(low=0.0, high=1.0, n=9)
    frame = frame.assign(study="s", criterion="c", part="full", coefficient="pearson")
    found = in_ensembles({"ensembles": frame}).set_index(["members", "what"])
    assert found["value"].to_dict() == {
        **{("a", ALONE): 0.1, ("a", WITHIN): 0.15},
        **{(BEST, TOGETHER): 0.12, (LARGEST, TOGETHER): 0.3},
    }
    assert bool(found["low"].isna().to_dict()[LARGEST, TOGETHER])

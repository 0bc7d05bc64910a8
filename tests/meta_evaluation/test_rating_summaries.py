"""Means and deviations of ratings, by hand."""

import numpy as np
import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.core.options import Criterion
from metassay.meta_evaluation.agreement import RATING_SUMMARIES, rating_summaries
from metassay.meta_evaluation.options import MetaOptions
from metassay.tables.parquet import write

OPTIONS = MetaOptions(resamples=200, confidence=0.95, seed=3)
CRITERIA = {"realism": Criterion(low=1, high=5, better="higher", scale="ordinal")}


def ratings(*rows):
    frame = pd.DataFrame(rows, columns=["doc_id", "author", "rater", "value"])
    return frame.assign(study="s", part="full", unit="text", criterion="realism")


INVENTED = ratings(
    ("d1", "one", "ann", 1.0),
    ("d1", "one", "ben", 3.0),
    ("d1", "two", "ann", 5.0),
    ("d2", "one", "ann", 2.0),
    ("d2", "two", "ben", np.nan),
    ("d2", "reference", "ann", 5.0),
)


def test_by_hand(tmp_path):
    found = rating_summaries(INVENTED, CRITERIA, OPTIONS)
    write(RATING_SUMMARIES, found, tmp_path / "rating_summaries.parquet")
    rows = found.set_index(["of", "name"])
    every = rows.loc[("all", "")]
    assert (every["n"], every["n_missing"], every["n_documents"]) == (4, 1, 2)
    assert every["mean"] == 11 / 4
    assert every["sd"] == pytest.approx(np.sqrt(2.1875))  # (3.0625 + .0625 + 5.0625 + .5625) / 4
    one = rows.loc[("author", "one")]
    assert (one["mean"], one["sd"]) == (2.0, pytest.approx(np.sqrt(2 / 3)))
    assert (rows.loc[("author", "reference"), "mean"], rows.loc[("rater", "ann"), "n"]) == (5, 3)
    assert rows.loc[("rater", "ben"), "n_missing"] == 1


def test_intervals_draw_documents():
    """Of two documents, means 3 and 2: half of the resamples have both, which is 11 / 4."""
    found = rating_summaries(INVENTED, CRITERIA, OPTIONS).set_index(["of", "name"])
    assert tuple(found.loc[("all", ""), ["low", "high"]]) == (2.0, 3.0)
    assert found.loc[("author", "two"), ["low", "high"]].isna().all()  # one document


def test_nothing_and_what_compares_are_left_out():
    compared = INVENTED.assign(unit="versus:two")
    assert rating_summaries(compared, CRITERIA, OPTIONS).empty
    empty = rating_summaries(INVENTED.assign(value=np.nan), CRITERIA, OPTIONS)
    assert empty[["mean", "sd", "low"]].isna().all(axis=None)
    assert set(empty["n"]) == {0}
    with pytest.raises(BadInput, match="not declared"):
        rating_summaries(INVENTED, {}, OPTIONS)

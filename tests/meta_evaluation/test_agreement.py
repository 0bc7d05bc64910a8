import numpy as np
import pandas as pd
import pytest

from metassay.contract import write
from metassay.meta_evaluation.agreement import agree_all
from metassay.tables import AGREEMENT
from tests.meta_evaluation.invented_study import (
    CRITERIA,
    one,
    rate,
    ratings_of,
    study,
)


def test_agreement_by_hand(tmp_path):
    amy, bob, cat = (1, 1, 0, 0, 1), (1, 0, 0, 0, 1), (1, None, None, None, None)
    rows = [
        rate("coverage", "x", "d", rater, value, unit=f"claim:{n}")
        for rater, values in (("amy", amy), ("bob", bob), ("cat", cat))
        for n, value in enumerate(values)
    ]
    rows.append(rate("coverage", "x", "d", "bob", 1, unit="claim:9"))
    found = agree_all(ratings_of(*rows), CRITERIA)
    write(AGREEMENT, found, tmp_path / "a.parquet")
    assert len(found) == 3 * 2 + 1
    # 4 of 5 alike, by chance 12/25; Bob alone rated a sixth.
    row = one(found, coefficient="percent", rater_a="amy", rater_b="bob")
    assert (row["value"], row["n"], row["n_missing"]) == (0.8, 5, 1)
    row = one(found, coefficient="cohen_kappa", rater_a="amy", rater_b="bob")
    assert row["value"] == pytest.approx((0.8 - 0.48) / (1 - 0.48))
    row = one(found, coefficient="cohen_kappa", rater_a="amy", rater_b="cat")
    assert (row["n"], row["n_missing"]) == (1, 4)
    assert np.isnan(row["value"])
    row = one(found, rater_a="all")
    assert (row["coefficient"], row["rater_b"]) == ("krippendorff_alpha_nominal", "all")
    assert (row["n"], row["n_missing"]) == (5, 1)
    # 11 ratings of 5 items: 1 1 1 | 1 0 | 0 0 | 0 0 | 1 1, so 6 ones and 5 zeros. Observed 2 of
    # 11, expected 2 * 6 * 5 / (11 * 10).
    assert row["value"] == pytest.approx(1 - (2 / 11) / (60 / 110))


def test_agreement_follows_the_scale():
    rows = [
        rate(criterion, "x", f"d{n}", rater, value)
        for criterion in ("errors", "grade")
        for rater, values in (("amy", (1, 2, 3, 4)), ("bob", (1, 2, 4, 5)))
        for n, value in enumerate(values)
    ]
    found = agree_all(ratings_of(*rows), CRITERIA)
    by = found.groupby("criterion")["coefficient"].apply(list).to_dict()
    assert by == {
        "errors": ["percent", "krippendorff_alpha_interval"],
        "grade": ["percent", "cohen_kappa", "krippendorff_alpha_ordinal"],
    }
    assert one(found, criterion="errors", coefficient="percent")["value"] == 0.5


def test_a_comparison_asked_the_other_way_round_is_the_same_thing():
    rows = [
        rate("preference", "x", "d1", "amy", 1, unit="versus:y"),
        rate("preference", "y", "d1", "bob", 0, unit="versus:x"),
        rate("preference", "x", "d2", "amy", 0, unit="versus:reference"),
        rate("preference", "reference", "d2", "bob", 0, unit="versus:x"),
    ]
    row = one(agree_all(ratings_of(*rows), CRITERIA), coefficient="percent")
    assert (row["value"], row["n"], row["n_missing"]) == (0.5, 2, 0)


def test_one_rater_agrees_with_nobody():
    ratings, _, _ = study()
    assert len(agree_all(ratings, CRITERIA)) == 0
    silent = ratings.assign(rater="second", value=np.nan)
    assert len(agree_all(pd.concat([ratings, silent]), CRITERIA)) == 0

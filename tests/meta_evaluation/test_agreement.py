import krippendorff
import numpy as np
import pandas as pd
import pingouin
import pytest
import scipy.stats
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats import inter_rater

from metassay.core.options import Criterion
from metassay.meta_evaluation.agreement import AGREEMENT, agreement
from metassay.reporting.meta_page import rater_outliers
from metassay.tables.parquet import write
from tests.meta_evaluation.invented_study import (
    CRITERIA,
    OPTIONS,
    one,
    rate,
    ratings_of,
    study,
)

COUNTED = {"facts": Criterion(low=0, high=20, better="higher", scale="count")}
ICC = ["icc1", "icc1k", "icc2", "icc2k", "icc3", "icc3k"]


def agreed(*rows, criteria=CRITERIA, options=OPTIONS):
    return agreement(ratings_of(*rows), criteria, options)


def rated(criterion, **of_raters):
    """One text per document, its ratings by each rater in the documents' order."""
    return [
        rate(criterion, "x", f"d{n:03}", rater, value)
        for rater, values in of_raters.items()
        for n, value in enumerate(values)
    ]


def test_agreement_by_hand(tmp_path):
    amy, bob, cat = (1, 1, 0, 0, 1), (1, 0, 0, 0, 1), (1, None, None, None, None)
    rows = [
        rate("coverage", "x", "d", rater, value, unit=f"claim:{n}")
        for rater, values in (("amy", amy), ("bob", bob), ("cat", cat))
        for n, value in enumerate(values)
    ]
    rows.append(rate("coverage", "x", "d", "bob", 1, unit="claim:9"))
    found = agreed(*rows)
    write(AGREEMENT, found, tmp_path / "a.parquet")
    assert len(found) == 3 * 2 + 2
    # 4 of 5 alike, by chance 12/25; Bob alone rated a sixth.
    row = one(found, coefficient="percent", rater_a="amy", rater_b="bob")
    assert (row["value"], row["n"], row["n_missing"]) == (0.8, 5, 1)
    row = one(found, coefficient="cohen_kappa", rater_a="amy", rater_b="bob")
    assert row["value"] == pytest.approx((0.8 - 0.48) / (1 - 0.48))
    row = one(found, coefficient="krippendorff_alpha_nominal", rater_a="all", rater_b="all")
    assert (row["n"], row["n_missing"]) == (5, 1)
    # 11 ratings of 5 items: 1 1 1 | 1 0 | 0 0 | 0 0 | 1 1, so 6 ones and 5 zeros. Observed 2 of
    # 11, expected 2 * 6 * 5 / (11 * 10).
    assert row["value"] == pytest.approx(1 - (2 / 11) / (60 / 110))
    row = one(found, coefficient="fleiss_kappa", rater_a="all", rater_b="all")
    # 4 of 5 items whole. Shares of ones 1, 1/2, 0, 0, 1: .5, so that chance is .5.
    assert (row["value"], row["n"], row["n_missing"]) == (pytest.approx(0.6), 5, 1)


def test_two_who_share_one_thing_have_no_value():
    found = agreed(*rated("coverage", amy=(1, 0, 1), bob=(1, None, None)))
    for coefficient in ("percent", "cohen_kappa"):
        row = one(found, coefficient=coefficient)
        assert (row["n"], row["n_missing"], row["n_resamples"]) == (1, 2, 0)
        assert np.isnan([row[end] for end in ("value", "low", "high")]).all()


def test_agreement_follows_the_scale():
    scales = {
        scale: Criterion(low=0, high=9, better="higher", scale=scale)
        for scale in ("nominal", "ordinal", "interval", "count")
    }
    rows = [row for scale in scales for row in rated(scale, amy=(1, 2, 3, 4), bob=(1, 2, 4, 5))]
    found = agreed(*rows, criteria=scales)
    by = found.groupby("criterion")["coefficient"].apply(lambda names: sorted(set(names)))
    others, kappa = ["kendall_with_others", "spearman_with_others"], "cohen_kappa"
    tolerant = ["count_f1_0", "count_f1_1", "count_f1_2"]
    plain = ["fleiss_kappa", "krippendorff_alpha_ordinal", "percent"]
    assert by.to_dict() == {
        "nominal": [kappa, "fleiss_kappa", "krippendorff_alpha_nominal", "percent"],
        "ordinal": sorted([kappa, f"{kappa}_linear", f"{kappa}_quadratic", *plain, *ICC, *others]),
        "interval": sorted(["krippendorff_alpha_interval", "percent", *ICC, *others]),
        "count": sorted(["krippendorff_alpha_interval", "percent", *tolerant, *ICC, *others]),
    }
    assert one(found, criterion="interval", coefficient="percent")["value"] == 0.5


def test_counts_by_hand():
    rows = rated("facts", amy=(3, 0, 2, None), bob=(4, 4, 2, 5), cat=(5, 2, 2, 5))
    found = agreed(*rows, criteria=COUNTED)
    pair = found[(found["rater_a"] == "amy") & (found["rater_b"] == "bob")]
    values = pair.set_index("coefficient")["value"].to_dict()
    # They differ by 1, 4 and 0.
    assert values == pytest.approx(
        {"percent": 1 / 3, "count_f1_0": 1 / 3, "count_f1_1": 2 / 3, "count_f1_2": 2 / 3}
    )
    assert set(pair["n"]) == {3}
    assert set(pair["n_missing"]) == {1}


def test_each_rater_against_the_others_by_hand():
    rows = rated("grade", amy=(1, 2, 3, None, 2), bob=(1, 3, 2, 4), cat=(3, 3, 4, 4))
    found = agreed(*rows)
    # Of the others' means 2, 3, 3 the last two tie: Amy's 1, 2, 3 has 2 concordant pairs of 3, and
    # 2 untied by the others. Nobody else rated the fifth, she did not the fourth.
    row = one(found, coefficient="kendall_with_others", rater_a="amy")
    assert (row["n"], row["n_missing"], row["rater_b"]) == (3, 2, "others")
    assert row["value"] == pytest.approx(2 / np.sqrt(3 * 2))
    row = one(found, coefficient="spearman_with_others", rater_a="amy")
    assert row["value"] == pytest.approx(scipy.stats.spearmanr((1, 2, 3), (2, 3, 3))[0])
    row = one(found, coefficient="spearman_with_others", rater_a="cat")
    others = (1, 2.5, 2.5, 4)
    assert row["value"] == pytest.approx(scipy.stats.spearmanr((3, 3, 4, 4), others)[0])


@pytest.mark.filterwarnings("ignore:The inplace keyword:DeprecationWarning")  # inside pingouin
def test_values_are_those_of_other_programs():
    rng = np.random.default_rng(4)
    values = np.clip(rng.integers(1, 6, 30) + rng.integers(-1, 2, (3, 30)), 1, 5)
    names = ("amy", "bob", "cat")
    found = agreed(*rated("grade", **dict(zip(names, values, strict=True))))
    for weights in ("linear", "quadratic"):
        row = one(found, coefficient=f"cohen_kappa_{weights}", rater_a="bob", rater_b="cat")
        expected = cohen_kappa_score(values[1], values[2], weights=weights)
        assert row["value"] == pytest.approx(expected, abs=1e-12)
    by = found[found["rater_a"] == "all"].set_index("coefficient")["value"]
    assert by["krippendorff_alpha_ordinal"] == pytest.approx(
        krippendorff.alpha(values.astype(float), level_of_measurement="ordinal"), abs=1e-12
    )
    tables = inter_rater.aggregate_raters(values.T)[0]
    assert by["fleiss_kappa"] == pytest.approx(inter_rater.fleiss_kappa(tables), abs=1e-12)
    frame = pd.DataFrame(
        [(r, n, values[r, n]) for r in range(3) for n in range(30)],
        columns=["rater", "thing", "value"],
    )
    theirs = pingouin.intraclass_corr(frame, targets="thing", raters="rater", ratings="value")
    ours = by[["icc1", "icc2", "icc3", "icc1k", "icc2k", "icc3k"]]
    assert list(ours) == pytest.approx(list(theirs["ICC"]), abs=1e-9)


def test_intervals_draw_the_things_rated_again():
    rng = np.random.default_rng(0)
    amy = rng.integers(0, 2, 400)
    bob = np.where(rng.random(400) < 0.2, 1 - amy, amy)
    rows = rated("coverage", amy=amy, bob=bob)
    found = agreed(*rows, options=OPTIONS.model_copy(update={"resamples": 4000}))
    row = one(found, coefficient="percent")
    # A share of n things has the standard error sqrt(p (1 - p) / n); 90 % reach 1.645 of it.
    reach = 1.645 * np.sqrt(row["value"] * (1 - row["value"]) / 400)
    ends = (row["value"] - reach, row["value"] + reach)
    assert (row["low"], row["high"]) == pytest.approx(ends, abs=0.004)
    assert (found["low"] < found["value"]).all()
    assert (found["value"] < found["high"]).all()
    assert (found["n_resamples"] == 4000).all()


def test_nothing_depends_on_the_order_of_rows_or_on_other_raters():
    rng = np.random.default_rng(2)
    amy, bob, cat = rng.integers(1, 6, (3, 25))
    rows = rated("grade", amy=amy, bob=bob, cat=cat)
    found = agreed(*rows)
    again = agreed(*(rows[n] for n in rng.permutation(len(rows))))
    pd.testing.assert_frame_equal(found, again, check_exact=True)
    without = agreed(*(row for row in rows if row[5] != "cat"))
    pair = {"coefficient": "cohen_kappa_linear", "rater_a": "amy", "rater_b": "bob"}
    assert one(without, **pair) == one(found, **pair)


def test_a_crowd_that_shares_little_is_told_of_cheaply():
    rng = np.random.default_rng(1)
    crowd = [f"r{n:02}" for n in range(40)]
    rows = [
        rate("facts", "x", f"d{n}", rater, rng.integers(6))
        for n in range(60)
        for rater in rng.choice(crowd, 3, replace=False)
    ]
    found = agreed(*rows, criteria=COUNTED)
    pairs = found[found["coefficient"] == "count_f1_1"]
    assert len(pairs) == 40 * 39 / 2
    few = pairs["n"] < 2
    assert few.any()
    assert not few.all()
    assert pairs[few][["value", "low", "high"]].isna().all(axis=None)
    assert (pairs[few]["n_resamples"] == 0).all()
    assert pairs[~few]["value"].notna().all()
    # Nothing was rated by all forty.
    row = one(found, coefficient="icc2k")
    assert (row["n"], row["n_missing"]) == (0, 60)
    assert np.isnan(row["value"])


def test_a_comparison_asked_the_other_way_round_is_the_same_thing():
    rows = [
        rate("preference", "x", "d1", "amy", 1, unit="versus:y"),
        rate("preference", "y", "d1", "bob", 0, unit="versus:x"),
        rate("preference", "x", "d2", "amy", 0, unit="versus:reference"),
        rate("preference", "reference", "d2", "bob", 0, unit="versus:x"),
    ]
    row = one(agreed(*rows), coefficient="percent")
    assert (row["value"], row["n"], row["n_missing"]) == (0.5, 2, 0)


def test_one_rater_agrees_with_nobody():
    ratings, _, _ = study()
    assert len(agreement(ratings, CRITERIA, OPTIONS)) == 0
    silent = ratings.assign(rater="second", value=np.nan)
    assert len(agreement(pd.concat([ratings, silent]), CRITERIA, OPTIONS)) == 0


def test_a_careless_rater_is_named_and_a_lenient_one_is_not():
    rng = np.random.default_rng(5)
    quality = rng.integers(1, 5, 40)
    careful, lenient, other = (
        np.clip(quality + more + rng.choice([0, 0, 0, 1, -1], 40), 1, 6) for more in (0, 1, 0)
    )
    by = {"amy": careful, "bob": lenient, "cat": rng.integers(1, 6, 40)}
    found = agreed(*rated("grade", **by))
    below = found[found["coefficient"] == "spearman_below_others"].set_index("rater_a")
    assert list(below.index) == ["amy", "bob", "cat"]
    assert (below["rater_b"] == "others").all()
    assert [name for name, low in below["low"].items() if low > 0] == ["cat"]
    said = " ".join(rater_outliers(found))
    assert "cat agrees less than the others by grade (study" in said
    assert "amy agrees" not in said
    alike = agreed(*rated("grade", amy=careful, bob=lenient, cat=other))
    assert rater_outliers(alike) == []
    two = agreed(*rated("grade", amy=careful, bob=lenient))
    assert "spearman_below_others" not in set(two["coefficient"])

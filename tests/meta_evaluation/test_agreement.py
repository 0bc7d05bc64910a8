"""Raters with each other, and what they gave on average: by hand, and beside other programs."""

import krippendorff
import numpy as np
import pandas as pd
import pingouin
import pytest
import scipy.stats
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats import inter_rater

from metassay.core.options import Criterion
from metassay.meta_evaluation.agreement import agreement, rating_summaries
from tests.meta_evaluation.invented_study import (
    CRITERIA,
    OPTIONS,
    only,
    rate,
    ratings_of,
    study,
)

COUNTED = {"facts": Criterion(low=0, high=20, better="higher", scale="count")}
ICC = ["icc1", "icc2", "icc3", "icc1k", "icc2k", "icc3k"]
NAN = np.nan


def agreed(*rows, criteria=CRITERIA, options=OPTIONS):
    return agreement(ratings_of(*rows), criteria, options)


def rated(criterion, **of_raters):
    """One text per document, its ratings by each rater in the documents' order."""
    return [
        rate(criterion, "x", f"d{n:03}", rater, value)
        for rater, values in of_raters.items()
        for n, value in enumerate(values)
    ]


def numbers(row):
    return row["value"], row["n"], row["n_missing"]


def test_agreement_by_hand():
    claims = {"amy": (1, 1, 0, 0, 1), "bob": (1, 0, 0, 0, 1), "cat": (1,)}
    rows = [
        rate("coverage", "x", "d", rater, value, unit=f"claim:{n}")
        for rater, values in claims.items()
        for n, value in enumerate(values)
    ]
    table = agreed(*rows, rate("coverage", "x", "d", "bob", 1, unit="claim:9"))
    assert len(table) == 3 * 2 + 2
    two = {"rater_a": "amy", "rater_b": "bob"}
    # 4 of 5 alike, by chance 12/25; Bob alone rated a sixth.
    assert numbers(only(table, coefficient="percent", **two)) == (0.8, 5, 1)
    kappa = only(table, coefficient="cohen_kappa", **two)["value"]
    assert kappa == pytest.approx((0.8 - 0.48) / (1 - 0.48))
    # 11 ratings of 5 items: 1 1 1 | 1 0 | 0 0 | 0 0 | 1 1, so 6 ones and 5 zeros. Observed 2 of
    # 11, expected 2 * 6 * 5 / (11 * 10).
    row = only(
        table, coefficient="krippendorff_alpha_nominal", rater_a="all", rater_b="all"
    )
    assert numbers(row) == (pytest.approx(1 - (2 / 11) / (60 / 110)), 5, 1)
    # 4 of 5 items whole. Shares of ones 1, 1/2, 0, 0, 1: .5, so that chance is .5.
    row = only(table, coefficient="fleiss_kappa", rater_a="all", rater_b="all")
    assert numbers(row) == (pytest.approx(0.6), 5, 1)


def test_too_few_ratings_have_no_value():
    table = agreed(*rated("coverage", amy=(1, 0, 1), bob=(1, None, None)))
    for coefficient in ("percent", "cohen_kappa"):
        row = only(table, coefficient=coefficient)
        assert (row["n"], row["n_missing"], row["n_resamples"]) == (1, 2, 0)
        assert np.isnan([row[end] for end in ("value", "low", "high")]).all()
    ratings, _, _ = study()
    assert len(agreement(ratings, CRITERIA, OPTIONS)) == 0  # of one rater
    silent = pd.concat([ratings, ratings.assign(rater="second", value=NAN)])
    assert len(agreement(silent, CRITERIA, OPTIONS)) == 0


def test_agreement_follows_the_scale():
    scales = {
        scale: Criterion(low=0, high=9, better="higher", scale=scale)
        for scale in ("nominal", "ordinal", "interval", "count")
    }
    rows = [
        row
        for scale in scales
        for row in rated(scale, amy=(1, 2, 3, 4), bob=(1, 2, 4, 5))
    ]
    table = agreed(*rows, criteria=scales)
    kappa, alpha = "cohen_kappa", "krippendorff_alpha"
    with_others = [*ICC, "kendall_with_others", "spearman_with_others", "percent"]
    weighted = [f"{kappa}_linear", f"{kappa}_quadratic"]
    counts = [f"count_f1_{tolerance}" for tolerance in range(3)]
    expected = {
        "nominal": [kappa, "fleiss_kappa", f"{alpha}_nominal", "percent"],
        "ordinal": [kappa, *weighted, "fleiss_kappa", f"{alpha}_ordinal", *with_others],
        "interval": [f"{alpha}_interval", *with_others],
        "count": [f"{alpha}_interval", *counts, *with_others],
    }
    for scale, rows in table.groupby("criterion"):
        assert sorted(set(rows["coefficient"])) == sorted(expected[scale])
    assert only(table, criterion="interval", coefficient="percent")["value"] == 0.5


def test_counts_by_hand():
    rows = rated("facts", amy=(3, 0, 2, None), bob=(4, 4, 2, 5), cat=(5, 2, 2, 5))
    table = agreed(*rows, criteria=COUNTED)
    pair = table[(table["rater_a"] == "amy") & (table["rater_b"] == "bob")]
    # They differ by 1, 4 and 0.
    expected = {"percent": 1, "count_f1_0": 1, "count_f1_1": 2, "count_f1_2": 2}
    values = pair.set_index("coefficient")["value"] * 3
    assert values.to_dict() == pytest.approx(expected)
    assert pair[["n", "n_missing"]].drop_duplicates().to_numpy().tolist() == [[3, 1]]


def test_each_rater_against_the_others_by_hand():
    table = agreed(
        *rated("grade", amy=(1, 2, 3, None, 2), bob=(1, 3, 2, 4), cat=(3, 3, 4, 4))
    )
    # Of the others' means 2, 3, 3 the last two tie: Amy's 1, 2, 3 has 2 concordant pairs of 3, and
    # 2 untied by the others. Nobody else rated the fifth, she did not the fourth.
    row = only(
        table, coefficient="kendall_with_others", rater_a="amy", rater_b="others"
    )
    assert numbers(row) == (pytest.approx(2 / np.sqrt(3 * 2)), 3, 2)
    for rater, ratings, others in (
        ("amy", (1, 2, 3), (2, 3, 3)),
        ("cat", (3, 3, 4, 4), (1, 2.5, 2.5, 4)),
    ):
        row = only(table, coefficient="spearman_with_others", rater_a=rater)
        assert row["value"] == pytest.approx(scipy.stats.spearmanr(ratings, others)[0])


# inside pingouin
@pytest.mark.filterwarnings("ignore:The inplace keyword:DeprecationWarning")
def test_values_are_those_of_other_programs_whoever_else_rates():
    rng = np.random.default_rng(4)
    values = np.clip(rng.integers(1, 6, 30) + rng.integers(-1, 2, (3, 30)), 1, 5)
    table = agreed(*rated("grade", amy=values[0], bob=values[1], cat=values[2]))
    alone = agreed(*rated("grade", bob=values[1], cat=values[2]))
    for weights in ("linear", "quadratic"):
        pair = {
            "coefficient": f"cohen_kappa_{weights}",
            "rater_a": "bob",
            "rater_b": "cat",
        }
        expected = cohen_kappa_score(values[1], values[2], weights=weights)
        assert only(table, **pair)["value"] == pytest.approx(expected, abs=1e-12)
        assert only(table, **pair) == only(alone, **pair)
    of_all = table[table["rater_a"] == "all"].set_index("coefficient")["value"]
    alpha = krippendorff.alpha(values.astype(float), level_of_measurement="ordinal")
    assert of_all["krippendorff_alpha_ordinal"] == pytest.approx(alpha, abs=1e-12)
    fleiss = inter_rater.fleiss_kappa(inter_rater.aggregate_raters(values.T)[0])
    assert of_all["fleiss_kappa"] == pytest.approx(fleiss, abs=1e-12)
    long = (
        pd.DataFrame(values).rename_axis("rater").melt(ignore_index=False).reset_index()
    )
    icc = pingouin.intraclass_corr(
        long, targets="variable", raters="rater", ratings="value"
    )["ICC"]
    assert of_all[ICC].tolist() == pytest.approx(icc.tolist(), abs=1e-9)


def test_a_crowd_that_shares_little_is_told_of_cheaply():
    rng = np.random.default_rng(1)
    crowd = [f"r{n:02}" for n in range(40)]
    rows = [
        rate("facts", "x", f"d{n}", rater, rng.integers(6))
        for n in range(60)
        for rater in rng.choice(crowd, 3, replace=False)
    ]
    table = agreed(*rows, criteria=COUNTED)
    pairs = table[table["coefficient"] == "count_f1_1"]
    assert len(pairs) == 40 * 39 / 2
    few = pairs["n"] < 2
    assert set(few) == {True, False}
    assert pairs[few][["value", "low", "high"]].isna().all(axis=None)
    assert (pairs[few]["n_resamples"] == 0).all()
    assert pairs[~few]["value"].notna().all()
    # Nothing was rated by all forty.
    row = only(table, coefficient="icc2k")
    assert (row["n"], row["n_missing"]) == (0, 60)
    assert np.isnan(row["value"])


def test_a_comparison_asked_the_other_way_round_is_the_same_thing():
    rows = [
        rate("preference", "x", "d1", "amy", 1, unit="versus:y"),
        rate("preference", "y", "d1", "bob", 0, unit="versus:x"),
        rate("preference", "x", "d2", "amy", 0, unit="versus:reference"),
        rate("preference", "reference", "d2", "bob", 0, unit="versus:x"),
    ]
    assert numbers(only(agreed(*rows), coefficient="percent")) == (0.5, 2, 0)


def test_a_careless_rater_is_named_and_a_lenient_one_is_not():
    rng = np.random.default_rng(5)
    quality = rng.integers(1, 5, 40)
    careful, lenient, other = (
        np.clip(quality + more + rng.choice([0, 0, 0, 1, -1], 40), 1, 6)
        for more in (0, 1, 0)
    )
    table = agreed(
        *rated("grade", amy=careful, bob=lenient, cat=rng.integers(1, 6, 40))
    )
    below = table[table["coefficient"] == "spearman_below_others"].set_index("rater_a")
    assert list(below.index) == ["amy", "bob", "cat"]
    assert (below["rater_b"] == "others").all()
    assert [name for name, low in below["low"].items() if low > 0] == ["cat"]
    table = agreed(*rated("grade", amy=careful, bob=lenient, cat=other))
    below = table[table["coefficient"] == "spearman_below_others"]
    assert not (below["low"] > 0).any()
    two = agreed(*rated("grade", amy=careful, bob=lenient))
    assert "spearman_below_others" not in set(two["coefficient"])


GRADES = [
    ("d1", "one", "ann", 1.0),
    ("d1", "one", "ben", 3.0),
    ("d1", "two", "ann", 5.0),
    ("d2", "one", "ann", 2.0),
    ("d2", "two", "ben", NAN),
    ("d2", "reference", "ann", 5.0),
]
RATINGS = ratings_of(
    *(rate("grade", author, doc, rater, v) for doc, author, rater, v in GRADES)
)


def test_means_of_ratings_by_hand():
    rows = rating_summaries(RATINGS, CRITERIA, OPTIONS).set_index(["of", "name"])
    every = rows.loc[("all", "")]
    assert (every["n"], every["n_missing"], every["n_documents"]) == (4, 1, 2)
    assert every["mean"] == 11 / 4
    # (3.0625 + .0625 + 5.0625 + .5625) / 4
    assert every["sd"] == pytest.approx(np.sqrt(2.1875))
    first = rows.loc[("author", "one")]
    assert (first["mean"], first["sd"]) == (2.0, pytest.approx(np.sqrt(2 / 3)))
    assert (
        rows.loc[("author", "reference"), "mean"],
        rows.loc[("rater", "ann"), "n"],
    ) == (5, 3)
    assert rows.loc[("rater", "ben"), "n_missing"] == 1
    # Of two documents, means 3 and 2: half of the resamples have both, which is 11 / 4.
    assert (every["low"], every["high"]) == (2.0, 3.0)
    assert rows.loc[("author", "two"), ["low", "high"]].isna().all()  # one document
    empty = rating_summaries(RATINGS.assign(value=NAN), CRITERIA, OPTIONS)
    assert empty[["mean", "sd", "low"]].isna().all(axis=None)
    assert set(empty["n"]) == {0}
    assert rating_summaries(RATINGS.assign(unit="versus:two"), CRITERIA, OPTIONS).empty

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from metassay.meta_evaluation.ensembles import ensembles
from metassay.statistics.ensembles import best_subset
from metassay.statistics.random_numbers import generator
from tests.meta_evaluation.invented_study import (
    OPTIONS,
    only,
    rate,
    ratings_of,
    scores_of,
    studied,
    study,
    table_of,
)

COMPARED = OPTIONS.model_copy(update={"compared": ["a", "b", "less"], "folds": 3})
BETTER = {"a": "higher", "b": "higher", "less": "lower", "length": "neither"}
SIGN = {"a": -1, "b": -1, "less": 1}
SCIPY = {
    "pearson": scipy.stats.pearsonr,
    "spearman": scipy.stats.spearmanr,
    "kendall": scipy.stats.kendalltau,
    "kendall_c": lambda x, y: scipy.stats.kendalltau(x, y, variant="c"),
}


def combined(metrics, ratings, options=COMPARED, **more):
    studies = studied(table_of(metrics), ratings, options=options, better=BETTER)
    return ensembles(studies, options, **more)


def three_metrics(documents=6):
    ratings, _, errors = study(seed=2, documents=documents)
    rng = np.random.default_rng(0)
    metrics = {
        name: {key: sign * value + 3 * rng.normal() for key, value in errors.items()}
        for name, sign in SIGN.items()
    }
    return ratings, errors, metrics


def test_by_hand():
    # a, standardised, is (-1.2247, 0, 1.2247), b (0, -1.2247, 1.2247): their mean is half of
    # 1.2247 (-1, -1, 2). People 1, 2, 3: r of a is 1, of b 1/2, of both (0 + 3) / sqrt(6 * 2).
    ratings = ratings_of(
        *(
            rate("grade", author, "d", "r", v)
            for author, v in zip("xyz", (1, 2, 3), strict=False)
        )
    )
    metrics = {
        name: {("d", author): v for author, v in zip("xyz", values, strict=False)}
        for name, values in (("a", (10, 20, 30)), ("b", (2, 1, 3)))
    }
    table = combined(metrics, ratings)
    value = table.set_index(["kind", "members"])["value"]
    both = 3 / np.sqrt(12)
    assert value["subset"].to_dict() == pytest.approx(
        {"a": 1, "b": 1 / 2, "a + b": both}
    )
    containing = {"a": (1 + both) / 2, "b": (1 / 2 + both) / 2}
    assert value["containing"].to_dict() == pytest.approx(containing)
    # The paper's interval is of its two values drawn again.
    row = only(table, kind="containing", members="a")
    assert (row["low_of_values"], row["high_of_values"]) == pytest.approx((both, 1))
    # One document cannot be dealt into folds.
    best = only(table, kind="best")
    assert (best["members"], best["size"], best["n"]) == ("", 0, 3)
    assert np.isnan([best["value"], best["in_sample"]]).all()


@pytest.mark.parametrize("coefficient", SCIPY)
def test_subsets_against_scipy(coefficient):
    ratings, errors, metrics = three_metrics()
    table = combined(
        metrics, ratings, COMPARED.model_copy(update={"coefficient": coefficient})
    )
    assert set(table["coefficient"]) == {coefficient}
    human = [-errors[key] for key in sorted(errors)]
    z = {
        name: scipy.stats.zscore([-SIGN[name] * values[key] for key in sorted(errors)])
        for name, values in metrics.items()
    }
    expected = {
        " + ".join(members): SCIPY[coefficient](
            np.mean([z[m] for m in members], axis=0), human
        )[0]
        for size in (1, 2, 3)
        for members in combinations(sorted(z), size)
    }
    subsets = table[table["kind"] == "subset"].set_index("members")
    assert subsets["value"].to_dict() == pytest.approx(expected, abs=1e-9)
    assert (subsets["size"] == subsets.index.str.count(r"\+") + 1).all()
    assert (
        (subsets["low"] <= subsets["value"]) & (subsets["value"] <= subsets["high"])
    ).all()
    assert (
        subsets[["low_of_values", "high_of_values", "in_sample"]]
        .isna()
        .to_numpy()
        .all()
    )
    for label, row in (
        table[table["kind"] == "containing"].set_index("members").iterrows()
    ):
        with_it = [
            value
            for members, value in expected.items()
            if label in members.split(" + ")
        ]
        assert row["value"] == pytest.approx(np.mean(with_it))
        assert row["low"] < row["value"] < row["high"]
        assert row["low_of_values"] <= row["value"] <= row["high_of_values"]
    # The search for the best is by Pearson alone.
    assert (table["kind"] == "best").sum() == (coefficient == "pearson")


def test_the_best_is_chosen_with_whole_documents_held_out():
    ratings, errors, metrics = three_metrics(documents=8)
    row = only(combined(metrics, ratings), kind="best")
    keys = [(f"d{d}", author) for author in "xyz" for d in range(8)]
    names = sorted(metrics)
    expected = best_subset(
        [[-SIGN[name] * metrics[name][key] for key in keys] for name in names],
        [-errors[key] for key in keys],
        folds=3,
        rng=generator(0, "ensembles", "best", "s1", "errors", "full"),
        groups=[int(doc[1:]) for doc, _ in keys],
    )
    assert row["value"] == pytest.approx(expected.value, abs=1e-12)
    assert row["in_sample"] == pytest.approx(expected.in_sample, abs=1e-12)
    chosen = [
        name for name, there in zip(names, expected.members, strict=True) if there
    ]
    assert (row["members"], row["size"]) == (" + ".join(chosen), len(chosen))
    assert np.isnan([row["low"], row["high"]]).all()


@pytest.mark.parametrize(("documents", "enough"), [(5, False), (6, True)])
def test_too_few_documents_for_the_folds(documents, enough):
    ratings, _, metrics = three_metrics(documents=documents)
    row = only(combined(metrics, ratings), kind="best")
    assert np.isfinite(row["value"]) == (row["size"] > 0) == enough


def test_gaps_are_counted():
    ratings, _, metrics = three_metrics()
    del metrics["a"]["d0", "x"]
    metrics["b"]["d0", "y"] = None
    table = combined(
        metrics, ratings[~((ratings["doc_id"] == "d1") & (ratings["author"] == "z"))]
    )
    # The text that nobody rated is not one of those that are missing.
    assert table[["n", "n_missing"]].drop_duplicates().to_numpy().tolist() == [[15, 2]]
    for key in list(metrics["a"]):
        del metrics["a" if key[0] < "d3" else "b"][key]
    apart = combined(metrics, ratings)  # no text has every metric
    assert len(apart) == 3 + 3 + 4 + 1
    assert apart[["n", "n_missing"]].drop_duplicates().to_numpy().tolist() == [[0, 18]]
    assert apart["value"].isna().all()


def test_constants_have_no_value_and_spoil_none():
    ratings, errors, metrics = three_metrics()
    metrics["b"] = dict.fromkeys(errors, 1.0)
    table = combined(metrics, ratings)
    assert len(table) == 3 + 2 + 1
    assert not table["members"].str.contains("b").any()
    assert table["value"].notna().all()
    equal = combined(metrics, ratings.assign(value=3.0))  # now people are constant
    assert equal[["value", "low", "high", "in_sample"]].isna().to_numpy().all()
    assert only(equal, kind="best")["members"] == ""
    assert (equal["n"] == 18).all()
    assert combined({"a": metrics["a"]}, ratings).empty
    assert combined(metrics, ratings, OPTIONS).empty


def test_of_too_many_metrics_the_first_that_are_named_take_part():
    ratings, _, metrics = three_metrics()
    order = {"compared": ["less", "b", "a"], "largest_ensemble": 2}
    both = pd.concat([ratings, ratings.assign(study="s2")])
    notes: list[str] = []
    options = COMPARED.model_copy(update=order)
    table = combined(metrics, both, options, note=notes.append)
    assert set(table["members"]) - {""} <= {"b", "less", "b + less"}
    assert [note.partition(";")[0] for note in notes] == [
        f"ensembles of study {study}: 3 metrics are compared, and 2 is the most that are combined"
        for study in ("s1", "s2")
    ]
    assert all("left out: a." in note for note in notes)


def test_a_label_names_one_judge_s_metric_alone():
    ratings, _, metrics = three_metrics()
    both = pd.concat(
        [scores_of(metrics[m], metric=m, judge=j) for m in "ab" for j in ("none", "j")]
    )
    options = COMPARED.model_copy(update={"compared": ["a (j)", "b"]})
    (whole,) = studied(both, ratings, options=options, better=BETTER)
    assert sorted(m.label for m in whole.compared(options)) == ["a (j)", "b", "b (j)"]

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from metassay.meta_evaluation.ensembles import ENSEMBLES, ensembles
from metassay.statistics.ensembles import best_subset
from metassay.statistics.resampling import generator
from metassay.tables.parquet import empty, read, write
from metassay.tables.ratings import RATINGS
from tests.meta_evaluation.invented_study import (
    OPTIONS,
    one,
    rate,
    ratings_of,
    scores_of,
    studied,
    study,
    table_of,
)

COMPARED = OPTIONS.model_copy(update={"compared": ["a", "b", "less"], "folds": 3})
BETTER = {"a": "higher", "b": "higher", "less": "lower", "length": "neither"}
SCIPY = {
    "pearson": scipy.stats.pearsonr,
    "spearman": scipy.stats.spearmanr,
    "kendall": scipy.stats.kendalltau,
    "kendall_c": lambda x, y: scipy.stats.kendalltau(x, y, variant="c"),
}


def combined(scores, ratings, options=COMPARED):
    return ensembles(studied(scores, ratings, options=options, better=BETTER), options)


def three_metrics(documents=6):
    ratings, _, errors = study(seed=2, documents=documents)
    rng = np.random.default_rng(0)
    sign = {"a": -1, "b": -1, "less": 1}
    metrics = {
        name: {key: sign[name] * value + 3 * rng.normal() for key, value in errors.items()}
        for name in sign
    }
    return ratings, errors, metrics


def test_by_hand():
    # a, standardised, is (-1.2247, 0, 1.2247), b (0, -1.2247, 1.2247): their mean is half of
    # 1.2247 (-1, -1, 2). People 1, 2, 3: r of a is 1, of b 1/2, of both (0 + 3) / sqrt(6 * 2).
    people = {("d", "x"): 1, ("d", "y"): 2, ("d", "z"): 3}
    ratings = ratings_of(*(rate("grade", a, d, "r", v) for (d, a), v in people.items()))
    metrics = {
        "a": {("d", "x"): 10, ("d", "y"): 20, ("d", "z"): 30},
        "b": {("d", "x"): 2, ("d", "y"): 1, ("d", "z"): 3},
    }
    found = combined(table_of(metrics), ratings)
    values = {
        row["members"]: row["value"] for row in found.to_dict("records") if row["kind"] == "subset"
    }
    both = 3 / np.sqrt(12)
    assert values == pytest.approx({"a": 1, "b": 1 / 2, "a + b": both})
    containing = found[found["kind"] == "containing"].set_index("members")
    assert containing["value"].to_dict() == pytest.approx(
        {"a": (1 + both) / 2, "b": (1 / 2 + both) / 2}
    )
    # The paper's interval is of its two values drawn again.
    assert containing.loc["a", "low_of_values"] == pytest.approx(both)
    assert containing.loc["a", "high_of_values"] == pytest.approx(1)
    # One document cannot be dealt into folds.
    best = one(found, kind="best")
    assert (best["members"], best["size"], best["n"]) == ("", 0, 3)
    assert np.isnan([best["value"], best["in_sample"]]).all()


@pytest.mark.parametrize("coefficient", SCIPY)
def test_subsets_against_scipy(coefficient):
    ratings, errors, metrics = three_metrics()
    options = COMPARED.model_copy(update={"coefficient": coefficient})
    found = combined(table_of(metrics), ratings, options)
    assert set(found["coefficient"]) == {coefficient}
    keys = sorted(errors)
    human = np.array([-errors[key] for key in keys])
    z = {
        name: scipy.stats.zscore([(-1 if name == "less" else 1) * values[key] for key in keys])
        for name, values in metrics.items()
    }
    expected = {
        " + ".join(members): SCIPY[coefficient](np.mean([z[m] for m in members], axis=0), human)[0]
        for size in (1, 2, 3)
        for members in combinations(sorted(z), size)
    }
    subsets = found[found["kind"] == "subset"].set_index("members")
    assert subsets["value"].to_dict() == pytest.approx(expected, abs=1e-9)
    assert (subsets["size"] == subsets.index.str.count(r"\+") + 1).all()
    assert (subsets["low"] <= subsets["value"]).all()
    assert (subsets["value"] <= subsets["high"]).all()
    assert subsets[["low_of_values", "high_of_values", "in_sample"]].isna().to_numpy().all()
    for label, row in found[found["kind"] == "containing"].set_index("members").iterrows():
        mine = [value for members, value in expected.items() if label in members.split(" + ")]
        assert row["value"] == pytest.approx(np.mean(mine))
        assert row["low"] < row["value"] < row["high"]
        assert row["low_of_values"] <= row["value"] <= row["high_of_values"]
    # The search for the best is by Pearson alone.
    assert (found["kind"] == "best").sum() == (coefficient == "pearson")


def test_the_best_is_chosen_with_whole_documents_held_out():
    ratings, errors, metrics = three_metrics(documents=8)
    row = one(combined(table_of(metrics), ratings), kind="best")
    keys = [(f"d{d}", author) for author in "xyz" for d in range(8)]
    rows = [[(-1 if m == "less" else 1) * metrics[m][key] for key in keys] for m in sorted(metrics)]
    expected = best_subset(
        rows,
        [-errors[key] for key in keys],
        folds=3,
        rng=generator(0, "ensembles", "best", "s1", "errors", "full"),
        groups=[int(doc[1:]) for doc, _ in keys],
    )
    assert row["value"] == pytest.approx(expected.value, abs=1e-12)
    assert row["in_sample"] == pytest.approx(expected.in_sample, abs=1e-12)
    chosen = [m for m, there in zip(sorted(metrics), expected.members, strict=True) if there]
    assert row["members"] == " + ".join(chosen)
    assert row["size"] == len(chosen)
    assert np.isnan([row["low"], row["high"]]).all()


def test_noise_is_not_chosen_beside_what_sees_people():
    ratings, errors, metrics = three_metrics(documents=40)
    metrics["a"] = {key: -value for key, value in errors.items()}
    rng = np.random.default_rng(5)
    metrics["b"] = {key: rng.normal() for key in errors}
    row = one(combined(table_of(metrics), ratings), kind="best")
    assert (row["members"], row["value"], row["in_sample"]) == ("a", pytest.approx(1), 1)


@pytest.mark.parametrize(("documents", "enough"), [(5, False), (6, True)])
def test_too_few_documents_for_the_folds(documents, enough):
    ratings, _, metrics = three_metrics(documents=documents)
    row = one(combined(table_of(metrics), ratings), kind="best")
    assert np.isfinite(row["value"]) == enough
    assert (row["size"] > 0) == enough


def test_gaps_are_counted():
    ratings, _, metrics = three_metrics()
    del metrics["a"]["d0", "x"]
    metrics["b"]["d0", "y"] = None
    scores = table_of(metrics)
    unrated = ratings[~((ratings["doc_id"] == "d1") & (ratings["author"] == "z"))]
    found = combined(scores, unrated)
    assert (found["n"] == 15).all()
    assert (found["n_missing"] == 2).all()  # the text that nobody rated is not one of them


def test_nothing_hangs_on_the_order_of_rows_or_other_studies(tmp_path):
    ratings, _, metrics = three_metrics()
    alone = combined(table_of(metrics), ratings)
    others = pd.concat([ratings, ratings.assign(study="s0")])
    beside = pd.concat([table_of(metrics), scores_of(metrics["a"], metric="length")])
    shuffled = combined(
        beside.sample(frac=1, random_state=1), others.sample(frac=1, random_state=2)
    )
    write(ENSEMBLES, alone, tmp_path / "alone.parquet")
    write(ENSEMBLES, shuffled[shuffled["study"] == "s1"], tmp_path / "mine.parquet")
    assert (tmp_path / "alone.parquet").read_bytes() == (tmp_path / "mine.parquet").read_bytes()
    assert len(read(ENSEMBLES, tmp_path / "mine.parquet")) == 7 + 3 + 1


def test_constants_have_no_value_and_spoil_none():
    ratings, errors, metrics = three_metrics()
    metrics["b"] = dict.fromkeys(errors, 1.0)
    found = combined(table_of(metrics), ratings)
    assert len(found) == 3 + 2 + 1
    assert not found["members"].str.contains("b").any()
    assert found["value"].notna().all()
    equal = combined(table_of(metrics), ratings.assign(value=3.0))  # now people are constant
    assert equal[["value", "low", "high", "in_sample"]].isna().to_numpy().all()
    assert one(equal, kind="best")["members"] == ""
    assert (equal["n"] == 18).all()


def test_no_text_with_every_metric():
    ratings, _, metrics = three_metrics()
    for key in list(metrics["a"]):
        del metrics["a" if key[0] < "d3" else "b"][key]
    found = combined(table_of(metrics), ratings)
    assert len(found) == 11
    assert (found["n"] == 0).all()
    assert (found["n_missing"] == 18).all()
    assert found["value"].isna().all()


def test_fewer_than_two_metrics_have_no_rows(tmp_path):
    ratings, _, metrics = three_metrics()
    for found in (
        combined(scores_of(metrics["a"], metric="a"), ratings),
        combined(table_of(metrics), empty(RATINGS)),
        combined(table_of(metrics), ratings, OPTIONS),
    ):
        assert len(found) == 0
        write(ENSEMBLES, found, tmp_path / "e.parquet")


def test_of_too_many_metrics_the_first_that_are_named_take_part():
    ratings, _, metrics = three_metrics()
    order = {"compared": ["less", "b", "a"], "largest_ensemble": 2}
    options = COMPARED.model_copy(update=order)
    both = pd.concat([ratings, ratings.assign(study="s2")])
    notes: list[str] = []
    found = ensembles(
        studied(table_of(metrics), both, options=options, better=BETTER), options, note=notes.append
    )
    members = {name for joined in found["members"].dropna() for name in joined.split(" + ")}
    assert members == {"b", "less"}
    assert [note.partition(";")[0] for note in notes] == [
        f"ensembles of study {study}: 3 metrics are compared, and 2 is the most that are combined"
        for study in ("s1", "s2")
    ]
    assert all("left out: a." in note for note in notes)


def test_a_label_names_one_judge_s_metric_alone():
    ratings, _, metrics = three_metrics()
    scores = pd.concat([table_of(metrics), table_of(metrics).assign(judge="j")], ignore_index=True)
    options = COMPARED.model_copy(update={"compared": ["a (j)", "b"]})
    (found,) = studied(scores, ratings, options=options, better=BETTER)
    assert sorted(one.label for one in found.compared(options)) == ["a (j)", "b", "b (j)"]

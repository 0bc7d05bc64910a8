import numpy as np
import pandas as pd
import pytest
import scipy.stats
from nlpstats.correlations import williams as nlpstats_williams
from statsmodels.stats.multitest import multipletests

from metassay.meta_evaluation.significance import SIGNIFICANCE, significance
from metassay.statistics.resampling import generator
from metassay.tables.parquet import empty, read, write
from metassay.tables.ratings import RATINGS
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
from tests.statistics.test_significance import paired_bootstrap

COMPARED = OPTIONS.model_copy(
    update={"compared": ["a", "b", "c", "less"], "permutations": 200, "resamples": 200}
)
BETTER = {"a": "higher", "b": "higher", "c": "higher", "less": "lower", "length": "neither"}
PAIR = ["level", "test", "metric_a", "metric_b"]
UNCORRECTED = ["difference", "low", "high", "p", "n", "n_undefined", "n_missing"]


def compare(scores, ratings, options=COMPARED):
    return significance(studied(scores, ratings, options=options, better=BETTER), options)


def noisy(values, seed, noise=3.0):
    rng = np.random.default_rng(seed)
    return {key: -value + noise * rng.normal() for key, value in values.items()}


def three_metrics(documents=8):
    ratings, _, errors = study(seed=1, documents=documents)
    metrics = {name: noisy(errors, seed) for seed, name in enumerate("abc")}
    return ratings, errors, metrics


def test_two_documents_by_hand():
    # Two systems in two documents; a orders them as people do, b the other way round, so that the
    # correlations within each document are 1 and -1: a difference of 2. A permutation that swaps
    # one document makes it 0, one that swaps none or both leaves it 2 or -2: half are as extreme.
    people = {("d1", "x"): 1, ("d1", "y"): 2, ("d2", "x"): 5, ("d2", "y"): 3}
    ratings = ratings_of(*(rate("grade", a, d, "r", v) for (d, a), v in people.items()))
    scores = table_of({"a": people, "b": {key: -value for key, value in people.items()}})
    found = compare(scores, ratings)
    row = only(found, level="document", test="permutation_documents")
    assert (row["metric_a"], row["metric_b"], row["difference"]) == ("a", "b", pytest.approx(2))
    assert row["p"] == pytest.approx(0.5, abs=0.1)
    assert (row["n"], row["n_undefined"], row["n_missing"]) == (2, 0, 0)
    assert np.isnan([row["low"], row["high"]]).all()
    # Every resample of documents has the same 2: nothing on the other side of 0.
    row = only(found, level="document", test="bootstrap_documents")
    assert (row["low"], row["high"]) == pytest.approx((2, 2))
    assert row["p"] == pytest.approx(2 / 201)
    # Two systems: too few for Williams' test, which takes all that it compares for independent.
    assert "williams" not in set(found["test"])


def test_against_scipy_and_nlpstats_however_metrics_and_people_are_directed():
    ratings, errors, metrics = three_metrics()
    scores = table_of({"a": metrics["a"], "less": {k: -v for k, v in metrics["b"].items()}})
    found = compare(scores, ratings)
    assert (found["metric_a"] == "a").all()
    assert (found["metric_b"] == "less").all()
    a, b, human = (
        np.array([[sign * values[f"d{d}", s] for d in range(8)] for s in "xyz"])
        for sign, values in ((1, metrics["a"]), (1, metrics["b"]), (-1, errors))
    )

    def of(x, y):
        return scipy.stats.pearsonr(x, y)[0]

    expected = {
        "global": of(a.ravel(), human.ravel()) - of(b.ravel(), human.ravel()),
        "document": np.mean(
            [of(a[:, d], human[:, d]) - of(b[:, d], human[:, d]) for d in range(8)]
        ),
        "system": of(a.mean(1), human.mean(1)) - of(b.mean(1), human.mean(1)),
    }
    for row in found.to_dict("records"):
        assert row["difference"] == pytest.approx(expected[row["level"]], abs=1e-9)
    assert found.groupby("level")["n"].unique().to_dict() == {
        "document": [8],
        "global": [24],
        "system": [3],
    }


@pytest.mark.parametrize(("systems", "tested"), [(19, False), (20, True)])
def test_williams_wants_twenty_systems(systems, tested):
    rng = np.random.default_rng(3)
    human, a, b = rng.normal(size=(3, systems, 2)) + rng.normal(size=(systems, 1))
    keys = [(f"d{d}", f"s{s:02}") for s in range(systems) for d in range(2)]
    people = dict(zip(keys, human.ravel(), strict=True))
    ratings = ratings_of(*(rate("grade", s, d, "r", v) for (d, s), v in people.items()))
    scores = {
        name: dict(zip(keys, side.ravel(), strict=True)) for name, side in (("a", a), ("b", b))
    }
    found = compare(table_of(scores), ratings)
    by_theory = found[found["test"] == "williams"]
    assert list(by_theory["level"]) == (["system"] if tested else [])
    if tested:
        theirs = nlpstats_williams.williams_test(a, b, human, "system", "pearson")
        assert by_theory["p"].iloc[0] == pytest.approx(theirs.pvalue)


@pytest.mark.parametrize("resample", ["documents", "systems", "both"])
def test_tests_and_levels(resample):
    ratings, _, metrics = three_metrics()
    options = COMPARED.model_copy(update={"resample": resample, "coefficient": "kendall"})
    found = compare(table_of(metrics), ratings, options)
    drawn = {f"permutation_{resample}", f"bootstrap_{resample}"}
    for level, tests in found.groupby("level")["test"]:
        assert set(tests) == drawn, level
    assert set(found["coefficient"]) == {"kendall"}
    assert len(found) == 3 * (2 + 2 + 2)
    assert not found.duplicated(list(SIGNIFICANCE.key)).any()


def test_corrections_are_over_all_pairs_of_one_test():
    ratings, errors, metrics = three_metrics()
    constant = dict.fromkeys(errors, 1.0)
    found = compare(table_of({**metrics, "less": constant}), ratings)
    for _, family in found.groupby(["level", "test"]):
        assert len(family) == 6
        known = family[family["metric_b"] != "less"]
        undefined = family[family["metric_b"] == "less"]
        # A constant correlates with nothing: it has no p, and the family is of the other three.
        assert (
            undefined[["difference", "p", "p_holm", "p_benjamini_hochberg"]].isna().to_numpy().all()
        )
        for column, method in (("p_holm", "holm"), ("p_benjamini_hochberg", "fdr_bh")):
            if known["p"].notna().all():
                expected = multipletests(known["p"], method=method)[1]
                assert known[column].to_numpy() == pytest.approx(expected)
    assert (found["p"].notna()).sum() == 3 * 6


def test_nothing_hangs_on_order_or_company():
    ratings, _, metrics = three_metrics()
    alone = compare(table_of({"a": metrics["a"], "c": metrics["c"]}), ratings)
    others = pd.concat([ratings, ratings.assign(study="s0")])
    company = compare(
        table_of(metrics).sample(frac=1, random_state=1), others.sample(frac=1, random_state=2)
    )
    mine = company[
        (company["study"] == "s1") & (company["metric_a"] == "a") & (company["metric_b"] == "c")
    ]
    columns = [*PAIR, *UNCORRECTED]
    pd.testing.assert_frame_equal(
        alone[columns].reset_index(drop=True), mine[columns].reset_index(drop=True)
    )
    reseeded = compare(
        table_of({"a": metrics["a"], "c": metrics["c"]}),
        ratings,
        COMPARED.model_copy(update={"seed": 1}),
    )
    assert (reseeded["low"] != alone["low"])[alone["test"] == "bootstrap_documents"].any()


def test_gaps_are_counted():
    ratings, _, metrics = three_metrics()
    del metrics["a"]["d0", "x"]  # one text without a
    for system in "xyz":
        del metrics["b"]["d1", system]  # one document without b
    metrics["a"]["d2", "x"] = metrics["a"]["d2", "y"] = metrics["a"]["d2", "z"] = 1.0
    found = compare(table_of({"a": metrics["a"], "b": metrics["b"]}), ratings)
    assert (found["n_missing"] == 4).all()
    assert (found["n"][found["level"] == "global"] == 20).all()
    assert (found["n"][found["level"] == "system"] == 3).all()
    # Document d1 has no b, and a says nothing within d2.
    assert (found["n"][found["level"] == "document"] == 6).all()


def test_one_document_or_system_tells_nothing_of_others():
    ratings, _, metrics = three_metrics(documents=1)
    found = compare(table_of(metrics), ratings)
    drawn = found[found["test"] == "bootstrap_documents"]
    assert drawn["difference"].notna().any()
    assert drawn[["low", "high", "p", "p_holm"]].isna().to_numpy().all()
    # Swapping the only document turns the difference round: as extreme as the data, always.
    swapped = found[found["test"] == "permutation_documents"].dropna(subset="difference")
    assert swapped["p"].to_numpy() == pytest.approx(1)

    ratings, _, metrics = three_metrics()
    only = table_of(metrics)
    found = compare(only[only["author"] == "x"], ratings[ratings["author"] == "x"])
    assert found["difference"][found["level"] != "global"].isna().all()
    assert found["difference"][found["level"] == "global"].notna().all()


def test_without_pairs_there_are_no_rows(tmp_path):
    ratings, _, metrics = three_metrics()
    scores = table_of({"a": metrics["a"], "length": metrics["b"], "other": metrics["c"]})
    better = {**BETTER, "other": "higher"}
    options = COMPARED.model_copy(update={"compared": ["a", "length"]})
    for found in (
        significance(studied(scores, ratings, options=options, better=better), options),
        compare(table_of(metrics), empty(RATINGS)),
    ):
        assert len(found) == 0
        write(SIGNIFICANCE, found, tmp_path / "s.parquet")
    write(SIGNIFICANCE, compare(table_of(metrics), ratings), tmp_path / "s.parquet")
    assert len(read(SIGNIFICANCE, tmp_path / "s.parquet")) == 3 * (2 + 2 + 2)


def test_judges_are_metrics_of_their_own():
    ratings, _, metrics = three_metrics()
    scores = pd.concat([scores_of(metrics["a"], metric="a", judge=j) for j in ("none", "nli")])
    found = compare(scores, ratings)
    assert set(zip(found["metric_a"], found["metric_b"], strict=True)) == {("a", "a (nli)")}
    assert found["difference"].to_numpy() == pytest.approx(0, abs=1e-12, nan_ok=True)


def test_a_shared_bootstrap_is_that_of_each_pair_alone():
    """Metrics share their resamples, and only where the same texts take part."""
    ratings, _, metrics = three_metrics()
    for key in list(metrics["a"])[:3]:
        del metrics["a"][key]
    scores = table_of(metrics)
    (whole,) = studied(scores, ratings, better=BETTER)
    found = compare(scores, ratings)
    for level in ("global", "document", "system"):
        by_label = {one.label: one.oriented for one in whole.metrics}
        family = found[(found["level"] == level) & (found["test"] == "bootstrap_documents")]
        assert len(family) == 3
        for row in family.to_dict("records"):
            alone = paired_bootstrap(
                by_label[row["metric_a"]],
                by_label[row["metric_b"]],
                whole.oriented,
                level,
                "pearson",
                resample="documents",
                n=COMPARED.permutations,
                confidence=COMPARED.confidence,
                rng=generator(0, "significance", "s1", "errors", "full", level, row["test"]),
            )
            for name in ("difference", "low", "high", "p", "n_undefined", "n_missing"):
                assert row[name] == pytest.approx(getattr(alone, name), nan_ok=True)

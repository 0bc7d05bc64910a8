import numpy as np
import pandas as pd
import pytest
import scipy.stats
from nlpstats.correlations import williams as nlpstats_williams
from statsmodels.stats.multitest import multipletests

from metassay.meta_evaluation.significance import SIGNIFICANCE, significance
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
    tables_of,
)
from tests.statistics.test_significance import paired_bootstrap

COMPARED = OPTIONS.model_copy(
    update={"compared": ["a", "b", "c", "less"], "permutations": 200, "resamples": 200}
)
BETTER = {
    "a": "higher",
    "b": "higher",
    "c": "higher",
    "less": "lower",
    "length": "neither",
}


def compare(scores, ratings, options=COMPARED):
    return significance(
        studied(scores, ratings, options=options, better=BETTER), options
    )


def three_metrics(documents=8):
    ratings, _, errors = study(seed=1, documents=documents)
    rngs = {name: np.random.default_rng(seed) for seed, name in enumerate("abc")}
    metrics = {
        name: {key: -value + 3.0 * rng.normal() for key, value in errors.items()}
        for name, rng in rngs.items()
    }
    return ratings, errors, metrics


def test_two_documents_by_hand():
    # Two systems in two documents; a orders them as people do, b the other way round,
    # so that the correlations within each document are 1 and -1: a difference of 2. A
    # permutation that swaps one document makes it 0, one that swaps none or both leaves
    # it 2 or -2: half are as extreme.
    people = {("d1", "x"): 1, ("d1", "y"): 2, ("d2", "x"): 5, ("d2", "y"): 3}
    ratings = ratings_of(*(rate("grade", a, d, "r", v) for (d, a), v in people.items()))
    metrics = {"a": people, "b": {key: -value for key, value in people.items()}}
    table = compare(table_of(metrics), ratings)
    row = only(table, level="document", test="permutation_documents")
    assert (row["metric_a"], row["metric_b"], row["difference"]) == (
        "a",
        "b",
        pytest.approx(2),
    )
    assert row["p"] == pytest.approx(0.5, abs=0.1)
    assert (row["n"], row["n_undefined"], row["n_missing"]) == (2, 0, 0)
    assert np.isnan([row["low"], row["high"]]).all()
    # Every resample of documents has the same 2: nothing on the other side of 0.
    row = only(table, level="document", test="bootstrap_documents")
    assert (row["low"], row["high"], row["p"]) == pytest.approx((2, 2, 2 / 201))
    # Two systems: too few for Williams' test, which takes all that it compares for
    # independent.
    assert "williams" not in set(table["test"])


def test_against_scipy_however_metrics_and_people_are_directed():
    ratings, errors, metrics = three_metrics()
    less = {key: -value for key, value in metrics["b"].items()}
    table = compare(table_of({"a": metrics["a"], "less": less}), ratings)
    assert table[["metric_a", "metric_b"]].drop_duplicates().to_numpy().tolist() == [
        ["a", "less"]
    ]
    a, b, human = (
        np.array([[sign * values[f"d{d}", s] for d in range(8)] for s in "xyz"])
        for sign, values in ((1, metrics["a"]), (1, metrics["b"]), (-1, errors))
    )

    def gap(a, b, human):
        return scipy.stats.pearsonr(a, human)[0] - scipy.stats.pearsonr(b, human)[0]

    of_documents = [gap(a[:, d], b[:, d], human[:, d]) for d in range(8)]
    expected = {
        "global": (gap(a.ravel(), b.ravel(), human.ravel()), 24),
        "document": (np.mean(of_documents), 8),
        "system": (gap(a.mean(1), b.mean(1), human.mean(1)), 3),
    }
    for row in table.to_dict("records"):
        assert (row["difference"], row["n"]) == pytest.approx(
            expected[row["level"]], abs=1e-9
        )


@pytest.mark.parametrize(("systems", "tested"), [(19, False), (20, True)])
def test_williams_wants_twenty_systems(systems, tested):
    rng = np.random.default_rng(3)
    human, a, b = rng.normal(size=(3, systems, 2)) + rng.normal(size=(systems, 1))
    table = compare(*tables_of([human], {"a": a, "b": b}))
    by_theory = table[table["test"] == "williams"]
    assert list(by_theory["level"]) == (["system"] if tested else [])
    if tested:
        theirs = nlpstats_williams.williams_test(a, b, human, "system", "pearson")
        assert by_theory["p"].iloc[0] == pytest.approx(theirs.pvalue)


@pytest.mark.parametrize("resample", ["documents", "systems", "both"])
def test_tests_and_levels(resample):
    ratings, _, metrics = three_metrics()
    options = COMPARED.model_copy(
        update={"resample": resample, "coefficient": "kendall"}
    )
    table = compare(table_of(metrics), ratings, options)
    for level, tests in table.groupby("level")["test"]:
        assert set(tests) == {f"permutation_{resample}", f"bootstrap_{resample}"}, level
    assert set(table["coefficient"]) == {"kendall"}
    assert len(table) == 3 * (2 + 2 + 2)
    assert not table.duplicated(list(SIGNIFICANCE.key)).any()


def test_corrections_are_over_all_pairs_of_a_test():
    ratings, errors, metrics = three_metrics()
    table = compare(table_of({**metrics, "less": dict.fromkeys(errors, 1.0)}), ratings)
    for _, family in table.groupby(["level", "test"]):
        assert len(family) == 6
        known, undefined = (
            family[(family["metric_b"] == "less") == it] for it in (False, True)
        )
        # A constant correlates with nothing: it has no p, and the family is of the
        # other three.
        unknown = ["difference", "p", "p_holm", "p_benjamini_hochberg"]
        assert undefined[unknown].isna().to_numpy().all()
        assert known["p"].notna().all()
        for column, method in (("p_holm", "holm"), ("p_benjamini_hochberg", "fdr_bh")):
            expected = multipletests(known["p"], method=method)[1]
            assert known[column].to_numpy() == pytest.approx(expected)


def test_gaps_are_counted():
    ratings, _, metrics = three_metrics()
    del metrics["a"]["d0", "x"]  # one text without a
    for system in "xyz":
        del metrics["b"]["d1", system]  # one document without b
        metrics["a"]["d2", system] = 1.0
    table = compare(table_of({"a": metrics["a"], "b": metrics["b"]}), ratings)
    assert (table["n_missing"] == 4).all()
    # Document d1 has no b, and a says nothing within d2.
    n = table.groupby("level")["n"].unique().map(list).to_dict()
    assert n == {"global": [20], "system": [3], "document": [6]}


def test_one_document_or_system_tells_nothing_of_others():
    ratings, _, metrics = three_metrics(documents=1)
    table = compare(table_of(metrics), ratings)
    drawn = table[table["test"] == "bootstrap_documents"]
    assert drawn["difference"].notna().any()
    assert drawn[["low", "high", "p", "p_holm"]].isna().to_numpy().all()
    # Swapping the only document turns the difference round: as extreme as the data,
    # always.
    swapped = table[table["test"] == "permutation_documents"].dropna(
        subset="difference"
    )
    assert swapped["p"].to_numpy() == pytest.approx(1)
    ratings, _, metrics = three_metrics()
    of_x = {
        name: {k: v for k, v in m.items() if k[1] == "x"} for name, m in metrics.items()
    }
    table = compare(table_of(of_x), ratings[ratings["author"] == "x"])
    assert ((table["level"] == "global") == table["difference"].notna()).all()


def test_judges_are_metrics_of_their_own_and_a_single_metric_has_no_rows():
    ratings, _, metrics = three_metrics()
    scores = pd.concat(
        [scores_of(metrics["a"], metric="a", judge=j) for j in ("none", "nli")]
    )
    table = compare(scores, ratings)
    assert table[["metric_a", "metric_b"]].drop_duplicates().to_numpy().tolist() == [
        ["a", "a (nli)"]
    ]
    assert table["difference"].to_numpy() == pytest.approx(0, abs=1e-12, nan_ok=True)
    options = COMPARED.model_copy(update={"compared": ["a", "length"]})
    scores = table_of({"a": metrics["a"], "length": metrics["b"], "c": metrics["c"]})
    assert compare(scores, ratings, options).empty


def test_a_shared_bootstrap_is_that_of_each_pair_alone():
    """Metrics share their resamples, and only where the same texts take part."""
    ratings, _, metrics = three_metrics()
    for key in list(metrics["a"])[:3]:
        del metrics["a"][key]
    scores = table_of(metrics)
    (whole,) = studied(scores, ratings, better=BETTER)
    values = {metric.label: metric.oriented for metric in whole.metrics}
    table = compare(scores, ratings)
    family = table[table["test"] == "bootstrap_documents"]
    assert len(family) == 3 * 3
    for row in family.to_dict("records"):
        alone = paired_bootstrap(
            values[row["metric_a"]],
            values[row["metric_b"]],
            whole.oriented,
            row["level"],
            "pearson",
            resample="documents",
            n=COMPARED.permutations,
            confidence=COMPARED.confidence,
            rng=generator(
                0, "significance", "s1", "errors", "full", row["level"], row["test"]
            ),
        )
        for name in ("difference", "low", "high", "p", "n_undefined", "n_missing"):
            assert row[name] == pytest.approx(getattr(alone, name), nan_ok=True)

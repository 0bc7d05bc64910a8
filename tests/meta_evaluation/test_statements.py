"""Marks of single statements beside their scores, against computations made from plain lists."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from metassay.core.options import Criterion
from metassay.meta_evaluation.analysis import Evaluation
from metassay.meta_evaluation.confounds import confounds
from metassay.meta_evaluation.ensembles import ensembles
from metassay.meta_evaluation.layouts import Groups
from metassay.tables.ratings import RATINGS
from metassay.tables.statement_scores import STATEMENT_SCORES
from tests.meta_evaluation.invented_study import OPTIONS, scores_of

DOCUMENTS, SYSTEMS, PER_TEXT = 6, ("a", "b"), 5
CRITERIA = {"error": Criterion(low=0, high=1, better="lower")}


@pytest.fixture(scope="module")
def marked() -> pd.DataFrame:
    """A row per statement: who wrote it, its share of errors by two raters, and its scores."""
    rng = np.random.default_rng(3)
    rows = []
    for doc in range(DOCUMENTS):
        for author in SYSTEMS:
            for number in range(PER_TEXT):
                wrong = rng.binomial(4, 0.1 + 0.1 * number) / 4
                rows.append(
                    {
                        **{"doc_id": f"d{doc}", "author": author, "number": number},
                        **{"first": wrong, "second": min(1, wrong + 0.25 * rng.integers(2))},
                        "support": -wrong + rng.normal(scale=0.4),
                        "tight": -wrong + rng.normal(scale=0.8),
                        "coverage": rng.uniform(),
                        "unread": rng.uniform(),
                    }
                )
    return pd.DataFrame(rows)


def evaluation(marked: pd.DataFrame, groups: Groups | None = None) -> Evaluation:
    ratings = [
        ("errors", row.doc_id, row.author, "full", f"statement:{row.number}", rater, "error",
         getattr(row, rater))
        for row in marked.itertuples()
        for rater in ("first", "second")
    ]  # fmt: skip
    shared = marked[["doc_id", "author", "number"]].assign(
        part="full", position=marked["number"], failed=False, cut=False, unread=0.0
    )
    metrics = [
        ("support@gain", "bart", "higher", marked["unread"]),
        ("tight@gain", "bart", "higher", 0.0),
        ("coverage@gain", "none", "neither", 0.0),
        ("coverage@top", "none", "neither", 0.0),
    ]
    scores = pd.concat(
        shared.assign(
            **{"metric": name, "judge": judge, "better": better, "recipe": name, "unread": unread},
            value=marked[name.partition("@")[0]],
        )
        for name, judge, better, unread in metrics
    )
    texts = {(row.doc_id, row.author): 1.0 for row in marked.itertuples()}
    options = OPTIONS.model_copy(update={"compared": ["support", "tight"], "permutations": 200})
    return Evaluation(
        scores_of(texts, metric="m"),
        pd.DataFrame(ratings, columns=list(RATINGS.columns)),
        CRITERIA,
        {"m": "higher"},
        options,
        groups=groups or Groups({}, {}, {}),
        statement_scores=scores[list(STATEMENT_SCORES.columns)],
    )


def test_a_statement_is_a_text_of_its_own_and_documents_are_clusters(marked) -> None:
    full, statements = evaluation(marked).studies
    assert (full.part, statements.part) == ("full", "statement")
    assert full.human.shape == (2, 6)
    assert statements.human.shape == (2, 60)
    assert statements.design == "nested"
    assert statements.layout.n_clusters == DOCUMENTS
    # The mark of d2's fourth statement by b.
    at = statements.documents.get_loc("d2 b 0003")
    row = marked.query("doc_id == 'd2' and author == 'b' and number == 3").iloc[0]
    assert statements.human[1, at] == pytest.approx((row["first"] + row["second"]) / 2)
    assert np.isnan(statements.human[0, at])


def test_what_the_user_says_of_documents_holds_for_their_statements(marked) -> None:
    patients = {f"d{doc}": str(doc // 2) for doc in range(DOCUMENTS)}
    wards = {f"d{doc}": str(doc // 3) for doc in range(DOCUMENTS)}
    _, statements = evaluation(marked, Groups(wards, patients, {})).studies
    assert statements.layout.n_strata == 2
    assert statements.layout.n_clusters == 4  # d2 and d3 are of one patient and of two wards


def test_correlations_are_those_over_all_statements(marked) -> None:
    found = evaluation(marked)
    _, statements = found.tests
    people = (marked["first"] + marked["second"]) / 2
    levels = statements.levels["global"]
    for place, metric in enumerate(statements.study.metrics):
        name = metric.metric.partition("@")[0]
        value = levels.left.value[place]
        r = scipy.stats.pearsonr(marked[name], people)[0]
        assert value == pytest.approx(-r)  # fewer errors are better


def test_confounds_are_of_the_same_passages_and_of_the_same_model(marked) -> None:
    found = evaluation(marked)
    table = confounds(found.tests, found.options).query("part == 'statement'")
    behind = table.groupby("metric")["confound"].agg(lambda names: set(names) - {"system"})
    # tight read all of its passages, but by the model whose other metric did not.
    assert behind["support@gain"] == {"coverage@gain", "unread@gain (bart)"}
    assert behind["tight@gain"] == {"coverage@gain", "unread@gain (bart)"}
    row = table.query("metric == 'support@gain' and statistic == 'metric' and level == 'global'")
    value = row.set_index("confound")["value"]["unread@gain (bart)"]
    assert value == pytest.approx(scipy.stats.pearsonr(marked["unread"], marked["support"])[0])


def test_ensembles_of_metrics_that_read_an_alignment(marked) -> None:
    found = evaluation(marked)
    table = ensembles(found.studies, found.options).query(
        "part == 'statement' and kind == 'subset'"
    )
    assert set(table["members"]) == {
        "support@gain (bart)", "tight@gain (bart)", "support@gain (bart) + tight@gain (bart)",
    }  # fmt: skip
    z = sum(scipy.stats.zscore(marked[name], ddof=1) for name in ("support", "tight"))
    people = (marked["first"] + marked["second"]) / 2
    value = table.set_index("size")["value"][2]
    assert value == pytest.approx(-scipy.stats.pearsonr(z, people)[0])


def test_too_many_statements_are_left_out_with_a_note(marked, monkeypatch) -> None:
    monkeypatch.setattr("metassay.meta_evaluation.analysis.TEXTS", 100)
    notes: list[str] = []
    found = replace(evaluation(marked), note=notes.append)
    assert [one.part for one in found.studies] == ["full"]
    assert notes == [
        "60 statements by 2 systems are marked; the limit is 50. They are not tested by themselves:"
        " mark fewer"
    ]


def test_without_marks_of_statements_there_is_no_such_study(marked) -> None:
    found = evaluation(marked)
    texts = found.ratings.assign(unit="text").drop_duplicates(["doc_id", "author", "rater"])
    assert [one.part for one in Evaluation(
        found.scores, texts, CRITERIA, found.better, found.options,
        statement_scores=found.statement_scores,
    ).studies] == ["full"]  # fmt: skip

"""Marks of single statements beside their scores, against computations made from plain lists."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import pearsonr, zscore

from metassay.core.options import Criterion
from metassay.meta_evaluation.analysis import Evaluation
from metassay.meta_evaluation.confounds import confounds
from metassay.meta_evaluation.ensembles import ensembles
from metassay.meta_evaluation.layouts import NO_GROUPS, Groups
from metassay.metrics.faithfulness.summac_conv import histogram, read_head, value
from metassay.tables.statement_scores import STATEMENT_SCORES
from tests.meta_evaluation.invented_study import OPTIONS, rate, ratings_of, scores_of

KEY = ["doc_id", "author", "number"]
CRITERIA = {"error": Criterion(low=0, high=1, better="lower")}
# Each metric with its judge, its direction, and the column with its share of unread
# passages.
METRICS = [
    ("support@gain", "bart", "higher", "unread"),
    ("tight@gain", "bart", "higher", "nothing"),
    ("coverage@gain", "none", "neither", "nothing"),
    ("coverage@top", "none", "neither", "nothing"),
]


@pytest.fixture(scope="module")
def marked() -> pd.DataFrame:
    """A row per statement: who wrote it, its share of errors by two raters, and its scores."""
    rng = np.random.default_rng(3)
    keys = [
        (f"d{doc}", author, number)
        for doc in range(6)
        for author in "ab"
        for number in range(5)
    ]
    frame = pd.DataFrame(keys, columns=KEY).assign(nothing=0.0)
    wrong = rng.binomial(4, 0.1 + 0.1 * frame["number"]) / 4
    noise, other = rng.normal(size=(2, len(frame)))
    return frame.assign(
        first=wrong,
        second=np.minimum(1, wrong + 0.25 * rng.integers(2, size=len(frame))),
        support=-wrong + 0.4 * noise,
        tight=-wrong + 0.8 * other,
        coverage=rng.uniform(size=len(frame)),
        unread=rng.uniform(size=len(frame)),
    )


def evaluation(
    marked, metrics=METRICS, raters=("first", "second"), groups=NO_GROUPS
) -> Evaluation:
    rows = marked.to_dict("records")
    ratings = ratings_of(
        *(
            rate(
                "error",
                r["author"],
                r["doc_id"],
                rater,
                r[rater],
                unit=f"statement:{r['number']}",
            )
            for r in rows
            for rater in raters
        )
    )
    shared = marked[KEY].assign(
        part="full", position=marked["number"], failed=False, cut=False
    )
    scores = pd.concat(
        shared.assign(
            metric=name,
            judge=judge,
            better=better,
            recipe=name,
            value=marked[name.partition("@")[0]],
            unread=marked[unread],
        )
        for name, judge, better, unread in metrics
    )
    return Evaluation(
        scores_of({(r["doc_id"], r["author"]): 1.0 for r in rows}, metric="m"),
        ratings,
        CRITERIA,
        {"m": "higher"},
        OPTIONS.model_copy(
            update={"compared": ["support", "tight"], "permutations": 200}
        ),
        groups=groups,
        statement_scores=scores[list(STATEMENT_SCORES.columns)],
    )


@pytest.fixture(scope="module")
def evaluated(marked) -> Evaluation:
    return evaluation(marked)


def test_a_statement_is_a_text_of_its_own_and_documents_are_clusters(
    marked, evaluated
) -> None:
    full, statements = evaluated.studies
    assert (full.part, statements.part) == ("full", "statement")
    assert (full.human.shape, statements.human.shape) == ((2, 6), (2, 60))
    assert (statements.design, statements.layout.n_clusters) == ("nested", 6)
    # The mark of d2's fourth statement by b.
    at = statements.documents.get_loc("d2 b 0003")
    row = marked.set_index(KEY).loc[("d2", "b", 3)]
    assert statements.human[1, at] == pytest.approx((row["first"] + row["second"]) / 2)
    assert np.isnan(statements.human[0, at])
    # What the user says of documents holds for their statements.
    wards, patients = ({f"d{doc}": str(doc // n) for doc in range(6)} for n in (3, 2))
    _, statements = evaluation(marked, groups=Groups(wards, patients, {})).studies
    assert statements.layout.n_strata == 2
    # d2 and d3 are of one patient and of two wards
    assert statements.layout.n_clusters == 4


def test_correlations_and_ensembles_are_over_all_statements(marked, evaluated) -> None:
    _, statements = evaluated.tests
    people = (marked["first"] + marked["second"]) / 2
    values = statements.levels["global"].left.value
    for metric, number in zip(statements.study.metrics, values, strict=True):
        r = pearsonr(marked[metric.metric.partition("@")[0]], people)[0]
        assert number == pytest.approx(-r)  # fewer errors are better
    table = ensembles(evaluated.studies, evaluated.options)
    subsets = table.query("part == 'statement' and kind == 'subset'").set_index(
        "members"
    )["value"]
    both = "support@gain (bart) + tight@gain (bart)"
    assert set(subsets.index) == {*both.split(" + "), both}
    z = sum(zscore(marked[name], ddof=1) for name in ("support", "tight"))
    assert subsets[both] == pytest.approx(-pearsonr(z, people)[0])


def test_confounds_are_of_the_same_passages_and_of_the_same_model(
    marked, evaluated
) -> None:
    table = confounds(evaluated.tests, evaluated.options).query("part == 'statement'")
    behind = table.groupby("metric")["confound"].agg(
        lambda names: set(names) - {"system"}
    )
    # tight read all of its passages, but by the model whose other metric did not.
    expected = {"coverage@gain", "unread@gain (bart)"}
    assert behind["support@gain"] == behind["tight@gain"] == expected
    row = table.query(
        "metric == 'support@gain' and statistic == 'metric' and level == 'global'"
    )
    number = row.set_index("confound")["value"]["unread@gain (bart)"]
    assert number == pytest.approx(pearsonr(marked["unread"], marked["support"])[0])


def test_too_many_statements_are_left_out_with_a_note_and_unmarked_ones(
    evaluated, monkeypatch
) -> None:
    texts = evaluated.ratings.assign(unit="text").drop_duplicates([*KEY[:2], "rater"])
    unmarked = replace(evaluated, ratings=texts)
    assert [study.part for study in unmarked.studies] == ["full"]
    monkeypatch.setattr("metassay.meta_evaluation.analysis.TEXTS", 100)
    notes: list[str] = []
    limited = replace(evaluated, note=notes.append)
    assert [study.part for study in limited.studies] == ["full"]
    (note,) = notes
    assert note.startswith(
        "60 statements by 2 systems are marked; the limit is 50. They are not"
    )


# passages of a source, and with 95 more that say nothing of the statement
FEW, MANY = 5, 100


def test_sources_of_different_lengths_are_named_as_a_confound(mirror: Path) -> None:
    """Unrelated passages raise SummaC-Conv by construction, and the table of confounds says so."""
    head = read_head(mirror / "summac_conv/summac_conv_vitc_sent_perc_e.bin")

    def score(support: float, n: int) -> float:
        return value(head, [histogram([support, *[0.0] * (n - 1)])])

    assert [score(0.97, n) for n in (FEW, MANY)] == pytest.approx(
        [0.599372, 0.749865], abs=1e-6
    )
    metrics = [
        ("summac_conv", "vitc", "higher", "nothing"),
        ("aligned_passages", "none", "neither", "nothing"),
    ]
    texts = [(f"d{doc:02d}", "ab"[doc % 2]) for doc in range(12)]
    keys = [(*text, number) for text in texts for number in range(10)]
    rng = np.random.default_rng(5)
    draws = [(float(rng.integers(0, 2)), rng.normal(scale=0.05)) for _ in keys]
    wrong, noise = np.transpose(draws)
    support = np.clip(0.97 - 0.3 * wrong + noise, 0, 1)

    def table_of(passages: np.ndarray) -> tuple[pd.DataFrame, pd.DataFrame]:
        """12 texts of 10 statements, and the numbers of passages of their sources."""
        conv = [score(*pair) for pair in zip(support, passages, strict=True)]
        frame = pd.DataFrame(keys, columns=KEY).assign(
            nothing=0.0, wrong=wrong, summac_conv=conv
        )
        frame["aligned_passages"] = passages.astype(float)
        evaluated = evaluation(frame, metrics, ["wrong"])
        table = confounds(evaluated.tests, evaluated.options).query(
            "part == 'statement'"
        )
        rows = table[table["confound"] == "aligned_passages"]
        return rows[rows["level"] == "global"].set_index("statistic")["value"], frame

    (few, of_few), (_, of_many) = (table_of(np.full(len(keys), n)) for n in (FEW, MANY))
    more = of_many["summac_conv"] - of_few["summac_conv"]
    assert (more > 0).all()  # nothing else is different
    assert more.mean() > 0.1
    assert few[["metric", "people"]].isna().all()
    place = np.arange(len(keys)) // 10
    mixed, frame = table_of(np.where(place % 4 < 2, MANY, FEW))
    people, conv, n = -frame["wrong"], frame["summac_conv"], frame["aligned_passages"]
    of_metric, of_people, plain = (
        pearsonr(*two)[0] for two in ((conv, n), (people, n), (people, conv))
    )
    assert mixed["metric"] == pytest.approx(of_metric)
    assert mixed["metric"] > 0.3
    assert mixed["people"] == pytest.approx(of_people)
    assert abs(mixed["people"]) < 0.25
    # Among sources of one length people and metric agree more than they seem to.
    partial = (plain - of_metric * of_people) / np.sqrt(
        (1 - of_metric**2) * (1 - of_people**2)
    )
    assert mixed["partial"] == pytest.approx(partial)
    assert mixed["partial"] > plain

"""Every record of the invented hospital stays is drawn from the tables of a small run like theirs.

Scores are random, tables those that the analyses make of them.
"""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from metassay.core.options import Criterion
from metassay.core.params import load
from metassay.datasets.ingest import ingest
from metassay.datasets.registry import load_registry
from metassay.meta_evaluation.agreement import rating_summaries
from metassay.meta_evaluation.analysis import Evaluation
from metassay.meta_evaluation.confounds import confounds
from metassay.meta_evaluation.correlations import correlations
from metassay.meta_evaluation.ensembles import ensembles
from metassay.meta_evaluation.layouts import Groups
from metassay.reporting.published.printed import read_printed
from metassay.tables.ratings import RATINGS
from metassay.tables.statement_scores import STATEMENT_SCORES
from papers.cells import Cells, find_cells
from papers.derived_tables import DERIVED, needed_tables
from papers.index import PAPERS
from papers.pictures import picture_files
from papers.record import Line, Record
from papers.statement_tables import errors_by_position
from tests.meta_evaluation.invented_study import OPTIONS, scores_of

ROOT = Path(__file__).parents[2]
TESTED, TRAINING = "hospital_course", "hospital_course_training"
ADAPTED = "hospital_adaptation"  # the same stays
RECORDS = {
    record.name: record
    for record in PAPERS["adams"]
    if {name for name, _ in needed_tables(record)} <= {TESTED, TRAINING, ADAPTED}
}
ALIGNMENTS = (
    "rouge_gain",
    "bs_gain",
    "rouge_topk",
    "bs_topk",
    "top_section",
    "entity_chain",
)
ALIGNMENTS += ("full",)
CATEGORIES = ("error", "incorrect", "missing", "not_in_notes", "critical")
TUNED = [f"tuned_{name}" for name in ALIGNMENTS[:3]]
DOCUMENTS, SYSTEMS, PER_TEXT = [f"d{n}" for n in range(4)], ("x", "y"), 9
STATEMENTS = [(d, a, n) for d in DOCUMENTS for a in SYSTEMS for n in range(PER_TEXT)]


def metrics(benchmark: str) -> list[tuple[str, str, str]]:
    """Name, judge and direction of what the benchmark's blocks score."""
    names = [
        ("regressor@rouge_gain", "distilled"),
        ("faithfulness@rouge_gain", "lexical"),
    ]
    names += [
        (f"{of}@rouge_gain", "semantic")
        for of in ("faithfulness", "support_probability")
    ]
    for of in ALIGNMENTS:
        names.append((f"bertscore_source_f1@{of}", "minilm"))
        names += [(f"bartscore_source@{of}", judge) for judge in ("untrained", *TUNED)]
        names += [(f"ctc_consistency@{of}", judge) for judge in TUNED]
        names += [(f"{copying}@{of}", "none") for copying in ("coverage", "density")]
    if benchmark == ADAPTED:  # with one alignment, which no name says
        names += [
            (of, judge)
            for of in ("bartscore_source", "ctc_consistency")
            for judge in ("untrained", TUNED[0], "double_rouge_gain")
        ]
    names += [
        (f"bartscore_source@{of}@text", TUNED[0]) for of in ("rouge_gain", "rouge_topk")
    ]
    return [(*name, "neither" if name[1] == "none" else "higher") for name in names]


@cache
def tables_of(benchmark: str) -> dict[str, pd.DataFrame]:
    rng = np.random.default_rng(len(benchmark))
    marks = [
        (
            "elements",
            doc,
            author,
            "full",
            f"statement:{n}",
            "r",
            criterion,
            rng.integers(5) / 4,
        )
        for doc, author, n in STATEMENTS
        for criterion in CATEGORIES
    ]
    rows = [
        {
            "doc_id": d,
            "author": a,
            "part": "full",
            "position": n,
            "number": n,
        }
        | {"metric": metric, "judge": judge, "better": better, "value": rng.normal()}
        | {"recipe": metric, "failed": False, "cut": False, "unread": 0.0}
        for metric, judge, better in metrics(benchmark)
        for d, a, n in STATEMENTS
    ]
    scores = pd.DataFrame(rows)[list(STATEMENT_SCORES.columns)]
    ratings = pd.DataFrame(marks, columns=list(RATINGS.columns))
    compared = load(ROOT).meta_evaluation["compared"]
    # intervals needn't be exact here
    few = {"folds": 2, "resamples": 20, "permutations": 20}
    options = OPTIONS.model_copy(update={"compared": compared, **few})
    criteria = dict.fromkeys(CATEGORIES, Criterion(low=0, high=1, better="lower"))
    whole = scores_of(
        {(d, a): rng.random() for d in DOCUMENTS for a in SYSTEMS}, metric="m"
    )
    of = Evaluation(
        whole,
        ratings,
        criteria,
        {"m": "higher"},
        options,
        groups=Groups({}, {}, {}),
        statement_scores=scores,
    )
    places = [
        {"doc_id": d, "author": a, "part": "full", "position": n}
        for d, a, n in STATEMENTS
    ]
    aligned = pd.DataFrame(places).assign(passages=[[0]] * len(places))
    documents = pd.DataFrame({"doc_id": DOCUMENTS})
    documents["passages"], documents["group"] = [["one two"]] * 4, [["note"]] * 4
    by_whom = SYSTEMS if benchmark == TESTED else (*SYSTEMS, "reference")
    texts = [(d, a, "full", "one two") for d in DOCUMENTS for a in by_whom]
    copied = pd.DataFrame(texts, columns=["doc_id", "author", "part", "value"]).assign(
        judge="none", value=0.5
    )
    return {
        "scores": pd.concat(
            [copied.assign(metric=name) for name in ("coverage", "density")]
        ),
        "statement_scores": scores,
        "ratings": ratings,
        "sources": documents,
        "parts": pd.DataFrame(texts, columns=["doc_id", "author", "part", "text"]),
        "units": pd.DataFrame(texts, columns=["doc_id", "author", "kind", "x"]).assign(
            kind="statement"
        ),
        "alignments": pd.concat([aligned.assign(method=name) for name in ALIGNMENTS]),
        "confounds": confounds(of.tests, options),
        "ensembles": ensembles(of.studies, options),
        "correlations": correlations(of.tests, options),
        "rating_summaries": rating_summaries(ratings, criteria, options),
    }


@cache
def table(benchmark: str, name: str) -> pd.DataFrame:
    if name in DERIVED:
        return DERIVED[name].make(
            {of: table(benchmark, of) for of in DERIVED[name].sources}
        )
    return tables_of(benchmark)[name]


def shown(record: Record) -> Cells:
    printed = [
        read_printed(ROOT / "reports/published" / file) for file in record.printed_files
    ]
    return find_cells(
        record, table, pd.concat(printed, ignore_index=True) if printed else None
    )


def test_no_record_of_adams_is_open_and_19_show_the_hospital_stays() -> None:
    assert [record.name for record in PAPERS["adams"] if record.open] == []
    assert len(RECORDS) == 19


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_has_a_number_of_ours_in_every_row_and_column_and_its_picture(
    name: str,
) -> None:
    record = RECORDS[name]
    cells = shown(record)
    assert cells.cells
    assert cells.absent == ()
    if record.form != "table":
        assert set(picture_files(record, cells)) == {"svg", "pdf", "png"}


def test_every_ensemble_of_eight_metrics_is_there() -> None:
    every = tables_of(TESTED)["ensembles"]
    kinds = every[(every["part"] == "statement") & (every["criterion"] == "error")][
        "kind"
    ]
    assert [(kinds == kind).sum() for kind in ("subset", "containing")] == [255, 8]


def test_signs_are_turned_once() -> None:
    """What goes with fewer errors has a correlation below 0 in the tables, and above 0 here."""
    cells = {(cell.row, cell.column): cell for cell in shown(RECORDS["table5"]).cells}
    ours = table(ADAPTED, "correlations")
    where = {
        "metric": "bartscore_source",
        "judge": "untrained",
        "criterion": "error",
    }
    where |= {"part": "statement", "level": "global", "coefficient": "pearson"}
    for column, value in where.items():
        ours = ours[ours[column] == value]
    cell = cells["BARTScore", "Untrained"]
    assert cell.ours == -ours["value"].item()
    assert (cell.low, cell.high) == (-ours["high"].item(), -ours["low"].item())
    read = [numbers for record in RECORDS.values() for numbers in record.all_numbers]
    of_people = ("statement_correlations", "least_copied_statements", "tuning_by_use")
    turned = [of for of in read if of.table in (*of_people, "correlation_spread")]
    assert {of.scale for of in turned} == {-1}
    assert {of.value for of in read if of.table == "distilled" and of.scale == 1} == {
        "p"
    }


def test_whether_the_distilled_metric_wins_is_a_column_of_its_own() -> None:
    cells = {
        (cell.row, cell.column): cell.ours for cell in shown(RECORDS["table8"]).cells
    }
    others = [row for row, column in cells if column == "p"]
    assert len(others) == 8  # six teachers, and the best other metric twice
    for row in others:
        ours = "Distilled with coverage" if "with coverage" in row else "Distilled"
        less = cells[ours, "Pearson's r"] - cells[row, "Pearson's r"]
        assert cells[row, "Distilled less it"] == pytest.approx(less)
        assert (cells[row, "p"] < 0.5) == (less > 0)


def test_the_teachers_that_are_named_are_those_that_the_rule_chose() -> None:
    log = ROOT / "data/models/hospital_distilled-rouge_gain/training_log.json"
    if not log.exists():
        pytest.skip("the distilled metric is not here")
    chosen = json.loads(log.read_text("utf-8"))["teachers"]
    named = [
        line.ours["metric"]
        for line in RECORDS["table8"].rows
        if isinstance(line, Line) and line.ours and line.title.startswith("Teacher")
    ]
    assert sorted(named) == sorted(chosen)


def test_figure_6_has_the_errors_that_were_planted() -> None:
    """By the rater who labels what was planted; near the rates that it was drawn by."""
    folder = ROOT / "data/hospital_course"
    benchmark = load(ROOT).benchmarks[TESTED]
    reader = load_registry(ROOT / "data/registry.yaml")[benchmark.dataset].reader
    ratings = ingest(reader, folder, benchmark.criteria).ratings
    ours = errors_by_position({"ratings": ratings[ratings["rater"] == "rater_1"]})
    ours = ours[(ours["criterion"] == "error") & (ours["author"] == "all")].set_index(
        "place"
    )
    planted = pd.read_csv(folder / "planted/elements.csv", keep_default_na=False)
    wrong = (planted["label"] != "correct").groupby(
        [planted[name] for name in ("doc_id", "author", "sentence")]
    )
    by_sentence = wrong.mean().groupby("sentence").mean()
    rates = json.loads((folder / "planted/rates.json").read_text("utf-8"))[
        "error_by_position"
    ]
    for sentence, share in by_sentence.items():
        row = ours.loc[str(sentence + 1)]
        assert row["value"] == pytest.approx(share)
        rate = np.mean([of[sentence] for of in rates.values()])
        assert row["value"] == pytest.approx(
            rate, abs=3.29 * np.sqrt(rate * (1 - rate) / row["n"])
        )

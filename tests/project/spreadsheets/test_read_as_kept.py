"""What spreadsheets of real studies have, and no example would: forms, pandas, Excel, German."""

from pathlib import Path

import pytest

from metassay.core.errors import BadInput
from metassay.project.spreadsheets.read import Inputs, read_all
from tests.project.spreadsheets.sheets import DOCS, LONG, RATERS, SYSTEMS, found, put

QUALITY = [
    ["visit_id", "model", "rater", "quality"],
    *([d, s, r, str(1 + n)] for n, d in enumerate(DOCS) for s in SYSTEMS for r in RATERS),
]


def test_a_column_of_grades_called_quality_is_a_criterion(tmp_path: Path) -> None:
    data = found(tmp_path, texts=LONG, ratings=QUALITY)
    assert set(data.criteria) == {"quality"}
    assert {rating.value for rating in data.rows.ratings} == {1, 2, 3}


def test_numbered_questions_are_criteria_where_another_column_has_the_values(
    tmp_path: Path,
) -> None:
    table = [["visit_id", "model", "rater", "question", "score"]]
    table += [[d, s, "ann", str(q), "3"] for d in DOCS for s in SYSTEMS for q in (1, 2)]
    assert set(found(tmp_path, texts=LONG, ratings=table).criteria) == {"1", "2"}


def test_grades_are_not_taken_for_the_numbers_of_documents(tmp_path: Path) -> None:
    texts = [["id", "model", "text"], *([str(d), s, "It is."] for d in (1, 2) for s in SYSTEMS)]
    table = [["Overall", "model", "id"], *([str(3 - int(d)), s, d] for d, s, _ in texts[1:])]
    data = found(tmp_path, texts=texts, ratings=table)
    assert data.tables["ratings"].columns.roles["doc"] == "id"
    assert set(data.criteria) == {"Overall"}


def test_who_filled_in_a_form_is_the_rater(tmp_path: Path) -> None:
    table = [["Timestamp", "E-Mail", *QUALITY[0][:2], "How fluent is it?", "Comments"]]
    table += [["2026-01-02 10:00", f"{r}@x.org", d, s, v, "fine"] for d, s, r, v in QUALITY[1:]]
    data = found(tmp_path, texts=LONG, ratings=table)
    assert {rating.rater for rating in data.rows.ratings} == {"ann@x.org", "ben@x.org"}
    assert set(data.criteria) == {"How fluent is it?"}


def test_raters_without_a_column_are_asked_for(tmp_path: Path) -> None:
    table = [[*row[:2], row[3]] for row in QUALITY]
    with pytest.raises(BadInput) as caught:
        found(tmp_path, texts=LONG, ratings=table)
    (line,) = caught.value.problems
    assert "no column says who rated" in line
    assert "--columns ratings.rater=COLUMN" in line


def test_rows_that_pandas_counted(tmp_path: Path) -> None:
    counted = [["", *LONG[0]], *([str(n), *row] for n, row in enumerate(LONG[1:]))]
    counted[1][0] = "x"  # it holds something
    with pytest.raises(BadInput, match="column 1 has no name"):
        found(tmp_path, texts=counted)


def test_german_headings_and_numbers(tmp_path: Path) -> None:
    texts = [["Fallnummer", "Modell", "Zusammenfassung", "Quelltext", "Referenz"], *LONG[1:]]
    scores = [["Fallnummer", "Modell", "Güte", "Halluzinationsrate"]]
    scores += [[d, s, "0,25", "45 %"] for d in DOCS for s in SYSTEMS]
    written = put(tmp_path / "s.csv", scores, ";")
    data = read_all(Inputs({"texts": [put(tmp_path / "t.csv", texts, ";")], "scores": [written]}))
    assert {score.value for score in data.rows.scores} == {0.25, 0.45}
    assert {m.metric: m.better for m in data.rows.metrics}["Halluzinationsrate"] == "lower"
    assert data.references == {}
    assert all(source.passages for source in data.rows.sources)


def test_a_metric_that_differs_from_ours_in_case_alone_is_called_otherwise(tmp_path: Path) -> None:
    scores = [["visit_id", "model", "BLEU"], *([d, s, "1"] for d in DOCS for s in SYSTEMS)]
    assert found(tmp_path, texts=LONG, scores=scores).renamed == {"BLEU": "own_BLEU"}

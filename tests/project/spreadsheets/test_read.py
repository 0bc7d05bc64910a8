"""Spreadsheets as people keep them: what is guessed, and every fault of all files at once."""

from pathlib import Path

import openpyxl
import pytest
import yaml

from metassay.core.errors import BadInput
from metassay.core.params import parse_folder
from metassay.datasets.ingest import ingest
from metassay.meta_evaluation.layouts import groups_of
from metassay.project.spreadsheets.read import Inputs, read_all
from metassay.project.spreadsheets.summary import command, project_of, settings_of
from metassay.tables.names import REFERENCE
from tests.project.spreadsheets.sheets import (
    DOCS,
    LONG,
    RATERS,
    RATINGS,
    SCORES,
    SYSTEMS,
    WIDE,
    confirmed,
    files,
    put,
    read,
    refused,
)

PAIRS = [(d, s) for d in DOCS for s in SYSTEMS]
QUALITY = [
    ["visit_id", "model", "rater", "quality"],
    *(
        [d, s, r, str(1 + n)]
        for n, d in enumerate(DOCS)
        for s in SYSTEMS
        for r in RATERS
    ),
]


def test_long_tables_are_read_whole(tmp_path):
    data = read(tmp_path, ratings=RATINGS, scores=SCORES)
    rows = data.rows
    assert [source.doc_id for source in rows.sources] == [*DOCS]
    passages = ["How is the cough?", "Gone since Monday.", "Then no more tablets."]
    assert rows.sources[0].passages == passages
    assert rows.sources[0].speaker == ["Doctor", "Patient", "Doctor"]
    assert {text.author for text in rows.texts} == {*SYSTEMS, REFERENCE}
    assert (len(rows.texts), len(rows.ratings)) == (3 * 3, 3 * 2 * 2 * 2)
    fluency, errors = data.criteria["fluency"], data.criteria["errors"]
    assert (fluency.low, fluency.high, fluency.better, fluency.scale) == (
        1,
        4,
        "higher",
        "ordinal",
    )
    assert (errors.low, errors.high, errors.better) == (0, 2, "lower")
    assert data.renamed == {
        "align score": "align_score",
        "bleu": "own_bleu",
        "TER": "TER",
    }
    assert {m.metric: m.better for m in rows.metrics} == {
        "align_score": "higher", "own_bleu": "higher", "TER": "lower"
    }  # fmt: skip
    assert {s.value for s in rows.scores if s.metric == "align_score"} == {
        0.005, 0.015, 0.105, 0.115, 0.205, 0.215
    }  # fmt: skip
    settings = settings_of(rows)
    assert (settings.questions, settings.segmentation) == (["uncited"], "whole")
    assert settings.metrics == [
        "rouge", "bleu", "edit_distance", "extractiveness", "lengths", "numbers"
    ]  # fmt: skip
    output = confirmed(data)
    for words in (
        "3 documents; 2 systems: 'alba', 'brise'",
        "'fluency': from 1 to 4 (ordinal), more is better",
        "metrics, less is better (by the name): 'TER'",
        "own_bleu (for 'bleu')",
    ):
        assert words in output
    assert "cough" not in output


def test_one_column_per_system_without_source_and_reference(tmp_path):
    data = read(tmp_path, texts=WIDE)
    assert {(text.doc_id, text.author) for text in data.rows.texts} == {*PAIRS}
    assert all(source.passages == [] for source in data.rows.sources)
    settings = settings_of(data.rows)
    assert settings[1:] == ([], [], ["lengths", "numbers"])


@pytest.mark.parametrize(
    ("table", "criterion"),
    [
        ([["id", "system", "rating"], *([d, s, "3.5"] for d, s in PAIRS)], "rating"),
        # Nothing is called as usual: the texts' own keys tell documents and systems.
        (
            [["Nr", "KI", "Wer", "Güte"], *([d, s, "eva", "2"] for d, s in PAIRS)],
            "Güte",
        ),
        ([*QUALITY], "quality"),
    ],
)
def test_forms_of_ratings(tmp_path, table, criterion):
    rows = read(tmp_path, texts=WIDE, ratings=table).rows
    raters = {"ann", "ben"} if criterion == "quality" else {"rater"}
    assert {rating.rater for rating in rows.ratings} == raters
    assert {rating.criterion for rating in rows.ratings} == {criterion}
    assert len(rows.ratings) == len(table) - 1


def test_merged_cells_are_no_empty_ratings(tmp_path):
    book = openpyxl.Workbook()
    for row in RATINGS:
        book.active.append(list(row))
    book.active.merge_cells("D2:D3")
    book.create_sheet("other").merge_cells("A1:B1")  # which nobody reads
    book.save(tmp_path / "ratings.xlsx")
    with pytest.raises(BadInput) as caught:
        read_all(
            Inputs(
                {**files(tmp_path, texts=LONG), "ratings": [tmp_path / "ratings.xlsx"]}
            )
        )
    (problem,) = caught.value.problems
    assert problem.startswith("ratings.xlsx: column 'fluency' has merged cells")
    assert "(D2:D3)" in problem


def test_a_source_may_be_longer_than_python_s_reader_takes(tmp_path):
    longest = "word " * 40_000
    texts = [[*row[:3], longest if row[0] == "v1" else row[3], row[4]] for row in LONG]
    first = read(tmp_path, texts=texts).rows.sources[0]
    assert sum(map(len, first.passages)) == len(longest.strip())


def test_who_wrote_the_reference_may_be_said_or_stand_there(tmp_path):
    texts = [row[:3] for row in LONG]
    called = [[cell.replace("brise", "Gold") for cell in row] for row in texts]
    for data in (
        read(tmp_path, texts=texts, reference="brise"),
        read(tmp_path, texts=called),
    ):
        assert {text.author for text in data.rows.texts} == {"alba", REFERENCE}


def test_empty_texts_count_as_failed_and_empty_ratings_abstain(tmp_path):
    texts = [
        [*row[:2], "", *row[3:]] if row[:2] == ["v1", "alba"] else row for row in LONG
    ]
    ratings = [[*row[:3], "NA", row[4]] if row[0] == "v2" else row for row in RATINGS]
    data = read(tmp_path, texts=texts, ratings=ratings)
    (failed,) = [text for text in data.rows.texts if text.status != "ok"]
    assert (failed.doc_id, failed.author, failed.status) == ("v1", "alba", "error")
    assert data.empty == {"texts": 1, "ratings": 4}
    assert sum(rating.value is None for rating in data.rows.ratings) == 4


def test_every_fault_of_all_files_is_told_at_once_and_no_text(tmp_path):
    texts = [*LONG, LONG[1], ["v1", "alba"]]
    texts[2] = [*texts[2][:3], "Another source altogether.", texts[2][4]]
    ratings = [
        *RATINGS,
        ["v9", "alba", "ann", "3", "1"],
        ["v1", "gpt4", "ann", "3", "1"],
    ]
    ratings[1] = [
        *ratings[1][:3],
        "rather fluent for a text of this length",
        ratings[1][4],
    ]
    scores = [*SCORES, SCORES[1], ["v7", "alba", ".5", "1", "1"]]
    message = refused(tmp_path, texts=texts, ratings=ratings, scores=scores)
    for words in (
        "texts.csv: line 21: does not have the 5 cells of the header (2 cells)",
        "texts.csv: line 5: the source differs from an earlier row's",
        "texts.csv: line 18: the key (doc_id, author, part) occurs twice",
        "ratings.csv: line 2: 'fluency' is not a finite number; write a number, or leave the cell",
        "ratings.csv: line 14: system 'alba' has no text for the document in texts.csv",
        "ratings.csv: line 15: system 'gpt4' is not in texts.csv",
        "scores.csv: line 8: the key (doc_id, author, part, metric) occurs twice",
        "scores.csv: line 9: a score is of a text that is not in texts.csv",
    ):
        assert words in message, message
    assert not [word for word in ("rather", "altogether") if word in message]


def test_what_excel_saves_as_cp1252_is_read_and_named(tmp_path):
    table = [["id", "system", "text"], ["v1", "a", "Schwäche im Arm ist weg"]]
    path = put(tmp_path / "texts.csv", table, ";", "cp1252")
    data = read_all(Inputs({"texts": [path]}))
    assert [row.text for row in data.rows.texts] == ["Schwäche im Arm ist weg"]
    assert "is not UTF-8, and was read as cp1252" in confirmed(data)


COUNTED = [
    ["", *LONG[0]],
    ["x", *LONG[1]],
    *([str(n), *row] for n, row in enumerate(LONG[2:])),
]
NOBODY = [[*row[:2], row[3]] for row in QUALITY]


@pytest.mark.parametrize(
    ("columns", "tables", "words"),
    [
        (["doc"], {"ratings": RATINGS}, "--columns 'doc': write ROLE=COLUMN"),
        (
            ["doc=nowhere"],
            {"ratings": RATINGS},
            "texts.csv: there is no column 'nowhere'; --colum",
        ),
        (
            ["scores.doc=id"],
            {"ratings": RATINGS},
            "FILE.ROLE=COLUMN for one of texts, ratings",
        ),
        (
            [],
            {
                "texts": [
                    ["a", "b"],
                    ["Some words that go on", "other words that go on"],
                ]
            },
            "say which: --columns texts.doc=COLUMN, of 'a', 'b'",
        ),
        ([], {"ratings": NOBODY}, "no column says who rated"),
        ([], {"ratings": NOBODY}, "--columns ratings.rater=COLUMN"),
        # by pandas, and it holds something
        ([], {"texts": COUNTED}, "column 1 has no name"),
    ],
)
def test_what_cannot_be_told_is_asked_for(tmp_path, columns, tables, words):
    assert words in refused(tmp_path, *columns, **tables)


def test_the_command_that_confirms_says_all_that_was_guessed(tmp_path):
    """Read with what it says, nothing is left to guess, and the outcome is the same."""
    inputs = Inputs(files(tmp_path, texts=LONG, ratings=RATINGS, scores=SCORES))
    data = read_all(inputs)
    words = command(Path("new"), inputs, data, [])
    assert "texts.doc=visit_id texts.system=model" in words
    assert "'scores.metrics=align score,bleu,TER' --lower errors TER" in words
    assert words.endswith("--scale fluency=1..4 errors=0..2 --yes")
    columns = [
        name
        for kind, table in data.tables.items()
        for name in table.columns.words(kind)
    ]
    again = read_all(inputs._replace(columns=columns, lower=["errors", "TER"]))
    assert (again.rows.texts, again.rows.scores) == (data.rows.texts, data.rows.scores)
    assert again.criteria == data.criteria


# What spreadsheets of real studies have, and no example would: forms, pandas, Excel,
# German.


def test_numbered_questions_are_criteria_where_another_column_has_the_values(tmp_path):
    table = [["visit_id", "model", "rater", "question", "score"]]
    table += [[d, s, "ann", str(q), "3"] for d, s in PAIRS for q in (1, 2)]
    assert set(read(tmp_path, ratings=table).criteria) == {"1", "2"}


def test_grades_are_not_taken_for_the_numbers_of_documents(tmp_path):
    texts = [
        ["id", "model", "text"],
        *([str(d), s, "It is."] for d in (1, 2) for s in SYSTEMS),
    ]
    table = [
        ["Overall", "model", "id"],
        *([str(3 - int(d)), s, d] for d, s, _ in texts[1:]),
    ]
    data = read(tmp_path, texts=texts, ratings=table)
    assert data.tables["ratings"].columns.roles["doc"] == "id"
    assert set(data.criteria) == {"Overall"}


def test_who_filled_in_a_form_is_the_rater(tmp_path):
    table = [["Timestamp", "E-Mail", *QUALITY[0][:2], "How fluent is it?", "Comments"]]
    table += [
        ["2026-01-02 10:00", f"{r}@x.org", d, s, v, "fine"]
        for d, s, r, v in QUALITY[1:]
    ]
    data = read(tmp_path, ratings=table)
    assert {rating.rater for rating in data.rows.ratings} == {"ann@x.org", "ben@x.org"}
    assert set(data.criteria) == {"How fluent is it?"}


def test_german_headings_and_numbers(tmp_path):
    texts = [
        ["Fallnummer", "Modell", "Zusammenfassung", "Quelltext", "Referenz"],
        *LONG[1:],
    ]
    scores = [["Fallnummer", "Modell", "Güte", "Halluzinationsrate"]]
    scores += [[d, s, "0,25", "45 %"] for d, s in PAIRS]
    tables = {"texts": texts, "scores": scores}
    paths = {
        kind: [put(tmp_path / f"{kind}.csv", table, ";")]
        for kind, table in tables.items()
    }
    data = read_all(Inputs(paths))
    assert {score.value for score in data.rows.scores} == {0.25, 0.45}
    assert {m.metric: m.better for m in data.rows.metrics}[
        "Halluzinationsrate"
    ] == "lower"
    assert data.references == {}
    assert all(source.passages for source in data.rows.sources)


def test_a_metric_that_differs_from_ours_in_case_alone_is_called_otherwise(tmp_path):
    scores = [["visit_id", "model", "BLEU"], *([d, s, "1"] for d, s in PAIRS)]
    assert read(tmp_path, scores=scores).renamed == {"BLEU": "own_BLEU"}


# Columns that say which documents and systems belong together, from sheet to project to
# study.

CLINICS = {"v1": "north", "v2": "north", "v3": "south"}
PATIENTS = {"v1": "p1", "v2": "p1", "v3": ""}
TOGETHER = [
    [*LONG[0], "stratum", "patient", "family"],
    *([*row, CLINICS[row[0]], PATIENTS[row[0]], "house"] for row in LONG[1:]),
]


def test_the_project_says_what_the_sheet_says(tmp_path):
    tables = files(tmp_path, texts=TOGETHER, ratings=RATINGS, scores=SCORES)
    inputs = Inputs(
        tables,
        ("cluster=patient",),
        primary="bleu",
        primary_criterion="fluency",
        fitted=("TER",),
    )
    data = read_all(inputs)
    content = project_of("study", data, ["texts.csv"])
    benchmark = parse_folder(yaml.safe_load(content.benchmark), where="params.yaml")
    # The sheets' bleu is called otherwise, as there is one of Metassay's own.
    assert benchmark.design.primary == "own_bleu"
    assert benchmark.design.primary_criterion == "fluency"
    assert (benchmark.design.tried, benchmark.design.fitted) == (1, ["TER"])
    folder = tmp_path / "raw"
    folder.mkdir()
    for path, data_of in content.data.items():
        (folder / Path(path).name).write_bytes(data_of)
    sources = ingest("files", folder, benchmark.criteria).sources
    strata, clusters, families = groups_of(benchmark.design, sources, SYSTEMS, "design")
    assert strata == CLINICS
    assert clusters == {"v1": "p1", "v2": "p1"}
    assert families == dict.fromkeys(SYSTEMS, "house")
    output = " ".join(confirmed(data).split())
    for words in (
        "documents of one 'stratum' are compared only with each other",
        "documents of one 'patient' count as one",
        "2 systems of 1 families, which count as one",
        "primary metric: 'own_bleu'",
        "primary criterion: 'fluency'",
        "fitted on these ratings, so without a verdict: 'TER'",
    ):
        assert words in output
    again = command(tmp_path / "new", inputs, data, ())
    assert "cluster=patient" in again
    assert "--primary bleu --primary-criterion fluency --fitted TER" in again
    # Two values for one document or system are a fault.
    rows = [list(row) for row in TOGETHER]
    rows[2][-3], rows[3][-2], rows[4][-1] = "east", "p9", "other"
    message = refused(tmp_path, "cluster=patient", texts=rows)
    assert (
        message.count("differs from an earlier row's") == len(message.splitlines()) == 3
    )
    assert "strata" in message
    assert "family" in message

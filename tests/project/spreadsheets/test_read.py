"""Spreadsheets as people keep them: what is guessed, and every fault of all files at once."""

from pathlib import Path

import openpyxl
import pytest

from metassay.core.errors import BadInput
from metassay.project.spreadsheets.read import Inputs, read_all
from metassay.project.spreadsheets.summary import command, lines, settings_of
from metassay.tables.names import REFERENCE
from tests.project.spreadsheets.sheets import (
    DOCS,
    LONG,
    RATINGS,
    SCORES,
    SYSTEMS,
    WIDE,
    Table,
    files,
    found,
    put,
)


def test_long_tables_are_read_whole(tmp_path: Path) -> None:
    data = found(tmp_path, texts=LONG, ratings=RATINGS, scores=SCORES)
    rows = data.rows
    assert [source.doc_id for source in rows.sources] == [*DOCS]
    assert rows.sources[0].passages == [
        "How is the cough?",
        "Gone since Monday.",
        "Then no more tablets.",
    ]
    assert rows.sources[0].speaker == ["Doctor", "Patient", "Doctor"]
    assert {text.author for text in rows.texts} == {*SYSTEMS, REFERENCE}
    assert len(rows.texts) == 3 * 3
    assert len(rows.ratings) == 3 * 2 * 2 * 2
    fluency, errors = data.criteria["fluency"], data.criteria["errors"]
    assert (fluency.low, fluency.high, fluency.better, fluency.scale) == (1, 4, "higher", "ordinal")
    assert (errors.low, errors.high, errors.better) == (0, 2, "lower")
    assert data.renamed == {"align score": "align_score", "bleu": "own_bleu", "TER": "TER"}
    assert {m.metric: m.better for m in rows.metrics} == {
        "align_score": "higher", "own_bleu": "higher", "TER": "lower"
    }  # fmt: skip
    assert {s.value for s in rows.scores if s.metric == "align_score"} == {
        0.005, 0.015, 0.105, 0.115, 0.205, 0.215
    }  # fmt: skip
    settings = settings_of(rows)
    assert settings.questions == ["uncited"]
    assert settings.metrics == [
        "rouge",
        "bleu",
        "edit_distance",
        "extractiveness",
        "lengths",
        "numbers",
    ]
    assert settings.segmentation == "whole"


def test_one_column_per_system_without_source_and_reference(tmp_path: Path) -> None:
    data = found(tmp_path, texts=WIDE)
    assert {(text.doc_id, text.author) for text in data.rows.texts} == {
        (d, s) for d in DOCS for s in SYSTEMS
    }
    settings = settings_of(data.rows)
    assert (settings.questions, settings.judges, settings.metrics) == (
        [],
        [],
        ["lengths", "numbers"],
    )
    assert all(source.passages == [] for source in data.rows.sources)


ONE_COLUMN = [["id", "system", "rating"], *([d, s, "3.5"] for d in DOCS for s in SYSTEMS)]
# Nothing is called as usual: the texts' own keys tell documents and systems.
STRANGE = [["Nr", "KI", "Wer", "Güte"], *([d, s, "eva", "2"] for d in DOCS for s in SYSTEMS)]


@pytest.mark.parametrize(
    ("table", "raters", "criteria", "n"),
    [
        (ONE_COLUMN, {"rater"}, {"rating"}, 6),
        (STRANGE, {"rater"}, {"Güte"}, 6),
    ],
)
def test_forms_of_ratings(
    tmp_path: Path, table: Table, raters: set[str], criteria: set[str], n: int
) -> None:
    rows = found(tmp_path, texts=WIDE, ratings=table).rows
    assert {rating.rater for rating in rows.ratings} == raters
    assert {rating.criterion for rating in rows.ratings} == criteria
    assert len(rows.ratings) == n


def test_merged_cells_are_no_empty_ratings(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in RATINGS:
        book.active.append(list(row))
    book.active.merge_cells("D2:D3")
    book.create_sheet("other").merge_cells("A1:B1")  # which nobody reads
    book.save(tmp_path / "ratings.xlsx")
    with pytest.raises(BadInput) as caught:
        read_all(Inputs({**files(tmp_path, texts=LONG), "ratings": [tmp_path / "ratings.xlsx"]}))
    (said,) = caught.value.problems
    assert said.startswith("ratings.xlsx: column 'fluency' has merged cells")
    assert "(D2:D3)" in said


def test_a_source_may_be_longer_than_python_s_reader_takes(tmp_path: Path) -> None:
    longest = "word " * 40_000
    texts = [
        LONG[0],
        *([*row[:3], longest if row[0] == "v1" else row[3], row[4]] for row in LONG[1:]),
    ]
    (read,) = [
        source for source in found(tmp_path, texts=texts).rows.sources if source.doc_id == "v1"
    ]
    assert sum(map(len, read.passages)) == len(longest.strip())


def test_who_wrote_the_reference_may_be_said_or_stand_there(tmp_path: Path) -> None:
    texts = [LONG[0][:3], *(row[:3] for row in LONG[1:])]
    data = read_all(Inputs(files(tmp_path, texts=texts), reference="brise")).rows.texts
    assert {one.author for one in data} == {"alba", REFERENCE}
    called = [[cell.replace("brise", "Gold") for cell in row] for row in texts]
    assert {t.author for t in found(tmp_path, texts=called).rows.texts} == {"alba", REFERENCE}


def test_empty_texts_count_as_failed_and_empty_ratings_abstain(tmp_path: Path) -> None:
    texts = [[*row[:2], "", *row[3:]] if row[:2] == ["v1", "alba"] else row for row in LONG]
    ratings = [[*row[:3], "NA", row[4]] if row[0] == "v2" else row for row in RATINGS]
    data = found(tmp_path, texts=texts, ratings=ratings)
    (failed,) = [text for text in data.rows.texts if text.status != "ok"]
    assert (failed.doc_id, failed.author, failed.status) == ("v1", "alba", "error")
    assert data.empty == {"texts": 1, "ratings": 4}
    assert sum(rating.value is None for rating in data.rows.ratings) == 4


def test_every_fault_of_all_files_is_told_at_once_and_no_text(tmp_path: Path) -> None:
    texts = [*LONG, LONG[1], ["v1", "alba"]]
    texts[2] = [*texts[2][:3], "Another source altogether.", texts[2][4]]
    ratings = [*RATINGS, ["v9", "alba", "ann", "3", "1"], ["v1", "gpt4", "ann", "3", "1"]]
    ratings[1] = [*ratings[1][:3], "rather fluent", ratings[1][4]]
    scores = [*SCORES, SCORES[1], ["v7", "alba", ".5", "1", "1"]]
    with pytest.raises(BadInput) as caught:
        found(tmp_path, texts=texts, ratings=ratings, scores=scores)
    message = "\n".join(caught.value.problems)
    for words in (
        "texts.csv: line 21: does not have the 5 cells of the header (2 cells)",
        "texts.csv: line 5: the source differs from an earlier row's",
        "texts.csv: line 18: the key (doc_id, author, part) is there twice",
        "ratings.csv: line 2: a cell is not a number; write a number, or leave it empty",
        "ratings.csv: line 14: system 'alba' has no text for the document in texts.csv",
        "ratings.csv: line 15: system 'gpt4' is not in texts.csv",
        "scores.csv: line 8: the key (doc_id, author, part, metric) is there twice",
        "scores.csv: line 9: a score is of a text that is not in texts.csv",
    ):
        assert words in message, message
    assert "cough" not in message
    assert "rather" not in message
    assert "altogether" not in message


def test_what_excel_saves_as_cp1252_is_named_with_its_remedy(tmp_path: Path) -> None:
    table = [["id", "system", "text"], ["v1", "a", "Schwäche im Arm ist weg"]]
    path = put(tmp_path / "texts.csv", table, ";", "cp1252")
    with pytest.raises(
        BadInput, match=r"line 2: is not UTF-8 .* is 0xe4\); save the file as UTF-8"
    ):
        read_all(Inputs({"texts": [path]}))


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (["doc"], "--columns 'doc': write ROLE=COLUMN"),
        (["doc=nowhere"], "texts.csv: there is no column 'nowhere'; --columns: takes names"),
        (["scores.doc=id"], "FILE.ROLE=COLUMN for one of texts, ratings"),
    ],
)
def test_wrong_words_about_columns(tmp_path: Path, columns: list[str], words: str) -> None:
    with pytest.raises(BadInput) as caught:
        found(tmp_path, *columns, texts=LONG, ratings=RATINGS)
    assert words in "\n".join(caught.value.problems)


def test_what_cannot_be_told_is_asked_for(tmp_path: Path) -> None:
    texts = [["a", "b"], ["Some words that go on", "other words that go on"]] * 1
    with pytest.raises(BadInput, match=r"say which: --columns texts\.doc=COLUMN, of 'a', 'b'"):
        found(tmp_path, texts=texts)


def test_the_command_that_confirms_says_all_that_was_guessed(tmp_path: Path) -> None:
    """Read with what it says, nothing is left to guess, and the outcome is the same."""
    inputs = Inputs(files(tmp_path, texts=LONG, ratings=RATINGS, scores=SCORES))
    data = read_all(inputs)
    words = command(Path("mine"), inputs, data, [])
    assert "texts.doc=visit_id texts.system=model" in words
    assert "'scores.metrics=align score,bleu,TER' --lower errors TER" in words
    assert words.endswith("--scale fluency=1..4 errors=0..2 --yes")
    columns = [name for kind, read in data.tables.items() for name in read.columns.words(kind)]
    again = read_all(inputs._replace(columns=columns, lower=["errors", "TER"]))
    assert again.rows.texts == data.rows.texts
    assert again.rows.scores == data.rows.scores
    assert again.criteria == data.criteria


def test_lines_to_confirm_have_names_and_numbers_and_no_text(tmp_path: Path) -> None:
    data = found(tmp_path, texts=LONG, ratings=RATINGS, scores=SCORES)
    output = "\n".join(lines(data, settings_of(data.rows)))
    assert "3 documents; 2 systems: 'alba', 'brise'" in output
    assert "'fluency': from 1 to 4 (ordinal), more is better" in output
    assert "metrics, less is better (by the name): 'TER'" in output
    assert "own_bleu (for 'bleu')" in output
    assert "cough" not in output

"""Bad sheets: each fault is named with file, row, column and remedy, and nothing is imported."""

import json

import pytest

from metassay.core.errors import BadInput
from metassay.studies import importing, key, sheets
from metassay.studies.export import write
from tests.studies.invented_tables import PLAIN, study
from tests.studies.test_sheets import FORMATS, cells_of, filled, imported, put

RATER, ROW, TEXT, GRADE, FAULTS, COMMENT = range(6)


@pytest.fixture
def sent(tmp_path):
    """A study whose three sheets are filled in."""
    write(study(), sheets.KIND, tmp_path / "s")
    for rater in ("anna", "ben", "carla"):
        filled(tmp_path / f"s/sheets/{rater}.csv")
    return tmp_path / "s"


def spoilt(sent, change, rater="anna"):
    """The problems after a change to the cells of one sheet."""
    path = sent / f"sheets/{rater}.csv"
    table = cells_of(path)
    table = change(table) or table
    put(path, table)
    return problems(sent)


def problems(sent, *files, **options):
    with pytest.raises(BadInput) as error:
        imported(sent, sheets.KIND, *files, **options)
    return error.value.problems


def cell(row, column, value):
    def change(table):
        table[row][column] = value

    return change


def row_of(sent, number, rater="anna"):
    return cells_of(sent / f"sheets/{rater}.csv")[number][ROW]


def test_a_value_off_the_scale(sent):
    row = row_of(sent, 2)
    # The first row's text has two lines, so that the second row starts in line 4 of the file.
    assert spoilt(sent, cell(2, GRADE, "4")) == (
        "anna.csv: line 4: column 'grade': the answer is none of the answers that are allowed"
        f" (row {row}); allowed: 1, 2, 3; leave it empty where it cannot be said",
    )


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ("5", "is over the cap of 4"),
        ("-1", "is off the scale"),
        ("1.5", "is no whole number"),
        ("two", "is not a number"),
        ("50%", "is not a number"),
        ("nan", "is not a number"),
    ],
)
def test_penalties(sent, said, problem):
    (line,) = spoilt(sent, cell(1, FAULTS, said))
    assert f"column 'faults': the answer {problem} (row" in line
    assert "allowed: a whole number 0 to 4" in line


def test_an_item_that_nobody_was_sent(sent):
    lines = spoilt(sent, cell(1, ROW, "nobody-01"))
    assert len(lines) == 2
    assert lines[0].startswith("anna.csv: line 2: the row's id is not known (row 'nobody-01');")
    assert "1 of 9 rows of rater 'anna' are not there (first: row" in " ".join(lines)


def test_a_rater_twice_in_a_sheet(sent):
    row = row_of(sent, 1)
    assert spoilt(sent, lambda table: [*table, table[1]]) == (
        f"anna.csv: line 20: rater 'anna' has the row twice (row {row}, line 2); keep one of the"
        " two",
    )


def test_a_sheet_given_twice_under_two_names(sent):
    (sent / "sheets/copy.csv").write_bytes((sent / "sheets/ben.csv").read_bytes())
    (line,) = problems(sent)
    assert line.startswith("copy.csv: 9 lines: rater 'ben' has the row in ben.csv as well (first:")


def test_a_deleted_row_and_a_sheet_that_is_missing(sent):
    row = row_of(sent, 3)
    assert spoilt(sent, lambda table: [*table[:3], *table[4:]]) == (
        f"anna.csv: 1 of 9 rows of rater 'anna' are not there (first: row {row}); restore them"
        " (with empty cells if they were not rated), or give --partial",
    )
    (sent / "sheets/ben.csv").unlink()
    assert len(problems(sent)) == 2
    assert "key.json: nothing came back from rater 'ben' (9 rows were sent)" in problems(sent)[1]
    results = imported(sent, sheets.KIND, partial=True)
    assert results.n_absent == 10
    assert results.n_empty == 20
    assert len(results.ratings) == 54


def test_an_edited_text_and_a_rater_who_is_not_of_the_study(sent):
    assert "the text in column 'text' is not the one" in spoilt(sent, cell(1, TEXT, "Other."))[0]
    (sent / "sheets/anna.csv").unlink()
    lines = spoilt(sent, lambda table: [table[0], ["dina", *table[1][1:]], *table[2:]], "ben")
    assert "rater 'dina' was sent nothing of this study" in lines[0]
    assert "known: anna, ben, carla" in lines[0]


def test_a_row_of_another_rater(tmp_path):
    write(study(per_item=1), sheets.KIND, tmp_path / "s")
    path = tmp_path / "s/sheets/anna.csv"
    table = cells_of(path)
    table[1][RATER] = "ben"
    put(path, table)
    lines = problems(tmp_path / "s")
    assert "the row was not sent to rater 'ben'" in lines[0]


def test_all_faults_at_once_and_nothing_written(sent):
    def change(table):
        table[1][GRADE], table[2][FAULTS], table[3][ROW] = "9", "9", "x"
        return [*table, table[4]]

    assert len(spoilt(sent, change)) == 5
    assert sorted(path.name for path in sent.iterdir()) == ["key.json", "sheets"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda t: [row[1:] for row in t], "column 'rater' is missing in the first row"),
        (lambda t: [[*row[:4], *row[5:]] for row in t], "column 'faults' is missing"),
        (lambda t: [[*row[:2], *row[3:]] for row in t], "column 'text' is missing"),
        (lambda t: [[*row, row[3]] for row in t], "column 'grade' is there twice"),
        (lambda t: [t[0], [*t[1], "more"], *t[2:]], "has more cells than the first row names"),
    ],
)
def test_columns(sent, change, said):
    assert said in spoilt(sent, change)[0]


def test_a_renamed_column_is_one_line(sent):
    said = spoilt(
        sent, lambda t: [["mark" if n == GRADE else c for n, c in enumerate(t[0])], *t[1:]]
    )
    assert said == ("anna.csv: 9 times: column 'grade' is missing; restore it as it was sent out",)


def test_files_that_are_no_sheets(tmp_path, sent):
    for name, content in (
        ("empty.csv", b" \n"),
        ("zip.xlsx", b"PK\x03\x04no"),
        ("x.csv", b"PK\x03\x04no"),
        ("notes.docx", b"x"),
    ):
        (tmp_path / name).write_bytes(content)
    files = [tmp_path / name for name in ("empty.csv", "zip.xlsx", "x.csv", "notes.docx", "no.csv")]
    lines = problems(sent, *files)
    assert [line.split(":")[0] for line in lines] == [path.name for path in files]


def test_a_key_that_is_damaged(sent):
    path = sent / key.FILE
    whole = json.loads(path.read_text("utf-8"))
    for spoil in (
        "[]",
        "{",
        json.dumps({**whole, "version": 2}),
        json.dumps({**whole, "rows": {}}),
        json.dumps({**whole, "questions": {}}),
        json.dumps({**whole, "assignments": 3}),
    ):
        path.write_text(spoil, encoding="utf-8")
        with pytest.raises(BadInput, match=r"key\.json: is not the key"):
            key.read(path)


def test_a_later_import_replaces_an_earlier_one(sent):
    content = key.read(sent / key.FILE)
    for grade in ("2", "1"):
        filled(sent / "sheets/anna.csv", (grade, "0"))
        importing.write(imported(sent, FORMATS["csv"]), content, sent)
    lines = (sent / "ratings.csv").read_text("utf-8").splitlines()
    assert lines[0] == "study,doc_id,author,part,unit,rater,criterion,value"
    assert lines[1:3] == [
        "pilot,d1,alpha,full,text,anna,faults,0",
        "pilot,d1,alpha,full,text,ben,faults,3",
    ]
    assert len(lines) == 55
    assert PLAIN.rate([]) == []

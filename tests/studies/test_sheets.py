"""Sheets as files: what a spreadsheet may do to them, what comes back, and each fault by name."""

import csv
import io
import json
import shutil
import time
import warnings
import zipfile

import openpyxl
import pytest

from metassay.core.errors import BadInput
from metassay.studies import importing, key, sheets, workbooks
from metassay.studies.export import write
from metassay.tabular.rows import Findings
from tests.studies.invented_tables import PLAIN, study

FORMATS = {"csv": sheets.KIND, "xlsx": workbooks.KIND}
RATERS = ("anna", "ben", "carla")


@pytest.fixture(params=FORMATS)
def form(request):
    return FORMATS[request.param]


def cells_of(path):
    """All cells of a sheet, whatever its format."""
    if path.suffix == ".csv":
        return list(csv.reader(io.StringIO(path.read_text("utf-8-sig"), newline="")))
    page = openpyxl.load_workbook(path).worksheets[0]
    return [
        ["" if cell.value is None else cell.value for cell in row]
        for row in page.iter_rows()
    ]


def put(path, table, separator=","):
    if path.suffix == ".csv":
        buffer = io.StringIO(newline="")
        csv.writer(buffer, delimiter=separator).writerows(table)
        path.write_bytes(f"\ufeff{buffer.getvalue()}".encode())
        return
    book = openpyxl.Workbook()
    for row in table:
        book.active.append([None if cell == "" else cell for cell in row])
    book.save(path)


def filled(path, answers=("2", "3")):
    """Every question of a sheet with the same answers."""
    table = cells_of(path)
    for row in table[1:]:
        row[-3:-1] = answers
    put(path, table)


@pytest.fixture(scope="module")
def filled_in(tmp_path_factory):
    """A study whose three sheets are filled in, in each format; not to be changed."""
    folder = tmp_path_factory.mktemp("filled")
    for name, kind in FORMATS.items():
        write(study(), kind, folder / name)
        for rater in RATERS:
            filled(folder / name / f"sheets/{rater}.{name}")
    return folder


@pytest.fixture
def folder(filled_in, tmp_path, form):
    return shutil.copytree(filled_in / form.name, tmp_path / "s")


def imported(folder, form, *files, partial=False):
    files = files or sorted((folder / "sheets").glob(f"*.{form.name}"))
    rows = importing.read_files(files, list(FORMATS.values()))
    return importing.unblind(rows, key.read(folder / key.FILE), PLAIN, partial=partial)


def test_what_is_sent_comes_back_and_the_same_seed_gives_the_same_bytes(tmp_path, form):
    sent = study()
    names = write(sent, form, tmp_path / "a")
    sheet, problems = sent.sheets()[0], Findings()
    rows = form.read(tmp_path / "a/sheets" / names[0], problems)
    assert not problems, problems.lines()
    assert [row.row for row in rows] == [
        row.id for item in sheet.items for row in item.rows
    ]
    for row, item in zip(rows, sheet.items, strict=True):
        assert row.rater == "anna"
        assert key.digest(row.texts["text"]) == key.digest(item.texts[0].text)
        assert set(row.answers.values()) - {row.answers["text"]} == {""}
    write(study(), form, tmp_path / "b")
    files = sorted(
        path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*.*")
    )
    assert len(files) >= 4
    for file in files:
        assert (tmp_path / "a" / file).read_bytes() == (
            tmp_path / "b" / file
        ).read_bytes()


def test_no_cell_is_a_formula_and_long_texts_go_on_in_a_second_column(tmp_path, form):
    sent = study(text="=cmd() {author} {doc}" + "-word " * 12_000)
    write(sent, form, tmp_path / "s")
    path, problems = tmp_path / f"s/sheets/ben.{form.name}", Findings()
    table = cells_of(path)
    assert table[0][2:5] == ["text", "text (2)", "text (3)"]
    assert all(str(row[2]).startswith("'=cmd()") for row in table[1:])
    if form.name == "xlsx":
        page = openpyxl.load_workbook(path)["answers"]
        assert {cell.data_type for row in page.iter_rows() for cell in row} <= {
            "s",
            "n",
        }
    rows = {row.row: row for row in form.read(path, problems)}
    for item in sent.items:
        assert key.digest(rows[item.rows[0].id].texts["text"]) == key.digest(
            item.texts[0].text
        )


def test_workbooks_help_to_fill_in(tmp_path, monkeypatch):
    write(study(), workbooks.KIND, tmp_path / "s")
    file = tmp_path / "s/sheets/anna.xlsx"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        book = openpyxl.load_workbook(file)
    page = book["answers"]
    rules = {rule.formula1: rule for rule in page.data_validations.dataValidation}
    assert set(rules) == {'"1,2,3"', "0"}
    assert rules["0"].formula2 == "4"
    assert "D2" in rules['"1,2,3"'].sqref
    assert "E10" in rules["0"].sqref
    assert page.freeze_panes == "C2"
    assert page["C2"].alignment.wrap_text
    text = " ".join(str(row[0].value) for row in book["instructions"].iter_rows())
    assert "Read, then grade." in text
    assert "a whole number 0 to 4" in text
    for year in (1970, 2200):  # ZIP takes 1980 to 2107
        now = time.struct_time((year, 1, 2, 3, 4, 5, 0, 2, 0))
        monkeypatch.setattr(time, "localtime", lambda *_, now=now: now)
        write(study(), workbooks.KIND, tmp_path / str(year))
        assert (tmp_path / f"{year}/sheets/anna.xlsx").read_bytes() == file.read_bytes()


def test_sheets_edited_in_a_spreadsheet_import_the_same(folder, form):
    """Rows in another order, blank lines, blanks at ends, numbers as a spreadsheet writes them."""
    before = imported(folder, form)
    assert len(before.ratings) == before.n_questions == 54
    assert before.n_empty == 0
    path = folder / f"sheets/anna.{form.name}"
    header, *rows = cells_of(path)
    rows = [
        [f" {row[0]} ", f"{row[1]}\u00a0", *row[2:-3], "2.0 ", "3,0", "  "]
        for row in rows[::-1]
    ]
    blank = [""] * len(header)
    table = [
        blank,
        [f"{name} " for name in header],
        blank,
        *rows,
        blank,
        [" "] * len(header),
    ]
    for separator in (",", ";", "\t") if form.name == "csv" else (",",):
        put(path, table, separator)
        assert imported(folder, form).ratings == before.ratings


@pytest.mark.parametrize("form", [workbooks.KIND])
def test_cells_of_a_workbook(folder, form):
    path = folder / "sheets/anna.xlsx"
    table = cells_of(path)
    for row in table[1:]:
        row[3:5] = 1, 4.0
    put(path, table)
    book = openpyxl.load_workbook(path)
    book.active["F2"] = "=not a formula"
    book.active["F2"].data_type = "s"
    book.save(path)
    results = imported(folder, form)
    values = {
        (r.target.criterion, r.value) for r in results.ratings if r.rater == "anna"
    }
    assert values == {("grade", 1.0), ("faults", 4.0)}
    assert [cells[-1] for cells in results.comments] == ["=not a formula"]
    importing.write(results, key.read(folder / key.FILE), folder)
    assert "'=not a formula" in (folder / "comments.csv").read_text("utf-8")
    book.active.cell(2, 4).value = "=1+1"  # as programs that calculate nothing write it
    book.save(path)
    with pytest.raises(BadInput, match=r"row 2: column 'grade': .* is not allowed"):
        imported(folder, form)
    book.active.merge_cells("D2:D3")  # no empty answers
    book.save(path)
    with pytest.raises(
        BadInput, match=r"page 'Sheet' has merged cells, .* \(D2:D3\); unmerge"
    ):
        imported(folder, form)


def test_a_workbook_that_is_huge_when_unpacked_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr("metassay.tabular.workbook.UNPACKED", 100 * 2**20)
    path, problems = tmp_path / "anna.xlsx", Findings()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("xl/worksheets/sheet1.xml", bytes(110_000_000))
    assert path.stat().st_size < 1_000_000
    assert workbooks.KIND.read(path, problems) == []
    assert problems.lines() == [
        "anna.xlsx: is more than 100 MB when unpacked; save the page that is to be read as CSV"
    ]


def test_no_text_runs_and_no_character_turns_it_round(tmp_path, form):
    sent = study(text="<script>x</script> is \u202eeurt ton {author} & {doc}")
    names = write(sent, form, tmp_path / "s")
    assert "ben.html" in names
    page = (tmp_path / "s/sheets/ben.html").read_text("utf-8")
    assert "<script" not in page
    assert "alpha" not in page
    assert page.count("&lt;script&gt;x&lt;/script&gt;") == 9
    order = [page.index(f'id="{item}"') for item in sent.key.assignments["ben"]]
    assert order == sorted(order)
    for text in (page, str(cells_of(tmp_path / f"s/sheets/ben.{form.name}"))):
        assert "\u202e" not in text
        assert "u202eeurt ton" in text
    for rater in RATERS:
        filled(tmp_path / f"s/sheets/{rater}.{form.name}")
    assert imported(tmp_path / "s", form).ratings  # the texts are known again


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (("mine",), "column 'mine':"),
        (("why", "mine"), "columns 'mine', 'why':"),
        (("", "mine"), "columns 'mine', without a name:"),
        (("", " "), "column without a name:"),
        (("comment (2)", "grade (2)"), "columns 'comment (2)', 'grade (2)':"),
    ],
)
def test_columns_that_a_rater_added_are_noted(folder, form, names, text):
    plain = imported(folder, form)
    assert plain.notes == []
    path = folder / f"sheets/anna.{form.name}"
    table = [[*row, *["" for _ in names]] for row in cells_of(path)]
    table[0][-len(names) :] = names
    put(path, table)
    assert imported(folder, form) == plain  # nothing is in them
    table[2][-len(names) :] = ["hm" for _ in names]
    put(path, table)
    results = imported(folder, form)
    assert (results.ratings, results.comments) == (plain.ratings, plain.comments)
    assert results.notes == [
        f"{path.name}: {text} not of the study, and not read; what is to be kept goes into"
        " 'comment'"
    ]


# ---- faults, by file, row, column and remedy; nothing is imported

RATER, ROW, TEXT, GRADE, FAULTS, COMMENT = range(6)


@pytest.fixture
def sent(filled_in, tmp_path):
    return shutil.copytree(filled_in / "csv", tmp_path / "s")


def problems(sent, *files):
    with pytest.raises(BadInput) as error:
        imported(sent, sheets.KIND, *files)
    return error.value.problems


def spoilt(sent, change, rater="anna"):
    """The problems after a change to the cells of a sheet."""
    path = sent / f"sheets/{rater}.csv"
    table = cells_of(path)
    put(path, change(table) or table)
    return problems(sent)


def cell(row, column, value):
    def change(table):
        table[row][column] = value

    return change


def row_of(sent, number):
    return cells_of(sent / "sheets/anna.csv")[number][ROW]


@pytest.mark.parametrize(
    ("column", "answer", "problem"),
    [
        (GRADE, "4", "'grade': '4' is not allowed"),
        (FAULTS, "5", "'faults': '5' is over the cap of 4"),
        (FAULTS, "-1", "'faults': '-1' is off the scale"),
        (FAULTS, "1.5", "'faults': '1.5' is not a whole number"),
        (FAULTS, "two", "'faults': 'two' is not a number"),
        (FAULTS, "50%", "'faults': '50%' is not a number"),
        (FAULTS, "nan", "'faults': 'nan' is not a number"),
    ],
)
def test_answers(sent, column, answer, problem):
    row, allowed = (
        row_of(sent, 2),
        "1, 2, 3" if column == GRADE else "a whole number 0 to 4",
    )
    # The first row's text has two lines, so that the second row starts in line 4 of the
    # file.
    assert spoilt(sent, cell(2, column, answer)) == (
        f"anna.csv: line 4: column {problem} (row {row}); write {allowed}, or leave it empty if"
        " the rater cannot tell",
    )


def test_rows(sent):
    def move(rater):
        return lambda table: [table[0], [rater, *table[1][1:]], *table[2:]]

    path = sent / "sheets/anna.csv"
    content, row = path.read_bytes(), row_of(sent, 3)
    unknown, lacking = spoilt(sent, cell(3, ROW, "nobody-01"))
    assert unknown.startswith(
        "anna.csv: line 6: the row's id is not known (row 'nobody-01');"
    )
    path.write_bytes(content)
    assert spoilt(sent, lambda table: [*table[:3], *table[4:]]) == (
        f"anna.csv: 1 of 9 rows of rater 'anna' are missing (first: row {row}); restore them"
        " (with empty cells if they were not rated), or give --partial",
    )
    assert lacking.startswith(
        "anna.csv: 1 of 9 rows of rater 'anna' are missing (first: row"
    )
    path.write_bytes(content)
    assert spoilt(sent, lambda table: [*table, table[3]]) == (
        f"anna.csv: line 20: rater 'anna' has the row twice (row {row}, line 6); keep one of the"
        " two",
    )
    path.write_bytes(content)
    assert (
        "the text in column 'text' is not the one"
        in spoilt(sent, cell(1, TEXT, "Other."))[0]
    )
    path.write_bytes(content)
    stranger = spoilt(sent, move("dina"))[0]
    assert "rater 'dina' was sent nothing of this study" in stranger
    assert "known: anna, ben, carla" in stranger
    path.write_bytes(content)
    (sent / "sheets/copy.csv").write_bytes((sent / "sheets/ben.csv").read_bytes())
    (line,) = problems(sent)
    assert line.startswith(
        "copy.csv: 9 lines: rater 'ben' has the row in ben.csv as well (first:"
    )
    (sent / "sheets/copy.csv").unlink()
    (sent / "sheets/ben.csv").unlink()
    put(path, cells_of(path)[:-1])
    assert (
        "key.json: nothing came back from rater 'ben' (9 rows were sent)"
        in problems(sent)[1]
    )
    results = imported(sent, sheets.KIND, partial=True)
    assert (results.n_absent, results.n_empty, len(results.ratings)) == (10, 20, 54)


def test_a_row_of_another_rater_and_all_faults_at_once(sent, tmp_path):
    write(study(per_item=1), sheets.KIND, tmp_path / "t")
    path = tmp_path / "t/sheets/anna.csv"
    table = cells_of(path)
    table[1][RATER] = "ben"
    put(path, table)
    assert "the row was not sent to rater 'ben'" in problems(tmp_path / "t")[0]

    def change(table):
        table[1][GRADE], table[2][FAULTS], table[3][ROW] = "9", "9", "x"
        return [*table, table[4]]

    assert len(spoilt(sent, change)) == 5
    assert sorted(path.name for path in sent.iterdir()) == ["key.json", "sheets"]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (
            lambda t: [row[1:] for row in t],
            "column 'rater' is missing in the first row",
        ),
        (lambda t: [[*row[:4], *row[5:]] for row in t], "column 'faults' is missing"),
        (lambda t: [[*row[:2], *row[3:]] for row in t], "column 'text' is missing"),
        (lambda t: [[*row, row[3]] for row in t], "column 'grade' occurs twice"),
        (
            lambda t: [t[0], [*t[1], "more"], *t[2:]],
            "has more cells than the first row names",
        ),
        (
            cell(0, GRADE, "mark"),
            "anna.csv: 9 times: column 'grade' is missing; restore it as it",
        ),
    ],
)
def test_columns(sent, change, text):
    assert text in spoilt(sent, change)[0]


def test_files_that_are_no_sheets_and_keys_that_are_damaged(tmp_path, sent):
    contents = {
        "empty.csv": b" \n",
        "zip.xlsx": b"PK\x03\x04no",
        "x.csv": b"PK\x03\x04no",
    }
    for name, content in {**contents, "notes.docx": b"x"}.items():
        (tmp_path / name).write_bytes(content)
    names = [*contents, "notes.docx", "no.csv"]
    lines = problems(sent, *(tmp_path / name for name in names))
    assert [line.split(":")[0] for line in lines] == names
    path = sent / key.FILE
    whole = json.loads(path.read_text("utf-8"))
    changes = {"version": 2}, {"rows": {}}, {"questions": {}}, {"assignments": 3}
    for spoil in ("[]", "{", *(json.dumps(whole | change) for change in changes)):
        path.write_text(spoil, encoding="utf-8")
        with pytest.raises(BadInput, match=r"key\.json: is not the key"):
            key.read(path)


def test_a_later_import_replaces_an_earlier_one(sent):
    content = key.read(sent / key.FILE)
    for grade in ("2", "1"):
        filled(sent / "sheets/anna.csv", (grade, "0"))
        importing.write(imported(sent, sheets.KIND), content, sent)
    lines = (sent / "ratings.csv").read_text("utf-8").splitlines()
    assert lines[:3] == [
        "study,doc_id,author,part,unit,rater,criterion,value",
        "pilot,d1,alpha,full,text,anna,faults,0",
        "pilot,d1,alpha,full,text,ben,faults,3",
    ]
    assert len(lines) == 55

"""Sheets as files: what is written, what a spreadsheet may do to it, and what comes back."""

import csv
import io
import time
import warnings
import zipfile

import openpyxl
import pytest

from metassay.core.errors import BadInput
from metassay.studies import importing, key, sheets, workbooks
from metassay.studies.export import write
from metassay.studies.record import Form
from metassay.tabular.rows import Findings
from tests.studies.invented_tables import PLAIN, study

FORMATS = {"csv": sheets.KIND, "xlsx": workbooks.KIND}


@pytest.fixture(params=FORMATS)
def form(request):
    return FORMATS[request.param]


def returned(path, form):
    problems = Findings()
    rows = form.read(path, problems)
    assert not problems, problems.lines()
    return rows


def cells_of(path):
    """All cells of a sheet, whatever its format."""
    if path.suffix == ".csv":
        return list(csv.reader(io.StringIO(path.read_text("utf-8-sig"), newline="")))
    page = openpyxl.load_workbook(path).worksheets[0]
    return [["" if cell.value is None else cell.value for cell in row] for row in page.iter_rows()]


def put(path, table):
    if path.suffix == ".csv":
        buffer = io.StringIO(newline="")
        csv.writer(buffer).writerows(table)
        path.write_text("\ufeff" + buffer.getvalue(), encoding="utf-8")
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


def test_the_same_seed_gives_the_same_bytes(tmp_path, form):
    for name in ("a", "b"):
        write(study(), form, tmp_path / name)
    files = sorted(path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*.*"))
    assert len(files) >= 4
    for file in files:
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_what_is_sent_comes_back(tmp_path, form):
    sent = study()
    names = write(sent, form, tmp_path / "s")
    sheet = sent.sheets()[0]
    path = tmp_path / "s/sheets" / names[0]
    rows = returned(path, form)
    assert [one.row for one in rows] == [row.id for item in sheet.items for row in item.rows]
    assert {one.rater for one in rows} == {"anna"}
    for one, item in zip(rows, sheet.items, strict=True):
        assert key.digest(one.texts["text"]) == key.digest(item.texts[0].text)
    assert all(set(one.answers.values()) - {one.answers["text"]} == {""} for one in rows)


def test_no_cell_is_a_formula(tmp_path, form):
    write(study(text="=cmd() {author} {doc}"), form, tmp_path / "s")
    table = cells_of(tmp_path / f"s/sheets/anna.{form.name}")
    assert all(str(row[2]).startswith("'=cmd()") for row in table[1:])
    if form.name == "xlsx":
        page = openpyxl.load_workbook(tmp_path / "s/sheets/anna.xlsx")["answers"]
        assert {cell.data_type for row in page.iter_rows() for cell in row} <= {"s", "n"}


def test_long_texts_go_on_in_a_second_column(tmp_path, form):
    sent = study(text="{author}{doc}" + "-word " * 12_000)
    write(sent, form, tmp_path / "s")
    path = tmp_path / f"s/sheets/ben.{form.name}"
    assert cells_of(path)[0][2:5] == ["text", "text (2)", "text (3)"]
    rows = {one.row: one for one in returned(path, form)}
    for item in sent.items:
        assert key.digest(rows[item.rows[0].id].texts["text"]) == key.digest(item.texts[0].text)


def test_workbooks_help_to_fill_in(tmp_path):
    write(study(), workbooks.KIND, tmp_path / "s")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        book = openpyxl.load_workbook(tmp_path / "s/sheets/anna.xlsx")
    page = book["answers"]
    rules = {rule.formula1: rule for rule in page.data_validations.dataValidation}
    assert set(rules) == {'"1,2,3"', "0"}
    assert rules["0"].formula2 == "4"
    assert "D2" in rules['"1,2,3"'].sqref
    assert "E10" in rules["0"].sqref
    assert page.freeze_panes == "C2"
    assert page["C2"].alignment.wrap_text
    told = " ".join(str(row[0].value) for row in book["instructions"].iter_rows())
    assert "Read, then grade." in told
    assert "a whole number 0 to 4" in told


def imported(folder, form, *files, partial=False):
    formats = list(FORMATS.values())
    rows = importing.read_files(
        files or sorted((folder / "sheets").glob(f"*.{form.name}")), formats
    )
    return importing.unblind(rows, key.read(folder / key.FILE), PLAIN, partial=partial)


def test_sheets_edited_in_a_spreadsheet_import_the_same(tmp_path, form):
    """Rows in another order, blank lines, blanks at ends, numbers as a spreadsheet writes them."""
    folder = tmp_path / "s"
    write(study(), form, folder)
    for rater in ("anna", "ben", "carla"):
        filled(folder / f"sheets/{rater}.{form.name}")
    before = imported(folder, form)
    assert len(before.ratings) == before.n_questions == 54
    assert before.n_empty == 0
    path = folder / f"sheets/anna.{form.name}"
    header, *rows = cells_of(path)
    rows = [
        [f" {row[0]} ", f"{row[1]}\u00a0", *row[2:-3], "2.0 ", "3,0", "  "] for row in rows[::-1]
    ]
    blank = [""] * len(header)
    put(path, [blank, [f"{name} " for name in header], blank, *rows, blank, [" "] * len(header)])
    assert imported(folder, form).ratings == before.ratings


@pytest.mark.parametrize("mark", [";", "\t"])
def test_other_separators_and_line_ends(tmp_path, mark):
    folder = tmp_path / "s"
    write(study(), sheets.KIND, folder)
    for rater in ("anna", "ben", "carla"):
        filled(folder / f"sheets/{rater}.csv")
    before = imported(folder, sheets.KIND)
    path = folder / "sheets/ben.csv"
    buffer = io.StringIO(newline="")
    csv.writer(buffer, delimiter=mark, lineterminator="\r\n").writerows(cells_of(path))
    path.write_bytes(buffer.getvalue().encode("utf-8"))
    assert imported(folder, sheets.KIND).ratings == before.ratings


@pytest.mark.parametrize("year", [1970, 2100, 2200])
def test_whatever_the_clock_says_a_workbook_is_the_same(tmp_path, monkeypatch, year):
    write(study(), workbooks.KIND, tmp_path / "s")
    now = time.struct_time((year, 1, 2, 3, 4, 5, 0, 2, 0))
    monkeypatch.setattr(time, "localtime", lambda *_: now)  # which ZIP takes from 1980 to 2107
    write(study(), workbooks.KIND, tmp_path / "t")
    sheet = "sheets/anna.xlsx"
    assert (tmp_path / "t" / sheet).read_bytes() == (tmp_path / "s" / sheet).read_bytes()


def test_numbers_in_cells_of_a_workbook(tmp_path):
    folder = tmp_path / "s"
    write(study(), workbooks.KIND, folder)
    book = openpyxl.load_workbook(folder / "sheets/anna.xlsx")
    for row in range(2, 11):
        book["answers"].cell(row, 4).value = 2
        book["answers"].cell(row, 5).value = 3.0
    book["answers"]["F2"] = "=not a formula"
    book["answers"]["F2"].data_type = "s"
    book.save(folder / "sheets/anna.xlsx")
    results = imported(folder, workbooks.KIND)
    ratings = [rating for rating in results.ratings if rating.rater == "anna"]
    assert {(one.target.criterion, one.value) for one in ratings} == {
        ("grade", 2.0),
        ("faults", 3.0),
    }
    assert results.n_empty == 36
    assert [cells[-1] for cells in results.comments] == ["=not a formula"]
    importing.write(results, key.read(folder / key.FILE), folder)
    assert "'=not a formula" in (folder / "comments.csv").read_text("utf-8")
    assert isinstance(PLAIN, Form)


def test_a_formula_without_its_value_is_no_empty_cell(tmp_path):
    folder = tmp_path / "s"
    write(study(), workbooks.KIND, folder)
    book = openpyxl.load_workbook(folder / "sheets/anna.xlsx")
    book["answers"].cell(2, 4).value = "=1+1"
    book.save(folder / "sheets/anna.xlsx")  # as programs that calculate nothing write it
    with pytest.raises(BadInput, match="row 2: column 'grade': the answer is none of the answers"):
        imported(folder, workbooks.KIND)


def test_a_workbook_that_is_huge_when_unpacked_is_not_read(tmp_path):
    path = tmp_path / "anna.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("xl/worksheets/sheet1.xml", bytes(101_000_000))
    assert path.stat().st_size < 1_000_000
    problems = Findings()
    assert workbooks.KIND.read(path, problems) == []
    assert problems.lines() == [
        "anna.xlsx: is more than 100 MB when unpacked; save the page that is to be read as CSV"
    ]


def test_merged_cells_are_no_empty_answers(tmp_path):
    folder = tmp_path / "s"
    write(study(), workbooks.KIND, folder)
    for rater in ("anna", "ben", "carla"):
        filled(folder / f"sheets/{rater}.xlsx")
    book = openpyxl.load_workbook(folder / "sheets/anna.xlsx")
    book.active.merge_cells("D2:D3")
    book.save(folder / "sheets/anna.xlsx")
    with pytest.raises(BadInput, match=r"page 'Sheet' has merged cells, .* \(D2:D3\); unmerge"):
        imported(folder, workbooks.KIND)


def test_the_page_to_read_has_every_text_and_nothing_of_it_runs(tmp_path, form):
    sent = study(text="<script>x</script> {author} & {doc}")
    names = write(sent, form, tmp_path / "s")
    assert "ben.html" in names
    page = (tmp_path / "s/sheets/ben.html").read_text("utf-8")
    assert "<script" not in page
    assert "alpha" not in page
    assert page.count("&lt;script&gt;x&lt;/script&gt;") == 9
    order = [page.index(f'id="{item}"') for item in list(sent.key.assignments.values())[1]]
    assert order == sorted(order)


def test_no_character_turns_what_a_rater_reads_round(tmp_path, form):
    write(study(text="is \u202eeurt ton {author} {doc}"), form, tmp_path / "s")
    for file in (f"anna{form.endings[0]}", "anna.html"):
        path = tmp_path / "s/sheets" / file
        text = str(cells_of(path)) if file != "anna.html" else path.read_text("utf-8")
        assert "\u202e" not in text
        assert "u202eeurt ton" in text
    for rater in ("anna", "ben", "carla"):
        filled(tmp_path / f"s/sheets/{rater}{form.endings[0]}")
    assert imported(tmp_path / "s", form).ratings  # the texts are known again


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("mine",), "column 'mine':"),
        (("why", "mine"), "columns 'mine', 'why':"),
        (("", "mine"), "columns 'mine', without a name:"),
        (("", " "), "column without a name:"),
        (("comment (2)", "grade (2)"), "columns 'comment (2)', 'grade (2)':"),
    ],
)
def test_columns_that_a_rater_added_are_noted(tmp_path, form, names, said):
    write(study(), form, tmp_path / "s")
    for rater in ("anna", "ben", "carla"):
        filled(tmp_path / f"s/sheets/{rater}{form.endings[0]}")
    plain = imported(tmp_path / "s", form)
    assert plain.notes == []
    path = tmp_path / f"s/sheets/anna{form.endings[0]}"
    table = [[*row, *["" for _ in names]] for row in cells_of(path)]
    table[0][-len(names) :] = names
    put(path, table)
    assert imported(tmp_path / "s", form) == plain  # nothing is in them
    table[2][-len(names) :] = ["hm" for _ in names]
    put(path, table)
    results = imported(tmp_path / "s", form)
    assert (results.ratings, results.comments) == (plain.ratings, plain.comments)
    assert results.notes == [
        f"{path.name}: {said} not of the study, and not read; what is to be kept goes into"
        " 'comment'"
    ]

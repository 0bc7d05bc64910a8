"""Tables in the formats that people keep: every digit, every page, every encoding."""

import datetime
import gzip
import math
import pickle
import zipfile
from pathlib import Path

import openpyxl
import pandas as pd
import pyreadstat
import pytest

from metassay.tabular.files import read_sheet, read_sheets
from metassay.tabular.rows import Findings
from metassay.tabular.sheet import Sheet, frame_sheet

HEADER = ["case", "system", "rater", "fluency"]
BODY = [["c1", "a", "Zoë", 4], ["c1", "b", "Zoë", 2], ["c2", "a", "Jürgen", 5]]


def read(path: Path, page: str = "") -> Sheet:
    problems = Findings()
    sheet = read_sheet(path, problems, page)
    assert not problems, problems.lines()
    assert sheet is not None
    return sheet


def refused(path: Path) -> str:
    problems = Findings()
    read_sheet(path, problems)
    (line,) = problems.lines()
    return line


def cells(sheet: Sheet) -> list[list[str]]:
    return [list(row.values()) for _, row in sheet.rows]


def written(rows: list[list[object]]) -> list[list[str]]:
    return [list(map(str, row)) for row in rows]


def workbook(path: Path, **pages: list[list[object]]) -> openpyxl.Workbook:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in pages.items():
        page = book.create_sheet(title)
        for row in rows:
            page.append(row)
    book.save(path)
    return book


# ---- encodings


@pytest.mark.parametrize(
    ("encoding", "names"),
    [
        ("cp1252", ["Zoë", "Jürgen", "François"]),
        ("cp1251", ["Анна", "Борис", "Вера"]),
        ("cp932", ["山田", "鈴木", "流暢さ"]),
        ("gb18030", ["评价者王小明", "系统的流畅度", "准确性与完整性"]),
    ],
)
def test_another_encoding_is_read_and_named(
    tmp_path: Path, encoding: str, names: list[str]
) -> None:
    path = tmp_path / "ratings.csv"
    rows = [f"d{n},{name},{n + 1}" for n, name in enumerate(names)]
    path.write_text("\n".join(["doc,rater,note", *rows]), encoding=encoding)
    sheet = read(path)
    assert sheet.cells("rater") == names
    assert sheet.notes == [
        f"is not UTF-8, and was read as {encoding}; if names or texts look wrong, save it"
        " as UTF-8"
    ]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig", "utf-8"])
def test_unicode_needs_no_note(tmp_path: Path, encoding: str) -> None:
    """Excel's "Unicode text" is UTF-16 with tabs."""
    path = tmp_path / "ratings.txt"
    path.write_text("doc\trater\nd1\tZoë\nd2\tÅsa\n", encoding=encoding)
    sheet = read(path)
    assert sheet.cells("rater") == ["Zoë", "Åsa"]
    assert sheet.notes == []


def test_a_damaged_byte_of_utf_8_is_no_other_encoding(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_bytes("doc,rater\nd1,Zoë\nd2,Åsa\nd3,Jürgen\n".encode() + b"d4,x\xff\n")
    assert "line 5: is not UTF-8 (byte 41 of the file is 0xff)" in refused(path)


# ---- formats that are refused by name


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.pkl", pickle.dumps([1]), "is a Python pickle, which can run any code"),
        ("a.csv", pickle.dumps([1], 4), "is a Python pickle, which can run any code"),
        ("a.rds", b"X", 'is a file of R; save it in R: write.csv(table, "table.csv")'),
        ("a.feather", b"FEA1", "is a Feather file; save the table as CSV or Parquet"),
        (
            "a.csv",
            gzip.compress(b"a,b\n1,2", mtime=0),
            "is compressed by gzip; unpack it",
        ),
    ],
)
def test_a_format_that_is_not_read_is_named(
    tmp_path: Path, name: str, content: bytes, words: str
) -> None:
    (tmp_path / name).write_bytes(content)
    assert words in refused(tmp_path / name)


# ---- numbers


@pytest.mark.parametrize(
    "number",
    [1234567890123450, 1234567890123467, 999999999999999, 0.1234567890123456, 5, 1.5],
)
def test_a_number_keeps_its_digits_in_xlsx_and_in_frames(
    tmp_path: Path, number: float
) -> None:
    workbook(tmp_path / "a.xlsx", Sheet=[["doc_id", "x"], [number, 1], [number, 2]])
    assert read(tmp_path / "a.xlsx").cells("doc_id") == [repr(number)]
    frame = frame_sheet(pd.DataFrame({"doc_id": [number], "x": [1]}), "f", Findings())
    assert frame is not None
    assert frame.cells("doc_id") == [repr(number)]


def test_ids_of_19_digits_in_frames_stay_apart() -> None:
    ids = [1234567890123456789, 1234567890123456788]
    frame = frame_sheet(pd.DataFrame({"doc_id": ids}), "f", Findings())
    assert frame is not None
    assert frame.cells("doc_id") == list(map(str, ids))


def test_percentages_and_yes_of_xlsx_are_as_in_csv(tmp_path: Path) -> None:
    book = workbook(tmp_path / "a.xlsx", Sheet=[["a", "b"], [0.07, True], [0.5, False]])
    for row in (2, 3):
        book["Sheet"].cell(row, 1).number_format = "0%"
    book.save(tmp_path / "a.xlsx")
    sheet = read(tmp_path / "a.xlsx")
    assert cells(sheet) == [["7%", "True"], ["50%", "False"]]
    assert list(sheet.values("a")) == [0.07, 0.5]
    assert list(sheet.values("b")) == [1, 0]


# ---- workbooks


def test_a_formula_without_a_value_names_its_cell(tmp_path: Path) -> None:
    rows = [*([f"d{n}", f"=SUM({n},1)"] for n in range(3))]
    workbook(tmp_path / "a.xlsx", Sheet=[["doc", "overall"], *rows])
    assert refused(tmp_path / "a.xlsx") == (
        "a.xlsx: 3 cells: a formula without a saved value (first: cell B2, =SUM(0,1));"
        " open the file in Excel or LibreOffice and save it, which computes formulas"
    )


def test_hidden_pages_are_passed_over_and_named(tmp_path: Path) -> None:
    old = [HEADER, ["c1", "a", "Zoë", 1]]
    book = workbook(
        tmp_path / "a.xlsx", Notes=[["read me"]], old=old, Sheet2=[HEADER, *BODY]
    )
    book["Notes"].sheet_state = "hidden"
    book["old"].sheet_state = "veryHidden"
    book.save(tmp_path / "a.xlsx")
    sheet = read(tmp_path / "a.xlsx")
    assert cells(sheet) == written(BODY)
    (note,) = sheet.notes
    assert note == (
        "of the workbook 'Sheet2' is read, and not 'Notes' (hidden), 'old' (hidden)"
    )


def test_a_page_per_rater(tmp_path: Path) -> None:
    header, rows = ["case", "system", "fluency"], [["c1", "a", 4], ["c1", "b", 2]]
    pages = {"Zoë": [header, *rows], "Jürgen": [header, *rows], "Legend": [[1, "bad"]]}
    workbook(tmp_path / "a.xlsx", **pages)
    sheet = read(tmp_path / "a.xlsx")
    assert cells(sheet) == written([*rows, *rows])
    assert list(sheet.raters.values()) == ["Zoë", "Jürgen"]
    assert (
        "pages with the same columns were read together: 'Zoë', 'Jürgen'" in sheet.notes
    )
    assert any("and not 'Legend'" in note for note in sheet.notes)
    assert sheet.at(2).file == "a.xlsx (Jürgen)"


def test_a_page_that_is_called_as_what_it_holds_is_read_alone(tmp_path: Path) -> None:
    pages = {"ratings 1": [HEADER, BODY[0]], "Ratings": [HEADER, *BODY]}
    workbook(tmp_path / "a.xlsx", **pages)
    assert cells(read(tmp_path / "a.xlsx", "ratings")) == written(BODY)
    both = read_sheets([tmp_path / "a.xlsx"], Findings(), "texts")
    assert both is not None
    assert len(both.lines) == 4


def test_a_row_that_sums_up_others_is_passed_over_and_named(tmp_path: Path) -> None:
    last = [
        [None] * 4,
        ["Mean", None, None, "=AVERAGE(D2:D4)"],
        ["SD", None, None, 1.2],
    ]
    workbook(tmp_path / "a.xlsx", Sheet=[HEADER, *BODY, *last])
    sheet = read(tmp_path / "a.xlsx")
    assert cells(sheet) == written(BODY)
    assert "row 6 (Mean) sums up others, and was skipped" in sheet.notes
    assert "row 7 (SD) sums up others, and was skipped" in sheet.notes


def test_a_document_called_mean_is_a_document(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("doc,system,fluency\nsum,a,1\nmean,b,2\n")
    assert cells(read(path)) == [["sum", "a", "1"], ["mean", "b", "2"]]


def test_a_cell_of_a_workbook_has_its_name(tmp_path: Path) -> None:
    rows = [["c1", 4], ["c2", datetime.date(2026, 3, 4)]]
    workbook(tmp_path / "a.xlsx", Sheet=[["My ratings"], ["case", "fluency"], *rows])
    sheet = read(tmp_path / "a.xlsx")
    assert sheet.cell(1, "fluency").row == "B4"
    assert sheet.cell(1, "fluency").kind == "cell"


# ---- names of columns


def test_line_breaks_in_names_are_blanks(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('"doc_id","BLEU\n(5-shot)"," a\xa0b "\nd1,1,2\n')
    workbook(
        tmp_path / "a.xlsx",
        Sheet=[["doc_id", "BLEU\n(5-shot)", "a\xa0b"], ["d1", 1, 2]],
    )
    (tmp_path / "a.json").write_text(
        '[{"doc_id": "d1", "BLEU\\n(5-shot)": 1, "a b": 2}]'
    )
    for name in ("a.csv", "a.xlsx", "a.json"):
        assert read(tmp_path / name).columns == ("doc_id", "BLEU (5-shot)", "a b")


@pytest.mark.parametrize(
    ("above", "below", "names"),
    [
        ("case,Ann,,Ben,", ",fluency,errors,fluency,errors", "Ann - fluency"),
        ("case,x,fluency,fluency,errors,errors", ",,r1,r2,r1,r2", "fluency - r1"),
    ],
)
def test_names_above_names_of_a_csv_file(
    tmp_path: Path, above: str, below: str, names: str
) -> None:
    width = above.count(",")
    rows = [f"c{n}{',3' * width}" for n in range(4)]
    (tmp_path / "a.csv").write_text("\n".join([above, below, *rows]))
    sheet = read(tmp_path / "a.csv")
    assert names in sheet.columns
    assert len(sheet.lines) == 4
    assert "the names of the columns stand in lines 1 and 2" in sheet.notes


def test_a_first_row_of_words_is_no_second_header(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("doc,system,,label\nd1,a,x,yes\nd2,b,y,no\n")
    assert "column 3 has no name" in refused(tmp_path / "a.csv")


# ---- Stata, SPSS and other workbooks


LABELS = {1: "very poor", 2: "poor", 3: "fair", 5: "good"}
LABELLED = pd.DataFrame(
    {"doc": ["c1", "c1", "c2"], "arm": [1, 2, 1], "fluency": [1.0, 5.0, None]}
)


@pytest.mark.parametrize("ending", ["dta", "sav"])
def test_labels_are_names_and_their_numbers_are_grades(
    tmp_path: Path, ending: str
) -> None:
    path = tmp_path / f"a.{ending}"
    labels = {"arm": {1: "gpt4", 2: "llama"}, "fluency": LABELS}
    if ending == "dta":
        LABELLED.to_stata(path, write_index=False, value_labels=labels)
    else:
        pyreadstat.write_sav(LABELLED, str(path), variable_value_labels=labels)
    sheet = read(path)
    assert sheet.cells("arm") == ["gpt4", "llama"]
    assert sheet.share_of_numbers("arm") == 0
    assert sheet.share_of_numbers("fluency") == 1
    assert list(sheet.values("fluency"))[:2] == [1, 5]
    assert math.isnan(sheet.values("fluency")[2])
    assert any("1 = 'very poor'" in note for note in sheet.notes)


@pytest.mark.parametrize("ending", ["dta", "sav", "ods", "xls"])
def test_a_damaged_file_is_named(tmp_path: Path, ending: str) -> None:
    (tmp_path / f"a.{ending}").write_bytes(b"nothing of this kind")
    assert "is damaged, or is not" in refused(tmp_path / f"a.{ending}")


@pytest.mark.parametrize(
    ("ending", "package", "words"),
    [("sav", "pyreadstat", "a file of SPSS"), ("ods", "python_calamine", "format ODS")],
)
def test_what_an_extra_reads_is_told_where_it_is_missing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    ending: str,
    package: str,
    words: str,
) -> None:
    path = tmp_path / f"a.{ending}"
    path.write_bytes(b"anything")
    for module in ("workbook", "statistics_files"):
        monkeypatch.setattr(
            f"metassay.tabular.{module}.find_spec",
            lambda name: None if name == package else object(),
        )
    line = refused(path)
    assert words in line
    assert 'pip install "metassay[formats]"' in line


OFFICE = "urn:oasis:names:tc:opendocument:xmlns"


def ods(path: Path, rows: list[list[object]]) -> None:
    """Write the least that is an OpenDocument spreadsheet."""

    def cell(value: object) -> str:
        if isinstance(value, str):
            head = '<table:table-cell office:value-type="string">'
            return f"{head}<text:p>{value}</text:p></table:table-cell>"
        head = f'<table:table-cell office:value-type="float" office:value="{value}">'
        return f"{head}<text:p>{value}</text:p></table:table-cell>"

    body = "".join(
        f"<table:table-row>{''.join(map(cell, row))}</table:table-row>" for row in rows
    )
    content = (
        f'<office:document-content xmlns:office="{OFFICE}:office:1.0"'
        f' xmlns:table="{OFFICE}:table:1.0" xmlns:text="{OFFICE}:text:1.0">'
        f'<office:body><office:spreadsheet><table:table table:name="Sheet1">{body}'
        "</table:table></office:spreadsheet></office:body></office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    manifest = (
        f'<manifest:manifest xmlns:manifest="{OFFICE}:manifest:1.0">'
        f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{kind}"/>'
        "</manifest:manifest>"
    )
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("mimetype", kind)
        packed.writestr("META-INF/manifest.xml", manifest)
        packed.writestr("content.xml", content)


def test_an_opendocument_spreadsheet(tmp_path: Path) -> None:
    ods(tmp_path / "a.ods", [HEADER, *BODY])
    sheet = read(tmp_path / "a.ods")
    assert cells(sheet) == written(BODY)
    assert sheet.cell(0, "fluency").row == "D2"

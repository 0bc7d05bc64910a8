"""Workbooks that are large, damaged or made to do harm: read as they are, or refused."""

import io
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import openpyxl
import pytest

from metassay.tabular import workbook
from metassay.tabular.rows import Findings
from metassay.tabular.workbook import Page, read_pages

SHEET, STYLES, STRINGS = "xl/worksheets/sheet1.xml", "xl/styles.xml", "xl/sharedStrings.xml"
TYPES, BOOK = "[Content_Types].xml", "xl/workbook.xml"
_MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_STRINGS_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"


def sheet(rows: str, before: str = "") -> str:
    return f"<worksheet {_MAIN}>{before}<sheetData>{rows}</sheetData></worksheet>"


def row(number: int, *cells: str) -> str:
    return f'<row r="{number}">{"".join(cells)}</row>'


def cell(place: str, value: object = 1, more: str = "") -> str:
    return f'<c r="{place}">{more}<v>{value}</v></c>'


@pytest.fixture
def book(tmp_path: Path) -> Callable[[Mapping[str, str | None]], Path]:
    """Writes a small workbook with these parts in the place of its own; None takes one out."""
    made = io.BytesIO()
    small = openpyxl.Workbook()
    small.active.append(["a", "b"])
    small.save(made)

    def write(parts: Mapping[str, str | None]) -> Path:
        path = tmp_path / "book.xlsx"
        with zipfile.ZipFile(made) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
            own = {name: old.read(name).decode() for name in old.namelist()}
            for name, content in {**own, **parts}.items():
                if content is not None:
                    new.writestr(name, content)
        return path

    return write


def read(path: Path) -> tuple[list[Page], list[str]]:
    problems = Findings()
    return read_pages(path, problems, remedy="send another"), problems.lines()


def cells(path: Path) -> list[list[str]]:
    (page,), said = read(path)
    assert said == []
    return [cells for _, cells in page.rows]


def test_rows_far_apart_are_read_as_two(book) -> None:
    rows = row(1, cell("A1", 7)) + row(1_048_576, cell("C1048576", 8))
    (page,), _ = read(book({SHEET: sheet(rows)}))
    assert [(at.row, cells) for at, cells in page.rows] == [
        (1, ["7", "", ""]),
        (1_048_576, ["", "", "8"]),
    ]


@pytest.mark.parametrize("said", ["A1", "A1:XFD1048576", "C3:D4"])
def test_the_size_that_a_page_says_it_has_counts_for_nothing(book, said: str) -> None:
    rows = row(1, cell("A1", 1), cell("B1", 2)) + row(2, cell("A2", 3))
    assert cells(book({SHEET: sheet(rows, f'<dimension ref="{said}"/>')})) == [
        ["1", "2"],
        ["3", ""],
    ]


def test_a_formula_is_its_value_and_what_it_links_to_is_not_opened(book) -> None:
    linked = cell("A1", 4, "<f>[1]Other!A1+WEBSERVICE(&quot;http://x&quot;)</f>")
    alone = '<c r="B1"><f>1+1</f></c>'
    parts = {SHEET: sheet(row(1, linked, alone)), "xl/externalLinks/externalLink1.xml": "<"}
    assert cells(book(parts)) == [["4", "=1+1"]]


def test_macros_are_passed_over(book) -> None:
    parts = {SHEET: sheet(row(1, cell("A1"))), "xl/vbaProject.bin": "Shell"}
    assert cells(book(parts)) == [["1"]]


LAUGHS = "".join(f'<!ENTITY a{n + 1} "{f"&a{n};" * 10}">' for n in range(10))


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({SHEET: sheet(row(1, cell("A1")) + row(10**12, cell("A9")))}, "is not readable as XLSX"),
        ({SHEET: sheet(row(1, cell("A1")) + row(1, cell("A1")))}, "is not readable as XLSX"),
        ({SHEET: sheet(row(2, cell("A2")) + row(1, cell("A1")))}, "is not readable as XLSX"),
        ({SHEET: sheet(row(-1, cell("A1")))}, "is not readable as XLSX"),
        ({SHEET: sheet(row(1, cell("A1"), cell("A1", 2)))}, "is not readable as XLSX"),
        ({SHEET: sheet(row(1, cell("B1"), cell("A1", 2)))}, "is not readable as XLSX"),
        ({SHEET: sheet(row(1, cell("A1", "9" * 5000)))}, "is not readable as XLSX"),
        ({SHEET: sheet(row(1, "<c/>" * 16_385))}, "is not readable as XLSX"),
        ({SHEET: None}, "is not readable as XLSX"),
        ({BOOK: None}, "is not readable as XLSX"),
        (
            {
                TYPES: f'<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
                f'<Override PartName="/{STRINGS}" ContentType="{_STRINGS_TYPE}"/></Types>',
                STRINGS: f'<!DOCTYPE x [<!ENTITY a0 "ha">{LAUGHS}]><sst {_MAIN}><si><t>&a9;</t>'
                "</si></sst>",
            },
            "is not readable as XLSX",
        ),
        ({STYLES: "<xf/>" * 500_001}, "has a part of more than 500,000 tags"),
    ],
)
def test_what_is_refused(book, parts: Mapping[str, str | None], said: str) -> None:
    found, (line,) = read(book(parts))
    assert found == []
    assert line.startswith(f"book.xlsx: {said}")


def test_cells_far_apart_in_many_rows_are_refused(book, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbook, "_CELLS", 1_000)
    rows = "".join(row(n, cell(f"XA{n}")) for n in range(1, 9))
    _, (line,) = read(book({SHEET: sheet(rows)}))
    assert "has a page of more than 1,000 cells, the empty ones counted; delete cells" in line


def test_a_page_of_tags_alone_is_refused(book, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbook, "_TAGS", 100)
    _, (line,) = read(book({SHEET: sheet("<row/>" * 101)}))
    assert "has a part of more than 100 tags; save the page that is to be read as CSV" in line


def test_a_password_is_asked_to_be_taken_off(book, tmp_path: Path) -> None:
    locked = book({})
    content = bytearray(locked.read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 1
    locked.write_bytes(content)
    _, (line,) = read(locked)
    assert line == "book.xlsx: is protected by a password; save it as XLSX without a password"
    path = tmp_path / "office.xlsx"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000))
    _, (line,) = read(path)
    assert line.startswith(
        "office.xlsx: is protected by a password, or of Excel's old format; save"
    )

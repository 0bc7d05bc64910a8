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

SHEET, STYLES, STRINGS = (
    "xl/worksheets/sheet1.xml",
    "xl/styles.xml",
    "xl/sharedStrings.xml",
)
TYPES, BOOK = "[Content_Types].xml", "xl/workbook.xml"
_MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_STRINGS_TYPE = (
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
)


def sheet(rows: str, before: str = "") -> str:
    return f"<worksheet {_MAIN}>{before}<sheetData>{rows}</sheetData></worksheet>"


def row(number: int, *cells: str) -> str:
    return f'<row r="{number}">{"".join(cells)}</row>'


def cell(place: str, value: object = 1, more: str = "") -> str:
    return f'<c r="{place}">{more}<v>{value}</v></c>'


@pytest.fixture
def book(tmp_path: Path) -> Callable[[Mapping[str, str | None]], Path]:
    """Writes a small workbook with these parts in the place of its own; None takes one out."""
    small, content = openpyxl.Workbook(), io.BytesIO()
    small.active.append(["a", "b"])
    small.save(content)

    def write(parts: Mapping[str, str | None]) -> Path:
        path = tmp_path / "book.xlsx"
        with zipfile.ZipFile(content) as old, zipfile.ZipFile(path, "w") as new:
            whole = {name: old.read(name).decode() for name in old.namelist()}
            for name, part in {**whole, **parts}.items():
                if part is not None:
                    new.writestr(name, part, zipfile.ZIP_DEFLATED)
        return path

    return write


def read(path: Path) -> tuple[list[Page], list[str]]:
    problems = Findings()
    return read_pages(path, problems, remedy="send another"), problems.lines()


LINKED = cell("A1", 4, "<f>[1]Other!A1+WEBSERVICE(&quot;http://x&quot;)</f>")
LINKED += '<c r="B1"><f>1+1</f></c>'
FAR = row(1, cell("A1", 7)) + row(1_048_576, cell("C1048576", 8))
SMALL = row(1, cell("A1", 1), cell("B1", 2)) + row(2, cell("A2", 3))


@pytest.mark.parametrize(
    ("parts", "rows"),
    [
        ({SHEET: sheet(FAR)}, {1: ["7", "", ""], 1_048_576: ["", "", "8"]}),
        *(  # the size that a page says it has counts for nothing
            (
                {SHEET: sheet(SMALL, f'<dimension ref="{size}"/>')},
                {1: ["1", "2"], 2: ["3", ""]},
            )
            for size in ("A1", "A1:XFD1048576", "C3:D4")
        ),
        # A formula is its value; what it links to is not opened, macros are passed
        # over.
        (
            {SHEET: sheet(row(1, LINKED)), "xl/externalLinks/externalLink1.xml": "<"},
            {1: ["4", "=1+1"]},
        ),
        ({SHEET: sheet(row(1, cell("A1"))), "xl/vbaProject.bin": "Shell"}, {1: ["1"]}),
    ],
)
def test_what_is_read(
    book, parts: Mapping[str, str | None], rows: dict[int, list[str]]
) -> None:
    (page,), lines = read(book(parts))
    assert lines == []
    assert {at.row: cells for at, cells in page.rows} == rows


LAUGHS = "".join(f'<!ENTITY a{n + 1} "{f"&a{n};" * 10}">' for n in range(10))
PACKAGE = "http://schemas.openxmlformats.org/package/2006/content-types"
ENTITIES = {
    TYPES: f'<Types xmlns="{PACKAGE}"><Override PartName="/{STRINGS}" ContentType="{_STRINGS_TYPE}"'
    "/></Types>",
    STRINGS: f'<!DOCTYPE x [<!ENTITY a0 "ha">{LAUGHS}]><sst {_MAIN}><si><t>&a9;</t></si></sst>',
}
UNREADABLE = [
    *(
        row(1, cell("A1")) + last
        for last in (row(10**12, cell("A9")), row(1, cell("A1")))
    ),
    row(2, cell("A2")) + row(1, cell("A1")),
    row(-1, cell("A1")),
    *(row(1, cell(first), cell("A1", 2)) for first in ("A1", "B1")),
    row(1, cell("A1", "9" * 5000)),
    row(1, "<c/>" * 16_385),
]


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        *(({SHEET: sheet(rows)}, "is not readable as XLSX") for rows in UNREADABLE),
        *(
            (parts, "is not readable as XLSX")
            for parts in ({SHEET: None}, {BOOK: None}, ENTITIES)
        ),
        ({STYLES: "<xf/>" * 500_001}, "has a part of more than 500,000 tags"),
    ],
)
def test_what_is_refused(book, parts: Mapping[str, str | None], text: str) -> None:
    pages, (line,) = read(book(parts))
    assert pages == []
    assert line.startswith(f"book.xlsx: {text}")


def test_pages_that_are_too_large_are_refused(
    book, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workbook, "_CELLS", 1_000)
    _, (line,) = read(
        book({SHEET: sheet("".join(row(n, cell(f"XA{n}")) for n in range(1, 9)))})
    )
    assert (
        "has a page of more than 1,000 cells, the empty ones counted; delete cells"
        in line
    )
    monkeypatch.setattr(workbook, "_TAGS", 100)
    _, (line,) = read(book({SHEET: sheet("<row/>" * 101)}))
    assert (
        "has a part of more than 100 tags; save the page that is to be read as CSV"
        in line
    )


def test_a_password_is_to_be_taken_off(book, tmp_path: Path) -> None:
    locked = book({})
    content = bytearray(locked.read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 1
    locked.write_bytes(content)
    _, (line,) = read(locked)
    assert (
        line
        == "book.xlsx: is protected by a password; save it as XLSX without a password"
    )
    path = tmp_path / "office.xlsx"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000))
    _, (line,) = read(path)
    text = "office.xlsx: is protected by a password, or of Excel's old format; save"
    assert line.startswith(text)

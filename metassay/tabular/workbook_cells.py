"""The cells of an XLSX workbook one row at a time, by openpyxl's own parser.

openpyxl's worksheets make up every row and cell between two that are there, up to row 10**12 where
a file says so, and end where a file says that it ends. Its parser gives what is there.
"""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from openpyxl.reader.excel import ExcelReader
from openpyxl.styles.numbers import BUILTIN_FORMATS, BUILTIN_FORMATS_MAX_SIZE
from openpyxl.styles.stylesheet import apply_stylesheet
from openpyxl.worksheet._reader import FORMULA_TAG, ROW_TAG, WorkSheetParser
from openpyxl.xml.constants import SHEET_MAIN_NS
from openpyxl.xml.functions import iterparse

_COLUMNS = 16_384  # of XLSX
_MERGED_TAG = f"{{{SHEET_MAIN_NS}}}mergeCell"


class Cell(NamedTuple):
    """A cell that is there: its column from 1, its value, and whether that is a percentage."""

    column: int
    value: Any
    percent: bool


class Workbook:
    """An open workbook: its pages' titles, with the part that holds each; None where none does."""

    def __init__(self, path: Path) -> None:
        self._reader = ExcelReader(path, read_only=True, data_only=True, keep_links=False)
        with contextlib.ExitStack() as stack:
            stack.callback(self._reader.archive.close)
            self._reader.read_manifest()
            self._reader.read_strings()
            self._reader.read_workbook()
            apply_stylesheet(self._reader.archive, self._reader.wb)
            stack.pop_all()
        self.pages: dict[str, str | None] = {
            sheet.name: rel.target if rel.target in self._reader.valid_files else None
            for sheet, rel in self._reader.parser.find_sheets()
            if "worksheet" in rel.Type
        }
        self._percent = frozenset(_percentages(self._reader.wb))

    def close(self) -> None:
        """Close its file."""
        self._reader.archive.close()

    def rows(self, part: str, merged: list[str]) -> Iterator[tuple[int, list[Cell]]]:
        """The rows of a page that are there; to `merged` go the ranges of cells that are merged."""
        book = self._reader.wb
        with self._reader.archive.open(part) as source:
            parser = WorkSheetParser(
                source,
                self._reader.shared_strings,
                data_only=True,
                epoch=book.epoch,
                date_formats=book._date_formats,
                timedelta_formats=book._timedelta_formats,
            )
            for _, element in iterparse(source):
                if element.tag == ROW_TAG:
                    if len(element) > _COLUMNS:
                        raise ValueError(f"a row has more than {_COLUMNS} cells")
                    number, cells = parser.parse_row(element)
                    formulas = [one.find(FORMULA_TAG) for one in element]
                    yield number, list(map(self._cell, cells, formulas))
                    element.clear()
                elif element.tag == _MERGED_TAG:
                    merged.append(str(element.get("ref")))

    def _cell(self, cell: Any, formula: Any) -> Cell:
        """A formula that has no value stands for itself."""
        value = cell["value"]
        if value is None and formula is not None:
            value = f"={formula.text or ''}"
        return Cell(cell["column"], value, cell["style_id"] in self._percent)


def _percentages(book: Any) -> Iterator[int]:
    """The numbers of the styles that show percentages."""
    for number, style in enumerate(book._cell_styles):
        own = style.numFmtId - BUILTIN_FORMATS_MAX_SIZE
        builtin = BUILTIN_FORMATS.get(style.numFmtId, "")
        shown = book._number_formats[own] if own >= 0 else builtin
        if shown.endswith("%"):
            yield number

"""Write and read sheets as XLSX: a workbook per rater with lists of answers, and a page to read."""

import datetime
import io
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
from openpyxl.styles import Alignment, Font
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.writer.excel import ExcelWriter

from metassay.studies.record import Format, Question, ReturnedRow, Sheet
from metassay.studies.sheets import COMMENT, RATER, ROW, guide, header, lines, read_rows
from metassay.studies.sheets import page as page_of
from metassay.tabular.rows import Findings, Place
from metassay.tabular.workbook import read_pages

_ANSWERS, _INSTRUCTIONS = "answers", "instructions"  # the workbook's pages
_REMEDY = "send the workbook that came back, with its rows"
_NARROW, _WIDE = 14, 80  # widths of columns, in characters
_LONG = 25  # characters from which a column's texts need a wide one
_LIST = 250  # characters of a list of answers that every spreadsheet takes
_WRAPPED = Alignment(wrap_text=True, vertical="top")
_CREATED = datetime.datetime(2000, 1, 1)  # the same bytes each time


def _write(sheet: Sheet, folder: Path) -> list[str]:
    name, texts = f"{sheet.rater}.xlsx", f"{sheet.rater}.html"
    (folder / name).write_bytes(_workbook(sheet))
    (folder / texts).write_bytes(page_of(sheet))
    return [name, texts]


def _workbook(sheet: Sheet) -> bytes:
    book = openpyxl.Workbook()
    book.properties.created = book.properties.modified = _CREATED
    page = book.active
    page.title = _ANSWERS
    table = [header(sheet), *(cells for _, cells in lines(sheet))]
    for number, cells in enumerate(table, start=1):
        for column, text in enumerate(cells, start=1):
            if text:
                _put(page.cell(number, column), text)
    _lay_out(page, table)
    _add_validation(page, sheet, table[0])
    instructions = book.create_sheet(_INSTRUCTIONS)
    for number, text in enumerate(guide(sheet), start=1):
        _put(instructions.cell(number, 1), text)
        instructions.cell(number, 1).alignment = _WRAPPED
    instructions.column_dimensions["A"].width = 110
    file = io.BytesIO()
    ExcelWriter(book, _Undated(file, "w")).save()
    return file.getvalue()


class _Undated(zipfile.ZipFile):
    """An archive without times: ZIP refuses clocks before 1980, and times change the bytes."""

    def writestr(self, name: Any, data: Any, *_: Any) -> None:
        super().writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)

    def write(self, filename: Any, arcname: Any = None, *_: Any) -> None:
        self.writestr(arcname, Path(filename).read_bytes())


def _put(cell: Any, text: str) -> None:
    cell.value = text
    cell.data_type = "s"  # never a formula, never a number


def _lay_out(page: Any, table: list[list[str]]) -> None:
    page.freeze_panes = "C2"  # the header, the rater and the row's id
    page.auto_filter.ref = page.dimensions
    for column in range(1, len(table[0]) + 1):
        page.cell(1, column).font = Font(bold=True)
        longest = max(len(cells[column - 1]) for cells in table)
        wide = longest > _LONG or table[0][column - 1] == COMMENT
        page.column_dimensions[get_column_letter(column)].width = (
            _WIDE if wide else _NARROW
        )
    for row in page.iter_rows():
        for cell in row:
            cell.alignment = _WRAPPED


def _add_validation(page: Any, sheet: Sheet, names: list[str]) -> None:
    rules: dict[Question, Any] = {}
    for number, (row, _) in enumerate(lines(sheet), start=2):
        for question in row.questions:
            if question not in rules:
                rules[question] = _rule(question)
                if rules[question] is not None:
                    page.add_data_validation(rules[question])
            if (rule := rules[question]) is not None:
                rule.add(
                    f"{get_column_letter(names.index(question.column) + 1)}{number}"
                )


def _rule(question: Question) -> Any:
    """Return the spreadsheet's rule for answers; None if a list cannot express it."""
    if question.kind == "choice":
        words = [choice.word for choice in question.choices]
        answers = ",".join(words)
        if len(answers) > _LIST or any("," in word or '"' in word for word in words):
            return None
        rule = DataValidation(type="list", formula1=f'"{answers}"', allow_blank=True)
    else:
        kind = "whole" if question.whole else "decimal"
        ends = {"formula1": f"{question.low:g}", "formula2": f"{question.high:g}"}
        rule = DataValidation(type=kind, operator="between", allow_blank=True, **ends)
    rule.error = f"Allowed: {question.allowed}"[:_LIST]
    rule.showErrorMessage = True
    return rule


def _read(path: Path, problems: Findings) -> list[ReturnedRow]:
    """Read the rows of the page of answers, or of the first page with its columns."""
    faults = Findings()  # of this file only: they may be why there is nothing to read
    candidates = read_pages(path, faults, remedy=_REMEDY)
    for page in sorted(candidates, key=lambda page: page.title != _ANSWERS):
        if {RATER, ROW} <= {cell.strip() for cell in page.rows[0][1]}:
            page.check(path.name, problems)
            return read_rows(page.rows, problems)
    if not faults:
        faults.add(Place(path.name), "has no page with rows to read", _REMEDY)
    problems.merge(faults)
    return []


KIND = Format(name="xlsx", endings=(".xlsx",), write=_write, read=_read)

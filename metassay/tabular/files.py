"""Read a file as a sheet, by its format: CSV, workbooks, JSON, Parquet, Stata and SPSS."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from metassay.core.errors import BadInput, quoted
from metassay.tables.parquet_file import load
from metassay.tabular.decoding import check_names, csv_lines, is_readable, read_text
from metassay.tabular.encodings import Decoded, read_any_text
from metassay.tabular.grid import HEAD, Lines, find_separator, rows_sheet
from metassay.tabular.json_tables import read_json
from metassay.tabular.limits import SPLIT, parquet_problem
from metassay.tabular.numbers import looks_numeric
from metassay.tabular.rows import Findings, Place
from metassay.tabular.sheet import (
    REMEDY,
    Sheet,
    arrow_sheet,
    columns_sheet,
    combine_sheets,
    name_columns,
    values_column,
)

if TYPE_CHECKING:
    from metassay.tabular.workbook import Page

_JSON = (".json", ".jsonl", ".ndjson")
_WORKBOOKS = (".xlsx", ".xlsm", ".ods", ".xls", ".xlsb")
_STATISTICS = (".dta", ".sav", ".zsav")
_AS_CSV = "save the table as CSV or Parquet"
# Formats that are not read, and what to do about them.
_REFUSED = {
    ".pkl": "is a Python pickle, which can run any code when it is opened",
    ".pickle": "is a Python pickle, which can run any code when it is opened",
    ".joblib": "is a Python pickle, which can run any code when it is opened",
    ".rds": "is a file of R",
    ".rdata": "is a file of R",
    ".rda": "is a file of R",
    ".sas7bdat": "is a file of SAS",
    ".numbers": "is a file of Apple Numbers",
    ".feather": "is a Feather file",
    ".arrow": "is an Arrow file",
    ".h5": "is an HDF5 file",
}
_REMEDIES = {
    "pickle": "load it where you trust it, and save it with frame.to_parquet(...)",
    "R": 'save it in R: write.csv(table, "table.csv")',
}
_CELL_REF = re.compile(r"[A-Z]{1,3}\d+:[A-Z]{1,3}\d+")


def read_sheet(
    path: Path,
    problems: Findings,
    page: str = "",
    remedy: str = REMEDY,
    *,
    header_alone: bool = False,
    utf8: bool = False,
) -> Sheet | None:
    """Read a file; return None, with every fault in `problems`, if its header is unusable.

    A CSV file without a row below its header is a problem, too, unless `header_alone`
    allows it. Text in another encoding is one, too, if it must be `utf8`.
    Rows with more or fewer cells than the header are a problem, and left out. Of a
    workbook the page called `page` is read, or else the first visible one with a table,
    together with visible pages that have the same columns.
    """
    suffix = path.suffix.lower()
    if suffix in _REFUSED:
        _refuse(path, problems, remedy)
        return None
    if suffix in _WORKBOOKS:
        return _read_workbook(path, problems, page, remedy)
    if suffix == ".parquet":
        return _read_parquet(path, problems, remedy)
    if suffix in _STATISTICS:
        return _read_statistics(path, problems, remedy)
    if utf8:
        text = read_text(path, problems, remedy=remedy)
        decoded = None if text is None else Decoded(text)
    else:
        decoded = read_any_text(path, problems, remedy=remedy)
    if decoded is None:
        return None
    if suffix in _JSON:
        sheet = _read_records(path.name, decoded, problems, remedy)
    else:
        sheet = _read_csv(
            path.name, decoded, problems, remedy, header_alone=header_alone
        )
    if sheet is not None and decoded.note:
        sheet = replace(sheet, notes=[decoded.note, *sheet.notes])
    return sheet


def read_sheets(paths: Sequence[Path], problems: Findings, page: str) -> Sheet | None:
    """Read all rows of the files; return None, with every fault in `problems`, if there are none.

    Files can have different columns. A file that is named twice is a problem, and so
    are two files of the same name, which identifies files in messages, and raters.
    """
    check_names(paths, problems)
    sheets = []
    for path in dict.fromkeys(paths):
        faults = Findings()  # of this file alone
        sheet = read_sheet(path, faults, page)
        problems.merge(faults)
        sheets += [sheet] if sheet is not None else []
    return combine_sheets(sheets) if sheets else None


def _refuse(path: Path, problems: Findings, remedy: str) -> None:
    if is_readable(path, problems, remedy=remedy):
        what = _REFUSED[path.suffix.lower()]
        words = re.findall(r"\w+", what)
        fix = next((fix for word, fix in _REMEDIES.items() if word in words), _AS_CSV)
        problems.add(Place(path.name), what, fix)


def _read_csv(
    name: str, decoded: Decoded, problems: Findings, remedy: str, *, header_alone: bool
) -> Sheet | None:
    separator = find_separator(decoded.text)
    lines = csv_lines(decoded.text, name, problems, separator)
    sheet = rows_sheet(name, lines, problems, remedy, header_alone=header_alone)
    return sheet and replace(sheet, semicolons=separator == ";")


def _read_records(
    name: str, decoded: Decoded, problems: Findings, remedy: str
) -> Sheet | None:
    """Read records of JSON, in whatever form they are kept."""
    faults = Findings()
    table = read_json(decoded.text, name, faults)
    problems.merge(faults)
    if table is None:
        return None
    if not table.rows:
        problems.add(Place(name), "has no row", remedy)
        return None
    fields = list(dict.fromkeys(field for _, record in table.rows for field in record))
    at, _ = table.rows[0]
    names = name_columns(fields, at, problems)
    if names is None:
        return None
    columns = {
        column: values_column([record.get(field) for _, record in table.rows])
        for field, column in zip(fields, names, strict=True)
    }
    rows = np.array([at.row for at, _ in table.rows])
    sheet = columns_sheet(columns, rows, at.kind, name, problems, remedy)
    if sheet is None:
        return None
    notes = [table.note] if table.note else []
    return replace(sheet, notes=[*notes, *sheet.notes], levels=table.levels)


def _read_parquet(path: Path, problems: Findings, remedy: str) -> Sheet | None:
    if not is_readable(path, problems, remedy=remedy):
        return None
    if too_large := parquet_problem(path):
        problems.add(Place(path.name), too_large, SPLIT)
        return None
    try:
        table = load(path)
    except BadInput:
        what = "is damaged or is not a Parquet file"
        problems.add(Place(path.name), what, "write it again, or as CSV")
        return None
    return arrow_sheet(table, path.name, problems, remedy, "record")


def _read_statistics(path: Path, problems: Findings, remedy: str) -> Sheet | None:
    """Read a file of Stata or SPSS: labels as cells, and the number of each label."""
    from metassay.tabular.statistics_files import read_labelled

    if not is_readable(path, problems, remedy=remedy):
        return None
    labelled = read_labelled(path, problems)
    if labelled is None:
        return None
    names = name_columns(list(labelled.columns), Place(path.name), problems)
    if names is None:
        return None
    columns = dict(
        zip(names, map(values_column, labelled.columns.values()), strict=True)
    )
    rows = np.arange(1, labelled.n_rows + 1)
    sheet = columns_sheet(columns, rows, "record", path.name, problems, remedy)
    return sheet and replace(sheet, codes=labelled.codes, notes=labelled.notes)


# ---- workbooks


def _read_workbook(
    path: Path, problems: Findings, title: str, remedy: str
) -> Sheet | None:
    """Read the page with this title, or else the first visible table and those like it."""
    from metassay.tabular.workbook import read_pages  # openpyxl takes a while to import

    faults = Findings()
    pages = read_pages(path, faults, remedy=remedy)
    problems.merge(faults)
    if not pages and not faults:
        problems.add(Place(path.name), "has no rows", remedy)
    if not pages:
        return None
    named = [p for p in pages if title and p.title.strip().casefold() == title]
    visible = [p for p in pages if not p.hidden] or pages
    tables = [p for p in visible if len(p.rows) > 1] or visible
    chosen = (named or tables)[0]
    sheet = _read_page(path.name, chosen, problems, remedy)
    if sheet is None:
        return None
    sheets = {chosen.title: sheet}
    if not named:
        sheets |= _alike(
            path.name, sheet, [p for p in tables if p is not chosen], remedy
        )
    for page in pages:
        if page.title in sheets:
            rows = {int(row) for row in sheets[page.title].lines}
            page.check_formulas(path.name, rows, problems)
    notes = [_pages_note(pages, sheets)] if len(sheets) < len(pages) else []
    if len(sheets) == 1:
        return replace(sheet, notes=[*notes, *sheet.notes])
    named_sheets = [
        replace(of_page, name=f"{path.name} ({page})", rater=page)
        for page, of_page in sheets.items()
    ]
    both = combine_sheets(named_sheets)
    together = f"pages with the same columns were read together: {', '.join(map(quoted, sheets))}"
    return replace(both, notes=[together, *notes, *both.notes])


def _read_page(
    name: str, page: "Page", problems: Findings, remedy: str
) -> Sheet | None:
    lines, columns, across = _fill_merged(page)
    sheet = rows_sheet(name, lines, problems, remedy, across)
    if sheet is None:
        return None
    filled = {n: cells for n, cells in columns.items() if n < len(sheet.columns)}
    return replace(
        sheet, merged={sheet.columns[n]: cells for n, cells in filled.items()}
    )


def _alike(
    name: str, sheet: Sheet, others: Sequence["Page"], remedy: str
) -> dict[str, Sheet]:
    """Return further pages with the columns of a sheet, by title."""
    alike = {}
    for page in others:
        faults = Findings()
        other = _read_page(name, page, faults, remedy)
        if other is not None and not faults and {*other.columns} == {*sheet.columns}:
            alike[page.title] = other
    return alike


def _pages_note(pages: Sequence["Page"], read: dict[str, Sheet]) -> str:
    """Name the pages that are not read, hidden ones as such."""
    others = [page for page in pages if page.title not in read]
    names = [quoted(p.title) + (" (hidden)" if p.hidden else "") for p in others]
    return f"of the workbook {', '.join(map(quoted, read))} is read, and not {', '.join(names)}"


def _ranges(page: "Page") -> Iterator[tuple[str, range, range]]:
    """Yield each range of merged cells with its rows and columns, from 1."""
    from openpyxl.utils import range_boundaries

    for cells in filter(_CELL_REF.fullmatch, page.merged):
        first, top, last, bottom = range_boundaries(cells)
        yield cells, range(top, bottom + 1), range(first, last + 1)


def _fill_merged(page: "Page") -> tuple[Lines, dict[int, str], set[int]]:
    """Fill merged cells, except of titles; return rows, the columns filled (from 0),
    and the rows with cells merged across some, but not all columns: names above names.
    """
    cells_of = {at.row: cells for at, cells in page.rows}
    first, width = page.rows[0][0].row, len(page.rows[0][1])
    filled, across = dict[int, str](), set[int]()
    for ref, rows, columns in _ranges(page):
        if 1 < len(columns) < width and len(rows) == 1:
            across.add(rows[0])
        top = cells_of.get(rows[0])
        if top is None or columns[0] > width or len(columns) >= width:
            continue
        text = top[columns[0] - 1]
        for row in rows:
            for column in columns:
                if row in cells_of and column <= width:
                    cells_of[row][column - 1] = text
        names = isinstance(first, int) and rows[0] <= first + HEAD - 2
        if looks_numeric(text) or not names:
            filled |= {column - 1: ref for column in columns}
    return page.rows, filled, across

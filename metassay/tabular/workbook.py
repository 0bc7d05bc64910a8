"""Read the pages of an XLSX workbook as rows of texts with places, by openpyxl's parser.

openpyxl's worksheets fill in every missing row and cell, up to row 10**12, and end
where the file says that it ends. Its parser gives only those that exist. Import this
module when a workbook is read: openpyxl takes a while.
"""

import contextlib
import warnings
import zipfile
from collections.abc import Collection, Iterable, Iterator
from decimal import Decimal
from functools import partial
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from string import ascii_uppercase
from typing import Any, NamedTuple

from openpyxl.reader.excel import ExcelReader
from openpyxl.styles.numbers import BUILTIN_FORMATS, BUILTIN_FORMATS_MAX_SIZE
from openpyxl.styles.stylesheet import apply_stylesheet
from openpyxl.utils import get_column_letter
from openpyxl.worksheet._reader import FORMULA_TAG, ROW_TAG, WorkSheetParser
from openpyxl.xml.constants import SHEET_MAIN_NS
from openpyxl.xml.functions import iterparse

from metassay.core.errors import shown
from metassay.tabular.decoding import is_readable
from metassay.tabular.limits import UNPACKED, unpacked_problem
from metassay.tabular.rows import Findings, Place

_MB = 1_000_000
_TAGS = 10_000_000  # of each part with cells or texts: read in half a minute
_BESIDE = 500_000  # of each other part: styles, links, properties
_CELLS = 20_000_000  # of a page, as wide as its widest row
_LAST_ROW = 1_048_576  # of XLSX
_COLUMNS = 16_384  # of XLSX
_MERGED_TAG = f"{{{SHEET_MAIN_NS}}}mergeCell"
_CONTENT = ("xl/worksheets/", "xl/sharedstrings")
# first bytes of encrypted files and of Excel's old format
_OLD_FORMAT = b"\xd0\xcf\x11\xe0"

XLSX = (".xlsx", ".xlsm")
_COMPUTE = "open the file in Excel or LibreOffice and save it, which computes formulas"
_RESAVE = "open it and save it again as XLSX"
_AS_CSV = "save the page that is to be read as CSV"

Cells = list[tuple[int, str | None]]  # column from 1, and text, of the cells that exist


class _Workbook:
    """An open workbook: the titles of its pages, each with its part of the file, or None."""

    def __init__(self, path: Path) -> None:
        self._reader = ExcelReader(
            path, read_only=True, data_only=True, keep_links=False
        )
        with contextlib.ExitStack() as stack:
            stack.callback(self._reader.archive.close)
            self._reader.read_manifest()
            self._reader.read_strings()
            self._reader.read_workbook()
            apply_stylesheet(self._reader.archive, self._reader.wb)
            stack.pop_all()
        self.pages: dict[str, str | None] = {}
        self.hidden: set[str] = set()
        for sheet, rel in self._reader.parser.find_sheets():
            if "worksheet" not in rel.Type:
                continue
            there = rel.target in self._reader.valid_files
            self.pages[sheet.name] = rel.target if there else None
            if sheet.state != "visible":
                self.hidden.add(sheet.name)
        self._percent = frozenset(_percentages(self._reader.wb))

    def close(self) -> None:
        self._reader.archive.close()

    def rows(
        self, part: str, merged: list[str], formulas: list[tuple[str, str]]
    ) -> Iterator[tuple[int, Cells]]:
        """Yield the rows of a page that exist.

        Ranges of merged cells are added to `merged`, formulas without a saved value, with
        the names of their cells, to `formulas`.
        """
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
                    for cell, inner in zip(cells, element, strict=True):
                        formula = inner.find(FORMULA_TAG)
                        # Excel saves an empty text, the value of `=""`, as no value.
                        text = inner.get("t") == "str"
                        if cell["value"] is None and formula is not None and not text:
                            name = f"{get_column_letter(cell['column'])}{number}"
                            formulas.append((name, f"={formula.text or ''}"))
                            cell["value"] = formulas[-1][1]
                    yield number, list(map(self._cell, cells))
                    element.clear()
                elif element.tag == _MERGED_TAG:
                    merged.append(str(element.get("ref")))

    def _cell(self, cell: Any) -> tuple[int, str | None]:
        """Return column and text: 50 % is `50%`, and a number has all its digits."""
        value, percent = cell["value"], cell["style_id"] in self._percent
        if value is None:
            return cell["column"], None
        if isinstance(value, float | int) and not isinstance(value, bool):
            return cell["column"], write_number(value, percent=percent)
        return cell["column"], str(value)


def write_number(value: float, *, percent: bool = False) -> str:
    """Write a number with all its digits, so that it reads back as the same number.

    >>> write_number(1234567890123450), write_number(0.1 + 0.2), write_number(5.0)
    ('1234567890123450', '0.30000000000000004', '5')
    >>> write_number(0.07, percent=True)
    '7%'
    """
    if percent:
        return f"{(Decimal(repr(value)) * 100).normalize():f}%"
    if isinstance(value, int) or value.is_integer():
        return str(int(value))
    return repr(value)


def _percentages(book: Any) -> Iterator[int]:
    """Yield the numbers of the styles that show percentages."""
    for number, style in enumerate(book._cell_styles):
        custom = style.numFmtId - BUILTIN_FORMATS_MAX_SIZE
        builtin = BUILTIN_FORMATS.get(style.numFmtId, "")
        format_ = book._number_formats[custom] if custom >= 0 else builtin
        if format_.endswith("%"):
            yield number


class Page(NamedTuple):
    """A page: its title, its rows that are not blank, and its merged cells.

    `formulas`: names of cells with a formula and no saved value, and the formula.
    """

    title: str
    rows: list[tuple[Place, list[str]]]
    merged: tuple[str, ...] = ()
    formulas: tuple[tuple[str, str], ...] = ()
    hidden: bool = False

    def check_formulas(
        self, name: str, rows: Collection[int], problems: Findings
    ) -> None:
        """Record cells of these rows whose formula no program has computed yet."""
        for cell, formula in self.formulas:
            if int(cell.lstrip(ascii_uppercase)) in rows:
                what = "a formula without a saved value"
                problems.add(Place(name, cell, "cell"), what, _COMPUTE, formula)

    def check(self, name: str, problems: Findings) -> None:
        """Record merged cells as problems: all but the first are empty, whatever they show."""
        for cells in self.merged:
            what = f"page {shown(self.title)} has merged cells, and only the first can be read"
            fix = "unmerge them, and write a value into each cell"
            problems.add(Place(name), what, fix, cells)


class _RefusedError(Exception):
    """A workbook cannot be read; its two arguments are the fault and the remedy."""


def read_pages(path: Path, problems: Findings, *, remedy: str) -> list[Page]:
    """Read the pages that have rows, in order; none, with a problem, if the file is unreadable.

    50 % is written `50%`, and a date as a date.
    """
    if not is_readable(path, problems, remedy=remedy):
        return []
    if path.suffix.lower() not in XLSX:
        return _read_others(path, problems)
    try:
        _check_size(path)
        return [page for page in _pages(path) if page.rows]
    except _RefusedError as error:
        problems.add(Place(path.name), *error.args)
    except Exception:  # noqa: BLE001 - what a damaged file makes openpyxl raise has no common name
        problems.add(Place(path.name), "is not readable as XLSX", _RESAVE)
    return []


def _read_others(path: Path, problems: Findings) -> list[Page]:
    """Read the pages of an ODS, XLS or XLSB file, with the optional package calamine."""
    name = path.name
    if find_spec("python_calamine") is None:
        what = f"is a workbook of the format {path.suffix[1:].upper()}"
        fix = (
            'save it as XLSX, or install what reads it: pip install "metassay[formats]"'
        )
        problems.add(Place(name), what, fix)
        return []
    from python_calamine import CalamineWorkbook, SheetVisibleEnum

    try:
        book = CalamineWorkbook.from_path(path)
        pages = []
        for sheet in book.sheets_metadata:
            content = book.get_sheet_by_name(sheet.name).to_python(
                skip_empty_area=False
            )
            rows = [
                (Place(name, n, "row"), list(map(_write_value, row)))
                for n, row in enumerate(content, start=1)
                if any(cell != "" for cell in row)
            ]
            hidden = sheet.visible != SheetVisibleEnum.Visible
            pages += [Page(sheet.name, rows, hidden=hidden)] if rows else []
    except Exception:  # noqa: BLE001 - a damaged file raises errors of many types
        problems.add(Place(name), "is damaged, or is not a workbook", "save it as XLSX")
        return []
    return pages


def _write_value(value: object) -> str:
    number = isinstance(value, float | int) and not isinstance(value, bool)
    return write_number(value) if number else str(value)  # type: ignore[arg-type]


def _check_size(path: Path) -> None:
    """Check the size before unpacking; no part unpacks to more than the file says."""
    with path.open("rb") as file:
        if file.read(len(_OLD_FORMAT)) == _OLD_FORMAT:
            what = "is protected by a password, or of Excel's old format"
            raise _RefusedError(what, "save it as XLSX without a password")
    with zipfile.ZipFile(path) as packed:
        parts = packed.infolist()
        if any(part.flag_bits & 1 for part in parts):
            raise _RefusedError(
                "is protected by a password", "save it as XLSX without a password"
            )
        if too_large := unpacked_problem(packed, UNPACKED):
            raise _RefusedError(too_large, _AS_CSV)
        for part in parts:
            content = part.filename.casefold().lstrip("/").startswith(_CONTENT)
            most = _TAGS if content else _BESIDE
            with packed.open(part) as file:
                # A tag of a few bytes becomes hundreds in memory.
                tags = sum(
                    chunk.count(b"<") for chunk in iter(partial(file.read, _MB), b"")
                )
            if tags > most:
                raise _RefusedError(f"has a part of more than {most:,} tags", _AS_CSV)


def _pages(path: Path) -> Iterator[Page]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # openpyxl warns of parts that it drops
        with contextlib.closing(_Workbook(path)) as book:
            for title, part in book.pages.items():
                if part is None:
                    raise ValueError("lists a page that it does not contain")
                merged, formulas = list[str](), list[tuple[str, str]]()
                rows = list(_rows(book.rows(part, merged, formulas), path.name))
                width = max((len(cells) for _, cells in rows), default=0)
                wide = [(at, cells + [""] * (width - len(cells))) for at, cells in rows]
                hidden = title in book.hidden
                yield Page(title, wide, tuple(merged), tuple(formulas), hidden)


def _rows(
    rows: Iterable[tuple[int, Cells]], name: str
) -> Iterator[tuple[Place, list[str]]]:
    """Yield the rows with a value, each as wide as its last cell."""
    last = count = width = 0
    for number, cells in rows:
        columns = [0, *(column for column, _ in cells)]
        if not last < number <= _LAST_ROW or any(b <= a for a, b in pairwise(columns)):
            raise ValueError("a row or a cell occurs twice, or in the wrong order")
        last = number
        if all(text is None for _, text in cells):
            continue
        count, width = count + 1, max(width, columns[-1])
        if count * width > _CELLS:
            what = f"has a page of more than {_CELLS:,} cells, the empty ones counted"
            raise _RefusedError(what, f"delete cells far from the table, or {_AS_CSV}")
        texts = [""] * columns[-1]
        for column, text in cells:
            texts[column - 1] = text or ""
        yield Place(name, number, "row"), texts

"""The pages of an XLSX workbook as rows of texts that know their places, by openpyxl's own parser.

openpyxl's worksheets make up every row and cell between two that are there, up to row 10**12 where
a file says so, and end where a file says that it ends. Its parser gives what is there. This module
is imported when a workbook is read: openpyxl takes a while.
"""

import contextlib
import warnings
import zipfile
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from openpyxl.reader.excel import ExcelReader
from openpyxl.styles.numbers import BUILTIN_FORMATS, BUILTIN_FORMATS_MAX_SIZE
from openpyxl.styles.stylesheet import apply_stylesheet
from openpyxl.worksheet._reader import FORMULA_TAG, ROW_TAG, WorkSheetParser
from openpyxl.xml.constants import SHEET_MAIN_NS
from openpyxl.xml.functions import iterparse

from metassay.core.errors import shown
from metassay.tabular.decoding import is_readable
from metassay.tabular.rows import Findings, Place

_MB = 1_000_000
_MOST = 100 * _MB  # bytes of a workbook when unpacked
_TAGS = 10_000_000  # of each of its parts with cells or texts: half a minute's reading
_BESIDE = 500_000  # of each other one: styles, links, properties
_CELLS = 20_000_000  # of a page, as wide as its widest row
_LAST_ROW = 1_048_576  # of XLSX
_COLUMNS = 16_384  # of XLSX
_MERGED_TAG = f"{{{SHEET_MAIN_NS}}}mergeCell"
_WHOLE = 1e15  # below, a double holds every whole number
_CONTENT = ("xl/worksheets/", "xl/sharedstrings")
_OF_OLD = b"\xd0\xcf\x11\xe0"  # what files of Excel's old format begin with, and encrypted ones

_RESAVE = "open it and save it again as XLSX"
_AS_CSV = "save the page that is to be read as CSV"


Cells = list[tuple[int, str | None]]  # those that are there: column from 1, and text


class _Workbook:
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
        self._reader.archive.close()

    def rows(self, part: str, merged: list[str]) -> Iterator[tuple[int, Cells]]:
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

    def _cell(self, cell: Any, formula: Any) -> tuple[int, str | None]:
        """A formula that has no value stands for itself; 50 % is no 0.5, and a date no number."""
        value, percent = cell["value"], cell["style_id"] in self._percent
        if value is None:
            return cell["column"], None if formula is None else f"={formula.text or ''}"
        if isinstance(value, float | int) and not isinstance(value, bool):
            if percent:
                return cell["column"], f"{value * 100:.12g}%"
            whole = abs(value) < _WHOLE and float(value).is_integer()
            value = int(value) if whole else f"{value:.12g}"
        return cell["column"], str(value)


def _percentages(book: Any) -> Iterator[int]:
    """The numbers of the styles that show percentages."""
    for number, style in enumerate(book._cell_styles):
        own = style.numFmtId - BUILTIN_FORMATS_MAX_SIZE
        builtin = BUILTIN_FORMATS.get(style.numFmtId, "")
        shown = book._number_formats[own] if own >= 0 else builtin
        if shown.endswith("%"):
            yield number


class Page(NamedTuple):
    """One page: its title, its rows that hold anything, and which of its cells are merged."""

    title: str
    rows: list[tuple[Place, list[str]]]
    merged: tuple[str, ...] = ()

    def check(self, name: str, problems: Findings) -> None:
        """Merged cells are a problem: all but the first one are empty, whatever they show."""
        for cells in self.merged:
            what = f"page {shown(self.title)} has merged cells, and only the first can be read"
            fix = "unmerge them, and write into each cell what it is to say"
            problems.add(Place(name), what, fix, cells)


class _RefusedError(Exception):
    """What is wrong with a workbook, and what to do: its two arguments."""


def read_pages(path: Path, problems: Findings, *, remedy: str) -> list[Page]:
    """The pages that have rows, in order; none, with a problem, of what can't be read.

    50 % is written `50%`, a date as a date, and a formula without its value as the formula.
    """
    if not is_readable(path, problems, remedy=remedy):
        return []
    try:
        _check_size(path)
        return [page for page in _pages(path) if page.rows]
    except _RefusedError as error:
        problems.add(Place(path.name), *error.args)
    except Exception:  # noqa: BLE001 - what a damaged file makes openpyxl raise has no common name
        problems.add(Place(path.name), "is not readable as XLSX", _RESAVE)
    return []


def _check_size(path: Path) -> None:
    """Before any of it is unpacked; nothing unpacks to more than the file says."""
    with path.open("rb") as file:
        if file.read(len(_OF_OLD)) == _OF_OLD:
            what = "is protected by a password, or of Excel's old format"
            raise _RefusedError(what, "save it as XLSX without a password")
    with zipfile.ZipFile(path) as packed:
        parts = packed.infolist()
        if any(one.flag_bits & 1 for one in parts):
            raise _RefusedError("is protected by a password", "save it as XLSX without a password")
        if sum(one.file_size for one in parts) > _MOST:
            raise _RefusedError(f"is more than {_MOST // _MB} MB when unpacked", _AS_CSV)
        for one in parts:
            content = one.filename.casefold().lstrip("/").startswith(_CONTENT)
            most = _TAGS if content else _BESIDE
            with packed.open(one) as file:
                # A tag of a few bytes becomes hundreds in memory.
                tags = sum(chunk.count(b"<") for chunk in iter(partial(file.read, _MB), b""))
            if tags > most:
                raise _RefusedError(f"has a part of more than {most:,} tags", _AS_CSV)


def _pages(path: Path) -> Iterator[Page]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # openpyxl's, of what it does not keep
        with contextlib.closing(_Workbook(path)) as book:
            for title, part in book.pages.items():
                if part is None:
                    raise ValueError("names a page that it does not hold")
                merged: list[str] = []
                rows = list(_rows(book.rows(part, merged), path.name))
                width = max((len(cells) for _, cells in rows), default=0)
                wide = [(at, cells + [""] * (width - len(cells))) for at, cells in rows]
                yield Page(title, wide, tuple(merged))


def _rows(found: Iterable[tuple[int, Cells]], name: str) -> Iterator[tuple[Place, list[str]]]:
    """The rows with a value, each as wide as its last cell."""
    last = count = width = 0
    for number, cells in found:
        columns = [0, *(column for column, _ in cells)]
        if not last < number <= _LAST_ROW or any(b <= a for a, b in pairwise(columns)):
            raise ValueError("a row or a cell is there twice, or in the wrong order")
        last = number
        if all(text is None for _, text in cells):
            continue
        count, width = count + 1, max(width, columns[-1])
        if count * width > _CELLS:
            what = f"has a page of more than {_CELLS:,} cells, the empty ones counted"
            raise _RefusedError(what, f"delete what stands far from the table, or {_AS_CSV}")
        said = [""] * columns[-1]
        for column, text in cells:
            said[column - 1] = text or ""
        yield Place(name, number, "row"), said

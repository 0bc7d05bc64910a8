"""The pages of an XLSX workbook as rows of texts that know their places."""

import contextlib
import warnings
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from metassay.core.errors import shown
from metassay.tabular.decoding import is_readable
from metassay.tabular.rows import Findings, Place

if TYPE_CHECKING:
    from metassay.tabular.workbook_cells import Cell

_MB = 1_000_000
_MOST = 100 * _MB  # bytes of a workbook when unpacked
_TAGS = 10_000_000  # of each of its parts with cells or texts: half a minute's reading
_BESIDE = 500_000  # of each other one: styles, links, properties
_CELLS = 20_000_000  # of a page, as wide as its widest row
_LAST_ROW = 1_048_576  # of XLSX
_WHOLE = 1e15  # below, a double holds every whole number
_CONTENT = ("xl/worksheets/", "xl/sharedstrings")
_OF_OLD = b"\xd0\xcf\x11\xe0"  # what files of Excel's old format begin with, and encrypted ones

_RESAVE = "open it and save it again as XLSX"
_AS_CSV = "save the page that is to be read as CSV"


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
    """What is wrong with a workbook, and what to do."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(what)
        self.what, self.remedy = what, remedy


def pages(path: Path, problems: Findings, *, remedy: str) -> list[Page]:
    """The pages that have rows, in order; none, with a problem, of what can't be read.

    50 % is written `50%`, a date as a date, and a formula without its value as the formula.
    """
    if not is_readable(path, problems, remedy=remedy):
        return []
    try:
        _check_size(path)
        return [page for page in _pages(path) if page.rows]
    except _RefusedError as error:
        problems.add(Place(path.name), error.what, error.remedy)
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
            most = _TAGS if _content(one.filename) else _BESIDE
            if _tags(packed, one) > most:
                raise _RefusedError(f"has a part of more than {most:,} tags", _AS_CSV)


def _tags(packed: zipfile.ZipFile, part: zipfile.ZipInfo) -> int:
    """How many tags a part has at most; one of a few bytes becomes hundreds in memory."""
    with packed.open(part) as file:
        return sum(chunk.count(b"<") for chunk in iter(lambda: file.read(_MB), b""))


def _content(name: str) -> bool:
    return name.casefold().lstrip("/").startswith(_CONTENT)


def _pages(path: Path) -> Iterator[Page]:
    from metassay.tabular.workbook_cells import Workbook  # openpyxl takes a while to import

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # openpyxl's, of what it does not keep
        with contextlib.closing(Workbook(path)) as book:
            for title, part in book.pages.items():
                if part is None:
                    what = f"names the page {shown(title)}, and does not hold it"
                    raise _RefusedError(what, _RESAVE)
                merged: list[str] = []
                rows = list(_rows(book.rows(part, merged), path.name))
                width = max((len(cells) for _, cells in rows), default=0)
                wide = [(at, cells + [""] * (width - len(cells))) for at, cells in rows]
                yield Page(title, wide, tuple(merged))


def _rows(
    found: Iterable[tuple[int, Sequence["Cell"]]], name: str
) -> Iterator[tuple[Place, list[str]]]:
    """The rows with a value, each as wide as its last cell."""
    last = count = width = 0
    for number, cells in found:
        if not last < number <= _LAST_ROW:
            what = f"row {number} is not between row {last} and the last one of XLSX, {_LAST_ROW}"
            raise _RefusedError(what, _RESAVE)
        last = number
        columns = [0, *(cell.column for cell in cells)]
        if any(after <= before for before, after in pairwise(columns)):
            raise _RefusedError(f"row {number} has a cell twice, or in the wrong order", _RESAVE)
        if all(cell.value is None for cell in cells):
            continue
        count, width = count + 1, max(width, columns[-1])
        if count * width > _CELLS:
            what = f"has a page of more than {_CELLS:,} cells, the empty ones counted"
            raise _RefusedError(what, f"delete what stands far from the table, or {_AS_CSV}")
        said = [""] * columns[-1]
        for cell in cells:
            said[cell.column - 1] = _said(cell.value, percent=cell.percent)
        yield Place(name, number, "row"), said


def _said(value: Any, *, percent: bool) -> str:
    """The cell's value as text; 50 % is no 0.5, and a date no number."""
    if value is None:
        return ""
    if isinstance(value, float | int) and not isinstance(value, bool):
        if percent:
            return f"{value * 100:.12g}%"
        whole = abs(value) < _WHOLE and float(value).is_integer()
        return str(int(value)) if whole else f"{value:.12g}"
    return str(value)

"""The pages of an XLSX workbook as rows of texts that know their places."""

import contextlib
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from metassay.datasets.decoding import is_readable
from metassay.datasets.rows import Findings, Place

_MOST = 100_000_000  # bytes of a workbook when unpacked: thousands of times what a sheet has
_WHOLE = 1e15  # below, a double holds every whole number


class Page(NamedTuple):
    """One page: its title, and its rows that hold anything, each with its number."""

    title: str
    rows: list[tuple[Place, list[str]]]


def pages(path: Path, problems: Findings, *, remedy: str) -> list[Page]:
    """The pages that have rows, in order; none, with a problem, of what can't be read.

    50 % is written `50%`, a date as a date, and a formula without its value as the formula.
    """
    if not is_readable(path, problems, remedy=remedy):
        return []
    try:
        with zipfile.ZipFile(path) as packed:
            large = sum(one.file_size for one in packed.infolist()) > _MOST
        found = [] if large else [page for page in _pages(path) if page.rows]
    except Exception:  # noqa: BLE001 - what a damaged file makes openpyxl raise has no common name
        problems.add(Place(path.name), "is not readable as XLSX", "open it and save it again")
        return []
    if large:
        what = f"is more than {_MOST // 1_000_000} MB when unpacked, and no sheet is"
        problems.add(Place(path.name), what, remedy)
    return found


def _pages(path: Path) -> Iterator[Page]:
    with _opened(path, values=True) as book, _opened(path, values=False) as written:
        for page in book.worksheets:
            both = zip(page.iter_rows(), written[page.title].iter_rows(), strict=True)
            yield Page(
                page.title,
                [
                    (Place(path.name, number, "row"), list(map(_said, cells, formulas)))
                    for number, (cells, formulas) in enumerate(both, start=1)
                    if any(cell.value is not None for cell in formulas)
                ],
            )


@contextlib.contextmanager
def _opened(path: Path, *, values: bool) -> Iterator[Any]:
    """The workbook with the values of its formulas, or with the formulas."""
    import openpyxl  # it takes a while, and not everybody has workbooks

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # openpyxl's, of what it does not keep
        book = openpyxl.load_workbook(path, read_only=True, data_only=values)
        with contextlib.closing(book):
            yield book


def _said(cell: Any, written: Any) -> str:
    """The cell's value as text; 50 % is no 0.5, a date no number, and a formula no empty cell."""
    value = written.value if cell.value is None else cell.value
    if value is None:
        return ""
    if isinstance(value, float | int) and not isinstance(value, bool):
        if str(getattr(cell, "number_format", "")).endswith("%"):
            return f"{value * 100:.12g}%"
        whole = abs(value) < _WHOLE and float(value).is_integer()
        return str(int(value)) if whole else f"{value:.12g}"
    return str(value)

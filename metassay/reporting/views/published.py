"""Ours beside what a paper printed, as a matrix like the paper's own table."""

from typing import NamedTuple

from metassay.reporting.numbers import MINUS
from metassay.reporting.published import Compared, agrees
from metassay.reporting.tables import rows


class Cell(NamedTuple):
    """One printed number with ours; `mark` names the note that says why they differ."""

    ours: str
    published: str
    difference: str
    agrees: bool
    mark: str
    ours_all: str = ""  # ours of all documents, where `ours` is of those that the print is of


class PublishedTable(NamedTuple):
    """One comparison; `notes` are (mark, text)."""

    name: str
    title: str
    says: str
    columns: list[str]
    rows: list[tuple[str, list[Cell | None]]]
    notes: list[tuple[str, str]]
    n_cells: int
    n_agreeing: int
    n_not_run: int
    largest: str  # the largest difference and where it is


def published_view(compared: Compared) -> PublishedTable:
    """The comparison as rows by columns in the paper's order."""
    named = ["row", "column", "ours", "published", "difference", "note"]
    lines = list(rows(compared.cells, *named))
    everywhere = [""] * len(lines)
    if "ours_all" in compared.cells:
        values = (value for (value,) in rows(compared.cells, "ours_all"))
        everywhere = [_fixed(value, compared.decimals + 1) for value in values]
    notes = list(dict.fromkeys(note for *_, note in lines if note))
    marks = {note: str(place + 1) for place, note in enumerate(notes)}
    columns = list(dict.fromkeys(column for _, column, *_ in lines))
    cells = {
        (row, column): _cell(ours, published, difference, marks.get(note, ""), compared)._replace(
            ours_all=all_of_them
        )
        for (row, column, ours, published, difference, note), all_of_them in zip(
            lines, everywhere, strict=True
        )
    }
    names = list(dict.fromkeys(row for row, *_ in lines))
    return PublishedTable(
        compared.name,
        compared.title,
        compared.says,
        columns,
        [(row, [cells.get((row, column)) for column in columns]) for row in names],
        [(mark, note) for note, mark in marks.items()],
        len(lines),
        sum(cell.agrees for cell in cells.values()),
        compared.n_not_run,
        _largest(lines, compared.decimals + 1),
    )


def _cell(
    ours: float | None, published: float, difference: float | None, mark: str, compared: Compared
) -> Cell:
    more = compared.decimals + 1
    return Cell(
        "undefined" if ours is None else _fixed(ours, more),
        _fixed(published, compared.decimals),
        _signed(difference, more),
        agrees(difference, compared.tolerance),
        mark,
    )


def _signed(difference: float | None, decimals: int) -> str:
    if difference is None:
        return ""
    text = _fixed(difference, decimals)
    return text if text.startswith(MINUS) or float(text) == 0 else f"+{text}"


def _fixed(value: float, decimals: int) -> str:
    """One more decimal than the paper prints shows on which side of rounding ours lies."""
    text = f"{value:.{decimals}f}"
    return text.replace("-", "" if float(text) == 0 else MINUS)


def _largest(
    lines: list[tuple[str, str, float | None, float, float | None, str]], decimals: int
) -> str:
    defined = [(abs(d), row, column, d) for row, column, _, _, d, _ in lines if d is not None]
    if not defined:
        return ""
    size = max(entry[0] for entry in defined)
    _, row, column, difference = next(entry for entry in defined if entry[0] == size)
    return f"{_signed(difference, decimals)} ({row}, {column})"

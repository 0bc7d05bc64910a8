"""One spreadsheet: CSV with any usual separator, or a page of an XLSX workbook."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from pathlib import Path
from typing import NamedTuple

from metassay.datasets.decoding import csv_lines, decode, read_bytes
from metassay.datasets.rows import Findings, Place
from metassay.datasets.workbook import Page, pages
from metassay.errors import shown
from metassay.spreadsheets.numbers import MISSING, Numbers, numbers_of

_REMEDY = "name a CSV or XLSX file whose first row names its columns"
_SEPARATORS = ",;\t"
_XLSX = (".xlsx", ".xlsm")


class Sheet(NamedTuple):
    """The columns' names, and each row's place and cells by column, without blanks around them.

    `semicolons` part the cells, so that 3,5 is a number; `words` are the grades of columns, or of
    criteria, in order; `notes` say what of the file is not read. Where several files make one
    sheet, `files` has the columns that each of them lacks, whose cells are empty there.
    """

    name: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[Place, Mapping[str, str]]]
    semicolons: bool
    words: Mapping[str, Sequence[str]] = {}
    notes: Sequence[str] = ()
    files: Mapping[str, Set[str]] = {}

    def cells(self, column: str) -> list[str]:
        """A column's cells that are not missing."""
        found = (cells[column] for _, cells in self.rows)
        return [cell for cell in found if not absent(cell)]

    def numbers(self, column: str) -> Numbers:
        """How the numbers of a column are written."""
        return numbers_of(
            self.cells(column), semicolons=self.semicolons, words=self.words.get(column, ())
        )


def absent(cell: str) -> bool:
    """Whether nothing is written there."""
    return cell.strip().lower() in MISSING


def read_sheet(path: Path, problems: Findings, page: str = "") -> Sheet | None:
    """Read one file; None, with every fault in `problems`, if its columns can't be told.

    A row that has not as many cells as there are columns is a problem, and left out. Of a workbook
    the page called `page` is read, or else its first one.
    """
    notes: list[str] = []
    if path.suffix.lower() in _XLSX:
        found = pages(path, problems, remedy=_REMEDY)
        lines, separator = _of_page(found, page, path.name, problems), ""
        others = [shown(other.title) for other in found if other.rows is not lines]
        notes += [f"pages of the workbook: {', '.join(others)}"] if others else []
    else:
        data = read_bytes(path, problems, remedy=_REMEDY)
        text = decode(data, path, problems) if data is not None else None
        if text is None:
            return None
        separator = _separator(text)
        lines = list(csv_lines(text, path.name, problems, separator))
    full = [(at, cells) for at, cells in lines if any(cell.strip() for cell in cells)]
    if not full:
        if not problems:
            problems.add(Place(path.name), "has no rows", _REMEDY)
        return None
    sheet = _sheet(path.name, full, separator == ";", problems)
    return sheet and _without_qualtrics(sheet._replace(notes=notes))


def _of_page(
    found: Sequence[Page], called: str, name: str, problems: Findings
) -> list[tuple[Place, list[str]]]:
    """The rows of the page that is called so, or else of the first one."""
    if not found:
        return []
    one = next((one for one in found if one.title.strip().casefold() == called), found[0])
    one.check(name, problems)
    return one.rows


def _sheet(
    name: str, lines: list[tuple[Place, list[str]]], semicolons: bool, problems: Findings
) -> Sheet | None:
    (at, first), *body = lines
    # Excel writes empty columns at the end as long as anything was ever there.
    width = max(number for number, cell in enumerate(first, start=1) if cell.strip())
    width = max([width, *(_filled(cells) for _, cells in body if _filled(cells) <= len(first))])
    header = [cell.strip() for cell in first[:width]]
    if not header[0] and all(cells[:1] == [str(n)] for n, (_, cells) in enumerate(body)):
        # Rows counted from 0, as pandas writes them unasked.
        body = [(place, cells[1:]) for place, cells in body]
        header, width = header[1:], width - 1
    faults = list(_faults(header))
    for what, remedy in faults:
        problems.add(at, what, remedy)
    if faults:
        return None
    rows = []
    for place, cells in body:
        if _filled(cells) > width or len(cells) < width:
            what = f"has not the {width} cells that the first row names"
            remedy = 'add or remove separators; put a cell that contains one in "quotes"'
            problems.add(place, what, remedy, f"{len(cells)} cells")
            continue
        rows.append((place, {column: cell.strip() for column, cell in zip(header, cells)}))  # noqa: B905 - empty cells may follow
    if not rows and not problems:
        problems.add(Place(name), "has no rows below its first one", _REMEDY)
    return Sheet(name, tuple(header), rows, semicolons)


def _without_qualtrics(sheet: Sheet) -> Sheet:
    """Without the two rows that Qualtrics puts below the columns' names."""
    head = sheet.rows[:2]
    if len(head) == 2 and any(cell.startswith('{"ImportId"') for cell in head[1][1].values()):
        notes = [*sheet.notes, "2 rows below the first one, which Qualtrics adds"]
        return sheet._replace(rows=sheet.rows[2:], notes=notes)
    return sheet


def _filled(cells: list[str]) -> int:
    """How many cells there are up to the last one that holds anything."""
    return max((number for number, cell in enumerate(cells, start=1) if cell.strip()), default=0)


def _faults(header: list[str]) -> Iterable[tuple[str, str]]:
    for number, column in enumerate(header, start=1):
        if not column:
            yield (
                f"column {number} has no name",
                "name it in the first row, which names all columns, or remove it",
            )
        elif not column.isprintable():
            yield f"the name of column {number} has characters that do not print", "remove them"
    for column, count in Counter(header).items():
        if column and count > 1:
            yield f"column {shown(column)} is there {count} times", "rename or remove one of them"


def _separator(text: str) -> str:
    """What parts the columns: that by which the first row has most cells."""
    first = next((line for line in text.splitlines() if line.strip(_SEPARATORS + " ")), "")
    counted = {one: len(_cells(first, one)) for one in _SEPARATORS}
    return max(_SEPARATORS, key=lambda one: counted[one])


def _cells(line: str, separator: str) -> list[str]:
    found = next(iter(csv_lines(line, "", Findings(), separator)), None)
    return found[1] if found else []

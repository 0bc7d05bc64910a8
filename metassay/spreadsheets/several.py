"""Several files of one kind as one sheet, as where each rater, or each day, has a file."""

from collections.abc import Sequence
from pathlib import Path

from metassay.datasets.decoding import check_names, joined
from metassay.datasets.rows import Findings, Place
from metassay.errors import one_line, shown
from metassay.spreadsheets.columns import Columns
from metassay.spreadsheets.sheet import Sheet, read_sheet
from metassay.spreadsheets.words import CLUSTER, FAMILY, REFERENCE, SOURCE, STRATA

_MAY_LACK = (SOURCE, REFERENCE, STRATA, CLUSTER, FAMILY)  # what need not stand in every row


def read_sheets(paths: Sequence[Path], problems: Findings, page: str) -> Sheet | None:
    """All rows of the files; None, with every fault in `problems`, if none can be read.

    One file may have columns that another one lacks. A file that is named twice is a problem, and
    so are two of one name, by which messages and raters are told apart.
    """
    check_names(paths, problems)
    found = []
    for path in dict.fromkeys(paths):
        faults = Findings()  # of this file alone: it may be why it has no rows
        sheet = read_sheet(path, faults, page)
        problems.merge(faults)
        found += [sheet] if sheet is not None else []
    return _together(found) if found else None


def check_each(kind: str, sheet: Sheet, columns: Columns, problems: Findings) -> None:
    """Each of the files must have what tells a row's document, system and so on, and a value."""
    for name, lacking in sheet.files.items():
        for role, column in columns.roles.items():
            if column in lacking and role not in _MAY_LACK:
                what = f"has no column {shown(column)}, which holds the {role} in other files"
                problems.add(Place(name), what, "add it, or call the column as they do")
        if columns.spread and lacking >= {*columns.spread}:
            what = f"has none of the columns that hold {kind} in other files"
            problems.add(Place(name), what, "call them as they do, or leave the file out")


def _together(sheets: Sequence[Sheet]) -> Sheet:
    if len(sheets) == 1:
        return sheets[0]
    columns = tuple(dict.fromkeys(column for one in sheets for column in one.columns))
    names = [one.name for one in sheets]
    return Sheet(
        joined(names),
        columns,
        [(at, {**dict.fromkeys(columns, ""), **cells}) for one in sheets for at, cells in one.rows],
        all(one.semicolons for one in sheets),
        notes=[f"{one_line(one.name)}: {note}" for one in sheets for note in one.notes],
        files={one.name: frozenset(columns) - {*one.columns} for one in sheets},
    )

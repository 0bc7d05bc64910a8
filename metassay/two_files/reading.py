"""The two files as the tables `scores` and `ratings`, whole or as all that is wrong with them."""

import math
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metassay.datasets.rows import Findings, shown
from metassay.errors import BadInput
from metassay.tables import FULL, NO_JUDGE, RATINGS, SCORES
from metassay.two_files.cells import REMEDY, Cells, read_cells

TEXT = ["doc_id", "author", "part"]  # what one score, and one rater's rating, is of
MISSING = ("", "NaN", "NA")  # as a cell; in any case

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_MISSING = frozenset(word.lower() for word in MISSING)
_UNIT = "unit"


class Shape(NamedTuple):
    """What sets one of the two files apart from the other."""

    what: str  # the column that makes a file long, and each further column of a wide one
    optional: dict[str, str]  # key columns that may be left out, and what holds then


class Given(NamedTuple):
    """A file as a table, and what is worth knowing of it."""

    table: pd.DataFrame  # rows with a value; columns as `scores` or `ratings`
    name: str  # the file's
    names: list[str]  # metrics or criteria, in the file's order
    notes: list[str]


SCORING = Shape("metric", {"part": FULL, "judge": NO_JUDGE})
RATING = Shape("criterion", {"part": FULL, "study": "ratings", "rater": "people", _UNIT: "text"})


def read_scores(path: Path) -> Given:
    """The file of scores as the table `scores`; raises BadInput with every fault."""
    cells, found = _read(path, SCORING)
    table, value = found.table, found.table["value"]
    table = table.assign(low=value, high=value, n_expected=1, n_judged=1, n_failed=0)
    table["recipe"] = f"given|{cells.name}|sha256:{cells.digest}"
    return found._replace(table=table.reindex(columns=list(SCORES.columns)))


def read_ratings(path: Path) -> Given:
    """The file of ratings as the table `ratings`; raises BadInput with every fault."""
    _, found = _read(path, RATING)
    return found._replace(table=found.table[list(RATINGS.columns)])


def _read(path: Path, shape: Shape) -> tuple[Cells, Given]:
    faults = Findings()
    cells = read_cells(path, faults)
    if cells is None:
        raise BadInput(faults.lines())
    keys, columns = _columns(cells, shape, faults)
    if faults:
        raise BadInput(faults.lines())
    rows = cells.frame.rename(columns={"system": "author"})
    _check_keys(cells, rows, keys, faults)
    values = {name: _numbers(cells, name, faults) for name in columns}
    if faults:
        raise BadInput(faults.lines())
    if shape.what in keys:
        table = rows[keys].assign(value=values["value"])
        unread = [str(name) for name in rows if name not in {*keys, "value"}]
    else:
        named = pd.concat(dict.fromkeys(columns, rows[keys]), names=[shape.what])
        table, unread = named.reset_index(shape.what), []
        table["value"] = np.concatenate([values[name] for name in columns])
    for key in shape.optional.keys() - set(keys):
        table[key] = shape.optional[key]
    return cells, _with_values(table, cells.name, shape, unread)


def _with_values(table: pd.DataFrame, name: str, shape: Shape, unread: list[str]) -> Given:
    kept = table[table["value"].notna()].reset_index(drop=True)
    names = list(kept[shape.what].unique())
    if not names:
        raise BadInput(f"{name}: holds no value at all; {REMEDY}")
    without = [one for one in table[shape.what].unique() if one not in set(names)]
    notes = [f"{name}: column {shown(one)} is not read" for one in unread]
    notes += [f"{name}: {shape.what} {shown(one)} has no value: left out" for one in without]
    return Given(kept, name, names, notes)


def _columns(cells: Cells, shape: Shape, faults: Findings) -> tuple[list[str], list[str]]:
    """The key columns that are there, as tables call them, and the columns with numbers."""
    header = list(cells.frame.columns)
    long = shape.what in header
    named = f"name it in the header; {REMEDY}"
    for needed in ["doc_id", *(["value"] if long else [])]:
        if needed not in header:
            faults.add(cells.head, f"column {needed!r} is missing", named)
    if "system" in header and "author" in header:
        faults.add(cells.head, "has both of the columns 'system' and 'author'", "remove one")
    elif "system" not in header and "author" not in header:
        faults.add(cells.head, "column 'system' is missing", named)
    keys = ["doc_id", "author", *(key for key in shape.optional if key in header)]
    if long:
        return [*keys, shape.what], ["value"]
    columns = [name for name in header if name not in {*keys, "system"}]
    if not columns:
        faults.add(cells.head, f"no column is a {shape.what}", named)
    return keys, columns


def _check_keys(cells: Cells, rows: pd.DataFrame, keys: list[str], faults: Findings) -> None:
    as_written = {key: key if key in cells.frame else "system" for key in keys}
    for key, name in as_written.items():
        _check_key(cells, rows[key], name, faults)
    if _UNIT in keys:
        fix = "leave the row out; claims and comparisons need a project: docs/own-data.md"
        for row in np.flatnonzero((rows[_UNIT] != "text").to_numpy()):
            faults.add(cells.at(row), "'unit' is not 'text'", fix)
    for row in np.flatnonzero(rows.duplicated(keys).to_numpy()):
        where = ", ".join(shown(rows[key].iloc[row]) for key in keys)
        what = f"the same {', '.join(as_written.values())} a second time"
        faults.add(cells.at(row), what, "keep one row", where)


def _check_key(cells: Cells, column: "pd.Series[str]", name: str, faults: Findings) -> None:
    wrong: dict[str, tuple[str, str]] = {}
    for key in column.unique():
        if not key.strip():
            wrong[key] = ("is empty", "fill it in, or remove the row")
        elif key != key.strip() or not key.isprintable():
            wrong[key] = ("has blanks at an end or characters that do not print", "clean it")
    for row in np.flatnonzero(column.isin(list(wrong)).to_numpy()):
        what, fix = wrong[column.iloc[row]]
        faults.add(cells.at(row), f"{name!r} {what}", fix)


def _numbers(cells: Cells, name: str, faults: Findings) -> NDArray[np.float64]:
    found = np.array([_number(cell) for cell in cells.frame[name]], dtype=np.float64)
    what = f"{shown(name)} is no finite number"
    fix = (
        "write one with a decimal point, or nothing, NaN or NA where there is none; remove a column"
        " that holds other things"
    )
    for row in np.flatnonzero(np.isinf(found)):
        faults.add(cells.at(row), what, fix)  # not quoted: it may be a text
    return found


def _number(cell: str) -> float:
    """The number; NaN where it is missing, infinity where the cell is no finite number."""
    written = cell.strip()
    if written.lower() in _MISSING:
        return math.nan
    return float(written) if _NUMBER.fullmatch(written) else math.inf

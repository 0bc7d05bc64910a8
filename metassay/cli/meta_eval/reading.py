"""The two files as the tables `scores` and `ratings`, whole or as all that is wrong with them."""

import hashlib
import math
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metassay.cli.meta_eval.cells import REMEDY, Cells, as_keys, read_cells
from metassay.cli.meta_eval.columns import (
    RATING,
    SCORING,
    UNIT,
    Columns,
    Shape,
    check_named,
    find_columns,
)
from metassay.cli.meta_eval.given import TEXT, Given
from metassay.cli.meta_eval.named import Named
from metassay.cli.meta_eval.several import together
from metassay.datasets.rows import Findings
from metassay.errors import BadInput, shown
from metassay.meta_evaluation.study import NAMELESS
from metassay.naming import MOST, words_problem
from metassay.parquet import as_written
from metassay.tables.ratings import RATINGS
from metassay.tables.scores import SCORES

EVERYBODY = "(all)"  # what `raters` calls all raters or all systems together
MISSING = ("", "NaN", "NA")  # as a cell; in any case

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_LARGEST = 1e100
_MISSING = frozenset(word.lower() for word in MISSING)


def read_file(path: Path, problems: list[str]) -> Cells | None:
    """The cells of a file; None, with every fault in `problems`, where there are none."""
    faults = Findings()
    cells = read_cells(path, faults)
    problems += faults.lines()
    return cells if not faults else None


def read_both(
    scores: Sequence[Cells], ratings: Sequence[Cells], named: Named, mark: str
) -> tuple[Given | None, Given]:
    """Both as tables; raises BadInput with every fault of all files. `mark` leads an option's name.

    Of several files of ratings without a column of raters, each is a rater's.
    """
    problems: list[str] = []
    check_named([*scores, *ratings], ratings, named, mark, problems)
    found = []
    for files, shape, others in ((scores, SCORING, ratings), (ratings, RATING, scores)):
        each = [_read(one, shape, named, others, problems, files) for one in files]
        found += [together(each, shape, problems)] if each else []
    if problems:
        raise BadInput(problems)
    rated = found[-1]
    rated = rated._replace(table=as_written(RATINGS, rated.table[list(RATINGS.columns)]))
    return (_as_scores(found[0]) if scores else None), rated


def faults_of(cells: Cells, *, scores: bool, named: Named) -> list[str]:
    """What is wrong with one file, where another cannot be read."""
    problems: list[str] = []
    _read(cells, SCORING if scores else RATING, named, (), problems)
    return problems


def _as_scores(found: Given) -> Given:
    value = found.table["value"]
    table = found.table.assign(low=value, high=value, n_expected=1, n_judged=1, n_failed=0)
    table["recipe"] = ""
    table = as_written(SCORES, table.reindex(columns=list(SCORES.columns)))
    table["recipe"] = f"given|sha256:{_digest(table)}"
    return found._replace(table=table)


def _digest(table: pd.DataFrame) -> str:
    """16 digits that say which scores these are, however and in whatever order written."""
    digest = hashlib.sha256(table["value"].to_numpy(dtype="<f8").tobytes())
    for key in SCORES.key:
        digest.update("\x1f".join(table[key]).encode())
    return digest.hexdigest()[:16]


def _read(
    cells: Cells,
    shape: Shape,
    named: Named,
    others: Sequence[Cells],
    problems: list[str],
    files: Sequence[Cells] = (),
) -> Given:
    """The file as far as it can be read; faults go to `problems`, and the rest is then no use.

    `files`: those of its kind; `others`: those of the other one.
    """
    faults = Findings()
    found = Given(pd.DataFrame(), cells.name, [], [], cells, pd.DataFrame(), {})
    columns = find_columns(cells, shape, named, next(iter(others), None), faults)
    rater = Path(cells.name).stem if len(files) > 1 else _held("rater")
    if shape is RATING and "rater" not in columns.keys and (problem := words_problem(rater)):
        faults.add(cells.head, f"its name stands for who rated, and {problem}", "rename the file")
    if not faults:
        rows = _keyed(cells, columns)
        _check_keys(cells, rows, columns, faults)
        if shape.what not in columns.keys:
            _check_judge(cells, columns, faults)
        values = {name: _numbers(cells, name, faults) for name in columns.values}
        if not faults:
            table = _stacked(rows, columns, shape, values, rater)
            found = _with_values(table, found, shape, _unread(cells, columns, shape), problems)
            found = found._replace(texts=_texts(rows, cells, columns), keys=columns.keys)
    problems += faults.lines()
    return found


def _keyed(cells: Cells, columns: Columns) -> pd.DataFrame:
    return pd.DataFrame({key: as_keys(cells.frame[name]) for key, name in columns.keys.items()})


def _texts(rows: pd.DataFrame, cells: Cells, columns: Columns) -> pd.DataFrame:
    held = {key: rows[key] if key in rows else _held(key) for key in TEXT}
    labels = {name: as_keys(cells.frame[name]).str.strip() for name in columns.labels}
    return pd.DataFrame(held | labels)


def _held(key: str) -> str:
    return NAMELESS if key == "author" else {**SCORING.optional, **RATING.optional}[key]


def _stacked(
    rows: pd.DataFrame,
    columns: Columns,
    shape: Shape,
    values: dict[str, NDArray[np.float64]],
    rater: str,
) -> pd.DataFrame:
    """A row per value, with the `row` of the file that it stands in."""
    rows = rows.assign(row=np.arange(len(rows)))
    if shape.what in columns.keys:
        table = rows.assign(value=values["value"])
    else:
        named = pd.concat(dict.fromkeys(columns.values, rows), names=[shape.what])
        table = named.reset_index(shape.what)
        table["value"] = np.concatenate([values[name] for name in columns.values])
    for key in ({*shape.optional, "author"}) - set(columns.keys):
        table[key] = rater if key == "rater" else _held(key)
    return table


def _unread(cells: Cells, columns: Columns, shape: Shape) -> list[str]:
    if shape.what not in columns.keys:
        return []
    read = {*columns.keys.values(), *columns.labels, "value"}
    return [str(name) for name in cells.frame if name not in read]


def _with_values(
    table: pd.DataFrame, found: Given, shape: Shape, unread: list[str], problems: list[str]
) -> Given:
    kept = table[table["value"].notna()].reset_index(drop=True)
    names = list(kept[shape.what].unique())
    if not names:
        problems.append(f"{found.name}: holds no value at all; {REMEDY}")
    without = [one for one in table[shape.what].unique() if one not in set(names)]
    notes = [f"{found.name}: column {shown(one)} is not read" for one in unread]
    notes += [f"{found.name}: {shape.what} {shown(one)} has no value: left out" for one in without]
    absent = len(table) - len(kept)
    if absent:
        notes.append(f"{found.name}: {absent:,} of {len(table):,} values are missing: left out")
    return found._replace(table=kept, names=names, notes=notes)


def _check_keys(cells: Cells, rows: pd.DataFrame, columns: Columns, faults: Findings) -> None:
    for key, name in columns.keys.items():
        _check_key(cells, rows[key], name, faults)
    if UNIT in rows:
        fix = "leave the row out; claims and comparisons need a project: docs/own-data.md"
        for row in np.flatnonzero((rows[UNIT] != "text").to_numpy()):
            faults.add(cells.at(row), "'unit' is not 'text'", fix)
    fix = "keep one row" if "author" in rows else "keep one row, or add a column 'system'"
    for row in np.flatnonzero(rows.duplicated().to_numpy()):
        where = ", ".join(shown(rows[key].iloc[row]) for key in rows)
        what = f"the same {', '.join(columns.keys.values())} a second time"
        faults.add(cells.at(row), what, fix, where)


def _check_key(cells: Cells, column: "pd.Series[str]", name: str, faults: Findings) -> None:
    wrong: dict[str, tuple[str, str]] = {}
    for key in column.unique():
        if not key.strip():
            wrong[key] = ("is empty", "fill it in, or remove the row")
        elif key == EVERYBODY:
            wrong[key] = (f"is {EVERYBODY}, which stands for all of them", "rename it")
        elif key != key.strip() or not key.isprintable():
            wrong[key] = ("has blanks at an end or characters that do not print", "clean it")
        elif len(key) > MOST and name in (SCORING.what, RATING.what):
            wrong[key] = (f"has {len(key):,} characters", f"shorten it to {MOST}")
    for row in np.flatnonzero(column.isin(list(wrong)).to_numpy()):
        what, fix = wrong[column.iloc[row]]
        faults.add(cells.at(row), f"{name!r} {what}", fix)


def _check_judge(cells: Cells, columns: Columns, faults: Findings) -> None:
    """In a wide file a column `judge` of numbers is somebody's metric, not the name of a judge."""
    name = columns.keys.get("judge")
    if name is not None and np.isfinite([_number(key) for key in as_keys(cells.frame[name])]).all():
        fix = "rename it if it is a metric; else give the judges names that are no numbers"
        faults.add(cells.head, "'judge' names who judged, and holds numbers", fix)


def _numbers(cells: Cells, name: str, faults: Findings) -> NDArray[np.float64]:
    column = cells.frame[name]
    written = not pd.api.types.is_float_dtype(column.dtype)
    found = np.asarray([_number(one) for one in column] if written else column, dtype=np.float64)
    what = f"{shown(name)} is no finite number"
    fix = (
        "write one with a decimal point, or nothing, NaN or NA where there is none; remove a column"
        " that holds other things"
    )
    for row in np.flatnonzero(np.isinf(found)):
        faults.add(cells.at(row), what, fix)  # not quoted: it may be a text
    for row in np.flatnonzero(np.isfinite(found) & (np.abs(found) > _LARGEST)):
        what = f"{shown(name)} is beyond {_LARGEST:g}, too large to be squared and summed"
        faults.add(cells.at(row), what, "correct it, or leave the cell empty")
    return found


def _number(cell: str) -> float:
    """The number; NaN where it is missing, infinity where the cell is no finite number."""
    written = cell.strip()
    if written.lower() in _MISSING:
        return math.nan
    return float(written) if _NUMBER.fullmatch(written) else math.inf

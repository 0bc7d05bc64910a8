"""The two files as the tables `scores` and `ratings`, whole or as all that is wrong with them."""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metassay.api.columns import (
    RATING,
    REMEDY,
    SCORING,
    TEXT,
    UNIT,
    Columns,
    Given,
    Named,
    Shape,
    check_named,
    find_columns,
)
from metassay.api.several import together
from metassay.core.errors import BadInput, shown
from metassay.core.naming import MOST, words_problem
from metassay.meta_evaluation.study import NAMELESS
from metassay.tables.parquet import as_written
from metassay.tables.ratings import RATINGS
from metassay.tables.scores import SCORES
from metassay.tabular.columns import SPREADS, Keys
from metassay.tabular.infer_columns import joined_by_text
from metassay.tabular.rows import Findings
from metassay.tabular.sheet import Sheet, as_keys, read_sheet

EVERYBODY = "(all)"  # what `raters` calls all raters or all systems together

_LARGEST = 1e100


def read_file(path: Path, problems: list[str]) -> Sheet | None:
    """The cells of a file; None, with every fault in `problems`, where there are none."""
    faults = Findings()
    sheet = read_sheet(path, faults, remedy=REMEDY)
    problems += faults.lines()
    return sheet if not faults else None


def read_both(
    scores: Sequence[Sheet], ratings: Sequence[Sheet], named: Named, mark: str
) -> tuple[Given | None, Given]:
    """Both as tables; raises BadInput with every fault of all files. `mark` leads an option's name.

    Of several files of ratings without a column of raters, each is a rater's.
    """
    problems: list[str] = []
    check_named([*scores, *ratings], ratings, named, mark, problems)
    scores, ratings = _joined(scores, ratings, named), _joined(ratings, scores, named)
    found = []
    keys = _keys_of(ratings, named)
    for files, shape, others in ((scores, SCORING, ratings), (ratings, RATING, scores)):
        each = [_read(one, shape, named, others, problems, files, keys) for one in files]
        found += [together(each, shape, problems)] if each else []
        if each and not problems:
            table = found[-1].table
            keys = Keys(frozenset(table["doc_id"]), frozenset(table["author"]) - {NAMELESS})
    if problems:
        raise BadInput(problems)
    rated = found[-1]
    rated = rated._replace(table=as_written(RATINGS, rated.table[list(RATINGS.columns)]))
    return (_as_scores(found[0]) if scores else None), rated


def _joined(files: Sequence[Sheet], others: Sequence[Sheet], named: Named) -> list[Sheet]:
    """Files that name texts alone, with the documents and systems that another file names."""
    return [
        joined_by_text(one, other, named.doc, named.system) for one in files for other in others[:1]
    ] or list(files)


def _keys_of(files: Sequence[Sheet], named: Named) -> Keys:
    """The documents and systems of files that call their columns as they should."""
    documents, systems = (
        frozenset(key for one in files if name in one.frame for key in one.cells(name))
        for name in (named.doc, named.system)
    )
    return Keys(documents, systems)


def faults_of(cells: Sheet, *, scores: bool, named: Named) -> list[str]:
    """What is wrong with one file, where another cannot be read."""
    problems: list[str] = []
    _read(cells, SCORING if scores else RATING, named, (), problems, (), Keys())
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
    cells: Sheet,
    shape: Shape,
    named: Named,
    others: Sequence[Sheet],
    problems: list[str],
    files: Sequence[Sheet],
    known: Keys,
) -> Given:
    """The file as far as it can be read; faults go to `problems`, and the rest is then no use.

    `files`: those of its kind; `others`: those of the other one.
    """
    faults = Findings()
    columns = find_columns(cells, shape, named, next(iter(others), None), known, faults)
    notes = [*cells.notes, *_unread(cells, columns, shape)]
    cells, columns = _stacked_by_names(cells, columns, shape, faults)
    found = Given(pd.DataFrame(), cells.name, [], [], cells, pd.DataFrame(), {})
    rater = Path(cells.name).stem if len(files) > 1 else _held("rater")
    if shape is RATING and "rater" not in columns.keys and (problem := words_problem(rater)):
        faults.add(cells.head, f"its name stands for who rated, and {problem}", "rename the file")
    if not faults:
        rows = _keyed(cells, columns)
        _check_keys(cells, rows, columns, faults)
        if shape.what not in columns.keys:
            _check_judge(cells, columns, faults)
        values = {name: _by_criterion(cells, name, rows, faults) for name in columns.values}
        if not faults:
            table = _stacked(rows, columns, shape, values, rater)
            found = _with_values(table, found, shape, notes, problems)
            found = found._replace(texts=_texts(rows, cells, columns), keys=columns.keys)
    problems += faults.lines()
    return found


def _stacked_by_names(
    cells: Sheet, columns: Columns, shape: Shape, faults: Findings
) -> tuple[Sheet, Columns]:
    """A row per value where columns' names say more than a metric or criterion, else as it is."""
    told = {key for said in columns.values.values() for key in said} - {shape.what}
    if not told or faults:
        return cells, columns
    shared = cells.frame[[*columns.keys.values(), *columns.labels]]
    each = [
        shared.assign(**said, value=_values(cells, name, faults))
        for name, said in columns.values.items()
    ]
    frame = pd.concat(each, ignore_index=True)
    frame = frame.astype({key: "str" for key in (*told, shape.what) if key in frame})
    lines = np.array([cells.at(n).row for n in range(len(cells.lines))], dtype=object)
    stacked = cells._replace(frame=frame, lines=np.tile(lines, len(each)), parts=())
    keys = columns.keys | {key: key for key in (*sorted(told), shape.what)}
    return stacked, Columns(keys, {"value": {}}, columns.labels, columns.unread)


def _keyed(cells: Sheet, columns: Columns) -> pd.DataFrame:
    return pd.DataFrame({key: as_keys(cells.frame[name]) for key, name in columns.keys.items()})


def _texts(rows: pd.DataFrame, cells: Sheet, columns: Columns) -> pd.DataFrame:
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
    each = [rows.assign(**said, value=values[name]) for name, said in columns.values.items()]
    table = pd.concat(each, ignore_index=True)
    for key in ({*shape.optional, "author"}) - {*table.columns}:
        table[key] = rater if key == "rater" else _held(key)
    return table


def _unread(cells: Sheet, columns: Columns, shape: Shape) -> Iterator[str]:
    kind = "scores" if shape is SCORING else "ratings"
    for name in columns.unread:
        if cells.share_of_numbers(name) == 1:
            how = f"--columns {kind}.{SPREADS[kind][0]}=..."
            yield f"column {shown(name)} is not read, though of numbers (read if named by {how})"
        else:
            yield f"column {shown(name)} is not read"


def _with_values(
    table: pd.DataFrame, found: Given, shape: Shape, notes: list[str], problems: list[str]
) -> Given:
    kept = table[table["value"].notna()].reset_index(drop=True)
    names = list(kept[shape.what].unique())
    if not names:
        problems.append(f"{found.name}: holds no value at all; {REMEDY}")
    without = [one for one in table[shape.what].unique() if one not in set(names)]
    notes = [f"{found.name}: {note}" for note in notes]
    notes += [f"{found.name}: {shape.what} {shown(one)} has no value: left out" for one in without]
    absent = len(table) - len(kept)
    if absent:
        notes.append(f"{found.name}: {absent:,} of {len(table):,} values are missing: left out")
    return found._replace(table=kept, names=names, notes=notes)


def _check_keys(cells: Sheet, rows: pd.DataFrame, columns: Columns, faults: Findings) -> None:
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


def _check_key(cells: Sheet, column: "pd.Series[str]", name: str, faults: Findings) -> None:
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


def _check_judge(cells: Sheet, columns: Columns, faults: Findings) -> None:
    """In a wide file a column `judge` of numbers is somebody's metric, not the name of a judge."""
    name = columns.keys.get("judge")
    if name is not None and cells.share_of_numbers(name) == 1:
        fix = "rename it if it is a metric; else give the judges names that are no numbers"
        faults.add(cells.head, "'judge' names who judged, and holds numbers", fix)


def _by_criterion(
    cells: Sheet, name: str, rows: pd.DataFrame, faults: Findings
) -> NDArray[np.float64]:
    """The numbers of a column; of several criteria, each in its own words if they are said."""
    worded = {*cells.words} & {*rows.get("criterion", ())}
    if not worded:
        return _values(cells, name, faults)
    found = np.empty(len(rows))
    for criterion, mine in rows.groupby("criterion").groups.items():
        words = cells.words.get(str(criterion), ())
        part = Sheet(
            cells.name,
            cells.frame.loc[mine].reset_index(drop=True),
            cells.lines[mine],
            cells.kind,
            cells.semicolons,
            {name: words},
        )
        found[mine] = _values(part, name, faults)
    return found


def _values(cells: Sheet, name: str, faults: Findings) -> NDArray[np.float64]:
    read_as = cells.clear_numbers(name, faults)
    found = np.full(len(cells.lines), np.nan) if read_as.fault else cells.values(name, read_as)
    what = f"{shown(name)} is no finite number"
    fix = "write one, or nothing, NaN or NA where there is none; remove a column of other things"
    for row in np.flatnonzero(np.isinf(found)):
        faults.add(cells.at(row), what, fix)  # not quoted: it may be a text
    for row in np.flatnonzero(np.isfinite(found) & (np.abs(found) > _LARGEST)):
        what = f"{shown(name)} is beyond {_LARGEST:g}, too large to be squared and summed"
        faults.add(cells.at(row), what, "correct it, or leave the cell empty")
    return found

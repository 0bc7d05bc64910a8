"""The two files as the tables `scores` and `ratings`, whole or as all that is wrong with them."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
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
from metassay.core.errors import BadInput, meant, raise_problems, shown
from metassay.core.naming import MOST, words_problem
from metassay.format.numbers import counted
from metassay.meta_evaluation.study import NAMELESS
from metassay.tables.names import REFERENCE
from metassay.tables.parquet import as_written
from metassay.tables.ratings import RATINGS
from metassay.tables.scores import SCORES
from metassay.tabular.column_synonyms import fold_key
from metassay.tabular.columns import SPREADS, Keys
from metassay.tabular.infer_columns import join_by_text
from metassay.tabular.rows import Findings
from metassay.tabular.sheet import Sheet, combine_sheets, read_sheet, to_keys

EVERYBODY = "(all)"  # what `raters` calls all raters or all systems together

_LARGEST = 1e100
_NAMES = 10  # that only one file has, told one by one


def read_file(path: Path, problems: list[str]) -> Sheet | None:
    """The cells of a file; None, with every fault in `problems`, where there are none."""
    faults = Findings()
    sheet = read_sheet(path, faults, remedy=REMEDY)
    problems += faults.lines()
    return sheet if not faults else None


def read_both(
    scores: Sequence[Sheet], ratings: Sequence[Sheet], named: Named
) -> tuple[Given | None, Given]:
    """Both as tables; raises BadInput with every fault of all files.

    Several files are read as one. Where no column says who rated, each is a rater's.
    """
    problems: list[str] = []
    of_scores, of_ratings = combine_sheets(scores) if scores else None, combine_sheets(ratings)
    files = [one for one in (of_scores, of_ratings) if one is not None]
    check_named(files, of_ratings, named, problems)
    if of_scores is not None:
        doc, system = named.doc, named.system
        joined = join_by_text(of_scores, of_ratings, doc, system)
        of_ratings = join_by_text(of_ratings, of_scores, doc, system)
        of_scores = joined
    keys = _keys_of(of_ratings, named)
    found = None
    if of_scores is not None:
        found = _read(of_scores, SCORING, named, of_ratings, keys, problems)
        if not problems:
            table = found.table
            documents, systems = (frozenset(table[key].unique()) for key in ("doc_id", "author"))
            keys = Keys(documents, systems - {NAMELESS})
    rated = _read(of_ratings, RATING, named, of_scores, keys, problems)
    raise_problems(problems)
    rated = rated._replace(table=as_written(RATINGS, rated.table[list(RATINGS.columns)]))
    return (_as_scores(found) if found else None), rated


def _keys_of(sheet: Sheet, named: Named) -> Keys:
    """The documents and systems of a file that calls their columns as it should."""
    documents, systems = (
        frozenset(sheet.cells(name) if name in sheet.frame else ())
        for name in (named.doc, named.system)
    )
    return Keys(documents, systems)


def faults_of(cells: Sheet, *, scores: bool, named: Named) -> list[str]:
    """What is wrong with one file, where another cannot be read."""
    problems: list[str] = []
    _read(cells, SCORING if scores else RATING, named, None, Keys(), problems)
    return problems


def _as_scores(found: Given) -> Given:
    value = found.table["value"]
    table = found.table.assign(low=value, high=value, n_expected=1, n_judged=1, n_failed=0)
    table["recipe"] = ""
    table = as_written(SCORES, table.reindex(columns=list(SCORES.columns)))
    # Which scores these are, however and in whatever order written.
    digest = hashlib.sha256(table["value"].to_numpy(dtype="<f8").tobytes())
    for key in SCORES.key:
        digest.update("\x1f".join(table[key].to_numpy()).encode())
    table["recipe"] = f"given|sha256:{digest.hexdigest()[:16]}"
    return found._replace(table=table)


def _read(
    cells: Sheet, shape: Shape, named: Named, other: Sheet | None, known: Keys, problems: list[str]
) -> Given:
    """The file as far as it can be read; faults go to `problems`, and the rest is then no use."""
    faults = Findings()
    columns = find_columns(cells, shape, named, other, known, faults)
    found = Given(pd.DataFrame(), cells.name, [], [], cells, pd.DataFrame(), columns.keys)
    if not faults:
        rows = pd.DataFrame({k: to_keys(cells.frame[name]) for k, name in columns.keys.items()})
        _check_keys(cells, rows, columns, faults)
        if shape.what not in columns.keys:
            _check_judge(cells, columns, faults)
        values = {name: _by_criterion(cells, name, rows, faults) for name in columns.values}
        table = _stacked(cells, rows, columns, shape, values, faults)
        _check_twice(cells, table, columns, shape, faults)
        if not faults:
            found = _with_values(table, found, columns, shape, problems)
    problems += faults.lines()
    return found


def _stacked(
    cells: Sheet,
    rows: pd.DataFrame,
    columns: Columns,
    shape: Shape,
    values: dict[str, NDArray[np.float64]],
    faults: Findings,
) -> pd.DataFrame:
    """A row per value, with the `row` of the file that it stands in."""
    rows = rows.assign(row=np.arange(len(rows)))
    if "rater" not in rows and shape is RATING and cells.parts:
        stems = [Path(part.name).stem for part in cells.parts]
        for part, stem in zip(cells.parts, stems, strict=True):
            if problem := words_problem(stem):
                what = f"its name stands for who rated, and {problem}"
                faults.add(part.head, what, "rename the file")
        rows["rater"] = np.repeat(stems, [len(part.lines) for part in cells.parts])
    each = []
    for name, said in columns.values.items():
        there = [np.full(len(part.lines), name in part.columns) for part in cells.parts]
        mine = rows.assign(value=values[name], **said)
        each.append(mine[np.concatenate(there)] if there else mine)
    table: pd.DataFrame = pd.concat(each, ignore_index=True)
    for key, held in {"author": NAMELESS, **shape.optional}.items():
        if key not in table:
            table[key] = held
    return table


def _with_values(
    table: pd.DataFrame, found: Given, columns: Columns, shape: Shape, problems: list[str]
) -> Given:
    cells = found.cells
    kept = table[table["value"].notna()].reset_index(drop=True)
    names = list(kept[shape.what].unique())
    if not names:
        problems.append(f"{found.name}: holds no value at all; {REMEDY}")
    notes = [*cells.notes, *_unread(cells, columns, shape)]
    without = [one for one in table[shape.what].unique() if one not in set(names)]
    notes += [f"{shape.what} {shown(one)} has no value: left out" for one in without]
    if absent := len(table) - len(kept):
        notes.append(f"{absent:,} of {len(table):,} values are missing: left out")
    texts = table[[*TEXT, "row"]].drop_duplicates(ignore_index=True)
    labels = {name: to_keys(cells.frame[name]).str.strip() for name in columns.labels}
    texts = texts.assign(**{k: held.to_numpy()[texts["row"]] for k, held in labels.items()})
    notes = [f"{found.name}: {note}" for note in notes]
    if shape is RATING and cells.parts and "rater" not in {*columns.keys, *columns.told}:
        notes.append("no column names the rater: each file counts as one rater, named after it")
    return found._replace(table=kept, names=names, notes=notes, texts=texts)


def _unread(cells: Sheet, columns: Columns, shape: Shape) -> Iterator[str]:
    for name in columns.unread:
        if cells.share_of_numbers(name) == 1:
            how = f"--columns {shape.kind}.{SPREADS[shape.kind][0]}=..."
            yield f"column {shown(name)} of numbers is not read (name it to read it: {how})"
        else:
            yield f"column {shown(name)} is not read"


def _check_keys(cells: Sheet, rows: pd.DataFrame, columns: Columns, faults: Findings) -> None:
    for key, name in columns.keys.items():
        _check_key(cells, rows[key], name, faults)
    if UNIT in rows:
        fix = "leave the row out; claims and comparisons need a project: docs/own-data.md"
        for row in np.flatnonzero((rows[UNIT] != "text").to_numpy()):
            faults.add(cells.at(row), "'unit' is not 'text'", fix)


def _check_twice(
    cells: Sheet, table: pd.DataFrame, columns: Columns, shape: Shape, faults: Findings
) -> None:
    """Each value is there once; a row, or two files, may have it again."""
    keys = [*TEXT, *(key for key in shape.optional if key not in TEXT), shape.what]
    twice = table[table.duplicated(keys, keep=False)]
    first = twice.groupby(keys, sort=False)["row"].transform("first")
    again = twice.assign(first=first)[twice.duplicated(keys)].drop_duplicates("row")
    for at in again.to_dict("records"):
        place, there = cells.at(at["row"]), cells.at(at["first"])
        if place.file == there.file:
            what = f"the same {', '.join(columns.keys.values())} a second time"
            fix = "keep one row"
            if "author" not in columns.keys:
                fix += ", or add a column 'system'"
            elif shape is RATING and "rater" not in columns.keys:
                fix += ", or call the column that says who rated 'rater'"
            where = ", ".join(shown(at[key]) for key in columns.keys)
        else:
            what, fix = f"the same {', '.join(keys)} as in {there.file}", "keep one of the two"
            where = f"{there.kind} {there.row} there: {', '.join(shown(at[key]) for key in keys)}"
        faults.add(place, what, fix, where)


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
    if not {*cells.words} & {*rows.get("criterion", ())}:
        return _values(cells, name, faults)
    found = np.empty(len(rows))
    for criterion, mine in rows.groupby("criterion").groups.items():
        frame = cells.frame.loc[mine].reset_index(drop=True)
        lines = np.array([cells.at(row).row for row in mine], dtype=object)
        words = {name: cells.words.get(str(criterion), ())}
        part = replace(cells, frame=frame, lines=lines, words=words, parts=())
        found[mine] = _values(part, name, faults)
    return found


def _values(cells: Sheet, name: str, faults: Findings) -> NDArray[np.float64]:
    read_as = cells.clear_numbers(name, faults)
    found = np.full(len(cells.lines), np.nan) if read_as.fault else cells.values(name, read_as)
    what = f"{shown(name)} is not a finite number"
    fix = "write one, or nothing, NaN or NA where there is none; remove a column of other things"
    for row in np.flatnonzero(np.isinf(found)):
        faults.add(cells.at(row), what, fix)  # not quoted: it may be a text
    for row in np.flatnonzero(np.isfinite(found) & (np.abs(found) > _LARGEST)):
        what = f"{shown(name)} is beyond {_LARGEST:g}, too large to be squared and summed"
        faults.add(cells.at(row), what, "correct it, or leave the cell empty")
    return found


def rater_means(ratings: pd.DataFrame) -> pd.DataFrame:
    """The table `raters`: a row per study, criterion, part, rater and system; `(all)` is over all.

    `ratings`: the table of that name, whole texts only. `n` counts ratings; `mean` and `sd` are on
    the criterion's own scale, as rated; `sd` has the denominator n - 1, and is missing where n is
    1. Rows without a value and the reference's own ratings are left out.
    """
    rated = ratings[ratings["value"].notna() & (ratings["author"] != REFERENCE)]
    views = [
        rated.assign(**{name: EVERYBODY for name in over})
        for over in ([], ["author"], ["rater"], ["rater", "author"])
    ]
    keys = ["study", "criterion", "part", "rater", "author"]
    found = pd.concat(views).groupby(keys, sort=True)["value"].agg(["count", "mean", "std"])
    return found.reset_index().set_axis([*keys, "n", "mean", "sd"], axis=1)


def overlap(scores: Given, ratings: Given) -> tuple[int, int, int]:
    """Count the systems' texts (document, system, part) with a score and a rating, with a score
    only, and with a rating only; raises BadInput, with ids of each file, if none is in both."""
    scored, rated = (
        pd.MultiIndex.from_frame(one.table.loc[one.table["author"] != REFERENCE, TEXT]).unique()
        for one in (scores, ratings)
    )
    both = len(scored.intersection(rated))
    if not both:
        there = f"{scores.name} has {_examples(scored)}; {ratings.name} has {_examples(rated)}"
        what = "nothing to compare: no text (doc_id, system, part) is in both files."
        raise BadInput([f"{what} {there}; write them alike in both", *misnamed(scores, ratings)])
    return both, len(scored) - both, len(rated) - both


def misnamed(scores: Given, ratings: Given) -> Iterator[str]:
    """A warning for each system and part that only one file has, and for documents in bulk.

    Documents are told of only where another one of the other file is spelt almost alike: that
    many were not rated is usual.
    """
    for here, there in ((ratings, scores), (scores, ratings)):
        for column, noun in (("author", "system"), ("part", "part")):
            yield from _only_here(here, there, column, noun)
    yield from _spelt_alike(ratings, scores)


def _only_here(here: Given, there: Given, column: str, noun: str) -> Iterator[str]:
    mine, others = (one.texts[column] for one in (here, there))
    rows = mine[mine != REFERENCE].value_counts()
    theirs = {*others.unique()} - {REFERENCE}
    only = sorted(set(rows.index) - theirs)
    for name in only[:_NAMES]:
        like = meant(name, sorted(theirs - set(rows.index)))
        named = f"{shown(name)} ({counted(int(rows[name]), 'row')})"
        yield f"{here.name} names {noun} {named} that {there.name} does not have{like}"
    if len(only) > _NAMES:
        left = counted(len(only) - _NAMES, f"more {noun}")
        yield f"{here.name} names {left} that {there.name} does not have"


def _spelt_alike(here: Given, there: Given) -> Iterator[str]:
    mine, theirs = ({*one.table["doc_id"].unique()} for one in (here, there))
    only, others = sorted(mine - theirs), sorted(theirs - mine)
    alike = {fold_key(name): name for name in others}
    pairs = [(name, alike[fold_key(name)]) for name in only if fold_key(name) in alike]
    if pairs:
        many, first = counted(len(pairs), "document"), " and ".join(map(shown, pairs[0]))
        what = f"{here.name} and {there.name} spell {many} differently (first: {first})"
        yield f"{what}: not compared; write them alike"


def _examples(texts: pd.MultiIndex) -> str:
    shown_ones = ("/".join(shown(key) for key in text) for text in texts[:3])
    return ", ".join(shown_ones) or "none by a system"

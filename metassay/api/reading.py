"""Read the two files as the tables `scores` and `ratings`, or collect all that is wrong in them."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from metassay.api.columns import (
    LISTED,
    RATINGS_FILE,
    REMEDY,
    SCORES_FILE,
    TEXT,
    UNIT,
    Columns,
    InputTable,
    Roles,
    Shape,
    check_columns,
    find_columns,
)
from metassay.core.errors import BadInput, hint, quoted, raise_problems, shown
from metassay.core.naming import MOST, words_problem
from metassay.format.numbers import counted
from metassay.meta_evaluation.study import NAMELESS
from metassay.statistics.exact_sums import Array
from metassay.tables.data_warnings import DataWarning
from metassay.tables.names import REFERENCE, STATEMENT
from metassay.tables.parquet import round_trip
from metassay.tables.ratings import RATINGS
from metassay.tables.scores import SCORES
from metassay.tabular.column_synonyms import fold_key
from metassay.tabular.columns import SPREADS, Keys, roles_in
from metassay.tabular.far_ratings import check_ratings, describe_levels
from metassay.tabular.files import read_sheet
from metassay.tabular.guess import listed
from metassay.tabular.infer_columns import join_by_text
from metassay.tabular.numbers import is_among
from metassay.tabular.odd_cells import OddCells
from metassay.tabular.row_choice import (
    ask_rows,
    choose_rows,
    leave_out_chosen,
    parse_rows,
)
from metassay.tabular.rows import Findings, Place
from metassay.tabular.scales import UNDECLARED, Scales
from metassay.tabular.sheet import Sheet, combine_sheets, to_keys

EVERYBODY = "(all)"  # what `raters` calls all raters or all systems together

_UNORDERED = ("count", "nominal")  # scales on which a large number is nothing odd
_LARGEST = 1e100
_NAMES = 10  # that only one file has; each gets a warning of its own


def read_file(path: Path, problems: list[str]) -> Sheet | None:
    """Read the cells of a file; None where that fails, with every fault added to `problems`."""
    faults = Findings()
    sheet = read_sheet(path, faults, remedy=REMEDY)
    problems += faults.lines()
    return sheet if not faults else None


def read_both(
    scores: Sequence[Sheet],
    ratings: Sequence[Sheet],
    roles: Roles,
    scales: Scales = UNDECLARED,
) -> tuple[InputTable | None, InputTable]:
    """Return both as tables; raise BadInput with every fault of all files.

    Several files are read as one. Without a column for the rater, each file is one
    rater's. `scales`: those that the user declared.
    """
    problems: list[str] = []
    of_scores, of_ratings = (
        combine_sheets(scores) if scores else None,
        combine_sheets(ratings),
    )
    files = [sheet for sheet in (of_scores, of_ratings) if sheet is not None]
    check_columns(files, of_ratings, roles, problems)
    of_ratings = _choose(of_ratings, files, roles, problems)
    of_ratings, warnings = _leave_out_chosen(of_ratings, files, roles, problems)
    if of_scores is not None:
        of_scores = _choose(of_scores, files, roles, problems)
    if of_scores is not None:
        names = roles.doc, roles.system
        of_scores, of_ratings = (
            join_by_text(of_scores, of_ratings, *names),
            join_by_text(of_ratings, of_scores, *names),
        )
    documents, systems = (
        frozenset(of_ratings.cells(name) if name in of_ratings.frame else ())
        for name in (roles.doc, roles.system)
    )
    keys, scored = Keys(documents, systems), None
    if of_scores is not None:
        scored = _read(of_scores, SCORES_FILE, roles, of_ratings, keys, problems)
        if not problems:
            documents, systems = (
                frozenset(scored.table[key]) for key in ("doc_id", "author")
            )
            keys = Keys(documents, systems - {NAMELESS})
    rated = _read(of_ratings, RATINGS_FILE, roles, of_scores, keys, problems)
    if not problems:
        rated = _check_values(rated, scales, problems)
    raise_problems(problems)
    rated = rated._replace(
        table=round_trip(RATINGS, rated.table[list(RATINGS.columns)]),
        warnings=(*warnings, *rated.warnings),
    )
    return (_make_scores(scored) if scored else None), rated


def _check_values(
    ratings: InputTable, scales: Scales, problems: list[str]
) -> InputTable:
    """Check the values of each criterion against its scale, or else against each other.

    Returns the file with a note on the levels of each criterion, and warnings.
    """
    faults, doubts, notes = Findings(), Findings(), list(ratings.notes)
    for name in ratings.names:
        of_criterion = ratings.table[ratings.table["criterion"] == name]
        values = of_criterion["value"].tolist()
        lines = of_criterion["row"].tolist()
        notes.append(describe_levels(name, values))
        if name in scales.ranges:
            low, high = scales.ranges[name]
            what = f"{quoted(name)} is outside its scale of {low:g} to {high:g}"
            for value, line in zip(values, lines, strict=True):
                if not low <= value <= high:
                    option = ratings.cells.caller.option("scale")
                    fix = f"correct it, or the ends of the scale in {option}"
                    faults.add(ratings.cells.at(line), what, fix, f"value {value:g}")
        elif name not in scales.words and scales.kinds.get(name) not in _UNORDERED:
            place_of = partial(_place_of, ratings.cells, lines)
            caller = ratings.cells.caller
            check_ratings(name, values, place_of, faults, doubts, caller)
    problems += faults.lines()
    warnings = [
        DataWarning(kind="ratings", finding=f"{line}.") for line in doubts.lines()
    ]
    return ratings._replace(notes=notes, warnings=tuple(warnings))


def _place_of(sheet: Sheet, lines: Sequence[int], place: int) -> Place:
    return sheet.at(lines[place])


def _choose(
    sheet: Sheet, files: Sequence[Sheet], roles: Roles, problems: list[str]
) -> Sheet:
    """Return the rows that count, and the words that mean that nobody rated."""
    faults = Findings()
    rows = parse_rows(roles.rows, [c for file in files for c in file.columns])
    sheet = choose_rows(sheet, rows, faults)
    problems += faults.lines()
    return replace(sheet, missing=frozenset(map(str.casefold, roles.missing)))


def _leave_out_chosen(
    ratings: Sheet, files: Sequence[Sheet], roles: Roles, problems: list[str]
) -> tuple[Sheet, list[DataWarning]]:
    """Return ratings without those of chosen texts, and the warning that says so."""
    faults = Findings()
    rows = parse_rows(roles.rows, [c for file in files for c in file.columns])
    ratings, finding, remedy = leave_out_chosen(ratings, rows, faults)
    problems += faults.lines()
    if not finding:
        return ratings, []
    return ratings, [DataWarning(kind="selected", finding=finding, remedy=remedy)]


def find_faults(sheet: Sheet, *, scores: bool, roles: Roles) -> list[str]:
    """Return what is wrong in one file, when the other cannot be read."""
    problems: list[str] = []
    sheet = _choose(sheet, [sheet], roles, problems)
    _read(sheet, SCORES_FILE if scores else RATINGS_FILE, roles, None, Keys(), problems)
    return problems


def _make_scores(scored: InputTable) -> InputTable:
    value = scored.table["value"]
    table = scored.table.assign(
        low=value, high=value, n_expected=1, n_judged=1, n_failed=0
    )
    table["recipe"] = ""
    table = round_trip(SCORES, table.reindex(columns=list(SCORES.columns)))
    # The recipe names these scores, whatever the order and the form of the file.
    digest = hashlib.sha256(table["value"].to_numpy(dtype="<f8").tobytes())
    for key in SCORES.key:
        digest.update("\x1f".join(table[key].to_numpy()).encode())
    table["recipe"] = f"given|sha256:{digest.hexdigest()[:16]}"
    return scored._replace(table=table)


def _read(
    sheet: Sheet,
    shape: Shape,
    roles: Roles,
    other: Sheet | None,
    keys: Keys,
    problems: list[str],
) -> InputTable:
    """Read the file; the result has no use if faults were added to `problems`."""
    faults = Findings()
    columns = find_columns(sheet, shape, roles, other, keys, faults)
    if shape is RATINGS_FILE:
        chosen = parse_rows(roles.rows, sheet.columns)
        for what, fix in ask_rows(sheet, chosen):
            faults.add(Place(sheet.name), what, fix)
    file = InputTable(
        pd.DataFrame(), sheet.name, [], [], sheet, pd.DataFrame(), columns.keys
    )
    if not faults:
        rows = pd.DataFrame(
            {k: to_keys(sheet.frame[name]) for k, name in columns.keys.items()},
            index=pd.RangeIndex(len(sheet.lines)),
        )
        _check_keys(sheet, rows, columns, faults)
        judge = columns.keys.get("judge") if shape.what not in columns.keys else None
        # in a wide file it is a metric
        if judge and sheet.share_of_numbers(judge) == 1:
            fix = "rename it if it is a metric; else give the judges names that are not numbers"
            faults.add(
                sheet.head, "'judge' must name the judge, but holds numbers", fix
            )
        table = _stack(sheet, rows, columns, shape, faults)
        if other is not None and shape is SCORES_FILE and sheet.name == other.name:
            table = _drop_equal(table, shape)
        _check_duplicates(sheet, table, columns, shape, faults)
        if not faults:
            file = _add_values(table, file, columns, shape, problems)
    problems += faults.lines()
    return file


def _drop_equal(table: pd.DataFrame, shape: Shape) -> pd.DataFrame:
    """Keep a score once: in a file of both, each rater's row has the text's scores again."""
    keys = [*TEXT, *(key for key in shape.optional if key not in TEXT), shape.what]
    return table.drop_duplicates([*keys, "value"], ignore_index=True)


def _stack(
    sheet: Sheet, rows: pd.DataFrame, columns: Columns, shape: Shape, faults: Findings
) -> pd.DataFrame:
    """Return a row per value, with its `row` and `column` in the file."""
    values = {
        name: _read_by_criterion(sheet, name, rows, faults) for name in columns.values
    }
    rows = rows.assign(row=np.arange(len(rows)))
    sizes = [len(part.lines) for part in sheet.parts]
    if "rater" not in rows and shape is RATINGS_FILE and sheet.parts:
        stems = [sheet.raters[part.name] for part in sheet.parts]
        for part, stem in zip(sheet.parts, stems, strict=True):
            if problem := words_problem(stem):
                what = f"its name stands for the rater, and {problem}"
                faults.add(part.head, what, "rename it")
        rows["rater"] = np.repeat(stems, sizes)
    frames = []
    index = pd.Index([*columns.values])
    for place, (name, keys) in enumerate(columns.values.items()):
        of_column = rows.assign(value=values[name], **keys)
        places = np.full(len(rows), place, dtype=np.int16)
        of_column["column"] = pd.Categorical.from_codes(places, index)
        if sheet.parts:
            of_column = of_column[
                np.repeat([name in part.columns for part in sheet.parts], sizes)
            ]
        frames.append(of_column)
    table: pd.DataFrame = pd.concat(frames, ignore_index=True)
    for key, default in {"author": NAMELESS, **shape.optional}.items():
        if key not in table:
            table[key] = default
    return table


def _add_values(
    table: pd.DataFrame,
    file: InputTable,
    columns: Columns,
    shape: Shape,
    problems: list[str],
) -> InputTable:
    sheet = file.cells
    filled = table[table["value"].notna()].drop(columns="column").reset_index(drop=True)
    names = list(filled[shape.what].unique())
    if not names:
        problems.append(f"{file.name}: holds no value at all; {REMEDY}")
    notes = [*sheet.notes, *_read_as(columns), *_unread(sheet, columns, shape)]
    empty = [name for name in table[shape.what].unique() if name not in set(names)]
    notes += [f"{shape.what} {quoted(name)} has no value: left out" for name in empty]
    if len(filled) < len(table):
        notes.append(_describe_missing(table, columns, shape))
    notes += _named_missing(sheet, columns)
    texts = table[[*TEXT, "row"]].drop_duplicates(ignore_index=True)
    for name in columns.labels:
        texts[name] = to_keys(sheet.frame[name]).str.strip().to_numpy()[texts["row"]]
    notes = [f"{file.name}: {note}" for note in notes]
    raters = "rater" in {*columns.keys, *roles_in(columns.values)}
    if shape is RATINGS_FILE and sheet.parts and not raters:
        notes.append(
            "no column names the rater: each file counts as one rater, named after it"
        )
    verdicts = [
        keys.get(shape.what)
        for column, keys in columns.values.items()
        if sheet.numbers(column).has_verdicts
    ]
    # In a long file a single column has the values of all.
    of_names = names if None in verdicts else filter(None, verdicts)
    return file._replace(
        table=filled,
        names=names,
        notes=notes,
        texts=texts,
        verdicts=frozenset(of_names),
    )


def _describe_missing(table: pd.DataFrame, columns: Columns, shape: Shape) -> str:
    """Count missing values, also by column, or in a long file by criterion or metric."""
    place = "column" if len(columns.values) > 1 else shape.what
    counts = table.loc[table["value"].isna(), place].value_counts(sort=False)
    counts = counts[counts > 0]
    some = ", ".join(f"{n:,} in {quoted(name)}" for name, n in counts[:LISTED].items())
    more = f" and {len(counts) - LISTED:,} more" if len(counts) > LISTED else ""
    missing = f"{counts.sum():,} of {len(table):,} values are missing: left out"
    return f"{missing} ({some}{more})"


def _named_missing(sheet: Sheet, columns: Columns) -> Iterator[str]:
    """Count the cells that the user took for missing, by column and word."""
    if not sheet.missing:
        return
    for column in columns.values:
        counts = sheet.counts(column)
        words = [word for word in counts.index if is_among(word, sheet.missing)]
        if words:
            counted_words = ", ".join(f"{counts[word]:,} {word!r}" for word in words)
            yield f"taken as missing in column {quoted(column)}: {counted_words}"


def _read_as(columns: Columns) -> Iterator[str]:
    """Say what columns were taken for, where their names differ from those of the docs."""
    names = {"author": ("system", "author")}
    guesses = [
        f"{names.get(key, (key,))[0]} = {quoted(column)}"
        for key, column in columns.keys.items()
        if column not in names.get(key, (key,))
    ]
    if columns.pattern:
        guesses.append(f"{len(columns.values)} columns called {columns.pattern}")
    if guesses:
        yield f"read as: {'; '.join(guesses)}"


def _unread(sheet: Sheet, columns: Columns, shape: Shape) -> Iterator[str]:
    """Name the columns that are not read, those of numbers with the option that reads them."""
    numbers = [name for name in columns.unread if sheet.share_of_numbers(name) == 1]
    others = [name for name in columns.unread if name not in numbers]
    if others:
        yield f"columns that are not read: {listed(others, len(others))}"
    if numbers:
        role = f"{shape.kind}.{SPREADS[shape.kind][0]}"
        option = sheet.caller.column(role, "...")
        names = listed(numbers, len(numbers))
        yield f"columns of numbers that are not read: {names} (to read them: {option})"


def _check_keys(
    sheet: Sheet, rows: pd.DataFrame, columns: Columns, faults: Findings
) -> None:
    for key, name in columns.keys.items():
        wrong: dict[str, tuple[str, str]] = {}
        for value in rows[key].unique():
            if not value.strip():
                wrong[value] = ("is empty", "fill it in, or remove the row")
            elif value == EVERYBODY:
                wrong[value] = (
                    f"is {EVERYBODY}, which stands for all of them",
                    "rename it",
                )
            elif value != value.strip() or not value.isprintable():
                wrong[value] = (
                    "has blanks at an end or characters that do not print",
                    "clean it",
                )
            elif len(value) > MOST and name in (SCORES_FILE.what, RATINGS_FILE.what):
                wrong[value] = (
                    f"has {len(value):,} characters",
                    f"shorten it to {MOST}",
                )
        for row in np.flatnonzero(rows[key].isin(list(wrong)).to_numpy()):
            what, fix = wrong[rows[key].iloc[row]]
            faults.add(sheet.at(row), f"{name!r} {what}", fix)
    if UNIT in rows:
        fix = "leave the row out; claims and comparisons need a project: docs/data-files.md"
        for row in np.flatnonzero((rows[UNIT] != "text").to_numpy()):
            faults.add(sheet.at(row), "'unit' is not 'text'", fix)


def _check_duplicates(
    sheet: Sheet, table: pd.DataFrame, columns: Columns, shape: Shape, faults: Findings
) -> None:
    """Check that no value occurs twice, in a file or in two."""
    keys = [*TEXT, *(key for key in shape.optional if key not in TEXT), shape.what]
    twice = table[table.duplicated(keys, keep=False)]
    first = twice.groupby(keys, sort=False)["row"].transform("first")
    again = twice.assign(first=first)[twice.duplicated(keys)].drop_duplicates("row")
    for row in again.to_dict("records"):
        place, earlier = sheet.at(row["row"]), sheet.at(row["first"])
        if place.file == earlier.file:
            what = f"the same {', '.join(columns.keys.values())} a second time"
            fix = "keep one row"
            if "author" not in columns.keys:
                fix += ", or add a column 'system'"
            elif shape is RATINGS_FILE and "rater" not in columns.keys:
                option = sheet.caller.column("rater", "COLUMN")
                fix += f", or name the column that says who rated: {option}"
            where = ", ".join(shown(row[key]) for key in columns.keys)
        else:
            what, fix = (
                f"the same {', '.join(keys)} as in {earlier.file}",
                "keep one of the two",
            )
            ids = ", ".join(shown(row[key]) for key in keys)
            where = f"{earlier.kind} {earlier.row} there: {ids}"
        faults.add(place, what, fix, where)


def _read_by_criterion(
    sheet: Sheet, name: str, rows: pd.DataFrame, faults: Findings
) -> Array:
    """Read the numbers of a column, those of each criterion by its own words if it has some."""
    if not {*sheet.words} & {*rows.get("criterion", ())}:
        return _values(sheet, name, faults)
    values = np.empty(len(rows))
    for criterion, index in rows.groupby("criterion").groups.items():
        frame = sheet.frame.loc[index].reset_index(drop=True)
        lines = np.array([sheet.at(row).row for row in index], dtype=object)
        words = {name: sheet.words.get(str(criterion), ())}
        part = replace(sheet, frame=frame, lines=lines, words=words, parts=())
        values[index] = _values(part, name, faults)
    return values


def _values(sheet: Sheet, name: str, faults: Findings) -> Array:
    read_as = sheet.clear_numbers(name, faults)
    values = (
        np.full(len(sheet.lines), np.nan)
        if read_as.fault
        else sheet.values(name, read_as)
    )
    odd = OddCells(sheet.caller)
    for row in np.flatnonzero(np.isinf(values)):
        odd.keep(name, sheet.cell(row, name), str(sheet.frame[name].iloc[row]))
    odd.report(faults)
    for row in np.flatnonzero(np.isfinite(values) & (np.abs(values) > _LARGEST)):
        what = (
            f"{quoted(name)} is beyond {_LARGEST:g}, too large to be squared and summed"
        )
        faults.add(sheet.at(row), what, "correct it, or leave the cell empty")
    return values


def pool_parts(file: InputTable) -> tuple[InputTable, dict[str, str]]:
    """Make each part of a text, such as a sentence, a text of its own; return its document, too.

    A part takes the place of a document with a text of one system, as statements do.
    """
    tables = []
    documents: dict[str, str] = {}
    for table in (file.table, file.texts):
        names = table["doc_id"] + " " + table["author"] + " " + table["part"]
        documents |= dict(zip(names, table["doc_id"], strict=True))
        tables.append(table.assign(doc_id=names, part=STATEMENT))
    return file._replace(table=tables[0], texts=tables[1]), documents


def rater_means(ratings: pd.DataFrame) -> pd.DataFrame:
    """Return the table `raters`: a row per study, criterion, part, rater and system.

    `(all)` stands for all raters or systems. `ratings`: the table of that name, whole
    texts only. `n` counts ratings. `mean` and `sd` are on the criterion's scale; `sd`
    has the denominator n - 1, missing where n is 1. Missing values and ratings of the
    reference are left out.
    """
    rated = ratings[ratings["value"].notna() & (ratings["author"] != REFERENCE)]
    views = [
        rated.assign(**{name: EVERYBODY for name in over})
        for over in ([], ["author"], ["rater"], ["rater", "author"])
    ]
    keys = ["study", "criterion", "part", "rater", "author"]
    means = (
        pd.concat(views).groupby(keys, sort=True)["value"].agg(["count", "mean", "std"])
    )
    return means.reset_index().set_axis([*keys, "n", "mean", "sd"], axis=1)


def count_overlap(scores: InputTable, ratings: InputTable) -> tuple[int, int, int]:
    """Count texts (document, system, part) with a score and a rating, a score only, a rating only.

    References do not count. Raises BadInput, with ids of each file, if no text is in
    both.
    """
    scored, rated = (
        pd.MultiIndex.from_frame(
            file.table.loc[file.table["author"] != REFERENCE, TEXT]
        ).unique()
        for file in (scores, ratings)
    )
    both = len(scored.intersection(rated))
    if not both:
        ids = f"{scores.name} has {_examples(scored)}; {ratings.name} has {_examples(rated)}"
        what = "nothing to compare: no text (doc_id, system, part) is in both files."
        problem = f"{what} {ids}; write them alike in both"
        raise BadInput([problem, *warn_of_names(scores, ratings)])
    return both, len(scored) - both, len(rated) - both


def warn_of_names(scores: InputTable, ratings: InputTable) -> Iterator[str]:
    """Yield a warning for each system and part that only one file has, and for documents.

    Documents get one only if the other file spells them almost alike: many unrated ones
    are usual.
    """
    for first, second in ((ratings, scores), (scores, ratings)):
        for column, noun in (("author", "system"), ("part", "part")):
            yield from _only_in_first(first, second, column, noun)
    yield from _spelt_alike(ratings, scores)


def _only_in_first(
    first: InputTable, second: InputTable, column: str, noun: str
) -> Iterator[str]:
    rows = first.texts[column][first.texts[column] != REFERENCE].value_counts()
    others = {*second.texts[column].unique()} - {REFERENCE}
    only = sorted(set(rows.index) - others)
    for name in only[:_NAMES]:
        like = hint(name, sorted(others - set(rows.index)))
        named = f"{shown(name)} ({counted(int(rows[name]), 'row')})"
        yield f"{first.name} names {noun} {named} that {second.name} does not have{like}"
    if len(only) > _NAMES:
        rest = counted(len(only) - _NAMES, f"more {noun}")
        yield f"{first.name} names {rest} that {second.name} does not have"


def _spelt_alike(first: InputTable, second: InputTable) -> Iterator[str]:
    ids, others = ({*file.table["doc_id"].unique()} for file in (first, second))
    alike = {fold_key(name): name for name in sorted(others - ids)}
    pairs = [
        (n, alike[fold_key(n)]) for n in sorted(ids - others) if fold_key(n) in alike
    ]
    if pairs:
        many, example = (
            counted(len(pairs), "document"),
            " and ".join(map(shown, pairs[0])),
        )
        what = f"{first.name} and {second.name} spell {many} differently (first: {example})"
        yield f"{what}: not compared; write them alike"


def _examples(texts: pd.MultiIndex) -> str:
    ids = ("/".join(shown(key) for key in text) for text in texts[:3])
    return ", ".join(ids) or "none by a system"

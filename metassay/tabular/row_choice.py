"""Which rows of a table count: by the user's choice, and where that must be asked.

Crowd workers' submissions that were rejected, answers of raters who failed a check of their
attention, and previews of a survey stand in exports beside the others. Whether they count
changes numbers, so it is asked. Ratings of texts that were chosen by scores don't count,
unless the user says so: a correlation over these is not that over all texts.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from metassay.core.errors import quoted
from metassay.format.numbers import counted
from metassay.statistics.exact_sums import Mask
from metassay.tabular.cell_words import DOUBTFUL_STATUS, FAILED_CHECK
from metassay.tabular.column_synonyms import fold_name, is_called
from metassay.tabular.name_patterns import CHECK, ROW_COUNTS, ROW_COUNTS_NOT, ROW_STATUS
from metassay.tabular.numbers import is_blank
from metassay.tabular.rows import Findings, Place
from metassay.tabular.sheet import Sheet, combine_sheets, to_keys

_TRUE = frozenset(("1", "true", "yes", "y", "ja", "wahr", "t"))
# Names of columns, and their cells that leave open whether a row counts.
_SAYS = (
    (ROW_STATUS, DOUBTFUL_STATUS),
    (ROW_COUNTS, FAILED_CHECK),
    (ROW_COUNTS_NOT, _TRUE),
)
# The column of ratings that says by what a text was chosen to be rated; empty where it
# was drawn at random, or all texts are rated. `metassay study import` writes it.
CHOSEN_BY = "chosen_by"
BIASED = "a correlation over chosen texts is not that over all"
_SHOWN = 6  # values of a column in a message
_MOST = 12  # different values of a column that says whether rows count

Rows = Mapping[str, Sequence[str]]  # the values that count, by column


def parse_rows(words: Sequence[str], columns: Collection[str]) -> dict[str, list[str]]:
    """Return the values that count by column, from words such as `Status=APPROVED` and `DONE`.

    A word without a column is a further value of the last one.

    >>> parse_rows(["Status=APPROVED", "AWAITING REVIEW"], ["Status"])
    {'Status': ['APPROVED', 'AWAITING REVIEW']}
    """
    rows: dict[str, list[str]] = {}
    last = ""
    for word in words:
        column, equals, value = word.partition("=")
        if equals and (column in columns or not last):
            last = column
            rows.setdefault(column, []).append(value)
        else:
            rows.setdefault(last, []).append(word)
    return rows


def choose_rows(sheet: Sheet, rows: Rows, problems: Findings) -> Sheet:
    """Return the rows that count; a problem if a value is in no row, or no row is left."""
    for column, values in rows.items():
        if column not in sheet.frame:
            continue
        cells = to_keys(sheet.frame[column])
        for value in values:
            if not cells.eq(value).any():
                option = sheet.caller.option("rows")
                what = f"{option}: column {quoted(column)} has no {quoted(value)}"
                fix = f"write values that it has: {_some(sheet, column)}"
                problems.add(Place(sheet.name), what, fix)
        if not cells.isin(list(values)).any():
            return sheet
    if not sheet.parts:
        return _filter(sheet, rows)
    # A value may be in one file alone: all rows of a rater may be left out.
    return combine_sheets([_filter(part, rows) for part in sheet.parts])


def _filter(sheet: Sheet, rows: Rows) -> Sheet:
    for column, values in rows.items():
        if column not in sheet.frame:
            continue
        chosen = to_keys(sheet.frame[column]).isin(list(values)).to_numpy()
        left_out = counted(int((~chosen).sum()), "row")
        listed_values = ", ".join(map(quoted, values))
        note = (
            f"rows with {quoted(column)} = {listed_values} count; {left_out} left out"
        )
        sheet = replace(
            _select(sheet, chosen),
            chosen=(*sheet.chosen, column),
            notes=[*sheet.notes, note],
        )
    return sheet


def _select(sheet: Sheet, rows: Mask) -> Sheet:
    """Return these rows."""
    return replace(
        sheet,
        frame=sheet.frame[rows].reset_index(drop=True),
        lines=np.asarray(sheet.lines)[rows],
    )


def leave_out_chosen(
    sheet: Sheet, rows: Rows, problems: Findings
) -> tuple[Sheet, str, str]:
    """Return ratings without those of chosen texts; what to say of these, and the remedy.

    Both are empty if there are none, or if `rows`, the user's choice, names the column.
    Problem: no other row is left.
    """
    if CHOSEN_BY not in sheet.frame or CHOSEN_BY in rows:
        return sheet, "", ""
    parts = [_drop_chosen(part) for part in sheet.parts or (sheet,)]
    left = combine_sheets(parts)
    # What the user said of all files is not said of each.
    left = replace(left, words=sheet.words, missing=sheet.missing, notes=sheet.notes)
    n_chosen = len(sheet.lines) - len(left.lines)
    if not n_chosen:
        return left, "", ""
    n_rows = len(sheet.lines)
    blank, by, every = _name_chosen(sheet)
    if not blank:
        what = f"all {counted(n_rows, 'row')} rate texts that were chosen by {by}; {BIASED}"
        fix = f"rate a random sample of texts, too, or say that these count: {every}"
        problems.add(Place(sheet.name), what, fix)
        return sheet, "", ""
    finding = (
        f"{counted(n_chosen, 'row')} of {n_rows:,} in {sheet.name} rate texts that were"
        f" chosen by {by}. They are left out: {BIASED}."
    )
    return left, finding, f"To count them all the same: {every}"


def ask_chosen(sheet: Sheet, chosen: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield a problem and its remedy if some labels are of chosen texts.

    A table of labels has verdicts on other texts, too, for which labels stand, so that
    nothing is left out unless the user says so. `chosen`: columns about which the user
    has decided.
    """
    if CHOSEN_BY not in sheet.frame or CHOSEN_BY in chosen:
        return
    n_rows = len(sheet.lines)
    n_chosen = sum(not is_blank(cell) for cell in to_keys(sheet.frame[CHOSEN_BY]))
    if not n_chosen:
        return
    blank, by, every = _name_chosen(sheet)
    what = (
        f"{n_chosen:,} of {counted(n_rows, 'row')} are of texts that were chosen by {by};"
        " agreement on chosen texts is not that on all"
    )
    if blank:
        others = sheet.caller.option("rows", *blank, key=CHOSEN_BY)
        yield what, f"say that only the others count: {others}, or all: {every}"
    else:
        yield (
            what,
            f"label a random sample of texts, too, or say that these count: {every}",
        )


def _name_chosen(sheet: Sheet) -> tuple[list[str], str, str]:
    """Return the empty cells of the column; by what texts were chosen; the option for all."""
    cells = _different(sheet, CHOSEN_BY)
    blank = [cell for cell in cells if is_blank(cell)]
    values = [cell for cell in cells if not is_blank(cell)]
    by = ", ".join(map(quoted, values[:_SHOWN]))
    if len(values) > _SHOWN:
        by += f" and {len(values) - _SHOWN} more"
    return blank, by, sheet.caller.option("rows", *blank, *values, key=CHOSEN_BY)


def _drop_chosen(sheet: Sheet) -> Sheet:
    """Return the rows of texts that were not chosen, without the column, which is then empty."""
    if CHOSEN_BY not in sheet.frame:
        return sheet
    blank = [is_blank(cell) for cell in to_keys(sheet.frame[CHOSEN_BY])]
    others = _select(sheet, np.array(blank, dtype=np.bool_))
    return replace(others, frame=others.frame.drop(columns=CHOSEN_BY))


def ask_rows(sheet: Sheet, chosen: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield a problem and its remedy for each column by which some rows may not count.

    `chosen`: columns about which the user has decided.
    """
    for column in sheet.columns:
        if column in chosen:
            continue
        doubtful = _doubtful(sheet, column)
        if not doubtful:
            continue
        cells = sheet.cells(column)
        counts = sheet.counts(column)
        rows = counted(sum(int(counts[cell]) for cell in doubtful), "row")
        values = ", ".join(map(quoted, doubtful[:_SHOWN]))
        good = [cell for cell in cells if cell not in doubtful]
        blank = [cell for cell in _different(sheet, column) if is_blank(cell)]
        every = sheet.caller.option("rows", *cells, *blank, key=column)
        what = f"column {quoted(column)} has {values} in {rows}, which may not count"
        if good:
            those = sheet.caller.option("rows", *good, key=column)
            yield what, f"say which rows count: {those}, or all: {every}"
        else:
            yield what, f"remove these rows, or say that they count: {every}"


def is_check(column: str) -> bool:
    """Whether a column checks raters, as an attention check does, and is no criterion."""
    return is_called(column, CHECK)


def _doubtful(sheet: Sheet, column: str) -> list[str]:
    """Return the cells of a column that say of a row that it may not count."""
    cells = sheet.cells(column)
    for names, words in _SAYS:
        if is_called(column, names):
            return [cell for cell in cells if fold_name(cell) in words]
    if not is_check(column):
        return []
    failed = [cell for cell in cells if fold_name(cell) in FAILED_CHECK]
    # Which of several answers is right, nothing tells; most raters give it.
    counts = sheet.counts(column)
    rare = [cell for cell in cells if counts[cell] < counts.max()]
    return failed or (rare if len(cells) <= _MOST else [])


def _different(sheet: Sheet, column: str) -> list[str]:
    return list(dict.fromkeys(to_keys(sheet.frame[column])))


def _some(sheet: Sheet, column: str) -> str:
    cells = [cell for cell in sheet.cells(column) if not is_blank(cell)]
    more = f" and {len(cells) - _SHOWN} more" if len(cells) > _SHOWN else ""
    return ", ".join(map(quoted, cells[:_SHOWN])) + more

"""Read passes and fails of a table of judges' verdicts and people's labels."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from metassay.api.label_columns import (
    LABELS,
    MOST,
    ColumnRoles,
    blank_words,
    collect_items,
    note_columns,
)
from metassay.api.labels import PASS_FAIL, PASSES, Choices, Labels
from metassay.core.errors import quoted, raise_problems, shown
from metassay.format.numbers import counted
from metassay.statistics.exact_sums import Array
from metassay.tabular.column_synonyms import names_quality
from metassay.tabular.guess import listed
from metassay.tabular.numbers import NumberFormat
from metassay.tabular.rows import Findings
from metassay.tabular.scales import guess_direction
from metassay.tabular.sheet import Sheet, to_keys


def read_verdicts(roles: ColumnRoles) -> Labels:
    """Read passes and fails; raises BadInput with every column that cannot be read."""
    faults = Findings()
    answers, choices = roles.answers, roles.choices
    columns = roles.labels
    read = {
        c: _values(answers, c, choices, faults, human=c in choices.human)
        for c in columns
    }
    _check_words(answers, columns, choices, faults)
    _check_ends(answers, columns, choices, faults)
    raise_problems(faults.lines())
    by_rule = {
        rule: [c for c in read if read[c][1] == rule] for _, rule in read.values()
    }
    rules = (
        f"{r} ({counted(len(c), 'column')}: {listed(c, 4)})" for r, c in by_rule.items()
    )
    labelled = collect_items(
        roles, {name: values for name, (values, _) in read.items()}
    )
    return Labels(
        name=roles.sheet.name,
        kind=PASS_FAIL,
        names=PASSES,
        levels=np.array([0.0, 1.0]),
        items=labelled.items,
        judges=labelled.judges,
        raters=labelled.raters,
        table=labelled.table,
        n=np.isfinite(labelled.table).sum(axis=0).astype(np.float64),
        cluster=labelled.cluster,
        choices=choices,
        notes=note_columns(roles, rules),
    )


def read_passes(
    sheet: Sheet, column: str, choices: Choices, faults: Findings
) -> tuple[Array, str]:
    """Return people's labels of one column as 1 and 0, NaN for none; and the rule for a pass.

    Adds a problem for words that are neither, which only `passes` and `missing` explain.
    """
    answers = blank_words(sheet, choices.missing)
    values, rule = _values(answers, column, choices, faults, human=True)
    odd = _odd_cells(answers, column, choices)
    if not odd.empty:
        what = (
            f"column {quoted(column)} has {counted(len(odd), 'cell')} that no rule makes a"
            f" pass or a fail: {_some([*odd.unique()], LABELS)}"
        )
        passes = choices.caller.option("pass", blank="WORD")
        missing = choices.caller.option("missing", *odd.unique())
        fix = (
            f"name the words that are a pass: {passes}; every other word is then a fail;"
            f" or say that nobody answered there: {missing}"
        )
        faults.add(sheet.cell(int(odd.index[0]), column), what, fix)
    return values, rule


def _values(
    sheet: Sheet, name: str, choices: Choices, faults: Findings, *, human: bool = False
) -> tuple[Array, str]:
    """Return 1 and 0 (for a judge also numbers between), NaN for none; and the rule for a pass."""
    cells, none = sheet.cells(name), NumberFormat().is_missing
    folded = {word.casefold() for word in choices.passes}
    words = [cell for cell in cells if cell.casefold() in folded]
    if words:
        column = to_keys(sheet.frame[name])
        passed = column.isin(words).to_numpy(dtype=np.float64)
        # "none" is no answer, unless the user says that it is a pass.
        empty = column.map(none) & ~column.isin(words)
        return np.where(empty, np.nan, passed), _rule(sheet, name, words)
    read_as = sheet.clear_numbers(name, faults)
    if read_as.fault:
        return np.full(len(sheet.lines), np.nan), ""
    values = sheet.values(name, read_as)
    numbers = values[np.isfinite(values)]
    if np.isinf(values).any():  # words that are asked about
        return values, ""
    binary = bool(np.isin(numbers, (0.0, 1.0)).all())
    if not binary and choices.pass_from is not None:
        rule = f"{choices.pass_from:g} and more is a pass"
        return np.where(np.isnan(values), np.nan, values >= choices.pass_from), rule
    lower = _is_lower(sheet, name, choices, faults)
    if not binary and (human or numbers.min() < 0 or numbers.max() > 1):
        faults.add(sheet.head, *_ask_grades(name, numbers, choices, lower=lower))
    if lower:
        values = 1 - values
    if not binary:
        side = "fail" if lower else "pass"
        return values, f"a probability of .5 and more is a {side}"
    better = 0.0 if lower else 1.0
    if read_as.words:
        words = [cell for cell in cells if read_as.number(cell) == better]
        rule = _rule(sheet, name, words)
    else:
        rule = "0 is a pass, 1 a fail" if lower else "1 is a pass, 0 a fail"
    return values, f"{rule}, as less of it is better" if lower else rule


def _rule(sheet: Sheet, name: str, passes: Sequence[str]) -> str:
    """Say which words are a pass, and which a fail."""
    none = NumberFormat().is_missing
    fails = [c for c in sheet.cells(name) if c not in passes and not none(c)]
    words = _some(sorted(passes), 3) or "nothing"
    return f"{words} is a pass, {_some(fails, 3) or 'nothing'} a fail"


def _some(cells: Sequence[str], most: int) -> str:
    """List the first cells; one that can be a text is shown by its length alone."""
    more = f" and {len(cells) - most} more" if len(cells) > most else ""
    return ", ".join(map(shown, cells[:most])) + more


def _is_lower(sheet: Sheet, name: str, choices: Choices, faults: Findings) -> bool:
    """Whether less is better, so that yes is a fail: of errors, of toxicity; a problem if unclear.

    The rule of all commands: words such as pass and fail say it, else the column's name.
    """
    if sheet.numbers(name).has_verdicts:
        return False
    better = guess_direction(name)
    if better in ("", "neither"):
        words = sheet.cells(name)
        which = " or ".join(choices.caller.option("pass", word) for word in words[:2])
        what = f"the name {quoted(name)} does not tell which of {_some(words, 2)} is a pass"
        faults.add(sheet.head, what, f"say it: {which}")
    return better == "lower"


def _check_words(
    sheet: Sheet, columns: Sequence[str], choices: Choices, faults: Findings
) -> None:
    """Add a problem for each column with words that are neither a pass nor a fail."""
    odd = {name: _odd_cells(sheet, name, choices) for name in columns}
    labelled = [name for name in columns if sheet.share_of_numbers(name) >= MOST]
    words = dict.fromkeys(word for name in labelled for word in odd[name].unique())
    passes = choices.caller.option("pass", blank="WORD")
    missing = choices.caller.option("missing", blank="WORD")
    for name, cells in odd.items():
        if cells.empty:
            continue
        if name in labelled:
            counts = cells.value_counts(sort=False)
            some = [f"{n:,} {shown(word)}" for word, n in counts.items()][:LABELS]
            verb = "is" if len(cells) == 1 else "are"
            what = (
                f"column {quoted(name)} has {counted(len(cells), 'cell')} that {verb}"
                f" neither a pass nor a fail: {', '.join(some)}"
            )
            all_words = choices.caller.option("missing", *words)
            as_classes = choices.caller.option("class", *words)
            fix = (
                f"if nobody answered there, say {all_words}; or name the words that are a"
                f" pass: {passes}; every other word is then a fail; or count them as"
                f" labels of their own: {as_classes}"
            )
            at = sheet.cell(int(cells.index[0]), name)
        else:
            what = f"column {quoted(name)} holds {_some(sorted(sheet.cells(name)), LABELS)}"
            fix = (
                f"name those that are a pass: {passes}; those that are neither pass nor"
                f" fail: {missing}; every other word is then a fail; or name another column"
            )
            at = sheet.head
        faults.add(at, what, fix)


def _odd_cells(sheet: Sheet, name: str, choices: Choices) -> "pd.Series[str]":
    """Return the cells of a column that are no verdict, by row."""
    cells = to_keys(sheet.frame[name]).reset_index(drop=True)
    passes = {word.casefold() for word in choices.passes}
    read_as = sheet.numbers(name)
    if read_as.fault or passes & {cell.casefold() for cell in sheet.cells(name)}:
        return cells.iloc[:0]
    return cells[np.isinf(sheet.values(name, read_as))]


def _check_ends(
    sheet: Sheet, columns: Sequence[str], choices: Choices, faults: Findings
) -> None:
    """Ask where one column's name says that less is better, and another's says nothing."""
    if choices.passes:
        return
    silent = [name for name in columns if not sheet.numbers(name).has_verdicts]
    lower = [name for name in silent if guess_direction(name) == "lower"]
    unclear = [
        name
        for name in silent
        if guess_direction(name) == "higher" and not names_quality(name)
    ]
    if lower and unclear:
        cells = _some(sheet.cells(lower[0]), 2)
        what = (
            f"by its name, less of {quoted(lower[0])} is better, and the name"
            f" {quoted(unclear[0])} does not tell which of {cells} is a pass"
        )
        which = [
            choices.caller.option("pass", cell) for cell in sheet.cells(lower[0])[:2]
        ]
        faults.add(sheet.head, what, f"say it for all columns: {' or '.join(which)}")


def _ask_grades(
    name: str, numbers: Array, choices: Choices, *, lower: bool
) -> tuple[str, str]:
    """Return the problem of a column with grades, and no word of which are a pass."""
    what = (
        f"column {quoted(name)} has numbers from {numbers.min():g} to {numbers.max():g}"
    )
    missing = choices.caller.option("missing", blank="NUMBER")
    if lower:
        best = choices.caller.option("pass", f"{numbers.min():g}")
        return f"{what}, and less of it is better", (
            f"name the numbers that are a pass, such as {best}; or those that are neither"
            f" pass nor fail: {missing}"
        )
    least = choices.caller.option("pass-from", blank="NUMBER")
    return what, (
        f"give the lowest number that is a pass: {least}; or the numbers that are neither"
        f" pass nor fail: {missing}"
    )

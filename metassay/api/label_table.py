"""Read labels of more than two values: classes without order, grades, and other numbers.

`find_kind` decides by the cells of the columns what kind of labels a table has, and so
which statistics fit them. Passes and fails are read by `verdict_table`.
"""

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from metassay.api.label_columns import ColumnRoles, collect_items, note_columns
from metassay.api.labels import NOMINAL, NUMBERS, ORDINAL, PASS_FAIL, Labels
from metassay.core.errors import quoted, raise_problems, shown
from metassay.format.numbers import counted
from metassay.statistics.exact_sums import Array
from metassay.tabular.cell_words import NO_ANSWER
from metassay.tabular.guess import listed
from metassay.tabular.numbers import is_among, order_grades
from metassay.tabular.rows import Findings
from metassay.tabular.sheet import Sheet, to_keys

MOST_LEVELS = 11  # different grades; more are numbers
MOST_CLASSES = 25
_NUMERIC = 0.5  # the smallest share of numbers in a column of numbers
_SHOWN = 12
# Numbers that programs write where there is none.
_CODES = (-1.0, -9.0, -99.0, -999.0, 9.0, 88.0, 99.0, 999.0)


def find_kind(roles: ColumnRoles) -> str:
    """Return the kind of labels that the columns hold; PASS_FAIL where that is to be asked."""
    choices, sheet = roles.choices, roles.answers
    if choices.passes or choices.pass_from is not None:
        return PASS_FAIL
    if choices.classes:
        return NOMINAL
    names = [name for name in roles.labels if sheet.cells(name)]
    numeric = [holds_numbers(sheet, name) for name in names]
    if all(numeric):
        return _kind_of_numbers(roles, names)
    return PASS_FAIL if any(numeric) else _kind_of_words(sheet, names)


def holds_numbers(sheet: Sheet, name: str) -> bool:
    """Whether a column holds numbers, and not words that mean some."""
    return sheet.share_of_numbers(name) >= _NUMERIC and not sheet.numbers(name).words


def _kind_of_words(sheet: Sheet, names: list[str]) -> str:
    words = {cell.strip().casefold() for name in names for cell in sheet.cells(name)}
    words -= NO_ANSWER
    if len(words) > 2 and order_grades(words):
        return ORDINAL
    # A few odd words among passes and fails are asked about.
    has_passes = any(sheet.numbers(name).words for name in names)
    return PASS_FAIL if has_passes or len(words) <= 2 else NOMINAL


def _kind_of_numbers(roles: ColumnRoles, names: list[str]) -> str:
    values = {name: _finite(roles.answers, name) for name in names}
    sides = []
    for columns in (roles.choices.judge, roles.choices.human):
        of_side = [values[name] for name in columns if name in values]
        sides.append(np.unique(np.concatenate([*of_side, np.empty(0)])))
    judge, people = sides
    if not people.size or not judge.size:
        return PASS_FAIL
    # Passes of people beside other numbers of theirs, or of the judge's, are asked for.
    is_binary = [bool(np.isin(side, (0.0, 1.0)).all()) for side in sides]
    levels = np.union1d(judge, people)
    if any(is_binary) or levels.size <= 2:
        return PASS_FAIL
    return ORDINAL if levels.size <= MOST_LEVELS else NUMBERS


def _finite(sheet: Sheet, name: str) -> Array:
    read_as = sheet.numbers(name)
    if read_as.fault:
        return np.empty(0)
    values = sheet.values(name, read_as)
    return np.asarray(values[np.isfinite(values)])


def read_labels(roles: ColumnRoles, kind: str) -> Labels:
    """Read labels of a kind; raises BadInput with every column that cannot be read."""
    faults = Findings()
    levels: Array
    if kind == NOMINAL:
        names, values = _read_classes(roles, faults)
        levels = np.arange(len(names), dtype=np.float64)
    elif _are_words(roles):
        names, values = _read_grades(roles, faults)
        levels = np.arange(1, len(names) + 1).astype(np.float64)
    else:
        values = read_numbers(roles, faults)
        levels = _levels(values) if kind == ORDINAL else np.empty(0)
        names = [f"{level:g}" for level in levels]
    raise_problems(faults.lines())
    labelled = collect_items(roles, values)
    return Labels(
        name=roles.sheet.name,
        kind=kind,
        names=tuple(names),
        levels=levels,
        items=labelled.items,
        judges=labelled.judges,
        raters=labelled.raters,
        table=labelled.table,
        n=np.isfinite(labelled.table).sum(axis=0).astype(np.float64),
        cluster=labelled.cluster,
        choices=roles.choices,
        notes=note_columns(roles, _rules(roles, kind, names, values)),
    )


def _are_words(roles: ColumnRoles) -> bool:
    names = [name for name in roles.labels if roles.answers.cells(name)]
    return not all(holds_numbers(roles.answers, name) for name in names)


# ---- words


def _read_classes(
    roles: ColumnRoles, faults: Findings
) -> tuple[list[str], dict[str, Array]]:
    """Return the names of classes, commonest first, and the codes of labels by column."""
    folded = {name: _folded(roles, name) for name in roles.labels}
    counts = pd.concat(folded.values()).value_counts()
    counts = counts[counts.index != ""]
    words = sorted(counts.index, key=lambda word: (-counts[word], word))
    spelling = _spelling(roles)
    if len(words) > MOST_CLASSES:
        fix = "name columns with labels"
        what = f"there are {len(words)} different labels in {listed(roles.labels)}"
        faults.add(roles.sheet.head, f"{what}, more than {MOST_CLASSES}", fix)
        return [], {}
    _ask_no_answer(roles, words, spelling, faults)
    _ask_other_words(roles, folded, spelling, faults)
    places = {word: float(code) for code, word in enumerate(words)}
    values: dict[str, Array] = {
        name: column.map(places).to_numpy(dtype=np.float64)
        for name, column in folded.items()
    }
    return [spelling[word] for word in words], values


def _read_grades(
    roles: ColumnRoles, faults: Findings
) -> tuple[list[str], dict[str, Array]]:
    """Return grades in words, the lowest first, and their places from 1 by column."""
    folded = {name: _folded(roles, name) for name in roles.labels}
    every = {word for column in folded.values() for word in column} - {""}
    grades = order_grades(every - NO_ANSWER)
    spelling = _spelling(roles)
    _ask_no_answer(roles, sorted(every), spelling, faults)
    places = {word: float(place) for place, word in enumerate(grades, start=1)}
    values: dict[str, Array] = {
        name: np.asarray(column.map(places), dtype=np.float64)
        for name, column in folded.items()
    }
    return [spelling[word] for word in grades], values


def _folded(roles: ColumnRoles, name: str) -> "pd.Series[str]":
    """Return the labels of a column in small letters; "" where there is none.

    A word that the user calls a class is one, whatever it usually means.
    """
    sheet = roles.answers
    classes = {word.casefold() for word in roles.choices.classes}
    column = to_keys(sheet.frame[name]).reset_index(drop=True)
    column = column.str.strip().str.casefold()
    missing = {word.casefold() for word in roles.choices.missing}
    is_class = column.map(lambda word: is_among(word, classes))
    # Whether "n/a" is a label is asked; "nan" is what programs write.
    is_missing = column.isin({"", "nan"} | missing)
    return column.where(is_class | ~is_missing, "")


def _spelling(roles: ColumnRoles) -> dict[str, str]:
    """Return how each label, in small letters, is first written."""
    spelling: dict[str, str] = {}
    for name in roles.labels:
        for cell in to_keys(roles.answers.frame[name]).unique():
            spelling.setdefault(cell.strip().casefold(), cell.strip())
    return spelling


def _ask_no_answer(
    roles: ColumnRoles,
    words: list[str],
    spelling: Mapping[str, str],
    faults: Findings,
) -> None:
    """Ask what labels mean that may say that nobody answered."""
    classes = {word.casefold() for word in roles.choices.classes}
    unclear = [word for word in words if word in NO_ANSWER and word not in classes]
    if not unclear:
        return
    counts = {word: 0 for word in unclear}
    for name in roles.labels:
        for word, n in _folded(roles, name).value_counts().items():
            if word in counts:
                counts[str(word)] += int(n)
    some = ", ".join(f"{n:,} {shown(spelling[word])}" for word, n in counts.items())
    written = [spelling[word] for word in unclear]
    missing = roles.choices.caller.option("missing", *written)
    as_classes = roles.choices.caller.option("class", *written)
    verb = "is" if sum(counts.values()) == 1 else "are"
    what = (
        f"{counted(sum(counts.values()), 'cell')} of {listed(roles.labels, 4)} {verb}"
        f" {some}: a label, or no answer?"
    )
    fix = (
        f"if nobody answered there, say {missing}; if it is a label of its own,"
        f" {as_classes}"
    )
    faults.add(roles.sheet.head, what, fix)


def _ask_other_words(
    roles: ColumnRoles,
    folded: Mapping[str, "pd.Series[str]"],
    spelling: Mapping[str, str],
    faults: Findings,
) -> None:
    """Ask whether words that only judges use, and words that only people use, are the same."""
    choices = roles.choices
    sides = []
    for columns in (choices.judge, choices.human):
        words = {word for name in columns for word in folded[name]} - {""}
        sides.append(words)
    judge, people = sides
    known = {word.casefold() for word in choices.classes}
    only_judge, only_people = judge - people - known, people - judge - known
    if not (only_judge and only_people):
        return
    of_judge, of_people = (
        ", ".join(shown(spelling[word]) for word in sorted(words)[:_SHOWN])
        for words in (only_judge, only_people)
    )
    every = [spelling[word] for word in sorted(only_judge | only_people)]
    fix = (
        "write a label alike in all columns; or, if these are different labels, say"
        f" {choices.caller.option('class', *every)}"
    )
    what = f"only the judge says {of_judge}, and only people say {of_people}"
    faults.add(roles.sheet.head, what, fix)


# ---- numbers


def read_numbers(roles: ColumnRoles, faults: Findings) -> dict[str, Array]:
    """Return the numbers of each column; words among them are asked about."""
    sheet, choices = roles.answers, roles.choices
    values: dict[str, Array] = {}
    for name in roles.labels:
        read_as = sheet.clear_numbers(name, faults)
        if read_as.fault:
            values[name] = np.full(len(sheet.lines), np.nan)
            continue
        numbers = sheet.values(name, read_as)
        odd = np.flatnonzero(np.isinf(numbers))
        if odd.size:
            cells = to_keys(sheet.frame[name]).reset_index(drop=True)[odd]
            counts = cells.value_counts(sort=False)
            some = [f"{n:,} {shown(word)}" for word, n in counts.items()][:_SHOWN]
            verb = "is not a number" if odd.size == 1 else "are not numbers"
            what = (
                f"column {quoted(name)} has {counted(odd.size, 'cell')} that {verb}:"
                f" {', '.join(some)}"
            )
            missing = choices.caller.option("missing", *map(str, counts.index))
            fix = f"if nobody answered there, say {missing}"
            faults.add(sheet.cell(int(odd[0]), name), what, fix)
        values[name] = np.where(np.isinf(numbers), np.nan, numbers)
    _ask_codes(roles, values, faults)
    return values


def _ask_codes(
    roles: ColumnRoles, values: Mapping[str, Array], faults: Findings
) -> None:
    """Ask about numbers such as -1 and 99 that one side alone has, far from all others."""
    choices = roles.choices
    sides = []
    for columns in (choices.judge, choices.human):
        of_side = np.concatenate([values[name] for name in columns])
        sides.append(np.unique(of_side[np.isfinite(of_side)]))
    for columns, numbers, other in (
        (choices.judge, *sides),
        (choices.human, *sides[::-1]),
    ):
        for code in _CODES:
            usual = numbers[~np.isin(numbers, _CODES)]
            if code not in numbers or code in other or not usual.size:
                continue
            far = code < usual.min() if code < 0 else code > usual.max() + 3
            if not far or (code < 0 and usual.min() < 0):
                continue
            written = f"{code:g}"
            what = f"{listed(columns, 4)} has {written}: a value, or no answer?"
            fix = (
                "if nobody answered there, say"
                f" {choices.caller.option('missing', written)}; if it is a value, the other"
                " side never gives it: check the scale"
            )
            faults.add(roles.sheet.head, what, fix)


def _levels(values: Mapping[str, Array]) -> Array:
    """Return the grades, ascending: all between the lowest and highest if they are whole."""
    every = np.unique(np.concatenate([v[np.isfinite(v)] for v in values.values()]))
    whole = bool(np.all(every == np.round(every)))
    if whole and every[-1] - every[0] < MOST_LEVELS:
        return np.arange(every[0], every[-1] + 1)
    return np.asarray(every)


# ---- what is said of how labels were read


def _rules(
    roles: ColumnRoles, kind: str, names: list[str], values: Mapping[str, Array]
) -> Iterator[str]:
    choices = roles.choices
    passes = choices.caller.option("pass", blank="WORD")
    if kind == NOMINAL:
        some = ", ".join(map(shown, names[:_SHOWN]))
        yield f"{len(names)} classes without order: {some} ({passes} makes pass and fail)"
        return
    if _are_words(roles):
        order = " < ".join(map(shown, names))
        yield f"grades in order: {order}, counted from 1 ({passes} makes pass and fail)"
        return
    spans = []
    for who, columns in (("judge", choices.judge), ("people", choices.human)):
        numbers = np.concatenate([values[name] for name in columns])
        if np.isfinite(numbers).any():
            spans.append(f"{who} {np.nanmin(numbers):g} to {np.nanmax(numbers):g}")
    what = "grades" if kind == ORDINAL else "numbers"
    least = choices.caller.option("pass-from", blank="NUMBER")
    classes = ""
    if kind == ORDINAL:
        words = choices.caller.option("class", *names)
        classes = f"; {words} if they are names of classes"
    yield f"{what}: {', '.join(spans)} ({least} makes pass and fail{classes})"

"""Read a table of judges' verdicts and people's labels: what columns hold, and what is a pass."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from metassay.core.errors import raise_problems, shown
from metassay.format.numbers import counted
from metassay.statistics.exact_sums import Array, quotient
from metassay.statistics.raters import EPSILON
from metassay.statistics.shares import WIDTH, Clusters, cluster_codes
from metassay.tabular.column_synonyms import (
    RATERS,
    USUAL,
    Role,
    fold_name,
    is_called,
    scorer_of,
)
from metassay.tabular.infer_columns import listed
from metassay.tabular.numbers import NumberFormat, is_blank
from metassay.tabular.rows import Findings
from metassay.tabular.sheet import Sheet, to_keys

_OF_SCORER = re.compile(
    r"(?<=.)_(?:human|judge)(?:_.*)?"
)  # columns that `metassay import` writes
_AN_ID = re.compile(r"(?:.*_)?(?:id|uuid|key|nr|no|name)")
BY = "by "  # prefix of a slice's column: its name may be that of another column
LARGEST_SLICES = 20  # values of a column that rows are sliced by


class Choices(NamedTuple):
    """The caller's choices; empty columns are guessed. `mark` stands before names of options."""

    judge: tuple[str, ...] = ()
    human: tuple[str, ...] = ()
    doc: str = ""
    system: str = ""
    rater: str = ""
    by: tuple[str, ...] = ()
    # words that are a pass; every other one is then a fail
    passes: tuple[str, ...] = ()
    pass_from: float | None = None  # the number from which on grades are a pass
    # words that are no verdict and no label, such as "unsure"
    missing: tuple[str, ...] = ()
    mark: str = ""
    require: Mapping[str, float] = {}  # the least lower end of numbers of the card
    epsilon: float = EPSILON
    confidence: float = 0.95
    width: float = WIDTH
    seed: int = 0

    def option(self, name: str, what: str = "COLUMN") -> str:
        """Return how the caller writes an option: `--pass-from NUMBER` or `pass_from=NUMBER`."""
        if self.mark and name in ("doc", "system", "rater"):
            return f"--columns {name}={what}"
        argument = {"pass": "passes"}.get(name, name.replace("-", "_"))
        return f"{self.mark}{name} {what}" if self.mark else f"{argument}={what}"


class Verdicts(NamedTuple):
    """Items with verdicts of 1 and 0 (a judge's may be probabilities); NaN where there is none."""

    name: str
    items: pd.DataFrame  # id; doc and system, if there are; BY and each column of `by`
    judges: Mapping[str, Array]  # (items,) each
    raters: Mapping[str, Array]
    table: Array  # (raters, items): the raters' labels
    n: Array  # (items,) number of raters
    share: Array  # (items,) of raters who pass the item
    # (items,) 1 or 0 by the majority; NaN where raters are split, or there are none
    passed: Array
    cluster: Clusters  # items with equal numbers are alike
    choices: Choices
    notes: tuple[str, ...]


def read_verdicts(sheet: Sheet, options: Choices) -> Verdicts:
    """Read a sheet; raises BadInput with every column that is unclear or cannot be read."""
    faults = Findings()
    named = [*options.judge, *options.human, *options[2:5], *options.by]
    for name in dict.fromkeys(filter(None, named)):
        if name not in sheet.frame:
            fix = f"name one of these: {listed(sheet.columns)}"
            faults.add(sheet.head, f"there is no column {shown(name)}", fix)
    for name in {*options.judge} & {*options.human}:
        faults.add(
            sheet.head,
            f"column {shown(name)} is named as judge and as human",
            "name one",
        )
    raise_problems(faults.lines())
    answers = _blank_words(sheet, options.missing)
    choices, ids, guesses = _guess_columns(sheet, answers, options, faults)
    raise_problems(faults.lines())
    columns = (*choices.judge, *choices.human)
    read = {
        c: _values(answers, c, choices, faults, human=c in choices.human)
        for c in columns
    }
    raise_problems(faults.lines())
    by_rule = {
        rule: [c for c in read if read[c][1] == rule] for _, rule in read.values()
    }
    rules = (
        f"{r} ({counted(len(c), 'column')}: {listed(c, 4)})" for r, c in by_rule.items()
    )
    first = np.arange(len(sheet.lines))
    judges, raters = ({name: read[name][0] for name in names} for names in choices[:2])
    if choices.rater:
        keys = [*ids, *filter(None, [choices.system])]
        (labels,) = raters.values()
        first, judges, raters = _by_item(sheet, keys, choices, judges, labels, faults)
    items = _items(sheet, first, ids, choices, faults)
    raise_problems(faults.lines())
    table = np.array([*raters.values()], dtype=np.float64).reshape(
        len(raters), len(items)
    )
    n = np.isfinite(table).sum(axis=0).astype(np.float64)
    share = quotient(np.nansum(table, axis=0), n)
    passed = np.where(np.isnan(share) | (share == 0.5), np.nan, share > 0.5)
    people = table, n, share, passed, cluster_codes(items.get("doc"), len(items))
    notes = (*guesses, *rules, *_left_out(sheet, choices), *sheet.notes)
    return Verdicts(sheet.name, items, judges, raters, *people, choices, notes)


def _blank_words(sheet: Sheet, words: Collection[str]) -> Sheet:
    """Return the sheet with the cells that are one of `words`, in any case, emptied.

    Only verdicts and labels are read from it: an id may well be such a word.
    """
    if not words:
        return sheet
    folded = {word.casefold() for word in words}
    emptied = sheet.frame.copy()
    for name in sheet.columns:
        is_word = to_keys(sheet.frame[name]).str.casefold().isin(folded)
        is_float = pd.api.types.is_float_dtype(sheet.frame[name].dtype)
        emptied[name] = sheet.frame[name].mask(is_word, np.nan if is_float else "")
    return replace(sheet, frame=emptied)


def _left_out(sheet: Sheet, choices: Choices) -> list[str]:
    """Count the cells that the caller took for missing, by column and word."""
    folded = {word.casefold() for word in choices.missing}
    lines = []
    for name in (*choices.judge, *choices.human):
        counts = sheet.counts(name)
        words = [
            f"{counts[word]:,} {shown(word)}"
            for word in counts.index
            if word.casefold() in folded
        ]
        if words:
            lines.append(
                f"taken as missing in column {shown(name)}: {', '.join(words)}"
            )
    return lines


def _guess_columns(
    sheet: Sheet, answers: Sheet, options: Choices, faults: Findings
) -> tuple[Choices, list[str], list[str]]:
    """Return all columns, those that identify items, and a line on what was guessed."""
    named = {*options.judge, *options.human, *options[2:5], *options.by}
    unassigned = [name for name in sheet.columns if name not in named]
    verdictlike = [name for name in unassigned if _is_verdict(answers, name, options)]
    others = [name for name in unassigned if name not in verdictlike]
    repeats = {
        c: bool(to_keys(sheet.frame[c]).duplicated().any()) for c in sheet.columns
    }

    def only(names: Collection[str], more_than: int) -> str:
        columns = [c for c in others if fold_name(c) in names and repeats[c]]
        columns = [c for c in columns if len(sheet.cells(c)) > more_than]
        return columns[0] if len(columns) == 1 else ""

    rater = options.rater or ("" if len(options.human) > 1 else only(RATERS, 0))
    others = [name for name in others if name != rater]
    system = options.system or only(USUAL[Role.SYSTEM], 1)
    usual, by = (
        [c for c in others if fold_name(c) in USUAL[Role.DOC]],
        [*filter(None, [rater])],
    )
    # A column that each rater fills once names the item; a document has several items.
    several = [c for c in usual if sheet.frame.duplicated([c, *by]).any()]
    doc = options.doc or "".join([*several, *usual][:1])
    keys = [
        c for c in others if c in usual or (is_called(c, _AN_ID) and not repeats[c])
    ]
    keys = [*dict.fromkeys([*filter(None, [options.doc]), *keys])]
    # With a row per rater, an id that never repeats is the row's, if other ids tell
    # items apart.
    ids = [c for c in keys if repeats[c] or not rater]
    if (
        rater
        and ids
        and sheet.frame.duplicated([*ids, *filter(None, [system]), rater]).any()
    ):
        ids = keys
    named_roles = options._replace(doc=doc, system=system, rater=rater)
    choices = _guess_sides(sheet, named_roles, verdictlike, faults)
    guesses = [
        f"{role}={','.join(guess) if isinstance(guess, tuple) else guess}"
        for role, guess, option in zip(
            Choices._fields[:5], choices[:5], options[:5], strict=True
        )
        if guess and guess != option
    ]
    return choices, ids, [f"columns guessed: {'; '.join(guesses)}"] if guesses else []


def _guess_sides(
    sheet: Sheet, named: Choices, likely: Sequence[str], faults: Findings
) -> Choices:
    """Guess the columns of judges and people, where names leave no other choice."""
    sides = {"judge": named.judge, "human": named.human}
    for side, columns in sides.items():
        sides[side] = columns or tuple(
            name for name in likely if scorer_of(name) == side
        )
    scorers = {name: _OF_SCORER.split(name, 1)[0] for name in sheet.columns}
    people = {scorers[name] for name in sides["human"]}
    others = [name for name in scorers if name not in sides["human"]]
    if people and people <= {scorers[name] for name in others}:
        # With columns of several scorers nothing is guessed; people stand beside their
        # scorer.
        chosen = {scorers[name] for name in named.judge} or people
        for side, names in {"judge": others, "human": sides["human"]}.items():
            guess = tuple(name for name in names if scorers[name] in chosen)
            sides[side] = getattr(named, side) or (guess if len(chosen) == 1 else ())
    rest = [name for name in likely if name not in sum(sides.values(), ())]
    if len(rest) == 1 and any(sides.values()):
        sides = {side: columns or (rest[0],) for side, columns in sides.items()}
    for side, content in (
        ("judge", "a judge's verdicts"),
        ("human", "people's labels"),
    ):
        if not sides[side]:
            fix = f"say which: {named.option(side)}, of {listed(rest or sheet.columns)}"
            faults.add(sheet.head, f"no column is clearly that of {content}", fix)
    judge, human = sides.values()
    if named.rater and len(human) > 1:
        what = (
            f"column {shown(named.rater)} names raters, and {listed(human)} hold labels"
        )
        faults.add(
            sheet.head, what, f"name the one with their labels: {named.option('human')}"
        )
    return named._replace(judge=judge, human=human)


def _is_verdict(sheet: Sheet, name: str, options: Choices) -> bool:
    """Return whether a column looks like verdicts: known words, 0 to 1, or the words of a pass."""
    cells = sheet.cells(name)
    if not cells:
        return scorer_of(name) == "human"  # nobody has rated yet
    passes = {word.casefold() for word in options.passes}
    if passes & {cell.casefold() for cell in cells}:
        return True
    if sheet.share_of_numbers(name) < 1:
        # Which unknown words are a pass is asked later; `rater` and `model` hold names.
        names = fold_name(name) in {*RATERS, *USUAL[Role.SYSTEM]}
        return bool(scorer_of(name)) and len(cells) == 2 and not names
    values = sheet.values(name)
    numbers = values[np.isfinite(values)]
    graded = options.pass_from is not None or len({*numbers.tolist()}) <= 11
    return bool(((numbers >= 0) & (numbers <= 1)).all()) or (
        bool(scorer_of(name)) and graded
    )


def _values(
    sheet: Sheet, name: str, choices: Choices, faults: Findings, *, human: bool = False
) -> tuple[Array, str]:
    """Return 1 and 0 (for a judge also numbers between), NaN for none; and the rule for a pass."""
    cells, none = sheet.cells(name), NumberFormat().is_missing
    folded = {word.casefold() for word in choices.passes}
    words = [cell for cell in cells if cell.casefold() in folded]
    column = to_keys(sheet.frame[name])
    values = np.where(
        column.map(none), np.nan, column.isin(words).to_numpy(dtype=np.float64)
    )
    read_as = NumberFormat() if words else sheet.clear_numbers(name, faults)
    if not words and not read_as.fault:
        values = sheet.values(name, read_as)
        words = [
            cell for cell in cells if read_as.words and read_as.number(cell) == 1.0
        ]
    numbers = values[np.isfinite(values)]
    if np.isinf(values).any():
        passes, missing = (choices.option(name, "WORD") for name in ("pass", "missing"))
        fix = (
            f"name those that are a pass: {passes}; those that are neither pass nor fail:"
            f" {missing}; every other word is then a fail; or name another column"
        )
        faults.add(
            sheet.head, f"column {shown(name)} holds {listed(sorted(cells), 4)}", fix
        )
    elif np.isin(numbers, (0.0, 1.0)).all():
        fails = [cell for cell in cells if cell not in words and not none(cell)]
        rule = f"{listed(sorted(words), 3)} is a pass, {listed(fails, 3) or 'nothing'} a fail"
        return values, rule if words else "1 is a pass, 0 a fail"
    elif choices.pass_from is not None:
        rule = f"{choices.pass_from:g} and more is a pass"
        return np.where(np.isnan(values), np.nan, values >= choices.pass_from), rule
    elif human or numbers.min() < 0 or numbers.max() > 1:
        ends = f"numbers from {numbers.min():g} to {numbers.max():g}"
        least, missing = (
            choices.option(name, "NUMBER") for name in ("pass-from", "missing")
        )
        fix = (
            f"give the lowest number that is a pass: {least}; or the numbers that are neither pass"
            f" nor fail: {missing}"
        )
        faults.add(sheet.head, f"column {shown(name)} has {ends}", fix)
    return values, "a probability of .5 and more is a pass"


def _by_item(
    sheet: Sheet, keys: list[str], choices: Choices, judges: Mapping[str, Array], labels: Array,
    faults: Findings,
) -> tuple[Any, dict[str, Array], dict[str, Array]]:  # fmt: skip
    """Turn rows per item and rater into items: each item's first row, judges, raters."""
    if not keys:
        what = f"has a row per rater ({shown(choices.rater)}), and no column that names the item"
        faults.add(sheet.head, what, f"name it: {choices.option('doc')}")
        return np.arange(0), {}, {}
    frame = pd.DataFrame({key: to_keys(sheet.frame[key]) for key in keys})
    item = frame.groupby(keys, sort=False).ngroup().rename("item")
    first, by_judge = np.flatnonzero(~item.duplicated().to_numpy()), dict[str, Array]()
    rater = to_keys(sheet.frame[choices.rater]).rename("rater")
    for row in np.flatnonzero(pd.concat((item, rater), axis=1).duplicated().to_numpy()):
        fix = f"keep one row; or name the column that tells items apart: {choices.option('doc')}"
        faults.add(sheet.at(row), "the same item a second time by the same rater", fix)
    for name, values in judges.items():
        by_item = pd.Series(values).groupby(item)
        for i in np.flatnonzero((by_item.nunique() > 1).to_numpy()):
            what = f"column {shown(name)} differs between rows of the same item"
            faults.add(sheet.at(int(first[i])), what, "give each item one verdict")
        by_judge[name] = np.asarray(by_item.first(), dtype=np.float64)
    raters = pd.Series(labels).groupby([item, rater]).first().unstack()
    return (
        first,
        by_judge,
        {str(name): raters[name].to_numpy() for name in raters if name},
    )


def _items(
    sheet: Sheet, rows: Any, ids: Sequence[str], choices: Choices, faults: Findings
) -> pd.DataFrame:
    """Return the items: ids, the shortest key that is unique; documents, systems, slices."""
    roles = {"doc": choices.doc, "system": choices.system}
    names = filter(None, {*ids, *roles.values(), *choices.by})
    frame = {
        c: to_keys(sheet.frame[c]).iloc[rows].reset_index(drop=True) for c in names
    }
    unique = [frame[name] for name in ids if not frame[name].duplicated().any()]
    if not unique and ids and choices.system:
        pair = frame[choices.doc or ids[0]] + "/" + frame[choices.system]
        unique = [] if pair.duplicated().any() else [pair]
    places = pd.Series(
        [f"{sheet.kind} {sheet.at(int(row)).row}" for row in rows], dtype="str"
    )
    items = pd.DataFrame({"id": unique[0] if unique else places})
    for key, name in roles.items():
        if name:
            items[key] = frame[name].to_numpy()
            for row in np.flatnonzero(items[key].map(is_blank).to_numpy()):
                fix = f"fill it in, or name another column: {choices.option(key)}"
                faults.add(
                    sheet.at(int(rows[row])), f"column {shown(name)} is empty", fix
                )
    for name in choices.by:
        if (n := frame[name].nunique()) > LARGEST_SLICES:
            what = f"column {shown(name)} has {n} values, more than {LARGEST_SLICES} slices"
            faults.add(sheet.head, what, "slice by another column")
        items[BY + name] = frame[name].to_numpy()
    return items

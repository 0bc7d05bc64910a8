"""Find out what each column of a table of labels holds: a judge, a person, an id, a slice."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from metassay.api.labels import BY, KIND, Choices
from metassay.core.errors import quoted, raise_problems, shown
from metassay.statistics.exact_sums import Array
from metassay.statistics.shares import Clusters, cluster_codes
from metassay.tabular.column_synonyms import (
    RATERS,
    USUAL,
    Role,
    fold_name,
    is_called,
    is_metadata,
    scorer_of,
)
from metassay.tabular.guess import listed
from metassay.tabular.numbers import is_among, is_blank
from metassay.tabular.preferences import system_columns
from metassay.tabular.row_choice import ask_chosen, ask_rows, choose_rows
from metassay.tabular.rows import Findings
from metassay.tabular.sheet import Sheet, to_keys

# Columns that `metassay import` writes.
_OF_SCORER = re.compile(r"(?<=.)_(?:human|judge)(?:_.*)?")
_AN_ID = re.compile(r"(?:.*_)?(?:id|uuid|key|nr|no|name)")
LARGEST_SLICES = 20  # values of a column that rows are sliced by
MOST = 0.5  # the smallest share of verdicts in a column of verdicts
LABELS = 12  # different labels at most
_WORDS = 4  # words of a label at most
# Columns beside a judge's or a person's: their names, and what they remarked.
_BESIDE = re.compile(
    r"(?:.*_)?(?:id|ids|name|names|model|models|version|type|prompt|comments?|remarks?|reason"
    r"|reasons|reasoning|rationale|explanation|justification|text|texts|notes?|time|date|index"
    r"|role|group|age|sex|gender|email|metadata|config|hash|language|dataset|task)"
)


class ColumnRoles(NamedTuple):
    """A sheet whose columns are known, before its labels are read."""

    sheet: Sheet
    answers: Sheet  # the same without the words that are no answers
    choices: Choices  # with all columns
    ids: list[str]  # columns that tell items apart
    guesses: list[str]  # notes on what was guessed, and on rows without a claim

    @property
    def labels(self) -> tuple[str, ...]:
        """The columns with labels, those of judges first."""
        return (*self.choices.judge, *self.choices.human)


def check_names(sheet: Sheet, options: Choices) -> None:
    """Raise BadInput with every column that options name and the sheet does not have."""
    faults = Findings()
    named = [*options.judge, *options.human, *options.roles, *options.by]
    named += [*options.lower, *options.higher, options.claim]
    for name in dict.fromkeys(filter(None, [*named, *options.rows])):
        if name not in sheet.frame:
            fix = f"name one of these: {listed(sheet.columns)}"
            faults.add(sheet.head, f"there is no column {quoted(name)}", fix)
    for name in {*options.judge} & {*options.human}:
        faults.add(
            sheet.head,
            f"column {quoted(name)} is named as judge and as human",
            "name one",
        )
    for name in {*options.lower} & {*options.higher}:
        lower = options.caller.option("lower", name)
        higher = options.caller.option("higher", name)
        what = f"column {quoted(name)} is named by {lower} and by {higher}"
        faults.add(sheet.head, what, "name it by one")
    raise_problems(faults.lines())


def find_columns(sheet: Sheet, options: Choices) -> ColumnRoles:
    """Find the columns of a sheet; raises BadInput with every column that is unclear."""
    check_names(sheet, options)
    faults = Findings()
    sheet = choose_rows(sheet, options.rows, faults)
    doubts = chain(ask_chosen(sheet, options.rows), ask_rows(sheet, options.rows))
    for what, fix in doubts:
        faults.add(sheet.head, what, fix)
    raise_problems(faults.lines())
    without_claim = 0
    if options.claim:
        from metassay.api.claim_kinds import add_kinds  # a second, if wanted

        sheet = add_kinds(sheet, options.claim)
        without_claim = int((sheet.frame[KIND] == "").sum())
        options = options._replace(by=tuple(dict.fromkeys((*options.by, KIND))))
    answers = blank_words(sheet, options.missing)
    choices, ids, guesses = _guess_columns(sheet, answers, options, faults)
    raise_problems(faults.lines())
    if without_claim:
        guesses.append(f"rows without a claim, in no kind of claim: {without_claim:,}")
    return ColumnRoles(
        sheet=sheet, answers=answers, choices=choices, ids=ids, guesses=guesses
    )


class LabelledItems(NamedTuple):
    """Items with the labels of judges and raters; NaN where there is none."""

    items: pd.DataFrame  # id; doc and system, if there are; BY and each column of `by`
    judges: Mapping[str, Array]  # (items,) each
    raters: Mapping[str, Array]
    table: Array  # (raters, items): the raters' labels
    cluster: Clusters  # items with equal numbers are alike


def collect_items(roles: ColumnRoles, labels: Mapping[str, Array]) -> LabelledItems:
    """Make items of the rows, whose labels (rows,) are given by column."""
    sheet, choices, faults = roles.sheet, roles.choices, Findings()
    first = np.arange(len(sheet.lines))
    judges = {name: labels[name] for name in choices.judge}
    raters = {name: labels[name] for name in choices.human}
    if choices.rater:
        keys = [*roles.ids, *filter(None, [choices.system])]
        (by_row,) = raters.values()
        first, judges, raters = _group_by_item(
            sheet, keys, choices, judges, by_row, faults
        )
    items = _items(sheet, first, roles.ids, choices, faults)
    raise_problems(faults.lines())
    table = np.array([*raters.values()], dtype=np.float64).reshape(
        len(raters), len(items)
    )
    return LabelledItems(
        items=items,
        judges=judges,
        raters=raters,
        table=table,
        cluster=cluster_codes(items.get("doc"), len(items)),
    )


def note_columns(
    roles: ColumnRoles, rules: Iterable[str], others: Iterable[str] = ()
) -> tuple[str, ...]:
    """Return the notes on a table: guesses, rules by which labels are read, what is left out.

    `others`: columns that are read beside labels, ids and slices.
    """
    sheet, choices = roles.sheet, roles.choices
    left_out = [*_left_out(sheet, choices), *_empty_cells(sheet, choices)]
    notes = (*roles.guesses, *rules, *left_out, *sheet.notes)
    unread = {*sheet.columns} - {
        *roles.labels,
        *roles.ids,
        *choices.roles,
        *choices.by,
        choices.claim,
        *others,
    }
    if unread:
        names = [name for name in sheet.columns if name in unread]
        notes = (*notes, f"columns that are not read: {listed(names, len(names))}")
    return notes


def blank_words(sheet: Sheet, words: Collection[str]) -> Sheet:
    """Return the sheet with the cells that are one of `words`, in any case, emptied.

    Only verdicts and labels are read from it: an id may well be such a word.
    """
    if not words:
        return sheet
    folded = {word.casefold() for word in words}
    emptied = sheet.frame.copy()
    for name in sheet.columns:
        named = [cell for cell in sheet.counts(name).index if is_among(cell, folded)]
        is_word = to_keys(sheet.frame[name]).isin(named)
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
            if is_among(word, folded)
        ]
        if words:
            lines.append(
                f"taken as missing in column {quoted(name)}: {', '.join(words)}"
            )
    return lines


def _empty_cells(sheet: Sheet, choices: Choices) -> Iterator[str]:
    """Count the cells without an answer, by column."""
    n_rows = len(sheet.lines)
    passes = {word.casefold() for word in choices.passes}
    empty = {}
    for name in (*choices.judge, *choices.human):
        counts = sheet.counts(name)
        numbers = sheet.numbers(name)
        answers = [
            cell
            for cell in counts.index
            if str(cell).casefold() in passes or not numbers.is_missing(str(cell))
        ]
        empty[name] = n_rows - int(counts[answers].sum())
    cells = ", ".join(f"{n:,} in {quoted(name)}" for name, n in empty.items() if n)
    if cells:
        yield f"cells without an answer: {cells}"


def _guess_columns(
    sheet: Sheet, answers: Sheet, options: Choices, faults: Findings
) -> tuple[Choices, list[str], list[str]]:
    """Return all columns, those that identify items, and a line on what was guessed."""
    named = {*options.judge, *options.human, *options.roles, *options.by, options.claim}
    unassigned = [name for name in sheet.columns if name not in named]
    verdictlike = _verdict_columns(answers, unassigned, options)
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
    apart = [*ids, *filter(None, [system]), rater]
    if rater and (not ids or sheet.frame.duplicated(apart).any()):
        ids = keys
    named_roles = options._replace(doc=doc, system=system, rater=rater)
    choices = _guess_sides(sheet, named_roles, verdictlike, faults)
    guesses = [
        f"{role}={','.join(guess) if isinstance(guess, tuple) else guess}"
        for role, guess in zip(
            ("judge", "human", "doc", "system", "rater"),
            (choices.judge, choices.human, *choices.roles),
            strict=True,
        )
        if guess and guess != getattr(options, role)
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
    # Preferences of people alone tell which systems are better.
    alone = bool(sides["human"]) and system_columns(sheet.columns) is not None
    for side, content in (
        ("judge", "a judge's verdicts"),
        ("human", "people's labels"),
    ):
        if not sides[side] and not (side == "judge" and alone):
            option = named.caller.option(side, blank="COLUMN")
            fix = f"say which: {option}, of {listed(rest or sheet.columns)}"
            faults.add(sheet.head, f"no column is clearly that of {content}", fix)
    judge, human = sides.values()
    if named.rater and len(human) > 1:
        what = f"column {quoted(named.rater)} names raters, and {listed(human)} hold labels"
        option = named.caller.option("human", blank="COLUMN")
        faults.add(sheet.head, what, f"name the one with their labels: {option}")
    return named._replace(judge=judge, human=human)


def _verdict_columns(sheet: Sheet, names: Sequence[str], options: Choices) -> list[str]:
    """Return the columns that hold verdicts: known labels, 0 to 1, or the words of a pass.

    A column that is called after a judge or a person is one, too, if most of its cells
    are; what the other cells mean is asked later. If no such column has known labels,
    those with other numbers are taken, and those with a few different words, as
    `entailed` and `contradicted`; so are those that share a label with the others, as
    `yes`, `unsure` and `no`.
    """
    likely = [name for name in names if _is_verdict(sheet, name, options)]
    sides = {scorer_of(name) for name in likely}
    labels = {cell.casefold() for name in likely for cell in sheet.cells(name)}
    unknown = []
    for name in names:
        if name in likely or not scorer_of(name):
            continue
        if scorer_of(name) not in sides and _is_of_numbers(sheet, name):
            unknown.append(name)
        if not _has_few_words(sheet, name):
            continue
        shares = any(cell.casefold() in labels for cell in sheet.cells(name))
        if scorer_of(name) not in sides or shares:
            unknown.append(name)
    return [name for name in names if name in likely or name in unknown]


def _is_verdict(sheet: Sheet, name: str, options: Choices) -> bool:
    cells = sheet.cells(name)
    if not cells:
        return scorer_of(name) == "human"  # nobody has rated yet
    passes = {word.casefold() for word in options.passes}
    if passes & {cell.casefold() for cell in cells}:
        return True
    share = sheet.share_of_numbers(name)
    words = bool(sheet.numbers(name).words)
    if share < 1:
        return share >= MOST and (words or bool(scorer_of(name)))
    values = sheet.values(name)
    numbers = values[np.isfinite(values)]
    graded = options.pass_from is not None or len({*numbers.tolist()}) <= 11
    return bool(((numbers >= 0) & (numbers <= 1)).all()) or (
        bool(scorer_of(name)) and graded
    )


def _is_of_numbers(sheet: Sheet, name: str) -> bool:
    """Whether a column holds numbers that may be scores, such as 0 to 100."""
    beside = is_called(name, _BESIDE) or is_metadata(name, ratings=False)
    return not beside and sheet.share_of_numbers(name) == 1


def _has_few_words(sheet: Sheet, name: str) -> bool:
    """Whether a column has a few different words, and is not called as names and remarks are."""
    cells = sheet.cells(name)
    others = fold_name(name) in {*RATERS, *USUAL[Role.SYSTEM]} or is_called(
        name, _BESIDE
    )
    short = all(len(cell.split()) <= _WORDS for cell in cells)
    return not others and 1 < len(cells) <= LABELS and short


def _group_by_item(
    sheet: Sheet,
    keys: list[str],
    choices: Choices,
    judges: Mapping[str, Array],
    labels: Array,
    faults: Findings,
) -> tuple[Any, dict[str, Array], dict[str, Array]]:
    """Turn rows per item and rater into items: each item's first row, judges, raters."""
    if not keys:
        what = f"has a row per rater ({quoted(choices.rater)}), and no column that names the item"
        faults.add(
            sheet.head, what, f"name it: {choices.caller.column('doc', 'COLUMN')}"
        )
        return np.arange(0), {}, {}
    frame = pd.DataFrame({key: to_keys(sheet.frame[key]) for key in keys})
    named = frame.assign(**{choices.rater: to_keys(sheet.frame[choices.rater])})
    for name in named:
        for row in np.flatnonzero(named[name].map(is_blank).to_numpy()):
            fix = "fill it in, or remove the row"
            faults.add(sheet.at(row), f"column {quoted(name)} is empty", fix)
    item = frame.groupby(keys, sort=False).ngroup().rename("item")
    first, by_judge = np.flatnonzero(~item.duplicated().to_numpy()), dict[str, Array]()
    rater = to_keys(sheet.frame[choices.rater]).rename("rater")
    for row in np.flatnonzero(pd.concat((item, rater), axis=1).duplicated().to_numpy()):
        option = choices.caller.column("doc", "COLUMN")
        fix = f"keep one row; or name the column that identifies the items: {option}"
        faults.add(sheet.at(row), "the same item a second time by the same rater", fix)
    for name, values in judges.items():
        by_item = pd.Series(values).groupby(item)
        for i in np.flatnonzero((by_item.nunique() > 1).to_numpy()):
            what = f"column {quoted(name)} differs between rows of the same item"
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
                fix = f"fill it in, or name another column: {choices.caller.column(key, 'COLUMN')}"
                faults.add(
                    sheet.at(int(rows[row])), f"column {quoted(name)} is empty", fix
                )
    for name in choices.by:
        if (n := frame[name].nunique()) > LARGEST_SLICES:
            what = f"column {quoted(name)} has {n} values, more than {LARGEST_SLICES} slices"
            faults.add(sheet.head, what, "slice by another column")
        items[BY + name] = frame[name].to_numpy()
    return items

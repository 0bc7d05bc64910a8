"""One table with judges' verdicts and people's labels: which column is whose, what is a pass."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from metassay.core.errors import raise_problems, shown
from metassay.format.numbers import counted
from metassay.statistics.annotator_test import EPSILON
from metassay.statistics.exact_sums import Array, quotient
from metassay.statistics.shares import WIDTH, Clusters, own_clusters
from metassay.tabular.column_synonyms import USUAL, Role, fold_name, is_called, pattern
from metassay.tabular.infer_columns import listed
from metassay.tabular.numbers import NumberFormat, is_blank
from metassay.tabular.rows import Findings
from metassay.tabular.sheet import Sheet, to_keys

# Whose verdicts a column holds, by its name: the first that fits.
_SIDES = [("human", pattern("person")), ("judge", pattern("judge")), ("human", pattern("label"))]
_RATERS = {*USUAL[Role.RATER]} - {"judge", "evaluator"}
_OF_SCORER = re.compile(r"(?<=.)_(?:human|judge)(?:_.*)?")  # as `metassay import` names columns
_AN_ID = re.compile(r"(?:.*_)?(?:id|uuid|key|nr|no|name)")
BY = "by "  # before a slice's column, which may be called as another one is
LARGEST_SLICES = 20  # values of a column that rows are sliced by


class Choices(NamedTuple):
    """What the caller says; columns that are empty are guessed. `mark` leads options' names."""

    judge: tuple[str, ...] = ()
    human: tuple[str, ...] = ()
    doc: str = ""
    system: str = ""
    rater: str = ""
    by: tuple[str, ...] = ()
    passes: tuple[str, ...] = ()  # words that are a pass; every other one is then a fail
    pass_from: float | None = None  # the number from which on grades are a pass
    mark: str = ""
    require: Mapping[str, float] = {}  # the least lower end of numbers of the card
    epsilon: float = EPSILON
    confidence: float = 0.95
    width: float = WIDTH
    seed: int = 0

    def option(self, name: str, what: str = "COLUMN") -> str:
        """How the caller says it: `--pass-from NUMBER` or `pass_from=NUMBER`."""
        if self.mark and name in ("doc", "system", "rater"):
            return f"--columns {name}={what}"
        plainly = {"pass": "passes"}.get(name, name.replace("-", "_"))
        return f"{self.mark}{name} {what}" if self.mark else f"{plainly}={what}"


class Verdicts(NamedTuple):
    """Items with verdicts of 1 and 0 (a judge's may be probabilities); NaN where there is none."""

    name: str
    items: pd.DataFrame  # id; doc and system, if there are; BY and each column of `by`
    judges: Mapping[str, Array]  # (items,) each
    raters: Mapping[str, Array]
    table: Array  # (raters, items): theirs
    n: Array  # (items,) how many rated it
    share: Array  # (items,) of raters who pass the item
    passed: Array  # (items,) 1 or 0 by the majority; NaN where it is split, or nobody rated
    cluster: Clusters  # items of one number are alike
    choices: Choices
    notes: tuple[str, ...]


def verdicts(sheet: Sheet, said: Choices) -> Verdicts:
    """Read a sheet; raises BadInput with every column that cannot be told or read."""
    faults = Findings()
    named = [*said.judge, *said.human, said.doc, said.system, said.rater, *said.by]
    for name in dict.fromkeys(filter(None, named)):
        if name not in sheet.frame:
            fix = f"name one of these: {listed(sheet.columns)}"
            faults.add(sheet.head, f"there is no column {shown(name)}", fix)
    for name in {*said.judge} & {*said.human}:
        faults.add(sheet.head, f"column {shown(name)} is named as judge and as human", "name one")
    raise_problems(faults.lines())
    chosen, ids, guessed = _guessed(sheet, said, faults)
    raise_problems(faults.lines())
    columns = (*chosen.judge, *chosen.human)
    read = {c: _values(sheet, c, chosen, faults, human=c in chosen.human) for c in columns}
    raise_problems(faults.lines())
    told = {what: [name for name in read if read[name][1] == what] for _, what in read.values()}
    passes = (f"{what} ({counted(len(n), 'column')}: {listed(n, 4)})" for what, n in told.items())
    first = np.arange(len(sheet.lines))
    judges, raters = ({name: read[name][0] for name in names} for names in chosen[:2])
    if chosen.rater:
        keys = [*ids, *filter(None, [chosen.system])]
        (labels,) = raters.values()
        first, judges, raters = _by_item(sheet, keys, chosen, judges, labels, faults)
    items = _items(sheet, first, ids, chosen, faults)
    raise_problems(faults.lines())
    table = np.array([*raters.values()], dtype=np.float64).reshape(len(raters), len(items))
    n = np.isfinite(table).sum(axis=0).astype(np.float64)
    share = quotient(np.nansum(table, axis=0), n)
    passed = np.where(np.isnan(share) | (share == 0.5), np.nan, share > 0.5)
    people = table, n, share, passed, own_clusters(items.get("doc"), len(items))
    notes = (*guessed, *passes, *sheet.notes)
    return Verdicts(sheet.name, items, judges, raters, *people, chosen, notes)


def _guessed(sheet: Sheet, said: Choices, faults: Findings) -> tuple[Choices, list[str], list[str]]:
    """All columns, those that name items, and a line on what was guessed."""
    taken = {*said.judge, *said.human, said.doc, said.system, said.rater, *said.by}
    free = [name for name in sheet.columns if name not in taken]
    verdictlike = [name for name in free if _is_verdict(sheet, name, said)]
    others = [name for name in free if name not in verdictlike]
    again = {c: bool(to_keys(sheet.frame[c]).duplicated().any()) for c in sheet.columns}

    def only(names: Collection[str], more_than: int) -> str:
        there = [c for c in others if fold_name(c) in names and again[c]]
        there = [c for c in there if len(sheet.cells(c)) > more_than]
        return there[0] if len(there) == 1 else ""

    rater = said.rater or ("" if len(said.human) > 1 else only(_RATERS, 0))
    others = [name for name in others if name != rater]
    system = said.system or only(USUAL[Role.SYSTEM], 1)
    usual, by = [c for c in others if fold_name(c) in USUAL[Role.DOC]], [*filter(None, [rater])]
    # What each rater has once is an item; a document has several.
    several = [c for c in usual if sheet.frame.duplicated([c, *by]).any()]
    doc = said.doc or "".join([*several, *usual][:1])
    named = [c for c in others if c in usual or (is_called(c, _AN_ID) and not again[c])]
    named = [*dict.fromkeys([*filter(None, [said.doc]), *named])]
    # An id of a row is none of an item, where each rater has a row and others tell items apart.
    ids = [c for c in named if again[c] or not rater]
    if rater and ids and sheet.frame.duplicated([*ids, *filter(None, [system]), rater]).any():
        ids = named
    found = _sides(sheet, said._replace(doc=doc, system=system, rater=rater), verdictlike, faults)
    guesses = [
        f"{role}={','.join(now) if isinstance(now, tuple) else now}"
        for role, now, then in zip(Choices._fields[:5], found[:5], said[:5], strict=True)
        if now and now != then
    ]
    return found, ids, [f"columns guessed: {'; '.join(guesses)}"] if guesses else []


def _sides(sheet: Sheet, found: Choices, free: Sequence[str], faults: Findings) -> Choices:
    """Judges and people, where the names of columns leave one choice."""
    sides = {"judge": found.judge, "human": found.human}
    for what, said in sides.items():
        sides[what] = said or tuple(name for name in free if _side(name) == what)
    scorers = {name: _OF_SCORER.split(name, 1)[0] for name in sheet.columns}
    people = {scorers[name] for name in sides["human"]}
    others = [name for name in scorers if name not in sides["human"]]
    if people and people <= {scorers[name] for name in others}:
        # Columns of several scorers leave no choice; a person's are beside their own scorer's.
        of = {scorers[name] for name in found.judge} or people
        for what, names in {"judge": others, "human": sides["human"]}.items():
            guess = tuple(name for name in names if scorers[name] in of)
            sides[what] = getattr(found, what) or (guess if len(of) == 1 else ())
    rest = [name for name in free if name not in sum(sides.values(), ())]
    if len(rest) == 1 and any(sides.values()):
        sides = {what: said or (rest[0],) for what, said in sides.items()}
    for what, whose in (("judge", "a judge's verdicts"), ("human", "people's labels")):
        if not sides[what]:
            fix = f"say which: {found.option(what)}, of {listed(rest or sheet.columns)}"
            faults.add(sheet.head, f"no column is clearly that of {whose}", fix)
    judge, human = sides.values()
    if found.rater and len(human) > 1:
        what = f"column {shown(found.rater)} names raters, and {listed(human)} hold labels"
        faults.add(sheet.head, what, f"name the one with their labels: {found.option('human')}")
    return found._replace(judge=judge, human=human)


def _side(name: str) -> str:
    return next((side for side, names in _SIDES if is_called(name, names)), "")


def _is_verdict(sheet: Sheet, name: str, said: Choices) -> bool:
    """Whether a column looks like one of verdicts: known words, 0 to 1, or the words of a pass."""
    cells = sheet.cells(name)
    if not cells:
        return _side(name) == "human"  # nobody has rated yet
    passes = {word.casefold() for word in said.passes}
    if passes & {cell.casefold() for cell in cells}:
        return True
    if sheet.share_of_numbers(name) < 1:
        # Of unknown words it is asked below which are a pass; `rater` and `model` name somebody.
        names = fold_name(name) in {*_RATERS, *USUAL[Role.SYSTEM]}
        return bool(_side(name)) and len(cells) == 2 and not names
    values = sheet.values(name)
    known = values[np.isfinite(values)]
    graded = said.pass_from is not None or len({*known.tolist()}) <= 11
    return bool(((known >= 0) & (known <= 1)).all()) or (bool(_side(name)) and graded)


def _values(
    sheet: Sheet, name: str, chosen: Choices, faults: Findings, *, human: bool = False
) -> tuple[Array, str]:
    """1 and 0 (of a judge also between them), NaN where nothing is said; and what is a pass."""
    cells, none = sheet.cells(name), NumberFormat().none
    folded = {word.casefold() for word in chosen.passes}
    words = [cell for cell in cells if cell.casefold() in folded]
    column = to_keys(sheet.frame[name])
    values = np.where(column.map(none), np.nan, column.isin(words).to_numpy(dtype=np.float64))
    read_as = NumberFormat() if words else sheet.clear_numbers(name, faults)
    if not words and not read_as.fault:
        values = sheet.values(name, read_as)
        words = [cell for cell in cells if read_as.words and read_as.number(cell) == 1.0]
    known = values[np.isfinite(values)]
    if np.isinf(values).any():
        said = listed(sorted(cells), 4)
        option = chosen.option("pass", "WORD")
        fix = f"say which of them are a pass: {option}; or name another column"
        faults.add(sheet.head, f"column {shown(name)} holds {said}", fix)
    elif np.isin(known, (0.0, 1.0)).all():
        fails = [cell for cell in cells if cell not in words and not none(cell)]
        said = f"{listed(sorted(words), 3)} is a pass, {listed(fails, 3) or 'nothing'} a fail"
        return values, said if words else "1 is a pass, 0 a fail"
    elif chosen.pass_from is not None:
        said = f"{chosen.pass_from:g} and more is a pass"
        return np.where(np.isnan(values), np.nan, values >= chosen.pass_from), said
    elif human or known.min() < 0 or known.max() > 1:
        ends = f"numbers from {known.min():g} to {known.max():g}"
        fix = f"say from which number on it is a pass: {chosen.option('pass-from', 'NUMBER')}"
        faults.add(sheet.head, f"column {shown(name)} has {ends}", fix)
    return values, "a probability of .5 and more is a pass"


def _by_item(
    sheet: Sheet, keys: list[str], chosen: Choices, judges: Mapping[str, Array], labels: Array,
    faults: Findings,
) -> tuple[Any, dict[str, Array], dict[str, Array]]:  # fmt: skip
    """A row per item and rater as a row per item: each item's first row, judges, raters."""
    if not keys:
        what = f"has a row per rater ({shown(chosen.rater)}), and no column that names the item"
        faults.add(sheet.head, what, f"name it: {chosen.option('doc')}")
        return np.arange(0), {}, {}
    frame = pd.DataFrame({key: to_keys(sheet.frame[key]) for key in keys})
    item = frame.groupby(keys, sort=False).ngroup().rename("item")
    first, found = np.flatnonzero(~item.duplicated().to_numpy()), dict[str, Array]()
    who = to_keys(sheet.frame[chosen.rater]).rename("who")
    for row in np.flatnonzero(pd.concat((item, who), axis=1).duplicated().to_numpy()):
        fix = f"keep one row; or name the column that tells items apart: {chosen.option('doc')}"
        faults.add(sheet.at(row), "the same item a second time by the same rater", fix)
    for name, values in judges.items():
        by_item = pd.Series(values).groupby(item)
        for at in np.flatnonzero((by_item.nunique() > 1).to_numpy()):
            what = f"column {shown(name)} does not say what it says of the same item in other rows"
            faults.add(sheet.at(int(first[at])), what, "give each item one verdict")
        found[name] = np.asarray(by_item.first(), dtype=np.float64)
    raters = pd.Series(labels).groupby([item, who]).first().unstack()
    return first, found, {str(name): raters[name].to_numpy() for name in raters if name}


def _items(
    sheet: Sheet, rows: Any, ids: Sequence[str], chosen: Choices, faults: Findings
) -> pd.DataFrame:
    """The items' ids, the least that tells them apart; documents, systems, slices."""
    roles = {"doc": chosen.doc, "system": chosen.system}
    names = filter(None, {*ids, *roles.values(), *chosen.by})
    frame = {c: to_keys(sheet.frame[c]).iloc[rows].reset_index(drop=True) for c in names}
    named = [frame[name] for name in ids if not frame[name].duplicated().any()]
    if not named and ids and chosen.system:
        pair = frame[chosen.doc or ids[0]] + "/" + frame[chosen.system]
        named = [] if pair.duplicated().any() else [pair]
    places = pd.Series([f"{sheet.kind} {sheet.at(int(row)).row}" for row in rows], dtype="str")
    made = pd.DataFrame({"id": named[0] if named else places})
    for key, name in roles.items():
        if name:
            made[key] = frame[name].to_numpy()
            for row in np.flatnonzero(made[key].map(is_blank).to_numpy()):
                fix = f"fill it in, or name another column: {chosen.option(key)}"
                faults.add(sheet.at(int(rows[row])), f"column {shown(name)} is empty", fix)
    for name in chosen.by:
        if (many := frame[name].nunique()) > LARGEST_SLICES:
            what = f"column {shown(name)} has {many} values, more than {LARGEST_SLICES} slices"
            faults.add(sheet.head, what, "slice by another column")
        made[BY + name] = frame[name].to_numpy()
    return made

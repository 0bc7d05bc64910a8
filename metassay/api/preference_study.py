"""Read preferences between two texts: pairs, what judges and people prefer, and in which order."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metassay.api.label_columns import ColumnRoles, note_columns
from metassay.api.labels import BY, PREFERENCES, Labels
from metassay.core.errors import quoted, raise_problems, shown
from metassay.format.numbers import counted
from metassay.statistics.exact_sums import Array, Index, Mask
from metassay.statistics.preferences import FIRST, SECOND, TIE, combine_orders
from metassay.statistics.shares import cluster_codes
from metassay.tabular.preferences import (
    Pair,
    are_positions,
    preferred_share,
    system_columns,
)
from metassay.tabular.rows import Findings
from metassay.tabular.sheet import Sheet, to_keys

Names = NDArray[Any]  # keys, one a row

NAMES = ("A", "B", "tie")
_SHOWN = 12
_READ = 0.5  # the smallest share of preferences in a column of them


class Pairs(NamedTuple):
    """Pairs of texts, what is preferred of them, and in which order judges saw them."""

    labels: Labels  # an item is a pair, whose label is the code of a preference
    # (2, items) by judge: its preference with the item's first text shown first, and
    # shown second; codes of the item's texts, -1 for a game that was not played
    games: Mapping[str, Index]
    # (2, items) people's mean score in favour of the first text, by the same orders
    people: Array
    systems: tuple[str, ...]  # none where nothing tells who wrote a text
    first: Index  # (items,) codes of the systems
    second: Index


def holds_preferences(roles: ColumnRoles) -> bool:
    """Whether a table has two systems a row, and labels that say which is better."""
    columns = system_columns(roles.sheet.columns)
    choices = roles.choices
    if columns is None or choices.passes or choices.pass_from is not None:
        return False
    if choices.rater or {*columns} & {*roles.labels}:
        return False
    for name in roles.labels:
        if not roles.answers.cells(name):
            continue
        shares = _shares(roles.answers, name, columns)
        n_cells = int(roles.answers.counts(name).sum())
        if np.count_nonzero(np.isfinite(shares)) < _READ * n_cells:
            return False
    return True


def _shares(sheet: Sheet, name: str, columns: tuple[str, str]) -> Array:
    """Return the share (rows,) of the first text by a column of preferences; NaN for none.

    Infinite for a cell that names neither text nor a tie.
    """
    cells = to_keys(sheet.frame[name])
    first, second = (to_keys(sheet.frame[column]) for column in columns)
    known: dict[tuple[str, str, str], float] = {}
    shares = np.empty(len(cells))
    for place, key in enumerate(zip(cells, first, second, strict=True)):
        if key not in known:
            known[key] = _share(key, columns, sheet, name)
        shares[place] = known[key]
    return shares


def _share(
    key: tuple[str, str, str], columns: tuple[str, str], sheet: Sheet, name: str
) -> float:
    cell, first, second = key
    pair = Pair(first=first, second=second, columns=columns)
    number = sheet.numbers(name).number(cell)
    share = preferred_share(cell, number, pair)
    if share is not None:
        return share
    return np.nan if sheet.numbers(name).is_missing(cell) else np.inf


def read_pairs(roles: ColumnRoles) -> Pairs:
    """Read the pairs of a table; raises BadInput with every cell that cannot be read."""
    sheet, choices, faults = roles.answers, roles.choices, Findings()
    columns = system_columns(sheet.columns)
    assert columns is not None
    shares = {}
    for name in roles.labels:
        shares[name] = _shares(sheet, name, columns)
        _ask_words(roles, name, shares[name], faults)
    raise_problems(faults.lines())
    first, second = (to_keys(sheet.frame[column]).to_numpy() for column in columns)
    doc = to_keys(sheet.frame[choices.doc]).to_numpy() if choices.doc else None
    systems = tuple(sorted({*first, *second}))
    of_first, of_second = (np.searchsorted(systems, side) for side in (first, second))
    # The order in which a pair stands first in the file is that of the item.
    item, swapped, place = _items_of_rows(doc, of_first, of_second)
    n = place.size
    games, preferred = {}, {}
    score = {name: _games(values, item, swapped, n) for name, values in shares.items()}
    for name in roles.labels:
        games[name] = _codes(score[name])
        preferred[name] = combine_orders(games[name])
    items = _pair_items(roles, place, first, second)
    people = np.array([score[name] for name in choices.human])
    with np.errstate(invalid="ignore"):
        n_people = np.isfinite(people).sum(axis=0)
        mean = np.where(
            n_people > 0, np.nansum(people, axis=0) / np.maximum(n_people, 1), np.nan
        )
    labels = {name: _float_codes(code) for name, code in preferred.items()}
    table = np.array([labels[name] for name in choices.human])
    in_both = any((of_judge >= 0).all(axis=0).any() for of_judge in games.values())
    rule = f"preferences between {len(systems)} systems ({columns[0]}, {columns[1]})"
    codes = (of_first[place], of_second[place])
    two_names = {(str(a), str(b)) for a, b in zip(first, second, strict=True)}
    if all(are_positions(a, b) for a, b in two_names):
        rule = (
            f"preferences between two texts, called {quoted(systems[0])} and the like by"
            f" their places ({columns[0]}, {columns[1]}): no strengths of systems"
        )
        systems = ()
        nobody = np.zeros(place.size, dtype=np.intp)
        codes = (nobody, nobody)
    if in_both:
        rule += "; rows with the texts in the other order are the same pair"
    read = Labels(
        name=roles.sheet.name,
        kind=PREFERENCES,
        names=NAMES,
        levels=np.array([FIRST, SECOND, TIE], dtype=np.float64),
        items=items,
        judges={name: labels[name] for name in choices.judge},
        raters={name: labels[name] for name in choices.human},
        table=table,
        n=np.isfinite(table).sum(axis=0).astype(np.float64),
        cluster=cluster_codes(items.get("doc"), n),
        choices=choices._replace(system=""),
        notes=note_columns(roles, [rule], others=columns),
    )
    return Pairs(
        labels=read,
        games={name: games[name] for name in choices.judge},
        people=2.0 * mean - 1.0,
        systems=systems,
        first=codes[0],
        second=codes[1],
    )


def _items_of_rows(
    doc: Names | None, first: Index, second: Index
) -> tuple[Index, Mask, Index]:
    """Return each row's item, whether it shows the item's texts swapped, and items' first rows."""
    numbers: dict[tuple[object, int, int], int] = {}
    place: list[int] = []
    item = np.empty(first.size, dtype=np.intp)
    swapped = np.zeros(first.size, dtype=np.bool_)
    for row, (left, right) in enumerate(zip(first, second, strict=True)):
        low, high = min(left, right), max(left, right)
        # Without a document each row is a pair of its own.
        key = (doc[row] if doc is not None else row, int(low), int(high))
        if key not in numbers:
            numbers[key] = len(place)
            place.append(row)
        item[row] = numbers[key]
        swapped[row] = left != first[place[item[row]]]
    return item, swapped, np.array(place, dtype=np.intp)


def _games(shares: Array, item: Index, swapped: Mask, n: int) -> Array:
    """Return the share (2, items) of the item's first text, by order; NaN without a game."""
    games = np.full((2, n), np.nan)
    for order in (0, 1):
        rows = (swapped == bool(order)) & np.isfinite(shares)
        count = np.bincount(item[rows], minlength=n)
        total = np.bincount(item[rows], weights=shares[rows], minlength=n)
        mean = np.where(count > 0, total / np.maximum(count, 1), np.nan)
        games[order] = 1.0 - mean if order else mean
    return games


def _codes(share: Array) -> Index:
    code = np.where(share > 0.5, FIRST, np.where(share < 0.5, SECOND, TIE))
    return np.where(np.isfinite(share), code, -1).astype(np.intp)


def _float_codes(code: Index) -> Array:
    return np.where(code >= 0, code, np.nan).astype(np.float64)


def _pair_items(
    roles: ColumnRoles, place: Index, first: Names, second: Names
) -> pd.DataFrame:
    """Return the items: an id, the document, the systems, slices."""
    sheet, choices = roles.sheet, roles.choices
    pair = [f"{a}/{b}" for a, b in zip(first[place], second[place], strict=True)]
    rows = [f"{sheet.kind} {sheet.at(int(row)).row}" for row in place]
    items = pd.DataFrame({"id": rows})
    if choices.doc:
        doc = to_keys(sheet.frame[choices.doc]).to_numpy()[place]
        items["doc"] = doc
        items["id"] = [f"{d}: {p}" for d, p in zip(doc, pair, strict=True)]
    items["pair"] = pair
    for name in choices.by:
        items[BY + name] = to_keys(sheet.frame[name]).to_numpy()[place]
    return items


def _ask_words(roles: ColumnRoles, name: str, shares: Array, faults: Findings) -> None:
    odd = np.flatnonzero(np.isinf(shares))
    if not odd.size:
        return
    cells = to_keys(roles.answers.frame[name]).reset_index(drop=True)[odd]
    counts = cells.value_counts(sort=False)
    some = [f"{n:,} {shown(word)}" for word, n in counts.items()][:_SHOWN]
    verb = "names" if odd.size == 1 else "name"
    what = (
        f"column {quoted(name)} has {counted(odd.size, 'cell')} that {verb} neither text"
        f" nor a tie: {', '.join(some)}"
    )
    missing = roles.choices.caller.option("missing", *map(str, counts.index))
    fix = f"write A, B or tie; if nobody preferred a text there, say {missing}"
    faults.add(roles.answers.cell(int(odd[0]), name), what, fix)

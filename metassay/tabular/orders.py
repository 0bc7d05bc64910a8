"""Rankings in one cell, such as `A > C = B`: the best first, equals beside each other."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import numpy as np

from metassay.tabular.column_synonyms import USUAL, Role, fold_name, scorer_of
from metassay.tabular.guess import listed
from metassay.tabular.numbers import is_blank
from metassay.tabular.sheet import Sheet, to_keys

# Signs between two names, as people write them: the left one is better, or both are equal.
_BETTER = re.compile(r"\s*(?:>+|≻)\s*")
_EQUAL = re.compile(r"\s*(?:=+|~|≈)\s*")
TEXT = "text id"  # a column that tells the texts of all documents apart
ROW = "row"  # a column that stands for documents where there is none
_SYSTEM = "system"


def read_order(cell: str) -> dict[str, int] | None:
    """Return the rank of each name in a cell, 1 for the best; None if it is no order.

    Equal names have the same rank, and the next one counts them.

    >>> read_order("B > A = D > C")
    {'B': 1, 'A': 2, 'D': 2, 'C': 4}
    >>> read_order("B") is None
    True
    """
    ranks: dict[str, int] = {}
    groups = [_EQUAL.split(group) for group in _BETTER.split(cell.strip())]
    n_names = sum(map(len, groups))
    for group in groups:
        rank = len(ranks) + 1
        for name in group:
            ranks[name] = rank
    if n_names < 2 or len(ranks) < n_names or "" in ranks:
        return None
    return ranks


def order_columns(sheet: Sheet, named: Collection[str] = ()) -> list[str]:
    """Return the columns of judges and people of which most cells are orders.

    `named`: columns that the user names; others are known by names such as `human_rank`.
    """
    return [
        name
        for name in sheet.columns
        if (name in named or scorer_of(name)) and _holds_orders(sheet.cells(name))
    ]


def _holds_orders(cells: Sequence[str]) -> bool:
    """Whether most cells are orders that say which name is better."""
    orders = [
        cell for cell in cells if read_order(cell) is not None and _BETTER.search(cell)
    ]
    return 2 * len(orders) > len(cells)


def odd_cells(
    sheet: Sheet, columns: Sequence[str], missing: Collection[str] = ()
) -> Iterator[tuple[int, str, str]]:
    """Yield row, column and content of each cell that is no order, and not `missing`."""
    folded = {word.casefold() for word in missing}
    for column in columns:
        for row, cell in enumerate(to_keys(sheet.frame[column])):
            is_missing = is_blank(cell) or cell.strip().casefold() in folded
            if not is_missing and read_order(cell) is None:
                yield row, column, cell


def split_orders(
    sheet: Sheet, columns: Sequence[str], doc: str = ""
) -> tuple[Sheet, str]:
    """Return a row per ranked text, with ranks in the place of orders; and the document's column.

    `columns`: those of orders. `doc`: the column of documents, if the user names it;
    else a usual one, or rows are documents. Names are systems if any is longer than one
    letter; `A` and `B` may be another text in each row.
    """
    usual = [name for name in sheet.columns if fold_name(name) in USUAL[Role.DOC]]
    doc = doc or next(iter(usual), ROW)
    orders = {
        column: [read_order(cell) or {} for cell in to_keys(sheet.frame[column])]
        for column in columns
    }
    documents = (
        to_keys(sheet.frame[doc]).tolist()
        if doc in sheet.frame
        else [str(line) for line in sheet.lines]
    )
    rows: list[int] = []
    names: list[str] = []
    for row in range(len(sheet.lines)):
        of_row = {name for column in columns for name in orders[column][row]}
        rows += [row] * len(of_row)
        names += sorted(of_row)
    frame = sheet.frame.iloc[rows].reset_index(drop=True)
    for column in columns:
        ranks = [
            orders[column][row].get(name) for row, name in zip(rows, names, strict=True)
        ]
        frame[column] = np.array(ranks, dtype=np.float64)
    of_rows = [documents[row] for row in rows]
    frame[doc] = of_rows
    frame[TEXT] = [f"{of}: {name}" for of, name in zip(of_rows, names, strict=True)]
    if _SYSTEM not in frame and max(map(len, names)) > 1:
        frame[_SYSTEM] = names
    note = (
        f"orders are read as ranks, of which the first is the best: {listed(columns)}"
    )
    split = replace(
        sheet,
        frame=frame.astype({name: "str" for name in (doc, TEXT)}),
        lines=np.asarray(sheet.lines)[rows],
        notes=(*sheet.notes, note),
        parts=(),
    )
    return split, doc

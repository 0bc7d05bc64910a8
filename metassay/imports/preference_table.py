"""Preferences of other tools' files as one table for `check`: a row per pair, as it was shown.

`import preferences` joins both orders of a pair; here they are rows of their own, so
that a judge's position bias can be seen.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from metassay.imports.items import PERSON, Comparison, Task
from metassay.imports.preferences import read
from metassay.tabular.rows import Findings
from metassay.tabular.sheet import Sheet, columns_sheet, values_column

# People with a column of their own; more share columns: the first, second, ... of a pair.
_COLUMNS = 20

Key = tuple[
    str, str, str
]  # document, and the systems in the order in which they were shown


def preference_sheet(paths: Sequence[Path], problems: Findings) -> Sheet | None:
    """Return the preferences of files as one sheet, or None with the problems added.

    Columns: document, system_a, system_b, and A, B or tie per judge and person.
    """
    games: list[_Game] = []
    for path in paths:
        faults = Findings()
        task = Task(path=path, columns={}, problems=faults, notes=Findings())
        for comparison in read(task):
            if isinstance(comparison, Comparison):
                games += _games(comparison, task)
        problems.merge(faults)
    if problems:
        return None
    columns = _columns(games)
    lines = np.arange(1, len(columns["document"]) + 1)
    cells = {name: values_column(words) for name, words in columns.items()}
    name = " and ".join(path.name for path in paths)
    return columns_sheet(cells, lines, "pair", name, problems, "name another file")


@dataclass(frozen=True)
class _Game:
    """Who preferred what, of two texts in the order in which they were shown."""

    key: Key
    share: float | None  # of the text that was shown first
    by: str
    person: bool


def _games(comparison: Comparison, task: Task) -> Iterator[_Game]:
    doc, _ = task.names(comparison)
    first, second = str(comparison.first), str(comparison.second)
    share, swapped = comparison.share, None
    if comparison.games is not None:
        share, in_second = comparison.games
        swapped = None if in_second is None else 1.0 - in_second
    who: dict[str, Any] = {"by": comparison.by, "person": comparison.person}
    yield _Game(key=(doc, first, second), share=share, **who)
    if comparison.games is not None:
        yield _Game(key=(doc, second, first), share=swapped, **who)


@dataclass
class _Rows:
    """The cells of a table by column and key of the row."""

    keys: dict[Key, None] = field(default_factory=dict)
    cells: dict[str, dict[Key, list[float]]] = field(default_factory=dict)

    def put(self, column: str, key: Key, share: float | None) -> None:
        self.keys.setdefault(key)
        shares = self.cells.setdefault(column, {}).setdefault(key, [])
        if share is not None:
            shares.append(share)


def _columns(games: Iterable[_Game]) -> dict[str, list[Any]]:
    every = [*games]
    people = dict.fromkeys(game.by for game in every if game.person)
    shared = len(people) > _COLUMNS
    places: dict[Key, dict[str, int]] = {}
    rows = _Rows()
    # Columns of judges first.
    for game in sorted(every, key=lambda game: game.person):
        column = f"judge_{game.by}"
        if game.person:
            of_pair = places.setdefault(game.key, {})
            place = of_pair.setdefault(game.by, len(of_pair) + 1)
            name = str(place) if shared else game.by
            column = "human" if game.by == PERSON else f"human_{name}"
        rows.put(column, game.key, game.share)
    columns: dict[str, list[Any]] = {
        "document": [doc for doc, _, _ in rows.keys],
        "system_a": [first for _, first, _ in rows.keys],
        "system_b": [second for _, _, second in rows.keys],
    }
    for column, cells in rows.cells.items():
        columns[column] = [_word(cells.get(key, [])) for key in rows.keys]
    return columns


def _word(shares: list[float]) -> str:
    """Write a preference; of several by one person of one pair, the mean."""
    if not shares:
        return ""
    mean = sum(shares) / len(shares)
    if mean == 0.5:
        return "tie"
    return "A" if mean > 0.5 else "B"

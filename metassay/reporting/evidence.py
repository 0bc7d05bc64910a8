"""The view Evidence: every table of a page, as `words.yaml` says that it is shown.

A block there has the table's `title` and what it `says`; `pick`, `lead`, `across`, `cell` and
`hide` are names of columns, separated by spaces (contract.TableInfo). What a block leaves out is
that of the `analysis` that makes the table, or of tables like it: `_DEFAULTS`. `ordered: false`
keeps its rows as they stand.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from metassay import __version__
from metassay.core import strict_yaml
from metassay.format.frames import rows
from metassay.format.terms import COEFFICIENTS, COMPONENTS, LEVELS
from metassay.meta_evaluation.evaluate import ANALYSES
from metassay.meta_evaluation.options import ANY_SHAPE
from metassay.reporting import contract as c
from metassay.reporting.contract_page import TABLES
from metassay.reporting.names import criterion_rank, sorted_authors, sorted_metrics, sorted_parts
from metassay.reporting.shell import PageFolder
from metassay.tables.columns import SHARED
from metassay.tables.judge_cards import CARD_STATISTICS
from metassay.tables.summaries import SUMMARIES

TableWords = Mapping[str, Any]
Figures = Mapping[str, Sequence[c.FigureInfo]]
LISTS = "all_ratings"  # a column for figures alone: long lists that no file has
_DEFAULTS = {
    "pick": "study criterion part level coefficient",
    "lead": "metric judge",
    "hide": "recipe",
}
_CELL = ("value", "low", "high", "n", "n_missing")


@cache
def texts(file: str) -> Any:
    """Read the blocks of a file of this folder, such as `words.yaml`."""
    return strict_yaml.load(Path(__file__).with_name(file))


def finish(
    page: PageFolder,
    kind: str,
    tables: Mapping[str, pd.DataFrame],
    command: str,
    *,
    figures: Figures | None = None,
    blocks: Mapping[str, TableWords] | None = None,
    systems: Mapping[str, Any] | None = None,
    **head: Any,
) -> None:
    """Write the tables that have a row, then the head of a page of this `kind`.

    Tables stand in the order of the kind in `words_of_tests.yaml`, of `words.yaml`, then of
    `blocks`, whose tables no file has; one without a block is a KeyError. `command` makes them
    again. `figures` draw a table, by its name. `systems` are fields of SystemsInfo, and `head` of
    Head, that no file has.
    """
    words, figures = texts("words_of_tests.yaml")[kind], figures or {}
    of_kind, more = (
        {name: {"group": words.get("group"), **block} for name, block in group.items()}
        for group in (words.get("tables", {}), blocks or {})
    )
    all_blocks = {**of_kind, **_blocks(), **of_kind, **more}
    frames = {name: frame.drop(columns=LISTS, errors="ignore") for name, frame in tables.items()}
    evidence = [
        _put_table(page, name, frames[name], all_blocks[name], command, figures.get(name, ()))
        for name in sorted(tables, key=list(all_blocks).index)
        if not frames[name].empty
    ]
    fields = {
        "about": words.get("about"),
        "terms": [c.Term(*term) for term in words.get("terms", {}).items()],
        "systems": _systems(words.get("systems"), evidence, systems or {}),
        "figures": [info for infos in figures.values() for info in infos],
    }
    made = f"Metassay {__version__}"
    page.finish(c.Head(kind=kind, made=made, tables=evidence, **{**fields, **head}))


def _put_table(
    page: PageFolder,
    name: str,
    frame: pd.DataFrame,
    block: TableWords,
    command: str,
    figures: Sequence[c.FigureInfo],
) -> c.TableInfo:
    contract = {**TABLES, **SUMMARIES}.get(name)
    columns = SHARED if contract is None else contract.columns
    means = {column: record.meaning for column, record in columns.items()}
    return page.put_evidence(
        name,
        ordered(name, frame) if block.get("ordered", True) else frame,
        means={**means, **block.get("columns", {})},
        title=block["title"],
        group=block["group"],
        says=block.get("says", ()),
        csv=f"{name}.csv",
        command=command,
        across=block.get("across", ""),
        cell=_cell(frame, block),
        figures=[figure.name for figure in figures],
        **{key: _names(frame, block, key) for key in _DEFAULTS},
        picture=block.get("picture", ""),
    )


def _systems(
    words: TableWords | None, evidence: Sequence[c.TableInfo], more: Mapping[str, Any]
) -> c.SystemsInfo | None:
    """Return what the view Systems shows, if its table is there; `groups` only if that is there."""
    names = {info.name for info in evidence}
    if words is None or words["table"] not in names:
        return None
    groups = words.get("groups", "")
    fields = {
        "metric": words["metric"].split(),
        "cell": c.CellInfo(*words["cell"].split()),
        "groups": groups if groups in names else "",
    }
    return c.SystemsInfo(**{**words, **fields, **more})


@cache
def _blocks() -> dict[str, TableWords]:
    """Return blocks by table, with the words of its analysis where the file has none."""
    pages = {table.name: analysis.page for analysis in ANALYSES for table in analysis.tables}
    by_table: dict[str, TableWords] = {}
    for group, blocks in texts("words.yaml")["tables"].items():
        for name, block in blocks.items():
            words = dict(block or {})
            page = pages.get(words.get("analysis", name))
            if page is not None:
                says = [" ".join(text.split()) for text in page.says.split("\n\n") if text]
                words = {"title": page.heading, "says": says, **words}
            by_table[name] = {"group": group, "title": "", **words}
    return by_table


def _names(frame: pd.DataFrame, block: TableWords, key: str) -> list[str]:
    """Return the columns that a block names, or the default ones that the table has."""
    if key in block:
        names = str(block[key]).split()
        return [name for name in names if name in frame] if key == "hide" else names
    shown = {block.get("across", ""), *str(block.get("lead", "")).split()}
    return [name for name in _DEFAULTS[key].split() if name in frame and name not in shown]


def _cell(frame: pd.DataFrame, block: TableWords) -> c.CellInfo | None:
    if "cell" in block:
        names = ["" if name == "-" else name for name in str(block["cell"]).split()]
        return c.CellInfo(*names) if names else None
    if "value" not in frame:
        return None
    return c.CellInfo(*(name if name in frame else "" for name in _CELL))


# In which order rows stand: columns, and what puts their values in order.
_Sort = Callable[[Iterable[Any]], Sequence[Any]]
_Order = tuple[tuple[str, ...], _Sort]


def _first(*names: str) -> _Sort:
    """Sort these names first and in this order, then others by name."""
    rank = {name: place for place, name in enumerate(names)}
    return lambda values: sorted(values, key=lambda name: (rank.get(name, len(rank)), name))


_ORDERS: tuple[_Order, ...] = (
    (("rubric", "position"), sorted),
    (("study",), sorted),
    (("criterion",), lambda values: sorted(values, key=criterion_rank)),
    (("part",), sorted_parts),
    (("level",), _first(*LEVELS)),
    (("metric", "judge"), sorted_metrics),
    (("author",), sorted_authors),
    (("coefficient",), _first(*COEFFICIENTS)),
    (("component",), _first(*COMPONENTS)),
    (("statistic",), _first(ANY_SHAPE, *CARD_STATISTICS)),
)


def ordered(name: str, frame: pd.DataFrame) -> pd.DataFrame:
    """Sort a table as pages do: by study, criterion, part, metric, author, the rest of its key.

    Tables without a contract stand as they were made.
    """
    if name not in TABLES:
        return frame
    others: list[_Order] = [((column,), sorted) for column in TABLES[name].key]
    places = []
    for columns, order in (*_ORDERS, *others):
        if set(columns) <= set(frame):
            values = [key if len(columns) > 1 else key[0] for key in rows(frame, *columns)]
            place = {value: number for number, value in enumerate(order(set(values)))}
            places.append([place[value] for value in values])
    return frame.take(np.lexsort(places[::-1]))


def in_order(frame: pd.DataFrame, order: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Sort rows by the columns of `order`, which has their values in order; others come last."""
    columns = [name for name in order if name in frame]
    places = {name: {key: n for n, key in enumerate(order[name])} for name in columns}
    return frame.sort_values(columns, key=lambda of: of.map(places[str(of.name)]), kind="stable")

"""The view Evidence: every table of a page, as `words.yaml` says that it is shown.

A block there has the table's `title` and what it `says`; `pick`, `lead`, `across`, `cell` and
`hide` are names of columns, parted by spaces (contract.TableInfo). What a block leaves out is that
of the `analysis` that makes the table, or of tables like it: `_DEFAULTS`. `ordered: false` keeps
its rows as they stand.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from metassay import __version__
from metassay.format import glossary
from metassay.format.frames import rows
from metassay.format.terms import COEFFICIENTS, COMPONENTS, LEVELS
from metassay.meta_evaluation.evaluate import ANALYSES
from metassay.meta_evaluation.options import ANY_SHAPE
from metassay.meta_evaluation.verdicts import CANNOT_TELL, PROMISING, TRUSTED, VERDICTS
from metassay.reporting import contract as c
from metassay.reporting.contract_page import TABLES
from metassay.reporting.names import criterion_rank, sorted_authors, sorted_metrics, sorted_parts
from metassay.reporting.section import TableWords, texts
from metassay.reporting.shell import PageFolder
from metassay.tables.columns import SHARED
from metassay.tables.judge_cards import CARD_STATISTICS
from metassay.tables.summaries import SUMMARIES

_DEFAULTS = {
    "pick": "study criterion part level coefficient",
    "lead": "metric judge",
    "cell": "value low high n n_missing",
    "hide": "recipe",
}
LISTS = "all_ratings"  # a column for figures alone: long lists that no file has
Figures = Mapping[str, Sequence[c.FigureInfo]]
_FIELDS = ("value", "low", "high", "n", "missing")


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
    `blocks`, whose tables no file knows; one without a block is a KeyError. `command` makes them
    again. `figures` draw a table, by its name. `systems` are fields of SystemsInfo, and `head` of
    Head, that no file knows.
    """
    words, drawn = words_of(kind), figures or {}
    of_kind, more = (
        {name: {"group": words.get("group"), **block} for name, block in of.items()}
        for of in (words.get("tables", {}), blocks or {})
    )
    known = {**of_kind, **_blocks(), **of_kind, **more}
    shown = {name: frame.drop(columns=LISTS, errors="ignore") for name, frame in tables.items()}
    evidence = [
        _put_table(page, name, shown[name], known[name], command, drawn.get(name, ()))
        for name in sorted(tables, key=list(known).index)
        if not shown[name].empty
    ]
    fields = {
        "about": words.get("about"),
        "terms": [c.Term(*term) for term in words.get("terms", {}).items()],
        "systems": _systems(words.get("systems"), evidence, systems or {}),
        "figures": [info for infos in drawn.values() for info in infos],
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
    return page.put_evidence(
        name,
        ordered(name, frame) if block.get("ordered", True) else frame,
        means=meanings(name, block),
        hide=_names(frame, block, "hide"),
        title=block["title"],
        group=block["group"],
        says=block.get("says", ()),
        csv=f"{name}.csv",
        command=command,
        across=block.get("across", ""),
        cell=_cell(frame, block),
        figures=[one.name for one in figures],
        lead=_names(frame, block, "lead"),
        pick=_names(frame, block, "pick"),
        picture=block.get("picture", ""),
    )


def _systems(
    words: TableWords | None, evidence: Sequence[c.TableInfo], more: Mapping[str, Any]
) -> c.SystemsInfo | None:
    """What the view Systems shows, if its table is there; `groups` only if that is there."""
    there = {info.name for info in evidence}
    if words is None or words["table"] not in there:
        return None
    groups = words.get("groups", "")
    fields = {
        "metric": words["metric"].split(),
        "cell": c.CellInfo(*words["cell"].split()),
        "groups": groups if groups in there else "",
    }
    return c.SystemsInfo(**{**words, **fields, **more})


def terms(*groups: str) -> list[c.Term]:
    """The terms of these groups of the glossary."""
    return [
        c.Term(name, one.whole) for name, one in glossary.terms().items() if one.group in groups
    ]


def verdict_words(**numbers: str) -> list[c.VerdictWord]:
    """Every kind of verdict, best first; `numbers` of the study stand in what they mean."""
    known = glossary.terms(**numbers)
    return [c.VerdictWord(kind, state_of(kind), known[kind].whole) for kind in VERDICTS]


def state_of(verdict: str) -> str:
    """What to do with a metric of this verdict: `use` it, `confirm` it, or `no`."""
    undecided = "confirm" if verdict in (PROMISING, CANNOT_TELL) else "no"
    return "use" if verdict in TRUSTED else undecided


def meanings(name: str, block: TableWords) -> dict[str, str]:
    """What the columns of a table mean: by its contract, and by its block."""
    contract = {**TABLES, **SUMMARIES}.get(name)
    known = SHARED if contract is None else contract.columns
    return {**{column: one.meaning for column, one in known.items()}, **block.get("columns", {})}


@cache
def _blocks() -> dict[str, TableWords]:
    """By name of the table, with the words of its analysis where the file has none."""
    pages = {table.name: one.page for one in ANALYSES for table in one.tables}
    found: dict[str, TableWords] = {}
    for group, blocks in texts("words.yaml")["tables"].items():
        for name, block in blocks.items():
            own = dict(block or {})
            page = pages.get(own.get("analysis", name))
            if page is not None and "says" not in own:
                own["says"] = [" ".join(said.split()) for said in page.says.split("\n\n") if said]
            title = page.heading if page is not None else ""
            found[name] = {"group": group, "title": title, **own}
    return found


def _names(frame: pd.DataFrame, block: TableWords, key: str) -> list[str]:
    """The columns that a block names, or the default ones that the table has."""
    if key in block:
        return str(block[key]).split()
    taken = {block.get("across", ""), *str(block.get("lead", "")).split()}
    return [one for one in _DEFAULTS[key].split() if one in frame and one not in taken]


def _cell(frame: pd.DataFrame, block: TableWords) -> c.CellInfo | None:
    if "cell" in block:
        named = ["" if one == "-" else one for one in str(block["cell"]).split()]
        return c.CellInfo(*named) if named else None
    if "value" not in frame:
        return None
    there = [one if one in frame else "" for one in _DEFAULTS["cell"].split()]
    return c.CellInfo(**dict(zip(_FIELDS, there, strict=True)))


# In which order rows stand: columns, and what puts their values in order.
_Sort = Callable[[Iterable[Any]], Sequence[Any]]
_Order = tuple[tuple[str, ...], _Sort]


def _first(*names: str) -> _Sort:
    """These names first and in this order, then others by name."""
    rank = {name: place for place, name in enumerate(names)}
    return lambda found: sorted(found, key=lambda name: (rank.get(name, len(rank)), name))


_ORDERS: tuple[_Order, ...] = (
    (("rubric", "position"), sorted),
    (("study",), sorted),
    (("criterion",), lambda found: sorted(found, key=criterion_rank)),
    (("part",), sorted_parts),
    (("level",), _first(*LEVELS)),
    (("metric", "judge"), sorted_metrics),
    (("author",), sorted_authors),
    (("coefficient",), _first(*COEFFICIENTS)),
    (("component",), _first(*COMPONENTS)),
    (("statistic",), _first(ANY_SHAPE, *CARD_STATISTICS)),
)


def ordered(name: str, frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of a table in the order of pages: of studies, criteria, parts, metrics and authors.

    Rows that are alike in these stand by the rest of the table's key. Tables without a contract
    stand as they were made.
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
    at = np.lexsort(places[::-1])
    return frame.take(at)


def words_of(kind: str) -> TableWords:
    """The block of a kind of page."""
    words: TableWords = texts("words_of_tests.yaml")[kind]
    return words


def in_order(frame: pd.DataFrame, order: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """The rows sorted by the columns of `order`, whose values stand there in order; others last."""
    columns = [name for name in order if name in frame]
    places = {name: {key: n for n, key in enumerate(order[name])} for name in columns}
    return frame.sort_values(columns, key=lambda of: of.map(places[str(of.name)]), kind="stable")

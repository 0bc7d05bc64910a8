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

from metassay.format import glossary
from metassay.format.frames import rows
from metassay.format.terms import COEFFICIENTS, LEVELS
from metassay.meta_evaluation.evaluate import ANALYSES
from metassay.meta_evaluation.options import ANY_SHAPE
from metassay.meta_evaluation.verdicts import CANNOT_TELL, PROMISING, TRUSTED, VERDICTS
from metassay.reporting import contract as c
from metassay.reporting.contract_page import TABLES
from metassay.reporting.names import criterion_rank, sorted_authors, sorted_metrics, sorted_parts
from metassay.reporting.page import LISTS, Report
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
_FIELDS = ("value", "low", "high", "n", "missing")


def put_tables(
    page: PageFolder,
    tables: Mapping[str, pd.DataFrame],
    command: str,
    *,
    figures: Mapping[str, Sequence[c.FigureInfo]] | None = None,
    says: Mapping[str, Sequence[str]] | None = None,
    blocks: Mapping[str, TableWords] | None = None,
) -> list[c.TableInfo]:
    """Write the tables that have a row, in the order of `words.yaml`, then those of `blocks`.

    `command` makes them again. `figures` draw a table, by its name. `says` is said of a table
    before what its block says. `blocks` are of tables that no file knows, each with its `group`. A
    table without a block is a KeyError.
    """
    known = {**_blocks(), **(blocks or {})}
    order = list(known)
    made = []
    for name in sorted(tables, key=order.index):
        frame, block = tables[name].drop(columns=LISTS, errors="ignore"), known[name]
        if frame.empty:
            continue
        info = page.put_evidence(
            name,
            ordered(name, frame) if block.get("ordered", True) else frame,
            means=meanings(name, block),
            hide=_names(frame, block, "hide"),
            title=block["title"],
            group=block["group"],
            says=[*(says or {}).get(name, ()), *block.get("says", ())],
            csv=f"{name}.csv",
            command=command,
            across=block.get("across", ""),
            cell=_cell(frame, block),
            figures=[one.name for one in (figures or {}).get(name, ())],
            lead=_names(frame, block, "lead"),
            pick=_names(frame, block, "pick"),
        )
        made.append(info)
    return made


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


# What pages of tests and of changes share: tables as `words_of_tests.yaml` has them, and words.


Figures = Mapping[str, Sequence[c.FigureInfo]]


def put_evidence(
    page: PageFolder,
    tables: Mapping[str, pd.DataFrame],
    kind: str,
    command: str,
    *,
    figures: Figures | None = None,
    blocks: Mapping[str, TableWords] | None = None,
) -> list[c.TableInfo]:
    """Write the tables of a kind of page that have a row, in the order of `words_of_tests.yaml`.

    `blocks` are of tables that no file knows; they come next, then those of `words.yaml`.
    """
    known = {**words_of(kind)["tables"], **(blocks or {})}
    grouped = {name: {"group": words_of(kind)["group"], **block} for name, block in known.items()}
    infos = put_tables(page, tables, command, figures=figures, blocks=grouped)
    order = {name: place for place, name in enumerate(known)}
    return sorted(infos, key=lambda info: order.get(info.name, len(order)))


def finish_test(
    page: PageFolder,
    report: Report,
    tables: Mapping[str, pd.DataFrame],
    kind: str,
    figures: Figures,
    blocks: Mapping[str, TableWords] | None = None,
    **head: Any,
) -> None:
    """Write evidence and the head of a test's page; `head` are counts, the statistics that are its
    `headline`, and fields of Head."""
    command = f"metassay run {report.benchmark}"
    evidence = put_evidence(page, tables, kind, command, figures=figures, blocks=blocks)
    tested, headline = words_of(kind)["tested"], head.pop("headline")
    noun, table, cell = tested["noun"], tested["table"], c.CellInfo(*tested["cell"].split())
    shown = table in {info.name for info in evidence}
    systems = c.SystemsInfo(noun, table, noun, ["statistic"], cell, "better", "", headline)
    fields = {
        "systems": systems if shown else None,
        "terms": [c.Term(*term) for term in words_of(kind)["terms"].items()],
        "tables": evidence,
        "figures": [info for infos in figures.values() for info in infos],
    }
    notes = tables.get("notes", pd.DataFrame(columns=["stage", "note"]))
    about, counts = words_of(kind)["about"], head.pop("counts")
    page.finish(report.head(kind, about, counts, notes, **fields, **head))


def words_of(kind: str) -> TableWords:
    """The block of a kind of page."""
    words: TableWords = texts("words_of_tests.yaml")[kind]
    return words


def in_order(frame: pd.DataFrame, order: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """The rows sorted by the columns of `order`, whose values stand there in order; others last."""
    columns = [name for name in order if name in frame]
    places = {name: {key: n for n, key in enumerate(order[name])} for name in columns}
    return frame.sort_values(columns, key=lambda of: of.map(places[str(of.name)]), kind="stable")

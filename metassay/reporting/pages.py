"""What pages of tests and of changes share: tables as `words_of_tests.yaml` has them, and words."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from metassay.reporting.contract import FigureInfo, TableInfo, Term
from metassay.reporting.evidence import put_tables
from metassay.reporting.page import Report
from metassay.reporting.shell import PageFolder
from metassay.reporting.specs import Block, texts

Figures = Mapping[str, Sequence[FigureInfo]]


def put_evidence(
    page: PageFolder,
    tables: Mapping[str, pd.DataFrame],
    kind: str,
    command: str,
    *,
    figures: Figures | None = None,
    blocks: Mapping[str, Block] | None = None,
) -> list[TableInfo]:
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
    blocks: Mapping[str, Block] | None = None,
    **head: Any,
) -> None:
    """Write evidence and the head of a test's page; `head` are counts and fields of Head."""
    command = f"metassay run {report.benchmark}"
    evidence = put_evidence(page, tables, kind, command, figures=figures, blocks=blocks)
    if head["systems"].table not in {info.name for info in evidence}:
        head["systems"] = None
    fields = {
        "terms": [Term(*term) for term in words_of(kind)["terms"].items()],
        "tables": evidence,
        "figures": [info for infos in figures.values() for info in infos],
    }
    notes = tables.get("notes", pd.DataFrame(columns=["stage", "note"]))
    about, counts = words_of(kind)["about"], head.pop("counts")
    page.finish(report.head(kind, about, counts, notes, **fields, **head))


def words_of(kind: str) -> Block:
    """The block of a kind of page."""
    words: Block = texts("words_of_tests.yaml")[kind]
    return words


def in_order(frame: pd.DataFrame, order: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """The rows sorted by the columns of `order`, whose values stand there in order; others last."""
    columns = [name for name in order if name in frame]
    places = {name: {key: n for n, key in enumerate(order[name])} for name in columns}
    return frame.sort_values(columns, key=lambda of: of.map(places[str(of.name)]), kind="stable")

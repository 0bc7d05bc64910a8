"""Checks and selections of tables for several stages."""

from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd

from metassay.core.errors import BadInput, shown
from metassay.tables.names import reference_number


def check_sources(table: str, doc_ids: Iterable[str], sources: pd.DataFrame) -> None:
    """Raise BadInput if documents of `table` are not in the table `sources`.

    `doc_ids`: those of the table's rows, in any order and with repeats.
    """
    absent = sorted(set(doc_ids) - set(sources["doc_id"]))
    if absent:
        raise BadInput(
            f"{table}: {len(absent):,} of its documents are not in sources, the first is doc_id"
            f" {shown(absent[0])}; add their sources, or run ingest and what follows again"
        )


def drop_further_references(rows: pd.DataFrame) -> pd.DataFrame:
    """Remove the rows of authors `reference:2`, `reference:3` and so on.

    Only rubrics read these. Other measures use one reference, and would treat these as
    systems.
    """
    further = [name for name in rows["author"].unique() if reference_number(name) > 1]
    return rows[~rows["author"].isin(further)] if further else rows


def rows_of(frame: pd.DataFrame, *names: str) -> Iterator[tuple[Any, ...]]:
    """Iterate over the rows of the named columns of a table."""
    return zip(*(frame[name].tolist() for name in names), strict=True)

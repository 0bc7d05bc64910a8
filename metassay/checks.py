"""Checks of one table against another that several stages make."""

from collections.abc import Iterable

import pandas as pd

from metassay.errors import BadInput, shown


def check_sources(table: str, doc_ids: Iterable[str], sources: pd.DataFrame) -> None:
    """Raises BadInput where documents of `table` are not in the table `sources`.

    `doc_ids`: those of the table's rows, in any order and with repeats.
    """
    absent = sorted(set(doc_ids) - set(sources["doc_id"]))
    if absent:
        raise BadInput(
            f"{table}: {len(absent):,} of its documents are not in sources, the first is doc_id"
            f" {shown(absent[0])}; add their sources, or run ingest and what follows again"
        )

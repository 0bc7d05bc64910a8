"""Raw files to checked tables."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from metassay.contract import Table, empty
from metassay.datasets.checks import check
from metassay.datasets.readers import READERS
from metassay.errors import BadInput
from metassay.params import Criterion
from metassay.tables import RATINGS, SOURCES, TEXTS


class Ingested(NamedTuple):
    """What a dataset holds, as the tables SOURCES, TEXTS and RATINGS, and what to know about it.

    Each warning is one line with file, row and remedy, without any document's text.
    """

    sources: pd.DataFrame
    texts: pd.DataFrame
    ratings: pd.DataFrame
    warnings: tuple[str, ...] = ()


def ingest(reader: str | None, raw: Path, criteria: Mapping[str, Criterion]) -> Ingested:
    """Read a folder of raw files with the named reader and check what it holds.

    `criteria` are those that the benchmark declares for its ratings. Raises BadInput with every
    problem in one go, each naming file, row and remedy; nothing is written.
    """
    if reader is None:
        raise BadInput("the dataset has no reader, so it is no benchmark; choose another dataset")
    if reader not in READERS:
        raise BadInput(f"reader {reader!r} is not known; choose from {sorted(READERS)}")
    rows = READERS[reader](raw)
    check(rows, criteria)
    if rows.problems:
        raise BadInput(rows.problems.lines())
    recipe = f"given|reader:{reader}"
    return Ingested(
        _frame(SOURCES, [row._asdict() for row in rows.sources]),
        _frame(TEXTS, [row._asdict() | {"recipe": recipe} for row in rows.texts]),
        _frame(RATINGS, [row._asdict() for row in rows.ratings]),
        tuple(rows.warnings.lines()),
    )


def _frame(table: Table, rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    if not rows:
        return empty(table)
    return pd.DataFrame({name: [row[name] for row in rows] for name in table.columns})

"""Tables of reports and `meta-eval` for readers, in addition to those of stages: CSV only."""

from collections.abc import Iterable, Sequence

import pandas as pd
import pyarrow as pa

from metassay.tables.columns import contracts
from metassay.tables.parquet import Table

SUMMARIES: dict[str, Table] = {table.name: table for table in contracts(__file__)}

_PANDAS = {pa.float64(): "float64", pa.int64(): "int64"}


def types(name: str) -> dict[str, str]:
    """Return the columns of such a table in order, with their pandas types."""
    return {
        column: "Int64"
        if c.null and c.type == pa.int64()
        else _PANDAS.get(c.type, "object")
        for column, c in SUMMARIES[name].columns.items()
    }


def to_frame(name: str, rows: Iterable[Sequence[object]]) -> pd.DataFrame:
    """Return rows as such a table."""
    return pd.DataFrame(list(rows), columns=list(types(name))).astype(types(name))

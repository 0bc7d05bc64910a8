"""Tables that reports and `meta-eval` make for their readers, beside those of stages: CSV alone."""

from collections.abc import Iterable, Sequence

import pandas as pd
import pyarrow as pa

from metassay.tables.columns import columns, contracts
from metassay.tables.parquet import Table

_KNOWN = columns(
    """
    low real?: lower end of the interval
    rubric text: the rubric
    p10 real?: a tenth is below
    p25 real?: a quarter is below
    median real?: half is below
    p75 real?: three quarters are below
    p90 real?: nine tenths are below
    metric_a text: a metric, with its judge in brackets
    metric_b text: another one
    """,
    {},
)


SUMMARIES: dict[str, Table] = {one.name: one for one in contracts(__file__, _KNOWN)}

_PANDAS = {pa.float64(): "float64", pa.int64(): "int64"}


def types(name: str) -> dict[str, str]:
    """The columns of such a table in order, and their types in pandas."""
    columns = SUMMARIES[name].columns.items()
    return {
        column: "Int64" if one.null and one.type == pa.int64() else _PANDAS.get(one.type, "object")
        for column, one in columns
    }


def framed(name: str, made: Iterable[Sequence[object]]) -> pd.DataFrame:
    """These rows as such a table."""
    return pd.DataFrame(list(made), columns=list(types(name))).astype(types(name))

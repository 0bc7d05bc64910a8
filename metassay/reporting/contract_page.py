"""docs/tables.md: the tables as a page.

`python -m metassay.reporting.contract_page docs/tables.md` writes it.
"""

import sys
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from metassay.tables.index import TABLES
from metassay.tables.parquet import Table


def describe(tables: Mapping[str, Table]) -> str:
    """The tables as a Markdown page."""
    lines = ["# Tables", "", "Generated from `metassay/tables/`; do not edit.", ""]
    lines += [
        "Every table is Parquet at `data/tables/<benchmark>/<table>.parquet`, or a folder of that"
        " name where the DAG fans out: one file per system, judge, block of questions or costly"
        " metric. Rows are sorted by key; keys are unique and never null; reals have 12"
        " significant digits.",
        "",
    ]
    for table in tables.values():
        lines += [f"## {table.name}", "", f"{table.says[0].upper()}{table.says[1:]}.", ""]
        lines += [f"Key: {', '.join(f'`{name}`' for name in table.key)}", ""]
        lines += ["| column | type | null | meaning |", "|---|---|---|---|"]
        for name, column in table.columns.items():
            kind = f"one of {', '.join(column.choices)}" if column.choices else str(column.type)
            kind = kind.replace("list<item: ", "list<")
            kind = "string" if pa.types.is_dictionary(column.type) else kind
            null = "yes" if column.null else ""
            lines.append(f"| {name} | {kind} | {null} | {column.meaning} |")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(describe(TABLES), encoding="utf-8")

"""Read contracts of tables, with the columns and phrases that several tables share.

A module of contracts has a text file of the same name with a paragraph for each: a line
`TABLE KEY ...: MEANING`, then its columns. A change here makes nearly every stage
stale.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

import pyarrow as pa

from metassay.tables.parquet import Column, Table

OTHERS = "lower end of the interval for other systems and other documents"
ONE_SIDED = "texts that have either a score or a rating, but not both"
ORIENTED = "Metric and criterion are turned so that more is better."

_TYPES = {
    "text": pa.string(),
    "repeated": pa.dictionary(pa.int32(), pa.string()),  # long text that many rows have
    "integer": pa.int64(),
    "real": pa.float64(),  # rounded to 12 significant digits when written
    "boolean": pa.bool_(),
    "texts": pa.list_(pa.string()),
    "integers": pa.list_(pa.int64()),
    "reals": pa.list_(pa.float64()),
}
_FLAGS = {"?": "null", "!": "exact", "+": "later"}


def entries(text: str) -> list[tuple[str, str]]:
    """Split lines `HEAD: MEANING` at the first colon; indented lines continue those above."""
    lines = re.split(r"\n(?!\s)", dedent(text).strip())
    pairs = (" ".join(line.split()).partition(": ") for line in lines)
    return [(head, meaning) for head, _, meaning in pairs]


def columns(spec: str, known: Mapping[str, Column]) -> dict[str, Column]:
    """Parse columns from lines `NAME TYPE: MEANING`; an indented line continues the one above.

    TYPE is a name of `_TYPES` or the possible values, separated by bars (`yes|no`). A
    suffix `?` allows nulls, `!` marks an exact real, `+` a column that older files
    lack. A line without a colon lists names of `known` columns.
    """
    parsed: dict[str, Column] = {}
    for head, meaning in entries(spec):
        if not meaning:
            parsed |= {name: known[name] for name in head.split()}
            continue
        name, _, kind = head.partition(" ")
        bare = kind.rstrip("".join(_FLAGS))
        flags = {_FLAGS[flag]: True for flag in kind[len(bare) :]}
        choices = tuple(map(str.strip, bare.split("|"))) if "|" in bare else ()
        kind = "text" if choices else bare
        parsed[name] = Column(_TYPES[kind], meaning, choices=choices, **flags)
    return parsed


SHARED = columns(Path(__file__).with_suffix(".txt").read_text(encoding="utf-8"), {})


def table(
    name: str, says: str, key: str, spec: str, known: Mapping[str, Column] | None = None
) -> Table:
    """Return a contract from its key's columns, separated by spaces, and a spec for `columns`.

    Columns in SHARED and `known`, such as another table's, can be listed by name.
    """
    return Table(
        name, says, tuple(key.split()), columns(spec, {**SHARED, **(known or {})})
    )


def contracts(file: str, known: Mapping[str, Column] | None = None) -> list[Table]:
    """Read the contracts of the module `file` in order.

    A contract can list by name the columns of those before it, of SHARED and of
    `known`.
    """
    tables: list[Table] = []
    known = {**SHARED, **(known or {})}
    for paragraph in (
        Path(file).with_suffix(".txt").read_text(encoding="utf-8").split("\n\n")
    ):
        head, *spec = re.split(r"\n(?!\s)", paragraph.strip())
        ((name_and_key, says),) = entries(head)
        name, _, key = name_and_key.partition(" ")
        tables.append(table(name, says, key, "\n".join(spec), known))
        known = {**tables[-1].columns, **known}
    return tables

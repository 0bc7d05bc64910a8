"""How contracts are written, and the columns and words that several tables share.

A module of contracts has them in a text file of its own name: a paragraph each, which begins with
a line `TABLE KEY ...: WHAT IT SAYS` and goes on with its columns.

A change here makes nearly every stage stale.
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
    "repeated": pa.dictionary(pa.int32(), pa.string()),  # long text that many rows share
    "integer": pa.int64(),
    "real": pa.float64(),  # rounded to 12 significant digits when written
    "boolean": pa.bool_(),
    "texts": pa.list_(pa.string()),
    "integers": pa.list_(pa.int64()),
    "reals": pa.list_(pa.float64()),
}
_FLAGS = {"?": "null", "!": "exact", "+": "later"}


def entries(text: str) -> list[tuple[str, str]]:
    """Lines `HEAD: MEANING`, each parted at its first colon; indented lines go on those above."""
    lines = re.split(r"\n(?!\s)", dedent(text).strip())
    parted = (" ".join(line.split()).partition(": ") for line in lines)
    return [(head, meaning) for head, _, meaning in parted]


def columns(spec: str, known: Mapping[str, Column]) -> dict[str, Column]:
    """Columns out of lines `NAME TYPE: MEANING`; a line that is indented goes on the one above.

    TYPE is a name of `_TYPES` or the values that the column may have, parted by bars (`yes|no`);
    after it `?` says that there may be nulls, `!` that a real is kept to its last digit, `+` that
    older files lack the column. A line without a colon names columns that are `known`.
    """
    made: dict[str, Column] = {}
    for head, meaning in entries(spec):
        if not meaning:
            made |= {name: known[name] for name in head.split()}
            continue
        name, _, kind = head.partition(" ")
        bare = kind.rstrip("".join(_FLAGS))
        flags = {_FLAGS[flag]: True for flag in kind[len(bare) :]}
        choices = tuple(map(str.strip, bare.split("|"))) if "|" in bare else ()
        made[name] = Column(_TYPES["text" if choices else bare], meaning, choices=choices, **flags)
    return made


SHARED = columns(Path(__file__).with_suffix(".txt").read_text(encoding="utf-8"), {})


def table(
    name: str, says: str, key: str, spec: str, known: Mapping[str, Column] | None = None
) -> Table:
    """A contract: its key's columns, parted by spaces, and all columns as `columns` reads them.

    Those that are `known` beside SHARED, such as another table's, may be named alone.
    """
    return Table(name, says, tuple(key.split()), columns(spec, {**SHARED, **(known or {})}))


def contracts(file: str, known: Mapping[str, Column] | None = None) -> list[Table]:
    """The contracts beside the module in `file`, in their order; `known` as in `table`."""
    found = []
    for paragraph in Path(file).with_suffix(".txt").read_text(encoding="utf-8").split("\n\n"):
        head, *spec = re.split(r"\n(?!\s)", paragraph.strip())
        ((named, says),) = entries(head)
        name, _, key = named.partition(" ")
        found.append(table(name, says, key, "\n".join(spec), known))
    return found

"""How contracts are written, and the columns and words that several tables share.

A change here makes nearly every stage stale.
"""

import re
from collections.abc import Mapping
from textwrap import dedent

import pyarrow as pa

from metassay.tables.parquet import Column, Table

STATUSES = ("ok", "unparsed", "refused", "truncated", "error")
JUDGED = ("ok", "abstained", "unparsed", "refused", "truncated", "error")
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


SHARED = columns(
    """
    doc_id text: the document: one input and everything written about it
    author text: `reference` or a system's name
    part text: `full`, or a section or facet
    recipe text: everything that went into the number or text; different recipes are never compared
    level global|document|system: the level of the correlation
    coefficient pearson|spearman|kendall|kendall_c: the coefficient; kendall is tau-b, kendall_c is
      Stuart's tau-c
    metric text: the metric
    segmentation text: the segmentation's name in params.yaml
    judge text: the judge, or `none`
    study text: the study
    criterion text: the human criterion
    high real?: upper end of the interval
    better higher|lower|neither: which direction is better
    """,
    {},
)


def table(
    name: str, says: str, key: str, spec: str, known: Mapping[str, Column] | None = None
) -> Table:
    """A contract: its key's columns, parted by spaces, and all columns as `columns` reads them.

    Those that are `known` beside SHARED, such as another table's, may be named alone.
    """
    return Table(name, says, tuple(key.split()), columns(spec, {**SHARED, **(known or {})}))

"""Every table by name, and docs/tables.md and docs/tables/, the pages about them.

`python -m metassay.reporting.contract_page docs` writes them.
"""

import sys
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from metassay.meta_evaluation.evaluate import RESULT_TABLES
from metassay.tables.alignments import ALIGNMENTS
from metassay.tables.certificates import CERTIFICATES
from metassay.tables.corruptions import CORRUPTIONS
from metassay.tables.criteria import CRITERIA
from metassay.tables.documents import DOCUMENT_CLUSTERS, SOURCES, TEXTS
from metassay.tables.evidence import EVIDENCE
from metassay.tables.judge_tests import (
    ATTACK_GAINS,
    GIVEN_VERDICTS,
    GOLD,
    VERDICTS,
)
from metassay.tables.judgments import JUDGMENTS
from metassay.tables.leaderboard import LEADERBOARD
from metassay.tables.notes import NOTES
from metassay.tables.pairs import PAIRS
from metassay.tables.parquet import Table
from metassay.tables.parts import PARTS, SEGMENTS
from metassay.tables.ratings import RATINGS
from metassay.tables.responses import RESPONSES
from metassay.tables.scores import MEASUREMENTS, SCORES
from metassay.tables.segment_scores import CONFUSIONS, SEGMENT_SCORES
from metassay.tables.sentences import SEGMENTED, SENTENCES
from metassay.tables.statement_scores import STATEMENT_SCORES
from metassay.tables.tracking import (
    ANCHORS,
    CHANGED_DOCUMENTS,
    CHANGES,
    DRIFT,
    HISTORY,
    HISTORY_MEANS,
)
from metassay.tables.units import UNITS

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        SOURCES,
        TEXTS,
        PARTS,
        SEGMENTS,
        UNITS,
        RESPONSES,
        NOTES,
        ALIGNMENTS,
        PAIRS,
        JUDGMENTS,
        CRITERIA,
        MEASUREMENTS,
        STATEMENT_SCORES,
        SCORES,
        DOCUMENT_CLUSTERS,
        LEADERBOARD,
        RATINGS,
        *(table for table in RESULT_TABLES.values() if table is not EVIDENCE),
        GOLD,
        GIVEN_VERDICTS,
        VERDICTS,
        ATTACK_GAINS,
        SENTENCES,
        SEGMENTED,
        SEGMENT_SCORES,
        CONFUSIONS,
        EVIDENCE,
        CERTIFICATES,
        CHANGES,
        CHANGED_DOCUMENTS,
        HISTORY,
        HISTORY_MEANS,
        ANCHORS,
        DRIFT,
        CORRUPTIONS,
    )
}


INTRODUCTION = """# Tables

Each table has a page with its key and its columns; the search finds tables and columns.
Generated from `metassay/tables/`; do not edit.

A table is a Parquet file, `data/tables/<benchmark>/<table>.parquet`. If several stages
write a table, it is a folder of that name, with a file per system, judge, block of
questions or costly metric. Rows are sorted by key. Keys are unique and never null. Real
numbers have 12 significant digits.

| table | what it holds |
|---|---|
"""


def pages(tables: Mapping[str, Table]) -> dict[str, str]:
    """Return the pages about tables: their paths in docs/, and their Markdown."""
    rows = [
        f"| [{table.name}](tables/{table.name}.md) | {_first_sentence(table.says)} |\n"
        for table in tables.values()
    ]
    index = {"tables.md": INTRODUCTION + "".join(rows)}
    return index | {
        f"tables/{table.name}.md": describe(table) for table in tables.values()
    }


def describe(table: Table) -> str:
    """Return the page about one table."""
    key = ", ".join(f"`{name}`" for name in table.key)
    lines = [f"# {table.name}", "", _sentence(table.says), "", f"Key: {key}", ""]
    lines += ["| column | type | null | meaning |", "|---|---|---|---|"]
    for name, column in table.columns.items():
        if column.choices:
            kind = f"one of {', '.join(column.choices)}"
        elif pa.types.is_dictionary(column.type):
            kind = "string"
        else:
            kind = str(column.type).replace("list<item: ", "list<")
        null = "yes" if column.null else ""
        lines.append(f"| {name} | {kind} | {null} | {column.meaning} |")
    return "\n".join(lines) + "\n"


def _sentence(says: str) -> str:
    return f"{says[0].upper()}{says[1:]}."


def _first_sentence(says: str) -> str:
    return _sentence(says.partition(". ")[0].removesuffix("."))


def write(docs: Path) -> None:
    """Write the pages into a folder, and remove those of tables that are gone."""
    written = pages(TABLES)
    folder = docs / "tables"
    folder.mkdir(exist_ok=True)
    for page in folder.glob("*.md"):
        if f"tables/{page.name}" not in written:
            page.unlink()
    for name, text in written.items():
        (docs / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))

"""Every table by name, and docs/tables.md, the page about them.

`python -m metassay.reporting.contract_page docs/tables.md` writes it.
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
from metassay.tables.judge_tests import GIVEN_VERDICTS, GOLD, VERDICTS
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
        lines += [
            f"## {table.name}",
            "",
            f"{table.says[0].upper()}{table.says[1:]}.",
            "",
        ]
        lines += [f"Key: {', '.join(f'`{name}`' for name in table.key)}", ""]
        lines += ["| column | type | null | meaning |", "|---|---|---|---|"]
        for name, column in table.columns.items():
            kind = (
                f"one of {', '.join(column.choices)}"
                if column.choices
                else str(column.type)
            )
            kind = kind.replace("list<item: ", "list<")
            kind = "string" if pa.types.is_dictionary(column.type) else kind
            null = "yes" if column.null else ""
            lines.append(f"| {name} | {kind} | {null} | {column.meaning} |")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(describe(TABLES), encoding="utf-8")

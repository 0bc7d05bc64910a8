"""What every report is made of: its dataset, its tables, and the calls of models for it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from metassay.llm.endpoints import parse_models
from metassay.reporting.names import describe_seen
from metassay.tables.notes import NOTES
from metassay.tables.parquet import Table
from metassay.tables.responses import RESPONSES
from stages.doorway import StageIO


def report_fields(
    io: StageIO,
    tables: Iterable[Table],
    names: Sequence[str],
    shown_as: Mapping[str, str],
) -> dict[str, Any]:
    """Return the fields of a Report; `names` are the judges or segmentations that it is about."""
    dataset = io.dataset()
    return {
        "benchmark": io.benchmark,
        **{
            n: getattr(dataset, n) for n in ("title", "licence", "citation", "invented")
        },
        "seen": describe_seen(io.param("seen"), names, shown_as),
        "responses": io.read_each(RESPONSES),
        "notes": io.read_each(NOTES),
        "models": parse_models(io.project.endpoints, io.shared("models")).models,
        "tables": {table.name: io.read(table) for table in tables},
    }

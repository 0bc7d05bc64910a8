"""Read raw files into checked tables."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from metassay.core.errors import BadInput, raise_problems
from metassay.core.kinds import is_path
from metassay.core.options import Criterion
from metassay.datasets.checks import check
from metassay.datasets.readers import READERS, check_type, reader_of
from metassay.tables.criteria import dataset_criteria
from metassay.tables.documents import SOURCES, TEXTS
from metassay.tables.names import NO_JUDGE
from metassay.tables.parquet import frame_of
from metassay.tables.parts import SEGMENTS
from metassay.tables.ratings import RATINGS
from metassay.tables.scores import MEASUREMENTS
from metassay.tabular.rows import Rows, ScoreRow


class Tables(NamedTuple):
    """The tables of a dataset, and warnings: lines with file, row and remedy, without any text.

    `measurements` are the dataset's scores; `criteria` describes those of its metrics
    that no other dataset has.
    """

    sources: pd.DataFrame
    texts: pd.DataFrame
    segments: pd.DataFrame
    ratings: pd.DataFrame
    measurements: pd.DataFrame
    criteria: pd.DataFrame
    warnings: tuple[str, ...] = ()


def ingest(
    reader: str | None,
    raw: Path,
    criteria: Mapping[str, Criterion],
    *,
    dataset: str = "",
) -> Tables:
    """Read a folder of raw files with the named reader, and check the rows.

    `criteria`: those that the benchmark declares for its ratings. `dataset`: the name
    in sources, without which no model may be sent them. Raises BadInput with all
    problems at once, each with file, row and remedy; writes nothing.
    """
    if reader is None:
        raise BadInput(
            "the dataset has no reader, so it cannot be a benchmark; choose another dataset"
        )
    if reader not in READERS and not is_path(reader):
        raise BadInput(f"reader {reader!r} is not known; choose from {sorted(READERS)}")
    rows: Rows = check_type(reader_of(reader)(raw), Rows, reader)
    check(rows, criteria)
    raise_problems(rows.problems.lines())
    recipe = f"given|reader:{reader}"
    values: dict[str, list[float | None]] = {}
    for score in rows.scores:
        values.setdefault(score.metric, []).append(score.value)
    metrics = {
        row.metric: (row.better, values.get(row.metric, [])) for row in rows.metrics
    }
    return Tables(
        sources=frame_of(
            SOURCES, [row._asdict() | {"dataset": dataset} for row in rows.sources]
        ),
        texts=frame_of(
            TEXTS, [row._asdict() | {"recipe": recipe} for row in rows.texts]
        ),
        segments=frame_of(SEGMENTS, [row._asdict() for row in rows.segments]),
        ratings=frame_of(RATINGS, [row._asdict() for row in rows.ratings]),
        measurements=frame_of(
            MEASUREMENTS, [_measurement(row, recipe) for row in rows.scores]
        ),
        criteria=dataset_criteria(metrics),
        warnings=tuple(rows.warnings.lines()),
    )


def _measurement(row: ScoreRow, recipe: str) -> dict[str, Any]:
    counts = {"n_expected": 1, "n_judged": 1, "n_failed": 0, "statistics": None}
    about = {"judge": NO_JUDGE, "recipe": f"{row.metric}|{recipe}"}
    return {**row._asdict(), **about, **counts, "low": row.value, "high": row.value}

"""Raw files to checked tables."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from metassay.core.errors import BadInput, raise_problems, shown
from metassay.core.kinds import is_path
from metassay.core.options import Criterion
from metassay.datasets.checks import check
from metassay.datasets.own_data import read_ratings
from metassay.datasets.readers import READERS, reader_of, returned
from metassay.tables.criteria import given_criteria
from metassay.tables.documents import SOURCES, TEXTS
from metassay.tables.names import NO_JUDGE
from metassay.tables.parquet import Table, empty
from metassay.tables.parts import SEGMENTS
from metassay.tables.ratings import RATINGS
from metassay.tables.scores import MEASUREMENTS
from metassay.tabular.rows import Place, Rows, ScoreRow, TextRow, source_row


class Ingested(NamedTuple):
    """What a dataset holds, as the tables of those names, and what to know about it.

    `measurements` are scores that the dataset itself brings; `criteria` has what is known of those
    metrics that are its own. Each warning is one line with file,
    row and remedy, without any document's text.
    """

    sources: pd.DataFrame
    texts: pd.DataFrame
    segments: pd.DataFrame
    ratings: pd.DataFrame
    measurements: pd.DataFrame
    criteria: pd.DataFrame
    warnings: tuple[str, ...] = ()


def ingest(
    reader: str | None, raw: Path, criteria: Mapping[str, Criterion], *, dataset: str = ""
) -> Ingested:
    """Read a folder of raw files with the named reader and check what it holds.

    `criteria` are those that the benchmark declares for its ratings; sources say which `dataset`
    they are of, without which no model may be sent them. Raises BadInput with every
    problem in one go, each naming file, row and remedy; nothing is written.
    """
    if reader is None:
        raise BadInput("the dataset has no reader, so it is no benchmark; choose another dataset")
    if reader not in READERS and not is_path(reader):
        raise BadInput(f"reader {reader!r} is not known; choose from {sorted(READERS)}")
    rows: Rows = returned(reader_of(reader)(raw), Rows, reader)
    check(rows, criteria)
    raise_problems(rows.problems.lines())
    recipe = f"given|reader:{reader}"
    values: dict[str, list[float | None]] = {}
    for score in rows.scores:
        values.setdefault(score.metric, []).append(score.value)
    own = {one.metric: (one.better, values.get(one.metric, [])) for one in rows.metrics}
    return Ingested(
        _frame(SOURCES, [row._asdict() | {"dataset": dataset} for row in rows.sources]),
        _frame(TEXTS, [row._asdict() | {"recipe": recipe} for row in rows.texts]),
        _frame(SEGMENTS, [row._asdict() for row in rows.segments]),
        _frame(RATINGS, [row._asdict() for row in rows.ratings]),
        _frame(MEASUREMENTS, [_measurement(row, recipe) for row in rows.scores]),
        given_criteria(own),
        tuple(rows.warnings.lines()),
    )


def _measurement(row: ScoreRow, recipe: str) -> dict[str, Any]:
    counts = {"n_expected": 1, "n_judged": 1, "n_failed": 0, "statistics": None}
    about = {"judge": NO_JUDGE, "recipe": f"{row.metric}|{recipe}"}
    return {**row._asdict(), **about, **counts, "low": row.value, "high": row.value}


def _frame(table: Table, rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    if not rows:
        return empty(table)
    return pd.DataFrame({name: [row[name] for row in rows] for name in table.columns})


# Ratings that came back from people: a file of `metassay study import`, or of one's own.
# Apart from `ingest`, as its stage needs neither the other readers nor their tables' contracts.


def ingest_study(
    file: Path,
    study: str,
    criteria: Mapping[str, Criterion],
    sources: pd.DataFrame,
    texts: pd.DataFrame,
) -> pd.DataFrame:
    """The ratings of one study as RATINGS, held against the tables SOURCES and TEXTS.

    The file is as `ratings.csv` of one's own data (docs/own-data.md); its column `study` says
    `study` in every row. Raises BadInput with every problem in one go, each naming file, line and
    remedy: what datasets.checks says of ratings, and rows of another study.
    """
    rows = Rows()
    read_ratings(file, rows)
    for rating in rows.ratings:
        if rating.study != study:
            what = f"the rating is of study {shown(rating.study)}, not of {shown(study)}"
            fix = "correct the column, or the name under studies in the benchmark's params.yaml"
            rows.wrong(rating.at, what, remedy=fix)
    rows.sources = [source_row(Place(SOURCES.name), doc, "", []) for doc in sources["doc_id"]]
    key: Any = (texts[name] for name in ("doc_id", "author", "part"))
    rows.texts = [
        TextRow(Place(TEXTS.name), doc, author, part, None)
        for doc, author, part in zip(*key, strict=True)
    ]
    check(rows, criteria)
    raise_problems(f"{file.parent.as_posix()}/{line}" for line in rows.problems.lines())
    found = [row._asdict() for row in rows.ratings]
    return pd.DataFrame(found)[list(RATINGS.columns)] if found else empty(RATINGS)

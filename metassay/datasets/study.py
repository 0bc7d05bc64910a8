"""Read the ratings of a study: a file of `metassay study import`, or of the user.

Separate from `ingest`, as its stage needs neither the other readers nor their tables'
contracts.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from metassay.core.errors import raise_problems, shown
from metassay.core.options import Criterion
from metassay.datasets.checks import check
from metassay.datasets.own_data import read_ratings
from metassay.tables.documents import SOURCES, TEXTS
from metassay.tables.parquet import empty
from metassay.tables.ratings import RATINGS
from metassay.tabular.rows import Place, Rows, TextRow, source_row


def ingest_study(
    file: Path,
    study: str,
    criteria: Mapping[str, Criterion],
    sources: pd.DataFrame,
    texts: pd.DataFrame,
) -> tuple[pd.DataFrame, list[str]]:
    """Return the ratings of a study as RATINGS, and warnings on what was left out.

    They are checked against the tables SOURCES and TEXTS. The file has the format of
    `ratings.csv` (docs/data-files.md), with `study` in the column `study` of every row.
    Raises BadInput with all problems at once, each with file, line and remedy: those of
    datasets.checks, and rows of another study.
    """
    rows = Rows()
    read_ratings(file, rows)
    for rating in rows.ratings:
        if rating.study != study:
            what = (
                f"the rating is of study {shown(rating.study)}, not of {shown(study)}"
            )
            fix = "correct the column, or the name under studies in the benchmark's params.yaml"
            rows.wrong(rating.at, what, remedy=fix)
    rows.sources = [
        source_row(Place(SOURCES.name), doc, "", []) for doc in sources["doc_id"]
    ]
    key: Any = (texts[name] for name in ("doc_id", "author", "part"))
    rows.texts = [
        TextRow(at=Place(TEXTS.name), doc_id=doc, author=author, part=part, text=None)
        for doc, author, part in zip(*key, strict=True)
    ]
    check(rows, criteria)
    raise_problems(f"{file.parent.as_posix()}/{line}" for line in rows.problems.lines())
    warnings = [f"{file.parent.as_posix()}/{line}" for line in rows.warnings.lines()]
    ratings = [row._asdict() for row in rows.ratings]
    if not ratings:
        return empty(RATINGS), warnings
    return pd.DataFrame(ratings)[list(RATINGS.columns)], warnings

"""Ratings that came back from people: a file of `metassay study import`, or of one's own.

Apart from `ingest`, as its stage needs neither the other readers nor their tables' contracts.
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

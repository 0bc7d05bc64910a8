"""Ratings that came back, held against the benchmark's tables."""

import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.core.options import Criterion
from metassay.datasets.study import ingest_study
from metassay.tables.parquet import round_trip
from metassay.tables.ratings import RATINGS
from tests.studies.invented_tables import DOCUMENTS, SYSTEMS, sources

CRITERIA = {"error": Criterion(low=0, high=1, better="lower")}
TEXTS = pd.DataFrame(
    [(doc, author, "full") for doc in DOCUMENTS for author in ("reference", *SYSTEMS)],
    columns=["doc_id", "author", "part"],
)
HEADER = "study,doc_id,author,part,unit,rater,criterion,value\n"


def ingested(tmp_path, lines):
    file = tmp_path / "ratings.csv"
    file.write_text(HEADER + lines, encoding="utf-8")
    return ingest_study(file, "pilot", CRITERIA, sources(), TEXTS)


def test_ratings_of_sentences(tmp_path):
    row = "pilot,d1,beta,full,statement:{},anna,error,{}\n"
    output = ingested(tmp_path, row.format(0, ".25") + row.format(1, ""))
    assert round_trip(RATINGS, output)["value"].fillna(-1).tolist() == [0.25, -1]
    assert ingested(tmp_path, "").empty


def test_everything_that_does_not_fit_comes_at_once(tmp_path):
    lines = [
        "other,d1,beta,full,text,anna,error,0",
        "pilot,d9,beta,full,text,anna,error,0",
        "pilot,d1,delta,full,text,anna,error,0",
        "pilot,d1,beta,full,text,ben,error,2",
        "pilot,d1,beta,full,text,ben,harm,0",
    ]
    with pytest.raises(BadInput) as error:
        ingested(tmp_path, "\n".join(lines) + "\n")
    problems = error.value.problems
    where = f"{tmp_path.as_posix()}/ratings.csv: line "
    assert all(line.startswith(where) for line in problems)
    assert {int(line.removeprefix(where).partition(":")[0]) for line in problems} == {
        2,
        3,
        4,
        5,
        6,
    }
    assert "is of study 'other', not of 'pilot'" in problems[0]

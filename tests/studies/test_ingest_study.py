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
    ratings, warnings = ingest_study(file, "pilot", CRITERIA, sources(), TEXTS)
    assert not warnings
    return ratings


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


MARKED = """\
study,doc_id,author,part,unit,rater,criterion,value,chosen_by
pilot,d1,beta,full,text,anna,error,0,
pilot,d1,alpha,full,text,anna,error,1,disagreement of long and near
"""


def test_ratings_of_chosen_texts_are_left_out_and_counted(tmp_path):
    file = tmp_path / "ratings.csv"
    file.write_text(MARKED, encoding="utf-8")
    ratings, (warning,) = ingest_study(file, "pilot", CRITERIA, sources(), TEXTS)
    assert ratings["author"].tolist() == ["beta"]
    assert "1 of 2 ratings are of texts that were chosen by" in warning
    # the remedy, followed
    assert "empty their cells of column 'chosen_by'" in warning
    file.write_text(MARKED.replace("disagreement of long and near", ""), "utf-8")
    ratings, warnings = ingest_study(file, "pilot", CRITERIA, sources(), TEXTS)
    assert len(ratings) == 2
    assert not warnings


def test_a_study_of_chosen_texts_alone_is_refused(tmp_path):
    file = tmp_path / "ratings.csv"
    header, _, marked = MARKED.splitlines()
    file.write_text(f"{header}\n{marked}\n", encoding="utf-8")
    with pytest.raises(BadInput, match="all 1 ratings are of texts that were chosen"):
        ingest_study(file, "pilot", CRITERIA, sources(), TEXTS)

"""Refusals that every command shares: files that cannot be read as tables."""

import io
import zipfile

import pytest
from openpyxl import Workbook

from tests.remedies.following import Refusal, edit, rename, retype, write
from tests.remedies.tables import PLAIN, RATINGS, VERDICTS


def workbook(*rows: list[object], merged: str = "") -> bytes:
    book = Workbook()
    for row in rows:
        book.active.append(row)
    if merged:
        book.active.merge_cells(merged)
    data = io.BytesIO()
    book.save(data)
    return data.getvalue()


def workbook_without_values() -> bytes:
    """A formula that no program has computed: openpyxl writes none of the values."""
    return workbook(
        ["doc_id", "system", "fluency"], ["d1", "m", "=1+1"], ["d2", "m", 3]
    )


def damaged_workbook() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("a", "b")
    return data.getvalue()


FILES: dict[str, Refusal] = {
    "a file that is not there": Refusal(
        "meta-eval rating.csv",
        {"ratings.csv": RATINGS},
        "rating.csv: is not in this folder",
        "did you mean 'ratings.csv'?",
        (retype("rating.csv", "ratings.csv"),),
    ),
    "a folder": Refusal(
        "judge-check study",
        {"study/verdicts.csv": VERDICTS},
        "is a folder, not a file",
        "name a CSV",
        (retype("study", "study/verdicts.csv"),),
    ),
    "an empty file": Refusal(
        "meta-eval r.csv",
        {"r.csv": ""},
        "r.csv: is empty",
        "docs/meta-eval.md shows how the two files are written",
        (write("r.csv", RATINGS),),
    ),
    "a header alone": Refusal(
        "judge-check v.csv",
        {"v.csv": "id,judge,human\n"},
        "has no row that fits its header",
        "name a CSV",
        (write("v.csv", VERDICTS),),
    ),
    "two columns of one name": Refusal(
        "meta-eval r.csv",
        {
            "r.csv": PLAIN.replace("system,", "system,fluency,", 1)
            .replace(",m,", ",m,1,")
            .replace(",n,", ",n,2,")
        },
        "column 'fluency' is there twice",
        "rename or remove one of them",
        (edit("r.csv", "system,fluency,fluency", "system,tone,fluency"),),
    ),
    "a column without a name": Refusal(
        "meta-eval r.csv",
        {"r.csv": RATINGS.replace("rater,", ",")},
        "column 3 has no name",
        "name it in the first row",
        (edit("r.csv", "system,,", "system,rater,"),),
    ),
    "a row with too many cells": Refusal(
        "meta-eval r.csv",
        {"r.csv": RATINGS.replace("d1,m,ann", "d1,m,ann, Dr.", 1)},
        "does not have the 4 cells of the header",
        'put a cell that contains one in "quotes"',
        (edit("r.csv", "ann, Dr.", '"ann, Dr."'),),
    ),
    "a quote that does not end": Refusal(
        "meta-eval r.csv",
        {"r.csv": RATINGS + '"d5,m,ann,1\n'},
        "is not readable as CSV",
        'check its "quotes"',
        (edit("r.csv", '"d5', "d5"),),
    ),
    "JSON that is cut": Refusal(
        "judge-check v.json",
        {"v.json": '[{"id": 1, "judge": "pass", "human": "pass"},'},
        "is not valid JSON",
        "correct it",
        (
            write(
                "v.json",
                '[{"id": 1, "judge": "pass", "human": "pass"},'
                ' {"id": 2, "judge": "fail", "human": "fail"}]',
            ),
        ),
    ),
    "JSON without records": Refusal(
        "judge-check v.json",
        {"v.json": "[1, 2]"},
        "is not an object with named values",
        'write a list of objects: [{"doc_id": ..., ...}, ...]',
        (
            write(
                "v.json",
                '[{"id": "a", "judge": 1, "human": 1}, {"id": "b", "judge": 0, "human": 0}]',
            ),
        ),
    ),
    "a Python pickle": Refusal(
        "judge-check v.pkl",
        {"v.pkl": b"\x80\x04.", "v.parquet.csv": VERDICTS},
        "is a Python pickle, which can run any code",
        "save the table as CSV or Parquet",
        (retype("v.pkl", "v.parquet.csv"),),
    ),
    "a file of R": Refusal(
        "judge-check v.rds",
        {"v.rds": b"\x1f\x8b", "table.csv": VERDICTS},
        "is a file of R",
        'save it in R: write.csv(table, "table.csv")',
        (retype("v.rds", "table.csv"),),
    ),
    "a damaged workbook": Refusal(
        "meta-eval r.xlsx",
        {"r.xlsx": damaged_workbook(), "r.csv": RATINGS},
        "is not readable as XLSX",
        "save",
        (retype("r.xlsx", "r.csv"),),
    ),
    "formulas without values": Refusal(
        "meta-eval r.xlsx",
        {"r.xlsx": workbook_without_values(), "r.csv": PLAIN},
        "C2",
        "open",
        (retype("r.xlsx", "r.csv"),),
    ),
    "numbers written in two ways": Refusal(
        "meta-eval r.csv",
        {"r.csv": 'doc_id,system,fluency\nd1,m,"1,5"\nd1,n,1.5\nd2,m,2.5\n'},
        "has numbers with a comma and others with a point",
        "write all of them alike, with a point",
        (edit("r.csv", '"1,5"', "1.5"),),
    ),
    "a file named twice": Refusal(
        "meta-eval --ratings r.csv r.csv",
        {"r.csv": RATINGS},
        "r.csv: is named twice",
        "name it once",
        (retype("r.csv r.csv", "r.csv"),),
    ),
    "two files of one name": Refusal(
        "meta-eval --ratings a/r.csv b/r.csv",
        {"a/r.csv": PLAIN, "b/r.csv": PLAIN},
        "r.csv: 2 files have this name",
        "rename all but one of them",
        (rename("b/r.csv", "b/ben.csv"),),
    ),
}


@pytest.mark.parametrize("case", FILES)
def test_a_printed_remedy_works(terminal, tmp_path, case: str) -> None:
    refusal = FILES[case]
    refused = refusal.provoke(terminal, tmp_path)
    done = refusal.follow(terminal, refused)
    assert done.code == 0, done.err

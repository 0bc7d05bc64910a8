"""Refusals that every command shares: files that cannot be read as tables."""

import io
import zipfile

import pandas as pd
import pytest
from openpyxl import Workbook

from metassay.cli import init
from tests.remedies.following import (
    Done,
    Refusal,
    Step,
    edit,
    rename,
    retype,
    write,
)
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


def as_parquet(old: str, new: str) -> Step:
    """Save a table as Parquet, as pandas does."""

    def step(words: list[str], refused: Done) -> list[str]:
        pd.read_csv(old).to_parquet(new)
        return words

    return step


RECORDS = '[{"id": "a", "judge": 1, "human": 1}, {"id": "b", "judge": 0, "human": 0}]'


def many_columns() -> str:
    header = ",".join(["doc_id", "system", *(f"q{n}" for n in range(2001))])
    return f"{header}\nd1,m{',1' * 2001}\n"


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
        "column 'fluency' occurs twice",
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
        (write("v.json", RECORDS),),
    ),
    "a Python pickle": Refusal(
        "judge-check v.pkl",
        {"v.pkl": b"\x80\x04.", "v.csv": VERDICTS},
        "is a Python pickle, which can run any code",
        "load it where you trust it, and save it with frame.to_parquet(...)",
        (as_parquet("v.csv", "v.parquet"), retype("v.pkl", "v.parquet")),
    ),
    "a file of R": Refusal(
        "judge-check v.rds",
        {"v.rds": b"\x1f\x8b", "table.csv": VERDICTS},
        "is a file of R",
        'save it in R: write.csv(table, "table.csv")',
        (retype("v.rds", "table.csv"),),
    ),
    "a Feather file": Refusal(
        "judge-check v.feather",
        {"v.feather": b"ARROW1", "v.csv": VERDICTS},
        "is a Feather file",
        "save the table as CSV or Parquet",
        (retype("v.feather", "v.csv"),),
    ),
    "a damaged file of Stata": Refusal(
        "judge-check v.dta",
        {"v.dta": b"no file of Stata", "v.csv": VERDICTS},
        "is damaged, or is not a file of Stata",
        "write it again, or save it as CSV",
        (retype("v.dta", "v.csv"),),
    ),
    "a damaged Parquet file": Refusal(
        "judge-check v.parquet",
        {"v.parquet": b"PAR1PAR1", "v.csv": VERDICTS},
        "is damaged or is not a Parquet file",
        "write it again, or as CSV",
        (retype("v.parquet", "v.csv"),),
    ),
    "a damaged workbook of another format": Refusal(
        "judge-check v.ods",
        {"v.ods": damaged_workbook(), "v.csv": VERDICTS},
        "is damaged, or is not a workbook",
        "save it as XLSX",
        (retype("v.ods", "v.csv"),),
    ),
    "a workbook without rows": Refusal(
        "judge-check v.xlsx",
        {"v.xlsx": workbook(), "v.csv": VERDICTS},
        "has no rows",
        "name a CSV",
        (retype("v.xlsx", "v.csv"),),
    ),
    "a device": Refusal(
        "judge-check /dev/null",
        {"v.csv": VERDICTS},
        "is a pipe or device, not a file",
        "save its content in a file",
        (retype("/dev/null", "v.csv"),),
    ),
    "an object without records": Refusal(
        "judge-check v.json",
        {"v.json": "{}"},
        "has no records",
        "write a list of objects",
        (write("v.json", RECORDS),),
    ),
    "a list without records": Refusal(
        "judge-check v.json",
        {"v.json": "[]"},
        "has no row",
        "name a CSV",
        (write("v.json", RECORDS),),
    ),
    "two lists of records": Refusal(
        "judge-check v.json",
        {
            "v.json": '{"first": [{"id": 1, "judge": 1, "human": 1}], "second": [{"x": 2}]}'
        },
        "has several lists of records: 'first', 'second'",
        "keep one",
        (edit("v.json", ', "second": [{"x": 2}]', ""),),
    ),
    "columns of different lengths": Refusal(
        "judge-check v.json",
        {"v.json": '{"judge": [1, 0, 1], "human": [1, 0]}'},
        "has lists of different lengths, from 2 to 3",
        "make them equally long, a value per row",
        (edit("v.json", "[1, 0]", "[1, 0, 1]"),),
    ),
    "a key twice": Refusal(
        "judge-check v.json",
        {"v.json": '[{"judge": 1, "human": 1, "human": 0}, {"judge": 0, "human": 0}]'},
        "is not strict JSON",
        "correct it",
        (edit("v.json", ', "human": 0}, {', "}, {"),),
    ),
    "JSON that is too deep": Refusal(
        "judge-check v.json",
        {"v.json": "[" * 100_000},
        "is not readable as JSON",
        "nest it less deeply and shorten its numbers",
        (write("v.json", RECORDS),),
    ),
    "keys that may be rows or columns": Refusal(
        "judge-check v.json",
        {"v.json": '{"1": {"11": 1, "12": 0}, "2": {"11": 1, "12": 1}}'},
        "has keys '1', '2' with keys '11', '12': which are rows?",
        "write a list of objects",
        (write("v.json", RECORDS),),
    ),
    "separators alone": Refusal(
        "judge-check v.csv",
        {"v.csv": ",,,\n"},
        "has no rows",
        "name a CSV",
        (write("v.csv", VERDICTS),),
    ),
    "a workbook with a password": Refusal(
        "judge-check v.xlsx",
        {"v.xlsx": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "v.csv": VERDICTS},
        "is protected by a password, or of Excel's old format",
        "save it as XLSX without a password",
        (retype("v.xlsx", "v.csv"),),
    ),
    "too many columns": Refusal(
        "meta-eval r.csv",
        {"r.csv": many_columns()},
        "has 2,003 columns, more than 2,000",
        "leave columns out",
        (write("r.csv", RATINGS),),
    ),
    "merged cells": Refusal(
        "init study --texts t.csv --ratings r.xlsx --yes",
        {
            "t.csv": "doc_id,system,text\nd1,m,A text of m.\nd2,m,Another text of m.\n",
            "r.xlsx": workbook(
                ["doc_id", "system", "fluency"],
                ["d1", "m", 3],
                ["d2", "m", None],
                merged="C2:C3",
            ),
            "r.csv": "doc_id,system,fluency\nd1,m,3\nd2,m,3\n",
        },
        "column 'fluency' has merged cells, whose value may be of all rows",
        "unmerge them, and write a value into each cell",
        (retype("r.xlsx", "r.csv"),),
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
def test_a_printed_remedy_works(terminal, tmp_path, monkeypatch, case: str) -> None:
    monkeypatch.setattr(init, "make", lambda folder, content: [])
    refusal = FILES[case]
    refused = refusal.provoke(terminal, tmp_path)
    done = refusal.follow(terminal, refused)
    assert done.code == 0, done.err

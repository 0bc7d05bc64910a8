"""The form of PriMock57's evaluation, on an invented file: 57 consultations by 5 evaluators."""

import csv
from pathlib import Path

import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.core.options import Criterion
from metassay.datasets.consultations import FILE
from metassay.datasets.ingest import Tables, ingest

COLUMNS = [
    *("Evaluator", "Consultation", "Model", "Evaluator Note", "Model Note", "Post-edited note"),
    *("Post-edit time", "Incorrect Statements", "Omissions", "Other Issues"),
]
COUNT = Criterion(low=0, high=100, better="lower", scale="count")
LISTS = ("incorrect_statements", "critical_incorrect_statements", "omissions", "critical_omissions")
CRITERIA = dict.fromkeys(LISTS, COUNT) | {
    "post_edit_seconds": Criterion(low=0, high=10_000, better="lower")
}
MODELS = ("m1", "m2", "doctor")


def row(evaluator: int, consultation: int, model: str, **changes: str) -> list[str]:
    cells = {
        "Evaluator": str(evaluator),
        "Consultation": f"c{consultation:02d}",
        "Model": model,
        "Evaluator Note": f"What {evaluator} noted of {consultation}.",
        "Model Note": f"What {model} noted of {consultation}.",
        "Post-edited note": "What was edited.",
        "Post-edit time": str(30 + evaluator),
        "Incorrect Statements": "\n".join(
            ["! the side", "- the spelling\n  of a name"][:evaluator]
        ),
        "Omissions": "- no age\n" * consultation,
        "Other Issues": "",
    }
    return list((cells | changes).values())


def put(folder: Path, *rows: list[str], columns: list[str] = COLUMNS) -> Path:
    with (folder / FILE).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([columns, *rows])
    return folder


def read(folder: Path) -> Tables:
    return ingest("primock57", folder, CRITERIA)


def test_every_consultation_evaluator_and_model(tmp_path: Path) -> None:
    rows = [row(e, c, m) for c in range(57) for e in range(1, 6) for m in MODELS]
    made = read(put(tmp_path, *rows))
    assert made.warnings == ()
    assert len(made.sources) == 57
    assert made.sources["passages"].map(len).eq(0).all()
    authors = made.texts.groupby("author").size().to_dict()
    references = ("reference", *(f"reference:{n}" for n in range(2, 6)))
    assert authors == dict.fromkeys((*MODELS, *references), 57)
    texts = made.texts.set_index(["doc_id", "author"])["text"]
    assert texts["c07", "m2"] == "What m2 noted of 7."
    assert texts["c07", "reference:3"] == "What 3 noted of 7."
    assert len(made.ratings) == 57 * 5 * 3 * 5
    values = made.ratings.set_index(["doc_id", "author", "rater", "criterion"])["value"]
    assert [values["c07", "m1", "2", name] for name in LISTS] == [2, 1, 7, 0]
    assert [values["c00", "doctor", "1", name] for name in LISTS] == [1, 1, 0, 0]
    assert values["c00", "m1", "5", "post_edit_seconds"] == 35


def test_what_nobody_says_is_null(tmp_path: Path) -> None:
    nothing = {"Incorrect Statements": "", "Omissions": ""}
    made = read(
        put(
            tmp_path,
            row(1, 1, "m1", **nothing),
            row(2, 1, "m1", **nothing, **{"Post-edited note": "", "Post-edit time": ""}),
            row(3, 1, "m1", Omissions="the age is missing"),
        )
    )
    wide = made.ratings.pivot_table(
        index="rater", columns="criterion", values="value", dropna=False, aggfunc="first"
    )
    assert wide.loc["1", list(LISTS)].tolist() == [0, 0, 0, 0]
    assert wide.loc["2"].isna().all()
    assert wide.loc["3", list(LISTS)].tolist()[:2] == [2, 1]
    assert wide.loc["3", list(LISTS)].isna().tolist() == [False, False, True, True]
    assert pd.isna(wide.loc["2", "post_edit_seconds"])
    assert made.warnings == (
        f"{FILE}: line 4: 'omissions' begin without ! or -; its ratings are null",
    )


def test_upper_and_lower_case_of_columns_do_not_count(tmp_path: Path) -> None:
    put(tmp_path, row(1, 1, "m1"), columns=[name.title() for name in COLUMNS])
    assert len(read(tmp_path).ratings) == 5


def test_every_fault_in_one_go(tmp_path: Path) -> None:
    put(
        tmp_path,
        row(1, 1, "m1"),
        row(2, 1, "m1", **{"Model Note": "Another note."}),
        row(1, 1, "m2", **{"Evaluator Note": "Another note."}),
        row(1, 2, " "),
        row(1, 1, "m1"),
    )
    with pytest.raises(BadInput) as caught:
        read(tmp_path)
    where = " (consultation 'c01', first in line 2); fetch the file again"
    *found, twice = caught.value.problems
    assert found == [
        f"{FILE}: line 4: the model note is not the one of an earlier row{where}",
        f"{FILE}: line 8: the evaluator note is not the one of an earlier row{where}",
        f"{FILE}: line 10: evaluator, consultation or model is empty; fetch the file again",
    ]
    assert "line 13: the key (study, doc_id, author," in twice
    put(tmp_path, row(1, 1, "m1")[:-2], columns=COLUMNS[:-2])
    with pytest.raises(BadInput, match="line 1: column 'omissions' is missing"):
        read(tmp_path)

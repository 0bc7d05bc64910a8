"""Bookkeeping beside ratings: what counts is asked, and what is no criterion is listed."""

import random
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import metassay
from metassay.core.errors import BadInput
from tests.remedies.following import Terminal

FEW: dict[str, Any] = {"resamples": 20, "permutations": 20}
RATERS = ("5f1a", "5f1b", "5f1c")


def ratings(**columns: list[Any]) -> pd.DataFrame:
    """Six documents by two systems and three raters, with columns that have a cell per rater."""
    draw = random.Random(1)
    rows = []
    for place, rater in enumerate(RATERS):
        of_rater = {name: cells[place] for name, cells in columns.items()}
        for number in range(6):
            for system in ("m", "n"):
                keys = {"doc_id": f"d{number}", "system": system, "rater": rater}
                rows.append({**keys, **of_rater, "fluency": draw.randint(1, 5)})
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("column", "cells", "doubtful"),
    [
        ("Status", ["APPROVED", "AWAITING REVIEW", "RETURNED"], "'RETURNED'"),
        ("AssignmentStatus", ["Approved", "Submitted", "Rejected"], "'Rejected'"),
        ("Status", ["IP Address", "Survey Preview", "IP Address"], "'Survey Preview'"),
        ("Finished", ["True", "False", "True"], "'False'"),
        ("was_cancelled", ["false", "false", "true"], "'true'"),
        ("attention_check", [1, 1, 0], "'0'"),
        ("attn_check_2", ["blue", "blue", "red"], "'red'"),
        ("catch_trial_correct", ["yes", "no", "yes"], "'no'"),
    ],
)
def test_rows_that_may_not_count_are_asked_about(
    column: str, cells: list[Any], doubtful: str
) -> None:
    frame = ratings(**{column: cells})
    with pytest.raises(BadInput) as error:
        metassay.meta_eval(ratings=frame, **FEW)
    (problem,) = error.value.problems
    assert (
        f"column {column!r} has {doubtful} in 12 rows, which may not count" in problem
    )
    good = [str(cell) for cell in dict.fromkeys(cells) if repr(str(cell)) != doubtful]
    assert f"rows={{{column!r}: {good}}}" in problem
    results = metassay.meta_eval(ratings=frame, rows={column: good}, **FEW)
    assert {*results.raters["rater"]} == {
        "(all)",
        *(r for r, cell in zip(RATERS, cells, strict=True) if str(cell) in good),
    }
    assert any("12 rows left out" in note for note in results.notes)
    every = metassay.meta_eval(
        ratings=frame, rows={column: [*dict.fromkeys(map(str, cells))]}, **FEW
    )
    assert {*every.raters["rater"]} == {"(all)", *RATERS}
    assert {*every.raters["criterion"]} == {"fluency"}


@pytest.mark.parametrize(
    ("column", "cells"),
    [
        ("Status", ["APPROVED", "AWAITING REVIEW", "APPROVED"]),
        ("attention_check", [1, 1, 1]),
        ("symptoms___1", [0, 1, 0]),
        ("symptoms___other", [1, 1, 0]),
        ("Age", [34, 28, 51]),
        ("Time taken", [812, 640, 911]),
        ("total_approvals", [120, 3, 9]),
        ("HITs", [1, 2, 3]),
    ],
)
def test_bookkeeping_is_no_criterion_and_is_listed(
    column: str, cells: list[Any]
) -> None:
    results = metassay.meta_eval(ratings=ratings(**{column: cells}), **FEW)
    assert {*results.raters["criterion"]} == {"fluency"}
    listed = [note for note in results.notes if "not read" in note]
    assert any(repr(column) in note for note in listed)


def test_a_batch_of_mechanical_turk() -> None:
    draw = random.Random(3)
    rows = [
        {
            "HITId": f"H{number}{system}",
            "AssignmentId": f"A{number}{system}{worker}",
            "MaxAssignments": 2,
            "WorkerId": worker,
            "AssignmentStatus": "Approved",
            "WorkTimeInSeconds": draw.randint(30, 300),
            "LifetimeApprovalRate": "100% (15/15)",
            "Input.doc_id": f"d{number}",
            "Input.system": system,
            "Answer.fluency": draw.randint(1, 5),
        }
        for number in range(6)
        for system in ("m", "n")
        for worker in ("W1", "W2")
    ]
    results = metassay.meta_eval(ratings=pd.DataFrame(rows), **FEW)
    assert {*results.raters["criterion"]} == {"Answer.fluency"}
    assert {*results.raters["rater"]} == {"(all)", "W1", "W2"}


def test_judge_check_asks_and_lists_too(tmp_path: Path, capsys: Any) -> None:
    table = ratings(
        Status=["APPROVED", "APPROVED", "REJECTED"], attention_check=[1, 1, 1]
    )
    table["human"] = (table["fluency"] > 2).map({True: "pass", False: "fail"})
    table["judge"] = (table["doc_id"] > "d2").map({True: "pass", False: "fail"})
    file = tmp_path / "v.csv"
    table.drop(columns=["fluency"]).to_csv(file, index=False)
    terminal = Terminal(capsys)
    refused = terminal.run(["judge-check", str(file)])
    assert (
        "column 'Status' has 'REJECTED' in 12 rows, which may not count" in refused.err
    )
    done = terminal.run(["judge-check", str(file), "--rows", "Status=APPROVED"])
    assert "12 rows, 12 labelled by 2 raters" in done.out
    assert "columns that are not read: 'Status', 'attention_check'" in done.out.replace(
        "\n  ", " "
    )


def test_sentences_are_texts_and_those_of_a_document_a_cluster() -> None:
    draw = random.Random(2)
    rows = []
    for number in range(8):
        for system in ("m", "n"):
            for sentence in range(3):
                keys = {"doc_id": f"d{number}", "system": system, "sentence": sentence}
                label = draw.randint(0, 1)
                rows.append({**keys, "faithful": label, "judge_score": label + 0.5})
    table = pd.DataFrame(rows)
    keys = ["doc_id", "system", "sentence"]
    results = metassay.meta_eval(
        table[[*keys, "judge_score"]],
        table[[*keys, "faithful"]],
        part="sentence",
        **FEW,
    )
    assert results.certificates["n"].max() == 48
    assert any("each sentence counts as a text" in note for note in results.notes)
    with pytest.raises(BadInput, match="second time"):
        metassay.meta_eval(
            table[[*keys[:2], "judge_score"]], table[[*keys[:2], "faithful"]], **FEW
        )


def marked(chosen: set[str]) -> pd.DataFrame:
    """The ratings; those of some documents are marked as chosen."""
    frame = ratings(Status=["APPROVED"] * 3).drop(columns="Status")
    words = frame["doc_id"].map(lambda doc: "disagreement" if doc in chosen else "")
    return frame.assign(chosen_by=words)


def test_ratings_of_chosen_texts_are_left_out_and_said() -> None:
    results = metassay.meta_eval(ratings=marked({"d4", "d5"}), **FEW)
    (warning,) = (line for line in results.warnings if "chosen by" in line)
    assert "12 rows of 36 in ratings rate texts that were chosen by" in warning
    four = marked(set())
    four = four[~four["doc_id"].isin(["d4", "d5"])]
    only_four = metassay.meta_eval(ratings=four, **FEW)
    pd.testing.assert_frame_equal(results.raters, only_four.raters)
    remedy = "rows={'chosen_by': ['', 'disagreement']}"
    assert remedy in warning
    rows = {"chosen_by": ["", "disagreement"]}
    every = metassay.meta_eval(ratings=marked({"d4", "d5"}), rows=rows, **FEW)
    assert not any("rate texts that were chosen" in line for line in every.warnings)


def test_ratings_of_chosen_texts_alone_are_refused_with_the_remedy() -> None:
    every = {f"d{number}" for number in range(6)}
    with pytest.raises(BadInput) as error:
        metassay.meta_eval(ratings=marked(every), **FEW)
    (problem,) = error.value.problems
    assert "all 36 rows rate texts that were chosen by 'disagreement'" in problem
    assert "rows={'chosen_by': ['disagreement']}" in problem
    rows = {"chosen_by": ["disagreement"]}
    assert metassay.meta_eval(ratings=marked(every), rows=rows, **FEW).tables


def test_an_empty_column_of_chosen_texts_changes_nothing() -> None:
    plain = marked(set()).drop(columns="chosen_by")
    with_column = metassay.meta_eval(ratings=marked(set()), **FEW)
    pd.testing.assert_frame_equal(
        with_column.raters, metassay.meta_eval(ratings=plain, **FEW).raters
    )


def test_chosen_texts_of_one_of_two_files_are_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [tmp_path / "ann.csv", tmp_path / "ben.csv"]
    of_ann, of_ben = (marked({"d4"}).query(f"rater == {name!r}") for name in RATERS[:2])
    of_ann.drop(columns="rater").to_csv(files[0], index=False)
    of_ben.drop(columns=["rater", "chosen_by"]).to_csv(files[1], index=False)
    few = ["--resamples", "20", "--permutations", "20"]
    done = Terminal(capsys).run(["meta-eval", "--ratings", *map(str, files), *few])
    assert done.code == 0, done.err
    assert "2 rows of 24 in ann.csv, ben.csv" in " ".join(done.out.split())

"""The view Claims by hand: two judges, of which only one was asked by the second measure."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from metassay.reporting import contract as c
from metassay.reporting.claims import sort_scorers
from metassay.reporting.shell import PageFolder
from metassay.reporting.texts import put_texts
from tests.reporting import page_data

PASS = c.Judgment("entailed", "for", 0.9)
FAIL = c.Judgment("not entailed", "against", 0.2, "nowhere")
LACKS = c.Judgment("failed: refused", "unknown")
JUDGES = ("anna", "ben")
# Of each claim what anna says, and what ben says.
RECALL = [(PASS, FAIL), (FAIL, FAIL), (LACKS, PASS)]
# Of each statement what ben says; anna was not asked.
FAITHFUL = [(FAIL,), (PASS,)]


def block(name: str, judges: tuple[str, ...], answers: list[Any]) -> c.Block:
    heads = [c.BlockHead("?", name, judge) for judge in judges]
    lines = [
        c.Line(n, "full", f"{name} {n}", -1, -1, [], [], judgments)
        for n, judgments in enumerate(answers)
    ]
    return c.Block(name, "", "claim", heads, lines)


def text(author: str, *blocks: c.Block) -> c.Text:
    return c.Text(author, [], f"what {author} wrote", blocks=blocks)


@pytest.fixture
def page(tmp_path: Path) -> tuple[Path, dict[str, Any]]:
    """A page of two documents; of the second one the writer has no lines."""
    recall = block("claim_recall", JUDGES, RECALL)
    faithful = block("faithfulness", JUDGES[1:], FAITHFUL)
    documents = [
        c.Document("d1", "", [], [], [text("writer", recall, faithful)]),
        c.Document("d2", "", [], [], [text("writer"), text("other", recall)]),
    ]
    splits = [[0], [0, 0]]
    info = put_texts(
        PageFolder(tmp_path),
        zip(documents, splits, strict=True),
        noun="document",
        judges=JUDGES,
        metrics={},
    )
    return tmp_path, info._asdict()


def frame_of(folder: Path, info: c.TableInfo) -> pd.DataFrame:
    columns = [column._asdict() for column in info.columns]
    return page_data.frame(folder, {**info._asdict(), "columns": columns})


def test_failures_are_counted_by_measure_judge_and_author(page) -> None:
    _, info = page
    assert [tuple(count) for count in info["claims"].counts] == [
        ("claim_recall", "anna", "other", 1, 3),
        ("claim_recall", "anna", "writer", 1, 3),
        ("claim_recall", "ben", "other", 2, 3),
        ("claim_recall", "ben", "writer", 2, 3),
        ("faithfulness", "ben", "writer", 1, 2),
    ]


def test_the_index_counts_by_the_place_of_measure_and_judge(page) -> None:
    folder, info = page
    assert [(of.measure, of.judge) for of in info["scorers"]] == [
        ("faithfulness", "ben"),
        ("claim_recall", "anna"),
        ("claim_recall", "ben"),
    ]
    index = frame_of(folder, info["table"]).set_index(["document", "author"])
    counts = {
        side: index[[f"{side}_{n}" for n in range(3)]].T.to_dict("list")
        for side in ("for", "against", "unknown")
    }
    assert counts["against"]["d1", "writer"] == [1, 1, 2]
    assert counts["for"]["d1", "writer"] == [1, 1, 1]
    assert counts["unknown"]["d1", "writer"] == [0, 1, 0]
    assert counts["against"]["d2", "other"] == [0, 1, 2]
    assert counts["against"]["d2", "writer"] == [0, 0, 0]


def test_each_judge_has_its_own_columns_and_who_was_not_asked_says_nothing(
    page,
) -> None:
    folder, info = page
    rows = frame_of(folder, info["claims"].table)
    sides = rows[["document", "author", "line", "side_0", "side_1"]]
    recall = [("for", "against"), ("against", "against"), ("unknown", "for")]
    expected = [
        *(("d1", "writer", f"claim_recall:{n}", *of) for n, of in enumerate(recall)),
        ("d1", "writer", "faithfulness:0", None, "against"),
        ("d1", "writer", "faithfulness:1", None, "for"),
        *(("d2", "other", f"claim_recall:{n}", *of) for n, of in enumerate(recall)),
    ]
    by_judge = sides.astype(object).where(sides.notna(), None)
    assert [*by_judge.itertuples(index=False, name=None)] == expected
    assert rows.loc[0, "why_1"] == "nowhere"
    assert rows.loc[0, ["probability_0", "probability_1"]].tolist() == [0.9, 0.2]


def test_rows_are_in_several_files_where_one_would_be_too_large(
    page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, info = page
    whole = frame_of(folder, info["claims"].table)
    monkeypatch.setattr("metassay.reporting.claims.LARGEST", 100)
    documents = [
        c.Document(
            name, "", [], [], [text("writer", block("claim_recall", JUDGES, RECALL))]
        )
        for name in ("d1", "d2")
    ]
    cut = put_texts(
        PageFolder(tmp_path / "cut"),
        ((document, [0]) for document in documents),
        noun="document",
        judges=JUDGES,
        metrics={},
    )
    assert cut.claims is not None
    assert cut.claims.table.shards == ["claims/0", "claims/1"]
    rows = frame_of(tmp_path / "cut", cut.claims.table)
    assert rows["document"].tolist() == ["d1"] * 3 + ["d2"] * 3
    columns = ["line", "text", "side_0", "side_1"]
    pd.testing.assert_frame_equal(rows.loc[:2, columns], whole.loc[:2, columns])


def test_faithfulness_comes_first_and_an_unknown_measure_last() -> None:
    heads = [
        ("claim_recall", "ben"),
        ("own_rubric", "anna"),
        ("faithfulness", "ben"),
        ("faithfulness", "anna"),
    ]
    scorers = sort_scorers(heads, JUDGES)
    assert [tuple(of) for of in scorers] == [
        ("faithfulness", "anna", "not supported by the source"),
        ("faithfulness", "ben", "not supported by the source"),
        ("claim_recall", "ben", "missing from the text"),
        ("own_rubric", "anna", "fails"),
    ]

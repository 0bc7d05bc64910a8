"""Tables on which people got stuck: each is read, or refused with a remedy that works."""

from pathlib import Path
from typing import Any

import openpyxl
import pytest

from metassay.api.columns import Roles
from metassay.api.reading import read_both
from metassay.core.errors import BadInput
from metassay.project.spreadsheets.read import Inputs, read_all
from metassay.tabular.infer_columns import join_by_text
from metassay.tabular.rows import Findings
from metassay.tabular.sheet import read_sheet
from tests.tabular.test_one_reader import (
    DOCS,
    KEYS,
    PLAIN,
    TEXTS,
    Rows,
    as_csv,
    by_init,
    by_meta_eval,
)

PLAIN_VALUES = {(row[0], row[1], row[2], float(row[3])) for row in PLAIN[1][1:]}


def paths(folder: Path, ratings: Rows | Path, scores: Rows = PLAIN[0]) -> dict[str, Path]:
    made = ratings if isinstance(ratings, Path) else as_csv(ratings, folder, "ratings")
    return {"scores": as_csv(scores, folder, "scores"), "ratings": made}


def refused_by_meta_eval(folder: Path, ratings: Rows | Path, *columns: str) -> list[str]:
    with pytest.raises(BadInput) as caught:
        meta_eval(paths(folder, ratings), *columns)
    return list(caught.value.problems)


def meta_eval(files: dict[str, Path], *columns: str) -> set[tuple[Any, ...]]:
    """The ratings that meta-eval reads."""
    faults = Findings()
    sheets = [read_sheet(files[kind], faults) for kind in ("scores", "ratings")]
    if faults:
        raise BadInput(faults.lines())
    scores, ratings = ([one] for one in sheets if one is not None)
    _, found = read_both(scores, ratings, Roles(columns=columns))
    return values(found.table.to_dict("records"))


def init(files: dict[str, Path], folder: Path, *columns: str) -> set[tuple[Any, ...]]:
    """The ratings that init reads."""
    texts = as_csv(TEXTS, folder, "texts")
    asked = {"texts": [texts], **{kind: [path] for kind, path in files.items()}}
    found = read_all(Inputs(asked, columns))
    return values([one._asdict() for one in found.rows.ratings])


def values(rows: Any) -> set[tuple[Any, ...]]:
    return {(r["doc_id"], r["author"], r["rater"], r["value"]) for r in rows}


def workbook(folder: Path, rows: Rows, *merged: str) -> Path:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append([int(c) if c.isdigit() else c or None for c in row])
    for cells in merged:
        book.active.merge_cells(cells)
    book.save(folder / "ratings.xlsx")
    return folder / "ratings.xlsx"


def test_ratings_by_text_id_alone_are_joined(tmp_path: Path) -> None:
    number = {key: f"t{n}" for n, key in enumerate(KEYS)}
    rated = [["text_id", *PLAIN[1][0][2:]]]
    rated += [[number[row[0], row[1]], *row[2:]] for row in PLAIN[1][1:]]
    scored = [[*PLAIN[0][0], "text_id"]]
    scored += [[*row, number[row[0], row[1]]] for row in PLAIN[0][1:]]
    files = paths(tmp_path, rated, scored)
    assert meta_eval(files) == PLAIN_VALUES
    texts = [[*TEXTS[0], "text_id"], *([*row, number[row[0], row[1]]] for row in TEXTS[1:])]
    asked = {"texts": [as_csv(texts, tmp_path, "texts")], "ratings": [files["ratings"]]}
    found = read_all(Inputs(asked)).rows.ratings
    assert values([one._asdict() for one in found]) == PLAIN_VALUES


def test_several_raters_files_that_name_texts_alone_are_joined_too(tmp_path: Path) -> None:
    number = {key: f"t{n}" for n, key in enumerate(KEYS)}
    ids = ["text_id", *(number[row[0], row[1]] for row in PLAIN[0][1:])]
    of_raters = []
    for rater in ("ann", "ben"):
        rated = [[number[r[0], r[1]], r[3]] for r in PLAIN[1][1:] if r[2] == rater]
        of_raters.append(as_csv([["text_id", "fluency"], *rated], tmp_path, rater))
    scores, texts = (
        as_csv([[*row, one] for row, one in zip(rows, ids, strict=True)], tmp_path, name)
        for name, rows in (("scores", PLAIN[0]), ("texts", TEXTS))
    )
    sheets = [sheet for one in (scores, *of_raters) if (sheet := read_sheet(one, Findings()))]
    _, found = read_both(sheets[:1], sheets[1:], Roles())
    assert values(found.table.to_dict("records")) == PLAIN_VALUES
    rows = read_all(Inputs({"texts": [texts], "ratings": of_raters})).rows
    assert values([one._asdict() for one in rows.ratings]) == PLAIN_VALUES


def test_a_title_row_and_names_above_names(tmp_path: Path) -> None:
    body = [[d, s, *(str(1 + (n + m) % 5) for m in range(4))] for n, (d, s) in enumerate(KEYS)]
    head = ["doc_id", "system", "Ann", "", "Ben", ""]
    under = ["", "", "fluency", "accuracy", "fluency", "accuracy"]
    title = ["Ratings of May", "", "", "", "", ""]
    merged = ["A1:F1", "A2:A3", "B2:B3", "C2:D2", "E2:F2"]
    path = workbook(tmp_path, [title, head, under, *body], *merged)
    (problem,) = refused_by_meta_eval(tmp_path, path)
    assert "the names seem to have two parts each" in problem
    remedy = "ratings.wide={rater} - {criterion}"
    assert meta_eval(paths(tmp_path, path), remedy) == init(paths(tmp_path, path), tmp_path, remedy)
    assert ("d1", "alba", "Ann", 1.0) in meta_eval(paths(tmp_path, path), remedy)


def test_ids_that_are_merged_down_their_rows(tmp_path: Path) -> None:
    head, *body = PLAIN[1]
    merged = [f"A{n}:A{n + 3}" for n in range(2, 2 + len(body), 4)]
    path = workbook(tmp_path, [head, *body], *merged)
    files = paths(tmp_path, path)
    assert meta_eval(files) == init(files, tmp_path) == PLAIN_VALUES
    path = workbook(tmp_path, [head, *body], "D2:D3")
    (problem,) = refused_by_meta_eval(tmp_path, path)
    assert "column 'fluency' has merged cells" in problem
    assert "unmerge them" in problem


def test_preferences_are_refused_and_the_share_that_was_won_is_read(tmp_path: Path) -> None:
    pairs = [["doc_id", "rater", "model_a", "model_b", "winner"]]
    pairs += [
        [d, r, "alba", "brise", "alba" if n % 3 else "tie"]
        for n, d in enumerate(DOCS)
        for r in ("ann", "ben")
    ]
    found = "\n".join(refused_by_meta_eval(tmp_path, pairs))
    assert "say which of two texts is preferred" in found
    assert "write a row per document and system, with the share of its comparisons" in found
    with pytest.raises(BadInput, match=r"share of its comparisons|all name systems"):
        init(paths(tmp_path, pairs), tmp_path)
    won = [["doc_id", "system", "rater", "share_won_rating"]]
    won += [[d, s, r, "1" if s == "alba" else ".5"] for d, s in KEYS for r in ("ann", "ben")]
    files = paths(tmp_path, won)
    assert by_meta_eval(files) == by_init(files, tmp_path)


def test_two_raters_files_in_the_place_of_scores_and_ratings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from metassay.cli.main import main

    few = ["--resamples", "20", "--permutations", "20"]
    each = []
    for rater in ("ann", "ben"):
        rows = [[*r[:2], *r[3:]] for n, r in enumerate(PLAIN[1]) if n == 0 or r[2] == rater]
        each.append(str(as_csv(rows, tmp_path, rater)))
    assert main(["meta-eval", *each, *few]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "if both hold ratings, name both by --ratings" in said
    assert main(["meta-eval", "--ratings", *each, *few]) == 0
    assert "each file counts as one rater" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.json", '{"doc_id": 1', "is not valid JSON"),
        ("a.json", "[1, 2]", "2 records: is not an object with named values"),
        ("a.json", "[]", "has no row"),
        ("a.csv", "doc,system,m\nd,a\n", "line 2: does not have the 3 cells of the header"),
    ],
)
def test_what_is_wrong_is_told_with_its_row(
    tmp_path: Path, name: str, content: str, said: str
) -> None:
    (tmp_path / name).write_text(content)
    faults = Findings()
    assert read_sheet(tmp_path / name, faults) is None
    assert said in faults.lines()[0]
    assert "; " in faults.lines()[0]


@pytest.mark.parametrize(("column", "joins"), [("grade", False), ("text_id", True)])
def test_texts_are_never_found_by_a_grade(tmp_path: Path, column: str, joins: bool) -> None:
    """Five texts that are graded 1 to 5, by a metric and by a person: each number is there once."""
    scored = [["doc_id", "system", column], *([f"d{n}", "s", str(6 - n)] for n in range(1, 6))]
    rated = [[column, "fluency"], *([str(n), str(n)] for n in range(1, 6))]
    sheets = []
    for name, rows in (("scores", scored), ("ratings", rated)):
        sheets.append(read_sheet(as_csv(rows, tmp_path, name), Findings()))
    of_scores, of_ratings = sheets
    assert of_scores is not None
    assert of_ratings is not None
    found = join_by_text(of_ratings, of_scores, "doc_id", "system")
    assert ("doc_id" in found.frame) is joins
    if joins:
        assert list(found.frame["doc_id"]) == ["d5", "d4", "d3", "d2", "d1"]

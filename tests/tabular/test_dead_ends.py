"""Tables on which people got stuck: each is read, or refused with a remedy that works."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from metassay.api.columns import Roles
from metassay.api.reading import read_both
from metassay.cli.main import main
from metassay.core.errors import BadInput
from metassay.project.spreadsheets.read import Inputs, read_all
from metassay.tabular.files import read_sheet
from metassay.tabular.infer_columns import join_by_text
from metassay.tabular.rows import Findings
from metassay.tabular.scales import guess_scale
from metassay.tabular.sheet import Sheet
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

Ratings = set[tuple[Any, ...]]
PLAIN_VALUES = {(row[0], row[1], row[2], float(row[3])) for row in PLAIN[1][1:]}


def values(rows: Iterable[Any]) -> Ratings:
    return {(r["doc_id"], r["author"], r["rater"], r["value"]) for r in rows}


def meta_eval(scores: Path, *ratings: Path, columns: tuple[str, ...] = ()) -> Ratings:
    """The ratings that meta-eval reads."""
    faults = Findings()
    sheets = [read_sheet(path, faults) for path in (scores, *ratings)]
    if faults:
        raise BadInput(faults.lines())
    first, *others = (sheet for sheet in sheets if sheet is not None)
    _, read = read_both([first], others, Roles(columns=columns))
    return values(read.table.to_dict("records"))


def init(
    texts: Path, *ratings: Path, columns: tuple[str, ...] = (), **more: list[Path]
) -> Ratings:
    """The ratings that init reads."""
    inputs = Inputs({"texts": [texts], "ratings": list(ratings), **more}, columns)
    return values(rating._asdict() for rating in read_all(inputs).rows.ratings)


Read = Callable[..., tuple[Ratings, Ratings]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """What both commands read of ratings, beside plain scores and texts."""

    def by_both(ratings: Rows | Path, *columns: str) -> tuple[Ratings, Ratings]:
        path = (
            ratings
            if isinstance(ratings, Path)
            else as_csv(ratings, tmp_path, "ratings")
        )
        scores = as_csv(PLAIN[0], tmp_path, "scores")
        theirs = meta_eval(scores, path, columns=columns)
        texts = as_csv(TEXTS, tmp_path, "texts")
        return theirs, init(texts, path, columns=columns, scores=[scores])

    return by_both


def refused(read: Read, ratings: Rows | Path) -> str:
    with pytest.raises(BadInput) as caught:
        read(ratings)
    return "\n".join(caught.value.problems)


def workbook(folder: Path, rows: Rows, *merged: str) -> Path:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append([int(c) if c.isdigit() else c or None for c in row])
    for cells in merged:
        book.active.merge_cells(cells)
    book.save(folder / "ratings.xlsx")
    return folder / "ratings.xlsx"


@pytest.mark.parametrize("raters", [1, 2])
def test_ratings_by_text_id_alone_are_joined(tmp_path: Path, raters: int) -> None:
    """In one file, or in a file per rater."""
    ids = {key: f"t{n}" for n, key in enumerate(KEYS)}
    rated = [[ids[row[0], row[1]], *row[2:]] for row in PLAIN[1][1:]]
    files = [as_csv([["text_id", *PLAIN[1][0][2:]], *rated], tmp_path, "ratings")]
    if raters == 2:
        files = []
        for rater in ("ann", "ben"):
            rows = [[text, value] for text, name, value in rated if name == rater]
            files.append(as_csv([["text_id", "fluency"], *rows], tmp_path, rater))
    scores, texts = (
        as_csv(
            [[*rows[0], "text_id"], *([*r, ids[r[0], r[1]]] for r in rows[1:])],
            tmp_path,
            name,
        )
        for name, rows in (("scores", PLAIN[0]), ("texts", TEXTS))
    )
    assert meta_eval(scores, *files) == init(texts, *files) == PLAIN_VALUES


def test_a_title_row_and_names_above_names(tmp_path: Path, read: Read) -> None:
    body = [
        [d, s, *(str(1 + (n + m) % 5) for m in range(4))]
        for n, (d, s) in enumerate(KEYS)
    ]
    head = ["doc_id", "system", "Ann", "", "Ben", ""]
    under = ["", "", "fluency", "accuracy", "fluency", "accuracy"]
    title = ["Ratings of May", "", "", "", "", ""]
    merged = ["A1:F1", "A2:A3", "B2:B3", "C2:D2", "E2:F2"]
    path = workbook(tmp_path, [title, head, under, *body], *merged)
    assert "seem to say several things each" in refused(read, path)
    theirs, ours = read(path, "ratings.wide={rater} - {criterion}")
    assert theirs == ours
    assert ("d1", "alba", "Ann", 1.0) in theirs


def test_ids_that_are_merged_down_their_rows(tmp_path: Path, read: Read) -> None:
    merged = [f"A{n}:A{n + 3}" for n in range(2, 1 + len(PLAIN[1]), 4)]
    assert read(workbook(tmp_path, PLAIN[1], *merged)) == (PLAIN_VALUES, PLAIN_VALUES)
    problem = refused(read, workbook(tmp_path, PLAIN[1], "D2:D3"))
    assert "column 'fluency' has merged cells" in problem
    assert "unmerge them" in problem


def test_preferences_are_refused_and_the_share_that_was_won_is_read(
    tmp_path: Path, read: Read
) -> None:
    pairs = [["doc_id", "rater", "model_a", "model_b", "winner"]]
    pairs += [
        [d, r, "alba", "brise", "alba" if n % 3 else "tie"]
        for n, d in enumerate(DOCS)
        for r in ("ann", "ben")
    ]
    problems = refused(read, pairs)
    assert "say which of two texts is preferred" in problems
    assert "metassay import preferences FILE --out DIR reads them" in problems
    texts, path = as_csv(TEXTS, tmp_path, "texts"), as_csv(pairs, tmp_path, "ratings")
    with pytest.raises(BadInput, match=r"import preferences"):
        init(texts, path)
    won = [["doc_id", "system", "rater", "share_won_rating"]]
    won += [
        [d, s, r, "1" if s == "alba" else ".5"] for d, s in KEYS for r in ("ann", "ben")
    ]
    tables = {"scores": PLAIN[0], "ratings": won}
    files = {kind: as_csv(table, tmp_path, kind) for kind, table in tables.items()}
    assert by_meta_eval(files) == by_init(files, tmp_path)


def test_two_raters_files_in_the_place_of_scores_and_ratings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few, each = ["--resamples", "20", "--permutations", "20"], []
    for rater in ("ann", "ben"):
        rows = [
            [*r[:2], *r[3:]] for n, r in enumerate(PLAIN[1]) if n == 0 or r[2] == rater
        ]
        each.append(str(as_csv(rows, tmp_path, rater)))
    for option, line in (
        ([], "If both hold ratings, name both by --ratings"),
        (["--ratings"], "each file counts as one rater"),
    ):
        assert main(["meta-eval", *option, *each, *few]) == 0
        assert line in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.json", '{"doc_id": 1', "is not valid JSON"),
        ("a.json", "[1, 2]", "2 records: is not an object with named values"),
        ("a.json", "[]", "has no row"),
        (
            "a.csv",
            "doc,system,m\nd,a\n",
            "line 2: does not have the 3 cells of the header",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_row(
    tmp_path: Path, name: str, content: str, problem: str
) -> None:
    (tmp_path / name).write_text(content)
    faults = Findings()
    assert read_sheet(tmp_path / name, faults) is None
    assert problem in faults.lines()[0]
    assert "; " in faults.lines()[0]


@pytest.mark.parametrize(("column", "joins"), [("grade", False), ("text_id", True)])
def test_texts_are_never_recognised_by_a_grade(
    tmp_path: Path, column: str, joins: bool
) -> None:
    """Five texts that are graded 1 to 5, by a metric and by a person: each number is there once."""
    scored = [
        ["doc_id", "system", column],
        *([f"d{n}", "s", str(6 - n)] for n in range(1, 6)),
    ]
    rated = [[column, "fluency"], *([str(n), str(n)] for n in range(1, 6))]
    sheets: list[Sheet] = []
    for rows in (scored, rated):
        sheet = read_sheet(as_csv(rows, tmp_path, "table"), Findings())
        assert sheet is not None
        sheets.append(sheet)
    frame = join_by_text(sheets[1], sheets[0], "doc_id", "system").frame
    assert ("doc_id" in frame) is joins
    assert not joins or list(frame["doc_id"]) == ["d5", "d4", "d3", "d2", "d1"]


@pytest.mark.parametrize(
    ("rated", "ends", "expected"),
    [  # values, ends that the user names, and the scale with its ends
        ([1, 2, 5], None, ("ordinal", 1, 5)),
        ([0, 10], None, ("ordinal", 0, 10)),
        ([0, 11], None, ("interval", 0, 11)),
        ([1, 2.5], None, ("interval", 1, 2.5)),
        ([0, 1, 1], None, ("nominal", 0, 1)),
        ([0, 0.5, 1], None, ("interval", 0, 1)),
        ([2, 3], (1.0, 5.0), ("ordinal", 1, 5)),
        ([1, 1], None, ("nominal", 0, 1)),
        ([0, 0], None, ("nominal", 0, 1)),
        ([4, 4], None, ("ordinal", 3, 4)),
        ([], None, ("nominal", 0, 1)),
    ],
)
def test_a_scale_by_its_values(
    rated: list[float], ends: tuple[float, float] | None, expected: tuple[object, ...]
) -> None:
    for lower in (False, True):
        scale = guess_scale(list(map(float, rated)), ends, lower=lower)
        assert (scale.scale, scale.low, scale.high) == expected
        assert scale.better == ("lower" if lower else "higher")

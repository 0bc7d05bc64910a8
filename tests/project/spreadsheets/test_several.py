"""Several files of one kind: all are read, and what they say of each other is checked."""

from pathlib import Path

import pytest

from metassay.cli.main import main
from metassay.core.errors import BadInput
from metassay.project import make
from metassay.project.spreadsheets.read import Inputs, OwnData, read_all
from tests.project.spreadsheets.sheets import (
    DOCS,
    LONG,
    RATERS,
    RATINGS,
    SCORES,
    SYSTEMS,
    Table,
    confirmed,
    put,
)

HEAD = ["visit_id", "model"]
TEXTS = [(d, s) for d in DOCS for s in SYSTEMS]


def of(rater: str, *, named: bool = False) -> list[list[str]]:
    """One rater's rows, with the column that says so or without it."""
    rows = [RATINGS[0], *(row for row in RATINGS[1:] if row[2] == rater)]
    first = 2 if named else 3
    return [[*row[:2], *row[first:]] for row in rows]


def read(folder: Path, **tables: dict[str, Table]) -> OwnData:
    """What is read of the files of each kind, by name."""
    kinds = {"texts": {"texts.csv": LONG}, **tables}
    paths = {
        kind: [put(folder / n, table) for n, table in of.items()]
        for kind, of in kinds.items()
    }
    return read_all(Inputs(paths))


def test_a_file_of_each_rater_is_one_of_all_raters(tmp_path):
    whole = {
        rating[1:] for rating in read(tmp_path, ratings={"r.csv": RATINGS}).rows.ratings
    }
    for named in (True, False):
        data = read(tmp_path, ratings={f"{r}.csv": of(r, named=named) for r in RATERS})
        assert {rating[1:] for rating in data.rows.ratings} == whole
        output = confirmed(data)
        assert ("rater = the file's name" in output) is not named
        assert "ann.csv, ben.csv, 12 rows" in output


def test_texts_and_scores_in_several_files_and_metrics_in_files_of_their_own(tmp_path):
    data = read(tmp_path, scores={"scores.csv": SCORES}).rows
    texts = {"t1.csv": LONG[:4], "t2.csv": [LONG[0], *LONG[4:]]}
    scores = {f"{n}.csv": [[*row[:2], row[n]] for row in SCORES] for n in (2, 3, 4)}
    rows = read(tmp_path, texts=texts, scores=scores).rows
    assert [text[1:] for text in rows.texts] == [text[1:] for text in data.texts]
    assert {score[1:] for score in rows.scores} == {score[1:] for score in data.scores}


def test_numbers_that_count_the_rows_of_each_file_are_no_ratings(tmp_path):
    texts = [LONG[0], *([f"{d}{n}", *row] for n in "ab" for d, *row in LONG[1:])]
    counted = [[*HEAD, "item", "fluency"]]
    keys = [(f"{d}{n}", s) for n in "ab" for d, s in TEXTS]
    counted += [[d, s, str(n), "3"] for n, (d, s) in enumerate(keys, 1)]
    files = {"ann.csv": counted, "ben.csv": counted}
    assert {*read(tmp_path, texts={"t.csv": texts}, ratings=files).criteria} == {
        "fluency"
    }


ANN, BEN, NAMED = of("ann"), of("ben"), of("ann", named=True)
OTHER = [LONG[0], ["v1", "cedar", "Some text.", "Another source.", ""]]


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        (
            {"ann": ANN, "ben": [*BEN, BEN[1]]},
            "ben.csv: line 8: rates a text again, and no column",
        ),
        ({"ann": NAMED, "ann2": NAMED}, "same as ann.csv line 2"),
        (
            {"ann": NAMED, "ben": BEN},
            "ben.csv: has no column 'rater', which holds the rater in other files; add it",
        ),
        (
            {"ann": ANN, "ben": [["case", *BEN[0][1:]], *BEN[1:]]},
            "ben.csv: has no column 'visit_id', which holds the doc in other files; add it",
        ),
        (
            {"ann": ANN, "ben": [[*HEAD, "note"], *([d, s, "so"] for d, s in TEXTS)]},
            "ben.csv: has none of the columns that hold ratings in other files",
        ),
        ({"ann": ANN, "ben": [BEN[0]]}, "ben.csv: has no row that fits its header"),
    ],
)
def test_what_contradicts_is_refused(tmp_path, tables, words):
    with pytest.raises(BadInput) as caught:
        read(tmp_path, ratings={f"{name}.csv": table for name, table in tables.items()})
    assert words in "\n".join(caught.value.problems)


def test_a_source_that_differs_from_another_file_s(tmp_path):
    words = r"t2\.csv: line 2: the source differs from an earlier row's \(doc 'v1', t1\.csv line"
    with pytest.raises(BadInput, match=words):
        read(tmp_path, texts={"t1.csv": LONG, "t2.csv": OTHER})


def test_one_file_twice_and_two_of_one_name(tmp_path):
    texts = put(tmp_path / "texts.csv", LONG)
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        put(tmp_path / folder / "r.csv", RATINGS)
    for other, words in (
        ("b/../a/r.csv", r"r\.csv: is named twice; name it once"),
        ("b/r.csv", r"r\.csv: 2 files have this name, which distinguishes raters"),
    ):
        with pytest.raises(BadInput, match=words):
            read_all(
                Inputs(
                    {
                        "texts": [texts],
                        "ratings": [tmp_path / "a/r.csv", tmp_path / other],
                    }
                )
            )


def test_the_command_takes_them_all_and_says_them_all(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(make, "refresh", lambda _: True)
    monkeypatch.chdir(tmp_path)
    words = ["init", "study", "--texts", put(tmp_path / "texts.csv", LONG).name]
    for rater in RATERS:
        words += ["--ratings", put(tmp_path / f"{rater}.csv", of(rater)).name]
    assert main(words) == 2
    assert "--ratings ann.csv --ratings ben.csv" in capsys.readouterr().err
    assert main([*words, "--yes"]) == 0
    text = (tmp_path / "study/data/study/ratings.csv").read_text("utf-8")
    assert text.count(",ann,") == text.count(",ben,") == 2 * len(TEXTS)

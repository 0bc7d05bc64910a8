"""Several files of scores, or of ratings: what they say together is what one file says."""

import pandas as pd
import pytest

from metassay.cli.main import main
from tests.api.small_study import OPTIONS, TEXT, faults, read, study


@pytest.fixture
def folder(here) -> None:
    """A file per metric and two per rater beside the files of all."""
    scores, ratings = study(("alba", "brise"), 6)
    scores.to_csv("scores.csv", index=False)
    ratings.to_csv("ratings.csv", index=False)
    for metric in ("good", "noise", "words"):
        scores[[*TEXT, metric]].to_csv(f"{metric}.csv", index=False)
    for rater, rows in ratings.groupby("rater"):
        rows.drop(columns="rater").to_csv(f"{rater}.csv", index=False)
        rows.to_parquet(f"named_{rater}.parquet", index=False)


def in_order(table: pd.DataFrame) -> pd.DataFrame:
    rows = table.drop(columns=["low", "high", "recipe"], errors="ignore")
    return rows.sort_values([*rows.columns.drop("value")], ignore_index=True)


def test_files_of_raters_and_of_metrics_are_as_one_file(folder) -> None:
    whole = read(["scores.csv"], ["ratings.csv"])
    for several in (["ann.csv", "bob.csv"], ["named_ann.parquet", "named_bob.parquet"]):
        apart = read(["good.csv", "noise.csv", "words.csv"], several)
        for ours, theirs in zip(apart, whole, strict=True):
            assert in_order(ours.table).equals(in_order(theirs.table))


def test_the_command_takes_them_all(folder, capsys) -> None:
    assert main(["meta-eval", "--ratings", "ann.csv", "bob.csv", *OPTIONS]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "ann 12" in printed
    assert "each file counts as one rater, named after it" in printed


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda bob: bob.assign(rater="bob"),
            "ann.csv: has no column 'rater', which holds",
        ),
        (
            lambda bob: pd.concat([bob, bob[3:4]]),
            "bob.csv: line 14: the same doc_id, system a",
        ),
        (
            lambda bob: bob.drop(columns="system"),
            "bob.csv: has no column 'system', which holds",
        ),
    ],
)
def test_what_contradicts_is_refused(folder, change, message: str) -> None:
    change(pd.read_csv("bob.csv")).to_csv("bob.csv", index=False)
    assert message in "\n".join(faults(["scores.csv"], ["ann.csv", "bob.csv"]))


def test_a_rating_in_two_files_is_told_with_both_places(folder) -> None:
    pd.read_csv("ratings.csv")[4:6].to_csv("more.csv", index=False)
    (line,) = faults(["scores.csv"], ["ratings.csv", "more.csv"])
    assert line.startswith(
        "more.csv: 2 lines: the same doc_id, author, part, study, rater, unit,"
    )
    assert "as in ratings.csv (first: line 2, line 6 there: " in line
    assert line.endswith("keep one of the two")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            "scores.csv --ratings ann.csv",
            "scores.csv: cannot be combined with --scores",
        ),
        ("--scores scores.csv", "--ratings FILE: is missing"),
        ("--ratings ann.csv ./ann.csv", "ann.csv: is named twice"),
        ("--scores ann.csv --ratings bob.csv ann.csv", "ann.csv: is given as SCORES"),
        ("scores.csv ann.csv bob.csv", "Name several of a kind by --scores FILE FILE"),
        ("", "takes two files, SCORES RATINGS, or RATINGS alone; there are 0"),
    ],
)
def test_words_that_fit_together_alone(
    folder, capsys, words: str, message: str
) -> None:
    assert main(["meta-eval", *words.split()]) == 2
    assert message in capsys.readouterr().err

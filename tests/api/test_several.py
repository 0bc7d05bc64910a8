"""Several files of scores, or of ratings: what they say together is what one file says."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from metassay.api.columns import Roles
from metassay.api.reading import read_both, read_file
from metassay.cli.main import main
from metassay.core.errors import BadInput

RATERS = ("ann", "ben")


def frames() -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(7)
    texts = [(f"d{d}", system) for d in range(6) for system in ("alba", "brise")]
    keys = pd.DataFrame(texts, columns=["doc_id", "system"])
    scores = keys.assign(good=rng.normal(size=12).round(3), bad=rng.normal(size=12).round(3))
    each = [keys.assign(rater=rater, grade=rng.integers(1, 6, 12)) for rater in RATERS]
    return scores, pd.concat(each, ignore_index=True)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    scores, ratings = frames()
    scores.to_csv("scores.csv", index=False)
    ratings.to_csv("ratings.csv", index=False)
    for metric in ("good", "bad"):
        scores[["doc_id", "system", metric]].to_csv(f"{metric}.csv", index=False)
    for rater in RATERS:
        own = ratings[ratings["rater"] == rater]
        own.drop(columns="rater").to_csv(f"{rater}.csv", index=False)
        own.to_parquet(f"named_{rater}.parquet", index=False)
    return tmp_path


def tables(scores: list[str], ratings: list[str]) -> list[pd.DataFrame]:
    faults: list[str] = []
    cells = [[read_file(Path(name), faults) for name in names] for names in (scores, ratings)]
    assert not faults
    of_scores, of_ratings = ([one for one in each if one is not None] for each in cells)
    found = read_both(of_scores, of_ratings, Roles())
    return [one.table for one in found if one is not None]


def same(one: pd.DataFrame, other: pd.DataFrame) -> bool:
    keys = [name for name in one if name not in ("value", "low", "high", "recipe")]
    return one.sort_values(keys, ignore_index=True)[[*keys, "value"]].equals(
        other.sort_values(keys, ignore_index=True)[[*keys, "value"]]
    )


def test_files_of_raters_and_of_metrics_are_as_one_file(here: Path) -> None:
    scores, ratings = tables(["scores.csv"], ["ratings.csv"])
    for several in (["ann.csv", "ben.csv"], ["named_ann.parquet", "named_ben.parquet"]):
        apart = tables(["good.csv", "bad.csv"], several)
        assert same(apart[0], scores)
        assert same(apart[1], ratings)


def test_the_command_takes_them_all(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    few = ["--resamples", "20", "--permutations", "20"]
    assert main(["meta-eval", "--ratings", "ann.csv", "ben.csv", *few]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "ann 12" in said
    assert "each file counts as one rater, named after it" in said


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda ben: ben.assign(rater="ben"), "ann.csv: has no column 'rater', which holds"),
        (lambda ben: pd.concat([ben, ben[3:4]]), "ben.csv: line 14: the same doc_id, system a"),
        (lambda ben: ben.drop(columns="system"), "ben.csv: has no column 'system', which holds"),
    ],
)
def test_what_contradicts_is_refused(here: Path, change, words: str) -> None:
    change(pd.read_csv("ben.csv")).to_csv("ben.csv", index=False)
    with pytest.raises(BadInput) as caught:
        tables(["scores.csv"], ["ann.csv", "ben.csv"])
    assert words in "\n".join(caught.value.problems)


def test_a_rating_in_two_files_is_told_with_both_places(here: Path) -> None:
    pd.read_csv("ratings.csv")[4:6].to_csv("more.csv", index=False)
    with pytest.raises(BadInput) as caught:
        tables(["scores.csv"], ["ratings.csv", "more.csv"])
    (said,) = caught.value.problems
    assert said.startswith("more.csv: 2 lines: the same doc_id, author, part, study, rater, unit,")
    assert "as in ratings.csv (first: line 2, line 6 there: " in said
    assert said.endswith("keep one of the two")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["scores.csv", "--ratings", "ann.csv"], "scores.csv: cannot be combined with --scores"),
        (["--scores", "scores.csv"], "--ratings FILE: is missing"),
        (["--ratings", "ann.csv", "./ann.csv"], "ann.csv: is named twice"),
        (["--scores", "ann.csv", "--ratings", "ben.csv", "ann.csv"], "ann.csv: is given as SCORES"),
        (["scores.csv", "ann.csv", "ben.csv"], "Name several of a kind by --scores FILE FILE"),
    ],
)
def test_words_that_fit_together_alone(here: Path, capsys, words: list[str], said: str) -> None:
    assert main(["meta-eval", *words]) == 2
    assert said in capsys.readouterr().err

"""Ranks are read as ranks: of 1, 2 and 3 in each document, 1 is the best."""

import itertools
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import metassay
from metassay.core.errors import BadInput
from metassay.project.spreadsheets.read import Inputs, read_all
from tests.tabular.test_one_reader import Rows, as_csv, by_meta_eval

DOCUMENTS = [f"case{number:02}" for number in range(1, 9)]
SYSTEMS = ("gpt4", "llama", "flan")
FEW: dict[str, Any] = {"resamples": 20, "permutations": 20}


def orders(seed: int, n_systems: int = len(SYSTEMS)) -> list[list[int]]:
    """A random order of the systems for each document and two raters."""
    draw = random.Random(seed)
    ranks = range(1, n_systems + 1)
    return [draw.sample(ranks, n_systems) for _ in range(2 * len(DOCUMENTS))]


def side_by_side(ranks: list[list[Any]], *systems: str) -> Rows:
    """A column per system, a row per document and rater."""
    keys = itertools.product(DOCUMENTS, ("ann", "ben"))
    rows = [[*key, *map(str, row)] for key, row in zip(keys, ranks, strict=True)]
    return [["case", "rater", *systems], *rows]


def long(ranks: list[list[Any]], name: str) -> pd.DataFrame:
    """A row per document, rater and system."""
    wide = side_by_side(ranks, *SYSTEMS)
    frame = pd.DataFrame(wide[1:], columns=wide[0])
    melted = frame.melt(["case", "rater"], var_name="system", value_name=name)
    return melted.rename(columns={"case": "doc_id"}).astype({name: float})


def scores(direction: int) -> pd.DataFrame:
    """A metric that follows the ranks of ann, or goes against them."""
    ranks = long(orders(1), "good")
    ann = ranks[ranks["rater"] == "ann"].drop(columns="rater")
    return ann.assign(good=direction * ann["good"])


def read(table: Rows, systems: Sequence[str], folder: Path) -> dict[str, Any]:
    """What meta-eval reads of ratings beside scores of the same texts."""
    keys = itertools.product(DOCUMENTS, systems)
    rows = [[*key, f"0.{number + 1}"] for number, key in enumerate(keys)]
    paths = {
        "scores": as_csv([["doc_id", "system", "align"], *rows], folder, "scores"),
        "ratings": as_csv(table, folder, "ratings"),
    }
    return by_meta_eval(paths)


@pytest.mark.parametrize("systems", [SYSTEMS, (*SYSTEMS, "s4")])
def test_a_row_of_ranks_has_a_column_per_system(
    tmp_path: Path, systems: tuple[str, ...]
) -> None:
    table = side_by_side(orders(2, len(systems)), *systems)
    results = read(table, systems, tmp_path)
    assert {row[1] for row in results["ratings"]} == set(systems)
    assert len(results["ratings"]) == 16 * len(systems)
    assert set(results["criteria"].values()) == {"lower"}
    line = "criteria, less is better (ranks, of which 1 is the best): 'rating'"
    assert line in results["lines"]


@pytest.mark.parametrize("form", ["rank_{}", "{} (rank)", "Place of {}"])
def test_names_that_say_rank_and_system(form: str) -> None:
    table = side_by_side(orders(6), *map(form.format, SYSTEMS))
    frame = pd.DataFrame(table[1:], columns=table[0])
    results = metassay.meta_eval(ratings=frame, doc="case", **FEW)
    raters = results.raters
    assert {*raters[raters["rater"] == "ann"]["author"]} >= {*SYSTEMS}
    line = "criteria, less is better (ranks, of which 1 is the best): 'rating'"
    assert line in results.notes


def test_columns_of_systems_that_the_scores_name(tmp_path: Path) -> None:
    draw = random.Random(7)
    grades = [[draw.randint(1, 5) for _ in SYSTEMS] for _ in range(16)]
    results = read(side_by_side(grades, *SYSTEMS), SYSTEMS, tmp_path)
    assert {row[1] for row in results["ratings"]} == {*SYSTEMS}
    assert {*results["criteria"].values()} == {"higher"}


@pytest.mark.parametrize(("place", "cell"), [(3, 1), (3, "")])
def test_one_tie_or_gap_changes_nothing(tmp_path: Path, place: int, cell: Any) -> None:
    """15 of 16 rows are still rankings."""
    ranks: list[list[Any]] = [list(row) for row in orders(3)]
    ranks[place] = [cell, 1, 2]
    results = read(side_by_side(ranks, *SYSTEMS), SYSTEMS, tmp_path)
    assert set(results["criteria"].values()) == {"lower"}
    assert len(results["ratings"]) == 48 - (cell == "")


def test_grades_are_no_ranks(tmp_path: Path) -> None:
    """Grades repeat within a row; so do they where a row has a single system."""
    draw = random.Random(4)
    grades = [[draw.randint(1, 3) for _ in SYSTEMS] for _ in range(16)]
    table = side_by_side(grades, "fluency", "coherence", "relevance")
    frame = pd.DataFrame(table[1:], columns=table[0]).rename(columns={"case": "doc_id"})
    names = ["fluency", "coherence", "relevance"]
    frame[names] = frame[names].astype(float)
    results = metassay.meta_eval(ratings=frame, **FEW)
    better = [note for note in results.notes if "is better" in note]
    assert better == [
        "criteria, more is better (by the name): 'fluency', 'coherence', 'relevance'"
    ]


def test_two_systems_need_five_documents() -> None:
    """A pair of grades is 1 and 2 by luck: two documents say nothing, five are asked about."""
    ranks = pd.DataFrame(
        {
            "doc_id": np.repeat([f"d{n}" for n in range(6)], 2),
            "system": ["m", "n"] * 6,
            "quality": [1.0, 2.0, 2.0, 1.0] * 3,
        }
    )
    with pytest.raises(BadInput, match="as ranks have"):
        metassay.meta_eval(ratings=ranks, **FEW)
    few = ranks[ranks["doc_id"].isin(["d0", "d1"])]
    results = metassay.meta_eval(ratings=few, **FEW)
    assert "criteria, more is better (by the name): 'quality'" in results.notes


@pytest.mark.parametrize("name", ["rank", "Rank", "ranking"])
def test_a_metric_that_follows_the_ranks_correlates(name: str) -> None:
    """Less is better of ranks, so a metric of which less is better agrees with them."""
    ratings = long(orders(1), name)
    ratings = ratings[ratings["rater"] == "ann"]
    with_metric = metassay.meta_eval(scores(-1), ratings, higher="good", **FEW)
    values = with_metric.certificates.query("level == 'global'")["value"]
    assert np.allclose(values, 1)
    against = metassay.meta_eval(scores(1), ratings, higher="good", **FEW)
    values = against.certificates.query("level == 'global'")["value"]
    assert np.allclose(values, -1)


def test_a_quality_that_looks_like_ranks_is_asked_about() -> None:
    ratings = long(orders(1), "quality")
    remedy = (
        "say lower='quality' if 1 is the best, or higher='quality' if it is the worst"
    )
    with pytest.raises(BadInput, match=remedy):
        metassay.meta_eval(ratings=ratings, **FEW)
    lower = metassay.meta_eval(ratings=ratings, lower="quality", **FEW)
    assert "criteria, less is better (as you say): 'quality'" in lower.notes


def test_init_reads_ranks_alike(tmp_path: Path) -> None:
    keys = itertools.product(DOCUMENTS, SYSTEMS)
    texts = [[doc, system, f"{system} says that {doc} is well"] for doc, system in keys]
    files = {
        "texts": [as_csv([["doc_id", "system", "text"], *texts], tmp_path, "texts")],
        "ratings": [as_csv(side_by_side(orders(5), *SYSTEMS), tmp_path, "ratings")],
    }
    results = read_all(Inputs(files))
    assert {name: scale.better for name, scale in results.criteria.items()} == {
        "rating": "lower"
    }
    assert {rating.author for rating in results.rows.ratings} == set(SYSTEMS)


def test_a_number_beside_the_ranks_is_no_system(tmp_path: Path) -> None:
    table = side_by_side(orders(1), *SYSTEMS)
    beside = [[*row, str(n % 5 + 2)] for n, row in enumerate(table[1:])]
    rows = [[*table[0], "confidence"], *beside]
    assert read(rows, SYSTEMS, tmp_path) == read(table, SYSTEMS, tmp_path)


@pytest.mark.parametrize("n_ties", [3, 6])
def test_ranks_with_some_ties_are_asked_about(tmp_path: Path, n_ties: int) -> None:
    ranks = [[1, 1, 3] if n < n_ties else row for n, row in enumerate(orders(1))]
    with pytest.raises(BadInput, match=r"as ranks with ties have.*--lower"):
        read(side_by_side(ranks, *SYSTEMS), SYSTEMS, tmp_path)

"""A small study with people, and ways to hand it to `meta_eval` and to the command."""

import json
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import metassay
from metassay.api.columns import InputTable, Roles
from metassay.api.reading import read_both, read_file
from metassay.core.errors import BadInput

FEW: dict[str, Any] = {"resamples": 20, "permutations": 100}
OPTIONS = ["--resamples", "20", "--permutations", "100"]
TEXT = ["doc_id", "system"]
Frames = tuple[pd.DataFrame, pd.DataFrame]


def study(
    systems: Sequence[str] = ("a", "b", "c", "gpt-4"), documents: int = 10
) -> Frames:
    """Scores by a metric that follows quality, by noise and by length; grades of two raters."""
    rng = np.random.default_rng(8)
    keys = pd.DataFrame(
        product([f"d{d}" for d in range(documents)], systems), columns=TEXT
    )
    n, quality = len(keys), rng.normal(size=len(keys))
    scores = keys.assign(
        good=(quality + 0.5 * rng.normal(size=n)).round(2),
        noise=rng.normal(size=n),
        words=rng.integers(10, 40, n),
    )
    each = [
        keys.assign(rater=rater, grade=np.round(2 * quality + rng.normal(size=n)))
        for rater in ("ann", "bob")
    ]
    return scores, pd.concat(each, ignore_index=True)


def put(scores: pd.DataFrame | None, ratings: pd.DataFrame) -> list[str]:
    """Write the files here; return the words of the command about them."""
    ratings.to_csv("ratings.csv", index=False)
    if scores is None:
        return ["meta-eval", "ratings.csv", *OPTIONS]
    scores.to_csv("scores.csv", index=False)
    return ["meta-eval", "scores.csv", "ratings.csv", *OPTIONS]


def problems(*arguments: Any, **options: Any) -> list[str]:
    with pytest.raises(BadInput) as caught:
        metassay.meta_eval(*arguments, **options)
    return list(caught.value.problems)


def table(name: str, **key: str) -> pd.DataFrame:
    """Rows of a table that the command wrote to `out`."""
    rows = pd.read_csv(f"out/{name}.csv")
    for column, value in key.items():
        rows = rows[rows[column] == value]
    return rows


def choices(folder: str = "out") -> Any:
    return json.loads(Path(folder, "choices.json").read_text("utf-8"))


def read(
    scores: Sequence[str | Path], ratings: Sequence[str | Path]
) -> tuple[InputTable, InputTable]:
    """Files as the command reads them."""
    faults: list[str] = []
    sheets = [
        [read_file(Path(name), faults) for name in names] for names in (scores, ratings)
    ]
    if faults:
        raise BadInput(faults)
    both = read_both(*([sheet for sheet in each if sheet] for each in sheets), Roles())
    assert both[0] is not None
    return both[0], both[1]


def faults(scores: Sequence[str | Path], ratings: Sequence[str | Path]) -> list[str]:
    with pytest.raises(BadInput) as caught:
        read(scores, ratings)
    assert all("; " in problem for problem in caught.value.problems)
    return list(caught.value.problems)

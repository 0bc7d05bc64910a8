"""needs.py: whoever reads another dataset stands in the list whose folders DVC watches."""

from pathlib import Path

import pytest

from metassay.core.kinds import Chosen
from metassay.core.options import Options
from metassay.llm.needs import FEW_SHOT, RELEASED_CLAIMS, Needs, all_datasets, folder_problems

RAW = Path("data/raw")


def problems(datasets: list[str], folder: str | None) -> list[str]:
    folders = {} if folder is None else {"s": folder}
    return folder_problems({"s": datasets}, folders, RAW, where="params", lists=FEW_SHOT)


@pytest.mark.parametrize(
    ("datasets", "folder"),
    [
        ([], None),
        (["ward"], "data/raw/ward"),
        (["ward"], "data/raw"),
        (["ward", "clinic"], "data/raw"),
        (["ward", "ward"], "data/raw/ward"),
    ],
)
def test_what_is_watched_has_no_problem(datasets: list[str], folder: str | None) -> None:
    assert problems(datasets, folder) == []


@pytest.mark.parametrize(
    ("datasets", "folder", "said"),
    [
        (["ward"], None, "params > systems: 's' reads data/raw/ward; name it under few_shot"),
        (["ward"], None, "with the folder data/raw/ward"),
        ([], "data/raw/ward", "params > few_shot > s: it reads no other dataset; name it under"),
        (["ward"], "data/raw/wards", "is data/raw/wards, but it reads data/raw/ward; name the"),
        (["a", "b"], "data/raw/a", "reads data/raw/a, data/raw/b; name the folder data/raw, so"),
    ],
)
def test_what_is_not_watched_is_said_with_its_remedy(
    datasets: list[str], folder: str | None, said: str
) -> None:
    (line,) = problems(datasets, folder)
    assert said in line


def test_names_of_a_kind_are_checked_together() -> None:
    lines = folder_problems(
        {"a": ["x"], "b": [], "c": ["x"]},
        {"b": "data/raw/x", "c": "data/raw/x"},
        RAW,
        where="params",
        lists=RELEASED_CLAIMS,
    )
    assert [line.split(":")[0] for line in lines] == [
        "params > decompositions",
        "params > released_claims > b",
    ]


def test_datasets_of_several_kinds_are_named_once() -> None:
    def reading(*names: str) -> Chosen:
        return Chosen("k", Needs(datasets=lambda _: names), Options())

    assert all_datasets([reading("b", "a"), reading(), reading("a")]) == ["a", "b"]

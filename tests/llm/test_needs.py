"""needs.py: whoever reads another dataset stands in the list whose folders DVC watches."""

from pathlib import Path

import pytest

from metassay.core.kinds import Chosen
from metassay.core.options import Options
from metassay.llm.needs import FEW_SHOT, RELEASED_CLAIMS, Needs, all_datasets, folder_problems


@pytest.mark.parametrize(
    ("datasets", "folder", "words"),
    [
        ([], None, None),
        (["ward"], "data/raw/ward", None),
        (["ward"], "data/raw", None),
        (["ward", "clinic"], "data/raw", None),
        (["ward", "ward"], "data/raw/ward", None),
        (["ward"], None, "params > systems: 's' reads data/raw/ward; name it under few_shot"
         " instead, with the folder data/raw/ward"),
        ([], "data/raw/ward", "params > few_shot > s: it reads no other dataset; name it under"),
        (["ward"], "data/raw/wards", "is data/raw/wards, but it reads data/raw/ward; name the"),
        (["a", "b"], "data/raw/a", "reads data/raw/a, data/raw/b; name the folder data/raw, so"),
    ],
)  # fmt: skip
def test_what_is_not_watched_is_named_with_its_remedy(datasets, folder, words) -> None:
    folders = {} if folder is None else {"s": folder}
    settings = {"where": "params", "lists": FEW_SHOT}
    lines = folder_problems({"s": datasets}, folders, Path("data/raw"), **settings)
    assert len(lines) == (words is not None)
    assert all(words in line for line in lines)


def test_names_of_a_kind_are_checked_together() -> None:
    lines = folder_problems(
        *({"a": ["x"], "b": [], "c": ["x"]}, {"b": "data/raw/x", "c": "data/raw/x"}),
        *(Path("data/raw"),),
        **{"where": "params", "lists": RELEASED_CLAIMS},
    )
    places = [line.split(":")[0] for line in lines]
    assert places == ["params > decompositions", "params > released_claims > b"]


def test_datasets_of_several_kinds_are_named_once() -> None:
    kinds = [
        Chosen("k", Needs(datasets=lambda _, names=names: names), Options())
        for names in (("b", "a"), (), ("a",))
    ]
    assert all_datasets(kinds) == ["a", "b"]

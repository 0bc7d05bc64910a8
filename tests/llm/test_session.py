"""session.py: which text may go where, and the currency of the cap; nothing is sent here."""

import ast
from pathlib import Path
from typing import Any

import pytest

from metassay.core.errors import BadInput
from metassay.core.kinds import Chosen
from metassay.core.options import Options
from metassay.core.params import MaxCost
from metassay.llm.endpoints import ModelOptions, Models, parse_models
from metassay.llm.needs import (
    FEW_SHOT,
    RELEASED_CLAIMS,
    Needs,
    PromptFile,
    Use,
    all_datasets,
    folder_problems,
)
from metassay.llm.session import Session, cap_of, model_problems
from tests.architecture import PACKAGES, ROOT, imports, sources

# Whoever has these could send text, or pay for an answer, past what a session allows.
WIRING = {
    "metassay.llm.endpoints.clear",
    "metassay.llm.budget.open_budget",
    "metassay.llm.budget.Budget",
    "metassay.llm.client.asker",
    "metassay.llm.client.replayer",
    *("metassay.llm.batch_run.BatchRun"),
}
MODEL: dict[str, Any] = {"endpoint": "here", "model": "m-1", "max_tokens": 9}
PRICES = {
    "date": "2026-11-01",
    "input_per_million": 1,
    "output_per_million": 1,
    "currency": "USD",
}
ACCESS = {"sample": "public", "shown": "private"}


def models(**changes: Any) -> Models:
    endpoint = {"kind": "openai", "base_url": "http://127.0.0.1:9/v1"} | changes
    return parse_models({"here": endpoint}, {"m": MODEL})


def session(tmp_path: Path, models: Models) -> Session:
    return Session(
        models,
        None,
        ACCESS,
        ["sample"],
        raw=tmp_path,
        ledger=tmp_path / "ledger.sqlite",
    )


def asking(
    model: str = "m", max_tokens: int | None = None, reads: tuple[str, ...] = ()
) -> Chosen:
    """A kind that asks this model and reads these datasets."""
    record = Needs(model=lambda _: Use(model, max_tokens), datasets=lambda _: reads)
    return Chosen("asking", record, Options())


def test_datasets_that_a_kind_reads_are_cleared_too(tmp_path) -> None:
    with session(tmp_path, models()) as opened:
        opened.provide(asking())
        with pytest.raises(
            BadInput, match=r"'shown' is private.*endpoints > here > sends"
        ):
            opened.provide(asking(reads=("shown",)))
        with pytest.raises(
            BadInput, match=r"'other' is not in data/registry.yaml.*known: sample"
        ):
            opened.provide(asking(reads=("other",)))
        with pytest.raises(BadInput, match="known: m"):
            opened.provide(asking("n"))
        assert opened.finish().responses.empty
    with session(tmp_path, models(sends=["private"])) as opened:
        _, decoding = opened.provide(asking("m", 5, ("shown",))).require_model()
        assert (decoding.model, decoding.max_tokens) == ("m-1", 5)


def test_who_asks_nobody_opens_nothing(tmp_path) -> None:
    with session(tmp_path, models()) as opened:
        resources = opened.provide(Chosen("rule", Needs(), Options()))
        assert opened.finish().responses.empty
    assert resources == (tmp_path, None)
    assert not (tmp_path / "ledger.sqlite").exists()
    with pytest.raises(RuntimeError, match="name it in its record"):
        resources.require_model()


def test_models_and_prompts_are_checked_by_the_record(tmp_path) -> None:
    record = Needs(
        model=lambda _: Use("n", None),
        files=lambda _: [
            PromptFile(tmp_path / name, {}) for name in ("a.yaml", "b.yaml")
        ],
    )
    problems = model_problems(
        Chosen("asking", record, Options()), models(), where="systems > s"
    )
    assert problems[0].startswith(
        "systems > s: model 'n' is not in params.yaml > models"
    )
    assert [
        "a.yaml does not exist" in problems[1],
        "b.yaml does not" in problems[2],
    ] == [True] * 2
    assert model_problems(asking(), models(), where="systems > s") == []


def test_the_cap_is_in_the_currency_of_the_prices() -> None:
    model = ModelOptions.model_validate(MODEL | {"prices": PRICES})
    assert cap_of(MaxCost(amount=2, currency="USD"), model, "m") == 2
    assert cap_of(None, model, "m") is None
    with pytest.raises(BadInput, match="one currency"):
        cap_of(MaxCost(amount=2, currency="EUR"), model, "m")


def called(file: Path) -> set[str]:
    """What a file calls, by the last part of each name."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return {ast.unparse(name).rpartition(".")[2] for name in calls}


def test_text_is_cleared_and_the_ledger_wired_in_a_single_place() -> None:
    files = {
        str(file): imports(file) for package in PACKAGES for file in sources(package)
    }
    clearing = [
        file for file, names in files.items() if "metassay.llm.endpoints.clear" in names
    ]
    assert clearing == ["metassay/llm/session.py"]
    outside = {
        f: names for f, names in files.items() if not f.startswith("metassay/llm/")
    }
    assert not [file for file, names in outside.items() if WIRING & names]
    # It shows, exports and imports answers.
    ledgers = [
        file for file, names in outside.items() if "metassay.llm.ledger.Ledger" in names
    ]
    assert ledgers == ["metassay/cli/ledger_commands.py"]
    # Sessions of a project begin where its registry is read.
    sessions = [file for file in files if "Session" in called(Path(file))]
    assert sessions == ["metassay/datasets/clearance.py"]


# ---- whoever reads another dataset stands in the list whose folders DVC watches ---------------


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
        {"a": ["x"], "b": [], "c": ["x"]},
        {"b": "data/raw/x", "c": "data/raw/x"},
        Path("data/raw"),
        where="params",
        lists=RELEASED_CLAIMS,
    )
    places = [line.split(":")[0] for line in lines]
    assert places == ["params > decompositions", "params > released_claims > b"]


def test_datasets_of_several_kinds_are_named_once() -> None:
    kinds = [
        Chosen("k", Needs(datasets=lambda _, names=names: names), Options())
        for names in (("b", "a"), (), ("a",))
    ]
    assert all_datasets(kinds) == ["a", "b"]

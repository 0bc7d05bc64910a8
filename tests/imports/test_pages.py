"""docs/importing.md and docs/integrations.md: their files, commands and code are run as they are.

Of Inspect a stand-in is used where the package is not installed.
"""

import asyncio
import importlib.util
import math
import re
import shlex
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from metassay.cli.commands import COMMANDS
from metassay.cli.main import main
from metassay.imports.tools import TOOLS

ROOT = Path(__file__).parents[2]


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / "docs" / page).read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_the_example_of_importing_prints_and_writes_what_the_page_says(
    tmp_path, monkeypatch, capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("log.json").write_text(blocks("importing.md", "json")[0], encoding="utf-8")
    (command,) = blocks("importing.md", "sh")
    assert main(shlex.split(command)[1:]) == 0
    assert capsys.readouterr().out == blocks("importing.md", "text")[0]
    assert (
        Path("imported/verdicts.csv").read_text("utf-8")
        == blocks("importing.md", "csv")[0]
    )


def test_the_page_has_a_row_for_each_kind_and_its_files() -> None:
    page = (ROOT / "docs/importing.md").read_text("utf-8")
    rows = re.findall(r"^\| `([\w-]+)` \|", page, re.MULTILINE)
    tools = COMMANDS["import"].arguments["kind"].choices
    assert tuple(rows) == tools == tuple(TOOLS)


# ---- a scorer for Inspect


class Score(SimpleNamespace):
    def as_float(self) -> float:
        return float(self.value)


def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    def decorated(function: Any) -> Any:
        return function

    modules = {
        name: ModuleType(f"inspect_ai{name}") for name in ("", ".scorer", ".solver")
    }
    beside = {
        "Metric": Any,
        "SampleScore": SimpleNamespace,
        "Scorer": Any,
        "Target": Any,
    }
    called = {
        "metric": decorated,
        "mean": lambda: "mean",
        "scorer": lambda metrics: decorated,
    }
    for name, value in {**beside, **called, "Score": Score}.items():
        setattr(modules[".scorer"], name, value)
    modules[".solver"].TaskState = Any  # type: ignore[attr-defined]
    for module in modules.values():
        monkeypatch.setitem(sys.modules, module.__name__, module)


def test_the_scorer_for_inspect(monkeypatch) -> None:
    if importlib.util.find_spec("inspect_ai") is None:
        stand_in(monkeypatch)
    names: dict[str, Any] = {}
    exec(compile(blocks("integrations.md", "python")[0], "page", "exec"), names)
    state = SimpleNamespace(
        output=SimpleNamespace(completion="the cough is gone"),
        input_text="the cough is gone now",
    )
    target = SimpleNamespace(text="the cough is gone now")
    score = asyncio.run(names["texts"]()(state, target))
    # ROUGE-L: 4 of 4 and 4 of 5 words; one fragment of 4 words, 16 / 4.
    assert score.value == {"rougeL_fmeasure": pytest.approx(8 / 9), "density": 4.0}
    assert score.answer == "the cough is gone"
    values = [math.nan, *(n / 20 for n in range(20))]
    scores = [SimpleNamespace(score=Score(value=value)) for value in values]
    assert names["worst_tenth"]()(scores) == pytest.approx((0 + 1 / 20) / 2)
    assert math.isnan(names["worst_tenth"]()(scores[:1]))


def test_compute_as_evaluate_has_it() -> None:
    names: dict[str, Any] = {}
    for block in blocks("integrations.md", "python")[1:]:
        exec(compile(block, "page", "exec"), names)
    values = names["compute"](predictions=["a", None], references=["a", "b"])
    assert (values["rouge1_fmeasure"], values["rouge1_fmeasure_n"]) == (1.0, 1)

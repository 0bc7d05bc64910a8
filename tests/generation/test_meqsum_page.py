"""docs/datasets.md > meqsum, followed by a scripted server: with examples, and without."""

import importlib
import re
import sys
from pathlib import Path

import openpyxl
import pytest
import yaml

from metassay.core.options import PARAMS
from metassay.datasets.questions import HELD_OUT, MEQSUM
from metassay.project.refresh import refresh
from metassay.tables.documents import TEXTS
from metassay.tables.parquet import read
from stages.doorway import enter
from tests.llm.scripted_server import ScriptedServer, answer_with

ROOT = Path(__file__).parents[2]
BENCHMARK = Path("benchmarks/meqsum/params.yaml")
EXAMPLES = ("1-131188152.xml.txt", "14348.txt")  # of the page


def blocks_of_page() -> tuple[dict, dict]:
    """What the page says to write into the two params.yaml."""
    page = (ROOT / "docs/datasets.md").read_text(encoding="utf-8")
    section = page.split("\n## meqsum\n")[1].split("\n## ")[0]
    first, second = re.findall(r"^```yaml\n(.*?)^```", section, re.M | re.S)
    return yaml.safe_load(first), yaml.safe_load(second)


def put_questions(folder: Path) -> None:
    """Invented questions, two of which have the names of the page's examples."""
    folder.mkdir(parents=True)
    book = openpyxl.Workbook()
    book.active.append(("File", "CHQ", "Summary"))
    names = [*EXAMPLES, *(f"{number}.txt" for number in range(998))]
    for name in names:
        text = f"I take drug {name}.\nIs it safe?"
        book.active.append((name, text, f"Is drug {name} safe?"))
    book.save(folder / MEQSUM)


def change(path: Path, blocks: dict) -> None:
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    for key, block in blocks.items():
        merged = isinstance(block, dict) and key in content and content[key]
        content[key] = {**content[key], **block} if merged else block
    path.write_text(yaml.safe_dump(content), encoding="utf-8")


def run_stage(monkeypatch: pytest.MonkeyPatch, module: str, *words: str) -> None:
    monkeypatch.setattr(sys, "argv", [f"{module}.py", "meqsum", *words])
    enter(importlib.import_module(f"stages.{module}").main)


@pytest.mark.slow
def test_the_page_adds_a_model_with_and_without_examples(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared, of_benchmark = blocks_of_page()
    monkeypatch.chdir(project)
    with ScriptedServer() as server:
        server.script = lambda call: answer_with("Is the drug safe [1]?")
        endpoint = shared["endpoints"]["openai"]
        endpoint |= {"base_url": server.base_url, "key_env": None}
        change(PARAMS, shared)
        change(BENCHMARK, of_benchmark)
        put_questions(Path("data/raw/meqsum"))
        refresh(project)
        run_stage(monkeypatch, "ingest")
        run_stage(monkeypatch, "generate", "gpt4_0shot")
        run_stage(monkeypatch, "generate", "gpt4_2shot")
        calls = list(server.calls)
    folder = Path("data/tables/meqsum/texts")
    for name in ("gpt4_0shot", "gpt4_2shot"):
        texts = read(TEXTS, folder / f"{name}.parquet")
        assert len(texts) == HELD_OUT
        assert set(texts["text"]) == {"Is the drug safe [1]?"}
    # A question alone, and after two solved ones, whose citations overlap gives.
    turns = [len(call.body["messages"]) for call in calls]
    assert turns == [2] * HELD_OUT + [6] * HELD_OUT
    first = calls[-1].body["messages"][2]["content"]
    assert first == f"Is drug {EXAMPLES[0]} safe [0]?"

"""A project of one small benchmark, whose stages run in this process as their doorways run them."""

import importlib
import json
import shutil
from pathlib import Path
from typing import Any

import yaml

from stages.declared import Entry, find_entry
from stages.doorway import StageIO
from tests.fuzz.rule import Ended, handled

ROOT = Path(__file__).parents[2]
LLM = """
endpoints:
  here: {kind: openai, base_url: "http://127.0.0.1:9/v1", key_env: KEY, concurrency: 4,
         structured: true, sends: [private], proxy: null, timeout: 5.0}
models:
  mini: {endpoint: here, model: m-1, max_tokens: 200,
         prices: {date: "2026-11-01", input_per_million: 0.5, output_per_million: 1.0,
                  currency: USD}}
max_cost: {amount: 5, currency: USD}
"""


BLOCKS: dict[str, dict[str, Any]] = {
    "decompositions": {
        "mini": {"kind": "llm", "model": "mini", "least": 1, "most": 30, "rounds": 2}
    },
    "systems": {
        "talker": {
            "kind": "chat",
            "model": "mini",
            "unit": "full",
            "citations": True,
            "shots": 0,
            "examples": [],
            "example_citations": "none",
        }
    },
}
# In the order of the data; those behind them take a second or more.
STAGES = (
    "ingest",
    "generate lead",
    "generate longest_turn",
    "segment",
    "decompose clauses",
    "align rouge_topk",
    "pair all",
    "judge lexical",
    "measure",
    "aggregate",
)


def make(root: Path, documents: int = 2) -> None:
    """The sample's shortest documents, with a model in the params."""
    for name in ("data/registry.yaml", "dvc.yaml", "dvc.lock", "versions.yaml"):
        (root / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    for name in ("prompts", "rubrics", "benchmarks/sample", "data/sample"):
        shutil.copytree(ROOT / name, root / name)
    shorten(root / "data/sample", documents)
    params = yaml.safe_load((ROOT / "params.yaml").read_text("utf-8")) | yaml.safe_load(
        LLM
    )
    for block, more in BLOCKS.items():
        params[block] |= more
    params["aggregation"] |= {"resamples": 20}
    params["shown_as"] = {"lead": "The first five"}
    (root / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    file = root / "benchmarks/sample/params.yaml"
    text = file.read_text("utf-8").replace(
        "judges: [lexical, lexical_strict]", "judges: [lexical]"
    )
    file.write_text(text, encoding="utf-8")


def shorten(folder: Path, documents: int) -> None:
    """Leave the shortest documents of own data."""
    sources = (folder / "sources.jsonl").read_text("utf-8").splitlines(keepends=True)
    sources = sorted(sources, key=len)[:documents]
    (folder / "sources.jsonl").write_text("".join(sources), encoding="utf-8")
    chosen = {json.loads(line)["doc_id"] for line in sources}
    texts = (folder / "texts.jsonl").read_text("utf-8").splitlines(keepends=True)
    texts = [line for line in texts if json.loads(line)["doc_id"] in chosen]
    (folder / "texts.jsonl").write_text("".join(texts), encoding="utf-8")
    header, *rows = (
        (folder / "ratings.csv").read_text("utf-8").splitlines(keepends=True)
    )
    place = header.split(",").index("doc_id")
    rows = [row for row in rows if row.split(",")[place] in chosen]
    (folder / "ratings.csv").write_text("".join([header, *rows]), encoding="utf-8")


def declaration(words: str) -> Ended:
    """What dvc.yaml declares of a stage of the current folder's project, such as `pair all`."""
    stage, *item = words.split()
    return handled(lambda: find_entry(stage, ["sample", *item]))


def run(words: str, entry: Entry) -> Ended:
    """Run that stage."""
    stage, *item = words.split()
    main = importlib.import_module(f"stages.{stage}").main
    return handled(lambda: main(StageIO(entry, ["sample", *item])))

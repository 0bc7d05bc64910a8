"""A tiny project of one benchmark, whose stages run in this process as doorways run them."""

import importlib
import shutil
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from metassay.parquet import write
from metassay.tables import SOURCES
from stages.doorway import enter

ROOT = Path(__file__).parent.parent
KEY = "METASSAY_TEST_KEY"
NONE = "data/none.txt"
CHAT = {
    **{"kind": "chat", "model": "m", "unit": "full", "citations": True},
    **{"shots": 0, "examples": [], "example_citations": "none"},
}


def tiny_project(root: Path, base_url: str, passages: list[str], **changes: Any) -> Path:
    """A project whose benchmark `one` has a document for each passage, and a system `writer`.

    `system` (whole if it has a kind), `endpoint` and `reads` change these; `access` gives datasets
    their class.
    """
    params = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    block = params["benchmarks"]["sample"]
    system = changes.pop("system", {})
    endpoint = {"kind": "openai", "base_url": base_url, "key_env": KEY, "timeout": 2.0}
    model = {"endpoint": "here", "model": "m-1", "max_tokens": 200}
    writing = {"benchmark": "one", "system": "writer", "reads": changes.pop("reads", NONE)}
    params |= {
        "fetching": [],
        "benchmarks": {"one": block | {"dataset": "one", "decomposition": "apart"}},
        "generating": {"one-writer": writing},
        "judging": {},
        "measuring": {},
        "systems": {"writer": system if "kind" in system else CHAT | system},
        "endpoints": {"here": endpoint | changes.pop("endpoint", {})},
        "models": {"m": model},
    }
    apart = {"kind": "llm", "model": "m", "least": 1, "most": 5, "rounds": 1}
    params["decompositions"] = {"apart": apart}
    access = {"one": "public"} | changes.pop("access", {})
    entry = {"reader": "files", "title": "tiny", "licence": "none"}
    registry = {"datasets": {name: entry | {"access": a} for name, a in access.items()}}
    assert not changes
    (root / "data").mkdir(parents=True, exist_ok=True)
    (root / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    (root / "data/registry.yaml").write_text(yaml.safe_dump(registry), encoding="utf-8")
    shutil.copytree(ROOT / "prompts", root / "prompts", dirs_exist_ok=True)
    write(SOURCES, sources(passages), root / "data/tables/one/sources.parquet")
    return root


def sources(passages: list[str]) -> pd.DataFrame:
    """One document `d000`, `d001`, ... for each passage; a blank one has nothing to read."""
    return pd.DataFrame(
        [
            {
                "doc_id": f"d{number:03}",
                "task": "note",
                "passages": [passage],
                "speaker": [""],
                "group": [""],
                "attributes": None,
            }
            for number, passage in enumerate(passages)
        ]
    )


def run_stage(monkeypatch: pytest.MonkeyPatch, root: Path, stage: str, key: str) -> int:
    """Run one stage in a project; its exit code."""
    monkeypatch.chdir(root)
    monkeypatch.setattr(sys, "argv", [f"{stage}.py", key])
    try:
        enter(importlib.import_module(f"stages.{stage}").main)
    except SystemExit as error:
        return int(str(error.code))
    return 0

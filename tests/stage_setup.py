"""A tiny project of one benchmark, whose stages run in this process as doorways run them."""

import importlib
import json
import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from metassay.project.refresh import refresh as refresh_code
from metassay.tables.documents import SOURCES
from metassay.tables.parquet import empty, write
from metassay.tables.parts import SEGMENTS
from stages.doorway import enter

ROOT = Path(__file__).parent.parent
KEY = "METASSAY_TEST_KEY"
CHAT = {
    "kind": "chat",
    "model": "m",
    "unit": "full",
    "citations": True,
    "shots": 0,
    "examples": [],
    "example_citations": "none",
}
READER = {
    "kind": "llm",
    "model": "m",
    "style": "json",
    "per_call": "part",
    "shots": 0,
    "rounds": 1,
}
SETTINGS = Path("benchmarks/one/params.yaml")


def tiny_project(
    root: Path, base_url: str, passages: list[str], **changes: Any
) -> Path:
    """A project whose benchmark `one` has a document for each passage, and a system `writer`.

    Its params.yaml has a judge `reader`, a language model, too, which the benchmark
    doesn't name.

    `system` (whole if it has a kind) and `endpoint` change these; `examples` is the
    folder of the system's few-shot examples; `access` gives datasets their class;
    `max_missing` is the share of answers that may be missing.
    """
    params = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    settings = yaml.safe_load(
        (ROOT / "benchmarks/sample/params.yaml").read_text(encoding="utf-8")
    )
    system = changes.pop("system", {})
    endpoint = {"kind": "openai", "base_url": base_url, "key_env": KEY, "timeout": 20.0}
    model = {"endpoint": "here", "model": "m-1", "max_tokens": 200}
    examples = changes.pop("examples", None)
    settings |= {
        "name": "one",
        "dataset": "one",
        "raw": "data/raw/one",
        "decompositions": ["apart"],
        "systems": [] if examples else ["writer"],
        "few_shot": {"writer": examples} if examples else {},
    }
    params |= {
        "systems": {"writer": system if "kind" in system else CHAT | system},
        "endpoints": {"here": endpoint | changes.pop("endpoint", {})},
        "models": {"m": model},
        "max_missing": changes.pop("max_missing", 0),
    }
    apart = {"kind": "llm", "model": "m", "least": 1, "most": 5, "rounds": 1}
    params["decompositions"] = {"apart": apart}
    params["judges"]["reader"] = READER
    access = {"one": "public"} | changes.pop("access", {})
    entry = {"reader": "files", "title": "tiny", "licence": "none"}
    registry = {
        "fetched": [],
        "datasets": {
            name: entry | {"access": a, "folder": f"data/raw/{name}"}
            for name, a in access.items()
        },
    }
    assert not changes
    for name, content in (
        ("params.yaml", params),
        ("data/registry.yaml", registry),
        (SETTINGS, settings),
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(yaml.safe_dump(content), encoding="utf-8")
    shutil.copy(ROOT / "benchmarks/sample/dvc.yaml", root / SETTINGS.parent)
    for folder in ("prompts", "rubrics"):
        shutil.copytree(ROOT / folder, root / folder, dirs_exist_ok=True)
    refresh_code(root)
    write(SOURCES, sources(passages), root / "data/tables/one/sources.parquet")
    write(SEGMENTS, empty(SEGMENTS), root / "data/tables/one/segments.parquet")
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
                "dataset": "one",
            }
            for number, passage in enumerate(passages)
        ]
    )


def run_stage(
    monkeypatch: pytest.MonkeyPatch, root: Path, stage: str, item: str = ""
) -> int:
    """Run one stage of benchmark `one` in a project; its exit code."""
    monkeypatch.chdir(root)
    words = [f"{stage}.py", "one"]
    if item:
        words.append(item)
    monkeypatch.setattr(sys, "argv", words)
    try:
        enter(importlib.import_module(f"stages.{stage}").main)
    except SystemExit as error:
        return int(str(error.code))
    return 0


def prefect(root: Path, query: str) -> list[tuple[str, ...]]:
    """What Prefect's server of a project's runs has written down."""
    with closing(sqlite3.connect(root / ".work/prefect/prefect.db")) as database:
        return database.execute(query).fetchall()


def take_from_run_cache(source: Path, target: Path, commands: tuple[str, ...]) -> None:
    """Of DVC's cache, what stages of these commands have made, and nothing of other stages."""
    cache = Path(".dvc/cache")
    for entry in (source / cache / "runs").rglob("*"):
        ran = (
            yaml.safe_load(entry.read_text("utf-8")) if entry.is_file() else {"cmd": ""}
        )
        if not any(command in ran["cmd"] for command in commands):
            continue
        wanted = [out["md5"] for out in ran["outs"]]
        files = [entry.relative_to(source)]
        for md5 in wanted:
            file = cache / "files/md5" / md5[:2] / md5[2:]
            files.append(file)
            if md5.endswith(".dir"):
                wanted += [
                    entry["md5"]
                    for entry in json.loads((source / file).read_text("utf-8"))
                ]
        for file in files:
            (target / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source / file, target / file)

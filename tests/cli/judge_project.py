"""A new user's project whose judge asks a language model at an endpoint on this machine."""

from pathlib import Path

import pytest
import yaml

from metassay.project.make import example, make
from tests.llm.scripted_server import ScriptedServer

KEY = "METASSAY_TEST_KEY"


def make_judge_project(
    root: Path,
    server: ScriptedServer,
    monkeypatch: pytest.MonkeyPatch,
    *,
    judge: str,
    sends: tuple[str, ...] = (),
) -> Path:
    """Make the example's project with a judge of kind `llm`; it is the working folder."""
    make(root, example("mine"))
    monkeypatch.chdir(root)
    monkeypatch.setenv(KEY, "k")
    file = root / "params.yaml"
    params = yaml.safe_load(file.read_text(encoding="utf-8"))
    endpoint = {"kind": "openai", "base_url": server.base_url, "key_env": KEY}
    if sends:
        endpoint["sends"] = [*sends]
    params["endpoints"] = {"here": endpoint}
    prices = {
        "date": "2026-11-01",
        "input_per_million": 1.0,
        "output_per_million": 2.0,
        "currency": "USD",
    }
    params["models"] = {
        "m": {"endpoint": "here", "model": "m-1", "max_tokens": 50, "prices": prices}
    }
    params["judges"][judge] = {
        "kind": "llm",
        "model": "m",
        "style": "plain",
        "per_call": "claim",
        "shots": 0,
        "rounds": 1,
    }
    file.write_text(yaml.safe_dump(params, sort_keys=False), encoding="utf-8")
    return root

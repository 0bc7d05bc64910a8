"""Every block of docs/language-models.md is taken by the options that read params.yaml."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from metassay.generation import SYSTEMS
from metassay.generation.chat import ChatOptions
from metassay.kinds import choose
from metassay.llm.endpoints import EndpointOptions, ModelOptions, parse_models
from metassay.options import parse
from metassay.params import Benchmark, MaxCost
from metassay.units import DECOMPOSITIONS
from metassay.units.llm_claims import LlmClaimOptions

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "language-models.md").read_text("utf-8")
WRITTEN = [yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)]
BLOCKS = [block for block in WRITTEN if "endpoints" in block]
(BENCHMARK,) = (block for block in WRITTEN if "endpoints" not in block)
KNOWN = {"endpoints", "models", "max_cost", "max_missing", "systems", "decompositions"}


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: ",".join(block["endpoints"]))
def test_a_block_is_taken_as_it_stands(block: dict[str, Any]) -> None:
    assert set(block) <= KNOWN
    assert 0 <= block.get("max_missing", 0) <= 1
    found = parse_models(block["endpoints"], block["models"])
    assert {model.endpoint for model in found.models.values()} == set(found.endpoints)
    for name, system in block.get("systems", {}).items():
        options = choose(SYSTEMS, system, where=name).options
        assert isinstance(options, ChatOptions)
        assert options.model in found.models
    for name, decomposition in block.get("decompositions", {}).items():
        claims = choose(DECOMPOSITIONS, decomposition, where=name).options
        assert isinstance(claims, LlmClaimOptions)
        assert claims.model in found.models
    if "max_cost" in block:
        cap = parse(MaxCost, block["max_cost"], where="max_cost")
        assert {m.prices.currency for m in found.models.values() if m.prices} == {cap.currency}


def test_the_benchmark_asks_for_what_the_first_block_names() -> None:
    committed = yaml.safe_load((ROOT / "benchmarks/sample/params.yaml").read_text("utf-8"))
    benchmark = parse(Benchmark, committed | BENCHMARK, where="benchmarks/sample/params.yaml")
    known = yaml.safe_load((ROOT / "params.yaml").read_text("utf-8"))["systems"]
    assert set(benchmark.systems) == known.keys() | BLOCKS[0]["systems"].keys()
    assert benchmark.decomposition in BLOCKS[0]["decompositions"]


def test_every_provider_has_a_block_and_every_key_a_line() -> None:
    endpoints = [
        e for block in BLOCKS for e in parse_models(block["endpoints"], {}).endpoints.items()
    ]
    assert {name for name, _ in endpoints} >= {"openai", "azure", "vllm", "ollama", "transformers"}
    assert {endpoint.kind for name, endpoint in endpoints if name == "azure"} == {"azure", "openai"}
    assert any(endpoint.proxy for _, endpoint in endpoints)
    undescribed = {
        key
        for options in (EndpointOptions, ModelOptions)
        for key in options.model_fields
        if not re.search(rf"\b{key}\b", PAGE)
    }
    assert not undescribed


def test_every_status_is_explained() -> None:
    rows = set(re.findall(r"^\| `(\w+)` \|", PAGE.partition("## What a status means")[2], re.M))
    assert rows >= {"ok", "unparsed", "refused", "truncated", "error"}


def test_the_cost_examples_add_up() -> None:
    sums = re.findall(
        r"(\d+) x \(([\d,]+) x ([\d.]+) \+ ([\d,]+) x ([\d.]+)\) / 1,000,000 = ([\d.]+)", PAGE
    )
    assert len(sums) == 2
    prices = parse_models(BLOCKS[0]["endpoints"], BLOCKS[0]["models"]).models["mini"].prices
    assert prices is not None
    for count, read, each_read, written, each_written, total in sums:
        assert float(each_read) == prices.input_per_million
        assert float(each_written) == prices.output_per_million
        cost = int(read.replace(",", "")) * float(each_read)
        cost += int(written.replace(",", "")) * float(each_written)
        assert round(int(count) * cost / 1e6, 3) == float(total)

"""Every block of docs/language-models.md is taken by the options that read params.yaml."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from metassay.core.kinds import choose
from metassay.core.options import parse
from metassay.core.params import Benchmark, MaxCost
from metassay.generation import SYSTEMS
from metassay.generation.chat import ChatOptions
from metassay.judges import JUDGES
from metassay.judges.llm import LlmJudge, LlmOptions
from metassay.judges.llm_calls import PerCall, Style
from metassay.llm.endpoints import EndpointOptions, ModelOptions, parse_models
from metassay.llm.messages import ChatRequest, Reply
from metassay.llm.prompts import Decoding
from metassay.units import DECOMPOSITIONS
from metassay.units.llm import LlmClaimOptions

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "language-models.md").read_text("utf-8")
WRITTEN = [yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)]
BLOCKS = [block for block in WRITTEN if "endpoints" in block]
(BENCHMARK,) = (block for block in WRITTEN if "endpoints" not in block)
KNOWN = {"endpoints", "models", "max_cost", "max_missing", "systems", "decompositions", "judges"}


def nobody(requests: Sequence[ChatRequest]) -> list[Reply]:
    raise AssertionError("nothing is asked")


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: ",".join(block["endpoints"]))
def test_a_block_is_taken_as_it_stands(block: dict[str, Any]) -> None:
    assert set(block) <= KNOWN
    assert 0 <= block.get("max_missing", 0) <= 1
    parsed = parse_models(block["endpoints"], block["models"])
    assert {model.endpoint for model in parsed.models.values()} == set(parsed.endpoints)
    for key, index in (
        ("systems", SYSTEMS),
        ("decompositions", DECOMPOSITIONS),
        ("judges", JUDGES),
    ):
        for name, kind in block.get(key, {}).items():
            options = choose(index, kind, where=name).options
            assert isinstance(options, ChatOptions | LlmClaimOptions | LlmOptions)
            assert options.model in parsed.models
            if isinstance(options, LlmOptions):
                LlmJudge(options, nobody, Decoding("m", 0.0, None, 1), prompts=ROOT / "prompts")
    if "max_cost" in block:
        cap = parse(MaxCost, block["max_cost"], where="max_cost")
        assert {m.prices.currency for m in parsed.models.values() if m.prices} == {cap.currency}


def test_the_benchmark_asks_for_what_the_first_block_names() -> None:
    committed = yaml.safe_load((ROOT / "benchmarks/sample/params.yaml").read_text("utf-8"))
    benchmark = parse(Benchmark, committed | BENCHMARK, where="benchmarks/sample/params.yaml")
    known = yaml.safe_load((ROOT / "params.yaml").read_text("utf-8"))["systems"]
    assert set(benchmark.systems) == known.keys() | BLOCKS[0]["systems"].keys()
    assert benchmark.decomposition in BLOCKS[0]["decompositions"]
    assert set(benchmark.judges) == {"lexical", *BLOCKS[0]["judges"]}


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


def test_judges_have_an_example_of_each_style_and_a_line_for_every_key() -> None:
    examples = [judge for block in BLOCKS for judge in block.get("judges", {}).values()]
    assert {judge["style"] for judge in examples} == set(get_args(Style))
    assert {judge["per_call"] for judge in examples} == set(get_args(PerCall))
    assert set().union(*examples) == {"kind", *LlmOptions.model_fields}
    section = PAGE.partition("## Judges")[2].partition("\n## ")[0]
    rows = set(re.findall(r"^\| `(\w+)` \|", section, re.M))
    assert rows == {"style", *LlmOptions.model_fields, *get_args(Style)}


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

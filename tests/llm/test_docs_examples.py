"""docs/language-models.md and judges.md: blocks are taken by the options of params.yaml,
and each is asked as its provider documents that it answers.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

import pytest
import yaml

from metassay.core.errors import BadInput
from metassay.core.kinds import choose
from metassay.core.options import parse
from metassay.core.params import Benchmark, MaxCost
from metassay.generation import SYSTEMS
from metassay.generation.chat import ChatOptions
from metassay.judges import JUDGES
from metassay.judges.llm import LlmJudge, LlmOptions
from metassay.judges.llm_calls import PerCall, Style
from metassay.llm.client import asker
from metassay.llm.endpoints import EndpointOptions, ModelOptions, clear, parse_models
from metassay.llm.groups import Answer
from metassay.llm.ledger import Ledger
from metassay.llm.messages import ChatRequest, Message, Reply
from metassay.llm.prompts import Decoding
from metassay.llm.structured import schema_of
from metassay.units import DECOMPOSITIONS
from metassay.units.llm import LlmClaimOptions
from tests.llm import providers
from tests.llm.batch_setup import QUICK, budget_of
from tests.llm.scripted_server import ScriptedServer

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "language-models.md").read_text("utf-8")
JUDGES_PAGE = (ROOT / "docs" / "judges.md").read_text("utf-8")
LLM = JUDGES_PAGE.partition("\n## llm\n")[2].partition("\n### ")[0]


def blocks_of(page: str) -> list[dict[str, Any]]:
    return [
        yaml.safe_load(text)
        for text in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    ]


WRITTEN = blocks_of(PAGE)
WHERE = blocks_of(PAGE.partition("## Where models answer")[2].partition("\n## ")[0])
PAPERS = (ROOT / "docs" / "papers.md").read_text("utf-8")
DOCLENS = PAPERS.partition("\n### Prompts after DocLens\n")[2].partition("\n### ")[0]
EVERY = [*WRITTEN, *blocks_of(LLM), *blocks_of(DOCLENS)]
BLOCKS = [block for block in EVERY if "endpoints" in block]
(BENCHMARK,) = (block for block in WRITTEN if "endpoints" not in block)
KNOWN = {
    "endpoints",
    "models",
    "max_cost",
    "max_missing",
    "systems",
    "decompositions",
    "judges",
}


def nobody(requests: Sequence[ChatRequest]) -> list[Reply]:
    raise AssertionError("nothing is asked")


@pytest.mark.parametrize(
    "block", BLOCKS, ids=lambda block: ",".join(block["endpoints"])
)
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
                LlmJudge(
                    options,
                    nobody,
                    Decoding("m", 0.0, None, 1),
                    prompts=ROOT / "prompts",
                )
    if "max_cost" in block:
        cap = parse(MaxCost, block["max_cost"], where="max_cost")
        assert {m.prices.currency for m in parsed.models.values() if m.prices} == {
            cap.currency
        }


def test_the_benchmark_asks_for_what_the_first_block_names() -> None:
    committed = yaml.safe_load(
        (ROOT / "benchmarks/sample/params.yaml").read_text("utf-8")
    )
    benchmark = parse(
        Benchmark, committed | BENCHMARK, where="benchmarks/sample/params.yaml"
    )
    known = set(committed["systems"])
    assert set(benchmark.systems) == known | BLOCKS[0]["systems"].keys()
    assert benchmark.decomposition in BLOCKS[0]["decompositions"]
    assert set(benchmark.judges) == {"lexical", *BLOCKS[0]["judges"]}


def test_every_provider_has_a_block_and_every_key_a_line() -> None:
    endpoints = [
        e
        for block in BLOCKS
        for e in parse_models(block["endpoints"], {}).endpoints.items()
    ]
    assert {name for name, _ in endpoints} >= {
        "openai",
        "azure",
        "vllm",
        "ollama",
        "transformers",
    }
    assert {endpoint.kind for name, endpoint in endpoints if name == "azure"} == {
        "azure",
        "openai",
    }
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
    rows = set(re.findall(r"^\| `(\w+)` \|", LLM, re.M))
    assert rows == {"style", *LlmOptions.model_fields, *get_args(Style)}


def test_every_status_is_explained() -> None:
    rows = set(
        re.findall(r"^\| `(\w+)` \|", PAGE.partition("## What a status means")[2], re.M)
    )
    assert rows >= {"ok", "unparsed", "refused", "truncated", "error"}


def test_the_cost_examples_add_up() -> None:
    sums = re.findall(
        r"(\d+) x \(([\d,]+) x ([\d.]+) \+ ([\d,]+) x ([\d.]+)\) / 1,000,000 = ([\d.]+)",
        PAGE,
    )
    assert len(sums) == 2
    prices = (
        parse_models(BLOCKS[0]["endpoints"], BLOCKS[0]["models"]).models["mini"].prices
    )
    assert prices is not None
    for count, read, each_read, written, each_written, total in sums:
        assert float(each_read) == prices.input_per_million
        assert float(each_written) == prices.output_per_million
        cost = int(read.replace(",", "")) * float(each_read)
        cost += int(written.replace(",", "")) * float(each_written)
        assert round(int(count) * cost / 1e6, 3) == float(total)


# ---- each provider, as it is documented ---------------------------------------------------------

SCRIPTS = {
    "mini": providers.openai,
    "thinker": providers.openai,
    "deployed": providers.azure,
    "claude": providers.anthropic,
    "qwen": providers.vllm,
    "local": providers.ollama,
    "routed": providers.openrouter,
}
CASES = [
    pytest.param(
        block, name, id=f"{name}-{block['endpoints'][model['endpoint']]['kind']}"
    )
    for block in WHERE
    for name, model in block["models"].items()
    if name in SCRIPTS and "proxy" not in block["endpoints"][model["endpoint"]]
]


class Verdict(Answer):
    label: Literal["yes", "no"]


@pytest.fixture
def at(server: ScriptedServer, ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Moves a block to the scripted server, and asks there; `changes` are of its model."""

    def move(block: dict[str, Any], name: str, **changes: Any) -> Callable[..., Any]:
        settings = block["models"][name] | changes
        endpoint = block["endpoints"][settings["endpoint"]]
        url = f"http://127.0.0.1:{server.port}{urlsplit(endpoint['base_url']).path}"
        moved = {settings["endpoint"]: endpoint | {"base_url": url}}
        parsed = parse_models(moved, {name: settings})
        options, model = parsed.endpoints[settings["endpoint"]], parsed.models[name]
        if options.key_env:
            monkeypatch.setenv(options.key_env, "k")
        server.script = SCRIPTS[name]
        cleared = clear(
            {"invented": "public"}, ["invented"], settings["endpoint"], options
        )
        ask = asker(cleared, model, ledger, budget_of(ledger), QUICK)

        def put(text: str = "Is it so? In JSON.", **more: Any) -> Any:
            question = Decoding.choose(model).request(
                [Message("user", text)], schema_of(Verdict)
            )
            return ask([replace(question, **more)])[0]

        return put

    return move


def block_of(name: str) -> dict[str, Any]:
    return next(block for block in WHERE if name in block["models"])


def test_every_provider_is_tried() -> None:
    assert {case.values[1] for case in CASES} == SCRIPTS.keys()
    assert {"deployed-openai", "deployed-azure"} <= {case.id for case in CASES}


@pytest.mark.parametrize(("block", "name"), CASES)
def test_a_block_of_the_page_is_answered(
    block: dict[str, Any], name: str, at, server
) -> None:
    reply = at(block, name)()
    assert (reply.status, reply.text, reply.finish_reason) == (
        "ok",
        providers.ANSWER,
        "stop",
    )
    assert (reply.prompt_tokens, reply.completion_tokens, reply.attempts) == (12, 3, 1)
    (call,) = server.calls
    form = call.body.get("response_format", {}).get("type")
    assert form == (None if name == "claude" else "json_schema")
    assert ("temperature" in call.body) == (name != "thinker")
    limit = "max_completion_tokens" if name == "thinker" else "max_tokens"
    assert call.body[limit] == block["models"][name]["max_tokens"]


@pytest.mark.parametrize(("block", "name"), CASES)
def test_its_log_probabilities_are_those_of_the_answer(block, name: str, at) -> None:
    if name == "thinker":
        with pytest.raises(BadInput, match="not allowed to request logprobs"):
            at(block, name)(logprobs=2)
        return
    reply = at(block, name)(logprobs=2)
    assert (reply.status, reply.text) == ("ok", providers.ANSWER)
    if name == "claude":  # gives none
        assert reply.logprobs is None
        return
    tokens = [token.token for token in reply.logprobs]
    assert tokens[:3] == list(providers.TOKENS)
    assert dict(reply.logprobs[1].top) == {"yes": -0.1054, "no": -2.3026}
    if name == "qwen":  # thoughts are neither answer nor log-probabilities
        reply = at(block, name, chat_template_kwargs={})(logprobs=2)
        assert reply.text == providers.ANSWER
        assert [t.token for t in reply.logprobs] == [*providers.TOKENS, "<|im_end|>"]


def test_a_flagged_prompt_and_a_failure_inside_an_answer(at, server) -> None:
    reply = at(block_of("deployed"), "deployed")("forbidden, in JSON")
    assert (reply.status, reply.error) == ("refused", "content_filter")
    with pytest.raises(BadInput, match="Use 'max_completion_tokens' instead"):
        at(block_of("thinker"), "thinker", limit="max_tokens")()
    reply = at(block_of("routed"), "routed")("flaky, in JSON")
    assert (reply.status, reply.attempts) == ("ok", 2)
    call = server.calls[-1]
    assert call.headers["x-title"] == "metassay"
    assert call.body["provider"]["data_collection"] == "deny"
    for form in ("json_object", "none"):
        assert at(block_of("mini"), "mini", structured=form)().status == "ok"
        expected = {"type": "json_object"} if form == "json_object" else None
        assert server.calls[-1].body.get("response_format") == expected

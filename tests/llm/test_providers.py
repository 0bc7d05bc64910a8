"""The blocks of docs/language-models.md, each asked as its provider documents that it answers."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import pytest
import yaml

from metassay.core.errors import BadInput
from metassay.llm.client import asker
from metassay.llm.endpoints import clear, parse_models
from metassay.llm.ledger import Ledger
from metassay.llm.messages import Message
from metassay.llm.prompts import Decoding
from metassay.llm.structured import Answer, schema_of
from tests.llm import providers
from tests.llm.batch_setup import QUICK, budget_of
from tests.llm.scripted_server import ScriptedServer

PAGE = (Path(__file__).parents[2] / "docs" / "language-models.md").read_text("utf-8")
WHERE = PAGE.partition("## Where models answer")[2].partition("\n## ")[0]
BLOCKS = [yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", WHERE, re.DOTALL)]
SCRIPTS = {
    **{"mini": providers.openai, "thinker": providers.openai, "deployed": providers.azure},
    **{"claude": providers.anthropic, "qwen": providers.vllm, "local": providers.ollama},
    "routed": providers.openrouter,
}
CASES = [
    pytest.param(block, name, id=f"{name}-{block['endpoints'][model['endpoint']]['kind']}")
    for block in BLOCKS
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
        cleared = clear({"invented": "public"}, ["invented"], settings["endpoint"], options)
        ask = asker(cleared, model, ledger, budget_of(ledger), QUICK)

        def put(text: str = "Is it so? In JSON.", **more: Any) -> Any:
            question = Decoding.of(model).request([Message("user", text)], schema_of(Verdict))
            return ask([replace(question, **more)])[0]

        return put

    return move


def block_of(name: str) -> dict[str, Any]:
    return next(block for block in BLOCKS if name in block["models"])


def test_every_provider_is_tried() -> None:
    assert {case.values[1] for case in CASES} == SCRIPTS.keys()
    assert {"deployed-openai", "deployed-azure"} <= {case.id for case in CASES}


@pytest.mark.parametrize(("block", "name"), CASES)
def test_a_block_of_the_page_is_answered(block: dict[str, Any], name: str, at, server) -> None:
    reply = at(block, name)()
    assert (reply.status, reply.text, reply.finish_reason) == ("ok", providers.ANSWER, "stop")
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

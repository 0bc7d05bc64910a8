"""`metassay probe`: what it shows of one question, and that it shows no key."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from metassay.cli.main import main
from metassay.llm.budget import spending
from metassay.llm.ledger import Ledger
from metassay.llm.session import ACCOUNT, LEDGER
from tests.conftest import ROOT
from tests.llm.scripted_server import (
    Answer,
    Call,
    ScriptedServer,
    answer_with,
    completion,
    failed,
    hang,
    rate_limited,
    whole,
)

KEY, OTHER = "sk-canary-4711", "tenant-canary"
PRICES = {
    "date": "2026-11-01",
    "currency": "USD",
    "input_per_million": 1.0,
    "output_per_million": 2.0,
}
RIGHT = '{"items": [{"number": 1, "label": "entailed"}]}'


@pytest.fixture
def project(tmp_path, monkeypatch, server):
    """A project's params, with a model and a judge at the scripted endpoint; `write` them."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "prompts", "prompts")
    Path("data").mkdir()
    shutil.copy(ROOT / "data/registry.yaml", "data")
    monkeypatch.setenv("PROBE_KEY", KEY)
    monkeypatch.setenv("PROBE_TENANT", OTHER)
    params: dict[str, Any] = yaml.safe_load((ROOT / "params.yaml").read_text("utf-8"))
    params["endpoints"]["e"] = {
        "kind": "openai",
        "base_url": server.base_url,
        "key_env": "PROBE_KEY",
        "timeout": 5.0,
        "header_env": {"X-Tenant": "PROBE_TENANT"},
        "structured": "json_schema",
    }
    params["models"]["m"] = {
        "endpoint": "e",
        "model": "m-1",
        "max_tokens": 64,
        "prices": PRICES,
    }
    params["judges"]["j"] = {
        "kind": "llm",
        "model": "m",
        "style": "json",
        "per_call": "part",
        "shots": 0,
        "rounds": 2,
    }
    return params


def probed(params: dict[str, Any], *words: str) -> int:
    Path("params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    return main(["probe", *words])


@pytest.fixture
def server():
    with ScriptedServer(lambda _: answer_with(RIGHT)) as running:
        yield running


def blocks(shown: str) -> list[dict[str, Any]]:
    """The JSON bodies in what was printed: lines between `  {` and `  }`."""
    return [json.loads(body) for body in re.findall(r"(?ms)^  \{$.*?^  \}$", shown)]


@pytest.mark.parametrize("name", ["j", "m", "e", "judges.j", "models.m", "endpoints.e"])
def test_what_went_and_what_came_is_shown_without_a_key(project, server, capsys, name):
    body = completion(
        RIGHT, prompt_tokens=200, completion_tokens=15, note=f"{KEY} {OTHER}"
    )
    head = "X-Request-Id: req-7\r\nx-ratelimit-remaining-tokens: 99\r\nSet-Cookie: no=1\r\n"
    server.script = lambda _: whole(body, head=head)
    assert probed(project, name) == 0
    shown, errors = capsys.readouterr()
    assert errors == ""
    (call,) = server.calls
    assert (call.headers["authorization"], call.headers["x-tenant"]) == (
        f"Bearer {KEY}",
        OTHER,
    )
    sent, came = blocks(shown)
    assert sent == call.body
    assert came == body | {"note": "(not shown) (not shown)"}
    assert f"POST {server.base_url}/chat/completions\n" in shown
    assert "  authorization: (not shown)\n" in shown
    assert "  x-tenant: (not shown)\n" in shown.lower()
    assert "  x-request-id: req-7\n  x-ratelimit-remaining-tokens: 99\n  {\n" in shown
    assert "no=1" not in shown
    assert (
        "status of the answer: ok, finish_reason stop, tokens read 200, written 15\n"
        in shown
    )
    assert "price: 0.000230 USD, booked\n" in shown  # 200 * 1 + 15 * 2 millionths
    assert "log-probabilities: not asked for" in shown
    assert "judgment: ok, label entailed; it took " in shown


def test_it_really_asks_and_books_each_time(project, server):
    for _ in range(2):
        assert probed(project, "j") == 0
    assert len(server.calls) == 2
    assert server.calls[0].body == server.calls[1].body
    read, written = server.tokens["prompt"], server.tokens["completion"]
    with Ledger(LEDGER) as ledger:
        spent = spending(ledger, ACCOUNT)
    assert (spent.calls, spent.spent) == (2, pytest.approx((read + 2 * written) / 1e6))


IN = "in params.yaml > models > m"


@pytest.mark.parametrize(
    ("message", "param", "remedy"),
    [
        (
            "Unsupported value: 'temperature' does not support 0 with this model.",
            "temperature",
            f"temperature; write temperature: null {IN}",
        ),
        (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use"
            " 'max_completion_tokens' instead.",
            "max_tokens",
            f"max_tokens; write limit: max_completion_tokens, or a smaller max_tokens, {IN}",
        ),
        (
            "Invalid parameter: 'response_format' of type 'json_schema' is not supported.",
            None,
            f"response_format; write structured: json_object, or none, {IN}",
        ),
        (
            "reasoning_effort: Extra inputs are not permitted",
            None,
            f"reasoning_effort; remove it {IN.replace('in', 'from', 1)}",
        ),
        (
            "logprobs are not supported by this model",
            "logprobs",
            "logprobs; ask this model for no log-probabilities",
        ),
    ],
)
def test_a_refused_parameter_is_named_with_what_to_write_instead(
    project, server, capsys, message, param, remedy
):
    project["models"]["m"]["reasoning_effort"] = "low"
    error = {
        "message": message,
        "type": "invalid_request_error",
        "param": param,
        "code": None,
    }
    server.script = lambda _: whole({"error": error}, status="400 Bad Request")
    assert probed(project, "m", "--logprobs") == 1
    shown = capsys.readouterr().out
    assert blocks(shown)[1] == {"error": error}
    assert "HTTP 400\n" in shown
    assert "price: 0.000000 USD, booked\n" in shown
    assert shown.endswith(f"refused: {remedy}\n")
    assert shown.count("refused:") == 1
    assert len(server.calls) == 1


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (failed(401), "check the environment variable PROBE_KEY"),
        (
            rate_limited("9"),
            "HTTP 429\n  content-type: application/json\n  retry-after: 9\n",
        ),
        (rate_limited("9"), "status of the answer: error, http_429\n"),
        (failed(503), "judgment: error; it took"),
        (
            Answer(fault="drop"),
            "nothing came back\n\nstatus of the answer: error, connection\n",
        ),
        (whole("<html>\x1b[31mno\n</html>"), "  <html>\\x1b[31mno\n  </html>\n"),
        (answer_with("I think so."), "judgment: unparsed; it took"),
        (answer_with("I think so."), "could not be read: the reply is not JSON (1)\n"),
        (answer_with('{"so": 1}'), "could not be read: `items` is missing (1)\n"),
        (
            answer_with('{"items": [{"number": 1}]}'),
            "could not be read: `label` is missing (1)\n",
        ),
        (
            answer_with('{"items": [{"number": 1, "label": "yes"}]}'),
            "`label` is none of the values that are allowed (1)\n",
        ),
        (
            answer_with('{"items": [{"number": 2, "label": "entailed"}]}'),
            "the reply has numbers that were not asked about (1)\n",
        ),
        (
            answer_with(f"The text says:\n{RIGHT}"),
            "the reply may only quote an answer, takes it back or refuses (1)\n",
        ),
        (hang(), "nothing came back\n\nstatus of the answer: error, timeout\n"),
    ],
)
def test_what_is_no_answer_is_shown_and_fails_after_one_request(
    project, server, capsys, answer, words
):
    if "timeout" in words:
        project["endpoints"]["e"]["timeout"] = 0.2
    server.script = lambda _: answer
    assert probed(project, "j") == 1
    shown = capsys.readouterr().out
    assert words in shown
    assert blocks(shown)[0] == server.calls[0].body
    assert len(server.calls) == 1


def test_log_probabilities_that_came_are_counted(project, server, capsys):
    def script(call: Call) -> Answer:
        pieces = [RIGHT[:20], RIGHT[20:]]
        tokens = [
            {"token": piece, "logprob": -0.5, "top_logprobs": []} for piece in pieces
        ]
        body = completion(RIGHT)
        body["choices"][0]["logprobs"] = (
            {"content": tokens} if call.number == 1 else None
        )
        return whole(body)

    server.script = script
    assert [probed(project, "m", "--logprobs") for _ in range(2)] == [0, 0]
    assert server.calls[0].body["logprobs"] is True
    shown = capsys.readouterr().out
    assert "log-probabilities: of 2 tokens\n" in shown
    assert "log-probabilities: asked for; none came\n" in shown


def test_every_member_of_a_jury_is_asked_once(project, server, capsys):
    project["models"]["n"] = {**project["models"]["m"], "model": "m-2"}
    members = {
        model: {**project["judges"]["j"], "model": model} for model in ("m", "n")
    }
    project["judges"]["both"] = {"kind": "jury", "by": "majority", "members": members}
    assert probed(project, "both") == 0
    assert [call.body["model"] for call in server.calls] == ["m-1", "m-2"]
    shown = capsys.readouterr().out
    assert "sent to model m at" in shown
    assert "sent to model n at" in shown


def test_of_several_samples_one_is_drawn_and_repairs_are_shown(project, server, capsys):
    project["judges"]["j"] |= {
        "probability": "samples",
        "samples": {"k": 3, "temperature": 0.7},
    }
    assert probed(project, "j") == 0
    (call,) = server.calls
    assert call.body["temperature"] == 0.7
    shown = capsys.readouterr().out
    assert "a run would ask 3 times; this answer stood for all of them\n" in shown
    server.script = lambda _: answer_with(RIGHT.replace('"entailed"', '"Entailed."'))
    assert probed(project, "m") == 0
    assert (
        "judgment: ok, label entailed, repaired yes; it took" in capsys.readouterr().out
    )


def test_a_judge_on_this_machine_and_a_cascade_that_asks_nobody(
    project, server, capsys
):
    members = {"first": project["judges"]["lexical"], "then": project["judges"]["j"]}
    project["judges"]["c"] = {"kind": "cascade", "members": members}
    assert probed(project, "lexical") == 0
    local = capsys.readouterr().out
    assert "judgment: ok, label entailed, explanation " in local
    assert "language model" not in local
    assert probed(project, "c") == 0
    assert (
        "no language model was asked, since another judge was sure"
        in capsys.readouterr().out
    )
    assert server.calls == []


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "x",
            "no judge, model or endpoint 'x'; judges: j, lexical, lexical_strict, semantic;",
        ),
        ("models.j", "no judge, model or endpoint 'models.j'"),
        ("f", " > models: none is at endpoint 'f'; add one"),
        ("m", "the environment variable PROBE_KEY"),
        ("j", "Raise max_cost"),
    ],
)
def test_what_cannot_be_asked_is_told_and_nothing_is_sent(
    project, server, monkeypatch, capsys, name, words
):
    project["endpoints"]["f"] = project["endpoints"]["e"]
    if name == "m":
        monkeypatch.delenv("PROBE_KEY")
    if name == "j":
        project["max_cost"] = {"amount": 0.0001, "currency": "USD"}
    assert probed(project, name) == 2
    assert words in capsys.readouterr().err
    assert server.calls == []

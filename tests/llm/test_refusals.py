"""A wrong parameter costs one request and ends in the server's own words, but in none of a text."""

import base64
import dataclasses
import json
import time
from typing import Any

import pytest

from metassay.core.errors import BadInput
from metassay.llm.server_errors import Retired, hide_secrets, is_retired, words
from tests.llm.batch_setup import asking, missing, request, requests
from tests.llm.scripted_server import Answer, Call, echo, failed, too_long, whole


def error(message: str, code: object, **more: object) -> dict[str, Any]:
    return {"message": message, "code": code, **more}


# Errors as providers are documented, or were reported, to give them.
OPENAI = error(
    "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1)"
    " value is supported.",
    "unsupported_value",
    type="invalid_request_error",
    param="temperature",
)
TELLS = ["code unsupported_value", "type invalid_request_error", "param temperature"]
VLLM = error(
    "Requested sample logprobs of 25, which is greater than max allowed: 20",
    400,
    type="BadRequestError",
    param="logprobs",
)
RAW = {"raw": json.dumps({"error": OPENAI}), "provider_name": "OpenAI"}
OPENROUTER = error("Provider returned error", 400, metadata=RAW)
FASTAPI = {
    "detail": [{"loc": ["body", "seed"], "msg": "Input should be a valid integer"}]
}
OLD_VLLM = {
    "object": "error",
    "message": "top_p must be in (0, 1], got 0.0.",
    "code": 400,
}
NOTE = (
    "Answer as JSON. Mr. Miller, 54, MRN 4711234, has had a temperature of 39.1 and is not allowed"
    " to get up; M\u00fcller-Weiss tears were found. Tell whether each value is supported."
)
CHAT = [{"role": "system", "content": "Answer."}, {"role": "user", "content": NOTE}]
SENT = json.dumps(
    {"model": "gpt-5-mini", "temperature": 0.0, "top_p": 0.0, "messages": CHAT}
)


def shown(body: object) -> str:
    return words(400, body, SENT.encode(), ["sk-abcdefgh"])


@pytest.mark.parametrize(
    ("body", "parts"),
    [
        (OPENAI, [*TELLS, f'"{OPENAI["message"]}"']),
        (VLLM, ["type BadRequestError", "param logprobs", f'"{VLLM["message"]}"']),
        (OLD_VLLM, ['"top_p must be in (0, 1], got 0.0."']),
        (FASTAPI, ["loc body.seed", '"Input should be a valid integer"']),
        (OPENROUTER, [*TELLS, f'"{OPENAI["message"]}"', '"Provider returned error"']),
        ("not found in any region", ['"not found in any region"']),
        ("<html>Mr. Miller</html>", ["nothing"]),
        (None, ["nothing"]),
        ({"message": "x" * 400}, [f'"{"x" * 300}..."']),
    ],
    ids=[
        "openai",
        "vllm",
        "old vllm",
        "fastapi",
        "openrouter",
        "text",
        "page",
        "none",
        "long",
    ],
)
def test_what_a_server_says_by_itself_is_shown(body: Any, parts: list[str]) -> None:
    assert sorted(shown(body).split(", ")) == sorted(", ".join(parts).split(", "))


@pytest.mark.parametrize(
    "quoting",
    [
        "Invalid value: 'Mr. Miller, 54, MRN'",
        "Invalid value: Miller",
        "Invalid value: MILL",  # cut off, and in capitals
        "no number: 4711234",
        *(f"cannot encode {name}" for name in ("M\u00fcller", "Muller", "M?ller")),
        *(
            f"cannot encode {name}"
            for name in (r"M\u00fcller", "M%C3%BCller", "M&uuml;ller")
        ),
        "Incorrect API key provided: sk-abcdefgh",
        "Incorrect API key provided: abcd****",
    ],
)
def test_what_quotes_the_texts_or_the_key_is_not(quoting: str) -> None:
    body = {
        "message": f"Invalid request. {quoting}",
        "code": "invalid",
        "param": quoting,
    }
    assert shown(body) == (
        "code invalid, words that quote what was sent, which are not shown here"
    )


def refusing(body: object, status: int = 400) -> Answer:
    return whole({"error": body}, status=f"{status} x")


KEY_OF_A_SERVER = "sk-proj-Ab3dEf6hIj9kLmNoPq2s"


@pytest.mark.parametrize(
    "encoded",
    [
        base64.b64encode(KEY_OF_A_SERVER.encode()),
        base64.b64encode(b"user:" + KEY_OF_A_SERVER.encode()),
        base64.urlsafe_b64encode(b"??" + KEY_OF_A_SERVER.encode()),
        base64.b64encode(KEY_OF_A_SERVER.encode()[3:20]),
        KEY_OF_A_SERVER.encode().hex().encode(),
    ],
)
def test_a_key_is_not_shown_in_another_alphabet_either(encoded: bytes) -> None:
    text = f"bad header {encoded.decode()} of the request req_011CSHoEeqs5C35K2UUqR7Fy"
    assert encoded.decode() not in words(400, text, SENT.encode(), [KEY_OF_A_SERVER])
    shown = hide_secrets(text, [KEY_OF_A_SERVER])
    assert shown == "bad header (not shown) of the request req_011CSHoEeqs5C35K2UUqR7Fy"


def test_a_long_message_takes_no_longer_than_a_short_one() -> None:
    start = time.monotonic()
    body = {"error": {"message": "no such thing " * 400_000}}
    many = {"error": [{"message": f"no {n}"} for n in range(200_000)]}
    for error in (body, many):
        assert len(words(400, error, SENT.encode(), [])) < 2_000
    assert time.monotonic() - start < 5


def test_the_first_question_with_a_new_block_goes_alone(server, ledger) -> None:
    server.script = lambda call: refusing(OPENROUTER)
    ask = asking(server, ledger, concurrency=8)
    for _ in range(2):  # nothing is known of the block the second time either
        with pytest.raises(BadInput) as caught:
            ask(requests(30))
    assert server.requests.total() == 2
    for expected in (
        "params.yaml > models > m: endpoint 'here'",
        "refuses the first question that is asked with it, with HTTP 400, and says code unsupp",
        "`metassay probe m`",
        "(30 of 30 answers are missing)",
    ):
        assert expected in str(caught.value)
    server.script = echo
    assert missing(ask(requests(30))) == {}


def test_no_text_is_in_the_message(server, ledger, caplog) -> None:
    caplog.set_level("DEBUG", logger="metassay")
    # its message repeats the prompt
    server.script = lambda call: failed(400, "odd_code")
    with pytest.raises(
        BadInput, match="says code odd_code, type x, words that quote"
    ) as caught:
        asking(server, ledger)([request("Mr. Miller coughs")])
    assert "iller" not in str(caught.value) + caplog.text


def test_whatever_parameters_differ_is_another_block(server, ledger) -> None:
    def script(call: Call) -> Answer:
        late = dataclasses.replace(echo(call), delay=0.05)
        return refusing(VLLM) if call.body.get("top_logprobs") == 25 else late

    server.script = script
    ask = asking(server, ledger, structured=True, concurrency=8)
    ask([request(1, seed=1)])
    server.most_at_once = 0  # seeds and repetitions are no other block
    ask([request(number, seed=number, repeat=number) for number in range(2, 10)])
    assert server.most_at_once > 1
    sent = server.requests.total()
    changes: list[dict[str, Any]] = [
        {"temperature": None},
        {"seed": None},
        {"max_tokens": 41},
        {"schema": "{}"},
        {"extra": '{"top_p":0.5}'},
        {"logprobs": 5},
    ]
    for change in changes:
        server.most_at_once = 0
        ask([request(number, **({"seed": 1} | change)) for number in range(20, 24)])
        assert server.requests.total() == (sent := sent + 4)
    with pytest.raises(BadInput, match="first question"):
        ask([request(number, logprobs=25) for number in range(30)])
    assert server.requests.total() == sent + 1


def test_a_prompt_that_is_too_long_says_nothing_of_the_block(server, ledger) -> None:
    server.script = lambda call: too_long() if call.number <= 12 else echo(call)
    assert missing(asking(server, ledger)(requests(20))) == {"context_length": 12}
    server.script = lambda call: too_long()
    replies = asking(server, ledger)([request(number) for number in range(20, 40)])
    # nor do many in a row of a block that works
    assert missing(replies) == {"context_length": 20}


def test_three_refusals_of_a_kind_in_a_row_stop(server, ledger) -> None:
    ask = asking(server, ledger, concurrency=1)
    ask([request("first")])
    kinds = ["a", "a", ".", "a", "a", "b", "b", ".", "c", "c", "c"]

    def script(call: Call) -> Answer:
        kind = kinds[int(call.prompt[-3:-1])]
        return echo(call) if kind == "." else failed(400, kind)

    server.script = script
    questions = [request(f"number {number:02d}") for number in range(len(kinds))]
    with pytest.raises(
        BadInput, match=r"refuses 3 questions in a row, with HTTP 400"
    ) as caught:
        ask(questions)
    assert server.requests.total() == 1 + len(kinds)
    assert "(9 of 11 answers are missing)" in str(caught.value)
    assert set(ledger.failures()) == {question.key for question in questions[-3:]}
    # Refused again although others are answered, these three are no news: the run can
    # end.
    replies = ask([*questions[-3:], request("number 02 02")])
    assert [reply.error for reply in replies] == ["http_400"] * 3 + [None]
    # What is refused for another reason than it was, or is new, counts.
    server.script = lambda call: failed(422, "c")
    with pytest.raises(BadInput, match="3 questions in a row, with HTTP 422"):
        ask(questions[-3:])


# ---- models that are gone ----------------------------------------------------------------------

GONE = {
    "OpenAI": (404, error("The model `m-1` does not exist", "model_not_found")),
    "OpenAI, deprecated": (404, error("The model `m-1` has been deprecated", None)),
    "vLLM": (
        404,
        {"message": "The model `m-1` does not exist.", "type": "NotFoundError"},
    ),
    "Azure": (404, error("The API deployment does not exist", "DeploymentNotFound")),
    "Groq": (400, error("The model `m-1` is gone", "model_decommissioned")),
    "Mistral": (400, error("Invalid model: m-1", "1500", type="invalid_model")),
    "Ollama": (404, {"message": 'model "m-1" not found, try pulling it first'}),
    "Anthropic": (404, {"type": "not_found_error", "message": "model: m-1"}),
    "Gemini": (404, [{"error": error("models/m-1 is not found for v1", 404)}]),
    "transformers serve": (
        400,
        {"detail": "Server is pinned to 'm-2'; requested 'm-1'."},
    ),
    "410": (410, {"message": "gone"}),
    "410 without a body": (410, None),
}
NOT_SO = {
    "wrong path, FastAPI": (404, {"detail": "Not Found"}),
    "wrong path, OpenAI": (404, {"message": "Invalid URL (POST /v2/chat/completions)"}),
    "wrong path, a page": (404, "<html>404 model m-1 not found</html>"),
    "wrong resource, Azure": (404, error("Resource not found", "404")),
    "a prompt that is quoted": (
        400,
        {"message": "refused: the model was retired, said he"},
    ),
    "a prompt with the name's letters": (
        400,
        {"message": "refused: she is no longer in form-1"},
    ),
    "a prompt far from the name": (
        400,
        {"message": f"m-1: cannot read {'a b ' * 20} no longer"},
    ),
    "no right to it": (403, error("no access to the model", "model_not_found")),
    "overloaded": (503, {"message": "The model `m-1` is not found to be ready"}),
}


@pytest.mark.parametrize("name", [*GONE, *NOT_SO])
def test_what_providers_say_of_a_model_that_is_gone(name: str) -> None:
    status, body = (GONE | NOT_SO)[name]
    assert is_retired(status, body, "m-1") is (name in GONE)


def test_a_run_says_what_is_retired_and_asks_no_more(server, ledger) -> None:
    server.script = lambda call: refusing(GONE["vLLM"][1], 404)
    with pytest.raises(BadInput, match="of which the ledger has no answer: correct"):
        asking(server, ledger)([request(1)])  # a name that never answered may be wrong
    server.script = echo
    ask = asking(server, ledger, concurrency=2)
    ask(requests(3))
    server.script = lambda _: refusing(GONE["Groq"][1])
    sent = server.requests.total()
    with pytest.raises(Retired) as caught:
        ask(requests(40))
    assert server.requests.total() <= sent + 2  # none is sent twice
    for expected in (
        "answers, but says that it has no model 'm-1' any more",
        "Its 3 answers in the ledger, the last of 20",
        "run both judges side by side",
        "37 of 40 answers are missing",
    ):
        assert expected in str(caught.value)
    assert "base_url" not in str(caught.value)

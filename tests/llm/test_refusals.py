"""A wrong parameter costs one request and ends in the server's own words, but in none of a text."""

import dataclasses
import json
from typing import Any

import pytest

from metassay.core.errors import BadInput
from metassay.llm.server_errors import words
from tests.llm.batch_setup import asking, missing, request, requests
from tests.llm.scripted_server import Answer, Call, echo, failed, too_long, whole

# Errors as providers are documented, or were reported, to give them.
OPENAI = {
    "error": {
        "message": "Unsupported value: 'temperature' does not support 0 with this model. Only the"
        " default (1) value is supported.",
        "type": "invalid_request_error",
        "param": "temperature",
        "code": "unsupported_value",
    }
}
VLLM = {
    "error": {
        "message": "Requested sample logprobs of 25, which is greater than max allowed: 20",
        "type": "BadRequestError",
        "param": "logprobs",
        "code": 400,
    }
}
OLD_VLLM = {"object": "error", "message": "top_p must be in (0, 1], got 0.0.", "code": 400}
FASTAPI = {"detail": [{"loc": ["body", "seed"], "msg": "Input should be a valid integer"}]}
OPENROUTER = {
    "error": {
        "code": 400,
        "message": "Provider returned error",
        "metadata": {"raw": json.dumps(OPENAI), "provider_name": "OpenAI"},
    }
}
NOTE = (
    "Answer as JSON. Mr. Miller, 54, MRN 4711234, has had a temperature of 39.1 and is not allowed"
    " to get up; M\u00fcller-Weiss tears were found. Tell whether each value is supported."
)
SENT = json.dumps(
    {
        "model": "gpt-5-mini",
        "temperature": 0.0,
        "top_p": 0.0,
        "messages": [{"role": "system", "content": "Answer."}, {"role": "user", "content": NOTE}],
    }
).encode()


def refusing(body: object, status: int = 400) -> Answer:
    return whole(body, status=f"{status} x")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            OPENAI["error"],
            "code unsupported_value, type invalid_request_error, param temperature, "
            f'"{OPENAI["error"]["message"]}"',
        ),
        (
            VLLM["error"],
            f'type BadRequestError, param logprobs, "{VLLM["error"]["message"]}"',
        ),
        (OLD_VLLM, '"top_p must be in (0, 1], got 0.0."'),
        (FASTAPI, 'loc body.seed, "Input should be a valid integer"'),
        (
            OPENROUTER["error"],
            'code unsupported_value, type invalid_request_error, param temperature, "'
            f'{OPENAI["error"]["message"]}", "Provider returned error"',
        ),
        ("not found in any region", '"not found in any region"'),
        ("<html>Mr. Miller</html>", "nothing"),
        (None, "nothing"),
        ({"message": "x" * 400}, f'"{"x" * 300}..."'),
    ],
    ids=["openai", "vllm", "old vllm", "fastapi", "openrouter", "text", "page", "none", "long"],
)  # fmt: skip
def test_what_a_server_says_of_its_own_is_shown(body: Any, said: str) -> None:
    shown = words(400, body, SENT, ["sk-abc"])
    assert sorted(shown.split(", ")) == sorted(said.split(", "))


@pytest.mark.parametrize(
    "quoting",
    [
        "Invalid value: 'Mr. Miller, 54, MRN'",
        "Invalid value: Miller",
        "Invalid value: MILL",  # cut off, and in capitals
        "no number: 4711234",
        "cannot encode M\u00fcller",
        "cannot encode Muller",
        "cannot encode M?ller",
        r"cannot encode M\u00fcller",
        "cannot encode M%C3%BCller",
        "cannot encode M&uuml;ller",
        "Incorrect API key provided: sk-abcdefgh",
        "Incorrect API key provided: abcd****",
    ],
)
def test_what_quotes_the_texts_or_the_key_is_not(quoting: str) -> None:
    body = {"message": f"Invalid request. {quoting}", "code": "invalid", "param": quoting}
    shown = words(400, body, SENT, ["sk-abcdefgh"])
    assert shown == "code invalid, words that quote what was sent, which are not shown here"


@pytest.mark.parametrize("body", [OPENAI, VLLM, OPENROUTER], ids=["openai", "vllm", "openrouter"])
def test_the_first_question_with_a_new_block_goes_alone(server, ledger, body: object) -> None:
    server.script = lambda call: refusing(body)
    ask = asking(server, ledger, concurrency=8)
    for _ in range(2):  # nothing is known of the block the second time either
        with pytest.raises(BadInput) as caught:
            ask(requests(30))
    assert server.requests.total() == 2
    said = str(caught.value)
    for expected in (
        "params.yaml > models > m: endpoint 'here'",
        "refuses the first question that is asked with it, with HTTP 400, and says ",
        "`metassay probe m`",
        "(30 of 30 answers are missing)",
    ):
        assert expected in said
    server.script = echo
    assert missing(ask(requests(30))) == {}


def test_no_text_is_in_what_is_said(server, ledger, caplog) -> None:
    caplog.set_level("DEBUG", logger="metassay")
    server.script = lambda call: failed(400, "odd_code")  # its message repeats the prompt
    with pytest.raises(BadInput) as caught:
        asking(server, ledger)([request("Mr. Miller coughs")])
    assert "says code odd_code" in str(caught.value)
    assert "words that quote what was sent" in str(caught.value)
    assert "iller" not in str(caught.value) + caplog.text


def test_whatever_parameters_differ_is_another_block(server, ledger) -> None:
    def script(call: Call) -> Answer:
        return refusing(VLLM) if call.body.get("top_logprobs") == 25 else echo(call)

    server.script = script
    ask = asking(server, ledger, structured=True, concurrency=8)
    ask(requests(3))
    changes: list[dict[str, Any]] = [
        *({"temperature": None}, {"seed": 1}, {"max_tokens": 41}, {"schema": "{}"}),
        *({"extra": '{"top_p":0.5}'}, {"logprobs": 5}),
    ]
    for change in changes:
        server.most_at_once = 0
        ask([request("new", **change)])
    with pytest.raises(BadInput, match="first question"):
        ask([request(number, logprobs=25) for number in range(30)])
    assert server.requests.total() == 3 + len(changes) + 1


def test_seeds_and_repetitions_are_no_other_block(server, ledger) -> None:
    server.script = lambda call: dataclasses.replace(echo(call), delay=0.05)
    ask = asking(server, ledger, concurrency=8)
    ask([request(1, seed=1)])
    server.most_at_once = 0
    ask([request(number, seed=number, repeat=number) for number in range(2, 10)])
    assert server.most_at_once > 1


def test_a_prompt_that_is_too_long_says_nothing_of_the_block(server, ledger) -> None:
    server.script = lambda call: too_long() if call.number <= 12 else echo(call)
    replies = asking(server, ledger)(requests(20))
    assert missing(replies) == {"context_length": 12}
    assert server.most_at_once > 0
    server.script = lambda call: too_long()
    replies = asking(server, ledger)([request(number) for number in range(20, 40)])
    assert missing(replies) == {"context_length": 20}  # nor do many in a row of a block that works


def test_three_refusals_of_one_kind_in_a_row_stop(server, ledger) -> None:
    ask = asking(server, ledger, concurrency=1)
    ask([request("first")])
    kinds = ["a", "a", ".", "a", "a", "b", "b", ".", "c", "c", "c"]

    def script(call: Call) -> Answer:
        kind = kinds[int(call.prompt[-3:-1])]
        return echo(call) if kind == "." else failed(400, kind)

    server.script = script
    questions = [request(f"number {number:02d}") for number in range(len(kinds))]
    with pytest.raises(BadInput, match=r"refuses 3 questions in a row, with HTTP 400") as caught:
        ask(questions)
    assert server.requests.total() == 1 + len(kinds)
    assert "(9 of 11 answers are missing)" in str(caught.value)
    assert set(ledger.failures()) == {question.key for question in questions[-3:]}
    # Refused again although others are answered, these three are no news: the run can end.
    replies = ask([*questions[-3:], request("number 02 02")])
    assert [reply.error for reply in replies] == ["http_400"] * 3 + [None]
    # What is refused for another reason than it was, or is new, counts.
    server.script = lambda call: failed(422, "c")
    with pytest.raises(BadInput, match="3 questions in a row, with HTTP 422"):
        ask(questions[-3:])

"""What is not an answer of the model that was asked: pages, other models, counts that lie."""

import json
import logging
import time
from dataclasses import replace

import pytest

from metassay.core.errors import BadInput
from metassay.llm.ledger import Ledger
from metassay.llm.limits import Policy
from tests.llm.batch_setup import asking, model, request, requests
from tests.llm.scripted_server import (
    Answer,
    Call,
    ScriptedServer,
    completion,
    echo,
    whole,
)

LOGIN = (
    "<!DOCTYPE html><html><head><title>Sign in</title><style>p {color: red}</style>"
    "<script>var patient = 1;</script></head><body><p>Sign in to go on to the model."
)
PATIENT = Policy(attempts=6, first_wait=0.2, longest_wait=60.0, lease=15.0)


def stopped(server: ScriptedServer, ledger: Ledger, number: int = 60) -> str:
    with pytest.raises(BadInput) as raised:
        asking(server, ledger, PATIENT)(requests(number))
    return str(raised.value)


def test_a_page_stops_the_run_after_three_questions(server, ledger) -> None:
    server.script = lambda _: whole(LOGIN)
    began = time.monotonic()
    message = stopped(server, ledger)
    assert time.monotonic() - began < 10
    assert len(server.calls) <= 6
    assert "answers 3 questions in a row with a page: the reply is HTML, not" in message
    assert 'and begins "Sign in Sign in to go on to the model."' in message
    assert "(60 of 60 answers are missing)" in message


def test_also_after_an_answer_that_came_before(server, ledger) -> None:
    asking(server, ledger)(requests(1))  # as of `metassay probe`
    server.script = lambda _: whole(LOGIN)
    assert "in a row with a page" in stopped(server, ledger)
    assert len(server.calls) <= 1 + 2 * 8


def test_no_word_of_the_question_is_in_the_message(server, ledger) -> None:
    server.script = lambda call: whole(f"<p>You asked: {call.prompt}</p>")
    message = stopped(server, ledger)
    assert "words that quote what was sent, which are not shown here" in message
    assert "Question" not in message


def test_one_page_among_answers_stops_nothing(server, ledger) -> None:
    server.script = lambda call: whole(LOGIN) if "3?" in call.prompt else echo(call)
    replies = asking(server, ledger, PATIENT)(requests(9))
    assert [reply.error for reply in replies] == [
        None,
        None,
        None,
        "bad_reply",
        *[None] * 5,
    ]


def test_json_without_an_answer_is_asked_again_before_it_counts(server, ledger) -> None:
    busy = {"error": {"code": 429, "message": "overloaded"}}
    quick = Policy(attempts=3, first_wait=0.01, longest_wait=0.02, lease=15.0)

    def script(call: Call) -> Answer:
        return whole(busy) if call.attempt < 3 else echo(call)

    server.script = script
    replies = asking(server, ledger, quick)(requests(9))
    assert {reply.status for reply in replies} == {"ok"}


@pytest.mark.parametrize(
    ("model_name", "served", "same"),
    [
        ("gpt-4o-mini", "gpt-4o-mini-2024-07-18", True),
        ("gpt-4o", "gpt-4o-mini", False),
        ("gpt-4o", "gpt-4o", True),
        ("claude-sonnet-4", "claude-sonnet-4-20250514", True),
        ("mistral-large-latest", "mistral-large-2411", True),
        ("openai/gpt-4o", "gpt-4o-2024-08-06", True),
        ("gemini-2.5-flash", "models/gemini-2.5-flash", True),
        ("Qwen/Qwen3-8B", "qwen3-8b", True),
        ("llama3.1:70b", "llama3.1:8b", False),
        ("llama3.1", "llama3.1:8b", True),
        ("m-1", "another", False),
        ("m-1", "", True),
    ],
)
def test_another_model_is_counted_and_said(
    model_name, served, same, server, ledger, caplog
) -> None:
    server.script = lambda _: whole(completion(model=served))
    ask = asking(server, ledger, of=model(model=model_name))
    with caplog.at_level(logging.WARNING, "metassay.llm"):
        ask([replace(request(n), model=model_name) for n in range(3)])
    messages = [record.getMessage() for record in caplog.records]
    expected = f"3 answers are of another model than {model_name!r}, which was asked: {served!r} 3"
    assert messages == ([] if same else [expected])


def test_a_token_for_a_page_is_not_believed(server, ledger) -> None:
    long = "The knee hurts. " * 200
    server.script = lambda _: whole(
        completion("yes " * 100, prompt_tokens=1, completion_tokens=1)
    )
    (reply,) = asking(server, ledger)([request(long)])
    assert (reply.prompt_tokens, reply.completion_tokens) == (None, None)


def test_text_in_an_answer_is_no_name_of_a_model(server, ledger, caplog) -> None:
    body = completion(json.dumps({"model": "another"}), model="m-1")
    server.script = lambda _: whole(body)
    with caplog.at_level(logging.WARNING, "metassay.llm"):
        asking(server, ledger)(requests(1))
    assert caplog.records == []


def test_only_the_reply_s_own_model_counts_and_only_a_name_is_one(
    server, ledger, caplog
) -> None:
    inside = {**completion(model="m-1"), "tool": {"model": "inner"}}
    sentence = completion(model="Ms Jones was seen on 3 May")
    for body in (inside, sentence):
        server.script = lambda _, body=body: whole(body)
        with caplog.at_level(logging.WARNING, "metassay.llm"):
            asking(server, ledger)(requests(1))
    assert caplog.records == []

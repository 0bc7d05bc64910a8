import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metassay.llm.messages import ChatRequest, Message, read_request

texts = st.text(st.characters(exclude_categories=["Cs"]))
messages = st.lists(
    st.builds(Message, st.sampled_from(["system", "user", "assistant"]), texts), max_size=4
)
requests = st.builds(
    ChatRequest,
    model=texts,
    messages=messages.map(tuple),
    schema=st.none() | texts,
    temperature=st.none() | st.floats(0, 2),
    seed=st.none() | st.integers(),
    max_tokens=st.integers(1, 10**6),
    repeat=st.integers(0, 9),
    structured=st.none() | st.sampled_from(["json_schema", "json_object", "none"]),
    extra=st.none() | texts,
    logprobs=st.none() | st.integers(0, 20),
)


@given(requests)
def test_the_canonical_form_is_sorted_json_without_spaces(request_: ChatRequest) -> None:
    body = {
        "kind": "chat",
        "model": request_.model,
        "messages": [[m.role, m.content] for m in request_.messages],
        "schema": request_.schema,
        "temperature": request_.temperature,
        "seed": request_.seed,
        "max_tokens": request_.max_tokens,
        "repeat": request_.repeat,
    }
    later = {name: getattr(request_, name) for name in ("structured", "extra", "logprobs")}
    body |= {name: value for name, value in later.items() if value is not None}
    expected = json.dumps(body, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    assert request_.canonical == expected
    assert request_.key == hashlib.sha256(expected.encode("utf-8")).hexdigest()
    assert read_request(expected, request_.key) == request_


def test_the_key_never_changes_between_versions() -> None:
    # A changed form would make every ledger and every table of responses worthless.
    question = ChatRequest(
        "m-1", (Message("system", "Be brief."), Message("user", 'Say "é".')), None, 0.0, 7, 40
    )
    assert question.canonical == (
        '{"kind":"chat","max_tokens":40,"messages":[["system","Be brief."],["user","Say \\"é\\"."]]'
        ',"model":"m-1","repeat":0,"schema":null,"seed":7,"temperature":0.0}'
    )
    assert question.key == "61347b65da4a39f9f4a0b06d2dc03c1d88a9b618f57a0b316cd1961681a86ef4"


@pytest.mark.parametrize(
    ("question", "key"),
    [
        (
            ChatRequest("m-1", (Message("user", "Is it so?"),), None, 0.0, None, 40),
            "1acc0e87384affa464b49ebf3e5c40655d33c3f6611538c7916fead92778fcfd",
        ),
        (
            ChatRequest(
                "gpt-4o-mini-2024-07-18",
                (
                    Message("system", "Answer."),
                    Message("user", "a\tb \u00e9 \U0001f600"),
                    Message("assistant", "no"),
                ),
                '{"type":"object"}',
                *(0.7, -3, 2000, 2),
            ),
            "7f098a56e0d9219fdb9ba85e90b91630c114a6dce215140c94f04936387bcb74",
        ),
        (
            ChatRequest("org/m:8b", (Message("user", '"x" \\ \x01' + "y" * 500),), "{}", 1.0, 7, 1),
            "dc9c857895d10d0b9902d1f644642d6cda88bfb32d373baa8b108eb333447a0a",
        ),
    ],
    ids=["least", "all", "escapes"],
)
def test_questions_of_old_ledgers_keep_their_keys(question: ChatRequest, key: str) -> None:
    # Written down with the version that knew no parameters but these.
    assert question.key == key


@pytest.mark.parametrize(
    "change",
    [
        {"model": "m-2"},
        {"messages": (Message("user", "a"), Message("user", "b"))},
        {"messages": (Message("system", "ab"),)},
        {"schema": "{}"},
        {"temperature": 0.1},
        {"seed": 1},
        {"max_tokens": 41},
        {"repeat": 1},
        {"temperature": None},
        {"structured": "json_schema"},
        {"structured": "none"},
        {"extra": '{"top_p":0.5}'},
        {"logprobs": 0},
    ],
    ids=str,
)
def test_whatever_can_change_the_answer_changes_the_key(change: dict[str, Any]) -> None:
    settings: dict[str, Any] = {
        "model": "m-1",
        "messages": (Message("user", "ab"),),
        "schema": None,
        "temperature": 0.0,
        "seed": None,
        "max_tokens": 40,
    }
    assert ChatRequest(**settings).key != ChatRequest(**(settings | change)).key

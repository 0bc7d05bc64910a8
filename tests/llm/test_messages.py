import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metassay.llm.messages import ChatRequest, Message

texts = st.text(st.characters(exclude_categories=["Cs"]))
messages = st.lists(
    st.builds(Message, st.sampled_from(["system", "user", "assistant"]), texts), max_size=4
)
requests = st.builds(
    ChatRequest,
    model=texts,
    messages=messages.map(tuple),
    schema=st.none() | texts,
    temperature=st.floats(0, 2),
    seed=st.none() | st.integers(),
    max_tokens=st.integers(1, 10**6),
    repeat=st.integers(0, 9),
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
    expected = json.dumps(body, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    assert request_.canonical == expected
    assert request_.key == hashlib.sha256(expected.encode("utf-8")).hexdigest()


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

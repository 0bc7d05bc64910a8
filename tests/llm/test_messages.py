"""Questions and their keys: the same in every version, with all that may matter."""

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metassay.llm.messages import ChatRequest, Message, read_request

texts = st.text(st.characters(exclude_categories=["Cs"]))
messages = st.lists(
    st.builds(Message, st.sampled_from(["system", "user", "assistant"]), texts),
    max_size=4,
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
def test_the_canonical_form_is_sorted_json_without_spaces(
    question: ChatRequest,
) -> None:
    listed = [[m.role, m.content] for m in question.messages]
    always = ("model", "schema", "temperature", "seed", "max_tokens", "repeat")
    body = {"kind": "chat", "messages": listed} | {
        n: getattr(question, n) for n in always
    }
    later = {
        name: getattr(question, name) for name in ("structured", "extra", "logprobs")
    }
    body |= {name: value for name, value in later.items() if value is not None}
    expected = json.dumps(
        body, ensure_ascii=False, sort_keys=True, separators=(",", ":")
    )
    assert question.canonical == expected
    assert question.key == hashlib.sha256(expected.encode("utf-8")).hexdigest()
    assert read_request(expected, question.key) == question


def chat(
    model: str, *contents: str, schema: str | None = None, **more: Any
) -> ChatRequest:
    roles = ("system", "user", "assistant") if len(contents) > 1 else ("user",)
    chat_ = tuple(map(Message, roles, contents))
    settings = {"temperature": 0.0, "seed": None, "max_tokens": 40} | more
    return ChatRequest(model, chat_, schema, **settings)


@pytest.mark.parametrize(
    ("question", "key"),
    [
        (chat("m-1", "Be brief.", 'Say "é".', seed=7), "61347b65da4a39f9"),
        (chat("m-1", "Is it so?"), "1acc0e87384affa4"),
        (
            chat(
                "gpt-4o-mini-2024-07-18",
                "Answer.",
                "a\tb \u00e9 \U0001f600",
                "no",
                schema='{"type":"object"}',
                temperature=0.7,
                seed=-3,
                max_tokens=2000,
                repeat=2,
            ),
            "7f098a56e0d9219f",
        ),
        (
            chat(
                "org/m:8b",
                '"x" \\ \x01' + "y" * 500,
                schema="{}",
                temperature=1.0,
                seed=7,
                max_tokens=1,
            ),
            "dc9c857895d10d0b",
        ),
    ],
    ids=["brief", "least", "all", "escapes"],
)
def test_the_key_never_changes_between_versions(
    question: ChatRequest, key: str
) -> None:
    # A changed form would make every ledger and every table of responses worthless.
    # Written down with the version that knew no parameters but these.
    assert question.key[:16] == key

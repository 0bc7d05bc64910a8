"""What a model thinks aloud before its answer is no part of the answer, but stays in the ledger."""

import pandas as pd
import pytest

from metassay.generation.chat import ChatOptions, write_chat
from metassay.llm.answers import without_thoughts
from metassay.llm.client import replayer
from metassay.llm.ledger import responses
from metassay.llm.prompts import Decoding
from metassay.tables.documents import SOURCES, TEXTS
from tests.llm.batch_setup import asking, model, request
from tests.llm.scripted_server import Answer, cut, said

SAID = {
    "The knee hurts.": "The knee hurts.",
    "<think>\nA knee.\n</think>\n\nThe knee hurts.": "The knee hurts.",
    " \n<think></think>The knee hurts.": "The knee hurts.",
    "<think>An elbow?</think>": "",
    # As of a model whose template opens the block: only the end of it is in the answer.
    "A knee, then.\n</think>\n\nThe knee hurts.": "The knee hurts.",
    # No block that the answer begins with.
    "The knee hurts. <think>Does it?\n</think>\n": "The knee hurts. <think>Does it?\n</think>\n",
    '{"items": ["He wrote </think> in a form."]}': '{"items": ["He wrote </think> in a form."]}',
    "He wrote </think>\nand left.": "He wrote </think>\nand left.",
}


@pytest.mark.parametrize(("raw", "answer"), SAID.items())
def test_what_is_said_after_thinking(raw: str, answer: str) -> None:
    assert without_thoughts(raw) == answer


def test_thoughts_without_an_end_hold_no_answer() -> None:
    assert without_thoughts("<think>\nThe knee hurts.") is None


def test_the_ledger_keeps_what_was_said_and_a_replay_says_the_same(server, ledger) -> None:
    raw = "<think>\nA knee.\n</think>\n\nThe knee hurts."
    answers = {"1": said(raw), "2": cut("<think>\nA knee"), "3": said("<think>\nA knee")}
    server.script = lambda call: answers[call.prompt[-2]]
    questions = [request(number) for number in (1, 2, 3)]
    replies = asking(server, ledger)(questions)
    assert [(reply.status, reply.text) for reply in replies] == [
        ("ok", "The knee hurts."),
        ("truncated", None),
        ("truncated", None),
    ]
    again = replayer(ledger)(questions)
    assert [(r.status, r.text) for r in again] == [(r.status, r.text) for r in replies]
    kept = responses(ledger).set_index("key")["text"]
    assert kept[questions[0].key] == raw
    assert kept[questions[1].key] == kept[questions[2].key] == "<think>\nA knee"


@pytest.mark.parametrize(
    ("answer", "status", "text"),
    [
        (said("<think>Short.</think>\nThe knee hurts [0]."), "ok", "The knee hurts [0]."),
        (said("<think>Short."), "truncated", None),
        (said("<think>Short.</think>\n"), "unparsed", None),
        # Nothing but its words says that this is a refusal: it is a text, and judged as one.
        (said("I'm sorry, but I can't help."), "ok", "I'm sorry, but I can't help."),
    ],
    ids=["thoughts", "no end", "nothing else", "refusal in words"],
)
def test_a_written_text_is_what_follows_the_thoughts(
    server, ledger, answer: Answer, status: str, text: str | None
) -> None:
    server.script = lambda call: answer
    row = {
        "doc_id": "d",
        "task": "note",
        "passages": ["It hurts."],
        "speaker": [""],
        "attributes": {},
    }
    sources = pd.DataFrame([{name: row.get(name) for name in SOURCES.columns}])
    options = ChatOptions(
        model="m", unit="full", citations=True, shots=0, examples=[], example_citations="none"
    )
    texts = write_chat(sources, "w", options, asking(server, ledger), Decoding.of(model()))
    assert list(texts.columns) == list(TEXTS.columns)
    assert texts[["status", "text"]].to_numpy().tolist() == [[status, text]]

"""What asking would cost, counted before, against what a server counts and by hand."""

import json
from typing import Any

import numpy as np
import pytest

from metassay.core.errors import BadInput
from metassay.core.params import load
from metassay.datasets.ingest import ingest
from metassay.llm.budget import (
    Estimate,
    count_request_tokens,
    estimate,
    estimate_tokens,
)
from metassay.llm.ledger import Ledger
from metassay.llm.messages import ChatRequest, Message
from tests.llm.batch_setup import PRICES, ROOT, asking, model, request, requests
from tests.llm.scripted_server import answer_with

SAMPLE = ingest("files", ROOT / "data/sample", load(ROOT).benchmarks["sample"].criteria)
PASSAGES = [passage for passages in SAMPLE.sources["passages"] for passage in passages]
CLAIMS = [{"number": n, "passages": [text]} for n, text in enumerate(PASSAGES)]
WRITTEN = {
    "passages": "\n".join(PASSAGES),
    "notes": "\n\n".join(SAMPLE.texts["text"].dropna()),
    "items": json.dumps(CLAIMS, ensure_ascii=False),
}


def questions(kind: str, count: int = 40) -> list[ChatRequest]:
    generator = np.random.default_rng(5)
    words = WRITTEN[kind].split(" ")
    starts = generator.integers(0, len(words) - 300, count)
    sizes = generator.integers(5, 300, count)
    texts = [" ".join(words[at : at + n]) for at, n in zip(starts, sizes, strict=True)]
    return [chat(f"{n}. {text}", '{"type":"object"}') for n, text in enumerate(texts)]


def chat(text: str, schema: str | None = None) -> ChatRequest:
    messages = (Message("system", "Read it and answer."), Message("user", text))
    return ChatRequest("m-1", messages, schema, 0.0, None, 60)


def estimated(
    chats: list[ChatRequest],
    ledger: Ledger,
    expected: float = 5,
    priced: bool = True,
    **more: Any,
) -> Estimate:
    options = model(prices=PRICES if priced else None, **more.pop("model", {}))
    structured = more.pop("structured", True)
    return estimate(
        chats,
        ledger,
        options,
        structured=structured,
        completion_tokens=expected,
        **more,
    )


@pytest.mark.parametrize("kind", WRITTEN)
def test_the_estimate_is_within_ten_percent_of_what_the_server_counts(
    server, ledger, kind: str
) -> None:
    server.script = lambda call: answer_with("word " * 25)
    before = estimated(questions(kind), ledger, 25)
    asking(server, ledger, structured=True, concurrency=4)(questions(kind))
    assert before.calls == 40
    assert before.prompt_tokens == pytest.approx(server.tokens["prompt"], rel=0.1)
    assert before.completion_tokens == server.tokens["completion"] == 25 * 40
    paid = (server.tokens["prompt"] * 2.5 + server.tokens["completion"] * 10) / 1e6
    assert before.cost == pytest.approx(paid, rel=0.1)
    assert paid <= before.cost_at_most
    assert before.currency == "USD"
    assert "rule" in before.counted


def test_a_schema_counts_only_where_it_is_sent() -> None:
    question = request(1, schema='{"type":"object"}')
    bare = count_request_tokens(request(1), len, structured=True)
    assert bare == 3 + 4 + 7 + 4 + 11
    assert count_request_tokens(question, len, structured=False) == bare
    # Under a heading of 31 characters, as JSON with a space after its colon.
    assert count_request_tokens(question, len, structured=True) == bare + 31 + 18


def test_both_bounds_by_hand(ledger) -> None:
    bounds = estimated(
        requests(3), ledger, 7, structured=False, most=[1, 3, 7], longer=5
    )
    # 64 for a request, 32 for each of two messages, a token per byte; 11 requests at most, of
    # which 8 are up to 5 bytes longer.
    assert bounds.completion_tokens == 3 * 7
    assert bounds.completion_tokens_at_most == 11 * 40
    assert bounds.cost_at_most == pytest.approx(
        (11 * 146 + 8 * 5) * 2.5e-6 + 11 * 40 * 10e-6
    )
    free = estimated(requests(1), ledger, priced=False)
    assert (free.cost, free.cost_at_most, free.currency) == (None, None, None)


def test_past_answers_say_how_long_others_will_be(server, ledger) -> None:
    """An answer of this model is half as long as its material; other prompts say nothing."""
    server.script = lambda call: answer_with(
        "word " * (len(call.body["messages"][1]["content"]) // 10)
    )

    def texts(first: int, words: int) -> list[ChatRequest]:
        return [chat(f"{n} " + "word " * words) for n in range(first, first + 30)]

    ask = asking(server, ledger)
    ask(texts(100, 60))
    server.tokens.clear()
    for others, guessed in ((texts(200, 110), False), (requests(30), True)):
        before = estimated(others, ledger, 999, structured=False)
        assert (before.completion_tokens == 30 * 999) is guessed
        assert ("30 past ones" in before.counted) is not guessed
    ask(texts(200, 110))
    before = estimated(texts(300, 110), ledger, 999, structured=False)
    assert before.completion_tokens == pytest.approx(
        server.tokens["completion"], rel=0.03
    )


def test_what_the_ledger_has_costs_nothing(server, ledger) -> None:
    chats = questions("notes", 10)
    asking(server, ledger)(chats[:4])
    twice = estimated([*chats, chats[9]], ledger, 25)
    assert (twice.calls, twice.calls_in_ledger, twice.completion_tokens) == (10, 4, 150)
    assert twice.completion_tokens_at_most == 6 * 60
    assert twice.prompt_tokens == estimated(chats[4:], ledger).prompt_tokens
    known = estimated(chats[:4], ledger)
    assert (known.prompt_tokens, known.cost, known.cost_at_most) == (0, 0.0, 0.0)


def test_past_answers_correct_the_count(server, ledger) -> None:
    """Of a language that the rule does not know, the second estimate is right."""
    words = "Übelkeit Schwindel Rückenschmerzen Blutdruckmessung Überweisung Entzündungshemmer"
    generator = np.random.default_rng(2)
    chats = [
        chat(f"{n} " + " ".join(generator.permutation(words.split() * 9)))
        for n in range(60)
    ]
    ask = asking(server, ledger)
    first = estimated(chats[30:], ledger)
    ask(chats[:30])
    second = estimated(chats[30:], ledger)
    server.tokens.clear()
    ask(chats[30:])
    assert abs(first.prompt_tokens / server.tokens["prompt"] - 1) > 0.2
    assert second.prompt_tokens == pytest.approx(server.tokens["prompt"], rel=0.03)
    assert "from 30 past answers" in second.counted


def test_a_large_run_is_sampled(ledger) -> None:
    chats = questions("notes", 2500)
    counted = sum(count_request_tokens(question, structured=True) for question in chats)
    assert estimated(chats, ledger).prompt_tokens == pytest.approx(counted, rel=0.01)


def test_the_rule_by_hand() -> None:
    # lower-case words 1 each, "osteoarthritis" has 14 letters: 1 + 0.06 * 7; "Her"
    # 1.25; "MRI" 0.5 a letter; "2024" two groups of three digits + 0.8; a mark 0.95; a
    # line 0.7
    text = "Her osteoarthritis was seen by MRI\nin 2024."
    assert estimate_tokens(text) == pytest.approx(
        1.25 + 1.42 + 3 + 1.5 + 0.7 + 1 + 2.8 + 0.95
    )
    assert estimate_tokens("") == 0


def test_counting_with_the_models_tokenizer(ledger, tmp_path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    folder = {"model": {"tokenizer": str(tmp_path)}}
    with pytest.raises(BadInput, match="tokenizer"):
        estimated([request(1)], ledger, **folder)
    words = tokenizers.models.WordLevel(
        {"[UNK]": 0, "Answer": 1, ".": 2}, unk_token="[UNK]"
    )
    tokenizer = tokenizers.Tokenizer(words)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    before = estimated([request(1)], ledger, model={"tokenizer": str(tmp_path)})
    # "Answer" "." and "Question" "1" "?", 4 a message, 3 for the request
    assert before.prompt_tokens == 2 + 3 + 2 * 4 + 3
    assert str(tmp_path) in before.counted

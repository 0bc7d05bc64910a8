import json

import numpy as np
import pytest

from metassay.core.errors import BadInput
from metassay.llm.budget import by_rule, estimate, of_request
from metassay.llm.messages import ChatRequest, Message
from tests.llm.batch_setup import PRICES, asking, model, request, requests
from tests.llm.scripted_server import said

INVENTED = {
    "dialogue": (
        "Doctor: So, what brings you in today?\n"
        "Patient: Well, my knee's been bothering me again, mostly when I climb the stairs.\n"
        "Doctor: Mm-hmm. And how long has that been going on for?\n"
        "Patient: I'd say about three weeks now, maybe a bit longer. It began after the move.\n"
    ),
    "note": (
        "CHIEF COMPLAINT\n\nLeft knee pain.\n\nHISTORY OF PRESENT ILLNESS\n\nMs. Harlow is a 58-"
        "year-old female with hypertension and osteoarthritis, who presents with a history of"
        " left knee pain. She takes ibuprofen 400 mg twice daily, with partial relief.\n\n"
        "ASSESSMENT AND PLAN\n\n1. Osteoarthritis, left knee. Continue physiotherapy; X-ray.\n"
    ),
    "abstract": (
        "We ask whether the similarity between a generated summary and its reference predicts the"
        " judgments of trained annotators, and we show that the answer depends a great deal on"
        " which systems were compared and on how their outputs were sampled. "
    ),
    "question": "Can I take these pills together with my blood pressure tablets, or is it risky? ",
    "items": json.dumps(
        [
            {"number": n, "claim": claim, "passages": ["P: It aches at night.", "D: I see."]}
            for n, claim in enumerate(("The patient has pain at night.", "No fever was reported."))
        ]
    ),
}


def questions(kind: str, count: int = 40) -> list[ChatRequest]:
    generator = np.random.default_rng(5)
    sentences = INVENTED[kind].split(" ")
    made = []
    for number in range(count):
        start = int(generator.integers(0, max(1, len(sentences) // 3)))
        text = " ".join(sentences[start:] + sentences[: int(generator.integers(5, 60))])
        messages = (
            Message("system", "Read the following and answer as you were asked to."),
            Message("user", f"{number}. {text * int(generator.integers(1, 5))}"),
        )
        made.append(ChatRequest("m-1", messages, '{"type":"object"}', 0.0, None, 60))
    return made


@pytest.mark.parametrize("kind", INVENTED)
def test_the_estimate_is_within_ten_percent_of_what_the_server_counts(
    server, ledger, kind: str
) -> None:
    server.script = lambda call: said("word " * 25)
    asked = questions(kind)
    priced = model(prices=PRICES)
    before = estimate(asked, ledger, priced, completion_tokens=25, structured=True)
    asking(server, ledger, structured=True, concurrency=4)(asked)
    assert before.calls == len(asked)
    assert before.prompt_tokens == pytest.approx(server.tokens["prompt"], rel=0.1)
    assert before.completion_tokens == server.tokens["completion"] == 25 * 40
    paid = (server.tokens["prompt"] * 2.5 + server.tokens["completion"] * 10) / 1e6
    assert before.cost == pytest.approx(paid, rel=0.1)
    assert before.cost_at_most is not None
    assert paid <= before.cost_at_most
    assert before.currency == "USD"
    assert "rule" in before.counted


def test_a_schema_counts_only_where_it_is_sent() -> None:
    question = request(1, schema='{"type":"object"}')
    bare = of_request(request(1), len, structured=True)
    assert of_request(question, len, structured=False) == bare
    # Under a heading of 31 characters, as JSON with a space after its colon.
    assert of_request(question, len, structured=True) == bare + 31 + 18


def test_both_bounds_by_hand(ledger) -> None:
    asked = requests(3)
    found = estimate(
        asked, ledger, model(prices=PRICES), structured=False, completion_tokens=7, most=[1, 3, 7]
    )
    # 64 for a request, 32 for each of two messages, a token per byte; 11 requests at most.
    assert found.completion_tokens == 3 * 7
    assert found.completion_tokens_at_most == 11 * 40
    assert found.cost_at_most == pytest.approx(11 * (146 * 2.5e-6 + 40 * 10e-6))


def test_past_answers_say_how_long_others_will_be(server, ledger) -> None:
    """An answer of this model is half as long as its material; other prompts say nothing."""
    server.script = lambda call: said("word " * (len(call.body["messages"][1]["content"]) // 10))

    def asked(first: int, words: int) -> list[ChatRequest]:
        return [
            ChatRequest(
                "m-1",
                (Message("system", "S"), Message("user", f"{n} " + "word " * words)),
                *(None, 0.0, None, 900),
            )
            for n in range(first, first + 30)
        ]

    ask = asking(server, ledger)
    ask(asked(100, 80))
    server.tokens.clear()
    other = requests(30)
    for questions_, guessed in ((asked(200, 400), False), (other, True)):
        found = estimate(questions_, ledger, model(), structured=False, completion_tokens=999)
        assert (found.completion_tokens == 30 * 999) is guessed
        assert ("30 past ones" in found.counted) is not guessed
    ask(asked(200, 400))
    found = estimate(asked(300, 400), ledger, model(), structured=False, completion_tokens=999)
    assert found.completion_tokens == pytest.approx(server.tokens["completion"], rel=0.03)


def test_what_the_ledger_has_costs_nothing(server, ledger) -> None:
    asked = questions("note", 10)
    asking(server, ledger)(asked[:4])
    found = estimate(
        [*asked, asked[9]], ledger, model(prices=PRICES), completion_tokens=25, structured=True
    )
    assert (found.calls, found.calls_in_ledger, found.completion_tokens) == (10, 4, 150)
    assert found.completion_tokens_at_most == 6 * 60
    alone = estimate(asked[4:], ledger, model(prices=PRICES), completion_tokens=25, structured=True)
    assert found.prompt_tokens == alone.prompt_tokens
    everything = estimate(
        asked[:4], ledger, model(prices=PRICES), completion_tokens=25, structured=True
    )
    assert (everything.prompt_tokens, everything.cost, everything.cost_at_most) == (0, 0.0, 0.0)


def test_a_model_without_prices_has_no_cost(ledger) -> None:
    found = estimate([request(1)], ledger, model(), completion_tokens=5, structured=True)
    assert (found.cost, found.cost_at_most, found.currency) == (None, None, None)


def test_past_answers_correct_the_count(server, ledger) -> None:
    """Of a language that the rule does not know, the second estimate is right."""
    words = "Übelkeit Schwindel Rückenschmerzen Blutdruckmessung Überweisung Entzündungshemmer"
    generator = np.random.default_rng(2)
    asked = [
        ChatRequest(
            "m-1",
            (Message("user", f"{n} " + " ".join(generator.permutation(words.split() * 9))),),
            *(None, 0.0, None, 60),
        )
        for n in range(60)
    ]
    ask = asking(server, ledger)
    first = estimate(asked[30:], ledger, model(), completion_tokens=5, structured=True)
    ask(asked[:30])
    second = estimate(asked[30:], ledger, model(), completion_tokens=5, structured=True)
    server.tokens.clear()
    ask(asked[30:])
    assert abs(first.prompt_tokens / server.tokens["prompt"] - 1) > 0.2
    assert second.prompt_tokens == pytest.approx(server.tokens["prompt"], rel=0.03)
    assert "from 30 past answers" in second.counted


def test_a_large_run_is_sampled(ledger) -> None:
    asked = questions("abstract", 2500)
    sampled = estimate(asked, ledger, model(), completion_tokens=5, structured=True).prompt_tokens
    counted = sum(of_request(question, structured=True) for question in asked)
    assert sampled == pytest.approx(counted, rel=0.01)


def test_the_rule_by_hand() -> None:
    # lower-case words 1 each, "osteoarthritis" has 14 letters: 1 + 0.06 * 7; "Her" 1.25;
    # "MRI" 0.5 a letter; "2024" two groups of three digits + 0.8; a mark 0.95; a line 0.7
    text = "Her osteoarthritis was seen by MRI\nin 2024."
    expected = 1.25 + 1.42 + 3 + 1.5 + 0.7 + 1 + 2.8 + 0.95
    assert by_rule(text) == pytest.approx(expected)
    assert by_rule("") == 0
    assert of_request(request(1), len, structured=True) == 3 + 4 + 7 + 4 + 11


def test_counting_with_the_models_own_tokenizer(ledger, tmp_path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    words = tokenizers.models.WordLevel({"[UNK]": 0, "Answer": 1, ".": 2}, unk_token="[UNK]")
    made = tokenizers.Tokenizer(words)
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    made.save(str(tmp_path / "tokenizer.json"))
    found = estimate(
        [request(1)], ledger, model(tokenizer=str(tmp_path)), completion_tokens=5, structured=True
    )
    # "Answer" "." and "Question" "1" "?", 4 a message, 3 for the request
    assert found.prompt_tokens == 2 + 3 + 2 * 4 + 3
    assert str(tmp_path) in found.counted


def test_a_tokenizer_that_is_not_there(ledger, tmp_path) -> None:
    with pytest.raises(BadInput, match="tokenizer"):
        estimate(
            [request(1)],
            ledger,
            model(tokenizer=str(tmp_path)),
            completion_tokens=5,
            structured=True,
        )

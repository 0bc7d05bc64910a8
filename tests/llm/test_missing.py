"""Which questions may be answered another time, and what is said of those without an answer."""

import pytest

from metassay.llm.messages import (
    count_codes,
    is_retryable,
    missing_notes,
    unfinished_message,
)


@pytest.mark.parametrize(
    ("codes", "may"),
    [
        ("timeout connection bad_reply endpoint_down client stopped unknown None nan", True),
        ("http_500 http_503 http_599 odd http_", True),
        # The key, the account, the address, the model, a proxy, a law; a moment.
        ("http_401 http_402 http_403 http_404 http_405 http_407 http_410 http_451", True),
        ("http_301 http_302 http_307 http_308 http_408 http_409 http_425 http_429", True),
        ("http_400 http_413 http_414 http_422 context_length", False),  # the question
    ],
)
def test_which_failures_asking_again_may_mend(codes: str, may: bool) -> None:
    assert {code: is_retryable(code) for code in codes.split()} == dict.fromkeys(codes.split(), may)


def test_codes_are_counted_the_most_frequent_first() -> None:
    assert count_codes(["timeout", "http_500", "a", "http_500"]) == "http_500 2, a 1, timeout 1"
    assert count_codes([]) == ""


def test_what_is_said_of_each_model_has_its_counts_and_codes() -> None:
    asked = {"a": "m", "b": "m", "c": "m", "d": "n"}
    codes = {"a": "timeout", "b": "context_length", "d": "endpoint_down"}
    open_, lost, other = missing_notes(asked, codes)
    assert open_.startswith("model 'm': 1 of 3 answers are missing (timeout 1); the next")
    assert lost.startswith("model 'm': 1 of 3 questions failed for good (context_length 1)")
    assert "`metassay run NAME --ask-again`" in lost
    assert other.startswith("model 'n': 1 of 1 answers are missing (endpoint_down 1)")
    said = unfinished_message(asked, codes, 0.25)
    assert "endpoint_down: not asked, since its endpoint failed too often in a row" in said
    assert said.endswith("that may be missing; it is 0.25")
    assert missing_notes(asked, {}) == []

"""Probabilities of labels: by tokens worked by hand, as they were drawn, and by samples."""

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from metassay.judges.llm import KIND
from metassay.judges.llm_probability import label_shares, starts_of
from metassay.judges.protocol import Judgment
from metassay.llm.messages import ChatRequest, Reply, TokenLogprobs
from tests.judges.llm_setup import (
    DECODING,
    STYLES,
    asked_in,
    judge_of,
    options,
    pair,
    reply_of,
)

YES, NO, BAD = "entailed", "not_entailed", "perhaps"
TWO, THREE = (YES, NO), ("entailed", "neutral", "contradicted")


def token(text: str, p: float = 1.0, **others: float) -> TokenLogprobs:
    """A token and the others in its place; `_` begins a name whose text begins with a blank."""
    top = {text: p, **{name.replace("_", " ", 1): q for name, q in others.items()}}
    return TokenLogprobs(
        text, math.log(p), tuple((t, math.log(q)) for t, q in top.items())
    )


def shares(tokens: Sequence[TokenLogprobs], labels: Sequence[str], label: str) -> Any:
    # the label is after "1:"
    return label_shares([token("1:"), *tokens], 2, labels, label)


OPEN, LOST = "leave more than 5 % open", "was not found"


@pytest.mark.parametrize(
    # the first label's probability, or why there's none
    ("tokens", "labels", "label", "expected"),
    [
        ([token(" entailed", 0.8, _not=0.2)], TWO, YES, 0.8),
        # What is no label does not count, nor does a little that is not listed.
        ([token(" entailed", 0.6, _not=0.2, _The=0.2)], TWO, YES, 0.75),
        ([token(" entailed", 0.9, _not=0.06)], TWO, YES, 0.9375),
        # Pieces, one label in several spellings; the other label; three labels.
        (
            [token(" ent", 0.5, ent=0.1, _E=0.1, _not=0.2, No=0.1), token("ailed")],
            TWO,
            YES,
            0.7,
        ),
        ([token(" not", 0.9, _ent=0.1), token("_ent"), token("ailed")], TWO, NO, 0.1),
        (
            [token(" neut", 0.5, _ent=0.2, _contra=0.3), token("ral")],
            THREE,
            "neutral",
            0.2,
        ),
        (  # a beginning that labels share
            [token(" un", 0.8, _clear=0.2), token("sure", 0.25, known=0.75)],
            ("unknown", "unsure", "clear"),
            "unsure",
            0.6,
        ),
        (  # a quotation mark before, alone or with the label
            [
                token(' "', 0.9, **{'_"not': 0.1}),
                token("ent", 0.8, not_=0.2),
                token('ailed"'),
            ],
            TWO,
            YES,
            0.72,
        ),
        (  # a blank for the line, bold
            [
                token(" **", 0.7, _=0.3),
                token("Not", 0.75, Ent=0.25),
                token(" entailed**"),
            ],
            TWO,
            NO,
            0.25,
        ),
        ([token(" entailed", 0.9)], TWO, YES, OPEN),  # the other one's is not listed
        ([token(" entailed", 0.5, _not=0.4)], TWO, YES, OPEN),
        ([TokenLogprobs(" entailed", -9999.0, ())], TWO, YES, OPEN),
        # it is not what was read
        ([token(" not"), token("_entailed")], TWO, YES, LOST),
        *((tokens, TWO, YES, LOST) for tokens in ([token(" same")], [token(" ")], [])),
    ],
)
def test_probabilities_by_hand(
    tokens: list[TokenLogprobs],
    labels: tuple[str, ...],
    label: str,
    expected: float | str,
) -> None:
    result = shares(tokens, labels, label)
    if isinstance(expected, str):
        assert expected in result
    else:
        assert result[labels[0]] == pytest.approx(expected)
        assert math.fsum(result.values()) == pytest.approx(1)


@pytest.mark.parametrize(
    ("style", "text", "starts"),
    [
        ("plain", "Yes?\n1: entailed\n2: not_entailed", {1: "entailed", 2: "not"}),
        (
            "cot",
            "1: So.\n2: No.\n\nANSWERS\n1. entailed\n- **2**: same",
            {1: "entailed", 2: "same"},
        ),
        (
            "json",
            '[{"number": 2, "label": "x"}, {"number": "1", "label":"y"}]',
            {1: "y", 2: "x"},
        ),
    ],
)
def test_the_answers_of_a_reply_are_told_apart(
    style: Any, text: str, starts: dict[int, str]
) -> None:
    tokens = tuple(TokenLogprobs(letter, 0.0, ()) for letter in text)
    places = starts_of(Reply("k", "ok", text, "stop", 1, 1, 1, None, tokens), style)
    for number, start in starts.items():
        assert text[places[number] :].lstrip(' "*:.').startswith(start)


# --- a judge


class Model:
    """Writes entailed or not with a known probability for each hypothesis, the likelier one."""

    def __init__(
        self, truth: dict[str, float], style: str, *, tells: bool = True
    ) -> None:
        self.truth, self.style, self.tells = truth, style, tells

    def __call__(self, requests: Sequence[ChatRequest]) -> list[Reply]:
        return [self._reply(request) for request in requests]

    def _reply(self, request: ChatRequest) -> Reply:
        items = asked_in(request.messages[-1].content).items
        likely = [self.truth[item["hypothesis"]] for item in items]
        entries = [
            {"number": item["number"], "reason": f"µg, “{p}”", "label": TWO[p < 0.5]}
            for item, p in zip(items, likely, strict=True)
        ]
        text = reply_of(self.style, entries)
        tokens: list[TokenLogprobs] = []
        probabilities = iter(likely)
        for piece in re.findall(r"(?:not_)?entailed|.", text, re.DOTALL):
            if piece not in TWO:
                tokens.append(token(piece))
                continue
            p, other = next(probabilities), "not" if piece == YES else "ent"
            tokens.append(token(piece[:3], max(p, 1 - p), **{other: min(p, 1 - p)}))
            tokens.append(token(piece[3:]))
        tokens.append(token("<|end|>"))
        logprobs = tuple(tokens) if self.tells and request.logprobs else None
        return Reply(request.key, "ok", text, "stop", 10, 5, 1, None, logprobs)


@pytest.mark.parametrize("style", STYLES)
def test_probabilities_are_those_that_were_drawn(style: str) -> None:
    drawn = np.round(np.random.default_rng(20).uniform(0.01, 0.99, 200), 4)
    truth = {f"h{n}": float(p) for n, p in enumerate(drawn)}
    judge = judge_of(Model(truth, style), style=style, probability="logprobs", most=7)
    judgments = judge.judge([pair(hypothesis) for hypothesis in truth])
    assert [j and j.probability for j in judgments] == pytest.approx(
        [*truth.values()], abs=1e-9
    )
    assert [j and j.label for j in judgments] == [TWO[p < 0.5] for p in truth.values()]
    assert judge.notes == []


def test_without_log_probabilities_there_is_none_and_the_notes_say_so() -> None:
    judge = judge_of(
        Model({"h": 0.8}, "json", tells=False), probability="logprobs", abstain=[0, 1]
    )
    assert judge.judge([pair("h")]) == [Judgment("ok", "entailed", tokens=15)]
    why = "the endpoint gave no log-probabilities"
    assert judge.notes == [f"1 of 1 labels have no probability: {why}"]


@pytest.mark.parametrize(
    ("settings", "labels"),
    [
        ({}, [YES, YES, NO]),
        ({"threshold": 0.6}, [YES, NO, NO]),
        ({"abstain": [0.3, 0.7]}, [YES, None, NO]),
    ],
)
def test_threshold_and_band_are_those_of_other_judges(
    settings: dict[str, Any], labels: list[str | None]
) -> None:
    truth = {"h1": 0.9, "h2": 0.55, "h3": 0.1}
    judge = judge_of(
        Model(truth, "plain"), style="plain", probability="logprobs", **settings
    )
    judgments = [
        each for each in judge.judge([pair(name) for name in truth]) if each is not None
    ]
    expected = [("ok" if label else "abstained", label) for label in labels]
    assert [(judgment.status, judgment.label) for judgment in judgments] == expected
    assert [judgment.probability for judgment in judgments] == pytest.approx(
        [*truth.values()]
    )


def test_only_labels_are_asked_for_with_their_tokens_and_nothing_else_changes() -> None:
    assert KIND.requests is not None
    plain, likely = (
        KIND.requests(
            [pair("h"), pair("h", "support_grade")], options(**block), DECODING
        ).requests
        for block in ({}, {"probability": "logprobs", "top_logprobs": 5})
    )
    assert sorted((request.logprobs or 0) for request in likely) == [0, 5]
    assert [request.messages for request in plain] == [
        request.messages for request in likely
    ]
    assert (
        len({request.key for request in plain} & {request.key for request in likely})
        == 1
    )


# --- samples


def draws(*labels: str, requests: list[ChatRequest] | None = None) -> Any:
    """Answers each draw, by seed, with a label, or with what cannot be read."""

    def reply(request: ChatRequest) -> Reply:
        label = labels[(request.seed or 0) - 7]
        entry: dict[str, Any] = {"number": 1, "label": label}
        if "statement" in asked_in(request.messages[-1].content).items[0]:
            entry["passages"] = [1] * (label == YES)
        return Reply(request.key, "ok", reply_of("json", [entry]), "stop", 10, 5, 1)

    def ask(sent: Sequence[ChatRequest]) -> list[Reply]:
        if requests is not None:
            requests.extend(sent)
        return list(map(reply, sent))

    return ask


@pytest.mark.parametrize(
    ("labels", "label", "p"),
    [
        # of those that answered
        ([YES, YES, YES, NO], YES, 0.75),
        ([NO, NO, YES, NO], NO, 0.25),
        ([YES, NO, YES, NO], YES, 0.5),
        ([YES, YES, NO, BAD], YES, 2 / 3),
        ([YES, BAD, BAD, BAD], None, None),  # of too few
    ],
)
def test_samples_are_drawn_with_seeds_and_their_share_is_the_probability(
    labels: list[str], label: str | None, p: float | None
) -> None:
    requests: list[ChatRequest] = []
    settings = {"probability": "samples", "samples": {"k": 4, "temperature": 0.7}}
    judge = judge_of(draws(*labels, requests=requests), **settings, rounds=0)
    (judgment,) = judge.judge([pair("h")])
    assert judgment is not None
    assert (judgment.status, judgment.label) == ("ok" if label else "unparsed", label)
    assert (judgment.tokens, judgment.attempts) == (60, 4)
    assert judgment.probability == (None if p is None else pytest.approx(p))
    assert {(each.seed, each.temperature) for each in requests} == {
        (n, 0.7) for n in range(7, 11)
    }
    assert "|samples:4,temperature 0.7|threshold:0.5|abstain:never)" in judge.signature
    note = (
        "probabilities are the shares of 4 answers to each question (temperature 0.7)"
    )
    assert (note in judge.notes) == (label is not None)


@pytest.mark.parametrize(
    ("band", "label"), [([0.4, 0.6], "neutral"), ([0.4, 0.61], None)]
)
def test_of_three_labels_the_band_is_about_the_answer_s(
    band: list[float], label: str | None
) -> None:
    ask = draws("neutral", "neutral", "neutral", "contradicted", "entailed")
    settings = {"probability": "samples", "samples": {"k": 5}, "abstain": band}
    (judgment,) = judge_of(ask, **settings).judge([pair("h", "three_way")])
    assert judgment is not None
    assert (judgment.label, judgment.probability) == (label, pytest.approx(0.2))
    assert judgment.status == ("ok" if label else "abstained")


@pytest.mark.parametrize(
    ("threshold", "labels"), [(0.5, [YES, YES, NO]), (0.7, [NO, NO, NO])]
)
def test_citations_follow_the_decided_label_and_have_no_probability(
    threshold: float, labels: list[str]
) -> None:
    """Two of three answers say that both passages entail, by the first; one says they don't."""
    alone = [pair("s", "attribution_alone", premise=p, context="a\nb") for p in "ab"]
    settings: dict[str, Any] = {"probability": "samples", "samples": {"k": 3}}
    judge = judge_of(draws(NO, YES, YES), **settings, threshold=threshold)
    judgments = judge.judge([pair("s", "attribution", premise="a\nb"), *alone])
    assert [each.label for each in judgments if each] == labels
    assert [each.probability for each in judgments if each] == [
        pytest.approx(2 / 3),
        None,
        None,
    ]

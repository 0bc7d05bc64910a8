"""Probabilities of labels: by tokens worked by hand, by samples, and against known truth."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss, roc_auc_score

from metassay.core.errors import BadInput
from metassay.judges.llm import KIND
from metassay.judges.llm_calls import FORMS
from metassay.judges.llm_probability import by_tokens, starts_of
from metassay.judges.protocol import Judgment
from metassay.judges.run import judge_pairs
from metassay.labelled.examine import examine
from metassay.llm.messages import ChatRequest, Reply, TokenLogprobs
from metassay.meta_evaluation.options import MetaOptions
from metassay.scoring.pairing.instruments import INSTRUMENTS, Labels
from metassay.tables.judge_tests import GIVEN_VERDICTS
from metassay.tables.judgments import JUDGMENTS
from metassay.tables.parquet import empty, round_trip
from metassay.tables.ratings import RATINGS
from tests.judges.llm_setup import DECODING, STYLES, asked_in, judge_of, options, pair, reply_of
from tests.labelled.test_examine import answered, gold_of

YES, NO, BAD = "entailed", "not_entailed", "perhaps"
TWO = (YES, NO)
THREE = ("entailed", "neutral", "contradicted")


def token(text: str, p: float = 1.0, **others: float) -> TokenLogprobs:
    """A token and the others in its place; `_` begins a name whose text begins with a blank."""
    top = {text: p, **{name.replace("_", " ", 1): q for name, q in others.items()}}
    return TokenLogprobs(text, math.log(p), tuple((t, math.log(q)) for t, q in top.items()))


def walked(tokens: Sequence[TokenLogprobs], labels: Sequence[str], label: str) -> Any:
    return by_tokens(tokens, 2, labels, label)  # what was written begins after "1:"


BEGIN = token("1:")
# Tokens, labels, the label that was written, and the first one's probability by hand.
BY_HAND: dict[str, tuple[list[TokenLogprobs], tuple[str, ...], str, float]] = {
    "whole words": ([token(" entailed", 0.8, _not=0.2)], TWO, "entailed", 0.8),
    "what is no label does not count": (
        [token(" entailed", 0.6, _not=0.2, _The=0.2)],
        TWO,
        "entailed",
        0.75,
    ),
    "pieces, one label in several spellings": (
        [token(" ent", 0.5, ent=0.1, _E=0.1, _not=0.2, No=0.1), token("ailed")],
        TWO,
        "entailed",
        0.7,
    ),
    "the other label was written": (
        [token(" not", 0.9, _ent=0.1), token("_ent"), token("ailed")],
        TWO,
        "not_entailed",
        0.1,
    ),
    "three labels": (
        [token(" neut", 0.5, _ent=0.2, _contra=0.3), token("ral")],
        THREE,
        "neutral",
        0.2,
    ),
    "a beginning that labels share": (
        [token(" un", 0.8, _clear=0.2), token("sure", 0.25, known=0.75)],
        ("unknown", "unsure", "clear"),
        "unsure",
        0.6,
    ),
    "a quotation mark before, alone or with the label": (
        [token(' "', 0.9, **{'_"not': 0.1}), token("ent", 0.8, not_=0.2), token('ailed"')],
        TWO,
        "entailed",
        0.72,
    ),
    "a blank for the line, bold": (
        [token(" **", 0.7, **{"_": 0.3}), token("Not", 0.75, Ent=0.25), token(" entailed**")],
        TWO,
        "not_entailed",
        0.25,
    ),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_probabilities_by_hand(name: str) -> None:
    tokens, labels, label, expected = BY_HAND[name]
    found = walked([BEGIN, *tokens], labels, label)
    assert found[labels[0]] == pytest.approx(expected)
    assert math.fsum(found.values()) == pytest.approx(1)


@pytest.mark.parametrize(
    ("tokens", "why"),
    [
        ([token(" entailed", 0.9)], "leave more than 5 % open"),  # the other one's is not listed
        ([token(" entailed", 0.5, _not=0.4)], "leave more than 5 % open"),
        ([TokenLogprobs(" entailed", -9999.0, ())], "leave more than 5 % open"),
        ([token(" same")], "was not found"),
        ([token(" not"), token("_entailed")], "was not found"),  # it is not what was read
        ([token(" ")], "was not found"),
        ([], "was not found"),
    ],
)
def test_what_the_tokens_leave_open_is_no_probability(
    tokens: list[TokenLogprobs], why: str
) -> None:
    assert why in walked([BEGIN, *tokens], TWO, "entailed")


def test_a_little_that_is_not_listed_is_left_out() -> None:
    found = walked([BEGIN, token(" entailed", 0.9, _not=0.06)], TWO, "entailed")
    assert found["entailed"] == pytest.approx(0.9375)


def test_the_answers_of_a_reply_are_told_apart() -> None:
    for style, text, expected in [
        ("plain", "Yes?\n1: entailed\n2: not_entailed", {1: 6, 2: 18}),
        ("cot", "1: So.\n2: No.\n\nANSWERS\n1. entailed\n- **2**: entailed", {1: 24, 2: 40}),
        ("json", '{"items": [{"number": 2, "label": "x"}, {"number": "1", "label":"y"}]}', None),
    ]:
        tokens = tuple(TokenLogprobs(one, 0.0, ()) for one in text)
        starts = starts_of(Reply("k", "ok", text, "stop", 1, 1, 1, None, tokens), style)
        if expected is None:
            assert [text[starts[n] :][:4].strip(' "')[0] for n in (1, 2)] == ["y", "x"]
        else:
            assert {n: starts[n] for n in expected} == expected


# --- a judge


class Model:
    """Writes entailed or not with a known probability for each hypothesis, the likelier one."""

    def __init__(self, truth: dict[str, float], style: str, *, tells: bool = True) -> None:
        self.truth, self.style, self.tells = truth, style, tells
        self.requests: list[ChatRequest] = []

    def __call__(self, requests: Sequence[ChatRequest]) -> list[Reply]:
        self.requests += requests
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
        left, probabilities = text, iter(likely)
        while left:
            word = next((one for one in TWO[::-1] if left.startswith(one)), None)
            if word is None:
                tokens.append(token(left[0], 1.0))
                left = left[1:]
                continue
            p = next(probabilities)
            other = "not" if word == "entailed" else "ent"
            tokens.append(token(word[:3], max(p, 1 - p), **{other: min(p, 1 - p)}))
            tokens.append(token(word[3:]))
            left = left[len(word) :]
        end = token("<|end|>")
        told = (*tokens, end) if self.tells and request.logprobs else None
        return Reply(request.key, "ok", text, "stop", 10, 5, 1, None, told)


@pytest.mark.parametrize("style", STYLES)
def test_auroc_and_calibration_are_those_of_the_probabilities_that_were_drawn(style: str) -> None:
    """Truth is drawn by the probabilities; scikit-learn and a loop over bins know the numbers."""
    rng = np.random.default_rng(20)
    drawn = np.round(rng.uniform(0.01, 0.99, 400), 4)
    right = rng.random(400) < drawn
    gold = gold_of(*(TWO[not one] for one in right))
    pairs, _ = answered(gold, ["entailed"] * 400)
    pairs = pairs.assign(hypothesis=[f"h{n}" for n in range(400)], settled=None)
    truth = dict(zip(pairs["hypothesis"], drawn.tolist(), strict=True))
    judge = judge_of(Model(truth, style), style=style, probability="logprobs", most=7)
    judgments = round_trip(JUDGMENTS, judge_pairs(pairs, "j", judge, ["entailment"]))
    said = pairs.merge(judgments, on="pair_id")
    assert np.allclose(said["probability"], drawn, atol=1e-6)
    assert (said["label"] == np.where(drawn >= 0.5, *TWO)).all()
    assert judge.notes == []

    none = [empty(table) for table in (RATINGS, GIVEN_VERDICTS)]
    found = examine(
        *(pairs, judgments, gold, *none), MetaOptions(resamples=20, confidence=0.95, seed=1)
    )
    cards = found.cards[found.cards["part"] == "full"].set_index("statistic")
    assert cards["value"]["auroc"] == pytest.approx(roc_auc_score(right, drawn))
    assert cards["value"]["brier"] == pytest.approx(brier_score_loss(right, drawn))
    passed, mean = calibration_curve(right, drawn, n_bins=10, strategy="quantile")
    assert len(found.bins) == len(mean) == 10
    assert cards["value"]["ece"] == pytest.approx(np.abs(passed - mean).mean())
    # Drawn by these probabilities, the truth is no farther from them than chance makes it.
    assert cards["value"]["ece"] < cards["high"]["ece_by_chance"]


def test_without_log_probabilities_there_is_none_and_the_notes_say_so() -> None:
    judge = judge_of(Model({"h": 0.8}, "json", tells=False), probability="logprobs", abstain=[0, 1])
    assert judge.judge([pair("h")]) == [Judgment("ok", "entailed", tokens=15)]
    assert judge.notes == [
        "1 of 1 labels have no probability: the endpoint gave no log-probabilities"
    ]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, [("ok", YES), ("ok", YES), ("ok", NO)]),
        ({"threshold": 0.6}, [("ok", "entailed"), ("ok", "not_entailed"), ("ok", "not_entailed")]),
        (
            {"abstain": [0.3, 0.7]},
            [("ok", "entailed"), ("abstained", None), ("ok", "not_entailed")],
        ),
    ],
)
def test_threshold_and_band_are_those_of_other_judges(
    settings: dict[str, Any], expected: list[tuple[str, str | None]]
) -> None:
    truth = {"h1": 0.9, "h2": 0.55, "h3": 0.1}
    judge = judge_of(Model(truth, "plain"), style="plain", probability="logprobs", **settings)
    found = [one for one in judge.judge([pair(name) for name in truth]) if one is not None]
    assert [(one.status, one.label) for one in found] == expected
    assert [one.probability for one in found] == pytest.approx(list(truth.values()))


def test_only_labels_are_asked_for_with_their_tokens_and_nothing_else_changes() -> None:
    pairs = [pair("h"), pair("h", "support_grade")]
    assert KIND.requests is not None
    plain, likely = (
        KIND.requests(pairs, options(**block), DECODING).requests
        for block in ({}, {"probability": "logprobs", "top_logprobs": 5})
    )
    assert sorted((one.logprobs or 0) for one in likely) == [0, 5]
    assert [one.messages for one in plain] == [one.messages for one in likely]
    assert len({one.key for one in plain} & {one.key for one in likely}) == 1


def test_the_first_label_is_the_one_whose_probability_it_is() -> None:
    for form in FORMS:
        for name in form.instruments:
            answer = INSTRUMENTS[name].answer
            assert not isinstance(answer, Labels) or answer.names == form.values


# --- samples


class Draws:
    """Says of each draw, by seed, what a script has: a label, or what cannot be read."""

    def __init__(self, labels: Sequence[str]) -> None:
        self.labels = labels
        self.requests: list[ChatRequest] = []

    def __call__(self, requests: Sequence[ChatRequest]) -> list[Reply]:
        self.requests += requests
        return [self._reply(one) for one in requests]

    def _reply(self, request: ChatRequest) -> Reply:
        label = self.labels[(request.seed or 0) - 7]
        text = reply_of("json", [{"number": 1, "label": label}])
        return Reply(request.key, "ok", text, "stop", 10, 5, 1)


@pytest.mark.parametrize(
    ("drawn", "status", "label", "p"),
    [
        ([YES, YES, YES, NO], "ok", YES, 0.75),
        ([NO, NO, YES, NO], "ok", NO, 0.25),
        ([YES, NO, YES, NO], "ok", YES, 0.5),
        ([YES, YES, NO, BAD], "ok", YES, 2 / 3),  # of those that answered
        ([YES, BAD, BAD, BAD], "unparsed", None, None),  # of too few
    ],
)
def test_samples_are_drawn_with_seeds_and_their_share_is_the_probability(
    drawn: list[str], status: str, label: str | None, p: float | None
) -> None:
    ask = Draws(drawn)
    settings = {"probability": "samples", "samples": {"k": 4, "temperature": 0.7}}
    judge = judge_of(ask, **settings, rounds=0)
    (found,) = judge.judge([pair("h")])
    assert found is not None
    assert (found.status, found.label, found.tokens, found.attempts) == (status, label, 60, 4)
    assert found.probability == (None if p is None else pytest.approx(p))
    assert sorted(one.seed or 0 for one in ask.requests) == [7, 8, 9, 10]
    assert {one.temperature for one in ask.requests} == {0.7}
    assert "|samples:4,temperature 0.7|threshold:0.5|abstain:never)" in judge.signature
    shares = "probabilities are the shares of 4 answers to each question (temperature 0.7)"
    assert (shares in judge.notes) == (status == "ok")


def test_of_three_labels_the_band_is_about_the_own_one() -> None:
    drawn = ["neutral", "neutral", "neutral", "contradicted", "entailed"]
    for band, expected in (([0.4, 0.6], "neutral"), ([0.4, 0.61], None)):
        settings = {"probability": "samples", "samples": {"k": 5}, "abstain": band}
        (found,) = judge_of(Draws(drawn), **settings).judge([pair("h", "three_way")])
        assert found is not None
        assert (found.label, found.probability) == (expected, pytest.approx(0.2))
        assert found.status == ("ok" if expected else "abstained")


def test_citations_follow_the_decided_label_and_have_no_probability() -> None:
    """Two of three answers say that both passages entail, by the first; one says they don't."""
    whole = pair("s", "attribution", premise="a\nb")
    alone = [pair("s", "attribution_alone", premise=one, context="a\nb") for one in "ab"]

    def ask(requests: Sequence[ChatRequest]) -> list[Reply]:
        return [
            Reply(
                request.key,
                "ok",
                reply_of("json", [{"number": 1, "label": label, "passages": [1] * (label == YES)}]),
                *("stop", 10, 5, 1),
            )
            for request in requests
            for label in [NO if request.seed == 7 else YES]
        ]

    block = {"probability": "samples", "samples": {"k": 3}}
    for threshold, expected in ((0.5, [YES, YES, NO]), (0.7, [NO, NO, NO])):
        found = judge_of(ask, **block, threshold=threshold).judge([whole, *alone])  # type: ignore[arg-type]
        assert [one.label for one in found if one] == expected
        assert [one.probability for one in found if one] == [pytest.approx(2 / 3), None, None]


def test_without_the_options_the_recipe_says_nothing_of_them() -> None:
    assert "threshold" not in judge_of(Draws([])).signature
    signatures = {
        judge_of(Draws([]), **block).signature
        for block in (
            {},
            {"probability": "logprobs"},
            {"probability": "logprobs", "top_logprobs": 5},
            {"probability": "logprobs", "abstain": [0.4, 0.6]},
            {"probability": "logprobs", "threshold": 0.4},
            {"probability": "samples"},
            {"probability": "samples", "samples": {"temperature": None}},
        )
    }
    assert len(signatures) == 7


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ({"threshold": 0.4}, "threshold and abstain need probabilities"),
        ({"abstain": [0.4, 0.6]}, "threshold and abstain need probabilities"),
        (
            {"probability": "samples", "top_logprobs": 5},
            "top_logprobs is for prob",
        ),
        ({"probability": "logprobs", "samples": {"k": 3}}, "samples is for probability: samples"),
        ({"probability": "logprobs", "abstain": [0.6, 0.4]}, "around the threshold"),
        ({"probability": "samples", "samples": {"k": 1}}, "greater than or equal to 2"),
        ({"probability": "likely"}, "probability"),
    ],
)
def test_options_that_do_not_fit_are_named(block: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        options(**block)

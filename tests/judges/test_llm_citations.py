"""Citations, which the LLM judge answers statement by statement: those that it names are of use."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metassay.scoring.pairing.questions import Questions
from tests.judges.llm_setup import (
    STYLES,
    Asked,
    FakeAsk,
    cited,
    judge_of,
    judged,
    pair,
    reply_of,
)
from tests.scoring.pairing.colours import judged as judged_by
from tests.scoring.pairing.test_citation_cases import CASES, PASSAGES, WAYS, read

REASONED = ("cot", "json_cot")


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("named", [[1], [2], [3, 1], [1, 2, 3]])
def test_a_cited_statement_is_one_call_that_answers_all_its_questions(
    named: list[int], style: str
) -> None:
    passages = ["doctor: knee?", "since\nMonday", "I walked."]
    together = pair("s", "attribution", premise="\n".join(passages))
    entry = {"number": 1, "reason": "so", "label": "entailed", "passages": named}
    ask = FakeAsk(lambda *_: reply_of(style, [entry]))
    found = judged([together, *cited("s", passages)], ask, style=style)
    (call,) = ask.calls
    assert [shown["text"] for shown in call[0].material] == passages
    assert call[0].items == [{"number": 1, "statement": "s"}]
    labels = [judgment.label == "entailed" for judgment in found]
    assert labels == [
        True,
        *(is_named for n in (1, 2, 3) for is_named in (n in named, n not in named)),
    ]
    assert {judgment.explanation for judgment in found} == {"so" if style in REASONED else None}
    assert sum(judgment.tokens or 0 for judgment in found) == 15


@pytest.mark.parametrize(
    ("style", "named"), [*((style, []) for style in STYLES), ("json", [2]), ("json_cot", [2])]
)
def test_of_a_statement_that_is_not_entailed_no_citation_is_of_use(
    named: list[int], style: str
) -> None:
    together = pair("s", "attribution", premise="a\nb")
    entry = {"number": 1, "reason": "no", "label": "not_entailed", "passages": named}
    ask = FakeAsk(lambda *_: reply_of(style, [entry]))
    found = judged([together, *cited("s", ["a", "b"])], ask, style=style)
    assert [judgment.label for judgment in found] == ["not_entailed"] * 5


@pytest.mark.parametrize(
    ("style", "wrong"),
    [
        *(("json", wrong) for wrong in ([], [3], [0], [-1], ["1 2"], [True], [1.5], None, "1")),
        *(("plain", wrong) for wrong in ([], [3], [0], [-1], ["one"], [1, "and", 2])),
    ],
)
def test_passages_that_are_not_there_are_no_answer(wrong: Any, style: str) -> None:
    def answer(_: Asked, repeat: int) -> str:
        named = [1] if repeat else wrong
        return reply_of(style, [{"number": 1, "label": "entailed", "passages": named}])

    ask = FakeAsk(answer)
    pairs = [pair("s", "attribution", premise="a\nb"), *cited("s", ["a", "b"])]
    found = judged(pairs, ask, style=style)
    assert [repeat for _, repeat in ask.calls] == [0, 1]
    assert [judgment.label for judgment in found[:2]] == ["entailed", "entailed"]
    ask = FakeAsk(lambda asked, _: answer(asked, 0))
    found = judged(pairs, ask, style=style)
    assert {(one.status, one.label, one.attempts) for one in found} == {("unparsed", None, 2)}


def test_statements_are_apart_however_alike() -> None:
    pairs = [
        pair("s", "attribution", premise="a"),
        *cited("s", ["a"]),
        pair("s", "attribution", premise="a\nb"),
        *cited("s", ["a", "b"]),
        pair("t", "attribution", premise="a"),
        *cited("t", ["a"]),
    ]
    ask = FakeAsk(
        lambda asked, _: reply_of("json", [{"number": 1, "label": "entailed", "passages": [1]}])
    )
    judged(pairs, ask, most=50)
    shown = [([p["text"] for p in a.material], a.items[0]["statement"]) for a, _ in ask.calls]
    assert sorted(shown) == [(["a"], "s"), (["a"], "t"), (["a", "b"], "s")]


def test_together_alone_needs_no_single_passages() -> None:
    ask = FakeAsk(
        lambda asked, _: reply_of("json", [{"number": 1, "label": "entailed", "passages": [1]}])
    )
    (found,) = judged([pair("s", "attribution", premise="a\nb")], ask)
    assert (found.label, ask.calls[0][0].material) == ("entailed", [{"number": 1, "text": "a\nb"}])


def test_single_citations_of_a_statement_can_be_asked_about_apart() -> None:
    """As a jury hands them on: who does not see all passages of a statement names none of them."""
    whole = "a\nb\nc"
    pairs = [
        pair("s", "attribution", premise=whole),
        pair("s", "attribution_alone", premise="b", context=whole),
        pair("s", "attribution_rest", premise="a\nc", context=whole),
    ]

    def answer(asked: Asked, _: int) -> str:
        (passage,) = asked.material
        label = "not_entailed" if passage["text"] == "b" else "entailed"
        named = [] if passage["text"] == "b" else [1]
        return reply_of("json", [{"number": 1, "label": label, "passages": named}])

    ask = FakeAsk(answer)
    assert [one.label for one in judged(pairs, ask)] == ["entailed", "not_entailed", "entailed"]
    assert sorted(asked.material[0]["text"] for asked, _ in ask.calls) == ["a\nb\nc", "a\nc", "b"]


def test_a_passage_that_is_cited_twice_over_is_shown_once() -> None:
    """Two passages with the same words: their questions are the same, and have one answer."""
    together = pair("s", "attribution", premise="Yes.\nno\nYes.")
    whole = together.premise
    pairs = [
        together,
        pair("s", "attribution_alone", premise="Yes.", context=whole),
        pair("s", "attribution_alone", premise="no", context=whole),
        pair("s", "attribution_rest", premise="no\nYes.", context=whole),
        pair("s", "attribution_rest", premise="Yes.\nYes.", context=whole),
        pair("s", "attribution_rest", premise="Yes.\nno", context=whole),
    ]
    ask = FakeAsk(
        lambda asked, _: reply_of("json", [{"number": 1, "label": "entailed", "passages": [1]}])
    )
    found = [judgment.label == "entailed" for judgment in judged(pairs, ask)]
    assert [p["text"] for p in ask.calls[0][0].material] == ["Yes.", "no"]
    assert found == [True, True, False, False, True, False]


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.text(alphabet="ab\n", min_size=1, max_size=3), min_size=1, max_size=4, unique=True),
    st.data(),
)
def test_a_citation_is_of_use_exactly_if_it_is_named(passages: list[str], data: Any) -> None:
    """of_use = together and (alone or not rest), whatever the passages look like."""
    named = data.draw(st.sets(st.integers(1, len(passages)), min_size=1))
    whole = "\n".join(passages)
    together = pair("s", "attribution", premise=whole)
    pairs = list({one.pair_id: one for one in [together, *cited("s", passages)]}.values())
    calls: list[list[str]] = []

    def answer(asked: Asked, _: int) -> str:
        shown = [passage["text"] for passage in asked.material]
        calls.append(shown)
        places = [n for n in sorted(named) if n <= len(shown)] or [1]
        return reply_of("json", [{"number": 1, "label": "entailed", "passages": places}])

    found = {
        (one.instrument, one.premise): judgment
        for one, judgment in zip(pairs, judged(pairs, FakeAsk(answer)), strict=True)
    }
    shown = calls[0]
    if sorted(shown) != sorted(passages):  # breaks within passages can hide where they end
        assert len(calls) == len(pairs)
        assert {judgment.label for judgment in found.values()} == {"entailed"}
        return
    assert len(calls) == 1
    for place, passage in enumerate(passages):
        alone = found["attribution_alone", passage].label == "entailed"
        others = passages[:place] + passages[place + 1 :]
        rest = not others or found["attribution_rest", "\n".join(others)].label == "entailed"
        assert (alone or not rest) == (shown.index(passage) + 1 in named)


COLOURS = re.compile("red|blue|green|grey")


@pytest.mark.parametrize("way", WAYS)
def test_hand_worked_citations_have_the_scores_of_pairwise_judges_in_one_call_each(
    way: str,
) -> None:
    """A model that names each passage with a colour of an entailed statement.

    Where a passage says all and others a part each, it names them all, so all are of use to it.
    """

    def answer(asked: Asked, _: int) -> str:
        wanted = set(COLOURS.findall(asked.items[0]["statement"]))
        shown = {p["number"]: set(COLOURS.findall(p["text"])) for p in asked.material}
        entailed = wanted <= set().union(*shown.values())
        named = [number for number, said in shown.items() if said & wanted] if entailed else []
        label = "entailed" if entailed else "not_entailed"
        return reply_of("json", [{"number": 1, "label": label, "passages": named}])

    ask = FakeAsk(answer)
    setting = {"measures": ("citation_recall", "citation_precision"), "against": "full"}
    texts = {name: {"sys": case.text} for name, case in CASES.items()}
    asked = Questions.model_validate({**setting, **WAYS[way]})
    found = judged_by(texts, PASSAGES, asked, judge_of(ask))
    ours, theirs = (
        one.scores.set_index(["doc_id", "metric"])["value"] for one in (found, read(way))
    )
    differ = ours[~np.isclose(ours, theirs, equal_nan=True)]
    assert differ.to_dict() == (
        {} if way == "doclens" else {("a range and a list", "citation_precision"): 1.0}
    )
    together = found.pairs[
        (found.pairs["measure"] == "citation_recall") & found.pairs["settled"].isna()
    ]
    assert len(ask.requests) == together["pair_id"].nunique()

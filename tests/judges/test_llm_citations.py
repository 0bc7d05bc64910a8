"""Citations, which the LLM judge answers statement by statement: those that it names are of use."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metassay.scoring.pairing.questions import Questions
from tests.judges.llm_setup import (
    REASONED,
    STYLES,
    FakeAsk,
    QuestionSet,
    always,
    cited,
    judge_of,
    judged,
    pair,
    reply_of,
)
from tests.scoring.pairing.colours import judged as judged_by
from tests.scoring.pairing.test_citation_cases import CASES, PASSAGES, WAYS, read

TWO = [pair("s", "attribution", premise="a\nb"), *cited("s", ["a", "b"])]


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("named", [[1], [3, 1], [1, 2, 3]])
def test_a_cited_statement_is_one_call_that_answers_all_its_questions(
    named: list[int], style: str
) -> None:
    passages = ["doctor: knee?", "since\nMonday", "I walked."]
    pairs = [
        pair("s", "attribution", premise="\n".join(passages)),
        *cited("s", passages),
    ]
    ask = FakeAsk(always(style, passages=named))
    judgments = judged(pairs, ask, style=style)
    ((questions, _),) = ask.calls
    assert [shown["text"] for shown in questions.material] == passages
    assert questions.items == [{"number": 1, "statement": "s"}]
    each = [entailed for n in (1, 2, 3) for entailed in (n in named, n not in named)]
    assert [judgment.label == "entailed" for judgment in judgments] == [True, *each]
    assert {j.explanation for j in judgments} == {"so" if style in REASONED else None}
    assert sum(judgment.tokens or 0 for judgment in judgments) == 15


@pytest.mark.parametrize(
    ("style", "named"),
    [*((style, []) for style in STYLES), ("json", [2]), ("json_cot", [2])],
)
def test_of_a_statement_that_is_not_entailed_no_citation_is_of_use(
    named: list[int], style: str
) -> None:
    ask = FakeAsk(always(style, label="not_entailed", passages=named))
    assert [j.label for j in judged(TWO, ask, style=style)] == ["not_entailed"] * 5


@pytest.mark.parametrize(
    ("style", "wrong"),
    [
        *(
            ("json", wrong)
            for wrong in ([], [3], [0], ["1 2"], [True], [1.5], None, "1")
        ),
        *(("plain", wrong) for wrong in ([], [3], [-1], ["one"], [1, "and", 2])),
    ],
)
def test_passages_that_are_not_there_are_no_answer(wrong: Any, style: str) -> None:
    ask = FakeAsk(
        lambda questions, n: always(style, passages=[1] if n else wrong)(questions, n)
    )
    judgments = judged(TWO, ask, style=style)
    assert [repeat for _, repeat in ask.calls] == [0, 1]
    assert [judgment.label for judgment in judgments[:2]] == ["entailed", "entailed"]
    judgments = judged(TWO, FakeAsk(always(style, passages=wrong)), style=style)
    assert {(j.status, j.label, j.attempts) for j in judgments} == {
        ("unparsed", None, 2)
    }


def test_statements_are_apart_however_alike() -> None:
    other = [pair("s", "attribution", premise="a"), *cited("s", ["a"])]
    third = [pair("t", "attribution", premise="a"), *cited("t", ["a"])]
    ask = FakeAsk(always(passages=[1]))
    judged([*other, *TWO, *third], ask, most=50)
    shown = [
        ([p["text"] for p in a.material], a.items[0]["statement"]) for a, _ in ask.calls
    ]
    assert sorted(shown) == [(["a"], "s"), (["a"], "t"), (["a", "b"], "s")]
    alone = FakeAsk(always(passages=[1]))
    (judgment,) = judged(TWO[:1], alone)  # together alone needs no single passages
    assert judgment.label == "entailed"
    assert alone.calls[0][0].material == [{"number": 1, "text": "a\nb"}]


def test_single_citations_of_a_statement_can_be_asked_about_apart() -> None:
    """As a jury hands them on: who does not see all passages of a statement names none of them."""
    whole = "a\nb\nc"
    pairs = [
        pair("s", "attribution", premise=whole),
        pair("s", "attribution_alone", premise="b", context=whole),
        pair("s", "attribution_rest", premise="a\nc", context=whole),
    ]

    def answer(questions: QuestionSet, repeat: int) -> str:
        (passage,) = questions.material
        label = "not_entailed" if passage["text"] == "b" else "entailed"
        return always(label=label, passages=[] if passage["text"] == "b" else [1])(
            questions, repeat
        )

    ask = FakeAsk(answer)
    assert [j.label for j in judged(pairs, ask)] == [
        "entailed",
        "not_entailed",
        "entailed",
    ]
    assert sorted(questions.material[0]["text"] for questions, _ in ask.calls) == [
        "a\nb\nc",
        "a\nc",
        "b",
    ]


def test_a_passage_that_is_cited_twice_over_is_shown_once() -> None:
    """Two passages with the same words: their questions are the same, and have one answer."""
    whole = "Yes.\nno\nYes."
    parts = [("alone", p) for p in ("Yes.", "no")]
    parts += [("rest", p) for p in ("no\nYes.", "Yes.\nYes.", "Yes.\nno")]
    pairs = [
        pair("s", f"attribution_{kind}", premise=p, context=whole) for kind, p in parts
    ]
    ask = FakeAsk(always(passages=[1]))
    judgments = judged([pair("s", "attribution", premise=whole), *pairs], ask)
    assert [p["text"] for p in ask.calls[0][0].material] == ["Yes.", "no"]
    labels = [judgment.label == "entailed" for judgment in judgments]
    assert labels == [True, True, False, False, True, False]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.text(alphabet="ab\n", min_size=1, max_size=3),
        min_size=1,
        max_size=4,
        unique=True,
    ),
    st.data(),
)
def test_a_citation_is_of_use_exactly_if_it_is_named(
    passages: list[str], data: Any
) -> None:
    """of_use = together and (alone or not rest), whatever the passages look like."""
    named = data.draw(st.sets(st.integers(1, len(passages)), min_size=1))
    together = pair("s", "attribution", premise="\n".join(passages))
    pairs = list(
        {each.pair_id: each for each in [together, *cited("s", passages)]}.values()
    )
    calls: list[list[str]] = []

    def answer(questions: QuestionSet, repeat: int) -> str:
        shown = [passage["text"] for passage in questions.material]
        calls.append(shown)
        places = [n for n in sorted(named) if n <= len(shown)] or [1]
        return always(passages=places)(questions, repeat)

    judgments = judged(pairs, FakeAsk(answer))
    labels = {
        (p.instrument, p.premise): j.label
        for p, j in zip(pairs, judgments, strict=True)
    }
    shown = calls[0]
    # breaks within passages can hide where they end
    if sorted(shown) != sorted(passages):
        assert len(calls) == len(pairs)
        assert {*labels.values()} == {"entailed"}
        return
    assert len(calls) == 1
    for place, passage in enumerate(passages):
        alone = labels["attribution_alone", passage] == "entailed"
        others = passages[:place] + passages[place + 1 :]
        rest = not others or labels["attribution_rest", "\n".join(others)] == "entailed"
        assert (alone or not rest) == (shown.index(passage) + 1 in named)


COLOURS = re.compile("red|blue|green|grey")


@pytest.mark.parametrize("way", WAYS)
def test_hand_worked_citations_have_the_scores_of_pairwise_judges_in_one_call_each(
    way: str,
) -> None:
    """A model that names each passage with a colour of an entailed statement.

    Where a passage says all and others a part each, it names them all, so all are of
    use to it.
    """

    def answer(questions: QuestionSet, _: int) -> str:
        wanted = set(COLOURS.findall(questions.items[0]["statement"]))
        shown = {
            p["number"]: set(COLOURS.findall(p["text"])) for p in questions.material
        }
        entailed = wanted <= set().union(*shown.values())
        named = (
            [number for number, words in shown.items() if words & wanted]
            if entailed
            else []
        )
        label = "entailed" if entailed else "not_entailed"
        return reply_of("json", [{"number": 1, "label": label, "passages": named}])

    ask = FakeAsk(answer)
    setting = {"measures": ("citation_recall", "citation_precision"), "against": "full"}
    texts = {text: {"sys": text} for text in CASES}
    questions = Questions.model_validate({**setting, **WAYS[way]})
    result = judged_by(texts, PASSAGES, questions, judge_of(ask))
    ours, theirs = (
        each.scores.set_index(["doc_id", "metric"])["value"]
        for each in (result, read(way))
    )
    differ = ours[~np.isclose(ours, theirs, equal_nan=True)]
    ours_alone = {("It is red and blue [0-1, 3].", "citation_precision"): 1.0}
    assert differ.to_dict() == ({} if "doclens" in way else ours_alone)
    recall = result.pairs["measure"] == "citation_recall"
    together = result.pairs[recall & result.pairs["settled"].isna()]
    assert len(ask.requests) == together["pair_id"].nunique()

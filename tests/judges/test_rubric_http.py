"""Rubrics over real HTTP: whatever a server does to one criterion, the others keep their grades.

A document per fault, each with two scales and a criterion of penalties. The fault hits every call
that asks about the one called HARD.
"""

import json
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import pandas as pd
import pytest

from metassay.judges.llm import KIND, LlmJudge
from metassay.judges.run import judge_pairs
from metassay.llm.endpoints import ModelOptions
from metassay.llm.ledger import Ledger
from metassay.llm.limits import Policy
from metassay.llm.prompts import Decoding
from metassay.scoring.aggregation.rubrics import rubric_scores
from metassay.scoring.pairing.rubrics import rubric_pairs
from metassay.scoring.rubrics.ask import criteria_table
from metassay.scoring.rubrics.record import Rubric, load_rubric
from tests.judges.llm_setup import PROMPTS, options
from tests.judges.rubric_setup import Asked, asked_in, json_reply
from tests.llm import scripted_server as server
from tests.llm.batch_setup import asking

EASY, HARD, ADDED = "easy", "hard", "added"
RUBRIC = f"""\
title: Tone
source: Invented
overall: renormalised
criteria:
  {EASY}: &scale
    kind: scale
    asks: How warm is it?
    reads: full
    against: source
    weight: 1
    value: share
    levels: {{"1": Cold., "2": Neither., "3": Warm.}}
  {HARD}: *scale
  {ADDED}:
    kind: penalties
    asks: What does it add?
    reads: full
    against: source
    cap: 4
    absent: no penalty
"""
MODEL = ModelOptions(endpoint="here", model="invented-1", seed=1, max_tokens=400)
Entries = list[dict[str, Any]]


def asked_by(call: server.Call) -> Asked:
    return asked_in(call.body["messages"][-1]["content"])


def right(asked: Asked) -> Entries:
    """Grade 2, or one penalty, with a quote of the text's first words."""
    quote = asked.text.partition(".")[0]
    return [
        {"number": number, "quotes": [quote], "grade": 2}
        if "levels" in one
        else {"number": number, "violations": [{"what": "it", "quote": quote}]}
        for number, one in asked.criteria.items()
    ]


def hard_is(**wrong: Any) -> Callable[[Asked], server.Answer]:
    """The hard criterion's entry is another one."""

    def answer(asked: Asked) -> server.Answer:
        entries = [
            {"number": entry["number"], **wrong}
            if asked.criteria[entry["number"]]["criterion"] == HARD
            else entry
            for entry in right(asked)
        ]
        return server.said(json_reply(entries))

    return answer


def without_it(asked: Asked) -> server.Answer:
    kept = [e for e in right(asked) if asked.criteria[e["number"]]["criterion"] != HARD]
    return server.said(json_reply(kept))


class Fault(NamedTuple):
    """What the server says; the hard criterion's status, and which scales its calls asked about."""

    answer: Callable[[Asked], server.Answer]
    status: str
    calls: list[list[str]]


ALONE = [[EASY, HARD], [HARD], [HARD]]  # asked again without the other one
HALVES = [[EASY, HARD], [EASY], [HARD]]  # nothing could be read
LAST = [*HALVES, [HARD]]
BOTH = [[EASY, HARD]] * 2  # the client's two attempts at a call that fails
FAULTS = {
    "none": Fault(hard_is(quotes=["Note"], grade=2), "ok", ALONE[:1]),
    "a quote that is not there": Fault(hard_is(quotes=["Nowhere"], grade=2), "ok", ALONE[:1]),
    "unknown level": Fault(hard_is(quotes=[], grade=4), "unparsed", ALONE),
    "level in words": Fault(hard_is(quotes=[], grade="two"), "unparsed", ALONE),
    "penalties": Fault(hard_is(violations=[]), "unparsed", ALONE),
    "missing": Fault(without_it, "unparsed", ALONE),
    "prose": Fault(lambda _: server.said("Both are good."), "unparsed", LAST),
    "refused": Fault(lambda _: server.refused(), "refused", HALVES),
    "filtered": Fault(lambda _: server.filtered(), "refused", HALVES),
    "cut": Fault(lambda asked: server.cut(json_reply(right(asked))), "truncated", HALVES),
    "500": Fault(lambda _: server.failed(500), "error", BOTH),
    "dropped": Fault(lambda _: server.dropped(), "error", BOTH),
}


def text_of(name: str) -> str:
    return f"Note of {name}. It goes on."


@pytest.fixture(scope="module")
def rubric(tmp_path_factory: pytest.TempPathFactory) -> Rubric:
    path = tmp_path_factory.mktemp("rubrics") / "tone.yaml"
    path.write_text(RUBRIC, encoding="utf-8")
    return load_rubric(path)


def pairs_of(rubric: Rubric) -> pd.DataFrame:
    """A document of each fault's name, and a text of one system about it."""
    source = {"passages": ["What was said."], "attributes": None, "dataset": "invented"}
    part = {"author": "sys", "part": "full", "status": "ok", "repeats": []}
    sources = pd.DataFrame([{"doc_id": name, **source} for name in FAULTS])
    parts = pd.DataFrame([{"doc_id": name, "text": text_of(name), **part} for name in FAULTS])
    return rubric_pairs(sources, parts, rubric, ())


def script(call: server.Call) -> server.Answer:
    asked = asked_by(call)
    (name,) = [name for name in FAULTS if asked.text == text_of(name)]
    hit = HARD in {one["criterion"] for one in asked.criteria.values()}
    return FAULTS[name].answer(asked) if hit else server.said(json_reply(right(asked)))


class Run(NamedTuple):
    """All documents judged twice on one ledger, the calls of each time, scores and notes."""

    pairs: pd.DataFrame
    scores: pd.DataFrame
    judgments: pd.DataFrame
    calls: list[server.Call]
    again: pd.DataFrame
    calls_again: list[server.Call]
    notes: list[str]


@pytest.fixture(scope="module")
def judged(rubric: Rubric, tmp_path_factory: pytest.TempPathFactory) -> Run:
    pairs = pairs_of(rubric)
    path = tmp_path_factory.mktemp("judged") / "ledger.sqlite"
    with server.ScriptedServer(script) as running, Ledger(path) as ledger:
        patience = Policy(attempts=2, first_wait=0.01)
        ask = asking(running, ledger, patience, of=MODEL, concurrency=32, structured=True)
        answered, notes = [], []
        for _ in range(2):
            judge = LlmJudge(options(rounds=2), ask, Decoding.of(MODEL), prompts=PROMPTS)
            rows = judge_pairs(pairs, "llm", judge, KIND.instruments, batch=KIND.batch)
            answered.append((rows, list(running.calls)))
            notes = list(judge.notes)
    (first, calls), (again, all_calls) = answered
    scores = rubric_scores(criteria_table(rubric), pairs, first, "whole", "0")
    return Run(pairs, scores, first, calls, again, all_calls[len(calls) :], notes)


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_one_criterion_s_status_and_the_others_have_their_grades(
    name: str, judged
) -> None:
    fault = FAULTS[name]
    asked = judged.pairs.merge(judged.judgments, on="pair_id")
    own = asked[asked["hypothesis"] == text_of(name)]
    by_name = {json.loads(row.context)["criterion"]: row for row in own.itertuples()}
    expected = {EASY: 2.0, HARD: 2.0, ADDED: 1.0}
    lost = {HARD} if fault.status != "ok" else set()
    lost |= {EASY} if fault.status == "error" else set()  # no halves of a call that fails
    for criterion, row in by_name.items():
        assert row.status == (fault.status if criterion in lost else "ok")
        assert row.grade == expected[criterion] or criterion in lost
        if criterion in lost:
            assert pd.isna(row.grade)
            assert (list(row.quotes), list(row.quote_starts)) == ([], [])
        elif (name, criterion) == ("a quote that is not there", HARD):
            assert (list(row.quotes), list(row.quote_starts)) == (["Nowhere"], [-1])
        else:
            assert list(row.quote_starts) == [0]
    assert int((own["status"] != "ok").sum()) == len(lost)
    scales = [
        sorted(one["criterion"] for one in asked_by(call).criteria.values())
        for call in judged.calls
        if asked_by(call).text == text_of(name)
        and "levels" in next(iter(asked_by(call).criteria.values()))
    ]
    assert sorted(scales, key=lambda names: (-len(names), names)) == fault.calls


def third(*grades: int) -> list[float]:
    """Shares of three levels."""
    return [grade / 3 for grade in grades]


@pytest.mark.parametrize("name", FAULTS)
def test_scores_say_what_is_missing_and_what_it_could_change(name: str, judged) -> None:
    """value, low, high, n_expected, n_failed; of both scales with weight 1 the mean, by hand."""
    two, open_ = [*third(2, 2, 2), 1, 0], [math.nan, *third(1, 3), 1, 1]
    known = FAULTS[name].status
    easy = open_ if known == "error" else two
    hard = two if known == "ok" else open_
    overall = {
        "ok": [*third(2, 2, 2), 2, 0],
        "error": [math.nan, *third(1, 3), 2, 2],
    }.get(known, [math.nan, 3 / 6, 5 / 6, 2, 1])
    expected = {EASY: easy, HARD: hard, ADDED: [1, 1, 1, 1, 0], "overall": overall}
    mine = judged.scores[judged.scores["doc_id"] == name].set_index("metric")
    columns = ["value", "low", "high", "n_expected", "n_failed"]
    for metric, row in expected.items():
        found = mine.loc[f"tone_{metric}", columns].to_numpy(float)
        assert found == pytest.approx(row, nan_ok=True), metric


def test_what_was_answered_is_never_asked_again(judged) -> None:
    pd.testing.assert_frame_equal(judged.again, judged.judgments)
    late = {asked_by(call).text for call in judged.calls_again}
    assert late == {text_of(name) for name, fault in FAULTS.items() if fault.status == "error"}
    quotes = judged.judgments["quotes"].map(len).sum()
    assert judged.notes[1:] == [
        f"1 of {quotes} quotes ({1 / quotes:.1%}) are not in the text that they quote"
    ]
    assert judged.notes[0].startswith("questions that were answered: at first ")

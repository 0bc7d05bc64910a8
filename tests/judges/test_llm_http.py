"""The LLM judge over real HTTP: whatever a server does, denominators and bounds are exact.

Invented visits of which the truth is known: what holds says so, and a statement names
the passages that say it. There is one visit per fault, which hits the calls about two
hard questions of it, a claim and a cited statement; all else is answered truly.
"""

import itertools
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest

from metassay.judges.llm import KIND, LlmJudge
from metassay.judges.run import judge_pairs
from metassay.llm.endpoints import ModelOptions
from metassay.llm.ledger import Ledger
from metassay.llm.limits import Policy
from metassay.llm.prompts import Decoding
from metassay.scoring.aggregation.judged import Setup, judged_scores
from metassay.scoring.pairing.pairs import build_pairs
from metassay.scoring.pairing.questions import Questions
from tests.judges.llm_setup import PROMPTS, STYLES, asked_in, options, reply_of
from tests.llm import scripted_server as server
from tests.llm.batch_setup import asking

HARD = "elbow"
PASSAGES = ["P0: the knee.", "P1: the elbow.", "P2: so it is.", "P3: the weather."]
CLAIMS = {
    ("reference", "subjective"): ["Knee holds.", "Ankle fails.", "Hip holds."],
    ("reference", "plan"): ["Ankle fails, too.", f"The {HARD} holds."],
    ("sys", "subjective"): ["Knee holds again."],
    ("sys", "plan"): ["Wrist holds again.", "Toe fails."],
}
STATEMENTS = [  # of sys: text and citations
    ("Knee, by P0.", [0]),
    (f"The {HARD}, by P1 and P2.", [1, 3, 2]),
    ("Hip, by nobody.", []),
    ("Toe, by P9.", [9]),
]
DOCLENS = ("claim_recall", "claim_precision", "citation_recall", "citation_precision")
QUESTIONS = Questions(measures=DOCLENS, against="full", borrow=False)
# a part of claims each for recall and precision, and a cited statement each
CALLS = 2 + 2 + 2
HARD_CALLS = 2

# value, n_expected, n_judged, n_failed, low, high; worked by hand
TRUTH = {
    "claim_recall": (3 / 5, 5, 5, 0, 3 / 5, 3 / 5),
    "claim_precision": (2 / 3, 3, 3, 0, 2 / 3, 2 / 3),
    # of no citation, or an absent one: 0
    "citation_recall": (2 / 4, 4, 4, 0, 2 / 4, 2 / 4),
    "citation_precision": (3 / 5, 5, 5, 0, 3 / 5, 3 / 5),  # P3 is of no use, nor is P9
}
HARD_LOST = TRUTH | {
    "claim_recall": (2 / 4, 5, 4, 1, 2 / 5, 3 / 5),
    "citation_recall": (1 / 3, 4, 3, 1, 1 / 4, 2 / 4),
    "citation_precision": (1 / 2, 5, 2, 3, 1 / 5, 4 / 5),
}
CALL_LOST = HARD_LOST | {"claim_recall": (2 / 3, 5, 3, 2, 2 / 5, 4 / 5)}


class Visits:
    """The tables of so many visits, whose texts all name their visit."""

    def __init__(self, names: Sequence[str]) -> None:
        passages = [[f"{passage} ({name})" for passage in PASSAGES] for name in names]
        sources = pd.DataFrame({"doc_id": names, "passages": passages})
        texts = itertools.product(
            names, ("reference", "sys"), ("full", "plan", "subjective")
        )
        parts = pd.DataFrame(texts, columns=["doc_id", "author", "part"])
        self.parts = parts.assign(
            text=parts["part"]
            + " of "
            + parts["author"]
            + " ("
            + parts["doc_id"]
            + ")",
            leaf=np.where(parts["part"] == "full", "no", "yes"),
            status="ok",
            repeats=[["visits"]] * len(parts),
        )
        claims = [
            (*key, "claim", place, text, [])
            for key, texts in CLAIMS.items()
            for place, text in enumerate(texts)
        ]
        rows = [
            ("sys", "plan", "statement", n, *each) for n, each in enumerate(STATEMENTS)
        ]
        columns = ["author", "part", "kind", "position", "text", "citations"]
        units = pd.DataFrame([*claims, *rows], columns=columns)
        units = pd.concat(
            [units.assign(doc_id=name) for name in names], ignore_index=True
        )
        self.units = units.assign(status="ok", start=None, end=None)
        statements = self.units.query("kind == 'statement'")
        aligned = {
            "top": statements.assign(method="none", passages=[[]] * len(statements))
        }
        sources = sources.assign(task="note", dataset="visits")
        self.pairs = build_pairs(sources, self.parts, self.units, aligned, QUESTIONS)

    def scores(
        self, judgments: pd.DataFrame
    ) -> dict[str, dict[str, tuple[float, ...]]]:
        """By visit and metric."""
        setup = Setup("soap", "clauses", {"top": "none"}, {"all": QUESTIONS}, "1")
        scores = judged_scores(self.parts, self.units, self.pairs, judgments, setup)
        whole = scores[(scores["part"] == "full") & (scores["author"] == "sys")]
        names = ["value", "n_expected", "n_judged", "n_failed", "low", "high"]
        return {
            str(name): dict(
                zip(of["metric"], map(tuple, of[names].to_numpy(float)), strict=True)
            )
            for name, of in whole.groupby("doc_id")
        }


def asked_by(call: server.Call) -> str:
    """The words that hold what is asked, and nothing of the prompt's examples."""
    return str(call.body["messages"][-1]["content"])


def visit_of(call: server.Call) -> str:
    return re.findall(r"\((visit-\d+)\)", asked_by(call))[0]


def true_entries(call: server.Call) -> list[dict[str, Any]]:
    questions = asked_in(asked_by(call))
    entries = []
    for item in questions.items:
        if "statement" in item:
            wanted = set(re.findall(r"P\d", item["statement"]))
            shown = {p["number"]: p["text"][:2] for p in questions.material}
            holds = wanted <= set(shown.values())
            more = {
                "passages": sorted(n for n, name in shown.items() if name in wanted)
            }
        else:
            holds, more = "holds" in item["hypothesis"], {}
        label = "entailed" if holds else "not_entailed"
        entries.append(
            {"number": item["number"], "reason": "so it is", "label": label, **more}
        )
    return entries


def true_reply(call: server.Call, style: str) -> str:
    return reply_of(style, true_entries(call))


def twice(call: server.Call, style: str) -> str:
    """The last question is answered twice, one way and the other."""
    *entries, last = true_entries(call)
    other = "entailed" if last["label"] == "not_entailed" else "not_entailed"
    return reply_of(style, [*entries, last, last | {"label": other, "passages": []}])


def other_numbers(call: server.Call, style: str) -> str:
    """Answers to questions that nobody asked."""
    return reply_of(
        style, [e | {"number": e["number"] + 90} for e in true_entries(call)]
    )


def thoughts(call: server.Call, style: str) -> str:
    other = true_reply(call, style).replace("not_entailed", "entailed")
    return f"<think>\nPerhaps {other}?\n</think>\n\n{true_reply(call, style)}"


class Fault(NamedTuple):
    """What the server does instead, the status of the hard questions, and all scores."""

    answer: Callable[[server.Call, str], server.Answer]
    status: str = "ok"
    scores: dict[str, tuple[float, ...]] = TRUTH


Answer = Callable[[server.Call, str], server.Answer]


def writing(words: Callable[[str], str]) -> Answer:
    """The true reply as these words have it."""
    return lambda call, style: server.answer_with(words(true_reply(call, style)))


def instead(reply: Callable[[server.Call, str], str]) -> Answer:
    return lambda call, style: server.answer_with(reply(call, style))


def always(answer: Callable[[], server.Answer]) -> Answer:
    return lambda *_: answer()


def once(wrong: Callable[[], server.Answer]) -> Answer:
    """Wrong at first, right when sent again."""
    return lambda call, style: (
        wrong() if call.attempt == 1 else server.answer_with(true_reply(call, style))
    )


def unparsed(answer: Answer) -> Fault:
    return Fault(answer, "unparsed", HARD_LOST)


def refused(answer: Callable[[], server.Answer]) -> Fault:
    return Fault(always(answer), "refused", HARD_LOST)


def lost(answer: Callable[[], server.Answer]) -> Fault:
    """An endpoint that fails, or rejects a call, is not asked about halves of it."""
    return Fault(always(answer), "error", CALL_LOST)


FAULTS = {
    "429, once": Fault(once(lambda: server.rate_limited("0.01"))),
    "500, once": Fault(once(lambda: server.failed(500))),
    "hang, once": Fault(once(server.hang)),
    "dropped, once": Fault(once(server.dropped)),
    "dropped midway, once": Fault(once(lambda: server.dropped(midway=True))),
    "half an HTTP body, once": Fault(once(lambda: server.half_json("half"))),
    "words before": Fault(
        writing(lambda reply: f"Sure! Here is what I think.\n\n{reply}")
    ),
    "thoughts, with another answer in them": Fault(instead(thoughts)),
    "thoughts without an end": Fault(
        writing(lambda reply: f"<think>\nPerhaps {reply}"), "truncated", HARD_LOST
    ),
    "one too few": unparsed(
        instead(lambda call, s: reply_of(s, true_entries(call)[:-1]))
    ),
    "one twice": unparsed(instead(twice)),
    "other numbers": unparsed(instead(other_numbers)),
    "prose": unparsed(instead(lambda *_: "All are entailed.")),
    "a refusal in words": unparsed(instead(lambda *_: "I cannot help.")),
    "half of it": unparsed(writing(lambda reply: reply[:-6])),
    "blank": unparsed(instead(lambda *_: " ")),
    "no text": unparsed(always(lambda: server.whole(server.completion(["entailed"])))),
    "refusal": refused(server.refused),
    "filtered answer": refused(server.filtered),
    "filtered prompt": refused(lambda: server.filtered(prompt=True)),
    "length": Fault(
        lambda call, style: server.cut(true_reply(call, style)), "truncated", HARD_LOST
    ),
    "500": lost(lambda: server.failed(500)),
    "rejected": lost(lambda: server.failed(400)),
    "too long": lost(server.too_long),
    "no choices": lost(lambda: server.Answer(fault="no_choices")),
    "hang": lost(server.hang),
}

VISITS = {f"visit-{number}": fault for number, fault in enumerate(FAULTS)}
MODEL = ModelOptions(endpoint="here", model="invented-1", seed=1, max_tokens=400)


def judge(
    running: server.ScriptedServer,
    ledger: Ledger,
    style: str,
    visits: Visits,
    **changes: float,
) -> pd.DataFrame:
    settings = {"concurrency": 32, "structured": True, **changes}
    ask = asking(
        running, ledger, Policy(attempts=2, first_wait=0.01), of=MODEL, **settings
    )
    llm = LlmJudge(
        options(style=style, rounds=2), ask, Decoding.choose(MODEL), prompts=PROMPTS
    )
    return judge_pairs(visits.pairs, "llm", llm, KIND.instruments, batch=KIND.batch)


def check(
    scores: dict[str, tuple[float, ...]], expected: dict[str, tuple[float, ...]]
) -> None:
    for metric, row in expected.items():
        assert scores[metric] == pytest.approx(row), metric
        low, high = scores[metric][-2:]
        assert low - 1e-9 <= TRUTH[metric][0] <= high + 1e-9


@pytest.mark.parametrize("style", STYLES)
def test_one_call_per_part_and_cited_statement_all_at_once_and_never_again(
    style: str, tmp_path
) -> None:
    def script(call: server.Call) -> server.Answer:
        return server.answer_with(true_reply(call, style))

    visits = Visits(["visit-0"])
    with (
        server.ScriptedServer(script) as running,
        Ledger(tmp_path / "ledger.sqlite") as ledger,
        ThreadPoolExecutor() as pool,
    ):
        running.hold_after(1)  # the first question with a new block goes alone
        judging = pool.submit(judge, running, ledger, style, visits)
        while running.holding < CALLS - 1:
            assert not judging.done(), judging.result()
        running.let_go()
        judgments = judging.result()
        assert running.requests.total() == CALLS
        check(visits.scores(judgments)["visit-0"], TRUTH)
        assert set(judgments["status"]) == {"ok"}
        assert set(judgments["attempts"]) == {1}
        assert judgments["tokens"].sum() == running.tokens.total()
        reasons = {"so it is"} if style in ("cot", "json_cot") else set()
        assert set(judgments["explanation"].dropna()) == reasons
        pd.testing.assert_frame_equal(judge(running, ledger, style, visits), judgments)
        assert running.requests.total() == CALLS


class Run(NamedTuple):
    """All visits judged twice on one ledger, and the calls that each time took."""

    visits: Visits
    judgments: pd.DataFrame
    calls: list[server.Call]
    again: pd.DataFrame
    calls_again: list[server.Call]


@pytest.fixture(scope="module", params=["json", "cot"])
def judged(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Run:
    style = request.param

    def script(call: server.Call) -> server.Answer:
        fault = FAULTS[VISITS[visit_of(call)]]
        is_hard = HARD in asked_by(call)
        return (
            fault.answer(call, style)
            if is_hard
            else server.answer_with(true_reply(call, style))
        )

    visits = Visits(list(VISITS))
    path = tmp_path_factory.mktemp("judged") / "ledger.sqlite"
    with server.ScriptedServer(script) as running, Ledger(path) as ledger:
        # Few at once, so that only what hangs is ever as late as this.
        patience = {"concurrency": 8, "timeout": 1.0}
        judgments = judge(running, ledger, style, visits, **patience)
        calls = list(running.calls)
        again = judge(running, ledger, style, visits, **patience)
        later = running.calls[len(calls) :]
    return Run(visits, judgments, calls, again, later)


@pytest.mark.parametrize("name", VISITS, ids=VISITS.values())
def test_a_fault_is_a_status_of_its_questions_and_the_bounds_hold_the_truth(
    name: str, judged
) -> None:
    fault = FAULTS[VISITS[name]]
    pairs = judged.visits.pairs[judged.visits.pairs["doc_id"] == name]
    rows = pairs.merge(judged.judgments, on="pair_id")
    hard = rows["hypothesis"].str.contains(HARD)
    too = rows["hypothesis"].str.contains("too") & (fault.status == "error")
    assert (rows["status"] == np.where(hard | too, fault.status, "ok")).all()
    assert rows.loc[hard, "hypothesis"].nunique() == 2
    check(judged.visits.scores(judged.judgments)[name], fault.scores)

    calls = [call for call in judged.calls if visit_of(call) == name]
    assert sum(HARD not in asked_by(call) for call in calls) >= CALLS - HARD_CALLS
    # What was answered is in the ledger, refusals and all; only where nothing came is
    # asked again.
    later = [call for call in judged.calls_again if visit_of(call) == name]
    assert bool(later) == (fault.status == "error")
    assert all(HARD in asked_by(call) for call in later)


def test_nothing_but_what_failed_has_no_answer_and_nothing_is_asked_twice(
    judged,
) -> None:
    pd.testing.assert_frame_equal(judged.again, judged.judgments)
    lost = judged.judgments[judged.judgments["status"] != "ok"]
    assert lost[["label", "grade", "explanation"]].isna().all(axis=None)
    answered = [call for call in judged.calls if HARD not in asked_by(call)]
    assert len({call.key for call in answered}) == len(answered)

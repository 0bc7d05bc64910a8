"""The LLM judge over real HTTP: whatever a server does, denominators and bounds are exact.

Invented visits of which the truth is known: what holds says so, and a statement names the passages
that say it. There is one visit per fault, which hits the calls about two hard questions of it, a
claim and a cited statement; all else is answered truly.
"""

import json
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

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
CALLS = 2 + 2 + 2  # a part of claims each for recall and precision, and a cited statement each
HARD_CALLS = 2

# value, n_expected, n_judged, n_failed, low, high; worked by hand
TRUTH = {
    "claim_recall": (3 / 5, 5, 5, 0, 3 / 5, 3 / 5),
    "claim_precision": (2 / 3, 3, 3, 0, 2 / 3, 2 / 3),
    "citation_recall": (2 / 4, 4, 4, 0, 2 / 4, 2 / 4),  # of no citation, or an absent one: 0
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
        self.sources, self.parts, self.units = sources(names), parts(names), units(names)
        statements = self.units.query("kind == 'statement'")
        aligned = statements.assign(method="none", passages=[[]] * len(statements))
        self.pairs = build_pairs(self.sources, self.parts, self.units, {"top": aligned}, QUESTIONS)

    def scores(self, judgments: pd.DataFrame) -> dict[str, dict[str, tuple[float, ...]]]:
        """By visit and metric."""
        setup = Setup("soap", "clauses", {"top": "none"}, {"all": QUESTIONS}, "1")
        found = judged_scores(self.parts, self.units, self.pairs, judgments, setup)
        whole = found[(found["part"] == "full") & (found["author"] == "sys")]
        names = ["value", "n_expected", "n_judged", "n_failed", "low", "high"]
        return {
            str(name): dict(zip(of["metric"], map(tuple, of[names].to_numpy(float)), strict=True))
            for name, of in whole.groupby("doc_id")
        }

    def statuses(self, judgments: pd.DataFrame, name: str) -> dict[str, set[str]]:
        """By hypothesis of one visit."""
        own = self.pairs[self.pairs["doc_id"] == name].merge(judgments, on="pair_id")
        return {h: set(of["status"]) for h, of in own.groupby("hypothesis", observed=True)}


def sources(names: Sequence[str]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                **{"doc_id": name, "task": "note", "dataset": "visits"},
                "passages": [f"{passage} ({name})" for passage in PASSAGES],
            }
            for name in names
        ]
    )


def parts(names: Sequence[str]) -> pd.DataFrame:
    rows = [
        (name, author, part, f"{part} of {author} ({name})", "no" if part == "full" else "yes")
        for name in names
        for author in ("reference", "sys")
        for part in ("full", "plan", "subjective")
    ]
    frame = pd.DataFrame(rows, columns=["doc_id", "author", "part", "text", "leaf"])
    return frame.assign(status="ok", repeats=[["visits"]] * len(frame))


def units(names: Sequence[str]) -> pd.DataFrame:
    rows = [
        (author, part, "claim", place, text, [])
        for (author, part), texts in CLAIMS.items()
        for place, text in enumerate(texts)
    ]
    rows += [
        ("sys", "plan", "statement", place, text, citations)
        for place, (text, citations) in enumerate(STATEMENTS)
    ]
    columns = ["author", "part", "kind", "position", "text", "citations"]
    one = pd.DataFrame(rows, columns=columns)
    frame = pd.concat([one.assign(doc_id=name) for name in names], ignore_index=True)
    return frame.assign(status="ok", start=None, end=None)


def asked_by(call: server.Call) -> str:
    """The words that hold what is asked, and nothing of the prompt's examples."""
    return str(call.body["messages"][-1]["content"])


def visit_of(call: server.Call) -> str:
    return re.findall(r"\((visit-\d+)\)", asked_by(call))[0]


def true_reply(call: server.Call, style: str) -> str:
    asked = asked_in(asked_by(call))
    entries = []
    for item in asked.items:
        if "statement" in item:
            wanted = set(re.findall(r"P\d", item["statement"]))
            shown = {p["number"]: p["text"][:2] for p in asked.material}
            named = sorted(number for number, name in shown.items() if name in wanted)
            label = "entailed" if wanted <= set(shown.values()) else "not_entailed"
            answer = {"label": label, "passages": named}
        else:
            answer = {"label": "entailed" if "holds" in item["hypothesis"] else "not_entailed"}
        entries.append({"number": item["number"], "reason": "so it is", **answer})
    return reply_of(style, entries)


def fewer(call: server.Call, style: str) -> str:
    """All answers but the last."""
    whole = true_reply(call, style)
    if style in ("json", "json_cot"):
        return server.with_items(whole, len(json.loads(whole)["items"]) - 1)
    return whole.rpartition("\n")[0]


def twice(call: server.Call, style: str) -> str:
    """The last question is answered twice, one way and the other."""
    whole = true_reply(call, style)
    if style in ("json", "json_cot"):
        items = json.loads(whole)["items"]
        other = "entailed" if items[-1]["label"] == "not_entailed" else "not_entailed"
        return json.dumps({"items": [*items, items[-1] | {"label": other, "passages": []}]})
    return "\n".join([whole, f"{asked_in(asked_by(call)).numbers[-1]}: neither"])


def other_numbers(call: server.Call, style: str) -> str:
    """Answers to questions that nobody asked."""
    whole = true_reply(call, style)
    if style in ("json", "json_cot"):
        return re.sub(r'"number": (\d+)', r'"number": 9\1', whole)
    return re.sub(r"(?m)^(\d+): ", r"9\1: ", whole)


def words_before(call: server.Call, style: str) -> str:
    return f"Sure! Here is what I think.\n\n{true_reply(call, style)}"


def thoughts(call: server.Call, style: str) -> str:
    other = true_reply(call, style).replace("not_entailed", "entailed")
    return f"<think>\nPerhaps {other}?\n</think>\n\n{true_reply(call, style)}"


class Fault(NamedTuple):
    """What the server does instead, the status of the hard questions, and all scores."""

    answer: Callable[[server.Call, str], server.Answer]
    status: str = "ok"
    scores: dict[str, tuple[float, ...]] = TRUTH


def saying(words: Callable[[server.Call, str], str]) -> Callable[[server.Call, str], server.Answer]:
    return lambda call, style: server.said(words(call, style))


def once(wrong: Callable[[], server.Answer]) -> Callable[[server.Call, str], server.Answer]:
    return lambda call, style: (
        wrong() if call.attempt == 1 else server.said(true_reply(call, style))
    )


FAULTS = {
    # Wrong at first, right when sent again.
    "429, once": Fault(once(lambda: server.rate_limited("0.01"))),
    "500, once": Fault(once(lambda: server.failed(500))),
    "hang, once": Fault(once(server.hang)),
    "dropped, once": Fault(once(server.dropped)),
    "dropped midway, once": Fault(once(lambda: server.dropped(midway=True))),
    "half an HTTP body, once": Fault(once(lambda: server.half_json("half"))),
    # Odd, but sound.
    "words before": Fault(saying(words_before)),
    "thoughts, with another answer in them": Fault(saying(thoughts)),
    "thoughts without an end": Fault(
        saying(lambda call, style: f"<think>\nPerhaps {true_reply(call, style)}"),
        *("truncated", HARD_LOST),
    ),
    "one too few": Fault(saying(fewer), "unparsed", HARD_LOST),
    "one twice": Fault(saying(twice), "unparsed", HARD_LOST),
    "other numbers": Fault(saying(other_numbers), "unparsed", HARD_LOST),
    "prose": Fault(saying(lambda *_: "All are entailed."), "unparsed", HARD_LOST),
    "a refusal in words": Fault(saying(lambda *_: "I cannot help."), "unparsed", HARD_LOST),
    "half of it": Fault(
        saying(lambda call, style: true_reply(call, style)[:-6]), "unparsed", HARD_LOST
    ),
    "blank": Fault(saying(lambda *_: " "), "unparsed", HARD_LOST),
    "no text": Fault(
        lambda *_: server.whole(server.completion(["entailed"])), "unparsed", HARD_LOST
    ),
    "refusal": Fault(lambda *_: server.refused(), "refused", HARD_LOST),
    "filtered answer": Fault(lambda *_: server.filtered(), "refused", HARD_LOST),
    "filtered prompt": Fault(lambda *_: server.filtered(prompt=True), "refused", HARD_LOST),
    "length": Fault(
        lambda call, style: server.cut(true_reply(call, style)), "truncated", HARD_LOST
    ),
    # An endpoint that fails, or rejects a call, is not asked about halves of it.
    "500": Fault(lambda *_: server.failed(500), "error", CALL_LOST),
    "rejected": Fault(lambda *_: server.failed(400), "error", CALL_LOST),
    "too long": Fault(lambda *_: server.too_long(), "error", CALL_LOST),
    "no choices": Fault(lambda *_: server.Answer(fault="no_choices"), "error", CALL_LOST),
    "hang": Fault(lambda *_: server.hang(), "error", CALL_LOST),
}

VISITS = {f"visit-{number}": fault for number, fault in enumerate(FAULTS)}
MODEL = ModelOptions(endpoint="here", model="invented-1", seed=1, max_tokens=400)


def judge(
    running: server.ScriptedServer, ledger: Ledger, style: str, visits: Visits, **changes: float
) -> pd.DataFrame:
    patience = Policy(attempts=2, first_wait=0.01)
    settings = {"concurrency": 32, "structured": True, **changes}
    ask = asking(running, ledger, patience, of=MODEL, **settings)
    own = LlmJudge(options(style=style, rounds=2), ask, Decoding.of(MODEL), prompts=PROMPTS)
    return judge_pairs(visits.pairs, "llm", own, KIND.instruments, batch=KIND.batch)


def check(found: dict[str, tuple[float, ...]], expected: dict[str, tuple[float, ...]]) -> None:
    for metric, row in expected.items():
        assert found[metric] == pytest.approx(row), metric
        low, high = found[metric][-2:]
        assert low - 1e-9 <= TRUTH[metric][0] <= high + 1e-9


@pytest.mark.parametrize("style", STYLES)
def test_one_call_per_part_and_cited_statement_all_at_once_and_never_again(
    style: str, tmp_path
) -> None:
    def script(call: server.Call) -> server.Answer:
        return server.said(true_reply(call, style))

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
    scores: dict[str, dict[str, tuple[float, ...]]]
    calls: list[server.Call]
    again: pd.DataFrame
    calls_again: list[server.Call]


@pytest.fixture(scope="module", params=["json", "cot"])
def judged(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    style = request.param

    def script(call: server.Call) -> server.Answer:
        fault = FAULTS[VISITS[visit_of(call)]]
        is_hard = HARD in asked_by(call)
        return fault.answer(call, style) if is_hard else server.said(true_reply(call, style))

    visits = Visits(list(VISITS))
    path = tmp_path_factory.mktemp("judged") / "ledger.sqlite"
    with server.ScriptedServer(script) as running, Ledger(path) as ledger:
        # Few at once, so that only what hangs is ever as late as this.
        patience = {"concurrency": 8, "timeout": 1.0}
        judgments = judge(running, ledger, style, visits, **patience)
        calls = list(running.calls)
        again = judge(running, ledger, style, visits, **patience)
        later = running.calls[len(calls) :]
    return Run(visits, judgments, visits.scores(judgments), calls, again, later)


@pytest.mark.parametrize("name", VISITS, ids=VISITS.values())
def test_a_fault_is_a_status_of_its_questions_and_the_bounds_hold_the_truth(
    name: str, judged
) -> None:
    fault = FAULTS[VISITS[name]]
    found = judged.visits.statuses(judged.judgments, name)
    lost = {h for h in found if HARD in h or ("too" in h and fault.status == "error")}
    assert found == {h: {fault.status if h in lost else "ok"} for h in found}
    assert sum(HARD in h for h in found) == 2
    check(judged.scores[name], fault.scores)

    calls = [call for call in judged.calls if visit_of(call) == name]
    assert sum(HARD not in asked_by(call) for call in calls) >= CALLS - HARD_CALLS
    # What was answered is in the ledger, refusals and all; only where nothing came is asked again.
    later = [call for call in judged.calls_again if visit_of(call) == name]
    assert bool(later) == (fault.status == "error")
    assert all(HARD in asked_by(call) for call in later)


def test_nothing_but_what_failed_has_no_answer_and_nothing_is_asked_twice(judged) -> None:
    pd.testing.assert_frame_equal(judged.again, judged.judgments)
    lost = judged.judgments[judged.judgments["status"] != "ok"]
    assert lost[["label", "grade", "explanation"]].isna().all(axis=None)
    answered = [call for call in judged.calls if HARD not in asked_by(call)]
    assert len({call.key for call in answered}) == len(answered)

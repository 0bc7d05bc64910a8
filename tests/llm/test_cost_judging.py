"""What judges would ask, counted before anything is sent."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.core.kinds import choose
from metassay.core.params import load
from metassay.datasets.ingest import Tables
from metassay.datasets.registry import REGISTRY, load_registry
from metassay.generation import SYSTEMS
from metassay.generation.record import write_texts
from metassay.judges import JUDGES
from metassay.judges.make import instruments_of, make_judge
from metassay.judges.run import judge_pairs
from metassay.llm.budget import Estimate
from metassay.llm.endpoints import Models, parse_models
from metassay.llm.ledger import Entry, Ledger
from metassay.llm.messages import ChatRequest, Message
from metassay.llm.needs import Resources
from metassay.llm.session import Session
from metassay.project.cost import Plan, plan_test, refusals
from metassay.scoring.pairing.pairs import build_pairs
from metassay.scoring.pairing.questions import Questions
from metassay.units import DECOMPOSITIONS, SEGMENTATIONS
from tests.judges.llm_setup import asked_in, reply_of
from tests.judges.panel import Told, told_kinds
from tests.llm.scripted_server import Answer, Call, ScriptedServer, said
from tests.support.cost_plans import (
    CHAT,
    LEAD,
    LISTING,
    PRICES,
    ROOT,
    calls,
    models_at,
    sample_notes,
)
from tests.support.cost_plans import planned as plan_of
from tests.units.dividing import parts_of

LEXICAL = {"kind": "lexical", "threshold": 0.6, "window": 60}
ASKS, SILENT = {"kind": "asks", "name": "x"}, {"kind": "told", "name": "x"}
LLM = {"kind": "llm", "model": "m", "style": "json", "per_call": "part", "shots": 1, "rounds": 1}
MODELS = models_at("http://127.0.0.1:9/v1")


@pytest.fixture(scope="module")
def known() -> Tables:
    return sample_notes()


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


@pytest.fixture(autouse=True)
def kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kind `asks` puts a question per premise: for claim_recall that is the system's text."""
    told_kinds(monkeypatch, {"x": Told({})})


def planned(known: Tables, ledger: Path, judges: Any, systems: Any = None, **more: Any) -> Plan:
    settings = {"measures": ("claim_recall",), "models": MODELS} | more
    models = settings.pop("models")
    return plan_of(known, models, ledger, judges=judges, systems=systems, **settings)


MINI = {"one": CHAT, "two": CHAT | {"citations": False}}


@pytest.mark.parametrize(
    ("judge", "systems", "more", "expected", "note"),
    [
        (SILENT, {"lead": LEAD}, {}, [], None),
        (ASKS, {"lead": LEAD}, {}, [("judge-j", 1)], None),
        # For claim_precision it is the reference, whoever made the claims.
        (ASKS, {"a": LEAD, "b": LEAD}, {"measures": ("claim_precision",)}, [("judge-j", 1)], None),
        # Two systems' stand-ins are the same reference, but their texts will not be.
        (ASKS, MINI, {}, [("generate-one", 1), ("generate-two", 1), ("judge-j", 2)],
         "text(s) of one are not written yet; their claims, and what judges are asked about them,"),
        (ASKS, {"lead": LEAD}, {"decomposition": LISTING}, [("decompose", 2), ("judge-j", 1)],
         "part(s) are not listed yet"),
    ],
    ids=["nobody", "read once", "reference", "not written", "not listed"],
)  # fmt: skip
def test_questions_are_counted_by_stage(
    known, ledger, judge, systems, more, expected, note
) -> None:
    plan = planned(known, ledger, {"j": judge}, systems, **more)
    notes = len(known.sources)
    assert calls(plan) == [(stage, times * notes, 0) for stage, times in expected]
    assert [note in line for line in plan.notes[:1]] == ([True] if note else [])


def test_what_the_ledger_has_is_not_asked(known, ledger) -> None:
    """Five of the references, as if they had been the premises of somebody's claims."""
    with Ledger(ledger) as opened:
        for text in known.texts["text"].iloc[:5]:
            question = ChatRequest("m-1", (Message("user", text),), None, 0.0, None, 9)
            answer = Entry(question.key, "ok", "stop", 5, 1, "yes")
            opened.store(question.canonical, answer, model="m-1", endpoint_kind="openai")
    plan = planned(known, ledger, {"j": ASKS}, {"lead": LEAD}, measures=("claim_precision",))
    assert calls(plan) == [("judge-j", len(known.sources), 5)]


def test_members_are_counted_and_what_two_judges_ask_is_asked_once(known, ledger) -> None:
    judges = {
        "panel": {"kind": "jury", "by": "majority", "members": {"a": ASKS, "b": SILENT, "c": ASKS}},
        "steps": {"kind": "cascade", "members": {"first": SILENT, "then": ASKS}},
    }
    notes = len(known.sources)
    plan = planned(known, ledger, judges, {"lead": LEAD})
    assert calls(plan) == [
        *[("judge-panel", notes, 0), ("judge-panel", 0, 0), ("judge-steps", 0, 0)]
    ]
    twice, steps, thrice = plan.notes
    shared = f"{notes} of its questions are another judge's, too, and counted there"
    assert (twice, thrice) == (f"judge-panel: {shared}", f"judge-steps: {shared}")
    assert steps.startswith("judge-steps is counted as if the first judge of its cascade were sure")


def test_a_judge_that_cannot_answer_is_told_as_its_stage_would(known, ledger, monkeypatch) -> None:
    told_kinds(monkeypatch, {"x": Told({})}, ("attribution",))
    with pytest.raises(BadInput, match="judges > j: cannot answer instrument 'entailment'"):
        planned(known, ledger, {"j": ASKS}, {"lead": LEAD})


def test_answers_are_as_long_as_their_style_and_not_as_the_texts(known, ledger) -> None:
    systems = {"lead": LEAD, "more": LEAD | {"passages": 9}}
    measures = ("claim_recall", "preference")
    plain = LLM | {"style": "plain"}
    (plan,) = planned(known, ledger, {"j": plain}, systems, measures=measures).planned
    claims = planned(known, ledger, {"j": plain | {"per_call": "claim"}}, systems)
    recall = claims.planned[0].estimate.calls  # a claim each
    compared = 2 * len(known.sources)  # in both orders
    assert plan.estimate.completion_tokens == pytest.approx(5 * (recall + compared), abs=1)


DOCLENS = ("claim_recall", "claim_precision", "citation_recall", "citation_precision")


def entails(call: Call) -> Answer:
    """Everything is entailed, by the first passage."""
    question = asked_in(call.body["messages"][-1]["content"])
    by = {"passages": [1]} if isinstance(question.material, list) else {}
    return said(
        reply_of("json", [{"number": n, "label": "entailed"} | by for n in question.numbers])
    )


def answered(known: Tables, ledger: Path, models: Models, judge: Mapping[str, Any]) -> pd.DataFrame:
    """What the stages do with the texts of `lead`."""
    sources = known.sources
    lead = choose(SYSTEMS, LEAD, where="it")
    written = write_texts(sources, "lead", lead, Resources(Path("nowhere"))).texts
    whole = choose(SEGMENTATIONS, {"kind": "whole"}, where="it")
    parts = parts_of(pd.concat([known.texts, written], ignore_index=True), sources, whole)
    clauses = choose(DECOMPOSITIONS, {"kind": "clauses"}, where="it")
    units = clauses.record.take_apart(
        parts, sources, clauses.options, Resources(Path("nowhere"))
    ).units
    # Each statement is aligned with nothing, which no measure here reads.
    nowhere = units.loc[units["kind"] == "statement", ["doc_id", "author", "part", "position"]]
    aligned = nowhere.assign(method="none", passages=[[] for _ in range(len(nowhere))])
    questions = Questions(measures=DOCLENS, against="full", borrow=False)
    pairs = build_pairs(sources, parts, units, {"it": aligned}, questions)
    chosen = choose(JUDGES, dict(judge), where="it")
    with Session(models, None, {"sample": "public"}, ["sample"], ledger=ledger) as connected:
        judge_ = make_judge(chosen, connected.provide)
        return judge_pairs(pairs, "j", judge_, instruments_of(chosen), batch=chosen.record.batch)


def test_an_llm_judge_costs_what_was_estimated(known, ledger) -> None:
    """Alone, and then nothing more as a member."""
    known = known._replace(sources=known.sources.iloc[:3], texts=known.texts.iloc[:3])
    panel = {"kind": "jury", "by": "majority", "members": {"a": LLM, "b": LEXICAL, "c": LEXICAL}}
    with ScriptedServer(entails) as server:
        models = models_at(server.base_url, structured=True, prices=PRICES)

        def estimates(judge: Mapping[str, Any]) -> Estimate:
            settings = {"measures": DOCLENS, "models": models}
            plan = planned(known, ledger, {"j": judge}, {"lead": LEAD}, **settings)
            assert not plan.notes
            return plan.planned[0].estimate

        before = estimates(LLM)
        assert not server.calls
        judgments = answered(known, ledger, models, LLM)
        assert set(judgments["status"]) == {"ok"}
        assert before.calls == len(server.calls) == len(set(server.requests))
        read, written = server.tokens["prompt"], server.tokens["completion"]
        assert before.prompt_tokens == pytest.approx(read, rel=0.1)
        assert written <= before.completion_tokens_at_most
        paid = (read * 0.4 + written * 1.6) / 1e6
        assert before.cost_at_most is not None
        assert paid <= before.cost_at_most
        for judge in (LLM, panel):
            after = estimates(judge)
            assert (after.calls, after.calls_in_ledger) == (before.calls, before.calls)
            assert after.cost == after.cost_at_most == 0
        together = answered(known, ledger, models, panel)
        assert before.calls == len(server.calls)  # the panel asked nothing that was not known
        assert len(together) <= len(judgments)


def test_what_the_judges_of_a_judge_test_ask(ledger) -> None:
    """The kind `asks` puts a question per premise."""
    params = load(ROOT)
    premises = set(pd.read_csv(ROOT / "data/sample_claims/claims.csv")["premise"])
    endpoint = {"kind": "openai", "base_url": "http://127.0.0.1:9/v1"}
    model = {"endpoint": "here", "model": "m-1", "max_tokens": 2000}
    blocks = {"judges": {"j": ASKS}, "endpoints": {"here": endpoint}, "models": {"m": model}}
    params = params.model_copy(update=blocks)
    test = params.judge_tests["sample_claims"]
    here = {"judges": ["j"], "raw": str(ROOT / test.raw)}
    params.judge_tests["sample_claims"] = test.model_copy(update=here)
    registry = load_registry(ROOT / REGISTRY)
    access = {name: dataset.access for name, dataset in registry.items()}
    models = parse_models(params.endpoints, params.models)
    with Session(models, None, access, [test.dataset], dry=True, ledger=ledger) as session:
        plan = plan_test(params, "sample_claims", registry, session)
        assert refusals(params, "sample_claims", session, plan.planned) == []
    assert calls(plan) == [("judge-j", len(premises), 0)]

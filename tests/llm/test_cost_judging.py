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
ASKS, TOLD = {"kind": "asks", "name": "x"}, {"kind": "told", "name": "x"}
MODELS = models_at("http://127.0.0.1:9/v1")


@pytest.fixture(scope="module")
def known() -> Tables:
    return sample_notes()


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


def planned(
    given: Tables,
    ledger: Path,
    judges: Mapping[str, Mapping[str, Any]],
    systems: Mapping[str, Mapping[str, Any]] | None = None,
    decomposition: Mapping[str, Any] | None = None,
    measures: tuple[str, ...] = ("claim_recall",),
    models: Models = MODELS,
) -> Plan:
    stages = {"systems": systems, "decomposition": decomposition, "measures": measures}
    return plan_of(given, models, ledger, judges=judges, **stages)


@pytest.fixture(autouse=True)
def kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    told_kinds(monkeypatch, {"x": Told({})})


def test_a_judge_that_asks_nobody_costs_nothing(known, ledger) -> None:
    assert planned(known, ledger, {"j": TOLD}, {"lead": LEAD}) == Plan([], [])


def test_texts_that_are_there_are_read_once(known, ledger) -> None:
    """The kind `asks` puts a question per premise: for claim_recall that is the system's text."""
    found = planned(known, ledger, {"j": ASKS}, {"lead": LEAD})
    assert calls(found) == [("judge-j", len(known.sources), 0)]
    assert not found.notes
    # For claim_precision it is the reference, whoever made the claims.
    both = planned(
        known, ledger, {"j": ASKS}, {"lead": LEAD, "more": LEAD}, measures=("claim_precision",)
    )
    assert calls(both) == [("judge-j", len(known.sources), 0)]


def test_texts_that_are_not_written_yet_are_asked_about_each_by_itself(known, ledger) -> None:
    """Two systems' stand-ins are the same reference, but their texts will not be."""
    notes = len(known.sources)
    found = planned(known, ledger, {"j": ASKS}, {"one": CHAT, "two": CHAT | {"citations": False}})
    assert calls(found)[2:] == [("judge-j", 2 * notes, 0)]
    said = (
        " text(s) of one are not written yet; their claims, and what judges are asked about them,"
    )
    assert found.notes[0].startswith(f"{notes}{said}")


def test_claims_that_are_not_listed_yet_are_clauses(known, ledger) -> None:
    found = planned(known, ledger, {"j": ASKS}, {"lead": LEAD}, LISTING)
    notes = len(known.sources)
    assert calls(found) == [("decompose", 2 * notes, 0), ("judge-j", notes, 0)]
    assert f"the claims of {2 * notes} part(s) are not listed yet" in found.notes[0]


def test_what_the_ledger_has_is_not_asked(known, ledger) -> None:
    """Five of the references, as if they had been the premises of somebody's claims."""
    with Ledger(ledger) as opened:
        for text in known.texts["text"].iloc[:5]:
            asked = ChatRequest("m-1", (Message("user", text),), None, 0.0, None, 9)
            answer = Entry(asked.key, "ok", "stop", 5, 1, "yes")
            opened.store(asked.canonical, answer, model="m-1", endpoint_kind="openai")
    found = planned(known, ledger, {"j": ASKS}, {"lead": LEAD}, measures=("claim_precision",))
    assert calls(found) == [("judge-j", len(known.sources), 5)]


def test_members_are_counted_and_what_two_judges_ask_is_asked_once(known, ledger) -> None:
    judges = {
        "panel": {"kind": "jury", "by": "majority", "members": {"a": ASKS, "b": TOLD, "c": ASKS}},
        "steps": {"kind": "cascade", "members": {"first": TOLD, "then": ASKS}},
    }
    notes = len(known.sources)
    found = planned(known, ledger, judges, {"lead": LEAD})
    assert calls(found) == [
        ("judge-panel", notes, 0),
        ("judge-panel", 0, 0),
        ("judge-steps", 0, 0),
    ]
    twice, steps, thrice = found.notes
    assert (
        twice
        == f"judge-panel: {notes} of its questions are another judge's, too, and counted there"
    )
    assert steps.startswith("judge-steps is counted as if the first judge of its cascade were sure")
    assert thrice.startswith(f"judge-steps: {notes} of its questions")


def test_a_judge_that_cannot_answer_is_told_as_its_stage_would(known, ledger, monkeypatch) -> None:
    told_kinds(monkeypatch, {"x": Told({})}, ("attribution",))
    with pytest.raises(BadInput, match="judges > j: cannot answer instrument 'entailment'"):
        planned(known, ledger, {"j": ASKS}, {"lead": LEAD})


def test_answers_are_as_long_as_their_style_and_not_as_the_texts(known, ledger) -> None:
    systems = {"lead": LEAD, "more": LEAD | {"passages": 9}}
    measures = ("claim_recall", "preference")
    found = planned(known, ledger, {"j": LLM | {"style": "plain"}}, systems, None, measures)
    (calls_,) = [one.estimate for one in found.planned]
    claims = planned(known, ledger, {"j": LLM | {"style": "plain", "per_call": "claim"}}, systems)
    recall = claims.planned[0].estimate.calls  # a claim each
    compared = 2 * len(known.sources)  # in both orders
    assert calls_.completion_tokens == pytest.approx(5 * (recall + compared), abs=1)


DOCLENS = ("claim_recall", "claim_precision", "citation_recall", "citation_precision")
LLM = {"kind": "llm", "model": "m", "style": "json", "per_call": "part", "shots": 1, "rounds": 1}


def entails(call: Call) -> Answer:
    """Everything is entailed, by the first passage."""
    asked = asked_in(call.body["messages"][-1]["content"])
    by = {"passages": [1]} if isinstance(asked.material, list) else {}
    return said(reply_of("json", [{"number": n, "label": "entailed"} | by for n in asked.numbers]))


def answered(given: Tables, ledger: Path, models: Models, judge: Mapping[str, Any]) -> pd.DataFrame:
    """What the stages do with the texts of `lead`."""
    sources = given.sources
    lead = choose(SYSTEMS, LEAD, where="it")
    written = write_texts(sources, "lead", lead, Resources(Path("nowhere"))).texts
    whole = choose(SEGMENTATIONS, {"kind": "whole"}, where="it")
    parts = parts_of(pd.concat([given.texts, written], ignore_index=True), sources, whole)
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
        made = make_judge(chosen, connected.provide)
        return judge_pairs(pairs, "j", made, instruments_of(chosen), batch=chosen.record.batch)


def test_an_llm_judge_costs_what_was_estimated(known, ledger) -> None:
    """Alone, and then nothing more as a member."""
    known = known._replace(sources=known.sources.iloc[:3], texts=known.texts.iloc[:3])
    panel = {"kind": "jury", "by": "majority", "members": {"a": LLM, "b": LEXICAL, "c": LEXICAL}}
    with ScriptedServer(entails) as server:
        models = models_at(server.base_url, structured=True, prices=PRICES)

        def estimates(judge: Mapping[str, Any]) -> Estimate:
            found = planned(known, ledger, {"j": judge}, {"lead": LEAD}, None, DOCLENS, models)
            assert not found.notes
            return found.planned[0].estimate

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
    params = params.model_copy(
        update={
            "judges": {"j": ASKS},
            "endpoints": {"here": endpoint},
            "models": {"m": {"endpoint": "here", "model": "m-1", "max_tokens": 2000}},
        }
    )
    own = params.judge_tests["sample_claims"]
    here = {"judges": ["j"], "raw": str(ROOT / own.raw)}
    params.judge_tests["sample_claims"] = own.model_copy(update=here)
    registry = load_registry(ROOT / REGISTRY)
    access = {name: dataset.access for name, dataset in registry.items()}
    models = parse_models(params.endpoints, params.models)
    with Session(models, None, access, [own.dataset], dry=True, ledger=ledger) as session:
        found = plan_test(params, "sample_claims", registry, session)
        assert refusals(params, "sample_claims", session, found.planned) == []
    assert calls(found) == [("judge-j", len(premises), 0)]

"""What stages that ask and judges will cost, counted beforehand, against what a server counts."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.core.kinds import choose
from metassay.core.params import load
from metassay.datasets.ingest import Tables, ingest
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
from metassay.scoring.pairing.rubrics import rubric_pairs
from metassay.scoring.rubrics.record import RUBRICS, load_rubric
from metassay.tables.names import REFERENCE
from metassay.text.sentences import sentences
from metassay.units import DECOMPOSITIONS, SEGMENTATIONS
from metassay.units.segment import segment
from tests.judges import llm_setup, rubric_setup
from tests.judges.panel import ScriptedJudge, scripted_kinds
from tests.llm.scripted_server import Answer, Call, ScriptedServer, answer_with
from tests.support.cost_plans import (
    CHAT,
    LEAD,
    LISTING,
    PRICES,
    ROOT,
    calls,
    models_at,
    planned,
    sample_notes,
)
from tests.units.dividing import parts_of

SOAP = {"kind": "soap", "compat": "none"}


def asked_text(call: Call) -> str:
    """The text that a question is about."""
    text = re.search(
        r'"text":"((?:[^"\\]|\\.)*)"', str(call.body["messages"][-1]["content"])
    )
    assert text is not None
    return str(json.loads(f'"{text[1]}"'))


def item(**fields: object) -> Answer:
    return answer_with(
        json.dumps({"items": [{"number": 1, **fields}]}, ensure_ascii=False)
    )


def session(models: Models, ledger: Path) -> Session:
    return Session(models, None, {"sample": "public"}, ["sample"], ledger=ledger)


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


def parts_with_lead(known: Tables) -> pd.DataFrame:
    """The parts of people's texts, and of those of `lead`."""
    lead = choose(SYSTEMS, LEAD, where="it")
    written = write_texts(known.sources, "lead", lead, Resources(Path("nowhere"))).texts
    texts = pd.concat([known.texts, written], ignore_index=True)
    whole = choose(SEGMENTATIONS, {"kind": "whole"}, where="it")
    return parts_of(texts, known.sources, whole)


def judge(
    pairs: pd.DataFrame, block: Mapping[str, Any], models: Models, ledger: Path
) -> Any:
    chosen = choose(JUDGES, dict(block), where="it")
    with session(models, ledger) as connected:
        judging = make_judge(chosen, connected.provide)
        settings = {"batch": chosen.record.batch}
        return judge_pairs(pairs, "j", judging, instruments_of(chosen), **settings)


class Stages:
    """The sample, for which a model writes and takes every text apart."""

    def __init__(
        self, known: Tables, base_url: str, ledger: Path, *, structured: bool
    ) -> None:
        self.known, self.ledger = known, ledger
        self.models = models_at(base_url, structured=structured, prices=PRICES)

    def generate(self) -> pd.DataFrame:
        writer = choose(SYSTEMS, CHAT, where="systems > writer")
        with session(self.models, self.ledger) as connected:
            resources = connected.provide(writer)
            return write_texts(self.known.sources, "writer", writer, resources).texts

    def decompose(self, texts: pd.DataFrame) -> pd.DataFrame:
        apart, sources = choose(DECOMPOSITIONS, LISTING, where="it"), self.known.sources
        parts = parts_of(texts, sources, choose(SEGMENTATIONS, SOAP, where="it"))
        with session(self.models, self.ledger) as connected:
            resources = connected.provide(apart)
            return apart.record.take_apart(
                parts, sources, apart.options, resources
            ).units

    def estimates(self) -> dict[str, Estimate]:
        stages = {
            "systems": {"writer": CHAT},
            "segmentation": SOAP,
            "decomposition": LISTING,
        }
        plan = planned(self.known, self.models, self.ledger, **stages).planned
        return {planned_.stage: planned_.estimate for planned_ in plan}


def writer(known: Tables) -> Callable[[Call], Answer]:
    """Writes each document's reference, with other full stops; claims: longer sentences."""
    texts = known.texts[known.texts["author"] == REFERENCE].set_index("doc_id")["text"]
    notes = {
        json.dumps(passages[0], ensure_ascii=False): re.sub(
            r"\.(?=\s|$)", "!", texts[doc_id]
        )
        for doc_id, passages in zip(
            known.sources["doc_id"], known.sources["passages"], strict=True
        )
    }

    def script(call: Call) -> Answer:
        if call.is_claims:
            claims = re.split(r"(?<=[.!?])\s+", asked_text(call))[:30]
            return item(
                claims=[f"It is stated of the patient that {claim}" for claim in claims]
            )
        question = str(call.body["messages"][-1]["content"])
        return answer_with(
            next(note for first, note in notes.items() if first in question)
        )

    return script


@pytest.fixture(scope="module")
def known() -> Tables:
    return ingest(
        "files", ROOT / "data/sample", load(ROOT).benchmarks["sample"].criteria
    )


@pytest.fixture
def server(known: Tables) -> Iterator[ScriptedServer]:
    with ScriptedServer(writer(known)) as running:
        yield running


def counted(server: ScriptedServer) -> tuple[int, int, float]:
    """Tokens read, written, and the bill, since the last count."""
    read, written = server.tokens["prompt"], server.tokens["completion"]
    server.tokens.clear()
    bill = read * PRICES["input_per_million"] + written * PRICES["output_per_million"]
    return read, written, bill / 1e6


def check(
    estimate: Estimate, read: int, written: int, paid: float, *, length: bool
) -> None:
    assert estimate.prompt_tokens == pytest.approx(read, rel=0.1)
    assert estimate.cost is not None
    assert estimate.cost_at_most is not None
    if length:
        assert estimate.completion_tokens == pytest.approx(written, rel=0.1)
        assert estimate.cost == pytest.approx(paid, rel=0.1)
    assert written <= estimate.completion_tokens_at_most
    assert max(paid, estimate.cost) <= estimate.cost_at_most
    assert estimate.currency == "EUR"


@pytest.mark.parametrize("structured", [False, True])
def test_both_stages_cost_what_was_estimated(
    ledger, server, known, structured: bool
) -> None:
    here = Stages(known, server.base_url, ledger, structured=structured)
    before = here.estimates()
    assert not server.calls
    written = here.generate()
    assert before["generate-writer"].calls == len(server.calls) == len(known.sources)
    check(before["generate-writer"], *counted(server), length=True)
    # What is written now is taken apart, not the references that stood for it.
    again = here.estimates()
    assert again["generate-writer"].calls_in_ledger == len(known.sources)
    assert again["generate-writer"].cost == again["generate-writer"].cost_at_most == 0

    here.decompose(known.texts[known.texts["author"] == REFERENCE])
    half = counted(server)
    rest = here.estimates()
    here.decompose(pd.concat([known.texts, written], ignore_index=True))
    other = counted(server)
    total = tuple(a + b for a, b in zip(half, other, strict=True))
    claims = [call for call in server.calls if call.is_claims]
    assert before["decompose"].calls == again["decompose"].calls == len(claims)
    assert all(("response_format" in call.body) is structured for call in claims)
    # How long lists of claims are is not known until there are some: then it is.
    check(before["decompose"], *total, length=False)
    check(again["decompose"], *total, length=False)
    check(rest["decompose"], *other, length=True)
    assert "past ones were" in rest["decompose"].counted


def test_no_bill_is_above_the_bound_even_if_every_list_is_asked_for_again(
    ledger, server, known
) -> None:
    wordy = "no list, but many words " * 330  # just below max_tokens
    server.script = lambda call: answer_with(wordy)
    here = Stages(known, server.base_url, ledger, structured=True)
    bound = here.estimates()["decompose"]
    units = here.decompose(known.texts[known.texts["author"] != REFERENCE])
    claims = units[
        (units["kind"] == "claim") & (units["doc_id"].str.startswith("note"))
    ]
    assert set(claims["status"]) == {"unparsed"}
    _, written, paid = counted(server)
    # each was asked twice, though fewer texts were
    assert len(server.calls) > bound.calls
    assert bound.completion_tokens < written <= bound.completion_tokens_at_most
    assert paid <= bound.cost_at_most


NAMES = ["background", "method", "result", "conclusion"]
FACETS = {"kind": "llm_facets", "model": "m", "facets": NAMES, "shots": 0, "rounds": 1}


def test_facets_are_counted_before_they_are_sent_and_what_comes_after_them_too(
    ledger,
) -> None:
    known = sample_notes(6)
    notes = len(known.sources)

    def script(call: Call) -> Answer:  # every sentence is a result, and copied as it is
        note = asked_text(call)
        copied = [note[start:end] for start, end in sentences(note)]
        return item(facets={name: copied if name == "result" else [] for name in NAMES})

    with ScriptedServer(script) as server:
        models = models_at(server.base_url)
        stages = {"segmentation": FACETS, "decomposition": LISTING}
        plan = planned(known, models, ledger, systems={"mini": CHAT}, **stages)
        # A text that is not written yet is a question by itself, and so are its facets'
        # claims.
        decompose = ("decompose", 2 * notes * len(NAMES), 0)
        assert calls(plan) == [
            ("generate-mini", notes, 0),
            ("segment", 2 * notes, 0),
            decompose,
        ]
        assert plan.notes[-1].startswith(
            f"the facets of {2 * notes} text(s) are not known yet"
        )
        assert not server.calls
        before = planned(known, models, ledger, **stages).planned[0].estimate
        facets = choose(SEGMENTATIONS, FACETS, where="it")
        with session(models, ledger) as connected:
            resources = connected.provide(facets)
            parts, _ = segment(
                known.texts, known.sources, known.segments, facets, resources
            )
        assert before.calls == len(server.calls) == notes
        assert before.prompt_tokens == pytest.approx(server.tokens["prompt"], rel=0.1)
        assert before.completion_tokens == pytest.approx(
            server.tokens["completion"], rel=0.15
        )
        assert set(parts["part"]) == {"full", "result"}
        after = planned(known, models, ledger, **stages)
    assert calls(after) == [("segment", notes, notes), ("decompose", notes, 0)]
    assert after.notes == []


TWO = """\
title: Tone
source: Invented
overall: none
criteria:
  warm: &shared
    kind: scale
    asks: How warm is it?
    reads: full
    against: reference
    value: share
    levels: {"1": Cold., "2": Warm.}
  brief: *shared
"""


def highest(call: Call) -> Answer:
    """The highest level of each scale, and the text's beginning as evidence."""
    question = rubric_setup.asked_in(call.body["messages"][-1]["content"])
    entries = [
        {
            "number": number,
            "quotes": [question.text[:20]],
            "grade": len(scale["levels"]),
        }
        for number, scale in question.criteria.items()
    ]
    return answer_with(rubric_setup.json_reply(entries))


def test_rubrics_cost_what_was_estimated(ledger, tmp_path) -> None:
    """All scales that read a text against a reference are a call, of whatever rubric."""
    (tmp_path / "tone.yaml").write_text(TWO, encoding="utf-8")
    rubrics = [
        load_rubric(tmp_path / "tone.yaml"),
        load_rubric(ROOT / RUBRICS / "vanilla.yaml"),
    ]
    known = sample_notes(5)
    llm = LLM | {"shots": 0}
    stages = {"judges": {"j": llm}, "rubrics": rubrics, "systems": {"lead": LEAD}}
    notes = len(known.sources)
    with ScriptedServer(highest) as server:
        models = models_at(server.base_url, structured=True)
        before = planned(known, models, ledger, **stages)
        assert (calls(before), before.notes) == ([("judge-j", notes, 0)], [])
        assert not server.calls
        parts = parts_with_lead(known)
        pairs = [rubric_pairs(known.sources, parts, rubric, ()) for rubric in rubrics]
        judgments = judge(pd.concat(pairs, ignore_index=True), llm, models, ledger)
        assert len(server.calls) == notes
        assert sorted(judgments["grade"]) == [2.0] * 2 * notes + [4.0] * notes
        estimate = before.planned[0].estimate
        assert estimate.prompt_tokens == pytest.approx(server.tokens["prompt"], rel=0.1)
        assert server.tokens["completion"] <= estimate.completion_tokens_at_most
        assert calls(planned(known, models, ledger, **stages)) == [
            ("judge-j", notes, notes)
        ]


# ---- judges ------------------------------------------------------------------------------------

LEXICAL = {"kind": "lexical", "threshold": 0.6, "window": 60}
ASKS, SILENT = {"kind": "asks", "name": "x"}, {"kind": "told", "name": "x"}
LLM = {
    "kind": "llm",
    "model": "m",
    "style": "json",
    "per_call": "part",
    "shots": 1,
    "rounds": 1,
}
MODELS = models_at("http://127.0.0.1:9/v1")


@pytest.fixture
def notes(monkeypatch: pytest.MonkeyPatch) -> Tables:
    """The sample's notes. The kind `asks` puts a question per premise: for claim_recall a text."""
    scripted_kinds(monkeypatch, {"x": ScriptedJudge({})})
    return sample_notes()


def plan_judges(
    known: Tables, ledger: Path, judges: Any, systems: Any = None, **more: Any
) -> Plan:
    settings = {"measures": ("claim_recall",), "models": MODELS} | more
    models = settings.pop("models")
    return planned(known, models, ledger, judges=judges, systems=systems, **settings)


MINI = {"one": CHAT, "two": CHAT | {"citations": False}}


@pytest.mark.parametrize(
    ("block", "systems", "more", "expected", "note"),
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
    notes, ledger, block, systems, more, expected, note
) -> None:
    plan = plan_judges(notes, ledger, {"j": block}, systems, **more)
    many = len(notes.sources)
    assert calls(plan) == [(stage, times * many, 0) for stage, times in expected]
    assert [note in line for line in plan.notes[:1]] == ([True] if note else [])


def test_what_the_ledger_has_is_not_asked(notes, ledger) -> None:
    """Five of the references, as if they had been the premises of somebody's claims."""
    with Ledger(ledger) as opened:
        for text in notes.texts["text"].iloc[:5]:
            question = ChatRequest("m-1", (Message("user", text),), None, 0.0, None, 9)
            answer = Entry(question.key, "ok", "stop", 5, 1, "yes")
            opened.store(
                question.canonical, answer, model="m-1", endpoint_kind="openai"
            )
    plan = plan_judges(
        notes, ledger, {"j": ASKS}, {"lead": LEAD}, measures=("claim_precision",)
    )
    assert calls(plan) == [("judge-j", len(notes.sources), 5)]


def test_members_are_counted_and_what_two_judges_ask_is_asked_once(
    notes, ledger
) -> None:
    judges = {
        "panel": {
            "kind": "jury",
            "by": "majority",
            "members": {"a": ASKS, "b": SILENT, "c": ASKS},
        },
        "steps": {"kind": "cascade", "members": {"first": SILENT, "then": ASKS}},
    }
    many = len(notes.sources)
    plan = plan_judges(notes, ledger, judges, {"lead": LEAD})
    expected = [("judge-panel", many, 0), ("judge-panel", 0, 0), ("judge-steps", 0, 0)]
    assert calls(plan) == expected
    twice, steps, thrice = plan.notes
    shared = f"{many} of its questions are another judge's, too, and counted there"
    assert (twice, thrice) == (f"judge-panel: {shared}", f"judge-steps: {shared}")
    assert steps.startswith(
        "judge-steps is counted as if the first judge of its cascade were sure"
    )


def test_a_judge_that_cannot_answer_is_told_as_its_stage_would(
    notes, ledger, monkeypatch
) -> None:
    scripted_kinds(monkeypatch, {"x": ScriptedJudge({})}, ("attribution",))
    with pytest.raises(
        BadInput, match="judges > j: cannot answer instrument 'entailment'"
    ):
        plan_judges(notes, ledger, {"j": ASKS}, {"lead": LEAD})


def test_answers_are_as_long_as_their_style_and_not_as_the_texts(notes, ledger) -> None:
    systems = {"lead": LEAD, "more": LEAD | {"passages": 9}}
    measures = ("claim_recall", "preference")
    plain = LLM | {"style": "plain"}
    (plan,) = plan_judges(
        notes, ledger, {"j": plain}, systems, measures=measures
    ).planned
    claims = plan_judges(notes, ledger, {"j": plain | {"per_call": "claim"}}, systems)
    recall = claims.planned[0].estimate.calls  # a claim each
    compared = 2 * len(notes.sources)  # in both orders
    assert plan.estimate.completion_tokens == pytest.approx(
        5 * (recall + compared), abs=1
    )


DOCLENS = ("claim_recall", "claim_precision", "citation_recall", "citation_precision")


def entails(call: Call) -> Answer:
    """Everything is entailed, by the first passage."""
    question = llm_setup.asked_in(call.body["messages"][-1]["content"])
    by = {"passages": [1]} if isinstance(question.material, list) else {}
    labels = [{"number": n, "label": "entailed"} | by for n in question.numbers]
    return answer_with(llm_setup.reply_of("json", labels))


def pairs_of(known: Tables) -> pd.DataFrame:
    """What the stages would ask of the texts of `lead`."""
    sources, parts = known.sources, parts_with_lead(known)
    clauses, resources = (
        choose(DECOMPOSITIONS, {"kind": "clauses"}, where="it"),
        Resources(Path()),
    )
    units = clauses.record.take_apart(parts, sources, clauses.options, resources).units
    # Each statement is aligned with nothing, which no measure here reads.
    nowhere = units.loc[
        units["kind"] == "statement", ["doc_id", "author", "part", "position"]
    ]
    aligned = nowhere.assign(method="none", passages=[[] for _ in range(len(nowhere))])
    questions = Questions(measures=DOCLENS, against="full", borrow=False)
    return build_pairs(sources, parts, units, {"it": aligned}, questions)


def test_an_llm_judge_costs_what_was_estimated(notes, ledger) -> None:
    """Alone, and then nothing more as a member."""
    notes = notes._replace(sources=notes.sources.iloc[:3], texts=notes.texts.iloc[:3])
    panel = {
        "kind": "jury",
        "by": "majority",
        "members": {"a": LLM, "b": LEXICAL, "c": LEXICAL},
    }
    with ScriptedServer(entails) as server:
        models = models_at(server.base_url, structured=True, prices=PRICES)

        def estimates(block: Mapping[str, Any]) -> Estimate:
            settings = {"measures": DOCLENS, "models": models}
            plan = plan_judges(notes, ledger, {"j": block}, {"lead": LEAD}, **settings)
            assert not plan.notes
            return plan.planned[0].estimate

        before = estimates(LLM)
        assert not server.calls
        judgments = judge(pairs_of(notes), LLM, models, ledger)
        assert set(judgments["status"]) == {"ok"}
        assert before.calls == len(server.calls) == len(set(server.requests))
        read, written = server.tokens["prompt"], server.tokens["completion"]
        assert before.prompt_tokens == pytest.approx(read, rel=0.1)
        assert written <= before.completion_tokens_at_most
        paid = (read * 0.4 + written * 1.6) / 1e6
        assert before.cost_at_most is not None
        assert paid <= before.cost_at_most
        for block in (LLM, panel):
            after = estimates(block)
            assert (after.calls, after.calls_in_ledger) == (before.calls, before.calls)
            assert after.cost == after.cost_at_most == 0
        together = judge(pairs_of(notes), panel, models, ledger)
        # the panel asked nothing that was not known
        assert before.calls == len(server.calls)
        assert len(together) <= len(judgments)


def test_what_the_judges_of_a_judge_test_ask(notes, ledger) -> None:
    params = load(ROOT)
    premises = set(pd.read_csv(ROOT / "data/sample_claims/claims.csv")["premise"])
    endpoint = {"kind": "openai", "base_url": "http://127.0.0.1:9/v1"}
    model = {"endpoint": "here", "model": "m-1", "max_tokens": 2000}
    blocks = {
        "judges": {"j": ASKS},
        "endpoints": {"here": endpoint},
        "models": {"m": model},
    }
    params = params.model_copy(update=blocks)
    test = params.judge_tests["sample_claims"]
    here = {"judges": ["j"], "raw": str(ROOT / test.raw)}
    params.judge_tests["sample_claims"] = test.model_copy(update=here)
    registry = load_registry(ROOT / REGISTRY)
    access = {name: dataset.access for name, dataset in registry.items()}
    models = parse_models(params.endpoints, params.models)
    with Session(
        models, None, access, [test.dataset], dry=True, ledger=ledger
    ) as session:
        plan = plan_test(params, "sample_claims", registry, session)
        assert refusals(params, "sample_claims", session, plan.planned) == []
    assert calls(plan) == [("judge-j", len(premises), 0)]

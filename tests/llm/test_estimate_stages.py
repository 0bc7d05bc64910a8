"""What stages that ask will cost, estimated beforehand, against what a server counts."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest

from metassay.core.kinds import choose
from metassay.core.params import load
from metassay.datasets.ingest import Tables, ingest
from metassay.generation import SYSTEMS
from metassay.generation.record import write_texts
from metassay.judges import JUDGES
from metassay.judges.make import instruments_of, make_judge
from metassay.judges.run import judge_pairs
from metassay.llm.budget import Estimate
from metassay.llm.endpoints import Models
from metassay.llm.needs import Resources
from metassay.llm.session import Session
from metassay.scoring.pairing.rubrics import rubric_pairs
from metassay.scoring.rubrics.record import RUBRICS, load_rubric
from metassay.tables.names import REFERENCE
from metassay.text.sentences import sentences
from metassay.units import DECOMPOSITIONS, SEGMENTATIONS
from metassay.units.segment import segment
from tests.judges.rubric_setup import asked_in, json_reply
from tests.llm.scripted_server import Answer, Call, ScriptedServer, said
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
    text = re.search(r'"text":"((?:[^"\\]|\\.)*)"', str(call.body["messages"][-1]["content"]))
    assert text is not None
    return str(json.loads(f'"{text[1]}"'))


def item(**fields: object) -> Answer:
    return said(json.dumps({"items": [{"number": 1, **fields}]}, ensure_ascii=False))


def session(models: Models, ledger: Path) -> Session:
    return Session(models, None, {"sample": "public"}, ["sample"], ledger=ledger)


class Stages:
    """The sample, for which a model writes and takes every text apart."""

    def __init__(self, known: Tables, base_url: str, ledger: Path, *, structured: bool) -> None:
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
            return apart.record.take_apart(parts, sources, apart.options, resources).units

    def estimates(self) -> dict[str, Estimate]:
        stages = {"systems": {"writer": CHAT}, "segmentation": SOAP, "decomposition": LISTING}
        plan = planned(self.known, self.models, self.ledger, **stages).planned
        return {planned_.stage: planned_.estimate for planned_ in plan}


def writer(known: Tables) -> Callable[[Call], Answer]:
    """Writes each document's reference, with other full stops; claims: longer sentences."""
    texts = known.texts[known.texts["author"] == REFERENCE].set_index("doc_id")["text"]
    notes = {
        json.dumps(passages[0], ensure_ascii=False): re.sub(r"\.(?=\s|$)", "!", texts[doc_id])
        for doc_id, passages in zip(known.sources["doc_id"], known.sources["passages"], strict=True)
    }

    def script(call: Call) -> Answer:
        if call.is_claims:
            claims = re.split(r"(?<=[.!?])\s+", asked_text(call))[:30]
            return item(claims=[f"It is stated of the patient that {claim}" for claim in claims])
        question = str(call.body["messages"][-1]["content"])
        return said(next(note for first, note in notes.items() if first in question))

    return script


@pytest.fixture(scope="module")
def known() -> Tables:
    return ingest("files", ROOT / "data/sample", load(ROOT).benchmarks["sample"].criteria)


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


def check(estimate: Estimate, read: int, written: int, paid: float, *, length: bool) -> None:
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
def test_both_stages_cost_what_was_estimated(tmp_path, server, known, structured: bool) -> None:
    here = Stages(known, server.base_url, tmp_path / "ledger.sqlite", structured=structured)
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
    tmp_path, server, known
) -> None:
    wordy = "no list, but many words " * 330  # just below max_tokens
    server.script = lambda call: said(wordy)
    here = Stages(known, server.base_url, tmp_path / "ledger.sqlite", structured=True)
    bound = here.estimates()["decompose"]
    units = here.decompose(known.texts[known.texts["author"] != REFERENCE])
    claims = units[(units["kind"] == "claim") & (units["doc_id"].str.startswith("note"))]
    assert set(claims["status"]) == {"unparsed"}
    _, written, paid = counted(server)
    assert len(server.calls) > bound.calls  # each was asked twice, though fewer texts were
    assert bound.completion_tokens < written <= bound.completion_tokens_at_most
    assert paid <= bound.cost_at_most


NAMES = ["background", "method", "result", "conclusion"]
FACETS = {"kind": "llm_facets", "model": "m", "facets": NAMES, "shots": 0, "rounds": 1}


def test_facets_are_counted_before_they_are_sent_and_what_comes_after_them_too(tmp_path) -> None:
    known, ledger = sample_notes(6), tmp_path / "ledger.sqlite"
    notes = len(known.sources)

    def script(call: Call) -> Answer:  # every sentence is a result, and copied as it is
        note = asked_text(call)
        copied = [note[start:end] for start, end in sentences(note)]
        return item(facets={name: copied if name == "result" else [] for name in NAMES})

    with ScriptedServer(script) as server:
        models = models_at(server.base_url)
        stages = {"segmentation": FACETS, "decomposition": LISTING}
        plan = planned(known, models, ledger, systems={"mini": CHAT}, **stages)
        # A text that is not written yet is a question by itself, and so are its facets' claims.
        decompose = ("decompose", 2 * notes * len(NAMES), 0)
        assert calls(plan) == [("generate-mini", notes, 0), ("segment", 2 * notes, 0), decompose]
        assert plan.notes[-1].startswith(f"the facets of {2 * notes} text(s) are not known yet")
        assert not server.calls
        before = planned(known, models, ledger, **stages).planned[0].estimate
        facets = choose(SEGMENTATIONS, FACETS, where="it")
        with session(models, ledger) as connected:
            resources = connected.provide(facets)
            parts, _ = segment(known.texts, known.sources, known.segments, facets, resources)
        assert before.calls == len(server.calls) == notes
        assert before.prompt_tokens == pytest.approx(server.tokens["prompt"], rel=0.1)
        assert before.completion_tokens == pytest.approx(server.tokens["completion"], rel=0.15)
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
    question = asked_in(call.body["messages"][-1]["content"])
    quotes = [question.text[:20]]
    grades = {n: len(scale["levels"]) for n, scale in question.criteria.items()}
    return said(
        json_reply([{"number": n, "quotes": quotes, "grade": g} for n, g in grades.items()])
    )


def test_rubrics_cost_what_was_estimated(tmp_path) -> None:
    """All scales that read a text against a reference are a call, of whatever rubric."""
    (tmp_path / "tone.yaml").write_text(TWO, encoding="utf-8")
    rubrics = [load_rubric(tmp_path / "tone.yaml"), load_rubric(ROOT / RUBRICS / "vanilla.yaml")]
    known, ledger = sample_notes(5), tmp_path / "ledger.sqlite"
    llm = {"kind": "llm", "model": "m", "style": "json", "per_call": "part"}
    llm |= {"shots": 0, "rounds": 1}
    stages = {"judges": {"j": llm}, "rubrics": rubrics, "systems": {"lead": LEAD}}
    sources, notes = known.sources, len(known.sources)
    with ScriptedServer(highest) as server:
        models = models_at(server.base_url, structured=True)
        before = planned(known, models, ledger, **stages)
        assert (calls(before), before.notes) == ([("judge-j", notes, 0)], [])
        assert not server.calls
        lead = choose(SYSTEMS, LEAD, where="it")
        written = write_texts(sources, "lead", lead, Resources(Path("nowhere"))).texts
        texts = pd.concat([known.texts, written], ignore_index=True)
        parts = parts_of(texts, sources, choose(SEGMENTATIONS, {"kind": "whole"}, where="it"))
        pairs = pd.concat([rubric_pairs(sources, parts, rubric, ()) for rubric in rubrics])
        chosen = choose(JUDGES, llm, where="it")
        with session(models, ledger) as connected:
            judge = make_judge(chosen, connected.provide)
            pairs = pairs.reset_index(drop=True)
            judgments = judge_pairs(pairs, "j", judge, instruments_of(chosen))
        assert len(server.calls) == notes
        assert sorted(judgments["grade"]) == [2.0] * 2 * notes + [4.0] * notes
        estimate = before.planned[0].estimate
        assert estimate.prompt_tokens == pytest.approx(server.tokens["prompt"], rel=0.1)
        assert server.tokens["completion"] <= estimate.completion_tokens_at_most
        assert calls(planned(known, models, ledger, **stages)) == [("judge-j", notes, notes)]

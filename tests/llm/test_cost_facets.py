"""What a segmentation would ask, counted before it is sent, and what comes after it."""

import json
import re
from pathlib import Path

import pytest

from metassay.core.kinds import choose
from metassay.core.params import load
from metassay.datasets.ingest import Ingested, ingest
from metassay.generation import SYSTEMS
from metassay.llm.endpoints import Models, parse_models
from metassay.llm.session import Session
from metassay.project.cost import Plan, Run, plan
from metassay.tables.names import REFERENCE
from metassay.text.sentences import sentences
from metassay.units import DECOMPOSITIONS, SEGMENTATIONS
from metassay.units.alignment import ALIGNMENTS
from metassay.units.segment import segment
from tests.llm.scripted_server import Answer, Call, ScriptedServer, said

ROOT = Path(__file__).parents[2]
CHAT = {
    **{"kind": "chat", "model": "m", "unit": "full", "citations": True, "shots": 0},
    **{"examples": [], "example_citations": "none"},
}
LISTING = {"kind": "llm", "model": "m", "least": 0, "most": 30, "rounds": 1}
NAMES = ["background", "method", "result", "conclusion"]
BLOCK = {"kind": "llm_facets", "model": "m", "facets": NAMES, "shots": 0, "rounds": 1}
FACETS = choose(SEGMENTATIONS, BLOCK, where="it")


@pytest.fixture(scope="module")
def known() -> Ingested:
    """The sample's notes, and the references of some."""
    given = ingest("files", ROOT / "data/sample", load(ROOT).benchmarks["sample"].criteria)
    notes = given.sources[given.sources["task"] == "note"][:6]
    texts = given.texts[given.texts["doc_id"].isin(notes["doc_id"])]
    return given._replace(sources=notes, texts=texts[texts["author"] == REFERENCE])


def script(call: Call) -> Answer:
    """Every sentence is a result, and copied as it is."""
    asked = str(call.body["messages"][-1]["content"])
    text = re.search(r'"text":"((?:[^"\\]|\\.)*)"', asked)
    assert text is not None
    note = json.loads(f'"{text[1]}"')
    copied = [note[start:end] for start, end in sentences(note)]
    facets = {name: copied if name == "result" else [] for name in NAMES}
    return said(json.dumps({"items": [{"number": 1, "facets": facets}]}, ensure_ascii=False))


def planned(known: Ingested, base_url: str, ledger: Path, *, writing: bool) -> Plan:
    with Session(
        models(base_url), None, {}, [], dry=True, raw=Path("nowhere"), ledger=ledger
    ) as session:
        run = Run(
            given=known,
            systems={"mini": choose(SYSTEMS, CHAT, where="it")} if writing else {},
            segmentation=FACETS,
            decomposition=choose(DECOMPOSITIONS, LISTING, where="it"),
            alignment=choose(ALIGNMENTS, {"kind": "rouge_topk", "k": 1}, where="it"),
            questions={},
            judges={},
            session=session,
            texts=Path("nowhere"),
        )
        return plan(run)


def models(base_url: str) -> Models:
    return parse_models(
        {"here": {"kind": "openai", "base_url": base_url}},
        {"m": {"endpoint": "here", "model": "m-1", "max_tokens": 2000}},
    )


def calls(found: Plan) -> list[tuple[str, int, int]]:
    return [(p.stage, p.estimate.calls, p.estimate.calls_in_ledger) for p in found.planned]


def test_it_is_counted_before_it_is_sent_and_what_comes_after_it_too(
    tmp_path: Path, known: Ingested
) -> None:
    ledger, notes = tmp_path / "ledger.sqlite", len(known.sources)
    with ScriptedServer(script) as server:
        found = planned(known, server.base_url, ledger, writing=True)
        # A text that is not written yet is a question of its own, and so are its facets' claims.
        assert calls(found) == [
            ("generate-mini", notes, 0),
            ("segment", 2 * notes, 0),
            ("decompose", 2 * notes * len(NAMES), 0),
        ]
        assert found.notes[-1].startswith(f"the facets of {2 * notes} text(s) are not known yet")
        assert not server.calls

        before = planned(known, server.base_url, ledger, writing=False).planned[0].estimate
        access = {"sample": "public"}
        with Session(models(server.base_url), None, access, ["sample"], ledger=ledger) as asked:
            resources = asked.provide(FACETS)
            made = segment(known.texts, known.sources, known.segments, FACETS, resources)
        assert before.calls == len(server.calls) == notes
        assert before.prompt_tokens == pytest.approx(server.tokens["prompt"], rel=0.1)
        assert before.completion_tokens == pytest.approx(server.tokens["completion"], rel=0.15)
        assert set(made.parts["part"]) == {"full", "result"}
        after = planned(known, server.base_url, ledger, writing=False)
    assert calls(after) == [("segment", notes, notes), ("decompose", notes, 0)]
    assert after.notes == []

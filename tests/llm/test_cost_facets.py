"""What a segmentation would ask, counted before it is sent, and what comes after it."""

import json
import re
from pathlib import Path

import pytest

from metassay.core.kinds import choose
from metassay.llm.session import Session
from metassay.project.cost import Plan
from metassay.text.sentences import sentences
from metassay.units import SEGMENTATIONS
from metassay.units.segment import segment
from tests.llm.scripted_server import Answer, Call, ScriptedServer, said
from tests.support.cost_plans import CHAT, LISTING, calls, models_at, planned, sample_notes

NAMES = ["background", "method", "result", "conclusion"]
BLOCK = {"kind": "llm_facets", "model": "m", "facets": NAMES, "shots": 0, "rounds": 1}
FACETS = choose(SEGMENTATIONS, BLOCK, where="it")


def script(call: Call) -> Answer:
    """Every sentence is a result, and copied as it is."""
    asked = str(call.body["messages"][-1]["content"])
    text = re.search(r'"text":"((?:[^"\\]|\\.)*)"', asked)
    assert text is not None
    note = json.loads(f'"{text[1]}"')
    copied = [note[start:end] for start, end in sentences(note)]
    facets = {name: copied if name == "result" else [] for name in NAMES}
    return said(json.dumps({"items": [{"number": 1, "facets": facets}]}, ensure_ascii=False))


def plan_of(base_url: str, ledger: Path, *, writing: bool) -> Plan:
    systems = {"mini": CHAT} if writing else {}
    stages = {"systems": systems, "segmentation": BLOCK, "decomposition": LISTING}
    return planned(sample_notes(6), models_at(base_url), ledger, **stages)


def test_it_is_counted_before_it_is_sent_and_what_comes_after_it_too(tmp_path) -> None:
    known, ledger = sample_notes(6), tmp_path / "ledger.sqlite"
    notes = len(known.sources)
    with ScriptedServer(script) as server:
        found = plan_of(server.base_url, ledger, writing=True)
        # A text that is not written yet is a question of its own, and so are its facets' claims.
        assert calls(found) == [
            ("generate-mini", notes, 0),
            ("segment", 2 * notes, 0),
            ("decompose", 2 * notes * len(NAMES), 0),
        ]
        assert found.notes[-1].startswith(f"the facets of {2 * notes} text(s) are not known yet")
        assert not server.calls

        before = plan_of(server.base_url, ledger, writing=False).planned[0].estimate
        access = {"sample": "public"}
        with Session(models_at(server.base_url), None, access, ["sample"], ledger=ledger) as asked:
            resources = asked.provide(FACETS)
            parts, _ = segment(known.texts, known.sources, known.segments, FACETS, resources)
        assert before.calls == len(server.calls) == notes
        assert before.prompt_tokens == pytest.approx(server.tokens["prompt"], rel=0.1)
        assert before.completion_tokens == pytest.approx(server.tokens["completion"], rel=0.15)
        assert set(parts["part"]) == {"full", "result"}
        after = plan_of(server.base_url, ledger, writing=False)
    assert calls(after) == [("segment", notes, notes), ("decompose", notes, 0)]
    assert after.notes == []

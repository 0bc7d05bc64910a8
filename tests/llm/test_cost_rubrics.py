"""What rubrics would ask of judges, counted beforehand and then asked of a server."""

from pathlib import Path

import pandas as pd
import pytest

from metassay.core.kinds import choose
from metassay.generation import SYSTEMS
from metassay.generation.record import write_texts
from metassay.judges import JUDGES
from metassay.judges.make import instruments_of, make_judge
from metassay.judges.run import judge_pairs
from metassay.llm.needs import Resources
from metassay.llm.session import Session
from metassay.scoring.pairing.rubrics import rubric_pairs
from metassay.scoring.rubrics.record import RUBRICS, Rubric, load_rubric
from metassay.units import SEGMENTATIONS
from tests.judges.rubric_setup import asked_in, json_reply
from tests.llm.scripted_server import Answer, Call, ScriptedServer, said
from tests.support.cost_plans import LEAD, ROOT, models_at, planned, sample_notes
from tests.units.dividing import parts_of

LLM = {"kind": "llm", "model": "m", "style": "json", "per_call": "part", "shots": 0, "rounds": 1}
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


@pytest.fixture
def rubrics(tmp_path: Path) -> list[Rubric]:
    (tmp_path / "tone.yaml").write_text(TWO, encoding="utf-8")
    return [load_rubric(tmp_path / "tone.yaml"), load_rubric(ROOT / RUBRICS / "vanilla.yaml")]


def highest(call: Call) -> Answer:
    """The highest level of each scale, and the text's beginning as evidence."""
    asked = asked_in(call.body["messages"][-1]["content"])
    return said(
        json_reply(
            [
                {"number": number, "quotes": [asked.text[:20]], "grade": len(one["levels"])}
                for number, one in asked.criteria.items()
            ]
        )
    )


def test_rubrics_cost_what_was_estimated(rubrics, tmp_path) -> None:
    """All scales that read one text against one reference are one call, of whatever rubric."""
    known, ledger = sample_notes(5), tmp_path / "ledger.sqlite"
    notes, asking = len(known.sources), {"judges": {"j": LLM}, "rubrics": rubrics}
    with ScriptedServer(highest) as server:
        models = models_at(server.base_url, structured=True)
        before = planned(known, models, ledger, systems={"lead": LEAD}, **asking)
        (judging,) = before.planned
        assert (judging.stage, judging.estimate.calls, before.notes) == ("judge-j", notes, [])
        assert not server.calls

        lead = choose(SYSTEMS, LEAD, where="it")
        written = write_texts(known.sources, "lead", lead, Resources(Path("nowhere"))).texts
        texts = pd.concat([known.texts, written], ignore_index=True)
        parts = parts_of(texts, known.sources, choose(SEGMENTATIONS, {"kind": "whole"}, where="it"))
        pairs = pd.concat([rubric_pairs(known.sources, parts, one, ()) for one in rubrics])
        chosen = choose(JUDGES, dict(LLM), where="it")
        with Session(models, None, {"sample": "public"}, ["sample"], ledger=ledger) as connected:
            judge = make_judge(chosen, connected.provide)
            judgments = judge_pairs(
                pairs.reset_index(drop=True), "j", judge, instruments_of(chosen)
            )
        assert len(server.calls) == notes
        assert sorted(judgments["grade"]) == [2.0] * 2 * notes + [4.0] * notes
        estimate = judging.estimate
        assert estimate.prompt_tokens == pytest.approx(server.tokens["prompt"], rel=0.1)
        assert server.tokens["completion"] <= estimate.completion_tokens_at_most

        (after,) = planned(known, models, ledger, systems={"lead": LEAD}, **asking).planned
        assert (after.estimate.calls, after.estimate.calls_in_ledger) == (notes, notes)

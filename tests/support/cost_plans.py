"""The sample's notes, and what a run on them would ask of language models."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from metassay.core.kinds import choose
from metassay.core.params import load
from metassay.datasets.ingest import Tables, ingest
from metassay.generation import SYSTEMS
from metassay.judges import JUDGES
from metassay.llm.endpoints import Models, parse_models
from metassay.llm.session import Session
from metassay.project.cost import Plan, Run, plan
from metassay.scoring.pairing.questions import Questions
from metassay.scoring.rubrics.record import Rubric
from metassay.tables.names import REFERENCE
from metassay.units import DECOMPOSITIONS, SEGMENTATIONS
from metassay.units.alignment import ALIGNMENTS

ROOT = Path(__file__).parents[2]
CHAT = {
    "kind": "chat",
    "model": "m",
    "unit": "full",
    "citations": True,
    "shots": 0,
    "examples": [],
    "example_citations": "none",
}
LISTING = {"kind": "llm", "model": "m", "least": 0, "most": 30, "rounds": 1}
LEAD = {"kind": "lead", "passages": 5}
PRICES = {
    "date": "2026-11-01",
    "input_per_million": 0.4,
    "output_per_million": 1.6,
    "currency": "EUR",
}
Blocks = Mapping[str, Mapping[str, Any]]


def sample_notes(many: int | None = None) -> Tables:
    """The sample's notes, or so many of them, and what people wrote of them."""
    sample = ingest(
        "files", ROOT / "data/sample", load(ROOT).benchmarks["sample"].criteria
    )
    notes = sample.sources[sample.sources["task"] == "note"][:many]
    texts = sample.texts[sample.texts["doc_id"].isin(notes["doc_id"])]
    return sample._replace(sources=notes, texts=texts[texts["author"] == REFERENCE])


def models_at(base_url: str, *, structured: bool = False, **changes: Any) -> Models:
    return parse_models(
        {"here": {"kind": "openai", "base_url": base_url, "structured": structured}},
        {"m": {"endpoint": "here", "model": "m-1", "max_tokens": 2000} | changes},
    )


def planned(
    tables: Tables,
    models: Models,
    ledger: Path,
    *,
    systems: Blocks | None = None,
    segmentation: Mapping[str, Any] | None = None,
    decomposition: Mapping[str, Any] | None = None,
    measures: tuple[str, ...] = (),
    judges: Blocks | None = None,
    rubrics: Sequence[Rubric] = (),
) -> Plan:
    def chosen(index: Mapping[str, str], blocks: Blocks | None) -> dict[str, Any]:
        return {
            name: choose(index, dict(of), where="it")
            for name, of in (blocks or {}).items()
        }

    questions = {"all": Questions(measures=measures, against="full", borrow=False)}
    with Session(
        models, None, {}, [], dry=True, raw=Path("nowhere"), ledger=ledger
    ) as session:
        run = Run(
            ingested=tables,
            systems=chosen(SYSTEMS, systems),
            segmentation=choose(
                SEGMENTATIONS, dict(segmentation or {"kind": "whole"}), where="it"
            ),
            decomposition=choose(
                DECOMPOSITIONS, dict(decomposition or {"kind": "clauses"}), where="it"
            ),
            alignments={
                "it": choose(ALIGNMENTS, {"kind": "rouge_topk", "k": 1}, where="it")
            },
            questions=questions if measures else {},
            judges=chosen(JUDGES, judges),
            session=session,
            texts=Path("nowhere"),
            rubrics=rubrics,
        )
        return plan(run)


def calls(costs: Plan) -> list[tuple[str, int, int]]:
    """By stage: questions, and those that the ledger has answered."""
    return [
        (p.stage, p.estimate.calls, p.estimate.calls_in_ledger) for p in costs.planned
    ]

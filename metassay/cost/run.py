"""What a benchmark is put through, and the estimate of what one kind asks on the way."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from metassay.alignment import ALIGNMENTS
from metassay.datasets.ingest import Ingested, ingest
from metassay.datasets.registry import Dataset, find
from metassay.generation import SYSTEMS
from metassay.judges import JUDGES
from metassay.kinds import Chosen, choose
from metassay.llm.endpoints import Models, find_model, parse_models, sends_schemas
from metassay.llm.estimate import Estimate, estimate
from metassay.llm.ledger import Ledger
from metassay.llm.prompts import Decoding
from metassay.needs import Requests, Use
from metassay.options import PARAMS, parse
from metassay.pairing.questions import Questions
from metassay.params import Params
from metassay.rubrics.ask import expanded
from metassay.rubrics.read import RUBRICS, load_rubric
from metassay.rubrics.record import Rubric
from metassay.units import DECOMPOSITIONS, SEGMENTATIONS


@dataclass(frozen=True)
class Run:
    """What a benchmark is put through, as far as models may be asked.

    `texts` is the folder of the systems' texts, `raw` has a folder of raw files per dataset.
    `rubrics` have one criterion for each facet already.
    """

    given: Ingested
    systems: Mapping[str, Chosen]
    segmentation: Chosen
    decomposition: Chosen
    alignment: Chosen
    questions: Mapping[str, Questions]
    judges: Mapping[str, Chosen]
    models: Models
    texts: Path
    raw: Path
    rubrics: Sequence[Rubric] = ()


def run_of(
    params: Params,
    benchmark: str,
    registry: Mapping[str, Dataset],
    *,
    tables: Path = Path("data/tables"),
    raw: Path = Path("data/raw"),
) -> Run:
    """The run of one benchmark, its raw files read; BadInput as ingest and the kinds raise it."""
    own = params.benchmarks[benchmark]

    def chosen(index: Mapping[str, str], block: str, name: str) -> Chosen:
        return choose(index, getattr(params, block)[name], where=f"{PARAMS} > {block} > {name}")

    segmentation = chosen(SEGMENTATIONS, "segmentations", own.segmentation)
    return Run(
        given=ingest(find(dict(registry), own.dataset).reader, Path(own.raw), own.criteria),
        systems={name: chosen(SYSTEMS, "systems", name) for name in own.writers},
        segmentation=segmentation,
        decomposition=chosen(DECOMPOSITIONS, "decompositions", own.decomposition),
        alignment=chosen(ALIGNMENTS, "alignments", own.alignment),
        questions={
            name: parse(Questions, params.questions[name], where=f"{PARAMS} > questions > {name}")
            for name in own.questions
        },
        judges={name: chosen(JUDGES, "judges", name) for name in own.judges},
        models=parse_models(params.endpoints, params.models),
        texts=tables / benchmark / "texts",
        raw=raw,
        rubrics=[
            expanded(load_rubric(RUBRICS / f"{name}.yaml"), facets_of(segmentation))
            for name in own.rubrics
        ],
    )


def facets_of(segmentation: Chosen) -> tuple[str, ...]:
    """The facets that a segmentation can find."""
    found: tuple[str, ...] = segmentation.record.facets(segmentation.options)
    return found


class Planned(NamedTuple):
    """What one stage would ask of one model (its name in params.yaml)."""

    stage: str
    model: str
    estimate: Estimate


class Plan(NamedTuple):
    """All of it, and what the numbers do not rest on yet: lines without any text."""

    planned: list[Planned]
    notes: list[str]


def decoding_of(models: Models, use: Use) -> Decoding:
    """How a model that is asked draws its answers; BadInput if there is no such model."""
    return Decoding.of(find_model(models, use.model), use.max_tokens)


def estimated(
    models: Models, use: Use, asked: Requests, lengths: Sequence[float], ledger: Ledger
) -> Estimate:
    """Estimate some requests; `lengths` of what answers are about, of which the mean counts."""
    model = find_model(models, use.model)
    mean = sum(lengths) / len(lengths) if lengths else 0.0
    return estimate(
        asked.requests,
        ledger,
        model,
        structured=sends_schemas(models.endpoints[model.endpoint], model),
        completion_tokens=min(mean * asked.answer_length, use.max_tokens or model.max_tokens),
        most=asked.most,
        longer=asked.longer,
    )

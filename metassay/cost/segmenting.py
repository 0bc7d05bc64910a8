"""What segmentations would ask about some texts."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from metassay.cost.run import Plan, Planned, decoding_of, estimated
from metassay.datasets.registry import Dataset, find
from metassay.kinds import Chosen, choose
from metassay.llm import tokens
from metassay.llm.endpoints import Models, parse_models
from metassay.llm.ledger import Ledger
from metassay.options import BENCHMARKS, PARAMS
from metassay.params import Params
from metassay.segment_tests.ingest import chosen_options, ingest_sentences
from metassay.segment_tests.predict import texts_of
from metassay.units import SEGMENTATIONS
from metassay.units.record import Text


def dividing(
    stage: str, segmentation: Chosen, texts: Sequence[Text], models: Models, ledger: Ledger
) -> Planned:
    """What a segmentation that asks a model asks about these texts, in the stage of that name."""
    record, options = segmentation.record, segmentation.options
    use = record.model(options)
    requests = record.requests(texts, options, decoding_of(models, use))
    lengths = [tokens.by_rule(text.full.text) for text in texts if text.full.text is not None]
    return Planned(stage, use.model, estimated(models, use, requests, lengths, ledger))


def plan_segment_test(
    params: Params, name: str, registry: Mapping[str, Dataset], ledger: Ledger
) -> Plan:
    """Estimate what the segmentations of a test ask; BadInput as its stages raise it."""
    own, found = params.segment_tests[name], Plan([], [])
    where = f"{PARAMS} > segmentations"
    every = {
        one: choose(SEGMENTATIONS, params.segmentations[one], where=f"{where} > {one}")
        for one in own.segmentations
    }
    asking = {one: chosen for one, chosen in every.items() if chosen.record.requests is not None}
    if asking:
        options = chosen_options(own.options, where=f"{BENCHMARKS / name / PARAMS}")
        reader = str(find(dict(registry), own.dataset).reader)
        given = ingest_sentences(reader, Path(own.raw), options)
        texts = texts_of(given.texts, given.sentences)
        models = parse_models(params.endpoints, params.models)
        for one, chosen in asking.items():
            found.planned.append(dividing(f"segment-{one}", chosen, texts, models, ledger))
    return found

"""Everything that a benchmark's next run would ask, stage by stage.

Nothing is sent. What a model has not written yet is estimated with the reference in its place,
facets that it has not found yet with sentences shared out evenly, claims that it has not listed yet
with clauses by rule.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from metassay.cost.judging import judging
from metassay.cost.pairs import likely_pairs
from metassay.cost.parts import likely_parts
from metassay.cost.run import Plan, Planned, Run, decoding_of, estimated
from metassay.cost.texts import Texts, filled, not_run, stand_ins
from metassay.datasets.registry import Dataset, find
from metassay.errors import BadInput
from metassay.generation import SYSTEMS
from metassay.generation.generate import write_texts
from metassay.judge_tests.ingest import ingest_items
from metassay.judge_tests.types import chosen_test
from metassay.judges import JUDGES
from metassay.judges.problems import asking, released
from metassay.kinds import Chosen, choose
from metassay.llm import tokens
from metassay.llm.client import replayer
from metassay.llm.egress import check_all
from metassay.llm.endpoints import find_model, parse_models
from metassay.llm.ledger import Ledger
from metassay.needs import Model, Requests, Resources, all_datasets
from metassay.options import BENCHMARKS, PARAMS
from metassay.params import Benchmark, Params, SegmentTest
from metassay.tables.names import FULL


def plan(run: Run, ledger: Ledger) -> Plan:
    """Estimate every stage of the benchmark that asks a model; BadInput as the stages raise it."""
    found = Plan([], [])
    texts, invented = [run.given.texts], []
    for name, system in run.systems.items():
        written = _written(run, name, system, ledger, found)
        if written.invented:
            invented.append(name)
            found.notes.append(
                f"{written.invented} text(s) of {name} are not written yet; their claims, and what"
                " judges are asked about them, are estimated with the references in their place"
            )
        texts.append(written.texts)
    judged = any(map(asking, run.judges.values()))
    listed = run.decomposition.record.requests is not None
    if listed or judged or run.segmentation.record.requests is not None:
        all_texts = pd.concat(texts, ignore_index=True)
        parts = likely_parts(run, all_texts, invented, ledger, found)
        if listed:
            found.planned.append(_claims(run, parts, invented, ledger))
        if judged:
            pairs = likely_pairs(run, parts, invented, ledger, found)
            judging(run.judges, pairs, run.models, ledger, found)
    return found


def plan_test(params: Params, name: str, registry: Mapping[str, Dataset], ledger: Ledger) -> Plan:
    """Estimate what the judges of a judge test ask; BadInput as its stages raise it."""
    own, found = params.judge_tests[name], Plan([], [])
    judges = {
        judge: choose(JUDGES, params.judges[judge], where=f"{PARAMS} > judges > {judge}")
        for judge in own.judges
    }
    if any(map(asking, judges.values())):
        test = chosen_test(own.test, own.options, where=f"{BENCHMARKS / name / PARAMS}")
        reader = str(find(dict(registry), own.dataset).reader)
        items = ingest_items(
            test, reader, Path(own.raw), dataset=own.dataset, judges=tuple(own.judges)
        )
        models = parse_models(params.endpoints, params.models)
        judging(judges, items.pairs, models, ledger, found)
    return found


def refusals(
    params: Params, benchmark: str, registry: Mapping[str, Dataset], planned: Sequence[Planned]
) -> list[str]:
    """Why stages would stop before they ask: one line per stage and dataset.

    By what systems are shown as params.yaml is now, which is what a run would make them write.
    """
    own, models = params.every[benchmark], parse_models(params.endpoints, params.models)
    access = {name: dataset.access for name, dataset in registry.items()}
    shown = {
        f"generate-{name}": all_datasets([choose(SYSTEMS, params.systems[name], where=name)])
        for name in (own.writers if isinstance(own, Benchmark) else ())
    }
    every = sorted({dataset for datasets in shown.values() for dataset in datasets})
    claims = released(own, params.decompositions)
    for name in () if isinstance(own, SegmentTest) else own.judges:
        judge = choose(JUDGES, params.judges[name], where=name)
        shown[f"judge-{name}"] = [*every, *claims, *all_datasets([judge])]
    lines = []
    for stage, model, _ in planned:
        name = find_model(models, model).endpoint
        try:
            sent = [own.dataset, *shown.get(stage, every)]
            check_all(access, sent, name, models.endpoints[name])
        except BadInput as error:
            lines += [f"{stage} would stop before it asks: {line}" for line in error.problems]
    return lines


def _written(run: Run, name: str, system: Chosen, ledger: Ledger, found: Plan) -> Texts:
    """What a system has written, with stand-ins for the rest; what it asks goes to `found`."""
    sources, record = run.given.sources, system.record
    if record.requests is None:
        if record.costly:
            return not_run(run.given, name, run.texts)
        return Texts(write_texts(sources, name, system, Resources(run.raw)).texts, 0)
    use = record.model(system.options)
    decoding = decoding_of(run.models, use)
    requests = record.requests(sources, system.options, decoding, run.raw)
    resources = Resources(run.raw, Model(replayer(ledger), decoding))
    texts = write_texts(sources, name, system, resources).texts
    likely = stand_ins(run.given, by_section=bool((texts["part"] != FULL).any()))
    lengths = [tokens.by_rule(text) for text in likely.values()]
    costs = estimated(run.models, use, requests, lengths, ledger)
    found.planned.append(Planned(f"generate-{name}", use.model, costs))
    return filled(texts, likely)


def _claims(run: Run, parts: pd.DataFrame, invented: list[str], ledger: Ledger) -> Planned:
    record, options = run.decomposition.record, run.decomposition.options
    use = record.model(options)
    decoding = decoding_of(run.models, use)
    requests, own = [], Requests([], [])
    most: list[int] = []
    for author, theirs in parts.groupby("author"):
        own = record.requests(theirs, run.given.sources, options, decoding)
        most += own.most
        if author in invented:  # equal to the reference now, but a question of its own then
            number = -1 - invented.index(str(author))
            requests += [dataclasses.replace(request, repeat=number) for request in own.requests]
        else:
            requests += own.requests
    leaves = parts[(parts["leaf"] == "yes") & (parts["status"] == "ok")]
    lengths = [tokens.by_rule(text) for text in leaves["text"]]
    costs = estimated(run.models, use, own._replace(requests=requests, most=most), lengths, ledger)
    return Planned("decompose", use.model, costs)

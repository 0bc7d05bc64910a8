"""What a benchmark's next run would ask of language models: `metassay cost`.

Nothing is sent. What a model has not written yet is estimated with the reference in its place.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from metassay.datasets.ingest import Ingested, ingest
from metassay.datasets.registry import Dataset, find
from metassay.errors import BadInput
from metassay.generation import SYSTEMS
from metassay.generation.generate import write_texts
from metassay.kinds import Chosen, choose
from metassay.llm import tokens
from metassay.llm.client import replayer
from metassay.llm.egress import check_all
from metassay.llm.endpoints import Models, find_model, parse_models
from metassay.llm.estimate import Estimate, estimate
from metassay.llm.ledger import Ledger
from metassay.llm.prompts import Decoding
from metassay.needs import Model, Requests, Resources, Use, all_datasets
from metassay.params import Params
from metassay.tables import FULL, REFERENCE, TEXTS, read
from metassay.text.sections import divide
from metassay.units import DECOMPOSITIONS, SEGMENTATIONS
from metassay.units.segment import segment

_LIKE = 1500  # characters of the source that stand for a text without a reference

_Likely = dict[tuple[str, str], str]  # by document and part


@dataclass(frozen=True)
class Run:
    """What a benchmark is put through, as far as models may be asked.

    `texts` is the folder of the systems' texts, `raw` has a folder of raw files per dataset.
    """

    given: Ingested
    systems: Mapping[str, Chosen]
    segmentation: Chosen
    decomposition: Chosen
    models: Models
    texts: Path
    raw: Path


def run_of(
    params: Params,
    benchmark: str,
    registry: Mapping[str, Dataset],
    *,
    tables: Path = Path("data/tables"),
    raw: Path = Path("data/raw"),
) -> Run:
    """The run of one benchmark, its raw files read; BadInput as ingest and the kinds raise it."""
    chosen = params.benchmarks[benchmark]
    cut, apart = chosen.segmentation, chosen.decomposition
    return Run(
        given=ingest(
            find(dict(registry), chosen.dataset).reader, Path(chosen.raw), chosen.criteria
        ),
        systems={
            name: choose(SYSTEMS, params.systems[name], where=f"params.yaml > systems > {name}")
            for name in chosen.writers
        },
        segmentation=choose(
            SEGMENTATIONS, params.segmentations[cut], where=f"params.yaml > segmentations > {cut}"
        ),
        decomposition=choose(
            DECOMPOSITIONS,
            params.decompositions[apart],
            where=f"params.yaml > decompositions > {apart}",
        ),
        models=parse_models(params.endpoints, params.models),
        texts=tables / benchmark / "texts",
        raw=raw,
    )


class Planned(NamedTuple):
    """What one stage would ask of one model (its name in params.yaml)."""

    stage: str
    model: str
    estimate: Estimate


class Plan(NamedTuple):
    """All of it, and what the numbers do not rest on yet: lines without any text."""

    planned: list[Planned]
    notes: list[str]


class _Texts(NamedTuple):
    """Texts so far, and how many of them are stand-ins."""

    texts: pd.DataFrame
    invented: int


def plan(run: Run, ledger: Ledger) -> Plan:
    """Estimate every stage of the benchmark that asks a model; BadInput as the stages raise it."""
    found = Plan([], [])
    texts, stand_ins = [run.given.texts], []
    for name, system in run.systems.items():
        if system.record.requests is not None:
            written = _asked(run, name, system, ledger, found)
        elif system.record.costly:
            written = _not_run(run, name)
        else:
            own = write_texts(run.given.sources, name, system, Resources(run.raw))
            written = _Texts(own.texts, 0)
        if written.invented:
            stand_ins.append(name)
            found.notes.append(
                f"{written.invented} text(s) of {name} are not written yet; their claims are"
                " estimated with the references in their place"
            )
        texts.append(written.texts)
    if run.decomposition.record.requests is not None:
        all_texts = pd.concat(texts, ignore_index=True)
        parts = segment(all_texts, run.given.sources, run.segmentation)
        found.planned.append(_claims(run, parts, stand_ins, ledger))
    return found


def refusals(
    params: Params, benchmark: str, registry: Mapping[str, Dataset], planned: Sequence[Planned]
) -> list[str]:
    """Why stages would stop before they ask: one line per stage and dataset.

    By what systems are shown as params.yaml is now, which is what a run would make them write.
    """
    chosen, models = params.benchmarks[benchmark], parse_models(params.endpoints, params.models)
    access = {name: dataset.access for name, dataset in registry.items()}
    shown = {
        f"generate-{name}": all_datasets([choose(SYSTEMS, params.systems[name], where=name)])
        for name in chosen.writers
    }
    every = sorted({dataset for datasets in shown.values() for dataset in datasets})
    lines = []
    for stage, model, _ in planned:
        name = find_model(models, model).endpoint
        try:
            sent = [chosen.dataset, *shown.get(stage, every)]
            check_all(access, sent, name, models.endpoints[name])
        except BadInput as error:
            lines += [f"{stage} would stop before it asks: {line}" for line in error.problems]
    return lines


def _asked(run: Run, name: str, system: Chosen, ledger: Ledger, found: Plan) -> _Texts:
    """Note what a system asks, and give what it has written, with stand-ins for the rest."""
    use = system.record.model(system.options)
    decoding = Decoding.of(find_model(run.models, use.model), use.max_tokens)
    sources = run.given.sources
    requests = system.record.requests(sources, system.options, decoding, run.raw)
    resources = Resources(run.raw, Model(replayer(ledger), decoding))
    texts = write_texts(sources, name, system, resources).texts
    likely = _stand_ins(run.given, by_section=bool((texts["part"] != FULL).any()))
    lengths = [tokens.by_rule(text) for text in likely.values()]
    costs = _estimate(run.models, use, requests, lengths, ledger)
    found.planned.append(Planned(f"generate-{name}", use.model, costs))
    return _filled(texts, likely)


def _not_run(run: Run, name: str) -> _Texts:
    """The texts of a system that takes too long to be run here, or stand-ins for them all."""
    path = run.texts / f"{name}.parquet"
    if path.exists():
        return _Texts(read(TEXTS, path), 0)
    docs = run.given.sources["doc_id"].tolist()
    rows = [(doc_id, name, FULL, None, "error", "not written yet") for doc_id in docs]
    frame = pd.DataFrame(rows, columns=list(TEXTS.columns))
    return _filled(frame, _stand_ins(run.given, by_section=False))


def _claims(run: Run, parts: pd.DataFrame, stand_ins: list[str], ledger: Ledger) -> Planned:
    record, options = run.decomposition.record, run.decomposition.options
    use = record.model(options)
    decoding = Decoding.of(find_model(run.models, use.model), use.max_tokens)
    requests, own = [], Requests([])
    for author, theirs in parts.groupby("author"):
        own = record.requests(theirs, run.given.sources, options, decoding)
        if author in stand_ins:  # equal to the reference now, but a question of its own then
            number = -1 - stand_ins.index(str(author))
            requests += [dataclasses.replace(request, repeat=number) for request in own.requests]
        else:
            requests += own.requests
    leaves = parts[(parts["leaf"] == "yes") & (parts["status"] == "ok")]
    lengths = [tokens.by_rule(text) for text in leaves["text"]]
    costs = _estimate(run.models, use, own._replace(requests=requests), lengths, ledger)
    return Planned("decompose", use.model, costs)


def _estimate(
    models: Models, use: Use, asked: Requests, lengths: Sequence[float], ledger: Ledger
) -> Estimate:
    """`lengths`: tokens of the texts that answers are about, of which the mean counts."""
    model = find_model(models, use.model)
    mean = sum(lengths) / len(lengths) if lengths else 0.0
    return estimate(
        asked.requests,
        ledger,
        model,
        structured=models.endpoints[model.endpoint].structured,
        completion_tokens=min(mean * asked.answer_length, use.max_tokens or model.max_tokens),
        rounds=asked.rounds,
    )


def _stand_ins(given: Ingested, *, by_section: bool) -> _Likely:
    """What a text may be like, by document and part: the reference, else the source's beginning."""
    likely: _Likely = {}
    sources, texts = given.sources, given.texts
    for doc_id, passages in zip(sources["doc_id"], sources["passages"], strict=True):
        if any(passage.strip() for passage in passages):
            likely[str(doc_id), FULL] = "\n".join(passages)[:_LIKE]
    known = texts[(texts["author"] == REFERENCE) & (texts["part"] == FULL)]
    for doc_id, text in zip(known["doc_id"], known["text"], strict=True):
        if (doc_id, FULL) in likely and isinstance(text, str):
            likely[doc_id, FULL] = text
    if by_section:
        for doc_id in sources.loc[sources["task"] == "note", "doc_id"]:
            whole = likely.pop((doc_id, FULL), "")
            for part, pieces in divide(whole, compat="none").items():
                likely[doc_id, part] = "\n\n".join(whole[start:end] for start, end in pieces)
    return likely


def _filled(texts: pd.DataFrame, likely: _Likely) -> _Texts:
    """The texts, with a stand-in for each that has no answer yet, if one is known."""
    rows, invented = [], 0
    for row in texts.astype(object).to_dict("records"):
        text = likely.get((row["doc_id"], row["part"]))
        if row["status"] != "error":
            rows.append(row)
        elif text is not None:
            rows.append(row | {"text": text, "status": "ok"})
            invented += 1
        elif row["part"] == FULL:  # a section that the reference lacks may be left out
            rows.append(row)
    return _Texts(pd.DataFrame(rows, columns=list(TEXTS.columns)), invented)

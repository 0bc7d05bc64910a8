"""What a benchmark's next run would ask of language models: `metassay cost`.

Nothing is sent. What a model has not written yet is estimated with the reference in its place.
"""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from metassay.datasets.ingest import Ingested, ingest
from metassay.datasets.registry import Dataset, find
from metassay.generation import SYSTEMS, write_texts
from metassay.generation.chat import ChatOptions, chat_requests, orders, write_chat
from metassay.generation.few_shot import read_examples
from metassay.generation.local import CausalOptions, Seq2SeqOptions
from metassay.llm import tokens
from metassay.llm.client import replayer
from metassay.llm.endpoints import Models, parse_models
from metassay.llm.estimate import Estimate, estimate
from metassay.llm.ledger import Ledger
from metassay.llm.messages import Ask, ChatRequest
from metassay.llm.project import find_model
from metassay.llm.prompts import Decoding
from metassay.params import Params, options_of
from metassay.tables import FULL, REFERENCE, TEXTS, read
from metassay.text.sections import divide
from metassay.units import SEGMENTATIONS, segment
from metassay.units.decompositions import decomposition_of
from metassay.units.llm_claims import LlmClaimOptions, claim_requests

CLAIMS_PER_TOKEN = 1.3  # tokens of a list of claims per token of the text they are from
_LIKE = 1500  # characters of the source that stand for a text without a reference

_Likely = dict[tuple[str, str], str]  # by document and part


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


def plan(
    params: Params,
    benchmark: str,
    registry: Mapping[str, Dataset],
    ledger: Ledger,
    *,
    tables: Path = Path("data/tables"),
    raw: Path = Path("data/raw"),
) -> Plan:
    """Estimate every stage of the benchmark that asks a model; BadInput as the stages raise it."""
    chosen = params.benchmarks[benchmark]
    models = parse_models(params.endpoints, params.models)
    reader = find(dict(registry), chosen.dataset).reader
    given = ingest(reader, Path(chosen.raw), chosen.criteria)
    sources, found = given.sources, Plan([], [])
    texts, stand_ins = [given.texts], []
    for entry in params.generating.values():
        if entry.benchmark != benchmark:
            continue
        name, where = entry.system, f"params.yaml > systems > {entry.system}"
        options = options_of(params.systems[name], SYSTEMS, where=where)
        if isinstance(options, ChatOptions):
            written = _chat(given, name, options, models, ledger, raw, found)
        elif isinstance(options, CausalOptions | Seq2SeqOptions):
            written = _local(given, name, tables / benchmark / "texts" / f"{name}.parquet")
        else:
            written = _Texts(write_texts(sources, name, options, _Nobody()).texts, 0)
        if written.invented:
            stand_ins.append(name)
            found.notes.append(
                f"{written.invented} text(s) of {name} are not written yet; their claims are"
                " estimated with the references in their place"
            )
        texts.append(written.texts)
    options = decomposition_of(params, chosen.decomposition)
    if isinstance(options, LlmClaimOptions):
        where = f"params.yaml > segmentations > {chosen.segmentation}"
        cut: Any = options_of(params.segmentations[chosen.segmentation], SEGMENTATIONS, where=where)
        parts = segment(pd.concat(texts, ignore_index=True), sources, cut)
        found.planned.append(_claims(parts, stand_ins, sources, options, models, ledger))
    return found


class _Nobody:
    """The desk of systems that ask nobody."""

    raw = Path()

    def model(self, name: str, *_: object) -> tuple[Ask, Decoding]:
        raise RuntimeError(f"{name} was not to be asked")


def _chat(
    given: Ingested,
    name: str,
    options: ChatOptions,
    models: Models,
    ledger: Ledger,
    raw: Path,
    found: Plan,
) -> _Texts:
    model = find_model(models, options.model)
    decoding = Decoding.of(model, options.max_tokens)
    examples = read_examples(options.examples, raw)
    requests = chat_requests(orders(given.sources, options, examples), decoding)
    likely = _stand_ins(given, options.unit)
    lengths = [tokens.by_rule(text) for text in likely.values()]
    length = min(sum(lengths) / len(lengths), decoding.max_tokens) if lengths else 0.0
    costs = estimate(
        requests,
        ledger,
        model,
        structured=models.endpoints[model.endpoint].structured,
        completion_tokens=length,
    )
    found.planned.append(Planned(f"generate-{name}", options.model, costs))
    texts = write_chat(given.sources, name, options, replayer(ledger), decoding, examples)
    return _filled(texts, likely)


def _local(given: Ingested, name: str, path: Path) -> _Texts:
    if path.exists():
        return _Texts(read(TEXTS, path), 0)
    docs = given.sources["doc_id"].tolist()
    rows = [(doc_id, name, FULL, None, "error", "not written yet") for doc_id in docs]
    frame = pd.DataFrame(rows, columns=list(TEXTS.columns))
    return _filled(frame, _stand_ins(given, "full"))


def _claims(
    parts: pd.DataFrame,
    stand_ins: list[str],
    sources: pd.DataFrame,
    options: LlmClaimOptions,
    models: Models,
    ledger: Ledger,
) -> Planned:
    model = find_model(models, options.model)
    decoding = Decoding.of(model, options.max_tokens)
    requests = []
    for author in sorted(parts["author"].unique()):
        asked = claim_requests(parts[parts["author"] == author], sources, options, decoding)
        if author in stand_ins:  # equal to the reference now, but a question of its own then
            number = -1 - stand_ins.index(author)
            asked = [dataclasses.replace(request, repeat=number) for request in asked]
        requests += asked
    costs = estimate(
        requests,
        ledger,
        model,
        structured=models.endpoints[model.endpoint].structured,
        completion_tokens=_listed(parts, requests, decoding),
        rounds=options.rounds,
    )
    return Planned("decompose", options.model, costs)


def _listed(parts: pd.DataFrame, requests: list[ChatRequest], decoding: Decoding) -> float:
    """How long a list of claims will be on average."""
    leaves = parts[(parts["leaf"] == "yes") & (parts["status"] == "ok")]
    if not requests:
        return 0.0
    mean = sum(map(tokens.by_rule, leaves["text"])) / len(leaves)
    return min(mean * CLAIMS_PER_TOKEN, decoding.max_tokens)


def _stand_ins(given: Ingested, unit: str) -> _Likely:
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
    if unit == "section":
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

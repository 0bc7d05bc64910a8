"""What a segmentation would ask, and likely parts in the place of those that nobody knows yet."""

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from metassay.cost.run import Plan, Planned, Run, decoding_of, estimated
from metassay.llm import tokens
from metassay.llm.client import replayer
from metassay.llm.ledger import Ledger
from metassay.needs import Model, Requests, Resources
from metassay.tables.names import FULL
from metassay.text.sentences import sentences
from metassay.text.spans import Span
from metassay.units.found_facets import facet_part
from metassay.units.record import OK
from metassay.units.segment import segment, texts_of


def likely_parts(
    run: Run, texts: pd.DataFrame, invented: Sequence[str], ledger: Ledger, found: Plan
) -> pd.DataFrame:
    """Rows of PARTS; what is asked for them goes to `found`.

    Where a model has not said yet what a text's facets are, its sentences are shared out evenly.
    `invented` are the authors with stand-ins among their texts.
    """
    record, options = run.segmentation.record, run.segmentation.options
    given, resources = run.given, Resources(run.raw)
    if record.requests is not None:
        found.planned.append(_asked(run, texts, invented, ledger))
        decoding = decoding_of(run.models, record.model(options))
        resources = Resources(run.raw, Model(replayer(ledger), decoding))
    parts = segment(texts, given.sources, given.segments, run.segmentation, resources).parts
    if record.requests is None:
        return parts
    unknown = (parts["part"] != FULL) & (parts["status"] == "error")
    lost = parts.loc[unknown, ["doc_id", "author"]].drop_duplicates()
    if not len(lost):
        return parts
    found.notes.append(
        f"the facets of {len(lost)} text(s) are not known yet; what is asked about them is"
        " estimated with the sentences of each shared out evenly"
    )
    return _shared_out(parts, unknown)


def _asked(run: Run, texts: pd.DataFrame, invented: Sequence[str], ledger: Ledger) -> Planned:
    record, options = run.segmentation.record, run.segmentation.options
    use = record.model(options)
    decoding = decoding_of(run.models, use)
    every = texts_of(texts, run.given.sources, run.given.segments)
    asked: Requests = record.requests(every, options, decoding)
    requests, most = [], []
    for author in sorted({text.author for text in every}):
        own = record.requests([t for t in every if t.author == author], options, decoding)
        most += own.most
        # Equal to the reference now, but a question of its own then.
        repeat = -1 - invented.index(author) if author in invented else 0
        requests += [dataclasses.replace(one, repeat=repeat) for one in own.requests]
    lengths = [tokens.by_rule(text.full.text) for text in every if text.full.text]
    asked = asked._replace(requests=requests, most=most)
    return Planned("segment", use.model, estimated(run.models, use, asked, lengths, ledger))


def _shared_out(parts: pd.DataFrame, unknown: "pd.Series[bool]") -> pd.DataFrame:
    whole: Any = parts[parts["part"] == FULL].set_index(["doc_id", "author"])["text"]
    rows: dict[tuple[str, str], list[Any]] = {}
    for index, doc_id, author in zip(
        parts.index[unknown], parts["doc_id"][unknown], parts["author"][unknown], strict=True
    ):
        rows.setdefault((doc_id, author), []).append(index)
    parts = parts.copy()
    for key, own in rows.items():
        text = str(whole[key])
        for index, spans in zip(own, _evenly(sentences(text), len(own)), strict=True):
            parts.loc[index, ["text", "status"]] = [facet_part("", text, spans).text, OK]
    return parts


def _evenly(spans: Sequence[Span], count: int) -> Iterator[Sequence[Span]]:
    for place in range(count):
        yield spans[len(spans) * place // count : len(spans) * (place + 1) // count]

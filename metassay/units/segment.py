"""Divide texts into parts: sections or facets."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain

import pandas as pd

from metassay.core.kinds import Chosen
from metassay.executor.record import LOCAL, Executor
from metassay.llm.needs import Resources, executor_for, files_of
from metassay.llm.prompts import datasets_in_recipes
from metassay.tables.checks import check_sources, rows_of
from metassay.tables.names import FULL
from metassay.tables.parts import PARTS
from metassay.text.headings import SECTIONS
from metassay.text.spans import Span
from metassay.units.record import BETWEEN_PARTS, OK, Part, Text


def segment(
    texts: pd.DataFrame,
    sources: pd.DataFrame,
    segments: pd.DataFrame,
    segmentation: Chosen,
    resources: Resources,
    executor: Executor = LOCAL,
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Divide every author's text: TEXTS, SOURCES and SEGMENTS to PARTS, and notes without any text.

    Every text has the part `full`, and the parts that the segmentation finds in it.
    Leaves are parts that contain no other. Of a text that was generated section by
    section (texts.part is not `full`), `full` is the sections joined by a blank line in
    SOAP order; if the author has a part `full`, too, it is used, and the sections have
    no spans.

    A text that failed has a failed part `full`; if a section failed, `full` has the
    status of the first (in SOAP order) and no text, and the other sections stay ok.
    `repeats`: the datasets whose text a part may repeat, of its source and of the
    examples that its writer read.

    Raises BadInput if a text's doc_id is not in sources.
    """
    read = texts_of(texts, sources, segments)
    datasets = dict(zip(sources["doc_id"], sources["dataset"], strict=True))
    examples = (
        texts.groupby(["doc_id", "author"])["recipe"].unique().map(datasets_in_recipes)
    )
    shards = executor_for(segmentation, executor).map(
        segmentation.record.divide,
        read,
        segmentation.options,
        resources,
        files=files_of(segmentation),
    )
    parts_of = chain.from_iterable(shard.parts for shard in shards)
    notes = dict.fromkeys(chain.from_iterable(shard.notes for shard in shards))
    rows: list[tuple[object, ...]] = []
    for text, divided in zip(read, parts_of, strict=True):
        leaves = [False, *[True] * len(divided)] if divided else [True]
        repeats = [datasets[text.doc_id], *examples[text.doc_id, text.author]]
        for part, leaf in zip([text.full, *divided], leaves, strict=True):
            places = (
                [piece.start for piece in part.pieces],
                [piece.end for piece in part.pieces],
            )
            row = (text.doc_id, text.author, part.name, part.text, *places)
            rows.append(
                (*row, "yes" if leaf else "no", part.status, [*part.made_up], repeats)
            )
    return pd.DataFrame(rows, columns=list(PARTS.columns)), tuple(notes)


def repeated_datasets(texts: pd.DataFrame, sources: pd.DataFrame) -> list[str]:
    """Return the datasets whose text a segmentation may read, those of writers' examples too."""
    examples = datasets_in_recipes(texts["recipe"].unique())
    return sorted({*sources["dataset"], *examples})


def texts_of(
    texts: pd.DataFrame, sources: pd.DataFrame, segments: pd.DataFrame
) -> list[Text]:
    """Return every author's text for segmentations, sorted by document and author."""
    check_sources("texts", texts["doc_id"], sources)
    tasks = dict(zip(sources["doc_id"], sources["task"], strict=True))
    released: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for doc_id, author, part, text in rows_of(
        segments, "doc_id", "author", "part", "text"
    ):
        released[doc_id, author].append((part, text))
    parts_of: dict[tuple[str, str], list[Part]] = defaultdict(list)
    columns = ("doc_id", "author", "part", "text", "status")
    for doc_id, author, part, text, status in rows_of(texts, *columns):
        parts_of[doc_id, author].append(
            Part(part, text if status == OK else None, [], status)
        )
    return [
        Text(tasks[key[0]], *_whole_and_sections(parts), *key, released.get(key, ()))
        for key, parts in sorted(parts_of.items())
    ]


def _whole_and_sections(parts: Sequence[Part]) -> tuple[Part, Sequence[Part]]:
    order = {name: place for place, name in enumerate(SECTIONS)}
    sections = [part for part in parts if part.name != FULL]
    sections.sort(key=lambda part: (order.get(part.name, len(order)), part.name))
    full, placed = _join_sections(sections)
    for whole in [part for part in parts if part.name == FULL][:1]:
        full = whole
        placed = sections
    pieces = [Span(0, len(full.text))] if full.text is not None else []
    return full._replace(pieces=pieces), placed


def _join_sections(sections: list[Part]) -> tuple[Part, list[Part]]:
    """Join sections to a text, and place each in it; no text if a section failed."""
    failed = next((part.status for part in sections if part.text is None), None)
    if failed:
        return Part(FULL, None, [], failed), sections
    text = ""
    placed = []
    for part in sections:
        text += BETWEEN_PARTS if text else ""
        placed.append(
            part._replace(pieces=[Span(len(text), len(text) + len(part.text or ""))])
        )
        text += part.text or ""
    return Part(FULL, text, [], OK), placed

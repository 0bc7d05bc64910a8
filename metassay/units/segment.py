"""Parts: what a text is compared by, section by section or facet by facet."""

from collections import defaultdict
from collections.abc import Sequence

import pandas as pd

from metassay.core.kinds import Chosen
from metassay.executor.record import LOCAL, Executor
from metassay.llm.needs import Resources, executor_for, files_of
from metassay.llm.prompts import datasets_shown
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
    """Divide every author's text: TEXTS, SOURCES and SEGMENTS to PARTS, and lines without any text.

    Every text gets the part `full`, and the parts that the segmentation finds in it. Only parts
    that contain no other are leaves. Of a text that was generated section by section (texts.part is
    not `full`), `full` is the sections joined by a blank line in SOAP order; should there be a
    `full` of the same author, that one is taken, and the sections have no spans.

    A text that failed gives a failed part `full`; of sections of which one failed, `full` has the
    first failed one's status (in SOAP order) and no text, and the others stay ok. Every part says
    whose text it may repeat: its source's, and that of the examples that its writer was shown.

    Raises BadInput if a text's doc_id is not in sources.
    """
    every = texts_of(texts, sources, segments)
    datasets = dict(zip(sources["doc_id"], sources["dataset"], strict=True))
    shown = texts.groupby(["doc_id", "author"])["recipe"].unique().map(datasets_shown)
    shards = executor_for(segmentation, executor).map(
        *(segmentation.record.divide, every, segmentation.options, resources),
        files=files_of(segmentation),
    )
    parts_of = [parts for shard in shards for parts in shard.parts]
    notes = dict.fromkeys(note for shard in shards for note in shard.notes)
    rows: list[tuple[object, ...]] = []
    for text, found in zip(every, parts_of, strict=True):
        leaves = [False, *[True] * len(found)] if found else [True]
        repeats = [datasets[text.doc_id], *shown[text.doc_id, text.author]]
        for part, leaf in zip([text.full, *found], leaves, strict=True):
            places = [piece.start for piece in part.pieces], [piece.end for piece in part.pieces]
            row = (text.doc_id, text.author, part.name, part.text, *places)
            rows.append((*row, "yes" if leaf else "no", part.status, [*part.made_up], repeats))
    return pd.DataFrame(rows, columns=list(PARTS.columns)), tuple(notes)


def repeated_datasets(texts: pd.DataFrame, sources: pd.DataFrame) -> list[str]:
    """The datasets whose text a segmentation may read, by what the texts' writers were shown."""
    shown = datasets_shown(texts["recipe"].unique())
    return sorted({*sources["dataset"], *shown})


def texts_of(texts: pd.DataFrame, sources: pd.DataFrame, segments: pd.DataFrame) -> list[Text]:
    """Every author's text as segmentations read it, sorted by document and author."""
    check_sources("texts", texts["doc_id"], sources)
    tasks = dict(zip(sources["doc_id"], sources["task"], strict=True))
    released: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for doc_id, author, part, said in rows_of(segments, "doc_id", "author", "part", "text"):
        released[doc_id, author].append((part, said))
    written: dict[tuple[str, str], list[Part]] = defaultdict(list)
    columns = ("doc_id", "author", "part", "text", "status")
    for doc_id, author, part, said, status in rows_of(texts, *columns):
        written[doc_id, author].append(Part(part, said if status == OK else None, [], status))
    return [
        Text(tasks[key[0]], *_whole_and_sections(parts), *key, released.get(key, ()))
        for key, parts in sorted(written.items())
    ]


def _whole_and_sections(written: Sequence[Part]) -> tuple[Part, Sequence[Part]]:
    sections = sorted((part for part in written if part.name != FULL), key=_soap_order)
    full, placed = _joined(sections)
    for whole in [part for part in written if part.name == FULL][:1]:
        full, placed = whole, sections
    pieces = [Span(0, len(full.text))] if full.text is not None else []
    return full._replace(pieces=pieces), placed


def _soap_order(part: Part) -> tuple[int, str]:
    return (SECTIONS.index(part.name) if part.name in SECTIONS else len(SECTIONS), part.name)


def _joined(sections: list[Part]) -> tuple[Part, list[Part]]:
    """The sections as one text, and with the place of each in it; no text if one failed."""
    failed = next((part.status for part in sections if part.text is None), None)
    if failed:
        return Part(FULL, None, [], failed), sections
    text, placed = "", []
    for part in sections:
        text += BETWEEN_PARTS if text else ""
        placed.append(part._replace(pieces=[Span(len(text), len(text) + len(part.text or ""))]))
        text += part.text or ""
    return Part(FULL, text, [], OK), placed

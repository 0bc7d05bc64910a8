"""Parts: what a text is compared by, section by section or facet by facet."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import pandas as pd

from metassay.core.kinds import Chosen
from metassay.llm.needs import Resources
from metassay.llm.prompts import datasets_shown
from metassay.tables.checks import check_sources
from metassay.tables.names import FULL
from metassay.tables.parts import PARTS
from metassay.text.headings import SECTIONS
from metassay.text.spans import Span
from metassay.units.record import BETWEEN_PARTS, OK, Divided, Part, Text


class Segmented(NamedTuple):
    """Rows of PARTS, and what their owner should know: lines without any text."""

    parts: pd.DataFrame
    notes: tuple[str, ...] = ()


def segment(
    texts: pd.DataFrame,
    sources: pd.DataFrame,
    segments: pd.DataFrame,
    segmentation: Chosen,
    resources: Resources,
) -> Segmented:
    """Divide every author's text: TEXTS, SOURCES and SEGMENTS to PARTS.

    Every text gets the part `full`, and the parts that the segmentation finds in it. Only parts
    that contain no other are leaves.

    Of a text that was generated section by section (texts.part is not `full`), `full` is the
    sections joined by a blank line in SOAP order. Should texts also hold a `full` of the same
    author, that one is taken, and where the sections stand in it is not known (no spans).

    Status: a text that failed gives a failed part `full`; of sections of which one failed, `full`
    has the first failed section's status (in SOAP order) and no text, since the whole was never
    written, while the other sections stay ok.

    Every part says whose text it may repeat: that of its source, and by its text's recipe that of
    the examples that its writer was shown. Who sends it to a model asks for all of these.

    Raises BadInput if a text's doc_id is not in sources.
    """
    every = texts_of(texts, sources, segments)
    datasets = dict(zip(sources["doc_id"], sources["dataset"], strict=True))
    shown = texts.groupby(["doc_id", "author"])["recipe"].unique().map(datasets_shown)
    divided: Divided = segmentation.record.divide(every, segmentation.options, resources)
    rows: list[tuple[object, ...]] = []
    for text, found in zip(every, divided.parts, strict=True):
        leaves = [False, *[True] * len(found)] if found else [True]
        repeats = [datasets[text.doc_id], *shown[text.doc_id, text.author]]
        for part, leaf in zip([text.full, *found], leaves, strict=True):
            starts = [piece.start for piece in part.pieces]
            ends = [piece.end for piece in part.pieces]
            row = (text.doc_id, text.author, part.name, part.text, starts, ends)
            rows.append((*row, "yes" if leaf else "no", part.status, [*part.made_up], repeats))
    return Segmented(pd.DataFrame(rows, columns=list(PARTS.columns)), divided.notes)


def repeated_datasets(texts: pd.DataFrame, sources: pd.DataFrame) -> list[str]:
    """The datasets whose text a segmentation may read, by what the texts' writers were shown."""
    shown = datasets_shown(texts["recipe"].unique())
    return sorted({*sources["dataset"], *shown})


def texts_of(texts: pd.DataFrame, sources: pd.DataFrame, segments: pd.DataFrame) -> list[Text]:
    """Every author's text as segmentations read it, sorted by document and author."""
    check_sources("texts", texts["doc_id"], sources)
    tasks = dict(zip(sources["doc_id"], sources["task"], strict=True))
    released: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    columns = (segments[name] for name in ("doc_id", "author", "part", "text"))
    for doc_id, author, part, said in zip(*columns, strict=True):
        released[doc_id, author].append((part, said))
    return [
        _text(written, tasks[key[0]])._replace(
            doc_id=key[0], author=key[1], released=released.get(key, ())
        )
        for key, written in _by_author(texts).items()
    ]


def _by_author(texts: pd.DataFrame) -> dict[tuple[str, str], list[Part]]:
    """What each author wrote of each document: `full`, or sections, without pieces so far."""
    groups: dict[tuple[str, str], list[Part]] = {}
    columns: Any = (texts[name] for name in ("doc_id", "author", "part", "text", "status"))
    for doc_id, author, part, text, status in zip(*columns, strict=True):
        row = Part(part, text if status == OK else None, [], status)
        groups.setdefault((doc_id, author), []).append(row)
    return dict(sorted(groups.items()))


def _text(written: Sequence[Part], task: str) -> Text:
    sections = sorted((part for part in written if part.name != FULL), key=_soap_order)
    joined, placed = _joined(sections)
    whole = next((part for part in written if part.name == FULL), None)
    full = whole or joined
    pieces = [Span(0, len(full.text))] if full.text is not None else []
    return Text(task, full._replace(pieces=pieces), sections if whole else placed)


def _soap_order(part: Part) -> tuple[int, str]:
    return (SECTIONS.index(part.name) if part.name in SECTIONS else len(SECTIONS), part.name)


def _joined(sections: Sequence[Part]) -> tuple[Part, Sequence[Part]]:
    """The sections as one text, and with the place of each in it; no text if one failed."""
    failed = next((part.status for part in sections if part.text is None), None)
    if failed:
        return Part(FULL, None, [], failed), sections
    text, placed = "", []
    for part in sections:
        between = BETWEEN_PARTS if text else ""
        start = len(text) + len(between)
        text += between + (part.text or "")
        placed.append(part._replace(pieces=[Span(start, len(text))]))
    return Part(FULL, text, [], OK), placed

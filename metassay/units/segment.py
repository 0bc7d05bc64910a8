"""Parts: what a text is compared by, section by section."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from metassay.checks import check_sources
from metassay.generation.shown import datasets_shown
from metassay.kinds import Chosen
from metassay.tables import FULL, PARTS
from metassay.text.headings import SECTIONS
from metassay.text.spans import Span
from metassay.units.record import BETWEEN_PARTS, OK, Part, Text


def segment(texts: pd.DataFrame, sources: pd.DataFrame, segmentation: Chosen) -> pd.DataFrame:
    """Divide every author's text: tables.TEXTS and tables.SOURCES to tables.PARTS.

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
    check_sources("texts", texts["doc_id"], sources)
    tasks = dict(zip(sources["doc_id"], sources["task"], strict=True))
    datasets = dict(zip(sources["doc_id"], sources["dataset"], strict=True))
    shown = texts.groupby(["doc_id", "author"])["recipe"].unique().map(datasets_shown)
    rows: list[tuple[object, ...]] = []
    for (doc_id, author), written in _by_author(texts).items():
        text = _text(written, tasks[doc_id])
        found: list[Part] = segmentation.record.divide(text, segmentation.options)
        leaves = [False, *[True] * len(found)] if found else [True]
        for part, leaf in zip([text.full, *found], leaves, strict=True):
            starts = [piece.start for piece in part.pieces]
            ends = [piece.end for piece in part.pieces]
            is_leaf = "yes" if leaf else "no"
            row = (doc_id, author, part.name, part.text, starts, ends, is_leaf, part.status)
            rows.append((*row, [datasets[doc_id], *shown[doc_id, author]]))
    return pd.DataFrame(rows, columns=list(PARTS.columns))


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

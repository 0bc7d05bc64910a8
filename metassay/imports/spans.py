"""Labelled spans of any tool: a row per span, or a record per text with a list of its spans.

Spans are counted per text, annotator and label. A text that no row names has no count.
"""

from collections.abc import Iterator

from metassay.imports.answers import count_spans, is_span
from metassay.imports.items import (
    TEXTS,
    Item,
    Object,
    SpanCounts,
    Task,
    Tool,
    first,
    objects,
    text,
    unpack,
    usual_field,
)
from metassay.imports.records import Record, records
from metassay.tabular.column_synonyms import Role
from metassay.tabular.rows import Findings

_LISTS = ("spans", "annotations", "entities", "labels", "errors", "label")
_RATERS = (
    "annotator_name",
    "annotator_id",
    "annotator",
    "rater",
    "user",
    "completed_by",
)


def read(task: Task) -> Iterator[Item]:
    """Yield the texts with their spans; rows of a text and annotator are counted together."""
    rows: dict[tuple[object, object, object], list[Object]] = {}
    first_places: dict[tuple[object, object, object], Record] = {}
    names_raters = any(
        _rater(span)
        for _, record in records(task.path, Findings())
        for span in [record, *_spans(record)]
    )
    unread = 0
    for place, record in records(task.path, task.problems):
        data = [record, unpack(record.get("metadata")), unpack(record.get("meta"))]
        doc = usual_field(data, Role.DOC)
        system = usual_field(data, Role.SYSTEM) or TEXTS
        if is_span(record):
            key = (doc, system, _rater(record))
            rows.setdefault(key, []).append(record)
            first_places.setdefault(key, (place, record))
            continue
        counts = [*_counts(record, names_raters=names_raters)]
        unread += not counts
        yield Item(
            place=place,
            record=record,
            judgments=counts,
            doc=doc if doc is not None else record.get("id"),
            system=system,
            text=usual_field(data, Role.TEXT),
            source=[text(usual_field(data, Role.SOURCE))],
            reference=usual_field(data, Role.REFERENCE),
        )
    for (doc, system, rater), spans in rows.items():
        place, record = first_places[doc, system, rater]
        yield Item(place, record, [count_spans(spans, rater)], doc, system)
    task.note(
        unread, "text", "without a span, and nothing tells who read it: no rating"
    )
    what = "of a text and an annotator; texts without spans are not in such a file"
    fix = "write a record per text, with an empty list of spans where nobody marked any"
    task.note(len(rows), "count", what, fix)


def _rater(span: Object) -> str:
    return str(first(span, *_RATERS) or "")


def _spans(record: Object) -> list[Object]:
    for name in _LISTS:
        spans = [span for span in objects(unpack(record.get(name))) if is_span(span)]
        if spans:
            return spans
    return []


def _counts(record: Object, *, names_raters: bool) -> Iterator[SpanCounts]:
    """Yield the counts of each annotator of a text.

    A text without spans has none of every label, unless the file names annotators: then nothing
    tells who read it.
    """
    by_rater: dict[str, list[Object]] = {}
    for span in _spans(record):
        by_rater.setdefault(_rater(span), []).append(span)
    if not by_rater and not names_raters and any(name in record for name in _LISTS):
        by_rater[""] = []
    for rater, spans in by_rater.items():
        yield count_spans(spans, rater)


TOOL = Tool(
    name="spans",
    people_only=True,
    what="labelled spans of texts",
    read=read,
    patterns=("*.jsonl", "*.json", "*.csv", "*.tsv", "*.parquet"),
    marks=(
        ("label", "start", "end", "doc_id"),
        ("annotations", "summary_start", "label"),
        ("labels", "label_type", "start", "end"),
    ),
    weak_marks=(
        ("label", "start"),
        ("label", "start_offset"),
        ("label", "begin"),
        ("spans",),
        ("entities",),
        ("annotations", "label"),
    ),
)

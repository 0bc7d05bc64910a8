"""Answers of annotation tools: numbers, choices, ranks, and labelled spans of a text.

Spans are read as counts per label, so that raters who mark errors can be compared with metrics.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from metassay.imports.items import (
    PERSON,
    Judgment,
    Object,
    SpanCounts,
    first,
    key,
    objects,
    parse_rating,
    parse_value,
)
from metassay.tabular.numbers import is_blank

# Fields in which tools write where a span begins, and what it is called.
_STARTS = (
    "start",
    "start_offset",
    "startOffset",
    "begin",
    "token_start",
    "summary_start",
)
_LABELS = (
    "labels",
    "label",
    "label_type",
    "entity",
    "entity_group",
    "category",
    "type",
    "tag",
)


def parse_answer(
    name: object, answer: object, by: object = "", *, person: bool = True
) -> Iterator[Judgment | SpanCounts]:
    """Yield what an answer to a question says; nothing where it is empty.

    Several choices are one label, `a | b`. Ranks are a judgment per ranked thing, `name_thing`.
    """
    if is_nothing(answer):
        return
    if isinstance(answer, Mapping):
        # Label Studio wraps several choices: {"choices": ["a", "b"]}.
        inner = [value for value in answer.values() if value is not None]
        if len(inner) == 1:
            yield from parse_answer(name, inner[0], by, person=person)
        else:
            yield from parse_value(name, answer, by, person=person)
        return
    elements = objects(answer)
    if elements and all(map(is_span, elements)):
        yield count_spans(elements, by, person=person)
    elif elements and all("rank" in element for element in elements):
        for element in elements:
            ranked = f"{key(name)}_{key(element.get('value'))}_rank"
            yield from parse_value(ranked, element["rank"], by, person=person)
    elif isinstance(answer, list | tuple) and not elements:
        chosen = " | ".join(sorted(map(str, answer)))
        yield from _parse_side(
            name, answer[0] if len(answer) == 1 else chosen, by, person=person
        )
    else:
        yield from _parse_side(name, answer, by, person=person)


def _parse_side(
    name: object, answer: object, by: object, *, person: bool
) -> Iterator[Judgment]:
    if person:
        return parse_rating(name, answer, by)
    return parse_value(name, answer, by)


def is_nothing(answer: object) -> bool:
    """Whether there is no answer: null, an empty cell, or an empty list or object."""
    return answer in (None, [], {}) or (isinstance(answer, str) and is_blank(answer))


def is_span(element: Object) -> bool:
    """Whether an object is a labelled span of a text."""
    return first(element, *_STARTS) is not None and bool(span_labels(element))


def span_labels(span: Object) -> list[str]:
    """Return the labels of a span; tools write one label or a list."""
    labels = first(span, *_LABELS)
    if isinstance(labels, list | tuple):
        return [key(label) for label in labels if key(label)]
    return [key(labels)] if key(labels) else []


def count_spans(
    spans: Iterable[Object], by: object = "", *, person: bool = True
) -> SpanCounts:
    """Count the spans of a text by label."""
    counts = Counter(label for span in spans for label in span_labels(span))
    return SpanCounts(counts, key(by) or (PERSON if person else ""), person)

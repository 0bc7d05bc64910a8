"""What readers hand over, an item per text; and fields of records as names, texts and numbers."""

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from metassay.tabular.decoding import finite_number
from metassay.tabular.numbers import is_blank
from metassay.tabular.rows import Findings, Place

Object = Mapping[str, Any]  # of JSON, or a row of a table


class Judgment(NamedTuple):
    """What one judge or person said of a text by one scorer; nothing without value and label.

    `label` is the verdict in words, where there is one; `by` the judge's model or the rater.
    """

    name: str
    value: float | None
    label: str
    by: str
    person: bool


class Item(NamedTuple):
    """One text of one system about one document, by the values of a record as the tool has them.

    Texts may be chats or any JSON. `failed`: the system brought none. `corrected`: a person's value
    stood in the judge's own place.
    """

    at: Place
    record: object
    judgments: Iterable[Judgment]
    doc: object
    system: object
    text: object = None
    source: Iterable[object] = ()  # passages, or lists of them
    reference: object = None
    failed: bool = False
    corrected: bool = False
    epoch: object = 1


class Task(NamedTuple):
    """A file to read; which fields are to name documents and systems; what is wrong or left out."""

    path: Path
    doc_field: str
    system_field: str
    problems: Findings
    notes: Findings

    def names(self, item: Item) -> tuple[str, str]:
        """Its document and system: by the fields that were asked for, or the tool's own.

        Where the tool has no system, the file is called after it.
        """
        doc = field(item.record, self.doc_field) if self.doc_field else item.doc
        of_tool = key(item.system) or key(self.path.stem)
        system = key(field(item.record, self.system_field)) if self.system_field else of_tool
        return key(doc), f"{system}#{item.epoch}" if system and item.epoch != 1 else system

    def note(self, count: int, what: str, remedy: str) -> None:
        """Say of how many things of the file something is to be known, if of any."""
        if count:
            self.notes.add(Place(self.path.name), f"{count:,} {what}", remedy)


def judged(
    name: object, value: object, by: object = "", *, person: bool = False, label: object = ""
) -> Iterator[Judgment]:
    """What was said: a judgment per number or word in the value; of null and NaN an empty one.

    A `label` that is true or false is `pass` or `fail`.
    """
    called, rater = key(name) or "score", key(by) or ("person" if person else "")
    if isinstance(value, Mapping | list | tuple) and value:
        each = value.items() if isinstance(value, Mapping) else enumerate(value, start=1)
        for step, inner in each:
            yield from judged(f"{called}_{step}", inner, rater, person=person, label=label)
        return
    word = value if isinstance(value, str) and number(value) is None and not is_blank(value) else ""
    if isinstance(label, bool):
        label = "pass" if label else "fail"
    yield Judgment(called, number(value), key(label) or key(word), rater, person)


def rated(name: object, value: object, by: object = "", label: object = "") -> Iterator[Judgment]:
    """What a person said; nothing where the value is null or an empty cell."""
    if value is not None and not (isinstance(value, str) and is_blank(value)):
        yield from judged(name, value, by, person=True, label=label)


def unpacked(value: object) -> Any:
    """A value that a table holds as JSON; what is no JSON stays a text."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value


def field(record: object, path: str) -> Any:
    """What a record has under `metadata.model`, or `choices.0.text`; None for nothing there."""
    if isinstance(record, Mapping) and path in record:
        return record[path]
    for step in path.split("."):
        record = unpacked(record)
        if isinstance(record, list):
            record = {str(place): one for place, one in enumerate(record)}
        record = record.get(step) if isinstance(record, Mapping) else None
    return record


def first(record: object, *names: str) -> Any:
    """The first of these fields that holds anything."""
    return next((v for v in (field(record, name) for name in names) if v not in (None, "")), None)


def objects(value: object) -> list[Object]:
    """The objects of a list; none of what is no list."""
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def key(value: object) -> str:
    """A name in one line, without blanks around it; "" for nothing and for what is no name."""
    if isinstance(value, Mapping | list) or _is_nothing(value):
        return ""
    return " ".join("".join(c if c.isprintable() else " " for c in str(value)).split())


def _is_nothing(value: object) -> bool:
    return value in (None, "", []) or (isinstance(value, float) and math.isnan(value))


def digest(value: object) -> str:
    """A name for what has none: equal values have equal ones."""
    told = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(told.encode()).hexdigest()[:12]


def text(value: object) -> str | None:
    """A text, of a text, of chat messages or their parts, or of any JSON; None for nothing."""
    if isinstance(value, list) and value and len(objects(value)) == len(value):
        value = "\n".join(filter(None, (text(first(one, "text", "content")) for one in value)))
    if _is_nothing(value) or isinstance(value, str):
        return value if isinstance(value, str) and value else None
    return json.dumps(value, ensure_ascii=False, default=str)


def number(value: object) -> float | None:
    """The number that a value is, true being 1; None for anything else, NaN and infinities."""
    if isinstance(value, str):
        return finite_number(value.strip())
    return float(value) if isinstance(value, int | float) and abs(value) < 1e300 else None

"""Items, which readers return, one per text; and fields of records as names, texts and numbers."""

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
    """The judgment of a text by a judge or person and a scorer; empty without value and label.

    `label`: the verdict in words, if there is one. `by`: the judge's model, or the rater.
    """

    name: str
    value: float | None
    label: str
    by: str
    person: bool


class Item(NamedTuple):
    """One text of one system about one document, with the values of a record as the tool has them.

    Texts may be chats or any JSON. `failed`: the system returned no text. `corrected`: a person's
    value replaced the judge's.
    """

    place: Place
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
    """A file to read, the fields that name documents and systems, problems and notes."""

    path: Path
    doc_field: str
    system_field: str
    problems: Findings
    notes: Findings

    def names(self, item: Item) -> tuple[str, str]:
        """Return an item's document and system, by the fields of the task or the tool's own.

        A tool without systems has the file's name for one.
        """
        doc = field(item.record, self.doc_field) if self.doc_field else item.doc
        of_tool = key(item.system) or key(self.path.stem)
        system = key(field(item.record, self.system_field)) if self.system_field else of_tool
        return key(doc), f"{system}#{item.epoch}" if system and item.epoch != 1 else system

    def note(self, count: int, what: str, remedy: str) -> None:
        """Add a note about `count` things of the file, if there are any."""
        if count:
            self.notes.add(Place(self.path.name), f"{count:,} {what}", remedy)


def parse_value(
    name: object, value: object, by: object = "", *, person: bool = False, label: object = ""
) -> Iterator[Judgment]:
    """Yield a judgment per number or word in the value, an empty one for null and NaN.

    A `label` that is true or false becomes `pass` or `fail`.
    """
    scorer, rater = key(name) or "score", key(by) or ("person" if person else "")
    if isinstance(value, Mapping | list | tuple) and value:
        parts = value.items() if isinstance(value, Mapping) else enumerate(value, start=1)
        for step, inner in parts:
            yield from parse_value(f"{scorer}_{step}", inner, rater, person=person, label=label)
        return
    word = value if isinstance(value, str) and number(value) is None and not is_blank(value) else ""
    if isinstance(label, bool):
        label = "pass" if label else "fail"
    yield Judgment(scorer, number(value), key(label) or key(word), rater, person)


def parse_rating(
    name: object, value: object, by: object = "", label: object = ""
) -> Iterator[Judgment]:
    """Yield a person's judgments; none where the value is null or an empty cell."""
    if value is not None and not (isinstance(value, str) and is_blank(value)):
        yield from parse_value(name, value, by, person=True, label=label)


def unpack(value: object) -> Any:
    """Parse a value that a table holds as JSON; other text stays text."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value


def field(record: object, path: str) -> Any:
    """Return the field `metadata.model`, or `choices.0.text`, of a record; None if it has none."""
    if isinstance(record, Mapping) and path in record:
        return record[path]
    for step in path.split("."):
        record = unpack(record)
        if isinstance(record, list):
            record = {str(place): value for place, value in enumerate(record)}
        record = record.get(step) if isinstance(record, Mapping) else None
    return record


def first(record: object, *names: str) -> Any:
    """Return the first of these fields that is not empty."""
    return next((v for v in (field(record, name) for name in names) if v not in (None, "")), None)


def objects(value: object) -> list[Object]:
    """Return the objects in a list; none if the value is no list."""
    return [v for v in value if isinstance(v, Mapping)] if isinstance(value, list) else []


def key(value: object) -> str:
    """Write a name in one line, without blanks around it; "" for what cannot be a name."""
    if isinstance(value, Mapping | list) or _is_nothing(value):
        return ""
    return " ".join("".join(c if c.isprintable() else " " for c in str(value)).split())


def _is_nothing(value: object) -> bool:
    return value in (None, "", []) or (isinstance(value, float) and math.isnan(value))


def digest(value: object) -> str:
    """Make an id of a value that has none: equal values have equal ids."""
    serialized = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(serialized.encode()).hexdigest()[:12]


def text(value: object) -> str | None:
    """Return the text of a string, chat messages or their parts, or any JSON; None if empty."""
    if isinstance(value, list) and value and len(objects(value)) == len(value):
        value = "\n".join(filter(None, (text(first(part, "text", "content")) for part in value)))
    if _is_nothing(value) or isinstance(value, str):
        return value if isinstance(value, str) and value else None
    return json.dumps(value, ensure_ascii=False, default=str)


def number(value: object) -> float | None:
    """Return a value as a number, true being 1; None for anything else, NaN and infinities."""
    if isinstance(value, str):
        return finite_number(value.strip())
    return float(value) if isinstance(value, int | float) and abs(value) < 1e300 else None

"""What readers of other tools' files return: judgments of texts, and comparisons of two texts.

A reader turns each record of a tool's file into items. `metassay.imports.writing` collects them.
"""

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from metassay.format.numbers import counted
from metassay.tabular.column_synonyms import USUAL, fold_name
from metassay.tabular.decoding import finite_number
from metassay.tabular.numbers import is_blank
from metassay.tabular.rows import Findings, Place

Object = Mapping[str, Any]  # of JSON, or a row of a table

PERSON = "person"  # the rater whom a file does not name
TEXTS = "texts"  # the system of annotated texts whose file names none


class Judgment(NamedTuple):
    """The judgment of a text by a judge or a person; missing without value and label.

    `name` is the scorer or question. `label` is the verdict in words, if there is one. `by` is the
    judge's model, or the rater. `question` distinguishes scorers that share a name: the text of a
    rubric, or a filter. `better` is "higher" or "lower" if the tool says which, else "".
    """

    name: str
    value: float | None
    label: str
    by: str
    person: bool
    question: str = ""
    better: str = ""


class SpanCounts(NamedTuple):
    """How many spans of each label a person or judge marked in a text.

    A label without spans counts 0 in each text that somebody annotated.
    """

    counts: Mapping[str, int]
    by: str
    person: bool


class Item(NamedTuple):
    """One text of one system about one document, with the values of a record as the tool has them.

    Texts may be chats or any JSON. `failed`: the system returned no text. `corrected`: a person's
    value replaced the judge's.
    """

    place: Place
    record: object
    judgments: Iterable[Judgment | SpanCounts]
    doc: object
    system: object
    text: object = None
    source: Iterable[object] = ()  # passages, or lists of them
    reference: object = None
    failed: bool = False
    corrected: bool = False
    epoch: object = 1


class Comparison(NamedTuple):
    """Somebody's preference between the texts of two systems about one document.

    `share` is 1 where the first is preferred, 0 where the second is, .5 for a tie, a probability
    where a judge gives one; None where the preference is missing. `games`: the same with the first
    text shown first, and shown second, where a judge was asked in both orders.
    """

    place: Place
    record: object
    doc: object
    first: object
    second: object
    name: str
    share: float | None
    by: str
    person: bool
    games: tuple[float | None, float | None] | None = None


@dataclass(frozen=True)
class Task:
    """A file to read, the fields that the user named, problems and notes.

    `columns` has the fields by role: doc, system, judge and human. A role may have several.
    """

    path: Path
    columns: Mapping[str, tuple[str, ...]]
    problems: Findings
    notes: Findings
    accepted: bool = False

    def named(self, role: str) -> str:
        """Return the field that the user named for a role, the last of several, or ""."""
        return self.columns.get(role, ("",))[-1]

    def names(self, item: Item | Comparison) -> tuple[str, str]:
        """Return the document and system, by the fields of the task or the tool's own.

        A tool without systems has the file's name for one. A comparison has no single system.
        """
        doc = (
            field_of(item.record, self.named("doc")) if self.named("doc") else item.doc
        )
        if isinstance(item, Comparison):
            return key(doc), ""
        system = key(item.system) or key(self.path.stem)
        if self.named("system"):
            system = key(field_of(item.record, self.named("system")))
        if system and item.epoch != 1:
            system = f"{system}#{item.epoch}"
        return key(doc), system

    def named_judgments(self, item: Item) -> Iterator[Judgment]:
        """Yield what is in the fields that the user named as a judge's or a person's."""
        for field_name in self.columns.get("judge", ()):
            yield from parse_value(
                field_name, unpack(field_of(item.record, field_name))
            )
        for field_name in self.columns.get("human", ()):
            yield from parse_rating(
                field_name, unpack(field_of(item.record, field_name))
            )

    def note(self, count: int, noun: str, what: str, remedy: str = "") -> None:
        """Add a note about `count` things of the file, called by a noun, if there are any."""
        if count:
            self.notes.add(
                Place(self.path.name), f"{counted(count, noun)} {what}", remedy
            )


@dataclass(frozen=True)
class Tool:
    """A tool, its files, and the reader of one file.

    A file is the tool's if the names of its fields, or its ending, include all of one mark; a
    trailing * stands for any letters. `marks` are the tool's alone. Files with `weak_marks` are
    read where the user names the tool, but may be another's. `recognize` tells from all names what
    no mark can. `patterns` are the files to read in a folder. `letters` are the numbers of grades,
    for scorers that use these letters. `people_only`: tables of the tool have no judge's values.
    """

    name: str
    what: str
    read: Callable[[Task], Iterator[Item | Comparison]]
    patterns: tuple[str, ...]
    marks: tuple[tuple[str, ...], ...]
    weak_marks: tuple[tuple[str, ...], ...] = ()
    letters: Mapping[str, float] = field(default_factory=dict)
    recognize: Callable[[Iterable[str]], bool] | None = None
    people_only: bool = False


# ---- judgments


def parse_value(
    name: object,
    value: object,
    by: object = "",
    *,
    person: bool = False,
    label: object = "",
    question: str = "",
    better: str = "",
) -> Iterator[Judgment]:
    """Yield a judgment per number or word in the value, a missing one for null and NaN.

    A `label` that is true or false becomes `pass` or `fail`.
    """
    scorer = key(name) or "score"
    rater = key(by) or (PERSON if person else "")
    if isinstance(value, Mapping | list | tuple) and value:
        steps = (
            value.items() if isinstance(value, Mapping) else enumerate(value, start=1)
        )
        for step, inner in steps:
            yield from parse_value(
                f"{scorer}_{step}",
                inner,
                rater,
                person=person,
                label=label,
                question=question,
                better=better,
            )
        return
    if isinstance(label, bool):
        label = "pass" if label else "fail"
    word = ""
    if isinstance(value, str) and number(value) is None and not is_blank(value):
        word = key(value)
    yield Judgment(
        name=scorer,
        value=number(value),
        label=key(label) or word,
        by=rater,
        person=person,
        question=question,
        better=better,
    )


def parse_rating(
    name: object, value: object, by: object = "", label: object = ""
) -> Iterator[Judgment]:
    """Yield a person's judgments; none where the value is null or an empty cell."""
    if value is None or (isinstance(value, str) and is_blank(value)):
        return
    yield from parse_value(name, value, by, person=True, label=label)


def missing_judgment(
    name: object, by: object = "", *, person: bool = False
) -> Judgment:
    """Return the judgment of a scorer that gave none."""
    rater = key(by) or (PERSON if person else "")
    return Judgment(key(name) or "score", None, "", rater, person)


# ---- values of records


def unpack(value: object) -> Any:
    """Parse a value that a table holds as JSON; other text stays text."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):  # no JSON, or too deep
        return value


def field_of(record: object, path: str) -> Any:
    """Return the field `metadata.model`, or `choices.0.text`, of a record; None if it has none.

    A name with dots of its own, `metadata.hhem-2.1`, is found, too.
    """
    record = unpack(record)
    if isinstance(record, list):
        record = {str(place): value for place, value in enumerate(record)}
    if not isinstance(record, Mapping):
        return None
    if path in record:
        return record[path]
    steps = path.split(".")
    for length in range(1, len(steps)):
        name = ".".join(steps[:length])
        if name in record:
            return field_of(record[name], ".".join(steps[length:]))
    return None


def first(record: object, *names: str) -> Any:
    """Return the first of these fields that is not empty."""
    values = (field_of(record, name) for name in names)
    return next((value for value in values if value not in (None, "")), None)


def usual_field(records: Iterable[object], role: str) -> Any:
    """Return the first value whose field has a usual name of the role, in any of the records.

    A field `id` is the record's, and names no document.
    """
    for record in records:
        if not isinstance(record, Mapping):
            continue
        by_name = {fold_name(str(name)): value for name, value in record.items()}
        by_name.pop("id", None)
        for name in USUAL[role]:
            if by_name.get(name) not in (None, ""):
                return by_name[name]
    return None


def objects(value: object) -> list[Object]:
    """Return the objects in a list; none if the value is no list."""
    if not isinstance(value, list | tuple):
        return []
    return [element for element in value if isinstance(element, Mapping)]


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
        parts = (text(first(part, "text", "content")) for part in value)
        value = "\n".join(part for part in parts if part)
    if _is_nothing(value) or isinstance(value, str):
        return value if isinstance(value, str) and value else None
    return json.dumps(value, ensure_ascii=False, default=str)


def number(value: object) -> float | None:
    """Return a value as a number, true being 1; None for anything else, NaN and infinities."""
    if isinstance(value, str):
        return finite_number(value.strip())
    return (
        float(value) if isinstance(value, int | float) and abs(value) < 1e300 else None
    )

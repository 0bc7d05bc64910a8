"""What readers hand over: an item per text, with what judges and people said of it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from metassay.imports.values import field, key, number, scalars
from metassay.tabular.numbers import absent
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
    """One text of one system about one document; `text` is None where it is not known.

    `failed`: the system brought none. `corrected`: a person's value stood in the judge's own place.
    """

    at: Place
    doc: str
    system: str
    judgments: tuple[Judgment, ...]
    text: str | None = None
    passages: tuple[str, ...] = ()  # of the source
    reference: str | None = None
    failed: bool = False
    corrected: bool = False


class Task(NamedTuple):
    """A file to read; which fields are to name documents and systems; what is wrong or left out."""

    path: Path
    doc_field: str
    system_field: str
    problems: Findings
    notes: Findings

    def doc(self, record: object, usual: object) -> str:
        """The document's name: by the field that was asked for, or the usual one."""
        return key(field(record, self.doc_field) if self.doc_field else usual)

    def system(self, record: object, usual: object) -> str:
        """The system's name, likewise; where the tool has none, the file is called after it."""
        asked = self.system_field
        return key(field(record, asked)) if asked else key(usual) or key(self.path.stem)

    def note(self, count: int, what: str, remedy: str) -> None:
        """Say of how many things of the file something is to be known, if of any."""
        if count:
            self.notes.add(Place(self.path.name), f"{count:,} {what}", remedy)


class Kind(NamedTuple):
    """A tool: what its files are, which of a folder to read, how, and by which names to know them.

    `marks`: names of fields with blanks between; a file is of this kind if it has all of one text.
    """

    what: str
    patterns: tuple[str, ...]
    marks: tuple[str, ...]
    read: Callable[[Task], Iterator[Item]]


def judged(
    name: object, value: object, by: object = "", *, person: bool = False, label: object = ""
) -> Iterator[Judgment]:
    """What was said: a judgment per number or word in the value; of null and NaN an empty one."""
    rater = key(by) or ("person" if person else "")
    for called, one in scalars(key(name) or "score", value):
        word = key(one) if isinstance(one, str) and number(one) is None and not absent(one) else ""
        yield Judgment(called, number(one), key(label) or word, rater, person)


def rated(name: object, value: object, by: object = "", label: object = "") -> Iterator[Judgment]:
    """What a person said; nothing where the value is null or an empty cell."""
    if value is not None and not (isinstance(value, str) and absent(value)):
        yield from judged(name, value, by, person=True, label=label)


def several(judgments: Iterable[Iterable[Judgment]]) -> tuple[Judgment, ...]:
    """All of these, in one."""
    return tuple(one for some in judgments for one in some)

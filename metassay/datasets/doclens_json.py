"""DocLens's JSON: a folder with one file per system, `<system>.json`.

Each file is a list of records with `example_id`, `input`, `reference` and `output`; other keys are
not read. Records are matched by example_id, and input and reference must be the same in every
file. `input` is one passage per line; where its lines begin with their numbers (`[0][doctor] ...`),
a line without one continues the passage above it.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from metassay.core.errors import shown
from metassay.datasets.citing import check_citations
from metassay.datasets.own_data import Example, checked
from metassay.tables.names import FULL, REFERENCE
from metassay.tabular.decoding import DATA, UNREAD, decode, parse_json, read_bytes
from metassay.tabular.rows import Place, Rows, SourceRow, TextRow

_SEE = "docs/own-data.md shows how it is written"
_NUMBERED = re.compile(r"\s*\[(\d{1,9})\]\s*(.*)", re.ASCII | re.DOTALL)
_SPEAKER = re.compile(r"\[([^\]\[\d][^\]\[]*)\]\s*(.*)", re.DOTALL)


def read_notes(folder: Path) -> Rows:
    """Read outputs that are clinical notes of a dialogue."""
    return _read(folder, "note")


def read_impressions(folder: Path) -> Rows:
    """Read outputs that are impressions of a radiology report."""
    return _read(folder, "impression")


def read_questions(folder: Path) -> Rows:
    """Read outputs that are summaries of a consumer's question."""
    return _read(folder, "question")


def read_abstracts(folder: Path) -> Rows:
    """Read outputs that are abstracts of an article."""
    return _read(folder, "abstract")


def _read(folder: Path, task: str) -> Rows:
    rows = Rows()
    paths = sorted(folder.glob("*.json"))
    if not paths:
        at = Place(str(folder))
        rows.problems.add(at, "holds no .json file", f"put one per system there; {_SEE}")
    first: dict[str, tuple[Place, Example]] = {}
    for path in paths:
        if path.stem == REFERENCE:
            fix = "rename it to the system that wrote the outputs"
            rows.problems.add(Place(path.name), f"is named {REFERENCE}", fix)
        if path.stem != path.stem.strip() or not path.stem.isprintable():
            what = "the file's name has blanks at an end or characters that do not print"
            rows.problems.add(Place(shown(path.name)), what, "rename it: it is the system's name")
        for at, example in _examples(path, rows):
            _add(example, at, path.stem, task, first, rows)
    for path in sorted(set(folder.glob("*")) - set(paths)):
        if path.suffix.lower() in DATA:
            rows.warnings.add(Place(path.name), "is not read", "name it <system>.json if it is one")
    check_citations(rows)
    return rows


def _examples(path: Path, rows: Rows) -> Iterator[tuple[Place, Example]]:
    data = read_bytes(path, rows.problems, remedy=_SEE)
    text = decode(data, path, rows.problems) if data is not None else None
    records = UNREAD if text is None else parse_json(text, Place(path.name), rows.problems)
    if not isinstance(records, list):
        if records is not UNREAD:
            rows.problems.add(Place(path.name), "is not a list of records", _SEE)
        rows.unreadable |= {"sources", "texts"}
        return
    for number, record in enumerate(records, start=1):
        at = Place(path.name, number, "record")
        example = checked(Example, _known_keys(record, at, rows), at, rows.problems)
        if example is None:
            rows.unreadable |= {"sources", "texts"}
        else:
            yield at, example


def _known_keys(record: Any, at: Place, rows: Rows) -> Any:
    if not isinstance(record, dict):
        return record
    other = sorted(set(record) - set(Example.model_fields))
    if other:
        fix = "nothing to do unless one is a misspelt key"
        rows.warnings.add(at, f"{len(other)} key(s) are not read", fix, f"{shown(other[0])}")
    return {name: value for name, value in record.items() if name in Example.model_fields}


def _add(
    example: Example,
    at: Place,
    system: str,
    task: str,
    first: dict[str, tuple[Place, Example]],
    rows: Rows,
) -> None:
    doc_id = example.example_id
    rows.texts.append(TextRow(at, doc_id, system, FULL, example.output))
    earlier_at, earlier = first.setdefault(doc_id, (at, example))
    if earlier is example:
        rows.sources.append(_source(example, at, task, rows))
        rows.texts.append(TextRow(at, doc_id, REFERENCE, FULL, example.reference))
        return
    where = f"example_id {shown(doc_id)}"
    for name in ("input", "reference"):
        if getattr(example, name) != getattr(earlier, name):
            what = f"{name!r} differs from that in {earlier_at.file}"
            rows.problems.add(at, what, "make them the same or give it its own example_id", where)


def _source(example: Example, at: Place, task: str, rows: Rows) -> SourceRow:
    numbers, lines = [], []
    numbered = _NUMBERED.fullmatch(example.input.strip()) is not None
    for line in example.input.splitlines():
        match = _NUMBERED.fullmatch(line) if numbered else None
        if match is not None:
            numbers.append(int(match[1]))
            lines.append(match[2].strip())
        elif numbered:
            lines[-1] += f"\n{line.strip()}"
        elif line.strip():
            lines.append(line.strip())
    where = f"example_id {shown(example.example_id)}"
    if numbered and numbers != list(range(len(numbers))):
        what = "the passages of 'input' are not numbered 0, 1, 2, ..."
        rows.problems.add(at, what, "number them in order, from [0]", where)
    spoken = [_SPEAKER.fullmatch(line) for line in lines]
    passages = [m[2] if m else line for m, line in zip(spoken, lines, strict=True)]
    if not all(passage.strip() for passage in passages):
        what = "a passage of 'input' is empty"
        empty = next(n for n, passage in enumerate(passages) if not passage.strip())
        rows.problems.add(at, what, "remove it or fill it in", f"{where}, passage {empty}")
    speakers = [m[1].strip() if m else "" for m in spoken]
    return SourceRow(at, example.example_id, task, passages, speakers, [""] * len(passages))

"""Read DocLens's JSON: a folder with a file per system, `<system>.json`.

Each file is a list of records with `example_id`, `input`, `reference` and `output`; other keys are
ignored. Records are matched by example_id, and input and reference must be equal in all files.
`input` has a passage per line; if lines begin with numbers (`[0][doctor] ...`), a line without a
number continues the passage above.
"""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from metassay.core.errors import shown
from metassay.datasets.checks import check_citations
from metassay.datasets.own_data import Example, validate
from metassay.tables.names import FULL, REFERENCE
from metassay.tabular.decoding import DATA, json_list
from metassay.tabular.rows import Place, Rows, SourceRow, TextRow, source_row

_SEE = "docs/own-data.md shows how it is written"
_NUMBERED = re.compile(r"\s*\[(\d{1,9})\]\s*(.*)", re.ASCII | re.DOTALL)
_SPEAKER = re.compile(r"\[([^\]\[\d][^\]\[]*)\]\s*(.*)", re.DOTALL)


def _read(folder: Path, task: str) -> Rows:
    rows = Rows()
    paths = sorted(folder.glob("*.json"))
    if not paths:
        fix = f"put one per system there; {_SEE}"
        rows.wrong(Place(str(folder)), "holds no .json file", remedy=fix)
    first: dict[str, tuple[Place, Example]] = {}
    for path in paths:
        if path.stem == REFERENCE:
            fix = "rename it to the system that wrote the outputs"
            rows.wrong(Place(path.name), f"is named {REFERENCE}", remedy=fix)
        if path.stem != path.stem.strip() or not path.stem.isprintable():
            what = "the file's name has blanks at an end or characters that do not print"
            rows.wrong(Place(shown(path.name)), what, remedy="rename it: it is the system's name")
        for at, example in _examples(path, rows):
            _add(example, at, path.stem, task, first, rows)
    for path in sorted(set(folder.glob("*")) - set(paths)):
        if path.suffix.lower() in DATA:
            rows.warnings.add(Place(path.name), "is not read", "name it <system>.json if it is one")
    check_citations(rows)
    return rows


read_notes, read_impressions = partial(_read, task="note"), partial(_read, task="impression")
read_questions, read_abstracts = partial(_read, task="question"), partial(_read, task="abstract")


def _examples(path: Path, rows: Rows) -> Iterator[tuple[Place, Example]]:
    records = json_list(path, rows.problems, remedy=_SEE)
    examples = [(at, _example(record, at, rows)) for at, record in records or ()]
    if records is None or any(example is None for _, example in examples):
        rows.unreadable |= {"sources", "texts"}
    yield from ((at, example) for at, example in examples if example is not None)


def _example(record: Any, at: Place, rows: Rows) -> Example | None:
    known = Example.model_fields
    if isinstance(record, dict):
        if other := sorted(record.keys() - known):
            fix = "nothing to do unless one is a misspelt key"
            rows.warnings.add(at, f"{len(other)} key(s) are not read", fix, shown(other[0]))
        record = {name: value for name, value in record.items() if name in known}
    return validate(Example, record, at, rows.problems)


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
            rows.wrong(at, what, where, "make them the same or give it its own example_id")


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
        rows.wrong(at, what, where, "number them in order, from [0]")
    spoken = [_SPEAKER.fullmatch(line) for line in lines]
    passages = [m[2] if m else line for m, line in zip(spoken, lines, strict=True)]
    if empty := [n for n, passage in enumerate(passages) if not passage.strip()]:
        where += f", passage {empty[0]}"
        rows.wrong(at, "a passage of 'input' is empty", where, "remove it or fill it in")
    speakers = [m[1].strip() if m else "" for m in spoken]
    return source_row(at, example.example_id, task, passages, speakers)

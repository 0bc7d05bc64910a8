"""Files of test sets, and what their readers make of them."""

import json
from pathlib import Path
from typing import TypeVar

from metassay.labelled.ingest import IngestedItems, ingest_items
from metassay.labelled.records import Documents, Items
from metassay.labelled.types import chosen_test

SECRET = "what nobody may read"
TWO = {"ways": 2, "subsets": [], "sample": None}
_Read = TypeVar("_Read", Items, Documents)


def put(path: Path, *lines: object) -> Path:
    """Write lines, as JSON where they are no text; the file's folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(
        f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines
    )
    path.write_text(text, encoding="utf-8")
    return path.parent


def sound(read: _Read) -> _Read:
    """What was read, without a problem."""
    assert not read.problems, read.problems.lines()
    return read


def problems(read: Items | Documents) -> list[str]:
    """What is wrong, without any text."""
    lines = read.problems.lines()
    assert SECRET not in "\n".join(lines)
    return lines


def ingested(reader: str, raw: Path, dataset: str) -> IngestedItems:
    """Every item of a set, asked about in two labels."""
    return ingest_items(
        chosen_test("nli", TWO, where="x"), reader, raw, dataset=dataset
    )

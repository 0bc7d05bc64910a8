"""What a file is that somebody wants to import: which tool's, by the names of its fields."""

import zipfile
from itertools import islice
from pathlib import Path

from metassay.core.errors import shown
from metassay.imports import MODULES, load_kind
from metassay.imports.records import LINES, PARQUET, SHEETS, parts, records
from metassay.tabular.rows import Findings

_HEAD = 2000  # values of a JSON file that tell what it is


def names_in(path: Path) -> list[str]:
    """Names of fields, columns or members at a file's beginning; none where it cannot be read."""
    if path.suffix.lower() in (*SHEETS, PARQUET):
        return [name for _, row in islice(records(path, Findings()), 1) for name in row]
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.namelist()
    except (OSError, zipfile.BadZipFile):
        head = islice(parts(path, lambda _: False, Findings()), _HEAD)
        return list(dict.fromkeys(step for part in head for step in part.steps))


def kinds_of(names: list[str]) -> list[str]:
    """The tools that write files with these names of fields."""
    there, marks = set(names), {name: load_kind(name).marks for name in MODULES}
    return [name for name in MODULES if any(there.issuperset(m.split()) for m in marks[name])]


def told(path: Path, kind: str, names: list[str]) -> tuple[str, str]:
    """Of a file that the reader of `kind` cannot read: what it is, and what would read it."""
    if {"headings", "columns", "row"} <= set(names):
        return "is a sheet of a study of Metassay", "metassay study import reads it"
    for other in kinds_of(names)[:1]:
        return f"is {load_kind(other).what}", f"metassay import {other} reads it"
    table = path.suffix.lower() in (*SHEETS, PARQUET)
    form = "a table" if table else "JSON Lines" if path.suffix.lower() in LINES else "JSON"
    seen = ", ".join(map(shown, names[:5])) or "nothing that can be read"
    reads = "metassay judge-check, meta-eval and init read tables as they are"
    what = f"is {form} with {seen}, and not {load_kind(kind).what}"
    return what, reads if table else "docs/importing.md has what is read of each tool"

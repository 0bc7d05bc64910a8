"""What a file is that somebody wants to import: which tool's, by the names of its fields."""

import zipfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from metassay.core.errors import BadInput, shown
from metassay.imports import MODULES, load_kind
from metassay.imports.records import LINES, PARQUET, SHEETS, parts
from metassay.tables.parquet_file import load
from metassay.tabular.decoding import csv_lines
from metassay.tabular.rows import Findings
from metassay.tabular.sheet import read_sheet, separator_of

_HEAD = 2000  # values of a JSON file that tell what it is
_START = 1 << 16  # bytes of a table that hold its first line
_NAMED = 5


def names_in(path: Path) -> list[str]:
    """Names of fields, columns or members at a file's beginning; none where it cannot be read."""
    ending = path.suffix.lower()
    try:
        if zipfile.is_zipfile(path) and ending not in SHEETS:
            with zipfile.ZipFile(path) as archive:
                return archive.namelist()
        if ending == PARQUET:
            return list(load(path).schema.names)
        if ending in (".xlsx", ".xlsm"):
            sheet = read_sheet(path, Findings())
            return list(sheet.columns) if sheet else []
        if ending in SHEETS:
            with path.open("rb") as file:
                start = file.read(_START).decode("utf-8-sig", "ignore")
            lines = csv_lines(start, path.name, Findings(), separator_of(start))
            return [cell.strip() for cell in next(iter(lines))[1]]
        return list(dict.fromkeys(_fields(path)))
    except (OSError, BadInput, zipfile.BadZipFile, StopIteration):
        return []


def _fields(path: Path) -> Iterator[str]:
    for part in islice(parts(path, lambda _: False, Findings()), _HEAD):
        yield from part.steps


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
    seen = ", ".join(map(shown, names[:_NAMED])) or "nothing that can be read"
    form = "a table" if path.suffix.lower() in (*SHEETS, PARQUET) else "JSON"
    form = "JSON Lines" if path.suffix.lower() in LINES else form
    what = f"is {form} with {seen}, and not {load_kind(kind).what}"
    if form == "a table":
        return what, "metassay meta-eval and metassay init read tables as they are"
    return what, "docs/importing.md has what is read of each tool"

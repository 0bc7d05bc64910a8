"""The tools whose files are read, and how a file is recognized.

docs/importing.md has the fields of each tool; older versions spell some differently.
"""

from collections.abc import Collection, Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from metassay.core.errors import quoted
from metassay.imports import (
    argilla,
    deepeval,
    doccano,
    inception,
    inspect_logs,
    label_studio,
    langfuse,
    lm_eval,
    mlflow,
    phoenix,
    preferences,
    prodigy,
    promptfoo,
    ragas,
    scout,
    spans,
)
from metassay.imports.items import Tool
from metassay.imports.records import LINES, TABLES, header_of

_MODULES = (
    inspect_logs,
    lm_eval,
    ragas,
    deepeval,
    promptfoo,
    langfuse,
    phoenix,
    mlflow,
    scout,
    label_studio,
    argilla,
    prodigy,
    doccano,
    inception,
    spans,
    preferences,
)
TOOLS: Mapping[str, Tool] = {module.TOOL.name: module.TOOL for module in _MODULES}


def tools_of(path: Path, names: Collection[str], *, weak: bool = True) -> list[str]:
    """Return the tools that write such files with these names of fields, the surest first.

    Without `weak`, only those whose marks no other file has.
    """
    marks = [*names, path.suffix.lower()]
    sure = [name for name, tool in TOOLS.items() if _has_mark(marks, tool.marks)]
    sure += [
        name
        for name, tool in TOOLS.items()
        if tool.recognize is not None and tool.recognize(names)
    ]
    perhaps = [
        name
        for name, tool in TOOLS.items()
        if weak and _has_mark(marks, tool.weak_marks)
    ]
    return list(dict.fromkeys([*sure, *perhaps]))


def _has_mark(names: Iterable[str], marks: Iterable[Iterable[str]]) -> bool:
    known = {*names}
    return any(all(_is_there(name, known) for name in mark) for mark in marks)


def _is_there(name: str, known: Collection[str]) -> bool:
    if name in known or "*" not in name:
        return name in known
    return any(fnmatchcase(candidate, name) for candidate in known)


def tool_of(path: Path) -> tuple[Tool | None, bool]:
    """Return the tool that surely wrote a file, or None, and whether its values are nested."""
    names, nested = header_of(path)
    if is_study_sheet(names):
        return None, nested
    names_of_tools = tools_of(path, names, weak=False)
    return (TOOLS[names_of_tools[0]] if names_of_tools else None), nested


def is_study_sheet(names: Iterable[str]) -> bool:
    """Whether a file with these fields is a sheet of `metassay study`."""
    return {"headings", "columns", "row"} <= {*names}


def describe_file(path: Path, kind: str, names: list[str]) -> tuple[str, str]:
    """Describe a file that the reader of `kind` cannot read, and tell what would read it."""
    if is_study_sheet(names):
        return "is a sheet of a study of Metassay", "metassay study import reads it"
    for other in tools_of(path, names)[:1]:
        return f"is {TOOLS[other].what}", f"metassay import {other} reads it"
    suffix = path.suffix.lower()
    table = suffix in TABLES
    form = "JSON Lines" if suffix in LINES else "JSON"
    if table:
        form = "a table"
    fields = ", ".join(map(quoted, names[:5])) or "nothing that can be read"
    reads = "metassay judge-check, meta-eval and init read tables as they are"
    what = f"is {form} with {fields}, and not {TOOLS[kind].what}"
    return what, reads if table else "docs/importing.md has what is read of each tool"

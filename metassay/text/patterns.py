"""Tables of patterns in text files beside the code: named patterns, and rows, by section.

A section opens with its name in brackets. `name = pattern` names a pattern, which may stand in
braces in later lines of its section, or of all sections where it stands before the first. Any other
line is a row; lines that open with # are comments.
"""

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple


class Section(NamedTuple):
    """What a section holds; the one without a name stands before all others."""

    named: dict[str, str]
    rows: list[str]


@cache
def read_patterns(path: Path) -> dict[str, Section]:
    """The sections of a file, with named patterns put in where they are used."""
    here = first = Section({}, [])
    sections = {"": first}
    for written in path.read_text(encoding="utf-8").splitlines():
        line = written
        for name, pattern in (first.named | here.named).items():
            line = line.replace(f"{{{name}}}", pattern)
        name, mark, pattern = line.partition(" = ")
        if line.startswith("["):
            here = sections.setdefault(line.strip("[]"), Section({}, []))
        elif mark and name.isidentifier():
            here.named[name] = pattern
        elif line and not line.startswith("#"):
            here.rows.append(line)
    return sections


def read_words(module: str, section: str) -> list[str]:
    """The words of a section of the text file beside a module, in their order."""
    rows = read_patterns(Path(module).with_suffix(".txt"))[section].rows
    return " ".join(rows).split()


def read_pairs(module: str, section: str) -> dict[str, str]:
    """Rows `ONE: OTHER` of a section of the text file beside a module."""
    rows = read_patterns(Path(module).with_suffix(".txt"))[section].rows
    return dict(row.split(": ", 1) for row in rows)


class Patterns:
    """The named patterns of a section of a file, compiled, as attributes."""

    def __init__(self, path: Path, section: str) -> None:
        named = read_patterns(path)[section].named
        vars(self).update({name: re.compile(pattern) for name, pattern in named.items()})

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> re.Pattern[str]: ...

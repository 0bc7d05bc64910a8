"""Read tables of patterns from text files next to the code: named patterns, and rows, by section.

A section starts with its name in brackets. `name = pattern` names a pattern; later
lines of its section can use it in braces, lines of all sections if it is before the
first. Any other line is a row; lines that start with # are comments.
"""

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple


class Section(NamedTuple):
    """A section of a file; the first one has no name."""

    named: dict[str, str]
    rows: list[str]


@cache
def read_patterns(path: Path) -> dict[str, Section]:
    """Read the sections of a file, with named patterns substituted."""
    section = first = Section({}, [])
    sections = {"": first}
    for raw in path.read_text(encoding="utf-8").splitlines():
        line = raw
        for name, pattern in (first.named | section.named).items():
            line = line.replace(f"{{{name}}}", pattern)
        name, equals, pattern = line.partition(" = ")
        if line.startswith("["):
            section = sections.setdefault(line.strip("[]"), Section({}, []))
        elif equals and name.isidentifier():
            section.named[name] = pattern
        elif line and not line.startswith("#"):
            section.rows.append(line)
    return sections


def read_words(module: str, section: str) -> list[str]:
    """Read the words of a section of a module's text file, in order."""
    rows = read_patterns(Path(module).with_suffix(".txt"))[section].rows
    return " ".join(rows).split()


def read_pairs(module: str, section: str) -> dict[str, str]:
    """Read the rows `KEY: VALUE` of a section of a module's text file."""
    rows = read_patterns(Path(module).with_suffix(".txt"))[section].rows
    return dict(row.split(": ", 1) for row in rows)


class Patterns:
    """Compiled named patterns of a section of a file, as attributes."""

    def __init__(self, path: Path, section: str) -> None:
        named = read_patterns(path)[section].named
        vars(self).update(
            {name: re.compile(pattern) for name, pattern in named.items()}
        )

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> re.Pattern[str]: ...

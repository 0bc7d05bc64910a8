"""Helpers to write regular expressions as Python literals."""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple


def any_of(*patterns: str) -> str:
    """Return a pattern that matches any of these, in this order.

    >>> re.findall(any_of("colds?", "the flu"), "colds, a cold and the flu")
    ['colds', 'cold', 'the flu']
    """
    return f"(?:{'|'.join(patterns)})"


def any_word(words: Iterable[str]) -> str:
    """Return a pattern that matches any of these words or phrases, the longest first.

    >>> re.findall(any_word(["mm", "mm Hg"]), "3 mm, 80 mm Hg")
    ['mm', 'mm Hg']
    """
    longest_first = sorted(words, key=lambda word: (-len(word), word))
    return any_of(*map(re.escape, longest_first))


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

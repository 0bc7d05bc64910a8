"""The words that edits exchange, in halves: one for rules and training, one for tests.

A judge whose rules and training contain the words of its test is tested on its training
data. So each group of words (a drug with its brands, a pair of opposites, synonyms) is
in one half, for good: judges can know `train`, `test` is for tests alone. Kinds with
too few words to split are closed, in both halves, and judges can know them: negations,
sides and directions, numbers, units, times, persons, verbs of reporting, frequencies
(`closed.txt`).

The words are in text files in this folder: sections in brackets, entries separated by
semicolons, the sides of an entry by a bar, the names of a side by an equals sign. A
name with a tilde is written in place of the others, but not matched.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from metassay.text.vocabulary.inflection import plural, verb_forms

Half = Literal["train", "test"]
SEED = 67  # the first that splits every kind evenly; fixed for good by tests/vocabulary
SPLIT = ("drug", "anatomy", "diagnosis", "opposite", "course", "synonym")
CLOSED = "closed"
_FILES = ("drugs", "anatomy", "diagnoses", "opposites", "synonyms", CLOSED)
_KINDS = {"drugs": "drug", "diagnoses": "diagnosis", "synonyms": "synonym"}
_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Group:
    """Words that are always in the same half.

    `sides` are names: generic names and brands of drugs; nouns and adjectives of sites;
    names and abbreviations of diagnoses and synonyms; the two opposites. `unread` names
    are only written.
    """

    kind: str
    section: str
    sides: tuple[tuple[str, ...], ...]
    unread: frozenset[str]

    @property
    def half(self) -> Half:
        """The half of the group's first name."""
        return half(self.sides[0][0])

    def rows(self, side: int) -> tuple[tuple[str, ...], ...]:
        """Return the names of a side, each in all of its forms, in the same order."""
        names = self.sides[side]
        if self.kind == "anatomy":
            noun = (names[0], names[1] if len(names) > 1 else plural(names[0]))
            return (noun,) if side == 0 else tuple((name,) for name in names)
        if self.section.endswith("verbs"):
            return tuple(verb_forms(name) for name in names)
        if self.section == "nouns" or self.section.startswith("count"):
            return tuple((name, plural(name)) for name in names)
        return tuple((name,) for name in names)


class Term(NamedTuple):
    """A meaning of a word: the form `slot` of a name (by `row`) on a side of its group."""

    group: Group
    side: int
    row: int
    slot: int


def half(name: str) -> Half:
    """Return the half of the group with this first name."""
    digest = hashlib.sha256(f"{SEED}\n{name.lower()}".encode()).digest()
    return "test" if digest[0] % 2 else "train"


@cache
def groups(kind: str, split: Half | None = None) -> tuple[Group, ...]:
    """Return the groups of one of the SPLIT kinds, of a half or of both, in the files' order."""
    return tuple(
        group for group in _all() if group.kind == kind and split in (None, group.half)
    )


@cache
def terms(kind: str) -> dict[str, tuple[Term, ...]]:
    """Return the meanings of each word of a kind, of both halves; keys as `as_key`."""
    meanings: dict[str, tuple[Term, ...]] = {}
    for group in groups(kind):
        for side in range(len(group.sides)):
            for row, forms in enumerate(group.rows(side)):
                for slot, form in enumerate(forms):
                    if forms[0] not in group.unread:
                        key = as_key(form)
                        meanings[key] = (
                            *meanings.get(key, ()),
                            Term(group, side, row, slot),
                        )
    return meanings


@cache
def words(kind: str, split: Half) -> frozenset[str]:
    """Return all words and phrases of a half of a kind, in all forms, as keys of `terms`."""
    meanings = terms(kind).items()
    return frozenset(
        word for word, (first, *_) in meanings if first.group.half == split
    )


def as_key(word: str) -> str:
    """Return a word's key in `terms`: in lower case, except abbreviations."""
    word = word.replace("\u2019", "'")
    letters = [c for c in word.removesuffix("s") if c.isalpha()]
    short = len(word) < 7 and len(letters) > 1 and all(c.isupper() for c in letters)
    return word if short else word.lower()


@cache
def _all() -> tuple[Group, ...]:
    return tuple(group for name in _FILES for group in _read(name))


def _read(file: str) -> Iterator[Group]:
    kind, section = _KINDS.get(file, file), ""
    for line in (_HERE / f"{file}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            section = line.strip("[]")
            kind = section.split()[0] if file == "opposites" else kind
        elif not line.startswith("#"):
            yield from (
                _group(kind, section, entry)
                for entry in line.split(";")
                if entry.strip()
            )


def _group(kind: str, section: str, entry: str) -> Group:
    sides = [[name.strip() for name in side.split("=")] for side in entry.split("|")]
    unread = frozenset(
        name[1:] for side in sides for name in side if name.startswith("~")
    )
    return Group(
        kind,
        section,
        tuple(tuple(n.lstrip("~") for n in side) for side in sides),
        unread,
    )

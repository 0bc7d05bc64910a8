"""The words that edits exchange, in halves: one for rules and training, one for tests.

A judge whose rules and training know the very words that its test exchanges is tested on what it
was taught. So each group of words (a drug with its brands, a pair of opposites, names of the same
thing) is of one half, for good: `train` may be known to judges, `test` is for tests alone. What
has too few words to be parted is closed, of both halves, and judges may know it: negations, sides
and directions, numbers, units, times, persons, verbs of reporting, frequencies (`closed.txt`).

The words are in text files beside this one: a section in brackets, entries parted by semicolons,
the sides of an entry by a bar, the names of a side by an equals sign. A name with a tilde is
written for the others, and never read for them.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from metassay.text.vocabulary.inflection import plural, verb_forms

Half = Literal["train", "test"]
SEED = 67  # the first that parts every kind evenly; kept by tests/vocabulary, for good
SPLIT = ("drug", "anatomy", "diagnosis", "opposite", "course", "synonym")
CLOSED = "closed"
_FILES = ("drugs", "anatomy", "diagnoses", "opposites", "synonyms", CLOSED)
_KINDS = {"drugs": "drug", "diagnoses": "diagnosis", "synonyms": "synonym"}
_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Group:
    """Words that are never parted.

    `sides` are names: of drugs generic ones and brands; of sites nouns and adjectives; of
    diagnoses and synonyms names and abbreviations; of opposites one and the other. `unread` are
    names that are only written.
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
        """The names of a side, each in all of its forms; forms of one place fit each other."""
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
    """What a word is: the form `slot` of a name (by `row`) on a side of its group."""

    group: Group
    side: int
    row: int
    slot: int


def half(name: str) -> Half:
    """The half of the group whose first name this is."""
    digest = hashlib.sha256(f"{SEED}\n{name.lower()}".encode()).digest()
    return "test" if digest[0] % 2 else "train"


@cache
def groups(kind: str, of: Half | None = None) -> tuple[Group, ...]:
    """The groups of one of the SPLIT kinds, of one half or of both, in the files' order."""
    return tuple(one for one in _all() if one.kind == kind and of in (None, one.half))


@cache
def terms(kind: str) -> dict[str, tuple[Term, ...]]:
    """What each word of a kind is, of both halves; in small letters but for abbreviations."""
    found: dict[str, tuple[Term, ...]] = {}
    for group in groups(kind):
        for side in range(len(group.sides)):
            for row, forms in enumerate(group.rows(side)):
                for slot, form in enumerate(forms):
                    if forms[0] not in group.unread:
                        key = as_key(form)
                        found[key] = (*found.get(key, ()), Term(group, side, row, slot))
    return found


@cache
def words(kind: str, of: Half) -> frozenset[str]:
    """Every word or phrase of a half of a kind, in all of its forms, as `terms` has them."""
    return frozenset(word for word, its in terms(kind).items() if its[0].group.half == of)


def as_key(word: str) -> str:
    """A word as `terms` has it: abbreviations as they are, all else in small letters."""
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
            yield from (_group(kind, section, entry) for entry in line.split(";") if entry.strip())


def _group(kind: str, section: str, entry: str) -> Group:
    sides = [[name.strip() for name in side.split("=")] for side in entry.split("|")]
    unread = frozenset(name[1:] for side in sides for name in side if name.startswith("~"))
    return Group(kind, section, tuple(tuple(n.lstrip("~") for n in side) for side in sides), unread)

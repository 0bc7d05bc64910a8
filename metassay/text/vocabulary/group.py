"""A group of words that stay together, and how the lists in this folder write one.

A group is a drug with its brands, a site with its adjective, a pair of opposites, or the
names of one thing.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Literal

from metassay.text.vocabulary.inflection import plural

Half = Literal["train", "test"]
SEED = 67  # the first that splits every kind evenly; fixed for good by tests/vocabulary

Sides = tuple[tuple[str, ...], ...]  # one or two sides, each with its names
Forms = tuple[str, ...]  # of a name, the base form first
FormsBySide = tuple[tuple[Forms, ...], ...]


class WrittenOnly(str):
    """A name that is written in place of the others and never matched.

    In a text it may mean something else: RA is rheumatoid arthritis, and room air.
    """

    __slots__ = ()


@dataclass(frozen=True)
class Group:
    """Words that are always in the same half.

    `sides` are names: generic names and brands of drugs; nouns and adjectives of sites;
    names and abbreviations of diagnoses and synonyms; the two opposites. `forms` has
    all forms of each name, in the same order. `unread` names are only written.

    A site or a diagnosis is replaced by another of its `section`. A drug's section is
    its class: it is replaced by one of another class in the same `dosage_form`.
    """

    kind: str
    section: str
    sides: Sides
    forms: FormsBySide = field(compare=False)
    unread: frozenset[str]
    dosage_form: str = ""

    @property
    def half(self) -> Half:
        """The half of the group's first name."""
        return half(self.sides[0][0])


def half(name: str) -> Half:
    """Return the half of the group with this first name.

    >>> half("metformin"), half("lisinopril")
    ('train', 'test')
    """
    digest = hashlib.sha256(f"{SEED}\n{name.lower()}".encode()).digest()
    return "test" if digest[0] % 2 else "train"


# ---- entries of the lists


def names(*first: str, short: Sequence[str] = ()) -> Sides:
    """Return the names of one thing, and its abbreviations.

    >>> names("shortness of breath", "dyspnea", short=["SOB"])
    (('shortness of breath', 'dyspnea'), ('SOB',))
    """
    return (first, tuple(short)) if short else (first,)


def drug(*generic: str, brands: Sequence[str] = ()) -> Sides:
    """Return a drug: its nonproprietary names, and its brands.

    >>> drug("lisinopril", brands=["Zestril", "Prinivil"])
    (('lisinopril',), ('Zestril', 'Prinivil'))
    """
    return (generic, tuple(brands)) if brands else (generic,)


def site(noun: str, *, plural_form: str = "", adjective: str = "") -> FormsBySide:
    """Return the forms of a site of the body: noun and plural, and the adjective.

    `plural_form`: of a noun whose plural is not regular.

    >>> site("kidney", adjective="renal")
    ((('kidney', 'kidneys'),), (('renal',),))
    """
    noun_and_plural = (noun, plural_form or plural(noun))
    if not adjective:
        return ((noun_and_plural,),)
    return ((noun_and_plural,), ((adjective,),))


def opposites(first: str | Sequence[str], second: str | Sequence[str]) -> Sides:
    """Return what excludes each other; each side has a name, or names for the same.

    >>> opposites("displaced", ["nondisplaced", "undisplaced"])
    (('displaced',), ('nondisplaced', 'undisplaced'))
    """
    return (_listed(first), _listed(second))


def _listed(words: str | Sequence[str]) -> tuple[str, ...]:
    return (words,) if isinstance(words, str) else tuple(words)


# ---- from entries to groups

Inflect = Callable[[str], Forms]


def uninflected(name: str) -> Forms:
    """Return a name that has one form only."""
    return (name,)


def noun_forms(name: str) -> Forms:
    """Return singular and plural of a noun."""
    return (name, plural(name))


def make_group(
    kind: str, section: str, sides: Sides, inflect: Inflect, dosage_form: str = ""
) -> Group:
    """Return the group of an entry, all of whose names follow one inflection.

    >>> group = make_group("synonym", "nouns", (("fever", "pyrexia"),), noun_forms)
    >>> group.forms
    ((('fever', 'fevers'), ('pyrexia', 'pyrexias')),)
    """
    every_name = chain.from_iterable(sides)
    return Group(
        kind=kind,
        section=section,
        sides=sides,
        forms=tuple(tuple(map(inflect, side)) for side in sides),
        unread=frozenset(name for name in every_name if isinstance(name, WrittenOnly)),
        dosage_form=dosage_form,
    )


def make_site_group(section: str, forms: FormsBySide) -> Group:
    """Return the group of a site of the body."""
    sides = []
    for side in forms:
        sides.append(tuple(base for base, *_ in side))
    return Group(
        kind="anatomy",
        section=section,
        sides=tuple(sides),
        forms=forms,
        unread=frozenset(),
    )

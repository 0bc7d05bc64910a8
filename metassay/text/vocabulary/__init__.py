"""The words that edits exchange, in halves: one for rules and training, one for tests.

A judge whose rules and training contain the words of its test is tested on its training
data. So each group of words (a drug with its brands, a pair of opposites, synonyms) is
in one half, for good: judges can know `train`, `test` is for tests alone. Kinds with
too few words to split are closed, in both halves, and judges can know them: negations,
sides and directions, numbers, units, times, persons, verbs of reporting, frequencies
(`closed.py`).

The words are in the modules of this folder, one per kind.
"""

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from metassay.text.vocabulary.anatomy import SITES
from metassay.text.vocabulary.closed import CLOSED_VERBS, CLOSED_WORDS
from metassay.text.vocabulary.diagnoses import COUNTED_SECTIONS, DIAGNOSES
from metassay.text.vocabulary.drugs import DRUGS
from metassay.text.vocabulary.group import (
    Group,
    Half,
    make_group,
    make_site_group,
    noun_forms,
    uninflected,
)
from metassay.text.vocabulary.inflection import verb_forms
from metassay.text.vocabulary.opposites import (
    COURSE_VERBS,
    COURSE_WORDS,
    OPPOSITE_VERBS,
    OPPOSITE_WORDS,
)
from metassay.text.vocabulary.synonyms import (
    SYNONYMOUS_NOUNS,
    SYNONYMOUS_VERBS,
    SYNONYMOUS_WORDS,
)

SPLIT = ("drug", "anatomy", "diagnosis", "opposite", "course", "synonym")
CLOSED = "closed"


class Term(NamedTuple):
    """A meaning of a word: the form `slot` of a name (by `row`) on a side of its group."""

    group: Group
    side: int
    row: int
    slot: int


@cache
def groups(kind: str, split: Half | None = None) -> tuple[Group, ...]:
    """Return the groups of a kind, of a half or of both, in the order of the lists."""
    of_kind = _all_groups()[kind]
    if split is None:
        return of_kind
    return tuple(group for group in of_kind if group.half == split)


@cache
def terms(kind: str) -> dict[str, tuple[Term, ...]]:
    """Return the meanings of each word of a kind, of both halves, by `word_key`."""
    meanings: dict[str, tuple[Term, ...]] = {}
    for group in groups(kind):
        for term in _group_terms(group):
            key = word_key(group.forms[term.side][term.row][term.slot])
            meanings[key] = (*meanings.get(key, ()), term)
    return meanings


def _group_terms(group: Group) -> Iterator[Term]:
    """Yield each form of each name that is matched in texts."""
    for side, names in enumerate(group.forms):
        for row, forms in enumerate(names):
            if forms[0] in group.unread:
                continue
            for slot in range(len(forms)):
                yield Term(group=group, side=side, row=row, slot=slot)


@cache
def words(kind: str, split: Half) -> frozenset[str]:
    """Return all words and phrases of a half of a kind, in all forms, as keys of `terms`."""
    return frozenset(
        word
        for word, meanings in terms(kind).items()
        if meanings[0].group.half == split
    )


def word_key(word: str) -> str:
    """Return a word's key in `terms`: in lower case, except abbreviations.

    >>> word_key("Aspirin"), word_key("UTIs"), word_key("Crohn’s disease")
    ('aspirin', 'UTIs', "crohn's disease")
    """
    word = word.replace("\u2019", "'")
    letters = [c for c in word.removesuffix("s") if c.isalpha()]
    in_capitals = len(letters) > 1 and all(c.isupper() for c in letters)
    return word if in_capitals and len(word) < 7 else word.lower()


@cache
def _all_groups() -> dict[str, tuple[Group, ...]]:
    """Return the groups of each kind."""
    return {
        "drug": tuple(_drug_groups()),
        "anatomy": tuple(_site_groups()),
        "diagnosis": tuple(_diagnosis_groups()),
        "opposite": tuple(_opposite_groups()),
        "course": tuple(_course_groups()),
        "synonym": tuple(_synonym_groups()),
        CLOSED: tuple(_closed_groups()),
    }


def _drug_groups() -> Iterator[Group]:
    for dosage_form, classes in DRUGS.items():
        for drug_class, drugs in classes.items():
            for sides in drugs:
                yield make_group("drug", drug_class, sides, uninflected, dosage_form)


def _site_groups() -> Iterator[Group]:
    for section, sites in SITES.items():
        for forms in sites:
            yield make_site_group(section, forms)


def _diagnosis_groups() -> Iterator[Group]:
    for section, diagnoses in DIAGNOSES.items():
        inflect = noun_forms if section in COUNTED_SECTIONS else uninflected
        for sides in diagnoses:
            yield make_group("diagnosis", section, sides, inflect)


def _opposite_groups() -> Iterator[Group]:
    for sides in OPPOSITE_VERBS:
        yield make_group("opposite", "verbs", sides, verb_forms)
    for sides in OPPOSITE_WORDS:
        yield make_group("opposite", "words", sides, uninflected)


def _course_groups() -> Iterator[Group]:
    for sides in COURSE_VERBS:
        yield make_group("course", "verbs", sides, verb_forms)
    for sides in COURSE_WORDS:
        yield make_group("course", "words", sides, uninflected)


def _synonym_groups() -> Iterator[Group]:
    for sides in SYNONYMOUS_VERBS:
        yield make_group("synonym", "verbs", sides, verb_forms)
    for sides in SYNONYMOUS_NOUNS:
        yield make_group("synonym", "nouns", sides, noun_forms)
    for sides in SYNONYMOUS_WORDS:
        yield make_group("synonym", "words", sides, uninflected)


def _closed_groups() -> Iterator[Group]:
    for sides in CLOSED_VERBS:
        yield make_group(CLOSED, "verbs", sides, verb_forms)
    for sides in CLOSED_WORDS:
        yield make_group(CLOSED, "words", sides, uninflected)

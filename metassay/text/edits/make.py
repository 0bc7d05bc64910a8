"""Minimal pairs by rule: edits of a sentence that change its truth, and paraphrases that keep it.

A sentence (or its text) entails its paraphrases, and does not entail its edits. The
rules know English and little medicine, and leave uncertain cases alone. Their error
rate was counted by reading (docs/benchmarks.md).
"""

import hashlib
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from metassay.text.edits import (
    circumstances,
    exchange,
    negations,
    orders,
    parts,
    spellings,
    values,
)
from metassay.text.edits.wording import Rule, ignore_half
from metassay.text.tokens import content_tokens
from metassay.text.vocabulary.group import Group, Half


def identity(sentence: str) -> Iterator[str]:
    """Return the sentence itself."""
    yield sentence


FLIPS: dict[str, Rule] = {  # kinds after which the sentence is not entailed
    "negation": ignore_half(negations.negation),
    "laterality": ignore_half(circumstances.laterality),
    "number": ignore_half(values.number),
    "dose": ignore_half(values.dose),
    "unit": ignore_half(values.unit),
    "drug": exchange.drug,
    "anatomy": exchange.anatomy,
    "diagnosis": exchange.diagnosis,
    "opposite": exchange.opposite,
    "time": ignore_half(circumstances.time),
    "person": ignore_half(circumstances.person),
    "course": exchange.course,
}
KEEPS: dict[str, Rule] = {  # kinds after which it is still entailed
    "identity": ignore_half(identity),
    "abbreviation": spellings.abbreviation,
    "list_order": ignore_half(orders.list_order),
    "clause_order": ignore_half(orders.clause_order),
    "numeral": ignore_half(spellings.numeral),
    "unit_spelling": ignore_half(spellings.unit_spelling),
    "subject": ignore_half(orders.subject),
    "voice": ignore_half(orders.voice),
    "synonym": spellings.synonym,
    "dropped_detail": ignore_half(parts.dropped_detail),
    "list_part": ignore_half(parts.list_part),
    "form": ignore_half(spellings.form),
}
KINDS = (*FLIPS, *KEEPS)
_RULES = FLIPS | KEEPS

# Content words that name the patient, or say only that something was said.
_SUBJECTS = frozenset(
    """
    patient pt he she report reported endorse endorsed state stated note noted say said have
    """.split()
)
_NEGATIONS = frozenset(
    """
    no not never none without deny denied cannot negative absent nor neither
    """.split()
)
_NAMED = ("drug", "diagnosis")  # kinds whose words have several names
# share of the unchanged words that a sentence about the same topic must have
_STATED = 0.5


@dataclass(frozen=True)
class Edit:
    """An edited sentence; `entailed`: whether the original entails it."""

    kind: str
    text: str
    entailed: bool


def edits(
    sentence: str,
    kinds: Collection[str],
    seed: int,
    others: Sequence[str] = (),
    *,
    half: Half = "test",
) -> list[Edit]:
    """Return at most one edit of each of the kinds, in order of KINDS; none of a question.

    Replaced and new words are of this half of the vocabulary. Seed, kind and sentence
    choose among several possible edits, independently of other sentences and kinds.
    `others`: the other sentences of the text if that is the premise; an edit that one
    of them states is left out.
    """
    if sentence.rstrip().endswith("?"):
        return []
    chosen = []
    for kind in KINDS:
        if kind not in kinds:
            continue
        candidates = dict.fromkeys(_RULES[kind](sentence, half))  # distinct, in order
        fitting = [text for text in candidates if _fits(kind, text, sentence, others)]
        if fitting:
            text = fitting[_draw(seed, kind, sentence) % len(fitting)]
            chosen.append(Edit(kind=kind, text=text, entailed=kind in KEEPS))
    return chosen


def _draw(seed: int, kind: str, sentence: str) -> int:
    """Return a number from 0 to 2^64 - 1 that depends on these alone."""
    digest = hashlib.sha256(f"{seed}\n{kind}\n{sentence}".encode()).digest()
    return int.from_bytes(digest[:8], "big")


def _fits(kind: str, text: str, sentence: str, others: Sequence[str]) -> bool:
    if kind in KEEPS:
        return bool(text) and (kind == "identity" or text != sentence)
    if _plain(text) == _plain(sentence):
        return False
    if kind in _NAMED and others:
        # Another sentence may state the edit by any name of the new drug or diagnosis.
        new = _named_groups(kind, text) - _named_groups(kind, sentence)
        if any(new & _named_groups(kind, other) for other in others):
            return False
    return not any(states(other, text, sentence) for other in others)


def states(other: str, text: str, sentence: str) -> bool:
    """Return whether another sentence can state the edited text: new words and half of the others.

    A removed negation counts as a new word: the other sentence must not have any. Errs
    towards true.

    >>> states("A sore left knee.", "The left knee hurts.", "The right knee hurts.")
    True
    """
    tokens = _tokens(text)
    other_tokens = _tokens(other)
    before = _tokens(sentence)
    new = tokens - before - _NEGATIONS
    shared = (tokens & before) - _NEGATIONS
    if new and not new <= other_tokens:
        return False
    if not new and bool(tokens & _NEGATIONS) != bool(other_tokens & _NEGATIONS):
        return False
    return len(shared & other_tokens) >= _STATED * len(shared)


@lru_cache(maxsize=8192)
def _named_groups(kind: str, sentence: str) -> frozenset[Group]:
    return frozenset(word.group for word in exchange.find(kind, sentence))


@lru_cache(maxsize=8192)  # the sentences of a text recur with each of its edits
def _tokens(sentence: str) -> frozenset[str]:
    return frozenset(content_tokens(sentence)) - _SUBJECTS


def _plain(text: str) -> str:
    return re.sub(r"\W+", " ", text).strip().lower()

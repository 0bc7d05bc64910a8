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

from metassay.text.edits import flips, paraphrases
from metassay.text.edits.wording import Rule, for_both_halves, read_list
from metassay.text.tokens import content_tokens
from metassay.text.vocabulary import Group, Half


def identity(sentence: str) -> Iterator[str]:
    """Return the sentence itself."""
    yield sentence


FLIPS: dict[str, Rule] = {  # kinds after which the sentence is not entailed
    "negation": for_both_halves(flips.negation),
    "laterality": for_both_halves(flips.laterality),
    "number": for_both_halves(flips.number),
    "dose": for_both_halves(flips.dose),
    "unit": for_both_halves(flips.unit),
    "drug": flips.drug,
    "anatomy": flips.anatomy,
    "diagnosis": flips.diagnosis,
    "opposite": flips.opposite,
    "time": for_both_halves(flips.time),
    "person": for_both_halves(flips.person),
    "course": flips.course,
}
KEEPS: dict[str, Rule] = {  # kinds after which it is still entailed
    "identity": for_both_halves(identity),
    "abbreviation": paraphrases.abbreviation,
    "list_order": for_both_halves(paraphrases.list_order),
    "clause_order": for_both_halves(paraphrases.clause_order),
    "numeral": for_both_halves(paraphrases.numeral),
    "unit_spelling": for_both_halves(paraphrases.unit_spelling),
    "subject": for_both_halves(paraphrases.subject),
    "voice": for_both_halves(paraphrases.voice),
    "synonym": paraphrases.synonym,
    "dropped_detail": for_both_halves(paraphrases.dropped_detail),
    "list_part": for_both_halves(paraphrases.list_part),
    "form": for_both_halves(paraphrases.form),
}
KINDS = (*FLIPS, *KEEPS)

_SUBJECTS = frozenset(read_list("subjects"))
_NEGATIONS = frozenset(read_list("negations"))
_NAMED = ("drug", "diagnosis")
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
    for kind in (kind for kind in KINDS if kind in kinds):
        candidates = dict.fromkeys((FLIPS.get(kind) or KEEPS[kind])(sentence, half))
        if fitting := [
            text for text in candidates if _fits(kind, text, sentence, others)
        ]:
            digest = hashlib.sha256(f"{seed}\n{kind}\n{sentence}".encode()).digest()
            text = fitting[int.from_bytes(digest[:8], "big") % len(fitting)]
            chosen.append(Edit(kind, text, kind in KEEPS))
    return chosen


def _fits(kind: str, text: str, sentence: str, others: Sequence[str]) -> bool:
    if kind in KEEPS:
        return bool(text) and (kind == "identity" or text != sentence)
    if _plain(text) == _plain(sentence):
        return False
    if kind in _NAMED and others:  # by any of its names
        new = _named(kind, text) - _named(kind, sentence)
        if any(new & _named(kind, other) for other in others):
            return False
    return not any(states(other, text, sentence) for other in others)


def states(other: str, text: str, sentence: str) -> bool:
    """Return whether another sentence can state the edited text: new words and half of the others.

    A removed negation counts as a new word: the other sentence must not have any. Errs
    towards true.
    """
    tokens, other_tokens, before = _tokens(text), _tokens(other), _tokens(sentence)
    new = tokens - before - _NEGATIONS
    shared = (tokens & before) - _NEGATIONS
    if new and not new <= other_tokens:
        return False
    if not new and bool(tokens & _NEGATIONS) != bool(other_tokens & _NEGATIONS):
        return False
    return len(shared & other_tokens) >= _STATED * len(shared)


@lru_cache(maxsize=8192)
def _named(kind: str, sentence: str) -> frozenset[Group]:
    return frozenset(word.group for word in flips.find(kind, sentence))


@lru_cache(maxsize=8192)  # the sentences of a text recur with each of its edits
def _tokens(sentence: str) -> frozenset[str]:
    return frozenset(content_tokens(sentence)) - _SUBJECTS


def _plain(text: str) -> str:
    return re.sub(r"\W+", " ", text).strip().lower()

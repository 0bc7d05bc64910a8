"""Minimal pairs by rule: edits of a sentence that change its truth, and paraphrases that keep it.

Whoever knows only the sentence (or the text that it is of) knows that an edit does not follow, and
that a paraphrase does. The rules know English and little medicine; what they can't be sure of they
leave alone. How often they are wrong was counted by reading (docs/benchmarks.md).
"""

import hashlib
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from metassay.text.edits import flips, paraphrases
from metassay.text.edits.wording import Rule, closed, listed
from metassay.text.tokens import content_tokens
from metassay.text.vocabulary import Group, Half


def identity(sentence: str) -> Iterator[str]:
    """The sentence itself."""
    yield sentence


FLIPS: dict[str, Rule] = {  # kinds after which the sentence is not entailed
    "negation": closed(flips.negation),
    "laterality": closed(flips.laterality),
    "number": closed(flips.number),
    "dose": closed(flips.dose),
    "unit": closed(flips.unit),
    "drug": flips.drug,
    "anatomy": flips.anatomy,
    "diagnosis": flips.diagnosis,
    "opposite": flips.opposite,
    "time": closed(flips.time),
    "person": closed(flips.person),
    "course": flips.course,
}
KEEPS: dict[str, Rule] = {  # kinds after which it is entailed as before
    "identity": closed(identity),
    "abbreviation": paraphrases.abbreviation,
    "list_order": closed(paraphrases.list_order),
    "clause_order": closed(paraphrases.clause_order),
    "numeral": closed(paraphrases.numeral),
    "unit_spelling": closed(paraphrases.unit_spelling),
    "subject": closed(paraphrases.subject),
    "voice": closed(paraphrases.voice),
    "synonym": paraphrases.synonym,
    "dropped_detail": closed(paraphrases.dropped_detail),
    "list_part": closed(paraphrases.list_part),
    "form": closed(paraphrases.form),
}
KINDS = (*FLIPS, *KEEPS)

_SUBJECTS = frozenset(listed("subjects"))
_NEGATIONS = frozenset(listed("negations"))
_NAMED = ("drug", "diagnosis")
_STATED = 0.5  # share of the other words that another sentence must have to be about the same


@dataclass(frozen=True)
class Edit:
    """One edited sentence; `entailed` says whether it must still follow from the sentence."""

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
    """At most one edit of each of the kinds, in order of KINDS; none of a question.

    Words that are exchanged, and those put in their place, are of this half of the vocabulary.

    Of several that fit, seed, kind and sentence choose one, so that no other sentence or kind has a
    say in it. `others`: the other sentences of the text where that is the premise; an edit that one
    of them states is none.
    """
    if sentence.rstrip().endswith("?"):
        return []
    found = []
    for kind in (kind for kind in KINDS if kind in kinds):
        made = dict.fromkeys((FLIPS.get(kind) or KEEPS[kind])(sentence, half))
        fitting = [text for text in made if _fits(kind, text, sentence, others)]
        if fitting:
            text = fitting[_draw(seed, kind, sentence) % len(fitting)]
            found.append(Edit(kind, text, kind in KEEPS))
    return found


def _fits(kind: str, text: str, sentence: str, others: Sequence[str]) -> bool:
    if kind in KEEPS:
        return bool(text) and (kind == "identity" or text != sentence)
    if _plain(text) == _plain(sentence):
        return False
    if kind in _NAMED and others:  # by whatever name the text has it
        new = _named(kind, text) - _named(kind, sentence)
        if any(new & _named(kind, other) for other in others):
            return False
    return not any(states(other, text, sentence) for other in others)


def states(other: str, text: str, sentence: str) -> bool:
    """Whether another sentence may state the edited text: its new words and half of its others.

    A negation that was taken away counts as a new word: the other sentence may not have one. Rather
    too often than too seldom.
    """
    ours, theirs, before = _tokens(text), _tokens(other), _tokens(sentence)
    new = ours - before - _NEGATIONS
    kept = (ours & before) - _NEGATIONS
    if new and not new <= theirs:
        return False
    if not new and bool(ours & _NEGATIONS) != bool(theirs & _NEGATIONS):
        return False
    return len(kept & theirs) >= _STATED * len(kept)


@lru_cache(maxsize=8192)
def _named(kind: str, sentence: str) -> frozenset[Group]:
    return frozenset(one.group for one in flips.find(kind, sentence))


@lru_cache(maxsize=8192)  # the sentences of a text come back with each of its edits
def _tokens(sentence: str) -> frozenset[str]:
    return frozenset(content_tokens(sentence)) - _SUBJECTS


def _plain(text: str) -> str:
    return re.sub(r"\W+", " ", text).strip().lower()


def _draw(seed: int, kind: str, sentence: str) -> int:
    return int.from_bytes(
        hashlib.sha256(f"{seed}\n{kind}\n{sentence}".encode()).digest()[:8], "big"
    )

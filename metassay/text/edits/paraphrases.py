"""Other words for the same: abbreviations, synonyms, digits and words, units, case."""

import re
from collections.abc import Iterator
from itertools import chain

from metassay.text.edits.exchange import Found, find, has, is_verb
from metassay.text.edits.wording import (
    FILE,
    NUMBER_WORD,
    VALUES,
    WORDS,
    alternatives,
    each,
    replaced,
    table,
)
from metassay.text.patterns import Patterns
from metassay.text.vocabulary import CLOSED, Half, Term, as_key
from metassay.text.vocabulary.inflection import ING

_P = Patterns(FILE, "paraphrases")


_UNITS = table("paraphrases units")
_UNIT = re.compile(
    rf"(?P<number>(?<![\w.])\d[\d.,/]*)(?P<gap> ?)(?P<unit>{alternatives(_UNITS)})(?![\w-])(?! Hg)"
)
_WORD = re.compile(rf"{NUMBER_WORD}(?! and )", re.IGNORECASE)


def abbreviation(sentence: str, of: Half) -> Iterator[str]:
    """The sentence with a term abbreviated, or an abbreviation written out."""
    for kind in ("diagnosis", "synonym", CLOSED):
        for one, form, before in _of_half(kind, sentence, of):
            if len(form.group.sides) > 1 and not before.endswith(" to "):
                rows = form.group.rows(1 - form.side)
                for row in rows if form.side == 0 else rows[:1]:
                    yield from _put(sentence, one, form, row)


def numeral(sentence: str) -> Iterator[str]:
    """The sentence with a small number in words that it has in digits, or reversed."""
    yield from each(sentence, _P.digit, lambda match: WORDS[int(match[0])])
    yield from each(sentence, _WORD, lambda match: str(VALUES[match[0].lower()]))
    yield from each(sentence, _P.one, "1")


def unit_spelling(sentence: str) -> Iterator[str]:
    """The sentence with a unit spelt otherwise, or without a blank before it."""
    for match in _UNIT.finditer(sentence):
        new = _UNITS[match["unit"]]
        gap = "" if new.startswith("%") else " "
        yield replaced(sentence, match.end("number"), match.end(), gap + new)
        if match["unit"] in ("mg", "mcg", "cm", "mm") and match["gap"]:
            yield replaced(sentence, match.end("number"), match.end(), match["unit"])


def synonym(sentence: str, of: Half) -> Iterator[str]:
    """The sentence with one term for another that means the same, or a drug for its brand."""
    both = (_of_half(kind, sentence, of) for kind in ("synonym", CLOSED))
    for one, form, before in chain.from_iterable(both):
        verbs = form.group.section == "verbs"
        if not verbs or (is_verb(before, form) and (form.slot != ING or _P.doing.search(before))):
            yield from _others(sentence, one, form)
    for one, form, _ in _of_half("diagnosis", sentence, of):
        yield from _others(sentence, one, form)
    for one, form, _ in _of_half("drug", sentence, of):
        if form.side == 1:
            yield from _put(sentence, one, form, form.group.rows(0)[0])


def _of_half(kind: str, sentence: str, of: Half) -> Iterator[tuple[Found, Term, str]]:
    for one in find(kind, sentence):
        before = sentence[: one.start]
        if kind == CLOSED or one.group.half == of:
            yield one, one.term(before), before


def _others(sentence: str, one: Found, form: Term) -> Iterator[str]:
    """With each other name on the same side, if that side is of names."""
    for number, row in enumerate(form.group.rows(0)):
        if form.side == 0 and number != form.row:
            yield from _put(sentence, one, form, row)


def _put(sentence: str, one: Found, form: Term, row: tuple[str, ...]) -> Iterator[str]:
    new = row[min(form.slot, len(row) - 1)]
    short = form.side == 1 or as_key(new) != new.lower()  # no capital of theirs is the word's own
    if not has(sentence, one, new):
        yield replaced(sentence, one.start, one.end, new, as_written=short)


def form(sentence: str) -> Iterator[str]:
    """The sentence without its full stop, in small letters, or in capitals."""
    yield sentence.removesuffix(".")
    yield sentence.lower()
    yield sentence.upper()

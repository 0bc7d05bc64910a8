"""Paraphrases in other words with the same meaning, or in another spelling."""

import re
from collections.abc import Iterator

from metassay.text.edits.exchange import WordMatch, find, has_word, is_verb
from metassay.text.edits.wording import (
    NUMBER_VALUES,
    NUMBER_WORD,
    NUMBER_WORDS,
    replace_each,
    replace_text,
)
from metassay.text.patterns import any_of, any_word
from metassay.text.vocabulary import CLOSED, Term, word_key
from metassay.text.vocabulary.group import Forms, Half
from metassay.text.vocabulary.inflection import ING

# ---- abbreviations and synonyms

# What stands before a form with -ing that is a verb.
_DOING = re.compile(
    r"\b(?:am|is|are|was|were|been|be|by|while|when)\s\Z", re.IGNORECASE
)


def abbreviation(sentence: str, split: Half) -> Iterator[str]:
    """Abbreviate a term, or write out an abbreviation."""
    for kind in ("diagnosis", "synonym", CLOSED):
        for word, term, before in _find_own(kind, sentence, split):
            if len(term.group.sides) == 1 or before.endswith(" to "):
                continue
            others = term.group.forms[1 - term.side]
            # an abbreviation is written out in one way only
            for forms in others if term.side == 0 else others[:1]:
                yield from _put_form(sentence, word, term, forms)


def synonym(sentence: str, split: Half) -> Iterator[str]:
    """Replace a term by a synonym, or a brand by its drug."""
    for kind in ("synonym", CLOSED):
        for word, term, before in _find_own(kind, sentence, split):
            if term.group.section != "verbs" or _fits_verb(before, term):
                yield from _put_other_names(sentence, word, term)
    for word, term, _ in _find_own("diagnosis", sentence, split):
        yield from _put_other_names(sentence, word, term)
    for word, term, _ in _find_own("drug", sentence, split):
        if term.side == 1:
            yield from _put_form(sentence, word, term, term.group.forms[0][0])


def _fits_verb(before: str, term: Term) -> bool:
    if term.slot == ING and not _DOING.search(before):
        return False
    return is_verb(before, term)


def _find_own(
    kind: str, sentence: str, split: Half
) -> Iterator[tuple[WordMatch, Term, str]]:
    """Find the words of a half, with their meanings and what stands before them."""
    for word in find(kind, sentence):
        before = sentence[: word.start]
        if kind == CLOSED or word.group.half == split:
            yield word, word.meaning(before), before


def _put_other_names(sentence: str, word: WordMatch, term: Term) -> Iterator[str]:
    """Put each other name of the same side, if the side has names."""
    if term.side != 0:
        return
    for row, forms in enumerate(term.group.forms[0]):
        if row != term.row:
            yield from _put_form(sentence, word, term, forms)


def _put_form(
    sentence: str, word: WordMatch, term: Term, forms: Forms
) -> Iterator[str]:
    """Put another name, in the form of the word."""
    new = forms[min(term.slot, len(forms) - 1)]
    if not has_word(sentence, word, new):
        # The capitals of an abbreviation do not depend on its place.
        is_abbreviation = term.side == 1 or word_key(new) != new.lower()
        yield replace_text(
            sentence, word.start, word.end, new, as_written=is_abbreviation
        )


# ---- numbers and units

_COUNTED = any_of(
    "days?|weeks?|months?|years?|hours?|minutes?|times",
    "views|children|episodes|puffs|tablets|pills|doses|glasses|cups|drinks|siblings|blocks|flights",
    "stones",
)
_DIGIT = re.compile(
    r"(?<![\w.,/:#$'\u2019+-])(?<!to )(?<!or )(?<!and )(?:[2-9]|1[0-2])"
    rf"(?= {_COUNTED}\b)"
)
_ONE_BEFORE_UNIT = re.compile(
    r"(?<![\w-])one(?= (?:day|week|month|year|hour|minute)\b)", re.IGNORECASE
)
_WORD = re.compile(rf"{NUMBER_WORD}(?! and )", re.IGNORECASE)
_OTHER_SPELLING = {
    "mg": "milligrams",
    "mcg": "micrograms",
    "cm": "centimeters",
    "mm": "millimeters",
    "kg": "kilograms",
    "milligrams": "mg",
    "micrograms": "mcg",
    "centimeters": "cm",
    "millimeters": "mm",
    "%": "percent",
    "percent": "%",
    "hours": "hrs",
    "weeks": "wks",
    "minutes": "mins",
    "years": "yrs",
    "pounds": "lbs",
    "inches": "in.",
    "mmHg": "mm Hg",
    "mm Hg": "mmHg",
}
_UNIT = re.compile(
    r"(?P<number>(?<![\w.])\d[\d.,/]*)(?P<gap> ?)"
    rf"(?P<unit>{any_word(_OTHER_SPELLING)})(?![\w-])(?! Hg)"
)


def numeral(sentence: str) -> Iterator[str]:
    """Write a small number in words instead of digits, or the reverse."""
    yield from replace_each(sentence, _DIGIT, lambda match: NUMBER_WORDS[int(match[0])])
    yield from replace_each(
        sentence, _WORD, lambda match: str(NUMBER_VALUES[match[0].lower()])
    )
    yield from replace_each(sentence, _ONE_BEFORE_UNIT, "1")


def unit_spelling(sentence: str) -> Iterator[str]:
    """Change the spelling of a unit, or remove the blank before it."""
    for match in _UNIT.finditer(sentence):
        place = (match.end("number"), match.end())
        new = _OTHER_SPELLING[match["unit"]]
        gap = "" if new.startswith("%") else " "
        yield replace_text(sentence, *place, gap + new)
        if match["unit"] in ("mg", "mcg", "cm", "mm") and match["gap"]:
            yield replace_text(sentence, *place, match["unit"])


# ---- letters and stops


def form(sentence: str) -> Iterator[str]:
    """Remove the full stop, or write in lower or upper case."""
    yield sentence.removesuffix(".")
    yield sentence.lower()
    yield sentence.upper()

"""One word of the vocabulary for another one: drugs, sites, diagnoses, opposites, courses.

Words of both halves are found, the longest first, so that no part of "rheumatoid arthritis" is
taken for a word; but only those of the half asked for are exchanged, and only for its words.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from metassay.text.edits.wording import FILE, LEAD_IN, in_case_of, replaced, table, tidy, without
from metassay.text.patterns import Patterns
from metassay.text.vocabulary import Group, Half, Term, as_key, groups, half, terms
from metassay.text.vocabulary.inflection import BASE, ING, PARTICIPLE, PAST, THIRD, verb_forms

_P = Patterns(FILE, "exchange")

_PHRASES = table("exchange phrases")


class Found(NamedTuple):
    """A word of the vocabulary in a sentence: where it is, and all that it may be."""

    start: int
    end: int
    terms: tuple[Term, ...]

    @property
    def group(self) -> Group:
        """The group that it is of."""
        return self.terms[0].group

    def term(self, before: str) -> Term:
        """What it is behind these words: of "stopped" the participle behind "has", else the past.

        Of several others the first.
        """
        slots = {term.slot: term for term in self.terms}
        if PARTICIPLE in slots and (PAST not in slots or _P.auxiliary.search(before)):
            return slots[PARTICIPLE]
        return self.terms[0]


def drug(sentence: str, of: Half) -> Iterator[str]:
    """The sentence with a drug of another class for one that it names, in the same form.

    A brand stands for a brand. Two of one class are never exchanged, since what is true of one is
    often nearly true of the other.
    """
    for one, form in _of_half("drug", sentence, of):
        kind, _, its_class = one.group.section.partition(": ")
        for group in groups("drug", of):
            there, _, other = group.section.partition(": ")
            if there == kind and other != its_class and form.side < len(group.sides):
                for name in group.sides[form.side]:
                    yield from _put(sentence, one, name)


def anatomy(sentence: str, of: Half) -> Iterator[str]:
    """The sentence with another site of the body for one that it names."""
    for one, form in _of_half("anatomy", sentence, of):
        before, here = sentence[: one.start], sentence[one.start :]
        back = re.match(r"back\b", here) and re.search(r"\b(?:lower|upper|her|his) \Z", before)
        heading = sentence[one.end : one.end + 1] == ":"
        if heading or _P.other_hand.search(before) or (_P.no_site.match(here) and not back):
            continue
        for group in _beside(one.group, of):
            if form.side < len(group.sides):
                yield from _put(sentence, one, group.rows(form.side)[0][form.slot])


def diagnosis(sentence: str, of: Half) -> Iterator[str]:
    """The sentence with another diagnosis for one that it names."""
    for one, form in _of_half("diagnosis", sentence, of):
        # its abbreviation, where the name itself would stay; or a part of "diabetes type II"
        if sentence[: one.start].endswith("(") or _P.type.match(sentence, one.end):
            continue
        for group in _beside(one.group, of):
            side = min(form.side, len(group.sides) - 1)
            forms = group.rows(side)[0]
            yield from _put(sentence, one, forms[min(form.slot, len(forms) - 1)])


def opposite(sentence: str, of: Half) -> Iterator[str]:
    """The sentence with a word's opposite."""
    yield from _opposites("opposite", sentence, of)


def course(sentence: str, of: Half) -> Iterator[str]:
    """The sentence with something resolved, better or stopped as ongoing, worse or begun.

    Or the reverse.
    """
    yield from _opposites("course", sentence, of)
    if half("continue") != of or re.search(r"\bif\b", sentence, re.IGNORECASE):
        return
    for match in _P.continues.finditer(sentence):
        stopped = "stopped" if match["now"].lower() == "continues" else "has stopped"
        if match["verb"] not in ("be", "have"):
            new = in_case_of(match[0], f"{stopped} {verb_forms(match['verb'])[ING]}")
            yield tidy(without(sentence, match, new), like=sentence)


def find(kind: str, sentence: str) -> list[Found]:
    """The words of a kind that a sentence has, of both halves, the longest from the left."""
    known, longest = terms(kind), _longest(kind)
    tokens = [match.span() for match in _P.token.finditer(sentence)]
    found: list[Found] = []
    place = 0
    while place < len(tokens):
        start = tokens[place][0]
        for length in range(min(longest, len(tokens) - place), 0, -1):
            end = tokens[place + length - 1][1]
            if what := known.get(as_key(sentence[start:end])):
                found.append(Found(start, end, what))
                break
        place += length
    return found


def has(sentence: str, one: Found, new: str) -> bool:
    """Whether a sentence has a new word already, beside the one whose place it is to take."""
    others = f"{sentence[: one.start]} {sentence[one.end :]}"
    return bool(re.search(rf"(?<!\w){re.escape(new)}(?!\w)", others, re.IGNORECASE))


def is_verb(before: str, form: Term) -> bool:
    """Whether a form of a verb is one behind these words; its base may be a noun elsewhere."""
    return form.slot not in (BASE, THIRD) or bool(_P.subject.search(before))


def _of_half(kind: str, sentence: str, of: Half) -> Iterator[tuple[Found, Term]]:
    lead_in = LEAD_IN.match(sentence)  # "Ears, nose: " says nothing by itself
    for one in find(kind, sentence):
        if one.group.half == of and one.start >= (lead_in.end() if lead_in else 0):
            yield one, one.term(sentence[: one.start])


def _beside(group: Group, of: Half) -> list[Group]:
    there = groups(group.kind, of)
    return [other for other in there if other.section == group.section and other != group]


def _opposites(kind: str, sentence: str, of: Half) -> Iterator[str]:
    for one, form in _of_half(kind, sentence, of):
        before, behind = sentence[: one.start], sentence[one.end :]
        if form.group.section.endswith("verbs"):
            noun = kind == "course" and form.group.sides[0][0] == "increase"
            fits = noun or is_verb(before, form)
        else:
            word = sentence[one.start : one.end].lower()
            phrase = _PHRASES.get(word)
            fits = not (phrase and re.match(rf"[ -](?:{phrase})\b", behind, re.IGNORECASE))
            fits = fits and not _P.open.search(before)
            fits = fits and (" " in word or not _P.who.search(before))
        if fits and not (kind == "course" and _P.no_course.match(behind)):
            yield from _put(sentence, one, form.group.rows(1 - form.side)[0][form.slot])


def _put(sentence: str, one: Found, new: str) -> Iterator[str]:
    """The sentence with a new word in place of one, unless it has that one already."""
    if not has(sentence, one, new):
        short = sentence[one.start : one.end].isupper()
        yield replaced(sentence, one.start, one.end, new, as_written=short)


@cache
def _longest(kind: str) -> int:
    return max(len(word.split()) for word in terms(kind))

"""One word of the vocabulary for another one: drugs, sites, diagnoses, opposites, courses.

Words of both halves are found, the longest first, so that no part of "rheumatoid arthritis" is
taken for a word; but only those of the half asked for are exchanged, and only for its words.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from metassay.text.edits.wording import LEAD_IN, any_of, in_case_of, pairs, replaced, tidy, without
from metassay.text.vocabulary import Group, Half, Term, as_key, groups, half, terms
from metassay.text.vocabulary.inflection import BASE, ING, PARTICIPLE, PAST, THIRD, verb_forms

_TOKEN = re.compile(r"[^\W_](?:[\w'\u2019/&.-]*[^\W_])?")
_NO_SITE = re.compile(  # phrases in which a site is none
    r"\b(?:(?:face|hand) to\b|breast ?fe\w+|hand (?:hygiene|washing|out)"
    r"|(?:heart|pulse) (?:rates?|rhythm|sounds?|attacks?|beats?|healthy|failure)\b"
    r"|sinus (?:rhythm|tachy|brady)\w*|eye contact|bone marrow"
    r"|back (?!pain|spasm|ache|injur|surger|strain|problem|brace|muscle|issue))",
    re.IGNORECASE,
)
_OTHER_HAND = re.compile(r"\b(?:other|one|second|first|left|in|at)[- ]\Z", re.IGNORECASE)
_OPEN = re.compile(  # what stands before a word that may be a verb, or of a list of both sides
    rf"(?:\b(?:{any_of('or and nor to will can should must not no any than rather by be for get')}"
    rf"|{any_of('even acute (?:year|month|week|day)s? ')})\s|-)\Z",
    re.IGNORECASE,
)
_SUBJECTS = any_of("""
    to will would can could should may might must not did does do also please
    he she it they we I you patient who which that exam examination x-ray MRI CT
""")
# What stands before a verb in its base form or third person.
_SUBJECT = re.compile(rf"(?:\b(?:{_SUBJECTS})\s|\A|: )\Z", re.IGNORECASE)
_AUXILIARY = re.compile(
    rf"(?:\b(?:{any_of('has have had having is are was were be been being')})|\w['\u2019]ve)"
    r"(?:\s\w+ly|\snot|\salso|\ssince|\snow)?\s\Z",
    re.IGNORECASE,
)
_WHO = re.compile(r"\b(?:he|she|they|I|we|who|falls?|fell|falling)\s\Z", re.IGNORECASE)
_TYPE = re.compile(r",? type\b", re.IGNORECASE)
_PHRASES = pairs("""
    low: back|lying; high: school|chair|five; hot: flash|dog; cold: sore|turkey;
    large: intestine|bowel; small: bowel|intestine|cell|of; light: headed|touch|house;
    significant: for|other|history; complete: the|a|his|her|blood|metabolic|course;
    direct: the|him|her; active: problem|problems|duty; more: than|or; less: than|or;
    dry: the|mouth; cool: the|down; warm: up|the; early: intervention; late: effect;
    major: depressive|depression; regular: insulin|strength;
    deep: vein|venous|tendon|breath|breaths; oral: and|exam; solid: foods?; mild: to; severe: to
""")  # what follows a word in phrases that are no use of it
_NO_COURSE = re.compile(r" (?:asthma|distress|fracture|care|than|with|on|kidney|to (?!\d))")
_CONTINUES = re.compile(r"\b(?P<now>continues|has continued) to (?P<verb>[a-z]+)", re.IGNORECASE)


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
        if PARTICIPLE in slots and (PAST not in slots or _AUXILIARY.search(before)):
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
        if heading or _OTHER_HAND.search(before) or (_NO_SITE.match(here) and not back):
            continue
        for group in _beside(one.group, of):
            if form.side < len(group.sides):
                yield from _put(sentence, one, group.rows(form.side)[0][form.slot])


def diagnosis(sentence: str, of: Half) -> Iterator[str]:
    """The sentence with another diagnosis for one that it names."""
    for one, form in _of_half("diagnosis", sentence, of):
        # its abbreviation, where the name itself would stay; or a part of "diabetes type II"
        if sentence[: one.start].endswith("(") or _TYPE.match(sentence, one.end):
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
    for match in _CONTINUES.finditer(sentence):
        stopped = "stopped" if match["now"].lower() == "continues" else "has stopped"
        if match["verb"] not in ("be", "have"):
            new = in_case_of(match[0], f"{stopped} {verb_forms(match['verb'])[ING]}")
            yield tidy(without(sentence, match, new), like=sentence)


def find(kind: str, sentence: str) -> list[Found]:
    """The words of a kind that a sentence has, of both halves, the longest from the left."""
    known, longest = terms(kind), _longest(kind)
    tokens = [match.span() for match in _TOKEN.finditer(sentence)]
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
    return form.slot not in (BASE, THIRD) or bool(_SUBJECT.search(before))


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
            fits = fits and not _OPEN.search(before)
            fits = fits and (" " in word or not _WHO.search(before))
        if fits and not (kind == "course" and _NO_COURSE.match(behind)):
            yield from _put(sentence, one, form.group.rows(1 - form.side)[0][form.slot])


def _put(sentence: str, one: Found, new: str) -> Iterator[str]:
    """The sentence with a new word in place of one, unless it has that one already."""
    if not has(sentence, one, new):
        short = sentence[one.start : one.end].isupper()
        yield replaced(sentence, one.start, one.end, new, as_written=short)


@cache
def _longest(kind: str) -> int:
    return max(len(word.split()) for word in terms(kind))

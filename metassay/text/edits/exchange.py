"""Edits that exchange a word for another of the vocabulary: drugs, sites, diagnoses, opposites.

Words of both halves of the vocabulary are matched, the longest first, so that
"rheumatoid arthritis" is a single word; but only words of the requested half are
replaced, and only by its words.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from metassay.text.edits.wording import (
    LEAD_IN,
    copy_case,
    replace_text,
    substitute,
    tidy,
)
from metassay.text.patterns import any_of
from metassay.text.vocabulary import Term, groups, terms, word_key
from metassay.text.vocabulary.group import Group, Half, half
from metassay.text.vocabulary.inflection import (
    BASE,
    ING,
    PARTICIPLE,
    PAST,
    THIRD,
    verb_forms,
)

# ---- words of the vocabulary in a sentence

_TOKEN = re.compile(r"[^\W_](?:[\w'\u2019/&.-]*[^\W_])?")
# What stands before a participle: "has", "was not", "they've also".
_AUXILIARY = re.compile(
    r"(?:\b(?:has|have|had|having|is|are|was|were|be|been|being)|\w['\u2019]ve)"
    r"(?:\s\w+ly|\snot|\salso|\ssince|\snow)?\s\Z",
    re.IGNORECASE,
)
# What stands before a verb in its base form or third person.
_VERB_SUBJECTS = any_of(
    "to",
    "will|would|can|could|should|may|might|must|not|did|does|do|also|please",
    "he|she|it|they|we|I|you|patient|who|which|that",
    "exam|examination|x-ray|MRI|CT",
)
_VERB_FOLLOWS = re.compile(rf"(?:\b{_VERB_SUBJECTS}\s|\A|: )\Z", re.IGNORECASE)


class WordMatch(NamedTuple):
    """A word of the vocabulary in a sentence: its place, and its possible meanings."""

    start: int
    end: int
    terms: tuple[Term, ...]

    @property
    def group(self) -> Group:
        """The group of its first meaning."""
        return self.terms[0].group

    def meaning(self, before: str) -> Term:
        """Return the meaning after these words: for "stopped" a participle after "has", else past.

        The first if others are possible.
        """
        slots = {term.slot: term for term in self.terms}
        if PARTICIPLE not in slots:
            return self.terms[0]
        if PAST not in slots or _AUXILIARY.search(before):
            return slots[PARTICIPLE]
        return self.terms[0]


def find(kind: str, sentence: str) -> list[WordMatch]:
    """Find the words of a kind in a sentence, of both halves, the longest from the left.

    >>> [(word.start, word.end) for word in find("drug", "Stop aspirin, start Lasix.")]
    [(5, 12), (20, 25)]
    """
    vocabulary = terms(kind)
    longest = _longest(kind)
    tokens = [match.span() for match in _TOKEN.finditer(sentence)]
    matches: list[WordMatch] = []
    first = 0
    while first < len(tokens):
        start, _ = tokens[first]
        for length in range(min(longest, len(tokens) - first), 0, -1):
            _, end = tokens[first + length - 1]
            meanings = vocabulary.get(word_key(sentence[start:end]))
            if meanings:
                matches.append(WordMatch(start=start, end=end, terms=meanings))
                break
        first += length
    return matches


@cache
def _longest(kind: str) -> int:
    return max(len(word.split()) for word in terms(kind))


def has_word(sentence: str, word: WordMatch, new: str) -> bool:
    """Return whether a sentence contains a new word outside the word that it replaces."""
    rest = f"{sentence[: word.start]} {sentence[word.end :]}"
    return bool(re.search(rf"(?<!\w){re.escape(new)}(?!\w)", rest, re.IGNORECASE))


def is_verb(before: str, term: Term) -> bool:
    """Return whether a form is a verb after these words: its base form can also be a noun."""
    return term.slot not in (BASE, THIRD) or bool(_VERB_FOLLOWS.search(before))


def _find_own(
    kind: str, sentence: str, split: Half
) -> Iterator[tuple[WordMatch, Term]]:
    """Find the words of a half, with their meanings; none in a lead-in."""
    lead_in = LEAD_IN.match(sentence)  # "Ears, nose: " is not a statement
    start = lead_in.end() if lead_in else 0
    for word in find(kind, sentence):
        if word.group.half == split and word.start >= start:
            yield word, word.meaning(sentence[: word.start])


def _replace_word(sentence: str, word: WordMatch, new: str) -> Iterator[str]:
    """Replace a word, unless the sentence already contains the new word."""
    if not has_word(sentence, word, new):
        is_upper = sentence[word.start : word.end].isupper()
        yield replace_text(sentence, word.start, word.end, new, as_written=is_upper)


# ---- drugs, sites and diagnoses

# Phrases in which a site of the body is none: "hand to hand", "heart rate".
_NO_SITE = re.compile(
    r"\b"
    + any_of(
        r"(?:face|hand) to\b",
        r"breast ?fe\w+",
        r"hand (?:hygiene|washing|out)",
        r"(?:heart|pulse) (?:rates?|rhythm|sounds?|attacks?|beats?|healthy|failure)\b"
        r"|sinus (?:rhythm|tachy|brady)\w*",
        r"eye contact",
        r"bone marrow",
        r"back (?!pain|spasm|ache|injur|surger|strain|problem|brace|muscle|issue)",
    ),
    re.IGNORECASE,
)
_OTHER_HAND = re.compile(
    r"\b(?:other|one|second|first|left|in|at)[- ]\Z", re.IGNORECASE
)
_TYPE = re.compile(r",? type\b", re.IGNORECASE)


def drug(sentence: str, split: Half) -> Iterator[str]:
    """Replace a drug by one of another class, in the same form: a brand by a brand.

    Drugs of the same class are never exchanged, since statements about them are often
    both true.
    """
    for word, term in _find_own("drug", sentence, split):
        for group in groups("drug", split):
            fits = (
                group.dosage_form == word.group.dosage_form
                and group.section != word.group.section
                and term.side < len(group.sides)
            )
            if not fits:
                continue
            for name in group.sides[term.side]:
                yield from _replace_word(sentence, word, name)


def anatomy(sentence: str, split: Half) -> Iterator[str]:
    """Replace a site of the body by another."""
    for word, term in _find_own("anatomy", sentence, split):
        if not _is_site(sentence, word):
            continue
        for group in _alternatives(word.group, split):
            if term.side < len(group.sides):
                new = group.forms[term.side][0][term.slot]
                yield from _replace_word(sentence, word, new)


def _is_site(sentence: str, word: WordMatch) -> bool:
    """Return whether a site's word means the site here."""
    before = sentence[: word.start]
    after = sentence[word.start :]
    is_heading = sentence[word.end : word.end + 1] == ":"
    if is_heading or _OTHER_HAND.search(before):
        return False
    is_back = re.match(r"back\b", after) and re.search(
        r"\b(?:lower|upper|her|his) \Z", before
    )
    return bool(is_back or not _NO_SITE.match(after))


def diagnosis(sentence: str, split: Half) -> Iterator[str]:
    """Replace a diagnosis by another."""
    for word, term in _find_own("diagnosis", sentence, split):
        # an abbreviation after its name, which would stay; or a part of "diabetes type
        # II"
        if sentence[: word.start].endswith("(") or _TYPE.match(sentence, word.end):
            continue
        for group in _alternatives(word.group, split):
            side = min(term.side, len(group.sides) - 1)
            forms = group.forms[side][0]
            new = forms[min(term.slot, len(forms) - 1)]
            yield from _replace_word(sentence, word, new)


def _alternatives(group: Group, split: Half) -> list[Group]:
    """Return the other groups of a group's section."""
    return [
        other
        for other in groups(group.kind, split)
        if other.section == group.section and other != group
    ]


# ---- opposites

# What stands before a word that may be a verb, or of a list of both sides.
_OPEN = re.compile(
    r"(?:\b"
    + any_of(
        "or|and|nor|to|will|can|should|must|not|no|any|than|rather|by|be|for|get|even|acute",
        "(?:year|month|week|day)s?",
    )
    + r"\s|-)\Z",
    re.IGNORECASE,
)
_WHO = re.compile(r"\b(?:he|she|they|I|we|who|falls?|fell|falling)\s\Z", re.IGNORECASE)
_NO_COURSE = re.compile(
    r"[ ](?:asthma|distress|fracture|care|than|with|on|kidney|to (?!\d))"
)
_CONTINUES = re.compile(
    r"\b(?P<now>continues|has continued) to (?P<verb>[a-z]+)", re.IGNORECASE
)
# Before these words, a word is part of a phrase that has no opposite: "high school".
_PHRASES = {
    "low": ("back", "lying"),
    "high": ("school", "chair", "five"),
    "hot": ("flash", "dog"),
    "cold": ("sore", "turkey"),
    "large": ("intestine", "bowel"),
    "small": ("bowel", "intestine", "cell", "of"),
    "light": ("headed", "touch", "house"),
    "significant": ("for", "other", "history"),
    "complete": ("the", "a", "his", "her", "blood", "metabolic", "course"),
    "direct": ("the", "him", "her"),
    "active": ("problem", "problems", "duty"),
    "more": ("than", "or"),
    "less": ("than", "or"),
    "dry": ("the", "mouth"),
    "cool": ("the", "down"),
    "warm": ("up", "the"),
    "early": ("intervention",),
    "late": ("effect",),
    "major": ("depressive", "depression"),
    "regular": ("insulin", "strength"),
    "deep": ("vein", "venous", "tendon", "breath", "breaths"),
    "oral": ("and", "exam"),
    "solid": ("foods?",),
    "mild": ("to",),
    "severe": ("to",),
}
_PHRASE_ENDS = {
    word: re.compile(rf"[ -]{any_of(*ends)}\b", re.IGNORECASE)
    for word, ends in _PHRASES.items()
}


def opposite(sentence: str, split: Half) -> Iterator[str]:
    """Replace a word by its opposite."""
    yield from _replace_opposites("opposite", sentence, split)


def course(sentence: str, split: Half) -> Iterator[str]:
    """Replace resolved, better or stopped by ongoing, worse or begun, or the reverse."""
    yield from _replace_opposites("course", sentence, split)
    is_condition = re.search(r"\bif\b", sentence, re.IGNORECASE)
    if half("continue") != split or is_condition:
        return
    for match in _CONTINUES.finditer(sentence):
        if match["verb"] in ("be", "have"):
            continue
        stopped = "stopped" if match["now"].lower() == "continues" else "has stopped"
        doing = verb_forms(match["verb"])[ING]
        new = copy_case(match[0], f"{stopped} {doing}")
        yield tidy(substitute(sentence, match, new), like=sentence)


def _replace_opposites(kind: str, sentence: str, split: Half) -> Iterator[str]:
    for word, term in _find_own(kind, sentence, split):
        before = sentence[: word.start]
        behind = sentence[word.end :]
        if kind == "course" and _NO_COURSE.match(behind):
            continue
        if term.group.section == "verbs":
            # an increase is the opposite of a decrease, too
            is_noun = kind == "course" and term.group.sides[0][0] == "increase"
            allowed = is_noun or is_verb(before, term)
        else:
            written = sentence[word.start : word.end].lower()
            allowed = _has_opposite(written, before, behind)
        if allowed:
            new = term.group.forms[1 - term.side][0][term.slot]
            yield from _replace_word(sentence, word, new)


def _has_opposite(word: str, before: str, behind: str) -> bool:
    """Return whether an adjective, adverb or phrase has its opposite here."""
    phrase = _PHRASE_ENDS.get(word)
    if phrase and phrase.match(behind):
        return False
    if _OPEN.search(before):
        return False
    return " " in word or not _WHO.search(before)

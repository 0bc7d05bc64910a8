"""Edits after which a sentence is not entailed: other words, numbers, sides, times; negations.

Words of both halves of the vocabulary are found, the longest first, so that no part of "rheumatoid
arthritis" is taken for a word; but only those of the half asked for are exchanged, and only for its
words. A sentence with exactly one negation may lose it, one without any may get one. A number
grows, since who has five of something also has two; a dose grows or shrinks. What follows "less
than", "up to" and the like stays, because another limit may be true as well; so do numbers that are
names (COVID-19, L4, grade 2), conditions, exceptions and words that live only under a negation.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from metassay.text.edits.wording import (
    FILE,
    LEAD_IN,
    NUMBER_WORD,
    VALUES,
    WORDS,
    Match,
    alternatives,
    each,
    in_case_of,
    listed,
    replaced,
    rows,
    table,
    tidy,
    without,
)
from metassay.text.patterns import Patterns
from metassay.text.vocabulary import Group, Half, Term, as_key, groups, half, terms
from metassay.text.vocabulary.inflection import BASE, ING, PARTICIPLE, PAST, THIRD, verb_forms

_X, _N, _C, _V = (
    Patterns(FILE, section) for section in ("exchange", "negations", "circumstances", "values")
)

# ---- exchange

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
        if PARTICIPLE in slots and (PAST not in slots or _X.auxiliary.search(before)):
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
        if heading or _X.other_hand.search(before) or (_X.no_site.match(here) and not back):
            continue
        for group in _beside(one.group, of):
            if form.side < len(group.sides):
                yield from _put(sentence, one, group.rows(form.side)[0][form.slot])


def diagnosis(sentence: str, of: Half) -> Iterator[str]:
    """The sentence with another diagnosis for one that it names."""
    for one, form in _of_half("diagnosis", sentence, of):
        # its abbreviation, where the name itself would stay; or a part of "diabetes type II"
        if sentence[: one.start].endswith("(") or _X.type.match(sentence, one.end):
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
    for match in _X.continues.finditer(sentence):
        stopped = "stopped" if match["now"].lower() == "continues" else "has stopped"
        if match["verb"] not in ("be", "have"):
            new = in_case_of(match[0], f"{stopped} {verb_forms(match['verb'])[ING]}")
            yield tidy(without(sentence, match, new), like=sentence)


def find(kind: str, sentence: str) -> list[Found]:
    """The words of a kind that a sentence has, of both halves, the longest from the left."""
    known, longest = terms(kind), _longest(kind)
    tokens = [match.span() for match in _X.token.finditer(sentence)]
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
    return form.slot not in (BASE, THIRD) or bool(_X.subject.search(before))


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
            fits = fits and not _X.open.search(before)
            fits = fits and (" " in word or not _X.who.search(before))
        if fits and not (kind == "course" and _X.no_course.match(behind)):
            yield from _put(sentence, one, form.group.rows(1 - form.side)[0][form.slot])


def _put(sentence: str, one: Found, new: str) -> Iterator[str]:
    """The sentence with a new word in place of one, unless it has that one already."""
    if not has(sentence, one, new):
        short = sentence[one.start : one.end].isupper()
        yield replaced(sentence, one.start, one.end, new, as_written=short)


@cache
def _longest(kind: str) -> int:
    return max(len(word.split()) for word in terms(kind))


# ---- negations

CUE = _N.cue


_OPPOSITES = table("negations opposites")
_OPPOSITE = re.compile(rf"(?<![\w-])(?:{'|'.join(_OPPOSITES)})(?![\w-])", re.IGNORECASE)

_REPORTING = table("negations reporting")
_REMOVALS = rows("removals")
_SAYING = table("negations saying")
_SAID = re.compile(
    r"(?:\A|(?<=: )|(?<=\bpatient )|(?<=\b[Hh]e )|(?<=\b[Ss]he )|(?<=\balso ))"
    rf"(?:{'|'.join(_SAYING)})"
    r"(?= (?!(?:to|no|that|he|she|they|it|there|his \w+ (?:is|has)|her \w+ (?:is|has))\b)\w)",
    re.IGNORECASE,
)
# Verbs in forms that "does not" and "did not" take back to the base; "has" is mostly auxiliary.
_BASES = listed("verbs")
_PRESENT_OF = {verb_forms(base)[THIRD]: base for base in _BASES}
_PAST_OF = {verb_forms(base)[PAST]: base for base in _BASES}
_BASE_OF = _PRESENT_OF | _PAST_OF
_VERB_FORMS = "|".join(sorted(_BASE_OF))
_VERB = re.compile(
    r"\b(?:he|she|patient|I|we|they|\w+ (?:exam|examination|x-ray|MRI|ultrasound|panel)) "
    rf"(?P<verb>{_VERB_FORMS})(?= [a-z\d])",
    re.IGNORECASE,
)
_SECOND_VERB = re.compile(rf"\b(?:and|or|but|then)(?: \w+ly)? (?:{_VERB_FORMS})\b|\w+ed\b")


def negation(sentence: str) -> Iterator[str]:
    """The sentence with its one negation removed, or with one added where it has none."""
    yes = _N.yes.search(sentence)
    if yes:
        yield replaced(sentence, *yes.span(1), "no" if yes[1].lower() == "yes" else "yes")
        return
    cues = len(CUE.findall(sentence))
    if cues > 1 or _N.unclear.search(sentence):
        return
    # With "normal" for "abnormal" and the like; `cues` are the negations of the sentence.
    for match in _OPPOSITE.finditer(sentence):
        before, after = sentence[: match.start()], sentence[match.end() :]
        if cues > len(CUE.findall(match[0])):
            continue
        if not _N.not_behind.search(before) and not _N.not_before.match(after):
            yield replaced(sentence, *match.span(), _OPPOSITES[match[0].lower()])
    for match in () if cues else _N.present.finditer(sentence):
        if not _N.not_behind.search(sentence[: match.start()]):
            yield replaced(sentence, *match.span(), "absent")
    if cues:
        yield from _removed(sentence)
        return
    for rule in (_with_not, _with_denial, _with_no, _with_do):
        yield from rule(sentence)


def _removed(sentence: str) -> Iterator[str]:
    for pattern, put in _REMOVALS:
        match = pattern.search(sentence)
        if match is None:
            continue
        tail = sentence[match.end() :]
        if not _N.only_negated.search(tail):
            new = _REPORTING.get(match[0].lower(), match.expand(put)) + _affirmed(tail)
            yield tidy(sentence[: match.start()] + in_case_of(match[0], new), like=sentence)
        return


def _affirmed(tail: str) -> str:
    """What followed a negation, as it stands without one: any is some, or is and."""
    end = _N.clause.search(tail)
    at = end.start() if end else len(tail)
    said = re.sub(r"\bany\b", "some", tail[:at])
    return re.sub(r"\bor\b", "and", said) + tail[at:]


def _with_not(sentence: str) -> Iterator[str]:
    for match in () if _N.only.search(sentence) else _N.auxiliary.finditer(sentence):
        if not _N.no_subject.search(sentence[: match.start()]):
            word = "cannot" if match[0] == "can" else f"{match[0]} not"
            yield replaced(sentence, *match.span(), word)
            return


def _with_denial(sentence: str) -> Iterator[str]:
    said = _SAID.search(sentence)
    if said:
        tail = re.sub(r"\A some\b", " any", sentence[said.end() :])
        new = in_case_of(said[0], _SAYING[said[0].lower()])
        yield sentence[: said.start()] + new + tail


def _with_no(sentence: str) -> Iterator[str]:
    there = _N.there.search(sentence)
    if there and not re.search(r"as well as|\bonly\b|\band\b", sentence[there.end() :]):
        kept = there.end() - len(there["some"] or "")
        yield f"{sentence[:kept]} no{sentence[there.end() :]}"
    has = _N.has_a.search(sentence)
    if has:
        yield f"{sentence[: has.end('has')]} no {sentence[has.end() :]}"
    noted = _N.noted.search(sentence)
    if noted:
        what = re.sub(r"\band\b", "or", sentence[noted.end() :])
        no = in_case_of(sentence[noted.start() :], "no")
        yield f"{sentence[: noted.start()]}{no} {what[0].lower()}{what[1:]}"


def _with_do(sentence: str) -> Iterator[str]:
    order = _N.order.search(sentence)
    if order:
        new = f"{in_case_of(order[0], 'do')} not {order[0][0].lower()}{order[0][1:]}"
        yield without(sentence, order, new)
    verb = _VERB.search(sentence)
    if verb and not _SECOND_VERB.search(sentence[verb.end("verb") :]):
        written = verb["verb"].lower()
        does = "does" if written in _PRESENT_OF else "did"
        yield replaced(sentence, *verb.span("verb"), f"{does} not {_BASE_OF[written]}")


# ---- circumstances

_HISTORIES = {"past": "family history", "kin": "personal medical history", "own": "family history"}

_FLIPPED = table("circumstances flipped")
_FLIPPED |= {other: side for side, other in _FLIPPED.items()}
_MENTIONS = [mention for mention, _ in rows("mentions")]
_LONGER = table("circumstances longer")
_LONGER |= {f"{one}s": f"{other}s" for one, other in _LONGER.items()}
_DURATION = re.compile(
    rf"\b(?:{_C.count.pattern})[ -](?P<unit>{alternatives(_LONGER)})(?![\w-])", re.IGNORECASE
)
_WHEN = table("circumstances when")
_WHENS = re.compile(rf"(?<![\w-])(?:{alternatives(_WHEN)})(?![\w-])(?! living)", re.IGNORECASE)
_DAYS = listed("days")
_MONTHS = listed("months")
_NAMED = {day: _DAYS[(n + 3) % 7] for n, day in enumerate(_DAYS)}
_NAMED |= {month: _MONTHS[(n + 2) % 12] for n, month in enumerate(_MONTHS)}
_CALENDAR = re.compile(
    rf"\b(?!May\b|March\b)(?:{alternatives(_NAMED)})(?=s?\b)"
    # May and March may be verbs: a month behind these words, or before a number
    r"|(?<=\b[Ii]n )(?:May|March)\b|(?<=\b(?:of|by) )(?:May|March)\b|(?<=\bsince )(?:May|March)\b"
    r"|(?<=\b(?:last|next|this|late) )(?:May|March)\b|(?<=\b(?:early|until) )(?:May|March)\b"
    r"|\b(?:May|March)(?= \d)"
)


def person(sentence: str) -> Iterator[str]:
    """The sentence with a relative for the patient, or the patient for a relative."""

    def patient(match: Match) -> str | None:
        who = "he" if match["whose"].lower() == "his" else "she"
        return None if _C.him.search(sentence[match.end() :]) else who

    yield from each(sentence, _C.kin, patient)
    yield from each(sentence, _C.history, lambda match: _HISTORIES[str(match.lastgroup)])
    for match in _C.he.finditer(sentence):
        his = match["who"].lower() == "he"
        for kin in ("his father", "his brother") if his else ("her mother", "her sister"):
            yield replaced(sentence, *match.span("who"), kin)
    for match in _C.patient.finditer(sentence):
        for kin in ("mother", "father"):
            yield f"{sentence[: match.end()]}'s {kin}{sentence[match.end() :]}"


def laterality(sentence: str) -> Iterator[str]:
    """The sentence with a side or direction for its opposite, wherever it names that one.

    Not if it names both, nor where left, right, lower, ... may say something else.
    """
    for mention in _MENTIONS:
        found = list(mention.finditer(sentence))
        named = {match[0].lower() for match in found}
        if len(named) != 1 or _C.views.search(sentence):
            continue
        opposite = _FLIPPED[named.pop()]
        if not re.search(rf"\b{opposite}\b", sentence, re.IGNORECASE):
            edited = sentence
            for match in reversed(found):
                edited = replaced(edited, *match.span(), opposite)
            yield edited
    if not re.search(r"\b(?:left|right|unilateral\w*)\b", sentence, re.IGNORECASE):
        for match in () if CUE.search(sentence) else _C.bilaterally.finditer(sentence):
            for side in ("left", "right"):
                yield replaced(sentence, *match.span(), f"on the {side} only")
        yield from each(sentence, _C.bilateral, "unilateral")


def time(sentence: str) -> Iterator[str]:
    """The sentence with another duration, frequency, date, time of day or order of events.

    Durations get longer and mostly frequencies higher, since what lasted a year lasted a week, too.
    """
    if not _C.limit.search(sentence):
        yield from each(sentence, _DURATION, _LONGER, "unit")

    def when(match: Match) -> str | None:
        word = match[0].lower()
        free = word not in ("before", "after", "prior to") or _orders(sentence, match)
        return _WHEN[word] if free else None

    yield from each(sentence, _WHENS, when)
    yield from each(sentence, _CALENDAR, lambda match: _NAMED[match[0]])
    yield from each(sentence, _C.year, lambda match: str(int(match[0]) - 3))
    yield from each(sentence, _C.times, lambda match: str(int(match["n"]) + 2))


def _orders(sentence: str, match: Match) -> bool:
    """Whether "before" or "after" has something behind it that it orders."""
    follows = re.match(r" [a-z\d]", sentence[match.end() :])
    return bool(follows) and not _C.no_order.search(sentence[: match.start()])


# ---- values

_EMERGENCY = ("911", "988")
_DOSES = frozenset(listed("doses"))
_TIMES = frozenset(listed("times"))
_GLUED = _DOSES | {"%", "cm", "mm"}  # units that are written against their number
_OTHER_UNITS = table("values other_units")
_TYPES = {"1": "2", "2": "1", "i": "II", "ii": "I"}
_WORD = re.compile(rf"{NUMBER_WORD}(?! (?:to|or|and|{'|'.join(sorted(_TIMES))})\b)", re.IGNORECASE)


class Value(NamedTuple):
    """A number of a sentence, or a range, and the word behind it (lower-cased, may be empty)."""

    low: str
    high: str  # empty if it is no range
    to: str
    start: int
    end: int  # of the number, without its unit
    unit: str
    unit_span: tuple[int, int]


def values(sentence: str) -> Iterator[Value]:
    """The numbers that stand for themselves: no names, and nothing next to "up to" and the like."""
    for match in _V.value.finditer(sentence):
        before = sentence[: match.start()]
        if _V.limit.search(before) or _V.names.search(before) or match["low"] in _EMERGENCY:
            continue
        end = match.end("high") if match["high"] else match.end("low")
        unit = (match["unit"] or "").lower()
        glued = unit and not match["gap"] and unit not in _GLUED
        if not glued and not _V.range_or_size.match(sentence[end:]):
            span = match.span("unit")
            yield Value(
                match["low"], match["high"] or "", match["to"] or "", match.start(), end, unit, span
            )


def number(sentence: str) -> Iterator[str]:
    """The sentence with another count, age, grade, pressure or laboratory value."""
    for value in values(sentence):
        # Whether it is neither dose, time nor year; nor 1, whose noun is in the singular.
        year = value.unit not in _OTHER_UNITS and re.fullmatch(r"(?:19|20)\d\d", value.low)
        singular = value.low == "1" and value.unit != "" and value.unit not in _OTHER_UNITS
        if not (year or singular or value.unit in _DOSES or value.unit in _TIMES):
            yield from _with(sentence, value, grown(value))
    yield from each(sentence, _V.pressure, _pressure, "high")
    yield from each(sentence, _V.score, _score, "got")
    yield from each(sentence, _V.type, _TYPES)

    def more(match: Match) -> str | None:
        before = sentence[: match.start()]
        fits = not _V.limit.search(before) and not _V.whose.search(before)
        return WORDS[min(20, 2 * VALUES[match[0].lower()] + 1)] if fits else None

    yield from each(sentence, _WORD, more)


def _pressure(match: Match) -> str | None:
    high, low = int(match["high"]), int(match["low"])
    return str(high + 30) if high > low >= 40 else None


def _score(match: Match) -> str | None:
    got = int(match["got"])
    return str(got - 2 if got >= 3 else got + 2) if got <= int(match["top"]) else None


def dose(sentence: str) -> Iterator[str]:
    """The sentence with another amount of a drug: twice or half of it, or a range above its own."""
    for value in values(sentence):
        if value.unit not in _DOSES:
            continue
        amount = _real(value.low)
        if not value.high:
            half = amount / 2
            if half == int(half) and half > value.unit.endswith("s"):
                yield from _with(sentence, value, _written(half, value.low))
            if value.low != "1":  # its unit may stand in the singular
                yield from _with(sentence, value, _written(2 * amount, value.low))
        else:
            yield from _with(sentence, value, grown(value))


def unit(sentence: str) -> Iterator[str]:
    """The sentence with another unit behind the same number."""
    for value in values(sentence):
        other = _OTHER_UNITS.get(value.unit)
        behind = sentence[value.unit_span[1] :]
        if other and not re.match(r" ?Hg|/", behind):
            yield replaced(sentence, *value.unit_span, other)


def grown(value: Value) -> str:
    """A number, or a range, that is clearly above: as it is to be written."""
    low = _real(value.low)
    if value.high:
        high = _real(value.high)
        return f"{_written(low + high, value.low)}{value.to}{_written(2 * high, value.high)}"
    if value.unit in ("%", "percent") and low > 60:
        return _written(round(low * 0.6), value.low)
    if "." in value.low:
        return _written(low * 1.5, value.low)
    step = max(2, round(0.4 * low))
    if low >= 10 and low % 10 == 0:
        step = max(10, 10 * round(step / 10))
    return _written(low + step, value.low)


def _with(sentence: str, value: Value, new: str) -> Iterator[str]:
    """The sentence with a new value, unless it has that one already."""
    there = re.search(rf"(?<!\d){re.escape(new)}(?!\d)", sentence)
    if there is None:
        yield replaced(sentence, value.start, value.end, new)


def _real(written: str) -> float:
    return float(written.replace(",", ""))


def _written(number: float, like: str) -> str:
    places = len(like.partition(".")[2])
    text = f"{number:,.{places}f}" if "," in like else f"{number:.{places}f}"
    return text.rstrip("0").rstrip(".") if places else text

"""Edits that make a sentence not entailed: other words, numbers, sides or times, and negations.

Words of both halves of the vocabulary are matched, the longest first, so that
"rheumatoid arthritis" is a single word; but only words of the requested half are
replaced, and only by its words. An only negation can be removed; a sentence without
negations can get one. A number grows, since five of something include two; a dose grows
or shrinks. Numbers after "less than", "up to" and the like stay, because another limit
can be true as well. So do numbers that are names (COVID-19, L4, grade 2), conditions,
exceptions, and words that occur only under a negation.
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
    read_list,
    replace_text,
    rows,
    table,
    tidy,
    without,
)
from metassay.text.patterns import Patterns
from metassay.text.vocabulary import Group, Half, Term, as_key, groups, half, terms
from metassay.text.vocabulary.inflection import (
    BASE,
    ING,
    PARTICIPLE,
    PAST,
    THIRD,
    verb_forms,
)

_X, _N, _C, _V = (
    Patterns(FILE, section)
    for section in ("exchange", "negations", "circumstances", "values")
)

# ---- exchange

_PHRASES = table("exchange phrases")


class WordMatch(NamedTuple):
    """A word of the vocabulary in a sentence: its place, and its possible meanings."""

    start: int
    end: int
    terms: tuple[Term, ...]

    @property
    def group(self) -> Group:
        """The group of its first meaning."""
        return self.terms[0].group

    def term(self, before: str) -> Term:
        """Return the meaning after these words: for "stopped" a participle after "has", else past.

        The first if others are possible.
        """
        slots = {term.slot: term for term in self.terms}
        if PARTICIPLE in slots and (PAST not in slots or _X.auxiliary.search(before)):
            return slots[PARTICIPLE]
        return self.terms[0]


def drug(sentence: str, split: Half) -> Iterator[str]:
    """Replace a drug by one of another class, in the same form: a brand by a brand.

    Drugs of the same class are never exchanged, since statements about them are often
    both true.
    """
    for word, form in _of_half("drug", sentence, split):
        kind, _, old_class = word.group.section.partition(": ")
        for group in groups("drug", split):
            other_kind, _, other_class = group.section.partition(": ")
            fits = (
                other_kind == kind
                and other_class != old_class
                and form.side < len(group.sides)
            )
            if fits:
                for name in group.sides[form.side]:
                    yield from _put(sentence, word, name)


def anatomy(sentence: str, split: Half) -> Iterator[str]:
    """Replace a site of the body by another."""
    for word, form in _of_half("anatomy", sentence, split):
        before, after = sentence[: word.start], sentence[word.start :]
        back = re.match(r"back\b", after) and re.search(
            r"\b(?:lower|upper|her|his) \Z", before
        )
        heading = sentence[word.end : word.end + 1] == ":"
        if (
            heading
            or _X.other_hand.search(before)
            or (_X.no_site.match(after) and not back)
        ):
            continue
        for group in _beside(word.group, split):
            if form.side < len(group.sides):
                yield from _put(sentence, word, group.rows(form.side)[0][form.slot])


def diagnosis(sentence: str, split: Half) -> Iterator[str]:
    """Replace a diagnosis by another."""
    for word, form in _of_half("diagnosis", sentence, split):
        # an abbreviation after its name, which would stay; or a part of "diabetes type
        # II"
        if sentence[: word.start].endswith("(") or _X.type.match(sentence, word.end):
            continue
        for group in _beside(word.group, split):
            side = min(form.side, len(group.sides) - 1)
            forms = group.rows(side)[0]
            yield from _put(sentence, word, forms[min(form.slot, len(forms) - 1)])


def opposite(sentence: str, split: Half) -> Iterator[str]:
    """Replace a word by its opposite."""
    yield from _opposites("opposite", sentence, split)


def course(sentence: str, split: Half) -> Iterator[str]:
    """Replace resolved, better or stopped by ongoing, worse or begun, or the reverse."""
    yield from _opposites("course", sentence, split)
    if half("continue") != split or re.search(r"\bif\b", sentence, re.IGNORECASE):
        return
    for match in _X.continues.finditer(sentence):
        stopped = "stopped" if match["now"].lower() == "continues" else "has stopped"
        if match["verb"] not in ("be", "have"):
            new = in_case_of(match[0], f"{stopped} {verb_forms(match['verb'])[ING]}")
            yield tidy(without(sentence, match, new), like=sentence)


def find(kind: str, sentence: str) -> list[WordMatch]:
    """Find the words of a kind in a sentence, of both halves, the longest from the left."""
    vocabulary, longest = terms(kind), _longest(kind)
    tokens = [match.span() for match in _X.token.finditer(sentence)]
    matches: list[WordMatch] = []
    token = 0
    while token < len(tokens):
        start = tokens[token][0]
        for length in range(min(longest, len(tokens) - token), 0, -1):
            end = tokens[token + length - 1][1]
            if meanings := vocabulary.get(as_key(sentence[start:end])):
                matches.append(WordMatch(start, end, meanings))
                break
        token += length
    return matches


def has(sentence: str, word: WordMatch, new: str) -> bool:
    """Return whether a sentence contains a new word outside the word that it replaces."""
    rest = f"{sentence[: word.start]} {sentence[word.end :]}"
    return bool(re.search(rf"(?<!\w){re.escape(new)}(?!\w)", rest, re.IGNORECASE))


def is_verb(before: str, form: Term) -> bool:
    """Return whether a form is a verb after these words: its base form can also be a noun."""
    return form.slot not in (BASE, THIRD) or bool(_X.subject.search(before))


def _of_half(kind: str, sentence: str, split: Half) -> Iterator[tuple[WordMatch, Term]]:
    lead_in = LEAD_IN.match(sentence)  # "Ears, nose: " is not a statement
    for word in find(kind, sentence):
        if word.group.half == split and word.start >= (lead_in.end() if lead_in else 0):
            yield word, word.term(sentence[: word.start])


def _beside(group: Group, split: Half) -> list[Group]:
    candidates = groups(group.kind, split)
    return [
        other
        for other in candidates
        if other.section == group.section and other != group
    ]


def _opposites(kind: str, sentence: str, split: Half) -> Iterator[str]:
    for word, form in _of_half(kind, sentence, split):
        before, behind = sentence[: word.start], sentence[word.end :]
        if form.group.section.endswith("verbs"):
            noun = kind == "course" and form.group.sides[0][0] == "increase"
            allowed = noun or is_verb(before, form)
        else:
            text = sentence[word.start : word.end].lower()
            phrase = _PHRASES.get(text)
            allowed = not (
                phrase and re.match(rf"[ -](?:{phrase})\b", behind, re.IGNORECASE)
            )
            allowed = allowed and not _X.open.search(before)
            allowed = allowed and (" " in text or not _X.who.search(before))
        if allowed and not (kind == "course" and _X.no_course.match(behind)):
            yield from _put(
                sentence, word, form.group.rows(1 - form.side)[0][form.slot]
            )


def _put(sentence: str, word: WordMatch, new: str) -> Iterator[str]:
    """Replace a word, unless the sentence already contains the new word."""
    if not has(sentence, word, new):
        is_upper = sentence[word.start : word.end].isupper()
        yield replace_text(sentence, word.start, word.end, new, as_written=is_upper)


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
_STATEMENT = re.compile(
    r"(?:\A|(?<=: )|(?<=\bpatient )|(?<=\b[Hh]e )|(?<=\b[Ss]he )|(?<=\balso ))"
    rf"(?:{'|'.join(_SAYING)})"
    r"(?= (?!(?:to|no|that|he|she|they|it|there|his \w+ (?:is|has)|her \w+ (?:is|has))\b)\w)",
    re.IGNORECASE,
)
# Verbs in forms that "does not" and "did not" take back to the base; "has" is mostly
# auxiliary.
_BASES = read_list("verbs")
_PRESENT_OF = {verb_forms(base)[THIRD]: base for base in _BASES}
_PAST_OF = {verb_forms(base)[PAST]: base for base in _BASES}
_BASE_OF = _PRESENT_OF | _PAST_OF
_VERB_FORMS = "|".join(sorted(_BASE_OF))
_VERB = re.compile(
    r"\b(?:he|she|patient|I|we|they|\w+ (?:exam|examination|x-ray|MRI|ultrasound|panel)) "
    rf"(?P<verb>{_VERB_FORMS})(?= [a-z\d])",
    re.IGNORECASE,
)
_SECOND_VERB = re.compile(
    rf"\b(?:and|or|but|then)(?: \w+ly)? (?:{_VERB_FORMS})\b|\w+ed\b"
)


def negation(sentence: str) -> Iterator[str]:
    """Remove the only negation, or add a negation to a sentence without any."""
    if yes := _N.yes.search(sentence):
        yield replace_text(
            sentence, *yes.span(1), "no" if yes[1].lower() == "yes" else "yes"
        )
        return
    cues = len(CUE.findall(sentence))
    if cues > 1 or _N.unclear.search(sentence):
        return
    # With "normal" for "abnormal" and the like; `cues` are the negations of the
    # sentence.
    for match in _OPPOSITE.finditer(sentence):
        before, after = sentence[: match.start()], sentence[match.end() :]
        if cues > len(CUE.findall(match[0])):
            continue
        if not _N.not_behind.search(before) and not _N.not_before.match(after):
            yield replace_text(sentence, *match.span(), _OPPOSITES[match[0].lower()])
    for match in () if cues else _N.present.finditer(sentence):
        if not _N.not_behind.search(sentence[: match.start()]):
            yield replace_text(sentence, *match.span(), "absent")
    if cues:
        yield from _without_negation(sentence)
        return
    for rule in (_with_not, _with_denial, _with_no, _with_do):
        yield from rule(sentence)


def _without_negation(sentence: str) -> Iterator[str]:
    for pattern, put in _REMOVALS:
        if (match := pattern.search(sentence)) is None:
            continue
        tail = sentence[match.end() :]
        if not _N.only_negated.search(tail):
            new = _REPORTING.get(match[0].lower(), match.expand(put)) + _affirm(tail)
            yield tidy(
                sentence[: match.start()] + in_case_of(match[0], new), like=sentence
            )
        return


def _affirm(tail: str) -> str:
    """Return words that followed a negation as they are without it: some for any, and for or."""
    end = _N.clause.search(tail)
    stop = end.start() if end else len(tail)
    scope = re.sub(r"\bany\b", "some", tail[:stop])
    return re.sub(r"\bor\b", "and", scope) + tail[stop:]


def _with_not(sentence: str) -> Iterator[str]:
    for match in () if _N.only.search(sentence) else _N.auxiliary.finditer(sentence):
        if not _N.no_subject.search(sentence[: match.start()]):
            word = "cannot" if match[0] == "can" else f"{match[0]} not"
            yield replace_text(sentence, *match.span(), word)
            return


def _with_denial(sentence: str) -> Iterator[str]:
    if statement := _STATEMENT.search(sentence):
        tail = re.sub(r"\A some\b", " any", sentence[statement.end() :])
        new = in_case_of(statement[0], _SAYING[statement[0].lower()])
        yield sentence[: statement.start()] + new + tail


def _with_no(sentence: str) -> Iterator[str]:
    existential = _N.there.search(sentence)
    if existential and not re.search(
        r"as well as|\bonly\b|\band\b", sentence[existential.end() :]
    ):
        stop = existential.end() - len(existential["some"] or "")
        yield f"{sentence[:stop]} no{sentence[existential.end() :]}"
    if possession := _N.has_a.search(sentence):
        yield f"{sentence[: possession.end('has')]} no {sentence[possession.end() :]}"
    if noted := _N.noted.search(sentence):
        finding = re.sub(r"\band\b", "or", sentence[noted.end() :])
        no = in_case_of(sentence[noted.start() :], "no")
        yield f"{sentence[: noted.start()]}{no} {finding[0].lower()}{finding[1:]}"


def _with_do(sentence: str) -> Iterator[str]:
    if imperative := _N.order.search(sentence):
        new = f"{in_case_of(imperative[0], 'do')} not {imperative[0][0].lower()}{imperative[0][1:]}"
        yield without(sentence, imperative, new)
    verb = _VERB.search(sentence)
    if verb and not _SECOND_VERB.search(sentence[verb.end("verb") :]):
        written = verb["verb"].lower()
        auxiliary = "does" if written in _PRESENT_OF else "did"
        yield replace_text(
            sentence, *verb.span("verb"), f"{auxiliary} not {_BASE_OF[written]}"
        )


# ---- circumstances

_HISTORIES = {
    "past": "family history",
    "kin": "personal medical history",
    "own": "family history",
}

_FLIPPED = table("circumstances flipped")
_FLIPPED |= {other: side for side, other in _FLIPPED.items()}
_MENTIONS = [mention for mention, _ in rows("mentions")]
_LONGER = table("circumstances longer")
_LONGER |= {f"{unit}s": f"{longer}s" for unit, longer in _LONGER.items()}
_DURATION = re.compile(
    rf"\b(?:{_C.count.pattern})[ -](?P<unit>{alternatives(_LONGER)})(?![\w-])",
    re.IGNORECASE,
)
_WHEN = table("circumstances when")
_WHENS = re.compile(
    rf"(?<![\w-])(?:{alternatives(_WHEN)})(?![\w-])(?! living)", re.IGNORECASE
)
_DAYS = read_list("days")
_MONTHS = read_list("months")
_NAMED = {day: _DAYS[(n + 3) % 7] for n, day in enumerate(_DAYS)}
_NAMED |= {month: _MONTHS[(n + 2) % 12] for n, month in enumerate(_MONTHS)}
_CALENDAR = re.compile(
    rf"\b(?!May\b|March\b)(?:{alternatives(_NAMED)})(?=s?\b)"
    # May and March can be verbs: a month after these words, or before a number
    r"|(?<=\b[Ii]n )(?:May|March)\b|(?<=\b(?:of|by) )(?:May|March)\b|(?<=\bsince )(?:May|March)\b"
    r"|(?<=\b(?:last|next|this|late) )(?:May|March)\b|(?<=\b(?:early|until) )(?:May|March)\b"
    r"|\b(?:May|March)(?= \d)"
)


def person(sentence: str) -> Iterator[str]:
    """Replace the patient by a relative, or a relative by the patient."""

    def patient(match: Match) -> str | None:
        who = "he" if match["whose"].lower() == "his" else "she"
        return None if _C.him.search(sentence[match.end() :]) else who

    yield from each(sentence, _C.kin, patient)
    yield from each(
        sentence, _C.history, lambda match: _HISTORIES[str(match.lastgroup)]
    )
    for match in _C.he.finditer(sentence):
        his = match["who"].lower() == "he"
        for kin in (
            ("his father", "his brother") if his else ("her mother", "her sister")
        ):
            yield replace_text(sentence, *match.span("who"), kin)
    for match in _C.patient.finditer(sentence):
        for kin in ("mother", "father"):
            yield f"{sentence[: match.end()]}'s {kin}{sentence[match.end() :]}"


def laterality(sentence: str) -> Iterator[str]:
    """Replace a side or direction by its opposite, everywhere in the sentence.

    Not if both occur, nor where left, right, lower, ... can have another meaning.
    """
    for mention in _MENTIONS:
        matches = list(mention.finditer(sentence))
        sides = {match[0].lower() for match in matches}
        if len(sides) != 1 or _C.views.search(sentence):
            continue
        opposite = _FLIPPED[sides.pop()]
        if not re.search(rf"\b{opposite}\b", sentence, re.IGNORECASE):
            edited = sentence
            for match in reversed(matches):
                edited = replace_text(edited, *match.span(), opposite)
            yield edited
    if not re.search(r"\b(?:left|right|unilateral\w*)\b", sentence, re.IGNORECASE):
        for match in () if CUE.search(sentence) else _C.bilaterally.finditer(sentence):
            for side in ("left", "right"):
                yield replace_text(sentence, *match.span(), f"on the {side} only")
        yield from each(sentence, _C.bilateral, "unilateral")


def time(sentence: str) -> Iterator[str]:
    """Change a duration, frequency, date, time of day or order of events.

    Durations get longer and most frequencies higher: what lasted a year also lasted a
    week.
    """
    if not _C.limit.search(sentence):
        yield from each(sentence, _DURATION, _LONGER, "unit")

    def when(match: Match) -> str | None:
        word = match[0].lower()
        event = re.match(r" [a-z\d]", sentence[match.end() :])
        orders = event and not _C.no_order.search(sentence[: match.start()])
        return (
            _WHEN[word]
            if orders or word not in ("before", "after", "prior to")
            else None
        )

    yield from each(sentence, _WHENS, when)
    yield from each(sentence, _CALENDAR, lambda match: _NAMED[match[0]])
    yield from each(sentence, _C.year, lambda match: str(int(match[0]) - 3))
    yield from each(sentence, _C.times, lambda match: str(int(match["n"]) + 2))


# ---- values

_EMERGENCY = ("911", "988")
_DOSES = frozenset(read_list("doses"))
_TIMES = frozenset(read_list("times"))
_GLUED = _DOSES | {"%", "cm", "mm"}  # units written without a blank after their number
_OTHER_UNITS = table("values other_units")
_TYPES = {"1": "2", "2": "1", "i": "II", "ii": "I"}
_WORD = re.compile(
    rf"{NUMBER_WORD}(?! (?:to|or|and|{'|'.join(sorted(_TIMES))})\b)", re.IGNORECASE
)


class Value(NamedTuple):
    """A number or range in a sentence, and the word after it (lower-cased, can be empty)."""

    low: str
    high: str  # empty if not a range
    to: str
    start: int
    end: int  # of the number, without its unit
    unit: str
    unit_span: tuple[int, int]


def values(sentence: str) -> Iterator[Value]:
    """Find the numbers that are quantities: not names, and not after "up to" and the like."""
    for match in _V.value.finditer(sentence):
        before = sentence[: match.start()]
        if (
            _V.limit.search(before)
            or _V.names.search(before)
            or match["low"] in _EMERGENCY
        ):
            continue
        end = match.end("high") if match["high"] else match.end("low")
        unit = (match["unit"] or "").lower()
        glued = unit and not match["gap"] and unit not in _GLUED
        if not glued and not _V.range_or_size.match(sentence[end:]):
            span = match.span("unit")
            high, to = match["high"] or "", match["to"] or ""
            yield Value(match["low"], high, to, match.start(), end, unit, span)


def number(sentence: str) -> Iterator[str]:
    """Change a count, age, grade, pressure or laboratory value."""
    for value in values(sentence):
        # Not a dose, time or year; nor 1, whose noun is in the singular.
        year = value.unit not in _OTHER_UNITS and re.fullmatch(
            r"(?:19|20)\d\d", value.low
        )
        singular = (
            value.low == "1" and value.unit != "" and value.unit not in _OTHER_UNITS
        )
        if not (year or singular or value.unit in _DOSES or value.unit in _TIMES):
            yield from _with(sentence, value, larger_value(value))
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
    points = int(match["got"])
    return (
        str(points - 2 if points >= 3 else points + 2)
        if points <= int(match["top"])
        else None
    )


def dose(sentence: str) -> Iterator[str]:
    """Change the amount of a drug: twice or half of it, or a higher range."""
    for value in values(sentence):
        if value.unit not in _DOSES:
            continue
        amount = _real(value.low)
        if not value.high:
            half = amount / 2
            if half == int(half) and half > value.unit.endswith("s"):
                yield from _with(sentence, value, _format(half, value.low))
            if value.low != "1":  # its unit can be in the singular
                yield from _with(sentence, value, _format(2 * amount, value.low))
        else:
            yield from _with(sentence, value, larger_value(value))


def unit(sentence: str) -> Iterator[str]:
    """Replace the unit after a number."""
    for value in values(sentence):
        other = _OTHER_UNITS.get(value.unit)
        behind = sentence[value.unit_span[1] :]
        if other and not re.match(r" ?Hg|/", behind):
            yield replace_text(sentence, *value.unit_span, other)


def larger_value(value: Value) -> str:
    """Return a clearly higher number or range, as text."""
    low = _real(value.low)
    if value.high:
        high = _real(value.high)
        return (
            f"{_format(low + high, value.low)}{value.to}{_format(2 * high, value.high)}"
        )
    if value.unit in ("%", "percent") and low > 60:
        return _format(round(low * 0.6), value.low)
    if "." in value.low:
        return _format(low * 1.5, value.low)
    step = max(2, round(0.4 * low))
    if low >= 10 and low % 10 == 0:
        step = max(10, 10 * round(step / 10))
    return _format(low + step, value.low)


def _with(sentence: str, value: Value, new: str) -> Iterator[str]:
    """Replace a value, unless the sentence already contains the new value."""
    if not re.search(rf"(?<!\d){re.escape(new)}(?!\d)", sentence):
        yield replace_text(sentence, value.start, value.end, new)


def _real(written: str) -> float:
    return float(written.replace(",", ""))


def _format(number: float, like: str) -> str:
    places = len(like.partition(".")[2])
    text = f"{number:,.{places}f}" if "," in like else f"{number:.{places}f}"
    return text.rstrip("0").rstrip(".") if places else text

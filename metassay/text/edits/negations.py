"""Negations added and taken away.

A sentence with exactly one negation may lose it, one without any may get one. Conditions,
exceptions and words that live only under a negation ("anything", "yet") are left alone, since what
becomes of them is not clear, or no English.
"""

import re
from collections.abc import Iterator

from metassay.text.edits.wording import (
    FILE,
    in_case_of,
    listed,
    replaced,
    rows,
    table,
    tidy,
    without,
)
from metassay.text.patterns import Patterns
from metassay.text.vocabulary.inflection import PAST, THIRD, verb_forms

_P = Patterns(FILE, "negations")
CUE = _P.cue


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
    yes = _P.yes.search(sentence)
    if yes:
        yield replaced(sentence, *yes.span(1), "no" if yes[1].lower() == "yes" else "yes")
        return
    cues = len(CUE.findall(sentence))
    if cues > 1 or _P.unclear.search(sentence):
        return
    yield from _opposites(sentence, cues)
    if cues:
        yield from _removed(sentence)
        return
    for rule in (_with_not, _with_denial, _with_no, _with_do):
        yield from rule(sentence)


def _opposites(sentence: str, cues: int) -> Iterator[str]:
    """With "normal" for "abnormal" and the like; `cues` are the negations of the sentence."""
    for match in _OPPOSITE.finditer(sentence):
        before, after = sentence[: match.start()], sentence[match.end() :]
        if cues > len(CUE.findall(match[0])):
            continue
        if not _P.not_behind.search(before) and not _P.not_before.match(after):
            yield replaced(sentence, *match.span(), _OPPOSITES[match[0].lower()])
    for match in () if cues else _P.present.finditer(sentence):
        if not _P.not_behind.search(sentence[: match.start()]):
            yield replaced(sentence, *match.span(), "absent")


def _removed(sentence: str) -> Iterator[str]:
    for pattern, put in _REMOVALS:
        match = pattern.search(sentence)
        if match is None:
            continue
        tail = sentence[match.end() :]
        if not _P.only_negated.search(tail):
            new = _REPORTING.get(match[0].lower(), match.expand(put)) + _affirmed(tail)
            yield tidy(sentence[: match.start()] + in_case_of(match[0], new), like=sentence)
        return


def _affirmed(tail: str) -> str:
    """What followed a negation, as it stands without one: any is some, or is and."""
    end = _P.clause.search(tail)
    at = end.start() if end else len(tail)
    said = re.sub(r"\bany\b", "some", tail[:at])
    return re.sub(r"\bor\b", "and", said) + tail[at:]


def _with_not(sentence: str) -> Iterator[str]:
    for match in () if _P.only.search(sentence) else _P.auxiliary.finditer(sentence):
        if not _P.no_subject.search(sentence[: match.start()]):
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
    there = _P.there.search(sentence)
    if there and not re.search(r"as well as|\bonly\b|\band\b", sentence[there.end() :]):
        kept = there.end() - len(there["some"] or "")
        yield f"{sentence[:kept]} no{sentence[there.end() :]}"
    has = _P.has_a.search(sentence)
    if has:
        yield f"{sentence[: has.end('has')]} no {sentence[has.end() :]}"
    noted = _P.noted.search(sentence)
    if noted:
        what = re.sub(r"\band\b", "or", sentence[noted.end() :])
        no = in_case_of(sentence[noted.start() :], "no")
        yield f"{sentence[: noted.start()]}{no} {what[0].lower()}{what[1:]}"


def _with_do(sentence: str) -> Iterator[str]:
    order = _P.order.search(sentence)
    if order:
        new = f"{in_case_of(order[0], 'do')} not {order[0][0].lower()}{order[0][1:]}"
        yield without(sentence, order, new)
    verb = _VERB.search(sentence)
    if verb and not _SECOND_VERB.search(sentence[verb.end("verb") :]):
        written = verb["verb"].lower()
        does = "does" if written in _PRESENT_OF else "did"
        yield replaced(sentence, *verb.span("verb"), f"{does} not {_BASE_OF[written]}")

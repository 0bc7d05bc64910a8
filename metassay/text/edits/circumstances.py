"""Who, where and when: a relative for the patient, left for right, other times."""

import re
from collections.abc import Iterator

from metassay.text.edits.negations import CUE
from metassay.text.edits.wording import (
    FILE,
    Match,
    alternatives,
    each,
    listed,
    replaced,
    rows,
    table,
)
from metassay.text.patterns import Patterns

_P = Patterns(FILE, "circumstances")

_HISTORIES = {"past": "family history", "kin": "personal medical history", "own": "family history"}

_FLIPPED = table("circumstances flipped")
_FLIPPED |= {other: side for side, other in _FLIPPED.items()}
_MENTIONS = [mention for mention, _ in rows("mentions")]
_LONGER = table("circumstances longer")
_LONGER |= {f"{one}s": f"{other}s" for one, other in _LONGER.items()}
_DURATION = re.compile(
    rf"\b(?:{_P.count.pattern})[ -](?P<unit>{alternatives(_LONGER)})(?![\w-])", re.IGNORECASE
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
        return None if _P.him.search(sentence[match.end() :]) else who

    yield from each(sentence, _P.kin, patient)
    yield from each(sentence, _P.history, lambda match: _HISTORIES[str(match.lastgroup)])
    for match in _P.he.finditer(sentence):
        his = match["who"].lower() == "he"
        for kin in ("his father", "his brother") if his else ("her mother", "her sister"):
            yield replaced(sentence, *match.span("who"), kin)
    for match in _P.patient.finditer(sentence):
        for kin in ("mother", "father"):
            yield f"{sentence[: match.end()]}'s {kin}{sentence[match.end() :]}"


def laterality(sentence: str) -> Iterator[str]:
    """The sentence with a side or direction for its opposite, wherever it names that one.

    Not if it names both, nor where left, right, lower, ... may say something else.
    """
    for mention in _MENTIONS:
        found = list(mention.finditer(sentence))
        named = {match[0].lower() for match in found}
        if len(named) != 1 or _P.views.search(sentence):
            continue
        opposite = _FLIPPED[named.pop()]
        if not re.search(rf"\b{opposite}\b", sentence, re.IGNORECASE):
            edited = sentence
            for match in reversed(found):
                edited = replaced(edited, *match.span(), opposite)
            yield edited
    if not re.search(r"\b(?:left|right|unilateral\w*)\b", sentence, re.IGNORECASE):
        for match in () if CUE.search(sentence) else _P.bilaterally.finditer(sentence):
            for side in ("left", "right"):
                yield replaced(sentence, *match.span(), f"on the {side} only")
        yield from each(sentence, _P.bilateral, "unilateral")


def time(sentence: str) -> Iterator[str]:
    """The sentence with another duration, frequency, date, time of day or order of events.

    Durations get longer and mostly frequencies higher, since what lasted a year lasted a week, too.
    """
    if not _P.limit.search(sentence):
        yield from each(sentence, _DURATION, _LONGER, "unit")

    def when(match: Match) -> str | None:
        word = match[0].lower()
        free = word not in ("before", "after", "prior to") or _orders(sentence, match)
        return _WHEN[word] if free else None

    yield from each(sentence, _WHENS, when)
    yield from each(sentence, _CALENDAR, lambda match: _NAMED[match[0]])
    yield from each(sentence, _P.year, lambda match: str(int(match[0]) - 3))
    yield from each(sentence, _P.times, lambda match: str(int(match["n"]) + 2))


def _orders(sentence: str, match: Match) -> bool:
    """Whether "before" or "after" has something behind it that it orders."""
    follows = re.match(r" [a-z\d]", sentence[match.end() :])
    return bool(follows) and not _P.no_order.search(sentence[: match.start()])

"""Who, where and when: a relative for the patient, left for right, other times."""

import re
from collections.abc import Iterator

from metassay.text.edits.negations import CUE
from metassay.text.edits.wording import (
    Match,
    alternatives,
    any_of,
    each,
    listed,
    pairs,
    phrase,
    replaced,
)

_RELATIVE = any_of("""
    mother father sister brother wife husband son daughter grandmother grandfather aunt uncle
    partner spouse
""")
_STATE = any_of("""
    has had is was denies denied takes took underwent does did will can continues suffers smokes
    drinks
""")
_KIN = re.compile(rf"\b(?P<whose>[Hh]is|[Hh]er) (?:{_RELATIVE})(?= (?:{_STATE})\b)")
_HIM = re.compile(r"\b(?:him|himself|herself|them)\b")  # the patient is spoken of as well
_OPENING = r"(?:\A|(?<=: )|(?<=, )|(?<= and ))"
_HE = re.compile(
    rf"{_OPENING}(?P<who>He|She|he|she)(?= (?:{_STATE})\b)"
    r"(?! (?:is|was) (?:an? )?(?:\d|here|accompanied|seen))"
)
_PATIENT = re.compile(
    rf"{_OPENING}(?:[Tt]he patient|Patient)"
    rf"(?= (?:{_STATE}|understands|agrees|agreed|endorses|reports? (?:an?|mild|severe))\b)"
    r"(?! (?:is|was) (?:an? |here|in |seen|accompanied))"
)
_HISTORY = re.compile(
    r"\b(?:(?P<past>(?:past medical|prior|previous|personal) history)"
    r"|(?P<kin>family(?: medical)? history)"
    r"|(?P<own>(?<=has a )history|(?<=reports )history|(?<=reports a )history|(?<=with a )history))"
    r"(?= (?:of|significant|notable|is|includes)\b)",
    re.IGNORECASE,
)
_HISTORIES = {"past": "family history", "kin": "personal medical history", "own": "family history"}

_PART = (
    r"(?:\w+ )?(?:sided?|hand(?:ed)?|arms?|legs?|knees?|ankles?|foot|feet|elbows?|wrists?"
    r"|shoulders?|hips?|eyes?|ears?|breasts?|lungs?|kidneys?|ovary|thumb|fingers?|toes?|thighs?|cal(?:f|ves)"
    r"|forearms?|heels?|shins?|cheek|temple|neck|flank|chest|groin|jaw|atri\w+|ventric\w+|bundle"
    r"|lobe|tonsil|testic\w+|extremit\w+|quadrant|upper|lower|lateral|medial|index|middle|ring"
    r"|great|big|anterior|posterior|renal|rotator|trigeminal|carotid|paraspinal|abdom\w+|lumbar"
    r"|mandib\w+|maxill\w+|humer\w+|femur|tibia|fibula|radius|ulna|clavicle|scapula|achilles"
    r"|patella|facial|nostril|palm|base|distal|proximal|dorsal|plantar)\b"
)
_FLIPPED = pairs("""
    left: right; upper: lower; medial: lateral; anterior: posterior; proximal: distal;
    dorsal: plantar; superior: inferior
""")
_FLIPPED |= {other: side for side, other in _FLIPPED.items()}
_MENTIONS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # "left" by itself is as often a verb, "right" as often "correct"
        rf"\b(?:left|right)(?=[- ]{_PART})"
        r"|(?<=\b[otn][nof] the )(?:left|right)(?=[.,;)]|\Z| (?:and|but|with|than|is|was|side)\b)",
        r"\b(?:upper|lower)(?= (?:extremit\w+|back|lobe|quadrant|legs?|arms?|abdom\w+|respiratory"
        r"|eyelid|lip|jaw|lumbar|thoracic|limbs?|teeth|tooth|body|chest|outer|inner|left|right)\b)",
        r"\b(?:medial|lateral)\b(?! (?:view|decubitus|x-ray|films?|bending|rotation))",
        r"\b(?:anterior|posterior)\b",
        r"\b(?:proximal|distal)\b(?! to\b)",
        r"\b(?:dorsal|plantar)\b",
        r"\b(?:superior|inferior)\b(?! to\b)",
    )
)
_BILATERALLY = re.compile(r"\bbilaterally\b(?! (?:in all|throughout))", re.IGNORECASE)
_BILATERAL = re.compile(  # before a noun in the plural "unilateral" would be no English
    r"\bbilateral\b(?! (?:\w+ ){0,2}(?:\w*[^\W_sui]s|feet|testes)\b)", re.IGNORECASE
)
_VIEWS = re.compile(r"\b(?:AP|oblique)\b")

_LONGER = pairs(
    "second: minute; minute: hour; hour: day; day: week; week: month; month: year; year: decade"
)
_LONGER |= {f"{one}s": f"{other}s" for one, other in _LONGER.items()}
_COUNT = any_of(r"""
    \d+ an? one two three four five six seven eight nine ten twelve few several couple\sof past last
    next per each every
""")
_DURATION = re.compile(
    rf"\b(?:{_COUNT})[ -](?P<unit>{alternatives(_LONGER)})(?![\w-])", re.IGNORECASE
)
_LIMIT = phrase(
    r"""
    (?:less|fewer|more|greater|younger|older)\sthan up\sto within under at\smost almost nearly
    over and\sa\shalf old one\sday
    """,
    "|<|>",
)
_WHEN = pairs("""
    this morning: this evening; in the morning: in the evening; every morning: every evening;
    in the evening: in the morning; every evening: every morning; at night: in the morning;
    every night: every morning; at bedtime: in the morning; in the afternoon: in the morning;
    last night: last week; once daily: twice daily; once a day: twice a day;
    once per day: twice per day; once a week: once a day; once a month: once a week;
    twice daily: once a week; twice a day: twice a week; daily: weekly; weekly: monthly;
    yearly: monthly; annual: monthly; annually: monthly; monthly: daily; every day: every other day;
    yesterday: last month; last year: last month; last week: last year; last month: last year;
    next week: next year; next month: next year; in the summer: in the winter;
    in the winter: in the summer; before: after; prior to: after; after: before
""")
_WHENS = re.compile(rf"(?<![\w-])(?:{alternatives(_WHEN)})(?![\w-])(?! living)", re.IGNORECASE)
_NO_ORDER = re.compile(
    r"\b(?:as|than|ever|even|look\w*|named|and|or|is|never|was"
    r"|(?:second|minute|hour|day|week|month|year)s?) \Z",
    re.IGNORECASE,
)
_DAYS = listed("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")
_MONTHS = listed("""
    January February March April May June July August September October November December
""")
_NAMED = {day: _DAYS[(n + 3) % 7] for n, day in enumerate(_DAYS)}
_NAMED |= {month: _MONTHS[(n + 2) % 12] for n, month in enumerate(_MONTHS)}
_CALENDAR = re.compile(
    rf"\b(?!May\b|March\b)(?:{alternatives(_NAMED)})(?=s?\b)"
    # May and March may be verbs: a month behind these words, or before a number
    r"|(?<=\b[Ii]n )(?:May|March)\b|(?<=\b(?:of|by) )(?:May|March)\b|(?<=\bsince )(?:May|March)\b"
    r"|(?<=\b(?:last|next|this|late) )(?:May|March)\b|(?<=\b(?:early|until) )(?:May|March)\b"
    r"|\b(?:May|March)(?= \d)"
)
_YEAR = re.compile(
    r"(?<=\bin )(?:19|20)\d\d\b|(?<=\d/)(?:19|20)\d\d\b|(?<=\bsince )(?:19|20)\d\d\b"
)
_TIMES = re.compile(
    r"(?<!to )(?<!or )\b(?P<n>[2-9])(?= times (?:per|an?|each|every|daily|weekly)\b)"
)


def person(sentence: str) -> Iterator[str]:
    """The sentence with a relative for the patient, or the patient for a relative."""

    def patient(match: Match) -> str | None:
        who = "he" if match["whose"].lower() == "his" else "she"
        return None if _HIM.search(sentence[match.end() :]) else who

    yield from each(sentence, _KIN, patient)
    yield from each(sentence, _HISTORY, lambda match: _HISTORIES[str(match.lastgroup)])
    for match in _HE.finditer(sentence):
        his = match["who"].lower() == "he"
        for kin in ("his father", "his brother") if his else ("her mother", "her sister"):
            yield replaced(sentence, *match.span("who"), kin)
    for match in _PATIENT.finditer(sentence):
        for kin in ("mother", "father"):
            yield f"{sentence[: match.end()]}'s {kin}{sentence[match.end() :]}"


def laterality(sentence: str) -> Iterator[str]:
    """The sentence with a side or direction for its opposite, wherever it names that one.

    Not if it names both, nor where left, right, lower, ... may say something else.
    """
    for mention in _MENTIONS:
        found = list(mention.finditer(sentence))
        named = {match[0].lower() for match in found}
        if len(named) != 1 or _VIEWS.search(sentence):
            continue
        opposite = _FLIPPED[named.pop()]
        if not re.search(rf"\b{opposite}\b", sentence, re.IGNORECASE):
            edited = sentence
            for match in reversed(found):
                edited = replaced(edited, *match.span(), opposite)
            yield edited
    if not re.search(r"\b(?:left|right|unilateral\w*)\b", sentence, re.IGNORECASE):
        for match in () if CUE.search(sentence) else _BILATERALLY.finditer(sentence):
            for side in ("left", "right"):
                yield replaced(sentence, *match.span(), f"on the {side} only")
        yield from each(sentence, _BILATERAL, "unilateral")


def time(sentence: str) -> Iterator[str]:
    """The sentence with another duration, frequency, date, time of day or order of events.

    Durations get longer and mostly frequencies higher, since what lasted a year lasted a week, too.
    """
    if not _LIMIT.search(sentence):
        yield from each(sentence, _DURATION, _LONGER, "unit")

    def when(match: Match) -> str | None:
        word = match[0].lower()
        free = word not in ("before", "after", "prior to") or _orders(sentence, match)
        return _WHEN[word] if free else None

    yield from each(sentence, _WHENS, when)
    yield from each(sentence, _CALENDAR, lambda match: _NAMED[match[0]])
    yield from each(sentence, _YEAR, lambda match: str(int(match[0]) - 3))
    yield from each(sentence, _TIMES, lambda match: str(int(match["n"]) + 2))


def _orders(sentence: str, match: Match) -> bool:
    """Whether "before" or "after" has something behind it that it orders."""
    follows = re.match(r" [a-z\d]", sentence[match.end() :])
    return bool(follows) and not _NO_ORDER.search(sentence[: match.start()])

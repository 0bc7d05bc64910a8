"""Edits of who, where and when: persons, sides and times.

Durations and limits after "less than", "up to" and the like stay, because another limit
can be true as well.
"""

import re
from collections.abc import Iterator

from metassay.text.edits.negations import CUE
from metassay.text.edits.wording import Match, replace_each, replace_text
from metassay.text.patterns import any_of, any_word

# ---- person

_RELATIVES = any_of(
    "mother|father|sister|brother|wife|husband|son|daughter",
    "grandmother|grandfather|aunt|uncle|partner|spouse",
)
_STATES = (
    "has|had|is|was|denies|denied|takes|took|underwent|does|did|will|can|continues|suffers|smokes"
    "|drinks"
)
_OPENING = r"(?:\A|(?<=: )|(?<=, )|(?<= and ))"
_KIN = re.compile(rf"\b(?P<whose>[Hh]is|[Hh]er) {_RELATIVES}(?= (?:{_STATES})\b)")
_HIM = re.compile(r"\b(?:him|himself|herself|them)\b")  # the patient is named as well
_HE = re.compile(
    rf"{_OPENING}(?P<who>He|She|he|she)(?= (?:{_STATES})\b)"
    r"(?! (?:is|was) (?:an? )?(?:\d|here|accompanied|seen))"
)
_PATIENT = re.compile(
    rf"{_OPENING}(?:[Tt]he patient|Patient)"
    rf"(?= (?:{_STATES}|understands|agrees|agreed|endorses|reports? (?:an?|mild|severe))\b)"
    r"(?! (?:is|was) (?:an? |here|in |seen|accompanied))"
)
_HISTORY = re.compile(
    r"\b"
    + any_of(
        "(?P<past>(?:past medical|prior|previous|personal) history)",
        "(?P<kin>family(?: medical)? history)",
        "(?P<own>(?<=has a )history|(?<=reports )history|(?<=reports a )history"
        "|(?<=with a )history)",
    )
    + r"(?= (?:of|significant|notable|is|includes)\b)",
    re.IGNORECASE,
)
_OTHER_HISTORY = {
    "past": "family history",
    "kin": "personal medical history",
    "own": "family history",
}


def person(sentence: str) -> Iterator[str]:
    """Replace the patient by a relative, or a relative by the patient."""

    def name_patient(match: Match) -> str | None:
        if _HIM.search(sentence[match.end() :]):
            return None
        return "he" if match["whose"].lower() == "his" else "she"

    def name_other_history(match: Match) -> str:
        return _OTHER_HISTORY[str(match.lastgroup)]

    yield from replace_each(sentence, _KIN, name_patient)
    yield from replace_each(sentence, _HISTORY, name_other_history)
    for match in _HE.finditer(sentence):
        if match["who"].lower() == "he":
            relatives = ("his father", "his brother")
        else:
            relatives = ("her mother", "her sister")
        for relative in relatives:
            yield replace_text(sentence, *match.span("who"), relative)
    for match in _PATIENT.finditer(sentence):
        for kin in ("mother", "father"):
            yield f"{sentence[: match.end()]}'s {kin}{sentence[match.end() :]}"


# ---- laterality

# What "left" and "right", which are as often a verb and "correct", belong to.
_SIDED = r"(?:\w+ )?" + any_of(
    "sided?",
    "hand(?:ed)?|arms?|legs?|knees?|ankles?|foot|feet|elbows?|wrists?|shoulders?|hips?",
    "eyes?|ears?|breasts?|lungs?|kidneys?|ovary",
    "thumb|fingers?|toes?|thighs?|cal(?:f|ves)|forearms?|heels?|shins?",
    "cheek|temple|neck|flank|chest|groin|jaw",
    r"atri\w+|ventric\w+|bundle|lobe|tonsil|testic\w+|extremit\w+|quadrant",
    "upper|lower|lateral|medial|index|middle|ring|great|big|anterior|posterior",
    r"renal|rotator|trigeminal|carotid|paraspinal|abdom\w+|lumbar|mandib\w+|maxill\w+|humer\w+",
    "femur|tibia|fibula|radius|ulna|clavicle|scapula|achilles|patella",
    "facial|nostril|palm|base|distal|proximal|dorsal|plantar",
)
_LEVELLED = any_of(
    r"extremit\w+|back|lobe|quadrant|legs?|arms?|abdom\w+|respiratory|eyelid|lip|jaw|lumbar",
    "thoracic|limbs?|teeth|tooth|body|chest|outer|inner|left|right",
)
_MENTIONS = [
    re.compile(mention, re.IGNORECASE)
    for mention in (
        rf"\b(?:left|right)(?=[- ]{_SIDED}\b)"
        r"|(?<=\b[otn][nof] the )(?:left|right)"  # on, of, to the left
        r"(?=[.,;)]|\Z| (?:and|but|with|than|is|was|side)\b)",
        rf"\b(?:upper|lower)(?= {_LEVELLED}\b)",
        r"\b(?:medial|lateral)\b(?! (?:view|decubitus|x-ray|films?|bending|rotation))",
        r"\b(?:anterior|posterior)\b",
        r"\b(?:proximal|distal)\b(?! to\b)",
        r"\b(?:dorsal|plantar)\b",
        r"\b(?:superior|inferior)\b(?! to\b)",
    )
]
_OTHER_SIDE = {
    "left": "right",
    "right": "left",
    "upper": "lower",
    "lower": "upper",
    "medial": "lateral",
    "lateral": "medial",
    "anterior": "posterior",
    "posterior": "anterior",
    "proximal": "distal",
    "distal": "proximal",
    "dorsal": "plantar",
    "plantar": "dorsal",
    "superior": "inferior",
    "inferior": "superior",
}
_VIEWS = re.compile(r"\b(?:AP|oblique)\b")  # of an X-ray, which are several
_BILATERALLY = re.compile(r"\bbilaterally\b(?! (?:in all|throughout))", re.IGNORECASE)
# Before a noun in the plural "unilateral" would be no English.
_BILATERAL = re.compile(
    r"\bbilateral\b(?! (?:\w+ ){0,2}(?:\w*[^\W_sui]s|feet|testes)\b)", re.IGNORECASE
)
_ONE_SIDE = re.compile(r"\b(?:left|right|unilateral\w*)\b", re.IGNORECASE)


def laterality(sentence: str) -> Iterator[str]:
    """Replace a side or direction by its opposite, everywhere in the sentence.

    Not if both occur, nor where left, right, lower, ... can have another meaning.
    """
    for mention in _MENTIONS:
        matches = list(mention.finditer(sentence))
        sides = {match[0].lower() for match in matches}
        if len(sides) != 1 or _VIEWS.search(sentence):
            continue
        other = _OTHER_SIDE[sides.pop()]
        if not re.search(rf"\b{other}\b", sentence, re.IGNORECASE):
            edited = sentence
            for match in reversed(matches):
                edited = replace_text(edited, *match.span(), other)
            yield edited
    if _ONE_SIDE.search(sentence):
        return
    if not CUE.search(sentence):
        for match in _BILATERALLY.finditer(sentence):
            for side in ("left", "right"):
                yield replace_text(sentence, *match.span(), f"on the {side} only")
    yield from replace_each(sentence, _BILATERAL, "unilateral")


# ---- time

# Limits, which a longer duration may satisfy as well.
_LIMIT = re.compile(
    r"\b"
    + any_of(
        r"(?:less|fewer|more|greater|younger|older)\sthan",
        r"up\sto|within|under|at\smost|almost|nearly|over",
        r"and\sa\shalf|old|one\sday",
    )
    + r"\b|<|>",
    re.IGNORECASE,
)
_COUNT = any_of(
    r"\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve",
    r"few|several|couple\sof|past|last|next|per|each|every",
)
_LONGER = {
    "second": "minute",
    "minute": "hour",
    "hour": "day",
    "day": "week",
    "week": "month",
    "month": "year",
    "year": "decade",
}
_LONGER |= {f"{unit}s": f"{longer}s" for unit, longer in _LONGER.items()}
_DURATION = re.compile(
    rf"\b{_COUNT}[ -](?P<unit>{any_word(_LONGER)})(?![\w-])", re.IGNORECASE
)
_OTHER_TIME = {
    "this morning": "this evening",
    "in the morning": "in the evening",
    "every morning": "every evening",
    "in the evening": "in the morning",
    "every evening": "every morning",
    "at night": "in the morning",
    "every night": "every morning",
    "at bedtime": "in the morning",
    "in the afternoon": "in the morning",
    "last night": "last week",
    "once daily": "twice daily",
    "once a day": "twice a day",
    "once per day": "twice per day",
    "once a week": "once a day",
    "once a month": "once a week",
    "twice daily": "once a week",
    "twice a day": "twice a week",
    "daily": "weekly",
    "weekly": "monthly",
    "yearly": "monthly",
    "annual": "monthly",
    "annually": "monthly",
    "monthly": "daily",
    "every day": "every other day",
    "yesterday": "last month",
    "last year": "last month",
    "last week": "last year",
    "last month": "last year",
    "next week": "next year",
    "next month": "next year",
    "in the summer": "in the winter",
    "in the winter": "in the summer",
    "before": "after",
    "prior to": "after",
    "after": "before",
}
_TIME = re.compile(
    rf"(?<![\w-]){any_word(_OTHER_TIME)}(?![\w-])(?! living)", re.IGNORECASE
)
_ORDERING = ("before", "after", "prior to")
# What stands before "before" and "after" that order no events: "as before", "look after".
_NO_ORDER = re.compile(
    r"\b"
    + any_of(
        r"as|than|ever|even|look\w*|named|and|or|is|never|was",
        "(?:second|minute|hour|day|week|month|year)s?",
    )
    + r" \Z",
    re.IGNORECASE,
)
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_MONTHS = (
    "January February March April May June July August September October November December"
).split()
# Three days, and two months, later.
_OTHER_DATE = {day: _DAYS[(number + 3) % 7] for number, day in enumerate(_DAYS)}
_OTHER_DATE |= {
    month: _MONTHS[(number + 2) % 12] for number, month in enumerate(_MONTHS)
}
_DATE = re.compile(
    rf"\b(?!May\b|March\b){any_word(_OTHER_DATE)}(?=s?\b)"
    # May and March can be verbs: a month after these words, or before a number
    r"|(?<=\b[Ii]n )(?:May|March)\b"
    r"|(?<=\b(?:of|by) )(?:May|March)\b"
    r"|(?<=\bsince )(?:May|March)\b"
    r"|(?<=\b(?:last|next|this|late) )(?:May|March)\b"
    r"|(?<=\b(?:early|until) )(?:May|March)\b"
    r"|\b(?:May|March)(?= \d)"
)
_YEAR = re.compile(
    r"(?<=\bin )(?:19|20)\d\d\b|(?<=\d/)(?:19|20)\d\d\b|(?<=\bsince )(?:19|20)\d\d\b"
)
_TIMES = re.compile(
    r"(?<!to )(?<!or )\b(?P<n>[2-9])(?= times (?:per|an?|each|every|daily|weekly)\b)"
)


def time(sentence: str) -> Iterator[str]:
    """Change a duration, frequency, date, time of day or order of events.

    Durations get longer and most frequencies higher: what lasted a year also lasted a
    week.
    """

    def name_other_time(match: Match) -> str | None:
        words = match[0].lower()
        if words in _ORDERING and not _orders_events(sentence, match):
            return None
        return _OTHER_TIME[words]

    if not _LIMIT.search(sentence):
        yield from replace_each(sentence, _DURATION, _LONGER, "unit")
    yield from replace_each(sentence, _TIME, name_other_time)
    yield from replace_each(sentence, _DATE, lambda match: _OTHER_DATE[match[0]])
    yield from replace_each(sentence, _YEAR, lambda match: str(int(match[0]) - 3))
    yield from replace_each(sentence, _TIMES, lambda match: str(int(match["n"]) + 2))


def _orders_events(sentence: str, match: Match) -> bool:
    """Return whether "before" or "after" stands between events."""
    event = re.match(r" [a-z\d]", sentence[match.end() :])
    return bool(event) and not _NO_ORDER.search(sentence[: match.start()])

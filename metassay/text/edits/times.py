"""Other times: how long, how often, when, before or after."""

import re
from collections.abc import Iterator

from metassay.text.edits.wording import alternatives, any_of, listed, replaced

_LONGER = {
    "second": "minute",
    "minute": "hour",
    "hour": "day",
    "day": "week",
    "week": "month",
    "month": "year",
    "year": "decade",
}
_LONGER |= {f"{one}s": f"{other}s" for one, other in _LONGER.items()}
_COUNT = any_of(r"""
    \d+ an? one two three four five six seven eight nine ten twelve few several couple\sof past last
    next per each every
""")
_DURATION = re.compile(
    rf"\b(?:{_COUNT})[ -](?P<unit>{alternatives(_LONGER)})(?![\w-])", re.IGNORECASE
)
_LIMIT = re.compile(
    r"\b(?:"
    + any_of(r"""
        (?:less|fewer|more|greater|younger|older)\sthan up\sto within under at\smost almost nearly
        over and\sa\shalf old one\sday
    """)
    + r")\b|<|>",
    re.IGNORECASE,
)
_WHEN = {
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
_WHENS = re.compile(rf"(?<![\w-])(?:{alternatives(_WHEN)})(?![\w-])(?! living)", re.IGNORECASE)
_NO_ORDER = re.compile(
    r"\b(?:"
    + any_of("as than ever even look\\w* named and or is never was")
    + r"|(?:second|minute|hour|day|week|month|year)s?) \Z",
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


def time(sentence: str) -> Iterator[str]:
    """The sentence with another duration, frequency, date, time of day or order of events.

    Durations get longer and mostly frequencies higher, since what lasted a year lasted a week, too.
    """
    if not _LIMIT.search(sentence):
        for match in _DURATION.finditer(sentence):
            yield replaced(sentence, *match.span("unit"), _LONGER[match["unit"].lower()])
    for match in _WHENS.finditer(sentence):
        word = match[0].lower()
        ordered = word in ("before", "after", "prior to")
        if not ordered or _orders(sentence, match):
            yield replaced(sentence, *match.span(), _WHEN[word])
    for match in _CALENDAR.finditer(sentence):
        yield replaced(sentence, *match.span(), _NAMED[match[0]])
    for match in _YEAR.finditer(sentence):
        yield replaced(sentence, *match.span(), str(int(match[0]) - 3))
    for match in _TIMES.finditer(sentence):
        yield replaced(sentence, *match.span(), str(int(match["n"]) + 2))


def _orders(sentence: str, match: re.Match[str]) -> bool:
    """Whether "before" or "after" has something behind it that it orders."""
    follows = re.match(r" [a-z\d]", sentence[match.end() :])
    return bool(follows) and not _NO_ORDER.search(sentence[: match.start()])

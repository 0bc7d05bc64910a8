"""Tell a short line that introduces others ("Blood pressure:") from one that states something.

"No skull fracture:" states something, although it ends in a colon. A line states
something if it denies, has a verb with words around it, begins with a pronoun or as
notes speak of a patient ("Allergic to penicillin:"), ends in a result ("Troponin
negative:"), or has a measured value or a duration. It introduces others if it breaks
off ("Patient denies:"), asks, or announces ("He was given the following:"). What only
names something ("Left hip fracture:") is taken for a heading.
"""

import re

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
# A line with one of these first asks, announces or sets a condition.
_ASKING = frozenset(
    """
    how list reason reasons things to what when where which who why
    """.split()
)
# A line with one of these announces others, or sets a condition.
_ANNOUNCING = frozenset(
    """
    below following follows if these things unless until when whether
    """.split()
)
# Something must follow a line that ends in one of these.
_OPEN = frozenset(
    """
    a about an and any as at by for from her his in include included includes
    including into of on or our regarding than that the their to with your
    """.split()
)
_DENIALS = frozenset("absent denied denies neither never no none not without".split())
# Verbs of statements. Words that are as often nouns of headings ("studies", "labs")
# are left out.
_VERBS = frozenset(
    """
    am appeared appears are became becomes began came can cannot confirmed confirms
    continues could demonstrated demonstrates denied denies developed develops did
    died does drinks eats failed fails feels fell felt gave got grew had has have
    improved is lacks lost may might moved must needs noticed persists presented
    presents quit ran received receives refused refuses remained remains reported
    reports required requires resolved revealed reveals said seems should showed
    shows slept smoked smokes spread started stated states stopped suggested
    suggests takes tolerated tolerates took tried underwent used uses walks was went
    were will worsened would
    """.split()
)
# What a line states of its patient, if it begins so.
_BEGINNINGS = frozenset(
    """
    ambulates able afebrile allergic alert asymptomatic awake continues died drinks
    eats exercises failed feels fell former had has is lives lost married needs quit
    remains reports retired sleeps smokes stable takes tolerates unable uses walks
    wears works
    """.split()
)
# Participles with which notes say what was done with the following: "Medications
# prescribed".
_DOCUMENTED = frozenset(
    """
    completed discussed given listed needed noted obtained ordered performed planned
    prescribed provided recommended related requested reviewed scheduled taken used
    """.split()
)
# Results, if a line ends in one.
_RESULTS = frozenset(
    """
    abnormal absent broken clear confirmed daily detected died failed failing fell
    improved negative normal nightly persists positive present quit reactive
    resolved smoked stable started stopped swollen tender uncontrolled unremarkable
    weekly worse worsened
    """.split()
)
_SUBJECTS = frozenset("he i it she there they we you".split())
# After a participle: "Started on insulin", and not "Advanced directives".
_AFTER_PARTICIPLE = frozenset(
    {"against", "at", "by", "for", "from", "home", "in", "off", "on", "out", "to"}
)
_MEASURED = re.compile(
    r"\d+\.\d+|\d{2,3}/[3-9]\d\b"
    r"|\d\s*(?:%|mg|mcg|g|kg|ml|l|mm|cm|mmhg|bpm|units?|°)(?!\w)"
    r"|\b(?:since|for) (?:\d+|a|one|two|three|four|five|six|several|many)\b",
    re.IGNORECASE,
)


def states_something(line: str) -> bool:
    """Return whether a short line with a colon at its end, or in bold, states something.

    >>> states_something("No skull fracture:"), states_something("Blood pressure:")
    (True, False)
    """
    words = [word.casefold() for word in _WORD.findall(line)]
    if len(words) < 2 or _introduces(words):
        return False
    first = words[0]
    second = words[1]
    last = words[-1]
    return (
        first in _DENIALS | _BEGINNINGS
        or not _VERBS.isdisjoint(words[1:-1])
        or last in _RESULTS
        or _is_participle(last)
        or (_is_participle(first) and second in _AFTER_PARTICIPLE)
        or (len(words) > 2 and first in _SUBJECTS)
        or (len(words) > 3 and words[:2] == ["the", "patient"])
        or bool(_MEASURED.search(line))
    )


def _introduces(words: list[str]) -> bool:
    """Return whether something must follow these words of a line."""
    return (
        words[0] in _ASKING
        or words[-1] in _OPEN
        # "The fever resolved" is whole; "his labs showed" is not.
        or words[-1] in _VERBS - _RESULTS
        or not _ANNOUNCING.isdisjoint(words)
    )


def _is_participle(word: str) -> bool:
    return word.endswith("ed") and len(word) > 4 and word not in _DOCUMENTED

"""Names of the same thing that are too few to be divided into halves.

Negations, sides, frequencies and verbs of reporting belong to both halves.
"""

from metassay.text.vocabulary.group import Sides, WrittenOnly, names

CLOSED_VERBS: list[Sides] = [
    names("endorse", WrittenOnly("report")),
]

CLOSED_WORDS: list[Sides] = [
    names("bilaterally", "on both sides"),
    names("annually", "once a year"),
    names("twice daily", "twice a day", "two times a day", short=["BID"]),
    names("three times daily", "three times a day", short=["TID"]),
    names("four times daily", "four times a day", short=["QID"]),
    names("every other day", short=["QOD"]),
    names("does not have", "doesn't have"),
    names("did not", "didn't"),
    names("cannot", "can't"),
    names("is not", "isn't"),
    names("was not", "wasn't"),
    names("will not", "won't"),
    names("has not", "hasn't"),
    names("per day", WrittenOnly("a day")),
    names("per week", WrittenOnly("a week")),
    names("once daily", "one time a day"),
    names("every night", "nightly"),
    names("each day", WrittenOnly("every day")),
]

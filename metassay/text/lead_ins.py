"""Tell a short line that introduces others ("Blood pressure:") from one that states something.

"No skull fracture:" states something, although it ends in a colon. A line states
something if it denies, has a verb with words around it, begins with a pronoun or as
notes speak of a patient ("Allergic to penicillin:"), ends in a result ("Troponin
negative:"), or has a measured value or a duration. It introduces others if it breaks
off ("Patient denies:"), asks, or announces ("He was given the following:"). What only
names something ("Left hip fracture:") is taken for a heading.
"""

import re

from metassay.text.patterns import read_words

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_ASKING = frozenset(read_words(__file__, "asking"))
_ANNOUNCING = frozenset(read_words(__file__, "announcing"))
_OPEN = frozenset(read_words(__file__, "open"))
_DENIALS = frozenset(read_words(__file__, "denials"))
_VERBS = frozenset(read_words(__file__, "verbs"))
_BEGINNINGS = frozenset(read_words(__file__, "beginnings"))
_DOCUMENTED = frozenset(read_words(__file__, "documented"))
_RESULTS = frozenset(read_words(__file__, "results"))
_SUBJECTS = frozenset(read_words(__file__, "subjects"))
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
    first, second, last = words[0], words[1], words[-1]
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

"""Tell a short line that introduces others ("Blood pressure:") from one that states something.

"No skull fracture:" states something, although it ends in a colon. A line states
something if it denies, has a verb with words around it, begins with a pronoun, ends in
a result ("Troponin negative:") or has a measured value. It introduces others if it
breaks off ("Patient denies:"), asks, or announces ("He was given the following:").
"""

import re

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_DENIALS = frozenset({"no", "not", "without", "never", "denies", "denied", "absent"})
_QUESTIONS = frozenset(
    {"what", "how", "why", "when", "where", "who", "which", "reason", "reasons"}
)
# Words after which something must follow.
_OPEN = frozenset(
    {
        *("a", "an", "and", "any", "as", "at", "by", "for", "from", "her", "his", "in"),
        *("of", "on", "or", "than", "that", "the", "their", "to", "with"),
        *("includes", "include", "included", "including", "regarding", "about"),
    }
)
_ANNOUNCED = frozenset({"following", "follows", "below", "things"})
_CONDITIONS = frozenset({"if", "when", "unless", "until", "whether"})
_VERBS = frozenset(
    {
        *("is", "are", "was", "were", "has", "have", "had", "does", "did", "do"),
        *("appears", "appeared", "confirms", "confirmed", "demonstrates", "continues"),
        *(
            "denies",
            "denied",
            "develops",
            "developed",
            "needs",
            "presents",
            "presented",
        ),
        *("received", "receives", "remains", "remained", "reports", "reported"),
        *("requires", "required", "reveals", "revealed", "seems", "showed", "shows"),
        *("suggests", "suggested", "takes", "took", "tolerates", "tolerated"),
        *("underwent", "uses", "used", "will", "would", "should", "can", "cannot"),
    }
)
_SUBJECTS = frozenset({"he", "she", "they", "there"})
_RESULTS = frozenset(
    {
        *("abnormal", "absent", "broken", "clear", "confirmed", "controlled"),
        *("decreased", "detected", "dislocated", "elevated", "enlarged", "excluded"),
        *("fractured", "improved", "increased", "intact", "negative", "normal"),
        *("positive", "present", "reduced", "resolved", "stable", "swollen", "tender"),
        *("unchanged", "uncontrolled", "unremarkable", "worse", "worsened"),
    }
)
_MEASURED = re.compile(
    r"\d+\.\d+|\d{2,3}/[3-9]\d\b|\d\s*(?:%|mg|mcg|g|kg|ml|l|mm|cm|mmhg|bpm|units?|°)(?!\w)",
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
    return (
        words[0] in _DENIALS
        or not _VERBS.isdisjoint(words[1:-1])
        or words[-1] in _RESULTS
        or (len(words) > 2 and words[0] in _SUBJECTS)
        or (len(words) > 3 and words[:2] == ["the", "patient"])
        or bool(_MEASURED.search(line))
    )


def _introduces(words: list[str]) -> bool:
    return (
        words[0] in _QUESTIONS
        or words[-1] in _OPEN | _VERBS
        or not _ANNOUNCED.isdisjoint(words)
        or not _CONDITIONS.isdisjoint(words)
    )

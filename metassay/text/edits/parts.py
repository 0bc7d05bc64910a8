"""Paraphrases with a part left out.

A sentence entails what remains when a part is left out. Nothing is left out under a
negation or a condition, where less can mean more.
"""

import re
from collections.abc import Iterator

from metassay.text.edits.exchange import find
from metassay.text.edits.negations import CUE
from metassay.text.edits.orders import OWING, SHARED, find_lists, find_two_clauses
from metassay.text.edits.wording import (
    Match,
    capitalize,
    remove_match,
    replace_each,
    tidy,
)
from metassay.text.patterns import any_of

_CONDITION = re.compile(r"\b(?:if|unless|whether|should you|until)\b", re.IGNORECASE)

# ---- details

_LATER = re.compile(r"\b(?:hold|defer|delay|wait|postpone)\w*\b", re.IGNORECASE)
_LAST_CLAUSE = re.compile(
    any_of(
        r", (?:which|although)\b(?=[^,]+\Z)",
        r", (?:but|so)\b",
        r", and (?=(?:he|she|I|we|they|the patient)\b)",
        "[,;] however,?",
        ";",
    )
    + r" [^;:]+?(?=\.?\Z)"
)
_WHEN = re.compile(r"\b(?:when|while|whenever)\b", re.IGNORECASE)
_ADVERBIAL = re.compile(
    r"(?<!\bover)(?<!\bto)(?<!\bor)(?<!\bthan),? "
    + any_of(
        "today",
        "in the (?:clinic|office)(?: today)?",
        "at this time|recently|lately",
        r"for (?:the (?:past|last) )?(?:several|many|\d+|[a-z]+) (?:day|week|month|year)s",
        r"(?:(?:approximately|about|around|almost) )?(?:several|many|\d+|two|three|four|five|six)"
        " (?:day|week|month|year)s ago",
        r"since (?:yesterday|last \w+|[A-Z][a-z]+|\d{4})",
        "(?:because|secondary to|due to) [^;:]+?",
    )
    + r"(?=\.?\Z)"
)
_DEGREE = re.compile(r"\b(?:really|very|pleasant|extremely) (?P<next>[\w-]+)")
_LEAD = re.compile(
    r"\A"
    + any_of(
        "Today|Yesterday|Currently|Recently",
        "On (?:physical )?exam(?:ination)?(?: today)?",
        "At (?:this|today's) visit",
        r"Last (?:week|month|year)|In \d{4}",
    )
    + r", (?=\w)"
)
_BRACKETS = re.compile(r"[ ]\([^()]+\)")
_APPOSITION = re.compile(
    r"(?<=\w), (?:an? [\w-]+(?: [\w-]+){1,6}|(?:who|which) [^,;:]+),(?= [a-z])"
)
_SEVERITY = re.compile(
    r"(?<!\bonly )(?<!\bto )(?<!\bor )(?<!\band )(?<!-)\b(?P<both>"
    + any_of(
        "mild|moderate|severe|slight|significant|intermittent|occasional|scattered|small|large",
        "persistent|mildly|slightly|moderately|severely",
    )
    + r" (?P<next>[a-z]{3,}))\b(?! (?:to|or)\b)"
)
# Words after which "small" or "severe" may be needed: "small bowel", "severe and".
_NO_NOUN = frozenset(
    "and but for the with who that cell intestine bowel distress amount amounts".split()
)
# The dose of a drug, to its end.
_DOSED = re.compile(
    r"[ ]\d[\d.,]* ?(?:mg|mcg|units?|milligrams?|micrograms?|grams?|g|ml|puffs?)"
    r"(?: "
    + any_of(
        "once daily|twice daily|daily|nightly|weekly|once a day|twice a day|every day|at bedtime",
        r"three times a day|every \w+ hours|as needed|BID|TID|PRN",
    )
    + r")?(?=[.,;]|\Z| and\b| for\b)"
)
_TAKES = re.compile(
    r"\b(?:takes|taking|took|receives|received|on|uses|using|prescribed)\b"
)


def dropped_detail(sentence: str) -> Iterator[str]:
    """Leave out a clause, a listed item or a detail."""
    if _CONDITION.search(sentence):
        return
    clause = _LAST_CLAUSE.search(sentence)
    if clause:
        before = sentence[: clause.start()]
        if len(before.split()) > 2 and not _WHEN.search(before):
            yield remove_match(sentence, clause)
    for match in find_lists(sentence):
        rest = re.sub(r"\A,(?= (?:and|or) )", "", match["rest"])
        yield sentence[: match.end("one")] + rest
    if CUE.search(sentence) or _LATER.search(sentence):
        return
    for pattern in (_ADVERBIAL, _LEAD, _BRACKETS, _APPOSITION):
        for match in pattern.finditer(sentence):
            yield tidy(remove_match(sentence, match), like=sentence)
    yield from replace_each(sentence, _DEGREE, lambda match: match["next"])
    yield from replace_each(sentence, _SEVERITY, _drop_severity, "both")
    yield from _drop_doses(sentence)


def _drop_severity(match: Match) -> str | None:
    return None if match["next"] in _NO_NOUN else match["next"]


def _drop_doses(sentence: str) -> Iterator[str]:
    for drug in find("drug", sentence):
        dose = _DOSED.match(sentence, drug.end)
        if dose and _TAKES.search(sentence[: drug.start]):
            yield remove_match(sentence, dose)


# ---- items of lists, and of pairs

_OPEN = (
    r"\b(?P<open>"
    + any_of(
        "takes|taking|has|had|reports|reported|endorses|denies|denied|shows|showed|reveals|revealed",
        "demonstrated|demonstrates|prescribed|ordered|started|received|underwent|notes|noted",
        "describes|discussed",
    )
    + "(?P<also> also| any| some)?"
    + "|(?P<half>with|for|history of|symptoms of|is|was|are|were|on|in|include|includes|including))"
)
_ITEM = r"(?:an? |the |his |her )?[\w%/'-]+(?: [\w%/'-]+|\.\d+){0,6}"
_PAIR = re.compile(
    rf"{_OPEN} (?P<one>{_ITEM}?) (?P<and>and|or) (?P<two>{_ITEM}?)(?P<stop>\.?)\Z",
    re.IGNORECASE,
)
# What may belong to both items, or to more than an item.
_NO_ITEM = re.compile(
    r"\b"
    + any_of(
        "and|or|but|he|she|it|is|was|are|were|has|have|had|that|who|which|with|to|in|on|from|for|by",
        "at|of|due|not|no|be|been|being|both|between|either|neither|together|total|combination|mix",
        "respectively|each|other|than|then|will|would|can|could|after|before|if|when|because|about",
        "some|more|most|less|much|many|few|one|two",
        r"left|right|upper|lower|\w+ing",
    )
    + r"\b|\d",
    re.IGNORECASE,
)
_TOGETHER = re.compile(
    r"\b"
    + any_of(
        r"both|between|either|neither|together|total|combination|combined|mix\w*|respectively|each",
        r"consists?|composed|compared|range|same|risks?|if|whether|unless|differ\w*|alternat\w+",
    )
    + r"\b",
    re.IGNORECASE,
)
# Endings of words that cannot be an adjective of a later noun.
_NOUN = re.compile(
    any_of(
        "(?<!ou)s|ness|ia|itis|[ts]ion|ment|nea|ema|ache",
        "fever|cough|pain|rash|warmth|depression|redness|loss|use|[A-Z]{2,}|asthma|gout|stroke",
        "dysuria|pus|ing",
    )
    + r"\Z"
)
_DOING = re.compile(r"\w+ing \w")
_ELLIPSIS = re.compile(r"\b(?:is|are|was|were|has|had|not|n't|too|either)\Z")


def list_part(sentence: str) -> Iterator[str]:
    """Keep only one item of a list."""
    for match in find_lists(sentence):
        stop = "." if sentence.endswith(".") else ""
        if _is_noun(match["one"]) and _is_noun(match["two"]):
            yield sentence[: match.end("one")] + stop
            yield sentence[: match.start("one")] + match["two"] + stop
    yield from _keep_clause(sentence)
    yield from _keep_item(sentence)


def _keep_clause(sentence: str) -> Iterator[str]:
    """Yield each of two clauses alone, if it does not depend on the other."""
    clauses = find_two_clauses(sentence)
    if clauses is None:
        return
    first = clauses["one"]
    second = clauses["two"]
    yield first + clauses["stop"]
    if not (_ELLIPSIS.search(second) or OWING.search(second)):
        yield capitalize(second) + clauses["stop"]


def _keep_item(sentence: str) -> Iterator[str]:
    """Yield the sentence with each of two items alone, if it can stand alone."""
    pair = _PAIR.search(sentence)
    if pair is None or _TOGETHER.search(sentence) or _CONDITION.search(sentence):
        return
    are_drugs = _begins_with_drug(pair["one"]) and _begins_with_drug(pair["two"])
    if not are_drugs and not _are_items(sentence, pair):
        return
    if are_drugs or len(pair["two"].split()) == 1:
        yield sentence[: pair.end("one")] + pair["stop"]
    if are_drugs or not pair["half"]:
        yield sentence[: pair.start("one")] + pair["two"] + pair["stop"]


def _begins_with_drug(item: str) -> bool:
    """Return whether an item is a single drug, with or without its dose."""
    return [drug.start for drug in find("drug", item)] == [0]


def _is_noun(item: str) -> bool:
    """Return whether, by its ending, an item cannot be an adjective of a later noun."""
    return bool(_NOUN.search(item)) and not _DOING.match(item)


def _are_items(sentence: str, pair: Match) -> bool:
    """Return whether both items are short and independent of each other.

    Under a negation an adjective of the first can belong to both, and "and" has another
    meaning.
    """
    for item in (pair["one"], pair["two"]):
        if _NO_ITEM.search(item) or len(item.split()) > 3:
            return False
    negated = bool(CUE.search(sentence))
    if negated and (SHARED.search(pair["one"]) or pair["half"]):
        return False
    return negated == (pair["and"].lower() == "or")

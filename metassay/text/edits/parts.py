"""The same with a part left out: what remains still follows.

Parts are not left out under a negation or a condition, where less may say more.
"""

import re
from collections.abc import Iterator

from metassay.text.edits.exchange import find
from metassay.text.edits.negations import CUE
from metassay.text.edits.orders import OWING, REPORTED, SHARED, STATES, TWO_CLAUSES, first, lists
from metassay.text.edits.wording import each, listed, phrase, tidy, without

_IF = re.compile(r"\b(?:if|unless|whether|should you|until)\b", re.IGNORECASE)
_LATER = re.compile(r"\b(?:hold|defer|delay|wait|postpone)\w*\b", re.IGNORECASE)
_LAST_CLAUSE = re.compile(
    r"(?:, (?:which|although)\b(?=[^,]+\Z)|, (?:but|so)\b"
    r"|, and (?=(?:he|she|I|we|they|the patient)\b)"
    r"|[,;] however,?|;) [^;:]+?(?=\.?\Z)"
)
_ADVERBIAL = re.compile(
    r"(?<!\bover)(?<!\bto)(?<!\bor)(?<!\bthan)"
    r",? (?:today|in the (?:clinic|office)(?: today)?|at this time|recently|lately"
    r"|for (?:the (?:past|last) )?(?:several|many|\d+|[a-z]+) (?:day|week|month|year)s"
    r"|(?:(?:approximately|about|around|almost) )?"
    r"(?:several|many|\d+|two|three|four|five|six) (?:day|week|month|year)s ago"
    r"|since (?:yesterday|last \w+|[A-Z][a-z]+|\d{4})"
    r"|(?:because|secondary to|due to) [^;:]+?)(?=\.?\Z)"
)
_WHEN = re.compile(r"\b(?:when|while|whenever)\b", re.IGNORECASE)
_DEGREE = re.compile(r"\b(?:really|very|pleasant|extremely) (?P<next>[\w-]+)")
_LEAD = re.compile(
    r"\A(?:Today|Yesterday|Currently|Recently|On (?:physical )?exam(?:ination)?(?: today)?"
    r"|At (?:this|today's) visit|Last (?:week|month|year)|In \d{4}), (?=\w)"
)
_BRACKETS = re.compile(r" \([^()]+\)")
_APPOSITION = re.compile(
    r"(?<=\w), (?:an? [\w-]+(?: [\w-]+){1,6}|(?:who|which) [^,;:]+),(?= [a-z])"
)
_SEVERITY = re.compile(
    r"(?<!\bonly )(?<!\bto )(?<!\bor )(?<!\band )(?<!-)\b(?P<both>(?:mild|moderate|severe|slight"
    r"|significant|intermittent|occasional|scattered|small|large|persistent|mildly|slightly"
    r"|moderately|severely) (?P<next>[a-z]{3,}))\b"
    r"(?! (?:to|or)\b)"
)
_NO_NOUN = listed("and but for the with who that cell intestine bowel distress amount amounts")
_DOSED = re.compile(
    r" \d[\d.,]* ?(?:mg|mcg|units?|milligrams?|micrograms?|grams?|g|ml|puffs?)"
    r"(?: (?:once daily|twice daily|daily|nightly|weekly|once a day|twice a day|every day"
    r"|at bedtime|three times a day|every \w+ hours|as needed|BID|TID|PRN))?"
    r"(?=[.,;]|\Z| and\b| for\b)"
)
_TAKES = re.compile(r"\b(?:takes|taking|took|receives|received|on|uses|using|prescribed)\b")
_OPEN = (
    r"\b(?P<open>(?:takes|taking|has|had|reports|reported|endorses|denies|denied|shows|showed"
    r"|reveals|revealed|demonstrated|demonstrates|prescribed|ordered|started|received|underwent"
    r"|notes|noted|describes|discussed)(?P<also> also| any| some)?"
    r"|(?P<half>with|for|history of|symptoms of|is|was|are|were|on|in|include|includes|including))"
)
_ITEM = r"(?:an? |the |his |her )?[\w%/'-]+(?: [\w%/'-]+|\.\d+){0,6}"
_TWO = re.compile(
    rf"{_OPEN} (?P<one>{_ITEM}?) (?P<and>and|or) (?P<two>{_ITEM}?)(?P<stop>\.?)\Z", re.IGNORECASE
)
_NO_ITEM = phrase(  # what may belong to both, or to more than an item
    r"""
    and or but he she it is was are were has have had that who which with to in on from for by
    at of due not no be been being both between either neither together total combination mix
    respectively each other than then will would can could after before if when because about
    some more most less much many few one two left right upper lower \w+ing
    """,
    r"|\d",
)
_NOUN = re.compile(
    r"(?:(?<!ou)s|ness|ia|itis|[ts]ion|ment|nea|ema|ache|fever|cough|pain|rash|warmth|depression"
    r"|redness|loss|use|[A-Z]{2,}|asthma|gout|stroke|dysuria|pus|ing)\Z"
)
_ELLIPSIS = re.compile(r"\b(?:is|are|was|were|has|had|not|n't|too|either)\Z")
_DOING = re.compile(r"\w+ing \w")
_TOGETHER = phrase(r"""
    both between either neither together total combination combined mix\w* respectively each
    consists? composed compared range same risks? if whether unless differ\w* alternat\w+
""")


def dropped_detail(sentence: str) -> Iterator[str]:
    """The sentence without a part that it also says: a clause, a listed item, a detail."""
    if _IF.search(sentence):
        return
    clause = _LAST_CLAUSE.search(sentence)
    before = sentence[: clause.start()] if clause else ""
    if clause and not _WHEN.search(before) and len(before.split()) > 2:
        yield without(sentence, clause)
    for match in lists(sentence):
        rest = re.sub(r"\A,(?= (?:and|or) )", "", match["rest"])
        yield sentence[: match.end("one")] + rest
    if CUE.search(sentence) or _LATER.search(sentence):
        return
    for pattern in (_ADVERBIAL, _LEAD, _BRACKETS, _APPOSITION):
        for match in pattern.finditer(sentence):
            yield tidy(without(sentence, match), like=sentence)
    yield from each(sentence, _DEGREE, lambda match: match["next"])
    yield from _less_exact(sentence)


def _less_exact(sentence: str) -> Iterator[str]:
    """Without the severity of something, or the dose of a drug."""
    yield from each(
        sentence, _SEVERITY, lambda m: None if m["next"] in _NO_NOUN else m["next"], "both"
    )
    for drug in find("drug", sentence):
        dose = _DOSED.match(sentence, drug.end)
        if dose and _TAKES.search(sentence[: drug.start]):
            yield without(sentence, dose)


def list_part(sentence: str) -> Iterator[str]:
    """The sentence with one of the items that it lists, alone."""
    for match in lists(sentence):
        stop = "." if sentence.endswith(".") else ""
        if _is_noun(match["one"]) and _is_noun(match["two"]):
            yield sentence[: match.end("one")] + stop
            yield sentence[: match.start("one")] + match["two"] + stop
    yield from _clauses(sentence)
    pair = _TWO.search(sentence)
    if pair is None or _TOGETHER.search(sentence) or _IF.search(sentence):
        return
    one, two = pair["one"], pair["two"]
    drugs = all(_is_dose(item) for item in (one, two))
    if not drugs and not _are_items(sentence, pair):
        return
    if drugs or len(two.split()) == 1:
        yield sentence[: pair.end("one")] + pair["stop"]
    if drugs or not pair["half"]:
        yield sentence[: pair.start("one")] + two + pair["stop"]


def _clauses(sentence: str) -> Iterator[str]:
    """Each of two clauses alone, if it owes nothing to the other one."""
    both = TWO_CLAUSES.match(sentence)
    if both is None or REPORTED.search(sentence) or len(STATES.findall(sentence)) != 2:
        return
    yield both["one"] + both["stop"]
    if not (_ELLIPSIS.search(both["two"]) or OWING.search(both["two"])):
        yield first(both["two"]) + both["stop"]


def _is_noun(item: str) -> bool:
    """Whether an item can be no adjective of a noun that follows later: by its ending."""
    return bool(_NOUN.search(item)) and not _DOING.match(item)


def _is_dose(item: str) -> bool:
    """Whether an item is a drug, perhaps with its dose."""
    there = find("drug", item)
    return len(there) == 1 and there[0].start == 0


def _are_items(sentence: str, match: re.Match[str]) -> bool:
    """Whether both are few words that say something by themselves.

    Under a negation an adjective of the first may belong to both, and "and" says another thing.
    """
    one, two = match["one"], match["two"]
    if _NO_ITEM.search(one) or _NO_ITEM.search(two) or max(len(one.split()), len(two.split())) > 3:
        return False
    negated = bool(CUE.search(sentence))
    if negated and (SHARED.search(one) or match["half"]):
        return False
    return negated == (match["and"].lower() == "or")

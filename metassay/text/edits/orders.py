"""The same said in another order or voice, with or without its subject."""

import re
from collections.abc import Iterator

from metassay.text.edits.negations import CUE
from metassay.text.edits.wording import any_of, each, in_case_of, listed, phrase, without
from metassay.text.vocabulary.inflection import PARTICIPLE, verb_forms

_LIST = re.compile(  # of three items or more, behind a word that opens a list
    r"(?:\b(?:(?:denies|denied|deny|denying) (?:any )?|reports |endorses |including |for |without "
    r"|history of |symptoms of )|(?:\A|(?<=: ))No )"
    r"(?P<one>[^,.;:]+), (?P<two>[^,.;:]+)(?P<rest>(?:, [^,.;:]+)*,? (?:and|or) [^,]+?)\Z"
)
_OPENS_SHARED = any_of("""
    an? the his her acute significant known recent bilateral severe mild moderate other new
    associated obvious further any some left right upper lower chronic additional prior previous
    abnormal normal increased decreased visual specific well palpable occasional worsening
    slight focal benign open closed changes? loss sense more history
""")
_NO_ITEM = any_of("""
    and or but he she is was are were has have that who which with to in on from for by at due
    not no
""")
# These may belong to the whole list, or are no part of an item.
SHARED = re.compile(rf"\A(?:{_OPENS_SHARED})\b|\b(?:{_NO_ITEM})\b", re.IGNORECASE)
_LONGEST_ITEM = 3  # words

_NOTED = r"(?:denies|reports|endorses)(?! (?:that|he|she|to)\b)"
_SUBJECT = re.compile(rf"(?:\A|(?<=: ))(?:[Tt]he patient|Patient|He|She) (?P<verb>{_NOTED})(?= \w)")
_NO_SUBJECT = re.compile(
    rf"(?:\A|(?<=: ))(?P<verb>{_NOTED.capitalize()}|Denies|Reports|Endorses)(?= \w)"
)
_PATIENT = re.compile(
    r"(?:\A|(?<=: ))Patient(?= (?:has|had|is|was|will|denies|reports|states|notes|endorses)\b)"
)
_THE_PATIENT = re.compile(r"(?:\A|(?<=: ))The patient(?= \w)")

_PASSIVES = {
    base: verb_forms(base)[PARTICIPLE]
    for base in listed("""
        order obtain prescribe schedule repeat recommend refill continue increase decrease perform
        initiate check
    """)
}
_ACTIVE = re.compile(
    r"(?:\A|(?<=: ))(?:I|We)"
    rf"(?:(?: will|['\u2019]ll)(?: also)? (?P<will>{'|'.join(_PASSIVES)})"
    rf"|(?: have| also)? (?P<did>{'|'.join(_PASSIVES.values())})) "
    r"(?P<what>(?P<one>an? )?(?:the |his |her )?(?!(?:to|these|this|those|it|that)\b)"
    r"(?:[\w-]+ ){0,4}?[\w-]+)"
    r"(?P<rest>(?: (?:to|for|today|in|at|with)\b(?!.* and )[^,;:]*)?\.?)\Z"
)


_NOUN = (
    r"(?:(?:[Tt]he|[Hh]is|[Hh]er|[Tt]here|[Aa]n?|[Bb]lood pressure|[Pp]ulse)\b"
    r"[^,;:]*?)"
)
_STATE = r"(?:is|are|was|were|has|have|had|takes|shows|showed|reveals|revealed)"
# What holds of both clauses, or makes one depend on the other; what one may owe to the one before.
REPORTED = phrase("""
    that which who whom whether if when while because since before after until unless though
    although reports? reported states? stated notes says said denies denied believes thinks
    feels felt told explained hopes? between either neither each
""")
OWING = phrase("it they them then so therefore also this these those both other another")
STATES = re.compile(rf"\b{_STATE}\b")
TWO_CLAUSES = re.compile(
    rf"\A(?P<one>{_NOUN} {_STATE} [^,;:]+?),? (?:and|but)"
    rf" (?P<two>{_NOUN} {_STATE} [^,;:]+?)(?P<stop>\.?)\Z"
)
_LEAD = re.compile(
    r"\A(?P<lead>(?:On|Upon|During|In|At|After|Since|For|Over) [^,;:]{3,40}), (?P<main>[^,;:]+?)"
    r"(?P<stop>\.?)\Z"
)
_LEAD_CLAUSE = re.compile(
    r"\A(?P<lead>(?:When|Although|Because|While|After|Before|Since|Though) [^,;:]+),"
    r" (?P<main>[^,;:]+?)(?P<stop>\.?)\Z"
)
_LAST_CLAUSE = re.compile(
    r"\A(?P<main>[^,;:]+?),? (?P<lead>(?:because|although|though) [^,;:]+?)(?P<stop>\.?)\Z"
)
_TWO_PARTS = re.compile(r"\b(?:and|or|but|that|which|who|because|if|when|where)\b", re.IGNORECASE)
_THIS = re.compile(r"(?:this|it|these|those|that)\b", re.IGNORECASE)
_NAME = re.compile(r"(?:I\b|[A-Z]+\b|[A-Z][a-z]+ [A-Z]|(?:Mr|Ms|Mrs|Dr)\b)")
_FINITE = re.compile(
    r"\b(?:is|are|was|were|has|have|had|will|can|could|would|should|did|does|do|\w{3,}ed|\w{3,}s"
    r"|felt|took|went|began|fell|saw)\b"
)


def clause_order(sentence: str) -> Iterator[str]:
    """The sentence with two clauses, or an adverbial and its clause, in the other order."""
    two = TWO_CLAUSES.match(sentence)
    free = not (REPORTED.search(sentence) or OWING.search(sentence) or " but " in sentence)
    if two and free and len(STATES.findall(sentence)) == 2:
        yield f"{first(two['two'])} and {_later(two['one'])}{two['stop']}"
    for pattern in (_LEAD, _LEAD_CLAUSE):
        match = pattern.match(sentence)
        if match and _alone(match["main"]) and not CUE.search(sentence):
            yield f"{first(match['main'])} {_later(match['lead'])}{match['stop']}"
    last = _LAST_CLAUSE.match(sentence)
    if last and _alone(last["main"]) and not (CUE.search(sentence) or " and " in last["lead"]):
        yield f"{first(last['lead'])}, {_later(last['main'])}{last['stop']}"


def _alone(main: str) -> bool:
    """Whether it is one clause, so that what follows it can only belong to it."""
    return bool(_FINITE.search(main)) and not _TWO_PARTS.search(main) and not _THIS.match(main)


def first(clause: str) -> str:
    """A clause with a capital."""
    return clause[0].upper() + clause[1:]


def _later(clause: str) -> str:
    return clause if _NAME.match(clause) else clause[0].lower() + clause[1:]


def list_order(sentence: str) -> Iterator[str]:
    """The sentence with the first two items of a list of three or more in the other order."""
    for match in lists(sentence):
        swapped = f"{match['two']}, {match['one']}"
        yield sentence[: match.start("one")] + swapped + sentence[match.start("rest") :]


def lists(sentence: str) -> Iterator[re.Match[str]]:
    """The list of three items or more that a sentence ends in, if its first two stand alone."""
    match = _LIST.search(sentence)
    if match is None:
        return
    items = (match["one"], match["two"])
    if not any(SHARED.search(item) or len(item.split()) > _LONGEST_ITEM for item in items):
        yield match


def subject(sentence: str) -> Iterator[str]:
    """The sentence with "the patient" (he, she) left out before a finding, or put there."""
    for match in _SUBJECT.finditer(sentence):
        verb = match["verb"]
        yield without(sentence, match, first(verb))
    for match in _NO_SUBJECT.finditer(sentence):
        yield without(sentence, match, f"The patient {match['verb'].lower()}")
    yield from each(sentence, _PATIENT, "The patient")
    yield from each(sentence, _THE_PATIENT, "Patient")


def voice(sentence: str) -> Iterator[str]:
    """The sentence "We will order a scan." as "A scan will be ordered."; and in the past."""
    match = _ACTIVE.search(sentence)
    if match is None or not (match["will"] or match["one"]):
        return
    done = f"will be {_PASSIVES[match['will']]}" if match["will"] else f"was {match['did']}"
    what = in_case_of("A", match["what"])
    yield f"{sentence[: match.start()]}{what} {done}{match['rest']}"

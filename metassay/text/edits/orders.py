"""Paraphrases in another order or voice, and with another subject."""

import re
from collections.abc import Iterator

from metassay.text.edits.negations import CUE
from metassay.text.edits.wording import (
    capitalize,
    copy_case,
    replace_each,
    substitute,
    uncapitalize,
)
from metassay.text.patterns import any_of
from metassay.text.vocabulary.inflection import PARTICIPLE, verb_forms

# ---- clauses

_NOUN = (
    r"(?:(?:[Tt]he|[Hh]is|[Hh]er|[Tt]here|[Aa]n?|[Bb]lood pressure|[Pp]ulse)\b[^,;:]*?)"
)
_STATE = "(?:is|are|was|were|has|have|had|takes|shows|showed|reveals|revealed)"
_STATES = re.compile(rf"\b{_STATE}\b")
TWO_CLAUSES = re.compile(
    rf"\A(?P<one>{_NOUN} {_STATE} [^,;:]+?),? (?:and|but) "
    rf"(?P<two>{_NOUN} {_STATE} [^,;:]+?)(?P<stop>\.?)\Z"
)
# Words that hold of both clauses, or make one depend on the other.
_REPORTED = re.compile(
    r"\b"
    + any_of(
        "that|which|who|whom|whether|if|when|while|because|since|before|after|until|unless",
        "though|although",
        "reports?|reported|states?|stated|notes|says|said|denies|denied|believes|thinks|feels|felt",
        "told|explained|hopes?",
        "between|either|neither|each",
    )
    + r"\b",
    re.IGNORECASE,
)
# Words that one clause may owe to the one before.
OWING = re.compile(
    r"\b(?:it|they|them|then|so|therefore|also|this|these|those|both|other|another)\b",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"\A(?P<lead>(?:On|Upon|During|In|At|After|Since|For|Over) [^,;:]{3,40}), "
    r"(?P<main>[^,;:]+?)(?P<stop>\.?)\Z"
)
_LEAD_CLAUSE = re.compile(
    r"\A(?P<lead>(?:When|Although|Because|While|After|Before|Since|Though) [^,;:]+), "
    r"(?P<main>[^,;:]+?)(?P<stop>\.?)\Z"
)
_LAST_CLAUSE = re.compile(
    r"\A(?P<main>[^,;:]+?),? (?P<lead>(?:because|although|though) [^,;:]+?)(?P<stop>\.?)\Z"
)
_TWO_PARTS = re.compile(
    r"\b(?:and|or|but|that|which|who|because|if|when|where)\b", re.IGNORECASE
)
_THIS = re.compile(r"(?:this|it|these|those|that)\b", re.IGNORECASE)
_FINITE = re.compile(
    r"\b"
    + any_of(
        "is|are|was|were|has|have|had|will|can|could|would|should|did|does|do",
        r"\w{3,}ed|\w{3,}s",
        "felt|took|went|began|fell|saw",
    )
    + r"\b"
)
_NAME = re.compile(r"(?:I\b|[A-Z]+\b|[A-Z][a-z]+ [A-Z]|(?:Mr|Ms|Mrs|Dr)\b)")


def clause_order(sentence: str) -> Iterator[str]:
    """Swap two clauses, or an adverbial and its clause."""
    clauses = find_two_clauses(sentence)
    if clauses and not OWING.search(sentence) and " but " not in sentence:
        first = clauses["one"]
        second = clauses["two"]
        yield f"{capitalize(second)} and {_lower_first(first)}{clauses['stop']}"
    for pattern in (_LEAD, _LEAD_CLAUSE):
        match = pattern.match(sentence)
        if match and _is_single_clause(match["main"]) and not CUE.search(sentence):
            lead = _lower_first(match["lead"])
            yield f"{capitalize(match['main'])} {lead}{match['stop']}"
    last = _LAST_CLAUSE.match(sentence)
    if last and _is_single_clause(last["main"]):
        if CUE.search(sentence) or " and " in last["lead"]:
            return
        main = _lower_first(last["main"])
        yield f"{capitalize(last['lead'])}, {main}{last['stop']}"


def find_two_clauses(sentence: str) -> re.Match[str] | None:
    """Find two clauses with a verb each, of which none reports the other or its condition."""
    clauses = TWO_CLAUSES.match(sentence)
    if clauses is None or _REPORTED.search(sentence):
        return None
    return clauses if len(_STATES.findall(sentence)) == 2 else None


def _is_single_clause(main: str) -> bool:
    """Return whether what follows the clause can only belong to it."""
    if _TWO_PARTS.search(main) or _THIS.match(main):
        return False
    return bool(_FINITE.search(main))


def _lower_first(clause: str) -> str:
    return clause if _NAME.match(clause) else uncapitalize(clause)


# ---- lists

_LIST_OPENING = any_of(
    r"\b"
    + any_of(
        "(?:denies|denied|deny|denying) (?:any )?",
        "reports |endorses |including |for |without |history of |symptoms of ",
    ),
    r"(?:\A|(?<=: ))No ",
)
_LIST = re.compile(
    rf"{_LIST_OPENING}(?P<one>[^,.;:]+), (?P<two>[^,.;:]+)"
    r"(?P<rest>(?:, [^,.;:]+)*,? (?:and|or) [^,]+?)\Z"
)
# An item that begins so may share the word with the whole list; one that contains the
# others is more than an item.
_OPENS_SHARED = any_of(
    "an?|the|his|her|acute|significant|known|recent|bilateral|severe|mild|moderate|other|new",
    "associated|obvious|further|any|some|left|right|upper|lower|chronic|additional|prior|previous",
    "abnormal|normal|increased|decreased|visual|specific|well|palpable|occasional|worsening|slight",
    "focal|benign|open|closed|changes?|loss|sense|more|history",
)
_NO_ITEM = any_of(
    "and|or|but|he|she|is|was|are|were|has|have|that|who|which|with|to|in|on|from|for|by|at|due|not",
    "no",
)
SHARED = re.compile(rf"\A{_OPENS_SHARED}\b|\b{_NO_ITEM}\b", re.IGNORECASE)
_LONGEST_ITEM = 3  # words


def list_order(sentence: str) -> Iterator[str]:
    """Swap the first two items of a list of three or more."""
    for match in find_lists(sentence):
        swapped = f"{match['two']}, {match['one']}"
        yield sentence[: match.start("one")] + swapped + sentence[match.start("rest") :]


def find_lists(sentence: str) -> Iterator[re.Match[str]]:
    """Find a list of three items or more at the end, if its first two are independent."""
    match = _LIST.search(sentence)
    if match and _is_independent(match["one"]) and _is_independent(match["two"]):
        yield match


def _is_independent(item: str) -> bool:
    return not SHARED.search(item) and len(item.split()) <= _LONGEST_ITEM


# ---- subjects

_REPORTS = r"(?:denies|reports|endorses)(?! (?:that|he|she|to)\b)"
_SUBJECT = re.compile(
    rf"(?:\A|(?<=: ))(?:[Tt]he patient|Patient|He|She) (?P<verb>{_REPORTS})(?= \w)"
)
_NO_SUBJECT = re.compile(
    rf"(?:\A|(?<=: ))(?P<verb>{_REPORTS}|Denies|Reports|Endorses)(?= \w)"
)
_PATIENT = re.compile(
    r"(?:\A|(?<=: ))Patient(?= (?:has|had|is|was|will|denies|reports|states|notes|endorses)\b)"
)
_THE_PATIENT = re.compile(r"(?:\A|(?<=: ))The patient(?= \w)")


def subject(sentence: str) -> Iterator[str]:
    """Remove "the patient" (he, she) before a finding, or add it."""
    for match in _SUBJECT.finditer(sentence):
        yield substitute(sentence, match, capitalize(match["verb"]))
    for match in _NO_SUBJECT.finditer(sentence):
        yield substitute(sentence, match, f"The patient {match['verb'].lower()}")
    yield from replace_each(sentence, _PATIENT, "The patient")
    yield from replace_each(sentence, _THE_PATIENT, "Patient")


# ---- voice

_ORDERS = """
    order obtain prescribe schedule repeat recommend refill continue increase decrease perform
    initiate check
""".split()
_PARTICIPLES = {base: verb_forms(base)[PARTICIPLE] for base in _ORDERS}
_ACTIVE = re.compile(
    r"(?:\A|(?<=: ))(?:I|We)"
    + any_of(
        rf"(?: will|['\u2019]ll)(?: also)? (?P<will>{'|'.join(_PARTICIPLES)})",
        rf"(?: have| also)? (?P<did>{'|'.join(_PARTICIPLES.values())})",
    )
    + r" (?P<what>(?P<one>an? )?(?:the |his |her )?(?!(?:to|these|this|those|it|that)\b)"
    r"(?:[\w-]+ ){0,4}?[\w-]+)"
    r"(?P<rest>(?: (?:to|for|today|in|at|with)\b(?!.* and )[^,;:]*)?\.?)\Z"
)


def voice(sentence: str) -> Iterator[str]:
    """Turn "We will order a scan." into "A scan will be ordered."; also in the past."""
    match = _ACTIVE.search(sentence)
    if match is None:
        return
    if match["will"]:
        predicate = f"will be {_PARTICIPLES[match['will']]}"
    elif match["one"]:
        predicate = f"was {match['did']}"
    else:
        return
    topic = copy_case("A", match["what"])
    yield f"{sentence[: match.start()]}{topic} {predicate}{match['rest']}"

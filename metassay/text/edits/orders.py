"""The same said in another order or voice, with or without its subject."""

import re
from collections.abc import Iterator

from metassay.text.edits.negations import CUE
from metassay.text.edits.wording import FILE, each, in_case_of, listed, without
from metassay.text.patterns import Patterns
from metassay.text.vocabulary.inflection import PARTICIPLE, verb_forms

_P = Patterns(FILE, "orders")

_LONGEST_ITEM = 3  # words


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


def clause_order(sentence: str) -> Iterator[str]:
    """The sentence with two clauses, or an adverbial and its clause, in the other order."""
    two = _P.two_clauses.match(sentence)
    free = not (_P.reported.search(sentence) or _P.owing.search(sentence) or " but " in sentence)
    if two and free and len(_P.states.findall(sentence)) == 2:
        yield f"{first(two['two'])} and {_later(two['one'])}{two['stop']}"
    for pattern in (_P.lead, _P.lead_clause):
        match = pattern.match(sentence)
        if match and _alone(match["main"]) and not CUE.search(sentence):
            yield f"{first(match['main'])} {_later(match['lead'])}{match['stop']}"
    last = _P.last_clause.match(sentence)
    if last and _alone(last["main"]) and not (CUE.search(sentence) or " and " in last["lead"]):
        yield f"{first(last['lead'])}, {_later(last['main'])}{last['stop']}"


def _alone(main: str) -> bool:
    """Whether it is one clause, so that what follows it can only belong to it."""
    return (
        bool(_P.finite.search(main)) and not _P.two_parts.search(main) and not _P.this.match(main)
    )


def first(clause: str) -> str:
    """A clause with a capital."""
    return clause[0].upper() + clause[1:]


def _later(clause: str) -> str:
    return clause if _P.name.match(clause) else clause[0].lower() + clause[1:]


def list_order(sentence: str) -> Iterator[str]:
    """The sentence with the first two items of a list of three or more in the other order."""
    for match in lists(sentence):
        swapped = f"{match['two']}, {match['one']}"
        yield sentence[: match.start("one")] + swapped + sentence[match.start("rest") :]


def lists(sentence: str) -> Iterator[re.Match[str]]:
    """The list of three items or more that a sentence ends in, if its first two stand alone."""
    match = _P.list.search(sentence)
    if match is None:
        return
    items = (match["one"], match["two"])
    if not any(_P.shared.search(item) or len(item.split()) > _LONGEST_ITEM for item in items):
        yield match


def subject(sentence: str) -> Iterator[str]:
    """The sentence with "the patient" (he, she) left out before a finding, or put there."""
    for match in _P.subject.finditer(sentence):
        verb = match["verb"]
        yield without(sentence, match, first(verb))
    for match in _P.no_subject.finditer(sentence):
        yield without(sentence, match, f"The patient {match['verb'].lower()}")
    yield from each(sentence, _P.patient, "The patient")
    yield from each(sentence, _P.the_patient, "Patient")


def voice(sentence: str) -> Iterator[str]:
    """The sentence "We will order a scan." as "A scan will be ordered."; and in the past."""
    match = _ACTIVE.search(sentence)
    if match is None or not (match["will"] or match["one"]):
        return
    done = f"will be {_PASSIVES[match['will']]}" if match["will"] else f"was {match['did']}"
    what = in_case_of("A", match["what"])
    yield f"{sentence[: match.start()]}{what} {done}{match['rest']}"

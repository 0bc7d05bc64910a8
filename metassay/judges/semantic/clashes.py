"""Clashes of a hypothesis with its closest sentence: values that exclude each other.

In a clash, the hypothesis has a value of a kind (left) that the sentence lacks, and the
sentence has another value of that kind (right) that the hypothesis lacks.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from itertools import chain
from typing import Any

from metassay.judges.reading import AXES, NEGATIONS, RESTARTS, UNITS, Reading, read
from metassay.models.words import words
from metassay.text.drug_stems import has_drug_stem
from metassay.text.vocabulary import groups, terms, word_key
from metassay.text.vocabulary.group import Group

# the sides of a group are synonyms
_SINGLE = ("drug", "diagnosis", "anatomy", "synonym")
_PAIRS = ("course", "opposite")  # the two sides of a group exclude each other
_LONGEST = 4  # words in a name
_BLANKS = re.compile(r"\s+")
# The month of May: with a capital letter, within a sentence or before a number.
_MONTH = re.compile(r"(?<=[a-z,\d] )May\b|\bMay(?=,? \d)")
MONTH = "mayx"  # "may" is a stop word, since it can be a verb


@lru_cache(maxsize=16384)
def replace_names(text: str) -> str:
    """Replace the names of the vocabulary's training half, and the month May, by one token each."""
    text = _MONTH.sub(MONTH, text)
    spans = words(text)
    parts = []
    copied = 0
    first = 0
    while first < len(spans):
        for last in range(min(first + _LONGEST, len(spans)), first, -1):
            start = spans[first].start
            end = spans[last - 1].end
            token = name(_BLANKS.sub(" ", text[start:end]))
            if token is not None:
                parts += [text[copied:start], token]
                copied = end
                first = last - 1
                break
        first += 1
    return "".join([*parts, text[copied:]])


def months(text: str) -> set[int]:
    """Return the offsets of the month May."""
    return {match.start() for match in _MONTH.finditer(text)}


def name(word: str) -> str | None:
    """Return the token of a name of the vocabulary's training half; None for others."""
    return _table().get(word_key(word))


@lru_cache(maxsize=65536)
def is_drug(token: str) -> bool:
    """Return whether a token of `replace_names` is a drug, by the list or by a stem of its name."""
    return token in DRUGS or has_drug_stem(token)


@cache
def _table() -> dict[str, str]:
    tokens: dict[str, str] = {}
    for kind in (*_SINGLE, *_PAIRS):
        for word, (term, *_) in terms(kind).items():
            if term.group.half == "train":
                side = 0 if kind in _SINGLE else term.side
                tokens.setdefault(word, _token(term.group, side))
    return tokens


def _token(group: Group, side: int) -> str:
    """Return a token of letters only, which has no plural."""
    return "".join(filter(str.isalpha, group.sides[side][0].lower())) + "x"


def _find_tokens(kind: str) -> frozenset[str]:
    """Return the tokens of the names of a kind in the vocabulary's training half."""
    return frozenset(_token(group, 0) for group in groups(kind, "train"))


def _find_sites() -> tuple[frozenset[str], ...]:
    """Return the tokens of the sites of each section of the vocabulary."""
    by_section: dict[str, set[str]] = {}
    for group in groups("anatomy", "train"):
        by_section.setdefault(group.section, set()).add(_token(group, 0))
    return tuple(frozenset(by_section[section]) for section in sorted(by_section))


def _find_opposites() -> tuple[frozenset[str], ...]:
    """Return the two tokens of each pair of opposites."""
    pairs = chain.from_iterable(groups(kind, "train") for kind in _PAIRS)
    return tuple(frozenset({_token(pair, 0), _token(pair, 1)}) for pair in pairs)


def _split(*lines: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(line.split()) for line in lines)


# Tokens of the vocabulary's training half.
DRUGS = _find_tokens("drug")
DIAGNOSES = _find_tokens("diagnosis")
# Words of one set exclude each other. They are content tokens, without plural endings.
SITES = _find_sites()
OPPOSITES = _find_opposites()
_SIDES = tuple(axis - {"unilateral"} for axis in AXES)
_PEOPLE = _split("male female", "man woman", "boy girl", "men women")
_TIMES = _split(
    f"january february march april {MONTH} june"
    " july august september october november december",
    "monday tuesday wednesday thursday friday saturday sunday",
    "second minute hour day week month year decade century",
    "hourly daily nightly weekly monthly yearly annually annual",
    "morning afternoon evening night",
    "today yesterday tomorrow",
    "before after",
    "former current previous next",
    "mg mcg g kg lb oz ml l mm cm m km mile inch foot percent",
    "tablet capsule puff drop unit",
    "first second third fourth fifth sixth last final",
)
# Units that are converted: 0.5 g is 500 mg, 2 days are 48 hours.
_CONVERTED = {
    "g": ("mg", 1000),
    "l": ("ml", 1000),
    "cm": ("mm", 10),
    "day": ("hour", 24),
    "week": ("hour", 168),
}
_CLASSES = {
    "site": SITES,
    "side": _SIDES,
    "person": _PEOPLE,
    "time": _TIMES,
    "opposite": OPPOSITES,
}
_LISTED = ("drug", "diagnosis", "site")
_DOSE_WORDS = UNITS.union({"time"}, *_TIMES)
ALIKE_KIND = "alike"
KINDS = ("number", "drug", "diagnosis", *_CLASSES, "negation", "exchanged", ALIKE_KIND)
NO_CLASH = [0.0] * len(KINDS)
PERSON = KINDS.index("person")
REACH = 2  # content tokens on either side of a value that are its context
ALIKE = 0.5  # share of the smaller context that similar contexts have in common
SHARED = 0.6  # share of the hypothesis's other words that a clashing sentence must have
# from this share on both have one subject, and any clash is also of kind "alike"
SAME = 0.8
_PATIENT = frozenset({"patient"})  # the subject of a sentence that names no relative
_RELATIVES = frozenset(
    {
        "mother",
        "father",
        "sister",
        "brother",
        "wife",
        "husband",
        "son",
        "daughter",
        "grandmother",
        "grandfather",
        "aunt",
        "uncle",
        "cousin",
        "parent",
        "child",
        "partner",
        "family",
    }
)
_GENDERS = ({"he", "him", "his", "himself"}, {"she", "her", "hers", "herself"})
_WORD = re.compile(r"[a-z]+")
_DECIMAL = re.compile(r"\d+(?:\.\d+)?")
_HEART_RATE = re.compile(r"\bHR\b")  # hr is an hour
_PER = re.compile(r"\b(?:a|per)\s+(?=(?:day|week|month|year)\b)", re.IGNORECASE)
_OFTEN = re.compile(
    r"\b(?:(twice)|(thrice)|once(?=\s+(?:hourly|daily|nightly|weekly|monthly|yearly|every|day|week"
    r"|month|year)\b))",
    re.IGNORECASE,
)
# Reading restarts after these words; if they are negated, the negation holds for what
# follows.
_NEGATED_RESTART = re.compile(
    rf"(?:\b(?:not|no longer|never)|n['\u2019]t)\s+(?:{'|'.join(sorted(RESTARTS))})\b",
    re.IGNORECASE,
)
# Ellipsis: in "the knee is swollen and the hip is not" the hip is not swollen.
_BE = r"(is|are|was|were)(\s+not|n['\u2019]t)?"
_FEW = r"([^.;,?!\n]{1,60}?)"
_ELLIPSIS = re.compile(
    rf"\b{_BE}\s+{_FEW},?\s+(?:and|but|while)\s+{_FEW}\s+{_BE}(?=\s*(?:[.;,?!]|$))",
    re.IGNORECASE,
)
# marks that change the meaning
_MARK = re.compile(r"[<>=?+]|(?<![\w.])[-\u2212](?=\d)")


def clashes(hypothesis: str, sentence: str) -> list[float]:
    """Return for each of KINDS whether there is a clash with the closest sentence: 1 or 0."""
    claim = _Places(hypothesis)
    source = _Places(sentence)
    ours = claim.reading.places.keys()
    theirs = source.reading.places.keys()
    shared = len(ours & theirs) / max(1, len(ours) - 1)
    if shared < SHARED:
        return NO_CLASH
    both = ours | theirs
    values = [
        [frozenset(token for token in both if token[0].isdigit())],
        [frozenset(token for token in both if is_drug(token))],
        [DIAGNOSES],
        *_CLASSES.values(),
    ]
    lacking = []
    exchanged = False
    for name, kind in zip(KINDS[: len(values)], values, strict=True):
        listed = name in _LISTED
        results = {_clash(claim, source, exclusive, listed) for exclusive in kind}
        lacking.append("lacking" in results)
        exchanged |= "exchanged" in results
    lacking[PERSON] |= _person(claim, source)
    flags = [*lacking, _negation(claim, source), exchanged]
    return [float(flag) for flag in (*flags, any(flags) and shared >= SAME)]


def is_stated(hypothesis: str, sentences: Sequence[str]) -> bool:
    """Return whether it is a run of the sentences, up to case, blanks and punctuation."""
    claim = _plain(hypothesis)
    parts = [_plain(sentence) for sentence in sentences]
    for first in range(len(parts)):
        left = claim
        for part in parts[first:]:
            if left[: len(part)] != part:
                break
            left = left[len(part) :]
            if not left:
                return True
    return False


read_as_written = lru_cache(maxsize=16384)(read)


@lru_cache(maxsize=16384)
def _plain(text: str) -> tuple[str, ...]:
    places = sorted([*words(text), *(match.span() for match in _MARK.finditer(text))])
    return tuple(text[start:end].casefold() for start, end in places)


@lru_cache(maxsize=16384)
def _read(text: str) -> Reading:
    """Read a text with names replaced, frequencies as numbers and units converted."""
    text = _PER.sub("", _HEART_RATE.sub("heart rate", replace_names(text)))
    text = _ELLIPSIS.sub(_fill_ellipsis, _NEGATED_RESTART.sub(" not", text))
    reading = read(_OFTEN.sub(_write_frequency, text))
    tokens = _find_token_at_place(reading)
    for place, unit in reading.units.items():
        if unit in _CONVERTED and _DECIMAL.fullmatch(tokens[place]):
            tokens[place + 1], factor = _CONVERTED[unit]
            tokens[place] = f"{float(tokens[place]) * factor:g}"
    converted: dict[str, list[int]] = {}
    for place in sorted(tokens):
        converted.setdefault(tokens[place], []).append(place)
    return replace(reading, places=converted)


def _find_token_at_place(reading: Reading) -> dict[int, str]:
    tokens: dict[int, str] = {}
    for token, places in reading.places.items():
        tokens |= dict.fromkeys(places, token)
    return tokens


def _write_frequency(match: re.Match[str]) -> str:
    """Write "twice" as "2 times"."""
    if match[1]:
        return "2 times"
    return "3 times" if match[2] else "1 times"


def _fill_ellipsis(match: re.Match[str]) -> str:
    first, without, what, other, second, lacking = match.groups("")
    return f"{first}{without} {what} but {other} {second}{lacking} {what}"


def numbers(text: str) -> frozenset[str]:
    """Return the numbers of a text, in digits."""
    return frozenset(
        token for token in read_as_written(text).places if token[0].isdigit()
    )


class _Places:
    """A reading, the token at each place, and the people of the text."""

    def __init__(self, text: str) -> None:
        self.reading = reading = _read(text)
        words = frozenset(_WORD.findall(text.lower()))
        self.people = _RELATIVES & reading.places.keys() or _PATIENT
        self.genders = {
            number for number, gender in enumerate(_GENDERS) if gender & words
        }
        self.tokens = _find_token_at_place(reading)

    def tokens_beside(self, place: int, step: int) -> list[str]:
        """Return the content tokens on one side."""
        near = [place + step * distance for distance in range(1, REACH + 1)]
        return [self.tokens[i] for i in near if i in self.tokens]

    def list_start(self, place: int, values: frozenset[str]) -> int:
        """Return the first value of a list up to a place, whose values may have doses and times."""
        i = first = place
        while (token := self.tokens.get(i - 1)) is not None:
            i -= 1
            if token in values:
                first = i
            elif not (token[0].isdigit() or token in _DOSE_WORDS):
                break
        return first

    def context(self, place: int) -> frozenset[str]:
        near = range(place - REACH, place + REACH + 1)
        tokens = frozenset(
            self.tokens[i] for i in near if i != place and i in self.tokens
        )
        return tokens - NEGATIONS


def _clash(
    claim: _Places, source: _Places, values: frozenset[str], listed: bool
) -> str | None:
    """Return how a value clashes: only others are in the source's contexts most like its own.

    `lacking`: the source lacks the value; `exchanged`: it has it elsewhere. `listed`:
    the words before a list belong to each of its values.
    """
    theirs = []
    for value in values & source.reading.places.keys():
        for place in source.reading.places[value]:
            theirs.append((source.tokens[place], source.context(place) - values))
    clashing = set()
    for value in values & claim.reading.places.keys():
        for place in claim.reading.places[value]:
            closest = _closest(claim.context(place) - values, theirs)
            if not closest or value in closest:
                continue
            if not _has_same_neighbours(claim, place, source, value, values, listed):
                clashing.add(value)
    if clashing - source.reading.places.keys():
        return "lacking"
    return "exchanged" if clashing else None


def _has_same_neighbours(
    claim: _Places,
    place: int,
    source: _Places,
    value: str,
    values: frozenset[str],
    listed: bool,
) -> bool:
    """Return whether the value has the same neighbours at one of its places in the source."""
    for other in source.reading.places.get(value, ()):
        if _same_neighbours(claim, place, source, other, other):
            return True
        if listed:
            first = source.list_start(other, values)
            if _same_neighbours(claim, place, source, other, first):
                return True
    return False


def _same_neighbours(
    claim: _Places, i: int, source: _Places, j: int, first: int
) -> bool:
    """Return whether the tokens on both sides of i are those before `first` and after j.

    A side without tokens, at the start or end of the claim, matches any: "It was 81
    percent".
    """
    before = claim.tokens_beside(i, -1), source.tokens_beside(first, -1)
    after = claim.tokens_beside(i, 1), source.tokens_beside(j, 1)
    return any((before[0], after[0])) and all(
        not a or a == b for a, b in (before, after)
    )


def _closest(
    context: frozenset[str], theirs: Iterable[tuple[Any, frozenset[str]]]
) -> set[Any]:
    """Return the values whose contexts are the most similar to this one, of similar contexts."""
    similar = [
        (len(context & c) / len(context | c), v)
        for v, c in theirs
        if _alike(context, c)
    ]
    highest = max((share for share, _ in similar), default=0.0)
    return {value for share, value in similar if share == highest}


def _person(claim: _Places, source: _Places) -> bool:
    """Return whether they are about different people (a relative, the patient) or genders."""
    if not claim.people & source.people:
        return True
    return bool(claim.genders and source.genders and not claim.genders & source.genders)


def _alike(a: frozenset[str], b: frozenset[str]) -> bool:
    smaller = min(len(a), len(b))
    return smaller > 0 and len(a & b) >= ALIKE * smaller


def _negation(claim: _Places, source: _Places) -> bool:
    """Return whether a shared word is negated in only one of two similar contexts.

    A word without context ("Fever.") fits every context.
    """
    for token in (
        (claim.reading.places.keys() & source.reading.places.keys()) - NEGATIONS - UNITS
    ):
        places = source.reading.places[token]
        theirs = [(j in source.reading.negated, source.context(j)) for j in places]
        for i in claim.reading.places[token]:
            context = claim.context(i)
            negated = i in claim.reading.negated
            closest = _closest(context, theirs) or {
                n for n, c in theirs if not (context and c)
            }
            if closest and negated not in closest:
                return True
    return False

"""What the sentence closest to a hypothesis says otherwise: values that exclude each other.

A clash: the hypothesis has a value of a kind (left), the sentence lacks it and has another one of
that kind (right) which the hypothesis lacks.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any, NamedTuple

from metassay.judges.reading import NEGATIONS, RESTARTS, UNITS, Reading, read
from metassay.models.words import words
from metassay.text.vocabulary import Group, as_key, groups, terms

_SINGLE = ("drug", "diagnosis", "anatomy", "synonym")  # whose sides name the same thing
_PAIRS = ("course", "opposite")  # whose two sides exclude each other
_LONGEST = 4  # words of a name
_BLANKS = re.compile(r"\s+")
# The month, written with a capital letter: within a sentence, or before a number.
_MONTH = re.compile(r"(?<=[a-z,\d] )May\b|\bMay(?=,? \d)")
_STEM = re.compile(
    r"cef[a-z]{4,}|[a-z]{2,}(?:"
    r"[aeiou]pril|sartan|olol|vastatin|azole|oxacin|cillin|mycin|micin|cycline"
    r"|formin|gliptin|gliflozin|glutide|glitazone|parin|xaban|gatran|[aeiou]mab|dipine|tidine"
    r"|triptan|nisone|tisone|thasone|ticasone|solone|onide|zepam|zolam|setron|oxetine|traline"
    r"|pramine|triptyline|lukast|buterol|meterol|tropium|thiazide|semide|profen|fenac|oxicam"
    r"|coxib|codone|morphone|barbital|ciclovir|cyclovir|tamivir|dronate|gabalin|racetam|tinib"
    r"|zosin|steride|denafil|platin|taxel|rubicin|phylline|thyroxine|peridone|tiapine|zapine"
    r")"
)
MONTH = "mayx"  # as a word by itself it may be a verb, and is a stop word


class Kinds(NamedTuple):
    """Tokens of each kind: of drugs and diagnoses all; of sites and opposites those that exclude
    each other.
    """

    drug: frozenset[str]
    diagnosis: frozenset[str]
    site: tuple[frozenset[str], ...]
    opposite: tuple[frozenset[str], ...]


@lru_cache(maxsize=16384)
def in_known_words(text: str) -> str:
    """The text with one token for each name that the training half knows, and for the month May."""
    text = _MONTH.sub(MONTH, text)
    spans = words(text)
    parts, at, first = [], 0, 0
    while first < len(spans):
        for last in range(min(first + _LONGEST, len(spans)), first, -1):
            start, end = spans[first].start, spans[last - 1].end
            token = name(_BLANKS.sub(" ", text[start:end]))
            if token is not None:
                parts += [text[at:start], token]
                at, first = end, last - 1
                break
        first += 1
    return "".join([*parts, text[at:]])


def months(text: str) -> set[int]:
    """Where the month May begins."""
    return {match.start() for match in _MONTH.finditer(text)}


def name(word: str) -> str | None:
    """The token of a name that the training half knows."""
    return _table().get(as_key(word))


@cache
def kinds() -> Kinds:
    """What the tokens are."""
    sections: dict[str, set[str]] = {}
    for group in groups("anatomy", "train"):
        sections.setdefault(group.section, set()).add(_token(group, 0))
    pairs = [group for kind in _PAIRS for group in groups(kind, "train")]
    return Kinds(
        frozenset(_token(group, 0) for group in groups("drug", "train")),
        frozenset(_token(group, 0) for group in groups("diagnosis", "train")),
        tuple(map(frozenset, sections.values())),
        tuple(frozenset(_token(group, side) for side in range(2)) for group in pairs),
    )


@lru_cache(maxsize=65536)
def is_drug(token: str) -> bool:
    """Whether a token of a text in known words names a drug, by the list or by a stem of its name.

    The stems are those of WHO's international nonproprietary names, each as long as it takes to
    leave other words alone (cholesterol, April, protocol).
    """
    return token in kinds().drug or _STEM.fullmatch(token) is not None


@cache
def _table() -> dict[str, str]:
    found: dict[str, str] = {}
    for kind in (*_SINGLE, *_PAIRS):
        for word, its in terms(kind).items():
            if its[0].group.half == "train":
                side = 0 if kind in _SINGLE else its[0].side
                found.setdefault(word, _token(its[0].group, side))
    return found


def _token(group: Group, side: int) -> str:
    """Letters alone, and no plural."""
    return "".join(filter(str.isalpha, group.sides[side][0].lower())) + "x"


def _kinds(text: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(line.split()) for line in text.strip().splitlines())


# Words of one line exclude each other; as content tokens, so without plural endings.
_SIDES = _kinds("""
left right bilateral
upper lower
medial lateral
anterior posterior
proximal distal
""")
_PEOPLE = _kinds("""
male female
man woman
boy girl
men women
""")
_TIMES = _kinds(f"""
january february march april {MONTH} june july august september october november december
monday tuesday wednesday thursday friday saturday sunday
second minute hour day week month year decade century
hourly daily nightly weekly monthly yearly annually annual
morning afternoon evening night
today yesterday tomorrow
before after
former current previous next
mg mcg g kg lb oz ml l mm cm m km mile inch foot percent
tablet capsule puff drop unit
first second third fourth fifth sixth last final
""")
# One value under one unit: 0.5 g and 500 mg, 2 days and 48 hours.
_CONVERTED = {
    **{"g": ("mg", 1000), "l": ("ml", 1000), "cm": ("mm", 10)},
    **{"day": ("hour", 24), "week": ("hour", 168)},
}
_KNOWN = kinds()
_CLASSES = {
    "site": _KNOWN.site,
    "side": _SIDES,
    "person": _PEOPLE,
    "time": _TIMES,
    "opposite": _KNOWN.opposite,
}
_LISTED = ("drug", "diagnosis", "site")
_OF_DOSES = UNITS.union({"time"}, *_TIMES)
ALIKE_KIND = "alike"
KINDS = ("number", "drug", "diagnosis", *_CLASSES, "negation", "exchanged", ALIKE_KIND)
NO_CLASH = [0.0] * len(KINDS)
PERSON = KINDS.index("person")
REACH = 2  # content tokens on either side that are a value's surroundings
ALIKE = 0.5  # share of the fewer surroundings that both must have
SHARED = 0.6  # share of the hypothesis's other words that the sentence must have
SAME = 0.8  # from this share on both are about the same: any clash is of the kind "alike" too
_PATIENT = frozenset({"patient"})  # whom a sentence is about that names no relative
_RELATIVES = frozenset(
    {
        *("mother", "father", "sister", "brother", "wife", "husband", "son", "daughter"),
        *("grandmother", "grandfather", "aunt", "uncle", "cousin", "parent", "child"),
        *("partner", "family"),
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
# After these words a reading begins anew: negated, they leave their negation to what follows.
_NOT_ANEW = re.compile(
    rf"(?:\b(?:not|no longer|never)|n['\u2019]t)\s+(?:{'|'.join(sorted(RESTARTS))})\b",
    re.IGNORECASE,
)
# "The knee is swollen and the hip is not": what is left out is said of the hip.
_BE, _FEW = r"(is|are|was|were)(\s+not|n['\u2019]t)?", r"([^.;,?!\n]{1,60}?)"
_LEFT_OUT = re.compile(
    rf"\b{_BE}\s+{_FEW},?\s+(?:and|but|while)\s+{_FEW}\s+{_BE}(?=\s*(?:[.;,?!]|$))",
    re.IGNORECASE,
)
_MARK = re.compile(
    r"[<>=?+]|(?<![\w.])[-\u2212](?=\d)"
)  # what is no word, and changes what is said


def clashes(hypothesis: str, sentence: str) -> list[float]:
    """Whether there is a clash of each of KINDS with the closest sentence: 1 or 0."""
    said, there = _Places(hypothesis), _Places(sentence)
    ours, theirs = said.reading.places.keys(), there.reading.places.keys()
    shared = len(ours & theirs) / max(1, len(ours) - 1)
    if shared < SHARED:
        return NO_CLASH
    both = ours | theirs
    values = [
        [frozenset(token for token in both if token[0].isdigit())],
        [frozenset(token for token in both if is_drug(token))],
        [_KNOWN.diagnosis],
        *_CLASSES.values(),
    ]
    found = [
        [_clash(said, there, one, name in _LISTED) for one in kind]
        for name, kind in zip(KINDS[: len(values)], values, strict=True)
    ]
    lacking = ["lacking" in kind for kind in found]
    lacking[PERSON] |= _person(said, there)
    exchanged = any("exchanged" in kind for kind in found)
    every = [*lacking, _negation(said, there), exchanged]
    return [float(each) for each in (*every, any(every) and shared >= SAME)]


def stated(hypothesis: str, sentences: Sequence[str]) -> bool:
    """Whether it is one of the sentences, or a run of them, up to case, blanks and punctuation."""
    said = _plain(hypothesis)
    parts = [_plain(one) for one in sentences]
    for first in range(len(parts)):
        left = said
        for part in parts[first:]:
            if left[: len(part)] != part:
                break
            left = left[len(part) :]
            if not left:
                return True
    return False


_as_written = lru_cache(maxsize=16384)(read)


@lru_cache(maxsize=16384)
def _plain(text: str) -> tuple[str, ...]:
    places = sorted([*words(text), *(match.span() for match in _MARK.finditer(text))])
    return tuple(text[start:end].casefold() for start, end in places)


@lru_cache(maxsize=16384)
def _read(text: str) -> Reading:
    """The reading of a text in known words, frequencies as numbers, one unit for each measure."""
    text = _PER.sub("", _HEART_RATE.sub("heart rate", in_known_words(text)))
    text = _LEFT_OUT.sub(_whole, _NOT_ANEW.sub(" not", text))
    reading = read(_OFTEN.sub(_times, text))
    at = {place: token for token, held in reading.places.items() for place in held}
    for place, unit in reading.units.items():
        if unit in _CONVERTED and _DECIMAL.fullmatch(at[place]):
            at[place + 1], factor = _CONVERTED[unit]
            at[place] = f"{float(at[place]) * factor:g}"
    places: dict[str, list[int]] = {}
    for place in sorted(at):
        places.setdefault(at[place], []).append(place)
    return replace(reading, places=places)


def _whole(match: re.Match[str]) -> str:
    first, without, what, other, second, lacking = match.groups("")
    return f"{first}{without} {what} but {other} {second}{lacking} {what}"


def _times(match: re.Match[str]) -> str:
    return f"{2 if match[1] else 3 if match[2] else 1} times"


def numbers(text: str) -> frozenset[str]:
    """The numbers of a text, in digits."""
    return frozenset(token for token in _as_written(text).places if token[0].isdigit())


class _Places:
    """A reading, the token at each place, and whom the text is about."""

    def __init__(self, text: str) -> None:
        self.reading = reading = _read(text)
        words = frozenset(_WORD.findall(text.lower()))
        self.people = _RELATIVES & reading.places.keys() or _PATIENT
        self.genders = {number for number, gender in enumerate(_GENDERS) if gender & words}
        self.at = {place: token for token, held in reading.places.items() for place in held}

    def beside(self, place: int, step: int) -> list[str]:
        """The content tokens on one side."""
        near = [place + step * distance for distance in range(1, REACH + 1)]
        return [self.at[i] for i in near if i in self.at]

    def list_start(self, place: int, values: frozenset[str]) -> int:
        """The first of the values that are listed up to a place, each with its dose and times."""
        at = first = place
        while (token := self.at.get(at - 1)) is not None:
            at -= 1
            if token in values:
                first = at
            elif not (token[0].isdigit() or token in _OF_DOSES):
                break
        return first

    def around(self, place: int) -> frozenset[str]:
        near = range(place - REACH, place + REACH + 1)
        return frozenset(self.at[i] for i in near if i != place and i in self.at) - NEGATIONS


def _clash(said: _Places, there: _Places, values: frozenset[str], listed: bool) -> str | None:
    """Whether a value stands where only others stand in the surroundings that are most alike.

    `listed`: what stands before a list of them is said of each.
    `lacking`: the sentence does not have it; `exchanged`: it has it elsewhere.
    """
    theirs = [
        (there.at[j], there.around(j) - values)
        for value in values & there.reading.places.keys()
        for j in there.reading.places[value]
    ]
    clashing = {
        value
        for value in values & said.reading.places.keys()
        for i in said.reading.places[value]
        if (closest := _closest(said.around(i) - values, theirs))
        and value not in closest
        and not any(
            _alike_there(said, i, there, j, first)
            for j in there.reading.places.get(value, ())
            for first in {j, there.list_start(j, values) if listed else j}
        )
    }
    if clashing - there.reading.places.keys():
        return "lacking"
    return "exchanged" if clashing else None


def _alike_there(said: _Places, i: int, there: _Places, j: int, first: int) -> bool:
    """Whether the tokens beside a place are those before `first` and behind j.

    Where the hypothesis begins or ends there is nothing to differ: "It was 81 percent" begins anew
    what the premise says of a share.
    """
    sides = (said.beside(i, -1), there.beside(first, -1)), (said.beside(i, 1), there.beside(j, 1))
    return any(ours for ours, _ in sides) and all(not ours or ours == its for ours, its in sides)


def _closest(around: frozenset[str], theirs: Iterable[tuple[Any, frozenset[str]]]) -> set[Any]:
    """What stands in the surroundings most like these, of those that are like them."""
    found = [(len(around & i) / len(around | i), what) for what, i in theirs if _alike(around, i)]
    most = max((share for share, _ in found), default=0.0)
    return {what for share, what in found if share == most}


def _person(said: _Places, there: _Places) -> bool:
    """One is about a relative and the other about another one or the patient; or he and she."""
    if not said.people & there.people:
        return True
    return bool(said.genders and there.genders and not said.genders & there.genders)


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    fewer = min(len(one), len(other))
    return fewer > 0 and len(one & other) >= ALIKE * fewer


def _negation(said: _Places, there: _Places) -> bool:
    """Whether a word that both have in like surroundings is negated in one of them only.

    A word that says all that there is to say ("Fever.") needs no surroundings.
    """
    for token in (said.reading.places.keys() & there.reading.places.keys()) - NEGATIONS - UNITS:
        places = there.reading.places[token]
        theirs = [(j in there.reading.negated, there.around(j)) for j in places]
        for i in said.reading.places[token]:
            around, negated = said.around(i), i in said.reading.negated
            closest = _closest(around, theirs) or {
                other for other, its in theirs if not (around and its)
            }
            if closest and negated not in closest:
                return True
    return False

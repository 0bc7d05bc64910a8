"""What the judge's rules know of words: the training half of the vocabulary, never the test half.

Names of the same thing become one token (all brands and spellings of a drug), so that rules compare
things and not spellings.
"""

import re
from functools import cache, lru_cache
from typing import NamedTuple

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

"""Helpers of rules that change words in a sentence: case, articles, blanks, numbers."""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from metassay.text.patterns import read_patterns
from metassay.text.vocabulary import Half

Match = re.Match[str]

# Maps a sentence to its possible edits of a kind, with words of a half.
Rule = Callable[[str, Half], Iterator[str]]

_ARTICLE = re.compile(r"\b([Aa])n?(\s+)\Z")
# letters whose names begin with a vowel: an MRI, an X-ray
_VOWEL_LETTERS = "AEFHILMNORSX"
_LIKE_A_CONSONANT = re.compile(r"one\b|once|uni(?!n)|us[aeiu]|eu|ur[ie]", re.IGNORECASE)
_LIKE_A_VOWEL = re.compile(r"[aeiou]|hour|honest|8|11(?!\d)|18(?!\d)", re.IGNORECASE)
_INITIALS = re.compile(r"[A-Z](?:[A-Z]|[-\d]|\b)")
LEAD_IN = re.compile(r"\A[A-Z][A-Za-z/, ]{2,50}: (?=[A-Z])")
_BLANKS = re.compile(r"[ \t]{2,}")
_BLANK_BEFORE = re.compile(r"[ \t]+([.,;:?!](?:\s|\Z))")


def for_both_halves(rule: Callable[[str], Iterator[str]]) -> Rule:
    """Make a rule whose words belong to both halves."""
    return lambda sentence, _half: rule(sentence)


FILE = Path(__file__).with_name("patterns.txt")
_SECTIONS = read_patterns(FILE)


def read_list(name: str) -> list[str]:
    """Read the words of a list of patterns.txt, in order."""
    return " ".join(_SECTIONS[f"words {name}"].rows).split()


def rows(section: str) -> list[tuple[re.Pattern[str], str]]:
    """Read the rows `pattern => new` of a section; patterns ignore case."""
    split_rows = (row.partition(" =>") for row in _SECTIONS[section].rows)
    return [
        (re.compile(pattern, re.IGNORECASE), new.strip())
        for pattern, _, new in split_rows
    ]


def table(name: str) -> dict[str, str]:
    """Read a table of patterns.txt, rows of `old: new; other: new`."""
    entries = (entry.split(":") for entry in " ".join(_SECTIONS[name].rows).split(";"))
    return {old.strip(): new.strip() for old, new in entries}


WORDS = read_list("numbers")
VALUES = {word: value for value, word in enumerate(WORDS)}
NUMBER_WORD = rf"(?<![\w-])(?:{'|'.join(WORDS[2:])})(?= [a-z]{{3,}})"


def each(
    sentence: str,
    pattern: re.Pattern[str],
    new: str | Mapping[str, str] | Callable[[Match], str | None],
    group: str | int = 0,
) -> Iterator[str]:
    """Replace what a pattern (or a group of it) matches, one place at a time.

    `new`: a text, a table by lower-case text, or a function of the match, None to skip
    it.
    """
    for match in pattern.finditer(sentence):
        if isinstance(new, str):
            replacement: str | None = new
        else:
            replacement = (
                new[match[group].lower()] if isinstance(new, Mapping) else new(match)
            )
        if replacement is not None:
            yield replace_text(sentence, *match.span(group), replacement)


def without(sentence: str, match: Match, new: str = "") -> str:
    """Remove a match, or put `new` in its place; change nothing else."""
    return sentence[: match.start()] + new + sentence[match.end() :]


def replace_text(
    sentence: str, start: int, end: int, new: str, *, as_written: bool = False
) -> str:
    """Put `new` at a place, in the case of the old text; adjust a and an."""
    new = new if as_written else in_case_of(sentence[start:end], new)
    before = sentence[:start]
    article = _ARTICLE.search(before)
    if article and new:
        n = "n" if _begins_with_vowel(new) else ""
        before = f"{before[: article.start()]}{article[1]}{n}{article[2]}"
    return tidy(before + new + sentence[end:], like=sentence)


def in_case_of(old: str, new: str) -> str:
    """Return `new` in the case of `old`: capitalised, or upper case."""
    letters = [c for c in old if c.isalpha()]
    if len(letters) > 3 and all(c.isupper() for c in letters):  # not an abbreviation
        return new.upper()
    return new[:1].upper() + new[1:] if old[:1].isupper() else new


def tidy(text: str, *, like: str) -> str:
    """Remove double blanks; capitalise as `like`, at the start and after a lead-in ("Exam: ")."""
    text = _BLANK_BEFORE.sub(r"\1", _BLANKS.sub(" ", text)).strip()
    lead_in = LEAD_IN.match(like)
    start = lead_in.end() if lead_in and text.startswith(lead_in[0]) else 0
    capital = bool(lead_in) or like[:1].isupper() or like[:1].isdigit()
    return (
        text[:start] + text[start : start + 1].upper() + text[start + 1 :]
        if capital
        else text
    )


def alternatives(words: Mapping[str, str]) -> str:
    """Return a regular expression for any of the keys, longest first."""
    return "|".join(
        re.escape(word) for word in sorted(words, key=lambda w: (-len(w), w))
    )


def _begins_with_vowel(word: str) -> bool:
    if _INITIALS.match(word) and not word[1:2].islower():
        return word[0] in _VOWEL_LETTERS
    return bool(_LIKE_A_VOWEL.match(word)) and not _LIKE_A_CONSONANT.match(word)

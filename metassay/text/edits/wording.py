"""Helpers of rules that change words in a sentence: case, articles, blanks, numbers."""

import re
from collections.abc import Callable, Iterator, Mapping

from metassay.text.patterns import any_of
from metassay.text.vocabulary.group import Half

Match = re.Match[str]

# Maps a sentence to its possible edits of a kind, with words of a half.
Rule = Callable[[str, Half], Iterator[str]]

NUMBER_WORDS = tuple(
    """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
    fifteen sixteen seventeen eighteen nineteen twenty
    """.split()
)
NUMBER_VALUES = {word: value for value, word in enumerate(NUMBER_WORDS)}
# A pattern of a number word from two on, before a word of at least three letters.
NUMBER_WORD = rf"(?<![\w-]){any_of(*NUMBER_WORDS[2:])}(?= [a-z]{{3,}})"

# What comes before a statement: "Exam: ".
LEAD_IN = re.compile(r"\A[A-Z][A-Za-z/, ]{2,50}: (?=[A-Z])")

_ARTICLE = re.compile(r"\b([Aa])n?(\s+)\Z")
# letters whose names begin with a vowel: an MRI, an X-ray
_VOWEL_LETTERS = "AEFHILMNORSX"
_LIKE_A_CONSONANT = re.compile(r"one\b|once|uni(?!n)|us[aeiu]|eu|ur[ie]", re.IGNORECASE)
_LIKE_A_VOWEL = re.compile(r"[aeiou]|hour|honest|8|11(?!\d)|18(?!\d)", re.IGNORECASE)
_INITIALS = re.compile(r"[A-Z](?:[A-Z]|[-\d]|\b)")
_BLANKS = re.compile(r"[ \t]{2,}")
_BLANK_BEFORE = re.compile(r"[ \t]+([.,;:?!](?:\s|\Z))")


def ignore_half(rule: Callable[[str], Iterator[str]]) -> Rule:
    """Make a rule whose words belong to both halves."""
    return lambda sentence, _half: rule(sentence)


def replace_each(
    sentence: str,
    pattern: re.Pattern[str],
    new: str | Mapping[str, str] | Callable[[Match], str | None],
    group: str | int = 0,
) -> Iterator[str]:
    """Replace what a pattern (or a group of it) matches, one place at a time.

    `new`: a text, a table by lower-case text, or a function of the match, None to skip
    it.

    >>> list(replace_each("Two or two.", re.compile("two", re.IGNORECASE), "three"))
    ['Three or two.', 'Two or three.']
    """
    for match in pattern.finditer(sentence):
        replacement: str | None
        if isinstance(new, str):
            replacement = new
        elif isinstance(new, Mapping):
            replacement = new[match[group].lower()]
        else:
            replacement = new(match)
        if replacement is not None:
            yield replace_text(sentence, *match.span(group), replacement)


def remove_match(sentence: str, match: Match) -> str:
    """Remove a match; change nothing else."""
    return substitute(sentence, match, "")


def substitute(sentence: str, match: Match, new: str) -> str:
    """Put `new` in the place of a match; change nothing else."""
    return sentence[: match.start()] + new + sentence[match.end() :]


def replace_text(
    sentence: str, start: int, end: int, new: str, *, as_written: bool = False
) -> str:
    """Put `new` at a place, in the case of the old text; adjust a and an.

    `as_written`: in its own case.

    >>> replace_text("He has a cough.", 9, 14, "infection")
    'He has an infection.'
    """
    if not as_written:
        new = copy_case(sentence[start:end], new)
    before = sentence[:start]
    article = _ARTICLE.search(before)
    if article and new:
        n = "n" if _begins_with_vowel(new) else ""
        before = f"{before[: article.start()]}{article[1]}{n}{article[2]}"
    return tidy(before + new + sentence[end:], like=sentence)


def copy_case(old: str, new: str) -> str:
    """Return `new` in the case of `old`: capitalised, or upper case.

    >>> copy_case("Left", "right"), copy_case("LEFT", "right")
    ('Right', 'RIGHT')
    """
    letters = [c for c in old if c.isalpha()]
    if len(letters) > 3 and all(c.isupper() for c in letters):  # not an abbreviation
        return new.upper()
    return capitalize(new) if old[:1].isupper() else new


def capitalize(text: str) -> str:
    """Write the first letter of a text as a capital, and leave the others."""
    return text[:1].upper() + text[1:]


def uncapitalize(text: str) -> str:
    """Write the first letter of a text as a small one, and leave the others."""
    return text[:1].lower() + text[1:]


def tidy(text: str, *, like: str) -> str:
    """Remove double blanks; capitalise as `like`, at the start and after a lead-in ("Exam: ").

    >>> tidy("Skin:   bruising .", like="Skin: No bruising.")
    'Skin: Bruising.'
    """
    text = _BLANK_BEFORE.sub(r"\1", _BLANKS.sub(" ", text)).strip()
    lead_in = LEAD_IN.match(like)
    starts_high = like[:1].isupper() or like[:1].isdigit()
    if not (lead_in or starts_high):
        return text
    start = lead_in.end() if lead_in and text.startswith(lead_in[0]) else 0
    return text[:start] + capitalize(text[start:])


def _begins_with_vowel(word: str) -> bool:
    if _INITIALS.match(word) and not word[1:2].islower():
        return word[0] in _VOWEL_LETTERS
    return bool(_LIKE_A_VOWEL.match(word)) and not _LIKE_A_CONSONANT.match(word)

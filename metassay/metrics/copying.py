"""Copying from the source: coverage, density, compression; and counts of words and numbers.

Grusky, Naaman and Artzi 2018 (Newsroom), section 4: the text is divided into fragments,
each the longest sequence of tokens, after the last fragment, that occurs anywhere in
the source.
"""

import re
from collections.abc import Sequence
from functools import partial

from metassay.core.options import Options
from metassay.metrics.describe import (
    COPYING,
    UNDEFINED,
    Description,
    Measured,
    Metric,
    index_texts,
    ratio,
)
from metassay.text.tokens import alphanumeric, words

VERSION = 1  # raised by whoever changes results of this module's kinds

_SECTION = "Grusky et al. 2018, section 4, "
_describe = partial(
    Description,
    better="neither",
    missing="null if the text has no tokens; 0 if only the source has none",
    family=COPYING,
)
_DESCRIPTIONS = (
    _describe(
        "coverage",
        "share of the text's words that lie in fragments copied from the source",
        range=(0, 1),
        source=_SECTION + "extractive fragment coverage",
    ),
    _describe(
        "density",
        "mean length, over the text's words, of the copied fragment that a word lies in",
        range=(0, None),
        source=_SECTION + "extractive fragment density",
    ),
    _describe(
        "compression",
        "words of the source per word of the text",
        range=(0, None),
        source=_SECTION + "compression ratio",
    ),
)


def measure(
    candidates: Sequence[str], evidence: Sequence[str], _options: Options
) -> dict[str, list[Measured]]:
    """Return extractiveness of each candidate against the source at the same index of `evidence`.

    None of the three is better high or low. All are null if the candidate has no
    tokens. Statistics: numerator and the candidate's tokens.
    """
    measured = {
        description.name: [UNDEFINED] * len(candidates) for description in _DESCRIPTIONS
    }
    for text, members in index_texts(evidence).items():
        source = alphanumeric(text)
        letters = {
            token: chr(n) for n, token in enumerate(dict.fromkeys(source), start=1)
        }
        coded = "".join(letters[token] for token in source)
        for index in members:
            summary = "".join(
                letters.get(token, "\0") for token in alphanumeric(candidates[index])
            )
            lengths, total = fragment_lengths(coded, summary), len(summary)
            measured["coverage"][index] = ratio(sum(lengths), total)
            measured["density"][index] = ratio(
                sum(length * length for length in lengths), total
            )
            measured["compression"][index] = ratio(len(coded), total)
    return measured


def fragment_lengths(source: str, summary: str) -> list[int]:
    """Return the lengths of the fragments, in order; both texts have a character per token.

    The algorithm in the paper's figure skips starts inside a match, and may miss a
    longer match that overlaps it; the paper's text asks for the longest, as here.
    """
    lengths = []
    start = 0
    while start < len(summary):
        # A longer match cannot begin before a shorter match does, so `at` only
        # increases.
        at, length = source.find(summary[start]), 0
        while at >= 0:
            length += _common(source, at, summary, start, length)
            if start + length == len(summary):
                break
            at = source.find(summary[start : start + length + 1], at + 1)
        if length:
            lengths.append(length)
        start += max(length, 1)
    return lengths


def _common(source: str, at: int, summary: str, start: int, length: int) -> int:
    """Return by how much the common prefix of source[at:] and summary[start:] exceeds `length`."""
    limit = min(len(source) - at, len(summary) - start)
    end = length
    while end < limit and source[at + end] == summary[start + end]:
        end += 1
    return end - length


EXTRACTIVENESS = Metric(
    measure=measure,
    # What a token is, and which fragment is taken where several would fit.
    recipe=lambda _: (
        "tokens:alphanumeric-lowercase|speaker-tags:removed|fragments:longest"
    ),
    against="source",
    descriptions=_DESCRIPTIONS,
)


_count = partial(
    Description,
    better="neither",
    range=(0, None),
    missing="0 for an empty text",
    source="a count",
    family=COPYING,
)


def measure_lengths(
    candidates: Sequence[str], _evidence: Sequence[str], _options: Options
) -> dict[str, list[Measured]]:
    """Count words and characters of each candidate; always defined, not pooled, no direction."""
    return {
        "words": [Measured(float(len(words(text))), None) for text in candidates],
        "characters": [Measured(float(len(text)), None) for text in candidates],
    }


LENGTHS = Metric(
    measure=measure_lengths,
    recipe=lambda _: "words:whitespace",
    against="nothing",
    descriptions=(
        _count("words", "words, split on white space"),
        _count("characters", "Unicode code points, white space included"),
    ),
)

# Units that may follow a number without a space: 20mg, 5mm, 10:30am, 37.5C.
_UNITS = (
    r"[mcn\u00b5\u03bc]?g|mcg|kg|[dm]?l|[mcnk\u00b5\u03bc]?m|lbs?|oz|bpm|mmhg|units?"
    r"|[mn]s|h|hrs?|mins?|wks?|yrs?|yo|am|pm|x|k?pc|mpc|[kmgt]?ev|[kmg]?hz|k|[cf]"
)
_DIGITS = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)*|\.\d+"
_NUMBER = re.compile(
    rf"(?<!\w)(?<![^\W\d_][-\u2010\u2011])"  # not within a word: x1, x_1, COVID-19
    rf"(?:\d{{4}}-\d\d-\d\d|(?:{_DIGITS})(?:[/:]\d+)*(?:e[-+\u2212]?\d+)?)"
    rf"(?:(?:{_UNITS})(?!\w)|(?!\w))(?![./:]\d)",
    re.IGNORECASE,
)


def measure_numbers(
    candidates: Sequence[str], _evidence: Sequence[str], _options: Options
) -> dict[str, list[Measured]]:
    """Count the numbers of each candidate; always defined, not pooled, no direction."""
    return {
        "numbers": [Measured(float(len(numbers(text))), None) for text in candidates]
    }


def numbers(text: str) -> list[str]:
    """Return the numbers of a text as they are written, in order.

    A number has digits, commas between thousands, decimal points and an exponent.
    Slashes and colons join a number (3/4/2021, 10:30, 120/80), and so do the hyphens of
    a date such as 2021-03-04. Hyphens and dashes separate a range (10-20). Digits after
    a letter, an underscore or a letter's hyphen are part of a word, and so are digits
    before letters that are not a unit. Before a hyphen they count (59-year-old).
    """
    return [match.group() for match in _NUMBER.finditer(text)]


NUMBERS = Metric(
    measure=measure_numbers,
    recipe=lambda _: "numbers:digits",
    against="nothing",
    descriptions=(
        _count(
            "numbers",
            "numbers written in digits; 1,000, 3.5%, .001, 20mg, 120/80 and a date in digits are"
            " one each, a range is two; digits in a word (3D, COVID-19, 1st) and number words are"
            " none",
            missing="0 for a text without a number",
            source="a count, as in Guo et al. 2024, figure 4b; their rule is not stated, this one"
            " is ours",
        ),
    ),
)

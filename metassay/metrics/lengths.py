"""Counts of a text's words, characters and numbers."""

import re
from collections.abc import Sequence
from functools import partial

from metassay.core.options import Options
from metassay.metrics.describe import COPYING, Description, Measured, Metric
from metassay.text import tokens

_count = partial(
    Description,
    better="neither",
    range=(0, None),
    missing="0 for an empty text",
    source="a count",
    family=COPYING,
)


def measure(
    candidates: Sequence[str], _evidence: Sequence[str], _options: Options
) -> dict[str, list[Measured]]:
    """Count words and characters of each candidate; always defined, not pooled, no direction."""
    return {
        "words": [Measured(float(len(tokens.words(text))), None) for text in candidates],
        "characters": [Measured(float(len(text)), None) for text in candidates],
    }


KIND = Metric(
    measure=measure,
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
    return {"numbers": [Measured(float(len(numbers(text))), None) for text in candidates]}


def numbers(text: str) -> list[str]:
    """Return the numbers of a text as they are written, in order.

    A number has digits, commas between thousands, decimal points and an exponent. Slashes and
    colons join a number (3/4/2021, 10:30, 120/80), and so do the hyphens of a date such as
    2021-03-04. Hyphens and dashes separate a range (10-20). Digits after a letter, an underscore or
    a letter's hyphen are part of a word, and so are digits before letters that are not a unit.
    Before a hyphen they count (59-year-old).
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

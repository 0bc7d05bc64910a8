"""Levenshtein distance to the reference, as a share of the longer text.

By words, which editors delete or type: the share of the text to rewrite. By characters
as well, which is less sensitive to inflection and spelling.
"""

from collections.abc import Sequence
from functools import partial

from rapidfuzz import __version__ as rapidfuzz_version
from rapidfuzz.distance import Levenshtein

from metassay.core.options import Options
from metassay.metrics.describe import OVERLAP, Description, Measured, Metric, ratio
from metassay.text.tokens import words

VERSION = 1  # raised by whoever changes results of this module's kinds

_describe = partial(
    Description,
    better="lower",
    range=(0, 1),
    missing="null if both texts are empty; 1 if one is",
    source="Levenshtein 1966; rapidfuzz's normalized distance, all edits cost 1",
    family=OVERLAP,
)


def measure(
    candidates: Sequence[str], evidence: Sequence[str], _options: Options
) -> dict[str, list[Measured]]:
    """Return the distance of each candidate to the reference at the same index of `evidence`.

    0 (equal) to 1 (nothing in common), lower is better; null if both texts are empty.
    Statistics: (edits, length of the longer text).
    """
    pairs = list(zip(candidates, evidence, strict=True))
    return {
        "edit_distance": [
            _measure_words(candidate, reference) for candidate, reference in pairs
        ],
        "edit_distance_characters": [
            ratio(
                Levenshtein.distance(candidate, reference),
                max(len(candidate), len(reference)),
            )
            for candidate, reference in pairs
        ],
    }


def _measure_words(candidate: str, reference: str) -> Measured:
    # rapidfuzz compares hashes of strings: numbers cannot collide
    numbers: dict[str, int] = {}
    first, second = (
        [numbers.setdefault(word, len(numbers)) for word in words(text)]
        for text in (candidate, reference)
    )
    return ratio(Levenshtein.distance(first, second), max(len(first), len(second)))


KIND = Metric(
    measure=measure,
    # Words are separated by white space, with case and punctuation.
    recipe=lambda _: (
        f"words:whitespace|case:mixed|normalized:longer|rapidfuzz:{rapidfuzz_version}"
    ),
    descriptions=(
        _describe(
            "edit_distance",
            "words to insert, delete or replace to turn the text into the reference, divided by the"
            " words of the longer one",
        ),
        _describe(
            "edit_distance_characters", "the same by characters, white space included"
        ),
    ),
)

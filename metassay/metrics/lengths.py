"""How long a text is, in words and characters."""

from collections.abc import Sequence

from metassay.core.options import Options
from metassay.metrics.describe import COPYING, Description, Measured
from metassay.metrics.record import Metric
from metassay.text import tokens


class LengthsOptions(Options):
    """Nothing to choose."""


_DESCRIPTIONS = (
    Description(
        "words",
        "words, split on white space",
        "neither",
        (0, None),
        "0 for an empty text",
        "a count",
        COPYING,
    ),
    Description(
        "characters",
        "Unicode code points, white space included",
        "neither",
        (0, None),
        "0 for an empty text",
        "a count",
        COPYING,
    ),
)


def recipe(_options: LengthsOptions) -> str:
    """What a word is."""
    return "words:whitespace"


def measure(
    candidates: Sequence[str], _evidence: Sequence[str], _options: LengthsOptions
) -> dict[str, list[Measured]]:
    """Words and characters of each candidate; always defined, not pooled, neither way better."""
    return {
        "words": [Measured(float(len(tokens.words(text))), None) for text in candidates],
        "characters": [Measured(float(len(text)), None) for text in candidates],
    }


KIND = Metric(
    options=LengthsOptions,
    measure=measure,
    recipe=recipe,
    against="nothing",
    descriptions=_DESCRIPTIONS,
)

"""How long a text is, in words and characters."""

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
    """Words and characters of each candidate; always defined, not pooled, neither way better."""
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

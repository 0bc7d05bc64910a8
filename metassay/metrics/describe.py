"""What a metric is called, means and gives; and docs/metrics.md, the page that says so.

`python -m metassay.metrics.describe docs/metrics.md` writes the page.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple


@dataclass(frozen=True)
class Description:
    """What a reader must know of a metric before reading a number.

    `range` holds the lowest and the highest value that it can take (None: no end). A text that
    could not be had (status not ok) has these as the bounds of its score, if both ends exist.
    """

    name: str
    meaning: str
    better: Literal["higher", "lower", "neither"]
    range: tuple[float, float | None]
    missing: str  # when the value is null, and what it is where one might wonder
    source: str  # the paper and equation, or the software, that defines it


class Measured(NamedTuple):
    """One metric of one text: its value, and the numbers that a corpus value is pooled from.

    Both are null where the metric is undefined for the text. Two numbers are numerator and
    denominator (a corpus value is the ratio of their sums); a metric that pools otherwise says so
    in its module; one that does not pool has no statistics.
    """

    value: float | None
    statistics: tuple[float, ...] | None


UNDEFINED = Measured(None, None)


def ratio(numerator: float, denominator: float) -> Measured:
    """numerator / denominator with its statistics; undefined where the denominator is 0."""
    if denominator == 0:
        return UNDEFINED
    return Measured(numerator / denominator, (float(numerator), float(denominator)))


def page(descriptions: Mapping[str, Description]) -> str:
    """The metrics as a Markdown page, in the order of `descriptions`."""
    lines = ["# Metrics", "", "Generated from `metassay/metrics/`; do not edit.", ""]
    lines += [
        "Every value stands in the table `scores` with the recipe that it was computed by. A value"
        " that is undefined is null, never 0 and never 1. A text that a system failed to write has"
        " a null score, counted in `n_failed`; its bounds are the ends of the range where both"
        " exist. `neither`: the metric says what a text is like, not how good it is.",
        "",
        "| metric | meaning | better | range | missing data | source |",
        "|---|---|---|---|---|---|",
    ]
    lines += [_row(description) for description in descriptions.values()]
    return "\n".join(lines) + "\n"


def _row(description: Description) -> str:
    low, high = description.range
    span = f"{low:g} to {high:g}" if high is not None else f"from {low:g}"
    cells = (
        f"`{description.name}`",
        description.meaning,
        description.better,
        span,
        description.missing,
        description.source,
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    from metassay.metrics import DESCRIPTIONS

    Path(sys.argv[1]).write_text(page(DESCRIPTIONS), encoding="utf-8")

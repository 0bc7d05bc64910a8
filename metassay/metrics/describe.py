"""What a metric is called, means and gives."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from metassay.core.options import Options
from metassay.llm.needs import Needs

# Headings that metrics are shown under, in the order of pages. A metric may name another: it is
# shown after these.
JUDGED = "Claims, citations and faithfulness"
RUBRICS = "Rubrics and facets"
OVERLAP = "Overlap with the reference"
ROUGE_VARIANTS = "ROUGE precision and recall"
COPYING = "Copying and length"
RELEASED = "Released with the data"
FAMILIES = (JUDGED, RUBRICS, OVERLAP, ROUGE_VARIANTS, COPYING, RELEASED)


@dataclass(frozen=True)
class Description:
    """What a reader must know of a metric before reading a number.

    `range` holds the lowest and the highest value that it can take (None: no end). A text that
    could not be had (status not ok) has these as the bounds of its score, if both ends exist.
    `family` is the heading that the metric is shown under. A `headline` metric is shown where there
    is room for a few only: one number per question, no variants. `pool` makes the corpus value of
    the statistics of several texts; None: the ratio of their sums.
    """

    name: str
    meaning: str
    better: Literal["higher", "lower", "neither"]
    range: tuple[float | None, float | None]
    missing: str  # when the value is null, and what it is where one might wonder
    source: str  # the paper and equation, or the software, that defines it
    family: str
    headline: bool = False
    pool: Callable[[Sequence[Sequence[float]]], float] | None = None


class Measured(NamedTuple):
    """One metric of one text: its value, and the numbers that a corpus value is pooled from.

    Both are null where the metric is undefined for the text. Two numbers are numerator and
    denominator (a corpus value is the ratio of their sums); a metric that pools otherwise has a
    `pool` in its description; one that does not pool has no statistics. `cut`: a model read only
    the beginning of the text, or of what it is compared with.
    """

    value: float | None
    statistics: tuple[float, ...] | None
    cut: bool = False


UNDEFINED = Measured(None, None)


def ratio(numerator: float, denominator: float) -> Measured:
    """numerator / denominator with its statistics; undefined where the denominator is 0."""
    if denominator == 0:
        return UNDEFINED
    return Measured(numerator / denominator, (float(numerator), float(denominator)))


def by_text(evidence: Sequence[str]) -> dict[str, list[int]]:
    """Where each distinct text stands: many systems share a reference, which is read once."""
    indices: dict[str, list[int]] = {}
    for index, text in enumerate(evidence):
        indices.setdefault(text, []).append(index)
    return indices


def page(descriptions: Mapping[str, Description]) -> str:
    """The metrics as a Markdown page, in the order of `descriptions`."""
    lines = [
        "# Metrics",
        "",
        "Generated from `metassay/metrics/`; do not edit.",
        "",
        "Every value stands in the table `scores` with the recipe that it was computed by. A value"
        " that is undefined is null, never 0 and never 1. A text that a system failed to write has"
        " a null score, counted in `n_failed`; its bounds are the ends of the range where both"
        " exist. `neither`: the metric says what a text is like, not how good it is.",
        "",
        "| metric | meaning | better | range | missing data | source |",
        "|---|---|---|---|---|---|",
    ]
    for one in descriptions.values():
        low, high = one.range
        if high is None:
            span = "any" if low is None else f"from {low:g}"
        else:
            span = f"up to {high:g}" if low is None else f"{low:g} to {high:g}"
        cells = (f"`{one.name}`", one.meaning, one.better, span, one.missing, one.source)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


# Of what is compared with source and reference, evidence is both, in this order.
Measure = Callable[[Sequence[str], Sequence[Any], Any], Mapping[str, Sequence[Measured]]]


@dataclass(frozen=True, kw_only=True)
class Metric(Needs):
    """One metric family that needs no judge: what a kind in params.yaml > metrics stands for.

    `measure(candidates, evidence, options)` gives, by metric name, one Measured per candidate;
    `evidence` holds at the same index what the candidate is compared with, as `against` says.
    `recipe(options)` states every setting that can change a value. A `costly` family is a stage of
    its own, named under params.yaml > costly_metrics; the others share one stage.
    """

    measure: Measure
    recipe: Callable[[Any], str]
    descriptions: tuple[Description, ...]
    options: type[Options] = Options
    against: Literal["reference", "source", "source and reference", "nothing"] = "reference"
    costly: bool = False

"""Descriptions, values and records of metrics."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from metassay.core.options import Options
from metassay.llm.needs import Needs

# Headings of metrics, in the order of pages. A metric may name another, which comes
# after these.
JUDGED = "Claims, citations and faithfulness"
RUBRICS = "Rubrics and facets"
OVERLAP = "Overlap with the reference"
ROUGE_VARIANTS = "ROUGE precision and recall"
COPYING = "Copying and length"
RELEASED = "Released with the data"
FAMILIES = (JUDGED, RUBRICS, OVERLAP, ROUGE_VARIANTS, COPYING, RELEASED)


@dataclass(frozen=True)
class Description:
    """What readers must know of a metric.

    `range`: the lowest and the highest possible value (None: no limit), which bound the
    score of a text that failed (status not ok), if both exist. `family`: the metric's
    heading. A `headline` metric is shown where space is short: one number per question,
    no variants. `pool` computes the corpus value of the statistics of several texts;
    None: the ratio of their sums.
    """

    name: str
    meaning: str
    better: Literal["higher", "lower", "neither"]
    range: tuple[float | None, float | None]
    missing: str  # when the value is null, and its value in other special cases
    source: str  # the paper and equation, or the software, that defines it
    family: str
    headline: bool = False
    pool: Callable[[Sequence[Sequence[float]]], float] | None = None


class Measured(NamedTuple):
    """A metric of a text: its value, and the statistics from which a corpus value is pooled.

    Both are null if the metric is undefined for the text. Two statistics are numerator
    and denominator (a corpus value is the ratio of their sums); other ways of pooling
    are a `pool` in the description; without pooling there are no statistics. `cut`: a
    model read only the beginning of the text, or of its evidence.
    """

    value: float | None
    statistics: tuple[float, ...] | None
    cut: bool = False


UNDEFINED = Measured(None, None)


def ratio(numerator: float, denominator: float) -> Measured:
    """Return numerator / denominator with its statistics; undefined if the denominator is 0."""
    if denominator == 0:
        return UNDEFINED
    return Measured(numerator / denominator, (float(numerator), float(denominator)))


def index_texts(evidence: Sequence[str]) -> dict[str, list[int]]:
    """Return the indices of each distinct text: systems share references, which are read once."""
    indices: dict[str, list[int]] = {}
    for index, text in enumerate(evidence):
        indices.setdefault(text, []).append(index)
    return indices


HEADING = "## All metrics"
COUNTED = (
    "null if there is nothing to count or no answer; answers that failed are counted in n_failed,"
    " and low and high bound what they could change"
)
INTRODUCTION = f"""{HEADING}

Generated from the descriptions in `metassay/`; do not edit. Every value stands in the
table [`scores`](tables/scores.md) with the recipe that computed it. An undefined value
is null, never 0 and never 1. If a system failed to write a text, the score is null and
counted in `n_failed`; the ends of the range are its bounds where both exist. A metric
whose better direction is `neither` describes a text and does not say how good it is.
In the column on missing data, *counted* means: {COUNTED}.
"""


def add_list(page: str, descriptions: Mapping[str, Description]) -> str:
    """Return docs/metrics.md with the list of all metrics, its last section, written anew."""
    text = page.partition(f"\n{HEADING}\n")[0]
    return f"{text.rstrip()}\n\n{list_metrics(descriptions)}"


def list_metrics(descriptions: Mapping[str, Description]) -> str:
    """Return a table for each family, in the order of `descriptions`, and released names."""
    families: dict[str, list[Description]] = {}
    for description in descriptions.values():
        families.setdefault(description.family, []).append(description)
    released = families.pop(RELEASED, [])
    lines = [INTRODUCTION]
    for family, members in families.items():
        lines += [f"### {family}", ""]
        lines += ["| metric | meaning | better | range | missing data | source |"]
        lines += ["|---|---|---|---|---|---|", *map(_row, members), ""]
    if released:
        names = ", ".join(f"`{description.name}`" for description in released)
        lines += [
            f"### {RELEASED}",
            "",
            "Some datasets contain scores. They are shown as released, and never compared"
            " with Metassay's scores of a similar name. `metassay/metrics/released.py` has their"
            f" meaning, range and source: {names}.",
            "",
        ]
    return "\n".join(lines)


def _row(description: Description) -> str:
    cells = (
        f"`{description.name}`",
        description.meaning,
        description.better,
        _span(*description.range),
        description.missing.replace(COUNTED, "*counted*"),
        description.source,
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _span(low: float | None, high: float | None) -> str:
    if high is None:
        return "any" if low is None else f"from {low:g}"
    return f"up to {high:g}" if low is None else f"{low:g} to {high:g}"


# Evidence of metrics that compare with source and reference is both, in this order.
Measure = Callable[
    [Sequence[str], Sequence[Any], Any], Mapping[str, Sequence[Measured]]
]


@dataclass(frozen=True, kw_only=True)
class Metric(Needs):
    """A metric family without a judge: a kind in params.yaml > metrics.

    `measure(candidates, evidence, options)` returns, by metric name, a Measured per
    candidate; `evidence` has at the same index what the candidate is compared with, as
    `against` says. `recipe(options)` prints every setting that can change a value. A
    `costly` family has its own stage, named under params.yaml > costly_metrics; the
    others share a stage. `find_unread(candidates, evidence, options)` says in a line, with
    counts, what of the texts the metric does not read; "" if that is nothing.
    """

    measure: Measure
    recipe: Callable[[Any], str]
    descriptions: tuple[Description, ...]
    options: type[Options] = Options
    against: Literal["reference", "source", "source and reference", "nothing"] = (
        "reference"
    )
    costly: bool = False
    find_unread: Callable[[Sequence[str], Sequence[Any], Any], str] | None = None

"""MedBARTScore: BARTScore in which tokens of medical concepts weigh more."""

from collections.abc import Sequence
from math import fsum
from typing import Literal

from pydantic import Field

from metassay.concepts import linkers
from metassay.metrics.bartscore import BartscoreOptions, both_ways, describe
from metassay.metrics.describe import Measured, Metric
from metassay.metrics.med_bertscore import overlaps
from metassay.models.likelihood import Likelihoods
from metassay.models.rows import recipe_of

NAME = "med_bartscore"


class MedBartscoreOptions(BartscoreOptions):
    """An encoder-decoder, and a linker that finds concepts.

    `alpha`: a token that overlaps a concept has weight 1 + alpha. `divisor`: the sum of weighted
    logarithms is divided by the tokens' `weights` or, as in the released code, by their `count`.
    That code counts padding, too, so that its values depend on the batch, unlike ours.
    """

    linker: linkers.Linker
    alpha: float = Field(default=1.0, ge=0)
    divisor: Literal["weights", "count"] = "weights"


DESCRIPTIONS = describe(
    NAME, "Ben Abacha et al. 2023, MedBARTScore", "those of medical concepts weigh more, and "
)


def measure(
    candidates: Sequence[str], evidence: Sequence[str], options: MedBartscoreOptions
) -> dict[str, list[Measured]]:
    """Return MedBARTScore of each candidate against the reference at the same index of `evidence`.

    As `bartscore.measure`; special tokens have weight 1. Raises BadInput as `linkers.load`, too.

    Logarithms -1, -2, -3, of which the second token is in a concept, alpha 1: -8/4, by count -8/3.
    """
    link = linkers.load(options.linker)

    def value(target: str, read: Likelihoods) -> float | None:
        if not read.values:
            return None
        heavy = overlaps(list(zip(read.begins, read.ends, strict=True)), link(target))
        weights = [1 + options.alpha * more for more in heavy]
        divisor = fsum(weights) if options.divisor == "weights" else len(weights)
        return fsum(w * v for w, v in zip(weights, read.values, strict=True)) / divisor

    rows = both_ways(candidates, evidence, options, value)
    return {d.name: [row[at] for row in rows] for at, d in enumerate(DESCRIPTIONS)}


KIND = Metric(
    options=MedBartscoreOptions,
    measure=measure,
    recipe=lambda options: (
        f"linker:{linkers.recipe(options.linker)}|"
        + recipe_of(options, options, "alpha", "divisor", "f", "max_tokens")
    ),
    descriptions=DESCRIPTIONS,
    files=lambda options: linkers.files(options.linker),
    costly=True,
)

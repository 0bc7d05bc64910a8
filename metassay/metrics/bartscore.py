"""BARTScore of a text against the reference: how likely each is for a model that read the other."""

from collections.abc import Sequence
from functools import partial
from math import fsum
from typing import Literal

from metassay.metrics.describe import OVERLAP, UNDEFINED, Description, Measured
from metassay.metrics.record import Metric
from metassay.models.likelihood import Likelihoods, likelihoods
from metassay.models.loading import NetworkOptions
from metassay.models.rows import Limits, recipe_of


class BartscoreOptions(NetworkOptions, Limits):
    """An encoder-decoder, and how both directions make one number.

    `f`: their `mean`, as in the paper, or `harm`, a b / (a + b), which the released code has as
    well.
    """

    f: Literal["mean", "harm"] = "mean"


_described = partial(
    Description,
    better="higher",
    range=(None, 0),
    missing="null if both texts are empty, or if a number of the model is not finite; an empty text"
    " has the tokenizer's marks alone",
    source="Yuan et al. 2021, section 3.1; neulab/BARTScore",
    family=OVERLAP,
)
_SIDE = (
    "mean logarithm of the probabilities that an encoder-decoder gives the tokens of the {}, having"
    " read the {}; what is past its limit is not read"
)
DESCRIPTIONS = (
    _described("bartscore_precision", _SIDE.format("text", "reference")),
    _described("bartscore_recall", _SIDE.format("reference", "text")),
    _described("bartscore_f", "mean of BARTScore precision and recall", headline=True),
)


def measure(
    candidates: Sequence[str], evidence: Sequence[str], options: BartscoreOptions
) -> dict[str, list[Measured]]:
    """BARTScore of each candidate against the reference text at the same index of `evidence`.

    At most 0, higher is better. Null where both texts are empty, and where a number is not finite.
    `cut` is true where a text was longer than the model reads. There are no statistics: a corpus
    value is a mean. Raises BadInput as `loading.load`.
    """
    pairs = [(r.strip(), c.strip()) for c, r in zip(candidates, evidence, strict=True)]
    full = [pair for pair in pairs if any(pair)]
    both = [*full, *(pair[::-1] for pair in full)]
    results = likelihoods(both, options, options)
    sides = iter(zip(results[: len(full)], results[len(full) :], strict=True))
    rows = [_values(*next(sides), options.f) if any(pair) else (UNDEFINED,) * 3 for pair in pairs]
    return {each.name: [row[at] for row in rows] for at, each in enumerate(DESCRIPTIONS)}


def _values(precision: Likelihoods, recall: Likelihoods, f: str) -> tuple[Measured, ...]:
    cut = any(side.cut or side.unread > 0 for side in (precision, recall))
    a, b = (mean(side.values) for side in (precision, recall))
    both = None
    if a is not None and b is not None:
        both = (a + b) / 2 if f == "mean" else a * b / (a + b)
    return tuple(Measured(value, None, cut) for value in (a, b, both))


def mean(values: Sequence[float] | None) -> float | None:
    """The mean, in whatever order they are added up; null of none."""
    return fsum(values) / len(values) if values else None


KIND = Metric(
    options=BartscoreOptions,
    measure=measure,
    recipe=lambda options: recipe_of(options, options, "f", "max_tokens"),
    against="reference",
    descriptions=DESCRIPTIONS,
    costly=True,
)

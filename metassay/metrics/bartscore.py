"""BARTScore of a text against the reference: how likely each is for a model that read the other."""

from collections.abc import Callable, Sequence
from functools import partial
from math import fsum
from typing import Literal

from metassay.metrics.describe import OVERLAP, UNDEFINED, Description, Measured, Metric
from metassay.models.likelihood import Likelihoods, likelihoods
from metassay.models.loading import NetworkOptions
from metassay.models.rows import Limits, recipe_of


class BartscoreOptions(NetworkOptions, Limits):
    """An encoder-decoder, and how both directions make one number.

    `f`: their `mean`, as in the paper, or `harm`, a b / (a + b), which the released code has as
    well.
    """

    f: Literal["mean", "harm"] = "mean"


def described(name: str, source: str, more: str = "") -> tuple[Description, ...]:
    """Precision, recall and f under a name; `more`: what else there is to know of them."""
    describe = partial(
        Description,
        better="higher",
        range=(None, 0),
        missing="null if both texts are empty, or if a number of the model is not finite; an empty"
        " text has the tokenizer's marks alone",
        source=source,
        family=OVERLAP,
    )
    side = (
        "mean logarithm of the probabilities that an encoder-decoder gives the tokens of the {},"
        f" having read the {{}}; {more}what is past its limit is not read"
    )
    return (
        describe(f"{name}_precision", side.format("text", "reference")),
        describe(f"{name}_recall", side.format("reference", "text")),
        describe(f"{name}_f", f"mean of {name}_precision and {name}_recall", headline=True),
    )


DESCRIPTIONS = described("bartscore", "Yuan et al. 2021, section 3.1; neulab/BARTScore")


def measure(
    candidates: Sequence[str], evidence: Sequence[str], options: BartscoreOptions
) -> dict[str, list[Measured]]:
    """BARTScore of each candidate against the reference text at the same index of `evidence`.

    At most 0, higher is better. Null where both texts are empty, and where a number is not finite.
    `cut` is true where a text was longer than the model reads. There are no statistics: a corpus
    value is a mean. Raises BadInput as `loading.load`.
    """
    rows = both_ways(candidates, evidence, options, lambda _, read: mean(read.values))
    return {each.name: [row[at] for row in rows] for at, each in enumerate(DESCRIPTIONS)}


def both_ways(
    candidates: Sequence[str],
    evidence: Sequence[str],
    options: BartscoreOptions,
    value: Callable[[str, Likelihoods], float | None],
) -> list[tuple[Measured, ...]]:
    """Precision, recall and f of each pair, by the value of a target's tokens, each way."""
    pairs = [(r.strip(), c.strip()) for c, r in zip(candidates, evidence, strict=True)]
    full = [pair for pair in pairs if any(pair)]
    both = [*full, *(pair[::-1] for pair in full)]
    results = likelihoods(both, options, options)
    values = [value(target, read) for (_, target), read in zip(both, results, strict=True)]
    cut = [read.cut or read.unread > 0 for read in results]
    n = len(full)
    sides = zip(values[:n], values[n:], cut[:n], cut[n:], strict=True)
    return [_values(*next(sides), options.f) if any(pair) else (UNDEFINED,) * 3 for pair in pairs]


def _values(
    a: float | None, b: float | None, cut: bool, its_cut: bool, f: str
) -> tuple[Measured, ...]:
    both = None
    if a is not None and b is not None:
        both = (a + b) / 2 if f == "mean" else a * b / (a + b)
    return tuple(Measured(value, None, cut or its_cut) for value in (a, b, both))


def mean(values: Sequence[float] | None) -> float | None:
    """The mean, in whatever order they are added up; null of none."""
    return fsum(values) / len(values) if values else None


KIND = Metric(
    options=BartscoreOptions,
    measure=measure,
    recipe=lambda options: recipe_of(options, options, "f", "max_tokens"),
    descriptions=DESCRIPTIONS,
    costly=True,
)

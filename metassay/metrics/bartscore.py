"""BARTScore of a text against the reference: how likely each is for a model that read the other."""

from collections.abc import Sequence
from functools import partial
from math import fsum
from pathlib import Path
from typing import Literal

from pydantic import Field

from metassay.metrics.describe import OVERLAP, UNDEFINED, Description, Measured
from metassay.metrics.record import Metric
from metassay.models.likelihood import Likelihoods, likelihoods
from metassay.models.loading import NetworkOptions
from metassay.models.rows import recipe_of
from metassay.models.store import STORE


class BartscoreOptions(NetworkOptions):
    """An encoder-decoder, and how both directions make one number.

    `f`: their `mean`, as in the paper, or `harm`, a b / (a + b), which the released code has as
    well. `max_tokens`: how much is read of either text; null for the model's own limit.
    `batch_tokens`: how many tokens are read at once, padding included (about 512 suits a processor,
    8192 a GPU); it is for speed, and changes last digits at most.
    """

    f: Literal["mean", "harm"] = "mean"
    max_tokens: int | None = Field(default=None, ge=3)
    batch_tokens: int = Field(default=512, ge=1)


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
    candidates: Sequence[str],
    evidence: Sequence[str],
    options: BartscoreOptions,
    *,
    store: Path = STORE,
) -> dict[str, list[Measured]]:
    """BARTScore of each candidate against the reference text at the same index of `evidence`.

    At most 0, higher is better. Null where both texts are empty, and where a number is not finite.
    `cut` is true where a text was longer than the model reads. There are no statistics: a corpus
    value is a mean. Raises BadInput as `loading.load`.
    """
    pairs = [(r.strip(), c.strip()) for c, r in zip(candidates, evidence, strict=True)]
    asked = [pair for pair in pairs if any(pair)]
    both = [*asked, *(pair[::-1] for pair in asked)]
    most, batch = options.max_tokens, options.batch_tokens
    found = likelihoods(both, options, max_tokens=most, batch_tokens=batch, store=store)
    sides = iter(zip(found[: len(asked)], found[len(asked) :], strict=True))
    rows = [_values(*next(sides), options.f) if any(pair) else (UNDEFINED,) * 3 for pair in pairs]
    columns = zip(*rows, strict=True) if rows else ((),) * 3
    return {one.name: list(its) for one, its in zip(DESCRIPTIONS, columns, strict=True)}


def _values(precision: Likelihoods, recall: Likelihoods, f: str) -> tuple[Measured, ...]:
    cut = any(side.cut or side.unread > 0 for side in (precision, recall))
    a, b = (
        None if side.values is None else fsum(side.values) / len(side.values)
        for side in (precision, recall)
    )
    both = None
    if a is not None and b is not None:
        both = (a + b) / 2 if f == "mean" else a * b / (a + b)
    return tuple(Measured(value, None, cut) for value in (a, b, both))


KIND = Metric(
    options=BartscoreOptions,
    measure=measure,
    recipe=lambda options: recipe_of(
        options, f=options.f, max_tokens=options.max_tokens or "the model's"
    ),
    against="reference",
    descriptions=DESCRIPTIONS,
    costly=True,
)

"""BLEURT of a text against the reference: a regressor that was trained on people's ratings."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import Field

from metassay.metrics.describe import OVERLAP, UNDEFINED, Description, Measured
from metassay.metrics.record import Metric
from metassay.models.loading import NetworkOptions
from metassay.models.regression import regressed
from metassay.models.rows import recipe_of
from metassay.models.store import STORE

NAME = "bleurt"


class BleurtOptions(NetworkOptions):
    """A regressor of pairs, which reads the reference and then the text.

    `max_tokens`: the longest input; null for the model's own limit. `batch_tokens`: how many tokens
    are read at once, padding included (about 512 suits a processor, 16384 a GPU); it is for speed,
    and changes last digits at most.
    """

    max_tokens: int | None = Field(default=None, ge=5)
    batch_tokens: int = Field(default=512, ge=1)


def measure(
    candidates: Sequence[str],
    evidence: Sequence[str],
    options: BleurtOptions,
    *,
    store: Path = STORE,
) -> dict[str, list[Measured]]:
    """BLEURT of each candidate against the reference text at the same index of `evidence`.

    Mostly 0 to 1, higher is better. Null where both texts are empty, and where the number is not
    finite. `cut` is true where a text lost its end: the longer one does in an input that is too
    long. There are no statistics: a corpus value is a mean. Raises BadInput as `regressed`.
    """
    pairs = [(r.strip(), c.strip()) for c, r in zip(candidates, evidence, strict=True)]
    most, batch = options.max_tokens, options.batch_tokens
    asked = [pair for pair in pairs if any(pair)]
    found = iter(regressed(asked, options, max_tokens=most, batch_tokens=batch, store=store))
    every = [next(found) if any(pair) else None for pair in pairs]
    return {
        NAME: [
            UNDEFINED if each is None else Measured(each.value, None, each.cut or each.unread > 0)
            for each in every
        ]
    }


KIND = Metric(
    options=BleurtOptions,
    measure=measure,
    recipe=lambda options: recipe_of(options, max_tokens=options.max_tokens or "the model's"),
    against="reference",
    descriptions=(
        Description(
            NAME,
            "the number of a regressor that was trained on people's ratings of texts beside their"
            " references; an input that is too long loses the end of the longer text",
            better="higher",
            range=(None, None),
            missing="null if both texts are empty, or if the number is not finite",
            source="Sellam et al. 2020, section 4",
            family=OVERLAP,
            headline=True,
        ),
    ),
    costly=True,
)

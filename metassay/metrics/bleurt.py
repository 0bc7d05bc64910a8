"""BLEURT of a text against the reference: a regressor that was trained on people's ratings."""

from collections.abc import Sequence
from functools import partial

from metassay.core.errors import BadInput
from metassay.metrics.describe import OVERLAP, UNDEFINED, Description, Measured, Metric
from metassay.models.loading import NetworkOptions
from metassay.models.pair_scores import Output, classifier
from metassay.models.rows import Limits, recipe_of

NAME = "bleurt"
PLACES = 6  # decimals that are kept of a number


class BleurtOptions(NetworkOptions, Limits):
    """A regressor of pairs, which reads the reference and then the text."""


def measure(
    candidates: Sequence[str], evidence: Sequence[str], options: BleurtOptions, name: str = NAME
) -> dict[str, list[Measured]]:
    """BLEURT of each candidate against the reference text at the same index of `evidence`.

    Mostly 0 to 1, higher is better. Null where both texts are empty, and where the number is not
    finite. `cut` is true where a text lost its end: the longer one does in an input that is too
    long. There are no statistics: a corpus value is a mean. `name` is what the metric is called.
    Raises BadInput as `numbers`.
    """
    pairs = [(r.strip(), c.strip()) for c, r in zip(candidates, evidence, strict=True)]
    full = [pair for pair in pairs if any(pair)]
    results = iter(numbers(full, options, options))
    every = [next(results) if any(pair) else None for pair in pairs]
    return {name: [UNDEFINED if each is None else _measured(*each) for each in every]}


def numbers(
    pairs: Sequence[tuple[str, str]], network: NetworkOptions, limits: Limits
) -> list[tuple[float | None, Output]]:
    """The number of each pair of reference and candidate, and what was not read of it.

    Raises BadInput as `loading.load`, and if the model has classes instead of a number.
    """
    if not pairs:
        return []
    names, compute = classifier(NAME, network, limits)
    if len(names) != 1:
        raise BadInput(
            f"model {network.model!r} has {len(names)} classes, and a regressor has one number;"
            " take another model"
        )
    return [(round(its.numbers[0], PLACES) if its.numbers else None, its) for its in compute(pairs)]


def _measured(value: float | None, its: Output) -> Measured:
    return Measured(value, None, its.premise_cut or its.hypothesis_cut)


def regressor(name: str, trained: str, source: str) -> Metric:
    """The family of a regressor that was trained as `trained` says, under a name of its own."""
    return Metric(
        options=BleurtOptions,
        measure=partial(measure, name=name),
        recipe=lambda options: recipe_of(options, options, "max_tokens"),
        descriptions=(
            Description(
                name,
                f"the number of a regressor that was {trained} beside their references; an input"
                " that is too long loses the end of the longer text",
                better="higher",
                range=(None, None),
                missing="null if both texts are empty, or if the number is not finite",
                source=source,
                family=OVERLAP,
                headline=True,
            ),
        ),
        costly=True,
    )


KIND = regressor(NAME, "trained on people's ratings of texts", "Sellam et al. 2020, section 4")
# Ben Abacha et al. 2023 tune a checkpoint of BLEURT; metassay.tuning trains any encoder so (`tune:
# quality`). Under another name, so that a benchmark can have both; on the scale of the ratings.
CLINICAL = regressor(
    "clinical_bleurt",
    "tuned on people's ratings of the quality of clinical texts",
    "Ben Abacha et al. 2023, ClinicalBLEURT",
)

"""BLEURT of a text against the reference: a regressor that was trained on people's ratings."""

from collections.abc import Sequence
from functools import partial

from metassay.core.errors import BadInput
from metassay.metrics.describe import OVERLAP, UNDEFINED, Description, Measured, Metric
from metassay.models.loading import NetworkOptions
from metassay.models.pair_scores import Output, classifier
from metassay.models.rows import Limits, recipe_of

NAME = "bleurt"
PLACES = 6  # decimals of a number


class BleurtOptions(NetworkOptions, Limits):
    """A regressor that reads the reference, then the text."""


def measure(
    candidates: Sequence[str], evidence: Sequence[str], options: BleurtOptions, name: str = NAME
) -> dict[str, list[Measured]]:
    """Return BLEURT of each candidate against the reference at the same index of `evidence`.

    Mostly 0 to 1, higher is better. Null if both texts are empty, or the number is not finite.
    `cut`: a text lost its end, which is the longer text of an input that is too long. There are no
    statistics: a corpus value is a mean. `name` is the metric's. Raises BadInput as `numbers`.
    """
    pairs = [(r.strip(), c.strip()) for c, r in zip(candidates, evidence, strict=True)]
    full = [pair for pair in pairs if any(pair)]
    results = (
        Measured(value, None, output.premise_cut or output.hypothesis_cut)
        for value, output in numbers(full, options, options)
    )
    outputs = [next(results) if any(pair) else UNDEFINED for pair in pairs]
    return {name: outputs}


def numbers(
    pairs: Sequence[tuple[str, str]], network: NetworkOptions, limits: Limits
) -> list[tuple[float | None, Output]]:
    """Return the number of each pair (reference, candidate), and the model's output.

    Raises BadInput as `loading.load`, and if the model has classes instead of a number.
    """
    if not pairs:
        return []
    names, compute = classifier(NAME, network, limits)
    if len(names) != 1:
        raise BadInput(
            f"model {network.model!r} has {len(names)} classes, and a regressor has one number;"
            " choose a regressor"
        )
    return [(round(o.numbers[0], PLACES) if o.numbers else None, o) for o in compute(pairs)]


def regressor(name: str, trained: str, source: str) -> Metric:
    """Return the metric of a regressor; `trained` describes its training."""
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
# Ben Abacha et al. 2023 tune a checkpoint of BLEURT; metassay.tuning trains any encoder in this way
# (`tune: quality`). A separate name lets a benchmark have both; on the scale of the ratings.
CLINICAL = regressor(
    "clinical_bleurt",
    "tuned on people's ratings of the quality of clinical texts",
    "Ben Abacha et al. 2023, ClinicalBLEURT",
)

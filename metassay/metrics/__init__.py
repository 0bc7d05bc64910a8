"""Metrics that read one text, or a text and its evidence; and the index of all of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from metassay.metrics import bleu, edit_distance, extractiveness, lengths, released, rouge, verdicts
from metassay.metrics.describe import Description, Measured
from metassay.params import Options


@dataclass(frozen=True)
class Metric:
    """One metric family that needs no judge: what a kind in params.yaml > metrics stands for."""

    options: type[Options]
    measure: Callable[[Sequence[str], Sequence[str], Any], dict[str, list[Measured]]]
    recipe: Callable[[Any], str]
    descriptions: dict[str, Description]
    against: Literal["reference", "source", "nothing"]  # what a text is compared with


METRICS: dict[str, Metric] = {
    "rouge": Metric(
        rouge.RougeOptions, rouge.measure, rouge.recipe, rouge.DESCRIPTIONS, "reference"
    ),
    "bleu": Metric(bleu.BleuOptions, bleu.measure, bleu.recipe, bleu.DESCRIPTIONS, "reference"),
    "edit_distance": Metric(
        edit_distance.EditDistanceOptions,
        edit_distance.measure,
        edit_distance.recipe,
        edit_distance.DESCRIPTIONS,
        "reference",
    ),
    "extractiveness": Metric(
        extractiveness.ExtractivenessOptions,
        extractiveness.measure,
        extractiveness.recipe,
        extractiveness.DESCRIPTIONS,
        "source",
    ),
    "lengths": Metric(
        lengths.LengthsOptions, lengths.measure, lengths.recipe, lengths.DESCRIPTIONS, "nothing"
    ),
}

DESCRIPTIONS: dict[str, Description] = {
    **verdicts.DESCRIPTIONS,
    **rouge.DESCRIPTIONS,
    **bleu.DESCRIPTIONS,
    **edit_distance.DESCRIPTIONS,
    **extractiveness.DESCRIPTIONS,
    **lengths.DESCRIPTIONS,
    **released.DESCRIPTIONS,
}

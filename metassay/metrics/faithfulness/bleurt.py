"""BLEURT of a statement with its passages as the reference."""

from collections.abc import Sequence

from metassay.metrics.faithfulness import reading
from metassay.metrics.faithfulness.record import Case, FaithfulnessMetric
from metassay.metrics.faithfulness.regressor import regressions
from metassay.models.loading import NetworkOptions
from metassay.models.rows import recipe_of

NAME = "bleurt_source"


def score(
    cases: Sequence[Case], options: reading.ReadingOptions, checkpoint: NetworkOptions
) -> reading.ByName:
    """BLEURT of each statement against its passages: mostly 0 to 1, higher is closer.

    Of an input that is too long the longer side loses its end. Null for a blank statement and where
    there is no passage, failed if the number is not finite. Sellam et al. 2020. Raises BadInput as
    `metrics.bleurt.numbers`.
    """

    return {NAME: regressions(cases, options, checkpoint)}


KIND = FaithfulnessMetric(
    options=reading.ReadingOptions,
    score=score,
    recipe=lambda options, network: recipe_of(network, options, "max_tokens"),
    descriptions=(
        reading.described(
            NAME,
            "the number of a regressor that was trained on people's ratings, of the statement with"
            " its passages as the reference; an input that is too long loses the longer side's end",
            range=(None, None),
            source="Sellam et al. 2020, section 4",
        ),
    ),
)

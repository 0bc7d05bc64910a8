"""A regressor's value of a statement beside its passages, such as a distilled metric.

Adams et al. 2023, section 7.4, distil one of other metrics; metassay.tuning trains such models.
"""

from collections.abc import Sequence

from metassay.metrics.bleurt import numbers
from metassay.metrics.faithfulness import reading
from metassay.metrics.faithfulness.record import Case, FaithfulnessMetric, Scored
from metassay.models.loading import NetworkOptions
from metassay.models.rows import recipe_of

NAME = "regressor"


def regressions(
    cases: Sequence[Case], options: reading.ReadingOptions, checkpoint: NetworkOptions
) -> list[list[Scored]]:
    """The model's number of each pair of passages and statement, the passages read first.

    Null and failed as `score` says. Raises BadInput as `metrics.bleurt.numbers`.
    """

    def scores(asked: Sequence[reading.Pair]) -> list[Scored]:
        return [
            Scored(value, value is None, its.premise_unread, its.hypothesis_cut)
            for value, its in numbers(reading.joined(asked), checkpoint, options)
        ]

    return reading.by_statement(cases, scores, Scored(None))


def score(
    cases: Sequence[Case], options: reading.ReadingOptions, checkpoint: NetworkOptions
) -> reading.ByName:
    """The model's value of each statement beside its passages; higher is more faithful.

    Unit and range are those of what the model was trained on. Of an input that is too long the
    longer side loses its end. Null for a blank statement and where there is no passage, failed if
    the number is not finite. Raises BadInput as `metrics.bleurt.numbers`.
    """
    return {NAME: regressions(cases, options, checkpoint)}


KIND = FaithfulnessMetric(
    options=reading.ReadingOptions,
    score=score,
    recipe=lambda options, network: recipe_of(network, options, "max_tokens"),
    descriptions=(
        reading.described(
            NAME,
            "value that a trained model, such as a distilled metric, gives the statement, having"
            " read its passages; an input that is too long loses the longer side's end",
            range=(None, None),
            source="Adams et al. 2023, section 7.4",
        ),
    ),
)

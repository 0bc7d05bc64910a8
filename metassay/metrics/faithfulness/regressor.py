"""A regressor's value of a statement and its passages, such as a distilled metric.

Adams et al. 2023, section 7.4, distil other metrics; metassay.tuning trains such models.
"""

from collections.abc import Sequence

from metassay.metrics.bleurt import numbers
from metassay.metrics.faithfulness import reading
from metassay.metrics.faithfulness.reading import Pair
from metassay.metrics.faithfulness.record import Case, FaithfulnessMetric, Scored
from metassay.models.loading import NetworkOptions


def regressor(name: str, meaning: str, source: str) -> FaithfulnessMetric:
    """Return the metric of a regressor that reads passages and then the statement.

    Higher is more faithful; unit and range are those of its training targets. An input that is too
    long loses the end of the longer side. Null for a blank statement or without passages, failed if
    the number is not finite. Raises BadInput as `metrics.bleurt.numbers`.
    """

    def score(
        cases: Sequence[Case], options: reading.ReadingOptions, checkpoint: NetworkOptions
    ) -> reading.ByName:
        def scores(pairs: Sequence[Pair]) -> list[Scored]:
            return [
                Scored(value, value is None, output.premise_unread, output.hypothesis_cut)
                for value, output in numbers(reading.join(pairs), checkpoint, options)
            ]

        return {name: reading.by_statement(cases, scores, Scored(None))}

    loses = "an input that is too long loses the longer side's end"
    return FaithfulnessMetric(
        options=reading.ReadingOptions,
        score=score,
        recipe=reading.states("max_tokens"),
        descriptions=(
            reading.described(name, f"{meaning}; {loses}", range=(None, None), source=source),
        ),
    )


KIND = regressor(
    "regressor",
    "value that a trained model, such as a distilled metric, gives the statement, having read its"
    " passages",
    "Adams et al. 2023, section 7.4",
)
# Sellam et al. 2020: mostly 0 to 1.
BLEURT = regressor(
    "bleurt_source",
    "the number of a regressor that was trained on people's ratings, of the statement with its"
    " passages as the reference",
    "Sellam et al. 2020, section 4",
)

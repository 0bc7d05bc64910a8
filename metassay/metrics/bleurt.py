"""Regressors: BLEURT of a text against the reference, and of statements against their passages.

Adams et al. 2023, section 7.4, distil other metrics; metassay.tuning trains such
models.
"""

from collections.abc import Sequence
from functools import partial

from metassay.core.errors import BadInput
from metassay.metrics.describe import OVERLAP, UNDEFINED, Description, Measured, Metric
from metassay.metrics.faithfulness import reading
from metassay.metrics.faithfulness.record import Case, FaithfulnessMetric, Scored
from metassay.models.loading import NetworkOptions
from metassay.models.pair_scores import Output, classifier
from metassay.models.rows import Limits, recipe_of

VERSION = 1  # raised by whoever changes results of this module's kinds

NAME = "bleurt"
PLACES = 6  # decimals of a number


class BleurtOptions(NetworkOptions, Limits):
    """A regressor that reads the reference, then the text."""


def measure(
    candidates: Sequence[str],
    evidence: Sequence[str],
    options: BleurtOptions,
    name: str = NAME,
) -> dict[str, list[Measured]]:
    """Return BLEURT of each candidate against the reference at the same index of `evidence`.

    Mostly 0 to 1, higher is better. Null if both texts are empty, or the number is not
    finite. `cut`: a text lost its end, which is the longer text of an input that is too
    long. There are no statistics: a corpus value is a mean. `name` is the metric's.
    Raises BadInput as `numbers`.
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
    return [
        (round(o.numbers[0], PLACES) if o.numbers else None, o) for o in compute(pairs)
    ]


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


KIND = regressor(
    NAME, "trained on people's ratings of texts", "Sellam et al. 2020, section 4"
)
# Ben Abacha et al. 2023 tune a checkpoint of BLEURT; metassay.tuning trains any encoder
# in this way (`tune: quality`). A separate name lets a benchmark have both; on the
# scale of the ratings.
CLINICAL = regressor(
    "clinical_bleurt",
    "tuned on people's ratings of the quality of clinical texts",
    "Ben Abacha et al. 2023, ClinicalBLEURT",
)


def statement_regressor(name: str, meaning: str, source: str) -> FaithfulnessMetric:
    """Return the metric of a regressor that reads passages and then the statement.

    Higher is more faithful; unit and range are those of its training targets. An input
    that is too long loses the end of the longer side. Null for a blank statement or
    without passages, failed if the number is not finite. Raises BadInput as `numbers`.
    """

    def score(
        cases: Sequence[Case],
        options: reading.ReadingOptions,
        checkpoint: NetworkOptions,
    ) -> reading.ByName:
        def scores(pairs: Sequence[reading.Pair]) -> list[Scored]:
            return [
                Scored(
                    value, value is None, output.premise_unread, output.hypothesis_cut
                )
                for value, output in numbers(reading.join(pairs), checkpoint, options)
            ]

        return {name: reading.score_statements(cases, scores, Scored(None))}

    loses = "an input that is too long loses the longer side's end"
    return FaithfulnessMetric(
        options=reading.ReadingOptions,
        score=score,
        recipe=reading.states("max_tokens"),
        descriptions=(
            reading.described(
                name, f"{meaning}; {loses}", range=(None, None), source=source
            ),
        ),
    )


REGRESSOR = statement_regressor(
    "regressor",
    "value that a trained model, such as a distilled metric, gives the statement, having read its"
    " passages",
    "Adams et al. 2023, section 7.4",
)
# Sellam et al. 2020: mostly 0 to 1.
SOURCE = statement_regressor(
    "bleurt_source",
    "the number of a regressor that was trained on people's ratings, of the statement with its"
    " passages as the reference",
    "Sellam et al. 2020, section 4",
)

"""A regressor's value of a statement beside its passages, such as a distilled metric.

Adams et al. 2023, section 7.4, distil one of other metrics; metassay.tuning trains such models.
"""

from collections.abc import Sequence
from pathlib import Path

from pydantic import Field

from metassay.core.errors import BadInput
from metassay.metrics.describe import JUDGED, Description
from metassay.metrics.faithfulness.options import CheckpointOptions
from metassay.metrics.faithfulness.reading import Asked, by_statement
from metassay.metrics.faithfulness.record import Case, FaithfulnessMetric, Scored
from metassay.models.loading import NetworkOptions
from metassay.models.pair_inputs import Wording
from metassay.models.pair_scores import METHOD, Output, load_classifier
from metassay.models.rows import PLACES, Scores, computed, recipe_of, task_of
from metassay.models.store import STORE

NAME = "regressor"


class RegressorOptions(CheckpointOptions):
    """Models with one output, whose value is higher where a statement is more faithful.

    `batch_tokens`: how many tokens are read at once, padding included (about 512 suits a processor,
    16384 a GPU); it is for speed, and changes last digits at most.
    """

    batch_tokens: int = Field(default=512, ge=1)


def score(
    cases: Sequence[Case],
    options: RegressorOptions,
    checkpoint: NetworkOptions,
    *,
    store: Path = STORE,
) -> dict[str, list[list[Scored]]]:
    """The model's value of each statement beside its passages, joined by a blank; higher is better.

    Its unit and range are those of what the model was trained on. Of a long input the passages lose
    their end first. Null for a blank statement and where there is no passage; failed if the number
    is not finite. Raises BadInput as `loading.load`, and if the model has not one output alone.
    """

    def scores(asked: Sequence[Asked]) -> list[Scored]:
        pairs = [(" ".join(passages), statement) for passages, statement in asked]
        task = task_of(NAME, checkpoint, METHOD)
        outputs = computed(
            task, pairs, lambda: _load(checkpoint), options.batch_tokens, store=store
        )
        return [_scored(Output(*output)) for output in outputs]

    return {NAME: by_statement(cases, scores, Scored(None))}


def _load(checkpoint: NetworkOptions) -> Scores:
    scorer, names = load_classifier(checkpoint, Wording(None), None, first_token=False)
    if len(names) != 1:
        raise BadInput(
            f"model {checkpoint.model!r} has {len(names)} outputs; take a regressor, which has one"
        )
    return scorer.scores


def _scored(output: Output) -> Scored:
    value = None if output.numbers is None else round(output.numbers[0], PLACES)
    return Scored(value, value is None, output.premise_unread, output.hypothesis_cut)


KIND = FaithfulnessMetric(
    options=RegressorOptions,
    score=score,
    recipe=lambda _, checkpoint: recipe_of(checkpoint),
    descriptions=(
        Description(
            NAME,
            "value that a trained model gives the statement, having read its passages",
            better="higher",
            range=(None, None),
            missing="null for a blank statement, and where no passage is aligned with it",
            source="Adams et al. 2023, section 7.4",
            family=JUDGED,
            headline=True,
        ),
    ),
)

"""BLEURT of a statement with its passages as the reference."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import Field

from metassay.metrics.describe import JUDGED, Description
from metassay.metrics.faithfulness.reading import Asked, by_statement
from metassay.metrics.faithfulness.record import Case, CheckpointOptions, FaithfulnessMetric, Scored
from metassay.models.loading import NetworkOptions
from metassay.models.regression import regressed
from metassay.models.rows import recipe_of
from metassay.models.store import STORE

NAME = "bleurt_source"


class BleurtOptions(CheckpointOptions):
    """Regressors of pairs, which read the passages, joined by a blank, and then the statement.

    `max_tokens`: the longest input; null for the model's own limit. `batch_tokens`: how many tokens
    are read at once, padding included (about 512 suits a processor, 16384 a GPU); it is for speed,
    and changes last digits at most.
    """

    max_tokens: int | None = Field(default=None, ge=5)
    batch_tokens: int = Field(default=512, ge=1)


def score(
    cases: Sequence[Case],
    options: BleurtOptions,
    checkpoint: NetworkOptions,
    *,
    store: Path = STORE,
) -> dict[str, list[list[Scored]]]:
    """BLEURT of each statement against its passages: mostly 0 to 1, higher is closer.

    Of an input that is too long the longer side loses its end. Null for a blank statement and where
    there is no passage, failed if the number is not finite. Sellam et al. 2020. Raises BadInput as
    `models.regression.regressed`.
    """

    def scores(asked: Sequence[Asked]) -> list[Scored]:
        pairs = [(" ".join(passages), said) for passages, said in asked]
        most, batch = options.max_tokens, options.batch_tokens
        found = regressed(pairs, checkpoint, max_tokens=most, batch_tokens=batch, store=store)
        return [Scored(value, value is None, unread, cut) for value, unread, cut in found]

    return {NAME: by_statement(cases, scores, Scored(None))}


KIND = FaithfulnessMetric(
    options=BleurtOptions,
    score=score,
    recipe=lambda options, checkpoint: recipe_of(
        checkpoint, max_tokens=options.max_tokens or "the model's"
    ),
    descriptions=(
        Description(
            NAME,
            "the number of a regressor that was trained on people's ratings, of the statement with"
            " its passages as the reference; an input that is too long loses the longer side's end",
            better="higher",
            range=(None, None),
            missing="null for a blank statement, and where no passage is aligned with it",
            source="Sellam et al. 2020, section 4",
            family=JUDGED,
            headline=True,
        ),
    ),
)

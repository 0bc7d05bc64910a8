"""BERTScore of a statement against its passages."""

from collections.abc import Sequence

from pydantic import Field

from metassay.metrics import bertscore
from metassay.metrics.faithfulness import reading, record
from metassay.models.loading import NetworkOptions

SIDES = ("precision", "recall", "f1")
NAMES = tuple(f"bertscore_source_{side}" for side in SIDES)


class SourceOptions(reading.CheckpointOptions):
    """Encoders, with `layers` and `batch_tokens` of the metric `bertscore`."""

    layers: int | None = Field(default=None, ge=1)
    batch_tokens: int = Field(default=512, ge=1)


def score(
    cases: Sequence[record.Case], options: SourceOptions, checkpoint: NetworkOptions
) -> reading.ByName:
    """Return BERTScore of each statement, the candidate, against its passages, joined by a space.

    -1 to 1, higher is closer. Null for a blank statement or without passages; failed if a number is
    not finite. Text past the encoder's limit is not read. Zhang et al. 2020, section 3. Raises
    BadInput as `bertscore.measure`.
    """
    encoder = as_bertscore(checkpoint, options.layers, options.batch_tokens)

    def scores(pairs: Sequence[reading.Pair]) -> list[tuple[record.Scored, ...]]:
        flipped = [(statement, passages) for passages, statement in reading.join(pairs)]
        return [
            tuple(
                record.Scored(value, value is None, match.unread[1], match.unread[0] > 0)
                for value in bertscore.values_of(match)
            )
            for match in bertscore.matches_of(flipped, encoder)
        ]

    results = reading.by_statement(cases, scores, (record.Scored(None),) * len(NAMES))
    return {
        name: [[scored[place] for scored in case] for case in results]
        for place, name in enumerate(NAMES)
    }


def as_bertscore(
    network: NetworkOptions, layers: int | None, batch_tokens: int
) -> bertscore.BertscoreOptions:
    """Return options of metric `bertscore` for an encoder, without weights and baseline."""
    settings = network.model_dump(include=set(NetworkOptions.model_fields))
    settings |= {"layers": layers, "batch_tokens": batch_tokens, "idf": False}
    return bertscore.BertscoreOptions.model_validate(settings)


KIND = record.FaithfulnessMetric(
    options=SourceOptions,
    score=score,
    recipe=lambda options, network: bertscore.recipe(
        as_bertscore(network, options.layers, options.batch_tokens)
    ),
    descriptions=tuple(
        reading.described(
            name,
            f"BERTScore's {side} of the statement against its passages, joined by a blank; what is"
            " past the encoder's limit is not read",
            range=(-1, 1),
            source="Zhang et al. 2020, section 3; bert-score 0.3.13",
            headline=side == "f1",
        )
        for name, side in zip(NAMES, SIDES, strict=True)
    ),
)

"""BERTScore of a statement against its passages."""

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import Field

from metassay.metrics import bertscore
from metassay.metrics.faithfulness import reading, record
from metassay.models import rows
from metassay.models.encoders import load_encoder, tokens
from metassay.models.loading import NetworkOptions

SIDES = ("precision", "recall", "f1")
NAMES = tuple(f"bertscore_source_{side}" for side in SIDES)


class SourceOptions(reading.CheckpointOptions):
    """Encoders, with `layers` and `batch_tokens` as the metric `bertscore` has them."""

    layers: int | None = Field(default=None, ge=1)
    batch_tokens: int = Field(default=512, ge=1)


def score(
    cases: Sequence[record.Case], options: SourceOptions, checkpoint: NetworkOptions
) -> reading.ByName:
    """BERTScore of each statement, the candidate, against its passages, joined by a blank.

    -1 to 1, higher is closer. Null for a blank statement and where there is no passage; failed if a
    number is not finite. What is past the encoder's limit is not read. Zhang et al. 2020, section
    3. Raises BadInput as `bertscore.measure`.
    """
    its = as_bertscore(checkpoint, options.layers, options.batch_tokens)

    def scores(pairs: Sequence[reading.Pair]) -> list[tuple[record.Scored, ...]]:
        sides = tuple(map(list, zip(*reading.joined(pairs), strict=True))) or ([], [])
        measured = list(zip(*bertscore.measure(sides[1], sides[0], its).values(), strict=True))
        cut = [place for place, values in enumerate(measured) if values[0].cut]
        read, statements = (_unread([side[place] for place in cut], its) for side in sides)
        lost = {place: (a, b > 0) for place, a, b in zip(cut, read, statements, strict=True)}
        return [
            tuple(
                record.Scored(each.value, each.value is None, *lost.get(at, ())) for each in values
            )
            for at, values in enumerate(measured)
        ]

    results = reading.by_statement(cases, scores, (record.Scored(None),) * len(NAMES))
    return {
        name: [[each[place] for each in case] for case in results]
        for place, name in enumerate(NAMES)
    }


def as_bertscore(
    network: NetworkOptions, layers: int | None, batch_tokens: int
) -> bertscore.BertscoreOptions:
    """The options of the metric `bertscore` for an encoder, without weights and baseline."""
    known = network.model_dump(include=set(NetworkOptions.model_fields))
    how = {"layers": layers, "batch_tokens": batch_tokens, "idf": False}
    return bertscore.BertscoreOptions.model_validate(known | how)


def _unread(texts: Sequence[str], options: NetworkOptions) -> list[float]:
    """The share of each text's tokens that an encoder does not read."""
    encoder = functools.cache(lambda: load_encoder(options))

    def shares(inputs: Sequence[tuple[str]], _: int) -> Iterator[Mapping[int, Any]]:
        for place, (text,) in enumerate(inputs):
            read = len(tokens(encoder(), [text])[0].numbers)
            whole = encoder().tokenizer(text, verbose=False)["input_ids"]
            yield {place: rows.unread(len(whole), read)}

    task = rows.task_of("bertscore: unread", options, bertscore.METHOD)
    return rows.computed(task, [(text,) for text in texts], lambda: shares, 1)


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

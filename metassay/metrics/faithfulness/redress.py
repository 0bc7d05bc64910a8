"""ReDRESS: the similarity of a statement to its revision by a model that reads the passages."""

from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import Field

from metassay.metrics import bertscore
from metassay.metrics.faithfulness import reading
from metassay.metrics.faithfulness.record import Case, FaithfulnessMetric, Scored
from metassay.models import rows
from metassay.models.loading import NetworkOptions, load
from metassay.models.pair_inputs import Wording
from metassay.models.pair_scores import decode_plainly, reader_of

VERSION = 1  # raised by whoever changes results of this module's kinds

NAME = "redress"
METHOD = 1  # part of the store's keys; raise it with every change of revisions


class EncoderOptions(NetworkOptions):
    """An encoder, and the layer whose vectors are matched; see metric `bertscore`."""

    layers: int | None = Field(default=None, ge=1)


class RedressOptions(reading.ReadingOptions):
    """Encoder-decoders that revise, and the encoder that compares.

    `template`: the input of the reviser's training, with {premise}, the passages joined
    by a space, and {hypothesis}, the statement. `max_new_tokens`: longer revisions
    fail. `batch_tokens` can change last digits and thus, rarely, a word.
    """

    template: reading.Template
    encoder: EncoderOptions
    max_new_tokens: int = Field(default=256, ge=1)


def score(
    cases: Sequence[Case], options: RedressOptions, checkpoint: NetworkOptions
) -> reading.ByName:
    """Return BERTScore F1 of each statement and its revision: -1 to 1, higher is more faithful.

    Revisions are decoded greedily. Null for a blank statement or without passages; 0 if
    the revision is empty; failed if it does not end within `max_new_tokens`, or a
    number is not finite. Adams et al. 2023, section 6.2. Raises BadInput as
    `loading.load`.
    """
    settings = options.model_dump(include={"template", "max_new_tokens", "max_tokens"})
    task = rows.task_of(NAME, checkpoint, METHOD, **settings)

    def load() -> rows.Scores:
        return _reviser(options, checkpoint).scores

    def scores(pairs: Sequence[reading.Pair]) -> list[Scored]:
        results = rows.compute_outputs(
            task, reading.join(pairs), load, options.batch_tokens
        )
        texts = [text for text, *_ in results]
        revised = [
            (s, t) for (_, s), t in zip(pairs, texts, strict=True) if t is not None
        ]
        statements, revisions = [s for s, _ in revised], [t for _, t in revised]
        measured = bertscore.measure(statements, revisions, _encoder(options))
        f1 = iter(measured["bertscore_f1"])
        scored = []
        for text, unread, cut in results:
            value, _, short = (None, None, False) if text is None else next(f1)
            scored.append(Scored(value, value is None, unread, cut or short))
        return scored

    return {NAME: reading.score_statements(cases, scores, Scored(None))}


def _encoder(options: RedressOptions) -> bertscore.BertscoreOptions:
    return bertscore.make_bertscore_options(
        options.encoder, options.encoder.layers, options.batch_tokens
    )


def _reviser(options: RedressOptions, checkpoint: NetworkOptions) -> rows.Runner:
    network = load("AutoModelForSeq2SeqLM", checkpoint)
    tokenizer, weights = network
    reader = reader_of(network, Wording(options.template), options.max_tokens)
    pad = rows.padding_of(network, checkpoint.model)
    decode_plainly(weights, pad, options.max_new_tokens)
    ends = weights.generation_config.eos_token_id
    ends = set(ends if isinstance(ends, list) else [ends])

    def read(premise: str, hypothesis: str) -> rows.Row:
        text = reader.read(premise, hypothesis)
        return rows.Row(
            {"input_ids": text.tokens}, (text.premise_unread, text.hypothesis_cut)
        )

    def give(tensors: dict[str, Any], batch: Sequence[rows.Row]) -> Iterator[list[Any]]:
        for row, (_, *written) in zip(
            batch, weights.generate(**tensors).tolist(), strict=True
        ):
            text = tokenizer.decode(written, skip_special_tokens=True).strip()
            yield [text if ends.intersection(written) else None, *row.context]

    return rows.Runner(read, give, pad, checkpoint.device)


def _recipe(options: RedressOptions, checkpoint: NetworkOptions) -> str:
    settings = rows.recipe_of(
        checkpoint, options, "template", "max_new_tokens", "max_tokens"
    )
    return f"{settings}|encoder|{bertscore.recipe(_encoder(options))}"


KIND = FaithfulnessMetric(
    options=RedressOptions,
    score=score,
    recipe=_recipe,
    descriptions=(
        reading.described(
            NAME,
            "BERTScore F1 between the statement and what a model that revises statements by their"
            " passages makes of it: 1 where nothing is changed",
            range=(-1, 1),
            source="Adams et al. 2023, section 6.2",
        ),
    ),
)

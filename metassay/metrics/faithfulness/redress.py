"""ReDRESS: how little a statement changes when a model revises it by its passages."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from metassay.metrics import bertscore
from metassay.metrics.describe import JUDGED, Description
from metassay.metrics.faithfulness.bertscore_source import as_bertscore
from metassay.metrics.faithfulness.reading import Asked, Template, by_statement
from metassay.metrics.faithfulness.record import Case, CheckpointOptions, FaithfulnessMetric, Scored
from metassay.models import rows
from metassay.models.loading import NetworkOptions, load
from metassay.models.pair_inputs import Wording
from metassay.models.pair_scores import decode_plainly, padding_of, reader_of
from metassay.models.store import STORE

NAME = "redress"
METHOD = 1  # part of the store's keys; whoever changes what is written for an input raises it


class EncoderOptions(NetworkOptions):
    """An encoder, and which layer's vectors are matched; see the metric `bertscore`."""

    layers: int | None = Field(default=None, ge=1)


class RedressOptions(CheckpointOptions):
    """Encoder-decoders that revise, and the encoder that compares.

    `template`: the input, with {premise}, the passages joined by a blank, and {hypothesis}, the
    statement, as the reviser was trained on it. `max_new_tokens`: a longer revision is none.
    `max_tokens`: the longest input, of which the passages are cut; null for the model's own limit.
    `batch_tokens`: how many tokens are read at once, padding included (about 512 suits a processor,
    16384 a GPU); it is for speed, and can change last digits, and so, rarely, a word.
    """

    template: Template
    encoder: EncoderOptions
    max_new_tokens: int = Field(default=256, ge=1)
    max_tokens: int | None = Field(default=None, ge=5)
    batch_tokens: int = Field(default=512, ge=1)


def score(
    cases: Sequence[Case],
    options: RedressOptions,
    checkpoint: NetworkOptions,
    *,
    store: Path = STORE,
) -> dict[str, list[list[Scored]]]:
    """BERTScore F1 between each statement and its revision: -1 to 1, higher is more faithful.

    The revision has the likeliest token each time. Null for a blank statement and where there is no
    passage; 0 if nothing was written; failed if the revision has no end within `max_new_tokens`, or
    a number is not finite. Adams et al. 2023, section 6.2. Raises BadInput as `loading.load`.
    """
    names = ("template", "max_new_tokens", "max_tokens")
    settings = {name: getattr(options, name) for name in names}
    task = rows.task_of(NAME, checkpoint, METHOD, **settings)
    load = lambda: _reviser(options, checkpoint).scores  # noqa: E731
    encoder = as_bertscore(options.encoder, options.encoder.layers, options.batch_tokens)

    def scores(asked: Sequence[Asked]) -> list[Scored]:
        pairs = [(" ".join(passages), said) for passages, said in asked]
        found = rows.computed(task, pairs, load, options.batch_tokens, store=store)
        texts = [text for text, *_ in found if text is not None]
        said = [
            said for (_, said), (text, *_) in zip(pairs, found, strict=True) if text is not None
        ]
        measured = bertscore.measure(said, texts, encoder, store=store)
        f1 = iter(measured["bertscore_f1"])
        scored = []
        for text, unread, cut in found:
            one = next(f1) if text is not None else None
            value = one and one.value
            scored.append(Scored(value, value is None, unread, cut or bool(one and one.cut)))
        return scored

    return {NAME: by_statement(cases, scores, Scored(None))}


def _reviser(options: RedressOptions, checkpoint: NetworkOptions) -> rows.Runner:
    network = load("AutoModelForSeq2SeqLM", checkpoint)
    tokenizer, weights = network
    reader = reader_of(network, Wording(options.template), options.max_tokens)
    pad = padding_of(network, checkpoint.model)
    decode_plainly(weights, pad, options.max_new_tokens)
    ends = weights.generation_config.eos_token_id
    ends = set(ends if isinstance(ends, list) else [ends])

    def read(premise: str, hypothesis: str) -> rows.Row:
        its = reader.read(premise, hypothesis)
        return rows.Row({"input_ids": its.tokens}, (its.premise_unread, its.hypothesis_cut))

    def give(tensors: dict[str, Any], batch: Sequence[rows.Row]) -> Iterator[list[Any]]:
        for row, (_, *written) in zip(batch, weights.generate(**tensors).tolist(), strict=True):
            text = tokenizer.decode(written, skip_special_tokens=True).strip()
            yield [text if ends.intersection(written) else None, *row.told]

    return rows.Runner(read, give, {"input_ids": pad}, checkpoint.device)


KIND = FaithfulnessMetric(
    options=RedressOptions,
    score=score,
    recipe=lambda options, checkpoint: rows.recipe_of(
        checkpoint,
        template=repr(options.template),
        max_new_tokens=options.max_new_tokens,
        max_tokens=options.max_tokens or "the model's",
        encoder=bertscore.recipe(
            as_bertscore(options.encoder, options.encoder.layers, options.batch_tokens)
        ),
    ),
    descriptions=(
        Description(
            NAME,
            "BERTScore F1 between the statement and what a model that revises statements by their"
            " passages makes of it: 1 where nothing is changed",
            better="higher",
            range=(-1, 1),
            missing="null for a blank statement, and where no passage is aligned with it",
            source="Adams et al. 2023, section 6.2",
            family=JUDGED,
            headline=True,
        ),
    ),
)

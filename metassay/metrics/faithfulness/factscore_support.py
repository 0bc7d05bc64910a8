"""FactScore: how probable it is that passages support a statement, by a classifier."""

import functools
import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from metassay.core.errors import BadInput
from metassay.metrics.describe import JUDGED, Description
from metassay.metrics.faithfulness.reading import Asked, by_statement
from metassay.metrics.faithfulness.record import Case, CheckpointOptions, FaithfulnessMetric, Scored
from metassay.models import rows
from metassay.models.classes import CONTRADICTED, ENTAILED, THREE, classes_of, shares
from metassay.models.digits import PROBABILITY
from metassay.models.loading import NetworkOptions, load
from metassay.models.pair_inputs import longest_input
from metassay.models.store import STORE

NAME = "factscore_support"
METHOD = 1  # part of the store's keys; whoever changes what is computed of an input raises it


class FactscoreOptions(CheckpointOptions):
    """Classifiers of a claim beside sentences: supported, contradicted, or not enough to tell.

    `labels`: what their classes are called, in their order, where their own names don't tell.
    `rule`: `printed`, the probability of supported among the three, or `released`, against
    contradicted alone. `max_tokens`: the longest input; null for the model's own limit.
    `batch_tokens`: how many tokens are read at once, padding included (about 512 suits a processor,
    16384 a GPU); it is for speed, and changes last digits at most.
    """

    labels: list[str] | None = None
    rule: Literal["printed", "released"] = "printed"
    max_tokens: int | None = Field(default=None, ge=5)
    batch_tokens: int = Field(default=512, ge=1)


def score(
    cases: Sequence[Case],
    options: FactscoreOptions,
    checkpoint: NetworkOptions,
    *,
    store: Path = STORE,
) -> dict[str, list[list[Scored]]]:
    """The probability that its passages support a statement: 0 to 1, higher is more faithful.

    The input is the statement and each passage, with the tokenizer's end mark behind each; a model
    with global attention (Longformer) has it on the statement and the marks. Passages that do not
    fit are not read, and a statement keeps at least half of the room. Null for a blank statement
    and where there is no passage; failed if a number is not finite. Adams et al. 2023, section 6.2.
    Raises BadInput as `loading.load`, and unless the classes are known to be these three.
    """
    settings = {"max_tokens": options.max_tokens}
    task = rows.task_of(NAME, checkpoint, METHOD, **settings)
    loaded = functools.cache(lambda: load("AutoModelForSequenceClassification", checkpoint))
    digits = PROBABILITY[checkpoint.dtype].kept

    def names() -> list[str]:
        config = loaded().weights.config
        return [str(config.id2label[n]) for n in range(config.num_labels)]

    def scores(asked: Sequence[Asked]) -> list[Scored]:
        if not asked:
            return []
        labels = classes_of(task, names, options.labels, store=store)
        if set(labels) != set(THREE):
            raise BadInput(
                f"model {checkpoint.model!r} knows {' and '.join(labels)}; {NAME} needs classes for"
                f" {', '.join(THREE)}"
            )
        runner = functools.cache(lambda: _runner(loaded(), checkpoint, options.max_tokens))
        inputs = [(said, *passages) for passages, said in asked]
        batch = options.batch_tokens
        found = rows.computed(task, inputs, lambda: runner().scores, batch, store=store)
        return [
            Scored(logits and support(logits, labels, options.rule, digits), logits is None, *told)
            for logits, *told in found
        ]

    return {NAME: by_statement(cases, scores, Scored(None))}


def support(logits: Sequence[float], labels: Sequence[str], rule: str, digits: int) -> float:
    """The probability of supported by the logits of three classes, as `rule` takes it."""
    if rule == "printed":
        return shares(logits, labels, digits)[ENTAILED]
    two = (ENTAILED, CONTRADICTED)
    return shares([logits[labels.index(label)] for label in two], two, digits)[ENTAILED]


def _runner(network: Any, options: NetworkOptions, max_tokens: int | None) -> rows.Runner:
    encoder = rows.encoder_of(network, options.model)
    limit = longest_input(network.tokenizer, network.weights, max_tokens)
    marks = encoder.num_special_tokens_to_add(False)
    accepted = inspect.signature(network.weights.forward).parameters

    def read(claim: str, *passages: str) -> rows.Row:
        said = rows.pieces(encoder, claim)
        long = len(said)
        if limit is not None:
            said.truncate(max(limit // 2 - marks, 1))
        features = rows.features_of(network, encoder.post_process(said))
        numbers = features["input_ids"]
        begun, end = len(numbers), numbers[-1]
        attended = [1] * begun
        whole = there = 0
        for passage in passages:
            its = rows.pieces(encoder, passage).ids
            whole += len(its)
            if limit is not None:
                its = its[: max(limit - len(numbers) - 1, 0)]
            there += len(its)
            if its:
                numbers += [*its, end]
                attended += [*([0] * len(its)), 1]
        if "token_type_ids" in features:
            features["token_type_ids"] += [1] * (len(numbers) - begun)
        if "global_attention_mask" in accepted:
            features["global_attention_mask"] = attended
        return rows.Row(features, (rows.unread(whole, there), len(said) < long))

    return rows.classifier(network, options, read)


KIND = FaithfulnessMetric(
    options=FactscoreOptions,
    score=score,
    recipe=lambda options, checkpoint: rows.recipe_of(
        checkpoint,
        rule=options.rule,
        labels=options.labels or "the model's",
        max_tokens=options.max_tokens or "the model's",
    ),
    descriptions=(
        Description(
            NAME,
            "probability that the passages support the statement, of three classes (or against"
            " contradiction alone)",
            better="higher",
            range=(0, 1),
            missing="null for a blank statement, and where no passage is aligned with it",
            source="Adams et al. 2023, section 6.2; griff4692/calibrating-summaries",
            family=JUDGED,
            headline=True,
        ),
    ),
)

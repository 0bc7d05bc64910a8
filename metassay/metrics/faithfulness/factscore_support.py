"""FactScore: the probability that passages support a statement, by a classifier."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

from metassay.core.errors import BadInput
from metassay.metrics.faithfulness import reading
from metassay.metrics.faithfulness.record import Case, FaithfulnessMetric, Scored
from metassay.models import rows
from metassay.models.digits import PROBABILITY
from metassay.models.loading import NetworkOptions, load
from metassay.models.pair_inputs import longest_input
from metassay.models.pair_scores import CONTRADICTED, ENTAILED, THREE, labels_of, shares

VERSION = 1  # raised by whoever changes results of this module's kinds

NAME = "factscore_support"
METHOD = 1  # part of the store's keys; raise it with every change of the result


class FactscoreOptions(reading.ReadingOptions):
    """Classifiers of a claim and sentences: supported, contradicted, or not enough information.

    `labels`: the meaning of their classes, in order, if the model's names do not tell.
    `rule`: `printed`, the probability of supported among the three, or `released`, of
    supported against contradicted only.
    """

    labels: list[str] | None = None
    rule: Literal["printed", "released"] = "printed"


def score(
    cases: Sequence[Case], options: FactscoreOptions, checkpoint: NetworkOptions
) -> reading.ByName:
    """Return the probability that passages support a statement: 0 to 1, higher is more faithful.

    The input is the statement and each passage, each with the tokenizer's end token; a
    model with global attention (Longformer) has it on the statement and the end tokens.
    Passages that do not fit are not read, and a statement has at least half of the
    space. Null for a blank statement or without passages; failed if a number is not
    finite. Adams et al. 2023, section 6.2. Raises BadInput as `loading.load`, and
    unless the classes are known to be these three.
    """
    task = rows.task_of(NAME, checkpoint, METHOD, max_tokens=options.max_tokens)
    digits = PROBABILITY[checkpoint.dtype].significant

    def labels_for(names: Sequence[str]) -> tuple[str, ...]:
        labels = labels_of(options.labels or names)
        if set(labels) != set(THREE):
            raise BadInput(
                f"model {checkpoint.model!r} has {' and '.join(labels)}; {NAME} needs classes for"
                f" {', '.join(THREE)}; choose another model"
            )
        return labels

    def load() -> rows.Scores:
        return _load(checkpoint, options.max_tokens, labels_for).scores

    def scored(names: Sequence[str], logits: list[float] | None, *read: Any) -> Scored:
        labels = labels_for(names)
        value = (
            None if logits is None else support(logits, labels, options.rule, digits)
        )
        return Scored(value, value is None, *read)

    def scores(pairs: Sequence[reading.Pair]) -> list[Scored]:
        inputs = [(statement, *passages) for passages, statement in pairs]
        outputs = rows.compute_outputs(task, inputs, load, options.batch_tokens)
        return [scored(*output) for output in outputs]

    return {NAME: reading.score_statements(cases, scores, Scored(None))}


def support(
    logits: Sequence[float], labels: Sequence[str], rule: str, digits: int
) -> float:
    """Return the probability of supported by the logits of three classes, by `rule`."""
    if rule == "printed":
        return shares(logits, labels, digits)[ENTAILED]
    two = (ENTAILED, CONTRADICTED)
    return shares([logits[labels.index(label)] for label in two], two, digits)[ENTAILED]


def _load(
    options: NetworkOptions,
    max_tokens: int | None,
    check: Callable[[list[str]], object],
) -> rows.Runner:
    network = load("AutoModelForSequenceClassification", options)
    config = network.weights.config
    names = [str(config.id2label[n]) for n in range(config.num_labels)]
    check(names)  # before anything is computed
    encoder = rows.encoder_of(network, options.model)
    limit = longest_input(network.tokenizer, network.weights, max_tokens)
    marks = encoder.num_special_tokens_to_add(False)
    accepted = inspect.signature(network.weights.forward).parameters

    def read(claim: str, *passages: str) -> rows.Row:
        tokens, *parts = (
            encoder.encode(t, add_special_tokens=False) for t in (claim, *passages)
        )
        n_tokens, n_passages, n_read = len(tokens), sum(map(len, parts)), 0
        if limit is not None:
            tokens.truncate(max(limit - n_passages - len(parts), limit // 2) - marks)
        features = rows.features_of(network, encoder.post_process(tokens))
        numbers = features["input_ids"]
        n_claim, end = len(numbers), numbers[-1]
        attended = [1] * n_claim
        for part in parts:
            ids = (
                part.ids
                if limit is None
                else part.ids[: max(limit - len(numbers) - 1, 0)]
            )
            if ids:
                n_read += len(ids)
                numbers += [*ids, end]
                attended += [*([0] * len(ids)), 1]
        if "token_type_ids" in features:
            features["token_type_ids"] += [1] * (len(numbers) - n_claim)
        if "global_attention_mask" in accepted:
            features["global_attention_mask"] = attended
        return rows.Row(
            features, (rows.unread(n_passages, n_read), len(tokens) < n_tokens)
        )

    def give(tensors: dict[str, Any], batch: Sequence[rows.Row]) -> Iterator[list[Any]]:
        for row, logits in zip(
            batch, network.weights(**tensors).logits.cpu(), strict=True
        ):
            yield [names, rows.finite(logits), *row.context]

    return rows.Runner(
        read, give, rows.padding_of(network, options.model), options.device
    )


KIND = FaithfulnessMetric(
    options=FactscoreOptions,
    score=score,
    recipe=reading.states("rule", "labels", "max_tokens"),
    descriptions=(
        reading.described(
            NAME,
            "probability that the passages support the statement, of three classes (or against"
            " contradiction alone)",
            source="Adams et al. 2023, section 6.2; griff4692/calibrating-summaries",
        ),
    ),
)

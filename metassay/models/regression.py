"""What a regressor of pairs of texts says of each: a number."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from metassay.core.errors import BadInput
from metassay.models import rows
from metassay.models.loading import NetworkOptions, load
from metassay.models.pair_inputs import longest_input
from metassay.models.store import STORE

METHOD = 1  # part of the store's keys; whoever changes what is computed of a pair raises it


class Regressed(NamedTuple):
    """A pair's number, null if it is not finite.

    `unread`: the share of the first text's tokens that were not read; `cut`: an end of the second.
    """

    value: float | None
    unread: float
    cut: bool


def regressed(
    pairs: Sequence[tuple[str, str]],
    options: NetworkOptions,
    *,
    max_tokens: int | None,
    batch_tokens: int,
    store: Path = STORE,
) -> list[Regressed]:
    """The number of each pair, which is read as the tokenizer joins two texts.

    Of an input with more than `max_tokens` (null: the model's limit) the longer text loses its end,
    and both do where each has more than half. Raises BadInput as `loading.load`, and if the model
    has classes instead of a number.
    """
    task = rows.task_of("regression", options, METHOD, max_tokens=max_tokens)
    load = lambda: _load(options, max_tokens).scores  # noqa: E731
    found = rows.computed(task, pairs, load, batch_tokens, store=store)
    return [Regressed(numbers and numbers[0], *told) for numbers, *told in found]


def _load(options: NetworkOptions, max_tokens: int | None) -> rows.Runner:
    network = load("AutoModelForSequenceClassification", options)
    if network.weights.config.num_labels != 1:
        raise BadInput(
            f"model {options.model!r} has {network.weights.config.num_labels} classes, and a"
            " regressor has one number; take another model"
        )
    encoder = rows.encoder_of(network, options.model)
    limit = longest_input(network.tokenizer, network.weights, max_tokens)

    def read(*texts: str) -> rows.Row:
        first, second = (rows.pieces(encoder, text) for text in texts)
        whole = len(first), len(second)
        if limit is not None:
            room = limit - encoder.num_special_tokens_to_add(True)
            short = min(*whole, room // 2)
            keeps = (room - short, short) if whole[0] > whole[1] else (short, room - short)
            first.truncate(keeps[0])
            second.truncate(keeps[1])
        told = rows.unread(whole[0], len(first)), len(second) < whole[1]
        return rows.Row(rows.features_of(network, encoder.post_process(first, second)), told)

    return rows.classifier(network, options, read)

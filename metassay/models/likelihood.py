"""Likelihood of each token of a target text given a source text, by an encoder-decoder."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from metassay.models import extra, rows
from metassay.models.loading import Network, NetworkOptions, load
from metassay.models.pair_inputs import longest_input

METHOD = 2  # part of the store's keys; raise it when the computation of a pair changes


class Likelihoods(NamedTuple):
    """Log probabilities of a target's n tokens, given a source.

    `values`: n numbers, at most 0, with the special tokens; null if one is not finite.
    `begins` and `ends`: n places of characters in the target; for a special token both
    are the begin of the token before it, or 0. `unread`: the share of the source's
    tokens past the model's limit. `cut`: the target is longer than the limit; only its
    beginning has tokens here.
    """

    values: list[float] | None
    begins: list[int]
    ends: list[int]
    unread: float
    cut: bool


def likelihoods(
    pairs: Sequence[tuple[str, str]], options: NetworkOptions, limits: rows.Limits
) -> list[Likelihoods]:
    """Compute the likelihoods of each pair of source and target.

    Both are tokenized separately and truncated at the limit; the decoder reads the
    target shifted by one, after its start token. An empty target has special tokens
    only. Yuan et al. 2021, equation 2 without weights. Raises BadInput as
    `loading.load`.
    """
    size = limits.max_tokens
    task = rows.task_of("likelihood", options, METHOD, max_tokens=size)
    batch = limits.batch_tokens
    results = rows.compute_outputs(
        task, pairs, lambda: _load(options, size).scores, batch
    )
    return [Likelihoods(*row) for row in results]


def _load(options: NetworkOptions, max_tokens: int | None) -> rows.Runner:
    network = load("AutoModelForSeq2SeqLM", options)
    weights = network.weights
    encode = both_sides(network, options.model, max_tokens)
    start = weights.generation_config.decoder_start_token_id
    start = weights.config.decoder_start_token_id if start is None else start

    def read(source: str, target: str) -> rows.Row:
        (marked, unread), (labels, lost) = encode(source, target)
        features = {"input_ids": list(marked.ids), "labels": list(labels.ids)}
        features["decoder_input_ids"] = [start, *labels.ids[:-1]]
        return rows.Row(features, (*_places(labels, target), unread, lost > 0))

    def give(
        tensors: dict[str, Any], batch: Sequence[rows.Row]
    ) -> Iterator[Likelihoods]:
        labels, sizes = (
            tensors.pop("labels"),
            [len(row.features["labels"]) for row in batch],
        )
        torch = extra.module("torch")
        columns = torch.arange(labels.shape[1], device=labels.device)
        real = columns < torch.tensor(sizes, device=labels.device)[:, None]
        logits = _logits(weights, tensors, batch, real)
        logits = logits if options.dtype == "float64" else logits.float()
        values = logits.gather(-1, labels[real][:, None])[:, 0] - logits.logsumexp(-1)
        for row, target_values in zip(batch, values.cpu().split(sizes), strict=True):
            yield Likelihoods(rows.finite(target_values), *row.context)

    return rows.Runner(
        read, give, rows.padding_of(network, options.model), options.device
    )


def both_sides(
    network: Network, model: str, max_tokens: int | None
) -> Callable[[str, str], list[tuple[Any, float]]]:
    """Return a function that encodes texts with special tokens, and their unread shares."""
    encoder = rows.encoder_of(network, model)
    limit = longest_input(network.tokenizer, network.weights, max_tokens)

    def encode(*texts: str) -> list[tuple[Any, float]]:
        encodings = []
        for side in (encoder.encode(text, add_special_tokens=False) for text in texts):
            length = len(side)
            if limit is not None:
                side.truncate(limit - encoder.num_special_tokens_to_add(False))
            encodings.append(
                (encoder.post_process(side), rows.unread(length, len(side)))
            )
        return encodings

    return encode


class _OfRows:
    """A layer's keys and values of sources, expanded to the rows of a batch.

    They are expanded when used: those of all layers may not fit into memory.
    """

    def __init__(self, layer: Any, source: Sequence[int]) -> None:
        self._layer, self._source = layer, source

    def __getattr__(self, name: str) -> Any:
        states = getattr(self._layer, name)
        if name not in ("keys", "values"):
            return states
        # A single source is not copied.
        alone = len(states) == 1
        return (
            states.expand(len(self._source), -1, -1, -1)
            if alone
            else states[self._source]
        )


def _logits(
    weights: Any, tensors: dict[str, Any], batch: Sequence[rows.Row], real: Any
) -> Any:
    """Compute the logits at the `real` places of the targets, row after row.

    Each distinct source is encoded once, and the decoder computes its keys and values
    once.
    """
    numbers, mask = tensors.pop("input_ids"), tensors["attention_mask"]
    keys = [tuple(row.features["input_ids"]) for row in batch]
    distinct = list(dict.fromkeys(keys))
    firsts, source = (
        [keys.index(key) for key in distinct],
        [distinct.index(key) for key in keys],
    )
    states = weights.get_encoder()(
        input_ids=numbers[firsts], attention_mask=mask[firsts]
    )[0]
    if len(firsts) < len(batch):
        transformers = extra.module("transformers")
        empty = transformers.DynamicCache
        cache = transformers.EncoderDecoderCache(empty(), empty())
        first_tokens = tensors["decoder_input_ids"][firsts, :1]
        inputs = {"encoder_outputs": (states,), "attention_mask": mask[firsts]}
        weights(
            **inputs,
            decoder_input_ids=first_tokens,
            past_key_values=cache,
            use_cache=True,
        )
        crossed = cache.cross_attention_cache
        tensors["past_key_values"] = transformers.EncoderDecoderCache(empty(), crossed)
        crossed.layers = [_OfRows(layer, source) for layer in crossed.layers]
    # Logits are most of the computation, so padding is left out.
    with weights.get_output_embeddings().register_forward_pre_hook(
        lambda _, args: args[0][real]
    ):
        return weights(**tensors, encoder_outputs=(states[source],)).logits


def _places(encoding: Any, text: str) -> tuple[list[int], list[int]]:
    begins: list[int] = []
    ends: list[int] = []
    for (start, end), mark in zip(
        encoding.offsets, encoding.special_tokens_mask, strict=True
    ):
        last = begins[-1] if begins else 0
        begins.append(last if mark else end - len(text[start:end].lstrip()))
        ends.append(last if mark else end)
    return begins, ends

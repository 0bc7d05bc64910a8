"""How likely an encoder-decoder finds each token of a target text, given a source text."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from metassay.models import extra, rows
from metassay.models.loading import Network, NetworkOptions, load
from metassay.models.pair_inputs import longest_input

METHOD = 2  # part of the store's keys; whoever changes what is computed of a pair raises it


class Likelihoods(NamedTuple):
    """Logarithms of the probabilities of a target's n tokens, given a source.

    `values`: n numbers, at most 0, the tokenizer's marks included; null if one is not finite.
    `begins`: n places of characters in the target; a mark's is that of the token before it, or 0.
    `ends`: where they end; a mark has no character. `unread`: the share of the source's tokens that
    is past the model's limit. `cut`: the target is longer than that; only its beginning has tokens
    here.
    """

    values: list[float] | None
    begins: list[int]
    ends: list[int]
    unread: float
    cut: bool


def likelihoods(
    pairs: Sequence[tuple[str, str]], options: NetworkOptions, limits: rows.Limits
) -> list[Likelihoods]:
    """Of each pair of source and target what the model makes of the target, token by token.

    Both are read as the tokenizer reads a text by itself, cut at the limit; the decoder reads the
    target shifted by one, after its start token. An empty target has marks only. Yuan et al. 2021,
    equation 2 without weights. Raises BadInput as `loading.load`.
    """
    most = limits.max_tokens
    task = rows.task_of("likelihood", options, METHOD, max_tokens=most)
    results = rows.computed(task, pairs, lambda: _load(options, most).scores, limits.batch_tokens)
    return [Likelihoods(*each) for each in results]


def _load(options: NetworkOptions, max_tokens: int | None) -> rows.Runner:
    network = load("AutoModelForSeq2SeqLM", options)
    weights = network.weights
    encode = both_sides(network, options.model, max_tokens)
    start = weights.generation_config.decoder_start_token_id
    start = weights.config.decoder_start_token_id if start is None else start

    def read(source: str, target: str) -> rows.Row:
        (marked, unread), (labels, lost) = encode(source, target)
        told = unread, lost > 0
        features = {"input_ids": list(marked.ids), "labels": list(labels.ids)}
        features["decoder_input_ids"] = [start, *labels.ids[:-1]]
        return rows.Row(features, (*_places(labels, target), *told))

    def give(tensors: dict[str, Any], batch: Sequence[rows.Row]) -> Iterator[Likelihoods]:
        labels = tensors.pop("labels")
        logits = weights(**_encoded(weights, tensors)).logits
        logits = logits if options.dtype == "float64" else logits.float()
        values = logits.gather(-1, labels[..., None]).squeeze(-1) - logits.logsumexp(-1)
        for row, its in zip(batch, values.cpu(), strict=True):
            yield Likelihoods(rows.finite(its[: len(row.features["labels"])]), *row.told)

    return rows.Runner(read, give, rows.padding_of(network, options.model), options.device)


def both_sides(
    network: Network, model: str, max_tokens: int | None
) -> Callable[[str, str], list[tuple[Any, float]]]:
    """What encodes source and target, each with its marks, and says what share was not read."""
    encoder = rows.encoder_of(network, model)
    limit = longest_input(network.tokenizer, network.weights, max_tokens)

    def encode(*texts: str) -> list[tuple[Any, float]]:
        found = []
        for side in (encoder.encode(text, add_special_tokens=False) for text in texts):
            whole = len(side)
            if limit is not None:
                side.truncate(limit - encoder.num_special_tokens_to_add(False))
            found.append((encoder.post_process(side), rows.unread(whole, len(side))))
        return found

    return encode


def _encoded(weights: Any, tensors: dict[str, Any]) -> dict[str, Any]:
    """The arguments of the decoder; each distinct source of a batch is encoded once."""
    numbers, mask = tensors.pop("input_ids"), tensors["attention_mask"]
    torch = extra.module("torch")
    distinct, of_row = torch.unique(numbers, dim=0, return_inverse=True)
    first = torch.stack([(of_row == place).nonzero()[0, 0] for place in range(len(distinct))])
    states = weights.get_encoder()(input_ids=distinct, attention_mask=mask[first])[0]
    return {**tensors, "encoder_outputs": (states[of_row],)}


def _places(encoding: Any, text: str) -> tuple[list[int], list[int]]:
    begins: list[int] = []
    ends: list[int] = []
    for (start, end), mark in zip(encoding.offsets, encoding.special_tokens_mask, strict=True):
        last = begins[-1] if begins else 0
        begins.append(last if mark else end - len(text[start:end].lstrip()))
        ends.append(last if mark else end)
    return begins, ends

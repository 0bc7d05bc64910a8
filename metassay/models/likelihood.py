"""How likely an encoder-decoder finds each token of a target text, given a source text."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
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
        values: dict[int, Any] = {}
        for places, labels, numbers in _parts(weights, tensors, batch):
            logits = numbers if options.dtype == "float64" else numbers.float()
            every = logits.gather(-1, labels[:, None])[:, 0] - logits.logsumexp(-1)
            sizes = [len(batch[place].features["labels"]) for place in places]
            values |= zip(places, every.cpu().split(sizes), strict=True)
        for place, row in enumerate(batch):
            yield Likelihoods(rows.finite(values[place]), *row.told)

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


def _parts(
    weights: Any, tensors: Mapping[str, Any], batch: Sequence[rows.Row]
) -> Iterator[tuple[list[int], Any, Any]]:
    """Places of rows, the tokens of their targets one after another, and the logits at each.

    Each distinct source is encoded once. The targets of one source are a part, and the decoder
    makes keys and values of it once; rows that share no source are a part as well.
    """
    torch = extra.module("torch")
    of_source: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
    for place, row in enumerate(batch):
        of_source[tuple(row.features["input_ids"])].append(place)
    sources, mask = list(of_source.values()), tensors["attention_mask"]
    firsts = [places[0] for places in sources]
    encode = weights.get_encoder()
    states = encode(input_ids=tensors["input_ids"][firsts], attention_mask=mask[firsts])[0]
    parts = [[at] for at, places in enumerate(sources) if len(places) > 1]
    parts.append([at for at, places in enumerate(sources) if len(places) == 1])
    for part in filter(None, parts):
        its, places = states[part], [place for at in part for place in sources[at]]
        sizes = torch.tensor([len(batch[place].features["labels"]) for place in places])
        real = (torch.arange(int(sizes.max())) < sizes[:, None]).to(mask.device)
        labels, decoded = (
            tensors[name][places, : real.shape[1]] for name in ("labels", "decoder_input_ids")
        )
        known = {"attention_mask": mask[places], "decoder_input_ids": decoded}
        if len(its) < len(places):
            known["past_key_values"] = _crossed(weights, its, mask[places[:1]], decoded)
        known["encoder_outputs"] = (its.expand(len(places), -1, -1),)
        # Logits are most of what is computed of a target, so padding has none.
        head = weights.get_output_embeddings()
        with head.register_forward_pre_hook(lambda _, states, real=real: states[0][real]):
            yield places, labels[real], weights(**known).logits


def _crossed(weights: Any, states: Any, mask: Any, decoded: Any) -> Any:
    """The cache of a decoder that has crossed one source, which all rows of `decoded` share."""
    transformers = extra.module("transformers")
    empty = transformers.DynamicCache
    cache = transformers.EncoderDecoderCache(empty(), empty())
    known = {"encoder_outputs": (states,), "attention_mask": mask, "past_key_values": cache}
    weights(**known, decoder_input_ids=decoded[:1, :1], use_cache=True)
    for layer in cache.cross_attention_cache.layers:
        layer.keys = layer.keys.expand(len(decoded), -1, -1, -1)
        layer.values = layer.values.expand(len(decoded), -1, -1, -1)
    return transformers.EncoderDecoderCache(empty(), cache.cross_attention_cache)


def _places(encoding: Any, text: str) -> tuple[list[int], list[int]]:
    begins: list[int] = []
    ends: list[int] = []
    for (start, end), mark in zip(encoding.offsets, encoding.special_tokens_mask, strict=True):
        last = begins[-1] if begins else 0
        begins.append(last if mark else end - len(text[start:end].lstrip()))
        ends.append(last if mark else end)
    return begins, ends

"""Greedy matching of the tokens of two texts by their vectors (Zhang et al. 2020, section 3)."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from metassay.models import extra
from metassay.models.batches import batch_by_texts
from metassay.models.encoders import Encoder, EncoderOptions, Tokens, tokens, vectors
from metassay.models.loading import identify
from metassay.models.outputs import Task, device_kind

PACKAGES = ("bert-score", "transformers", "torch")
BLOCK = 16_384  # tokens of the texts whose vectors are in memory at once
# decimals of precision and recall: all stable in float64, about five in float32
PLACES = 8

Pair = tuple[str, str]  # a candidate and its reference
Weigh = Callable[[str, Tokens], list[float]]  # of a text
# as `encoders.vectors`
Embed = Callable[[Encoder, Sequence[Sequence[int]], int], list[Any]]


class Match(NamedTuple):
    """Precision and recall of a pair, null where all tokens of a text have weight 0.

    `unread`: the shares of the candidate's and the reference's tokens that the encoder
    does not read. `matched`: false if a text has no tokens.
    """

    precision: float | None
    recall: float | None
    unread: tuple[float, float] = (0.0, 0.0)
    matched: bool = True


class MatchOptions(NamedTuple):
    """How the tokens of two texts are matched.

    `embed` computes their vectors; None: `encoders.vectors`. `bare`: tokens of weight 0
    are not matched either. `by_count`: the weighted cosines are divided by the number
    of tokens with a weight, not by the sum of weights.
    """

    embed: Embed | None = None
    bare: bool = False
    by_count: bool = False


PLAIN = MatchOptions()


def match_without_tokens(candidate: object, reference: object) -> Match:
    """Return the match of two texts if one is empty (0) or both are (null)."""
    value = 0.0 if candidate or reference else None
    return Match(value, value, matched=False)


def matches(
    encoder: Encoder,
    pairs: Sequence[Pair],
    weigh: Weigh,
    batch_tokens: int,
    options: MatchOptions = PLAIN,
) -> Iterator[dict[int, Match]]:
    """Match all pairs of non-empty texts; yields matches by place, block by block.

    A block has the vectors of its texts in memory, each encoded once; `batch_tokens`:
    see `EncoderOptions`.
    """
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    read = dict(zip(texts, tokens(encoder, texts), strict=True))
    special = _special(encoder)

    def length(text: str) -> int:
        return len(read[text].numbers)

    # Pairs with the same reference are adjacent, as are references of similar length.
    order = sorted(
        range(len(pairs)), key=lambda i: (length(pairs[i][1]), pairs[i][::-1])
    )
    for block in batch_by_texts(pairs, order, length, BLOCK):
        block_pairs = [pairs[place] for place in block]
        scores = _precisions_and_recalls(
            encoder, block_pairs, read, (weigh, options), batch_tokens
        )
        block_texts = {text for pair in block_pairs for text in pair}
        has_tokens = {t: not special.issuperset(read[t].numbers) for t in block_texts}
        yield {
            place: Match(
                precision, recall, (read[candidate].unread, read[reference].unread)
            )
            if has_tokens[candidate] and has_tokens[reference]
            else match_without_tokens(has_tokens[candidate], has_tokens[reference])
            for place, (candidate, reference), (precision, recall) in zip(
                block, block_pairs, scores, strict=True
            )
        }


def layers_of(model: str, layers: int | None) -> int | None:
    """Return the layer whose vectors are used: by default bert-score's for a name on the hub.

    None for the last layer, if bert-score does not know the name or the model is a
    folder.
    """
    if layers is not None or Path(model).is_dir():
        return layers
    defaults: dict[str, int] = extra.module("bert_score.utils").model2layers
    return defaults.get(model)


def task_of(name: str, options: EncoderOptions, settings: Mapping[str, object]) -> Task:
    """Return the task of an encoder; `settings`: everything else that can change an output."""
    layers = layers_of(options.model, options.layers) or "last"
    all_settings = {"layers": layers, "dtype": options.dtype, **settings}
    return Task(name, identify(options), options.device, all_settings, PACKAGES)


def recipe_parts(options: EncoderOptions, **more: object) -> list[str]:
    """Describe an encoder (a folder by its content) and more settings for recipes."""
    settings: dict[str, object] = {
        "model": identify(options).name,
        "layers": layers_of(options.model, options.layers) or "last",
        **more,
        "device": device_kind(options.device),
        "dtype": options.dtype,
    }
    settings |= {name: extra.version(name) for name in PACKAGES}
    return [f"{name}:{value}" for name, value in settings.items()]


def match(
    candidate: Any,
    reference: Any,
    weights: Any,
    reference_weights: Any,
    options: MatchOptions = PLAIN,
) -> Any:
    """Return precision and recall of a pair: two numbers, NaN where all weights of a side are 0.

    `candidate` and `reference` are vectors of length 1 (tokens x dimensions, torch),
    the weights one per token. Zhang et al. 2020, R_BERT and P_BERT with the weights of
    section 3.
    """
    if options.bare and weights.any() and reference_weights.any():
        candidate, reference = candidate[weights > 0], reference[reference_weights > 0]
        weights = weights[weights > 0]
        reference_weights = reference_weights[reference_weights > 0]
    similarity = candidate @ reference.T
    sides = (similarity.amax(1), weights), (similarity.amax(0), reference_weights)
    of_sides = [
        (best * weight).sum()
        / (weight.count_nonzero() if options.by_count else weight.sum())
        for best, weight in sides
    ]
    return extra.module("torch").stack(of_sides)


def weighing(encoder: Encoder, references: Mapping[str, int] | None) -> Weigh:
    """Return a function that weights the tokens of a text: equally, or by inverse frequency.

    That is log((references + 1) / (references with the token + 1)); `references` has
    the number of times that each reference occurs.
    """
    if references is None:
        special = _special(encoder)
        return lambda _, read: [float(number not in special) for number in read.numbers]
    frequency: Counter[int] = Counter()
    for read, times in zip(
        tokens(encoder, list(references)), references.values(), strict=True
    ):
        frequency.update(dict.fromkeys(read.numbers, times))
    total = sum(references.values())

    def weigh(_: str, read: Tokens) -> list[float]:
        return [
            math.log((total + 1) / (frequency[number] + 1)) for number in read.numbers
        ]

    return weigh


def _special(encoder: Encoder) -> set[int]:
    return {encoder.tokenizer.cls_token_id, encoder.tokenizer.sep_token_id}


def _precisions_and_recalls(
    encoder: Encoder,
    pairs: Sequence[Pair],
    read: Mapping[str, Tokens],
    how: tuple[Weigh, MatchOptions],
    batch_tokens: int,
) -> list[tuple[float | None, float | None]]:
    torch = extra.module("torch")
    weigh, options = how
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    rows = (options.embed or vectors)(
        encoder, [read[text].numbers for text in texts], batch_tokens
    )
    with torch.inference_mode():
        units = [row / row.norm(dim=-1, keepdim=True) for row in rows]
        kind = {"device": encoder.device, "dtype": rows[0].dtype}
        weights = [torch.tensor(weigh(text, read[text]), **kind) for text in texts]
        side = dict(zip(texts, zip(units, weights, strict=True), strict=True))
        scores = []
        for pair in pairs:
            (candidate, weight), (reference, reference_weight) = (
                side[text] for text in pair
            )
            scores.append(
                match(candidate, reference, weight, reference_weight, options)
            )
        values = torch.stack(scores).tolist()
    return [(_number(precision), _number(recall)) for precision, recall in values]


def _number(value: float) -> float | None:
    return None if math.isnan(value) else round(value, PLACES)

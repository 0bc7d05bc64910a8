"""Greedy matching of the tokens of two texts by their vectors (Zhang et al. 2020, section 3)."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from metassay.models import extra
from metassay.models.batches import by_texts
from metassay.models.encoders import Encoder, EncoderOptions, Tokens, tokens, vectors
from metassay.models.loading import identify
from metassay.models.outputs import Task, device_kind

PACKAGES = ("bert-score", "transformers", "torch")
BLOCK = 16_384  # tokens of the texts whose vectors are in memory at once
PLACES = 8  # decimals of precision and recall: in float64 they hold, in float32 about five do

Pair = tuple[str, str]  # a candidate and its reference
Weigh = Callable[[str, Tokens], list[float]]  # of a text
Embed = Callable[[Encoder, Sequence[Sequence[int]], int], list[Any]]  # as `encoders.vectors`


class Match(NamedTuple):
    """Precision and recall of a pair, null where all tokens of a text weigh nothing.

    `unread`: the share of the candidate's tokens, and of the reference's, that the encoder does not
    read. `matched`: false where a text had no tokens.
    """

    precision: float | None
    recall: float | None
    unread: tuple[float, float] = (0.0, 0.0)
    matched: bool = True


class Way(NamedTuple):
    """How the tokens of two texts meet.

    `embed` gives their vectors; None: `encoders.vectors`. `bare`: tokens that weigh nothing are
    matched by none either. `by_count`: the weighted cosines are divided by how many tokens weigh
    anything, and not by their weights.
    """

    embed: Embed | None = None
    bare: bool = False
    by_count: bool = False


PLAIN = Way()


def without(candidate: object, reference: object) -> Match:
    """The match of two texts of which one is empty (then 0) or both (then null)."""
    value = 0.0 if candidate or reference else None
    return Match(value, value, matched=False)


def matches(
    encoder: Encoder,
    pairs: Sequence[Pair],
    weigh: Weigh,
    batch_tokens: int,
    way: Way = PLAIN,
) -> Iterator[dict[int, Match]]:
    """Match every pair (of texts that are not empty); by its place, block by block.

    A block holds the vectors of its texts, each encoded once; `batch_tokens` is explained in
    `encoders.vectors`.
    """
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    read = dict(zip(texts, tokens(encoder, texts), strict=True))
    special = _special(encoder)

    def length(text: str) -> int:
        return len(read[text].numbers)

    # Pairs with the same reference stand together, and so do references of about one length.
    order = sorted(range(len(pairs)), key=lambda at: (length(pairs[at][1]), pairs[at][::-1]))
    for block in by_texts(pairs, order, length, BLOCK):
        here = [pairs[place] for place in block]
        found = _precisions_and_recalls(encoder, here, read, (weigh, way), batch_tokens)
        said = {text: not special.issuperset(read[text].numbers) for pair in here for text in pair}
        yield {
            place: Match(precision, recall, (read[candidate].unread, read[reference].unread))
            if said[candidate] and said[reference]
            else without(said[candidate], said[reference])
            for place, (candidate, reference), (precision, recall) in zip(
                block, here, found, strict=True
            )
        }


def layers_of(model: str, layers: int | None) -> int | None:
    """The layer whose vectors are taken: by default bert-score's choice for a name on the hub.

    None for the last, where bert-score knows no such name, or the model is a folder.
    """
    if layers is not None or Path(model).is_dir():
        return layers
    defaults: dict[str, int] = extra.module("bert_score.utils").model2layers
    return defaults.get(model)


def task_of(name: str, options: EncoderOptions, settings: Mapping[str, object]) -> Task:
    """The task of an encoder; `settings`: all but the encoder that can change an output."""
    layers = layers_of(options.model, options.layers) or "last"
    known = {"layers": layers, "dtype": options.dtype, **settings}
    return Task(name, identify(options), options.device, known, PACKAGES)


def stated(options: EncoderOptions, **more: object) -> list[str]:
    """The encoder, a folder by its content, and more settings, as recipes print them."""
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
    candidate: Any, reference: Any, weights: Any, reference_weights: Any, way: Way = PLAIN
) -> Any:
    """Precision and recall of a pair: two numbers, NaN where all weights of its side are 0.

    `candidate` and `reference` are vectors of length 1 (tokens x dimensions, torch), the weights
    one per token. Zhang et al. 2020, R_BERT and P_BERT with the weights of section 3.
    """
    if way.bare and weights.any() and reference_weights.any():
        candidate, reference = candidate[weights > 0], reference[reference_weights > 0]
        weights = weights[weights > 0]
        reference_weights = reference_weights[reference_weights > 0]
    similarity = candidate @ reference.T
    sides = (similarity.amax(1), weights), (similarity.amax(0), reference_weights)
    of_sides = [
        (best * its).sum() / (its.count_nonzero() if way.by_count else its.sum())
        for best, its in sides
    ]
    return extra.module("torch").stack(of_sides)


def weighing(encoder: Encoder, references: Mapping[str, int] | None) -> Weigh:
    """How much the tokens of a text weigh: the same, or by inverse document frequency.

    That is log((references + 1) / (those with the token + 1)), where `references` says how often
    each reference there is.
    """
    if references is None:
        special = _special(encoder)
        return lambda _, read: [float(number not in special) for number in read.numbers]
    having: Counter[int] = Counter()
    for read, times in zip(tokens(encoder, list(references)), references.values(), strict=True):
        having.update(dict.fromkeys(read.numbers, times))
    total = sum(references.values())

    def weigh(_: str, read: Tokens) -> list[float]:
        return [math.log((total + 1) / (having[number] + 1)) for number in read.numbers]

    return weigh


def _special(encoder: Encoder) -> set[int]:
    return {encoder.tokenizer.cls_token_id, encoder.tokenizer.sep_token_id}


def _precisions_and_recalls(
    encoder: Encoder,
    pairs: Sequence[Pair],
    read: Mapping[str, Tokens],
    how: tuple[Weigh, Way],
    batch_tokens: int,
) -> list[tuple[float | None, float | None]]:
    torch = extra.module("torch")
    weigh, way = how
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    rows = (way.embed or vectors)(encoder, [read[text].numbers for text in texts], batch_tokens)
    with torch.inference_mode():
        units = [row / row.norm(dim=-1, keepdim=True) for row in rows]
        kind = {"device": encoder.device, "dtype": rows[0].dtype}
        weights = [torch.tensor(weigh(text, read[text]), **kind) for text in texts]
        side = dict(zip(texts, zip(units, weights, strict=True), strict=True))
        scores = []
        for one, other in pairs:
            (candidate, own), (reference, its) = side[one], side[other]
            scores.append(match(candidate, reference, own, its, way))
        values = torch.stack(scores).tolist()
    return [(_number(precision), _number(recall)) for precision, recall in values]


def _number(value: float) -> float | None:
    return None if math.isnan(value) else round(value, PLACES)

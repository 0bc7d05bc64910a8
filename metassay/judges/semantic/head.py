"""A small network that compares the words of a hypothesis with those of the closest sentences.

Each word of the hypothesis looks four times at the words of the sentences: which of them it weighs
goes by their similarity in the middle and in the last layer, and by being the same word. What it
finds there, beside itself, goes through one layer of self-attention over the hypothesis, and comes
out as the word's doubt: the logit that it is not what the sentences say. The doubt of a hypothesis
is the mean of its words' doubts, weighed by their own softmax: of the most doubtful ones, whatever
the number of words.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from metassay.judges.semantic.features import Hypothesis
from metassay.models import extra
from metassay.models.batches import by_length

WIDTH = 64
LOOKS = 4
HEADS = 4
REACH = 4  # words on either side whose distance is told apart
MOST = 150  # words of the closest sentences
TOKENS = 1500  # words of hypotheses and a third of those of sentences, in a batch
NONE = -1e4  # a logit that weighs nothing
MIDDLE, LAST = 1, 2  # layers that are compared
_FLAGS, _SENTENCE_FLAGS = 9, 3
_HIDDEN = 32

Weights = Mapping[str, Any]


class Words(NamedTuple):
    """What the network reads of a pair: n words of the hypothesis, m of the closest sentences.

    `hypothesis` and `sentences`: vectors of the middle and the last layer, n x 2d and m x 2d.
    `flags`: n x 9, `sentence_flags`: m x 3. `same`: n x m, whether they are one word.
    """

    hypothesis: Any
    sentences: Any
    flags: Any
    sentence_flags: Any
    same: Any


def read(said: Hypothesis, closest: Sequence[Hypothesis], exact: Any) -> Words:
    """The pair as the network reads it; `closest`: the sentences, the most similar first."""
    count = len(said.plain)
    plain = np.array([word for one in closest for word in one.plain][:MOST], dtype=object)
    place = np.arange(count)
    flags = (
        *(said.stop, said.digit, said.name, exact),
        np.clip(said.encoded.rarity - 8, -4, 4) / 2,
        *(place == 0, np.full(count, count**-0.5), place == count - 1),
        said.negated,
    )
    of_sentences = (
        np.concatenate([one.negated for one in closest]),
        np.concatenate([one.digit for one in closest]),
        np.repeat(np.arange(len(closest)) == 0, [len(one.plain) for one in closest]),
    )
    ours, *theirs = (
        np.concatenate([one.encoded.vectors[layer] for layer in (MIDDLE, LAST)], 1)
        for one in (said, *closest)
    )
    return Words(
        ours,
        np.concatenate(theirs)[:MOST],
        np.stack([np.asarray(flag, np.float32) for flag in flags], 1),
        np.stack([np.asarray(flag, np.float32) for flag in of_sentences], 1)[:MOST],
        np.array([plain == word for word in said.plain], np.float32),
    )


def shapes(size: int) -> dict[str, tuple[int, ...]]:
    """The shape of each of the network's weights, for vectors of `size` numbers a layer."""
    found = LOOKS * (2 * WIDTH + 3 + _SENTENCE_FLAGS) + _FLAGS
    return {
        "project": (2 * size, WIDTH),
        "sharpness": (LOOKS, 3),
        **_linear("found", found, WIDTH),
        **_norm("before_self"),
        **_linear("self", WIDTH, 3 * WIDTH),
        **_linear("self_out", WIDTH, WIDTH),
        "distance": (HEADS, 2 * REACH + 1),
        **_norm("before_inner"),
        **_linear("inner", WIDTH, 2 * WIDTH),
        **_linear("inner_out", 2 * WIDTH, WIDTH),
        **_norm("before_doubt"),
        **_linear("hidden", WIDTH, _HIDDEN),
        **_linear("doubt", _HIDDEN, 1),
    }


def _linear(name: str, inside: int, outside: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (inside, outside), f"{name}.bias": (outside,)}


def _norm(name: str) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (WIDTH,), f"{name}.bias": (WIDTH,)}


class Batch(NamedTuple):
    """Pairs side by side as torch tensors, padded with zeros; `..there` says what is no padding.

    `alike`: pairs x 3 x n x m, how similar words are in both layers, and whether they are one word.
    """

    words: Words
    alike: Any
    there: Any
    sentences_there: Any


def batch(pairs: Sequence[Words], dtype: str) -> Batch:
    """The pairs as tensors of a dtype."""
    torch = extra.module("torch")
    sizes = np.array([(len(pair.flags), len(pair.sentences)) for pair in pairs])
    most = sizes.max(0)
    parts = []
    for name in Words._fields:
        first = getattr(pairs[0], name)
        second = most[1] if name == "same" else first.shape[1]
        size = most[1] if name.startswith("sentence") else most[0]
        filled = np.zeros((len(pairs), size, second), np.float32)
        for place, pair in enumerate(pairs):
            values = getattr(pair, name)
            filled[place, : values.shape[0], : values.shape[1]] = values
        parts.append(torch.from_numpy(filled).to(getattr(torch, dtype)))
    there = (torch.from_numpy(np.arange(most[k]) < sizes[:, k, None]) for k in (0, 1))
    words = Words(*parts)
    layers = zip(words.hypothesis.chunk(2, 2), words.sentences.chunk(2, 2), strict=True)
    alike = torch.stack([*(ours @ theirs.mT for ours, theirs in layers), words.same], 1)
    return Batch(words, alike, *there)


def doubts(weights: Weights, batched: Batch, drop: Any = None) -> Any:
    """The doubt of each word, pairs x words logits (torch), NONE for the padding.

    Weights and pairs are tensors of one dtype. `drop`: what is done to hidden values in training.
    """
    torch = extra.module("torch")
    drop = drop or (lambda state: state)
    pairs = batched.words
    own, theirs = pairs.hypothesis @ weights["project"], pairs.sentences @ weights["project"]
    parts = [pairs.flags]
    for sharpness in weights["sharpness"]:
        logits = (sharpness[:, None, None] * batched.alike).sum(1)
        look = logits.masked_fill(~batched.sentences_there[:, None], NONE).softmax(2)
        seen = look @ theirs
        parts += [(own - seen).abs(), own * seen, (look[:, None] * batched.alike).sum(3).mT]
        parts.append(look @ pairs.sentence_flags)
    state = drop(_apply(weights, "found", torch.cat(parts, 2)))
    state = state + drop(_attend(weights, _normed(weights, "before_self", state), batched.there))
    gelu = torch.nn.functional.gelu
    inner = gelu(_apply(weights, "inner", _normed(weights, "before_inner", state)))
    state = state + drop(_apply(weights, "inner_out", inner))
    hidden = gelu(_apply(weights, "hidden", _normed(weights, "before_doubt", state)))
    return _apply(weights, "doubt", hidden)[..., 0].masked_fill(~batched.there, NONE)


def read_doubts(
    networks: Sequence[Weights], pairs: Sequence[Words]
) -> list[tuple[float, list[float]]]:
    """The doubt of each hypothesis, and those of its words, by weights in float64.

    The mean over networks that were trained from other draws.
    """
    torch = extra.module("torch")
    found: list[tuple[float, list[float]]] = [(0.0, [])] * len(pairs)
    with torch.inference_mode():
        for places in by_length([size(pair) for pair in pairs], TOKENS):
            asked = batch([pairs[place] for place in places], "float64")
            said = torch.stack([doubts(weights, asked) for weights in networks])
            wholes = torch.stack([pooled(each) for each in said]).mean(0).tolist()
            for place, whole, words in zip(places, wholes, said.mean(0), strict=True):
                found[place] = whole, words[: len(pairs[place].flags)].tolist()
    return found


def size(pair: Words) -> int:
    """What a pair counts in a batch of TOKENS."""
    return len(pair.flags) + len(pair.sentences) // 3


def pooled(doubts: Any) -> Any:
    """The doubt of each hypothesis, of those of its words."""
    return (doubts.softmax(1) * doubts).sum(1)


def _apply(weights: Weights, name: str, state: Any) -> Any:
    return state @ weights[f"{name}.weight"] + weights[f"{name}.bias"]


def _normed(weights: Weights, name: str, state: Any) -> Any:
    norm = extra.module("torch").nn.functional.layer_norm
    return norm(state, (WIDTH,), weights[f"{name}.weight"], weights[f"{name}.bias"])


def _attend(weights: Weights, state: Any, there: Any) -> Any:
    torch = extra.module("torch")
    pairs, count, _ = state.shape
    parts = _apply(weights, "self", state).view(pairs, count, 3, HEADS, WIDTH // HEADS)
    query, key, value = parts.permute(2, 0, 3, 1, 4)
    place = torch.arange(count)
    distance = (place[None] - place[:, None]).clamp(-REACH, REACH) + REACH
    logits = query @ key.mT / math.sqrt(WIDTH // HEADS) + weights["distance"][:, distance]
    weighed = logits.masked_fill(~there[:, None, None], NONE).softmax(3) @ value
    merged = weighed.transpose(1, 2).reshape(pairs, count, WIDTH)
    return _apply(weights, "self_out", merged)

"""A small network that compares the words of a hypothesis with those of the closest sentences.

Each word of the hypothesis looks four times at the words of the sentences: which of them it weighs
goes by their similarity in the middle and in the last layer, and by being the same word. What it
finds there, beside itself, goes through one layer of self-attention over the hypothesis, and comes
out as the word's doubt: the logit that it is not what the sentences say. The doubt of a hypothesis
is the mean of its words' doubts, weighed by their own softmax: of the most doubtful ones, whatever
the number of words.
"""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic import ConfigDict, ValidationError

from metassay.core.atomic import whole_file
from metassay.core.errors import BadInput
from metassay.core.options import Options
from metassay.judges.semantic.features import CLAIM_FEATURES, WORD_FEATURES, Hypothesis
from metassay.models import extra
from metassay.models.batches import by_length
from metassay.models.outputs import text_hash

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


def read_words(said: Hypothesis, closest: Sequence[Hypothesis], exact: Any) -> Words:
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


# The coefficients of the semantic judge, what they make of features, and their files.
# Words have a logistic model; claims a logistic model and boosted trees, whose probabilities are
# averaged. The weights of the network that compares words are in a file of their own.


CONSTANT = "constant"
OF_WORDS, OF_CLAIMS = (CONSTANT, *WORD_FEATURES), (CONSTANT, *CLAIM_FEATURES)
DIGITS = 4  # significant ones: another processor's last digits shall not change the file
HELD = 9  # decimals of features: a tree's threshold is no matter of a sum's last digits
LEAST = 1e-4  # of a word's probability, so that its logarithm stays small
LEAVES = 8  # of a tree
_TRAIN = "run: dvc repro train"


class Tree(Options):
    """Nodes by number, the root first; a leaf has feature -1.

    Where a node's feature is at most its threshold `left` is next, else `right`.
    """

    feature: list[int]
    threshold: list[float]
    left: list[int]
    right: list[int]
    value: list[float]


class Trees(Options):
    """What all trees begin with, and the trees; their sum is a logit."""

    constant: float
    trees: list[Tree]


class Coefficients(Options):
    """By feature: `words` for a word's support, `claims` and `trees` for a claim's.

    `encoder`: SHA-256 of the weights that they were fitted to. `head`: SHA-256 of the network's
    file. `recipe`: all else that made them.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    encoder: str
    head: str
    recipe: dict[str, Any]
    words: dict[str, float]
    claims: dict[str, float]
    trees: Trees

    @property
    def digest(self) -> str:
        """The first digits of a hash of the numbers."""
        numbers = [self.encoder, self.head, self.words, self.claims, self.trees.model_dump()]
        return text_hash(json.dumps(numbers, sort_keys=True))[:8]


class Models(NamedTuple):
    """The same as vectors: the first value of `words` and `claims` is the constant.

    `head`: the networks' weights (torch, float64).
    """

    words: Any
    claims: Any
    trees: Trees
    head: Sequence[Weights]


def models(held: Coefficients, path: Path) -> Models:
    """The coefficients in the order of the features, and the network's weights of their file."""
    found = extra.module("safetensors.torch").load_file(head_file(path))
    count = len(found["project"])
    networks = [{name: each[n].double() for name, each in found.items()} for n in range(count)]
    words, claims = _ordered(held.words, OF_WORDS), _ordered(held.claims, OF_CLAIMS)
    return Models(words, claims, held.trees, networks)


def read(path: Path, encoder: str, model: str) -> Coefficients:
    """The coefficients in a file, fitted to the encoder with weights of this SHA-256.

    Raises BadInput if there is no such file, it is damaged or of another version, or was fitted to
    another encoder: each time they can be fitted again.
    """
    try:
        held = Coefficients.model_validate_json(path.read_text(encoding="utf-8"))
        for values, names in ((held.words, OF_WORDS), (held.claims, OF_CLAIMS)):
            _ordered(values, names)
        network = hashlib.sha256(head_file(path).read_bytes()).hexdigest()
    except FileNotFoundError as error:
        raise BadInput(f"{error.filename}: there are no coefficients; {_TRAIN}") from None
    except (ValidationError, UnicodeDecodeError, KeyError):
        raise BadInput(f"{path}: are no coefficients of this version; {_TRAIN}") from None
    if network != held.head:
        raise BadInput(f"{head_file(path)}: is not the network that belongs to {path}; {_TRAIN}")
    if held.encoder != encoder:
        raise BadInput(
            f"{path}: fitted to weights {held.encoder[:8]}, but model {model!r} has {encoder[:8]};"
            f" take that model again, or fit to this one, {_TRAIN}"
        )
    return held


def write(path: Path, held: Coefficients, network: bytes) -> None:
    """Write coefficients as JSON that is the same for the same coefficients, and their network."""
    with whole_file(head_file(path)) as file:
        file.write(network)
    with whole_file(path) as file:
        file.write((json.dumps(held.model_dump(), indent=1) + "\n").encode())


def packed(networks: Sequence[Weights]) -> bytes:
    """The networks' weights as the content of their file, in half precision, side by side."""
    stack, names = extra.module("torch").stack, sorted(networks[0])
    held = {name: stack([each[name].detach().half() for each in networks]) for name in names}
    return bytes(extra.module("safetensors.torch").save(held))


def head_file(path: Path) -> Path:
    """The file of the network that belongs to the coefficients in this file."""
    return path.with_suffix(".safetensors")


def rounded(values: Sequence[float], digits: int = DIGITS) -> list[float]:
    """Values with so many significant digits."""
    return [float(f"{value:.{digits}g}") for value in values]


def support(words: Any, features: Any) -> Any:
    """The probability of support of each word: LEAST to 1 - LEAST."""
    return np.clip(probability(words[0] + features @ words[1:]), LEAST, 1 - LEAST)


def claim_probability(held: Models, features: Any) -> Any:
    """The probability that each claim is supported (n x CLAIM_FEATURES): n values.

    The mean of what the logistic model and the trees say.
    """
    features = np.round(features, HELD)
    by_line = probability(held.claims[0] + features @ held.claims[1:])
    return (by_line + probability(logits(held.trees, features))) / 2


def probability(logit: Any) -> Any:
    """The logistic function."""
    return 1 / (1 + np.exp(-np.clip(logit, -30, 30)))


def logits(trees: Trees, features: Any) -> Any:
    """What the trees say of each row of features (n x k): n values."""
    total = np.full(len(features), trees.constant)
    rows = np.arange(len(features))
    for tree in trees.trees:
        feature, threshold, left, right, value = (np.array(of) for _, of in tree)
        at: Any = np.zeros(len(features), int)
        for _ in range(LEAVES):  # no path is longer
            goes = features[rows, feature[at]] <= threshold[at]
            at = np.where(feature[at] < 0, at, np.where(goes, left[at], right[at]))
        total += value[at]
    return total


def _ordered(held: Mapping[str, float], names: Sequence[str]) -> Any:
    if held.keys() != set(names):
        raise KeyError(set(names) ^ held.keys())
    return np.array([held[name] for name in names])

"""A small network that compares the words of a hypothesis with those of the closest sentences.

Each word of the hypothesis attends to the words of the sentences with four heads, whose
weights depend on the similarity in the middle and last layer and on identity. The
result, beside the word itself, passes one layer of self-attention over the hypothesis.
The output is the word's doubt: the logit that the sentences do not support it. The
doubt of a hypothesis is the mean of its words' doubts with their softmax as weights,
hence of the most doubtful words, whatever their number.
"""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic import ConfigDict, ValidationError

from metassay.core.atomic import whole_file
from metassay.core.errors import BadInput
from metassay.core.options import Options
from metassay.judges.semantic.features import CLAIM_FEATURES, WORD_FEATURES, Hypothesis
from metassay.models import extra
from metassay.models.batches import batch_by_length
from metassay.models.outputs import text_hash

WIDTH = 64
LOOKS = 4
HEADS = 4
REACH = 4  # words on either side up to which distances differ
MOST = 150  # words of the closest sentences
TOKENS = 1500  # per batch: words of hypotheses, and a third of those of sentences
NONE = -1e4  # a logit whose weight is 0
MIDDLE, LAST = 1, 2  # layers that are compared
_FLAGS = 9
_SENTENCE_FLAGS = 3
_HIDDEN = 32

Weights = Mapping[str, Any]


class Words(NamedTuple):
    """The network's input: n words of the hypothesis, m words of the closest sentences.

    `hypothesis` and `sentences`: vectors of the middle and last layer, n x 2d and m x
    2d. `flags`: n x 9, `sentence_flags`: m x 3. `same`: n x m, whether they are the
    same word.
    """

    hypothesis: Any
    sentences: Any
    flags: Any
    sentence_flags: Any
    same: Any


def _join_layers(text: Hypothesis) -> Any:
    """Return the vectors of two layers of the encoder side by side, a row per word."""
    vectors = text.encoded.vectors
    return np.concatenate([vectors[MIDDLE], vectors[LAST]], 1)


def read_words(
    hypothesis: Hypothesis, closest: Sequence[Hypothesis], exact: Any
) -> Words:
    """Return the network's input; `closest`: the sentences, the most similar first."""
    count = len(hypothesis.plain)
    words = chain.from_iterable(text.plain for text in closest)
    plain = np.array(list(islice(words, MOST)), dtype=object)
    place = np.arange(count)
    flags = (
        hypothesis.stop,
        hypothesis.digit,
        hypothesis.name,
        exact,
        np.clip(hypothesis.encoded.rarity - 8, -4, 4) / 2,
        place == 0,
        np.full(count, count**-0.5),
        place == count - 1,
        hypothesis.negated,
    )
    of_sentences = (
        np.concatenate([text.negated for text in closest]),
        np.concatenate([text.digit for text in closest]),
        np.repeat(np.arange(len(closest)) == 0, [len(text.plain) for text in closest]),
    )
    return Words(
        hypothesis=_join_layers(hypothesis),
        sentences=np.concatenate([_join_layers(text) for text in closest])[:MOST],
        flags=np.stack([np.asarray(flag, np.float32) for flag in flags], 1),
        sentence_flags=np.stack(
            [np.asarray(flag, np.float32) for flag in of_sentences], 1
        )[:MOST],
        same=np.array([plain == word for word in hypothesis.plain], np.float32),
    )


def shapes(size: int) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the network's weights, for vectors of `size` numbers per layer."""
    inputs = LOOKS * (2 * WIDTH + 3 + _SENTENCE_FLAGS) + _FLAGS
    return {
        "project": (2 * size, WIDTH),
        "sharpness": (LOOKS, 3),
        **_linear("found", inputs, WIDTH),
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
    """Pairs as torch tensors, padded with zeros; the masks are false for padding.

    `alike`: pairs x 3 x n x m, the similarity of words in both layers, and whether they
    are equal.
    """

    words: Words
    alike: Any
    mask: Any
    sentence_mask: Any


def batch(pairs: Sequence[Words], dtype: str) -> Batch:
    """Return the pairs as tensors of a dtype."""
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
    masks = (torch.from_numpy(np.arange(most[k]) < sizes[:, k, None]) for k in (0, 1))
    words = Words(*parts)
    layers = zip(words.hypothesis.chunk(2, 2), words.sentences.chunk(2, 2), strict=True)
    alike = torch.stack([*(ours @ theirs.mT for ours, theirs in layers), words.same], 1)
    return Batch(words, alike, *masks)


def doubts(weights: Weights, batched: Batch, drop: Any = None) -> Any:
    """Return the doubt of each word: logits, pairs x words (torch), NONE for padding.

    Weights and pairs are tensors of one dtype. `drop`: the dropout of hidden values in
    training.
    """
    torch = extra.module("torch")
    drop = drop or (lambda state: state)
    pairs = batched.words
    ours = pairs.hypothesis @ weights["project"]
    theirs = pairs.sentences @ weights["project"]
    parts = [pairs.flags]
    for sharpness in weights["sharpness"]:
        logits = (sharpness[:, None, None] * batched.alike).sum(1)
        look = logits.masked_fill(~batched.sentence_mask[:, None], NONE).softmax(2)
        seen = look @ theirs
        parts += [
            (ours - seen).abs(),
            ours * seen,
            (look[:, None] * batched.alike).sum(3).mT,
        ]
        parts.append(look @ pairs.sentence_flags)
    state = drop(_apply(weights, "found", torch.cat(parts, 2)))
    state = state + drop(
        _attend(weights, _normalize(weights, "before_self", state), batched.mask)
    )
    gelu = torch.nn.functional.gelu
    inner = gelu(_apply(weights, "inner", _normalize(weights, "before_inner", state)))
    state = state + drop(_apply(weights, "inner_out", inner))
    hidden = gelu(_apply(weights, "hidden", _normalize(weights, "before_doubt", state)))
    return _apply(weights, "doubt", hidden)[..., 0].masked_fill(~batched.mask, NONE)


def read_doubts(
    networks: Sequence[Weights], pairs: Sequence[Words]
) -> list[tuple[float, list[float]]]:
    """Return the doubt of each hypothesis and of its words, with weights in float64.

    It is the mean over the networks, which were trained with different seeds.
    """
    torch = extra.module("torch")
    results: list[tuple[float, list[float]]] = [(0.0, [])] * len(pairs)
    with torch.inference_mode():
        for places in batch_by_length([size(pair) for pair in pairs], TOKENS):
            batched = batch([pairs[place] for place in places], "float64")
            by_network = torch.stack([doubts(weights, batched) for weights in networks])
            claims = (
                torch.stack([pool(of_words) for of_words in by_network])
                .mean(0)
                .tolist()
            )
            for place, claim, words in zip(
                places, claims, by_network.mean(0), strict=True
            ):
                results[place] = claim, words[: len(pairs[place].flags)].tolist()
    return results


def size(pair: Words) -> int:
    """Return the size of a pair, in the unit of TOKENS."""
    return len(pair.flags) + len(pair.sentences) // 3


def pool(doubts: Any) -> Any:
    """Return the doubt of each hypothesis from the doubts of its words."""
    return (doubts.softmax(1) * doubts).sum(1)


def _apply(weights: Weights, name: str, state: Any) -> Any:
    return state @ weights[f"{name}.weight"] + weights[f"{name}.bias"]


def _normalize(weights: Weights, name: str, state: Any) -> Any:
    norm = extra.module("torch").nn.functional.layer_norm
    return norm(state, (WIDTH,), weights[f"{name}.weight"], weights[f"{name}.bias"])


def _attend(weights: Weights, state: Any, mask: Any) -> Any:
    torch = extra.module("torch")
    pairs, count, _ = state.shape
    parts = _apply(weights, "self", state).view(pairs, count, 3, HEADS, WIDTH // HEADS)
    query, key, value = parts.permute(2, 0, 3, 1, 4)
    place = torch.arange(count)
    distance = (place[None] - place[:, None]).clamp(-REACH, REACH) + REACH
    logits = (
        query @ key.mT / math.sqrt(WIDTH // HEADS) + weights["distance"][:, distance]
    )
    weighed = logits.masked_fill(~mask[:, None, None], NONE).softmax(3) @ value
    merged = weighed.transpose(1, 2).reshape(pairs, count, WIDTH)
    return _apply(weights, "self_out", merged)


# Coefficients: a logistic model of words, and a logistic model and boosted trees of
# claims, whose probabilities are averaged. The network's weights are in a separate
# file.


CONSTANT = "constant"
OF_WORDS = (CONSTANT, *WORD_FEATURES)
OF_CLAIMS = (CONSTANT, *CLAIM_FEATURES)
DIGITS = 4  # significant digits, so that the file is the same on every processor
DECIMALS = 9  # of features, so that last digits do not decide at a tree's threshold
LEAST = 1e-4  # probability of a word, which bounds its logarithm
LEAVES = 8  # of a tree
_TRAIN = "run: dvc repro train"


class Tree(Options):
    """Nodes by number, the root first; a leaf has feature -1.

    If a node's feature is at most its threshold, `left` is next, else `right`.
    """

    feature: list[int]
    threshold: list[float]
    left: list[int]
    right: list[int]
    value: list[float]


class Trees(Options):
    """A constant and trees, whose sum is a logit."""

    constant: float
    trees: list[Tree]


class Coefficients(Options):
    """Coefficients by feature: `words` of a word's support, `claims` and `trees` of a claim's.

    `encoder`: SHA-256 of the encoder's weights. `head`: SHA-256 of the network's file.
    `recipe`: the settings and data of the training.
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
        """The first digits of a hash of the coefficients."""
        numbers = [
            self.encoder,
            self.head,
            self.words,
            self.claims,
            self.trees.model_dump(),
        ]
        return text_hash(json.dumps(numbers, sort_keys=True))[:8]


class Models(NamedTuple):
    """Coefficients as vectors: the first value of `words` and `claims` is the constant.

    `head`: the networks' weights (torch, float64).
    """

    words: Any
    claims: Any
    trees: Trees
    head: Sequence[Weights]


def load_models(coefficients: Coefficients, path: Path) -> Models:
    """Return the coefficients in the order of features, and load the network's weights."""
    stacked = extra.module("safetensors.torch").load_file(head_file(path))
    networks = []
    for number in range(len(stacked["project"])):
        networks.append({name: w[number].double() for name, w in stacked.items()})
    words = _order(coefficients.words, OF_WORDS)
    return Models(
        words, _order(coefficients.claims, OF_CLAIMS), coefficients.trees, networks
    )


def read(path: Path, encoder: str, model: str) -> Coefficients:
    """Read the coefficients that were fitted to the encoder with weights of this SHA-256.

    Raises BadInput if the file does not exist, is damaged or of another version, or was
    fitted to another encoder; the remedy is to fit them again.
    """
    try:
        coefficients = Coefficients.model_validate_json(
            path.read_text(encoding="utf-8")
        )
        for values, names in (
            (coefficients.words, OF_WORDS),
            (coefficients.claims, OF_CLAIMS),
        ):
            _order(values, names)
        network = hashlib.sha256(head_file(path).read_bytes()).hexdigest()
    except FileNotFoundError as error:
        raise BadInput(
            f"{error.filename}: there are no coefficients; {_TRAIN}"
        ) from None
    except (ValidationError, UnicodeDecodeError, KeyError):
        raise BadInput(
            f"{path}: are no coefficients of this version; {_TRAIN}"
        ) from None
    if network != coefficients.head:
        raise BadInput(
            f"{head_file(path)}: is not the network that belongs to {path}; {_TRAIN}"
        )
    if coefficients.encoder != encoder:
        raise BadInput(
            f"{path}: fitted to weights {coefficients.encoder[:8]}, but model {model!r} has"
            f" {encoder[:8]}; take that model again, or fit to this one, {_TRAIN}"
        )
    return coefficients


def write(path: Path, coefficients: Coefficients, network: bytes) -> None:
    """Write coefficients as JSON, with the same bytes for equal ones, and their network."""
    with whole_file(head_file(path)) as file:
        file.write(network)
    with whole_file(path) as file:
        file.write((json.dumps(coefficients.model_dump(), indent=1) + "\n").encode())


def pack(networks: Sequence[Weights]) -> bytes:
    """Return the content of the networks' file: their weights stacked, in half precision."""
    stack = extra.module("torch").stack
    names = sorted(networks[0])
    stacked = {}
    for name in names:
        stacked[name] = stack([weights[name].detach().half() for weights in networks])
    return bytes(extra.module("safetensors.torch").save(stacked))


def head_file(path: Path) -> Path:
    """Return the file of the network that belongs to a file of coefficients."""
    return path.with_suffix(".safetensors")


def round_digits(values: Sequence[float], digits: int = DIGITS) -> list[float]:
    """Round values to significant digits."""
    return [float(f"{value:.{digits}g}") for value in values]


def support(words: Any, features: Any) -> Any:
    """Return the probability of support of each word: LEAST to 1 - LEAST."""
    return np.clip(probability(words[0] + features @ words[1:]), LEAST, 1 - LEAST)


def claim_probability(models: Models, features: Any) -> Any:
    """Return the probability that each claim is supported (n x CLAIM_FEATURES): n values.

    It is the mean of the probabilities of the logistic model and of the trees.
    """
    features = np.round(features, DECIMALS)
    linear = probability(models.claims[0] + features @ models.claims[1:])
    return (linear + probability(logits(models.trees, features))) / 2


def probability(logit: Any) -> Any:
    """Apply the logistic function."""
    return 1 / (1 + np.exp(-np.clip(logit, -30, 30)))


def logits(trees: Trees, features: Any) -> Any:
    """Return the trees' logit for each row of features (n x k): n values."""
    total = np.full(len(features), trees.constant)
    rows = np.arange(len(features))
    for tree in trees.trees:
        feature, threshold, left, right, value = (
            np.array(column) for _, column in tree
        )
        node: Any = np.zeros(len(features), int)
        for _ in range(LEAVES):  # no path is longer
            is_left = features[rows, feature[node]] <= threshold[node]
            child = np.where(is_left, left[node], right[node])
            node = np.where(feature[node] < 0, node, child)
        total += value[node]
    return total


def _order(values: Mapping[str, float], names: Sequence[str]) -> Any:
    if values.keys() != set(names):
        raise KeyError(set(names) ^ values.keys())
    return np.array([values[name] for name in names])

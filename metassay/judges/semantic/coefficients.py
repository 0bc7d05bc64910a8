"""The coefficients of the semantic judge, what they make of features, and their files.

Words have a logistic model; claims a logistic model and boosted trees, whose probabilities are
averaged. The weights of the network that compares words are in a file of their own.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic import ConfigDict, ValidationError

from metassay.core.atomic import whole_file
from metassay.core.errors import BadInput
from metassay.core.options import Options
from metassay.judges.semantic.features import CLAIM_FEATURES, WORD_FEATURES
from metassay.judges.semantic.head import Weights
from metassay.models import extra
from metassay.models.outputs import text_hash

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

"""The coefficients of the semantic judge, their recipe, and their files.

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
from metassay.judges.semantic import claims, head, tokens
from metassay.judges.semantic import trees as boosted
from metassay.judges.semantic.trees import Trees
from metassay.models import extra
from metassay.models.outputs import text_hash

CONSTANT = "constant"
DIGITS = 4  # significant ones: another processor's last digits shall not change the file
HELD = 9  # decimals of features: a tree's threshold is no matter of a sum's last digits
LEAST = 1e-4  # of a word's probability, so that its logarithm stays small
_TRAIN = "run: dvc repro train"
_HEAD = ".safetensors"  # the network's file is called as the coefficients' but for this


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
    head: list[head.Weights]


def models(held: Coefficients, path: Path) -> Models:
    """The coefficients in the order of the features, and the network's weights of their file."""
    found = extra.module("safetensors.torch").load_file(_head_file(path))
    return Models(
        _ordered(held.words, (CONSTANT, *tokens.FEATURES)),
        _ordered(held.claims, (CONSTANT, *claims.FEATURES)),
        held.trees,
        [
            {name: values[place].double() for name, values in found.items()}
            for place in range(len(found["project"]))
        ],
    )


def read(path: Path, encoder: str, model: str) -> Coefficients:
    """The coefficients in a file, fitted to the encoder with weights of this SHA-256.

    Raises BadInput if there is no such file, it is damaged or of another version, or was fitted to
    another encoder: each time they can be fitted again.
    """
    try:
        held = Coefficients.model_validate_json(path.read_text(encoding="utf-8"))
        _ordered(held.words, (CONSTANT, *tokens.FEATURES))
        _ordered(held.claims, (CONSTANT, *claims.FEATURES))
        network = hashlib.sha256(_head_file(path).read_bytes()).hexdigest()
    except FileNotFoundError as error:
        raise BadInput(f"{error.filename}: there are no coefficients; {_TRAIN}") from None
    except (ValidationError, UnicodeDecodeError, KeyError):
        raise BadInput(f"{path}: are no coefficients of this version; {_TRAIN}") from None
    if network != held.head:
        raise BadInput(f"{_head_file(path)}: is not the network that belongs to {path}; {_TRAIN}")
    if held.encoder != encoder:
        raise BadInput(
            f"{path}: fitted to weights {held.encoder[:8]}, but model {model!r} has {encoder[:8]};"
            f" take that model again, or fit to this one, {_TRAIN}"
        )
    return held


def write(path: Path, held: Coefficients, network: bytes) -> None:
    """Write coefficients as JSON that is the same for the same coefficients, and their network."""
    with whole_file(_head_file(path)) as file:
        file.write(network)
    with whole_file(path) as file:
        file.write((json.dumps(held.model_dump(), indent=1) + "\n").encode())


def packed(networks: Sequence[head.Weights]) -> bytes:
    """The networks' weights as the content of their file, in half precision, side by side."""
    stack = extra.module("torch").stack
    held = {
        name: stack([weights[name].detach().half() for weights in networks])
        for name in sorted(networks[0])
    }
    found: bytes = extra.module("safetensors.torch").save(held)
    return found


def files(path: Path) -> tuple[Path, Path]:
    """The file of the coefficients, and that of their network."""
    return path, _head_file(path)


def named(names: Sequence[str], values: Sequence[float]) -> dict[str, float]:
    """Values by name, rounded to DIGITS."""
    return {name: float(f"{value:.{DIGITS}g}") for name, value in zip(names, values, strict=True)}


def support(words: Any, features: Any) -> Any:
    """The probability of support of each word: LEAST to 1 - LEAST."""
    share = probability(words[0] + features @ words[1:])
    return np.clip(share, LEAST, 1 - LEAST)


def claim_probability(held: Models, features: Any) -> Any:
    """The probability that each claim is supported (n x FEATURES): n values.

    The mean of what the logistic model and the trees say.
    """
    features = np.round(features, HELD)
    by_line = probability(held.claims[0] + features @ held.claims[1:])
    return (by_line + probability(boosted.logits(held.trees, features))) / 2


def probability(logit: Any) -> Any:
    """The logistic function."""
    return 1 / (1 + np.exp(-np.clip(logit, -30, 30)))


def _ordered(held: Mapping[str, float], names: Sequence[str]) -> Any:
    if held.keys() != set(names):
        raise KeyError(set(names) ^ held.keys())
    return np.array([held[name] for name in names])


def _head_file(path: Path) -> Path:
    return path.with_suffix(_HEAD)

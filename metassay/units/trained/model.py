"""A trained model of sentence roles: its file, and what it says of a text.

A first step guesses the role of each sentence from its words, place and cues, and another from an
encoder's vectors, if there is one. A second step corrects the guesses by those of the neighbours.
Each step is a logistic regression; numpy alone is needed to apply them.
"""

import base64
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ConfigDict, ValidationError

from metassay.atomic import whole_file
from metassay.errors import BadInput
from metassay.models.outputs import text_hash
from metassay.options import Options
from metassay.units.roles import ROLES
from metassay.units.trained import features
from metassay.units.trained.features import Shared

VERSION = 1  # of the features: whoever changes them raises it, and trains again
LABELS = tuple(role for role in ROLES if role != "conclusion")  # no training data has that one
WORDS, VECTORS, SECOND = "words", "vectors", "second"
DENSE = 0.3  # what places and cues are multiplied by beside words
_TRAIN = "run: dvc repro train_roles"


class Model(Options):
    """`weights`: base64 of float16, by step: (features + a constant) x LABELS, the constant first.

    `encoder`: SHA-256 of the encoder's weights, or None. `recipe`: all else that made the model.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: int
    encoder: str | None
    recipe: dict[str, Any]
    weights: dict[str, str]

    @property
    def steps(self) -> dict[str, Any]:
        """The weights as arrays; ValueError if they are none."""
        return {
            name: np.frombuffer(base64.b64decode(text, validate=True), "<f2")
            .astype(float)
            .reshape(-1, len(LABELS))
            for name, text in self.weights.items()
        }


def packed(weights: Any) -> str:
    """Weights as they are kept."""
    return base64.b64encode(np.asarray(weights).astype("<f2").tobytes()).decode("ascii")


def digest(model: Model, step: str) -> str:
    """The first digits of a hash of a step's weights."""
    return text_hash(model.weights[step])[:8]


def load(path: Path) -> Model:
    """The model in a file. BadInput if there is none, or it is damaged or of another version."""
    try:
        model = Model.model_validate_json(path.read_text(encoding="utf-8"))
        steps = model.steps
    except FileNotFoundError:
        raise BadInput(f"{path}: there is no such model; {_TRAIN}") from None
    except (ValidationError, UnicodeDecodeError, ValueError):
        raise BadInput(f"{path}: is no model of sentence roles; {_TRAIN}") from None
    whole = {WORDS, SECOND} | ({VECTORS} if model.encoder else set())
    if model.version != VERSION or steps.keys() != whole or not _fits(steps):
        raise BadInput(f"{path}: is a model of another version of Metassay; {_TRAIN}")
    return model


def save(path: Path, model: Model) -> None:
    """Write a model as JSON that is the same for the same model."""
    with whole_file(path) as file:
        file.write((json.dumps(model.model_dump(), indent=1) + "\n").encode())


def word_logits(weights: Any, text: Shared) -> Any:
    """The first guess by words, n x LABELS, as logits."""
    by_word, by_dense = weights[1 : 1 + features.SIZE], weights[1 + features.SIZE :]
    logits = weights[0] + DENSE * np.hstack([text.place, text.cue]) @ by_dense
    for at, sentence in enumerate(text.said):
        there = features.hashed(sentence)
        logits[at] += by_word[there].sum(0) / np.sqrt(len(there))
    return logits


def vector_logits(weights: Any, vectors: Any) -> Any:
    """What an encoder's vectors (n x dimensions) add to the first guess by them, n x LABELS."""
    return vectors @ weights[1 : 1 + vectors.shape[1]]


def place_logits(weights: Any, text: Shared) -> Any:
    """What sentences' places add to the first guess by vectors, with the constant."""
    return weights[0] + text.place @ weights[-features.PLACE :]


def second_features(guesses: Mapping[str, Any], text: Shared) -> Any:
    """What the second step reads: each first guess (logits) with those around, place and cues."""
    near = [features.around(softmax(logits), text.place) for logits in guesses.values()]
    return np.hstack([*near, text.cue])


def probabilities(steps: Mapping[str, Any], guesses: Mapping[str, Any], text: Shared) -> Any:
    """The probability of each of LABELS for each sentence, n x LABELS."""
    weights = steps[SECOND]
    return softmax(weights[0] + second_features(guesses, text) @ weights[1:])


def softmax(logits: Any) -> Any:
    """Probabilities of logits, row by row."""
    raised = np.exp(logits - logits.max(1, keepdims=True))
    return raised / raised.sum(1, keepdims=True)


def _fits(steps: Mapping[str, Any]) -> bool:
    guesses = len(steps) - 1
    window = (2 * features.AROUND + 1) * (len(LABELS) + 1) + 2 * len(LABELS) + features.PLACE
    second = 1 + guesses * window + features.CUE
    words = 1 + features.SIZE + features.PLACE + features.CUE
    finite = all(bool(np.isfinite(weights).all()) for weights in steps.values())
    return finite and len(steps[WORDS]) == words and len(steps[SECOND]) == second

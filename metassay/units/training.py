"""Training a model of sentence roles on texts whose sentences people labelled.

Each step is a multinomial logistic regression of scikit-learn's. The second one is fitted to first
guesses that were made without the text in question, in a cross-validation by text.
"""

import base64
import hashlib
import json
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from metassay.core.atomic import whole_file
from metassay.core.errors import BadInput
from metassay.models import encoders, extra
from metassay.models.loading import NetworkOptions, weights_digest
from metassay.units import sentence_roles as trained
from metassay.units.roles import Read
from metassay.units.sentence_roles import DENSE, LABELS, SECOND, SIZE, VECTORS, WORDS, Model

FOLDS = 5
# How little coefficients are held back (scikit-learn's C), chosen by cross-validation.
FREEDOM = {WORDS: 2.0, VECTORS: 0.0005, SECOND: 0.1}
ROUNDS = 2000  # of the optimizer, at most
# How steep the optimum may be: there, Newton's steps differ less between processors than what is
# kept of coefficients.
TOLERANCE = 1e-11


class Labelled(NamedTuple):
    """A text, the right role of each sentence, and how sure people were of it (0 to 1)."""

    read: Read
    roles: Sequence[str]
    sure: Sequence[float]


class _Target(NamedTuple):
    """Of each sentence the right label as a number, the weight, and the fold of its text."""

    labels: Any
    weights: Any
    folds: Any


def train(texts: Sequence[Labelled], files: Sequence[Path], encoder: NetworkOptions) -> Model:
    """Fit a model; the same texts and encoder (in float64) give the same one on every processor.

    `files` are those that the texts were read from, for the recipe. Texts with the same first
    sentence are never on both sides of the cross-validation. Raises BadInput if a label has no
    sentence in some fold's rest, or the encoder cannot be loaded.
    """
    folds = [zlib.crc32(text.read.said[0].encode()) % FOLDS for text in texts]
    target = _Target(
        np.array([LABELS.index(role) for text in texts for role in text.roles]),
        np.array([sure for text in texts for sure in text.sure]),
        np.repeat(folds, [len(text.roles) for text in texts]),
    )
    for fold in range(FOLDS):
        if lost := set(range(len(LABELS))) - {*target.labels[target.folds != fold]}:
            names = ", ".join(LABELS[label] for label in sorted(lost))
            raise BadInput(f"too few sentences are {names} to train a model; add texts with some")
    read = [trained.shared(text.read) for text in texts]
    seen = _first_features(read, encoder)
    logits = {name: _held_out(name, matrix, target) for name, matrix in seen.items()}
    ends = np.cumsum([len(text.said) for text in read])[:-1]
    guesses = zip(*(np.split(one, ends) for one in logits.values()), strict=True)
    rows = [trained.second_features(g, text) for g, text in zip(guesses, read, strict=True)]
    seen[SECOND] = np.vstack(rows)
    logits[SECOND] = _held_out(SECOND, seen[SECOND], target)
    counts = Counter(LABELS[label] for label in target.labels)
    recipe = {
        "data": {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files},
        "texts": len(texts),
        "sentences": {label: counts[label] for label in LABELS},
        "folds": FOLDS,
        "freedom": FREEDOM,
        "scikit-learn": extra.version("scikit-learn"),
        "cross_validated": {name: _scores(target.labels, one) for name, one in logits.items()},
    }
    weights = {name: packed(_fit(name, matrix, target)) for name, matrix in seen.items()}
    return Model(
        version=trained.VERSION, encoder=weights_digest(encoder), recipe=recipe, weights=weights
    )


def packed(weights: Any) -> str:
    """Weights as a model's file has them."""
    return base64.b64encode(np.asarray(weights).astype("<f2").tobytes()).decode("ascii")


def _first_features(read: Sequence[trained.Shared], encoder: NetworkOptions) -> dict[str, Any]:
    """By step the features of all sentences, in rows."""
    said = [sentence for text in read for sentence in text.said]
    place, cue = (np.vstack(rows) for rows in zip(*((t.place, t.cue) for t in read), strict=True))
    there = [trained.hashed(sentence) for sentence in said]
    ends = np.cumsum([0, *map(len, there)])
    values = np.concatenate([np.full(len(row), 1 / np.sqrt(len(row))) for row in there])
    words = sparse.csr_matrix((values, np.concatenate(there), ends), (len(said), SIZE))
    rows: dict[int, Any] = {}
    loaded = encoders.load_encoder(encoder, trained.LAYERS)
    for block in trained.sentence_vectors(loaded, said):
        rows |= block
    return {
        WORDS: sparse.hstack([words, DENSE * np.hstack([place, cue])]).tocsr(),
        VECTORS: np.hstack([[rows[at] for at in range(len(said))], place]),
    }


def _fit(step: str, matrix: Any, target: _Target, among: Any = slice(None)) -> Any:
    """The constant and the coefficients by label: (1 + features) x LABELS."""
    seen, weights = matrix[among], target.weights[among]
    middle, spread = np.zeros(matrix.shape[1]), np.ones(matrix.shape[1])
    if step == VECTORS:  # whose dimensions differ much in scale
        middle, spread = seen.mean(0), np.maximum(seen.std(0), 1e-6)
        seen = (seen - middle) / spread
    fitted = extra.module("sklearn.linear_model").LogisticRegression(
        C=FREEDOM[step], max_iter=ROUNDS, tol=TOLERANCE, solver="newton-cg"
    )
    fitted.fit(seen, target.labels[among], weights / weights.mean())
    slopes = (fitted.coef_ / spread).T
    return np.vstack([fitted.intercept_ - middle @ slopes, slopes])


def _held_out(step: str, matrix: Any, target: _Target) -> Any:
    """Logits of each sentence by a fit to the other folds."""
    logits = np.zeros((len(target.labels), len(LABELS)))
    for fold in np.unique(target.folds):
        out = target.folds == fold
        weights = _fit(step, matrix, target, ~out)
        logits[out] = weights[0] + matrix[out] @ weights[1:]
    return logits


def _scores(right: Any, logits: Any) -> Mapping[str, float]:
    """The share of guesses that are right, and the mean F1 of LABELS."""
    metrics, found = extra.module("sklearn.metrics"), logits.argmax(1)
    every = {"labels": range(len(LABELS)), "average": "macro", "zero_division": 0}
    return {
        "accuracy": round(float(metrics.accuracy_score(right, found)), 3),
        "macro_f1": round(float(metrics.f1_score(right, found, **every)), 3),
    }


def save(path: Path, model: Model) -> None:
    """Write a model as JSON that is the same for the same model."""
    with whole_file(path) as file:
        file.write((json.dumps(model.model_dump(), indent=1) + "\n").encode())

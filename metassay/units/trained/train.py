"""Training a model of sentence roles on texts whose sentences people labelled.

Each step is a multinomial logistic regression of scikit-learn's. The second one is fitted to first
guesses that were made without the text in question, in a cross-validation by text.
"""

import hashlib
import zlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from metassay.errors import BadInput
from metassay.models import extra
from metassay.models.loading import NetworkOptions, weights_digest
from metassay.units.roles import Read
from metassay.units.trained import features, vectors
from metassay.units.trained.features import Shared
from metassay.units.trained.model import (
    DENSE,
    LABELS,
    SECOND,
    VECTORS,
    VERSION,
    WORDS,
    Model,
    packed,
    second_features,
    softmax,
)

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


class _Set(NamedTuple):
    """Sentences in rows: their features by step, right labels as numbers, weights and folds."""

    texts: Sequence[Shared]
    first: dict[str, Any]
    labels: Any
    weights: Any
    folds: Any


def train(
    texts: Sequence[Labelled], files: Sequence[Path], encoder: NetworkOptions | None
) -> Model:
    """Fit a model; the same texts and encoder (in float64) give the same one on every processor.

    `files` are those that the texts were read from, for the recipe. Texts with the same first
    sentence are never on both sides of the cross-validation. Raises BadInput if a label has no
    sentence in some fold's rest, or the encoder cannot be loaded.
    """
    data = _read(texts, encoder)
    _check(data)
    whole = {name: _fit(name, matrix, data) for name, matrix in data.first.items()}
    held = {name: _held_out(name, matrix, data) for name, matrix in data.first.items()}
    second = _second(data, held)
    steps = whole | {SECOND: _fit(SECOND, second, data)}
    return Model(
        version=VERSION,
        encoder=None if encoder is None else weights_digest(encoder),
        recipe=_recipe(files, data) | _checked(data, held, _held_out(SECOND, second, data)),
        weights={name: packed(weights) for name, weights in steps.items()},
    )


def _read(texts: Sequence[Labelled], encoder: NetworkOptions | None) -> _Set:
    seen = [features.shared(text.read) for text in texts]
    said = [sentence for text in seen for sentence in text.said]
    place, cue = (np.vstack(rows) for rows in zip(*((t.place, t.cue) for t in seen), strict=True))
    there = [features.hashed(sentence) for sentence in said]
    ends = np.cumsum([0, *map(len, there)])
    values = np.concatenate([np.full(len(row), 1 / np.sqrt(len(row))) for row in there])
    words = sparse.csr_matrix((values, np.concatenate(there), ends), (len(said), features.SIZE))
    first = {WORDS: sparse.hstack([words, DENSE * np.hstack([place, cue])]).tocsr()}
    if encoder is not None:
        rows: dict[int, Any] = {}
        for block in vectors.vectors(vectors.load(encoder), said):
            rows |= block
        first[VECTORS] = np.hstack([[rows[at] for at in range(len(said))], place])
    folds = [zlib.crc32(text.read.said[0].encode()) % FOLDS for text in texts]
    return _Set(
        seen,
        first,
        np.array([LABELS.index(role) for text in texts for role in text.roles]),
        np.array([sure for text in texts for sure in text.sure]),
        np.repeat(folds, [len(text.roles) for text in texts]),
    )


def _check(data: _Set) -> None:
    for fold in range(FOLDS):
        lost = set(range(len(LABELS))) - {*data.labels[data.folds != fold]}
        if lost:
            names = ", ".join(LABELS[label] for label in sorted(lost))
            raise BadInput(f"too few sentences are {names} to train a model; add texts with some")


def _fit(step: str, matrix: Any, data: _Set, among: Any = None) -> Any:
    """The constant and the coefficients by label: (1 + features) x LABELS."""
    use = np.ones(len(data.labels), bool) if among is None else among
    own, width = matrix[use], matrix.shape[1]
    middle, spread = np.zeros(width), np.ones(width)
    if step == VECTORS:  # whose dimensions differ much in scale
        middle, spread = own.mean(0), np.maximum(own.std(0), 1e-6)
        own = (own - middle) / spread
    fitted = extra.module("sklearn.linear_model").LogisticRegression(
        C=FREEDOM[step], max_iter=ROUNDS, tol=TOLERANCE, solver="newton-cg"
    )
    weights = data.weights[use]
    fitted.fit(own, data.labels[use], weights / weights.mean())
    slopes = (fitted.coef_ / spread).T
    return np.vstack(
        [fitted.intercept_ - middle @ slopes if step == VECTORS else fitted.intercept_, slopes]
    )


def _held_out(step: str, matrix: Any, data: _Set) -> Any:
    """Logits of each sentence by a fit to the other folds."""
    logits = np.zeros((len(data.labels), len(LABELS)))
    for fold in range(FOLDS):
        out = data.folds == fold
        if out.any():
            weights = _fit(step, matrix, data, ~out)
            logits[out] = weights[0] + matrix[out] @ weights[1:]
    return logits


def _second(data: _Set, held: dict[str, Any]) -> Any:
    rows, start = [], 0
    for text in data.texts:
        end = start + len(text.said)
        guesses = {name: logits[start:end] for name, logits in held.items()}
        rows.append(second_features(guesses, text))
        start = end
    return np.vstack(rows)


def _recipe(files: Sequence[Path], data: _Set) -> dict[str, Any]:
    counts = Counter(LABELS[label] for label in data.labels)
    return {
        "data": {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files},
        "texts": len(data.texts),
        "sentences": {label: counts[label] for label in LABELS},
        "folds": FOLDS,
        "freedom": {step: FREEDOM[step] for step in (*data.first, SECOND)},
        "scikit-learn": extra.version("scikit-learn"),
    }


def _checked(data: _Set, held: dict[str, Any], last: Any) -> dict[str, Any]:
    """Cross-validated on the training data, by step: the share right, and the mean F1."""
    return {
        "cross_validated": {
            step: _scores(data.labels, softmax(logits).argmax(1))
            for step, logits in (held | {SECOND: last}).items()
        }
    }


def _scores(right: Any, found: Any) -> dict[str, float]:
    each = []
    for label in range(len(LABELS)):
        both = np.sum((right == label) & (found == label))
        each.append(2 * both / max(np.sum(right == label) + np.sum(found == label), 1))
    return {
        "accuracy": round(float(np.mean(right == found)), 3),
        "macro_f1": round(float(np.mean(each)), 3),
    }

"""Facets by a trained model of sentence roles, with headings and rules for conclusions.

A step predicts the role of each sentence from its words, place and cues, another from
an encoder's vectors. The last step corrects these predictions by those of the
neighbours. Each step is a logistic regression. Words are hashed, so that the file
contains none.

The training data have no conclusions. A sentence is a conclusion if the cue rules say
so, and the model takes it for a result or for other.
"""

import base64
import functools
import hashlib
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import softmax

from metassay.core.atomic import whole_file
from metassay.core.errors import BadInput
from metassay.core.options import Options, recipe_text
from metassay.llm.needs import PromptFile, Resources
from metassay.models import encoders, extra
from metassay.models.loading import NetworkOptions, identify, weights_digest
from metassay.models.outputs import STORE, Task, outputs, text_hash
from metassay.units.record import Divided, Segmentation, Text
from metassay.units.role_cues import ROLES
from metassay.units.roles import (
    Read,
    RoleOptions,
    count_cue_points,
    divide_by_role,
    find_sequence,
)

VERSION = 2  # raised by whoever changes results of this module's kinds

_CONCLUSION = "conclusion"
_BECOMES = ("result", "other")  # the labels of conclusions in the training data
_METHOD = 1  # part of the store's keys; raise it with every change of vectors
_PACKAGES = ("transformers", "tokenizers", "torch")

VERSION = 1  # of the features: raise it with every change of them, and train again
LABELS = tuple(role for role in ROLES if role != _CONCLUSION)
WORDS = "words"
VECTORS = "vectors"
SECOND = "second"
LAYERS = 4  # of MiniLM's 6: the last are more about a sentence's topic than its role
SIZE = 1 << 14  # hashes of words and their sequences
DENSE = 0.3  # factor of places and cues beside words
_AROUND = 2  # neighbours on either side that the last step reads
_FIFTHS = 5
# features of a sentence's place and length, and cues
_PLACE = 11 + _FIFTHS
_CUE = 2 * len(ROLES)
_SECOND = 2 * ((2 * _AROUND + 1) * (len(LABELS) + 1) + 2 * len(LABELS) + _PLACE) + _CUE
_LENGTHS = 3, 10  # sentences, to which a text's length is clipped
_TOKEN = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*|\d+(?:[.,]\d+)*|[^\w\s]")
_TRAIN = "run: dvc repro train_roles"


class Model(Options):
    """`weights`: base64 of float16, by step: (1 + features) x LABELS, the constant first.

    `encoder`: SHA-256 of the encoder's weights. `recipe`: data and settings of the
    training.
    """

    version: int
    encoder: str
    recipe: dict[str, Any]
    weights: dict[str, str]

    @property
    def steps(self) -> dict[str, Any]:
        """The weights as arrays; ValueError if they are damaged."""
        return {
            name: np.frombuffer(base64.b64decode(text, validate=True), "<f2")
            .astype(float)
            .reshape(-1, len(LABELS))
            for name, text in self.weights.items()
        }


def load(path: Path) -> Model:
    """Read a model. BadInput if the file is missing, damaged or of another version."""
    try:
        model = Model.model_validate_json(path.read_text(encoding="utf-8"))
        steps = model.steps
    except FileNotFoundError:
        raise BadInput(f"{path}: there is no such model; {_TRAIN}") from None
    except ValueError:
        raise BadInput(f"{path}: is not a model of sentence roles; {_TRAIN}") from None
    finite = all(np.isfinite(weights).all() for weights in steps.values())
    rows = {name: len(weights) for name, weights in steps.items() if name != VECTORS}
    fits = (
        rows == {WORDS: 1 + SIZE + _PLACE + _CUE, SECOND: 1 + _SECOND}
        and VECTORS in steps
    )
    if model.version != VERSION or not finite or not fits:
        raise BadInput(f"{path}: is a model of another version of Metassay; {_TRAIN}")
    return model


class Shared(NamedTuple):
    """Features that steps share: a text's n sentences, their places, n x 16, and their
    cues, n x 12: the role by the rules in six columns, and a third of each role's
    points in the others.
    """

    texts: Sequence[str]
    place: Any
    cue: Any


def shared(read: Read) -> Shared:
    """Compute the features of a text that steps share."""
    points = count_cue_points(read.texts)
    chosen = np.zeros_like(points)
    for row, role in zip(chosen, find_sequence(points, read), strict=True):
        row[ROLES.index(role)] = 1.0
    return Shared(read.texts, _places(read.texts), np.hstack([chosen, points / 3]))


_YEAR = re.compile(r"(?:19|20)\d\d")


def _replace_number(token: str) -> str:
    if not token[0].isdigit():
        return token
    return "<year>" if _YEAR.fullmatch(token) else "<number>"


def hashed(sentence: str) -> Any:
    """Return the hashes of a sentence's words, of bigrams, and of its opening: sorted, distinct.

    Case does not matter; years count as a single word, and so do all other numbers.
    """
    tokens = _TOKEN.findall(sentence.lower())
    words = list(map(_replace_number, tokens))
    whole = ["^", *words, "$"]
    grams = [*whole, *(" ".join(two) for two in pairwise(whole))]
    grams += [" ".join((f"first {count}", *words[:count])) for count in (2, 3, 4)]
    grams += [f"opening {word}" for word in words[:6]]
    return np.unique([zlib.crc32(gram.encode()) % SIZE for gram in grams])


def _places(texts: Sequence[str]) -> Any:
    """Return features of each sentence's place and length: n x _PLACE.

    The only sentence of a text is neither its first nor its last.
    """
    count = len(texts)
    place = np.arange(count)
    words = np.array([len(text.split()) for text in texts])
    share = place / (count - 1) if count > 1 else np.full(count, 0.5)
    length = np.full(count, np.clip(count, *_LENGTHS))
    ends = np.equal.outer(place, [0, 1, 2, count - 1, count - 2]) & (count > 1)
    bends = share, 1 - share, (2 * share - 1) ** 2, 1 / length, length / 10
    fifth = np.minimum(share * _FIFTHS, _FIFTHS - 1).astype(int)
    return np.column_stack(
        [ends, *bends, np.minimum(words, 75) / 25, np.eye(_FIFTHS)[fifth]]
    )


def sentence_vectors(
    encoder: encoders.Encoder, sentences: Sequence[str]
) -> Iterator[Mapping[int, Any]]:
    """Return the mean of a sentence's pieces, the maximum, and the mean of the first five.

    Keys are places of sentences, a vector has 3 x the encoder's dimensions. Each
    sentence is encoded by itself, at most 512 are in memory, and pieces past the
    encoder's limit are ignored.
    """
    read = encoders.tokens(encoder, sentences)
    order = sorted(range(len(read)), key=lambda place: len(read[place].numbers))
    for start in range(0, len(order), 512):
        block = order[start : start + 512]
        rows = encoders.vectors(encoder, [read[place].numbers for place in block], 4096)
        yield {place: _pooled(row) for place, row in zip(block, rows, strict=True)}


def _pooled(row: Any) -> Any:
    pieces = row[1:] if len(row) > 1 else row  # without the first special token
    pools = (row.mean(0), pieces.max(0).values, pieces[:5].mean(0))
    return np.asarray(extra.module("torch").cat(pools).cpu().numpy())


def vector_logits(weights: Any, vectors: Any) -> Any:
    """Return the logits that an encoder's vectors (n x dimensions) add, n x LABELS."""
    return vectors @ weights[1 : 1 + vectors.shape[1]]


def probabilities(steps: Mapping[str, Any], text: Shared, by_vector: Any) -> Any:
    """Return the probability of each of LABELS by sentence; `by_vector`: its `vector_logits`."""
    words = steps[WORDS]
    vectors = steps[VECTORS]
    last = steps[SECOND]
    logits = words[0] + DENSE * np.hstack([text.place, text.cue]) @ words[1 + SIZE :]
    for row, sentence in enumerate(text.texts):
        numbers = hashed(sentence)
        logits[row] += words[1 + numbers].sum(0) / np.sqrt(len(numbers))
    by_vector = by_vector + (vectors[0] + text.place @ vectors[-_PLACE:])
    return softmax(last[0] + second_features([logits, by_vector], text) @ last[1:], 1)


def second_features(guesses: Sequence[Any], text: Shared) -> Any:
    """Return features of the last step: predictions (logits) with the neighbours', place, cues."""
    near = [describe_neighbours(softmax(logits, 1), text.place) for logits in guesses]
    return np.hstack([*near, text.cue])


def describe_neighbours(guesses: Any, place: Any) -> Any:
    """Return features of the predictions for a sentence and its neighbours, n rows, with `place`.

    `guesses`: n x roles, probabilities. Of the sentence and two neighbours on either
    side, the logarithms around their mean, and whether the neighbour is missing; then
    the mean prediction of all sentences before, and of all after.
    """
    count, roles = guesses.shape
    logs = np.log(np.clip(guesses, 0.005, 1))
    logs -= logs.mean(1, keepdims=True)
    missing = np.hstack([np.zeros((_AROUND, roles)), np.ones((_AROUND, 1))])
    padded = np.vstack([missing, np.hstack([logs, np.zeros((count, 1))]), missing])
    near = [padded[shift : shift + count] for shift in range(2 * _AROUND + 1)]
    before = np.cumsum(guesses, 0) - guesses
    behind = guesses.sum(0) - before - guesses
    before /= np.maximum(np.arange(count), 1)[:, None]
    behind /= np.maximum(np.arange(count)[::-1], 1)[:, None]
    return np.hstack([*near, 2 * before, 2 * behind, place])


class SentenceRoleOptions(RoleOptions):
    """`model`: a file of stage `train_roles`. `encoder`: the encoder of its training."""

    model: str
    encoder: NetworkOptions


def divide(
    texts: Sequence[Text],
    options: SentenceRoleOptions,
    resources: Resources,  # noqa: ARG001
) -> Divided:
    """Divide each text by the model; see `roles.divide_by_role`.

    Raises BadInput if the model cannot be read, or was trained with another encoder.
    """
    model = load(Path(options.model))
    digest = weights_digest(options.encoder)
    if digest != model.encoder:
        raise BadInput(
            f"{options.model}: trained with weights {model.encoder[:8]}, but"
            f" {options.encoder.model!r} has {digest[:8]}; name the first encoder, or {_TRAIN}"
        )
    return divide_by_role(
        texts,
        options.facets,
        lambda reads: classify(
            model, reads, _classify_by_vector(model, reads, options.encoder)
        ),
    )


def classify(
    model: Model, reads: Sequence[Read], by_vector: Sequence[Any]
) -> list[list[str]]:
    """Return the likeliest allowed role of each sentence of each text.

    `by_vector` has each text's `vector_logits`. Conclusions are by the rules.
    """
    steps = model.steps
    roles: list[list[str]] = []
    for read, logits in zip(reads, by_vector, strict=True):
        roles.append([])
        text = shared(read) if read.texts else None
        rows = [] if text is None else probabilities(steps, text, logits)
        for row, allowed, cue in zip(
            rows, read.allowed, text.cue if text else (), strict=True
        ):
            likely = [
                LABELS[place] for place in np.argsort(-row.round(9), kind="stable")
            ]
            if ROLES[cue[: len(ROLES)].argmax()] == _CONCLUSION:
                likely = [_CONCLUSION if role in _BECOMES else role for role in likely]
            eligible = [role for role in likely if allowed is None or role in allowed]
            roles[-1].append(
                eligible[0] if eligible else min(allowed or (), key=ROLES.index)
            )
    return roles


def _classify_by_vector(
    model: Model, reads: Sequence[Read], encoder: NetworkOptions, store: Path = STORE
) -> list[Any]:
    """Return each text's `vector_logits`; the store encodes a sentence only once."""
    texts = chain.from_iterable(read.texts for read in reads)
    sentences = [(text,) for text in texts]
    weights = model.steps[VECTORS]
    settings = {
        "method": _METHOD,
        "dtype": encoder.dtype,
        "weights": text_hash(model.weights[VECTORS])[:8],
    }
    task = Task(
        "sentence_roles", identify(encoder), encoder.device, settings, _PACKAGES
    )
    loaded = functools.cache(lambda: encoders.load_encoder(encoder, LAYERS))

    def compute(missing: Sequence[int]) -> Iterator[Mapping[int, Any]]:
        for block in sentence_vectors(
            loaded(), [sentences[place][0] for place in missing]
        ):
            rows = {
                place: vector_logits(weights, row[None])[0]
                for place, row in block.items()
            }
            yield {
                missing[place]: np.round(row, 4).tolist() for place, row in rows.items()
            }

    results = iter(outputs(task, sentences, compute, store=store) if sentences else [])
    return [np.array(list(islice(results, len(read.texts)))) for read in reads]


def _recipe(options: SentenceRoleOptions, _: object) -> str:
    """The block's settings and a hash of the trained file."""
    content = hashlib.sha256(Path(options.model).read_bytes()).hexdigest()
    settings = {"kind": "sentence_roles"} | options.model_dump(exclude_unset=True)
    return f"{recipe_text(settings)}#{content[:8]}"


KIND = Segmentation(
    options=SentenceRoleOptions,
    divide=divide,
    files=lambda options: (PromptFile(Path(options.model), None),),
    recipe=_recipe,
)


# Training on texts whose sentences people labelled. Each step is a multinomial logistic
# regression of scikit-learn. The last is fitted to predictions of a cross-validation by
# text.


FOLDS = 5
# scikit-learn's C, by cross-validation
FREEDOM = {WORDS: 2.0, VECTORS: 0.0005, SECOND: 0.1}
ROUNDS = 2000  # of the optimizer, at most
# so that processors differ by less than the precision of the saved weights
TOLERANCE = 1e-11


class Labelled(NamedTuple):
    """A text, and the role of each sentence with people's confidence in it (0 to 1)."""

    read: Read
    roles: Sequence[str]
    sure: Sequence[float]


class _Target(NamedTuple):
    """The label (its number), the weight, and the fold of each sentence."""

    labels: Any
    weights: Any
    folds: Any


def train(
    texts: Sequence[Labelled], files: Sequence[Path], encoder: NetworkOptions
) -> Model:
    """Fit a model; texts and encoder (in float64) decide every byte, on all processors.

    `files` with the texts go into the recipe. Texts with the same first sentence are in
    the same fold. Raises BadInput if a label is missing outside a fold, or the encoder
    cannot be loaded.
    """
    folds = [zlib.crc32(text.read.texts[0].encode()) % FOLDS for text in texts]
    target = _Target(
        np.array(list(map(LABELS.index, chain.from_iterable(t.roles for t in texts)))),
        np.array(list(chain.from_iterable(text.sure for text in texts))),
        np.repeat(folds, [len(text.roles) for text in texts]),
    )
    for fold in range(FOLDS):
        if missing := set(range(len(LABELS))) - {*target.labels[target.folds != fold]}:
            names = ", ".join(LABELS[label] for label in sorted(missing))
            raise BadInput(
                f"too few sentences are {names} to train a model; add texts with some"
            )
    texts_read = [shared(text.read) for text in texts]
    features = _first_features(texts_read, encoder)
    logits = {
        name: _held_out(name, matrix, target) for name, matrix in features.items()
    }
    ends = np.cumsum([len(text.texts) for text in texts_read])[:-1]
    guesses = zip(*(np.split(values, ends) for values in logits.values()), strict=True)
    features[SECOND] = np.vstack(list(map(second_features, guesses, texts_read)))
    logits[SECOND] = _held_out(SECOND, features[SECOND], target)
    counts = Counter(LABELS[label] for label in target.labels)
    recipe = {
        "data": {
            file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files
        },
        "texts": len(texts),
        "sentences": {label: counts[label] for label in LABELS},
        "folds": FOLDS,
        "freedom": FREEDOM,
        "scikit-learn": extra.version("scikit-learn"),
        "cross_validated": {
            name: _scores(target.labels, rows) for name, rows in logits.items()
        },
    }
    weights = {
        name: packed(_fit(name, matrix, target)) for name, matrix in features.items()
    }
    return Model(
        version=VERSION, encoder=weights_digest(encoder), recipe=recipe, weights=weights
    )


def packed(weights: Any) -> str:
    """Return weights in the form of a model's file."""
    return base64.b64encode(np.asarray(weights).astype("<f2").tobytes()).decode("ascii")


def _first_features(read: Sequence[Shared], encoder: NetworkOptions) -> dict[str, Any]:
    """Return the features of all sentences, in rows, by step."""
    sentences = list(chain.from_iterable(text.texts for text in read))
    place = np.vstack([text.place for text in read])
    cue = np.vstack([text.cue for text in read])
    numbers = [hashed(sentence) for sentence in sentences]
    ends = np.cumsum([0, *map(len, numbers)])
    values = np.concatenate(
        [np.full(len(row), 1 / np.sqrt(len(row))) for row in numbers]
    )
    words = sparse.csr_matrix(
        (values, np.concatenate(numbers), ends), (len(sentences), SIZE)
    )
    rows: dict[int, Any] = {}
    loaded = encoders.load_encoder(encoder, LAYERS)
    for block in sentence_vectors(loaded, sentences):
        rows |= block
    return {
        WORDS: sparse.hstack([words, DENSE * np.hstack([place, cue])]).tocsr(),
        VECTORS: np.hstack([[rows[place] for place in range(len(sentences))], place]),
    }


def _fit(step: str, matrix: Any, target: _Target, among: Any = slice(None)) -> Any:
    """Return the constant and the coefficients by label: (1 + features) x LABELS."""
    features = matrix[among]
    weights = target.weights[among]
    mean = np.zeros(matrix.shape[1])
    scale = np.ones(matrix.shape[1])
    if step == VECTORS:  # the scales of its dimensions differ
        mean = features.mean(0)
        scale = np.maximum(features.std(0), 1e-6)
        features = (features - mean) / scale
    fitted = extra.module("sklearn.linear_model").LogisticRegression(
        C=FREEDOM[step], max_iter=ROUNDS, tol=TOLERANCE, solver="newton-cg"
    )
    fitted.fit(features, target.labels[among], weights / weights.mean())
    slopes = (fitted.coef_ / scale).T
    return np.vstack([fitted.intercept_ - mean @ slopes, slopes])


def _held_out(step: str, matrix: Any, target: _Target) -> Any:
    """Return the logits of each sentence by a fit to the other folds."""
    logits = np.zeros((len(target.labels), len(LABELS)))
    for fold in np.unique(target.folds):
        out = target.folds == fold
        weights = _fit(step, matrix, target, ~out)
        logits[out] = weights[0] + matrix[out] @ weights[1:]
    return logits


def _scores(right: Any, logits: Any) -> Mapping[str, float]:
    """Return accuracy and macro F1."""
    metrics = extra.module("sklearn.metrics")
    predicted = logits.argmax(1)
    macro = {"labels": range(len(LABELS)), "average": "macro", "zero_division": 0}
    return {
        "accuracy": round(float(metrics.accuracy_score(right, predicted)), 3),
        "macro_f1": round(float(metrics.f1_score(right, predicted, **macro)), 3),
    }


def save(path: Path, model: Model) -> None:
    """Write a model as JSON."""
    with whole_file(path) as file:
        file.write((json.dumps(model.model_dump(), indent=1) + "\n").encode())

"""Facets by a trained model of sentence roles, with headings and the rules for conclusions on top.

A first step guesses the role of each sentence from its words, place and cues, and another from an
encoder's vectors. A second step corrects the guesses by those of the neighbours. Each step is a
logistic regression. Words are known by a hash alone, which several may share: the file has none.

Nobody labelled conclusions in the data that the model was trained on. A sentence is one where the
cue rules find it to be, and the model takes it for a result or for none of the other roles.
"""

import base64
import functools
import hashlib
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import softmax

from metassay.core.atomic import whole_file
from metassay.core.errors import BadInput
from metassay.core.options import Options, printed
from metassay.llm.needs import PromptFile, Resources
from metassay.models import encoders, extra
from metassay.models.loading import NetworkOptions, identify, weights_digest
from metassay.models.outputs import Task, outputs, text_hash
from metassay.models.store import STORE
from metassay.units.record import Divided, Segmentation, Text
from metassay.units.roles import ROLES, Read, RoleOptions, cue_points, divide_by_role, sequence

_CONCLUSION = "conclusion"
_BECOMES = ("result", "other")  # what conclusions count as in the training data
_METHOD = 1  # part of the store's keys; whoever changes what a vector is raises it
_PACKAGES = ("transformers", "tokenizers", "torch")

VERSION = 1  # of the features: whoever changes them raises it, and trains again
LABELS = tuple(role for role in ROLES if role != _CONCLUSION)  # no training data has that one
WORDS, VECTORS, SECOND = "words", "vectors", "second"
LAYERS = 4  # of MiniLM's 6: the last ones say what a sentence is about, these more what it does
SIZE = 1 << 14  # numbers that words and their sequences are hashed to
DENSE = 0.3  # what places and cues are multiplied by beside words
_AROUND = 2  # neighbours on either side whose first guesses count
_FIFTHS = 5
_PLACE, _CUE = 11 + _FIFTHS, 2 * len(ROLES)  # features of a sentence's place and length, and cues
_SECOND = 2 * ((2 * _AROUND + 1) * (len(LABELS) + 1) + 2 * len(LABELS) + _PLACE) + _CUE
_LENGTHS = 3, 10  # sentences: what shorter and longer texts count as
_TOKEN = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*|\d+(?:[.,]\d+)*|[^\w\s]")
_TRAIN = "run: dvc repro train_roles"


class Model(Options):
    """`weights`: base64 of float16, by step: (features + a constant) x LABELS, the constant first.

    `encoder`: SHA-256 of the encoder's weights. `recipe`: all else that made the model.
    """

    version: int
    encoder: str
    recipe: dict[str, Any]
    weights: dict[str, str]

    @property
    def steps(self) -> dict[str, Any]:
        """The weights as arrays; ValueError if they are none."""
        read = {name: base64.b64decode(text, validate=True) for name, text in self.weights.items()}
        return {
            name: np.frombuffer(one, "<f2").astype(float).reshape(-1, len(LABELS))
            for name, one in read.items()
        }


def load(path: Path) -> Model:
    """The model in a file. BadInput if there is none, or it is damaged or of another version."""
    try:
        model = Model.model_validate_json(path.read_text(encoding="utf-8"))
        steps = model.steps
    except FileNotFoundError:
        raise BadInput(f"{path}: there is no such model; {_TRAIN}") from None
    except ValueError:
        raise BadInput(f"{path}: is not a model of sentence roles; {_TRAIN}") from None
    finite = all(np.isfinite(weights).all() for weights in steps.values())
    rows = {name: len(weights) for name, weights in steps.items() if name != VECTORS}
    fits = rows == {WORDS: 1 + SIZE + _PLACE + _CUE, SECOND: 1 + _SECOND} and VECTORS in steps
    if model.version != VERSION or not finite or not fits:
        raise BadInput(f"{path}: is a model of another version of Metassay; {_TRAIN}")
    return model


class Shared(NamedTuple):
    """What several steps read of a text: its n sentences, their places, n x 16, and their cues,
    n x 12, of which the first six columns say which role the rules choose, and the others have a
    third of each role's points.
    """

    said: Sequence[str]
    place: Any
    cue: Any


def shared(read: Read) -> Shared:
    """What several steps read of a text."""
    points = cue_points(read.said)
    chosen = [[role == each for each in ROLES] for role in sequence(points, read)]
    return Shared(read.said, _places(read.said), np.hstack([np.array(chosen, float), points / 3]))


def hashed(sentence: str) -> Any:
    """The numbers of a sentence's words, of two in sequence, and of its opening: sorted, distinct.

    Case does not count; years are one word, and so are all other numbers.
    """
    found = _TOKEN.findall(sentence.lower())
    year = re.compile(r"(?:19|20)\d\d").fullmatch
    words = [("<year>" if year(w) else "<number>") if w[0].isdigit() else w for w in found]
    whole = ["^", *words, "$"]
    grams = [*whole, *(" ".join(two) for two in pairwise(whole))]
    grams += [" ".join((f"first {count}", *words[:count])) for count in (2, 3, 4)]
    grams += [f"opening {word}" for word in words[:6]]
    return np.unique([zlib.crc32(gram.encode()) % SIZE for gram in grams])


def _places(said: Sequence[str]) -> Any:
    """Where each sentence stands, and how long it is: n x _PLACE.

    The only sentence of a text is neither its first nor its last one.
    """
    count = len(said)
    at, words = np.arange(count), np.array([len(one.split()) for one in said])
    share = at / (count - 1) if count > 1 else np.full(count, 0.5)
    length = np.full(count, np.clip(count, *_LENGTHS))
    ends = np.equal.outer(at, [0, 1, 2, count - 1, count - 2]) & (count > 1)
    bends = share, 1 - share, (2 * share - 1) ** 2, 1 / length, length / 10
    fifth = np.minimum(share * _FIFTHS, _FIFTHS - 1).astype(int)
    return np.column_stack([ends, *bends, np.minimum(words, 75) / 25, np.eye(_FIFTHS)[fifth]])


def sentence_vectors(
    encoder: encoders.Encoder, sentences: Sequence[str]
) -> Iterator[Mapping[int, Any]]:
    """By place: the mean of a sentence's pieces, the largest, and the mean of the first five.

    Each is 3 x the encoder's dimensions, in one row. Each sentence is encoded by itself, 512 are
    held at once, and what is past the encoder's limit is not read.
    """
    read = encoders.tokens(encoder, sentences)
    order = sorted(range(len(read)), key=lambda place: len(read[place].numbers))
    for start in range(0, len(order), 512):
        block = order[start : start + 512]
        rows = encoders.vectors(encoder, [read[place].numbers for place in block], 4096)
        yield {place: _pooled(row) for place, row in zip(block, rows, strict=True)}


def _pooled(row: Any) -> Any:
    pieces = row[1:] if len(row) > 1 else row  # without the mark in front
    pools = (row.mean(0), pieces.max(0).values, pieces[:5].mean(0))
    return np.asarray(extra.module("torch").cat(pools).cpu().numpy())


def vector_logits(weights: Any, vectors: Any) -> Any:
    """What an encoder's vectors (n x dimensions) add to the first guess by them, n x LABELS."""
    return vectors @ weights[1 : 1 + vectors.shape[1]]


def probabilities(steps: Mapping[str, Any], text: Shared, by_vector: Any) -> Any:
    """The probability of each of LABELS for each sentence; `by_vector`: its `vector_logits`."""
    words, vectors, last = steps[WORDS], steps[VECTORS], steps[SECOND]
    logits = words[0] + DENSE * np.hstack([text.place, text.cue]) @ words[1 + SIZE :]
    for at, sentence in enumerate(text.said):
        there = hashed(sentence)
        logits[at] += words[1 + there].sum(0) / np.sqrt(len(there))
    by_vector = by_vector + (vectors[0] + text.place @ vectors[-_PLACE:])
    return softmax(last[0] + second_features([logits, by_vector], text) @ last[1:], 1)


def second_features(guesses: Sequence[Any], text: Shared) -> Any:
    """What the second step reads: each first guess (logits) with those around, place and cues."""
    near = [around(softmax(logits, 1), text.place) for logits in guesses]
    return np.hstack([*near, text.cue])


def around(guesses: Any, place: Any) -> Any:
    """What the first guesses say of a sentence and its neighbours: n x (a number), with `place`.

    `guesses`: n x roles, probabilities. Of each of two neighbours on either side, and of the
    sentence, the logarithms around their mean, and whether it is there; then the mean guess of all
    sentences before, and of all behind.
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
    """`model`: the file that stage `train_roles` wrote. `encoder`: the one it was trained with."""

    model: str
    encoder: NetworkOptions


def divide(texts: Sequence[Text], options: SentenceRoleOptions, resources: Resources) -> Divided:  # noqa: ARG001
    """The facets of each text by the model; see `roles.divide_by_role`.

    Raises BadInput if the model cannot be read, or was trained with another encoder.
    """
    model, digest = load(Path(options.model)), weights_digest(options.encoder)
    if digest != model.encoder:
        raise BadInput(
            f"{options.model}: trained with weights {model.encoder[:8]}, but"
            f" {options.encoder.model!r} has {digest[:8]}; take the first again, or run:"
            " dvc repro train_roles"
        )
    return divide_by_role(
        texts,
        options.facets,
        lambda reads: classify(model, reads, _by_vector(model, reads, options.encoder)),
    )


def classify(model: Model, reads: Sequence[Read], by_vector: Sequence[Any]) -> list[list[str]]:
    """The role of each sentence of each text; `by_vector` has each text's `vector_logits`.

    The likeliest role that is allowed; where the rules choose it, a conclusion.
    """
    steps = model.steps
    found: list[list[str]] = []
    for read, logits in zip(reads, by_vector, strict=True):
        found.append([])
        text = shared(read) if read.said else None
        every = [] if text is None else probabilities(steps, text, logits)
        for row, allowed, cue in zip(every, read.allowed, text.cue if text else (), strict=True):
            likely = [LABELS[place] for place in np.argsort(-row.round(9), kind="stable")]
            if ROLES[cue[: len(ROLES)].argmax()] == _CONCLUSION:
                likely = [_CONCLUSION if role in _BECOMES else role for role in likely]
            left = [role for role in likely if allowed is None or role in allowed]
            found[-1].append(left[0] if left else min(allowed or (), key=ROLES.index))
    return found


def _by_vector(
    model: Model, reads: Sequence[Read], encoder: NetworkOptions, store: Path = STORE
) -> list[Any]:
    """What vectors add to the first guess, by text; a distinct sentence is encoded once, ever."""
    said = [(sentence,) for read in reads for sentence in read.said]
    weights = model.steps[VECTORS]
    settings = {
        "method": _METHOD,
        "dtype": encoder.dtype,
        "weights": text_hash(model.weights[VECTORS])[:8],
    }
    task = Task("sentence_roles", identify(encoder), encoder.device, settings, _PACKAGES)
    loaded = functools.cache(lambda: encoders.load_encoder(encoder, LAYERS))

    def compute(missing: Sequence[int]) -> Iterator[Mapping[int, Any]]:
        sentences = [said[place][0] for place in missing]
        for block in sentence_vectors(loaded(), sentences):
            rows = {place: vector_logits(weights, row[None])[0] for place, row in block.items()}
            yield {missing[place]: np.round(row, 4).tolist() for place, row in rows.items()}

    every = iter(outputs(task, said, compute, store=store) if said else [])
    return [np.array([next(every) for _ in read.said]) for read in reads]


def _recipe(options: SentenceRoleOptions, _: object) -> str:
    """The block's settings and a hash of the trained file."""
    content = hashlib.sha256(Path(options.model).read_bytes()).hexdigest()
    settings = {"kind": "sentence_roles"} | options.model_dump(exclude_unset=True)
    return f"{printed(settings)}#{content[:8]}"


KIND = Segmentation(
    options=SentenceRoleOptions,
    divide=divide,
    files=lambda options: (PromptFile(Path(options.model), None),),
    recipe=_recipe,
)


# Training a model of sentence roles on texts whose sentences people labelled.
# Each step is a multinomial logistic regression of scikit-learn's. The second one is fitted to
# first guesses that were made without the text in question, in a cross-validation by text.


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
    read = [shared(text.read) for text in texts]
    seen = _first_features(read, encoder)
    logits = {name: _held_out(name, matrix, target) for name, matrix in seen.items()}
    ends = np.cumsum([len(text.said) for text in read])[:-1]
    guesses = zip(*(np.split(one, ends) for one in logits.values()), strict=True)
    rows = [second_features(g, text) for g, text in zip(guesses, read, strict=True)]
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
    return Model(version=VERSION, encoder=weights_digest(encoder), recipe=recipe, weights=weights)


def packed(weights: Any) -> str:
    """Weights as a model's file has them."""
    return base64.b64encode(np.asarray(weights).astype("<f2").tobytes()).decode("ascii")


def _first_features(read: Sequence[Shared], encoder: NetworkOptions) -> dict[str, Any]:
    """By step the features of all sentences, in rows."""
    said = [sentence for text in read for sentence in text.said]
    place, cue = (np.vstack(rows) for rows in zip(*((t.place, t.cue) for t in read), strict=True))
    there = [hashed(sentence) for sentence in said]
    ends = np.cumsum([0, *map(len, there)])
    values = np.concatenate([np.full(len(row), 1 / np.sqrt(len(row))) for row in there])
    words = sparse.csr_matrix((values, np.concatenate(there), ends), (len(said), SIZE))
    rows: dict[int, Any] = {}
    loaded = encoders.load_encoder(encoder, LAYERS)
    for block in sentence_vectors(loaded, said):
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

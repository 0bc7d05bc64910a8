"""Fitting the semantic judge: words, then the network, then claims, each to what came before.

1. A word's support: a logistic model, on the words that WiCE's people marked.
2. The networks' doubt: on edits and written pairs, and on WiCE's claims.
3. A claim's support: a logistic model and boosted trees, on whole claims of MIX, of what 1, 2 and
   the rules say of them. None takes a feature the wrong way: more likely words and higher
   similarity never lower the probability, doubt, clashes, missing names and numbers never raise it.

3 sees what 1 and 2 give for texts that those were not fitted to.
"""

import hashlib
import zlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from metassay.judges.semantic import claims, head, head_training, tokens, trees
from metassay.judges.semantic.coefficients import (
    CONSTANT,
    DIGITS,
    Coefficients,
    named,
    packed,
    probability,
    support,
)
from metassay.judges.semantic.examples import ACI, WICE, Example, examples
from metassay.judges.semantic.reader import Read, read_pairs
from metassay.models import encoders
from metassay.models.loading import NetworkOptions, weights_digest
from metassay.text.edits.make import FLIPS

SEED = 1
FOLDS = 5
NETWORK_FOLDS = 2
NETWORKS = 3  # from as many draws
PENALTY = 1.0  # on squared coefficients of features of deviation 1
SHORTEST = 3  # words of a hypothesis
TOTAL = 3000.0  # what all weights together are, however many examples there are
FILES = (WICE, *(f"aci_bench_train/{name}" for name in ACI))
WRITTEN, FLIPPED = "written", "note_flipped"  # families of kinds

# How much all examples of a kind, or of a family of kinds, weigh together for the claim's model.
MIX = {
    **{"pruned": 3.0, "claim": 1.8, "unsupported": 0.6, "rest": 0.6},
    **{"dialogue": 0.15, "dialogue_elsewhere": 0.15},
    **{"note": 0.05, "note_same": 0.1, "note_elsewhere": 0.15},
    **{FLIPPED: 1.0, WRITTEN: 2.6},
}
# How much an example of a kind, or of a family, weighs for the network; 1 if it is not named.
NETWORK = {
    **{"note": 0.3, "unsupported": 0.4, "pruned": 1.5, WRITTEN: 4.0},
    **{"rest": 0.4, "dialogue": 0.0, "dialogue_elsewhere": 0.0, "note_elsewhere": 0.4},
}


class _Set(NamedTuple):
    """Examples with what was read of them; `labels`: 1 supported; `groups`: numbers of groups."""

    examples: list[Example]
    reads: list[Read]
    labels: Any
    groups: Any


class Trained(NamedTuple):
    """The coefficients, and the content of their network's file."""

    coefficients: Coefficients
    network: bytes


def train(raw: Path, pairs: Path, options: NetworkOptions, batch_tokens: int) -> Trained:
    """Fit everything; the same files, encoder and processor give the same.

    `raw` has the folders of wice_train and aci_bench_train, `pairs` is the file of written pairs.
    Raises BadInput if the model cannot be loaded.
    """
    data = _read(raw, pairs, options, batch_tokens)
    words = _words(data, np.ones(len(data.labels), bool))
    networks = _networks(data, np.ones(len(data.labels), bool))
    features, mix = _features(data), _weights(data)
    used = mix > 0
    signs = np.array([-1 if name in claims.FALLING else 1 for name in claims.FEATURES])
    line = fit(features[used], data.labels[used], mix[used], signs)
    boosted = trees.fit(features[used], data.labels[used], mix[used], signs, DIGITS)
    file = packed(networks)
    made = Coefficients(
        encoder=weights_digest(options),
        head=hashlib.sha256(file).hexdigest(),
        recipe=_recipe(raw, pairs, data) | _checked(data, features, mix, signs),
        words=named((CONSTANT, *tokens.FEATURES), words),
        claims=named((CONSTANT, *claims.FEATURES), line),
        trees=boosted,
    )
    return Trained(made, file)


def fit(features: Any, labels: Any, weights: Any, signs: Any = None, offset: Any = 0.0) -> Any:
    """The constant and the coefficients of a logistic model, by maximum likelihood.

    Features are n x k, labels 0 or 1, weights not negative. The penalty is on coefficients of
    standardized features. `signs`: 1 for a coefficient that must not be negative, -1 for one that
    must not be positive. `offset`: what is known of the logit.
    """
    middle, spread = features.mean(0), features.std(0)
    spread = np.where(spread > 0, spread, 1.0)
    scaled = (features - middle) / spread

    def loss(values: Any) -> tuple[float, Any]:
        logit = offset + values[0] + scaled @ values[1:]
        lost = weights * (np.logaddexp(0, logit) - labels * logit)
        wrong = weights * (probability(logit) - labels)
        slope = scaled.T @ wrong + PENALTY * values[1:]
        penalty = PENALTY / 2 * values[1:] @ values[1:]
        return float(lost.sum() + penalty), np.concatenate([[wrong.sum()], slope])

    count = features.shape[1]
    bounds: list[tuple[int | None, int | None]] = [(None, None)] * (count + 1)
    if signs is not None:
        bounds[1:] = [(0, None) if sign > 0 else (None, 0) for sign in signs]
    found = minimize(
        loss,
        np.zeros(count + 1),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": 20_000, "maxfun": 40_000, "ftol": 1e-15, "gtol": 1e-9},
    )
    slopes = found.x[1:] / spread
    return np.concatenate([[found.x[0] - slopes @ middle], slopes])


def _read(raw: Path, pairs: Path, options: NetworkOptions, batch_tokens: int) -> _Set:
    made = [one for one in examples(raw, pairs, SEED) if len(one.hypothesis.split()) >= SHORTEST]
    # Fitted numbers are rounded, and single precision is twice as fast.
    encoder = encoders.load_encoder(options.model_copy(update={"dtype": "float32"}))
    questions = [("\n".join(one.premise), one.hypothesis) for one in made]
    found: dict[int, Read] = {}
    for block in read_pairs(encoder, questions, batch_tokens):
        found |= {place: _lean(read) for place, read in block.items()}
    kept = [place for place in range(len(made)) if found[place].compared is not None]
    return _Set(
        [made[place] for place in kept],
        [found[place] for place in kept],
        np.array([float(made[place].supported) for place in kept]),
        np.array([zlib.crc32(made[place].group.encode()) for place in kept]),
    )


def _lean(read: Read) -> Read:
    """The same in less memory: without vectors but for those that the network reads."""
    said = read.said._replace(encoded=read.said.encoded._replace(vectors=None))
    words = read.words
    if words is not None:
        half = [part.astype(np.float16) for part in (words.hypothesis, words.sentences)]
        words = words._replace(hypothesis=half[0], sentences=half[1])
    return read._replace(said=said, words=words)


def _words(data: _Set, among: Any) -> Any:
    """The model of words, fitted to the marked claims that are `among`."""
    marked = [
        (read.compared.features, 1.0 - _unsupported(one, read))
        for one, read, use in zip(data.examples, data.reads, among, strict=True)
        if use and one.kind == "claim" and read.compared is not None
    ]
    features = np.concatenate([rows for rows, _ in marked])
    labels = np.concatenate([row for _, row in marked])
    return fit(features, labels, np.ones(len(labels)))


def _unsupported(one: Example, read: Read) -> Any:
    """For each word whether it is marked: n times 1 or 0; None if it is not known."""
    bad = one.unsupported
    if bad is None:
        return None
    return np.array(
        [
            float(any(start < word.end and word.start < end for start, end in bad))
            for word in read.said.encoded.words
        ]
    )


def _networks(data: _Set, among: Any) -> list[dict[str, Any]]:
    cases = []
    for one, read, use in zip(data.examples, data.reads, among, strict=True):
        weight = NETWORK.get(_family(one.kind), 1.0)
        if use and weight and read.words is not None:
            marked = _unsupported(one, read)
            cases.append(head_training.Case(read.words, one.supported, weight, marked))
    return [head_training.train(cases, SEED + number) for number in range(NETWORKS)]


def _family(kind: str) -> str:
    if kind.startswith(WRITTEN):
        return WRITTEN
    return FLIPPED if kind.removeprefix("note_") in FLIPS else kind


def _features(data: _Set) -> Any:
    """Features of the claims of MIX, by models that were fitted to other texts."""
    rows = np.zeros((len(data.reads), len(claims.FEATURES)))
    used = np.array([_family(one.kind) in MIX for one in data.examples])
    doubt = np.zeros(len(data.reads))
    for fold in range(NETWORK_FOLDS):
        out = data.groups % NETWORK_FOLDS == fold
        networks = [
            {name: values.double() for name, values in one.items()} for one in _networks(data, ~out)
        ]
        places = np.flatnonzero(out & used)
        said = head.read_doubts(networks, [data.reads[place].words for place in places])
        doubt[places] = [whole for whole, _ in said]
    for fold in range(FOLDS):
        out = data.groups % FOLDS == fold
        words = _words(data, ~out)
        for place in np.flatnonzero(out & used):
            read = data.reads[place]
            assert read.compared is not None
            likely = support(words, read.compared.features)
            of_words = claims.words_say(read.said, read.compared, likely, read.absent)
            rows[place] = claims.features(of_words, read.clashing, doubt[place])
    return rows


def _weights(data: _Set) -> Any:
    """Weights of examples: each family has its share, whatever their number.

    In a family each label has what its examples are of it, and each kind of a label the same.
    """
    sides = [(_family(one.kind), one.supported) for one in data.examples]
    kinds = [(*side, one.kind) for side, one in zip(sides, data.examples, strict=True)]
    of_family, of_side = Counter(family for family, _ in sides), Counter(sides)
    of_kind, kinds_of_side = Counter(kinds), Counter(kind[:2] for kind in set(kinds))
    weights = np.array(
        [
            MIX.get(family, 0.0)
            / of_family[family]
            * of_side[family, label]
            / kinds_of_side[family, label]
            / of_kind[family, label, kind]
            for family, label, kind in kinds
        ]
    )
    return TOTAL * weights / weights.sum()


def _recipe(raw: Path, pairs: Path, data: _Set) -> dict[str, Any]:
    counts = Counter(one.kind for one in data.examples)
    files = {name: raw / name for name in FILES} | {pairs.name: pairs}
    return {
        "data": {name: hashlib.sha256(at.read_bytes()).hexdigest() for name, at in files.items()},
        "seed": SEED,
        "folds": FOLDS,
        "penalty": PENALTY,
        "examples": dict(sorted(counts.items())),
        "weights": {"claims": MIX, "network": NETWORK},
    }


def _checked(data: _Set, features: Any, mix: Any, signs: Any) -> dict[str, Any]:
    """Cross-validated on training data: mean log loss, and by kind the share above a half."""
    logits = np.zeros(len(data.labels))
    used = mix > 0
    for fold in range(FOLDS):
        out = data.groups % FOLDS == fold
        inside = used & ~out
        line = fit(features[inside], data.labels[inside], mix[inside], signs)
        boosted = trees.fit(features[inside], data.labels[inside], mix[inside], signs, DIGITS)
        by_line = probability(line[0] + features[out] @ line[1:])
        mean = (by_line + probability(trees.logits(boosted, features[out]))) / 2
        logits[out] = np.log(mean / (1 - mean))
    lost = mix * (np.logaddexp(0, logits) - data.labels * logits)
    kinds = np.array([one.kind for one in data.examples])
    shares = {str(kind): _share(logits[kinds == kind]) for kind in np.unique(kinds[used])}
    return {"log_loss": round(float(lost.sum() / mix.sum()), 3), "above_half": shares}


def _share(logits: Sequence[float]) -> float:
    return round(float(np.mean(np.asarray(logits) > 0)), 2)

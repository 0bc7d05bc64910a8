"""Fitting the semantic judge: words, then the network, then claims, each to what came before.

1. A word's support: a logistic model, on the words that WiCE's people marked.
2. The networks' doubt: on edits and written pairs, and on WiCE's claims. Where it is known which
   words of a hypothesis are not supported, those are learnt as well. Training adds up in single
   precision, so the weights differ a little between processors: the file that is committed was made
   once, and its hash is in the coefficients.
3. A claim's support: a logistic model and boosted trees, on whole claims of MIX, of what 1, 2 and
   the rules say of them. None takes a feature the wrong way: more likely words and higher
   similarity never lower the probability, doubt, clashes, missing names and numbers never raise it.

3 sees what 1 and 2 give for texts that those were not fitted to.
"""

import hashlib
import random
import zlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from metassay.judges.semantic import head
from metassay.judges.semantic.coefficients import (
    DIGITS,
    LEAVES,
    OF_CLAIMS,
    OF_WORDS,
    Coefficients,
    Tree,
    Trees,
    logits,
    packed,
    probability,
    rounded,
)
from metassay.judges.semantic.examples import ACI, WICE, Example, examples
from metassay.judges.semantic.features import CLAIM_FEATURES, FALLING
from metassay.judges.semantic.reader import Read, read_pairs
from metassay.models import encoders, extra
from metassay.models.batches import by_length
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
_BOOSTING = {
    **{"max_iter": 150, "learning_rate": 0.06, "max_leaf_nodes": LEAVES, "min_samples_leaf": 40},
    **{"l2_regularization": 5.0, "early_stopping": False, "random_state": 0},
}
SIGNS = np.array([-1 if name in FALLING else 1 for name in CLAIM_FEATURES])

# Of the network's training.
EPOCHS = 3
RATE = 2e-3
WARM = 100  # steps until the full rate
DECAY = 0.01
DROPPED = 0.1
FLATTEST = 0.02  # of the rate at the end
ON_WORDS = 6.0  # how much the words' mean loss counts beside the hypothesis's
_SHARPNESS = ((12.0, 0.0, 2.0), (0.0, 12.0, 2.0), (6.0, 6.0, 0.0), (3.0, 3.0, 4.0))


class _Set(NamedTuple):
    """Examples with what was read of them; `labels`: 1 supported; `groups`: numbers of groups."""

    examples: list[Example]
    reads: list[Read]
    labels: Any
    groups: Any


class Case(NamedTuple):
    """A pair for the network to learn from: what is read of it, its label, its weight.

    `unsupported`: n times true or false; None where it is not known which words are.
    """

    words: head.Words
    supported: bool
    weight: float
    unsupported: Any


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
    every = np.ones(len(data.labels), bool)
    words, file = _words(data, every), packed(_networks(data, every))
    features, mix = _features(data), _weights(data)
    used = mix > 0
    line = fit(features[used], data.labels[used], mix[used], SIGNS)
    made = Coefficients(
        encoder=weights_digest(options),
        head=hashlib.sha256(file).hexdigest(),
        recipe=_recipe(raw, pairs, data) | _checked(data, features, mix),
        words=dict(zip(OF_WORDS, rounded(words), strict=True)),
        claims=dict(zip(OF_CLAIMS, rounded(line), strict=True)),
        trees=fit_trees(features[used], data.labels[used], mix[used], SIGNS, DIGITS),
    )
    return Trained(made, file)


def fit(features: Any, labels: Any, weights: Any, signs: Any = None) -> Any:
    """The constant and the coefficients of a logistic model, by maximum likelihood.

    Features are n x k, labels 0 or 1, weights not negative. The penalty is on coefficients of
    standardized features. `signs`: 1 for a coefficient that must not be negative, -1 for one that
    must not be positive.
    """
    middle, spread = features.mean(0), features.std(0)
    spread = np.where(spread > 0, spread, 1.0)
    scaled = (features - middle) / spread

    def loss(values: Any) -> tuple[float, Any]:
        logit = values[0] + scaled @ values[1:]
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


def fit_trees(features: Any, labels: Any, weights: Any, signs: Any, digits: int) -> Trees:
    """Trees by gradient boosting (scikit-learn), numbers rounded to so many significant digits.

    `signs`: 1 for a feature of which more never lowers the logit, -1 for one of which more never
    raises it.
    """
    boosting = extra.module("sklearn.ensemble").HistGradientBoostingClassifier
    model = boosting(monotonic_cst=list(signs), **_BOOSTING)
    model.fit(features, labels, sample_weight=weights)
    made = []
    for step in model._predictors:
        nodes = step[0].nodes
        leaf = nodes["is_leaf"].astype(bool)
        made.append(
            Tree(
                feature=np.where(leaf, -1, nodes["feature_idx"]).tolist(),
                threshold=rounded(np.where(leaf, 0.0, nodes["num_threshold"]).tolist(), digits),
                left=nodes["left"].tolist(),
                right=nodes["right"].tolist(),
                value=rounded(np.where(leaf, nodes["value"], 0.0).tolist(), digits),
            )
        )
    constant = float(np.ravel(model._baseline_prediction)[0])
    return Trees(constant=rounded([constant], digits)[0], trees=made)


def train_network(cases: Sequence[Case], seed: int) -> dict[str, Any]:
    """The weights (torch, float32) that were learnt from the cases."""
    torch = extra.module("torch")
    generator = torch.Generator().manual_seed(seed)
    weights = _first(cases[0].words.hypothesis.shape[1] // 2, generator)
    optimizer = torch.optim.AdamW(weights.values(), lr=RATE, weight_decay=DECAY)
    rng = random.Random(seed)
    steps = EPOCHS * len(_batches(cases, rng))
    step = 0
    for _ in range(EPOCHS):
        for places in _batches(cases, rng):
            rate = RATE * min(1, (step + 1) / WARM) * max(FLATTEST, 1 - step / steps)
            for group in optimizer.param_groups:
                group["lr"] = rate
            optimizer.zero_grad()
            _loss(weights, [cases[place] for place in places], generator).backward()
            torch.nn.utils.clip_grad_norm_(weights.values(), 1.0)
            optimizer.step()
            step += 1
    return {name: values.detach() for name, values in weights.items()}


def _batches(cases: Sequence[Case], rng: random.Random) -> list[list[int]]:
    """Places of cases of about one size, in an order that is drawn."""
    sizes = [head.size(case.words) + rng.randrange(8) for case in cases]
    found = list(by_length(sizes, head.TOKENS))
    rng.shuffle(found)
    return found


def _first(size: int, generator: Any) -> dict[str, Any]:
    """Weights to begin with: small draws, norms of one, looks that go by similarity."""
    torch = extra.module("torch")
    found = {}
    for name, shape in head.shapes(size).items():
        if name == "sharpness":
            values = torch.tensor(_SHARPNESS)
        elif len(shape) == 1 or name == "distance":
            values = torch.full(shape, float(name.startswith("before") and "weight" in name))
        else:
            values = torch.empty(shape).uniform_(-1, 1, generator=generator) / shape[0] ** 0.5
        found[name] = values.requires_grad_()
    return found


def _loss(weights: head.Weights, cases: Sequence[Case], generator: Any) -> Any:
    torch = extra.module("torch")
    cross = torch.nn.functional.binary_cross_entropy_with_logits

    def drop(state: Any) -> Any:
        kept = torch.rand(state.shape, generator=generator) >= DROPPED
        return state * kept / (1 - DROPPED)

    batch = head.batch([case.words for case in cases], "float32")
    found = head.doubts(weights, batch, drop)
    labels = torch.tensor([float(not case.supported) for case in cases])
    weight = torch.tensor([case.weight for case in cases])
    lost = cross(head.pooled(found), labels, reduction="none")
    marked, known = torch.zeros(found.shape), torch.zeros(found.shape)
    for place, case in enumerate(cases):
        if case.unsupported is not None:
            its = torch.from_numpy(np.asarray(case.unsupported, np.float32))
            marked[place, : len(its)] = its
            known[place, : len(its)] = 1 / len(its)
    of_words = (cross(found, marked, reduction="none") * known).sum(1)
    return ((lost + ON_WORDS * of_words) * weight).sum() / weight.sum()


def _read(raw: Path, pairs: Path, options: NetworkOptions, batch_tokens: int) -> _Set:
    made = [one for one in examples(raw, pairs, SEED) if len(one.hypothesis.split()) >= SHORTEST]
    # Fitted numbers are rounded, and single precision is twice as fast.
    encoder = encoders.load_encoder(options.model_copy(update={"dtype": "float32"}))
    questions = [("\n".join(one.premise), one.hypothesis) for one in made]
    found: dict[int, Read] = {}
    for block in read_pairs(encoder, questions, batch_tokens, {}):
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
    words = read.said.encoded.words
    return np.array([float(any(a < w.end and w.start < b for a, b in bad)) for w in words])


def _networks(data: _Set, among: Any) -> list[dict[str, Any]]:
    cases = []
    for one, read, use in zip(data.examples, data.reads, among, strict=True):
        weight = NETWORK.get(_family(one.kind), 1.0)
        if use and weight and read.words is not None:
            cases.append(Case(read.words, one.supported, weight, _unsupported(one, read)))
    return [train_network(cases, SEED + number) for number in range(NETWORKS)]


def _family(kind: str) -> str:
    if kind.startswith(WRITTEN):
        return WRITTEN
    return FLIPPED if kind.removeprefix("note_") in FLIPS else kind


def _features(data: _Set) -> Any:
    """Features of the claims of MIX, by models that were fitted to other texts."""
    rows = np.zeros((len(data.reads), len(CLAIM_FEATURES)))
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
            rows[place] = data.reads[place].of_claim(words, doubt[place])
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


def _checked(data: _Set, features: Any, mix: Any) -> dict[str, Any]:
    """Cross-validated on training data: mean log loss, and by kind the share above a half."""
    found = np.zeros(len(data.labels))
    used = mix > 0
    for fold in range(FOLDS):
        out = data.groups % FOLDS == fold
        inside = used & ~out
        fitted = features[inside], data.labels[inside], mix[inside], SIGNS
        line, boosted = fit(*fitted), fit_trees(*fitted, DIGITS)
        by_line = probability(line[0] + features[out] @ line[1:])
        mean = (by_line + probability(logits(boosted, features[out]))) / 2
        found[out] = np.log(mean / (1 - mean))
    lost = mix * (np.logaddexp(0, found) - data.labels * found)
    kinds = np.array([one.kind for one in data.examples])
    shares = {
        str(kind): round(float(np.mean(found[kinds == kind] > 0)), 2)
        for kind in np.unique(kinds[used])
    }
    return {"log_loss": round(float(lost.sum() / mix.sum()), 3), "above_half": shares}

"""Fitting the semantic judge: words, then the network, then claims, each to what came before.

1. A word's support: a logistic model, on the words that WiCE's people marked.
2. The networks' doubt: on edits and written pairs, and on WiCE's claims. Where it is known which
   words of a hypothesis are not supported, those are learnt as well. Training adds up in single
   precision, so the weights differ a little between processors: the file that is committed was made
   once, and its hash is in the coefficients.
3. A claim's support: a logistic model and boosted trees, on whole claims of MIX, of what 1, 2 and
   the rules say of them, for texts that those were not fitted to. None takes a feature the wrong
   way: more likely words and higher similarity never lower the probability, doubt, clashes, missing
   names and numbers never raise it.
"""

import csv
import hashlib
import json
import random
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from metassay.judges.semantic import coefficients
from metassay.judges.semantic.coefficients import (
    DIGITS,
    LEAVES,
    OF_CLAIMS,
    OF_WORDS,
    Coefficients,
    Tree,
    Trees,
    packed,
    probability,
    rounded,
)
from metassay.judges.semantic.features import CLAIM_FEATURES, FALLING, sentences
from metassay.judges.semantic.judge import Read, read_pairs
from metassay.models import encoders, extra
from metassay.models.batches import by_length
from metassay.models.loading import NetworkOptions, weights_digest
from metassay.text.edits.make import FLIPS, KEEPS, edits

Span = tuple[int, int]
WICE, ACI = "wice_train/non_supported_tokens_train.jsonl", ("train.csv", "valid.csv")
_MOST = 40  # words of a sentence
_LEAST = 4
_OF_NOTE, _EDITED = 8, 16  # sentences of a note
_SPOKEN = 3  # dialogues are long: one in so many visits is read
_EDITS = (*FLIPS, *(kind for kind in KEEPS if kind != "identity"))


class Example(NamedTuple):
    """A hypothesis and the sentences it is read against.

    `unsupported`: places of words without support; None where it is not known which they are.
    `group`: examples of one text, which are never on both sides of a cross-validation. `kind`: how
    it was made.
    """

    kind: str
    group: str
    hypothesis: str
    premise: tuple[str, ...]
    supported: bool
    unsupported: tuple[Span, ...] | None = None


def wice_claims(raw: Path, rng: random.Random) -> Iterator[Example]:
    """Claims with marked words, without these words, and where the evidence lacks the support."""
    for row in _wice(raw):
        group = row["meta"]["id"].split("-")[0]
        claim, evidence = row["claim"], row["evidence"]
        bad = _marked(row)
        support = sorted({i for one in row["supporting_sentences"] for i in one})
        kept = _without(claim, bad)
        for size in (8, 24):
            rest = [i for i in range(len(evidence)) if i not in support and evidence[i].strip()]
            near = [i for i in rest if any(abs(i - j) <= 4 for j in support)]
            chosen = set(near[: size // 2]) | set(rng.sample(rest, min(len(rest), size // 2)))
            chunk = tuple(evidence[i] for i in sorted(chosen | set(support)))
            lacking = tuple(evidence[i] for i in sorted(chosen))
            yield Example("claim", group, claim, chunk, False, bad)
            if len(kept.split()) >= _LEAST:
                yield Example("pruned", group, kept, chunk, True, ())
                if lacking:
                    yield Example("unsupported", group, kept, lacking, False)


def pages(raw: Path, rng: random.Random) -> Iterator[Example]:
    """Sentences of the evidence against what stands around them, which seldom says the same."""
    # Each page of evidence once, and the name of the first claim that cites it.
    known: dict[str, tuple[str, list[str]]] = {}
    for row in _wice(raw):
        known.setdefault("\n".join(row["evidence"]), (row["meta"]["id"], row["evidence"]))
    for identity, page in known.values():
        # Two of its whole sentences.
        whole = (line.strip()[-1:] in tuple('.!?"') and len(line.split()) for line in page)
        fitting = [place for place, length in enumerate(whole) if 8 <= length <= _MOST]
        for at in rng.sample(fitting, min(2, len(fitting))):
            for size in (8, 24):
                around = page[max(0, at - size) : at + size]
                rest = [line for line in around if line != page[at] and line.strip()]
                chosen = sorted(rng.sample(range(len(rest)), min(size, len(rest))))
                if len(chosen) >= 5:
                    premise = tuple(rest[i] for i in chosen)
                    yield Example("rest", identity.split("-")[0], page[at], premise, False)


def notes(raw: Path, rng: random.Random) -> Iterator[Example]:
    """Sentences of visit notes against their note and dialogue, as they are, edited, elsewhere."""
    # Of each visit the sentences of its note, and its dialogue.
    read: list[tuple[tuple[str, ...], tuple[str, ...]]] = []
    for name in ACI:
        with (raw / "aci_bench_train" / name).open(encoding="utf-8", newline="") as file:
            rows = csv.DictReader(file)
            read += [(tuple(sentences(row["note"])), (row["dialogue"],)) for row in rows]
    for number, (note, dialogue) in enumerate(read):
        group = f"visit{number}"
        fitting = [one for one in note if _LEAST <= len(one.split()) <= _MOST]
        for text in rng.sample(fitting, min(len(fitting), _EDITED)):
            yield from edited(group, text, note, rng)
        for text in rng.sample(fitting, min(len(fitting), _OF_NOTE)):
            other = read[(number + 1 + rng.randrange(len(read) - 1)) % len(read)][0]
            spoken = read[(number + _SPOKEN) % len(read)][1]
            yield Example("note", group, text, note, True, ())
            yield Example("note_elsewhere", group, text, other, False)
            if number % _SPOKEN == 0:
                yield Example("dialogue", group, text, dialogue, True)
                yield Example("dialogue_elsewhere", group, text, spoken, False)


def edited(
    group: str, text: str, premise: tuple[str, ...], rng: random.Random
) -> Iterator[Example]:
    """False and true edits of a note's sentence, by the training half of the vocabulary.

    Half of the false ones are turned round: the sentence as it is, read where the edited one
    stands. So no oddness of edited sentences tells what is false.
    """
    others = [one for one in premise if one != text]
    for edit in edits(text, _EDITS, rng.randrange(2**31), others, half="train"):
        if edit.entailed:
            yield Example("note_same", group, edit.text, premise, True, ())
        elif rng.random() < 0.5:
            spans = _changed(text, edit.text) or None
            yield Example(f"note_{edit.kind}", group, edit.text, premise, False, spans)
        else:
            turned = tuple(edit.text if one == text else one for one in premise)
            spans = _changed(edit.text, text) or None
            yield Example(f"note_{edit.kind}", group, text, turned, False, spans)


def written(pairs: Path) -> Iterator[Example]:
    """Claims that were written for training about invented notes and sentences, true and false."""
    bank: list[str] = []
    for line in pairs.read_text(encoding="utf-8").splitlines():
        note = json.loads(line)
        premise = tuple(sentences(note["note"]))
        if len(premise) == 1:  # a sentence by itself is read among the last ones
            bank = [*bank[-3:], *premise]
            premise = tuple(bank)
        for kind, label, claim in note["claims"]:
            true = label == "entailed"
            yield Example(f"written_{kind}", note["id"], claim, premise, true, () if true else None)


def examples(raw: Path, pairs: Path, seed: int) -> list[Example]:
    """All examples, the same for the same seed.

    `raw` has a folder of raw files per dataset, `pairs` is the file of written pairs.
    """
    makers = (wice_claims, pages, notes)
    made = [one for make in makers for one in make(raw, random.Random(seed))]
    return [*made, *written(pairs)]


def _wice(raw: Path) -> list[dict[str, Any]]:
    with (raw / WICE).open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def _marked(row: dict[str, Any]) -> tuple[Span, ...]:
    """Where the tokens are that people found without support."""
    at, found = 0, []
    for token, bad in zip(row["claim_tokens"], row["non_supported_spans"], strict=True):
        start = row["claim"].index(token, at)
        at = start + len(token)
        if bad:
            found.append((start, at))
    return tuple(found)


def _without(claim: str, bad: Sequence[Span]) -> str:
    kept = "".join(letter for i, letter in enumerate(claim) if not any(s <= i < e for s, e in bad))
    return re.sub(r"\s+([.,])", r"\1", " ".join(kept.split())).strip(" ,")


def _changed(before: str, after: str) -> tuple[Span, ...]:
    """What of the sentence behind differs from the one before; () if something was taken away."""
    short = min(len(before), len(after))
    start = next((i for i in range(short) if before[i] != after[i]), short)
    end = 0
    while end < short - start and before[-1 - end] == after[-1 - end]:
        end += 1
    return ((start, len(after) - end),) if start < len(after) - end else ()


SEED = 1
FOLDS, NETWORK_FOLDS = 5, 2
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

    words: coefficients.Words
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
    weights = _weights(data)
    used = weights > 0
    fitted = _features(data)[used], data.labels[used], weights[used], SIGNS
    files = {name: raw / name for name in FILES} | {pairs.name: pairs}
    recipe = {
        "data": {name: hashlib.sha256(at.read_bytes()).hexdigest() for name, at in files.items()},
        **{"seed": SEED, "folds": FOLDS, "penalty": PENALTY},
        "examples": dict(sorted(Counter(one.kind for one in data.examples).items())),
        "weights": {"claims": MIX, "network": NETWORK},
    }
    made = Coefficients(
        encoder=weights_digest(options),
        head=hashlib.sha256(file).hexdigest(),
        recipe=recipe,
        words=dict(zip(OF_WORDS, rounded(words), strict=True)),
        claims=dict(zip(OF_CLAIMS, rounded(fit(*fitted)), strict=True)),
        trees=fit_trees(*fitted, DIGITS),
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

    ends = {1: (0, None), -1: (None, 0), 0: (None, None)}
    each = np.zeros(features.shape[1]) if signs is None else signs
    found = minimize(
        loss,
        np.zeros(len(each) + 1),
        jac=True,
        method="L-BFGS-B",
        bounds=[ends[0], *(ends[int(sign)] for sign in each)],
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
    trees = []
    for step in model._predictors:
        nodes = step[0].nodes
        leaf = nodes["is_leaf"].astype(bool)
        threshold = np.where(leaf, 0.0, nodes["num_threshold"])
        tree = Tree(
            feature=np.where(leaf, -1, nodes["feature_idx"]).tolist(),
            threshold=rounded(threshold.tolist(), digits),
            **{side: nodes[side].tolist() for side in ("left", "right")},
            value=rounded(np.where(leaf, nodes["value"], 0.0).tolist(), digits),
        )
        trees.append(tree)
    (constant,) = rounded([float(np.ravel(model._baseline_prediction)[0])], digits)
    return Trees(constant=constant, trees=trees)


def train_network(cases: Sequence[Case], seed: int) -> dict[str, Any]:
    """The weights (torch, float32) that were learnt from the cases."""
    torch = extra.module("torch")
    generator = torch.Generator().manual_seed(seed)
    weights = _first(cases[0].words.hypothesis.shape[1] // 2, generator)
    optimizer = torch.optim.AdamW(weights.values(), lr=RATE, weight_decay=DECAY)
    rng = random.Random(seed)
    steps = EPOCHS * len(_batches(cases, rng))
    batches = (places for _ in range(EPOCHS) for places in _batches(cases, rng))
    for step, places in enumerate(batches):
        rate = RATE * min(1, (step + 1) / WARM) * max(FLATTEST, 1 - step / steps)
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.zero_grad()
        _loss(weights, [cases[place] for place in places], generator).backward()
        torch.nn.utils.clip_grad_norm_(weights.values(), 1.0)
        optimizer.step()
    return {name: values.detach() for name, values in weights.items()}


def _batches(cases: Sequence[Case], rng: random.Random) -> list[list[int]]:
    """Places of cases of about one size, in an order that is drawn."""
    sizes = [coefficients.size(case.words) + rng.randrange(8) for case in cases]
    found = list(by_length(sizes, coefficients.TOKENS))
    rng.shuffle(found)
    return found


def _first(size: int, generator: Any) -> dict[str, Any]:
    """Weights to begin with: small draws, norms of one, looks that go by similarity."""
    torch = extra.module("torch")
    found = {}
    for name, shape in coefficients.shapes(size).items():
        if name == "sharpness":
            values = torch.tensor(_SHARPNESS)
        elif len(shape) == 1 or name == "distance":
            values = torch.full(shape, float(name.startswith("before") and "weight" in name))
        else:
            values = torch.empty(shape).uniform_(-1, 1, generator=generator) / shape[0] ** 0.5
        found[name] = values.requires_grad_()
    return found


def _loss(weights: coefficients.Weights, cases: Sequence[Case], generator: Any) -> Any:
    torch = extra.module("torch")
    cross = torch.nn.functional.binary_cross_entropy_with_logits

    def drop(state: Any) -> Any:
        kept = torch.rand(state.shape, generator=generator) >= DROPPED
        return state * kept / (1 - DROPPED)

    found = coefficients.doubts(
        weights, coefficients.batch([case.words for case in cases], "float32"), drop
    )
    labels = torch.tensor([float(not case.supported) for case in cases])
    weight = torch.tensor([case.weight for case in cases])
    lost = cross(coefficients.pooled(found), labels, reduction="none")
    marked, known = torch.zeros(found.shape), torch.zeros(found.shape)
    for place, case in enumerate(cases):
        if case.unsupported is not None:
            its = torch.from_numpy(np.asarray(case.unsupported, np.float32))
            marked[place, : len(its)] = its
            known[place, : len(its)] = 1 / len(its)
    of_words = (cross(found, marked, reduction="none") * known).sum(1)
    return ((lost + ON_WORDS * of_words) * weight).sum() / weight.sum()


def _read(raw: Path, pairs: Path, options: NetworkOptions, batch_tokens: int) -> _Set:
    every = [one for one in examples(raw, pairs, SEED) if len(one.hypothesis.split()) >= SHORTEST]
    # Fitted numbers are rounded, and single precision is twice as fast.
    encoder = encoders.load_encoder(options.model_copy(update={"dtype": "float32"}))
    questions = [("\n".join(one.premise), one.hypothesis) for one in every]
    found: dict[int, Read] = {}
    for block in read_pairs(encoder, questions, batch_tokens, {}):
        found |= {place: _lean(its) for place, its in block.items() if its.compared is not None}
    kept = [every[place] for place in sorted(found)]
    labels = np.array([float(one.supported) for one in kept])
    groups = np.array([zlib.crc32(one.group.encode()) for one in kept])
    return _Set(kept, [found[place] for place in sorted(found)], labels, groups)


def _lean(read: Read) -> Read:
    """The same in less memory: without vectors but for those that the network reads."""
    said, words = read.said._replace(encoded=read.said.encoded._replace(vectors=None)), read.words
    if words is not None:
        half = [part.astype(np.float16) for part in (words.hypothesis, words.sentences)]
        words = words._replace(hypothesis=half[0], sentences=half[1])
    return read._replace(said=said, words=words)


def _among(data: _Set, among: Any) -> Iterator[tuple[Example, Read, Any]]:
    """Examples with what was read, and for each word 1 where it is marked; None if unknown."""
    for one, read in compress(zip(data.examples, data.reads, strict=True), among):
        bad, words = one.unsupported, read.said.encoded.words
        if bad is None:
            yield one, read, None
        else:
            marked = [any(a < word.end and word.start < b for a, b in bad) for word in words]
            yield one, read, np.array(marked, float)


def _words(data: _Set, among: Any) -> Any:
    """The model of words, fitted to the marked claims that are `among`."""
    claims = [each for each in _among(data, among) if each[0].kind == "claim"]
    features = np.concatenate([r.compared.features for _, r, _ in claims if r.compared])
    labels = np.concatenate([1.0 - bad for _, _, bad in claims])
    return fit(features, labels, np.ones(len(labels)))


def _networks(data: _Set, among: Any) -> list[dict[str, Any]]:
    cases = [
        Case(read.words, one.supported, weight, bad)
        for one, read, bad in _among(data, among)
        if (weight := NETWORK.get(_family(one.kind), 1.0)) and read.words is not None
    ]
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
        networks = [{name: v.double() for name, v in one.items()} for one in _networks(data, ~out)]
        places = np.flatnonzero(out & used)
        said = coefficients.read_doubts(networks, [data.reads[place].words for place in places])
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
    share = {family: MIX.get(family, 0.0) / number for family, number in of_family.items()}
    weights = np.array(
        [
            share[kind[0]] * of_side[kind[:2]] / kinds_of_side[kind[:2]] / of_kind[kind]
            for kind in kinds
        ]
    )
    return TOTAL * weights / weights.sum()

"""Fit the semantic judge: words, then the networks, then claims, each on the models before it.

1. A word's support: a logistic model, on the words that annotators of WiCE marked.
2. The networks' doubt: on edits, written pairs and WiCE's claims, also per word if the
   unsupported words are known. Training sums in single precision, so the weights differ
   slightly between processors: the committed file was made once, and its hash is in the
   coefficients.
3. A claim's support: a logistic model and boosted trees, on whole claims of MIX, with
   features from 1, 2 and the rules; 1 and 2 were fitted to other texts. Likelier words
   and higher similarity never lower the probability; doubt, clashes, missing names and
   numbers never raise it.
"""

import csv
import hashlib
import json
import math
import random
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, compress
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
    pack,
    probability,
    round_digits,
)
from metassay.judges.semantic.features import CLAIM_FEATURES, FALLING, sentences
from metassay.judges.semantic.judge import Read, read_pairs
from metassay.models import encoders, extra
from metassay.models.batches import batch_by_length
from metassay.models.loading import NetworkOptions, weights_digest
from metassay.text.edits.make import FLIPS, KEEPS, edits
from metassay.text.spans import Span as WordSpan

Span = tuple[int, int]
WICE = "wice_train/non_supported_tokens_train.jsonl"
ACI = ("train.csv", "valid.csv")
_MOST = 40  # words of a sentence
_LEAST = 4
_NEAR = 4  # sentences from a supporting one
_PER_NOTE, _EDITS_PER_NOTE = 8, 16  # sentences of a note
_DIALOGUE_STEP = 3  # dialogues are long: only every third visit's is read
_EDITS = (*FLIPS, *(kind for kind in KEEPS if kind != "identity"))


class Example(NamedTuple):
    """A hypothesis and the sentences of its premise.

    `unsupported`: spans of unsupported words; None if unknown. `group`: examples of one
    text, which cross-validation never splits. `kind`: how the example was made.
    """

    kind: str
    group: str
    hypothesis: str
    premise: tuple[str, ...]
    supported: bool
    unsupported: tuple[Span, ...] | None = None


def _distance(place: int, places: Sequence[int]) -> float:
    """Return the distance to the nearest of these places; infinite if there are none."""
    return min((abs(place - other) for other in places), default=math.inf)


def wice_claims(raw: Path, rng: random.Random) -> Iterator[Example]:
    """Yield claims with marked words, without these words, and with insufficient evidence."""
    for row in _wice(raw):
        group = row["meta"]["id"].split("-")[0]
        claim = row["claim"]
        evidence = row["evidence"]
        bad = _marked_spans(row)
        support = sorted(set(chain.from_iterable(row["supporting_sentences"])))
        pruned = _remove(claim, bad)
        for size in (8, 24):
            rest = [
                i
                for i in range(len(evidence))
                if i not in support and evidence[i].strip()
            ]
            near = [i for i in rest if _distance(i, support) <= _NEAR]
            chosen = set(near[: size // 2]) | set(
                rng.sample(rest, min(len(rest), size // 2))
            )
            chunk = tuple(evidence[i] for i in sorted(chosen | set(support)))
            lacking = tuple(evidence[i] for i in sorted(chosen))
            yield Example("claim", group, claim, chunk, False, bad)
            if len(pruned.split()) >= _LEAST:
                yield Example("pruned", group, pruned, chunk, True, ())
                if lacking:
                    yield Example("unsupported", group, pruned, lacking, False)


def pages(raw: Path, rng: random.Random) -> Iterator[Example]:
    """Yield sentences of the evidence with those around them, which seldom say the same."""
    # Each page of evidence once, with the id of the first claim that cites it.
    unique: dict[str, tuple[str, list[str]]] = {}
    for row in _wice(raw):
        unique.setdefault(
            "\n".join(row["evidence"]), (row["meta"]["id"], row["evidence"])
        )
    for identity, page in unique.values():
        # The lengths of whole sentences; two of suitable length are used.
        lengths = (
            line.strip()[-1:] in tuple('.!?"') and len(line.split()) for line in page
        )
        suitable = [
            place for place, length in enumerate(lengths) if 8 <= length <= _MOST
        ]
        for place in rng.sample(suitable, min(2, len(suitable))):
            text = page[place]
            for size in (8, 24):
                around = page[max(0, place - size) : place + size]
                rest = [line for line in around if line != text and line.strip()]
                chosen = sorted(rng.sample(range(len(rest)), min(size, len(rest))))
                if len(chosen) >= 5:
                    premise = tuple(rest[i] for i in chosen)
                    yield Example("rest", identity.split("-")[0], text, premise, False)


def notes(raw: Path, rng: random.Random) -> Iterator[Example]:
    """Yield sentences of visit notes, also edited, with their note and dialogue, and others."""
    # The sentences of each visit's note, and its dialogue.
    visits: list[tuple[tuple[str, ...], tuple[str, ...]]] = []
    for name in ACI:
        with (raw / "aci_bench_train" / name).open(
            encoding="utf-8", newline=""
        ) as file:
            rows = csv.DictReader(file)
            visits += [
                (tuple(sentences(row["note"])), (row["dialogue"],)) for row in rows
            ]
    for number, (note, dialogue) in enumerate(visits):
        group = f"visit{number}"
        suitable = [text for text in note if _LEAST <= len(text.split()) <= _MOST]
        for text in rng.sample(suitable, min(len(suitable), _EDITS_PER_NOTE)):
            yield from edit_sentence(group, text, note, rng)
        for text in rng.sample(suitable, min(len(suitable), _PER_NOTE)):
            other = visits[(number + 1 + rng.randrange(len(visits) - 1)) % len(visits)][
                0
            ]
            spoken = visits[(number + _DIALOGUE_STEP) % len(visits)][1]
            yield Example("note", group, text, note, True, ())
            yield Example("note_elsewhere", group, text, other, False)
            if number % _DIALOGUE_STEP == 0:
                yield Example("dialogue", group, text, dialogue, True)
                yield Example("dialogue_elsewhere", group, text, spoken, False)


def edit_sentence(
    group: str, text: str, premise: tuple[str, ...], rng: random.Random
) -> Iterator[Example]:
    """Yield false and true edits of a note's sentence, by the training half of the vocabulary.

    Half of the false ones are swapped: the edited sentence is in the premise, and the
    original is the hypothesis. So edited sentences cannot be recognized by their style.
    """
    others = [sentence for sentence in premise if sentence != text]
    for edit in edits(text, _EDITS, rng.randrange(2**31), others, half="train"):
        if edit.entailed:
            yield Example("note_same", group, edit.text, premise, True, ())
        elif rng.random() < 0.5:
            spans = _changed_span(text, edit.text) or None
            yield Example(f"note_{edit.kind}", group, edit.text, premise, False, spans)
        else:
            swapped = tuple(edit.text if s == text else s for s in premise)
            spans = _changed_span(edit.text, text) or None
            yield Example(f"note_{edit.kind}", group, text, swapped, False, spans)


def written_pairs(pairs: Path) -> Iterator[Example]:
    """Yield claims that were written for training about invented notes and sentences."""
    bank: list[str] = []
    for line in pairs.read_text(encoding="utf-8").splitlines():
        note = json.loads(line)
        premise = tuple(sentences(note["note"]))
        if len(premise) == 1:  # a single sentence is read with the three before it
            bank = [*bank[-3:], *premise]
            premise = tuple(bank)
        for kind, label, claim in note["claims"]:
            true = label == "entailed"
            yield Example(
                f"written_{kind}",
                note["id"],
                claim,
                premise,
                true,
                () if true else None,
            )


def examples(raw: Path, pairs: Path, seed: int) -> list[Example]:
    """Return all examples; they depend only on the files and the seed.

    `raw` has a folder of raw files per dataset, `pairs` is the file of written pairs.
    """
    every: list[Example] = []
    for make in (wice_claims, pages, notes):
        every += make(raw, random.Random(seed))
    return [*every, *written_pairs(pairs)]


def _wice(raw: Path) -> list[dict[str, Any]]:
    with (raw / WICE).open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def _marked_spans(row: dict[str, Any]) -> tuple[Span, ...]:
    """Return the spans of the tokens that annotators marked as unsupported."""
    end = 0
    spans = []
    for token, bad in zip(row["claim_tokens"], row["non_supported_spans"], strict=True):
        start = row["claim"].index(token, end)
        end = start + len(token)
        if bad:
            spans.append((start, end))
    return tuple(spans)


def _remove(claim: str, bad: Sequence[Span]) -> str:
    kept_letters = list(claim)
    for start, end in bad:
        kept_letters[start:end] = [""] * (end - start)
    rest = "".join(kept_letters)
    return re.sub(r"\s+([.,])", r"\1", " ".join(rest.split())).strip(" ,")


def _changed_span(before: str, after: str) -> tuple[Span, ...]:
    """Return the span of `after` that differs from `before`; () if text was only removed."""
    short = min(len(before), len(after))
    start = next((i for i in range(short) if before[i] != after[i]), short)
    end = 0
    while end < short - start and before[-1 - end] == after[-1 - end]:
        end += 1
    return ((start, len(after) - end),) if start < len(after) - end else ()


SEED = 1
FOLDS = 5
NETWORK_FOLDS = 2
NETWORKS = 3  # with different seeds
PENALTY = 1.0  # on squared coefficients of standardized features
SHORTEST = 3  # words of a hypothesis
TOTAL = 3000.0  # sum of all weights, whatever the number of examples
FILES = (WICE, *(f"aci_bench_train/{name}" for name in ACI))
WRITTEN, FLIPPED = "written", "note_flipped"  # families of kinds

# Total weight of all examples of a kind, or of a family of kinds, for the claim's
# model.
MIX = {
    "pruned": 3.0,
    "claim": 1.8,
    "unsupported": 0.6,
    "rest": 0.6,
    "dialogue": 0.15,
    "dialogue_elsewhere": 0.15,
    "note": 0.05,
    "note_same": 0.1,
    "note_elsewhere": 0.15,
    FLIPPED: 1.0,
    WRITTEN: 2.6,
}
# Weight of one example of a kind, or of a family, for the network; 1 if not listed.
NETWORK = {
    "note": 0.3,
    "unsupported": 0.4,
    "pruned": 1.5,
    WRITTEN: 4.0,
    "rest": 0.4,
    "dialogue": 0.0,
    "dialogue_elsewhere": 0.0,
    "note_elsewhere": 0.4,
}
_BOOSTING = {
    "max_iter": 150,
    "learning_rate": 0.06,
    "max_leaf_nodes": LEAVES,
    "min_samples_leaf": 40,
    "l2_regularization": 5.0,
    "early_stopping": False,
    "random_state": 0,
}
SIGNS = np.array([-1 if name in FALLING else 1 for name in CLAIM_FEATURES])

# Training of the network.
EPOCHS = 3
RATE = 2e-3
WARM = 100  # steps until the full rate
DECAY = 0.01
DROPOUT = 0.1
LAST_RATE = 0.02  # share of the full rate, at the end
ON_WORDS = 6.0  # weight of the words' mean loss; that of the hypothesis is 1
_SHARPNESS = ((12.0, 0.0, 2.0), (0.0, 12.0, 2.0), (6.0, 6.0, 0.0), (3.0, 3.0, 4.0))


class _Set(NamedTuple):
    """Examples and their features; `labels`: 1 is supported; `groups`: numbers of groups."""

    examples: list[Example]
    reads: list[Read]
    labels: Any
    groups: Any


class Case(NamedTuple):
    """A pair for the network's training: its input, label and weight.

    `unsupported`: n booleans, one per word; None if unknown.
    """

    words: coefficients.Words
    supported: bool
    weight: float
    unsupported: Any


class Trained(NamedTuple):
    """The coefficients, and the content of the network's file."""

    coefficients: Coefficients
    network: bytes


def train(
    raw: Path, pairs: Path, options: NetworkOptions, batch_tokens: int
) -> Trained:
    """Fit all models; the same files, encoder and processor give the same result.

    `raw` has the folders of wice_train and aci_bench_train, `pairs` is the file of
    written pairs. Raises BadInput if the model cannot be loaded.
    """
    data = _read(raw, pairs, options, batch_tokens)
    all_examples = np.ones(len(data.labels), bool)
    words = _fit_words(data, all_examples)
    file = pack(_train_networks(data, all_examples))
    weights = _weights(data)
    used = weights > 0
    claims = _features(data)[used], data.labels[used], weights[used], SIGNS
    files = {name: raw / name for name in FILES} | {pairs.name: pairs}
    recipe = {
        "data": {
            name: hashlib.sha256(p.read_bytes()).hexdigest()
            for name, p in files.items()
        },
        "seed": SEED,
        "folds": FOLDS,
        "penalty": PENALTY,
        "examples": dict(sorted(Counter(e.kind for e in data.examples).items())),
        "weights": {"claims": MIX, "network": NETWORK},
    }
    fitted = Coefficients(
        encoder=weights_digest(options),
        head=hashlib.sha256(file).hexdigest(),
        recipe=recipe,
        words=dict(zip(OF_WORDS, round_digits(words), strict=True)),
        claims=dict(zip(OF_CLAIMS, round_digits(fit(*claims)), strict=True)),
        trees=fit_trees(*claims, DIGITS),
    )
    return Trained(fitted, file)


def fit(features: Any, labels: Any, weights: Any, signs: Any = None) -> Any:
    """Fit the constant and coefficients of a logistic model by penalized maximum likelihood.

    Features are n x k, labels 0 or 1, weights not negative. The penalty is on
    coefficients of standardized features. `signs`: 1 for coefficients that must be >=
    0, -1 for <= 0.
    """
    mean = features.mean(0)
    deviation = features.std(0)
    deviation = np.where(deviation > 0, deviation, 1.0)
    scaled = (features - mean) / deviation

    def loss(values: Any) -> tuple[float, Any]:
        logit = values[0] + scaled @ values[1:]
        losses = weights * (np.logaddexp(0, logit) - labels * logit)
        residuals = weights * (probability(logit) - labels)
        gradient = scaled.T @ residuals + PENALTY * values[1:]
        penalty = PENALTY / 2 * values[1:] @ values[1:]
        return float(losses.sum() + penalty), np.concatenate(
            [[residuals.sum()], gradient]
        )

    bounds = {1: (0, None), -1: (None, 0), 0: (None, None)}
    signs = np.zeros(features.shape[1]) if signs is None else signs
    solution = minimize(
        loss,
        np.zeros(len(signs) + 1),
        jac=True,
        method="L-BFGS-B",
        bounds=[bounds[0], *(bounds[int(sign)] for sign in signs)],
        options={"maxiter": 20_000, "maxfun": 40_000, "ftol": 1e-15, "gtol": 1e-9},
    ).x
    slopes = solution[1:] / deviation
    return np.concatenate([[solution[0] - slopes @ mean], slopes])


def fit_trees(
    features: Any, labels: Any, weights: Any, signs: Any, digits: int
) -> Trees:
    """Fit trees by gradient boosting (scikit-learn), rounded to `digits` significant digits.

    `signs`: 1 for a feature with which the logit never falls, -1 for one with which it
    never rises.
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
            threshold=round_digits(threshold.tolist(), digits),
            **{side: nodes[side].tolist() for side in ("left", "right")},
            value=round_digits(np.where(leaf, nodes["value"], 0.0).tolist(), digits),
        )
        trees.append(tree)
    (constant,) = round_digits([float(np.ravel(model._baseline_prediction)[0])], digits)
    return Trees(constant=constant, trees=trees)


def train_network(cases: Sequence[Case], seed: int) -> dict[str, Any]:
    """Train a network on the cases; return its weights (torch, float32)."""
    torch = extra.module("torch")
    generator = torch.Generator().manual_seed(seed)
    weights = _initial_weights(cases[0].words.hypothesis.shape[1] // 2, generator)
    optimizer = torch.optim.AdamW(weights.values(), lr=RATE, weight_decay=DECAY)
    rng = random.Random(seed)
    steps = EPOCHS * len(_batches(cases, rng))
    batches = chain.from_iterable(_batches(cases, rng) for _ in range(EPOCHS))
    for step, places in enumerate(batches):
        rate = RATE * min(1, (step + 1) / WARM) * max(LAST_RATE, 1 - step / steps)
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.zero_grad()
        _loss(weights, [cases[place] for place in places], generator).backward()
        torch.nn.utils.clip_grad_norm_(weights.values(), 1.0)
        optimizer.step()
    return {name: values.detach() for name, values in weights.items()}


def _batches(cases: Sequence[Case], rng: random.Random) -> list[list[int]]:
    """Return batches of places of cases of similar size, in random order."""
    sizes = [coefficients.size(case.words) + rng.randrange(8) for case in cases]
    batches = list(batch_by_length(sizes, coefficients.TOKENS))
    rng.shuffle(batches)
    return batches


def _initial_weights(size: int, generator: Any) -> dict[str, Any]:
    """Return small random weights, norms of 1, and attention by similarity."""
    torch = extra.module("torch")
    weights = {}
    for name, shape in coefficients.shapes(size).items():
        if name == "sharpness":
            values = torch.tensor(_SHARPNESS)
        elif len(shape) == 1 or name == "distance":
            values = torch.full(
                shape, float(name.startswith("before") and "weight" in name)
            )
        else:
            values = (
                torch.empty(shape).uniform_(-1, 1, generator=generator)
                / shape[0] ** 0.5
            )
        weights[name] = values.requires_grad_()
    return weights


def _loss(weights: coefficients.Weights, cases: Sequence[Case], generator: Any) -> Any:
    torch = extra.module("torch")
    cross = torch.nn.functional.binary_cross_entropy_with_logits

    def drop(state: Any) -> Any:
        mask = torch.rand(state.shape, generator=generator) >= DROPOUT
        return state * mask / (1 - DROPOUT)

    doubts = coefficients.doubts(
        weights, coefficients.batch([case.words for case in cases], "float32"), drop
    )
    labels = torch.tensor([float(not case.supported) for case in cases])
    weight = torch.tensor([case.weight for case in cases])
    of_claims = cross(coefficients.pool(doubts), labels, reduction="none")
    marked = torch.zeros(doubts.shape)
    shares = torch.zeros(doubts.shape)
    for place, case in enumerate(cases):
        if case.unsupported is not None:
            flags = torch.from_numpy(np.asarray(case.unsupported, np.float32))
            marked[place, : len(flags)] = flags
            shares[place, : len(flags)] = 1 / len(flags)
    of_words = (cross(doubts, marked, reduction="none") * shares).sum(1)
    return ((of_claims + ON_WORDS * of_words) * weight).sum() / weight.sum()


def _read(raw: Path, pairs: Path, options: NetworkOptions, batch_tokens: int) -> _Set:
    all_ = [
        e for e in examples(raw, pairs, SEED) if len(e.hypothesis.split()) >= SHORTEST
    ]
    # Single precision is twice as fast, and fitted numbers are rounded.
    encoder = encoders.load_encoder(options.model_copy(update={"dtype": "float32"}))
    questions = [("\n".join(e.premise), e.hypothesis) for e in all_]
    reads: dict[int, Read] = {}
    for block in read_pairs(encoder, questions, batch_tokens, {}):
        reads |= {
            place: _shrink(r) for place, r in block.items() if r.compared is not None
        }
    readable = [all_[place] for place in sorted(reads)]
    labels = np.array([float(e.supported) for e in readable])
    groups = np.array([zlib.crc32(e.group.encode()) for e in readable])
    return _Set(
        examples=readable,
        reads=[reads[place] for place in sorted(reads)],
        labels=labels,
        groups=groups,
    )


def _shrink(read: Read) -> Read:
    """Drop vectors that only the comparison needed, and halve the precision of the others."""
    encoded = read.hypothesis.encoded._replace(vectors=None)
    words = read.words
    if words is not None:
        half = [part.astype(np.float16) for part in (words.hypothesis, words.sentences)]
        words = words._replace(hypothesis=half[0], sentences=half[1])
    return read._replace(
        hypothesis=read.hypothesis._replace(encoded=encoded), words=words
    )


def _overlaps(word: WordSpan, spans: Sequence[Span]) -> bool:
    return any(start < word.end and word.start < end for start, end in spans)


def _select(data: _Set, mask: Any) -> Iterator[tuple[Example, Read, Any]]:
    """Yield examples with their features, and 1 for each marked word, 0 for others, or None."""
    for example, read in compress(zip(data.examples, data.reads, strict=True), mask):
        bad = example.unsupported
        words = read.hypothesis.encoded.words
        if bad is None:
            yield example, read, None
        else:
            marked = [_overlaps(word, bad) for word in words]
            yield example, read, np.array(marked, float)


def _fit_words(data: _Set, mask: Any) -> Any:
    """Fit the model of words to the selected claims with marked words."""
    claims = [(read, bad) for e, read, bad in _select(data, mask) if e.kind == "claim"]
    features = np.concatenate(
        [read.compared.features for read, _ in claims if read.compared]
    )
    labels = np.concatenate([1.0 - bad for _, bad in claims])
    return fit(features, labels, np.ones(len(labels)))


def _train_networks(data: _Set, mask: Any) -> list[dict[str, Any]]:
    cases = [
        Case(read.words, example.supported, weight, bad)
        for example, read, bad in _select(data, mask)
        if (weight := NETWORK.get(_family(example.kind), 1.0))
        and read.words is not None
    ]
    return [train_network(cases, SEED + number) for number in range(NETWORKS)]


def _family(kind: str) -> str:
    if kind.startswith(WRITTEN):
        return WRITTEN
    return FLIPPED if kind.removeprefix("note_") in FLIPS else kind


def _features(data: _Set) -> Any:
    """Return features of the claims of MIX, by models that were fitted to other texts."""
    rows = np.zeros((len(data.reads), len(CLAIM_FEATURES)))
    used = np.array([_family(e.kind) in MIX for e in data.examples])
    doubt = np.zeros(len(data.reads))
    for fold in range(NETWORK_FOLDS):
        out = data.groups % NETWORK_FOLDS == fold
        networks = []
        for weights in _train_networks(data, ~out):
            networks.append({name: weight.double() for name, weight in weights.items()})
        places = np.flatnonzero(out & used)
        doubts = coefficients.read_doubts(
            networks, [data.reads[place].words for place in places]
        )
        doubt[places] = [of_claim for of_claim, _ in doubts]
    for fold in range(FOLDS):
        out = data.groups % FOLDS == fold
        words = _fit_words(data, ~out)
        for place in np.flatnonzero(out & used):
            rows[place] = data.reads[place].claim_features(words, doubt[place])
    return rows


def _weights(data: _Set) -> Any:
    """Return weights of examples: each family has its share, whatever its number of examples.

    Within a family, labels weigh in proportion to their examples, the kinds of a label
    equally.
    """
    sides = [(_family(e.kind), e.supported) for e in data.examples]
    kinds = [(*side, e.kind) for side, e in zip(sides, data.examples, strict=True)]
    of_family = Counter(family for family, _ in sides)
    of_side = Counter(sides)
    of_kind = Counter(kinds)
    kinds_of_side = Counter(kind[:2] for kind in set(kinds))
    share = {
        family: MIX.get(family, 0.0) / number for family, number in of_family.items()
    }
    weights = np.array(
        [
            share[kind[0]] * of_side[kind[:2]] / kinds_of_side[kind[:2]] / of_kind[kind]
            for kind in kinds
        ]
    )
    return TOTAL * weights / weights.sum()

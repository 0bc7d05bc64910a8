"""Training the semantic judge: its network worked out anew, its trees, its fits and its files."""

import csv
import hashlib
import json
import math
import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from metassay.core.options import parse
from metassay.judges.semantic import coefficients, features
from metassay.judges.semantic import train as fitting
from metassay.judges.semantic import train as training
from metassay.judges.semantic.coefficients import (
    OF_WORDS,
    Tree,
    Trees,
    Words,
    load_models,
    logits,
    read,
    write,
)
from metassay.judges.semantic.features import CLAIM_FEATURES, FALLING
from metassay.judges.semantic.train import (
    Case,
    Example,
    edit_sentence,
    examples,
    fit,
    train,
    train_network,
    written_pairs,
)
from metassay.models.loading import NetworkOptions, weights_digest
from metassay.models.words import Text, words
from metassay.text.vocabulary import words as vocabulary
from tests.models.tiny import encoder

pytest.importorskip("torch", reason="needs metassay[models]")
pytest.importorskip("transformers", reason="needs metassay[models]")


SIZE = 4


def drawn_weights(seed: int, size: int = SIZE) -> dict[str, Any]:
    """Numbers of a normal distribution: no term of the network is neutral."""
    drawn = np.random.default_rng(seed)
    return {
        name: torch.from_numpy(drawn.normal(0, 0.4, shape))
        for name, shape in coefficients.shapes(size).items()
    }


def read_text(text: str, vectors: Any, rarity: Any = 8.0) -> features.Hypothesis:
    """A text whose words have these vectors, layers x words x dimensions."""
    spans = tuple(words(text))
    rare = np.full(len(spans), rarity)
    return features.read_hypothesis(
        text, Text(spans, np.asarray(vectors, np.float32), rare)
    )


def drawn(text: str, seed: int) -> features.Hypothesis:
    vectors = np.random.default_rng(seed).normal(size=(3, len(words(text)), SIZE))
    return read_text(text, vectors / np.linalg.norm(vectors, axis=2, keepdims=True))


def pairs() -> list[Words]:
    texts = [
        ("Left arm.", ["The left arm is weak.", "No fever."]),
        ("He has had no fever since the 3rd of May, says his son.", ["Fever."]),
        (
            "Weak.",
            ["The arm is as weak as it was on the day of the fall.", "He fell.", "No."],
        ),
    ]
    read_pairs = []
    for number, (text, near) in enumerate(texts):
        hypothesis = drawn(text, number)
        exact = np.random.default_rng(number).random(len(hypothesis.plain)) < 0.5
        closest = [drawn(sentence, 9 + number) for sentence in near]
        read_pairs.append(coefficients.read_words(hypothesis, closest, exact))
    return read_pairs


def by_hand(weights: dict[str, Any], pair: Words) -> list[float]:
    """The doubt of each word, word by word and look by look, without torch."""
    w = {name: values.numpy() for name, values in weights.items()}
    ours, theirs = pair.hypothesis.astype(float), pair.sentences.astype(float)
    count, width, heads = len(ours), 64, 4
    states = []
    for i in range(count):
        parts = [*pair.flags[i].astype(float)]
        word, others = ours[i] @ w["project"], theirs @ w["project"]
        alike = np.array(
            [
                [
                    ours[i][:SIZE] @ row[:SIZE],
                    ours[i][SIZE:] @ row[SIZE:],
                    pair.same[i][j],
                ]
                for j, row in enumerate(theirs)
            ]
        )
        for sharpness in w["sharpness"]:
            weigh = softmax(alike @ sharpness)
            seen = weigh @ others
            parts += [*np.abs(word - seen), *(word * seen), *(weigh @ alike)]
            parts += [*(weigh @ pair.sentence_flags)]
        states.append(np.array(parts) @ w["found.weight"] + w["found.bias"])
    normed = [norm(state, w, "before_self") for state in states]
    keys = np.array([state @ w["self.weight"] + w["self.bias"] for state in normed])
    part = width // heads
    for i in range(count):
        merged = np.zeros(width)
        for number in range(heads):
            at = slice(number * part, (number + 1) * part)
            query = keys[i][:width][at]
            logits = [
                query @ keys[j][width : 2 * width][at] / math.sqrt(part)
                + w["distance"][number][min(4, max(-4, j - i)) + 4]
                for j in range(count)
            ]
            weigh = softmax(np.array(logits))
            merged[at] = sum(weigh[j] * keys[j][2 * width :][at] for j in range(count))
        states[i] = states[i] + merged @ w["self_out.weight"] + w["self_out.bias"]
    doubts = []
    for state in states:
        inner = gelu(
            norm(state, w, "before_inner") @ w["inner.weight"] + w["inner.bias"]
        )
        last = state + inner @ w["inner_out.weight"] + w["inner_out.bias"]
        hidden = gelu(
            norm(last, w, "before_doubt") @ w["hidden.weight"] + w["hidden.bias"]
        )
        doubts.append(float((hidden @ w["doubt.weight"] + w["doubt.bias"])[0]))
    return doubts


def softmax(values: Any) -> Any:
    shares = np.exp(values - values.max())
    return shares / shares.sum()


def gelu(values: Any) -> Any:
    return np.array(
        [value * (1 + math.erf(value / math.sqrt(2))) / 2 for value in values]
    )


def norm(state: Any, weights: dict[str, Any], name: str) -> Any:
    centred = state - state.mean()
    scaled = centred / np.sqrt((centred**2).mean() + 1e-5)
    return scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def test_what_the_network_reads_of_a_pair() -> None:
    """By hand: "no Roe 20" against "Fever 20" and "no x", with vectors of two dimensions."""
    vectors = [
        [[1, 0], [0, 1], [1, 0]],
        [[0, 1], [1, 0], [0, 1]],
        [[0.6, 0.8], [1, 0], [0, 1]],
    ]
    hypothesis = read_text("no Roe 20", vectors, [8.0, 10.0, 20.0])
    near = [
        read_text("Fever 20", [[[1, 0]] * 2] * 3),
        read_text("no x", [[[0, 1]] * 2] * 3),
    ]
    pair = coefficients.read_words(hypothesis, near, np.array([True, False, True]))
    both = [[0, 1, 0.6, 0.8], [1, 0, 1, 0], [0, 1, 0, 1]]
    assert pair.hypothesis == pytest.approx(np.array(both))
    assert pair.sentences.tolist() == [[1, 0, 1, 0]] * 2 + [[0, 1, 0, 1]] * 2
    root = 3**-0.5
    # stop, digit, name, exact, rarity, first, short, last, negated
    flags = [[0, 0, 0, 1, 0, 1, root, 0, 0], [0, 0, 1, 0, 1, 0, root, 0, 1]]
    assert pair.flags == pytest.approx(
        np.array([*flags, [0, 1, 0, 1, 2, 0, root, 1, 1]])
    )
    # negated, digit, of the closest sentence
    assert pair.sentence_flags.tolist() == [[0, 0, 1], [0, 1, 1], [0, 0, 0], [1, 0, 0]]
    assert pair.same.tolist() == [[0, 0, 1, 0], [0, 0, 0, 0], [0, 1, 0, 0]]


def test_of_long_sentences_the_first_words_are_read() -> None:
    near = [drawn("fever " * (coefficients.MOST - 2), 1), drawn("no fever today", 3)]
    pair = coefficients.read_words(drawn("Fever.", 2), near, np.array([True]))
    sizes = {len(pair.sentences), len(pair.sentence_flags), pair.same.shape[1]}
    assert sizes == {coefficients.MOST}
    assert pair.sentence_flags[-3:].tolist() == [[0, 0, 1], [0, 0, 0], [1, 0, 0]]


def test_the_doubts_are_those_worked_out_anew() -> None:
    weights = drawn_weights(1)
    results = coefficients.read_doubts([weights], pairs())
    for (whole, doubts), pair in zip(results, pairs(), strict=True):
        wanted = by_hand(weights, pair)
        assert doubts == pytest.approx(wanted, abs=1e-9)
        assert whole == pytest.approx(
            float(softmax(np.array(wanted)) @ wanted), abs=1e-9
        )
    assert len({doubt for _, each in results for doubt in each}) > 10


def test_several_networks_say_the_mean_of_what_each_says() -> None:
    several = [drawn_weights(seed) for seed in (1, 2, 3)]
    each = [coefficients.read_doubts([weights], pairs()) for weights in several]
    for place, (whole, doubts) in enumerate(coefficients.read_doubts(several, pairs())):
        wholes, of_words = zip(*(results[place] for results in each), strict=True)
        assert whole == pytest.approx(np.mean(wholes), abs=1e-12)
        assert doubts == pytest.approx(np.mean(of_words, 0), abs=1e-12)


def test_padding_and_company_change_nothing() -> None:
    weights, several = drawn_weights(2), pairs()
    # in more batches than one
    together = coefficients.read_doubts([weights], several * 60)
    turned = coefficients.read_doubts([weights], several[::-1])[::-1]
    for place, pair in enumerate(several):
        ((whole, doubts),) = coefficients.read_doubts([weights], [pair])
        assert len(doubts) == len(pair.flags)
        for other in (together[place], together[place + 90], turned[place]):
            assert other[0] == pytest.approx(whole, abs=1e-12)
            assert other[1] == pytest.approx(doubts, abs=1e-12)
    assert coefficients.read_doubts([weights], []) == []


def toy(number: int, seed: int) -> list[Case]:
    """Hypotheses of three words: supported if each of the words is among the sentence's."""
    rng = np.random.default_rng(seed)
    cases = []
    for place in range(number):
        vectors = rng.normal(size=(8, 8))
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        chosen = rng.permutation(5)[:3]
        if place % 2:
            chosen[place % 3] = 6 + place % 2
        flags = rng.random((3, 9)).astype(np.float32)
        same = (chosen[:, None] == np.arange(5)).astype(np.float32)
        both = np.concatenate([vectors, vectors], 1).astype(np.float32)
        pair = Words(both[chosen], both[:5], flags, np.zeros((5, 3), np.float32), same)
        cases.append(Case(pair, place % 2 == 0, 1.0, chosen > 4 if place % 3 else None))
    return cases


def doubts_of(weights: dict[str, Any], cases: Sequence[Case]) -> Any:
    exact = {name: values.double() for name, values in weights.items()}
    return coefficients.read_doubts([exact], [case.words for case in cases])


def loss(weights: dict[str, Any], cases: Sequence[Case]) -> float:
    """Mean log loss of the hypotheses."""
    signs = [-1 if case.supported else 1 for case in cases]
    doubts = [doubt for doubt, _ in doubts_of(weights, cases)]
    return float(np.logaddexp(0, -np.array(signs) * doubts).mean())


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    monkeypatch.setattr(training, "WARM", 5)
    monkeypatch.setattr(coefficients, "TOKENS", 100)
    return lambda number: monkeypatch.setattr(training, "EPOCHS", number)


def test_training_learns_a_toy(quick: Callable[[int], None]) -> None:
    cases, others = toy(120, 1), toy(60, 2)
    quick(0)
    before = loss(train_network(cases, 1), others)
    quick(6)
    learnt = train_network(cases, 1)
    assert loss(learnt, others) < before / 4
    assert {name: tuple(v.shape) for name, v in learnt.items()} == coefficients.shapes(
        8
    )
    marked = [(case.words.same.sum(1) == 0).tolist() for case in others]
    doubted = [[doubt > 0 for doubt in each] for _, each in doubts_of(learnt, others)]
    assert np.mean([a == b for a, b in zip(marked, doubted, strict=True)]) > 0.9


def test_training_is_the_same_for_the_same_seed(quick: Callable[[int], None]) -> None:
    cases = toy(40, 1)
    quick(2)
    first, again, other = (train_network(cases, seed) for seed in (1, 1, 2))
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["project"], other["project"])


def test_what_weighs_little_is_hardly_learnt(quick: Callable[[int], None]) -> None:
    cases = toy(40, 1)
    wrong = [
        case._replace(supported=not case.supported, unsupported=None) for case in cases
    ]
    quick(4)
    light = [case._replace(weight=1e-6) for case in wrong]
    mixed = train_network([*cases, *light], 1)
    assert loss(mixed, cases) < loss(train_network([*cases, *wrong], 1), cases)


def boosted(monkeypatch: pytest.MonkeyPatch) -> tuple[list[Any], Any, Any]:
    """Fits of scikit-learn as they come, features, and labels that they explain in part."""
    ensemble = pytest.importorskip("sklearn.ensemble", reason="needs metassay[models]")
    fits = []

    class Noted(ensemble.HistGradientBoostingClassifier):  # type: ignore[misc, name-defined]
        def fit(self, *data: Any, **named: Any) -> Any:
            fits.append(self)
            return super().fit(*data, **named)

    monkeypatch.setattr(ensemble, "HistGradientBoostingClassifier", Noted)
    rng = np.random.default_rng(1)
    features = rng.normal(size=(500, 3)).round(2)
    logits = 2 * features[:, 0] - features[:, 1] + 3 * np.sin(3 * features[:, 2])
    return fits, features, (logits + rng.logistic(size=500) > 0).astype(float)


def test_trees_say_what_scikit_learn_says(monkeypatch: pytest.MonkeyPatch) -> None:
    fits, features, labels = boosted(monkeypatch)
    weights = np.random.default_rng(2).uniform(0.2, 2.0, len(labels))
    exact, rounded = (
        training.fit_trees(features, labels, weights, [1, -1, 0], digits)
        for digits in (17, 4)
    )
    others = np.random.default_rng(3).normal(size=(200, 3))
    for rows in (features, others):
        assert logits(exact, rows) == pytest.approx(
            fits[0].decision_function(rows), abs=1e-9
        )
    numbers = [n for tree in rounded.trees for n in (*tree.value, *tree.threshold)]
    assert [n for n in (rounded.constant, *numbers) if float(f"{n:.4g}") != n] == []
    apart = np.abs(logits(rounded, others) - logits(exact, others))
    assert np.quantile(apart, 0.9) < 0.01
    assert Trees.model_validate_json(rounded.model_dump_json()) == rounded


def test_no_tree_takes_a_feature_the_wrong_way(monkeypatch: pytest.MonkeyPatch) -> None:
    _, features, labels = boosted(monkeypatch)
    drawn = np.repeat(np.random.default_rng(4).normal(size=(20, 3)), 50, axis=0)
    turned = []
    for signs in ([1, -1, 0], [-1, 1, 0]):
        trees = training.fit_trees(features, labels, np.ones(len(labels)), signs, 4)
        for place, sign in enumerate(signs[:2]):
            rows = drawn.copy()
            rows[:, place] = np.tile(np.linspace(-3, 3, 50), 20)
            steps = np.diff(logits(trees, rows).reshape(20, 50), axis=1) * sign
            assert steps.min() >= 0
            turned.append(float(steps.sum()))
    assert min(turned[:2]) > 0  # and those that are the right way are used
    assert max(turned[2:]) < min(turned[:2]) / 10


def test_a_tree_by_hand() -> None:
    """Root: feature 1 up to 2 goes to a leaf of .5, else feature 0 up to -1: 1, else -2."""
    tree = Tree(
        feature=[1, -1, 0, -1, -1],
        threshold=[2, 0, -1, 0, 0],
        left=[1, 0, 3, 0, 0],
        right=[2, 0, 4, 0, 0],
        value=[0, 0.5, 0, 1, -2],
    )
    rows = np.array([[0, 2], [-1, 3], [-0.9, 3]])
    assert logits(Trees(constant=0.25, trees=[tree, tree]), rows).tolist() == [
        1.25,
        2.25,
        -3.75,
    ]


TOWNS = ("Ard", "Bel", "Cor", "Dun", "Elm", "Fen", "Gil", "Hob", "Ive", "Jor")


def test_the_fit_is_that_of_scikit_learn() -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    drawn = np.random.default_rng(1)
    features = drawn.normal(size=(300, 4)) * [1.0, 3.0, 0.2, 1.0] + [0, 1, 2, 0]
    labels = (features @ [1.0, -0.5, 4.0, 0.0] + drawn.logistic(size=300) > 8).astype(
        float
    )
    weights = drawn.uniform(0.2, 2.0, 300)
    middle, spread = features.mean(0), features.std(0)
    other = linear.LogisticRegression(C=1.0, tol=1e-10, max_iter=10_000)
    other.fit((features - middle) / spread, labels, weights)
    slopes = other.coef_[0] / spread
    expected = [other.intercept_[0] - slopes @ middle, *slopes]
    assert fit(features, labels, weights) == pytest.approx(expected, abs=1e-4)
    bounded = fit(features, labels, weights, np.ones(4))
    assert bounded[2] == 0.0
    assert (bounded[1:] >= 0).all()


def test_edits_are_read_both_ways_round() -> None:
    text = "She takes ibuprofen 400 mg twice daily for gout in the left hip."
    premise = ("The rash improved.", text, "Her mother is 80.")
    edits = [
        e
        for n in range(40)
        for e in edit_sentence("g", text, premise, random.Random(n))
    ]
    kinds = {edit.kind for edit in edits if not edit.supported}
    assert {
        f"note_{kind}" for kind in ("drug", "dose", "laterality", "negation")
    } <= kinds
    straight = [edit for edit in edits if edit.hypothesis != text]
    turned = [edit for edit in edits if edit.hypothesis == text]
    assert {edit.supported for edit in turned} == {False}
    assert {edit.kind for edit in straight if edit.supported} == {"note_same"}
    assert all(edit.premise == premise for edit in straight)
    assert all(e.premise[::2] == premise[::2] and e.premise != premise for e in turned)
    assert 0.4 < len(turned) / sum(not edit.supported for edit in edits) < 0.6
    for edit in edits:
        if edit.kind == "note_drug":
            ((start, end),) = edit.unsupported or ()
            other = edit.premise[1] if edit.hypothesis == text else text
            assert edit.hypothesis[:start] == other[:start]
            assert (
                edit.hypothesis[end:]
                == other[len(other) - len(edit.hypothesis) + end :]
            )
    texts = " ".join(
        part for edit in edits for part in (edit.hypothesis, *edit.premise)
    )
    kinds_of_words = ("drug", "anatomy", "diagnosis")
    unseen = {word for kind in kinds_of_words for word in vocabulary(kind, "test")}
    assert not unseen & set(re.findall(r"[a-z]+", texts.lower()))


def write_lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_written_pairs(tmp_path: Path) -> None:
    claims = {
        "One is here.": ["drug", "entailed", "Here is one."],
        "Two.": ["site", "not_entailed", "Three is here."],
        "Four is. Five is.": ["site", "not_entailed", "Six is."],
    }
    notes = [{"id": n, "note": n, "claims": [claim]} for n, claim in claims.items()]
    pairs = written_pairs(write_lines(tmp_path / "pairs.jsonl", notes))
    first, second, third = claims
    assert [p._replace(premise=tuple(map(str.strip, p.premise))) for p in pairs] == [
        Example("written_drug", first, "Here is one.", (first,), True, ()),
        # A sentence by itself is read after those that came before it.
        Example("written_site", second, "Three is here.", (first, second), False, None),
        Example(
            "written_site", third, "Six is.", ("Four is.", "Five is."), False, None
        ),
    ]


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    """Training files with the form of the real ones, of invented sentences."""
    folder, drawn = tmp_path / "raw", random.Random(2)
    for name in ("wice_train", "aci_bench_train"):
        (folder / name).mkdir(parents=True)
    rows = []
    for number, town in enumerate(TOWNS):
        built = 1900 + number
        tokens = [
            "The",
            "mill",
            "of",
            town,
            "was",
            "restored",
            "in",
            str(built),
            "by",
            "Roe",
            ".",
        ]
        page = [
            f"(meta data) TITLE: Mill of {town} was restored by its village - Local Page",
            f"The old mill of {town} was restored by the village in the year {built}.",
            *(
                f"The mill of {drawn.choice(TOWNS)} has {n} wheels and a roof."
                for n in range(12)
            ),
        ]
        rows.append(
            {
                "claim": f"The mill of {town} was restored in {built} by Roe.",
                "claim_tokens": tokens,
                "evidence": page,
                "supporting_sentences": [[1]],
                "non_supported_spans": [word in ("by", "Roe") for word in tokens],
                "meta": {"id": f"train{number}-0"},
            }
        )
    write_lines(folder / "wice_train/non_supported_tokens_train.jsonl", rows)
    for name in ("train.csv", "valid.csv"):
        with (folder / "aci_bench_train" / name).open(
            "w", encoding="utf-8", newline=""
        ) as file:
            writer = csv.writer(file)
            writer.writerow(["dialogue", "note"])
            for number, town in enumerate(TOWNS[:6]):
                note = f"She takes {town} {number + 2}0 mg daily. Mild pain in the left knee today."
                writer.writerow([f"[doctor] do you take {town}?\n[patient] yes", note])
    notes = []
    for number, town in enumerate(TOWNS):
        note = f"The wheel of {town} is {number} feet wide. It was painted green."
        claim = f"The wheel of {town} was painted"
        claims = [
            ["written", "entailed", f"{claim}."],
            ["detail", "not_entailed", f"{claim} red."],
        ]
        notes.append({"id": f"w{number}", "note": note, "claims": claims})
    write_lines(folder / "pairs.jsonl", notes)
    return folder


def test_examples_are_the_same_for_the_same_seed(raw: Path) -> None:
    drawn, again, other = (
        examples(raw, raw / "pairs.jsonl", seed) for seed in (1, 1, 2)
    )
    assert drawn == again != other
    assert {example.supported for example in drawn} == {True, False}
    claim, pruned = (
        next(e for e in drawn if e.kind == kind) for kind in ("claim", "pruned")
    )
    assert [claim.hypothesis[start:end] for start, end in claim.unsupported or ()] == [
        "by",
        "Roe",
    ]
    assert pruned.hypothesis == "The mill of Ard was restored in 1900."


def test_training_gives_the_same_files_again(
    raw: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fitting, "EPOCHS", 1)
    monkeypatch.setattr(fitting, "FOLDS", 2)
    model = encoder(tmp_path / "tiny", "bert")
    block = {"model": str(model), "device": "cpu", "dtype": "float32"}
    options = parse(NetworkOptions, block, where="test")
    files = [tmp_path / "a.json", tmp_path / "b.json"]
    for file in files:
        trained = train(raw, raw / "pairs.jsonl", options, 512)
        write(file, trained.coefficients, trained.network)
    for end in (".json", ".safetensors"):
        first, again = (file.with_suffix(end).read_bytes() for file in files)
        assert first == again
        assert str(tmp_path).encode() not in first
    fitted = read(files[0], weights_digest(options), "tiny")
    assert fitted == trained.coefficients
    assert fitted.words.keys() == set(OF_WORDS)
    signs = [
        fitted.claims[name] * (-1 if name in FALLING else 1) for name in CLAIM_FEATURES
    ]
    assert min(signs) >= 0 < max(signs)
    assert fitted.trees.trees
    assert fitted.head == hashlib.sha256(trained.network).hexdigest()
    heads = load_models(fitted, files[0]).head
    dtypes = {str(values.dtype) for network in heads for values in network.values()}
    assert dtypes == {"torch.float64"}
    first, second, third = (network["project"].tolist() for network in heads)
    assert first != second != third
    data = {name: (raw / name).read_bytes() for name in fitted.recipe["data"]}
    assert len(data) == 4
    digests = {
        name: hashlib.sha256(content).hexdigest() for name, content in data.items()
    }
    assert fitted.recipe["data"] == digests
    assert {"claim", "note_same", "written_detail"} <= fitted.recipe["examples"].keys()


def test_kinds_of_a_family_weigh_the_same_on_each_side() -> None:
    """Written claims, worked out by hand: 4 of 6 follow, of two kinds; the others are of two."""
    kinds = [
        *[("written_synonym", True)] * 3,
        ("written_combined", True),
        ("written_drug", False),
        ("written_dose", False),
        *[("pruned", True)] * 2,
    ]
    claims = [Example(kind, "", "", (), label) for kind, label in kinds]
    weights = training._weights(training._Set(claims, [], np.zeros(8), np.zeros(8)))
    # what claims that don't follow weigh, and of those that do each kind
    third = 2.6 / 3
    wanted = np.array([third / 3] * 3 + [third] + [third / 2] * 2 + [3 / 2] * 2)
    assert weights == pytest.approx(3000 * wanted / 5.6)

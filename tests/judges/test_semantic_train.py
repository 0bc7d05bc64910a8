"""Fitting the semantic judge: an independent fit, invented data, the same files again."""

import csv
import hashlib
import json
import random
import re
from pathlib import Path

import numpy as np
import pytest

from metassay.core.options import parse
from metassay.judges.semantic import train as fitting
from metassay.judges.semantic.coefficients import OF_WORDS, load_models, read, write
from metassay.judges.semantic.features import CLAIM_FEATURES, FALLING
from metassay.judges.semantic.train import (
    Example,
    edit_sentence,
    examples,
    fit,
    train,
    written_pairs,
)
from metassay.models.loading import NetworkOptions, weights_digest
from metassay.text.vocabulary import words as vocabulary

pytest.importorskip("torch", reason="needs metassay[models]")
pytest.importorskip("transformers", reason="needs metassay[models]")

from tests.models.tiny import encoder

TOWNS = ("Ard", "Bel", "Cor", "Dun", "Elm", "Fen", "Gil", "Hob", "Ive", "Jor")


def test_the_fit_is_that_of_scikit_learn() -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    drawn = np.random.default_rng(1)
    features = drawn.normal(size=(300, 4)) * [1.0, 3.0, 0.2, 1.0] + [0, 1, 2, 0]
    labels = (features @ [1.0, -0.5, 4.0, 0.0] + drawn.logistic(size=300) > 8).astype(float)
    weights = drawn.uniform(0.2, 2.0, 300)
    found = fit(features, labels, weights)
    middle, spread = features.mean(0), features.std(0)
    other = linear.LogisticRegression(C=1.0, tol=1e-10, max_iter=10_000)
    other.fit((features - middle) / spread, labels, weights)
    slopes = other.coef_[0] / spread
    assert found == pytest.approx([other.intercept_[0] - slopes @ middle, *slopes], abs=1e-4)
    held = fit(features, labels, weights, np.array([1.0, 1.0, 1.0, 1.0]))
    assert held[2] == 0.0
    assert (held[1:] >= 0).all()


def test_edits_are_read_both_ways_round() -> None:
    text = "She takes ibuprofen 400 mg twice daily for gout in the left hip."
    premise = ("The rash improved.", text, "Her mother is 80.")
    made = [one for n in range(40) for one in edit_sentence("g", text, premise, random.Random(n))]
    kinds = {one.kind for one in made if not one.supported}
    assert {f"note_{kind}" for kind in ("drug", "dose", "laterality", "negation")} <= kinds
    straight = [one for one in made if one.hypothesis != text]
    turned = [one for one in made if one.hypothesis == text]
    assert {one.supported for one in turned} == {False}
    assert {one.kind for one in straight if one.supported} == {"note_same"}
    assert all(one.premise == premise for one in straight)
    assert all(one.premise[::2] == premise[::2] and one.premise != premise for one in turned)
    assert 0.4 < len(turned) / sum(not one.supported for one in made) < 0.6
    for one in made:
        if one.kind == "note_drug":
            ((start, end),) = one.unsupported or ()
            other = one.premise[1] if one.hypothesis == text else text
            assert one.hypothesis[:start] == other[:start]
            assert one.hypothesis[end:] == other[len(other) - len(one.hypothesis) + end :]
    unseen = {
        word for kind in ("drug", "anatomy", "diagnosis") for word in vocabulary(kind, "test")
    }
    said = {word for one in made for part in (one.hypothesis, *one.premise) for word in split(part)}
    assert not unseen & said


def split(text: str) -> list[str]:
    return re.findall(r"[a-z]+", text.lower())


def test_written_pairs(tmp_path: Path) -> None:
    notes = [
        {"id": "a", "note": "One is here.", "claims": [["drug", "entailed", "Here is one."]]},
        {"id": "b", "note": "Two.", "claims": [["site", "not_entailed", "Three is here."]]},
        {"id": "c", "note": "Four is. Five is.", "claims": [["site", "not_entailed", "Six is."]]},
    ]
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(note) + "\n" for note in notes), encoding="utf-8")
    read_ = [
        one._replace(premise=tuple(map(str.strip, one.premise))) for one in written_pairs(path)
    ]
    assert read_ == [
        Example("written_drug", "a", "Here is one.", ("One is here.",), True, ()),
        # A sentence by itself is read after those that came before it.
        Example("written_site", "b", "Three is here.", ("One is here.", "Two."), False, None),
        Example("written_site", "c", "Six is.", ("Four is.", "Five is."), False, None),
    ]


def invent(raw: Path) -> Path:
    """Training files with the form of the real ones, of invented sentences."""
    drawn = random.Random(2)
    (raw / "wice_train").mkdir(parents=True)
    (raw / "aci_bench_train").mkdir()
    rows = []
    for number, town in enumerate(TOWNS):
        built = 1900 + number
        page = [
            f"(meta data) TITLE: Mill of {town} was restored by its village - Local Page",
            f"The old mill of {town} was restored by the village in the year {built}.",
            *(f"The mill of {drawn.choice(TOWNS)} has {n} wheels and a roof." for n in range(12)),
        ]
        said = ["The", "mill", "of", town, "was", "restored", "in", str(built), "by", "Roe", "."]
        rows.append(
            {
                "claim": f"The mill of {town} was restored in {built} by Roe.",
                "claim_tokens": said,
                "non_supported_spans": [word in ("by", "Roe") for word in said],
                "evidence": page,
                "supporting_sentences": [[1]],
                "meta": {"id": f"train{number}-0"},
            }
        )
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (raw / "wice_train/non_supported_tokens_train.jsonl").write_text(lines, encoding="utf-8")
    for name in ("train.csv", "valid.csv"):
        with (raw / "aci_bench_train" / name).open("w", encoding="utf-8", newline="") as file:
            made = csv.DictWriter(file, ["dialogue", "note"])
            made.writeheader()
            for number, town in enumerate(TOWNS[:6]):
                note = f"She takes {town} {number + 2}0 mg daily. Mild pain in the left knee today."
                made.writerow(
                    {"dialogue": f"[doctor] do you take {town}?\n[patient] yes", "note": note}
                )
    notes = [
        {
            "id": f"w{number}",
            "note": f"The wheel of {town} is {number} feet wide. It was painted green.",
            "claims": [
                ["written", "entailed", f"The wheel of {town} was painted."],
                ["detail", "not_entailed", f"The wheel of {town} was painted red."],
            ],
        }
        for number, town in enumerate(TOWNS)
    ]
    lines = "".join(json.dumps(note) + "\n" for note in notes)
    (raw / "pairs.jsonl").write_text(lines, encoding="utf-8")
    return raw


def test_examples_are_the_same_for_the_same_seed(tmp_path: Path) -> None:
    raw = invent(tmp_path / "raw")
    pairs = raw / "pairs.jsonl"
    made = examples(raw, pairs, 1)
    assert made == examples(raw, pairs, 1) != examples(raw, pairs, 2)
    assert {one.supported for one in made} == {True, False}
    claim = next(one for one in made if one.kind == "claim")
    assert [claim.hypothesis[start:end] for start, end in claim.unsupported or ()] == ["by", "Roe"]
    pruned = next(one for one in made if one.kind == "pruned")
    assert pruned.hypothesis == "The mill of Ard was restored in 1900."


def test_training_gives_the_same_files_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fitting, "EPOCHS", 1)
    monkeypatch.setattr(fitting, "FOLDS", 2)
    raw = invent(tmp_path / "raw")
    model = encoder(tmp_path / "tiny", "bert")
    block = {"model": str(model), "device": "cpu", "dtype": "float32"}
    options = parse(NetworkOptions, block, where="test")
    files = [tmp_path / "a.json", tmp_path / "b.json"]
    for file in files:
        made = train(raw, raw / "pairs.jsonl", options, 512)
        write(file, made.coefficients, made.network)
    for end in (".json", ".safetensors"):
        one, again = (file.with_suffix(end).read_bytes() for file in files)
        assert one == again
        assert str(tmp_path).encode() not in one
    held = read(files[0], weights_digest(options), "tiny")
    assert held == made.coefficients
    assert held.words.keys() == set(OF_WORDS)
    signs = [held.claims[name] * (-1 if name in FALLING else 1) for name in CLAIM_FEATURES]
    assert min(signs) >= 0 < max(signs)
    assert held.trees.trees
    assert held.head == hashlib.sha256(made.network).hexdigest()
    loaded = load_models(held, files[0])
    dtypes = {str(values.dtype) for network in loaded.head for values in network.values()}
    assert dtypes == {"torch.float64"}
    firsts = [network["project"].tolist() for network in loaded.head]
    assert len(firsts) == 3
    assert firsts[0] != firsts[1] != firsts[2]
    data = {name: (raw / name).read_bytes() for name in held.recipe["data"]}
    assert len(data) == 4
    assert held.recipe["data"] == {
        name: hashlib.sha256(content).hexdigest() for name, content in data.items()
    }
    assert {"claim", "note_same", "written_detail"} <= held.recipe["examples"].keys()


def test_kinds_of_a_family_weigh_the_same_on_each_side() -> None:
    """Written claims, worked out by hand: 4 of 6 follow, of two kinds; the others are of two."""
    kinds = [
        *[("written_synonym", True)] * 3,
        ("written_combined", True),
        *[("written_drug", False), ("written_dose", False)],
        *[("pruned", True)] * 2,
    ]
    examples = [Example(kind, "", "", (), label) for kind, label in kinds]
    found = fitting._weights(fitting._Set(examples, [], np.zeros(8), np.zeros(8)))
    third = 2.6 / 3  # what claims that don't follow weigh, and of those that do one kind
    wanted = np.array([third / 3] * 3 + [third] + [third / 2] * 2 + [3 / 2] * 2)
    assert found == pytest.approx(3000 * wanted / 5.6)

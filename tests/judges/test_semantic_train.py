"""Fitting the semantic judge: an independent fit, invented data, the same files again."""

import csv
import hashlib
import json
import random
import re
from pathlib import Path
from typing import Any

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
    edits = [e for n in range(40) for e in edit_sentence("g", text, premise, random.Random(n))]
    kinds = {edit.kind for edit in edits if not edit.supported}
    assert {f"note_{kind}" for kind in ("drug", "dose", "laterality", "negation")} <= kinds
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
            assert edit.hypothesis[end:] == other[len(other) - len(edit.hypothesis) + end :]
    texts = " ".join(part for edit in edits for part in (edit.hypothesis, *edit.premise))
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
        Example("written_site", third, "Six is.", ("Four is.", "Five is."), False, None),
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
        tokens = ["The", "mill", "of", town, "was", "restored", "in", str(built), "by", "Roe", "."]
        page = [
            f"(meta data) TITLE: Mill of {town} was restored by its village - Local Page",
            f"The old mill of {town} was restored by the village in the year {built}.",
            *(f"The mill of {drawn.choice(TOWNS)} has {n} wheels and a roof." for n in range(12)),
        ]
        rows.append(
            {
                **{"claim": f"The mill of {town} was restored in {built} by Roe."},
                **{"claim_tokens": tokens, "evidence": page, "supporting_sentences": [[1]]},
                "non_supported_spans": [word in ("by", "Roe") for word in tokens],
                "meta": {"id": f"train{number}-0"},
            }
        )
    write_lines(folder / "wice_train/non_supported_tokens_train.jsonl", rows)
    for name in ("train.csv", "valid.csv"):
        with (folder / "aci_bench_train" / name).open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["dialogue", "note"])
            for number, town in enumerate(TOWNS[:6]):
                note = f"She takes {town} {number + 2}0 mg daily. Mild pain in the left knee today."
                writer.writerow([f"[doctor] do you take {town}?\n[patient] yes", note])
    notes = []
    for number, town in enumerate(TOWNS):
        note = f"The wheel of {town} is {number} feet wide. It was painted green."
        claim = f"The wheel of {town} was painted"
        claims = [["written", "entailed", f"{claim}."], ["detail", "not_entailed", f"{claim} red."]]
        notes.append({"id": f"w{number}", "note": note, "claims": claims})
    write_lines(folder / "pairs.jsonl", notes)
    return folder


def test_examples_are_the_same_for_the_same_seed(raw: Path) -> None:
    drawn, again, other = (examples(raw, raw / "pairs.jsonl", seed) for seed in (1, 1, 2))
    assert drawn == again != other
    assert {example.supported for example in drawn} == {True, False}
    claim, pruned = (next(e for e in drawn if e.kind == kind) for kind in ("claim", "pruned"))
    assert [claim.hypothesis[start:end] for start, end in claim.unsupported or ()] == ["by", "Roe"]
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
    signs = [fitted.claims[name] * (-1 if name in FALLING else 1) for name in CLAIM_FEATURES]
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
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in data.items()}
    assert fitted.recipe["data"] == digests
    assert {"claim", "note_same", "written_detail"} <= fitted.recipe["examples"].keys()


def test_kinds_of_a_family_weigh_the_same_on_each_side() -> None:
    """Written claims, worked out by hand: 4 of 6 follow, of two kinds; the others are of two."""
    kinds = [
        *[("written_synonym", True)] * 3,
        *(("written_combined", True), ("written_drug", False), ("written_dose", False)),
        *[("pruned", True)] * 2,
    ]
    claims = [Example(kind, "", "", (), label) for kind, label in kinds]
    weights = fitting._weights(fitting._Set(claims, [], np.zeros(8), np.zeros(8)))
    third = 2.6 / 3  # what claims that don't follow weigh, and of those that do each kind
    wanted = np.array([third / 3] * 3 + [third] + [third / 2] * 2 + [3 / 2] * 2)
    assert weights == pytest.approx(3000 * wanted / 5.6)

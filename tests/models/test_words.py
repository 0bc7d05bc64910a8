"""Vectors of words against the encoder asked directly."""

import math
from pathlib import Path

import numpy as np
import pytest

from metassay.core.options import parse
from metassay.models import words as words_module
from metassay.models.loading import NetworkOptions
from metassay.models.words import LAYERS, encode, words

pytest.importorskip("torch", reason="needs metassay[models]")
pytest.importorskip("transformers", reason="needs metassay[models]")
import torch

from metassay.models.encoders import Encoder, load_encoder
from tests.models.tiny import encoder

TEXT = "the knee hurts: 1,000 stairs (20mg) aren't 5%"


def loaded(folder: Path, kind: str) -> Encoder:
    block = {"model": str(encoder(folder, kind)), "device": "cpu", "dtype": "float32"}
    return load_encoder(parse(NetworkOptions, block, where="test"))


def test_words_are_runs_of_letters_and_whole_numbers() -> None:
    texts = [TEXT[word.start : word.end] for word in words(TEXT)]
    assert texts == [
        "the",
        "knee",
        "hurts",
        "1,000",
        "stairs",
        "20",
        "mg",
        "aren't",
        "5",
        "%",
    ]


@pytest.mark.parametrize("kind", ["bert", "albert", "distilbert", "t5"])
def test_a_word_is_the_mean_of_its_pieces(tmp_path: Path, kind: str) -> None:
    model = loaded(tmp_path / kind, kind)
    alone, again = encode(model, ["climb", TEXT, "climb"], 64)[1:]
    read = model.tokenizer(TEXT, return_offsets_mapping=True)
    with torch.no_grad():
        hidden = model.weights(
            torch.tensor([read["input_ids"]]), output_hidden_states=True
        ).hidden_states
    start, end = alone.words[2]
    inside = [
        i for i, (s, e) in enumerate(read["offset_mapping"]) if s < end and start < e
    ]
    for layer, states in ((1, hidden[len(hidden) // 2]), (2, hidden[-1])):
        mean = states[0, inside].mean(0).numpy()
        assert alone.vectors[layer, 2] == pytest.approx(
            mean / np.linalg.norm(mean), abs=1e-5
        )
    rarest = max(read["input_ids"][i] for i in inside)
    assert alone.rarity[2] == pytest.approx(np.log1p(rarest))
    assert alone.vectors.shape[:2] == (LAYERS, len(alone.words))
    assert np.linalg.norm(again.vectors, axis=-1) == pytest.approx(1.0, abs=1e-5)


def test_long_texts_are_read_in_parts_and_only_a_long_word_is_cut(
    tmp_path: Path,
) -> None:
    model = loaded(tmp_path / "bert", "bert")
    whole, endless, blank = encode(
        model, [" ".join(["stairs"] * 200), "a " + "x" * 500, ""], 256
    )
    assert (len(whole.words), whole.cut) == (200, 0)
    assert np.linalg.norm(whole.vectors, axis=-1) == pytest.approx(1.0, abs=1e-5)
    assert (len(endless.words), endless.cut) == (2, 1)
    assert (len(blank.words), blank.vectors.shape[1]) == (0, 0)
    # Products of the vectors are exact.
    steps = whole.vectors.astype(float) * 2**20
    assert np.array_equal(steps, steps.round())
    first, other = (
        endless.vectors[2, 0].astype(float),
        whole.vectors[2, 1].astype(float),
    )
    products = [float(a) * float(b) for a, b in zip(first, other, strict=True)]
    assert first @ other == math.fsum(products)


def test_a_token_counts_for_every_word_that_it_overlaps() -> None:
    """Tokens `the`, `3rd`, `t`, `oe`: the second one is all of the words `3` and `rd`."""
    its = words("the 3rd toe")
    spans = [(0, 0), (0, 3), (4, 7), (8, 9), (9, 11), (0, 0)]
    piece = words_module._Piece(0, [1, 10, 20, 30, 40, 2], spans)
    rows = np.array([[9, 9], [1, 0], [0, 2], [3, 0], [1, 3], [9, 9]], np.float32)
    read = words_module._text(its, [(piece, np.stack([rows] * LAYERS))], 2)
    assert read.cut == 0
    assert read.vectors[1] == pytest.approx(
        np.array([[1, 0], [0, 1], [0, 1], [0.8, 0.6]])
    )
    assert read.rarity == pytest.approx(np.log1p([10, 20, 20, 40]))

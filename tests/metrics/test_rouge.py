"""ROUGE against rouge-score itself, worked examples, and DocLens's printed digits."""

from importlib.metadata import version
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from metassay.metrics import rouge
from metassay.metrics.describe import Measured

PLAIN = rouge.RougeOptions(stemmer=False, split="newline")
STEMMED = rouge.RougeOptions(stemmer=True, split="newline")
TYPES = ["rouge1", "rouge2", "rougeL", "rougeLsum"]
SCORERS = {
    options.stemmer: RougeScorer(TYPES, use_stemmer=options.stemmer) for options in (PLAIN, STEMMED)
}

# Few words, so that subsequences of equal length abound and the choice among them matters.
WORDS = st.sampled_from(["a", "b", "c", "dried", "drying", "7", "\n", "\n\n", "-", "é"])
TEXTS = st.lists(WORDS, max_size=40).map(" ".join)


def one(candidate: str, reference: str, options: rouge.RougeOptions = PLAIN) -> dict[str, Measured]:
    return {
        name: values[0] for name, values in rouge.measure([candidate], [reference], options).items()
    }


def assert_equal_to_rouge_score(
    candidate: str, reference: str, options: rouge.RougeOptions
) -> None:
    theirs = SCORERS[options.stemmer].score(reference, candidate)
    for name, ours in one(candidate, reference, options).items():
        family, variant = name.split("_")
        expected = getattr(theirs[family], variant)
        # Equality, not closeness. Where a text is empty rouge-score says 0 and we say null.
        assert ours.value == expected or (ours.value is None and expected == 0), name


def test_by_hand() -> None:
    # 7 and 6 words. All 6 of the reference are in the text: "the" twice, cat, sat, on, mat.
    scores = one("the cat on the mat\nsat down", "The cat sat\non the mat.")
    assert scores["rouge1_precision"] == Measured(6 / 7, (6, 7))
    assert scores["rouge1_recall"] == Measured(1, (6, 6))
    assert scores["rouge1_fmeasure"].value == pytest.approx(12 / 13)
    assert scores["rouge1_fmeasure"].statistics == (12, 13)
    # Pairs in both: the cat, on the, the mat; of 6 and 5.
    assert scores["rouge2_precision"] == Measured(3 / 6, (3, 6))
    assert scores["rouge2_recall"] == Measured(3 / 5, (3, 5))
    # In order over the whole text: the cat on the mat.
    assert scores["rougeL_precision"] == Measured(5 / 7, (5, 7))
    assert scores["rougeL_recall"] == Measured(5 / 6, (5, 6))
    # Line by line: "the cat" and, in the other line, "sat"; then "on the mat": 6 of 7 and of 6.
    assert scores["rougeLsum_precision"] == Measured(6 / 7, (6, 7))
    assert scores["rougeLsum_recall"] == Measured(1, (6, 6))


@settings(max_examples=300, deadline=None)
@given(TEXTS, TEXTS, st.sampled_from([PLAIN, STEMMED]))
def test_equal_to_rouge_score_to_the_last_bit(
    candidate: str, reference: str, options: rouge.RougeOptions
) -> None:
    assert_equal_to_rouge_score(candidate, reference, options)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=40), st.text(max_size=40), st.sampled_from([PLAIN, STEMMED]))
def test_equal_to_rouge_score_on_any_text(
    candidate: str, reference: str, options: rouge.RougeOptions
) -> None:
    assert_equal_to_rouge_score(candidate, reference, options)


@pytest.mark.parametrize("options", [PLAIN, STEMMED])
def test_equal_to_rouge_score_on_long_lines(options: rouge.RougeOptions) -> None:
    # Beyond 64 tokens a line, where a machine word would end.
    candidate = " ".join(str(n * n % 17) for n in range(150)) + "\nruns running runner"
    reference = " ".join(str(n * n * n % 17) for n in range(170)) + "\nran running runners"
    assert_equal_to_rouge_score(candidate, reference, options)


def test_the_installed_rouge_score_is_the_one_named_in_recipes() -> None:
    assert version("rouge-score") == rouge.ROUGE_SCORE
    assert rouge.recipe(PLAIN) == "stemmer:no|split:newline|rouge-score:0.1.2"
    assert rouge.recipe(STEMMED) == "stemmer:porter|split:newline|rouge-score:0.1.2"


@pytest.mark.parametrize("name", TYPES)
def test_texts_without_tokens(name: str) -> None:
    no_candidate, no_reference, neither = one(" - ", "a b"), one("a b", ""), one("", "?!")
    assert no_candidate[f"{name}_precision"] == Measured(None, None)
    assert no_candidate[f"{name}_recall"].value == 0
    assert no_candidate[f"{name}_fmeasure"].value == 0
    assert no_reference[f"{name}_recall"] == Measured(None, None)
    assert no_reference[f"{name}_precision"].value == 0
    assert no_reference[f"{name}_fmeasure"].value == 0
    for variant in ("precision", "recall", "fmeasure"):
        assert neither[f"{name}_{variant}"] == Measured(None, None)


def test_one_word_on_both_sides_has_no_pairs_and_rouge2_is_0() -> None:
    # As two absent sections have it in DocLens's Table 24: 1 on rouge1 and rougeL, 0 on rouge2.
    scores = one("#####EMPTY#####", "#####EMPTY#####")
    values = {name: score.value for name, score in scores.items() if name.endswith("_fmeasure")}
    assert values == {
        "rouge1_fmeasure": 1,
        "rouge2_fmeasure": 0,
        "rougeL_fmeasure": 1,
        "rougeLsum_fmeasure": 1,
    }


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(TEXTS, st.sampled_from(["a b\nc", "b a", ""])), max_size=6))
def test_a_pair_scores_the_same_in_any_company(pairs: list[tuple[str, str]]) -> None:
    together = rouge.measure([c for c, _ in pairs], [r for _, r in pairs], PLAIN)
    for index, (candidate, reference) in enumerate(pairs):
        assert {n: v[index] for n, v in together.items()} == one(candidate, reference)


@settings(deadline=None)
@given(TEXTS, TEXTS)
def test_exchanging_the_texts_exchanges_precision_and_recall(first: str, second: str) -> None:
    there, back = one(first, second), one(second, first)
    for name in ("rouge1", "rouge2", "rougeL"):  # rougeLsum takes its lines from the reference
        assert there[f"{name}_precision"] == back[f"{name}_recall"]
        assert there[f"{name}_fmeasure"].value == pytest.approx(back[f"{name}_fmeasure"].value)
        assert there[f"{name}_fmeasure"].statistics == back[f"{name}_fmeasure"].statistics


@pytest.mark.parametrize(
    ("file", "printed"),
    [
        (
            "bart-large-xsum-samsum_clinicalnlp_taskB_test1_full.csv",
            (40.87, 18.96, 34.60),
        ),
        (
            "bart-large-xsum-samsum_clinicalnlp_taskB_test1_division_combined.csv",
            (53.46, 25.08, 48.62),
        ),
        ("BioBART_clinicalnlp_taskB_test1_full.csv", (39.09, 17.24, 33.19)),
        ("BioBART_clinicalnlp_taskB_test1_division_combined.csv", (49.53, 22.47, 44.92)),
        ("test1ChatGPT_.csv", (47.44, 19.01, 42.47)),
        ("test1GPT-4_.csv", (51.76, 22.58, 45.97)),
    ],
)
def test_printed_digits_of_aci_bench(
    mirror: Path, file: str, printed: tuple[float, float, float]
) -> None:
    # Xie et al. 2024 (DocLens), Table 20: F1 x 100, mean of 40 notes; its Rouge-L is rougeLsum.
    folder = mirror / "aci_bench_test1"
    references = pd.read_csv(folder / "clinicalnlp_taskB_test1.csv")
    both = references.merge(
        pd.read_csv(folder / file), on="encounter_id", validate="1:1", suffixes=("_reference", "")
    )
    assert len(both) == 40
    scores = rouge.measure(list(both["note"]), list(both["note_reference"]), PLAIN)
    names = ("rouge1_fmeasure", "rouge2_fmeasure", "rougeLsum_fmeasure")
    means = [sum(score.value or 0 for score in scores[name]) / 40 for name in names]
    assert tuple(round(100 * mean, 2) for mean in means) == printed

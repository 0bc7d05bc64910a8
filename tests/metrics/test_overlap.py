"""ROUGE, BLEU and edit distance against other programs, by hand, and against printed digits."""

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from metassay.core.options import Options
from metassay.metrics import bleu, edit_distance, rouge
from metassay.metrics.describe import Measured
from metassay.text.unicode_tokens import find_tokens

NULL = Measured(None, None)
PLAIN, STEMMED = (
    rouge.RougeOptions(stemmer=stem, split="newline") for stem in (False, True)
)
TYPES = ["rouge1", "rouge2", "rougeL", "rougeLsum"]
SCORERS = {stem: RougeScorer(TYPES, use_stemmer=stem) for stem in (False, True)}
BLEU = bleu.BleuOptions(tokenize="13a", lowercase=False)

# Few words, so that subsequences of equal length abound and the choice among them
# matters.
WORDS = st.sampled_from(["a", "b", "c", "dried", "drying", "7", "\n", "\n\n", "-", "é"])
TEXTS = st.lists(WORDS, max_size=40).map(" ".join)
FEW = st.lists(st.sampled_from(["a", "bb", "aa", "c", "D", "."]), max_size=9).map(
    " ".join
)


def pair(
    candidate: str, reference: str, metric: Any = rouge, options: Any = PLAIN
) -> Any:
    measured = metric.measure([candidate], [reference], options)
    return {name: values[0] for name, values in measured.items()}


def equals_rouge_score(
    candidate: str, reference: str, options: rouge.RougeOptions
) -> None:
    theirs = SCORERS[options.stemmer].score(reference, candidate)
    for name, ours in pair(candidate, reference, options=options).items():
        family, variant = name.split("_")
        expected = getattr(theirs[family], variant)
        # Equality, not closeness. Where a text is empty rouge-score says 0 and we say
        # null.
        assert ours.value == expected or (ours.value is None and expected == 0), name


def test_rouge_by_hand() -> None:
    # 7 and 6 words. All 6 of the reference are in the text: "the" twice, cat, sat, on, mat.
    scores = pair("the cat on the mat\nsat down", "The cat sat\non the mat.")
    assert scores["rouge1_fmeasure"] == Measured(pytest.approx(12 / 13), (12, 13))
    for name, hits, sizes in (
        ("rouge1", 6, (7, 6)),
        ("rouge2", 3, (6, 5)),  # pairs in both: the cat, on the, the mat
        ("rougeL", 5, (7, 6)),  # in order over the whole text: the cat on the mat
        # Line by line: "the cat" and, in the other line, "sat"; then "on the mat".
        ("rougeLsum", 6, (7, 6)),
    ):
        for side, size in zip(("precision", "recall"), sizes, strict=True):
            assert scores[f"{name}_{side}"] == Measured(hits / size, (hits, size))


@settings(max_examples=300, deadline=None)
@given(
    TEXTS | st.text(max_size=40),
    TEXTS | st.text(max_size=40),
    st.sampled_from([PLAIN, STEMMED]),
)
def test_equal_to_rouge_score_to_the_last_bit(
    candidate: str, reference: str, options: rouge.RougeOptions
) -> None:
    equals_rouge_score(candidate, reference, options)


@pytest.mark.parametrize("options", [PLAIN, STEMMED])
def test_equal_to_rouge_score_on_long_lines(options: rouge.RougeOptions) -> None:
    # Beyond 64 tokens a line, where a machine word would end.
    candidate = " ".join(str(n * n % 17) for n in range(150)) + "\nruns running runner"
    reference = (
        " ".join(str(n * n * n % 17) for n in range(170)) + "\nran running runners"
    )
    equals_rouge_score(candidate, reference, options)


UNICODE = rouge.RougeOptions(stemmer=False, split="newline", tokenizer="unicode")
SCRIPTS = [
    "größe",
    "Ärzte",
    "ไข้",
    "无发热",
    "हिन्दी",
    "naïve",
    "γ",
    "x_1",
    "2x",
    "\n",
    "cough",
]


@settings(deadline=None)
@given(
    candidate=st.lists(st.sampled_from(SCRIPTS), max_size=12).map(" ".join),
    reference=st.lists(st.sampled_from(SCRIPTS), max_size=12).map(" ".join),
)
def test_the_unicode_tokenizer_is_rouge_score_with_other_tokens(
    candidate, reference
) -> None:
    """rouge-score takes a tokenizer, so its values are an oracle for all but the tokens."""

    class Tokens:
        def tokenize(self, text: str) -> list[str]:
            return find_tokens(text)

    scorer = RougeScorer(TYPES, use_stemmer=False, tokenizer=Tokens())
    theirs = scorer.score(reference, candidate)
    for name, ours in pair(candidate, reference, options=UNICODE).items():
        family, variant = name.split("_")
        expected = getattr(theirs[family], variant)
        assert ours.value == expected or (ours.value is None and expected == 0), name


@given(candidate=TEXTS.map(str.encode), reference=FEW)
def test_of_ascii_texts_both_tokenizers_say_the_same(
    candidate: bytes, reference: str
) -> None:
    plain = candidate.decode("ascii", "ignore")
    assert pair(plain, reference) == pair(plain, reference, options=UNICODE)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Grüße, 2x täglich!", ["grüße", "2x", "täglich"]),
        ("naïve_text", ["naïve", "text"]),
        ("a\u0308rzte", ["ärzte"]),  # a letter and its mark are one letter
        ("हिन्दी में", ["हिन्दी", "में"]),  # vowels are marks
        ("ไม่มีไข้", ["ไ", "ม่", "มี", "ไ", "ข้"]),  # no spaces: characters with their marks
        ("无发热。", ["无", "发", "热"]),
        ("환자는 열이", ["환자는", "열이"]),
        ("١٢ мг", ["١٢", "мг"]),
        ("... --- !", []),
    ],
)
def test_tokens_of_other_scripts_by_hand(text: str, tokens: list[str]) -> None:
    assert find_tokens(text) == tokens


def test_the_tokenizer_is_in_the_recipe_unless_it_is_rouge_scores() -> None:
    assert rouge.recipe(UNICODE) == f"{rouge.recipe(PLAIN)}|tokenizer:unicode"


def test_the_installed_rouge_score_is_the_one_named_in_recipes() -> None:
    assert version("rouge-score") == rouge.ROUGE_SCORE
    assert rouge.recipe(PLAIN) == "stemmer:no|split:newline|rouge-score:0.1.2"
    assert rouge.recipe(STEMMED) == "stemmer:porter|split:newline|rouge-score:0.1.2"


@pytest.mark.parametrize("name", TYPES)
def test_texts_without_tokens(name: str) -> None:
    for texts, expected in (
        ((" - ", "a b"), [None, 0, 0]),
        (("a b", ""), [0, None, 0]),
        (("", "?!"), [None] * 3),
        # As absent sections have it in DocLens's Table 24: a word has no pairs, and
        # rouge2 is 0.
        (("#####EMPTY#####", "#####EMPTY#####"), [float(name != "rouge2")] * 3),
    ):
        scores = pair(*texts)
        sides = [
            scores[f"{name}_{side}"] for side in ("precision", "recall", "fmeasure")
        ]
        assert [score.value for score in sides] == expected
        assert all(
            (score.statistics is None) == (score.value is None) for score in sides
        )


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(TEXTS, st.sampled_from(["a b\nc", "b a", ""])), max_size=6))
def test_a_pair_scores_the_same_in_any_company(pairs: list[tuple[str, str]]) -> None:
    together = rouge.measure([c for c, _ in pairs], [r for _, r in pairs], PLAIN)
    for index, texts in enumerate(pairs):
        assert {name: values[index] for name, values in together.items()} == pair(
            *texts
        )


@pytest.mark.parametrize(
    ("file", "printed"),
    [
        ("bart-large-xsum-samsum_clinicalnlp_taskB_test1_full", (40.87, 18.96, 34.60)),
        (
            "bart-large-xsum-samsum_clinicalnlp_taskB_test1_division_combined",
            (53.46, 25.08, 48.62),
        ),
        ("BioBART_clinicalnlp_taskB_test1_full", (39.09, 17.24, 33.19)),
        ("BioBART_clinicalnlp_taskB_test1_division_combined", (49.53, 22.47, 44.92)),
        ("test1ChatGPT_", (47.44, 19.01, 42.47)),
        ("test1GPT-4_", (51.76, 22.58, 45.97)),
    ],
)
def test_printed_digits_of_aci_bench(
    mirror: Path, file: str, printed: tuple[float, ...]
) -> None:
    # Xie et al. 2024 (DocLens), Table 20: F1 x 100, mean of 40 notes; its Rouge-L is
    # rougeLsum.
    right, left = (
        pd.read_csv(mirror / f"aci_bench_test1/{name}.csv")
        for name in ("clinicalnlp_taskB_test1", file)
    )
    both = right.merge(
        left, on="encounter_id", validate="1:1", suffixes=("_reference", "")
    )
    assert len(both) == 40
    scores = rouge.measure(list(both["note"]), list(both["note_reference"]), PLAIN)
    names = ("rouge1_fmeasure", "rouge2_fmeasure", "rougeLsum_fmeasure")
    means = [sum(score.value or 0 for score in scores[name]) / 40 for name in names]
    assert tuple(round(100 * mean, 2) for mean in means) == printed


def bleu_of(
    candidate: str, reference: str, options: bleu.BleuOptions = BLEU
) -> Measured:
    score: Measured = pair(candidate, reference, bleu, options)["bleu"]
    return score


def test_bleu_by_hand() -> None:
    # Of 5 words 4 are right, of 4 pairs 3, of 3 triples 2, of 2 quadruples 1; as long
    # as the reference: no penalty. (4/5 * 3/4 * 2/3 * 1/2) ** (1/4) = .2 ** .25
    score = bleu_of("a b c d x", "a b c d e")
    assert score == Measured(
        pytest.approx(100 * 0.2**0.25), (5, 5, 4, 3, 2, 1, 5, 4, 3, 2)
    )
    # by the orders that it has
    assert bleu_of("a b", "a b").value == pytest.approx(100)
    assert bleu_of("", "") == NULL
    assert (
        bleu_of("", "a b").value
        == bleu_of("a b", "").value
        == bleu_of("A B", "a b").value
        == 0
    )
    lower = bleu.BleuOptions(tokenize="13a", lowercase=True)
    assert bleu_of("A B", "a b", lower).value == pytest.approx(100)
    none = bleu.BleuOptions(tokenize="none", lowercase=False)
    assert bleu_of("a,b", "a b", none).value == 0


@settings(deadline=None)
@given(st.lists(st.tuples(FEW, FEW), min_size=1, max_size=5), st.booleans())
def test_equal_to_sacrebleu(pairs: list[tuple[str, str]], lowercase: bool) -> None:
    options = bleu.BleuOptions(tokenize="13a", lowercase=lowercase)
    candidates, references = [c for c, _ in pairs], [r for _, r in pairs]
    scores = bleu.measure(candidates, references, options)["bleu"]
    for (candidate, reference), score in zip(pairs, scores, strict=True):
        expected = sacrebleu.sentence_bleu(candidate, [reference], lowercase=lowercase)
        # sacreBLEU's own value of equal texts is 100.00000000000004.
        assert (score.value or 0) == min(expected.score, 100)
    # Texts without statistics have nothing to add: the corpus value is that of all.
    there = [score.statistics for score in scores if score.statistics]
    corpus = sacrebleu.corpus_bleu(candidates, [references], lowercase=lowercase)
    assert (bleu.corpus(there) if there else 0) == pytest.approx(corpus.score)


def test_the_recipe_of_bleu_is_sacrebleus_signature() -> None:
    assert bleu.recipe(BLEU) == (
        f"sacrebleu:(nrefs:1|case:mixed|eff:yes|tok:13a|smooth:exp|version:{sacrebleu.__version__})"
    )
    lower = bleu.recipe(bleu.BleuOptions(tokenize="char", lowercase=True))
    assert "case:lc" in lower
    assert "tok:char" in lower


def edits(candidate: str, reference: str) -> tuple[Measured, Measured]:
    """By words, and by characters."""
    measured = pair(candidate, reference, edit_distance, Options())
    return measured["edit_distance"], measured["edit_distance_characters"]


def levenshtein(first: Sequence[str], second: Sequence[str]) -> int:
    above = list(range(len(second) + 1))
    for row, left in enumerate(first, start=1):
        here = [row]
        for column, right in enumerate(second, start=1):
            here.append(
                min(
                    above[column] + 1, here[-1] + 1, above[column - 1] + (left != right)
                )
            )
        above = here
    return above[-1]


def test_edit_distance_by_hand() -> None:
    # cat -> dog, and "down" is missing: 2 edits, the longer text has 4 words.
    assert edits("the cat sat", "the dog sat down")[0] == Measured(0.5, (2, 4))
    # k -> s, e -> i, g added: 3 edits, 7 characters. As words they are just different.
    assert edits("kitten", "sitting") == (Measured(1, (1, 1)), Measured(3 / 7, (3, 7)))
    # White space is no word, but it is a character.
    assert edits("a  b\n", "a b") == (Measured(0, (0, 2)), Measured(2 / 5, (2, 5)))
    assert edits("", "") == (NULL, NULL)
    assert edits(" ", "")[0] == NULL
    assert [score.value for score in (*edits("", "a b"), *edits("a b", ""))] == [1] * 4


@settings(deadline=None)
@given(FEW, FEW)
def test_edit_distance_is_that_of_a_plain_dynamic_programme(
    first: str, second: str
) -> None:
    for score, sides in zip(
        edits(first, second),
        ((first.split(), second.split()), (first, second)),
        strict=True,
    ):
        longest = max(map(len, sides))
        expected = (levenshtein(*sides), longest) if longest else None
        assert score.statistics == expected

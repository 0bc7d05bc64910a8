"""What an NLI model's numbers mean, and windows of whole sentences, by hand."""

import math
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metassay.core.errors import BadInput
from metassay.core.options import parse
from metassay.judges.nli import (
    NliOptions,
    is_fragile,
    judge_words,
    pieces,
    three_way,
    two_way,
    windows,
)
from metassay.judges.protocol import Judgment
from metassay.models.pair_scores import labels_of, meaning, shares

E, N, C, NOT = "entailed", "neutral", "contradicted", "not_entailed"


@pytest.mark.parametrize(
    ("name", "label"),
    [
        *((name, E) for name in ("ENTAILMENT", "entails", "SUPPORTS")),
        ("not_entailment", NOT),
        ("Non-Entailed", NOT),
        ("NEUTRAL", N),
        ("NOT ENOUGH INFO", N),
        ("contradiction", C),
        ("REFUTES", C),
        *(
            (name, None)
            for name in ("LABEL_0", "1", "consistent", "entailment_or_neutral")
        ),
    ],
)
def test_a_class_is_known_by_its_name(name: str, label: str | None) -> None:
    assert meaning(name) == label


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        (["CONTRADICTION", "NEUTRAL", "ENTAILMENT"], (C, N, E)),
        (["entailment", "not_entailment"], (E, NOT)),
        (["LABEL_0"], (E,)),
        (["LABEL_0", "LABEL_1"], None),
        (["entailment", "entails"], None),
        (["neutral", "contradiction"], None),
        (["entailment", "LABEL_1", "contradiction"], None),
    ],
)
def test_classes_are_in_the_order_of_their_names(
    names: list[str], labels: tuple[str, ...] | None
) -> None:
    if labels is None:
        with pytest.raises(BadInput, match="do not say what they mean; give `labels`"):
            labels_of(names)
    else:
        assert labels_of(names) == labels


LOGS = [math.log(6), math.log(3), math.log(1)]


@pytest.mark.parametrize(
    ("numbers", "labels", "digits", "expected"),
    [
        # Softmax of log 6, log 3, log 1 is .6, .3, .1; the logistic function of log 3
        # is .75.
        (LOGS, (C, E, N), 6, {C: 0.6, E: 0.3, N: 0.1}),
        (LOGS, (E, E, C), 6, {E: 0.9, C: 0.1}),
        ([math.log(3)], (E,), 6, {E: 0.75}),
        ([1000.0, -1000.0], (E, C), 6, {E: 1.0, C: 0.0}),
        # Digits of the nearer end: of log 2 it is 2/3; of log 1/7000 it is 1/7001.
        ([math.log(2)], (E,), 3, {E: 0.667}),
        ([-math.log(7000)], (E,), 2, {E: 0.00014}),
        ([math.log(7000)], (E,), 2, {E: 0.99986}),
    ],
)
def test_numbers_become_probabilities(
    numbers: list[float],
    labels: tuple[str, ...],
    digits: int,
    expected: dict[str, float],
) -> None:
    assert shares(numbers, labels, digits) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("windows", "band", "expected"),
    [
        ([{E: 0.4996}], None, True),  # .5006 would be entailed
        ([{E: 0.4989}], None, False),
        ([{E: 0.1}, {E: 0.5}], None, True),  # .499 would not
        ([{E: 0.5}], [0.4, 0.6], False),  # abstained either way
        ([{E: 0.4005}], [0.4, 0.6], True),  # .3995 would be a label
        ([{E: 0.6}], [0.4, 0.6], True),  # .599 would be none
    ],
)
def test_a_label_that_a_last_digit_decides_hangs(
    windows: list[dict[str, float]], band: list[float] | None, expected: bool
) -> None:
    assert (
        is_fragile(windows, 0.001, lambda shifted: two_way(shifted, 0.5, band))
        is expected
    )


def test_the_likeliest_label_hangs_where_another_is_about_as_likely() -> None:
    for window, expected in (
        ({E: 0.3, N: 0.3505, C: 0.3495}, True),
        ({E: 0.3, N: 0.36, C: 0.34}, False),
    ):
        assert (
            is_fragile([window], 0.002, lambda shifted: three_way(shifted, None))
            is expected
        )


ENTAILING = [
    {E: 0.2, N: 0.8, C: 0.0},
    {E: 0.6, N: 0.3, C: 0.1},
    {E: 0.1, N: 0.1, C: 0.8},
]
REFUTING = [
    {E: 0.4, N: 0.5, C: 0.1},
    {E: 0.1, N: 0.1, C: 0.8},
    {E: 0.0, N: 1.0, C: 0.0},
]
SHOWN = "entailed {:.3f}, neutral {:.3f}, contradicted {:.3f} in window 2 of 3"


def test_a_window_that_entails_is_enough_and_a_contradiction_weighs_more_than_silence() -> (
    None
):
    shown = SHOWN.format(0.6, 0.3, 0.1)
    assert two_way(ENTAILING, 0.5, None) == Judgment("ok", E, 0.6, explanation=shown)
    assert [two_way(ENTAILING, edge, None).label for edge in (0.6, 0.61)] == [E, NOT]
    assert three_way(ENTAILING, None).label == E
    shown = SHOWN.format(0.1, 0.1, 0.8)
    assert three_way(REFUTING, None) == Judgment("ok", C, 0.4, explanation=shown)
    assert three_way(REFUTING[::2], None).label == N


def test_it_abstains_inside_the_band() -> None:
    statuses = [
        two_way([{E: p}], 0.5, [0.4, 0.7]).status for p in (0.4, 0.41, 0.69, 0.7)
    ]
    assert statuses == ["ok", "abstained", "abstained", "ok"]
    unsure = two_way([{E: 0.6}], 0.5, [0.4, 0.7])
    assert (unsure.label, unsure.probability) == (None, 0.6)
    unsure = three_way([{E: 0.3, N: 0.1, C: 0.6}], [0.4, 0.7])
    assert (unsure.status, unsure.label, unsure.probability) == ("abstained", None, 0.3)
    assert three_way([{E: 0.2, N: 0.1, C: 0.7}], [0.4, 0.7]).label == C


@pytest.mark.parametrize(
    ("answers", "two", "three"),
    [
        ([C, None, E], E, E),
        ([N, C], NOT, C),
        ([N, N], NOT, N),
        ([NOT], NOT, N),
        ([N, None], None, None),
    ],
)
def test_written_answers(
    answers: list[str | None], two: str | None, three: str | None
) -> None:
    for label, judgment in (
        (two, judge_words(answers, three=False)),
        (three, judge_words(answers, three=True)),
    ):
        assert (judgment.status, judgment.label) == (
            "ok" if label else "unparsed",
            label,
        )


BLOCK = {"model": "m", "device": "cpu", "dtype": "float32"}
WORDS = {"entailed": "1", "not_entailed": "0"}
PROMPT = {"template": "{premise} {hypothesis}", "words": WORDS}


@pytest.mark.parametrize(
    ("form", "block", "problem"),
    [
        ("seq2seq", {"words": WORDS}, "form seq2seq needs a template"),
        ("seq2seq", {"template": "{premise}"}, "must have {premise} and {hypothesis}"),
        (
            "causal",
            {**PROMPT, "words": {"entailed": "1"}},
            "needs words, for entailed and",
        ),
        ("causal", {**PROMPT, "read": "generated"}, "read is not for form causal"),
        ("classification", {"words": WORDS}, "words is not for form classification"),
        (
            "classification",
            {"labels": ["a", "b"]},
            "the names of the classes, 'a', 'b', do not say",
        ),
        ("classification", {"abstain": [0.6, 0.7]}, "around the threshold"),
        (
            "classification",
            {"window": 8, "stride": 9},
            "stride must not be more than window",
        ),
        (
            "seq2seq",
            {**PROMPT, "read": "generated", "abstain": [0, 1.0]},
            "probabilities",
        ),
        ("causal", {**PROMPT, "system": "Be brief."}, "add chat: true"),
    ],
)
def test_options_that_do_not_fit_together_are_refused(
    form: str, block: dict[str, Any], problem: str
) -> None:
    with pytest.raises(BadInput) as refused:
        parse(NliOptions, BLOCK | {"form": form} | block, where="judges > nli")
    assert str(refused.value).startswith("judges > nli: ")
    assert problem in str(refused.value)
    parse(
        NliOptions,
        BLOCK | {"form": "classification", "window": 9, "stride": 9},
        where="x",
    )


def test_a_heading_stays_with_what_follows_it() -> None:
    text = "The knee hurts.\n\nEXAM:\nThe knee is swollen. No fever.\n"
    cut = [text[slice(*span)] for span in pieces(text)]
    assert cut == ["The knee hurts.", "\n\nEXAM:\nThe knee is swollen.", " No fever.\n"]


@settings(max_examples=30)
@given(st.text(max_size=200))
def test_every_character_is_in_exactly_one_piece(text: str) -> None:
    assert "".join(text[slice(*span)] for span in pieces(text)) == text


@pytest.mark.parametrize(
    ("lengths", "most", "stride", "expected"),
    [
        # from the second: nothing new
        ([3, 4, 2, 5], 20, 20, [(0, 4)]),
        ([3, 4, 2, 5], 7, 7, [(0, 2), (2, 4)]),
        ([3, 4, 2, 5], 9, 3, [(0, 3), (2, 4)]),
        # 6 tokens on would leave out the second
        ([3, 4, 2, 5], 11, 3, [(0, 3), (1, 4)]),
        ([3, 4, 2, 5], 6, 6, [(0, 1), (1, 3), (3, 4)]),
        # a long sentence is a window by itself
        ([30, 4, 30], 6, 6, [(0, 1), (1, 2), (2, 3)]),
        ([3, 4, 9], 9, 3, [(0, 2), (2, 3)]),
        ([0], 5, 5, [(0, 1)]),
        ([0, 0], 5, 5, [(0, 2)]),
    ],
)
def test_windows_are_runs_of_sentences(
    lengths: list[int], most: int, stride: int, expected: list[tuple[int, int]]
) -> None:
    assert [(run[0], run[-1] + 1) for run in windows(lengths, most, stride)] == expected


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=12), st.integers(1, 20), st.data()
)
def test_no_sentence_is_left_out(
    lengths: list[int], most: int, data: st.DataObject
) -> None:
    runs = list(windows(lengths, most, data.draw(st.integers(1, most))))
    assert sorted({at for run in runs for at in run}) == list(range(len(lengths)))
    assert all(len(run) == 1 or sum(lengths[at] for at in run) <= most for run in runs)
    assert all(a.start < b.start and a.stop < b.stop for a, b in pairwise(runs))

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
    from_words,
    is_fragile,
    pieces,
    three_way,
    two_way,
    windows,
)
from metassay.models.pair_scores import labels_of, meaning, shares

E, N, C = "entailed", "neutral", "contradicted"


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("ENTAILMENT", E),
        ("entails", E),
        ("not_entailment", "not_entailed"),
        ("Non-Entailed", "not_entailed"),
        ("NEUTRAL", N),
        ("contradiction", C),
        ("SUPPORTS", E),
        ("NOT ENOUGH INFO", N),
        ("REFUTES", C),
        ("LABEL_0", None),
        ("1", None),
        ("consistent", None),
        ("entailment_or_neutral", None),
    ],
)
def test_a_class_is_known_by_its_name(name: str, label: str | None) -> None:
    assert meaning(name) == label


def test_classes_stand_in_the_order_of_their_names() -> None:
    assert labels_of(["CONTRADICTION", "NEUTRAL", "ENTAILMENT"]) == (C, N, E)
    assert labels_of(["entailment", "not_entailment"]) == (E, "not_entailed")
    assert labels_of(["LABEL_0"]) == (E,)


@pytest.mark.parametrize(
    "names",
    [
        ["LABEL_0", "LABEL_1"],
        ["entailment", "entails"],
        ["neutral", "contradiction"],
        ["entailment", "LABEL_1", "contradiction"],
    ],
)
def test_names_that_do_not_tell_are_refused(names: list[str]) -> None:
    with pytest.raises(BadInput, match="do not say what they mean; give `labels`"):
        labels_of(names)


def test_numbers_become_probabilities() -> None:
    """Softmax of log 6, log 3, log 1 is .6, .3, .1; the logistic function of log 3 is .75."""
    logs = [math.log(6), math.log(3), math.log(1)]
    assert shares(logs, (C, E, N), 6) == pytest.approx({C: 0.6, E: 0.3, N: 0.1})
    assert shares(logs, (E, E, C), 6) == pytest.approx({E: 0.9, C: 0.1})
    assert shares([math.log(3)], (E,), 6) == pytest.approx({E: 0.75})
    assert shares([1000.0, -1000.0], (E, C), 6) == {E: 1.0, C: 0.0}


def test_what_holds_of_a_probability_is_kept_at_either_end() -> None:
    """Logistic function of log 2 is 2/3; of log 1/7000 it is 1/7001, of its inverse the rest."""
    assert shares([math.log(2)], (E,), 3) == {E: 0.667}
    assert shares([-math.log(7000)], (E,), 2) == {E: 0.00014}
    assert shares([math.log(7000)], (E,), 2) == {E: 0.99986}


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
    assert is_fragile(windows, 0.001, lambda shifted: two_way(shifted, 0.5, band)) is expected


def test_the_likeliest_label_hangs_where_another_is_about_as_likely() -> None:
    close, clear = {E: 0.3, N: 0.3505, C: 0.3495}, {E: 0.3, N: 0.36, C: 0.34}
    assert is_fragile([close], 0.002, lambda shifted: three_way(shifted, None))
    assert not is_fragile([clear], 0.002, lambda shifted: three_way(shifted, None))


def test_one_window_that_entails_is_enough() -> None:
    windows = [{E: 0.2, N: 0.8, C: 0.0}, {E: 0.6, N: 0.3, C: 0.1}, {E: 0.1, N: 0.1, C: 0.8}]
    found = two_way(windows, 0.5, None)
    assert (found.status, found.label, found.probability) == ("ok", "entailed", 0.6)
    said = "entailed 0.600, neutral 0.300, contradicted 0.100 in window 2 of 3"
    assert found.explanation == said
    assert two_way(windows, 0.6, None).label == "entailed"
    assert two_way(windows, 0.61, None).label == "not_entailed"
    assert three_way(windows, None).label == "entailed"


def test_a_contradiction_weighs_more_than_passages_that_say_nothing() -> None:
    windows = [{E: 0.4, N: 0.5, C: 0.1}, {E: 0.1, N: 0.1, C: 0.8}, {E: 0.0, N: 1.0, C: 0.0}]
    found = three_way(windows, None)
    assert (found.label, found.probability) == ("contradicted", 0.4)
    assert found.explanation == (
        "entailed 0.100, neutral 0.100, contradicted 0.800 in window 2 of 3"
    )
    assert three_way(windows[::2], None).label == "neutral"


def test_it_abstains_inside_the_band() -> None:
    def status(probability: float) -> str:
        window = {E: probability, "not_entailed": 1 - probability}
        return two_way([window], 0.5, [0.4, 0.7]).status

    assert [status(p) for p in (0.4, 0.41, 0.69, 0.7)] == ["ok", "abstained", "abstained", "ok"]
    unsure = two_way([{E: 0.6}], 0.5, [0.4, 0.7])
    assert (unsure.label, unsure.probability) == (None, 0.6)
    unsure = three_way([{E: 0.3, N: 0.1, C: 0.6}], [0.4, 0.7])
    assert (unsure.status, unsure.label, unsure.probability) == ("abstained", None, 0.3)
    assert three_way([{E: 0.2, N: 0.1, C: 0.7}], [0.4, 0.7]).label == "contradicted"


def test_written_answers() -> None:
    assert from_words([C, None, E], three=True).label == "entailed"
    assert from_words([N, C], three=True).label == "contradicted"
    assert from_words([N, N], three=True).label == "neutral"
    assert from_words([N, None], three=True).status == "unparsed"


BLOCK = {"model": "m", "device": "cpu", "dtype": "float32"}
WORDS = {"entailed": "1", "not_entailed": "0"}
ASKED = {"template": "{premise} {hypothesis}", "words": WORDS}


@pytest.mark.parametrize(
    ("block", "problem"),
    [
        ({"form": "seq2seq", "words": WORDS}, "form seq2seq needs a template"),
        ({"form": "seq2seq", "template": "{premise}"}, "must have {premise} and {hypothesis}"),
        ({"form": "causal", **ASKED, "words": {"entailed": "1"}}, "needs words, for entailed and"),
        ({"form": "causal", **ASKED, "read": "generated"}, "read is not for form causal"),
        ({"form": "classification", "words": WORDS}, "words is not for form classification"),
        ({"form": "classification", "labels": ["a", "b"]}, "classes called 'a', 'b' do not say"),
        ({"form": "classification", "abstain": [0.6, 0.7]}, "around the threshold"),
        ({"form": "classification", "stride": 9}, "stride must not be more than window"),
        ({"form": "seq2seq", **ASKED, "read": "generated", "abstain": [0, 1.0]}, "probabilities"),
        ({"form": "causal", **ASKED, "system": "Be brief."}, "add chat: true"),
    ],
)
def test_options_that_do_not_fit_together_are_refused(block: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadInput) as refused:
        parse(NliOptions, BLOCK | block, where="judges > nli")
    assert str(refused.value).startswith("judges > nli: ")
    assert problem in str(refused.value)


def test_a_heading_stays_with_what_follows_it() -> None:
    text = "The knee hurts.\n\nEXAM:\nThe knee is swollen. No fever.\n"
    cut = [text[slice(*span)] for span in pieces(text)]
    assert cut == ["The knee hurts.", "\n\nEXAM:\nThe knee is swollen.", " No fever.\n"]


@settings(max_examples=30)
@given(st.text(max_size=200))
def test_every_character_is_in_one_piece(text: str) -> None:
    assert "".join(text[slice(*span)] for span in pieces(text)) == text


@pytest.mark.parametrize(
    ("lengths", "most", "stride", "expected"),
    [
        ([3, 4, 2, 5], 20, 20, [(0, 4)]),
        ([3, 4, 2, 5], 7, 7, [(0, 2), (2, 4)]),
        ([3, 4, 2, 5], 9, 3, [(0, 3), (2, 4)]),  # from the second: nothing new
        ([3, 4, 2, 5], 11, 3, [(0, 3), (1, 4)]),
        ([3, 4, 2, 5], 6, 6, [(0, 1), (1, 3), (3, 4)]),  # 6 tokens on would leave out the second
        ([30, 4, 30], 6, 6, [(0, 1), (1, 2), (2, 3)]),  # a long sentence is a window of its own
        ([3, 4, 9], 9, 3, [(0, 2), (2, 3)]),
        ([0], 5, 5, [(0, 1)]),
        ([0, 0, 0], 5, 5, [(0, 3)]),
    ],
)
def test_windows_are_runs_of_sentences(
    lengths: list[int], most: int, stride: int, expected: list[tuple[int, int]]
) -> None:
    assert [(run[0], run[-1] + 1) for run in windows(lengths, most, stride)] == expected


@given(st.lists(st.integers(0, 9), min_size=1, max_size=12), st.integers(1, 20), st.data())
def test_no_sentence_is_left_out(lengths: list[int], most: int, data: st.DataObject) -> None:
    stride = data.draw(st.integers(1, most))
    runs = list(windows(lengths, most, stride))
    assert sorted({at for run in runs for at in run}) == list(range(len(lengths)))
    assert all(len(run) == 1 or sum(lengths[at] for at in run) <= most for run in runs)
    assert all(a.start < b.start and a.stop < b.stop for a, b in pairwise(runs))

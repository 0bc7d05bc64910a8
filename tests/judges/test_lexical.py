"""The lexical baseline: its rules."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from metassay.judges import JUDGES
from metassay.judges.lexical import LexicalJudge, LexicalOptions
from metassay.judges.protocol import Pair, Verdict

NOTE = (
    "Ms. Vale denies fever, chills and numbness. Left knee pain began two weeks ago, no fall."
    " She takes metformin 500 mg twice daily and lisinopril 10 mg daily. BP 128 over 82,"
    " both ankles swollen, but no rash. I have one more question for you."
)
DEFAULT = LexicalOptions(threshold=0.75, window=60)


def verdict(premise: str, hypothesis: str, options: LexicalOptions = DEFAULT) -> Verdict:
    return LexicalJudge(options).judge([Pair("id", "entailment", premise, hypothesis)])[0]


def test_share_by_hand() -> None:
    # Content tokens of the hypothesis: dull, knee, pain, today. knee, pain, today are there: 3 of
    # 4 = .75, which is enough for .75 and not for .8 (4 needed).
    premise, hypothesis = "Knee pain since today.", "Dull knee pain today."
    found = verdict(premise, hypothesis)
    assert found.label == "entailed"
    assert found.explanation == "3 of 4 tokens found, 3 needed; missing: dull"
    strict = verdict(premise, hypothesis, LexicalOptions(threshold=0.8, window=60))
    assert strict.label == "not_entailed"
    assert strict.explanation == "3 of 4 tokens found, 4 needed; missing: dull"


def test_all_words_must_be_in_one_window() -> None:
    premise = "knee " + "filler " * 8 + "pain"  # ten content tokens
    options = {n: LexicalOptions(threshold=1, window=n) for n in (9, 10)}
    assert verdict(premise, "Knee pain.", options[10]).label == "entailed"
    apart = verdict(premise, "Knee pain.", options[9])
    assert (apart.label, apart.explanation) == (
        "not_entailed",
        "1 of 2 tokens found, 2 needed; missing: pain",
    )


@pytest.mark.parametrize(
    ("premise", "hypothesis", "conflict"),
    [
        ("Takes aspirin 5 mg at night.", "Takes aspirin 50 mg at night.", "number 50 is not there"),
        (
            "Digoxin 125 mcg each morning.",
            "Digoxin 125 mg each morning.",
            "125 mg is 125 mcg there",
        ),
        (
            "No chest pain.",
            "Chest pain.",
            "chest is negated only there; pain is negated only there",
        ),
        ("Cough.", "No cough.", "cough is negated only here"),
        ("Left hip fracture.", "Right hip.", "hip: right is left there"),
    ],
)
def test_conflicts_are_explained(premise: str, hypothesis: str, conflict: str) -> None:
    found = verdict(premise, hypothesis, LexicalOptions(threshold=0.5, window=60))
    assert found.label == "not_entailed"
    assert str(found.explanation).endswith(f"conflict: {conflict}")


def test_a_number_without_unit_may_have_any() -> None:
    assert verdict("Metoprolol 50 daily.", "Metoprolol 50 mg daily.").label == "entailed"


def test_one_window_without_conflict_suffices() -> None:
    filler = "filler " * 60
    assert verdict(f"No cough. {filler} Has cough.", "Cough.").label == "entailed"
    assert verdict(f"No cough. {filler} No cough.", "Cough.").label == "not_entailed"


def test_bilateral_stands_for_both_sides() -> None:
    loose = LexicalOptions(threshold=0.5, window=60)
    assert verdict("Bilateral edema.", "Left edema.", loose).label == "entailed"
    assert verdict("Left edema and right edema.", "Bilateral edema.", loose).label == "entailed"
    assert verdict("Left edema.", "Bilateral edema.", loose).label == "not_entailed"


def test_a_hypothesis_without_content_is_judged_on_all_its_tokens() -> None:
    assert verdict("He did so.", "He did.").label == "entailed"
    assert verdict("Cough.", "He did.").label == "not_entailed"


def test_a_hypothesis_without_tokens_has_no_verdict() -> None:
    found = verdict("Cough.", "?!")
    assert (found.status, found.label) == ("error", None)


def test_it_has_no_probability_and_says_that_it_is_a_baseline() -> None:
    found = verdict(NOTE, "He takes lisinopril 10 mg daily.")
    assert (found.probability, found.grade, found.tokens, found.attempts) == (None, None, None, 1)
    judge = JUDGES["lexical"].make(DEFAULT)
    assert judge.signature == "lexical baseline,threshold=0.75,window=60"
    assert "Lexical baseline" in str(LexicalJudge.__doc__)


@settings(deadline=None)
@given(st.lists(st.sampled_from(NOTE.split()), min_size=1, max_size=30))
def test_every_text_with_content_entails_itself(words: list[str]) -> None:
    text = " ".join(words)
    found = verdict(text, text)
    assert found.status == "ok"
    assert found.label == "entailed"


@settings(deadline=None)
@given(st.text(max_size=40), st.text(max_size=40))
def test_any_text_gets_a_verdict_and_always_the_same(a: str, b: str) -> None:
    first = verdict(a, b)
    assert (first.label is None) == (first.status != "ok")
    assert verdict(a, b) == first


def test_order_of_pairs_changes_nothing() -> None:
    hypotheses = [sentence + "." for sentence in NOTE.split(".")]
    pairs = [Pair(f"{p}{h}", "entailment", p, h) for p in (NOTE, NOTE[:90]) for h in hypotheses]
    judge = LexicalJudge(DEFAULT)
    assert judge.judge(pairs[::-1]) == judge.judge(pairs)[::-1]


@pytest.mark.parametrize("options", [{"threshold": 0, "window": 5}, {"threshold": 1, "window": 0}])
def test_options_are_checked(options: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        LexicalOptions.model_validate(options)

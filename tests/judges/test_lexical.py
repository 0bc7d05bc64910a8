"""The lexical baseline: its rules."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from metassay.judges.lexical import LexicalJudge, LexicalOptions
from metassay.judges.protocol import Judgment, Pair

NOTE = (
    "Ms. Vale denies fever, chills and numbness. Left knee pain began two weeks ago, no fall."
    " She takes metformin 500 mg twice daily and lisinopril 10 mg daily. BP 128 over 82,"
    " both ankles swollen, but no rash. I have one more question for you."
)
FILLER = "filler " * 60


def judge(
    premise: str,
    hypothesis: str,
    threshold: float = 0.75,
    window: int = 60,
    instrument: str = "entailment",
) -> Judgment:
    options = LexicalOptions(threshold=threshold, window=window)
    (judgment,) = LexicalJudge(options).judge([Pair("id", instrument, premise, hypothesis)])
    assert judgment is not None
    return judgment


@pytest.mark.parametrize(
    ("premise", "hypothesis", "threshold", "window", "label", "explanation"),
    [
        # Content tokens of the hypothesis: dull, knee, pain, today; 3 of 4 are .75.
        *(
            ("Knee pain since today.", "Dull knee pain today.", threshold, 60, label, explanation)
            for threshold, label, explanation in (
                (0.75, "entailed", "3 of 4 tokens found, 3 needed; missing: dull"),
                (0.8, "not_entailed", "3 of 4 tokens found, 4 needed; missing: dull"),
            )
        ),
        *(  # all words must be in one window: of ten content tokens
            ("knee " + "filler " * 8 + "pain", "Knee pain.", 1, window, label, explanation)
            for window, label, explanation in (
                (10, "entailed", "2 of 2 tokens found, 2 needed"),
                (9, "not_entailed", "1 of 2 tokens found, 2 needed; missing: pain"),
            )
        ),
    ],
)
def test_shares_by_hand(
    premise: str, hypothesis: str, threshold: float, window: int, label: str, explanation: str
) -> None:
    judgment = judge(premise, hypothesis, threshold, window)
    assert judgment == Judgment("ok", label, explanation=explanation)


@pytest.mark.parametrize(
    ("premise", "hypothesis", "conflict"),
    [
        ("Takes aspirin 5 mg at night.", "Takes aspirin 50 mg at night.", "number 50 is not there"),
        ("Digoxin 125 mcg every night.", "Digoxin 125 mg every night.", "125 mg is 125 mcg there"),
        ("No pains.", "Pains.", "pain is negated only there"),
        ("Cough.", "No cough.", "cough is negated only here"),
        ("Left hip fracture.", "Right hip.", "hip: right is left there"),
    ],
)
def test_conflicts_are_explained(premise: str, hypothesis: str, conflict: str) -> None:
    judgment = judge(premise, hypothesis, 0.5)
    assert judgment.label == "not_entailed"
    assert str(judgment.explanation).endswith(f"conflict: {conflict}")


@pytest.mark.parametrize(
    ("premise", "hypothesis", "entailed"),
    [
        ("Metoprolol 50 daily.", "Metoprolol 50 mg daily.", True),  # it may have any unit
        # One window without conflict is enough.
        (f"No cough. {FILLER} Has cough.", "Cough.", True),
        (f"No cough. {FILLER} No cough.", "Cough.", False),
        # Bilateral stands for both sides, and both for bilateral.
        ("Bilateral edema.", "Left edema.", True),
        ("Left edema and right edema.", "Bilateral edema.", True),
        ("Left edema.", "Bilateral edema.", False),
        ("Bilateral edema of the legs.", "Unilateral edema of the legs.", False),
        ("Left edema of the legs.", "Unilateral edema of the legs.", True),
        ("Pain of the medial left knee.", "Pain of the lateral left knee.", False),
        ("Pulse of the posterior tibia.", "Pulse of the anterior tibia.", False),
        ("Proximal weakness of the arm.", "Distal weakness of the arm.", False),
        ("Knee pain on the left side.", "Knee pain on the right side.", False),
        # Without content tokens all tokens count.
        *(("He did so.", "He did.", True), ("Cough.", "He did.", False)),
    ],
)
def test_labels(premise: str, hypothesis: str, entailed: bool) -> None:
    assert judge(premise, hypothesis, 0.5).label == ("entailed" if entailed else "not_entailed")


@pytest.mark.parametrize("instrument", ["entailment", "support_grade"])
def test_a_hypothesis_without_tokens_has_no_judgment(instrument: str) -> None:
    judgment = judge("Cough.", "?!", instrument=instrument)
    assert judgment == Judgment("error", explanation="the hypothesis has no words")


def test_the_signature_says_that_it_is_a_baseline() -> None:
    options = LexicalOptions(threshold=0.75, window=60)
    assert LexicalJudge(options).signature == "lexical baseline,threshold=0.75,window=60"
    for block in ({"threshold": 0, "window": 5}, {"threshold": 1, "window": 0}):
        with pytest.raises(ValidationError):
            LexicalOptions.model_validate(block)


@settings(deadline=None)
@given(st.lists(st.sampled_from(NOTE.split()), min_size=1, max_size=30))
def test_every_text_with_content_entails_itself(words: list[str]) -> None:
    text = " ".join(words)
    judgment = judge(text, text)
    assert (judgment.status, judgment.label) == ("ok", "entailed")


@settings(deadline=None, max_examples=50)
@given(st.text(max_size=40), st.text(max_size=40))
def test_any_text_gets_a_judgment_and_always_the_same(a: str, b: str) -> None:
    first = judge(a, b)
    assert (first.label is None) == (first.status != "ok")
    assert judge(a, b) == first


@pytest.mark.parametrize(
    ("premise", "grade", "explanation"),
    [
        # Content tokens of the hypothesis: dull, knee, pain, today, walking.
        ("Dull knee pain today on walking.", 3, "5 of 5 tokens found"),
        ("Knee pain today on walking.", 2, "4 of 5 tokens found; missing: dull"),  # 2.4
        ("Knee pain.", 1, "2 of 5 tokens found; missing: dull, today, walking"),  # 1.2
        ("Knee.", 0, "1 of 5 tokens found; missing: dull, pain, today, walking"),  # .6
        ("Cough.", 0, "0 of 5 tokens found; missing: dull, knee, pain, today, walking"),
        (  # the fullest window without conflict
            f"No dull knee pain today on walking. {FILLER} Knee pain.",
            *(1, "2 of 5 tokens found; missing: dull, today, walking"),
        ),
    ],
)
def test_grades_by_hand(premise: str, grade: int, explanation: str) -> None:
    judgment = judge(premise, "Dull knee pain today, walking.", instrument="support_grade")
    assert judgment == Judgment("ok", grade=grade, explanation=explanation)
    negated = judge(f"No {premise}", "Dull knee pain today, walking.", instrument="support_grade")
    assert negated.grade == (0 if FILLER not in premise else 1)  # all there, but negated


def test_order_of_pairs_changes_nothing() -> None:
    hypotheses = [sentence + "." for sentence in NOTE.split(".")]
    pairs = [Pair(f"{p}{h}", "entailment", p, h) for p in (NOTE, NOTE[:90]) for h in hypotheses]
    both = LexicalJudge(LexicalOptions(threshold=0.75, window=60))
    assert both.judge(pairs[::-1]) == both.judge(pairs)[::-1]

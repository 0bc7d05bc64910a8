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
DEFAULT = LexicalOptions(threshold=0.75, window=60)


def judgment(premise: str, hypothesis: str, options: LexicalOptions = DEFAULT) -> Judgment:
    (found,) = LexicalJudge(options).judge([Pair("id", "entailment", premise, hypothesis)])
    assert found is not None
    return found


def test_share_by_hand() -> None:
    # Content tokens of the hypothesis: dull, knee, pain, today. knee, pain, today are there: 3 of
    # 4 = .75, which is enough for .75 and not for .8 (4 needed).
    premise, hypothesis = "Knee pain since today.", "Dull knee pain today."
    found = judgment(premise, hypothesis)
    assert found.label == "entailed"
    assert found.explanation == "3 of 4 tokens found, 3 needed; missing: dull"
    strict = judgment(premise, hypothesis, LexicalOptions(threshold=0.8, window=60))
    assert strict.label == "not_entailed"
    assert strict.explanation == "3 of 4 tokens found, 4 needed; missing: dull"


def test_all_words_must_be_in_one_window() -> None:
    premise = "knee " + "filler " * 8 + "pain"  # ten content tokens
    options = {n: LexicalOptions(threshold=1, window=n) for n in (9, 10)}
    assert judgment(premise, "Knee pain.", options[10]).label == "entailed"
    apart = judgment(premise, "Knee pain.", options[9])
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
    found = judgment(premise, hypothesis, LexicalOptions(threshold=0.5, window=60))
    assert found.label == "not_entailed"
    assert str(found.explanation).endswith(f"conflict: {conflict}")


@pytest.mark.parametrize(
    ("premise", "hypothesis", "label"),
    [
        ("Metoprolol 50 daily.", "Metoprolol 50 mg daily.", "entailed"),  # it may have any unit
        # One window without conflict is enough.
        (f"No cough. {'filler ' * 60} Has cough.", "Cough.", "entailed"),
        (f"No cough. {'filler ' * 60} No cough.", "Cough.", "not_entailed"),
        # Bilateral stands for both sides, and both for bilateral.
        ("Bilateral edema.", "Left edema.", "entailed"),
        ("Left edema and right edema.", "Bilateral edema.", "entailed"),
        ("Left edema.", "Bilateral edema.", "not_entailed"),
        ("Bilateral edema of the legs.", "Unilateral edema of the legs.", "not_entailed"),
        ("Left edema of the legs.", "Unilateral edema of the legs.", "entailed"),
        ("Pain of the medial left knee.", "Pain of the lateral left knee.", "not_entailed"),
        ("Pulse of the posterior tibia.", "Pulse of the anterior tibia.", "not_entailed"),
        ("Proximal weakness of the arm.", "Distal weakness of the arm.", "not_entailed"),
        ("Knee pain on the left side.", "Knee pain on the right side.", "not_entailed"),
        # Without content tokens all tokens count.
        ("He did so.", "He did.", "entailed"),
        ("Cough.", "He did.", "not_entailed"),
    ],
)
def test_labels(premise: str, hypothesis: str, label: str) -> None:
    loose = LexicalOptions(threshold=0.5, window=60)
    assert judgment(premise, hypothesis, loose).label == label


def test_a_hypothesis_without_tokens_has_no_judgment() -> None:
    for found in (judgment("Cough.", "?!"), grade("Cough.", "?!")):
        assert (found.status, found.label, found.grade) == ("error", None, None)


def test_it_has_no_probability_and_says_that_it_is_a_baseline() -> None:
    found = judgment(NOTE, "He takes lisinopril 10 mg daily.")
    assert (found.probability, found.grade, found.tokens, found.attempts) == (None, None, None, 1)
    assert LexicalJudge(DEFAULT).signature == "lexical baseline,threshold=0.75,window=60"


@settings(deadline=None)
@given(st.lists(st.sampled_from(NOTE.split()), min_size=1, max_size=30))
def test_every_text_with_content_entails_itself(words: list[str]) -> None:
    text = " ".join(words)
    found = judgment(text, text)
    assert found.status == "ok"
    assert found.label == "entailed"


@settings(deadline=None)
@given(st.text(max_size=40), st.text(max_size=40))
def test_any_text_gets_a_judgment_and_always_the_same(a: str, b: str) -> None:
    first = judgment(a, b)
    assert (first.label is None) == (first.status != "ok")
    assert judgment(a, b) == first


def grade(premise: str, hypothesis: str) -> Judgment:
    (found,) = LexicalJudge(DEFAULT).judge([Pair("id", "support_grade", premise, hypothesis)])
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("premise", "expected"),
    [
        # Content tokens of the hypothesis: dull, knee, pain, today, walking.
        ("Dull knee pain today on walking.", 3),  # 5 of 5
        ("Knee pain today on walking.", 2),  # 4 of 5: 3 * 4 / 5 = 2.4
        ("Knee pain.", 1),  # 2 of 5: 1.2
        ("Knee.", 0),  # 1 of 5: .6
        ("Cough.", 0),
        ("No dull knee pain today on walking.", 0),  # all there, but negated
    ],
)
def test_grade_by_hand(premise: str, expected: int) -> None:
    found = grade(premise, "Dull knee pain today, walking.")
    assert (found.status, found.label, found.grade) == ("ok", None, expected)


def test_a_grade_is_that_of_the_fullest_window_without_conflict() -> None:
    # The first sentence has 4 of the 4 tokens, and a negation; the last has 2 of 4, and none.
    filler = "filler " * 60
    found = grade(f"No dull knee pain today. {filler} Knee pain.", "Dull knee pain today.")
    assert found.grade == 1
    assert found.explanation == "2 of 4 tokens found; missing: dull, today"


def test_order_of_pairs_changes_nothing() -> None:
    hypotheses = [sentence + "." for sentence in NOTE.split(".")]
    pairs = [Pair(f"{p}{h}", "entailment", p, h) for p in (NOTE, NOTE[:90]) for h in hypotheses]
    judge = LexicalJudge(DEFAULT)
    assert judge.judge(pairs[::-1]) == judge.judge(pairs)[::-1]


@pytest.mark.parametrize("options", [{"threshold": 0, "window": 5}, {"threshold": 1, "window": 0}])
def test_options_are_checked(options: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        LexicalOptions.model_validate(options)

"""The lexical baseline: what it sees in a text, its rules, and its accuracy."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from metassay.core.kinds import choose
from metassay.judges import JUDGES
from metassay.judges.lexical import LexicalJudge, LexicalOptions
from metassay.judges.make import make_judge
from metassay.judges.protocol import Judgment, Pair
from metassay.judges.reading import digits, read, read_plainly
from metassay.llm.needs import Resources

write = digits(["tablet", "week"])


def tokens_at(text: str) -> dict[int, str]:
    return {
        place: token for token, places in read(text).places.items() for place in places
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("No chest pain.", "chest pain"),
        ("No fever but has a cough.", "fever"),
        ("Denies fever, chills or cough.", "fever chill cough"),
        ("No fever. Cough.", "fever"),
        ("Denies fever, reports cough.", "fever"),
        ("No fever\ncough", "fever"),
        ("Negative for blood.", "blood"),
        ("She is free of pain.", "pain"),
        ("Murphy sign negative.", "murphy sign"),
        ("Chest pain: denied.", "chest pain"),
        ("Absent reflexes.", "reflex"),
        ("She doesn't smoke.", "smoke"),
        ("No, my knee hurts.", ""),
        ("It hurts.\nno, it started today", ""),
        ("Nothing of note.", ""),
        ("", ""),
        ("No a1 b2 c3 d4 e5 f6 g7 h8 i9.", "a1 b2 c3 d4 e5 f6 g7 h8"),
    ],
)
def test_negation(text: str, expected: str) -> None:
    at = tokens_at(text)
    assert {at[place] for place in read(text).negated} == set(expected.split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Left knee pain today.", {"knee": {"left"}, "pain": {"left"}}),
        ("Knee pain on the left.", {"knee": {"left"}, "pain": {"left"}}),
        ("Right upper lobe.", {"lobe": {"right", "upper"}}),
        ("Both knees.", {"knee": {"bilateral"}}),
        ("Knee pain on the right side only.", {"knee": {"right"}, "pain": {"right"}}),
        ("Tender lateral aspect of the knee.", {"knee": {"lateral"}}),
        ("He left. Knee pain.", {}),
    ],
)
def test_sides(text: str, expected: dict[str, set[str]]) -> None:
    at = tokens_at(text)
    assert {at[place]: sides for place, sides in read(text).sides.items()} == expected


def test_units_under_one_name() -> None:
    text = "5 milligrams, 2.50mcg, 3 of them, 4 wks"
    at = tokens_at(text)
    units = {at[place]: unit for place, unit in read(text).units.items()}
    assert units == {"5": "mg", "2.5": "mcg", "4": "week"}


def test_plain_reading_keeps_stopwords() -> None:
    assert read_plainly("He did it, he did.").places == {
        "he": [0, 3],
        "did": [1, 4],
        "it": [2],
    }
    assert read_plainly("?!").places == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # no sense in, none out, but no error
        ("twelve days", "12 days"),
        ("forty five", "45"),
        ("two hundred", "200"),
        ("", ""),
        ("sixty-five-year-old", "65-year-old"),
        ("one hundred and twenty", "120"),
        ("three hundred and five mg", "305 mg"),
        ("one forty over ninety", "140/90"),
        ("one twenty eight over eighty-two", "128/82"),
        ("98 over sixty", "98/60"),
        ("one hundred ten over seventy", "110/70"),
        ("120 / 80", "120/80"),
        ("two forty", "2 40"),
        ("two and three", "2 and 3"),
        ("seven eight nine", "7 8 9"),
        ("five hundred and two hundred", "502 100"),
        ("one tablet", "1 tablet"),
        ("one week ago", "1 week ago"),
        *((text, text) for text in ("the one on the left", "someone often")),
        ("moved over two chairs", "moved over 2 chairs"),
    ],
)
def test_digits(text: str, expected: str) -> None:
    assert write(text) == expected


def test_every_number_below_a_hundred_can_be_read() -> None:
    ones = "one two three four five six seven eight nine".split()
    tens = "twenty thirty forty fifty sixty seventy eighty ninety".split()
    numbers = {
        f"{t} {o}": str(10 * a + b)
        for a, t in enumerate(tens, 2)
        for b, o in enumerate(ones, 1)
    }
    assert {text: write(text) for text in numbers} == numbers


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
    (judgment,) = LexicalJudge(options).judge(
        [Pair("id", instrument, premise, hypothesis)]
    )
    assert judgment is not None
    return judgment


@pytest.mark.parametrize(
    ("premise", "hypothesis", "threshold", "window", "label", "explanation"),
    [
        # Content tokens of the hypothesis: dull, knee, pain, today; 3 of 4 are .75.
        *(
            (
                "Knee pain since today.",
                "Dull knee pain today.",
                threshold,
                60,
                label,
                explanation,
            )
            for threshold, label, explanation in (
                (0.75, "entailed", "3 of 4 tokens found, 3 needed; missing: dull"),
                (0.8, "not_entailed", "3 of 4 tokens found, 4 needed; missing: dull"),
            )
        ),
        *(  # all words must be in one window: of ten content tokens
            (
                "knee " + "filler " * 8 + "pain",
                "Dull knee pain.",
                0.6,
                window,
                label,
                explanation,
            )
            for window, label, explanation in (
                (10, "entailed", "2 of 3 tokens found, 2 needed; missing: dull"),
                (
                    9,
                    "not_entailed",
                    "1 of 3 tokens found, 2 needed; missing: dull, pain",
                ),
            )
        ),
    ],
)
def test_shares_by_hand(
    premise: str,
    hypothesis: str,
    threshold: float,
    window: int,
    label: str,
    explanation: str,
) -> None:
    judgment = judge(premise, hypothesis, threshold, window)
    assert judgment == Judgment("ok", label, explanation=explanation)


@pytest.mark.parametrize(
    ("premise", "hypothesis", "conflict"),
    [
        (
            "Takes aspirin 5 mg at night.",
            "Takes aspirin 50 mg at night.",
            "number 50 is not there",
        ),
        (
            "Digoxin 125 mcg every night.",
            "Digoxin 125 mg every night.",
            "125 mg is 125 mcg there",
        ),
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
        # it may have any unit
        ("Metoprolol 50 daily.", "Metoprolol 50 mg daily.", True),
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
        ("He did so.", "He did.", True),
        ("Cough.", "He did.", False),
    ],
)
def test_labels(premise: str, hypothesis: str, entailed: bool) -> None:
    assert judge(premise, hypothesis, 0.5).label == (
        "entailed" if entailed else "not_entailed"
    )


@pytest.mark.parametrize("instrument", ["entailment", "support_grade"])
def test_a_hypothesis_without_tokens_has_no_judgment(instrument: str) -> None:
    judgment = judge("Cough.", "?!", instrument=instrument)
    assert judgment == Judgment("error", explanation="the hypothesis has no words")


def test_the_signature_says_that_it_is_a_baseline() -> None:
    options = LexicalOptions(threshold=0.75, window=60)
    assert (
        LexicalJudge(options).signature == "lexical baseline,threshold=0.75,window=60"
    )
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
            1,
            "2 of 5 tokens found; missing: dull, today, walking",
        ),
    ],
)
def test_grades_by_hand(premise: str, grade: int, explanation: str) -> None:
    judgment = judge(
        premise, "Dull knee pain today, walking.", instrument="support_grade"
    )
    assert judgment == Judgment("ok", grade=grade, explanation=explanation)
    negated = judge(
        f"No {premise}", "Dull knee pain today, walking.", instrument="support_grade"
    )
    # all there, but negated
    assert negated.grade == (0 if FILLER not in premise else 1)


def test_order_of_pairs_changes_nothing() -> None:
    hypotheses = [sentence + "." for sentence in NOTE.split(".")]
    pairs = [
        Pair(f"{p}{h}", "entailment", p, h)
        for p in (NOTE, NOTE[:90])
        for h in hypotheses
    ]
    both = LexicalJudge(LexicalOptions(threshold=0.75, window=60))
    assert both.judge(pairs[::-1]) == both.judge(pairs)[::-1]


ROOT = Path(__file__).parents[2]
VISIT = (
    "Mr. Ardent is a 59-year-old man seen for left knee pain that began two weeks ago after a fall."
    " He takes metformin 500 mg twice daily and lisinopril 10 mg daily. He denies fever, chills, or"
    " numbness. Exam: blood pressure 128/82, swelling of the left knee, no redness. X-ray shows no"
    " fracture. Plan: ibuprofen 400 mg as needed, ice, and follow-up in 3 weeks."
)
TALK = (
    "what brings you in today\nmy right shoulder has been hurting for about four days\n"
    "any weakness in the arm\nno, just the shoulder\nokay your blood pressure is one forty over"
    " ninety\nlet's start you on amlodipine five milligrams a day"
)

# A group per line; then whether it is entailed, the premise and the hypothesis.
CASES = r"""
restated
+ VISIT => The left knee pain began two weeks ago after a fall.
+ VISIT => He takes lisinopril 10 mg daily.
+ VISIT => Blood pressure is 128/82.
+ VISIT => Swelling of the left knee on exam.
+ VISIT => Follow-up in 3 weeks.
+ TALK => The right shoulder has been hurting for four days.
+ Lungs are clear to auscultation. => Clear lungs.
+ She smokes 1 pack per day. => She smokes one pack per day.
negation
+ VISIT => He denies chills.
+ VISIT => No fever.
- VISIT => He has fever.
- VISIT => X-ray shows a fracture.
- VISIT => There is no swelling of the left knee.
+ Negative for nausea and vomiting. => The patient has no vomiting.
- Edema: absent. Rash: present. => Edema is present.
- Edema: absent. Rash: present. => No rash.
+ She reports cough but denies wheezing. => She has a cough.
- She doesn't have headaches. => She has headaches.
+ Denies cough, reports dyspnea. => Dyspnea is reported.
side
- VISIT => He has pain in the right knee.
+ VISIT => Left knee swelling.
- Right hip replaced in 2011; left hip is sore. => The right hip is sore.
+ Bilateral ankle edema is noted. => Edema of the right ankle is noted.
- Left ankle edema is noted. => Bilateral ankle edema is noted.
- Crackles in the lower lobe of the lung. => Upper lobe lung crackles.
- TALK => The left shoulder has been hurting for four days.
dose
+ VISIT => He takes metformin 500 mg twice daily.
- VISIT => He takes metformin 50 mg twice daily.
- VISIT => Ibuprofen 800 mg as needed.
- VISIT => He takes lisinopril 500 mg daily.
+ TALK => Start amlodipine 5 mg a day.
- TALK => Start amlodipine 10 mg a day.
+ Warfarin 2.50 mg nightly. => Warfarin 2.5 mg nightly.
- Warfarin 2.5 mg nightly. => Warfarin 25 mg nightly.
- VISIT => Metformin 10 mg twice daily.
number
- VISIT => Mr. Ardent is 95 years old.
+ VISIT => Mr. Ardent is 59 years old.
- VISIT => Follow-up in 6 weeks.
+ TALK => Blood pressure is 140/90.
- TALK => Blood pressure is 140/80.
+ White count of 11,200 today. => White count is 11200.
+ Symptoms for twelve days. => Symptoms for 12 days.
unit
- Levothyroxine 50 mcg every morning. => Levothyroxine 50 mg every morning.
+ Levothyroxine 50mcg every morning. => Levothyroxine 50 micrograms mornings.
- Cough for 3 weeks. => Cough for 3 days.
+ Weight 80 kg. => Weight is 80 kilograms.
- Weight 80 kg. => Weight is 80 pounds.
missing
- VISIT => He was referred to physical therapy.
- VISIT => He has a history of gout.
- VISIT => The right elbow was operated on in childhood.
- TALK => An MRI of the shoulder will be ordered.
paraphrase
+ VISIT => The patient is diabetic.
+ VISIT => He is afebrile by history.
+ She is short of breath. => She has dyspnea.
+ He quit smoking. => He is a former smoker.
inference
- Any chest pain?\nNo. => The patient has chest pain.
- Her mother has asthma. => She has asthma.
- If pain persists, order a CT scan. => A CT scan was ordered.
"""


def test_accuracy_is_as_stated() -> None:
    """What it can do: restatements, flipped negations, sides, numbers and units, missing content.

    What it cannot: a paraphrase, a value that is there but belongs to something else,
    an answer in another turn, somebody else's disease, an order that was only thought
    of, and "is reported" for "reports".
    """
    block = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))[
        "judges"
    ]["lexical"]
    judge = make_judge(choose(JUDGES, block, where="x"), lambda _: Resources(Path()))
    right: dict[str, list[bool]] = {}
    for line in CASES.strip().splitlines():
        if line[:2] not in ("+ ", "- "):
            group = right.setdefault(line, [])
            continue
        premise, hypothesis = line[2:].replace("\\n", "\n").split(" => ")
        premise = {"VISIT": VISIT, "TALK": TALK}.get(premise, premise)
        (judgment,) = judge.judge([Pair("", "entailment", premise, hypothesis)])
        assert judgment is not None
        group.append((judgment.label == "entailed") == (line[0] == "+"))
    assert {group: (sum(each), len(each)) for group, each in right.items()} == {
        "restated": (8, 8),
        "negation": (10, 11),
        "side": (7, 7),
        "dose": (7, 9),
        "number": (7, 7),
        "unit": (5, 5),
        "missing": (4, 4),
        "paraphrase": (0, 4),
        "inference": (0, 3),
    }

"""The accuracy of the lexical baseline on invented pairs, labelled by hand.

Does the premise entail the hypothesis? Each group changes one thing at a time. `paraphrase` and
`inference` hold what word counting cannot do, so that the accuracy is that of a baseline and not of
examples picked for it.
"""

from pathlib import Path
from typing import NamedTuple

import yaml

from metassay.core.kinds import choose
from metassay.judges import JUDGES
from metassay.judges.make import make_judge
from metassay.judges.protocol import Judge, Pair
from metassay.llm.needs import Resources

ROOT = Path(__file__).parents[2]


class Case(NamedTuple):
    group: str
    premise: str
    hypothesis: str
    entailed: bool


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

CASES = [
    Case("restated", VISIT, "The left knee pain began two weeks ago after a fall.", True),
    Case("restated", VISIT, "He takes lisinopril 10 mg daily.", True),
    Case("restated", VISIT, "Blood pressure is 128/82.", True),
    Case("restated", VISIT, "Swelling of the left knee on exam.", True),
    Case("restated", VISIT, "Follow-up in 3 weeks.", True),
    Case("restated", TALK, "The right shoulder has been hurting for four days.", True),
    Case("restated", "Lungs are clear to auscultation.", "Clear lungs.", True),
    Case("restated", "She smokes 1 pack per day.", "She smokes one pack per day.", True),
    Case("negation", VISIT, "He denies chills.", True),
    Case("negation", VISIT, "No fever.", True),
    Case("negation", VISIT, "He has fever.", False),
    Case("negation", VISIT, "X-ray shows a fracture.", False),
    Case("negation", VISIT, "There is no swelling of the left knee.", False),
    Case("negation", "Negative for nausea and vomiting.", "The patient has no vomiting.", True),
    Case("negation", "Edema: absent. Rash: present.", "Edema is present.", False),
    Case("negation", "Edema: absent. Rash: present.", "No rash.", False),
    Case("negation", "She reports cough but denies wheezing.", "She has a cough.", True),
    Case("negation", "She doesn't have headaches.", "She has headaches.", False),
    Case("negation", "Denies cough, reports dyspnea.", "Dyspnea is reported.", True),
    Case("side", VISIT, "He has pain in the right knee.", False),
    Case("side", VISIT, "Left knee swelling.", True),
    Case("side", "Right hip replaced in 2011; left hip is sore.", "The right hip is sore.", False),
    Case("side", "Bilateral ankle edema is noted.", "Edema of the right ankle is noted.", True),
    Case("side", "Left ankle edema is noted.", "Bilateral ankle edema is noted.", False),
    Case("side", "Crackles in the lower lobe of the lung.", "Upper lobe lung crackles.", False),
    Case("side", TALK, "The left shoulder has been hurting for four days.", False),
    Case("dose", VISIT, "He takes metformin 500 mg twice daily.", True),
    Case("dose", VISIT, "He takes metformin 50 mg twice daily.", False),
    Case("dose", VISIT, "Ibuprofen 800 mg as needed.", False),
    Case("dose", VISIT, "He takes lisinopril 500 mg daily.", False),
    Case("dose", TALK, "Start amlodipine 5 mg a day.", True),
    Case("dose", TALK, "Start amlodipine 10 mg a day.", False),
    Case("dose", "Warfarin 2.50 mg nightly.", "Warfarin 2.5 mg nightly.", True),
    Case("dose", "Warfarin 2.5 mg nightly.", "Warfarin 25 mg nightly.", False),
    Case("number", VISIT, "Mr. Ardent is 95 years old.", False),
    Case("number", VISIT, "Mr. Ardent is 59 years old.", True),
    Case("number", VISIT, "Follow-up in 6 weeks.", False),
    Case("number", TALK, "Blood pressure is 140/90.", True),
    Case("number", TALK, "Blood pressure is 140/80.", False),
    Case("number", "White count of 11,200 today.", "White count is 11200.", True),
    Case("number", "Symptoms for twelve days.", "Symptoms for 12 days.", True),
    Case(
        "unit", "Levothyroxine 50 mcg every morning.", "Levothyroxine 50 mg every morning.", False
    ),
    Case(
        "unit", "Levothyroxine 50mcg every morning.", "Levothyroxine 50 micrograms mornings.", True
    ),
    Case("unit", "Cough for 3 weeks.", "Cough for 3 days.", False),
    Case("unit", "Weight 80 kg.", "Weight is 80 kilograms.", True),
    Case("unit", "Weight 80 kg.", "Weight is 80 pounds.", False),
    Case("missing", VISIT, "He was referred to physical therapy.", False),
    Case("missing", VISIT, "He has a history of gout.", False),
    Case("missing", VISIT, "The right elbow was operated on in childhood.", False),
    Case("missing", TALK, "An MRI of the shoulder will be ordered.", False),
    Case("paraphrase", VISIT, "The patient is diabetic.", True),
    Case("paraphrase", VISIT, "He is afebrile by history.", True),
    Case("paraphrase", "She is short of breath.", "She has dyspnea.", True),
    Case("paraphrase", "He quit smoking.", "He is a former smoker.", True),
    Case("dose", VISIT, "Metformin 10 mg twice daily.", False),
    Case("inference", "Any chest pain?\nNo.", "The patient has chest pain.", False),
    Case("inference", "Her mother has asthma.", "She has asthma.", False),
    Case("inference", "If pain persists, order a CT scan.", "A CT scan was ordered.", False),
]


def as_shipped() -> Judge:
    """The judge that params.yaml > judges > lexical makes."""
    block = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))["judges"]["lexical"]
    chosen = choose(JUDGES, block, where="params.yaml > judges > lexical")
    judge: Judge = make_judge(chosen, lambda _: Resources(Path()))
    return judge


def test_accuracy_is_as_stated() -> None:
    """What it can do: restatements, flipped negations, sides, numbers and units, missing content.

    What it cannot: a paraphrase, a value that is there but belongs to something else, an answer in
    another turn, somebody else's disease, an order that was only thought of, and "is reported" for
    "reports".
    """
    judge = as_shipped()
    judgments = judge.judge([Pair("", "entailment", c.premise, c.hypothesis) for c in CASES])
    right: dict[str, list[bool]] = {}
    for case, judgment in zip(CASES, judgments, strict=True):
        correct = (judgment.label == "entailed") == case.entailed
        right.setdefault(case.group, []).append(correct)
    assert {group: (sum(found), len(found)) for group, found in right.items()} == {
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

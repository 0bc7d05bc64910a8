"""The accuracy of the lexical baseline on invented pairs, labelled by hand.

Does the premise entail the hypothesis? Each group changes one thing at a time. `paraphrase` and
`inference` hold what word counting cannot do, so that the accuracy is that of a baseline and not of
examples picked for it.
"""

from pathlib import Path

import yaml

from metassay.core.kinds import choose
from metassay.judges import JUDGES
from metassay.judges.make import make_judge
from metassay.judges.protocol import Pair
from metassay.llm.needs import Resources

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

    What it cannot: a paraphrase, a value that is there but belongs to something else, an answer in
    another turn, somebody else's disease, an order that was only thought of, and "is reported" for
    "reports".
    """
    block = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))["judges"]["lexical"]
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
        **{"restated": (8, 8), "negation": (10, 11), "side": (7, 7), "dose": (7, 9)},
        **{"number": (7, 7), "unit": (5, 5), "missing": (4, 4), "paraphrase": (0, 4)},
        "inference": (0, 3),
    }

"""Rules of the minimal pairs on invented sentences: what they make, and what they leave."""

import pytest

from metassay.text.edits.exchange import find
from metassay.text.edits.make import FLIPS, KEEPS, KINDS, Edit, edits, states
from metassay.text.vocabulary import groups
from metassay.text.vocabulary.group import Half, half

HALVES: tuple[Half, Half] = ("train", "test")

# kind | sentence | everything that the rule may make of it
EDITED = """
# negation, taken away
negation | He denies any chest pain or cough. | He reports some chest pain and cough.
negation | There is no rash. | There is a rash.
negation | No murmurs or rubs. | Murmurs and rubs.
negation | Skin: No bruising. | Skin: Bruising.
negation | She walks without difficulty. | She walks with difficulty.
negation | The wound did not heal. | The wound did heal.
negation | He can't lift the arm. | He can lift the arm.
negation | He has never smoked. | He has smoked.
negation | He was unable to walk. | He was able to walk.
negation | Strep test: Negative. | Strep test: Positive.
negation | The film is unremarkable. | The film is abnormal.
# ... and added
negation | The swelling is mild. | The swelling is not mild.
negation | She can bend it. | She cannot bend it.
negation | Patient reports some nausea.
  | Patient denies any nausea. / Patient does not report some nausea.
negation | He has a cough. | He has no cough.
negation | Tenderness and warmth. | No tenderness or warmth.
negation | Continue the splint. | Do not continue the splint.
negation | She takes vitamins. | She does not take vitamins.
negation | Uses a cane: Yes. | Uses a cane: No.
# laterality
laterality | Pain in the left knee. | Pain in the right knee.
laterality | It hurts on the right. | It hurts on the left.
laterality | Left arm: the left arm is weak. | Right arm: the right arm is weak.
laterality | Lower back pain. | Upper back pain.
laterality | Bilateral hearing loss. | Unilateral hearing loss.
laterality | Clear bilaterally. | Clear on the left only. / Clear on the right only.
# number, dose, unit
number | Pulse 72. | Pulse 101.
number | A 30-year-old woman. | A 40-year-old woman.
number | Strength is 5/5. | Strength is 3/5.
number | Pressure 120/70 today. | Pressure 150/70 today.
number | Two views were taken. | Five views were taken.
number | Saturation 98% now. | Saturation 59% now.
number | A glucose of 100 to 120. | A glucose of 220 to 240.
number | He has type 2 diabetes. | He has type 1 diabetes.
dose | Take 20 mg of it. | Take 10 mg of it. / Take 40 mg of it.
dose | Inhale 1 to 2 puffs. | Inhale 3 to 4 puffs.
unit | Take 20 mg of it. | Take 20 mcg of it.
unit | A 2 cm nodule. | A 2 mm nodule.
# drug, time, person, course
time | It began 2 weeks ago. | It began 2 months ago.
time | Take it once daily. | Take it twice daily.
time | It is worse in the morning. | It is worse in the evening.
time | It began after the fall. | It began before the fall.
time | Seen on Monday. | Seen on Thursday.
time | It began in May. | It began in July.
time | Surgery in 2019 went well. | Surgery in 2016 went well.
person | His mother has gout. | He has gout.
person | She has gout. | Her mother has gout. / Her sister has gout.
person | Family history of gout. | Personal medical history of gout.
person | The patient denies fever.
  | The patient's mother denies fever. / The patient's father denies fever.
course | The cough has resolved. | The cough has persisted.
course | He is no longer dizzy. | He is still dizzy.
course | She continues to take it. | She stopped taking it.
course | Continue taking the drops. | Discontinue taking the drops.
course | Her weight increased. | Her weight decreased.
course | The dose has been increased. | The dose has been decreased.
course | The ulcer is worsening. | The ulcer is improving.
# opposites, in the form of the word
opposite | The fraction rose to 40. | The fraction fell to 40.
opposite | The fraction had risen to 40. | The fraction had fallen to 40.
opposite | The pupils are dilated. | The pupils are constricted.
opposite | The fragment is non-displaced. | The fragment is displaced.
opposite | They accepted the offer. | They rejected the offer.
course | His gout is well controlled. | His gout is poorly controlled.
# what keeps the truth
identity | No fever. | No fever.
abbreviation | He has hypertension. | He has HTN.
abbreviation | Seen by the PCP. | Seen by the primary care physician.
abbreviation | An EKG was done. | An electrocardiogram was done.
abbreviation | Two UTIs this year. | Two urinary tract infections this year.
list_order | He denies fever, cough, or rash. | He denies cough, fever, or rash.
clause_order | On exam, the knee is warm. | The knee is warm on exam.
clause_order | The knee is warm and the hip is cold. | The hip is cold and the knee is warm.
clause_order | When he walks, his foot hurts. | His foot hurts when he walks.
clause_order | His foot hurts because he fell. | Because he fell, his foot hurts.
list_part | He has nausea and fatigue. | He has nausea. / He has fatigue.
list_part | He denies nausea or fatigue. | He denies nausea. / He denies fatigue.
list_part | He takes metoprolol 50 mg twice daily and amlodipine 2.5 mg daily.
  | He takes metoprolol 50 mg twice daily. / He takes amlodipine 2.5 mg daily.
list_part | No rash, warmth, or pus. | No rash. / No warmth.
list_part | The knee is swollen and the hip is not. | The knee is swollen.
list_part | Blood pressure was 146/82 mmHg and the pulse was 104.
  | Blood pressure was 146/82 mmHg. / The pulse was 104.
list_part | He has neck and back pain. | He has back pain.
numeral | It began 2 weeks ago. | It began two weeks ago.
numeral | Three views were taken. | 3 views were taken.
unit_spelling | Take 20 mg. | Take 20 milligrams. / Take 20mg.
unit_spelling | It is 90% healed. | It is 90 percent healed.
subject | He denies fever. | Denies fever.
subject | Reports fatigue. | The patient reports fatigue.
subject | Skin: The patient has a rash. | Skin: Patient has a rash.
voice | We will order an MRI today. | An MRI will be ordered today.
voice | I recommended a splint. | A splint was recommended.
synonym | Use it prior to meals. | Use it before meals.
synonym | She utilizes a cane. | She uses a cane.
synonym | She took Lasix. | She took furosemide.
dropped_detail | He fell down, but he got up. | He fell down.
dropped_detail | No rash, warmth, or pus. | No rash or pus.
dropped_detail | She was seen today. | She was seen.
dropped_detail | She takes aspirin 81 mg daily. | She takes aspirin.
dropped_detail | There is a small effusion. | There is an effusion.
dropped_detail | The node (2 cm) is firm. | The node is firm.
dropped_detail | On exam, the knee is warm. | The knee is warm.
dropped_detail | He has had a cough for 3 days. | He has had a cough.
form | No Fever. | No Fever / no fever. / NO FEVER.
"""

# kind | sentence, of which nothing may be made | why
LEFT = """
negation | He denies not taking it. | two negations
negation | If it is swollen, use ice. | a condition
negation | He does not take anything. | a word that lives under a negation
negation | Normal saline was clear, without clots or pus, and not warm.
negation | All tests were repeated. | "all were not" says two things
negation | It is only a bruise. | "not only"
negation | Rested after he was hurt. | "after he was not hurt" makes no sense
negation | Significant for gout.
laterality | She left the clinic.
laterality | Right now he is well.
laterality | Pain in the left knee and the right hip. | both sides
laterality | We will lower the dose.
laterality | AP, lateral, and oblique views.
laterality | No edema bilaterally. | "no edema on the left only" says two things
number | Less than 3 seconds passed, and he is 2nd in line at L4 with COVID-19.
number | Call 911.
number | He stopped in May 2019 after it. | a year
number | Grade 2 sprain.
number | Take 20 mg every 6 hours for 3 days. | doses and times have kinds of their own
number | Up to 4 naps.
dose | Take up to 20 mg.
unit | Pressure 120/80 mm Hg.
unit | Take 20 of it.
time | It took less than 3 minutes.
time | He goes 4 to 5 times per visit.
time | As before, he is well.
time | He is 3 years old.
time | It may improve, and they march on.
drug | She takes vitamins.
anatomy | His heart rate is up, and he will come back to see us.
anatomy | Ears, nose, and throat: Clear. | a heading
anatomy | On the other hand, it may wait.
anatomy | He has a bone marrow biopsy. | a bone is no bone marrow
diagnosis | She has arthritis. | too wide a word: many diagnoses are arthritis
opposite | She has low back pain after a hot flash.
opposite | It is warm or cool. | both sides
opposite | A 60 year old man.
abbreviation | He had to pad the wall. | no PAD
synonym | His faint pulse was felt. | no verb
clause_order | The knee is warm and it is red. | "it" would be nothing
clause_order | On exam, there is no rash.
list_part | He has pain with flexion and swelling of it. | whose "with" is unclear
list_part | He is between jobs and homes.
list_part | He does not have pus and fever. | perhaps one of them
list_part | No acute fracture or effusion. | "acute" may belong to both
dropped_detail | Mild to moderate stenosis.
dropped_detail | He had it 4 to 5 weeks ago.
list_part | No axillary, cervical, or supraclavicular nodes. | "no axillary" is nothing
list_part | He reports the knee is warm and the hip is cold.
dropped_detail | No mild swelling (2 cm).
person | His mother has driven him here. | the patient is spoken of as well
person | The patient is a 30-year-old man.
course | She is in no acute distress.
course | He started to cough.
course | Come back if it continues to hurt.
list_order | He denies fever and cough. | of two, what stands before may belong to both
list_order | No acute fracture, cyst, or mass.
numeral | It takes 2 to 3 weeks.
subject | He reports that he is well.
voice | We will continue to wait.
voice | We ordered labs.
synonym | He wrote reports.
synonym | Reports from work were late.
dropped_detail | If it hurts, stop, but rest.
dropped_detail | She was not seen today. | perhaps yesterday
"""


def rows_of(table: str) -> list[list[str]]:
    lines = table.replace("\n  |", " |").strip().split("\n")
    return [line.split(" | ") for line in lines if not line.startswith("#")]


@pytest.mark.parametrize("row", [*rows_of(EDITED), *rows_of(LEFT)])
def test_a_rule_makes_these_edits_alone(row: list[str]) -> None:
    """With words of either half."""
    kind, sentence, *texts = row
    rule = (FLIPS | KEEPS)[kind]
    expected = texts[0].split(" / ") if row in rows_of(EDITED) else []
    assert (
        list(dict.fromkeys(text for of in HALVES for text in rule(sentence, of)))
        == expected
    )


EXCHANGED = ("drug", "anatomy", "diagnosis")  # each for any of many


def test_every_kind_is_tried_above() -> None:
    assert {kind for kind, *_ in rows_of(EDITED)} | {*EXCHANGED} == set(KINDS)
    assert set(FLIPS).isdisjoint(KEEPS)


def test_a_drug_is_swapped_for_another_class_of_its_form() -> None:
    tablets = set(FLIPS["drug"]("She takes metformin.", "train"))
    assert {"She takes warfarin.", "She takes lovastatin."} <= tablets
    # itself, its class
    assert not {"She takes metformin.", "She takes glipizide."} & tablets
    # the other half
    assert not {"She takes lisinopril.", "She takes albuterol."} & tablets
    assert list(FLIPS["drug"]("She takes metformin.", "test")) == []
    brands = set(FLIPS["drug"]("He asked for an Advil.", "train"))
    assert "He asked for a Coumadin." in brands
    assert not {"He asked for a Motrin.", "He asked for an ibuprofen."} & brands
    both = FLIPS["drug"]("She takes metformin and warfarin.", "train")
    assert "She takes warfarin and warfarin." not in both


def test_a_site_is_swapped_in_its_form() -> None:
    assert "Both feet hurt." not in FLIPS["anatomy"]("Both knees hurt.", "train")
    assert "Both elbows hurt." in FLIPS["anatomy"]("Both knees hurt.", "test")
    assert "An elbow hurts." in FLIPS["anatomy"]("A knee hurts.", "test")
    assert "Hepatic failure." in FLIPS["anatomy"]("Splenic failure.", half("spleen"))


def test_a_diagnosis_is_swapped_whole() -> None:
    for of in HALVES:
        texts = list(FLIPS["diagnosis"]("She has rheumatoid arthritis.", of))
        assert bool(texts) == (of == half("rheumatoid arthritis"))
        assert not [
            text for text in texts if "rheumatoid" in text or "has arthritis" in text
        ]


def test_only_words_of_the_half_are_put() -> None:
    for kind in ("drug", "anatomy", "diagnosis"):
        for of in HALVES:
            known = {group for group in groups(kind, of)}
            for group in list(known)[:20]:
                sentence = f"There is {group.sides[0][0]} today."
                for text in FLIPS[kind](sentence, of):
                    assert {word.group for word in find(kind, text)} <= known, text


def test_at_most_one_edit_of_each_kind_in_their_order() -> None:
    sentence = "The patient takes 20 mg of lisinopril daily for 2 weeks, but her left arm hurts."
    every = edits(sentence, KINDS, seed=1)
    kinds = [edit.kind for edit in every]
    assert kinds == [kind for kind in KINDS if kind in kinds]
    assert len(kinds) == len(set(kinds)) >= 9
    assert all(edit.entailed == (edit.kind in KEEPS) for edit in every)
    assert edits(sentence, ["dose"], seed=1) == [
        edit for edit in every if edit.kind == "dose"
    ]


def test_the_seed_alone_chooses() -> None:
    sentence = "She takes lisinopril."
    once = [edits(sentence, ["drug"], seed) for seed in range(8)]
    every = [edits(sentence, KINDS[::-1], seed) for seed in range(8)]
    assert once == [[edit for edit in some if edit.kind == "drug"] for some in every]
    assert len({edit.text for (edit,) in once}) > 1
    # Words of the other half have none, nor has a question.
    sentence = "She takes metformin."
    assert [edit.kind for edit in edits(sentence, ["drug"], 1, half="train")] == [
        "drug"
    ]
    assert edits(sentence, ["drug"], 1) == []
    assert edits("Does the left knee hurt?", KINDS, seed=0) == []


SENTENCE = "Pain in the left knee."
OTHERS = [
    ("The right knee has pain as well.", True),
    ("The right knee looks well.", True),  # half of the words: rather too often
    ("The right ear looks well.", False),
    ("There is no effusion.", False),
]


@pytest.mark.parametrize(("other", "stated"), OTHERS)
def test_an_edit_that_the_text_states_elsewhere_is_none(
    other: str, stated: bool
) -> None:
    assert states(other, "Pain in the right knee.", SENTENCE) == stated
    edit = Edit("laterality", "Pain in the right knee.", entailed=False)
    assert edits(SENTENCE, ["laterality"], 0, others=[other]) == (
        [] if stated else [edit]
    )


def test_a_negation_that_goes_is_a_new_word() -> None:
    assert states("He reports fever at night.", "He reports fever.", "He denies fever.")
    assert not states("No fever was seen.", "He reports fever.", "He denies fever.")
    assert states("No fever was seen.", "He denies fever.", "He reports fever.")


def test_a_diagnosis_that_the_text_has_by_another_name_is_not_put() -> None:
    sentence = "He has hypertension."
    free = {edits(sentence, ["diagnosis"], seed)[0].text for seed in range(40)}
    assert "He has diabetes." in free
    other = ["Diabetes mellitus was found."]
    texts = {edits(sentence, ["diagnosis"], seed, other)[0].text for seed in range(40)}
    assert "He has diabetes." not in texts

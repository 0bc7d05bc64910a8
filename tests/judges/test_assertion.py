"""What a text asserts, on wordings that no attack of the suite has."""

import pytest

from metassay.judges.assertion import (
    Manner,
    claims_of,
    is_disordered,
    is_running_text,
    questions,
    says_nothing_specific,
    sentences_of_premise,
)
from metassay.judges.lexical import LexicalJudge, LexicalOptions
from metassay.judges.protocol import Pair
from metassay.judges.reading import read
from metassay.text.edits.attacks import ATTACKS, Material, attacks

CLAIM = "The left ankle is broken."
FRAMES = {
    "hedge": (
        "It has not been established that {}",
        "Still to be confirmed: {}",
        "There is doubt as to whether {}",
        "Nobody has shown that {}",
        "Unverified:\n- {}",
        "{} This has not been confirmed so far.",
        "The next sentence is speculation. {}",
        "Presumably: {}",
    ),
    "denial": (
        "It is wrong that {}",
        "It is a mistake to think that {}",
        "Incorrect: {}",
        "{} That report was later retracted.",
        "The following statement is untrue. {}",
        "There is no evidence that {}",
        "Excluded: {}",
    ),
    "attribution": (
        "From a different patient's chart: {}",
        "In the roommate: {}",
        "Sentence about a stranger: {}",
        "Seen in the neighbouring bed: {}",
    ),
}
FRAMED = [frame for frames in FRAMES.values() for frame in frames]
OTHER_SENTENCES = "She came by bus. No fever was measured. Her sister drove home."


def judge(premise: str, hypothesis: str) -> str | None:
    options = LexicalOptions(threshold=0.6, window=60)
    pair = Pair("1", "entailment", premise, hypothesis)
    (judgment,) = LexicalJudge(options).judge([pair])
    assert judgment is not None
    return judgment.label


@pytest.mark.parametrize("frame", FRAMED)
def test_what_stands_in_a_frame_is_not_asserted(frame: str) -> None:
    framed = frame.format(CLAIM)
    # As the premise, and as the hypothesis.
    assert judge(f"{OTHER_SENTENCES}\n\n{framed}", CLAIM) == "not_entailed"
    assert judge(f"{OTHER_SENTENCES} {CLAIM}", framed) == "not_entailed"


@pytest.mark.parametrize("frame", FRAMED)
def test_like_is_held_against_like(frame: str) -> None:
    framed = frame.format(CLAIM)
    assert judge(f"{OTHER_SENTENCES}\n\n{framed}", framed) == "entailed"


def test_no_frame_is_a_wording_of_the_suite() -> None:
    material = Material(true="x.", false="y.", others=["z."], source="x. z.", seed=0)
    suite = {
        attack.text.split(":")[0].casefold()
        for seed in range(40)
        for attack in attacks(
            Material(
                true=f"x{seed}.",
                false="y.",
                others=["z."],
                source="x. z.",
                seed=seed,
            )
        )
    }
    assert len(list(attacks(material))) == len(ATTACKS)
    for frame in FRAMED:
        assert frame.split("{}")[0].strip(" :").casefold() not in suite


@pytest.mark.parametrize(
    "sentence",
    [
        "Her roommate says that she fell.",
        "On examination she denies pain and says that her knee hurts less.",
        "Labs in May: hemoglobin of 12.",
        "Blood pressure: 120/80.",
        "The error that was found is small.",
        "Follow-up after below-knee amputation for possible infection.",
        "This suggests possible pneumonia.",
        "Next week he starts a different medication.",
        "The other knee is stable.",
        "Is there any pain?",
    ],
)
def test_a_sentence_without_a_frame_stays_as_it_is(sentence: str) -> None:
    text = f"Cough for a week. {sentence} Rest."
    (question,) = questions(text, "Cough.")
    assert question.premise == text


def test_a_denial_of_something_positive_is_a_negation() -> None:
    assert (
        judge("There is no fever.", "It is wrong that there is a fever.") == "entailed"
    )
    assert judge("It is wrong that there is a fever.", "No fever.") == "entailed"
    (sentence,) = claims_of("It is untrue that she has no fever.")
    assert sentence.manner is Manner.DENIED


def test_a_main_clause_with_content_is_asserted() -> None:
    sentences = sentences_of_premise(
        "An MRI was done to see whether the meniscus is torn."
    )
    assert [sentence.manner for sentence in sentences] == [Manner.ASSERTED, Manner.OPEN]
    assert "MRI" in sentences[0].text


def test_who_vouches_is_a_claim_by_itself() -> None:
    claims = claims_of("According to three experts: the ankle is broken.")
    assert [claim.text for claim in claims] == [
        "According to three experts",
        "the ankle is broken.",
    ]


def test_each_sentence_is_read_by_itself_and_counts_once() -> None:
    several = questions("Cough. Fever.", "Fever. Cough. Fever.\nExam:\nFever.")
    assert [question.hypothesis for question in several] == ["Fever.", "Cough."]
    source = "Fever of 39. Cough for a week. Left knee swollen."
    assert judge(source, "Cough for a week. " * 9 + "Gout of the right toe.") == (
        "not_entailed"
    )
    assert judge(source, f"{source} The right knee is swollen.") == "not_entailed"
    assert judge(source, f"Fever of 41. {source}") == "not_entailed"
    assert judge(source, "Cough for a week. Left knee swollen.") == "entailed"


@pytest.mark.parametrize(
    "sentence",
    [
        "The patient was seen and evaluated.",
        "Treatment was provided as appropriate.",
        "History and examination were documented.",
        "Various factors must be considered.",
    ],
)
def test_what_fits_every_record_counts_only_if_it_is_stated(sentence: str) -> None:
    source = "Seen for treatment. History, examination, factors, evaluated, documented."
    assert says_nothing_specific(sentence)
    assert judge(source, sentence) == "not_entailed"
    assert judge(f"{source} {sentence}", sentence) == "entailed"
    # It is no burden for what is specific, and no help.
    assert judge("Cough for a week.", f"Cough for a week. {sentence}") == "entailed"
    assert judge("Cough for a week.", f"Gout. {sentence}") == "not_entailed"


@pytest.mark.parametrize(
    "sentence", ["No treatment was needed.", "Seen on 3 May.", "Seen for a cough."]
)
def test_a_negation_number_or_finding_is_specific(sentence: str) -> None:
    assert not says_nothing_specific(sentence)


SOURCE = (
    "The left knee is swollen after a fall on the ice. She takes ibuprofen for the pain"
    " at night. Her father had a stroke at the age of sixty. The skin is warm with a rash"
    " of the right arm."
)


def test_words_in_no_order_assert_nothing() -> None:
    words = SOURCE.replace(".", "").split()
    for text in (" ".join(words[::-1]), " ".join(sorted(words, key=len))):
        assert not is_running_text(text.lower())
        assert judge(text, "The left knee is swollen.") == "not_entailed"
        assert judge(SOURCE, text) == "not_entailed"
    assert is_running_text(SOURCE)


def test_order_is_judged_where_the_words_are_the_same() -> None:
    premise = read(
        "Pain of the left knee after a fall. Rash of the right arm since May."
    )
    assert not is_disordered(read("Left knee pain after a fall."), premise)
    assert is_disordered(read("Arm after knee, since rash."), premise)
    # Most words are others: not sentences in another order, but in other words.
    assert not is_disordered(read("Arm trauma, knee erythema."), premise)


@pytest.mark.parametrize(
    "text",
    [
        "He was brought in by his son. Figure A shows it.",
        "The dose is to be halved, and the leg to be raised as of today.",
        "okay so the the pain is in the back um and it's been going on for a while",
        "Gait normal. Abdomen soft. 120/80.",
        "",
    ],
)
def test_text_of_people_is_running(text: str) -> None:
    assert is_running_text(text)


# What is said of the same matter in other forms, and what has too few words to show an
# order: none of these is a frame or a list of words.
SAME = (
    (
        "Whether the drops shorten an ear infection is disputed.",
        "It is disputed whether the drops shorten an ear infection.",
    ),
    (
        "Walking was compared with cycling in adults with claudication.",
        "We tested whether walking compared with cycling helps adults with claudication.",
    ),
    (
        "A score of at least 12 points was reached by 40 of the women.",
        "A score of at least 12 points was reached by 40.",
    ),
    (
        "Ringworm is seen on the scalp, and the dog at home has lost its hair. Ask the vet.",
        "The dog has ringworm on its scalp.",
    ),
)


@pytest.mark.parametrize(("premise", "hypothesis"), SAME)
def test_another_form_of_the_same_is_found(premise: str, hypothesis: str) -> None:
    assert judge(premise, hypothesis) == "entailed"


@pytest.mark.parametrize(
    "frame",
    [
        "Tests are needed to determine whether {}",
        "It should be examined whether {}",
        "It remains to be assessed whether {}",
        "The surgeons wonder whether {}",
    ],
)
def test_what_is_still_to_be_examined_is_left_open(frame: str) -> None:
    assert judge(CLAIM, frame.format("the left ankle is broken.")) == "not_entailed"


def test_what_was_examined_is_not_asserted_by_a_premise() -> None:
    premise = "An X-ray was taken to determine whether the left ankle is broken."
    assert judge(premise, CLAIM) == "not_entailed"

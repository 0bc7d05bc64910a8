"""What the semantic judge's rules find: known words, negated words, clashes, by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metassay.judges.semantic import clashes
from metassay.judges.semantic import clashes as known
from metassay.judges.semantic.features import negated
from metassay.models import words as cut
from metassay.text.vocabulary import SPLIT, words

SWAPPED = {"exchanged"}


def found(said: str, there: str) -> set[str]:
    """The kinds of clash, but for `alike`."""
    held = dict(zip(clashes.KINDS, clashes.clashes(said, there), strict=True))
    kinds = {kind for kind, clash in held.items() if clash}
    assert kinds or not held["alike"]
    return kinds - {"alike"}


@pytest.mark.parametrize(
    "alike",
    [
        *(("ibuprofen", "Motrin", "Advil", "advil"), ("levothyroxine", "Synthroid", "Unithroid")),
        *(("blood pressure", "Blood Pressure", "BP"), ("heart rate", "HR")),
        *(("kidney", "kidneys", "renal"), ("gout", "Gout")),
        ("shortness of breath", "SOB", "dyspnea"),
    ],
)
def test_names_of_one_thing_are_one_word(alike: tuple[str, ...]) -> None:
    forms = {known.replace_names(f"Has {name}, since 2020.") for name in alike}
    assert len(forms) == 1
    (form,) = forms
    assert len(cut.words(form)) == 4
    alone = {known.name(name) for name in alike if " " not in name}
    assert alone == {form.removeprefix("Has ").removesuffix(", since 2020.")}


def test_different_things_are_different_words() -> None:
    text = "increased decreased ibuprofen metformin hip ankle blood pressure"
    read = known.replace_names(text).split()
    assert len(set(read)) == 7
    assert known.replace_names("the hr and the bp") == "the hr and the bp"


def test_words_of_the_test_half_are_not_known() -> None:
    for kind in SPLIT:
        for word in words(kind, "test"):
            if word.isalpha():
                assert known.replace_names(word) == word
                assert known.name(word) is None
    tokens = known.DRUGS.union(known.DIAGNOSES, *known.SITES, *known.OPPOSITES)
    for kind in SPLIT:
        assert not {f"{word}x" for word in words(kind, "test")} & tokens
    assert known.is_drug(known.replace_names("Prozac"))
    assert not known.is_drug(known.replace_names("Tylenol").lower())


@pytest.mark.parametrize(
    ("name", "drug"),
    [
        *(("ramipril", True), ("nadolol", True), ("cefdinir", True), ("zanubrutinib", True)),
        *((word, False) for word in ("april", "cholesterol", "protocol", "magazine", "jason")),
    ],
)
def test_drugs_are_known_by_their_stems(name: str, drug: bool) -> None:
    assert known.is_drug(name) is drug


@pytest.mark.parametrize(
    ("text", "month"),
    [
        *(("He was seen in May 2020.", True), ("She fell on 3 May.", True), ("May 2020", True)),
        *(("May 3, 2020: seen.", True), ("Since May he is well.", True)),
        *(("He may return.", False), ("May I sit?", False), ("in MAY", False)),
    ],
)
def test_the_month_may(text: str, month: bool) -> None:
    assert (known.MONTH in known.replace_names(text)) is month
    assert known.months(text) == ({text.index("May")} if month else set())


def test_the_month_may_excludes_others_and_the_verb_does_not() -> None:
    assert found("He was seen in March.", "He was seen in May.") == {"time"}
    assert found("He was seen in May.", "He was seen in March.") == {"time"}
    assert found("He was seen in May.", "He was seen in May.") == set()
    assert found("He may walk in March.", "He walked in March.") == set()
    assert found("May I sit in March?", "I sit in March.") == set()


@pytest.mark.parametrize(
    ("text", "reached"),
    [
        *(("No fever or cough today.", "fever cough today"), ("Fever, no cough.", "cough")),
        *(("She denies pain; fever since Monday.", "pain"), ("No fever but cough.", "fever")),
        *(("Murphy sign is negative.", "Murphy sign"), ("She isn't tired.", "tired")),
        *(("She isn\u2019t tired.", "tired"), ("No fever, reports cough.", "fever")),
        *(("He is well.", ""), ("No.", ""), ("", "")),
        ("No a1 b1 c1 d1 e1 f1 g1 h1 i1.", "a1 b1 c1 d1 e1 f1 g1 h1"),
        ("a1 b1 c1 d1 e1 absent.", "b1 c1 d1 e1"),
    ],
)
def test_negated_words(text: str, reached: str) -> None:
    spans = cut.words(text)
    its = negated(text)
    assert len(its) == len(spans)
    said = [text[span.start : span.end] for span, held in zip(spans, its, strict=True) if held]
    assert said == reached.split()


@pytest.mark.parametrize(
    ("said", "there", "kinds"),
    [
        *(
            ("She takes aspirin 20 mg.", "She takes aspirin 40 mg daily.", {"number"}),
            ("She takes aspirin 20 mg.", "She takes aspirin 20 mg daily.", set()),
            ("She takes two tablets.", "She takes 2 tablets.", set()),
            ("BP 120/80, pulse 72.", "BP 120/80, pulse 80.", {"number"}),
            ("Take ibuprofen twice a day.", "Take ibuprofen two times per day.", set()),
            ("Take ibuprofen twice a day.", "Take ibuprofen once a day.", {"number"}),
            ("Aspirin 20 tablets on Monday.", "He was born 30 years ago.", set()),
        ),
        *(  # units
            ("He takes 500 mg of aspirin.", "He takes 0.5 g of aspirin.", set()),
            ("He takes 0.5 g of aspirin.", "He takes 500 mg of aspirin.", set()),
            ("He takes 50 mg of aspirin.", "He takes 0.5 g of aspirin.", {"number"}),
            ("Pain for 48 hours.", "Pain for two days.", set()),
            ("Pain for 48 hours.", "Pain for three days.", {"number"}),
            ("Pain for two weeks.", "Pain for 14 days.", set()),
            ("A lump of 1.5 cm.", "A lump of 15 mm.", set()),
            ("A lump of 15 cm.", "A lump of 15 mm.", {"number"}),
            ("Take 20 mg of aspirin.", "Take 20 mcg of aspirin.", {"time"}),
            ("HR: 70 beats per minute.", "Heart Rate: 70 beats per minute.", set()),
        ),
        *(
            ("Take metformin daily.", "Take warfarin daily.", {"drug"}),
            ("Take Motrin daily.", "Take Plavix daily.", {"drug"}),
            ("Take Motrin for pain.", "Take ibuprofen for pain.", set()),
            ("Take Motrin for pain.", "Take the cholesterol protocol for pain.", set()),
            ("CT showed pneumonia today.", "CT showed bronchitis today.", {"diagnosis"}),
            ("Pain in the hip since June.", "Pain in the ankle since June.", {"site"}),
            ("Pain in the hip since June.", "Pain in the kidney since June.", set()),
        ),
        *(
            ("Pain in the left elbow.", "Pain in the right elbow.", {"side"}),
            ("Right hand pain, left toe pain.", "Left hand pain, left toe pain.", {"side"}),
            ("Her mother has gout.", "Her sister has gout.", {"person"}),
            ("The patient's mother has gout.", "The patient has gout.", {"person"}),
            ("He has gout.", "She has gout.", {"person"}),
            ("Seen in March for rash.", "Seen in April for rash.", {"time"}),
            ("Seen yesterday for rash.", "Seen today for rash.", {"time"}),
            ("The rash has improved.", "The rash has worsened.", {"opposite"}),
            ("Start the brace today.", "Stop the brace today.", {"opposite"}),
        ),
        *(
            ("No rash today.", "Rash today.", {"negation"}),
            ("Rash.", "No rash.", {"negation"}),
            ("She denies rash.", "She has no rash.", set()),
            ("He endorses elbow pain.", "He reports elbow pain.", set()),
            ("She denies elbow pain.", "She reports no elbow pain.", set()),
            ("She does not report elbow pain.", "She reports elbow pain.", {"negation"}),
            ("She doesn't report elbow pain.", "She reports elbow pain.", {"negation"}),
            ("He does not take aspirin.", "He takes aspirin.", {"negation"}),
            ("He never takes aspirin.", "He does not take aspirin.", set()),
            ("Denies calf pain, or toe pain.", "Denies toe pain, or calf pain.", set()),
        ),
        *(
            ("Aspirin at noon, Motrin at night.", "Motrin at noon, aspirin at night.", SWAPPED),
            ("Pulse was 98 and weight was 60.", "Pulse was 60 and weight was 98.", SWAPPED),
            ("Right hand pain, right toe pain.", "Left hand pain, right toe pain.", SWAPPED),
        ),
    ],
)
def test_clashes(said: str, there: str, kinds: set[str]) -> None:
    assert found(said, there) == kinds


DOSES = "He takes metoprolol 50 mg twice daily and amlodipine 5 mg daily."
PULSE = "Blood pressure was 146/82 mmHg and the pulse was 104."
SWOLLEN = "The knee is swollen and the hip is not."


@pytest.mark.parametrize(
    ("said", "there", "kinds"),
    [
        *(("He takes amlodipine", DOSES.removeprefix("He takes "), set()),),
        *((f"He takes {drug}.", DOSES, set()) for drug in ("amlodipine", "metoprolol")),
        *(("He takes amlodipine 5 mg daily.", DOSES, set()),),
        *(("He takes amlodipine 50 mg twice daily.", DOSES, SWAPPED),),
        *(("He takes aspirin.", "He takes 5 mg of warfarin, Motrin and aspirin.", set()),),
        *(("Stop warfarin.", "Stop metformin and start warfarin.", SWAPPED),),
        *(("BP was 146/82 mmHg.", PULSE, set()), ("The pulse was 104.", PULSE, set())),
        *(("The pulse was 146/82.", PULSE, SWAPPED), ("BP was 104.", PULSE, SWAPPED)),
        *(("The knee is swollen.", SWOLLEN, set()), ("The hip is not swollen.", SWOLLEN, set())),
        *(
            ("The hip isn't swollen.", SWOLLEN, set()),
            ("The hip is swollen.", SWOLLEN, {"negation"}),
        ),
        ("The hip is swollen.", "The knee isn't swollen, but the hip is.", set()),
        ("The knee is swollen.", "The knee isn't swollen, but the hip is.", {"negation"}),
    ],
)
def test_coordinated_facts(said: str, there: str, kinds: set[str]) -> None:
    assert found(said, there) == kinds


def test_a_clash_is_alike_where_nearly_all_else_is_shared() -> None:
    alike = clashes.KINDS.index("alike")
    assert clashes.clashes("Pain in the left elbow.", "Pain in the right elbow.")[alike]
    near = "Dull pain in the left elbow since the fall from a horse."
    far = "Pain in the right elbow since the fall."
    assert found(near, far) == {"side"}
    assert not clashes.clashes(near, far)[alike]


def test_a_number_that_stands_where_it_stood_clashes_with_no_other_one() -> None:
    # The premise goes on before, the claim begins anew there; only the third swaps the numbers.
    told = "The share of days was 81 percent with the box and 69 percent with calls."
    assert found(told, told) == set()
    assert found("It was 81 percent with the box and 69 percent with calls.", told) == set()
    swapped = "It was 69 percent with the box and 81 percent with calls."
    assert found(swapped, told) == SWAPPED


SENTENCES = (
    "Denies left calf pain, lower left leg pain, or left knee pain.",
    "She may not lift with her left arm, and rests her left arm.",
    "He has no fever.",
    "He had a fever of 39.5 in May, and no fever in June.",
    "She takes aspirin 20 mg, not 40 mg; her mother takes metformin.",
    "The rash on his right hand has improved; that on his left hand has worsened.",
    DOSES,
    PULSE,
    SWOLLEN,
)
WRITTEN = (str.upper, str.lower, lambda text: text.replace(",", " ").rstrip(" .") + " ;")


@given(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=5), st.data())
def test_a_text_states_and_never_contradicts_its_own_sentences(
    parts: list[str], data: st.DataObject
) -> None:
    first = data.draw(st.integers(0, len(parts) - 1))
    last = data.draw(st.integers(first + 1, len(parts)))
    assert not any(clashes.clashes(parts[first], parts[first]))
    run = data.draw(st.sampled_from(WRITTEN))(" ".join(parts[first:last]))
    assert clashes.is_stated(run, parts)
    assert not clashes.is_stated(f"{run} Not so.", parts)


@pytest.mark.parametrize(
    ("said", "there"),
    [
        *(("Knee pain.", "Mild knee pain."), ("Fever.", "Fever?"), ("GFR > 60.", "GFR < 60.")),
        *(("At -5 degrees.", "At 5 degrees."), ("A1c is 7.2.", "A1c is 72.")),
    ],
)
def test_what_is_not_said_word_for_word_is_not_stated(said: str, there: str) -> None:
    assert not clashes.is_stated(said, [there])


def test_numbers_are_read_in_digits() -> None:
    assert clashes.numbers("Two tablets of 7.50 mg, 120/80") == {"2", "7.5", "120/80"}

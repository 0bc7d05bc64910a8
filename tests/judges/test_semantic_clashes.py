"""What the semantic judge's rules find: known words, negated words, clashes, by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metassay.judges.semantic import clashes
from metassay.judges.semantic.features import negated
from metassay.models import words as cut
from metassay.text.vocabulary import SPLIT, words


def kinds_of(hypothesis: str, sentence: str) -> set[str]:
    """The kinds of clash, but for `alike`."""
    flags = dict(zip(clashes.KINDS, clashes.clashes(hypothesis, sentence), strict=True))
    kinds = {kind for kind, clash in flags.items() if clash}
    assert kinds or not flags["alike"]
    return kinds - {"alike"}


@pytest.mark.parametrize(
    "alike",
    [
        ("ibuprofen", "Motrin", "Advil", "advil"),
        ("levothyroxine", "Synthroid", "Unithroid"),
        ("blood pressure", "Blood Pressure", "BP"),
        ("heart rate", "HR"),
        ("kidney", "kidneys", "renal"),
        ("gout", "Gout"),
        ("shortness of breath", "SOB", "dyspnea"),
    ],
)
def test_names_of_one_thing_are_one_word(alike: tuple[str, ...]) -> None:
    (form,) = {clashes.replace_names(f"Has {name}, since 2020.") for name in alike}
    assert len(cut.words(form)) == 4
    alone = {clashes.name(name) for name in alike if " " not in name}
    assert alone == {form.removeprefix("Has ").removesuffix(", since 2020.")}


def test_different_things_are_different_words() -> None:
    text = "increased decreased ibuprofen metformin hip ankle blood pressure"
    assert len(set(clashes.replace_names(text).split())) == 7
    assert clashes.replace_names("the hr and the bp") == "the hr and the bp"


def test_words_of_the_test_half_are_not_known() -> None:
    tokens = clashes.DRUGS.union(clashes.DIAGNOSES, *clashes.SITES, *clashes.OPPOSITES)
    unseen = {word for kind in SPLIT for word in words(kind, "test")}
    assert not {f"{word}x" for word in unseen} & tokens
    for word in filter(str.isalpha, unseen):
        assert (clashes.replace_names(word), clashes.name(word)) == (word, None)
    assert clashes.is_drug(clashes.replace_names("Prozac"))
    assert not clashes.is_drug(clashes.replace_names("Tylenol").lower())


@pytest.mark.parametrize(
    ("name", "drug"),
    [
        *((name, True) for name in ("ramipril", "nadolol", "cefdinir", "zanubrutinib")),
        *(
            (name, False)
            for name in ("april", "cholesterol", "protocol", "magazine", "jason")
        ),
    ],
)
def test_drugs_are_known_by_their_stems(name: str, drug: bool) -> None:
    assert clashes.is_drug(name) is drug


@pytest.mark.parametrize(
    ("text", "month"),
    [
        ("He was seen in May 2020.", True),
        ("She fell on 3 May.", True),
        ("May 2020", True),
        ("May 3, 2020: seen.", True),
        ("Since May he is well.", True),
        ("He may return.", False),
        ("May I sit?", False),
        ("in MAY", False),
    ],
)
def test_the_month_may(text: str, month: bool) -> None:
    assert (clashes.MONTH in clashes.replace_names(text)) is month
    assert clashes.months(text) == ({text.index("May")} if month else set())


@pytest.mark.parametrize(
    ("text", "reached"),
    [
        ("No fever or cough today.", "fever cough today"),
        ("Fever, no cough.", "cough"),
        ("She denies pain; fever since Monday.", "pain"),
        ("No fever but cough.", "fever"),
        ("Murphy sign is negative.", "Murphy sign"),
        ("She isn't tired.", "tired"),
        ("She isn\u2019t tired.", "tired"),
        ("No fever, reports cough.", "fever"),
        ("He is well.", ""),
        ("No.", ""),
        ("", ""),
        ("a1 b1 c1 d1 e1 absent.", "b1 c1 d1 e1"),
        ("No a1 b1 c1 d1 e1 f1 g1 h1 i1.", "a1 b1 c1 d1 e1 f1 g1 h1"),
    ],
)
def test_negated_words(text: str, reached: str) -> None:
    flags = zip(cut.words(text), negated(text), strict=True)
    assert [
        text[span.start : span.end] for span, flag in flags if flag
    ] == reached.split()


DOSES = "He takes metoprolol 50 mg twice daily and amlodipine 5 mg daily."
PULSE = "Blood pressure was 146/82 mmHg and the pulse was 104."
SWOLLEN = "The knee is swollen and the hip is not."
SHARES = "The share of days was 81 percent with the box and 69 percent with calls."


@pytest.mark.parametrize(
    ("hypothesis", "sentence", "kind"),
    [
        ("She takes aspirin 20 mg.", "She takes aspirin 40 mg daily.", "number"),
        ("She takes aspirin 20 mg.", "She takes aspirin 20 mg daily.", ""),
        ("She takes two tablets.", "She takes 2 tablets.", ""),
        ("BP 120/80, pulse 72.", "BP 120/80, pulse 80.", "number"),
        ("Take ibuprofen twice a day.", "Take ibuprofen two times per day.", ""),
        ("Take ibuprofen twice a day.", "Take ibuprofen once a day.", "number"),
        ("Aspirin 20 tablets on Monday.", "He was born 30 years ago.", ""),
        # Units.
        ("He takes 500 mg of aspirin.", "He takes 0.5 g of aspirin.", ""),
        ("He takes 0.5 g of aspirin.", "He takes 500 mg of aspirin.", ""),
        ("He takes 50 mg of aspirin.", "He takes 0.5 g of aspirin.", "number"),
        ("Pain for 48 hours.", "Pain for two days.", ""),
        ("Pain for 48 hours.", "Pain for three days.", "number"),
        ("Pain for two weeks.", "Pain for 14 days.", ""),
        ("A lump of 1.5 cm.", "A lump of 15 mm.", ""),
        ("A lump of 15 cm.", "A lump of 15 mm.", "number"),
        ("Take 20 mg of aspirin.", "Take 20 mcg of aspirin.", "time"),
        ("HR: 70 beats per minute.", "Heart Rate: 70 beats per minute.", ""),
        # Names.
        ("Take metformin daily.", "Take warfarin daily.", "drug"),
        ("Take Motrin daily.", "Take Plavix daily.", "drug"),
        ("Take Motrin for pain.", "Take ibuprofen for pain.", ""),
        ("Take Motrin for pain.", "Take the cholesterol protocol for pain.", ""),
        ("CT showed pneumonia today.", "CT showed bronchitis today.", "diagnosis"),
        ("Pain in the hip since June.", "Pain in the ankle since June.", "site"),
        ("Pain in the hip since June.", "Pain in the kidney since June.", ""),
        # Sides, people, times, opposites.
        ("Pain in the left elbow.", "Pain in the right elbow.", "side"),
        ("Right hand pain, left toe pain.", "Left hand pain, left toe pain.", "side"),
        ("Her mother has gout.", "Her sister has gout.", "person"),
        ("The patient's mother has gout.", "The patient has gout.", "person"),
        ("He has gout.", "She has gout.", "person"),
        ("Seen in March for rash.", "Seen in April for rash.", "time"),
        ("Seen yesterday for rash.", "Seen today for rash.", "time"),
        ("He was seen in March.", "He was seen in May.", "time"),
        ("He was seen in May.", "He was seen in March.", "time"),
        ("He was seen in May.", "He was seen in May.", ""),
        ("He may walk in March.", "He walked in March.", ""),
        ("May I sit in March?", "I sit in March.", ""),
        ("The rash has improved.", "The rash has worsened.", "opposite"),
        ("Start the brace today.", "Stop the brace today.", "opposite"),
        # Negation.
        ("No rash today.", "Rash today.", "negation"),
        ("Rash.", "No rash.", "negation"),
        ("She denies rash.", "She has no rash.", ""),
        ("He endorses elbow pain.", "He reports elbow pain.", ""),
        ("She denies elbow pain.", "She reports no elbow pain.", ""),
        ("She does not report elbow pain.", "She reports elbow pain.", "negation"),
        ("She doesn't report elbow pain.", "She reports elbow pain.", "negation"),
        ("He does not take aspirin.", "He takes aspirin.", "negation"),
        ("He never takes aspirin.", "He does not take aspirin.", ""),
        ("Denies calf pain, or toe pain.", "Denies toe pain, or calf pain.", ""),
        # Values in each other's place, and lists.
        (
            "Aspirin at noon, Motrin at night.",
            "Motrin at noon, aspirin at night.",
            "exchanged",
        ),
        (
            "Pulse was 98 and weight was 60.",
            "Pulse was 60 and weight was 98.",
            "exchanged",
        ),
        (
            "Right hand pain, right toe pain.",
            "Left hand pain, right toe pain.",
            "exchanged",
        ),
        ("He takes amlodipine", DOSES.removeprefix("He takes "), ""),
        *((f"He takes {drug}.", DOSES, "") for drug in ("amlodipine", "metoprolol")),
        ("He takes amlodipine 5 mg daily.", DOSES, ""),
        ("He takes amlodipine 50 mg twice daily.", DOSES, "exchanged"),
        ("He takes aspirin.", "He takes 5 mg of warfarin, Motrin and aspirin.", ""),
        ("Stop warfarin.", "Stop metformin and start warfarin.", "exchanged"),
        ("BP was 146/82 mmHg.", PULSE, ""),
        ("The pulse was 104.", PULSE, ""),
        ("The pulse was 146/82.", PULSE, "exchanged"),
        ("BP was 104.", PULSE, "exchanged"),
        ("The knee is swollen.", SWOLLEN, ""),
        ("The hip is not swollen.", SWOLLEN, ""),
        ("The hip isn't swollen.", SWOLLEN, ""),
        ("The hip is swollen.", SWOLLEN, "negation"),
        ("The hip is swollen.", "The knee isn't swollen, but the hip is.", ""),
        ("The knee is swollen.", "The knee isn't swollen, but the hip is.", "negation"),
        # The premise goes on before, the claim begins anew there; the third swaps the
        # numbers.
        (SHARES, SHARES, ""),
        ("It was 81 percent with the box and 69 percent with calls.", SHARES, ""),
        (
            "It was 69 percent with the box and 81 percent with calls.",
            SHARES,
            "exchanged",
        ),
    ],
)
def test_clashes(hypothesis: str, sentence: str, kind: str) -> None:
    assert kinds_of(hypothesis, sentence) == ({kind} if kind else set())


def test_a_clash_is_alike_where_nearly_all_else_is_shared() -> None:
    alike = clashes.KINDS.index("alike")
    assert clashes.clashes("Pain in the left elbow.", "Pain in the right elbow.")[alike]
    near = "Dull pain in the left elbow since the fall from a horse."
    far = "Pain in the right elbow since the fall."
    assert kinds_of(near, far) == {"side"}
    assert not clashes.clashes(near, far)[alike]


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
WRITTEN = (
    str.upper,
    str.lower,
    lambda text: text.replace(",", " ").rstrip(" .") + " ;",
)


@given(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=5), st.data())
def test_a_text_states_and_never_contradicts_its_sentences(
    parts: list[str], data: st.DataObject
) -> None:
    first = data.draw(st.integers(0, len(parts) - 1))
    last = data.draw(st.integers(first + 1, len(parts)))
    assert not any(clashes.clashes(parts[first], parts[first]))
    run = data.draw(st.sampled_from(WRITTEN))(" ".join(parts[first:last]))
    assert clashes.is_stated(run, parts)
    assert not clashes.is_stated(f"{run} Not so.", parts)


@pytest.mark.parametrize(
    ("hypothesis", "sentence"),
    [
        ("Knee pain.", "Mild knee pain."),
        ("Fever.", "Fever?"),
        ("GFR > 60.", "GFR < 60."),
        ("At -5 degrees.", "At 5 degrees."),
        ("A1c is 7.2.", "A1c is 72."),
    ],
)
def test_what_is_not_there_word_for_word_is_not_stated(
    hypothesis: str, sentence: str
) -> None:
    assert not clashes.is_stated(hypothesis, [sentence])


def test_numbers_are_read_in_digits() -> None:
    assert clashes.numbers("Two tablets of 7.50 mg, 120/80") == {"2", "7.5", "120/80"}

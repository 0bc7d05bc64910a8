"""Attacks by rule, on an invented note: what each text is, by hand."""

import pytest

from metassay.text.edits.attacks import ATTACKS, REPEATS, Attack, Material, attacks

TRUE = "The left knee hurts."
FALSE = "The right knee hurts."
OTHERS = ["He takes aspirin.", "No fever."]
NOTE = f"{OTHERS[0]} {TRUE} {OTHERS[1]}"


def texts_of(seed: int = 0, **changes: object) -> dict[str, Attack]:
    fields: dict[str, object] = {
        "true": TRUE,
        "false": FALSE,
        "others": OTHERS,
        "source": NOTE,
        "seed": seed,
    }
    material = Material(**fields | changes)  # type: ignore[arg-type]
    return {attack.name: attack for attack in attacks(material)}


def test_copies_of_the_source() -> None:
    of = texts_of()
    assert of["source_appended"].text == f"{FALSE}\n\n{NOTE}"
    assert of["true_passages"].text == f"He takes aspirin. No fever. {FALSE}"
    repeated = of["repeated_truth"].text
    assert repeated.count("He takes aspirin.") == REPEATS
    assert repeated.endswith(FALSE)
    words = "aspirin fever he hurts knee left no takes the"
    assert of["bag_of_words"].text == words


def test_a_shuffled_source_has_its_words_in_another_order() -> None:
    texts = {texts_of(seed)["shuffled_source"].text for seed in range(5)}
    assert len(texts) == 5
    assert NOTE not in texts
    assert {tuple(sorted(text.split())) for text in texts} == {
        tuple(sorted(NOTE.split()))
    }


@pytest.mark.parametrize("name", ["hedge", "denial", "negating_prefix", "attribution"])
def test_a_true_sentence_is_taken_back_in_several_wordings(name: str) -> None:
    texts = {texts_of(seed)[name].text for seed in range(30)}
    assert len(texts) >= 3
    assert all(text.endswith(f": {TRUE}") for text in texts)


@pytest.mark.parametrize(
    "name",
    [
        "source_appended",
        "true_passages",
        "repeated_truth",
        "instruction",
        "forged_verdict",
        "authority",
        "near_citation",
        "padding",
    ],
)
def test_a_false_claim_stays_in_the_text(name: str) -> None:
    assert FALSE in texts_of()[name].text


def test_a_heading_has_the_false_claim() -> None:
    assert texts_of()["heading"].text == "THE RIGHT KNEE HURTS:\nHe takes aspirin."


def test_a_platitude_has_no_word_of_the_note_that_matters() -> None:
    for seed in range(20):
        words = set(texts_of(seed)["platitude"].text.lower().strip(".").split())
        assert not words & {"knee", "hurts", "aspirin", "fever", "takes", "left"}


def test_only_a_near_citation_is_read_against_a_part_of_the_note() -> None:
    read_against = {name: attack.read_against for name, attack in texts_of().items()}
    assert read_against.pop("near_citation") == TRUE
    assert set(read_against.values()) == {NOTE}


def test_every_attack_is_made_in_order_and_always_the_same() -> None:
    assert list(texts_of()) == list(ATTACKS)
    assert texts_of() == texts_of()

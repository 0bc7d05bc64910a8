"""What the lexical judge sees in a text, numbers in words as digits."""

import pytest

from metassay.judges.reading import digits, read, read_plainly

write = digits(["tablet", "week"])


def tokens_at(text: str) -> dict[int, str]:
    return {place: token for token, places in read(text).places.items() for place in places}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *(("No chest pain.", "chest pain"), ("No fever but has a cough.", "fever")),
        *(("Denies fever, chills or cough.", "fever chill cough"), ("No fever. Cough.", "fever")),
        *(("Denies fever, reports cough.", "fever"), ("No fever\ncough", "fever")),
        *(("Negative for blood.", "blood"), ("She is free of pain.", "pain")),
        *(("Murphy sign negative.", "murphy sign"), ("Chest pain: denied.", "chest pain")),
        *(("Absent reflexes.", "reflex"), ("She doesn't smoke.", "smoke")),
        *(("No, my knee hurts.", ""), ("It hurts.\nno, it started today", "")),
        *(("Nothing of note.", ""), ("", "")),
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
    assert read_plainly("He did it, he did.").places == {"he": [0, 3], "did": [1, 4], "it": [2]}
    assert read_plainly("?!").places == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *(("twelve days", "12 days"), ("forty five", "45"), ("two hundred", "200"), ("", "")),
        *(("sixty-five-year-old", "65-year-old"), ("one hundred and twenty", "120")),
        *(("three hundred and five mg", "305 mg"), ("one forty over ninety", "140/90")),
        *(("one twenty eight over eighty-two", "128/82"), ("98 over sixty", "98/60")),
        *(("one hundred ten over seventy", "110/70"), ("120 / 80", "120/80")),
        *(("two forty", "2 40"), ("two and three", "2 and 3"), ("seven eight nine", "7 8 9")),
        ("five hundred and two hundred", "502 100"),  # no sense in, none out, but no error
        *(("one tablet", "1 tablet"), ("one week ago", "1 week ago")),
        *((text, text) for text in ("the one on the left", "someone often")),
        ("moved over two chairs", "moved over 2 chairs"),
    ],
)
def test_digits(text: str, expected: str) -> None:
    assert write(text) == expected


def test_every_number_below_a_hundred_can_be_read() -> None:
    ones = "one two three four five six seven eight nine".split()  # noqa: SIM905
    tens = "twenty thirty forty fifty sixty seventy eighty ninety".split()  # noqa: SIM905
    numbers = {
        f"{t} {o}": str(10 * a + b) for a, t in enumerate(tens, 2) for b, o in enumerate(ones, 1)
    }
    assert {text: write(text) for text in numbers} == numbers

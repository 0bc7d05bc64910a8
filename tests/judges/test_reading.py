"""What the lexical judge sees in a text, numbers in words as digits."""

import pytest

from metassay.judges.reading import digits, read, read_plainly

write = digits(["tablet", "week"])


def negated(text: str) -> set[str]:
    reading = read(text)
    return {token for token, places in reading.places.items() if reading.negated & set(places)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("No chest pain.", {"chest", "pain"}),
        ("Denies fever, chills or cough.", {"fever", "chill", "cough"}),
        ("Denies fever, reports cough.", {"fever"}),
        ("No fever but has a cough.", {"fever"}),
        ("No fever. Cough.", {"fever"}),
        ("No fever\ncough", {"fever"}),
        ("Negative for blood.", {"blood"}),
        ("She is free of pain.", {"pain"}),
        ("Murphy sign negative.", {"murphy", "sign"}),
        ("Chest pain: denied.", {"chest", "pain"}),
        ("Absent reflexes.", {"reflex"}),
        ("She doesn't smoke.", {"smoke"}),
        ("No, my knee hurts.", set()),
        ("It hurts.\nno, it started today", set()),
        ("Nothing of note.", set()),
        ("No a1 b2 c3 d4 e5 f6 g7 h8 i9.", {"a1", "b2", "c3", "d4", "e5", "f6", "g7", "h8"}),
    ],
)
def test_negation(text: str, expected: set[str]) -> None:
    assert negated(text) == expected


def sided(text: str) -> dict[str, set[str]]:
    reading = read(text)
    at = {place: token for token, places in reading.places.items() for place in places}
    return {at[place]: sides for place, sides in reading.sides.items()}


def test_sides() -> None:
    assert sided("Left knee pain today.") == {"knee": {"left"}, "pain": {"left"}}
    assert sided("Knee pain on the left.") == {"knee": {"left"}, "pain": {"left"}}
    assert sided("Right upper lobe.") == {"lobe": {"right", "upper"}}
    assert sided("Both knees.") == {"knee": {"bilateral"}}
    assert sided("Knee pain on the right side only.") == {"knee": {"right"}, "pain": {"right"}}
    assert sided("Tender lateral aspect of the knee.") == {"knee": {"lateral"}}
    assert sided("He left. Knee pain.") == {}


def test_units_under_one_name() -> None:
    reading = read("5 milligrams, 2.50mcg, 3 of them, 4 wks")
    number_of = {place: token for token, places in reading.places.items() for place in places}
    units = {number_of[place]: unit for place, unit in reading.units.items()}
    assert units == {"5": "mg", "2.5": "mcg", "4": "week"}


def test_plain_reading_keeps_stopwords() -> None:
    assert read_plainly("He did it, he did.").places == {"he": [0, 3], "did": [1, 4], "it": [2]}


def test_nothing_to_read() -> None:
    assert read("").places == {}
    assert read_plainly("?!").places == {}


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("twelve days", "12 days"),
        ("forty five", "45"),
        ("sixty-five-year-old", "65-year-old"),
        ("one hundred and twenty", "120"),
        ("two hundred", "200"),
        ("three hundred and five mg", "305 mg"),
        ("one forty over ninety", "140/90"),
        ("one twenty eight over eighty-two", "128/82"),
        ("one hundred ten over seventy", "110/70"),
        ("98 over sixty", "98/60"),
        ("120 / 80", "120/80"),
        ("two forty", "2 40"),
        ("two and three", "2 and 3"),
        ("seven eight nine", "7 8 9"),
        ("five hundred and two hundred", "502 100"),  # no sense in, none out, but no error
        ("one tablet", "1 tablet"),
        ("one week ago", "1 week ago"),
        ("the one on the left", "the one on the left"),
        ("someone often", "someone often"),
        ("moved over two chairs", "moved over 2 chairs"),
        ("", ""),
    ],
)
def test_digits(said: str, written: str) -> None:
    assert write(said) == written


def test_every_number_below_a_hundred_can_be_said() -> None:
    ones = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
    tens = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
    said = [f"{ten} {one}" for ten in tens for one in ones]
    expected = [f"{10 * t + o}" for t in range(2, 10) for o in range(1, 10)]
    assert [write(text) for text in said] == expected

"""Numbers in words as digits."""

import pytest

from metassay.judges.numerals import digits

write = digits(["tablet", "week"])


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

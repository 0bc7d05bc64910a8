"""Segments and where they stand: cases worked by hand, and what holds of any text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metassay.text.spans import Span
from metassay.units.locate import find, find_all


def locate(segment: str, text: str) -> Span | None:
    found = find(segment, text)
    return found and found.span


TEXT = (
    "Sleep apnoea is common , and often missed . We asked 120 nurses of the Harrow ward twice.\n"
    "The well-known score fell by 2.5 points (p < 0.05) in both groups [1][2]. No harm was seen;\n"
    'whether it "lasts" is not known.'
)


@pytest.mark.parametrize(
    ("segment", "place", "how"),
    [
        ("We asked 120 nurses of the Harrow ward twice.", None, "exact"),
        ("(p < 0.05)", None, "exact"),
        ("known score", None, "exact"),
        # White space, case, quotes, hyphens, punctuation.
        (
            "sleep apnoea is common, and often missed.",
            "Sleep apnoea is common , and often missed .",
            "loose",
        ),
        (
            "WE ASKED 120 nurses\nof the Harrow ward",
            "We asked 120 nurses of the Harrow ward",
            "loose",
        ),
        ("whether it \u201clasts\u201d is not known", 'whether it "lasts" is not known', "loose"),
        ("\u201clasts\u201d", "lasts", "loose"),
        ("the well known score", "The well-known score", "loose"),
        ("twice. The well\u2010known", "twice.\nThe well-known", "loose"),
        # The citations of a statement belong to it.
        ("in both groups.", "in both groups [1][2].", "loose"),
        ("in both groups", "in both groups [1][2].", "exact"),
        # One word of nine, of eight: another, one less, one more.
        (
            "We questioned 120 nurses of the Harrow ward twice",
            "We asked 120 nurses of the Harrow ward twice",
            "fuzzy",
        ),
        (
            "asked 120 nurses of Harrow ward twice.",
            "asked 120 nurses of the Harrow ward twice.",
            "fuzzy",
        ),
        (
            "Sleep apnoea is very common and often missed",
            "Sleep apnoea is common , and often missed",
            "fuzzy",
        ),
    ],
)
def test_it_is_there(segment: str, place: str | None, how: str) -> None:
    found = find(segment, TEXT)
    assert found is not None
    expected = TEXT[slice(*found.span)] if how == "exact" and place is None else place
    assert TEXT[slice(*found.span)] == expected
    if place is None:
        assert TEXT[slice(*found.span)] == segment
    assert found.how == how


@pytest.mark.parametrize(
    "segment",
    [
        "",
        " ... ",
        "[1]",
        "nurse",  # a part of a word
        "The ward was closed.",
        "We asked 121 nurses of the Harrow ward twice.",
        "We asked 1200 nurses of the Harrow ward twice.",
        "We asked nurses of the Harrow ward twice yesterday",
        "the well-known score fell by 25 points (p < 0.05)",
        "the well-known score fell by -2.5 points (p < 0.05)",
        "the well-known score fell by 2.5 points (p > 0.05)",
        "the well-known score fell by 2.5 % points (p < 0.05)",
        "the well-known score fell by two points (p < 0.05)",
        "No harm was seen; whether it lasts is known",
        "Harm is seen; no, whether it lasts is not known",
        "No harm was seen; whether it lasts is not unknown",
        "We asked 120 nurses of the Harrow ward once",
        "Sleep apnoea is uncommon, and often missed",
        "We asked 120 patients of the Oxford ward twice",  # two words of nine
        "We met 120 nurses",  # too short for any other word
    ],
)
def test_it_is_not_there(segment: str) -> None:
    assert locate(segment, TEXT) is None


@pytest.mark.parametrize(
    ("text", "segment", "there"),
    [
        ("A dose of 1,000 mg helped.", "1000 mg", True),
        ("A dose of .5 mg helped.", "0.5 mg", True),
        ("r = - 0.3 in all", "r = -0.3", True),
        ("r = - 0.3 in all", "r = \u22120.3", True),
        ("r = - 0.3 in all", "0.3 in all", False),  # a number goes with its sign
        ("between 10 - 15 days", "10-15 days", True),
        ("IL-6 rose", "IL 6 rose", True),
        ("IL-6 rose", "IL-8 rose", False),
        ("2.5 mg", "2", False),
        ("caf\u00e9 visits", "cafe\u0301 visits", True),
        ("na\u00efve cells", "naive cells", True),
        ("\ufb01nally healed", "Finally healed", True),
    ],
)
def test_numbers_and_letters_however_they_are_written(text: str, segment: str, there: bool) -> None:
    assert (locate(segment, text) is not None) == there


@pytest.mark.parametrize(
    ("was", "becomes", "there"),
    [
        *(("20 mg", "20 g", False), ("daily", "weekly", False), ("5 years", "5 months", False)),
        *(("5 years", "5 year", True), ("the dose", "dose", True), ("stroke", "strokes", True)),
    ],
)
def test_units_are_facts(was: str, becomes: str, there: bool) -> None:
    text = "Those on aspirin had fewer strokes than those on placebo over 5 years, and the dose of"
    text = f"Methods differ. {text} stroke prevention was 20 mg daily. It was safe."
    assert (locate(text[16:-13].replace(was, becomes), text) is not None) == there


def test_two_words_that_change_places_say_something_else() -> None:
    text = "Those who were given aspirin in the first ward had more pain than those given placebo."
    turned = text.replace("aspirin", "?").replace("placebo", "aspirin").replace("?", "placebo")
    assert locate(turned, text) is None


def test_the_first_place_but_an_exact_one_before_others() -> None:
    text = "It hurts. IT HURTS. It hurts."
    assert locate("It hurts.", text) == Span(0, 9)
    assert locate("IT HURTS.", text) == Span(10, 19)
    assert locate("it hurts.", text) == Span(0, 9)


def test_sentences_that_stand_apart_are_found_one_by_one() -> None:
    segment = "Sleep apnoea is common, and often missed. No harm was seen."
    located, made_up = find_all(segment, TEXT)
    assert [TEXT[slice(*one.span)] for one in located] == [
        "Sleep apnoea is common , and often missed .",
        "No harm was seen",
    ]
    assert made_up == []
    located, made_up = find_all("We asked 120 nurses. The moon is green.", TEXT)
    assert [TEXT[slice(*one.span)] for one in located] == ["We asked 120 nurses"]
    assert made_up == ["The moon is green."]


def test_a_sentence_put_among_others_is_not_swallowed_by_them() -> None:
    long = " ".join(f"Nurse number {word} slept well." for word in ("ada", "bea", "cleo", "dora"))
    text = f"{long} The score fell. {long.replace('well', 'badly')}"
    segment = f"{long} The moon fell. {long.replace('well', 'badly')}"
    assert locate(segment, text) is not None  # one word of 35
    located, made_up = find_all(segment, text)
    assert (len(located), made_up) == (8, ["The moon fell."])


def test_words_exchanged_at_the_edge_take_nothing_of_the_next_sentence() -> None:
    text = "It was cold. They met in the old house by the river and sang. Then they left."
    there = "They met in the old house by the river and sang."
    for said in (f"{there[:-1]} often.", f"Nurses{there.removeprefix('They')}"):
        found = find(said, text)
        assert found is not None
        assert text[slice(*found.span)] == there
    two_words = "The nurses met in the old house by the big river and sang."
    assert find(two_words, text) is None


def test_what_an_ellipsis_parts_is_found_piece_by_piece() -> None:
    located, made_up = find_all("Sleep apnoea is common ... No harm was seen", TEXT)
    assert [TEXT[slice(*one.span)] for one in located] == [
        "Sleep apnoea is common",
        "No harm was seen",
    ]
    assert made_up == []


def test_a_segment_without_words_is_made_up_as_it_is() -> None:
    assert find_all(" ?! ", TEXT) == ([], ["?!"])
    assert find_all(" ", TEXT) == ([], [])


WORDS = st.sampled_from(
    [
        "Pain",
        "of",
        "the",
        "knee",
        "3",
        "-0.3",
        "2.5",
        "<",
        "no",
        "caf\u00e9",
        "well-known",
        "%",
        ".",
    ]
)
SPACES = st.sampled_from([" ", "\n", ", ", " (", ") ", "; ", "  ", ". "])


@st.composite
def cut(draw: st.DrawFn) -> tuple[str, int, int]:
    """A text, and a stretch of it from the start of one word to the end of another."""
    words = draw(st.lists(WORDS, min_size=1, max_size=30))
    text, places = "", []
    for word in words:
        places.append((len(text), len(text) + len(word)))
        text += word + draw(SPACES)
    first = draw(st.integers(0, len(words) - 1))
    last = draw(st.integers(first, len(words) - 1))
    return text, places[first][0], places[last][1]


@settings(max_examples=150, deadline=None)
@given(cut())
def test_any_stretch_of_a_text_is_located(drawn: tuple[str, int, int]) -> None:
    text, start, end = drawn
    segment = text[start:end]
    if not any(char.isalnum() or char in "<%" for char in segment):
        return
    found = find(segment, text)
    assert found is not None
    assert found.how == "exact"
    assert text[slice(*found.span)] == segment
    # Copied with other white space, case and punctuation, it is there as well.
    copied = " ".join(segment.upper().replace(". ", " ").split())
    assert locate(copied, text) is not None


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=80), st.data())
def test_any_characters_at_all(text: str, data: st.DataObject) -> None:
    found = find(text, text)
    if found is not None:
        assert text[slice(*found.span)].startswith(text.strip())
    start = data.draw(st.integers(0, len(text)))
    place = locate(text[start:], text)
    assert place is None or 0 <= place.start <= place.end <= len(text)


@settings(max_examples=100, deadline=None)
@given(cut(), st.lists(st.sampled_from(["zinc", "amber", "88"]), min_size=2, max_size=9))
def test_what_is_made_up_is_not_located(drawn: tuple[str, int, int], words: list[str]) -> None:
    text, start, end = drawn
    assert locate(" ".join(words), text) is None
    assert locate(f"{text[start:end]} 88", text) is None

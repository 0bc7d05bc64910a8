"""Segments and where they stand: cases worked by hand, and what holds of any text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metassay.text.spans import Span
from metassay.units.locate import find, find_all


def locate(segment: str, text: str) -> Span | None:
    location = find(segment, text)
    return location and location.span


TEXT = (
    "Sleep apnoea is common , and often missed . We asked 120 nurses of the Harrow ward twice.\n"
    "The well-known score fell by 2.5 points (p < 0.05) in both groups [1][2]. No harm was seen;\n"
    'whether it "lasts" is not known.'
)
WARD = "We asked 120 nurses of the Harrow ward"
SCORE = "the well-known score fell by 2.5 points (p < 0.05)"
LASTS = "No harm was seen; whether it lasts is not known"


@pytest.mark.parametrize(
    ("segment", "place", "how"),
    [
        *(
            (same, same, "exact")
            for same in (f"{WARD} twice.", "(p < 0.05)", "known score")
        ),
        # White space, case, quotes, hyphens, punctuation.
        (
            "sleep apnoea is common, and often missed.",
            "Sleep apnoea is common , and often missed .",
            "loose",
        ),
        (WARD.replace("We asked", "WE ASKED").replace("s of", "s\nof"), WARD, "loose"),
        (
            "whether it \u201clasts\u201d is not known",
            'whether it "lasts" is not known',
            "loose",
        ),
        ("\u201clasts\u201d", "lasts", "loose"),
        ("the well known score", "The well-known score", "loose"),
        ("twice. The well\u2010known", "twice.\nThe well-known", "loose"),
        # The citations of a statement belong to it.
        ("in both groups.", "in both groups [1][2].", "loose"),
        ("in both groups", "in both groups [1][2].", "exact"),
        # One word of nine, of eight: another, one less, one more.
        (f"{WARD} twice".replace("asked", "questioned"), f"{WARD} twice", "fuzzy"),
        (f"{WARD[3:]} twice.".replace("the ", ""), f"{WARD[3:]} twice.", "fuzzy"),
        (
            "Sleep apnoea is very common and often missed",
            "Sleep apnoea is common , and often missed",
            "fuzzy",
        ),
    ],
)
def test_it_is_there(segment: str, place: str, how: str) -> None:
    location = find(segment, TEXT)
    assert location is not None
    assert (TEXT[slice(*location.span)], location.how) == (place, how)


@pytest.mark.parametrize(
    "segment",
    [
        # a part of a word
        "",
        " ... ",
        "[1]",
        "The ward was closed.",
        "We met 120 nurses",
        "nurse",
        # two words of nine
        *(f"{WARD.replace('120', n)} twice." for n in ("121", "1200")),
        "We asked nurses of the Harrow ward twice yesterday",
        *(SCORE.replace("2.5", n) for n in ("25", "-2.5", "two")),
        SCORE.replace("<", ">"),
        SCORE.replace("2.5", "2.5 %"),
        LASTS.replace("not ", ""),
        LASTS.replace("known", "unknown"),
        "Harm is seen; no, whether it lasts is not known",
        f"{WARD} once",
        "Sleep apnoea is uncommon, and often missed",
        "We asked 120 patients of the Oxford ward twice",
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
def test_numbers_and_letters_however_they_are_written(
    text: str, segment: str, there: bool
) -> None:
    assert (locate(segment, text) is not None) == there


@pytest.mark.parametrize(
    ("was", "becomes", "there"),
    [
        ("20 mg", "20 g", False),
        ("daily", "weekly", False),
        ("5 years", "5 months", False),
        ("5 years", "5 year", True),
        ("the dose", "dose", True),
        ("stroke", "strokes", True),
        # Two words that change places say something else.
        (
            "on aspirin had fewer strokes than those on placebo",
            "on placebo had fewer strokes than those on aspirin",
            False,
        ),
    ],
)
def test_units_are_facts(was: str, becomes: str, there: bool) -> None:
    text = "Those on aspirin had fewer strokes than those on placebo over 5 years, and the dose of"
    text = f"Methods differ. {text} stroke prevention was 20 mg daily. It was safe."
    assert was in text
    assert (locate(text[16:-13].replace(was, becomes), text) is not None) == there


def test_the_first_place_but_an_exact_one_before_others() -> None:
    text = "It hurts. IT HURTS. It hurts."
    assert locate("It hurts.", text) == locate("it hurts.", text) == Span(0, 9)
    assert locate("IT HURTS.", text) == Span(10, 19)


@pytest.mark.parametrize(
    ("segment", "places", "made_up"),
    [
        (
            "Sleep apnoea is common, and often missed. No harm was seen.",
            ["Sleep apnoea is common , and often missed .", "No harm was seen"],
            [],
        ),
        (
            "We asked 120 nurses. The moon is green.",
            ["We asked 120 nurses"],
            ["The moon is green."],
        ),
        (
            "Sleep apnoea is common ... No harm was seen",
            ["Sleep apnoea is common", "No harm was seen"],
            [],
        ),
        (" ?! ", [], ["?!"]),
        (" ", [], []),
    ],
)
def test_sentences_that_stand_apart_are_located_in_turn(
    segment: str, places: list[str], made_up: list[str]
) -> None:
    located, rest = find_all(segment, TEXT)
    assert [TEXT[slice(*each.span)] for each in located] == places
    assert rest == made_up


def test_a_sentence_put_among_others_is_not_swallowed_by_them() -> None:
    long = " ".join(
        f"Nurse number {word} slept well." for word in ("ada", "bea", "cleo", "dora")
    )
    text = f"{long} The score fell. {long.replace('well', 'badly')}"
    segment = text.replace("score", "moon")
    assert locate(segment, text) is not None  # one word of 35
    located, made_up = find_all(segment, text)
    assert (len(located), made_up) == (8, ["The moon fell."])


def test_words_exchanged_at_the_edge_take_nothing_of_the_next_sentence() -> None:
    there = "They met in the old house by the river and sang."
    text = f"It was cold. {there} Then they left."
    for segment in (f"{there[:-1]} often.", f"Nurses{there.removeprefix('They')}"):
        place = locate(segment, text)
        assert place is not None
        assert text[slice(*place)] == there
    two_words = "The nurses met in the old house by the big river and sang."
    assert find(two_words, text) is None


WORDS = st.sampled_from(
    [
        "Pain",
        "of",
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
@given(
    cut(), st.lists(st.sampled_from(["zinc", "amber", "88"]), min_size=2, max_size=9)
)
def test_any_stretch_of_a_text_is_located_and_nothing_else(
    drawn: tuple[str, int, int], words: list[str]
) -> None:
    text, start, end = drawn
    segment = text[start:end]
    assert locate(" ".join(words), text) is None
    assert locate(f"{segment} 88", text) is None
    if not any(char.isalnum() or char in "<%" for char in segment):
        return
    location = find(segment, text)
    assert location is not None
    assert (location.how, text[slice(*location.span)]) == ("exact", segment)
    # Copied with other white space, case and punctuation, it is there as well.
    copied = " ".join(segment.upper().replace(". ", " ").split())
    assert locate(copied, text) is not None


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=80), st.data())
def test_any_characters_at_all(text: str, data: st.DataObject) -> None:
    place = locate(text, text)
    assert place is None or text[slice(*place)].startswith(text.strip())
    start = data.draw(st.integers(0, len(text)))
    place = locate(text[start:], text)
    assert place is None or 0 <= place.start <= place.end <= len(text)

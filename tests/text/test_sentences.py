"""sentences.py: what counts as a sentence, and exact, complete spans on any text."""

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metassay.text.headings import section_heading, stands_alone
from metassay.text.sentences import sentences
from metassay.text.spans import Span


def texts_of(text: str) -> list[str]:
    return [text[span.start : span.end] for span in sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He fell. [3][4] She rose [2].", ["He fell. [3][4]", "She rose [2]."]),
        ("He fell [1]! he rose", ["He fell [1]!", "he rose"]),
        (
            "CHIEF COMPLAINT\n\nCough.\nResults:\n- Normal film",
            ["Cough.", "Normal film"],
        ),
        (
            "\u2022 One \u2022 Two.\n1. Three.\n(2) Four\na) Five",
            ["One", "Two.", "Three.", "Four", "Five"],
        ),
        ("1. Rest. 2. Drink. 3. Sleep.", ["Rest.", "Drink.", "Sleep."]),
        (
            "2. Rest\n(3) Drink. Sleep.\n12. Wake.",
            ["Rest", "Drink.", "Sleep.", "Wake."],
        ),
        ("His age? 45. Her age: 7.", ["His age?", "45.", "Her age: 7."]),
        ("## Plan\n**Diabetes**\nTake insulin.", ["Take insulin."]),
        # lead-ins alone are all there is
        ("Diabetes:\n**Gout**", ["Diabetes:", "Gout"]),
        ("Exam: normal gait. No rash. # ", ["normal gait.", "No rash."]),
        ("# \nRESULTS\n:  Film is clear.  #", ["Film is clear."]),
        ("Rest. - Gout: wait. - Pain: wait.", ["Rest.", "Gout: wait.", "Pain: wait."]),
        (
            "-2.5 is low\n>140 is high\n- 7 tablets\n.5 mg",
            ["-2.5 is low", ">140 is high", "7 tablets", ".5 mg"],
        ),
        ("**Rest for two weeks.** Then walk.", ["Rest for two weeks.", "Then walk."]),
        (
            "Blood pressure: 120/80\r\nPulse: 60",
            ["Blood pressure: 120/80", "Pulse: 60"],
        ),
        (
            "History of present illness is long.",
            ["History of present illness is long."],
        ),
        ("RESULTS\nPlan:\n \n- \n...", []),
        ("", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert texts_of(text) == expected
    # Repeated sentences have each its span.
    assert sentences("No. No. No.") == [Span(0, 3), Span(4, 7), Span(8, 11)]


PARTS = (
    "He fell|Results:|EXAM|plan|p.o.|7.2|3.|- |\u2022|\n|\r\n|\u2028|"
    '. |? |! | |[1]|[2-3].|(|)|"'
)
PARTS += "|**|# |Dr. |1) |:|;|\u3002|\u222f|\u00a0|I|a. |\u00e9t\u00e9|\\n|&\u14f0&|--|\u2026"
WORDS = st.sampled_from(PARTS.split("|"))
TEXTS = st.one_of(
    st.lists(WORDS, max_size=16).map("".join),
    st.text(st.characters(codec="utf-8"), max_size=60),
)


@settings(deadline=None)
@given(TEXTS)
def test_spans_are_exact_disjoint_and_ordered(text: str) -> None:
    spans = sentences(text)
    for span in spans:
        sentence = text[span.start : span.end]
        assert sentence
        assert sentence == sentence.strip()
        assert "\n" not in sentence
        assert any(map(str.isalnum, sentence))
    assert all(first.end <= second.start for first, second in pairwise(spans))


@settings(deadline=None)
@given(TEXTS)
def test_every_letter_and_digit_is_in_a_sentence_a_heading_or_a_marker(
    text: str,
) -> None:
    covered = [False] * len(text)
    for span in sentences(text):
        covered[span.start : span.end] = [True] * (span.end - span.start)
    for line in re.finditer(
        "[^\n\r\v\f\x85\u2028\u2029\u2022\u25cf\u25e6\u25aa\u2023\u2043]+", text
    ):
        missed = "".join(
            character if character.isalnum() and not covered[line.start() + at] else " "
            for at, character in enumerate(line.group())
        )
        if missed.strip() and not _may_be_left_out(line.group()):
            # Only the number or letter of a list's item is left out of a line that says
            # something.
            assert all(len(word) <= 2 for word in missed.split()), (
                line.group(),
                missed,
            )
            assert re.search(r"\w[.)]", line.group())


def _may_be_left_out(line: str) -> bool:
    bare = re.sub(r"^\W*(?:\w{1,2}[.)])?\W*", "", line)
    heading = any(
        section_heading(x) or stands_alone(x) for x in (line, bare, line.strip())
    )
    lead_in = re.search(r":[\s*_]*$", line) or re.match(r"\s*(#+\s|\*\*|__)", line)
    return bool(heading or lead_in)

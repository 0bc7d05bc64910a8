"""citations.py: DocLens's citation rules by example, and agreement with sentences.py."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metassay.text.citations import blank_citations, ends, parse, strip_citations
from metassay.text.sentences import sentences


@pytest.mark.parametrize(
    ("statement", "text", "citations"),
    [
        ("He fell.[3]", "He fell.", (3,)),
        ("He fell. [3]", "He fell.", (3,)),
        ("He fell [3].", "He fell.", (3,)),
        ("He fell [3]", "He fell", (3,)),
        ("He fell [3][4].", "He fell.", (3, 4)),
        ("He fell. [3] [4]", "He fell.", (3, 4)),
        ("He fell [1], [2].", "He fell.", (1, 2)),
        ("He fell. [0, 2; 5]", "He fell.", (0, 2, 5)),
        ("He fell. [4-6]", "He fell.", (4, 5, 6)),
        ("He fell. [4\u20136, 9]", "He fell.", (4, 5, 6, 9)),
        ("He fell [7]. [3]", "He fell.", (7, 3)),
        ("He fell. [3].", "He fell.", (3,)),
        ("He fell. [5, 3-5, 5]", "He fell.", (5, 3, 4)),  # order kept, repeats dropped
        ('"I fell." [3]', '"I fell."', (3,)),
        ("(He fell [3].)", "(He fell.)", (3,)),
        ("Did he fall [2]?", "Did he fall?", (2,)),
        ("BP [120/80] is high [3].", "BP [120/80] is high.", (3,)),
        ("BP is [120/80].", "BP is [120/80].", ()),
        ("[doctor] He fell.", "[doctor] He fell.", ()),
        # [3] is in mid-sentence
        ("He fell [3] and rose [4].", "He fell [3] and rose.", (4,)),
        ("It was [3] metres.", "It was [3] metres.", ()),
        ("Size [3].5 cm.", "Size [3].5 cm.", ()),
        ("He fell [see 3].", "He fell [see 3].", ()),
        ("He fell [-3].", "He fell [-3].", ()),
        ("He fell [].", "He fell [].", ()),
        ("He fell [1234567].", "He fell [1234567].", ()),
        ("He fell [007].", "He fell.", (7,)),
        ("He fell [5-3].", "He fell.", (5, 3)),  # backwards: its two ends
        ("He fell [1-9999].", "He fell.", (1, 9999)),  # too wide: its two ends
        ("[3]", "", (3,)),
        ("", "", ()),
    ],
)
def test_parse(statement: str, text: str, citations: tuple[int, ...]) -> None:
    assert parse(statement) == (text, citations)


def test_the_widest_range_is_counted_out_and_the_next_is_not() -> None:
    assert parse("So. [0-999]").citations == tuple(range(1000))
    assert parse("So. [0-1000]").citations == (0, 1000)


def test_strip_citations_of_a_whole_text() -> None:
    text = "Results:\n- Fell [3]. BP [120/80].[1][2]\nRose [4] twice [5]\n[doctor] Fine. [0-2]"
    assert strip_citations(text) == (
        "Results:\n- Fell. BP [120/80].\nRose [4] twice\n[doctor] Fine."
    )


def test_where_cited_statements_end() -> None:
    text = "Fell [3]. [4] Rose. [5] So"
    assert [text[:end] for end in ends(text)] == [
        "Fell [3]. [4]",
        "Fell [3]. [4] Rose. [5]",
    ]


PARTS = 'He fell| |.|\n|[3]| [4]|[1, 2]|[5-6]|[120/80]| she rose|!|(|)|"|\u2022|- |, |7.2|p.o.'
PARTS += "|Dr.|\u2026|*|[|]|?"
PIECES = st.lists(st.sampled_from(PARTS.split("|")), max_size=14).map("".join)


def _visible(text: str) -> str:
    return "".join(text.split()).replace(".", "")


@settings(deadline=None)
@given(PIECES)
def test_strip_takes_what_parse_takes_from_the_sentences(text: str) -> None:
    stripped, at, start, between = _visible(strip_citations(text)), 0, 0, ""
    for span in sentences(text):
        sentence = text[span.start : span.end]
        words = parse(sentence).text
        assert strip_citations(sentence).strip() == words
        at = stripped.index(_visible(words), at) + len(_visible(words))
        between += text[start : span.start] + words
        start = span.end
    between += text[start:]
    # citations outside sentences, after headings say, are stripped as well
    if "[" not in between:
        assert stripped == _visible(between)


@settings(deadline=None)
@given(PIECES)
def test_blanking_keeps_every_offset_and_hides_every_citation(text: str) -> None:
    shown = blank_citations(text)
    assert len(shown) == len(text)
    assert all(a in (b, " ") for a, b in zip(shown, text, strict=True))
    assert _visible(shown) == _visible(strip_citations(text))


@pytest.mark.parametrize(
    "text", ["[1]," * 30_000, "a" + " " * 50_000 + "[1]" + " " * 50_000 + "b"]
)
def test_no_text_takes_for_ever(text: str) -> None:
    start = time.process_time()
    strip_citations(text)
    parse(text)
    assert time.process_time() - start < 2

"""Places in texts as JavaScript counts them, people's marks beside judges', by hand."""

import pandas as pd
import pytest

from metassay.core.options import Criterion
from metassay.reporting import documents
from metassay.reporting.contract import Judgment, Line, Rating
from metassay.reporting.documents import _differs, _place
from metassay.reporting.facets import Facet
from metassay.reporting.report import write_report
from metassay.reporting.shell import utf16
from metassay.text.spans import Span
from tests.reporting import page_data
from tests.reporting.invented_report import DOC, EVIL

TEXT = "😀 pain. 👩‍⚕️ helped."
SCALES = {
    "truth": Criterion(low=1, high=5, better="higher"),
    "errors": Criterion(low=0, high=1, better="lower"),
}


def javascript(text: str, start: int, end: int) -> str:
    """text.slice(start, end) of JavaScript."""
    return text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le")


@pytest.mark.parametrize("words", ["pain", "helped", "😀", "👩‍⚕️ helped."])
def test_places_count_utf_16(words: str) -> None:
    start = TEXT.index(words)
    ends = utf16(TEXT, start), utf16(TEXT, start + len(words))
    assert javascript(TEXT, *ends) == words


def test_places_count_what_is_shown_of_characters_that_nobody_sees() -> None:
    assert utf16("a\u202eb", 2) == len("a\\u202e")


@pytest.mark.parametrize("between", ["\n\n", " "])
def test_a_unit_of_a_part_in_pieces_stands_where_its_piece_does(between: str) -> None:
    whole = "Plan: rest.\nExam: 😀 fine.\nPlan: ice."
    pieces = [Span(0, 11), Span(27, 37)]
    said = between.join(whole[a:b] for a, b in pieces)
    part = Facet("ok", said, pieces, ())
    for words in ("rest.", "ice."):
        start = said.index(words)
        place = _place(whole, part, start, start + len(words))
        assert javascript(whole, *place) == words
    start = said.index("rest.")
    assert _place(whole, part, start, len(said)) == (
        -1,
        -1,
    )  # of two pieces
    assert _place(whole, Facet("ok", "other words", pieces, ()), 0, 2) == (-1, -1)
    assert _place(whole, None, 0, 2) == _place(whole, part, None, None) == (-1, -1)


def line(sides: list[str], *given: tuple[str, float | None]) -> Line:
    people = [Rating(criterion, "r", value) for criterion, value in given]
    judgments = [Judgment("", side) for side in sides]
    return Line(0, "full", "", -1, -1, [], [], judgments, people=people)


@pytest.mark.parametrize(
    ("sides", "given", "differs"),
    [
        (["for"], [("truth", 1), ("truth", 2), ("truth", 5)], True),  # two of three against
        (["against", "for"], [("truth", 5)], True),  # one of two judges
        (["for"], [("truth", 5)], False),
        (["for"], [("truth", 1), ("truth", 5)], False),  # people are split
        (["for"], [("truth", 3), ("truth", None)], False),  # the middle, and who abstained
        (["unknown", "neutral"], [("truth", 1)], False),
        (["for"], [("errors", 1)], True),  # less is better
        (["against"], [("errors", 1)], False),
        (["for"], [], False),
    ],
)
def test_a_judge_differs_from_most_people_by_hand(sides, given, differs) -> None:
    assert _differs(line(sides, *given), SCALES) is differs


@pytest.mark.usefixtures("no_figures")
def test_marks_lines_and_people_on_a_page(make_report, frames, tmp_path) -> None:
    """A text with emoji in two sections; the second statement stands in the second one."""
    texts = frames["texts"].copy()
    mine = (texts["doc_id"] == DOC) & (texts["author"] == EVIL)
    texts.loc[mine, "text"] = TEXT
    key = {"doc_id": DOC, "author": EVIL, "status": "ok", "made_up": [], "repeats": []}
    cut = TEXT.index("👩")
    spans = {"full": (0, len(TEXT)), "subjective": (0, cut), "plan": (cut, len(TEXT))}
    made = [
        {**key, "part": part, "text": TEXT[a:b], "starts": [a], "ends": [b], "leaf": "yes"}
        for part, (a, b) in spans.items()
    ]
    others = frames["parts"][
        ~((frames["parts"]["doc_id"] == DOC) & (frames["parts"]["author"] == EVIL))
    ]
    said = "helped"
    start = TEXT[cut:].index(said)
    unit = {"doc_id": DOC, "author": EVIL, "kind": "statement", "position": 0, "status": "ok"}
    units = [
        {**unit, "part": "subjective", "text": "pain", "start": 2, "end": 6},
        {**unit, "part": "plan", "text": said, "start": start, "end": start + len(said)},
    ]
    units = pd.DataFrame(units).assign(statement=None)
    units["citations"] = [[], [0, 1]]
    report = make_report(
        texts=texts,
        parts=pd.concat([others, pd.DataFrame(made)]),
        units=units,
        facets=("subjective", "plan"),
    )
    write_report(report, tmp_path / "out")
    head = page_data.head(tmp_path / "out")
    text = next(
        text
        for document in page_data.documents(tmp_path / "out")
        for text in document["texts"]
        if (document["id"], text["author"]) == (DOC, EVIL)
    )
    assert [(javascript(TEXT, m["start"], m["end"]), m["part"]) for m in text["marks"]] == [
        (TEXT[:cut], "subjective"),
        (TEXT[cut:], "plan"),
    ]
    (block,) = [block for block in text["blocks"] if block["id"] == "statements"]
    lines = {line["part"]: line for line in block["lines"]}
    for words, part, number in (("pain", "subjective", 0), (said, "plan", 1)):
        mine = lines[part]
        assert javascript(TEXT, mine["start"], mine["end"]) == words
        assert [one["value"] for one in mine["people"]] == [0.5], number
    index = page_data.frame(tmp_path / "out", head["texts"]["table"])
    row = index[(index["document"] == DOC) & (index["author"] == EVIL)].iloc[0]
    assert {head["texts"]["parts"][int(place)] for place in row["parts"].split()} == {
        "subjective",
        "plan",
    }


def test_what_is_read_together_does_not_change_the_page(
    make_report, tmp_path, monkeypatch, no_figures
) -> None:
    pages = []
    for at_once in (1, 50):
        monkeypatch.setattr(documents, "_AT_ONCE", at_once)
        write_report(make_report(), tmp_path / str(at_once))
        pages.append(page_data.everything(tmp_path / str(at_once)))
    assert pages[0] == pages[1]

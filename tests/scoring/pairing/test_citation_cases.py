"""Citations of statements and what they are worth: cases worked by hand, in three ways of reading.

Passage 0 says red, 1 blue, 2 green, 3 red and blue; 4 to 11 say grey, and there is no
passage 12. Passages entail a statement if they name its colours together (colours.py).
Citation recall is the share of entailed statements. A citation is of use if all
citations of its statement entail it, and this one does alone or the others do not;
citation precision is the share of those.

`borrow` is the same where nothing stands, and `doclens` (compat) is then as `borrow`
is.
"""

from functools import cache
from typing import NamedTuple

import pandas as pd
import pytest

from metassay.scoring.pairing.questions import Questions
from tests.scoring.pairing.colours import Colours, Judged, judged

PASSAGES = ["red", "blue", "green", "red and blue", *["grey"] * 8]


class Read(NamedTuple):
    """Citations of each statement; citation recall; citation precision, None where undefined."""

    citations: list[tuple[int, ...]]
    recall: float
    precision: float | None


RED, NONE = Read([(0,)], 1, 1), Read([()], 0, None)
BOTH, FIRST, THIRD = Read([(0, 1)], 1, 1), Read([(0,)], 0, 0), Read([(3,)], 0, 0)
# A text, and how it is read: by default, with borrow, as DocLens's code does.
CASES: dict[str, tuple[Read | None, ...]] = {
    **dict.fromkeys(
        [
            "It is red [0].",
            "It is red. [0]",
            "It is red.[0]",
            "It is red [0]",
            "It is red. [0].",
            "(It is red [0].)",
            "It is red [00].",
            "It is red [0][0].",
            "[doctor] It is red [0].",
        ],
        (RED,),
    ),
    **dict.fromkeys(["It is red.", "It is red [see 0]."], (NONE,)),
    # Neither is enough alone, and neither can be spared.
    "It is red and blue [0][1].": (BOTH,),
    "It is red and blue. [0] [1]": (BOTH,),
    # All together entail; 0 does alone; 1 does not, and 0 entails without it.
    "It is red [0]. [1]": (Read([(0, 1)], 1, 1 / 2),),
    "It is red [0][1].": (Read([(0, 1)], 1, 1 / 2),),
    "It is red [0][3].": (Read([(0, 3)], 1, 1),),
    "It is green [0][1].": (Read([(0, 1)], 0, 0),),
    # The original puts citations in ascending order.
    "It is red and blue [1][0].": (Read([(1, 0)], 1, 1), None, BOTH),
    # The original reads the number behind the bracket, and red is not red and blue.
    "It is red and blue [0, 1].": (BOTH, None, FIRST),
    "It is red and blue [0; 1].": (BOTH, None, FIRST),
    "It is red and blue [0-1].": (BOTH, None, FIRST),
    "It is red and blue [0\u20131].": (BOTH, None, FIRST),
    # Backwards: its two ends. The original reads 1, blue.
    "It is red and blue [1-0].": (Read([(1, 0)], 1, 1), None, Read([(1,)], 0, 0)),
    # 3 does alone; 0 and 1 do not, and 3 makes up for either.
    "It is red and blue [0-1, 3].": (Read([(0, 1, 3)], 1, 1 / 3), None, FIRST),
    # 3 is not green, and 2 entails without it. The original reads 3.
    "It is green [3, 2-3].": (Read([(3, 2)], 1, 1 / 2), None, THIRD),
    # 3 does alone; the eight grey ones are of no use, 12 and 13 are wrong. The original reads 3.
    "It is red [3-13].": (
        Read([tuple(range(3, 14))], 1, 1 / 11),
        None,
        Read([(3,)], 1, 1),
    ),
    # A wrong one spares the other one; in the original it does not.
    "It is red [0][12].": (Read([(0, 12)], 1, 1 / 2), None, Read([(0, 12)], 0, 0)),
    "It is red [12].": (Read([(12,)], 0, 0),),
    # To the original [120/80] cites passage 120.
    "It is red [120/80] [0].": (RED, None, Read([(0, 120)], 0, 0)),
    "It is red [1234567].": (NONE, None, Read([(1234567,)], 0, 0)),
    # The original cites it: 0 does alone, green is of no use.
    "It is [2] red [0].": (RED, None, Read([(0, 2)], 1, 1 / 2)),
    # 0 does alone, the ten others are of no use. The original takes the first ten, in order.
    "It is red [11][10][9][8][7][6][5][4][2][1][0].": (
        Read([(11, 10, 9, 8, 7, 6, 5, 4, 2, 1, 0)], 1, 1 / 11),
        None,
        Read([(0, 1, 2, 4, 5, 6, 7, 8, 9, 10)], 1, 1 / 10),
    ),
    "- It is red [0]\n- It is blue [1]": (Read([(0,), (1,)], 1, 1),),
    # Borrowed, 3 entails the first one, too, and counts there as well.
    "It is red. It is blue [3].": (
        Read([(), (3,)], 1 / 2, 1),
        Read([(3,), (3,)], 1, 1),
    ),
    "It is red [0]. It is blue.": (Read([(0,), ()], 1 / 2, 1),),
    # Borrowed, green is of no use to the two.
    "It is red. It is blue. It is green [2].": (
        Read([(), (), (2,)], 1 / 3, 1),
        Read([(2,), (2,), (2,)], 1 / 3, 1 / 3),
    ),
    # Borrowed, 3 does for both, 12 for none; in the original 12 spoils both.
    "It is red. It is blue [3][12].": (
        Read([(), (3, 12)], 1 / 2, 1 / 2),
        Read([(3, 12), (3, 12)], 1, 1 / 2),
        Read([(3, 12), (3, 12)], 0, 0),
    ),
    # Borrowed from the next one that cites, not from the one before.
    "It is red [0]. It is blue. It is green [2].": (
        Read([(0,), (), (2,)], 2 / 3, 1),
        Read([(0,), (2,), (2,)], 2 / 3, 2 / 3),
    ),
}
WAYS = {
    "default": {"borrow": False},
    "borrow": {"borrow": True},
    "doclens": {"borrow": True, "compat": "doclens"},
}


@cache
def read(way: str) -> Judged:
    """All cases as documents of one author, who cites."""
    measures = ("citation_recall", "citation_precision")
    options = Questions.model_validate(
        {"measures": measures, "against": "full", **WAYS[way]}
    )
    texts = {text: {"sys": text} for text in CASES}
    return judged(texts, PASSAGES, options, Colours())


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("text", CASES)
def test_citations(text: str, way: str) -> None:
    ways = CASES[text][: list(WAYS).index(way) + 1]
    expected = next(each for each in ways[::-1] if each is not None)
    results = read(way)
    pairs = results.pairs[results.pairs["doc_id"] == text]
    places = pairs[pairs["measure"] == "citation_recall"]["position"]
    alone = pairs[pairs["measure"] == "citation_alone"]
    citations = {
        place: tuple(of["citation"]) for place, of in alone.groupby("position")
    }
    assert [citations.get(place, ()) for place in places] == expected.citations
    scores = results.scores[results.scores["doc_id"] == text].set_index("metric")
    compat, borrow = (
        "none" if way != "doclens" else way,
        "no" if way == "default" else "yes",
    )
    assert (
        scores["recipe"]
        .str.contains(f"|borrow:{borrow}|compat:{compat}|", regex=False)
        .all()
    )
    assert scores["value"]["citation_recall"] == pytest.approx(expected.recall)
    precision = scores["value"]["citation_precision"]
    assert (None if pd.isna(precision) else precision) == pytest.approx(
        expected.precision
    )


def test_the_words_are_those_that_the_original_leaves() -> None:
    words = read("doclens").pairs.set_index("doc_id")["hypothesis"].astype(str)
    for text, left in (
        ("It is red and blue [0-1].", "It is red and blue-1."),
        ("It is red [120/80] [0].", "It is red/80."),
        ("It is red and blue [0, 1].", "It is red and blue, 1."),
    ):
        assert set(words[[text]]) == {left}

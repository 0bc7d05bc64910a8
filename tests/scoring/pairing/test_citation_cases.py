"""What statements cite and what that is worth: cases worked by hand, in three ways of reading.

Passage 0 says red, 1 blue, 2 green, 3 red and blue; 4 to 11 say grey, and there is no passage 12.
Passages entail a statement if they name its colours together (colours.py). Citation recall is the
share of entailed statements. A citation is of use if all citations of its statement entail it, and
this one does alone or the others do not; citation precision is the share of those.

`borrow` is the same where nothing is said, and `doclens` (compat) is then as `borrow` is.
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


class Case(NamedTuple):
    """A text, and how it is read: by default, with borrow, as DocLens's code does."""

    text: str
    default: Read
    borrow: Read | None = None
    doclens: Read | None = None


ONE = Read([(0,)], 1, 1)
NONE = Read([()], 0, None)
CASES = {
    "before the full stop": Case("It is red [0].", ONE),
    "after the full stop": Case("It is red. [0]", ONE),
    "after it without a blank": Case("It is red.[0]", ONE),
    "without a full stop": Case("It is red [0]", ONE),
    "between two full stops": Case("It is red. [0].", ONE),
    "within brackets": Case("(It is red [0].)", ONE),
    "leading noughts": Case("It is red [00].", ONE),
    # Neither is enough alone, and neither can be spared.
    "two groups": Case("It is red and blue [0][1].", Read([(0, 1)], 1, 1)),
    "two groups apart": Case("It is red and blue. [0] [1]", Read([(0, 1)], 1, 1)),
    # All together entail; 0 does alone; 1 does not, and 0 entails without it.
    "on both sides of the full stop": Case("It is red [0]. [1]", Read([(0, 1)], 1, 1 / 2)),
    "one of no use": Case("It is red [0][1].", Read([(0, 1)], 1, 1 / 2)),
    "each would do": Case("It is red [0][3].", Read([(0, 3)], 1, 1)),
    "both wrong": Case("It is green [0][1].", Read([(0, 1)], 0, 0)),
    # The original puts citations in ascending order.
    "in another order": Case(
        "It is red and blue [1][0].", Read([(1, 0)], 1, 1), None, Read([(0, 1)], 1, 1)
    ),
    "said twice": Case("It is red [0][0].", ONE),
    # The original reads the number behind the bracket, and red is not red and blue.
    "a list": Case(
        "It is red and blue [0, 1].", Read([(0, 1)], 1, 1), None, Read([(0,)], 0, 0)
    ),
    "a list with semicolons": Case(
        "It is red and blue [0; 1].", Read([(0, 1)], 1, 1), None, Read([(0,)], 0, 0)
    ),
    "a range": Case(
        "It is red and blue [0-1].", Read([(0, 1)], 1, 1), None, Read([(0,)], 0, 0)
    ),
    "a range with a dash": Case(
        "It is red and blue [0\u20131].", Read([(0, 1)], 1, 1), None, Read([(0,)], 0, 0)
    ),
    # Backwards: its two ends. The original reads 1, blue.
    "a range backwards": Case(
        "It is red and blue [1-0].", Read([(1, 0)], 1, 1), None, Read([(1,)], 0, 0)
    ),
    # 3 does alone; 0 and 1 do not, and 3 makes up for either.
    "a range and a list": Case(
        "It is red and blue [0-1, 3].", Read([(0, 1, 3)], 1, 1 / 3), None, Read([(0,)], 0, 0)
    ),
    # 3 is not green, and 2 entails without it. The original reads 3.
    "a range over what was said": Case(
        "It is green [3, 2-3].", Read([(3, 2)], 1, 1 / 2), None, Read([(3,)], 0, 0)
    ),
    # 3 does alone; the eight grey ones are of no use, 12 and 13 are wrong. The original reads 3.
    "a range past the last passage": Case(
        "It is red [3-13].", Read([tuple(range(3, 14))], 1, 1 / 11), None, Read([(3,)], 1, 1)
    ),
    # A wrong one spares the other one; in the original it does not.
    "one past the last passage": Case(
        "It is red [0][12].", Read([(0, 12)], 1, 1 / 2), None, Read([(0, 12)], 0, 0)
    ),
    "only one past the last passage": Case("It is red [12].", Read([(12,)], 0, 0)),
    # To the original [120/80] cites passage 120.
    "a bracket that is a value": Case(
        "It is red [120/80] [0].", ONE, None, Read([(0, 120)], 0, 0)
    ),
    "a bracket that is a speaker": Case("[doctor] It is red [0].", ONE),
    "a bracket with a word": Case("It is red [see 0].", NONE),
    "a number that is too long": Case(
        "It is red [1234567].", NONE, None, Read([(1234567,)], 0, 0)
    ),
    # The original cites it: 0 does alone, green is of no use.
    "a bracket in mid-sentence": Case(
        "It is [2] red [0].", ONE, None, Read([(0, 2)], 1, 1 / 2)
    ),
    # 0 does alone, the ten others are of no use. The original takes the first ten, in order.
    "more than ten": Case(
        "It is red [11][10][9][8][7][6][5][4][2][1][0].",
        Read([(11, 10, 9, 8, 7, 6, 5, 4, 2, 1, 0)], 1, 1 / 11),
        None,
        Read([(0, 1, 2, 4, 5, 6, 7, 8, 9, 10)], 1, 1 / 10),
    ),
    "two statements": Case("- It is red [0]\n- It is blue [1]", Read([(0,), (1,)], 1, 1)),
    "uncited": Case("It is red.", NONE),
    # Borrowed, 3 entails the first one, too, and counts there as well.
    "uncited before cited": Case(
        "It is red. It is blue [3].", Read([(), (3,)], 1 / 2, 1), Read([(3,), (3,)], 1, 1)
    ),
    "uncited at the end": Case("It is red [0]. It is blue.", Read([(0,), ()], 1 / 2, 1)),
    # Borrowed, green is of no use to the two.
    "two uncited": Case(
        "It is red. It is blue. It is green [2].",
        Read([(), (), (2,)], 1 / 3, 1),
        Read([(2,), (2,), (2,)], 1 / 3, 1 / 3),
    ),
    # Borrowed, 3 does for both, 12 for none; in the original 12 spoils both.
    "uncited before one past the last passage": Case(
        "It is red. It is blue [3][12].",
        Read([(), (3, 12)], 1 / 2, 1 / 2),
        Read([(3, 12), (3, 12)], 1, 1 / 2),
        Read([(3, 12), (3, 12)], 0, 0),
    ),
    # Borrowed from the next one that cites, not from the one before.
    "uncited between": Case(
        "It is red [0]. It is blue. It is green [2].",
        Read([(0,), (), (2,)], 2 / 3, 1),
        Read([(0,), (2,), (2,)], 2 / 3, 2 / 3),
    ),
}  # fmt: skip
WAYS = {
    "default": {"borrow": False},
    "borrow": {"borrow": True},
    "doclens": {"borrow": True, "compat": "doclens"},
}


@cache
def read(way: str) -> Judged:
    """All cases as documents of one author, who cites."""
    measures = ("citation_recall", "citation_precision")
    options = Questions.model_validate({"measures": measures, "against": "full", **WAYS[way]})
    texts = {name: {"sys": case.text} for name, case in CASES.items()}
    return judged(texts, PASSAGES, options, Colours())


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", CASES)
def test_citations(name: str, way: str) -> None:
    case = CASES[name]
    expected = case.default if way == "default" else case.borrow or case.default
    if way == "doclens":
        expected = case.doclens or expected
    found = read(way)
    pairs = found.pairs[found.pairs["doc_id"] == name]
    asked = pairs[pairs["measure"] == "citation_recall"]["position"]
    alone = pairs[pairs["measure"] == "citation_alone"]
    citations = {place: tuple(of["citation"]) for place, of in alone.groupby("position")}
    assert [citations.get(place, ()) for place in asked] == expected.citations
    scores = found.scores[found.scores["doc_id"] == name].set_index("metric")["value"]
    assert scores["citation_recall"] == pytest.approx(expected.recall)
    precision = scores["citation_precision"]
    assert (None if pd.isna(precision) else precision) == pytest.approx(expected.precision)


def test_the_words_are_those_that_the_original_leaves() -> None:
    said = read("doclens").pairs.set_index("doc_id")["hypothesis"].astype(str)
    words = {name: set(said[[name]]) for name in ("a range", "a bracket that is a value", "a list")}
    assert words == {
        "a range": {"It is red and blue-1."},
        "a bracket that is a value": {"It is red/80."},
        "a list": {"It is red and blue, 1."},
    }


def test_recipes_say_how_citations_were_read() -> None:
    recipes = {way: read(way).scores["recipe"].iloc[0] for way in WAYS}
    assert "|borrow:no|compat:none|" in recipes["default"]
    assert "|borrow:yes|compat:none|" in recipes["borrow"]
    assert "|borrow:yes|compat:doclens|" in recipes["doclens"]

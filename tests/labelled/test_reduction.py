"""From judgments of premises to the verdict on an item, case by case."""

import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.labelled.examine import reduce_verdicts
from metassay.tables.judge_tests import VERDICTS
from metassay.tables.parquet import empty

NONE = None


def tables(*items, instrument="entailment"):
    """Pairs and judgments of items: each a list of (status, label, probability), one a premise."""
    pairs, judgments = [], []
    for number, premises in enumerate(items):
        for position, (status, label, probability) in enumerate(premises):
            pair = f"i{number}p{position}"
            pairs.append((f"i{number}", position, pair, instrument))
            judgments.append((pair, "j", status, label, probability, "sig"))
    names = ["pair_id", "judge", "status", "label", "probability", "recipe"]
    return (
        pd.DataFrame(pairs, columns=["doc_id", "position", "pair_id", "instrument"]),
        pd.DataFrame(judgments, columns=names).astype({"probability": "float64"}),
    )


def verdict(*premises, instrument="entailment"):
    """Status, label, probability and deciding premise of one item."""
    made = reduce_verdicts(*tables(premises, instrument=instrument)).iloc[0]
    said = (made["status"], made["label"], made["probability"], made["position"])
    return tuple(None if pd.isna(value) else value for value in said)


YES, NO = ("ok", "entailed", 0.9), ("ok", "not_entailed", 0.2)
UNSURE, FAILED, CUT = ("abstained", NONE, 0.5), ("refused", NONE, NONE), ("truncated", NONE, NONE)


@pytest.mark.parametrize(
    ("premises", "expected"),
    [
        ([YES], ("ok", "entailed", 0.9, 0)),
        ([NO], ("ok", "not_entailed", 0.2, 0)),
        ([NO, YES, ("ok", "entailed", 0.95)], ("ok", "entailed", 0.95, 2)),
        ([NO, ("ok", "not_entailed", 0.4)], ("ok", "not_entailed", 0.4, 1)),
        # One that entails it decides, whatever came of the others; but then the largest
        # probability is not known.
        ([FAILED, YES], ("ok", "entailed", NONE, 1)),
        ([UNSURE, YES], ("ok", "entailed", 0.9, 1)),
        # None does, and one might have.
        ([NO, FAILED], ("refused", NONE, NONE, NONE)),
        ([NO, UNSURE], ("abstained", NONE, 0.5, NONE)),
        ([UNSURE, UNSURE], ("abstained", NONE, 0.5, NONE)),
        # A failure says more than an abstention; the first one is told.
        ([UNSURE, CUT, FAILED], ("truncated", NONE, NONE, NONE)),
        # Of equal premises the first decides; a judge without probabilities decides, too.
        ([YES, YES], ("ok", "entailed", 0.9, 0)),
        ([("ok", "not_entailed", NONE), ("ok", "entailed", NONE)], ("ok", "entailed", NONE, 1)),
    ],
)
def test_two_labels(premises, expected):
    assert verdict(*premises) == expected


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["neutral"], "neutral"),
        (["neutral", "contradicted"], "contradicted"),
        (["contradicted", "entailed", "neutral"], "entailed"),
        (["contradicted", "neutral", "neutral"], "contradicted"),
    ],
)
def test_three_labels(labels, expected):
    premises = [("ok", label, NONE) for label in labels]
    said = verdict(*premises, instrument="three_way")
    assert said == ("ok", expected, NONE, labels.index(expected))
    # What might still be entailed is not known to be contradicted.
    assert verdict(*premises, FAILED, instrument="three_way")[1] == (
        "entailed" if expected == "entailed" else NONE
    )


def test_one_row_per_item_and_judge_counts_premises():
    pairs, judgments = tables([NO, YES], [NO, FAILED, UNSURE])
    again = judgments.assign(judge="k", status="error", label=None, probability=None)
    made = reduce_verdicts(pairs, pd.concat([judgments, again], ignore_index=True))
    assert list(made.columns) == list(VERDICTS.columns)
    rows = made[["item", "judge", "n_premises", "n_judged"]].to_numpy().tolist()
    assert rows == [["i0", "j", 2, 2], ["i1", "j", 3, 1], ["i0", "k", 2, 0], ["i1", "k", 3, 0]]
    assert set(made["recipe"]) == {"verdict|sig|over premises: any entailed"}
    assert set(made.loc[made["judge"] == "k", "status"]) == {"error"}


def test_the_order_of_rows_changes_nothing():
    pairs, judgments = tables([NO, UNSURE, FAILED], [YES, NO], [NO, NO])
    made = reduce_verdicts(pairs, judgments)
    mixed = reduce_verdicts(
        pairs.sample(frac=1, random_state=1), judgments.sample(frac=1, random_state=2)
    )
    pd.testing.assert_frame_equal(made, mixed)


def test_a_judge_that_lacks_a_pair_is_told():
    pairs, judgments = tables([YES], [NO])
    with pytest.raises(
        BadInput, match=r"judgments: j has none for 1 pair\(s\).*item 'i1'; run the judge"
    ):
        reduce_verdicts(pairs, judgments.iloc[:1])


def test_no_judge_is_no_row():
    pairs, judgments = tables([YES])
    assert reduce_verdicts(pairs, judgments.iloc[:0]).equals(empty(VERDICTS))

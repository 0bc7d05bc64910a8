"""Which questions are drawn, and what belongs together."""

import pandas as pd
import pytest

from metassay.tables.judgments import JUDGMENTS
from metassay.tables.pairs import PAIRS
from metassay.tables.parquet import empty
from metassay.tracking.sentinel.anchors import (
    Drift,
    compare,
    draw_items,
    family,
    number_items,
    rank,
    stands_out,
    too_few_texts,
    verdicts,
)


def pairs(*rows: tuple[str, str, str, int, int]) -> pd.DataFrame:
    """measure, instrument, doc_id, position, citation; pair_id is these in a line."""
    columns = ["measure", "instrument", "doc_id", "position", "citation"]
    frame = pd.DataFrame(rows, columns=columns)
    frame["pair_id"] = [" ".join(map(str, row)) for row in rows]
    return frame.assign(author="blue", part="full").reindex(columns=list(PAIRS.columns))


def judgments(labels: dict[str, str | None]) -> pd.DataFrame:
    frame = empty(JUDGMENTS).reindex(range(len(labels)))
    frame["pair_id"], frame["label"] = list(labels), list(labels.values())
    frame["status"] = ["ok" if label else "error" for label in labels.values()]
    return frame


def test_questions_that_make_one_number_are_one_family():
    assert (
        family("citation_recall") == family("citation_alone") == family("citation_rest")
    )
    assert family("claim_recall") != family("claim_precision") != family("faithfulness")
    assert family("verdict") == "verdict"  # of a test of judges, no measure


def test_an_item_is_drawn_whole_or_not_at_all():
    rows = pairs(
        ("citation_recall", "attribution", "d0", 0, -1),
        ("citation_alone", "attribution_alone", "d0", 0, 3),
        ("citation_rest", "attribution_rest", "d0", 0, 3),
        ("citation_recall", "attribution", "d0", 1, -1),
        ("citation_alone", "attribution_alone", "d0", 1, 2),
        ("faithfulness", "entailment", "d0", 0, -1),
    )
    ids = rows["pair_id"].tolist()
    # The rest of the first statement was not needed; of the second one a question
    # failed.
    labels = dict.fromkeys(ids, "entailed") | {ids[4]: None}
    del labels[ids[2]]
    items = number_items(rows, judgments(labels))
    assert items.groupby("item").size().tolist() == [3, 2, 1]
    drawn = draw_items(items, 100, 1)
    assert set(drawn["pair_id"]) == {ids[0], ids[1], ids[2], ids[5]}
    assert drawn.loc[drawn["verdict"].notna(), "pair_id"].nunique() == 3
    assert set(drawn["stratum"]) == {
        "citation_alone: entailed",
        "faithfulness: entailed",
    }


def test_drawing_is_a_matter_of_the_seed_and_weighs_what_it_left_out():
    rows = pairs(*(("faithfulness", "entailment", f"d{n}", 0, -1) for n in range(40)))
    labels = ["not_entailed"] * 4 + ["entailed"] * 36
    items = number_items(
        rows, judgments(dict(zip(rows["pair_id"], labels, strict=True)))
    )
    once, again, other = (draw_items(items, 8, seed) for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(once, again)
    assert set(once["pair_id"]) != set(other["pair_id"])
    assert once.groupby("verdict")["weight"].first().to_dict() == {
        "entailed": 9,
        "not_entailed": 1,
    }
    assert (once["covered"] == 1).all()


def test_grades_are_verdicts_too():
    frame = judgments({"a": "x", "b": "x", "c": None}).assign(
        label=None, grade=[2.0, 3.0, None], status=["ok", "truncated", "error"]
    )
    assert verdicts(frame)["verdict"].tolist()[0] == "2"
    assert verdicts(frame)["verdict"].isna().tolist() == [False, True, True]
    assert rank("scale", "3") > rank("scale", "2.5")
    assert rank("three_way", "entailed") > rank("three_way", "neutral")


NAMES = {"e": "entailed", "n": "not_entailed", "-": ""}


def anchors(stored: str, *repeats: str) -> pd.DataFrame:
    """One anchor of a text of its own for each letter: e for entailed, n for not, - for none."""
    numbers = range(len(stored))
    columns = {
        "pair_id": list(map(str, numbers)),
        "doc_id": [f"d{n}" for n in numbers],
        "author": "blue",
        "part": "full",
        "instrument": "entailment",
        "verdict": [NAMES[letter] for letter in stored],
        "repeats": [[NAMES[draw[n]] for draw in repeats] for n in numbers],
    }
    return pd.DataFrame(columns)


def drift(rows: pd.DataFrame, answers: str) -> Drift:
    """Compare anchors with the answers of today."""
    verdicts = [NAMES[letter] or None for letter in answers]
    current = pd.DataFrame(
        {"pair_id": list(map(str, range(len(answers)))), "verdict": verdicts}
    )
    result = compare(rows, current, 0.02)
    assert result is not None
    return result


def test_changes_and_their_sum_are_counted_against_the_stored_verdicts():
    result = drift(anchors("eennnn", "eennnn", "nennnn"), "enenen")
    assert (result.changed.total, result.shift.total) == (3, 1)
    assert result.changed.expected == 1 / 2  # of the two repetitions one has one
    assert result.flips == {
        ("entailed", "not_entailed"): 1,
        ("not_entailed", "entailed"): 2,
    }
    # Three or four of four, each with a chance of a third.
    assert result.changed.more == pytest.approx(4 * (1 / 3) ** 3 * 2 / 3 + (1 / 3) ** 4)
    always = drift(anchors("e" * 8, "n" * 8, "n" * 8), "n" * 8).changed  # is no news
    assert (always.total, always.expected, always.more) == (8, 8, 1)
    # what has no answer counts nowhere
    lacking = drift(anchors("eeee", "eee-", "eeee"), "en-n")
    assert (lacking.answered, lacking.failed, lacking.changed.total) == (2, 1, 1)
    nothing = pd.DataFrame({"pair_id": ["0", "1"], "verdict": [None, None]})
    assert compare(anchors("ee", "ee"), nothing, 0.02) is None


def test_answers_of_a_text_move_together():
    apart = anchors("e" * 12, "e" * 12, "e" * 12, "e" * 12)
    together = apart.assign(doc_id="d")
    alone, whole = (drift(rows, "n" * 12) for rows in (apart, together))
    assert stands_out(alone.changed, alone.shift, 0.02)
    assert whole.changed.more == pytest.approx(1 / 4)
    assert too_few_texts(together, 0.02)
    assert not too_few_texts(apart, 0.02)

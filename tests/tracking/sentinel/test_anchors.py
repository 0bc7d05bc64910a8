"""Which questions are drawn, and what belongs together."""

import pandas as pd
import pytest

from metassay.tables.judgments import JUDGMENTS
from metassay.tables.pairs import PAIRS
from metassay.tables.parquet import empty
from metassay.tracking.sentinel.anchors import (
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


def judgments(said: dict[str, str | None]) -> pd.DataFrame:
    frame = empty(JUDGMENTS).reindex(range(len(said)))
    frame["pair_id"] = list(said)
    frame["label"] = list(said.values())
    frame["status"] = ["ok" if label else "error" for label in said.values()]
    return frame


def test_questions_that_make_one_number_are_one_family() -> None:
    assert family("citation_recall") == family("citation_alone") == family("citation_rest")
    assert family("claim_recall") != family("claim_precision") != family("faithfulness")
    assert family("verdict") == "verdict"  # of a test of judges, no measure


def test_an_item_is_drawn_whole_or_not_at_all() -> None:
    rows = pairs(
        ("citation_recall", "attribution", "d0", 0, -1),
        ("citation_alone", "attribution_alone", "d0", 0, 3),
        ("citation_rest", "attribution_rest", "d0", 0, 3),
        ("citation_recall", "attribution", "d0", 1, -1),
        ("citation_alone", "attribution_alone", "d0", 1, 2),
        ("faithfulness", "entailment", "d0", 0, -1),
    )
    ids = rows["pair_id"].tolist()
    # The rest of the first statement was not needed; of the second one a question failed.
    said = dict.fromkeys(ids, "entailed") | {ids[4]: None}
    del said[ids[2]]
    items = number_items(rows, judgments(said))
    assert items.groupby("item").size().tolist() == [3, 2, 1]
    drawn = draw_items(items, 100, 1)
    assert set(drawn["pair_id"]) == {ids[0], ids[1], ids[2], ids[5]}
    assert drawn.loc[drawn["verdict"].notna(), "pair_id"].nunique() == 3
    assert set(drawn["stratum"]) == {"citation_alone: entailed", "faithfulness: entailed"}


def test_drawing_is_a_matter_of_the_seed_and_weighs_what_it_left_out() -> None:
    rows = pairs(*(("faithfulness", "entailment", f"d{n}", 0, -1) for n in range(40)))
    said = {one: "not_entailed" if n < 4 else "entailed" for n, one in enumerate(rows["pair_id"])}
    items = number_items(rows, judgments(dict(said)))
    once, again, other = (draw_items(items, 8, seed) for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(once, again)
    assert set(once["pair_id"]) != set(other["pair_id"])
    assert once.groupby("verdict")["weight"].first().to_dict() == {"entailed": 9, "not_entailed": 1}
    assert (once["covered"] == 1).all()


def test_grades_are_verdicts_too() -> None:
    frame = judgments({"a": "x", "b": "x", "c": None}).assign(
        label=None, grade=[2.0, 3.0, None], status=["ok", "truncated", "error"]
    )
    assert verdicts(frame)["verdict"].tolist()[0] == "2"
    assert verdicts(frame)["verdict"].isna().tolist() == [False, True, True]
    assert rank("scale", "3") > rank("scale", "2.5")
    assert rank("three_way", "entailed") > rank("three_way", "neutral")


def anchors(stored: str, *repeats: str) -> pd.DataFrame:
    """One anchor of a text of its own for each letter: e for entailed, n for not, - for none."""
    names = {"e": "entailed", "n": "not_entailed", "-": ""}
    return pd.DataFrame(
        {
            "pair_id": [str(n) for n in range(len(stored))],
            "doc_id": [f"d{n}" for n in range(len(stored))],
            **{"author": "blue", "part": "full", "instrument": "entailment"},
            "verdict": [names[one] for one in stored],
            "repeats": [[names[draw[n]] for draw in repeats] for n in range(len(stored))],
        }
    )


def today(said: str) -> pd.DataFrame:
    names = {"e": "entailed", "n": "not_entailed", "-": None}
    verdict = [names[one] for one in said]
    return pd.DataFrame({"pair_id": [str(n) for n in range(len(said))], "verdict": verdict})


def test_changes_and_their_sum_are_counted_against_the_stored_verdicts() -> None:
    found = compare(anchors("eennnn", "eennnn", "nennnn"), today("enenen"), 0.02)
    assert found is not None
    assert (found.changed.total, found.shift.total) == (3, 1)
    assert found.changed.expected == 1 / 2  # of the two repetitions one has one
    assert found.flips == {("entailed", "not_entailed"): 1, ("not_entailed", "entailed"): 2}
    # Three or four of four, each with a chance of a third.
    assert found.changed.more == pytest.approx(4 * (1 / 3) ** 3 * 2 / 3 + (1 / 3) ** 4)


def test_an_item_that_always_differs_from_its_stored_verdict_is_no_news() -> None:
    found = compare(anchors("e" * 8, "n" * 8, "n" * 8), today("n" * 8), 0.02)
    assert found is not None
    assert (found.changed.total, found.changed.expected, found.changed.more) == (8, 8, 1)


def test_what_has_no_answer_is_in_no_number() -> None:
    found = compare(anchors("eeee", "eee-", "eeee"), today("en-n"), 0.02)
    assert found is not None
    assert (found.answered, found.failed, found.changed.total) == (2, 1, 1)
    assert compare(anchors("ee", "ee"), today("--"), 0.02) is None


def test_answers_of_one_text_move_together() -> None:
    apart = anchors("e" * 12, "e" * 12, "e" * 12, "e" * 12)
    together = apart.assign(doc_id="d")
    alone, whole = (compare(one, today("n" * 12), 0.02) for one in (apart, together))
    assert alone is not None
    assert whole is not None
    assert stands_out(alone.changed, alone.shift, 0.02)
    assert whole.changed.more == pytest.approx(1 / 4)
    assert too_few_texts(together, 0.02)
    assert not too_few_texts(apart, 0.02)

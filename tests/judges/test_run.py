"""Asking a judge every distinct question once."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from metassay import tables
from metassay.judges import run
from metassay.judges.protocol import Pair, Verdict
from metassay.judges.run import judge_pairs
from metassay.pairing.pairs import pair_id

YES = Verdict("ok", "entailed", probability=0.9, explanation="it says so", tokens=12)
NO = Verdict("ok", "not_entailed")
LOST = Verdict("truncated", None, attempts=3)


class Scripted:
    """A judge that knows these answers and fails on any other pair."""

    signature = "scripted,1"

    def __init__(self, script: Mapping[tuple[str, str], Verdict]) -> None:
        self.script = script
        self.heard: list[list[tuple[str, str]]] = []

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        self.heard.append([(pair.premise, pair.hypothesis) for pair in pairs])
        for pair in pairs:
            assert pair.pair_id == pair_id(pair.instrument, pair.premise, pair.hypothesis)
            assert (pair.premise, pair.hypothesis) in self.script, f"unexpected: {pair.pair_id}"
        return [self.script[pair.premise, pair.hypothesis] for pair in pairs]


def pairs(*rows: tuple[str | None, str], instrument: str = "entailment") -> pd.DataFrame:
    """(premise, hypothesis); a null premise is settled."""
    frame = pd.DataFrame(list(rows), columns=["premise", "hypothesis"]).astype(
        {"premise": "category"}
    )
    return frame.assign(
        pair_id=[pair_id(instrument, premise, hypothesis) for premise, hypothesis in rows],
        instrument=instrument,
        settled=pd.Series([None if p else "no_evidence" for p, _ in rows], dtype="str"),
    )


def test_each_question_is_asked_once_by_premise_and_settled_ones_not(tmp_path: Path) -> None:
    judge = Scripted({("b", "x"): YES, ("a", "y"): NO, ("a", "x"): LOST})
    given = pairs(("b", "x"), ("a", "y"), (None, "z"), ("b", "x"), ("a", "x"))
    judgments = judge_pairs(given, "fake", judge)
    assert judge.heard == [[("a", "x"), ("a", "y"), ("b", "x")]]
    tables.write(tables.JUDGMENTS, judgments, tmp_path / "judgments.parquet")
    read = tables.read(tables.JUDGMENTS, tmp_path / "judgments.parquet").set_index("pair_id")
    yes, no, lost = (
        read.loc[pair_id("entailment", *question)]
        for question in (("b", "x"), ("a", "y"), ("a", "x"))
    )
    assert (yes["label"], yes["probability"], yes["explanation"]) == ("entailed", 0.9, "it says so")
    assert (yes["tokens"], yes["attempts"], yes["judge"], yes["recipe"]) == (
        12,
        1,
        "fake",
        "scripted,1",
    )
    assert (no["label"], pd.isna(no["probability"]), pd.isna(no["tokens"])) == (
        "not_entailed",
        True,
        True,
    )
    assert (lost["status"], pd.isna(lost["label"]), lost["attempts"]) == ("truncated", True, 3)


def test_order_is_that_of_the_texts_whatever_the_order_of_rows_and_categories() -> None:
    script = {(p, h): NO for p in "abc" for h in "xy"}
    given = pairs(*script)
    turned = given.iloc[::-1].reset_index(drop=True)
    turned["premise"] = turned["premise"].cat.set_categories(["c", "unused", "a", "b"])
    first, second = Scripted(script), Scripted(script)
    one, other = judge_pairs(given, "fake", first), judge_pairs(turned, "fake", second)
    assert first.heard == second.heard
    pd.testing.assert_frame_equal(one, other)


def test_batches_and_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "BATCH", 2)
    script = {("p", str(n)): (YES if n else NO) for n in range(5)}
    judge, told = Scripted(script), list[int]()
    judgments = judge_pairs(pairs(*script), "fake", judge, progress=told.append)
    assert [len(batch) for batch in judge.heard] == [2, 2, 1]
    assert told == [2, 2, 1]
    assert judgments["label"].tolist().count("not_entailed") == 1
    assert len(judgments) == 5


def test_nothing_to_ask(tmp_path: Path) -> None:
    judgments = judge_pairs(pairs((None, "x")), "fake", Scripted({}))
    tables.write(tables.JUDGMENTS, judgments, tmp_path / "judgments.parquet")
    assert judgments.empty


@pytest.mark.parametrize("given", [[], [NO, NO]])
def test_a_wrong_number_of_verdicts_names_the_judge_and_the_counts(given: list[Verdict]) -> None:
    class Miscounting:
        signature = "wrong"

        def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
            return given

    with pytest.raises(RuntimeError, match=f"judge 'fake' gave {len(given)} verdicts for 1 pairs"):
        judge_pairs(pairs(("p", "h")), "fake", Miscounting())


@pytest.mark.parametrize("verdict", [Verdict("ok", None), Verdict("error", "entailed")])
def test_a_label_goes_with_ok_and_with_nothing_else(verdict: Any) -> None:
    with pytest.raises(
        RuntimeError, match=r"judge 'fake': pair_id .*a label goes with status 'ok'"
    ):
        judge_pairs(pairs(("secret", "words")), "fake", Scripted({("secret", "words"): verdict}))


def test_the_scripted_judge_fails_on_an_unexpected_pair() -> None:
    with pytest.raises(AssertionError, match="unexpected"):
        judge_pairs(pairs(("p", "h")), "fake", Scripted({}))

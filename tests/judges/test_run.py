"""Asking a judge every distinct question once."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from metassay.core import progress
from metassay.core.errors import BadInput
from metassay.core.progress import PLACE
from metassay.judges.criteria import RUBRIC
from metassay.judges.protocol import Judge, Judgment, Pair
from metassay.judges.run import judge_pairs
from metassay.scoring.pairing.pairs import pair_id
from metassay.tables import parquet
from metassay.tables.judgments import JUDGMENTS
from tests.judges.rubric_setup import BACKGROUND, FREE, SYMPTOMS, asks

YES = Judgment("ok", "entailed", probability=0.9, explanation="it says so", tokens=12)
NO = Judgment("ok", "not_entailed")
LOST = Judgment("truncated", None, attempts=3)


class Scripted:
    """A judge that knows these answers and fails on any other pair."""

    signature = "scripted,1"
    notes = ()

    def __init__(self, script: Mapping[tuple[str, str], Judgment]) -> None:
        self.script = script
        self.heard: list[list[tuple[str, str]]] = []

    def judge(self, pairs: Sequence[Pair]) -> list[Judgment | None]:
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
        measure="m",
        part="full",
        context=None,
        author="a",
        settled=pd.Series([None if p else "no_evidence" for p, _ in rows], dtype="str"),
    )


GRADED = ("entailment", "support_grade")


def ask(given: pd.DataFrame, judge: Judge, **others: Any) -> pd.DataFrame:
    return judge_pairs(given, "fake", judge, GRADED, **others)


def test_each_question_is_asked_once_by_premise_and_settled_ones_not(tmp_path: Path) -> None:
    judge = Scripted({("b", "x"): YES, ("a", "y"): NO, ("a", "x"): LOST})
    given = pairs(("b", "x"), ("a", "y"), (None, "z"), ("b", "x"), ("a", "x"))
    judgments = ask(given, judge)
    assert judge.heard == [[("a", "x"), ("a", "y"), ("b", "x")]]
    parquet.write(JUDGMENTS, judgments, tmp_path / "judgments.parquet")
    read = parquet.read(JUDGMENTS, tmp_path / "judgments.parquet").set_index("pair_id")
    yes, no, lost = (
        read.loc[pair_id("entailment", *question)]
        for question in (("b", "x"), ("a", "y"), ("a", "x"))
    )
    names = ["label", "probability", "explanation", "tokens", "attempts", "judge", "recipe"]
    known = ["entailed", 0.9, "it says so", 12, 1, "fake", "scripted,1"]
    assert yes[names].tolist() == known
    assert no["label"] == "not_entailed"
    assert no[["probability", "explanation", "tokens"]].isna().all()
    assert (lost["status"], pd.isna(lost["label"]), lost["attempts"]) == ("truncated", True, 3)


def test_order_is_that_of_the_texts_whatever_the_order_of_rows_and_categories() -> None:
    script = {(p, h): NO for p in "abc" for h in "xy"}
    given = pairs(*script)
    turned = given.iloc[::-1].reset_index(drop=True)
    turned["premise"] = turned["premise"].cat.set_categories(["c", "unused", "a", "b"])
    first, second = Scripted(script), Scripted(script)
    one, other = ask(given, first), ask(turned, second)
    assert first.heard == second.heard
    pd.testing.assert_frame_equal(one, other)


def test_calls_have_whole_groups_and_progress_is_told(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv(PLACE, str(tmp_path / "far"))
    monkeypatch.setattr(progress, "_SECONDS", 0.0)
    script = {(p, str(n)): (YES if n else NO) for p in "pqr" for n in range(2)}
    far: list[str] = []

    class Looking(Scripted):
        def judge(self, pairs: Sequence[Pair]) -> list[Judgment | None]:
            far.extend(path.read_text() for path in tmp_path.iterdir())
            return super().judge(pairs)

    judge = Looking(script)
    judgments = ask(pairs(*script), judge, batch=3)
    assert [[premise for premise, _ in handed] for handed in judge.heard] == [[*"ppqq"], [*"rr"]]
    assert far == ["questions 4 of 6"]
    assert judgments["label"].tolist().count("not_entailed") == 3
    assert len(judgments) == 6


def test_questions_on_one_statement_s_citations_come_together() -> None:
    together, other = pairs(("a b", "x"), ("c", "x"), instrument="attribution").iloc[[0]], "a b"
    alone = pairs(("a", "x"), ("b", "x"), instrument="attribution_alone").assign(context=other)
    rest = pairs(("b", "x"), instrument="attribution_rest").assign(context=other)
    given = pd.concat([rest, pairs(("a", "x"), instrument="attribution"), alone, together])

    class Counting(Scripted):
        def judge(self, pairs: Sequence[Pair]) -> list[Judgment | None]:
            self.heard.append([(pair.instrument, pair.premise) for pair in pairs])
            return [YES if pair.context is None else None for pair in pairs]

    judge = Counting({})
    instruments = ("attribution", "attribution_alone", "attribution_rest")
    judgments = judge_pairs(given.reset_index(drop=True), "fake", judge, instruments, batch=1)
    assert judge.heard == [
        [("attribution", "a")],
        [
            ("attribution", "a b"),
            ("attribution_alone", "a"),
            ("attribution_alone", "b"),
            ("attribution_rest", "b"),
        ],
    ]
    assert len(judgments) == 2  # answers that nobody needs have no row


def test_nothing_to_ask(tmp_path: Path) -> None:
    judgments = ask(pairs((None, "x")), Scripted({}))
    parquet.write(JUDGMENTS, judgments, tmp_path / "judgments.parquet")
    assert judgments.empty


@pytest.mark.parametrize("given", [[], [NO, NO]])
def test_a_wrong_number_of_judgments_names_the_judge_and_the_counts(
    given: list[Judgment], monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = Scripted({})
    monkeypatch.setattr(judge, "judge", lambda _: list(given))
    with pytest.raises(RuntimeError, match=f"judge 'fake' gave {len(given)} judgments for 1 pairs"):
        ask(pairs(("p", "h")), judge)


@pytest.mark.parametrize(
    ("instrument", "judgment", "wanted"),
    [
        ("entailment", Judgment("ok"), "a label, one of entailed, not_entailed, and no grade"),
        ("entailment", Judgment("error", "entailed"), "else neither"),
        ("entailment", Judgment("ok", "neutral"), "one of entailed, not_entailed"),
        ("entailment", Judgment("ok", "entailed", grade=3), "and no grade"),
        ("support_grade", Judgment("ok"), "a grade from 0 to 3 and no label"),
        ("support_grade", Judgment("ok", "entailed"), "a grade from 0 to 3 and no label"),
        ("support_grade", Judgment("ok", "entailed", grade=3), "no label"),
        ("support_grade", Judgment("ok", grade=4), "a grade from 0 to 3"),
        ("support_grade", Judgment("refused", grade=1), "else neither"),
    ],
)
def test_answers_are_those_of_the_instrument(
    instrument: str, judgment: Judgment, wanted: str
) -> None:
    asked = pairs(("secret", "words"), instrument=instrument)
    with pytest.raises(RuntimeError, match=rf"judge 'fake': pair_id .*{wanted}") as error:
        ask(asked, Scripted({("secret", "words"): judgment}))
    assert "secret" not in str(error.value)


def test_labels_and_grades_in_one_batch(tmp_path: Path) -> None:
    asked = pd.concat([pairs(("p", "h")), pairs(("p", "g"), instrument="support_grade")])
    asked["premise"] = asked["premise"].astype("category")
    judge = Scripted({("p", "h"): NO, ("p", "g"): Judgment("ok", grade=2)})
    parquet.write(JUDGMENTS, ask(asked, judge), tmp_path / "judgments.parquet")
    read = parquet.read(JUDGMENTS, tmp_path / "judgments.parquet").set_index("pair_id")
    assert read.loc[pair_id("entailment", "p", "h"), "label"] == "not_entailed"
    assert read.loc[pair_id("support_grade", "p", "g"), "grade"] == 2


class Saying(Scripted):
    """The same to every pair."""

    def __init__(self, judgment: Judgment) -> None:
        super().__init__({})
        self.judgment = judgment

    def judge(self, pairs: Sequence[Pair]) -> list[Judgment | None]:
        self.heard.append([(pair.premise, pair.hypothesis) for pair in pairs])
        return [self.judgment] * len(pairs)


def of_rubric(*criteria: dict[str, Any], texts: Sequence[str] = ("text",)) -> pd.DataFrame:
    asked = [asks(criterion, text) for text in texts for criterion in criteria]
    return pd.DataFrame(asked).assign(settled=None, measure="m")


@pytest.mark.parametrize(
    ("criterion", "judgment", "fits"),
    [
        (BACKGROUND, Judgment("ok", grade=1), True),
        (BACKGROUND, Judgment("ok", grade=2.5), True),  # as the mean of a jury
        (BACKGROUND, Judgment("ok", grade=0), False),
        (BACKGROUND, Judgment("ok", grade=3.5), False),
        (BACKGROUND, Judgment("ok", grade=float("inf")), False),
        (BACKGROUND, Judgment("ok", "entailed"), False),
        (BACKGROUND, Judgment("ok"), False),
        (BACKGROUND, Judgment("abstained", grade=1), False),
        (SYMPTOMS, Judgment("ok", grade=2), True),
        (SYMPTOMS, Judgment("ok", grade=3), False),
        (SYMPTOMS, Judgment("ok", grade=-1), False),
        (FREE, Judgment("ok", grade=99), True),
    ],
)
def test_grades_are_those_that_the_criterion_allows(
    criterion: dict[str, Any], judgment: Judgment, fits: bool
) -> None:
    def judged() -> pd.DataFrame:
        return judge_pairs(of_rubric(criterion), "fake", Saying(judgment), RUBRIC)

    if fits:
        assert judged()["grade"].tolist() == [judgment.grade]
    else:
        with pytest.raises(RuntimeError, match=r"judge .fake.: pair_id .* wants a grade that the"):
            judged()


def test_criteria_of_one_text_come_together_and_quotes_are_kept(tmp_path: Path) -> None:
    criteria = [BACKGROUND | {"criterion": name, "asks": name} for name in "abc"]
    judge = Saying(Judgment("ok", grade=2, quotes=("x", "y"), quote_starts=(0, -1)))
    rows = judge_pairs(of_rubric(*criteria, texts=["s", "t"]), "fake", judge, RUBRIC, batch=1)
    assert [[text for _, text in call] for call in judge.heard] == [["s"] * 3, ["t"] * 3]
    parquet.write(JUDGMENTS, rows, tmp_path / "judgments.parquet")
    read = parquet.read(JUDGMENTS, tmp_path / "judgments.parquet")
    assert [list(one) for one in read["quotes"]] == [["x", "y"]] * 6
    assert [list(one) for one in read["quote_starts"]] == [[0, -1]] * 6


def test_what_a_judge_cannot_answer_is_said_before_it_is_asked() -> None:
    judge = Scripted({})
    with pytest.raises(BadInput, match="judges > fake: cannot answer instrument 'entailment'"):
        judge_pairs(pairs(("p", "h")), "fake", judge, ("support_grade",))
    assert judge.heard == []
    assert judge_pairs(pairs((None, "h")), "fake", judge, ()).empty  # it is asked nothing

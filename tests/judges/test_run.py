"""Asking a judge every distinct question once."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from metassay.core import progress
from metassay.core.errors import BadInput
from metassay.core.progress import PLACE
from metassay.judges.criteria import RUBRIC
from metassay.judges.protocol import Judgment, Pair
from metassay.judges.run import judge_pairs
from metassay.scoring.pairing.pairs import pair_id
from metassay.tables.judgments import JUDGMENTS
from metassay.tables.parquet import round_trip
from tests.judges.rubric_setup import BACKGROUND, FREE, SYMPTOMS, asks

YES = Judgment("ok", "entailed", probability=0.9, explanation="it says so", tokens=12)
NO = Judgment("ok", "not_entailed")
GRADED = ("entailment", "support_grade")


class Scripted:
    """A judge that answers each pair by a function."""

    signature = "scripted,1"
    notes = ()

    def __init__(
        self, answer: Callable[[Pair], Judgment | None] = lambda _: NO
    ) -> None:
        self.answer = answer
        self.calls: list[list[tuple[str, str]]] = []

    def judge(self, pairs: Sequence[Pair]) -> list[Judgment | None]:
        self.calls.append([(pair.premise, pair.hypothesis) for pair in pairs])
        return [self.answer(pair) for pair in pairs]


def pairs(
    *rows: tuple[str | None, str], instrument: str = "entailment"
) -> pd.DataFrame:
    """(premise, hypothesis); a null premise is settled."""
    frame = pd.DataFrame(list(rows), columns=["premise", "hypothesis"])
    settled = pd.Series([None if p else "no_evidence" for p, _ in rows], dtype="str")
    return frame.astype({"premise": "category"}).assign(
        instrument=instrument,
        measure="m",
        part="full",
        context=None,
        author="a",
        settled=settled,
        pair_id=[
            pair_id(instrument, premise, hypothesis) for premise, hypothesis in rows
        ],
    )


def ask(frame: pd.DataFrame, judge: Scripted, **others: Any) -> pd.DataFrame:
    return round_trip(JUDGMENTS, judge_pairs(frame, "fake", judge, GRADED, **others))


def test_each_question_is_asked_once_by_premise_and_settled_ones_not() -> None:
    script = {"b": YES, "a": NO, "c": Judgment("truncated", None, attempts=3)}
    judge = Scripted(lambda pair: script[pair.premise])
    rows = ask(
        pairs(("b", "x"), ("a", "y"), (None, "z"), ("b", "x"), ("c", "x")), judge
    )
    assert judge.calls == [[("a", "y"), ("b", "x"), ("c", "x")]]
    rows = rows.set_index("pair_id")
    yes, no, lost = (
        rows.loc[pair_id("entailment", *each)]
        for each in (("b", "x"), ("a", "y"), ("c", "x"))
    )
    names = [
        "label",
        "probability",
        "explanation",
        "tokens",
        "attempts",
        "judge",
        "recipe",
    ]
    known = ["entailed", 0.9, "it says so", 12, 1, "fake", "scripted,1"]
    assert yes[names].tolist() == known
    assert no["label"] == "not_entailed"
    assert no[["probability", "explanation", "tokens"]].isna().all()
    assert (lost["status"], pd.isna(lost["label"]), lost["attempts"]) == (
        "truncated",
        True,
        3,
    )
    assert ask(pairs((None, "x")), judge).empty


def test_order_is_that_of_the_texts_whatever_the_order_of_rows_and_categories() -> None:
    frame = pairs(*((p, h) for p in "abc" for h in "xy"))
    turned = frame.iloc[::-1].reset_index(drop=True)
    turned["premise"] = turned["premise"].cat.set_categories(["c", "unused", "a", "b"])
    first, second = Scripted(), Scripted()
    pd.testing.assert_frame_equal(ask(frame, first), ask(turned, second))
    assert first.calls == second.calls


def test_calls_have_whole_groups_and_progress_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PLACE, str(tmp_path / "far"))
    monkeypatch.setattr(progress, "_SECONDS", 0.0)
    far: set[str] = set()

    def answer(pair: Pair) -> Judgment:
        far.update(path.read_text() for path in tmp_path.iterdir())
        return YES if pair.hypothesis == "1" else NO

    judge = Scripted(answer)
    rows = ask(pairs(*((p, n) for p in "pqr" for n in "01")), judge, batch=3)
    assert [[premise for premise, _ in call] for call in judge.calls] == [
        [*"ppqq"],
        [*"rr"],
    ]
    assert far == {"questions 4 of 6"}
    assert sorted(rows["label"]) == ["entailed"] * 3 + ["not_entailed"] * 3


def test_questions_on_one_statement_s_citations_come_together() -> None:
    """A single citation, and a statement with two; answers that nobody needs have no row."""
    both = [
        ("attribution", "a", None),
        ("attribution", "a b", None),
        *(("attribution_alone", p, "a b") for p in "ab"),
        ("attribution_rest", "b", "a b"),
    ]
    frames = [
        pairs((p, "x"), instrument=i).assign(context=context) for i, p, context in both
    ]
    judge = Scripted(lambda pair: YES if pair.context is None else None)
    frame = pd.concat(frames[::-1], ignore_index=True)
    rows = judge_pairs(frame, "fake", judge, {name for name, *_ in both}, batch=1)
    assert judge.calls == [[("a", "x")], [(p, "x") for p in ("a b", "a", "b", "b")]]
    assert len(rows) == 2


@pytest.mark.parametrize("judgments", [[], [NO, NO]])
def test_a_wrong_number_of_judgments_names_the_judge_and_the_counts(
    judgments: list[Judgment], monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = Scripted()
    monkeypatch.setattr(judge, "judge", lambda _: list(judgments))
    message = f"judge 'fake' gave {len(judgments)} judgments for 1 pairs"
    with pytest.raises(RuntimeError, match=message):
        ask(pairs(("p", "h")), judge)


@pytest.mark.parametrize(
    ("instrument", "judgment", "wanted"),
    [
        (
            "entailment",
            Judgment("ok"),
            "a label, one of entailed, not_entailed, and no grade",
        ),
        ("entailment", Judgment("error", "entailed"), "else neither"),
        ("entailment", Judgment("ok", "neutral"), "one of entailed, not_entailed"),
        ("entailment", Judgment("ok", "entailed", grade=3), "and no grade"),
        ("support_grade", Judgment("ok"), "a grade from 0 to 3 and no label"),
        (
            "support_grade",
            Judgment("ok", "entailed"),
            "a grade from 0 to 3 and no label",
        ),
        ("support_grade", Judgment("ok", "entailed", grade=3), "no label"),
        ("support_grade", Judgment("ok", grade=4), "a grade from 0 to 3"),
        ("support_grade", Judgment("refused", grade=1), "else neither"),
    ],
)
def test_answers_are_those_of_the_instrument(
    instrument: str, judgment: Judgment, wanted: str
) -> None:
    frame = pairs(("secret", "words"), instrument=instrument)
    with pytest.raises(
        RuntimeError, match=rf"judge 'fake': pair_id .*{wanted}"
    ) as error:
        ask(frame, Scripted(lambda _: judgment))
    assert "secret" not in str(error.value)


def test_labels_and_grades_in_one_batch() -> None:
    frame = pd.concat(
        [pairs(("p", "h")), pairs(("p", "g"), instrument="support_grade")]
    )
    frame["premise"] = frame["premise"].astype("category")
    judge = Scripted(
        lambda pair: NO if pair.hypothesis == "h" else Judgment("ok", grade=2)
    )
    rows = ask(frame, judge).set_index("pair_id")
    assert rows.loc[pair_id("entailment", "p", "h"), "label"] == "not_entailed"
    assert rows.loc[pair_id("support_grade", "p", "g"), "grade"] == 2


def of_rubric(
    *criteria: dict[str, Any], texts: Sequence[str] = ("text",)
) -> pd.DataFrame:
    questions = [asks(criterion, text) for text in texts for criterion in criteria]
    return pd.DataFrame(questions).assign(settled=None, measure="m")


@pytest.mark.parametrize(
    ("criterion", "judgment", "fits"),
    [
        # as of a jury
        *((BACKGROUND, Judgment("ok", grade=grade), True) for grade in (1, 2.5)),
        *(
            (BACKGROUND, Judgment("ok", grade=grade), False)
            for grade in (0, 3.5, float("inf"))
        ),
        *(
            (BACKGROUND, judgment, False)
            for judgment in (Judgment("ok", "entailed"), YES)
        ),
        *(
            (BACKGROUND, j, False)
            for j in (Judgment("ok"), Judgment("abstained", grade=1))
        ),
        *((SYMPTOMS, Judgment("ok", grade=grade), grade == 2) for grade in (2, 3, -1)),
        (FREE, Judgment("ok", grade=99), True),
    ],
)
def test_grades_are_those_that_the_criterion_allows(
    criterion: dict[str, Any], judgment: Judgment, fits: bool
) -> None:
    frame, judge = of_rubric(criterion), Scripted(lambda _: judgment)
    if fits:
        assert judge_pairs(frame, "fake", judge, RUBRIC)["grade"].tolist() == [
            judgment.grade
        ]
    else:
        with pytest.raises(
            RuntimeError, match=r"judge .fake.: pair_id .* wants a grade that the"
        ):
            judge_pairs(frame, "fake", judge, RUBRIC)


def test_criteria_of_one_text_come_together_and_quotes_are_stored() -> None:
    criteria = [BACKGROUND | {"criterion": name, "asks": name} for name in "abc"]
    judge = Scripted(
        lambda _: Judgment("ok", grade=2, quotes=("x", "y"), quote_starts=(0, -1))
    )
    rows = judge_pairs(
        of_rubric(*criteria, texts=["s", "t"]), "fake", judge, RUBRIC, batch=1
    )
    assert [[text for _, text in call] for call in judge.calls] == [
        ["s"] * 3,
        ["t"] * 3,
    ]
    stored = round_trip(JUDGMENTS, rows)
    assert stored["quotes"].map(list).tolist() == [["x", "y"]] * 6
    assert stored["quote_starts"].map(list).tolist() == [[0, -1]] * 6


def test_what_a_judge_cannot_answer_is_refused_before_it_is_asked() -> None:
    judge = Scripted()
    with pytest.raises(
        BadInput, match="judges > fake: cannot answer instrument 'entailment'"
    ):
        judge_pairs(pairs(("p", "h")), "fake", judge, ("support_grade",))
    assert judge.calls == []
    # it is asked nothing
    assert judge_pairs(pairs((None, "h")), "fake", judge, ()).empty

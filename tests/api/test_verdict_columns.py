"""Columns of verdicts: none is left out silently, no word is turned, and what is a pass is told."""

from pathlib import Path

import pandas as pd
import pytest

from metassay import judge_check
from metassay.cli.main import main
from metassay.core.errors import BadInput

ROWS = 12
YES = ["yes", "no", "yes", "yes", "no", "yes", "yes", "no", "no", "yes", "yes", "no"]
PEOPLE = ["yes", "no", "no", "yes", "no", "yes", "no", "no", "yes", "yes", "yes", "no"]


def frame(**columns: list[str]) -> pd.DataFrame:
    ids = [f"i{n}" for n in range(ROWS)]
    return pd.DataFrame({"item": ids, "judge": YES, "human": PEOPLE} | columns)


def with_word(words: list[str], **at: int) -> list[str]:
    """Return the words with others in the place of some."""
    cells = [*words]
    for word, place in at.items():
        cells[place] = word.replace("_", " ")
    return cells


def refused(table: pd.DataFrame, **options: object) -> str:
    with pytest.raises(BadInput) as caught:
        judge_check(table, **options)  # type: ignore[arg-type]
    return "\n".join(caught.value.problems)


def sensitivity(results: object) -> float:
    card = results.card  # type: ignore[attr-defined]
    return float(card.loc[card["statistic"] == "sensitivity", "value"].iloc[0])


# ---- one odd word


@pytest.mark.parametrize(
    "word", ["skip", "n/a:_resolved", "timeout", "parse_error", "?"]
)
@pytest.mark.parametrize("labels", [("yes", "no"), ("pass", "fail"), ("1", "0")])
def test_a_rater_with_an_odd_word_is_asked_about_and_then_counts(
    word: str, labels: tuple[str, str]
) -> None:
    known = dict(zip(("yes", "no"), labels, strict=True))
    table = frame(human_1=PEOPLE, human_2=YES, human_3=PEOPLE).drop(columns="human")
    table = table.replace(known)
    table.loc[[4, 7], "human_2"] = word.replace("_", " ")
    message = refused(table)
    assert "column 'human_2' has 2 cells that are neither a pass nor a fail" in message
    shown = repr(word.replace("_", " "))
    assert f"2 {shown} (first: row 4)" in message or f"2 {shown}" in message
    assert f"say missing={shown}" in message
    results = judge_check(table, missing=word.replace("_", " "))
    assert "12 labelled by 3 raters" in results.notes[0]
    assert f"taken as missing in column 'human_2': 2 {shown}" in results.notes


def test_the_remedy_of_the_command_names_the_words_of_all_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    columns = {
        "human_1": with_word(PEOPLE, skip=3),
        "human_2": with_word(YES, parse_error=5),
    }
    frame(**columns).drop(columns="human").to_csv("verdicts.csv", index=False)
    assert main(["judge-check", "verdicts.csv"]) == 2
    error = capsys.readouterr().err
    assert "--missing 'skip,parse error'" in error
    remedy = ["--missing", "skip", "parse error"]
    assert main(["judge-check", "verdicts.csv", *remedy]) == 0
    assert "labelled by 2 raters" in capsys.readouterr().out


def test_words_of_three_classes_are_classes_unless_some_are_a_pass() -> None:
    classes = ["entailment", "neutral", "contradiction"] * 4
    results = judge_check(frame(judge=classes, human=classes))
    assert any("3 classes without order" in note for note in results.notes)
    results = judge_check(frame(judge=classes, human=classes), passes="entailment")
    assert sensitivity(results) == 1


def test_columns_that_are_not_read_are_named() -> None:
    remark = ["a remark of several words"] * ROWS
    results = judge_check(frame(human_comment=remark, judge_model=["gpt-4"] * ROWS))
    assert "columns that are not read: 'human_comment', 'judge_model'" in results.notes


def test_the_command_prints_notes_that_the_first_screen_leaves_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    frame(confidence=["high", "low"] * 6).to_csv("verdicts.csv", index=False)
    assert main(["judge-check", "verdicts.csv"]) == 0
    assert "note: columns that are not read: 'confidence'" in capsys.readouterr().out


def test_a_word_between_yes_and_no_takes_no_judge_out() -> None:
    """Yes, unsure and no are grades in order, and yet a judge's column beside another's."""
    table = frame(judge_b=YES, human_2=YES)
    table.loc[3, "judge_b"] = "unsure"
    message = refused(table)
    assert "column 'judge_b' holds 'no', 'unsure', 'yes'" in message
    answered = judge_check(table, missing="unsure")
    assert "judge_b" in {*answered.card["judge"]}


@pytest.mark.parametrize("column", ["item", "rater"])
def test_an_empty_key_of_a_row_per_rater_is_asked_for(column: str) -> None:
    each = [frame().assign(rater=name) for name in ("ann", "ben")]
    table = pd.concat(each, ignore_index=True)
    assert "labelled by 2 raters" in judge_check(table).notes[0]
    table.loc[3, column] = ""
    assert f"row 3: column {column!r} is empty" in refused(table)


# ---- which end is better


@pytest.mark.parametrize(
    "name",
    [
        "toxic",
        "hallucination",
        "has_error",
        "bias",
        "unsafe",
        "contains_omission",
        "wrong",
    ],
)
def test_yes_is_a_fail_where_less_is_better(name: str) -> None:
    turned = {"yes": "no", "no": "yes"}
    named = (
        frame()
        .replace(turned)
        .set_axis(["item", f"{name}_judge", f"{name}_human"], axis=1)
    )
    results = judge_check(named)
    assert sensitivity(results) == sensitivity(judge_check(frame()))
    assert any(
        "'no' is a pass, 'yes' a fail, as less" in note for note in results.notes
    )
    numbers = named.replace({"yes": 1, "no": 0})
    results = judge_check(numbers)
    assert sensitivity(results) == sensitivity(judge_check(frame()))
    assert any("0 is a pass, 1 a fail, as less" in note for note in results.notes)


def test_a_probability_of_something_bad_is_turned() -> None:
    likely = {"yes": 0.9, "no": 0.2}
    table = frame(hallucination_judge=YES, hallucination_human=PEOPLE)
    table = table.drop(columns=["judge", "human"])
    table["hallucination_judge"] = table["hallucination_judge"].map(likely)
    results = judge_check(table)
    assert any(".5 and more is a fail" in note for note in results.notes)
    words = judge_check(table.assign(hallucination_judge=YES))
    assert sensitivity(results) == sensitivity(words)


@pytest.mark.parametrize("words", [("pass", "fail"), ("correct", "incorrect")])
def test_a_pass_is_a_pass_whatever_the_column_is_called(words: tuple[str, str]) -> None:
    known = dict(zip(("yes", "no"), words, strict=True))
    named = (
        frame().replace(known).set_axis(["item", "toxic_judge", "toxic_human"], axis=1)
    )
    assert sensitivity(judge_check(named)) == sensitivity(judge_check(frame()))


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (("error_free_judge", "error_free_human"), "does not tell which of"),
        (("judge", "hallucination_human"), "the name 'judge' does not tell which of"),
    ],
)
def test_an_end_that_no_name_tells_is_asked_for(
    names: tuple[str, str], words: str
) -> None:
    table = frame().set_axis(["item", *names], axis=1)
    message = refused(table)
    assert words in message
    assert "passes='no'" in message
    assert sensitivity(judge_check(table, passes="yes")) == sensitivity(
        judge_check(frame())
    )


def test_grades_of_which_less_is_better_are_asked_for_by_their_numbers() -> None:
    errors = [0, 1, 2, 0, 3, 0, 1, 0, 2, 0, 0, 1]
    flags = [int(n > 0) for n in errors]
    table = frame().drop(columns="human").assign(human_errors=errors)
    message = refused(table.drop(columns="judge").assign(errors_judge=flags))
    assert "numbers from 0 to 3, and less of it is better" in message
    assert "such as passes='0'" in message

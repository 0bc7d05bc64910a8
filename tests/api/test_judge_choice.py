"""`judge-check --choose`: the best of several judges in one table."""

import random

import pandas as pd
import pytest

from metassay import judge_check
from metassay.cli.main import main
from metassay.core.errors import BadInput


def verdicts(*rates, n=300, seed=3):
    """A column per judge, right on such a share of rows; three rows a document."""
    draw = random.Random(seed)
    rows = []
    for number in range(n):
        passes = draw.random() < 0.6
        row = {"id": f"r{number}", "doc_id": f"d{number // 3}"}
        for place, rate in enumerate(rates):
            right = draw.random() < rate
            row[f"judge_{'abcdefgh'[place]}"] = "pass" if passes == right else "fail"
        rows.append(row | {"human": "pass" if passes else "fail"})
    return pd.DataFrame(rows)


def test_a_better_judge_is_taken_and_its_honest_number_said():
    results = judge_check(verdicts(0.7, 0.7, 0.92), choose="agreement")
    table = results.table("choice").set_index("judge")
    assert table["chosen"].to_dict() == {
        "judge_a": False,
        "judge_b": False,
        "judge_c": True,
    }
    chosen = table.loc["judge_c"]
    assert chosen["outcome"] == "better"
    assert chosen["gain"] == pytest.approx(
        chosen["value"] - table.loc["judge_a", "value"]
    )
    assert chosen["n"] + chosen["n_choosing"] == 300
    assert results.answer[0].startswith(
        "The best of 3 judges by agreement is judge_c: "
    )
    assert results.answer[1].endswith(": take judge_c.")


def test_where_no_gain_is_shown_the_judge_in_use_stays():
    for seed in range(20):
        frame = verdicts(*[0.8] * 8, n=90, seed=seed)
        results = judge_check(frame, choose="agreement")
        choice = results.table("choice").set_index("judge")
        if choice["chosen"].idxmax() != "judge_a":
            break
    assert choice["outcome"].max() == "not shown"
    assert "no gain is shown. Keep judge_a; about" in results.answer[1]
    assert "labelled rows in all would show a gain of .05" in results.answer[1]


def test_the_judge_in_use_is_the_one_named_first():
    frame = verdicts(0.9, 0.6)
    names = ("judge_b", "judge_a")
    results = judge_check(frame, judge=names, choose="balanced_accuracy")
    table = results.table("choice").set_index("judge")
    assert table["in_use"].to_dict() == {"judge_b": True, "judge_a": False}
    assert table.loc["judge_a", "outcome"] == "better"


@pytest.mark.parametrize(
    ("frame", "choose", "remedy"),
    [
        (verdicts(0.8, 0.9), "f1", "write one of agreement, balanced_accuracy"),
        (
            verdicts(0.8),
            "agreement",
            "there is only one judge, judge_a; choose= needs several",
        ),
        (verdicts(0.8, 0.9, n=30), "agreement", "10 documents .* needs 12 or more"),
    ],
)
def test_what_cannot_be_chosen_is_refused(frame, choose, remedy):
    with pytest.raises(BadInput, match=remedy):
        judge_check(frame, choose=choose)


def test_the_command_writes_the_choice(tmp_path, capsys):
    verdicts(0.7, 0.92).to_csv(tmp_path / "many.csv", index=False)
    words = ["judge-check", str(tmp_path / "many.csv"), "--choose", "agreement"]
    assert main([*words, "--out", str(tmp_path / "out")]) == 0
    assert "The best of 2 judges by agreement is judge_b" in capsys.readouterr().out
    assert pd.read_csv(tmp_path / "out/choice.csv")["chosen"].tolist() == [False, True]


def test_rows_that_take_no_part_are_counted():
    frame = verdicts(0.7, 0.9)
    frame.loc[:9, "judge_b"] = ""
    results = judge_check(frame, choose="agreement")
    table = results.table("choice")
    assert (table["n"] + table["n_choosing"]).unique().tolist() == [290]
    assert any(
        line.startswith("10 labelled rows without a verdict of every judge")
        for line in results.answer
    )


def test_chosen_labels_are_said_to_count_once():
    frame = verdicts(0.75, 0.9, n=900)
    unlabelled = (frame["judge_a"] == "pass") & (frame.index % 5 != 0)
    frame.loc[unlabelled, "human"] = ""
    results = judge_check(frame, choose="agreement")
    assert any("Labels were chosen, and here each" in line for line in results.answer)


def test_too_few_fails_for_balanced_accuracy_are_refused_and_agreement_answers():
    frame = verdicts(0.8, 0.9, n=60)
    frame["human"] = "pass"
    frame.loc[0, "human"] = "fail"
    with pytest.raises(
        BadInput, match=r"choose='balanced_accuracy' .* choose='agreement'"
    ):
        judge_check(frame, choose="balanced_accuracy")
    assert "choice" in judge_check(frame, choose="agreement").tables

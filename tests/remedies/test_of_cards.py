"""The refusals of `judge-check --card` and `--choose`: each remedy is followed to an answer."""

import pytest

from tests.remedies.following import Refusal, edit, retype, write


def _labelled(judges: str, rows: int) -> str:
    """Rows that people pass and fail in turn, and judges who err in every tenth."""
    lines = [f"id,{judges},human"]
    for number in range(rows):
        human = "pass" if number % 2 else "fail"
        wrong = "fail" if number % 2 else "pass"
        judge = wrong if number % 10 > 8 or number % 20 == 0 else human
        verdicts = ",".join([judge] * len(judges.split(",")))
        lines.append(f"r{number},{verdicts},{human}")
    return "\n".join(lines) + "\n"


def _card(judge: str, *statistics: str) -> str:
    """A card of so many rates of .85."""
    lines = ["judge,slice,statistic,value,n,n_effective"]
    lines += [f"{judge},all,{name},0.85,1000,1000" for name in statistics]
    return "\n".join(lines) + "\n"


LABELS = _labelled("judge", 600)
TWO_JUDGES = _labelled("judge_a,judge_b", 40)
CARD = _card("judge", "sensitivity", "specificity")
FILES = {"v.csv": LABELS, "old/card.csv": CARD}
CHOOSE = "judge-check v.csv --judge judge_a judge_b --human human --choose agreement"

REFUSALS: dict[str, Refusal] = {
    "a card that is not there": Refusal(
        "judge-check v.csv --card none",
        FILES,
        "none: there is no such file",
        "metassay judge-check FILE --out FOLDER",
        (retype("--card none", "--card old"),),
    ),
    "a file that is no text": Refusal(
        "judge-check v.csv --card card.csv",
        {**FILES, "card.csv": b"\xff\xfe\x00"},
        "card.csv: this is no card",
        "metassay judge-check FILE --out FOLDER",
        (retype("--card card.csv", "--card old"),),
    ),
    "a table that is no card": Refusal(
        "judge-check v.csv --card v.csv",
        FILES,
        "v.csv: there is no column slice",
        "metassay judge-check FILE --out FOLDER",
        (retype("--card v.csv", "--card old"),),
    ),
    "a card without rates": Refusal(
        "judge-check v.csv --card card.csv",
        {**FILES, "card.csv": _card("judge", "agreement")},
        "card.csv: it has no sensitivity and no specificity",
        "metassay judge-check FILE --out FOLDER",
        (retype("--card card.csv", "--card old"),),
    ),
    "a card with one of the rates": Refusal(
        "judge-check v.csv --card card.csv",
        {**FILES, "card.csv": _card("judge", "sensitivity")},
        "judge has no specificity there",
        "make a card with more labelled rows that people fail",
        (retype("--card card.csv", "--card old"),),
    ),
    "a card of another judge": Refusal(
        "judge-check v.csv --card card.csv",
        {**FILES, "card.csv": _card("gpt", "sensitivity", "specificity")},
        "it has no judge called judge; it has gpt",
        "rename the column",
        (edit("v.csv", "id,judge,human", "id,gpt,human"),),
    ),
    "a number that cannot choose": Refusal(
        CHOOSE.replace("agreement", "kappa"),
        {"v.csv": TWO_JUDGES},
        "--choose kappa: write one of agreement",
        "write one of agreement",
        (retype("--choose kappa", "--choose agreement"),),
    ),
    "a choice among one": Refusal(
        CHOOSE.replace("judge_a judge_b", "judge_a"),
        {"v.csv": TWO_JUDGES},
        "there is one judge, judge_a",
        "--judge COLUMN COLUMN",
        (retype("--judge judge_a", "--judge judge_a judge_b"),),
    ),
    "a choice by too few documents": Refusal(
        CHOOSE,
        {"v.csv": _labelled("judge_a,judge_b", 8)},
        "8 documents have a label and a verdict of every judge",
        "--choose takes 12 or more",
        (write("v.csv", TWO_JUDGES),),
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_a_printed_remedy_works(terminal, tmp_path, case: str) -> None:
    refusal = REFUSALS[case]
    refused = refusal.provoke(terminal, tmp_path)
    done = refusal.follow(terminal, refused)
    assert done.code == 0, done.err

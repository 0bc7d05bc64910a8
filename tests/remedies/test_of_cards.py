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
    lines = ["judge,slice,statistic,value,low,high,n"]
    lines += [f"{judge},all,{name},0.85,0.83,0.87,1000" for name in statistics]
    return "\n".join(lines) + "\n"


LABELS = _labelled("judge", 600)
TWO_JUDGES = _labelled("judge_a,judge_b", 40)
# In the others people pass, and so does one of the judges.
ONE_FAIL = "id,judge_a,judge_b,human\nr0,fail,fail,fail\n" + "".join(
    f"r{number},pass,fail,pass\n" for number in range(1, 30)
)
CARD = _card("judge", "sensitivity", "specificity")
OPTIONS = '{"confidence": 0.95, "passes": [], "pass_from": null}'
FILES = {"v.csv": LABELS, "old/card.csv": CARD, "old/choices.json": OPTIONS}
CHOOSE = "judge-check v.csv --judge judge_a judge_b --human human --choose agreement"

REFUSALS: dict[str, Refusal] = {
    "a card that is not there": Refusal(
        "judge-check v.csv --card none",
        FILES,
        "none/card.csv: there is no such file",
        "metassay judge-check FILE --out FOLDER",
        (retype("--card none", "--card old"),),
    ),
    "a file that is no text": Refusal(
        "judge-check v.csv --card new",
        {**FILES, "new/choices.json": OPTIONS, "new/card.csv": b"\xff\xfe\x00"},
        "new/card.csv: this is not a card",
        "metassay judge-check FILE --out FOLDER",
        (retype("--card new", "--card old"),),
    ),
    "a table that is no card": Refusal(
        "judge-check v.csv --card new",
        {**FILES, "new/choices.json": OPTIONS, "new/card.csv": LABELS},
        "new/card.csv: there is no column slice",
        "metassay judge-check FILE --out FOLDER",
        (retype("--card new", "--card old"),),
    ),
    "a file in place of the folder": Refusal(
        "judge-check v.csv --card v.csv",
        FILES,
        "v.csv/card.csv: there is no such file",
        "metassay judge-check FILE --out FOLDER",
        (retype("--card v.csv", "--card old"),),
    ),
    "a card with another pass": Refusal(
        "judge-check v.csv --card old --pass pass",
        FILES,
        "old/card.csv: it was made with no --pass, and this table is read with --pass pass",
        "use the same for both",
        (retype(" --pass pass", ""),),
    ),
    "a card without rates": Refusal(
        "judge-check v.csv --card new",
        {
            **FILES,
            "new/choices.json": OPTIONS,
            "new/card.csv": _card("judge", "agreement"),
        },
        "new/card.csv: it has no sensitivity and no specificity",
        "metassay judge-check FILE --out FOLDER",
        (retype("--card new", "--card old"),),
    ),
    "a card with one of the rates": Refusal(
        "judge-check v.csv --card new",
        {
            **FILES,
            "new/choices.json": OPTIONS,
            "new/card.csv": _card("judge", "sensitivity"),
        },
        "judge has no specificity there",
        "make a card with more labelled rows that people fail",
        (retype("--card new", "--card old"),),
    ),
    "a card of another judge": Refusal(
        "judge-check v.csv --card new",
        {
            **FILES,
            "new/choices.json": OPTIONS,
            "new/card.csv": _card("gpt", "sensitivity", "specificity"),
        },
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
        "there is only one judge, judge_a",
        "--judge COLUMN COLUMN",
        (retype("--judge judge_a", "--judge judge_a judge_b"),),
    ),
    "a choice by too few documents": Refusal(
        CHOOSE,
        {"v.csv": _labelled("judge_a,judge_b", 8)},
        "8 documents have a label and a verdict of every judge",
        "--choose needs 12 or more",
        (write("v.csv", TWO_JUDGES),),
    ),
    "a choice by labels that are nearly all the same": Refusal(
        CHOOSE.replace("agreement", "balanced_accuracy"),
        {"v.csv": ONE_FAIL},
        "in one half of the documents people's labels are all the same",
        "or write --choose agreement",
        (retype("--choose balanced_accuracy", "--choose agreement"),),
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_a_printed_remedy_works(terminal, tmp_path, case: str) -> None:
    refusal = REFUSALS[case]
    refused = refusal.provoke(terminal, tmp_path)
    done = refusal.follow(terminal, refused)
    assert done.code == 0, done.err

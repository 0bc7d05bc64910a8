"""The refusals of `judge-check`: each printed remedy is followed to an answer."""

import json

import pytest

from tests.remedies.following import Refusal, add, edit, retype, run_printed, write
from tests.remedies.tables import LABELS, VERDICTS, column, one_more_row, status

GRADES = VERDICTS.replace("pass", "4").replace("fail", "2")
THIRD_WORD = VERDICTS.replace("i3,fail", "i3,unsure")

_CLASSES = ("entailed", "neutral", "contradicted")
CLASSES = "id,judge,human\n" + "".join(
    f"i{n},{_CLASSES[n % 3]},{_CLASSES[n % 4 % 3]}\n" for n in range(12)
)
PAIRS = "id,system_a,system_b,judge,human\n" + "".join(
    f"p{n},x,y,{'AB'[n % 4 == 0]},{'AB'[n % 3 == 0]}\n" for n in range(12)
)
ANNOTATIONS = json.dumps({"ann": {f"i{n}": _CLASSES[n % 3] for n in range(12)}})
STARS = "id,judge,human\n" + "".join(
    f"i{n},{n % 5 + 1},{n % 4 + 1}\n" for n in range(12)
)

REFUSALS: dict[str, Refusal] = {
    "no file": Refusal(
        "judge-check",
        {"v.csv": VERDICTS},
        "the following arguments are required: FILE",
        "FILE",
        (retype("judge-check", "judge-check v.csv"),),
    ),
    "no column of a judge": Refusal(
        "judge-check v.csv",
        {"v.csv": VERDICTS.replace("judge", "first").replace("human", "second")},
        "no column is clearly that of a judge's verdicts",
        "--human COLUMN",
        (add("--judge COLUMN", COLUMN="first"), add("--human COLUMN", COLUMN="second")),
    ),
    "a column that is not there": Refusal(
        "judge-check v.csv --judge gpt",
        {"v.csv": VERDICTS},
        "there is no column 'gpt'",
        "name one of these: 'id', 'judge', 'human'",
        (retype("gpt", "judge"),),
    ),
    "a column for both sides": Refusal(
        "judge-check v.csv --judge judge --human judge",
        {"v.csv": VERDICTS},
        "column 'judge' is named as judge and as human",
        "name one",
        (retype("--human judge", "--human human"),),
    ),
    "words of two meanings": Refusal(
        "judge-check v.csv",
        {"v.csv": VERDICTS.replace("pass", "entailed").replace("fail", "not entailed")},
        "holds 'entailed', 'not entailed'",
        "--pass WORD",
        (add("--pass WORD", WORD="entailed"),),
    ),
    "a third word": Refusal(
        "judge-check v.csv",
        {"v.csv": THIRD_WORD},
        "column 'judge' has 1 cell that is neither a pass nor a fail: 1 'unsure'",
        "--missing unsure",
        (add("--missing unsure"),),
    ),
    "passes, fails, and a class": Refusal(
        "judge-check v.csv",
        {"v.csv": THIRD_WORD},
        "column 'judge' has 1 cell that is neither a pass nor a fail: 1 'unsure'",
        "--class unsure",
        (add("--class unsure"),),
    ),
    "a class that may be no answer": Refusal(
        "judge-check v.csv",
        {"v.csv": CLASSES.replace("i3,entailed", "i3,not sure")},
        "1 cell of 'judge', 'human' is 1 'not sure': a label, or no answer?",
        "--missing 'not sure'",
        (add("--missing 'not sure'"),),
    ),
    "two spellings of a class": Refusal(
        "judge-check v.csv",
        {
            "v.csv": CLASSES.replace(",neutral,", ",neutral (no evidence),").replace(
                ",neutral\n", ",neither\n"
            )
        },
        "only the judge says 'neutral (no evidence)', and only people say 'neither'",
        "--class neither 'neutral (no evidence)'",
        (add("--class neither 'neutral (no evidence)'"),),
    ),
    "more labels than there are classes": Refusal(
        "judge-check v.csv --judge judge --human id",
        {
            "v.csv": "id,judge,human\n"
            + "".join(
                f"i{n},{_CLASSES[n % 3]},{_CLASSES[n % 4 % 3]}\n" for n in range(30)
            )
        },
        "33 different labels in 'judge', 'id', more than 25",
        "name columns with labels",
        (retype("--human id", "--human human"),),
    ),
    "a word among grades": Refusal(
        "judge-check v.csv",
        {"v.csv": STARS.replace("i3,4", "i3,skip")},
        "column 'judge' has 1 cell that is not a number: 1 'skip'",
        "--missing skip",
        (add("--missing skip"),),
    ),
    "a number for no answer": Refusal(
        "judge-check v.csv",
        {"v.csv": STARS.replace("i3,4,4", "i3,4,99")},
        "'human' has 99: a value, or no answer?",
        "--missing 99",
        (add("--missing 99"),),
    ),
    "a choice among judges of grades": Refusal(
        "judge-check v.csv --judge judge second --choose agreement",
        {
            "v.csv": column(
                "id,judge,human\n"
                + "".join(f"i{n},{n % 5 + 1},{n % 4 + 1}\n" for n in range(30)),
                "second",
                "2",
            )
        },
        "--choose: needs passes and fails, but the labels here are of another kind",
        "--pass-from NUMBER",
        (add("--pass-from NUMBER", NUMBER="3"),),
    ),
    "a word that names neither text": Refusal(
        "judge-check v.csv",
        {"v.csv": PAIRS.replace("p3,x,y,A", "p3,x,y,unclear")},
        "column 'judge' has 1 cell that names neither text nor a tie: 1 'unclear'",
        "--missing unclear",
        (add("--missing unclear"),),
    ),
    "no preference of a judge": Refusal(
        "judge-check v.csv --judge judge",
        {"v.csv": "id,system_a,system_b,judge,human\np1,x,y,,A\np2,x,y,,B\n"},
        "no judge has a preference",
        "name a column with preferences",
        (edit("v.csv", "p1,x,y,,A", "p1,x,y,A,A"),),
    ),
    "annotations of people alone": Refusal(
        "check human_annotations.json",
        {
            "human_annotations.json": ANNOTATIONS,
            "llm_annotations.json": ANNOTATIONS.replace("ann", "gpt"),
        },
        "labels by language models are missing",
        "name both files: human_annotations.json llm_annotations.json",
        (
            retype(
                "check human_annotations.json",
                "check human_annotations.json llm_annotations.json",
            ),
        ),
    ),
    "no verdict among classes": Refusal(
        "judge-check v.csv --judge judge",
        {"v.csv": "id,judge,human\na,,good\nb,,fair\nc,,poor\n"},
        "no judge has a verdict",
        "name a column with verdicts",
        (edit("v.csv", "a,,good", "a,good,good"),),
    ),
    "submissions that were rejected": Refusal(
        "judge-check v.csv",
        {"v.csv": status(LABELS, "Status", "APPROVED", "REJECTED")},
        "column 'Status' has 'REJECTED' in 12 rows, which may not count",
        "--rows Status=APPROVED",
        (add("--rows Status=APPROVED"),),
    ),
    "labels of texts of which some were chosen": Refusal(
        "judge-check v.csv",
        {"v.csv": status(LABELS, "chosen_by", "", "disagreement")},
        "12 of 24 rows are of texts that were chosen by 'disagreement'",
        "say that only the others count: --rows chosen_by=, or all:"
        " --rows chosen_by=,disagreement",
        (add("--rows chosen_by="),),
    ),
    "labels of chosen texts alone": Refusal(
        "judge-check v.csv",
        {"v.csv": column(VERDICTS, "chosen_by", "disagreement")},
        "agreement on chosen texts is not that on all",
        "or say that these count: --rows chosen_by=disagreement",
        (add("--rows chosen_by=disagreement"),),
    ),
    "rows of a value that is not there": Refusal(
        "judge-check v.csv --rows Status=APROVED",
        {"v.csv": status(LABELS, "Status", "APPROVED", "REJECTED")},
        "--rows: column 'Status' has no 'APROVED'",
        "write values that it has: 'APPROVED', 'REJECTED'",
        (retype("APROVED", "APPROVED"),),
    ),
    "grades": Refusal(
        "judge-check v.csv",
        {"v.csv": GRADES},
        "column 'human' has numbers from 2 to 4",
        "--pass-from NUMBER",
        (add("--pass-from NUMBER", NUMBER="3"),),
    ),
    "a row per rater, of no item": Refusal(
        "judge-check v.csv",
        {"v.csv": LABELS.replace("doc,", "passage,")},
        "has a row per rater ('rater'), and no column that names the item",
        "--columns doc=COLUMN",
        (add("--columns doc=COLUMN", COLUMN="passage"),),
    ),
    "an item twice by a rater": Refusal(
        "judge-check v.csv",
        {"v.csv": one_more_row(LABELS)},
        "the same item a second time by the same rater",
        "keep one row",
        (write("v.csv", LABELS),),
    ),
    "a judge that differs from itself": Refusal(
        "judge-check v.csv",
        {"v.csv": LABELS.replace("i1,ann,pass", "i1,ann,fail")},
        "column 'judge' differs between rows of the same item",
        "give each item one verdict",
        (edit("v.csv", "i1,ann,fail", "i1,ann,pass"),),
    ),
    "raters in rows and in columns": Refusal(
        "judge-check v.csv --columns rater=rater --human human second",
        {"v.csv": column(LABELS, "second", "pass")},
        "column 'rater' names raters, and 'human', 'second' hold labels",
        "--human COLUMN",
        (retype("--human human second", "--human human"),),
    ),
    "a row without a document": Refusal(
        "judge-check v.csv --columns doc=topic",
        {
            "v.csv": column(VERDICTS, "topic", "a").replace(
                "i1,pass,pass,a", "i1,pass,pass,"
            )
        },
        "column 'topic' is empty",
        "fill it in, or name another column: --columns doc=COLUMN",
        (edit("v.csv", "i1,pass,pass,", "i1,pass,pass,a"),),
    ),
    "a rater's row without an item": Refusal(
        "judge-check v.csv",
        {"v.csv": LABELS.replace("i1,ann", ",ann")},
        "column 'doc' is empty",
        "fill it in, or remove the row",
        (edit("v.csv", "\n,ann", "\ni1,ann"),),
    ),
    "yes and no of neither end": Refusal(
        "judge-check v.csv --judge judge_length --human human_length",
        {
            "v.csv": VERDICTS.replace("judge,human", "judge_length,human_length")
            .replace("pass", "yes")
            .replace("fail", "no")
        },
        "does not tell which of",
        "say it: --pass no or --pass yes",
        (add("--pass yes"),),
    ),
    "yes and no of two ends": Refusal(
        "judge-check v.csv --judge toxic --human human",
        {
            "v.csv": VERDICTS.replace("judge", "toxic")
            .replace("pass", "yes")
            .replace("fail", "no")
        },
        "by its name, less of 'toxic' is better",
        "say it for all columns: --pass",
        (add("--pass no"),),
    ),
    "too many slices": Refusal(
        "judge-check v.csv --by id",
        {
            "v.csv": "id,judge,human,ward\n"
            + "".join(
                f"i{n},pass,{'pass' if n % 3 else 'fail'},w{n % 2}\n" for n in range(30)
            )
        },
        "column 'id' has 30 values, more than 20 slices",
        "slice by another column",
        (retype("--by id", "--by ward"),),
    ),
    "a requirement that is none": Refusal(
        "judge-check v.csv --require recall=.5",
        {"v.csv": VERDICTS},
        "--require recall=0.5: write one of sensitivity, specificity",
        "write one of sensitivity",
        (retype("recall=.5", "sensitivity=.01"),),
    ),
    "a requirement without a number": Refusal(
        "judge-check v.csv --require sensitivity",
        {"v.csv": VERDICTS},
        "write it as sensitivity=.9",
        "sensitivity=.9",
        (retype("--require sensitivity", "--require sensitivity=.01"),),
    ),
    "a confidence in percent": Refusal(
        "judge-check v.csv --confidence 95",
        {"v.csv": VERDICTS},
        "--confidence 95: write a number between 0 and 1",
        "between 0 and 1",
        (retype("--confidence 95", "--confidence .95"),),
    ),
    "no verdict": Refusal(
        "judge-check v.csv --judge judge",
        {"v.csv": "id,judge,human\na,,pass\nb,,fail\n"},
        "no judge has a verdict",
        "name a column with verdicts",
        (edit("v.csv", "a,,pass", "a,pass,pass"),),
    ),
    "results of promptfoo": Refusal(
        "judge-check r.json",
        {
            "r.json": '{"evalId": "e", "results": {"results": [{"testIdx": 0, "promptIdx": 0,'
            ' "provider": "m", "success": true, "score": 1, "gradingResult": {}}]}}'
        },
        "r.json: contains results of promptfoo",
        "metassay import promptfoo r.json --out imported",
        (run_printed,),
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_a_printed_remedy_works(terminal, tmp_path, case: str) -> None:
    refusal = REFUSALS[case]
    refused = refusal.provoke(terminal, tmp_path)
    done = refusal.follow(terminal, refused)
    assert done.code == 0, done.err

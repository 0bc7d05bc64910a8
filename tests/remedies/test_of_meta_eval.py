"""The refusals of `meta-eval`: each printed remedy is followed to an answer."""

import json

import pytest

from tests.remedies.following import (
    Refusal,
    add,
    edit,
    rename,
    retype,
    run_printed,
    write,
)
from tests.remedies.tables import (
    DOCUMENTS,
    LONG_SCORES,
    PLAIN,
    RANKS,
    RATED_AND_SCORED,
    RATINGS,
    SCORES,
    column,
    one_more_row,
    status,
)

BOTH = {"s.csv": SCORES, "r.csv": RATINGS}
BOARD = "system,bleu,human\na,.31,3.2\nb,.33,3.6\nc,.28,3.0\nd,.36,3.9\ne,.30,3.1\nf,.35,3.7\n"
FEW = "--resamples 20 --permutations 20"
WORDS = "doc_id,system,fluency\nd1,m,good\nd1,n,poor\nd2,m,fair\nd2,n,good\n"
FAR = f"{RATINGS.rpartition(',')[0]},30\n"
CODE = f"{RATINGS.rpartition(',')[0]},99\n"
TWO_COLUMNS = "doc_id,system,ann,ben\nd1,m,1,2\nd1,n,2,2\nd2,m,3,1\nd2,n,1,2\n"
TWO_PARTS = (
    "doc_id,system,tone_ann,tone_ben,style_ann,style_ben\nd1,m,1,2,3,4\nd1,n,2,2,1,1\n"
)

# Objects within objects: of documents, of what nothing tells, and of criteria.
NESTED = json.dumps(
    {
        doc: {"x": {"fluency": number}, "y": {"fluency": 4 - number}}
        for number, doc in enumerate(DOCUMENTS, start=1)
    }
)

LISTS = json.dumps(
    [
        {"doc_id": doc, "category": "a", "temperature": 0.7, "labels": [number % 2, 1]}
        for number, doc in enumerate(DOCUMENTS)
    ]
)

REFUSALS: dict[str, Refusal] = {
    # ---- files on the command line
    "no file": Refusal(
        "meta-eval",
        {},
        "takes two files, SCORES RATINGS, or RATINGS alone; there are 0",
        "metassay meta-eval --example study",
        (run_printed,),
    ),
    "three files": Refusal(
        f"meta-eval s.csv a.csv b.csv {FEW}",
        {"s.csv": SCORES, "a.csv": PLAIN, "b.csv": PLAIN},
        "there are 3",
        "--scores FILE FILE and --ratings FILE FILE",
        (retype("s.csv a.csv b.csv", "--scores s.csv --ratings a.csv b.csv"),),
    ),
    "scores alone": Refusal(
        f"meta-eval --scores s.csv {FEW}",
        BOTH,
        "--ratings FILE: is missing",
        "--ratings FILE",
        (add("--ratings FILE", FILE="r.csv"),),
    ),
    "a leaderboard": Refusal(
        "meta-eval board.csv",
        {"board.csv": BOARD},
        "each row is another system",
        "run: metassay check board.csv",
        (retype("meta-eval", "check"),),
    ),
    "files in two ways": Refusal(
        f"meta-eval r.csv --scores s.csv {FEW}",
        BOTH,
        "r.csv: cannot be combined with --scores or --ratings",
        "name all files by these options",
        (retype("r.csv --scores", "--ratings r.csv --scores"),),
    ),
    "one file in two places": Refusal(
        f"meta-eval r.csv r.csv {FEW}",
        {"r.csv": RATED_AND_SCORED},
        "r.csv: is given as SCORES and as RATINGS",
        "--columns scores.metrics=METRIC,METRIC ratings.criteria=CRITERION,CRITERION",
        (
            add(
                "--columns scores.metrics=METRIC,METRIC ratings.criteria=CRITERION,CRITERION",
                **{"METRIC,METRIC": "good", "CRITERION,CRITERION": "fluency"},
            ),
        ),
    ),
    "an example beside files": Refusal(
        "meta-eval r.csv --example study",
        {"r.csv": RATINGS},
        "--example DIR: takes no files",
        "it writes them",
        (retype("r.csv ", ""),),
    ),
    "a file in the place of a name": Refusal(
        f"meta-eval s.csv --lower r.csv {FEW}",
        BOTH,
        "--lower: takes names; r.csv is a file",
        "write --lower NAME r.csv",
        (retype("--lower r.csv", "--lower good r.csv"),),
    ),
    "a folder that holds something": Refusal(
        "meta-eval r.csv --out study",
        {"r.csv": RATINGS, "study/notes.txt": "mine"},
        "--out study: holds something already",
        "empty it or name another one",
        (retype("--out study", "--out results"),),
    ),
    "a file in the place of a folder": Refusal(
        "meta-eval r.csv --out notes.txt",
        {"r.csv": RATINGS, "notes.txt": "mine"},
        "--out notes.txt: is a file",
        "name a folder",
        (retype("--out notes.txt", "--out results"),),
    ),
    # ---- options
    "a misspelt option": Refusal(
        f"meta-eval s.csv r.csv --lowr good {FEW}",
        BOTH,
        "no option --lowr",
        "did you mean '--lower'?",
        (retype("--lowr", "--lower"),),
    ),
    "a misspelt metric": Refusal(
        f"meta-eval s.csv r.csv --lower godo {FEW}",
        BOTH,
        "--lower 'godo': no metric or criterion has this name; there are: 'good', 'fluency'",
        "did you mean 'good'?",
        (retype("godo", "good"),),
    ),
    "a number of draws that is none": Refusal(
        "meta-eval s.csv r.csv --permutations 20 --resamples many",
        BOTH,
        "--resamples",
        "invalid int value: 'many'",
        (retype("many", "20"),),
    ),
    "a confidence above 1": Refusal(
        f"meta-eval s.csv r.csv --confidence 95 {FEW}",
        BOTH,
        "--confidence: must be",
        "must be less than or equal to 0.9999",
        (retype("--confidence 95", "--confidence .95"),),
    ),
    "a scale without a criterion": Refusal(
        "meta-eval r.csv --scale 1..5",
        {"r.csv": RATINGS},
        "--scale 1..5: write CRITERION=SCALE",
        "CRITERION=SCALE",
        (retype("1..5", "fluency=1..5"),),
    ),
    "a scale that is none": Refusal(
        "meta-eval r.csv --scale fluency=five",
        {"r.csv": RATINGS},
        "--scale 'fluency=five': no such scale",
        "such as --scale fluency=1..5",
        (retype("fluency=five", "fluency=1..5"),),
    ),
    "a scale of a criterion that is not there": Refusal(
        "meta-eval r.csv --scale fluent=1..5",
        {"r.csv": RATINGS},
        "--scale 'fluent': no metric or criterion has this name",
        "did you mean 'fluency'?",
        (retype("fluent=", "fluency="),),
    ),
    "metrics beside ratings alone": Refusal(
        f"meta-eval r.csv --primary good {FEW}",
        BOTH,
        "are about metrics",
        "name SCORES before RATINGS",
        (retype("meta-eval r.csv", "meta-eval s.csv r.csv"),),
    ),
    "figures without a folder": Refusal(
        f"meta-eval s.csv r.csv --figures {FEW}",
        BOTH,
        "--figures: add --out DIR",
        "add --out DIR",
        (retype("--figures", "--figures --out results"),),
    ),
    "every metric a confound": Refusal(
        f"meta-eval s.csv r.csv --confound good {FEW}",
        BOTH,
        "--confound: every column of scores is a confound",
        "leave a metric",
        (retype("--confound good ", ""),),
    ),
    "a confound with a direction": Refusal(
        f"meta-eval s.csv r.csv --confound words --higher words {FEW}",
        {
            **BOTH,
            "s.csv": SCORES.replace("good", "words,good")
            .replace(",m,", ",m,3,")
            .replace(",n,", ",n,4,"),
        },
        "--confound 'words': --higher names it, too",
        "remove one of the two",
        (retype("--higher words ", ""),),
    ),
    "a role that is none": Refusal(
        "meta-eval r.csv --columns document=doc_id",
        {"r.csv": RATINGS},
        "--columns 'document=doc_id': write ROLE=COLUMN",
        "roles are",
        (retype("document=", "doc="),),
    ),
    "a column that is not there": Refusal(
        "meta-eval r.csv --columns doc=case",
        {"r.csv": RATINGS},
        "--columns doc=case: there is no such column",
        "name one of them",
        (retype("doc=case", "doc=doc_id"),),
    ),
    "a slice that is not there": Refusal(
        "meta-eval r.csv --by site",
        {"r.csv": column(RATINGS, "ward", "a")},
        "--by 'site': there is no such column",
        "'ward'",
        (retype("--by site", "--by ward"),),
    ),
    "a column for two roles": Refusal(
        "meta-eval r.csv --columns doc=doc_id system=doc_id",
        {"r.csv": RATINGS},
        "column 'doc_id' is named for two of document, system, rater and --by",
        "name it once",
        (retype(" system=doc_id", ""),),
    ),
    # ---- columns that are not clear
    "no column of documents": Refusal(
        "meta-eval r.csv",
        {"r.csv": RATINGS.replace("doc_id", "topic")},
        "column 'doc_id' is missing",
        "--columns doc=COLUMN",
        (add("--columns doc=COLUMN", COLUMN="topic"),),
    ),
    "no column of systems": Refusal(
        f"meta-eval s.csv r.csv {FEW}",
        {"s.csv": "doc_id,good\nd1,1\nd2,2\nd3,3\n", "r.csv": RATINGS},
        "s.csv: line 1: column 'system' is missing",
        "add it, or say which column it is: --columns system=COLUMN",
        (write("s.csv", SCORES),),
    ),
    "two columns of systems": Refusal(
        "meta-eval r.csv",
        {"r.csv": column(RATINGS, "author", "x")},
        "has both of the columns 'system' and 'author'",
        "remove one, or rename it",
        (edit("r.csv", "author", "writer"),),
    ),
    "a long file without values": Refusal(
        f"meta-eval s.csv r.csv {FEW}",
        {"s.csv": LONG_SCORES.replace("value", "number"), "r.csv": RATINGS},
        "column 'value' is missing",
        "name it in the header",
        (edit("s.csv", "number", "value"),),
    ),
    "a rating that cannot be": Refusal(
        f"meta-eval s.csv r.csv {FEW}",
        {"s.csv": SCORES, "r.csv": FAR},
        "'fluency' has the value 30, far from the others",
        "correct it, or leave the cell empty; if it is a grade, say --scale fluency=1..30",
        (add("--scale fluency=1..30"),),
    ),
    "a rating that stands for none": Refusal(
        f"meta-eval s.csv r.csv {FEW}",
        {"s.csv": SCORES, "r.csv": CODE},
        "'fluency' has the value 99, far from all others",
        "leave the cell empty if nobody rated, or say --missing 99",
        (add("--missing 99"),),
    ),
    "a rating beyond its scale": Refusal(
        f"meta-eval s.csv r.csv --scale fluency=1..5 {FEW}",
        {"s.csv": SCORES, "r.csv": FAR},
        "'fluency' is outside its scale of 1 to 5",
        "correct it, or the ends of the scale in --scale",
        (edit("r.csv", ",30", ",3"),),
    ),
    "grades in words": Refusal(
        "meta-eval r.csv",
        {"r.csv": WORDS},
        "column 'fluency' has grades in words",
        "--scale 'fluency=poor<fair<good'",
        (add("--scale 'fluency=poor<fair<good'"),),
    ),
    "raters or criteria": Refusal(
        "meta-eval r.csv",
        {"r.csv": TWO_COLUMNS},
        "'ann', 'ben': raters or criteria",
        "--columns ratings.raters=ann,ben",
        (add("--columns ratings.raters=ann,ben"),),
    ),
    "names of two parts": Refusal(
        "meta-eval r.csv",
        {"r.csv": TWO_PARTS},
        "seem to say several things each",
        "--columns 'ratings.wide={criterion}_{rater}'",
        (add("--columns 'ratings.wide={criterion}_{rater}'"),),
    ),
    "a column of a form without numbers": Refusal(
        "meta-eval r.csv --columns 'ratings.wide={criterion}_{rater}'",
        {
            "r.csv": "doc_id,system,tone_ann,tone_ben,style_ann,style_ben\n"
            "d1,m,1,2,3,see the note below\nd1,n,2,2,1,as Ann said\n"
        },
        "column 'style_ben' has the form '{criterion}_{rater}', but no numbers",
        "write numbers, or leave its cells empty",
        (edit("r.csv", "see the note below", "4"), edit("r.csv", "as Ann said", "1")),
    ),
    "preferences": Refusal(
        "meta-eval r.csv",
        {
            "r.csv": "case,annotator,system_a,system_b,preference\nc1,ann,m,n,A\nc1,ben,m,n,B\n"
        },
        "r.csv: contains preferences between two texts",
        "metassay import preferences r.csv --out imported",
        (run_printed,),
    ),
    "preferences whose columns are named": Refusal(
        "meta-eval r.csv --columns doc=case",
        {
            "r.csv": "case,annotator,system_a,system_b,preference\nc1,ann,m,n,1\nc1,ben,m,n,2\n"
        },
        "'system_a', 'system_b', 'preference' say which of two texts is preferred",
        "metassay import preferences FILE --out DIR",
        (
            retype(
                "meta-eval r.csv --columns doc=case",
                "import preferences r.csv --out imported",
            ),
        ),
    ),
    "a metric whose direction is not clear": Refusal(
        f"meta-eval s.csv r.csv {FEW}",
        {"s.csv": SCORES.replace("good", "error_free"), "r.csv": RATINGS},
        "the name 'error_free' does not tell whether more is better",
        "say --higher error_free",
        (add("--higher error_free"),),
    ),
    "a criterion that is no judgment": Refusal(
        "meta-eval r.csv",
        {"r.csv": RATINGS.replace("fluency", "length")},
        "'length' is a criterion, and its name does not say whether more of it is better",
        "--higher length or --lower length",
        (add("--lower length"),),
    ),
    # ---- rows that may not count
    "rejected submissions": Refusal(
        "meta-eval r.csv",
        {"r.csv": status(RATINGS, "Status", "AWAITING REVIEW", "REJECTED")},
        "column 'Status' has 'REJECTED' in 8 rows, which may not count",
        "--rows 'Status=AWAITING REVIEW'",
        (add("--rows 'Status=AWAITING REVIEW'"),),
    ),
    "failed checks that count all the same": Refusal(
        "meta-eval r.csv",
        {"r.csv": status(RATINGS, "attention_check_1", "1", "0")},
        "column 'attention_check_1' has '0' in 8 rows, which may not count",
        "or all: --rows attention_check_1=1,0",
        (add("--rows attention_check_1=1,0"),),
    ),
    "previews alone": Refusal(
        f"meta-eval s.csv r.csv {FEW}",
        {"s.csv": SCORES, "r.csv": column(RATINGS, "Status", "Preview")},
        "column 'Status' has 'Preview' in 16 rows, which may not count",
        "remove these rows, or say that they count: --rows Status=Preview",
        (add("--rows Status=Preview"),),
    ),
    "rows of a value that is not there": Refusal(
        "meta-eval r.csv --rows Status=APROVED",
        {"r.csv": status(RATINGS, "Status", "APPROVED", "REJECTED")},
        "--rows: column 'Status' has no 'APROVED'",
        "write values that it has: 'APPROVED', 'REJECTED'",
        (retype("APROVED", "APPROVED"),),
    ),
    "ratings of chosen texts alone": Refusal(
        "meta-eval r.csv",
        {"r.csv": column(RATINGS, "chosen_by", "disagreement")},
        "rate texts that were chosen by 'disagreement'",
        "or say that these count: --rows chosen_by=disagreement",
        (add("--rows chosen_by=disagreement"),),
    ),
    "rows of a column that is not there": Refusal(
        "meta-eval r.csv --rows State=APPROVED",
        {"r.csv": column(RATINGS, "Status", "APPROVED")},
        "--rows 'State': there is no such column",
        "name one of them",
        (retype("State", "Status"),),
    ),
    # ---- ranks
    "ranks under the name of a quality": Refusal(
        "meta-eval r.csv",
        {"r.csv": RANKS},
        "'quality' has each of 1, 2, 3 ... once per document, as ranks have",
        "say --lower quality if 1 is the best, or --higher quality if it is the worst",
        (add("--lower quality"),),
    ),
    "lists of answers without names": Refusal(
        "meta-eval r.json",
        {"r.json": LISTS},
        "which of 'temperature', 'labels.0', 'labels.1' are ratings is unclear",
        "say it: --columns ratings.raters=labels.0,labels.1, or other columns",
        (add("--columns ratings.raters=labels.0,labels.1"),),
    ),
    "keys whose role nothing tells": Refusal(
        "meta-eval r.json",
        {"r.json": NESTED},
        "what keys such as 'x', 'y' name is unclear",
        "say it: --columns 'ratings.rater=key 2', or another role of the column 'key 2'",
        (add("--columns 'ratings.rater=key 2'"),),
    ),
    # ---- cells
    "several words among numbers": Refusal(
        "meta-eval r.csv",
        {
            "r.csv": RATINGS.replace("d1,m,ann,1", "d1,m,ann,skip").replace(
                "d2,m,ann,3", "d2,m,ann,timed out"
            )
        },
        "r.csv: line 2: 'fluency' has 2 cells that are not finite numbers",
        "if nobody answered there, say --missing 'skip,timed out'",
        (add("--missing 'skip,timed out'"),),
    ),
    "a date that Excel made": Refusal(
        "meta-eval r.csv",
        {"r.csv": RATINGS + "d5,m,ann,2026-03-04\n"},
        "line 18: 'fluency' is a date, 2026-03-04, which Excel makes of entries such as 3-4",
        "make the cell text in Excel, and enter it again",
        (edit("r.csv", "2026-03-04", "3"),),
    ),
    "an error of Excel": Refusal(
        "meta-eval r.csv",
        {"r.csv": RATINGS + "d5,m,ann,#DIV/0!\n"},
        "line 18: 'fluency' is #DIV/0!, an error of Excel",
        "correct the formula, or empty the cell",
        (edit("r.csv", "#DIV/0!", ""),),
    ),
    "a word among numbers": Refusal(
        "meta-eval r.csv",
        {
            "r.csv": RATINGS.replace("d1,m,ann,1", "d1,m,ann,good")
            .replace("d1,m,ann,2", "d1,m,ann,good")
            .replace("d1,m,ann,3", "d1,m,ann,good")
            .replace("d1,m,ann,4", "d1,m,ann,good")
            .replace("d1,m,ann,5", "d1,m,ann,good")
        },
        "r.csv: line 2: 'fluency' is 'good', which is not a finite number",
        "write a number, or leave the cell empty",
        (edit("r.csv", "d1,m,ann,good", "d1,m,ann,"),),
    ),
    "a number beyond all bounds": Refusal(
        "meta-eval r.csv",
        {"r.csv": RATINGS + "d5,m,ann,1e200\n"},
        "'fluency' is beyond 1e+100",
        "correct it, or leave the cell empty",
        (edit("r.csv", "1e200", ""),),
    ),
    "a row twice": Refusal(
        "meta-eval r.csv",
        {"r.csv": one_more_row(RATINGS)},
        "the same doc_id, system, rater a second time",
        "keep one row",
        (write("r.csv", RATINGS),),
    ),
    "ratings of nobody": Refusal(
        "meta-eval r.csv",
        {"r.csv": RATINGS.replace("rater", "who")},
        "the same doc_id, system a second time",
        "name the column that says who rated: --columns rater=COLUMN",
        (add("--columns rater=COLUMN", COLUMN="who"),),
    ),
    "texts of no system": Refusal(
        "meta-eval r.csv",
        {"r.csv": PLAIN.replace("system", "variant")},
        "the same doc_id a second time",
        "add a column 'system'",
        (edit("r.csv", "variant", "system"),),
    ),
    "an empty key": Refusal(
        "meta-eval r.csv",
        {"r.csv": RATINGS.replace("d1,m,ann", ",m,ann")},
        "'doc_id' is empty",
        "fill it in, or remove the row",
        (edit("r.csv", "\n,m,ann", "\nd1,m,ann"),),
    ),
    "a name that stands for all": Refusal(
        "meta-eval r.csv",
        {"r.csv": RATINGS.replace("ann", "(all)")},
        "is (all), which stands for all of them",
        "rename it",
        (edit("r.csv", "(all)", "ann"),),
    ),
    "ratings of claims": Refusal(
        "meta-eval r.csv",
        {"r.csv": column(RATINGS, "unit", "text") + "d5,m,ann,1,claim:3\n"},
        "'unit' is not 'text'",
        "leave the row out",
        (edit("r.csv", "d5,m,ann,1,claim:3\n", ""),),
    ),
    "a judge that is a number": Refusal(
        f"meta-eval s.csv r.csv {FEW}",
        {
            "s.csv": SCORES.replace("good", "judge,good")
            .replace(",m,", ",m,1,")
            .replace(",n,", ",n,2,"),
            "r.csv": RATINGS,
        },
        "'judge' must name the judge, but holds numbers",
        "rename it if it is a metric",
        (edit("s.csv", "judge", "entailment"),),
    ),
    "no text in both files": Refusal(
        f"meta-eval s.csv r.csv {FEW}",
        {"s.csv": SCORES.replace("\nd", "\nD-0"), "r.csv": RATINGS},
        "nothing to compare: no text (doc_id, system, part) is in both files",
        "write them alike in both",
        (write("s.csv", SCORES),),
    ),
    "no value at all": Refusal(
        "meta-eval r.csv",
        {"r.csv": "doc_id,system,fluency\nd1,m,\nd1,n,NA\n"},
        "holds no value at all",
        "docs/meta-eval.md shows how the two files are written",
        (write("r.csv", PLAIN),),
    ),
    "files of one kind with other columns": Refusal(
        "meta-eval --ratings a.csv b.csv",
        {
            "a.csv": PLAIN,
            "b.csv": PLAIN.replace("fluency", "tone").replace("doc_id", "case"),
        },
        "b.csv: has no column 'doc_id', which holds the doc in other files",
        "add it, or call the column as they do",
        (edit("b.csv", "case", "doc_id"),),
    ),
    "a slice by a key": Refusal(
        "meta-eval r.csv --by doc_id",
        {"r.csv": column(RATINGS, "ward", "a")},
        "column 'doc_id' is a key or a number, and cannot label texts",
        "name another column",
        (retype("--by doc_id", "--by ward"),),
    ),
    "a criterion with an endless name": Refusal(
        "meta-eval r.csv",
        {"r.csv": RATINGS.replace("fluency", "fluency " * 30)},
        "the name of column 4 has 239 characters",
        "shorten it to 200",
        (edit("r.csv", "fluency " * 30, "fluency"),),
    ),
    "scores of no metric": Refusal(
        f"meta-eval s.csv r.csv {FEW}",
        {"s.csv": "doc_id,system\nd1,m\nd1,n\n", "r.csv": RATINGS},
        "no column is a metric",
        "name it in the header",
        (write("s.csv", SCORES),),
    ),
    "a file called as no rater can be": Refusal(
        "meta-eval --ratings 'ann .csv' ben.csv",
        {"ann .csv": PLAIN, "ben.csv": PLAIN},
        "its name stands for the rater, and use printable characters, without blanks around them",
        "rename it",
        (rename("ann .csv", "ann.csv"),),
    ),
    "a document in two groups": Refusal(
        "meta-eval r.csv --columns cluster=ward",
        {
            "r.csv": column(RATINGS, "ward", "a")
            .replace("d1,m,ann,1,a", "d1,m,ann,1,b")
            .replace("d1,m,ann,2,a", "d1,m,ann,2,b")
            .replace("d1,m,ann,3,a", "d1,m,ann,3,b")
            .replace("d1,m,ann,4,a", "d1,m,ann,4,b")
            .replace("d1,m,ann,5,a", "d1,m,ann,5,b")
        },
        "'ward' differs from another row of the same document",
        "give each document one value",
        (edit("r.csv", ",b\n", ",a\n"),),
    ),
    "files of one kind without common criteria": Refusal(
        "meta-eval --ratings a.csv b.csv",
        {"a.csv": PLAIN, "b.csv": "doc_id,system,remark\nd1,m,So so.\n"},
        "b.csv: has none of the columns that hold ratings in other files",
        "leave the file out",
        (retype("a.csv b.csv", "a.csv"),),
    ),
    "two directions of a metric": Refusal(
        f"meta-eval s.csv r.csv {FEW}",
        {
            "s.csv": column(LONG_SCORES, "better", "higher") + "d5,m,good,1,lower\n",
            "r.csv": RATINGS,
        },
        "column 'better' says of 'good' lower, and before higher",
        "write the same in all rows of a metric",
        (edit("s.csv", ",lower", ",higher"),),
    ),
    "a form of names that is none": Refusal(
        "meta-eval r.csv --columns ratings.wide={tone}_{rater}",
        {"r.csv": TWO_PARTS},
        "is not a form of names",
        "{criterion}",
        (retype("{tone}", "{criterion}"),),
    ),
    "a form of names that none has": Refusal(
        "meta-eval r.csv --columns 'ratings.wide={criterion} by {rater}'",
        {"r.csv": TWO_PARTS},
        "no name of a column of numbers has the form '{criterion} by {rater}'",
        "--columns: takes the form of these: 'doc_id', 'system', 'tone_ann'",
        (retype("{criterion} by {rater}", "{criterion}_{rater}"),),
    ),
    "a column half of numbers": Refusal(
        "meta-eval r.csv",
        {
            "r.csv": "doc_id,system,fluency,tone\nd1,m,1,2\nd1,n,2,good\nd2,m,3,4\nd2,n,2,bad\n"
        },
        "column 'tone' has numbers in 50% of its cells, words in others",
        "write numbers, or leave cells empty",
        (edit("r.csv", ",good", ","), edit("r.csv", ",bad", ",")),
    ),
    "a direction that is none": Refusal(
        f"meta-eval s.csv r.csv {FEW}",
        {"s.csv": column(LONG_SCORES, "better", "up"), "r.csv": RATINGS},
        "column 'better' has 'up'",
        "write higher, lower, neither or nothing",
        (write("s.csv", column(LONG_SCORES, "better", "higher")),),
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_a_printed_remedy_works(terminal, tmp_path, case: str) -> None:
    refusal = REFUSALS[case]
    refused = refusal.provoke(terminal, tmp_path)
    done = refusal.follow(terminal, refused)
    assert done.code == 0, done.err

"""The refusals of `init`: each printed remedy is followed to a project."""

import pytest

from metassay.cli import init
from tests.remedies.following import (
    Refusal,
    add,
    edit,
    retype,
    run_printed,
    write,
)
from tests.remedies.tables import (
    DOCUMENTS,
    PLAIN,
    RANKS,
    RATINGS,
    SCORES,
    TEXTS,
    column,
    one_more_row,
    status,
)

FILES = {"t.csv": TEXTS, "r.csv": RATINGS, "s.csv": SCORES}
RATED = "init study --texts t.csv --ratings r.csv --yes"
SCORED = "init study --texts t.csv --scores s.csv --yes"
LONG = "A patient came with a cough of three days."
ADDRESS = "http://127.0.0.1:9/v1"
SOURCES = column(TEXTS, "source", "She coughs.")
REFERENCES = TEXTS.replace(",n,", ",gold,")
# Texts of two systems side by side, one called after what it is.
SIDE_BY_SIDE = f"doc_id,summary,gpt4\nd1,{LONG},{LONG} Yes.\nd2,{LONG} No.,{LONG} Oh.\n"
TWO_TEXTS = (
    f"doc_id,system,first,second\nd1,m,{LONG},{LONG} Yes.\nd2,m,{LONG} No.,{LONG} Oh.\n"
)
VARIANTS = f"doc_id,variant,text\nd1,x,{LONG}\nd1,y,{LONG} Yes.\nd2,x,{LONG} No.\nd2,y,{LONG} Oh.\n"

RANKED = TEXTS + "".join(f"{doc},o,{LONG}\n" for doc in DOCUMENTS)

REFUSALS: dict[str, Refusal] = {
    # ---- what was chosen before the results
    "a primary criterion that no file has": Refusal(
        f"{RATED} --primary-criterion fluidity",
        FILES,
        "--primary-criterion: no criterion is called 'fluidity'",
        "there are 'fluency'",
        (retype("fluidity", "fluency"),),
    ),
    "a primary metric that is the best of several": Refusal(
        f"{SCORED} --primary good --tried 3",
        FILES,
        "--primary: 'good' was named before anybody saw results",
        "remove one of the two",
        (retype(" --tried 3", ""),),
    ),
    # ---- rows that may not count, and ranks
    "rejected submissions": Refusal(
        RATED,
        {**FILES, "r.csv": status(RATINGS, "Status", "APPROVED", "REJECTED")},
        "column 'Status' has 'REJECTED' in 8 rows, which may not count",
        "--rows Status=APPROVED",
        (add("--rows Status=APPROVED"),),
    ),
    "rows of a column that is not there": Refusal(
        f"{RATED} --rows State=APPROVED",
        {**FILES, "r.csv": column(RATINGS, "Status", "APPROVED")},
        "--rows: there is no column 'State'",
        "name one of these: ",
        (retype("State", "Status"),),
    ),
    "ranks under the name of a quality": Refusal(
        RATED,
        {"t.csv": RANKED, "r.csv": RANKS},
        "'quality' has each of 1, 2, 3 ... once per document, as ranks have",
        "say --lower quality if 1 is the best, or --higher quality if it is the worst",
        (add("--lower quality"),),
    ),
    "ratings of sentences": Refusal(
        f"{RATED} --columns ratings.part=sentence",
        {**FILES, "r.csv": column(RATINGS, "sentence", "1")},
        "--columns ratings.part='sentence': init reads ratings of whole texts",
        "metassay meta-eval tests labels of sentences and other parts",
        (
            retype(
                "init study --texts t.csv --ratings r.csv --yes",
                "meta-eval --ratings r.csv",
            ),
        ),
    ),
    "several words among numbers": Refusal(
        RATED,
        {
            **FILES,
            "r.csv": RATINGS.replace("d1,m,ann,1", "d1,m,ann,skip").replace(
                "d2,m,ann,3", "d2,m,ann,timed out"
            ),
        },
        "has numbers in 88% of its cells, words in others: 1 'skip', 1 'timed out'",
        "--missing 'skip,timed out'",
        (add("--missing 'skip,timed out'"),),
    ),
    # ---- the command
    "ratings without texts": Refusal(
        "init study --ratings r.csv --yes",
        FILES,
        "--texts is missing",
        "name the file with the texts",
        (retype("--ratings", "--texts t.csv --ratings"),),
    ),
    "a folder that holds something": Refusal(
        RATED,
        {**FILES, "study/notes.txt": "mine"},
        "study: holds something already, and nothing was changed",
        "name a new folder",
        (retype("init study", "init study2"),),
    ),
    "a file in the place of the folder": Refusal(
        RATED.replace("init study", "init t.csv"),
        FILES,
        "t.csv: is a file; name a new folder",
        "name a new folder",
        (retype("init t.csv", "init study"),),
    ),
    "a name that no benchmark can have": Refusal(
        f"{RATED} --name my.study",
        FILES,
        "--name 'my.study'",
        "use letters, digits, _ and - of ASCII alone",
        (retype("my.study", "my_study"),),
    ),
    "a confirmation without a terminal": Refusal(
        "init study --texts t.csv --ratings r.csv",
        FILES,
        "the guesses need a confirmation, and there is no terminal",
        "Correct this command and run it:",
        (run_printed,),
    ),
    "a misspelt option": Refusal(
        RATED.replace("--ratings", "--ratngs"),
        FILES,
        "no option --ratngs",
        "did you mean '--ratings'?",
        (retype("--ratngs", "--ratings"),),
    ),
    # ---- a language model
    "a model without an address": Refusal(
        "init study --model m",
        FILES,
        "--model m: where does it answer?",
        "Add --base-url URL",
        (add("--base-url URL", URL=ADDRESS),),
    ),
    "an address without a model": Refusal(
        f"init study --base-url {ADDRESS}",
        FILES,
        "--base-url: belongs to a language model, and no option names one",
        "add --model MODEL",
        (add("--model MODEL", MODEL="m"),),
    ),
    "private texts for a model": Refusal(
        f"{RATED} --model m --base-url {ADDRESS}",
        {**FILES, "t.csv": SOURCES},
        "the texts of your spreadsheets are private, and they would be sent to the model",
        "add --sends private",
        (add("--sends private"),),
    ),
    "a run before the price": Refusal(
        f"init study --model m --base-url {ADDRESS} --run",
        FILES,
        "--run: with --model you see the price before the model is asked",
        "leave out --run",
        (retype(" --run", ""),),
    ),
    "a model without anything to read texts by": Refusal(
        f"{RATED} --model m --base-url {ADDRESS} --sends private",
        FILES,
        "--model: no text has a source or a reference",
        "or leave out --model",
        (retype(f" --model m --base-url {ADDRESS} --sends private", ""),),
    ),
    "a model called as a default": Refusal(
        f"init study --model lexical --base-url {ADDRESS}",
        FILES,
        "params.yaml > judges has a block 'lexical' already",
        "or serve the model under another name",
        (retype("--model lexical", "--model other"),),
    ),
    # ---- columns
    "a role of a file that is not there": Refusal(
        f"{SCORED} --columns ratings.doc=doc_id",
        FILES,
        "--columns 'ratings.doc=doc_id': write ROLE=COLUMN, or FILE.ROLE=COLUMN for one of",
        "texts, scores",
        (retype("ratings.doc", "scores.doc"),),
    ),
    "a column that is not there": Refusal(
        f"{RATED} --columns ratings.rater=who",
        FILES,
        "there is no column 'who'",
        "--columns: takes names of the first row: 'doc_id', 'system', 'rater', 'fluency'",
        (retype("rater=who", "rater=rater"),),
    ),
    "texts of a kind and of a system": Refusal(
        "init study --texts t.csv --yes",
        {"t.csv": SIDE_BY_SIDE},
        "'summary' may be a system's text, like others in the row, or a reference or source",
        "--columns texts.systems=summary,gpt4",
        (add("--columns texts.systems=summary,gpt4"),),
    ),
    "two columns of texts": Refusal(
        "init study --texts t.csv --yes",
        {"t.csv": TWO_TEXTS},
        "'first', 'second' all hold texts",
        "--columns texts.text=COLUMN",
        (add("--columns texts.text=COLUMN", COLUMN="first"),),
    ),
    "texts of nobody": Refusal(
        "init study --texts t.csv --yes",
        {"t.csv": VARIANTS},
        "documents have several texts, and no column clearly names the system of each",
        "--columns texts.system=COLUMN",
        (add("--columns texts.system=COLUMN", COLUMN="variant"),),
    ),
    "references that may be a system's": Refusal(
        "init study --texts t.csv --yes",
        {"t.csv": REFERENCES.replace(",gold,", ",gold_model,")},
        "'gold_model' may be a system, or have written the references",
        "--reference gold_model",
        (add("--reference gold_model"),),
    ),
    "references of nobody": Refusal(
        "init study --texts t.csv --reference golden --yes",
        {"t.csv": REFERENCES},
        "--reference: no system is called 'golden'",
        "there are 'm', 'gold'",
        (retype("golden", "gold"),),
    ),
    "raters or criteria": Refusal(
        RATED,
        {
            **FILES,
            "r.csv": PLAIN.replace("fluency", "ann,ben")
            .replace(",m,", ",m,3,")
            .replace(",n,", ",n,4,"),
        },
        "'ann', 'ben': raters or criteria",
        "--columns ratings.raters=ann,ben",
        (add("--columns ratings.raters=ann,ben"),),
    ),
    "two columns of documents": Refusal(
        RATED,
        {
            **FILES,
            "r.csv": RATINGS.replace("doc_id,", "first,second,")
            .replace("\nd1,", "\nd1,d2,")
            .replace("\nd2,", "\nd2,d3,")
            .replace("\nd3,", "\nd3,d4,")
            .replace("\nd4,", "\nd4,d1,"),
        },
        "'first', 'second' all hold document ids",
        "--columns ratings.doc=COLUMN",
        (add("--columns ratings.doc=COLUMN", COLUMN="first"),),
    ),
    "two columns of systems": Refusal(
        RATED,
        {
            **FILES,
            "r.csv": RATINGS.replace("system,", "system,other,")
            .replace(",m,", ",m,n,")
            .replace(",n,ann", ",n,m,ann")
            .replace(",n,ben", ",n,m,ben")
            .replace(",m,n,m,", ",m,n,"),
        },
        "all name systems, as where two texts are compared",
        "--columns ratings.system=COLUMN",
        (add("--columns ratings.system=COLUMN", COLUMN="system"),),
    ),
    "an expert who may be a rater": Refusal(
        RATED,
        {
            **FILES,
            "r.csv": PLAIN.replace("fluency", "fluency,expert")
            .replace("\n", ",3\n")
            .replace("expert,3", "expert"),
        },
        "column 'expert' may say who rated, or be a rating itself",
        "--columns ratings.rater=expert",
        (add("--columns ratings.rater=expert"),),
    ),
    "ratings without a system": Refusal(
        RATED,
        {**FILES, "r.csv": "doc_id,rater,fluency\nd1,ann,3\nd2,ann,4\n"},
        "no column says which system's text each row is about",
        "--columns system=COLUMN",
        (write("r.csv", RATINGS),),
    ),
    "a metric that cannot be a name": Refusal(
        SCORED,
        {**FILES, "s.csv": SCORES.replace("good", "good " * 50)},
        "cannot be a name",
        "rename it: has 249 characters; shorten it to 200",
        (edit("s.csv", "good " * 50, "good"),),
    ),
    "a criterion that cannot be a name": Refusal(
        RATED,
        {**FILES, "r.csv": RATINGS.replace("fluency", "fluency " * 30)},
        "criterion",
        "rename it",
        (edit("r.csv", "fluency " * 30, "fluency"),),
    ),
    "no column of ratings": Refusal(
        RATED,
        {**FILES, "r.csv": "doc_id,system,remark\nd1,m,So.\nd1,n,No.\nd2,m,Ay.\n"},
        "no column of numbers is clearly the value of the ratings",
        "--columns ratings.value=COLUMN",
        (write("r.csv", RATINGS),),
    ),
    "a word among grades": Refusal(
        f"{RATED} --columns ratings.criteria=fluency",
        {**FILES, "r.csv": RATINGS + "d4,m,cem,fine\n"},
        "r.csv: line 18",
        "write",
        (edit("r.csv", "cem,fine", "cem,"),),
    ),
    "grades in words": Refusal(
        RATED,
        {
            **FILES,
            "r.csv": "doc_id,system,fluency\nd1,m,good\nd1,n,poor\nd2,m,fair\nd2,n,good\n",
        },
        "column 'fluency' has grades in words",
        "--scale 'fluency=poor<fair<good'",
        (add("--scale 'fluency=poor<fair<good'"),),
    ),
    # ---- options about names
    "a direction of nothing": Refusal(
        f"{RATED} --lower tone",
        FILES,
        "--lower: nothing is called 'tone'",
        "there are 'fluency'",
        (retype("--lower tone", "--lower fluency"),),
    ),
    "a scale of nothing": Refusal(
        f"{RATED} --scale tone=1..5",
        FILES,
        "--scale: no criterion is called 'tone'",
        "there are 'fluency'",
        (retype("tone=", "fluency="),),
    ),
    "a metric whose direction is not clear": Refusal(
        SCORED,
        {**FILES, "s.csv": SCORES.replace("good", "error_free")},
        "the name 'error_free' does not tell whether more is better",
        "say --higher error_free",
        (add("--higher error_free"),),
    ),
    "two directions": Refusal(
        f"{RATED} --lower fluency --higher fluency",
        FILES,
        "'fluency' is named by --lower and --higher",
        "name it by one of them",
        (retype(" --lower fluency", ""),),
    ),
    "metrics that would have one name": Refusal(
        SCORED,
        {
            **FILES,
            "s.csv": SCORES.replace("good", "a b,a_b")
            .replace(",m,", ",m,3,")
            .replace(",n,", ",n,4,"),
        },
        "would be called as another one, a_b",
        "rename it",
        (edit("s.csv", "a b", "c"),),
    ),
    # ---- rows
    "ratings of an unknown system": Refusal(
        RATED,
        {**FILES, "r.csv": RATINGS.replace(",n,", ",gpt4,")},
        "system 'gpt4' is not in t.csv",
        "rename it or add its texts",
        (edit("r.csv", "gpt4", "n"),),
    ),
    "ratings of an unknown document": Refusal(
        RATED,
        {**FILES, "r.csv": RATINGS.replace("d4,", "d9,")},
        "d9",
        "correct",
        (edit("r.csv", "d9,", "d4,"),),
    ),
    "documents without their zeros": Refusal(
        RATED,
        {"t.csv": TEXTS.replace("\nd", "\n00"), "r.csv": RATINGS.replace("\nd", "\n")},
        "names the same documents as the texts, except for zeros, case or .0",
        "write them alike",
        (write("r.csv", RATINGS.replace("\nd", "\n00")),),
    ),
    "a code for no answer": Refusal(
        RATED,
        {**FILES, "r.csv": RATINGS + "d4,m,cem,99\n"},
        "'fluency' has the value 99",
        "leave the cell empty if nobody rated",
        (edit("r.csv", "cem,99", "cem,"),),
    ),
    "a row twice": Refusal(
        RATED,
        {**FILES, "r.csv": one_more_row(RATINGS)},
        "occurs twice",
        "keep one of the two",
        (write("r.csv", RATINGS),),
    ),
    "ratings of nobody": Refusal(
        RATED,
        {**FILES, "r.csv": RATINGS.replace("rater", "who")},
        "rates a text again, and no column says who rated",
        "ratings.rater",
        (add("--columns ratings.rater=COLUMN", COLUMN="who"),),
    ),
    "a source that differs": Refusal(
        "init study --texts t.csv --yes",
        {
            "t.csv": column(TEXTS, "source", "A dialogue of two.").replace(
                "d1,m,The text of m about d1 is this.,A dialogue",
                "d1,m,The text of m about d1 is this.,The dialogue",
            )
        },
        "the source differs from an earlier row's",
        "make them equal",
        (edit("t.csv", "The dialogue", "A dialogue"),),
    ),
    "a grade beyond the scale": Refusal(
        f"{RATED} --scale fluency=1..5",
        {**FILES, "r.csv": RATINGS + "d4,m,cem,7\n"},
        "7",
        "scale",
        (edit("r.csv", "cem,7", "cem,5"),),
    ),
    "preferences": Refusal(
        RATED,
        {
            **FILES,
            "r.csv": "case,annotator,system_a,system_b,preference\nc1,ann,m,n,A\n",
        },
        "r.csv: contains preferences between two texts",
        "metassay import preferences r.csv --out imported",
        (run_printed,),
    ),
}


@pytest.fixture
def no_project(monkeypatch) -> None:
    """Making the project takes ten seconds, and is tested elsewhere."""
    monkeypatch.setattr(init, "make", lambda folder, content: [])
    monkeypatch.setattr(init, "_print_price", lambda *_: None)


@pytest.mark.usefixtures("no_project")
@pytest.mark.parametrize("case", REFUSALS)
def test_a_printed_remedy_works(terminal, tmp_path, case: str) -> None:
    refusal = REFUSALS[case]
    refused = refusal.provoke(terminal, tmp_path)
    done = refusal.follow(terminal, refused)
    assert done.code == 0, done.err

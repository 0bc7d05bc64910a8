"""The refusals of rankings and leaderboards: each printed remedy is followed to an answer."""

import pytest

from tests.remedies.following import Refusal, add, retype
from tests.remedies.tables import VERDICTS

_ORDERS = ("123", "213", "132", "321", "231", "312")


def ranks(judge: str = "judge", human: str = "human", ties: int = 0) -> str:
    """A table with ranks of three systems in twelve documents, people's tied in some."""
    lines = [f"doc_id,topic,system,{judge},{human}"]
    for n in range(12):
        for place, system in enumerate("xyz"):
            of_judge, of_people = _ORDERS[n % 3][place], _ORDERS[n % 5][place]
            if n < ties and of_people == "2":
                of_people = "1"
            lines.append(f"d{n},t{n % 2},{system},{of_judge},{of_people}")
    return "\n".join(lines) + "\n"


def without_most_ranks() -> str:
    """The same, where people rank one text of each document."""
    head, *rows = ranks().splitlines()
    of_first = [row if ",x," in row else row.rpartition(",")[0] + "," for row in rows]
    return "\n".join([head, *of_first]) + "\n"


BOARD = "system,bleu,edit_free,human\n" + "".join(
    f"s{n},{20 + n},{n % 4},{n % 5}\n" for n in range(8)
)

LICENCES = "system,bleu,licence,human\n" + "".join(
    f"s{n},{20 + n},{('mit', 'apache')[n % 2]},{n % 5}\n" for n in range(8)
)


def orders(last: str = "x > z > y", other: str = "length") -> str:
    """A table with rankings of three systems in one cell, people's last one being `last`."""
    lines = [f"prompt,judge_rank,human_rank,{other}"]
    for n in range(12):
        of_judge, of_people = (
            " > ".join("xyz"[int(place) - 1] for place in _ORDERS[n % size])
            for size in (3, 5)
        )
        lines.append(f"p{n},{of_judge},{of_people if n < 11 else last},{n % 4}")
    return "\n".join(lines) + "\n"


REFUSALS: dict[str, Refusal] = {
    "a cell that ranks nothing": Refusal(
        "judge-check r.csv",
        {"r.csv": orders("all bad")},
        "column 'human_rank' has 'all bad', which is no order such as A > B",
        "say --missing 'all bad'",
        (add("--missing 'all bad'"),),
    ),
    "grades beside rankings in one cell": Refusal(
        "judge-check r.csv --judge judge_rank --human human_grade",
        {"r.csv": orders(other="human_grade")},
        "'judge_rank' ranks the texts of each row, such as A > B, and 'human_grade' does not",
        "or name other columns: --judge COLUMN, --human COLUMN",
        (retype("human_grade", "human_rank"),),
    ),
    "a score of which nothing tells whether more is better": Refusal(
        "check b.csv",
        {"b.csv": BOARD},
        "the name 'edit_free' does not tell whether more is better",
        "--higher edit_free",
        (add("--higher edit_free"),),
    ),
    "a number of texts that systems must reach": Refusal(
        "judge-check b.csv --higher edit_free --require kappa=.5",
        {"b.csv": BOARD},
        "--require: takes labels of texts, and this table has one row per system",
        "leave it out",
        (retype(" --require kappa=.5", ""),),
    ),
    "lengths alone": Refusal(
        "check b.csv",
        {"b.csv": BOARD.replace("bleu", "length").replace("edit_free", "human_2")},
        "the name 'length' does not tell whether more is better",
        "--higher length",
        (add("--higher length"),),
    ),
    "a name that tells nothing of ranks": Refusal(
        "judge-check r.csv",
        {"r.csv": ranks(judge="judge_quality")},
        "column 'judge_quality' has each of 1, 2, 3 ... once per document",
        "--lower judge_quality",
        (add("--lower judge_quality"),),
    ),
    "a name that tells nothing, and 1 is the worst": Refusal(
        "judge-check r.csv",
        {"r.csv": ranks(judge="judge_quality")},
        "column 'judge_quality' has each of 1, 2, 3 ... once per document",
        "--higher judge_quality",
        (add("--higher judge_quality"),),
    ),
    "ranks with many ties": Refusal(
        "judge-check r.csv --judge judge",
        {"r.csv": ranks(ties=5).replace(",3,", ",30,")},
        "'human' has each of 1, 2, 3 ... once in most documents",
        "--lower human",
        (add("--lower human"),),
    ),
    "grades that look like ranks": Refusal(
        "judge-check r.csv --judge judge",
        {"r.csv": ranks(ties=5).replace(",3,", ",30,")},
        "'human' has each of 1, 2, 3 ... once in most documents",
        "--higher human",
        (add("--higher human"),),
    ),
    "ranks with ties beside ranks without": Refusal(
        "judge-check r.csv",
        {"r.csv": ranks(ties=5)},
        "'human' has numbers from 1 to the number of texts, as ranks with ties have",
        "--lower human",
        (add("--lower human"),),
    ),
    "scores that are called ranks": Refusal(
        "judge-check r.csv",
        {"r.csv": ranks(judge="judge_rank").replace(",3,", ",0.5,")},
        "'judge_rank' is called a rank, and has numbers that are no ranks",
        "--higher judge_rank",
        (add("--higher judge_rank"),),
    ),
    "a column by which both less and more is better": Refusal(
        "judge-check r.csv --lower judge --higher judge",
        {"r.csv": ranks()},
        "column 'judge' is named by --lower judge and by --higher judge",
        "name it by one",
        (retype(" --higher judge", ""),),
    ),
    "a score of systems without numbers": Refusal(
        "judge-check b.csv --judge bleu --judge licence",
        {"b.csv": LICENCES},
        "column 'licence' has no numbers by which systems can be compared",
        "name one of these: 'bleu', 'human'",
        (retype(" --judge licence", ""),),
    ),
    "one rank in a document": Refusal(
        "judge-check r.csv",
        {"r.csv": without_most_ranks()},
        "people ranked no two texts of one document (doc_id)",
        "--columns doc=COLUMN",
        (add("--columns doc=COLUMN", COLUMN="topic"),),
    ),
    "slices of texts": Refusal(
        "judge-check r.csv --by system",
        {"r.csv": ranks()},
        "column 'system' differs between texts of document 'd0'",
        "slice rankings by a column of documents",
        (retype("--by system", "--by topic"),),
    ),
    "ends of passes and fails": Refusal(
        "judge-check v.csv --lower judge",
        {"v.csv": VERDICTS},
        "--lower judge: is for ranks of a document's texts and for scores of systems",
        "leave it out",
        (retype(" --lower judge", ""),),
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_a_printed_remedy_works(terminal, tmp_path, case: str) -> None:
    refusal = REFUSALS[case]
    refused = refusal.provoke(terminal, tmp_path)
    done = refusal.follow(terminal, refused)
    assert done.code == 0, done.err

"""`metassay study`: what it writes, what it says, and what it refuses."""

import json
import shlex
import shutil
from pathlib import Path

import pandas as pd
import pytest
import yaml

from metassay import judge_check
from metassay.cli.main import main
from metassay.reporting.contract_page import TABLES
from metassay.tables.leaderboard import LEADERBOARD
from metassay.tables.parquet import read, write
from metassay.tables.ratings import RATINGS
from metassay.tables.scores import SCORES
from tests.api.test_card_transfer import verdicts
from tests.studies import invented_tables
from tests.studies.test_sheets import cells_of, put

ROOT = Path(__file__).parents[2]


def study_project(root):
    """A project whose benchmark `one` has run."""
    sample = yaml.safe_load((ROOT / "benchmarks/sample/params.yaml").read_text("utf-8"))
    entry = {"reader": "files", "title": "t", "licence": "none", "folder": "raw"}
    entry |= {"access": "public"}
    for name, content in (
        (
            "benchmarks/one/params.yaml",
            sample | {"name": "one", "dataset": "one", "raw": "raw"},
        ),
        ("data/registry.yaml", {"fetched": [], "datasets": {"one": entry}}),
    ):
        (root / name).parent.mkdir(parents=True)
        (root / name).write_text(yaml.safe_dump(content), encoding="utf-8")
    shutil.copy(ROOT / "params.yaml", root)
    read = invented_tables.tables()
    for name in ("sources", "parts", "units", "scores"):
        write(
            TABLES[name],
            read(TABLES[name]),
            root / f"data/tables/one/{name}.parquet",
        )
    (root / "rubrics").symlink_to(ROOT / "rubrics")


@pytest.fixture
def there(tmp_path, monkeypatch):
    """The project, in which a test stands."""
    study_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_leaderboard(root):
    """Write the leaderboard, which tells the direction of each metric."""
    board = invented_tables.tables()(LEADERBOARD)
    board[["part", "judge", "author", "recipe"]] = "full", "none", "(all)", "r"
    for name in board:
        if name.startswith("n_"):
            board[name] = 0
    write(LEADERBOARD, board, root / "data/tables/one/leaderboard.parquet")


def export(*more, form=("rubric", "--rubric", "vanilla")):
    words = ["study", "export", "one", "pilot", "--form", *form, "--format", "csv"]
    return main([*words, *more])


def private(there):
    path = there / "data/registry.yaml"
    path.write_text(
        path.read_text("utf-8").replace("access: public", "access: private"), "utf-8"
    )


def test_out_and_back(there, capsys):
    assert export("--raters", "anna,ben", "--seed", "5") == 0
    output, error = capsys.readouterr()
    assert "anna: 8 items, 8 rows" in output
    assert "KEEP studies/one/pilot/key.json TO YOURSELF, and the seed (5)" in output
    assert "note: 1 text(s) are left out: the system failed" in error
    files = returned(there, lambda rater, _: "4" if rater == "anna" else "", "Odd.")
    assert main(["study", "import", "one", "pilot", *files]) == 0
    output = capsys.readouterr().out
    assert "8 of 16 questions have no answer: their ratings are missing" in output
    assert "studies/one/pilot/ratings.csv: 16 ratings by 2 raters" in output
    assert "16 comments; they may quote texts, keep them private" in output
    assert output.endswith(
        "put these lines into benchmarks/one/params.yaml, then run: metassay run one\n"
        "studies:\n"
        "  pilot: studies/one/pilot/ratings.csv\n"
        "criteria:\n"
        "  vanilla_rating: {low: 1, high: 4, better: higher, scale: ordinal}\n"
    )
    first = (there / "studies/one/pilot/ratings.csv").read_text("utf-8").splitlines()[1]
    assert first == "pilot,d1,alpha,full,text,anna,vanilla_rating,4"
    assert main(["study", "import", "one", "pilot", files[0]]) == 2
    assert "nothing came back from rater 'ben'" in capsys.readouterr().err
    assert main(["study", "import", "one", "pilot", files[0], "--partial"]) == 0
    assert "8 rows are not there yet and count as empty" in capsys.readouterr().out


def test_a_study_keeps_its_folder_and_its_seed(there, capsys):
    assert export() == 0
    before = (there / "studies/one/pilot/key.json").read_bytes()
    assert export() == 2
    assert "holds something already" in capsys.readouterr().err
    assert (there / "studies/one/pilot/key.json").read_bytes() == before
    assert main(["study", "export", "one", "second", "--form", "claims"]) == 0
    keys = [there / f"studies/one/{name}/key.json" for name in ("pilot", "second")]
    first, second = (json.loads(key.read_text("utf-8"))["seed"] for key in keys)
    assert first != second
    assert (
        main(["study", "import", "one", "other", "x.csv", "--out", "studies/one/pilot"])
        == 2
    )
    assert (
        "is the key of study 'pilot' of 'one', not of 'other'"
        in capsys.readouterr().err
    )


def test_texts_that_are_not_public_stay_in_the_project(there, capsys, tmp_path_factory):
    private(there)
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    assert export("--out", str(elsewhere)) == 2
    assert (
        "the sheets hold texts of one, which are not public" in capsys.readouterr().err
    )
    assert not list(elsewhere.iterdir())
    assert export() == 0
    assert "hand them only to those who may read them" in capsys.readouterr().err
    folder = there / "studies/one/pilot"
    assert {p.stat().st_mode & 0o777 for p in (folder, *folder.rglob("*"))} == {
        0o600,
        0o700,
    }


def test_the_key_and_comments_are_their_owners_alone(there):
    """Of public texts, too: raters may share the machine, and comments may quote others."""
    assert export("--raters", "anna") == 0
    sheet = there / "studies/one/pilot/sheets/anna.csv"
    assert main(["study", "import", "one", "pilot", str(sheet)]) == 0
    alone = [f"studies/one/pilot/{name}" for name in ("key.json", "comments.csv")]
    assert [(there / name).stat().st_mode & 0o777 for name in alone] == [0o600, 0o600]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("--raters anna,Anna", "--raters > Anna: differs from anna"),
        ("--raters anna,anna", "--raters > anna: is named twice"),
        ("--raters=a_b,c.d", "--raters > c.d: use letters"),
        ("--raters 2 --per-item 3", "3 of 2 raters cannot rate an item"),
        ("--only-disagreements long near", "compares texts in pairs"),
        ("--rubric ../vanilla2", "vanilla2.yaml"),
        ("--next 3", "--next N: needs --for DECISION"),
        (
            "--next 3 --for certificate:long",
            "write 'certificate METRIC CRITERION LEVEL'",
        ),
        (
            "--next 3 --for certificate:long:vanilla_rating:document",
            "--items takes them",
        ),
        (
            "--next 3 --for certificate:long:charm:global",
            "the form asks for vanilla_rating",
        ),
        (
            "--next 3 --for certificate:rouge:vanilla_rating:global",
            "rouge has no score",
        ),
        ("--next 3 --for judge-card:long:vanilla_rating", "are not within 0 to 1"),
    ],
)
def test_designs_that_cannot_be(there, capsys, words, problem):
    assert export(*(word.replace(":", " ") for word in words.split())) == 2
    assert problem in capsys.readouterr().err
    assert not (there / "studies").exists()


def test_names_that_are_not_there(there, capsys):
    assert main(["study", "export", "two", "s", "--form", "claims"]) == 2
    assert "benchmarks/: no 'two'; there are: one" in capsys.readouterr().err
    assert main(["study", "export", "one", "a/b", "--form", "claims"]) == 2
    assert main(["study", "import", "one", "pilot", "x.csv"]) == 2
    words = "does not exist; name a study that `metassay study export` wrote"
    assert words in capsys.readouterr().err
    (there / "data/tables/one/units.parquet").unlink()
    assert main(["study", "export", "one", "s", "--form", "claims"]) == 2
    assert (
        "units.parquet: does not exist; run: metassay run one"
        in capsys.readouterr().err
    )


def test_a_study_that_the_data_bring_already(there, capsys):
    row = ("pilot", "d1", "beta", "full", "text", "ann", "usefulness", 3.0)
    ratings = pd.DataFrame([row], columns=list(RATINGS.columns))
    write(RATINGS, ratings, there / "data/tables/one/ratings/given.parquet")
    assert export() == 2
    assert (
        "STUDY 'pilot': the data bring a study of that name" in capsys.readouterr().err
    )


def returned(there, grade_of, comment=""):
    """The sheets as two raters send them back, each row graded."""
    files = []
    for rater in ("anna", "ben"):
        path = there / f"studies/one/pilot/sheets/{rater}.csv"
        header, *rows = cells_of(path)
        put(
            path,
            [header, *([*row[:-2], grade_of(rater, row), comment] for row in rows)],
        )
        files.append(str(path))
    return files


def test_the_next_texts_are_drawn_by_known_chances(there, capsys):
    decision = ("--for", "certificate long vanilla_rating global")
    assert export("--raters", "anna,ben", "--seed", "5", "--next", "5", *decision) == 0
    assert "anna: 5 items, 5 rows" in capsys.readouterr().out
    key = json.loads((there / "studies/one/pilot/key.json").read_text("utf-8"))
    assert key["drawn_by"]["decision"] == decision[1]
    texts = key["drawn_by"]["texts"]
    assert len(texts) == 8  # of one the system failed
    assert sum(chance for *_, chance in texts) == pytest.approx(5)
    by_score = {score: chance for _, _, score, chance in texts}
    # the ends of the scale say most
    assert by_score[1.0] > by_score[2.0] < by_score[3.0]
    files = returned(there, lambda _, row: str(1 + len(row[0]) % 4))
    assert main(["study", "import", "one", "pilot", *files]) == 0
    output = capsys.readouterr().out
    assert "correlation of long and vanilla_rating, global: " in output
    assert "evaluations leave these ratings out" in output
    assert "put these lines" not in output
    header, *rows = cells_of(there / "studies/one/pilot/ratings.csv")
    assert header[-1] == "chosen_by"
    assert {row[-1] for row in rows} == {f"--next --for {decision[1]}"}


def test_texts_for_a_card_come_back_as_a_table_that_check_weighs(there, capsys):
    file = there / "data/tables/one/scores.parquet"
    scores = read(SCORES, file)
    sure = scores[scores["metric"] == "long"]
    values = sure["value"].map({1.0: 0.1, 2.0: 0.6, 3.0: 0.9})
    sure = sure.assign(
        metric="sure", judge="mini", value=values, low=values, high=values
    )
    write(SCORES, pd.concat([scores, sure]), file)
    write_leaderboard(there)
    labelled = verdicts(400, 0.9, 1, judge="gpt 4").replace({"pass": 4, "fail": 2})
    graded = judge_check(labelled, judge="gpt 4", human="human", pass_from=3)
    graded.save(there / "graded")
    judge_check(verdicts(400, 0.9, 1, judge="gpt 4"), judge="gpt 4").save(
        there / "card"
    )
    decision = ("--for", "card sure (mini) vanilla_rating")
    assert export("--raters", "anna,ben", *decision) == 2
    assert "needs --card DIR" in capsys.readouterr().err
    assert export("--raters", "anna,ben", *decision, "--card", "graded") == 2
    assert "made with --pass or --pass-from" in capsys.readouterr().err
    judge_check(verdicts(40, 0.9, 1).assign(human="pass"), judge="judge").save(
        there / "of passes"
    )
    assert export("--raters", "anna,ben", *decision, "--card", "of passes") == 2
    assert "has no specificity there; make a card" in capsys.readouterr().err
    words = (*decision, "--card", "card", "--margin", ".1")
    assert export("--raters", "anna,ben", *words) == 0
    output = capsys.readouterr()
    assert "anna: 8 items, 8 rows" in output.out
    assert "note: label 8 texts: " in output.err
    files = returned(there, lambda *_: "4")
    assert main(["study", "import", "one", "pilot", *files]) == 0
    labels = "studies/one/pilot/labels.csv"
    *_, command = (
        line
        for line in capsys.readouterr().out.splitlines()
        if line.startswith("metassay check")
    )
    table = pd.read_csv(there / labels)
    assert set(table["human"]) == {"pass"}
    assert main(shlex.split(command)[1:]) == 3  # eight texts do not tell
    answer = " ".join(capsys.readouterr().out.split())
    assert "Does the card of card/card.csv hold here, within .10? gpt 4:" in answer
    # Grades are 1 to 4: of each text one rater passes it, and the other one fails it.
    files = returned(there, lambda rater, _: "3" if rater == "anna" else "2")
    assert main(["study", "import", "one", "pilot", *files]) == 0
    output = capsys.readouterr().out
    assert "8 rated texts left out: the mean rating is the middle" in output
    assert "0 of them labelled" in output


def test_raters_side_with_one_of_two_metrics_that_disagree(there, capsys):
    write_leaderboard(there)
    words = ("--raters", "anna,ben", "--seed", "5")
    metrics = ("--only-disagreements", "long", "near")
    assert export(*words, *metrics, form=("pairs",)) == 0
    assert "a correlation over them is not that over all" in capsys.readouterr().err
    key = json.loads((there / "studies/one/pilot/key.json").read_text("utf-8"))
    assert key["drawn_by"]["disagreeing"] == ["long", "near"]
    preferred = {tuple(pair): by for *pair, by in key["drawn_by"]["preferred"]}

    def grade_of(rater, row):
        """Anna prefers the text of `long`, and Ben says that there is no difference."""
        if rater == "ben":
            return "tie"
        (question,) = key["rows"][row[1]]["asked"].values()
        _, doc, author, _, unit, _ = question
        other = unit.removeprefix("versus:")
        by_long = preferred[doc, *sorted((author, other))]
        return "A" if by_long == author else "B"

    files = returned(there, grade_of)
    assert main(["study", "import", "one", "pilot", *files]) == 0
    output = capsys.readouterr().out
    n = len(key["rows"])
    assert (
        f"of {2 * n} comparisons, raters prefer the text of long in {n}, that of near in"
        f" 0, and neither in {n}" in output
    )
    _, *rows = cells_of(there / "studies/one/pilot/ratings.csv")
    assert {row[-1] for row in rows} == {"disagreement of long and near"}


def test_pairs_are_not_drawn_for_a_decision(there, capsys):
    words = ("--next", "3", "--for", "certificate long preference global")
    assert export("--raters", "2", *words, form=("pairs",)) == 2
    assert "an item of this form shows two" in capsys.readouterr().err

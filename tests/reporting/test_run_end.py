"""The end of a run is short and has the answer; what it leaves out is behind `metassay show`."""

import csv
import io

import numpy as np
import pandas as pd
import pytest

from metassay.cli.main import main
from metassay.cli.run_summary import LINES, print_summary
from metassay.cli.show import ROWS
from metassay.core.params import load
from metassay.reporting.contract_page import TABLES
from metassay.tables.documents import TEXTS
from metassay.tables.notes import NOTES
from metassay.tables.parquet import read, write
from metassay.tables.responses import RESPONSES
from tests.conftest import ROOT
from tests.reporting.invented_meta import FOUND

PRIVATE = "canary-77af"
LONG = "understandability_of_the_whole_text_to_those_who_know_little"


@pytest.fixture
def here(folder, monkeypatch):
    """The folder of its tables, within a project."""
    root = folder.parents[2]
    for name in ("params.yaml", "benchmarks"):
        (root / name).symlink_to(ROOT / name)
    monkeypatch.chdir(root)
    monkeypatch.setenv("COLUMNS", "80")
    return folder


@pytest.fixture
def crowded(here):
    """12 criteria with other answers, 20 systems, 300 notes, and answers missing everywhere."""
    certificates = read(TABLES["certificates"], here / "certificates.parquet")
    one = certificates[certificates["criterion"] == "completeness"]
    every = [
        one.assign(criterion=f"{LONG}_{n:02}", metric=one["metric"] + str(n)) for n in range(12)
    ]
    write(TABLES["certificates"], pd.concat(every), here / "certificates.parquet")
    designs = read(TABLES["designs"], here / "designs.parquet").iloc[:1]
    several = [
        designs.assign(criterion=f"{LONG}_{n:02}", suspected=f"Names begin alike: {LONG} {n}.")
        for n in range(12)
    ]
    write(TABLES["designs"], pd.concat(several), here / "designs.parquet")
    board = read(TABLES["leaderboard"], here / "leaderboard.parquet")
    mine = board[board["author"] == board["author"].iloc[0]]
    systems = [mine.assign(author=f"system_{n:02}_[x]") for n in range(20)]
    write(TABLES["leaderboard"], pd.concat(systems), here / "leaderboard.parquet")
    notes = [("ingest", n, f"ratings.csv: line {n} [b]: {LONG} " * 3) for n in range(300)]
    write(NOTES, pd.DataFrame(notes, columns=list(NOTES.columns)), here / "notes/ingest.parquet")
    for file in (here / "responses").glob("*.parquet"):
        missing(file)
    return here


def missing(file):
    """Five answers, of which three are missing and one failed for good."""
    codes = ["stop", "http_500", "timeout", "http_500", "http_400"]
    frame = {
        "key": list("abcde"),
        "request": f'{{"model":"m-1","prompt":"{PRIVATE}"}}',
        "status": ["ok", *4 * ["error"]],
        "finish_reason": codes,
        **{"prompt_tokens": None, "completion_tokens": None, "text": None},
    }
    write(RESPONSES, pd.DataFrame(frame), file)


def ended(capsys):
    """Exit code, lines and the whole of what the sample's run ends with."""
    code = print_summary(["sample"], load())
    lines = capsys.readouterr().out.splitlines()
    return code, lines, " ".join(" ".join(lines).split())


def shown(capsys, *words):
    assert main(["show", "sample", *words]) == 0
    return capsys.readouterr()


def table(capsys, name):
    return list(csv.DictReader(io.StringIO(shown(capsys, name, "--csv", "-").out)))


def test_the_answer_comes_first_with_how_sure_it_is_and_what_would_settle_the_rest(here, capsys):
    code, lines, said = ended(capsys)
    assert code == 0
    assert len(lines) <= LINES
    use = said.index("Use claim_recall (lexical) to compare any two texts by completeness")
    open_question = said.index("No metric can be trusted yet to compare two systems")
    assert use < open_question < said.index(FOUND)
    assert "(r .47 [.20, .71])" in said[use:open_question]
    assert "about 20 systems would settle it" in said[open_question:]
    assert lines[-1] == "report: reports/sample/index.html"


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_benchmark_is_so_large_that_its_end_is_long(crowded, monkeypatch, capsys, width):
    monkeypatch.setenv("COLUMNS", str(width))
    code, lines, said = ended(capsys)
    assert code == 3
    assert len(lines) <= LINES
    assert max(map(len, lines)) <= width
    assert "…" not in said
    assert "Use claim_recall0 (lexical)" in said
    asked = 5 * len(list((crowded / "responses").iterdir()))
    assert f"{asked} answers" in said
    assert f"{asked // 5 * 3} are missing" in said
    assert f"{asked // 5} failed for good" in said
    assert "notes: metassay show sample notes" in said
    assert "metassay show sample trust" in said


def test_what_finds_no_room_is_counted(crowded, capsys):
    _, _, said = ended(capsys)
    printed = said.count("Note of ingest")
    rest = 300 - printed
    assert f"{'and ' * bool(printed)}{rest} {'more ' * bool(printed)}notes:" in said
    notes = shown(capsys, "notes")
    assert f"and {300 - ROWS} more rows: metassay show sample notes --all" in notes.out
    assert "line 299" not in notes.out
    assert "line 299" in shown(capsys, "notes", "--all").out


def test_two_benchmarks_end_in_a_block_each(here, capsys):
    print_summary(["sample", "sample"], load())
    assert capsys.readouterr().out.count("report: reports/sample/index.html") == 2


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"verdict": "these systems only", "trusted": True}, "No other system was rated"),
        ({"verdict": "too weak", "trusted": False}, "No metric is of use to compare any two texts"),
        ({"verdict": "explained by words", "trusted": False}, ", explained by words."),
        ({"verdict": "undefined", "trusted": False, "corrected": np.nan}, "has a correlation"),
        (
            {"smallest_p": 0.3333, "n_families": 3, "trusted": False, "verdict": "promising"},
            "People",
        ),
    ],
)
def test_every_verdict_has_words(here, capsys, changes, words):
    """Of them only `promising` and `cannot tell` are settled by more ratings."""
    found = read(TABLES["certificates"], here / "certificates.parquet")
    write(TABLES["certificates"], found.assign(**changes), here / "certificates.parquet")
    _, lines, said = ended(capsys)
    assert words in said
    assert "would settle it" not in said
    assert len(lines) <= LINES


def test_too_few_systems_are_told_once(here, capsys):
    found = read(TABLES["certificates"], here / "certificates.parquet")
    system = found["level"] == "system"
    few = found.assign(n_families=3, smallest_p=found["smallest_p"].mask(system, 1 / 3))
    write(TABLES["certificates"], few, here / "certificates.parquet")
    _, _, said = ended(capsys)
    assert said.count("People rated 3 systems; ranking systems needs at least 5.") == 1
    assert "to compare two systems" not in said


def test_without_ratings_it_says_what_to_do(here, capsys):
    params = load()
    unrated = params.benchmarks["sample"].model_copy(update={"criteria": {}})
    empty = read(TABLES["certificates"], here / "certificates.parquet").iloc[:0]
    write(TABLES["certificates"], empty, here / "certificates.parquet")
    for benchmark, words in (
        (unrated, ("metassay study export --help", "metassay show sample means")),
        (params.benchmarks["sample"], ("no metric of these could be tested",)),
    ):
        changed = params.model_copy(update={"benchmarks": {"sample": benchmark}})
        assert print_summary(["sample"], changed) == 0
        said = " ".join(capsys.readouterr().out.split())
        assert all(word in said for word in words)


def test_show_lists_what_is_there_and_prints_what_a_run_printed(crowded, capsys):
    listed = shown(capsys).out.splitlines()
    names = {line.split()[0] for line in listed if line.startswith(" ") and line.split()}
    tables = {"certificates", "leaderboard", "designs", "notes", "responses"}
    assert {*tables, "trust", "means", "answers"} <= names
    assert not {"judges", "segmentations", "scores"} & names
    means = shown(capsys, "means").out
    assert all(f"system_{n:02}_[x]" in means for n in range(20))
    assert max(map(len, means.splitlines())) <= 80
    trust = table(capsys, "trust")
    assert list(trust[0]) == [
        "criterion",
        "decision",
        "metric",
        "correlation, corrected",
        "verdict",
    ]
    assert len(trust) == 36
    assert {row["why"] for row in table(capsys, "answers")} == {"http_500 2, http_400 1, timeout 1"}
    assert len(table(capsys, "notes")) == 300  # of CSV there are always all


def test_rows_that_go_on_below_are_numbered(here, capsys):
    said = shown(capsys, "certificates").out.splitlines()
    assert max(map(len, said)) <= 80
    rules = [place for place, line in enumerate(said) if line.startswith(" ──")]
    assert len(rules) > 2
    assert {said[place - 1].split()[0] for place in rules} == {"row"}


def test_no_text_is_shown(here, capsys):
    missing(here / "responses/decompose.parquet")
    key = {"doc_id": "d1", "author": "a", "part": "full", "status": "ok", "recipe": "r"}
    write(TEXTS, pd.DataFrame([{**key, "text": PRIVATE}]), here / "texts/given.parquet")
    for name, column in (("texts", "text"), ("responses", "request")):
        for words in ((name,), (name, "--csv", "-"), (name, "--all")):
            said = shown(capsys, *words)
            assert PRIVATE not in said.out + said.err
            assert column in said.err + said.out
    assert table(capsys, "texts") == [key]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["sampel"], "did you mean 'sample'"),
        (["sample", "certificate"], "did you mean 'certificates'"),
        (["mts_dialog"], "metassay run mts_dialog"),
    ],
)
def test_what_is_not_there_is_named_with_a_remedy(here, capsys, words, told):
    assert main(["show", *words]) == 2
    assert told in capsys.readouterr().err


def test_a_page_that_a_cache_brought_asks_for_no_file_that_is_not_there(here):
    data = here.parents[2] / "reports/sample/page/data"
    data.mkdir(parents=True)
    print_summary(["sample"], load())
    since = data / "since.js"
    assert since.read_text("utf-8") == 'metassay("since",null)\n'
    since.write_text("of a check")
    print_summary(["sample"], load())
    assert since.read_text("utf-8") == "of a check"

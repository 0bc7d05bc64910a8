"""What the terminal says: of certificates, at the end of a run, and by `metassay show`.

The end of a run is short and has the answer; what it leaves out is behind `metassay
show`.
"""

import csv
import io
from argparse import Namespace

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from metassay.cli.main import main
from metassay.cli.meta_eval import SHOWN, show
from metassay.cli.project import list_all
from metassay.cli.run_summary import LINES, print_summary
from metassay.cli.show import ROWS, table_of
from metassay.core.params import load
from metassay.reporting.contract_page import TABLES
from metassay.reporting.headline import answers_of, artifacts, best_metrics, cards
from metassay.reporting.names import ShownAs
from metassay.reporting.warning_lines import warnings_of
from metassay.tables.documents import TEXTS
from metassay.tables.judge_cards import JUDGE_CARDS
from metassay.tables.notes import NOTES
from metassay.tables.parquet import empty, read, write
from metassay.tables.responses import RESPONSES
from tests.conftest import ROOT
from tests.reporting.conftest import ask_nobody
from tests.reporting.invented_report import DOUBLES, lines

PRIVATE = "canary-77af"
LONG = "understandability_of_the_whole_text_to_those_who_know_little"
METRIC = "unieval_understandability_of_the_whole"
JUDGED = "wice_dev"


@pytest.fixture
def here(folder, monkeypatch):
    """The folder of its tables, within a project."""
    root = folder.parents[2]
    for name in ("params.yaml", "benchmarks"):
        (root / name).symlink_to(ROOT / name)
    monkeypatch.chdir(root)
    monkeypatch.setenv("COLUMNS", "80")
    return folder


def change(folder, name, **columns):
    """Write a table with other values in these columns."""
    file = folder / f"{name}.parquet"
    write(TABLES[name], read(TABLES[name], file).assign(**columns), file)


@pytest.fixture
def crowded(here):
    """12 criteria with other answers, 20 systems, 300 notes, and answers missing everywhere."""

    def many(name, of, changes):
        table = read(TABLES[name], here / f"{name}.parquet")
        every = [table[of(table)].assign(**columns) for columns in changes]
        write(TABLES[name], pd.concat(every), here / f"{name}.parquet")

    criteria = [f"{LONG}_{n:02}" for n in range(12)]
    many(
        "certificates",
        lambda table: table["criterion"] == "completeness",
        [
            {"criterion": name, "metric": lambda of, n=n: of["metric"] + str(n)}
            for n, name in enumerate(criteria)
        ],
    )
    many(
        "designs",
        lambda table: table.index == 0,
        [{"criterion": name} for name in criteria],
    )
    many(
        "warnings",
        lambda table: table.index == 0,
        [
            {"criterion": name, "finding": f"Names begin alike: {name}."}
            for name in criteria
        ],
    )
    systems = [{"author": f"system_{n:02}_[x]"} for n in range(20)]
    many(
        "leaderboard", lambda table: table["author"] == table["author"].iloc[0], systems
    )
    notes = [
        ("ingest", n, f"ratings.csv: line {n} [b]: {LONG} " * 3) for n in range(300)
    ]
    write(
        NOTES,
        pd.DataFrame(notes, columns=list(NOTES.columns)),
        here / "notes/ingest.parquet",
    )
    for file in (here / "responses").glob("*.parquet"):
        missing(file)
    return here


def missing(file):
    """Five answers, of which three are missing and one failed for good."""
    codes = ["stop", "http_500", "timeout", "http_500", "http_400"]
    frame = {"key": list("abcde"), "request": f'{{"model":"m-1","prompt":"{PRIVATE}"}}'}
    frame |= {"status": ["ok", *4 * ["error"]], "finish_reason": codes}
    frame |= dict.fromkeys(("prompt_tokens", "completion_tokens", "text"))
    write(RESPONSES, pd.DataFrame(frame), file)


def ended(capsys, params=None, name="sample"):
    """Exit code, lines and the whole of what a run ends with."""
    code = print_summary([name], params or load())
    printed = capsys.readouterr().out.splitlines()
    return code, printed, " ".join(" ".join(printed).split())


def shown(capsys, *words):
    assert main(["show", "sample", *words]) == 0
    return capsys.readouterr()


def table(capsys, name):
    return list(csv.DictReader(io.StringIO(shown(capsys, name, "--csv", "-").out)))


# ---- the end of a run ------------------------------------------------------------------------


def test_the_answer_comes_first_with_how_sure_it_is_and_what_would_settle_the_rest(
    here, capsys
):
    code, printed, text = ended(capsys)
    assert code == 0
    assert len(printed) <= LINES
    use = text.index(
        "Use claim_recall (lexical) to compare any two texts by completeness"
    )
    open_question = text.index("No metric can be trusted yet to compare two systems")
    assert use < open_question < text.index(DOUBLES)
    assert "(r .47 [.20, .71])" in text[use:open_question]
    assert "about 20 systems would settle it" in text[open_question:]
    assert printed[-1] == "report: reports/sample/index.html"
    print_summary(["sample", "sample"], load())  # a block each
    assert capsys.readouterr().out.count("report: reports/sample/index.html") == 2


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_benchmark_is_so_large_that_its_end_is_long(
    crowded, monkeypatch, capsys, width
):
    """What finds no room is counted, and behind `show`."""
    monkeypatch.setenv("COLUMNS", str(width))
    code, printed, text = ended(capsys)
    assert code == 3
    assert len(printed) <= LINES
    assert max(map(len, printed)) <= width
    n = len(list((crowded / "responses").iterdir()))
    for words in (
        "Use claim_recall0 (lexical)",
        f"{5 * n} answers",
        f"{3 * n} are missing",
        f"{n} failed for good",
        "notes: metassay show sample notes",
        "metassay show sample trust",
    ):
        assert words in text
    assert "…" not in text
    n_notes = text.count("Note of ingest")
    more = ("and ", "more ") if n_notes else ("", "")
    assert f"{more[0]}{300 - n_notes} {more[1]}notes:" in text


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"verdict": "these systems only", "trusted": True},
            "No other system was rated",
        ),
        (
            {"verdict": "too weak", "trusted": False},
            "No metric is of use to compare any two texts",
        ),
        ({"verdict": "explained by words", "trusted": False}, ", explained by words."),
        (
            {"verdict": "undefined", "trusted": False, "corrected": np.nan},
            "has a correlation",
        ),
        (
            {
                "smallest_p": 0.3333,
                "n_families": 3,
                "trusted": False,
                "verdict": "promising",
            },
            "People",
        ),
    ],
)
def test_every_verdict_has_words(here, capsys, changes, words):
    """Of them only `promising` and `cannot tell` are settled by more ratings."""
    change(here, "certificates", **changes)
    _, printed, text = ended(capsys)
    assert words in text
    assert "would settle it" not in text
    assert len(printed) <= LINES


def test_too_few_systems_are_told_once(here, capsys):
    def smallest(of):
        return of["smallest_p"].mask(of["level"] == "system", 1 / 3)

    change(here, "certificates", n_families=3, smallest_p=smallest)
    _, _, text = ended(capsys)
    assert text.count("People rated 3 systems; ranking systems needs at least 5.") == 1
    assert "to compare two systems" not in text


def test_without_ratings_it_says_what_to_do(here, capsys):
    params = load()
    write(
        TABLES["certificates"],
        empty(TABLES["certificates"]),
        here / "certificates.parquet",
    )
    assert "no metric of these could be tested" in ended(capsys)[2]
    unrated = params.benchmarks["sample"].model_copy(update={"criteria": {}})
    changed = params.model_copy(update={"benchmarks": {"sample": unrated}})
    code, _, text = ended(capsys, changed)
    assert code == 0
    assert "metassay study export --help" in text
    assert "metassay show sample means" in text


def test_systems_and_judges_are_called_as_they_are_shown(here, capsys):
    params = load()
    sample = params.benchmarks["sample"].model_copy(update={"systems": ["plain"]})
    ask_nobody(sample, here)
    shown_as = {"plain": "openai/gpt-4o [b]", "lexical": "Word overlap"}
    changed = params.model_copy(
        update={"benchmarks": {"sample": sample}, "shown_as": shown_as}
    )
    text = ended(capsys, changed)[2]
    assert "(Word overlap)" in text
    text += "".join(
        table_of("sample", name, changed)[0].to_csv() for name in ("means", "trust")
    )
    assert "openai/gpt-4o [b]" in text
    assert "lexical" not in text


def test_a_page_that_a_cache_brought_asks_for_no_file_that_is_not_there(here):
    data = here.parents[2] / "reports/sample/page/data"
    data.mkdir(parents=True)
    print_summary(["sample"], load())
    since = data / "since.js"
    assert since.read_text("utf-8") == 'metassay("since",null)\n'
    since.write_text("of a check")
    print_summary(["sample"], load())
    assert since.read_text("utf-8") == "of a check"


@pytest.mark.parametrize("width", [60, 80])
def test_a_run_of_a_test_ends_with_the_judges_and_the_page(
    tmp_path, monkeypatch, capsys, width
):
    """Rows of numbers, with what a judge did not judge; what Prefect is told has no recipe."""
    tables = tmp_path / "data/tables" / JUDGED
    rows = lines(
        "judge statistic value low high n n_missing",
        ("lexical", "agreement", 0.74, 0.69, 0.79, 349, 0),
        ("lexical", "sensitivity", 0.5, 0.4, 0.6, 9, 0),
        ("paper", "agreement", 0.7, 0.6, 0.8, 98, 2),
        ("paper", "auroc", 0.81, 0.71, 0.89, 98, 2),
        study="dev",
        criterion="entailed",
        part="full",
        metric="verdict",
        n_judged=1,
        n_split=0,
        n_effective=1.0,
        recipe="r",
    )
    frame = pd.DataFrame(rows, columns=list(JUDGE_CARDS.columns))
    write(JUDGE_CARDS, frame, tables / "judge_cards.parquet")
    params = load()
    ask_nobody(params.judge_tests[JUDGED], tables)
    assert cards(tables).to_numpy().tolist() == [
        ["lexical", "dev", "349", ".74 [.69, .79]", "–", "–"],
        ["paper", "dev", "98 of 100", ".70 [.60, .80]", "–", ".81 [.71, .89]"],
    ]
    renamed = cards(tables, ShownAs({}, {"lexical": "words alone"}))
    assert [*renamed["judge"]] == ["words alone", "paper"]
    tables_of_run = artifacts(tables, answers_of(tables, []), ["judge_cards"])
    assert {row["statistic"] for row in tables_of_run.pop("judge_cards")} == {
        "agreement",
        "auroc",
    }
    assert tables_of_run == {}
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.chdir(tmp_path)
    code, printed, text = ended(capsys, params, JUDGED)
    assert code == 0
    for words in (
        f"{JUDGED}: judges beside right answers",
        "98 of",
        "report: reports/wice_dev/",
    ):
        assert words in text
    assert max(map(len, printed)) <= width


# ---- metassay show ---------------------------------------------------------------------------


def test_show_lists_what_is_there_and_prints_what_a_run_printed(crowded, capsys):
    listed = shown(capsys).out.splitlines()
    names = {
        line.split()[0] for line in listed if line.startswith(" ") and line.split()
    }
    tables = {"certificates", "leaderboard", "designs", "notes", "responses"}
    assert {*tables, "trust", "means", "answers"} <= names
    assert not {"judges", "segmentations", "scores"} & names
    means = shown(capsys, "means").out
    assert all(f"system_{n:02}_[x]" in means for n in range(20))
    assert max(map(len, means.splitlines())) <= 80
    trust = table(capsys, "trust")
    heads = ["criterion", "decision", "metric", "correlation, corrected", "verdict"]
    assert [*trust[0]] == heads
    assert len(trust) == 36
    assert {row["why"] for row in table(capsys, "answers")} == {
        "http_500 2, http_400 1, timeout 1"
    }
    assert len(table(capsys, "notes")) == 300  # of CSV there are always all
    notes = shown(capsys, "notes").out
    assert f"and {300 - ROWS} more rows: metassay show sample notes --all" in notes
    assert "line 299" not in notes
    assert "line 299" in shown(capsys, "notes", "--all").out
    printed = shown(capsys, "certificates").out.splitlines()
    assert max(map(len, printed)) <= 80
    rules = [place for place, line in enumerate(printed) if line.startswith(" ──")]
    assert len(rules) > 2
    # they go on below
    assert {printed[place - 1].split()[0] for place in rules} == {"row"}


def test_no_text_is_shown(here, capsys):
    missing(here / "responses/decompose.parquet")
    key = {"doc_id": "d1", "author": "a", "part": "full", "status": "ok", "recipe": "r"}
    write(TEXTS, pd.DataFrame([{**key, "text": PRIVATE}]), here / "texts/given.parquet")
    for name, column in (("texts", "text"), ("responses", "request")):
        for words in ((name,), (name, "--csv", "-"), (name, "--all")):
            printed = shown(capsys, *words)
            assert PRIVATE not in printed.out + printed.err
            assert column in printed.err + printed.out
    assert table(capsys, "texts") == [key]


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        (["sampel"], "did you mean 'sample'"),
        (["sample", "certificate"], "did you mean 'certificates'"),
        (["mts_dialog"], "metassay run mts_dialog"),
    ],
)
def test_what_is_not_there_is_named_with_a_remedy(here, capsys, words, remedy):
    assert main(["show", *words]) == 2
    assert remedy in capsys.readouterr().err


@pytest.mark.parametrize("width", [50, 80])
def test_the_list_of_benchmarks_cuts_no_name(monkeypatch, capsys, width):
    monkeypatch.setenv("COLUMNS", str(width))
    list_all(Namespace(croissant=None))
    text = capsys.readouterr().out
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width


def test_headline_has_the_best_of_each_decision_corrected_or_what_to_do(folder, frames):
    name = "claim_recall (lexical)"
    best = [name, ".47 [.20, .71]", "use, best of 3 metrics"]
    table = best_metrics(folder).to_numpy().tolist()
    assert table[:3] == [
        ["completeness", "any two texts", *best],
        ["completeness", "two texts of one document", *best],
        [
            "completeness",
            "two systems",
            f"none yet; closest: {name}",
            ".47 [.20, .71]",
            "rate more systems: 1 promising, 1 cannot tell, 1 undefined",
        ],
    ]
    assert len(table) == 6
    assert warnings_of(folder) == [DOUBLES]
    tables_of_run = artifacts(folder, answers_of(folder, []))
    assert list(tables_of_run) == ["leaderboard", "certificates"]
    assert len(tables_of_run["certificates"]) == len(frames["certificates"])
    assert {row["p"] for row in tables_of_run["certificates"]} == {
        0.0001,
        0.0833,
        0.25,
        None,
    }
    assert not {"sentence", "recipe"} & set(tables_of_run["certificates"][0])


# ---- certificates in the terminal ------------------------------------------------------------


def printed_of(tables, width):
    console = Console(file=io.StringIO(), width=width, force_terminal=False)
    show(tables, 0.95, console)
    return console.file.getvalue()


@pytest.fixture
def tables(frames):
    renamed = frames["certificates"].replace({"metric": {"bleu": METRIC}})
    explained = renamed["verdict"].mask(
        renamed["metric"] == METRIC, "explained by words_and_more"
    )
    more = {name: frames[name] for name in ("agreement", "designs")}
    return {"certificates": renamed.assign(verdict=explained), **more}


@pytest.mark.parametrize("width", [60, 80])
def test_nothing_is_cut_at_either_width(tables, width):
    """The comparison with a rater gives way first."""
    text = printed_of(tables, width)
    printed = text.splitlines()
    assert max(map(len, printed)) <= width
    assert "…" not in text
    for words in ("promising", ".52", "<.001", "use"):
        assert words in text, words
    assert ("metric / rater" in text, ".51 / .56" in text) == (width == 80, width == 80)
    # What is folded is broken anywhere: columns are read downwards.
    first = text[
        text.index("any two texts") : text.index("two texts of one document")
    ].splitlines()
    place = next(n for n, line in enumerate(first) if METRIC[:8] in line)
    metrics = "".join(line[1:].partition("  ")[0].strip() for line in first[place:])
    assert metrics.startswith(METRIC)
    last = "".join(line[width - (22 if width == 80 else 15) :] for line in printed)
    assert "explainedbywords_and_more" in "".join(last.split())


def test_sentences_stand_after_the_tables(tables):
    text = printed_of(tables, 100)
    level = text.index("any two texts (global level)")
    assert level < text.index(
        "Use: for any two texts, claim_recall follows completeness."
    )
    squeezed = " ".join(text.split())
    assert "Corrected as best of 3 metrics: .47 [.20, .71]." in squeezed
    assert (
        "For two systems there is no metric to use yet: 1 promising, 1 explained by a confound, 1"
        " undefined. First is claim_recall (lexical) (promising: rate more systems), corrected as"
        " best of 3 metrics: .47 [.20, .71]."
    ) in squeezed
    assert "Krippendorff's alpha (interval) .65 [.50, .75], 6 texts" in squeezed


def test_of_many_metrics_the_first_are_printed_and_of_none_that_there_is_none(
    frames, nothing
):
    first = frames["certificates"].iloc[[0]]
    many = pd.concat(
        [first.assign(metric=f"m{k:02}", value=1 - k / 100) for k in range(SHOWN + 2)]
    )
    text = printed_of({**frames, "certificates": many}, 80)
    assert f"m{SHOWN - 1:02}" in text
    assert f"m{SHOWN:02}" not in text
    assert "and 2 more metrics: --out writes all" in text
    assert "nothing can be certified" in printed_of(nothing, 80)

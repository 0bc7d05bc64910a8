"""`metassay meta-eval`: two files in, a verdict per metric out, and every fault of both at once."""

import csv
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau, pearsonr, spearmanr

from metassay.api import results
from metassay.api.columns import InputTable
from metassay.api.eval_request import LARGEST
from metassay.cli.main import main
from metassay.datasets.registry import find, load_registry
from tests.api.small_study import (
    OPTIONS,
    TEXT,
    Frames,
    choices,
    faults,
    put,
    read,
    study,
    table,
)

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/meta-eval.md").read_text("utf-8")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, as wide as a small terminal."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


@pytest.fixture(scope="module")
def frames() -> Frames:
    return study("abc", 12)


def read_scores(text: str | bytes, name: str = "scores.csv") -> InputTable:
    """A file of scores, beside ratings that are right."""
    return read(
        [written(text, name)],
        [written("doc_id,system,c\nd1,a,1\nd1,b,2\n", "right.csv")],
    )[0]


def faults_of(text: str | bytes, name: str = "scores.csv") -> list[str]:
    other = written("doc_id,system,c\nd1,a,1\nd1,b,2\n", "right.csv")
    sides = [[written(text, name)], [other]]
    if not name.startswith("scores"):
        sides.reverse()
    return faults(*sides)


def written(text: str | bytes, name: str) -> str:
    Path(name).write_bytes(text.encode() if isinstance(text, str) else text)
    return name


def test_the_board_has_the_best_first_and_fits_80_columns(here, frames, capsys) -> None:
    assert main([*put(*frames), "--out", "out"]) == 0
    printed = capsys.readouterr().out
    assert max(len(line) for line in printed.splitlines()) <= 80
    assert printed.index(" good ") < printed.index(" noise ")
    assert "Krippendorff's alpha (interval)" in printed
    lines = " ".join(printed.split())
    for line in (
        "First is good (promising: rate more systems)",
        "36 texts with scores and ratings; 0 with scores only, 0 with ratings only",
        "metrics, neither more nor less is better (by Metassay's list of metrics): 'words'",
        "metrics, more is better (by the name): 'good'",
        "metrics, less is better (by the name): 'noise'",
        "criteria, more is better (by the name): 'grade'",
    ):
        assert line in lines
    people = frames[1].groupby(TEXT)["grade"].mean().rename("people")
    both = frames[0].set_index(TEXT).join(people)
    rows = table("correlations", level="global").set_index(["metric", "coefficient"])[
        "value"
    ]
    for metric in ("good", "noise", "words"):
        for oracle in (pearsonr, spearmanr, kendalltau):
            name = oracle.__name__.removesuffix("r").removesuffix("tau")
            expected = oracle(both[metric], both["people"]).statistic
            assert rows[metric, name] == pytest.approx(expected, abs=1e-12)


def test_lower_turns_the_certificate_and_not_the_correlation(
    here, frames, capsys, no_page
) -> None:
    words = put(frames[0].assign(good=-frames[0]["good"]), frames[1])
    words += [
        "--compared",
        "noise",
        "--compared",
        "good",
        "--lower",
        "good",
        "--out",
        "out",
    ]
    assert main(words) == 0
    assert sorted(path.name for path in here.iterdir()) == [
        "out",
        "ratings.csv",
        "scores.csv",
    ]
    assert choices()["options"]["compared"] == ["noise", "good"]
    value = table("certificates", metric="good", level="global")["value"].item()
    plain = table("correlations", metric="good", level="global", coefficient="pearson")
    assert value > 0.5
    assert plain["value"].item() == pytest.approx(-value, abs=1e-12)
    assert "metrics, less is better (as you say): 'good'" in capsys.readouterr().out


def test_missing_is_empty_nan_or_na_and_never_0(here) -> None:
    text = "doc_id,system,m\nd1,a,\nd2,a,NaN\nd3,a,NA\nd4,a,na\nd5,a,0\nd6,a, -1.5e1 \nd1,b,1\n"
    rows = read_scores(text).table
    values = dict(zip(rows["doc_id"], rows["value"], strict=True))
    assert values == {"d5": 0.0, "d6": -15.0, "d1": 1.0}


def test_a_mark_crlf_author_and_a_quoted_line_break_are_read(here) -> None:
    text = '\ufeffdoc_id,author,metric,value,remark\r\nd1,a,m,1,"two\r\nlines"\r\nd1,b,m,x,\r\n'
    (line,) = faults_of(text)
    assert line.startswith("scores.csv: line 4: 'value' is 'x', which is not a finite")
    scores = read_scores(text.replace(",x,", ",2,"))
    assert scores.table["author"].tolist() == ["a", "b"]
    assert scores.notes == ["scores.csv: columns that are not read: 'remark'"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("doc_id,system,m,m\nd,a,1,1\n", "column 'm' occurs twice"),
        ("system,m\na,1\n", "column 'doc_id' is missing; name it in the header"),
        ("doc_id,m\nd,1\n", "column 'system' is missing"),
        (
            "doc_id,system,author,m\nd,a,a,1\n",
            "both of the columns 'system' and 'author'",
        ),
        ("doc_id,system,metric\nd,a,m\n", "column 'value' is missing"),
        ("doc_id,system\nd,a\n", "no column is a metric"),
        (
            "doc_id,system,m\nd,a,good text of some length\n",
            "line 2: 'm' is not a finite number; write a number",
        ),
        (
            'doc_id,system,m\nd,a,"1,234"\n',
            "1,234, which may mean a thousand or a fraction",
        ),
        ("doc_id,system,m\nd,a,inf\n", "line 2: 'm' is 'inf', which is not a finite"),
        (
            "doc_id,system,m\nd,a,1e999\n",
            "line 2: 'm' is '1e999', which is not a finite",
        ),
        (
            "doc_id,system,m\nd,a,1\nd,a,2\n",
            "line 3: the same doc_id, system a second time ('d',",
        ),
        ("doc_id,system,m\nd,,1\n", "line 2: 'system' is empty; fill it in"),
        (
            "doc_id,system,judge,m\nd,a,1,1\n",
            "'judge' must name the judge, but holds numbers; ren",
        ),
        ("doc_id,system,m\nd,a,\n", "holds no value at all"),
    ],
)
def test_what_is_wrong_with_a_file(here, text: str | bytes, message: str) -> None:
    lines = faults_of(text)
    assert any(message in line for line in lines), lines
    assert all(line.startswith("scores.csv: ") for line in lines)
    assert "good text" not in "".join(lines)


def test_ratings_repeat_by_rater_and_criterion(here) -> None:
    text = "doc_id,system,rater,criterion,value,unit\nd,a,r,c,1,text\nd,a,s,c,1,text\nd,a,r,c,2,"
    (line,) = faults_of(f"{text}text\n", "ratings.csv")
    assert (
        "line 4: the same doc_id, system, rater, unit, criterion a second time" in line
    )
    (line,) = faults_of(f"{text}claim:1\n", "ratings.csv")
    assert "line 4: 'unit' is not 'text'" in line
    (line,) = faults_of("doc_id,system,m\n", "scores.parquet")
    assert "is damaged or is not a Parquet file" in line


def test_both_files_faults_come_at_once(here, capsys) -> None:
    written("doc_id,system,m\nd,a,x\nd,a,y\n", "scores.csv")
    assert main(["meta-eval", "scores.csv", "ratings.csv"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3
    assert "ratings.csv: is not in this folder" in lines[0]
    assert (
        "scores.csv: line 2: 'm' has 2 cells that are not finite numbers: 1 'x', 1 'y'"
        in lines[1]
    )
    assert "scores.csv: line 3: the same doc_id, system a second time" in lines[2]
    assert main(["meta-eval", "scores.csv", "scores.csv"]) == 2
    assert "is given as SCORES and as RATINGS" in capsys.readouterr().err


def test_words_that_fit_nothing_are_told_at_once(here, frames, capsys) -> None:
    options = ["--lower", "god", "--scale", "grade=fine", "--compared", "words"]
    assert main([*put(*frames)[:3], *options, "--resamples", "0"]) == 2
    lines = capsys.readouterr().err
    unknown = "no metric or criterion has this name; there are: 'good', 'noise'"
    assert f"--lower 'god': {unknown}, 'words', 'grade'; did you mean 'good'?" in lines
    assert f"--compared 'words': {unknown}\n" in lines
    assert (
        "--scale 'grade=fine': no such scale; choose from nominal, ordinal, interval"
        in lines
    )
    assert "--resamples: must be greater than or equal to 1" in lines


def test_texts_in_one_file_alone_are_counted(here, frames, capsys) -> None:
    scores, ratings = frames
    assert main(put(scores.iloc[:-1], ratings[ratings["doc_id"] != "d0"])) == 0
    line = "32 texts with scores and ratings; 3 with scores only, 1 with ratings only"
    assert line in capsys.readouterr().out
    references = ratings[ratings["system"] == "a"].assign(system="reference")
    assert main(put(scores, references)) == 2
    assert "ratings.csv has none by a system" in capsys.readouterr().err


def test_many_metrics_one_constant_and_one_empty(here, frames, capsys, no_page) -> None:
    """A constant metric is undefined, an empty one left out; too many are still tested."""
    scores, ratings = frames
    many = {f"m{i}": scores["good"] + i * scores["noise"] for i in range(LARGEST - 1)}
    words = put(scores.assign(flat=1, none=np.nan, **many), ratings)
    assert main([*words, "--out", "out"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "14 metrics are too many to compare" in printed
    assert "and 2 more metrics: --out writes all" in printed
    assert "scores.csv: metric 'none' has no value: left out" in printed
    assert table("certificates")["metric"].nunique() == 14
    flat = table("certificates", metric="flat")
    assert flat["verdict"].tolist() == ["undefined"] * 3
    assert flat["value"].isna().all()
    assert choices()["options"]["compared"] == []
    names = ",".join([*many, "good", "noise", "flat"])
    assert main([*words, "--out", "all", "--compared", names]) == 2


def test_out_is_whole_or_not_at_all(here, frames, capsys, monkeypatch) -> None:
    words = [*put(*frames), "--out", "out"]

    def fails(*_: object) -> None:
        (here / "reached").touch()
        raise OSError("no space")

    with monkeypatch.context() as patch:
        patch.setattr(results, "format_csv", fails)
        with pytest.raises(OSError, match="no space"):
            main(words)
    assert sorted(path.name for path in here.iterdir()) == [
        "ratings.csv",
        "reached",
        "scores.csv",
    ]
    (here / "out").mkdir()
    assert main(words) == 0
    assert choices()["better"] == {
        "good": "higher",
        "noise": "lower",
        "words": "neither",
    }
    assert choices()["options"]["compared"] == ["good", "noise"]
    ends, grades = choices()["criteria"]["grade"], frames[1]["grade"]
    assert (ends["low"], ends["high"]) == (grades.min(), grades.max())
    before = {path: path.read_bytes() for path in (here / "out").rglob("*.*")}
    assert main(words) == 2
    assert "--out out" in capsys.readouterr().err.replace(f"{here}/", "")
    assert {path: path.read_bytes() for path in (here / "out").rglob("*.*")} == before


def test_the_published_correlations_of_xsum(here, mirror: Path, no_page) -> None:
    """Maynez et al. 2020: Spearman of five metrics with faithful and factual, from two files."""
    folder = (
        mirror
        / find(load_registry(ROOT / "data/registry.yaml"), "xsum_hallucination").mirror
    )
    with (folder / "eval_scores_xsum_summaries.csv").open(
        encoding="utf-8", newline=""
    ) as file:
        rows = pd.DataFrame(list(csv.DictReader(file)))
    names = rows["system_bbcid"].str.rpartition("_")
    keys = pd.DataFrame({"doc_id": names[2], "system": names[0]})
    metrics = ["R1", "R2", "RL", "BERTScore", "Entailment"]
    words = put(keys.join(rows[metrics]), keys.join(rows[["Faithful", "Factual"]]))[:3]
    assert (
        main([*words, "--resamples", "2", "--permutations", "2", "--out", "out"]) == 0
    )
    for criterion, published in (
        ("Faithful", [0.197, 0.162, 0.162, 0.190, 0.431]),
        ("Factual", [0.125, 0.095, 0.113, 0.116, 0.264]),
    ):
        key = {"criterion": criterion, "level": "global", "coefficient": "spearman"}
        value = table("correlations", **key).set_index("metric")["value"]
        assert value[metrics].tolist() == pytest.approx(published, abs=0.0005)


@pytest.fixture
def page_files(here) -> None:
    files = re.findall(r"`(\w+\.csv)`:\n\n```csv\n(.*?)```", PAGE, re.DOTALL)
    assert [name for name, _ in files] == ["scores.csv", "ratings.csv"]
    for name, text in files:
        written(text, name)


def test_the_example_of_the_page_is_true(page_files, capsys) -> None:
    example = PAGE[PAGE.index("## An example") : PAGE.index("## The files")]
    (line,) = re.findall(r"^metassay (meta-eval .*)$", example, re.MULTILINE)
    assert main(shlex.split(line)) == 0
    (shown,) = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert shown.splitlines() == printed[: len(shown.splitlines())]


def test_the_other_commands_of_the_page_run(here, page_files, capsys) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(code, "docs/meta-eval.md", "exec"), {})
    assert (here / "results/index.html").exists()
    assert main(["meta-eval", "ratings.csv", "--scale", "faithful=ordinal"]) == 0
    other = {"doc_id": "note_id", "system": "model", "rater": "annotator"}
    scores, ratings = (
        pd.read_csv(f"{name}.csv").rename(columns=other)
        for name in ("scores", "ratings")
    )
    scores = scores.assign(
        dataset="x", section=np.where(scores["note_id"] == "d1", "a", "b")
    )
    put(scores, ratings)
    pattern = r"^metassay (meta-eval scores.csv .* --(?:columns doc=|by ).*)$"
    lines = re.findall(pattern, PAGE, re.MULTILINE)
    assert len(lines) == 2
    words = shlex.split(" ".join([lines[0], *lines[1].split()[3:]]))
    assert main([*words, "--lower", "hallucinated", *OPTIONS]) == 0
    assert (
        "slices by section, with their texts: a (3), b (9)" in capsys.readouterr().out
    )

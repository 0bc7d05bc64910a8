"""`metassay meta-eval`: two files in, a verdict per metric out, and every fault of both at once."""

import csv
import json
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau, pearsonr, spearmanr

from metassay.api import results
from metassay.api.columns import InputTable, Roles
from metassay.api.eval_request import LARGEST
from metassay.api.reading import read_both, read_file
from metassay.cli.main import main
from metassay.core.errors import BadInput
from metassay.datasets.registry import find, load_registry

ROOT = Path(__file__).parents[2]
RATED = "doc_id,system,c\nd1,a,1\nd1,b,2\n"
FEW = ["--resamples", "20", "--permutations", "20"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, as wide as a small terminal."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


def frames(documents: int = 12) -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(5)
    texts = [(f"d{d}", system) for d in range(documents) for system in ("a", "b", "c")]
    quality = rng.normal(size=len(texts))
    keys = pd.DataFrame(texts, columns=["doc_id", "system"])
    scores = keys.assign(
        good=quality + 0.3 * rng.normal(size=len(texts)),
        bad=rng.normal(size=len(texts)),
        words=rng.integers(10, 40, len(texts)),
    )
    each = [
        keys.assign(rater=rater, grade=np.round(2 * quality + rng.normal(size=len(texts))))
        for rater in ("ann", "bob")
    ]
    return scores, pd.concat(each)


def put(here: Path, scores: pd.DataFrame, ratings: pd.DataFrame) -> list[str]:
    scores.to_csv(here / "scores.csv", index=False)
    ratings.to_csv(here / "ratings.csv", index=False)
    return ["meta-eval", "scores.csv", "ratings.csv"]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the study `frames`, and in `out` what came of it."""
    folder = tmp_path_factory.mktemp("study")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr("metassay.reporting.meta_page.write_meta_page", lambda *_, **__: None)
        assert main([*put(folder, *frames()), *FEW, "--out", "out"]) == 0
    return folder


def table(here: Path, name: str, **key: str) -> pd.DataFrame:
    found = pd.read_csv(here / "out" / f"{name}.csv")
    for column, value in key.items():
        found = found[found[column] == value]
    return found


def written(here: Path, text: str, name: str = "scores.csv") -> Path:
    (here / name).write_text(text, encoding="utf-8")
    return here / name


def read(path: Path) -> InputTable:
    """One file beside another that is right."""
    scores = path.stem == "scores"
    other = path.parent / ("other_ratings.csv" if scores else "other_scores.csv")
    other.write_text(RATED, encoding="utf-8")
    faults: list[str] = []
    found = [read_file(one, faults) for one in ((path, other) if scores else (other, path))]
    if faults or found[1] is None:
        raise BadInput(faults)
    both = read_both([found[0]], [found[1]], Roles())
    given = both[0] if scores else both[1]
    assert given is not None
    return given


def read_scores(path: Path) -> InputTable:
    return read(path)


def read_ratings(path: Path) -> InputTable:
    return read(path)


def problems(path: Path, read=read) -> list[str]:
    with pytest.raises(BadInput) as caught:
        read(path)
    return list(caught.value.problems)


@pytest.mark.parametrize(
    ("coefficient", "oracle"),
    [("pearson", pearsonr), ("spearman", spearmanr), ("kendall", kendalltau)],
)
def test_correlations_equal_scipy_to_the_last_digit(done: Path, coefficient, oracle) -> None:
    scores, ratings = frames()
    people = ratings.groupby(["doc_id", "system"])["grade"].mean().rename("people")
    both = scores.set_index(["doc_id", "system"]).join(people)
    for metric in ("good", "bad", "words"):
        found = table(done, "correlations", metric=metric, level="global", coefficient=coefficient)
        expected = oracle(both[metric], both["people"]).statistic
        assert found["value"].item() == pytest.approx(expected, abs=1e-12)
        assert len(found) == 1


def test_the_board_has_the_best_first_and_fits_80_columns(here: Path, capsys) -> None:
    assert main([*put(here, *frames()), *FEW]) == 0
    said = capsys.readouterr().out
    assert max(len(line) for line in said.splitlines()) <= 80
    assert said.index(" good ") < said.index(" bad ")
    assert "First is good (promising: rate more systems)" in " ".join(said.split())
    assert "Krippendorff's alpha (interval)" in said
    assert "36 texts with scores and ratings; 0 with scores only, 0 with ratings only" in said
    lines = " ".join(said.split())
    assert (
        "metrics, neither more nor less is better (by Metassay's list of metrics): 'words'" in lines
    )
    assert "metrics, more is better (by the name): 'good', 'bad'" in lines
    assert "criteria, more is better (by the name): 'grade'" in lines
    assert sorted(path.name for path in here.iterdir()) == ["ratings.csv", "scores.csv"]


def test_lower_turns_the_certificate_and_not_the_correlation(here, capsys, no_page) -> None:
    scores, ratings = frames()
    arguments = put(here, scores.assign(good=-scores["good"]), ratings)
    arguments += ["--compared", "bad", "--compared", "good"]
    assert main([*arguments, *FEW, "--lower", "good", "--out", "out"]) == 0
    chosen = json.loads((here / "out/choices.json").read_text("utf-8"))["options"]["compared"]
    assert chosen == ["bad", "good"]
    value = table(here, "certificates", metric="good", level="global")["value"].item()
    kept = table(here, "correlations", metric="good", level="global", coefficient="pearson")
    assert value > 0.5
    assert kept["value"].item() == pytest.approx(-value, abs=1e-12)
    assert "metrics, less is better (as you say): 'good'" in capsys.readouterr().out


@pytest.mark.parametrize("suffix", [".parquet", ".tsv"])
def test_other_formats_hold_the_same(here: Path, suffix: str) -> None:
    scores, ratings = frames()
    scores.loc[3, "good"] = np.nan
    put(here, scores, ratings)
    other = here / f"scores{suffix}"
    if suffix == ".parquet":
        scores.to_parquet(other, index=False)
    else:
        scores.to_csv(other, index=False, sep="\t")
    expected = read_scores(here / "scores.csv").table.drop(columns="recipe")
    assert len(expected) == 3 * 36 - 1
    pd.testing.assert_frame_equal(read_scores(other).table.drop(columns="recipe"), expected)


def test_missing_is_empty_nan_or_na_and_never_0(here: Path) -> None:
    text = "doc_id,system,m\nd1,a,\nd2,a,NaN\nd3,a,NA\nd4,a,na\nd5,a,0\nd6,a, -1.5e1 \n"
    found = read_scores(written(here, text)).table
    assert dict(zip(found["doc_id"], found["value"], strict=True)) == {"d5": 0.0, "d6": -15.0}


def test_a_mark_crlf_author_and_a_quoted_line_break_are_read(here: Path) -> None:
    text = '\ufeffdoc_id,author,metric,value,remark\r\nd1,a,m,1,"two\r\nlines"\r\nd1,b,m,x,\r\n'
    path = written(here, "")
    path.write_bytes(text.encode())
    (found,) = problems(path)
    assert found.startswith("scores.csv: line 4: 'value' is not a finite number")
    path.write_bytes(text.replace(",x,", ",2,").encode())
    given = read_scores(path)
    assert given.table["author"].tolist() == ["a", "b"]
    assert given.notes == ["scores.csv: column 'remark' is not read"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "is empty"),
        ("doc_id,system,m\n", "has no row that fits its header"),
        (",doc_id,system,m\n7,d,a,1\n", "column 1 has no name; name it in the first row, which"),
        ("doc_id,system,m,m\nd,a,1,1\n", "column 'm' is there twice"),
        ("system,m\na,1\n", "column 'doc_id' is missing; name it in the header"),
        ("doc_id,m\nd,1\n", "column 'system' is missing"),
        ("doc_id,system,author,m\nd,a,a,1\n", "both of the columns 'system' and 'author'"),
        ("doc_id,system,metric\nd,a,m\n", "column 'value' is missing"),
        ("doc_id,system\nd,a\n", "no column is a metric"),
        ("doc_id,system,m\nd,a,good text\n", "line 2: 'm' is not a finite number; write one"),
        ('doc_id,system,m\nd,a,"1,234"\n', "1,234, which may mean a thousand or a fraction"),
        ("doc_id,system,m\nd,a,inf\n", "line 2: 'm' is not a finite number"),
        ("doc_id,system,m\nd,a,1e999\n", "line 2: 'm' is not a finite number"),
        ("doc_id,system,m\nd,a,1\nd,a,2\n", "line 3: the same doc_id, system a second time ('d',"),
        ("doc_id,system,m\nd,,1\n", "line 2: 'system' is empty; fill it in"),
        ("doc_id,system,m\nd,a\n", "line 2: does not have the 3 cells of the header (2 cells)"),
        ('doc_id,system,m\nd,a,"1\n', "is not readable as CSV"),
        ("doc_id,system,judge,m\nd,a,1,1\n", "'judge' must name the judge, but holds numbers; ren"),
        ("doc_id,system,m\nd,a,\n", "holds no value at all"),
    ],
)
def test_what_is_wrong_with_a_file(here: Path, text: str, expected: str) -> None:
    found = problems(written(here, text))
    assert any(expected in line for line in found), found
    assert all(line.startswith("scores.csv: ") for line in found)
    assert "good text" not in "".join(found)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("doc_id;system;m\nd;a;0,5\n", 0.5),
        ("doc_id\tsystem\tm\nd\ta\t1\n", 1),
        (",doc_id,system,m\n0,d,a,1\n", 1),
        ("doc_id, system,m\nd ,a , 1\n", 1),
        ('doc_id,system,m\nd,a,"0,5"\n', 0.5),
        ("Scores of spring,,\ndoc_id,system,m\nd,a,1\n", 1),
        ("visit,model,m\nd,a,pass\n", 1),
    ],
)
def test_what_is_read_as_people_keep_it(here: Path, text: str, value: float) -> None:
    (row,) = read(written(here, text)).table.to_dict("records")
    assert (row["doc_id"], row["author"], row["metric"], row["value"]) == ("d", "a", "m", value)


def test_ratings_repeat_by_rater_and_criterion(here: Path) -> None:
    text = "doc_id,system,rater,criterion,value,unit\nd,a,r,c,1,text\nd,a,s,c,1,text\nd,a,r,c,2,"
    path = written(here, f"{text}text\n", "ratings.csv")
    (found,) = problems(path, read_ratings)
    assert "line 4: the same doc_id, system, rater, unit, criterion a second time" in found
    (found,) = problems(written(here, f"{text}claim:1\n", "ratings.csv"), read_ratings)
    assert "line 4: 'unit' is not 'text'" in found


def test_not_utf_8_and_no_parquet(here: Path) -> None:
    (here / "scores.csv").write_bytes("doc_id,system,m\nd\xe9,a,1\n".encode("latin-1"))
    assert "line 2: is not UTF-8" in problems(here / "scores.csv")[0]
    (here / "scores.parquet").write_bytes(b"doc_id,system,m\n")
    assert "is damaged or no Parquet file" in problems(here / "scores.parquet")[0]


def test_both_files_faults_come_at_once(here: Path, capsys) -> None:
    written(here, "doc_id,system,m\nd,a,x\nd,a,y\n")
    assert main(["meta-eval", "scores.csv", "ratings.csv"]) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 3
    assert "ratings.csv: is not in this folder" in said[0]
    assert "scores.csv: 2 lines: 'm' is not a finite number (first: line 2)" in said[1]
    assert "scores.csv: line 3: the same doc_id, system a second time" in said[2]


def test_one_file_is_not_both(here: Path, capsys) -> None:
    written(here, "doc_id,system,m\nd,a,1\n")
    assert main(["meta-eval", "scores.csv", "scores.csv"]) == 2
    assert "is given as SCORES and as RATINGS" in capsys.readouterr().err


def test_words_that_fit_nothing_are_told_at_once(here: Path, capsys) -> None:
    options = ["--lower", "god", "--scale", "grade=fine", "--compared", "words"]
    assert main([*put(here, *frames()), *options, "--resamples", "0"]) == 2
    said = capsys.readouterr().err
    assert "--lower 'god': no metric or criterion has this name; there are: 'good', 'bad'," in said
    assert "'grade'; did you mean 'good'?" in said
    assert "--scale 'grade=fine': no such scale; choose from nominal, ordinal, interval" in said
    assert (
        "--compared 'words': no metric or criterion has this name; there are: 'good', 'bad'\n"
        in said
    )
    assert "resamples: Input should be greater than or equal to 1" in said


def test_the_reference_is_nothing_to_compare(here: Path, capsys) -> None:
    scores, ratings = frames()
    ratings = ratings[ratings["system"] == "a"].assign(system="reference")
    assert main(put(here, scores, ratings)) == 2
    assert "ratings.csv has none by a system" in capsys.readouterr().err


def test_texts_in_one_file_alone_are_counted(here: Path, capsys) -> None:
    scores, ratings = frames()
    assert main([*put(here, scores.iloc[:-1], ratings[ratings["doc_id"] != "d0"]), *FEW]) == 0
    assert "32 texts with scores and ratings; 3 with scores only, 1 with ratings only" in (
        capsys.readouterr().out
    )


def test_a_constant_metric_is_undefined_and_an_empty_one_left_out(here, capsys, no_page) -> None:
    scores, ratings = frames()
    assert (
        main([*put(here, scores.assign(flat=1, none=np.nan), ratings), *FEW, "--out", "out"]) == 0
    )
    found = table(here, "certificates", metric="flat")
    assert found["verdict"].tolist() == ["undefined"] * 3
    assert found["value"].isna().all()
    assert "scores.csv: metric 'none' has no value: left out" in capsys.readouterr().out


def test_out_is_whole_or_not_at_all(here: Path, capsys, monkeypatch) -> None:
    arguments = [*put(here, *frames()), *FEW, "--out", "out"]

    def fails(*_: object) -> None:
        (here / "reached").touch()
        raise OSError("no space")

    with monkeypatch.context() as patch:
        patch.setattr(results, "to_csv", fails)
        with pytest.raises(OSError, match="no space"):
            main(arguments)
    assert sorted(path.name for path in here.iterdir()) == ["ratings.csv", "reached", "scores.csv"]
    (here / "out").mkdir()
    assert main(arguments) == 0
    choices = json.loads((here / "out/choices.json").read_text("utf-8"))
    assert choices["better"] == {"good": "higher", "bad": "higher", "words": "neither"}
    assert choices["options"]["compared"] == ["good", "bad"]
    ends = choices["criteria"]["grade"]
    grades = frames()[1]["grade"]
    assert (ends["low"], ends["high"]) == (grades.min(), grades.max())
    before = {path: path.read_bytes() for path in (here / "out").rglob("*.*")}
    assert main(arguments) == 2
    assert "--out out" in capsys.readouterr().err.replace(f"{here}/", "")
    assert {path: path.read_bytes() for path in (here / "out").rglob("*.*")} == before


def test_too_many_metrics_to_compare_are_still_tested_against_people(here, capsys, no_page) -> None:
    scores, ratings = frames(4)
    many = {f"m{i}": scores["good"] + i * scores["bad"] for i in range(LARGEST)}
    arguments = [*put(here, scores.assign(**many), ratings), *FEW, "--out"]
    assert main([*arguments, "out"]) == 0
    said = capsys.readouterr().out.replace("\n", " ")
    assert "14 metrics are too many to compare" in said
    assert "and 2 more metrics: --out writes all" in said
    assert table(here, "certificates")["metric"].nunique() == 14
    assert json.loads((here / "out/choices.json").read_text("utf-8"))["options"]["compared"] == []
    assert main([*arguments, "all", "--compared", ",".join([*many, "good", "bad"])]) == 2


def test_the_published_correlations_of_xsum(here: Path, mirror: Path, no_page) -> None:
    """Maynez et al. 2020: Spearman of five metrics with faithful and factual, from two files."""
    folder = mirror / find(load_registry(ROOT / "data/registry.yaml"), "xsum_hallucination").mirror
    with (folder / "eval_scores_xsum_summaries.csv").open(encoding="utf-8", newline="") as file:
        given = pd.DataFrame(list(csv.DictReader(file)))
    names = given["system_bbcid"].str.rpartition("_")
    keys = pd.DataFrame({"doc_id": names[2], "system": names[0]})
    metrics = ["R1", "R2", "RL", "BERTScore", "Entailment"]
    arguments = put(here, keys.join(given[metrics]), keys.join(given[["Faithful", "Factual"]]))
    assert main([*arguments, "--resamples", "2", "--permutations", "2", "--out", "out"]) == 0
    for criterion, published in (
        ("Faithful", [0.197, 0.162, 0.162, 0.190, 0.431]),
        ("Factual", [0.125, 0.095, 0.113, 0.116, 0.264]),
    ):
        key = {"criterion": criterion, "level": "global", "coefficient": "spearman"}
        found = table(here, "correlations", **key).set_index("metric")["value"]
        assert found[metrics].tolist() == pytest.approx(published, abs=0.0005)


def test_the_example_of_the_page_is_true(here: Path, capsys) -> None:
    page = (ROOT / "docs/meta-eval.md").read_text("utf-8")
    files = re.findall(r"`(\w+\.csv)`:\n\n```csv\n(.*?)```", page, re.DOTALL)
    assert [name for name, _ in files] == ["scores.csv", "ratings.csv"]
    for name, text in files:
        written(here, text, name)
    example = page[page.index("## An example") : page.index("## The files")]
    (line,) = re.findall(r"^metassay (meta-eval .*)$", example, re.MULTILINE)
    assert main(shlex.split(line)) == 0
    (shown,) = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    said = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert shown.splitlines() == said[: len(shown.splitlines())]


def test_the_other_commands_of_the_page_run(here: Path, capsys, monkeypatch) -> None:
    page = (ROOT / "docs/meta-eval.md").read_text("utf-8")
    for name, text in re.findall(r"`(\w+\.csv)`:\n\n```csv\n(.*?)```", page, re.DOTALL):
        written(here, text, name)
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(compile(code, "docs/meta-eval.md", "exec"), {})
    assert (here / "results/index.html").exists()
    assert main(["meta-eval", "ratings.csv", "--scale", "faithful=ordinal"]) == 0
    other = {"doc_id": "note_id", "system": "model", "rater": "annotator"}
    for name in ("scores.csv", "ratings.csv"):
        frame = pd.read_csv(here / name).rename(columns=other)
        if name == "scores.csv":
            frame = frame.assign(dataset="x", section=np.where(frame["note_id"] == "d1", "a", "b"))
        frame.to_csv(here / f"other_{name}", index=False)
    lines = re.findall(
        r"^metassay (meta-eval scores.csv .* --(?:columns doc=|by ).*)$", page, re.MULTILINE
    )
    assert len(lines) == 2
    words = shlex.split(" ".join([lines[0], *lines[1].split()[3:]]))
    words = [f"other_{word}" if word.endswith(".csv") else word for word in words]
    wide = {"--lower": "hallucinated", "--resamples": "20", "--permutations": "20"}
    assert main([*words, *(word for pair in wide.items() for word in pair)]) == 0
    assert "slices by section, with their texts: a (3), b (9)" in capsys.readouterr().out

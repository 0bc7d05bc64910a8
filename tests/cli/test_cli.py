"""The command line: exit codes, and messages that say what to do."""

from pathlib import Path

import pytest
import yaml

from metassay.cli.main import main


@pytest.fixture
def here(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(project)
    return project


def edit(path: Path, **blocks: object) -> None:
    params = yaml.safe_load(path.read_text("utf-8"))
    path.write_text(yaml.safe_dump(params | blocks), encoding="utf-8")


@pytest.mark.parametrize(
    "command", [["run", "nope"], ["report", "nope"], ["run", "sample", "nope"]]
)
def test_an_unknown_benchmark_is_bad_usage(here: Path, capsys, command: list[str]) -> None:
    assert main(command) == 2
    said = capsys.readouterr().err
    assert "no benchmark is called 'nope'; there are: sample, mts_dialog" in said
    assert not (here / "data/tables").exists()


def test_an_unknown_params_key_stops_before_anything_runs(here: Path, capsys) -> None:
    edit(here / "params.yaml", metrcs={})
    assert main(["run", "sample"]) == 2
    assert "params.yaml > metrcs: unknown key" in capsys.readouterr().err
    assert not (here / "data/tables").exists()


def test_validate_names_every_problem_in_one_go(here: Path, capsys) -> None:
    params = yaml.safe_load((here / "params.yaml").read_text("utf-8"))
    params["metrics"]["rouge"]["stemer"] = True
    params["judges"]["lexical"]["threshold"] = 3.0
    params["benchmarks"]["sample"]["raw"] = "data/elsewhere"
    params["benchmarks"]["mts_dialog"]["dataset"] = "mts"
    params["benchmarks"]["aci_bench"]["published"] = ["table99"]
    params["meta_evaluation"]["compared"].append("rouge7")
    (here / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    broken = here / "data/tables/sample/texts.parquet"
    broken.parent.mkdir(parents=True)
    broken.write_bytes(b"PAR1 no")
    (broken.parent / "nonsense.parquet").write_bytes(b"")
    assert main(["validate"]) == 2
    said = capsys.readouterr().err
    for words in (
        "metrics > rouge > stemer: unknown key",
        "judges > lexical > threshold: Input should be less than or equal to 1",
        "benchmarks > sample > raw: the folder data/elsewhere does not exist",
        "benchmarks > mts_dialog > dataset: 'mts' is not in data/registry.yaml",
        "benchmarks > aci_bench > published: 'table99' is not known",
        "meta_evaluation > compared: no metric is called 'rouge7'",
        "no readable Parquet file",
        "no table is called 'nonsense'",
    ):
        assert words in said, words


def test_validate_is_content_with_the_project_as_it_is(here: Path, capsys) -> None:
    assert main(["validate"]) == 0
    assert "as they should be" in capsys.readouterr().out


def test_validate_names_raw_folders_that_nobody_watches(here: Path, capsys) -> None:
    params = yaml.safe_load((here / "params.yaml").read_text("utf-8"))
    params["benchmarks"]["aci_bench"]["decomposition"] = "doclens_claims"
    (here / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    assert main(["validate"]) == 2
    said = capsys.readouterr().err
    assert "benchmarks > aci_bench > claims: is data/none.txt, but the released claims are" in said


def test_list_shows_benchmarks_and_datasets(here: Path, capsys) -> None:
    assert main(["list"]) == 0
    said = capsys.readouterr().out
    assert "sample" in said
    assert "mts_dialog" in said


def test_fetch_of_an_unknown_dataset(here: Path, capsys) -> None:
    assert main(["fetch", "nope"]) == 2
    assert "nope" in capsys.readouterr().err


def test_fetch_from_a_mirror(here: Path, mirror: Path, capsys) -> None:
    assert main(["fetch", "mts_dialog", "--mirror", str(mirror)]) == 0
    assert len(list((here / "data/raw/mts_dialog").iterdir())) == 3


def test_fetch_from_a_mirror_that_lacks_the_files(here: Path, tmp_path: Path, capsys) -> None:
    (tmp_path / "empty").mkdir()
    assert main(["fetch", "mts_dialog", "--mirror", str(tmp_path / "empty")]) == 2
    assert "mts_dialog_correlation" in capsys.readouterr().err
    assert not list((here / "data").glob("raw/mts_dialog/*"))


def test_outside_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["run", "sample"]) == 2
    assert "params.yaml does not exist; run in the project's folder" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["run", "sample", "--jobs", "0"], ["run"], ["dance"]])
def test_bad_usage_exits_with_2(words: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(words)
    assert caught.value.code == 2

"""The command line: exit codes, and messages that say what to do."""

import argparse
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from metassay.cli.main import main, parser
from metassay.cli.parsing import COMMANDS, FORMER
from metassay.meta_evaluation.options import MetaOptions


@pytest.fixture
def here(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(project)
    return project


@pytest.fixture
def unchanged(clone: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(clone)
    return clone


@contextmanager
def edited(path: Path) -> Iterator[dict[str, Any]]:
    """The content of a YAML file, to change; it is written back."""
    content = yaml.safe_load(path.read_text("utf-8"))
    yield content
    path.write_text(yaml.safe_dump(content), encoding="utf-8")


@pytest.mark.parametrize(
    "command", [["run", "nope"], ["run", "nope", "--only", "fetch"], ["run", "sample", "nope"]]
)
def test_an_unknown_benchmark_is_bad_usage(unchanged, capsys, command: list[str]) -> None:
    assert main(command) == 2
    said = capsys.readouterr().err
    assert "benchmarks/: no 'nope'; there are: aci_bench, aci_bench_table24, " in said
    assert "interrupted" not in said
    assert not any((unchanged / "data/tables").glob("*"))


def test_a_benchmark_s_folder_without_params_is_not_called_unknown(here, capsys) -> None:
    (here / "benchmarks/sample/params.yaml").unlink()
    assert main(["watch", "accept", "sample"]) == 2
    said = capsys.readouterr().err
    assert said == "benchmarks/sample/params.yaml does not exist; bring it back, as by git\n"


def test_an_unknown_params_key_stops_before_anything_runs(here, capsys) -> None:
    with edited(here / "params.yaml") as params:
        params["metrcs"] = {}
    assert main(["run", "sample"]) == 2
    assert "> metrcs: unknown key" in capsys.readouterr().err
    assert not any((here / "data/tables").glob("*"))


def test_validate_names_every_problem_in_one_go(here, capsys) -> None:
    with edited(here / "params.yaml") as params:
        params["metrics"]["rouge"]["stemer"] = True
        params["judges"]["lexical"]["threshold"] = 3.0
        params["meta_evaluation"]["compared"].append("rouge7")
    for name, key, value in (
        ("sample", "raw", "data/elsewhere"),
        ("mts_dialog", "dataset", "mts"),
        ("aci_bench", "published", ["table99"]),
        ("aci_bench_table24", "dataset", "wice_dev"),
        ("wice_dev", "options", {"ways": 4, "subsets": [], "sample": None}),
        ("sample_claims", "published", ["doclens_claims"]),  # of benchmarks
    ):
        with edited(here / f"benchmarks/{name}/params.yaml") as benchmark:
            benchmark[key] = value
    broken = here / "data/tables/sample/texts.parquet"
    broken.parent.mkdir(parents=True)
    broken.write_bytes(b"PAR1 no")
    (broken.parent / "nonsense.parquet").write_bytes(b"")
    assert main(["validate"]) == 2
    said = capsys.readouterr().err
    for words in (
        "metrics > rouge > stemer: unknown key",
        "judges > lexical > threshold: Input should be less than or equal to 1",
        "> raw: data/elsewhere is not the folder of dataset 'sample'",
        "> dataset: 'mts' is not in data/registry.yaml",
        "> published: 'table99' is not known",
        "> published: 'doclens_claims' is not known; choose from doclens_table1,",
        "> dataset: reader 'wice' is for tests of judges; give this folder a `test`",
        "> options > ways: Input should be 2 or 3",
        "meta_evaluation > compared: no metric is called 'rouge7'",
        "is damaged or no Parquet file",
        "no table is called 'nonsense'",
    ):
        assert words in said, words


def test_validate_is_content_with_the_project_as_it_is(here, capsys) -> None:
    assert main(["validate"]) == 0
    said = capsys.readouterr()
    assert "no problem found" in said.out
    assert "note: mts_dialog: raw files were not checked, 3 of 3 are not in data/raw" in said.err
    assert "sample:" not in said.err


def test_validate_reads_the_raw_files_that_are_there(here, capsys) -> None:
    ratings = here / "data/sample/ratings.csv"
    ratings.write_text(ratings.read_text("utf-8").replace("rater,", "who,", 1), encoding="utf-8")
    assert main(["validate"]) == 2
    assert "sample: ratings.csv: " in capsys.readouterr().err


def test_validate_names_a_key_that_is_there_twice(here, capsys) -> None:
    path = here / "benchmarks/sample/params.yaml"
    lines = path.read_text("utf-8").splitlines()
    path.write_text("\n".join([*lines, "judges: []"]), encoding="utf-8")
    first = next(n for n, line in enumerate(lines, 1) if line.startswith("judges:"))
    assert main(["validate"]) == 2
    said = capsys.readouterr().err
    assert f"judges: is there twice, in lines {first} and {len(lines) + 1}; keep one" in said


def test_validate_names_raw_folders_that_nobody_watches(here, capsys) -> None:
    with edited(here / "benchmarks/mts_dialog/params.yaml") as benchmark:
        benchmark["decompositions"] = ["doclens_claims"]
    assert main(["validate"]) == 2
    said = capsys.readouterr().err
    assert "benchmarks/mts_dialog/params.yaml, line " in said
    assert "doclens_claims" in said


def test_validate_names_metrics_that_are_measured_twice(here, capsys) -> None:
    with edited(here / "params.yaml") as params:
        params["costly_metrics"]["stemmed"] = params["metrics"]["rouge"] | {"stemmer": True}
    with edited(here / "benchmarks/sample/params.yaml") as benchmark:
        benchmark["costly_metrics"] = ["stemmed"]
    assert main(["validate"]) == 2
    assert capsys.readouterr().err.splitlines()[0] == (
        "benchmarks/sample/params.yaml: rouge1_precision is measured by metrics > rouge and"
        " costly_metrics > stemmed; name one of them"
    )


def test_validate_names_questions_that_a_judge_cannot_answer(here, capsys) -> None:
    with edited(here / "params.yaml") as params:
        params["questions"]["all"]["measures"] += ["preference"]
    assert main(["validate"]) == 2
    asks = "cannot answer instrument 'preference', which preference asks; choose another judge"
    said = [line for line in capsys.readouterr().err.splitlines() if "benchmarks/sample/" in line]
    assert f" > judges > lexical: {asks}" in said[0]


def test_list_shows_benchmarks_and_datasets(unchanged, capsys) -> None:
    assert main(["list"]) == 0
    said = capsys.readouterr().out
    lines = [line.strip() for line in said.splitlines()]
    listed = {
        "benchmarks": "aci_bench_table24",
        "tests of judges": "wice_dev",
        "tests of segmentations": "csabstruct_dev",
        "datasets": "csabstruct_train",
    }
    starts = [lines.index(title) for title in listed]
    for name, start, end in zip(listed.values(), starts, [*starts[1:], len(lines)], strict=True):
        assert any(name in line for line in lines[start:end])


def test_fetch_from_a_mirror(here, mirror, capsys) -> None:
    assert main(["run", "mts_dialog", "--only", "fetch", "--mirror", str(mirror)]) == 0
    assert len(list((here / "data/raw/mts_dialog").iterdir())) == 3


def test_fetch_from_a_mirror_that_lacks_the_files(here, tmp_path, capsys) -> None:
    (tmp_path / "empty").mkdir()
    words = ["run", "mts_dialog", "--only", "fetch", "--mirror", str(tmp_path / "empty")]
    assert main(words) == 2
    assert "mts_dialog_correlation" in capsys.readouterr().err
    assert not list((here / "data").glob("raw/mts_dialog/*"))


def test_outside_a_project(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["run", "sample"]) == 2
    assert "params.yaml does not exist; run in the project's folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "sample", "--jobs", "0"], "a whole number from 1"),
        (["run"], "required: BENCHMARK"),
        (["valdate"], "there is no 'valdate'; metassay --help lists all; did you mean 'validate'?"),
        (["study", "exprot"], "metassay study --help lists all; did you mean 'export'?"),
        (["run", "sample", "--onyl", "report"], "no option --onyl; did you mean '--only'?"),
        (["figures", "--paper", "doclen"], "did you mean 'doclens'?"),
        (["compare", "--benchmark", "a"], "--benchmark is now BENCHMARK without an option"),
        (["meta-eval", "--doc", "id", "a.csv"], "--doc is now --columns doc=COLUMN"),
    ],
)
def test_bad_usage_exits_with_2_and_says_what_was_meant(words, said, capsys) -> None:
    with pytest.raises(SystemExit) as caught:
        main(words)
    assert caught.value.code == 2
    assert said in capsys.readouterr().err


def test_former_names_answer_with_the_new_one(capsys) -> None:
    for former, new in FORMER.items():
        assert main([former, "x"]) == 2
        assert capsys.readouterr().err == f"metassay {former} is now metassay {new}\n"
        with pytest.raises(SystemExit) as caught:
            main([*new.split(), "--help"])
        assert caught.value.code == 0
        capsys.readouterr()


def test_choices_of_the_command_line_are_those_of_the_options() -> None:
    said = COMMANDS["meta-eval"]["arguments"]
    for name in ("coefficient", "resample"):
        field = MetaOptions.model_fields[name]
        assert said[f"--{name}"]["choices"] == [*get_args(field.annotation)]
        assert said[f"--{name}"]["default"] == field.default


def test_an_option_means_the_same_in_every_command() -> None:
    """Its metavar, and how many words it takes, say what it takes; a benchmark is positional."""
    takes: dict[str, dict[str, tuple[object, ...]]] = {}
    for command, action in arguments(parser(), "metassay"):
        for option in action.option_strings:
            takes.setdefault(option, {})[command] = (type(action), action.metavar, action.nargs)
    several = {option: each for option, each in takes.items() if len(set(each.values())) > 1}
    assert set(several) == {"--format", "--judge"}, several  # one, or several of the same
    assert not {"--benchmark", "--study", "--doc"} & set(takes)


def arguments(one: argparse.ArgumentParser, name: str) -> Iterator[tuple[str, argparse.Action]]:
    for action in one._actions:
        yield name, action
        if isinstance(action, argparse._SubParsersAction):
            for key, command in action.choices.items():
                yield from arguments(command, f"{name} {key}")


def test_the_command_line_is_there_before_any_table_is() -> None:
    """pandas and numpy take half a second: no help, and no completion, waits for them."""
    program = "import sys, metassay.cli.main; print(*{'pandas', 'numpy', 'torch'} & {*sys.modules})"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""

"""The command line: exit codes, and messages that say what to do."""

import argparse
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from metassay.cli import running
from metassay.cli.commands import COMMANDS
from metassay.cli.main import ABOUT, main, parser
from metassay.cli.parsing import spread
from metassay.core.exit_codes import FAILED, INTERRUPTED, REFUSED
from metassay.meta_evaluation.options import MetaOptions
from tests.stage_setup import CHAT, tiny_project


@pytest.fixture
def here(project, monkeypatch):
    monkeypatch.chdir(project)
    return project


@pytest.fixture
def unchanged(clone, monkeypatch):
    monkeypatch.chdir(clone)
    return clone


@contextmanager
def edited(path: Path) -> Iterator[dict[str, Any]]:
    """The content of a YAML file, to change; it is written back."""
    content = yaml.safe_load(path.read_text("utf-8"))
    yield content
    path.write_text(yaml.safe_dump(content), encoding="utf-8")


@pytest.mark.parametrize(
    "command",
    [["run", "nope"], ["run", "nope", "--only", "fetch"], ["run", "sample", "nope"]],
)
def test_an_unknown_benchmark_is_bad_usage(unchanged, capsys, command):
    assert main(command) == 2
    error = capsys.readouterr().err
    assert "benchmarks/: no 'nope'; there are: aci_bench, aci_bench_table24, " in error
    assert "interrupted" not in error
    assert not any((unchanged / "data/tables").glob("*"))


def test_a_misspelt_benchmark_is_answered_before_anything_slow_is_imported(
    here,
) -> None:
    code = (
        "import sys; from metassay.cli.main import main; code = main(['run', 'smaple']);"
        " print(code, sorted({'pandas', 'prefect', 'dvc', 'scipy'} & {*sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=here,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "2 []\n"
    assert "no 'smaple'; did you mean 'sample'? There are: aci_bench, " in done.stderr
    assert "checking params.yaml" not in done.stderr


def test_a_benchmark_s_folder_without_params_is_not_called_unknown(here, capsys):
    (here / "benchmarks/sample/params.yaml").unlink()
    assert main(["watch", "accept", "sample"]) == 2
    error = capsys.readouterr().err
    assert (
        error
        == "benchmarks/sample/params.yaml does not exist; bring it back, as by git\n"
    )


def test_validate_names_every_problem_in_one_go_and_nothing_runs(here, capsys):
    with edited(here / "params.yaml") as params:
        params["metrics"]["rouge"]["stemer"] = True
        params["judges"]["lexical"]["threshold"] = 3.0
        params["meta_evaluation"]["compared"].append("rouge7")
    for name, key, value in (
        ("sample", "raw", "data/elsewhere"),
        ("mts_dialog", "dataset", "mts"),
        # of raw files that nobody watches
        ("mts_dialog", "decompositions", ["doclens_claims"]),
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
    error = capsys.readouterr().err
    for words in (
        "metrics > rouge > stemer: unknown key",
        "judges > lexical > threshold: must be less than or equal to 1",
        "> raw: data/elsewhere is not the folder of dataset 'sample'",
        "> dataset: 'mts' is not in data/registry.yaml",
        "> decompositions: 'doclens_claims' reads ",
        "> published: 'table99' is not known",
        "> published: 'doclens_claims' is not known; choose from doclens_table1,",
        "> dataset: reader 'wice' is for tests of judges; give this folder a `test`",
        "> options > ways: must be 2 or 3",
        "meta_evaluation > compared: no metric is called 'rouge7'",
        "is damaged or is not a Parquet file",
        "no table is called 'nonsense'",
    ):
        assert words in error, words
    assert main(["run", "sample"]) == 2
    assert "> stemer: unknown key" in capsys.readouterr().err


def test_validate_is_content_with_the_project_as_it_is(here, capsys):
    assert main(["validate"]) == 0
    output, error = capsys.readouterr()
    assert "no problem found" in output
    assert (
        "note: mts_dialog: raw files were not checked, 3 of 3 are not in data/raw"
        in error
    )
    assert "sample:" not in error
    ratings = here / "data/sample/ratings.csv"
    ratings.write_text(
        ratings.read_text("utf-8").replace("rater,", "who,", 1), encoding="utf-8"
    )
    assert main(["validate"]) == 2
    assert "sample: ratings.csv: " in capsys.readouterr().err


def test_list_shows_benchmarks_and_datasets(unchanged, capsys):
    assert main(["list"]) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    listed = {
        "benchmarks": "aci_bench_table24",
        "tests of judges": "wice_dev",
        "tests of segmentations": "csabstruct_dev",
        "datasets": "csabstruct_train",
    }
    starts = [lines.index(title) for title in listed]
    for name, start, end in zip(
        listed.values(), starts, [*starts[1:], len(lines)], strict=True
    ):
        assert any(name in line for line in lines[start:end])


def test_fetch_from_a_mirror(here, mirror, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    words = ["run", "mts_dialog", "--only", "fetch", "--mirror"]
    assert main([*words, str(tmp_path / "empty")]) == 2
    assert "mts_dialog_correlation" in capsys.readouterr().err
    assert not list((here / "data").glob("raw/mts_dialog/*"))
    assert main([*words, str(mirror)]) == 0
    assert len(list((here / "data/raw/mts_dialog").iterdir())) == 3


def test_outside_a_project(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["run", "sample"]) == 2
    assert (
        "params.yaml does not exist; run in the project's folder"
        in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("run sample --jobs 0", "a whole number from 1"),
        ("run", "required: BENCHMARK"),
        (
            "valdate",
            "there is no 'valdate'; metassay --help lists all; did you mean 'validate'?",
        ),
        ("study exprot", "metassay study --help lists all; did you mean 'export'?"),
        ("run sample --onyl report", "no option --onyl; did you mean '--only'?"),
        ("meta-eval --doc id a.csv", "no option --doc"),
        (
            "judge-check verdicts.csv --require sensitivity",
            "write it as sensitivity=.9",
        ),
    ],
)
def test_bad_usage_exits_with_2_and_says_what_was_meant(words, problem, capsys):
    with pytest.raises(SystemExit) as caught:
        main(words.split())
    assert caught.value.code == 2
    assert problem in capsys.readouterr().err


def test_choices_of_the_command_line_are_those_of_the_options():
    arguments_of = COMMANDS["meta-eval"].arguments
    for name in ("coefficient", "resample"):
        field = MetaOptions.model_fields[name]
        assert arguments_of[f"--{name}"].choices == get_args(field.annotation)
        assert arguments_of[f"--{name}"].default == field.default


EXAMPLE = re.compile(r"^  (metassay .+?)(?:  .*)?$", re.MULTILINE)
# Their help is a line: they take no argument, or what they take says it all.
WITHOUT_EXAMPLE = {
    "update",
    "list",
    "validate",
    "ledger stats",
    "ledger export",
    "ledger import",
    "completion",
}


def test_help_has_examples_that_the_command_line_takes():
    without = set()
    for name, command in COMMANDS.items():
        examples = EXAMPLE.findall(command.about or "")
        if command.run and not examples:
            without.add(name)
        for example in examples:
            words = shlex.split(example)[1:]
            assert f"{shlex.join(words)} ".startswith(f"{name} "), example
            parser().parse_args(spread(words))
    assert without == WITHOUT_EXAMPLE
    for example in EXAMPLE.findall(ABOUT):
        parser().parse_args(spread(shlex.split(example)[1:]))


def arguments(
    of: argparse.ArgumentParser, name: str
) -> Iterator[tuple[str, argparse.Action]]:
    for action in of._actions:
        yield name, action
        if isinstance(action, argparse._SubParsersAction):
            for key, command in action.choices.items():
                yield from arguments(command, f"{name} {key}")


def test_an_option_means_the_same_in_every_command():
    """Its metavar, and how many words it takes, say what it takes; a benchmark is positional."""
    takes: dict[str, dict[str, tuple[object, ...]]] = {}
    for command, action in arguments(parser(), "metassay"):
        for option in action.option_strings:
            takes.setdefault(option, {})[command] = (
                type(action),
                action.metavar,
                action.nargs,
            )
        # Completion would not know what a NAME is (metassay/cli/completion.py).
        names = not action.option_strings or "benchmark" in action.dest
        assert not (names and str(action.metavar) == "NAME"), command
    several = {
        option: each for option, each in takes.items() if len(set(each.values())) > 1
    }
    # one, or several of the same
    assert set(several) == {"--format", "--judge"}, several
    assert not {"--benchmark", "--study", "--doc"} & set(takes)


def test_the_command_line_is_there_before_any_table_is():
    """pandas and numpy take half a second: no help, and no completion, waits for them."""
    program = "import sys, metassay.cli.main; print(*{'pandas', 'numpy', 'torch'} & {*sys.modules})"
    assert (
        subprocess.check_output([sys.executable, "-c", program], text=True).strip()
        == ""
    )


@pytest.mark.parametrize(
    ("ended", "code", "words"),
    [
        (0, 0, ""),
        (REFUSED, REFUSED, ""),
        (INTERRUPTED, INTERRUPTED, ""),
        (1, FAILED, "not every stage succeeded"),
        (-9, FAILED, "the run was killed"),
    ],
)
def test_each_end_of_a_run_has_its_code_and_its_words(
    monkeypatch, capsys, ended, code, words
):
    monkeypatch.setattr(running, "_run_watched", lambda *_: ended)
    assert running.run_flows(["sample"], {}) == code
    assert capsys.readouterr().err.startswith(words)


ACCEPTED = "benchmarks/one/accepted.lock"
LOCK = yaml.safe_dump(
    {"stages": {"a": {"outs": [{"path": "data/tables/old", "md5": "0"}]}}}
)


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        (
            ACCEPTED,
            "schema: '2.0'\n<<<<<<< HEAD\nstages: {}\n",
            f"{ACCEPTED}: has the marks of a merge in line 2; take one",
        ),
        (ACCEPTED, LOCK, f"{ACCEPTED}: has no scores of one"),
        *(
            (f"history/one/{name}.parquet", "PAR1", "parquet` if it was committed")
            for name in ("history", "history_means")
        ),
    ],
)
def test_what_cannot_be_compared_or_stored_is_told_before_the_run(
    file, text, words, tmp_path, monkeypatch, capsys
):
    root = tiny_project(tmp_path, "http://127.0.0.1:9/v1", ["Nothing."], system=CHAT)
    monkeypatch.chdir(root)
    (root / file).parent.mkdir(parents=True, exist_ok=True)
    (root / file).write_text(text, encoding="utf-8")
    assert main(["watch", "check", "one", "--no-prefect"]) == 2
    assert words in capsys.readouterr().err

"""What Tab completes, in the shells themselves."""

import argparse
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from metassay.cli.completion import script
from metassay.cli.main import main, parser
from tests.conftest import ROOT

# Completes the words of a line as readline would have it done, the last of them being typed.
PRESS_TAB = """
source "$1"; shift
for line; do
  read -ra COMP_WORDS <<< "$line"
  [[ $line == *" " ]] && COMP_WORDS+=("")
  COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 ))
  _shtab_metassay
  echo "${COMPREPLY[*]}"
done
"""


def tab(folder: Path, *lines: str, path: str | None = None) -> list[list[str]]:
    """What bash offers for each line in `folder`."""
    file = folder / "completion.bash"
    file.write_text(script(parser(), "bash"))
    environment = {"PATH": path or os.environ["PATH"]}
    command = ["bash", "--norc", "-c", PRESS_TAB, "bash", str(file), *lines]
    run = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    assert run.stderr == ""
    return [line.split() for line in run.stdout.splitlines()]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Only what completion may look at: names of folders, and the registry."""
    for name in ("alpha", "alpine", "beta"):
        (tmp_path / "benchmarks" / name).mkdir(parents=True)
        (tmp_path / "benchmarks" / name / "params.yaml").write_text("no YAML: [")
    (tmp_path / "benchmarks" / "alien").mkdir()
    (tmp_path / "data").mkdir()
    shutil.copy(ROOT / "data/registry.yaml", tmp_path / "data")
    (tmp_path / "sheets.csv").touch()
    return tmp_path


def test_every_command_and_every_option_of_one(project) -> None:
    whole = parser()
    (commands,) = (one for one in whole._actions if isinstance(one, argparse._SubParsersAction))
    names = list(commands.choices)
    found = tab(project, "metassay ", *(f"metassay {name} -" for name in names))
    assert sorted(found[0]) == sorted(names)
    for name, offered in zip(names, found[1:], strict=True):
        assert set(offered) == set(commands.choices[name]._option_string_actions), name


def test_names_come_from_the_project(project) -> None:
    benchmarks, several, none, here, costs, study, choices, files = tab(
        project,
        "metassay run al",
        "metassay run --no-prefect alpha b",
        "metassay run nothing-like-it",
        "metassay watch check ",
        "metassay ledger cost ",
        "metassay study export a",
        "metassay study export --form p",
        "metassay study import alpha first she",
    )
    assert (benchmarks, several, none) == (["alpha", "alpine"], ["beta"], [])
    assert here == ["alpha", "alpine", "beta"]
    assert costs == here
    assert (study, choices, files) == (["alpha", "alpine"], ["pairs"], ["sheets.csv"])


def test_names_to_probe_are_those_of_three_blocks(project) -> None:
    (project / "params.yaml").write_text(
        "judges: # a note\n  lexical: {kind: lexical}\n  # not: this\n  mini:\n    kind: llm\n"
        "metrics:\n  rouge: {}\nmodels: {}\nendpoints:\n  local: {kind: openai}\n"
        "  $(touch ran): {}\n"
    )
    assert tab(project, "metassay probe ", "metassay probe m") == [
        ["lexical", "local", "mini"],
        ["mini"],
    ]
    assert not (project / "ran").exists()


def test_outside_of_a_project_there_are_no_names_and_no_complaints(tmp_path) -> None:
    assert tab(tmp_path, "metassay run ", "metassay show ", "metassay probe ", "metassay li") == [
        *([], [], []),
        ["list"],
    ]


def test_a_folder_that_looks_like_a_command_is_not_run(project) -> None:
    for name in ("$(touch ran)", "`touch ran`", "my bench", "*"):
        (project / "benchmarks" / name).mkdir()
        (project / "benchmarks" / name / "params.yaml").touch()
    assert tab(project, "metassay run ", "metassay run m") == [["alpha", "alpine", "beta"], []]
    assert not (project / "ran").exists()


def test_python_does_not_start(project, tmp_path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("bash", "find", "sed", "sort"):
        (tools / name).symlink_to(str(shutil.which(name)))
    assert tab(project, "metassay run be", path=str(tools)) == [["beta"]]


def test_every_argument_says_what_it_takes() -> None:
    """A name of a benchmark that is called NAME would not be completed."""

    def arguments(one: argparse.ArgumentParser, name: str) -> list[tuple[str, str]]:
        found = []
        for action in one._actions:
            if isinstance(action, argparse._SubParsersAction):
                for key, command in action.choices.items():
                    found += arguments(command, f"{name} {key}")
            elif not action.option_strings or "benchmark" in action.dest:
                found.append((name, str(action.metavar)))
        return found

    vague = [(name, metavar) for name, metavar in arguments(parser(), "") if metavar == "NAME"]
    assert vague == [], "metavar: BENCHMARK, or what else it is (metassay/cli/completion.py)"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_command_prints_what_the_shell_can_read(shell: str, tmp_path, capsys) -> None:
    assert main(["completion", shell]) == 0
    printed = capsys.readouterr().out
    assert "_metassay_benchmark" in set(printed.replace("(", " ").split())
    if shutil.which(shell):
        file = tmp_path / "script"
        file.write_text(printed)
        subprocess.run([shell, "-n", str(file)], check=True)


def test_fish_offers_names(project) -> None:
    if not shutil.which("fish"):
        pytest.skip("needs fish")
    (project / "c.fish").write_text(script(parser(), "fish"))
    line = "source c.fish; complete -C 'metassay run al'"
    run = subprocess.run(
        ["fish", "-c", line], cwd=project, capture_output=True, text=True, check=True
    )
    assert [one.split("\t")[0] for one in run.stdout.splitlines()] == ["alpha", "alpine"]

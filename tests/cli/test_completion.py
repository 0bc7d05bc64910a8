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

# Completes the words of a line as readline would have it done, the last of them being
# typed.
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
def project(tmp_path):
    """Only what completion may look at: names of folders, and the registry."""
    for name in ("alpha", "alpine", "beta"):
        (tmp_path / "benchmarks" / name).mkdir(parents=True)
        (tmp_path / "benchmarks" / name / "params.yaml").write_text("no YAML: [")
    (tmp_path / "benchmarks" / "alien").mkdir()
    (tmp_path / "data").mkdir()
    shutil.copy(ROOT / "data/registry.yaml", tmp_path / "data")
    (tmp_path / "sheets.csv").touch()
    return tmp_path


def test_every_command_and_every_option_of_one(project):
    whole = parser()
    (commands,) = (
        a for a in whole._actions if isinstance(a, argparse._SubParsersAction)
    )
    names = list(commands.choices)
    first, *options = tab(
        project, "metassay ", *(f"metassay {name} -" for name in names)
    )
    assert sorted(first) == sorted(names)
    for name, offered in zip(names, options, strict=True):
        assert set(offered) == set(commands.choices[name]._option_string_actions), name


def test_names_come_from_the_project(project):
    wanted = {
        "metassay run al": ["alpha", "alpine"],
        "metassay run --no-prefect alpha b": ["beta"],
        "metassay run nothing-like-it": [],
        "metassay watch check ": ["alpha", "alpine", "beta"],
        "metassay ledger cost ": ["alpha", "alpine", "beta"],
        "metassay study export a": ["alpha", "alpine"],
        "metassay study export --form p": ["pairs"],
        "metassay study import alpha first she": ["sheets.csv"],
    }
    assert tab(project, *wanted) == list(wanted.values())


def test_names_to_probe_are_those_of_three_blocks(project):
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


def test_only_names_of_a_project_are_offered_and_nothing_is_run(project, tmp_path):
    for name in ("$(touch ran)", "`touch ran`", "my bench", "*"):
        (project / "benchmarks" / name).mkdir()
        (project / "benchmarks" / name / "params.yaml").touch()
    assert tab(project, "metassay run ", "metassay run m") == [
        ["alpha", "alpine", "beta"],
        [],
    ]
    assert not (project / "ran").exists()
    (tmp_path / "empty").mkdir()
    commands = [f"metassay {command}" for command in ("run ", "show ", "probe ", "li")]
    assert tab(tmp_path / "empty", *commands) == [[], [], [], ["list"]]


def test_python_does_not_start(project, tmp_path):
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("bash", "find", "sed", "sort"):
        (tools / name).symlink_to(str(shutil.which(name)))
    assert tab(project, "metassay run be", path=str(tools)) == [["beta"]]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_command_prints_what_the_shell_can_read(shell, tmp_path, capsys):
    assert main(["completion", shell]) == 0
    printed = capsys.readouterr().out
    assert "_metassay_benchmark" in set(printed.replace("(", " ").split())
    if shutil.which(shell):
        file = tmp_path / "script"
        file.write_text(printed)
        subprocess.run([shell, "-n", str(file)], check=True)


def test_fish_offers_names(project):
    if not shutil.which("fish"):
        pytest.skip("needs fish")
    (project / "c.fish").write_text(script(parser(), "fish"))
    line = "source c.fish; complete -C 'metassay run al'"
    run = subprocess.run(
        ["fish", "-c", line], cwd=project, capture_output=True, text=True, check=True
    )
    assert [row.split("\t")[0] for row in run.stdout.splitlines()] == [
        "alpha",
        "alpine",
    ]

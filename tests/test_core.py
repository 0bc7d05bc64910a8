"""The core install does meta-eval and nothing else: tried with all other distributions hidden."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from metassay.cli.main import PIPELINE

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

# Runs `metassay`, several commands between semicolons, with every module hidden that no core
# distribution brings.
HIDING = """
import json, sys
from importlib.abc import MetaPathFinder

class Hider(MetaPathFinder):
    hidden = frozenset(json.loads(sys.argv[1]))

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.hidden:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


import importlib.util
real = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: (
    None if name.partition(".")[0] in Hider.hidden else real(name, package)
)
sys.meta_path.insert(0, Hider())
from metassay.cli.main import main
for command in " ".join(sys.argv[2:]).split(";"):
    code = main(command.split())
sys.exit(code)
"""


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def closure(requirements: list[str]) -> set[str]:
    """The distributions that these bring, by name, as far as they are installed."""
    found: set[str] = set()
    waiting = [Requirement(one) for one in requirements]
    while waiting:
        one = waiting.pop()
        name = plain(one.name)
        if name in found or (one.marker and not one.marker.evaluate({"extra": ""})):
            continue
        found.add(name)
        try:
            waiting += [Requirement(text) for text in metadata.requires(name) or []]
        except metadata.PackageNotFoundError:  # of another platform
            continue
    return found


def hidden() -> list[str]:
    core = closure(PROJECT["dependencies"])
    brought = metadata.packages_distributions()
    return sorted(
        module
        for module, by in brought.items()
        if not {plain(one) for one in by} & core and module != "metassay"
    )


@pytest.fixture
def core(tmp_path: Path) -> Path:
    """A folder with the package alone, as a wheel has it, and an empty one to work in."""
    shutil.copytree(
        ROOT / "metassay", tmp_path / "site/metassay", ignore=shutil.ignore_patterns("__pycache__")
    )
    (tmp_path / "work").mkdir()
    return tmp_path


def run(core: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", HIDING, json.dumps(hidden()), *words],
        cwd=core / "work",
        env={"PYTHONPATH": str(core / "site"), "PATH": "", "COLUMNS": "100"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_pipeline_is_hidden_and_the_core_is_not() -> None:
    assert set(PIPELINE) <= set(hidden())
    assert not {"pandas", "numpy", "matplotlib", "jinja2", "markupsafe"} & set(hidden())
    extra = {plain(Requirement(one).name) for one in PROJECT["optional-dependencies"]["pipeline"]}
    assert set(PIPELINE) <= extra


def test_meta_eval_runs_on_the_core_alone(core: Path) -> None:
    made = run(core, "meta-eval", "--example", "study")
    assert made.returncode == 0, made.stderr
    few = ["--resamples", "20", "--permutations", "20"]
    files = ["study/scores.csv", "study/ratings.csv"]
    done = run(core, "meta-eval", *files, "--lower", "errors", *few, "--out", "results")
    assert done.returncode == 0, done.stderr
    assert "entails" in done.stdout
    assert (core / "work/results/certificates.csv").exists()


def test_other_commands_say_which_extra_they_need(core: Path) -> None:
    commands = ["list", "fetch x", "run sample", "validate", "report x", "cost x", "ledger stats"]
    done = run(core, ";".join(commands))
    assert done.returncode == 2
    lines = done.stderr.splitlines()
    assert len(lines) == len(commands)
    for command, line in zip(commands, lines, strict=True):
        name = command.split()[0]
        assert line.startswith(f"metassay {name} needs the extra `pipeline`, of which dvc, ")
        assert line.endswith('not installed: pip install "metassay[pipeline]"')


def test_help_needs_no_more_than_the_core(core: Path) -> None:
    assert "meta-eval" in run(core, "--help").stdout

"""The core install does meta-eval and import and nothing else: tried with all others hidden."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from metassay.cli.main import PIPELINE

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

# Runs commands between semicolons, `metassay ...` and `cd ...`, with every module hidden that no
# core distribution brings. Says the exit code of each.
HIDING = """
import json, os, sys
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
for command in sys.argv[2].split(";"):
    program, *words = command.split()
    if program == "cd":
        os.chdir(*words)
        continue
    try:
        code = main(words)
    except SystemExit as stopped:
        code = stopped.code
    print(f"exit code {code}", file=sys.stderr)
"""


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def closure(requirements: list[str], *, elsewhere: bool = False) -> set[str]:
    """The distributions that these bring, by name, as far as they are installed.

    `elsewhere`: also what they would bring to other platforms and other versions of Python.
    """
    seen: set[tuple[str, frozenset[str]]] = set()
    waiting = [Requirement(one) for one in requirements]
    while waiting:
        one = waiting.pop()
        name, extras = plain(one.name), frozenset({"", *one.extras})
        if (name, extras) in seen:
            continue
        try:
            brought = [Requirement(text) for text in metadata.requires(name) or []]
        except metadata.PackageNotFoundError:  # of another platform
            brought = []
            if not elsewhere:
                continue
        seen.add((name, extras))
        waiting += [
            other
            for other in brought
            if other.marker is None
            or (elsewhere and "extra" not in str(other.marker))
            or any(other.marker.evaluate({"extra": e}) for e in extras)
        ]
    return {name for name, _ in seen}


@cache
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
    shutil.copytree(ROOT / "metassay", tmp_path / "site/metassay")
    (tmp_path / "work").mkdir()
    return tmp_path


def run(core: Path, *commands: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", HIDING, json.dumps(hidden()), ";".join(commands)],
        cwd=core / "work",
        env={"PYTHONPATH": str(core / "site"), "PATH": "", "COLUMNS": "100"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_pipeline_is_hidden_and_the_core_is_not() -> None:
    assert set(PIPELINE) <= set(hidden())
    assert not {"pandas", "numpy", "matplotlib", "jinja2", "markupsafe"} & set(hidden())


def test_meta_eval_runs_on_the_core_alone(core: Path) -> None:
    """The first commands of docs/meta-eval.md, as they stand there but for fewer draws."""
    page = (ROOT / "docs/meta-eval.md").read_text("utf-8")
    (block,) = re.findall(r"```sh\n(.*?)```", page[: page.index("## An example")], re.DOTALL)
    first, second, third = [line.partition("#")[0].strip() for line in block.splitlines()]
    assert (first, second) == ("metassay meta-eval --example study", "cd study")
    done = run(core, first, second, f"{third} --resamples 20 --permutations 20")
    assert done.stderr.splitlines() == ["exit code 0"] * 2
    assert "entails" in done.stdout
    assert (core / "work/study/results/certificates.csv").exists()
    assert (core / "work/study/results/index.html").exists()


def test_judge_check_runs_on_the_core_alone(core: Path) -> None:
    rows = [f"q{n},{'pass' if n % 3 else 'fail'},{'pass' if n % 4 else 'fail'}" for n in range(60)]
    (core / "work/verdicts.csv").write_text("\n".join(["id,judge,human", *rows]), "utf-8")
    done = run(core, "metassay judge-check verdicts.csv --out results")
    assert done.stderr.splitlines() == ["exit code 0"]
    assert "base rate alone" in done.stdout
    assert (core / "work/results/card.csv").exists()


def test_import_runs_on_the_core_alone(core: Path) -> None:
    """And meta-eval goes on from what it makes, as docs/importing.md says."""
    page = (ROOT / "docs/importing.md").read_text("utf-8")
    (log,) = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    (core / "work/log.json").write_text(log, encoding="utf-8")
    (command,) = re.findall(r"```sh\n(.*?)\n```", page, re.DOTALL)
    done = run(core, command, "metassay meta-eval imported/data/ratings.csv")
    assert done.stderr.splitlines() == ["exit code 0"] * 2
    assert "1 corrected by people" in done.stdout


def test_other_commands_say_which_extra_they_need_and_help_needs_none(core: Path) -> None:
    commands = [
        "list",
        "run x --only fetch",
        "run sample",
        "validate",
        "ledger cost x",
        "ledger stats",
    ]
    done = run(core, *(f"metassay {command}" for command in commands), "metassay --help")
    *said, last = done.stderr.splitlines()
    assert len(said) == 2 * len(commands)
    for command, line, code in zip(commands, said[::2], said[1::2], strict=True):
        name = command.split()[0]
        assert line.startswith(f"metassay {name} needs the extra `pipeline`, of which cronsim, ")
        assert line.endswith('not installed: pip install "metassay[pipeline]"')
        assert code == "exit code 2"
    assert last == "exit code 0"
    assert "meta-eval" in done.stdout

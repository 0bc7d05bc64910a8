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

# Runs commands between semicolons, `metassay ...` and `cd ...`, with every module
# hidden that no core distribution brings. Says the exit code of each.
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

    `elsewhere`: also what they would bring to other platforms and other versions of
    Python.
    """
    seen: set[tuple[str, frozenset[str]]] = set()
    waiting = [Requirement(text) for text in requirements]
    while waiting:
        requirement = waiting.pop()
        name, extras = plain(requirement.name), frozenset({"", *requirement.extras})
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
        if not {plain(name) for name in by} & core and module != "metassay"
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder with the package alone, as a wheel has it."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(ROOT / "metassay", folder / "metassay")
    return folder


def run(site: Path, folder: Path, *commands: str) -> tuple[str, list[str]]:
    """Return stdout, and the lines of stderr: an exit code per command."""
    done = subprocess.run(
        [sys.executable, "-c", HIDING, json.dumps(hidden()), ";".join(commands)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(site), "PATH": "", "COLUMNS": "100"},
    )
    return done.stdout, done.stderr.splitlines()


def test_the_pipeline_is_hidden_and_the_core_is_not():
    assert set(PIPELINE) <= set(hidden())
    assert not {"pandas", "numpy", "scipy"} & set(hidden())


SCORING = """
import metassay
from metassay.core.errors import BadInput

texts, references = ["the cat sat"], ["the cat sat"]
print(*metassay.score(texts, references, sources=references))
try:
    metassay.score(texts, references, metrics=["bleu"])
except BadInput as error:
    print(error)
"""


def test_scoring_needs_the_core_alone(site, tmp_path):
    start = HIDING.partition("from metassay.cli.main")[0]
    done = subprocess.run(
        [sys.executable, "-c", start + SCORING, json.dumps(hidden())],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(site), "PATH": ""},
    )
    columns, refusal = done.stdout.splitlines()
    for name in ("rouge1_fmeasure", "edit_distance", "coverage", "words"):
        assert name in columns.split()
    assert refusal == (
        "metrics: 'bleu' needs sacrebleu, which is not installed; run:"
        ' pip install "metassay[pipeline]"'
    )


def test_meta_eval_runs_on_the_core_alone(site, tmp_path):
    """The first commands of docs/meta-eval.md, as they stand there but for fewer draws."""
    page = (ROOT / "docs/meta-eval.md").read_text("utf-8")
    (block,) = re.findall(
        r"```sh\n(.*?)```", page[: page.index("## An example")], re.DOTALL
    )
    first, second, third = [
        line.partition("#")[0].strip() for line in block.splitlines()
    ]
    assert (first, second) == ("metassay meta-eval --example study", "cd study")
    words = f"{third} --resamples 20 --permutations 20"
    output, codes = run(site, tmp_path, first, second, words)
    assert codes == ["exit code 0"] * 2
    assert "entails" in output
    results = tmp_path / "study/results"
    assert (results / "certificates.csv").exists()
    assert (results / "index.html").exists()


def test_judge_check_and_import_run_on_the_core_alone(site, tmp_path):
    """And meta-eval goes on from what an import makes, as docs/importing.md says."""
    rows = [
        f"q{n},{'pass' if n % 3 else 'fail'},{'pass' if n % 4 else 'fail'}"
        for n in range(60)
    ]
    (tmp_path / "verdicts.csv").write_text(
        "\n".join(["id,judge,human", *rows]), "utf-8"
    )
    page = (ROOT / "docs/importing.md").read_text("utf-8")
    (log,) = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    (tmp_path / "log.json").write_text(log, encoding="utf-8")
    (command,) = re.findall(r"```sh\n(.*?)\n```", page, re.DOTALL)
    check = "metassay judge-check verdicts.csv --out results"
    go_on = "metassay meta-eval imported/data/ratings.csv"
    output, codes = run(site, tmp_path, check, command, go_on)
    assert codes == ["exit code 0"] * 3
    assert "base rate alone" in output
    assert (tmp_path / "results/card.csv").exists()
    assert "1 corrected by people" in output


def test_other_commands_say_which_extra_they_need_and_help_needs_none(site, tmp_path):
    commands = ["list", "run x --only fetch", "run sample", "validate", "ledger stats"]
    words = [f"metassay {command}" for command in commands]
    output, (*lines, last) = run(site, tmp_path, *words, "metassay --help")
    for command, line, code in zip(commands, lines[::2], lines[1::2], strict=True):
        name = command.split()[0]
        assert line.startswith(
            f"metassay {name} needs the extra `pipeline`, of which cronsim, "
        )
        assert line.endswith('not installed: pip install "metassay[pipeline]"')
        assert code == "exit code 2"
    assert last == "exit code 0"
    assert "meta-eval" in output

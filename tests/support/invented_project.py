"""Runs of an invented project with our dvc.yaml, whose commands do next to nothing."""

import re
import subprocess
import sys
from pathlib import Path

import yaml

from flows import dag, surroundings
from tests.conftest import ROOT

SLEEP = ("touch sleeping", "sleep 60")


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "flows", *arguments]


def environment(root: Path) -> dict[str, str]:
    return surroundings.environment(root) | {"PYTHONPATH": str(ROOT)}


def run(
    root: Path, *arguments: str, **changes: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments),
        cwd=root,
        env=environment(root) | changes,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def dvc(root: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "dvc", *arguments],
        cwd=root,
        env=environment(root),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def change(file: Path, path: str, value: object) -> None:
    """Set one key of a YAML file: `metrics.rouge.stemmer`."""
    content = yaml.safe_load(file.read_text(encoding="utf-8"))
    *steps, last = path.split(".")
    block = content
    for step in steps:
        block = block[step]
    assert last in block
    block[last] = value
    file.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")


def hook(root: Path, stage: str, *lines: str) -> None:
    """What a stage's command does before it writes its outs."""
    (root / "hooks").mkdir(exist_ok=True)
    (root / "hooks" / stage).write_text("\n".join(lines) + "\n", encoding="utf-8")


def locks(root: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(root)): file.read_bytes()
        for file in root.rglob("dvc.lock")
    }


def names(output: str, mark: str = "✓") -> set[str]:
    """The stages behind this mark in what a run says."""
    stages = re.findall(rf"^{mark} (\S+: \S+|\S+)", output, re.MULTILINE)
    return set(stages)


def stale(root: Path, *benchmarks: str) -> set[str]:
    plan = dag.plan(root, benchmarks)
    return {plan.stages[address].name for address in plan.stale}

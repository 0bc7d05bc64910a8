"""Bring every committed lock up to date, and refuse a release while one is not.

    python -m tests.release [NAME ...]

Runs the trainings of the root's dvc.yaml, each folder of benchmarks/ by itself, and the
figures of papers, and prints what each took. What was run before and is up to date takes
seconds. The output of each is in .work/release/. Ends with 1 if anything failed, is
stale, or is not committed.
"""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from flows.surroundings import environment
from metassay.core.params import load
from tests.conftest import ROOT
from tests.locks import ROOT_DAG, stale_by_folder

OUTPUT = ROOT / ".work/release"
PYTHON = (sys.executable, "-m")
# What a run of a benchmark writes that is committed. `papers/dvc.lock` is not: figures
# are drawn again on each machine.
COMMITTED = (
    "versions.yaml",
    "dvc.lock",
    "benchmarks",
    "papers",
    ":!papers/dvc.lock",
    "data/judges",
    "data/segmenters",
)


def commands(names: list[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What is run, by name: trainings before what reads them, papers after what they show."""
    has_root = not names or ROOT_DAG in names
    if has_root:
        yield (
            f"{ROOT_DAG}: trainings",
            (*PYTHON, "dvc", "repro", "train", "train_roles"),
        )
    for name in names or load(ROOT).every:
        if name != ROOT_DAG:
            yield name, (*PYTHON, "metassay.cli", "run", "--no-prefect", name)
    if has_root:
        yield "papers", (*PYTHON, "papers")


def run(name: str, command: tuple[str, ...]) -> bool:
    """Run one; say how long it took, and what it said last if it failed."""
    start = time.monotonic()
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=environment(ROOT),  # the commands of dvc.yaml call this `python`
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.monotonic() - start
    OUTPUT.mkdir(parents=True, exist_ok=True)
    file = OUTPUT / f"{name.replace(': ', '_').replace(' ', '_')}.txt"
    file.write_text(done.stdout + done.stderr, encoding="utf-8")
    outcome = "done" if done.returncode == 0 else f"exit code {done.returncode}"
    print(f"{seconds:6.0f} s  {outcome:<12} {name}", flush=True)
    if done.returncode != 0:
        print(f"          {file.relative_to(ROOT)} says why", flush=True)
    return done.returncode == 0


def uncommitted() -> list[str]:
    """The files that a run wrote and that are not committed."""
    command = ["git", "status", "--porcelain", "--", *COMMITTED]
    listed = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [line[3:] for line in listed.stdout.splitlines()]


def main(names: list[str]) -> int:
    """Run these folders, or all; 1 if there is a reason not to release."""
    failed = [name for name, command in commands(names) if not run(name, command)]
    refusals = [f"{name}: did not run to its end" for name in failed]
    refusals += [f"{name}: {words}" for name, words in stale_by_folder(names).items()]
    refusals += [f"{Path(file)}: is not committed" for file in uncommitted()]
    for line in refusals:
        print(line)
    print("not to be released" if refusals else "every committed lock is current")
    return int(bool(refusals))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

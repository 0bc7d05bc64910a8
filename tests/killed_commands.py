"""Kills commands that write, again and again, at moments of their writing; checks what must hold.

    python -m tests.killed_commands 100 --seed 1

A command is stopped at one of the things that it asks of the system once it writes
(tests/started), and is sent a signal there. Then no process of it is left. What it was
to write is there as an undisturbed run writes it, to the byte, or not at all. What is
half-written is its owner's alone; after a signal that lets it end in order there is
nothing, and after SIGKILL the next run of the command removes it and tells so.

Of a Dask cluster, workers and the scheduler are killed while it works: the answers are
right, its storage is empty, and only what was in hand is worked on again.

`tests/kills.py` does the same with runs, schedules and `watch accept`.
"""

import argparse
import contextlib
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from metassay.api.example import write_example
from metassay.executor.dask_cluster import Cluster
from papers.draw import paths
from papers.index import PAPERS
from tests.cli.test_study import export, returned, study_project
from tests.conftest import copy_project
from tests.executor import work
from tests.executor.dask_machines import Machines
from tests.imports.importing import write_lines
from tests.imports.test_tools import GENERATED
from tests.kill_setup import end, go_on, kill, left, start, stopped, wait_until, writing
from tests.papers.feeding import feed

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
TARGETS = ("group", "parent", "all")
HALF_WRITTEN = ".unfinished"  # of the names of what is being written
MOST_STEPS = 2.5  # powers of ten of the things that a command asks of the system
PATIENCE = 20.0  # seconds until no process is left
OTHERS = 0o077
NOT_COMPARED = {".git", ".work", ".dvc"}  # have times, or locks


@dataclass(frozen=True)
class Case:
    """A command that writes.

    `prepare` makes a folder for it and returns its words; `out` are what it writes
    there, all or nothing if it is a folder that is `whole`; `code` is its exit code.
    """

    prepare: Callable[[Path], Sequence[str]]
    out: tuple[str, ...] = ("out",)
    whole: bool = True
    code: int = 0
    share: int = 4  # how often it is chosen


def _import(root: Path) -> Sequence[str]:
    rows = [GENERATED | {"doc_id": number} for number in range(200)]
    name = "samples_gsm8k_2026-01-02T03-04-05.678901.jsonl"
    write_lines(root / name, rows)
    return "import", "lm-eval", name, "--out", "out"


def _init(root: Path) -> Sequence[str]:
    lines = ["document,system,text"]
    lines += [f"d{number % 5},s{number // 5},Text {number}." for number in range(20)]
    (root / "texts.csv").write_text("\n".join(lines), encoding="utf-8")
    return "init", "out", "--texts", "texts.csv", "--yes"


def _meta_eval(root: Path) -> Sequence[str]:
    write_example(root / "tables")
    return "meta-eval", "tables/scores.csv", "tables/ratings.csv", "--out", "out"


def _judge_check(root: Path) -> Sequence[str]:
    words = random.Random(1).choices(["pass", "fail"], k=120)
    rows = [f"{n},{words[n]},{words[n - n % 5]}" for n in range(120)]
    lines = ["document,judge,human", *rows]
    (root / "labels.csv").write_text("\n".join(lines), encoding="utf-8")
    columns = ("--judge", "judge", "--human", "human")
    return "judge-check", "labels.csv", *columns, "--out", "out"


def _study(root: Path) -> Sequence[str]:
    study_project(root)
    with contextlib.chdir(root), contextlib.redirect_stdout(None):
        assert export("--raters", "anna,ben", "--seed", "5") == 0
        sheets = returned(root, lambda *_: "4", "Odd.")
    names = [str(Path(sheet).relative_to(root)) for sheet in sheets]
    return "study", "import", "one", "pilot", *names


def _figures(root: Path) -> Sequence[str]:
    copy_project(root)
    of_doclens = paths(PAPERS["doclens"])
    read = {path.split("/")[2] for path in of_doclens if path.startswith("data/")}
    for folder in (root / "benchmarks").iterdir():
        if folder.name not in read:
            shutil.rmtree(folder)
    feed(root, of_doclens)
    # of some formats: what DVC draws, it takes from its cache the next time
    return "figures", "--paper", "doclens", "--format", "md,tex"


STUDY = ("studies/one/pilot/ratings.csv", "studies/one/pilot/comments.csv")
CASES = {
    "import": Case(_import),
    "init": Case(_init),
    "meta-eval": Case(_meta_eval),
    "judge-check": Case(_judge_check),
    "study import": Case(_study, STUDY, whole=False),
    # most of its numbers are not in these tables: exit code 3
    "figures": Case(_figures, ("reports/figures",), whole=False, code=3, share=1),
}


class Killed:
    """One command in a folder of its own, killed until it has ended by itself."""

    def __init__(self, name: str, root: Path, chance: random.Random) -> None:
        self.name, self.case, self.root, self.chance = name, CASES[name], root, chance
        self.problems: list[str] = []
        self.kills: Counter[str] = Counter()
        root.mkdir(parents=True)
        self.words = self.case.prepare(root)
        self.run_to_its_end()
        self.whole = self.written()
        assert self.whole, name
        self.remove()

    def run_to_its_end(self) -> str:
        """Run it undisturbed; what it says."""
        run = start(self.root, command=self._command())
        assert end(run) == self.case.code, run.output
        return run.output

    def once(self) -> bool:
        """Kill it once; False if it had ended before."""
        steps = int(10 ** self.chance.uniform(0, MOST_STEPS))
        number, target = self.chance.choice(SIGNALS), self.chance.choice(TARGETS)
        what = f"{self.name}: {number.name} {target} at {steps}"
        before = self.half_written()
        run = start(self.root, command=self._command(), **writing(HALF_WRITTEN, steps))
        reached = wait_until(run, lambda: bool(stopped(run)), timeout=300)
        if reached:
            kill(run, target, number)
            self.kills[number.name] += 1
        go_on(run)
        lives = left(run, patience=PATIENCE)
        if lives:
            self.problems.append(f"{what}: left: {lives}")
        if "Traceback" in run.output:
            self.problems.append(f"{what}: {run.output}")
        now = self.half_written()
        if (not reached or number != signal.SIGKILL) and now - before:
            self.problems.append(f"{what}: half-written: {sorted(now - before)}")
        for path in now:
            if path.is_dir() and path.stat().st_mode & OTHERS:
                self.problems.append(f"{what}: others may read {path}")
        there = self.written()
        partly = {name: self.whole.get(name) for name in there}
        if there != partly or (self.case.whole and there not in ({}, self.whole)):
            self.problems.append(f"{what}: other files than in an undisturbed run")
        if there:
            self.remove()
        return reached

    def complete(self) -> None:
        """The next run of it removes what is left, tells so, and writes the same."""
        before = self.half_written()
        output = self.run_to_its_end()
        if self.half_written():
            self.problems.append(f"{self.name}: left: {sorted(self.half_written())}")
        if before and "a killed run had left it" not in output:
            self.problems.append(f"{self.name}: removed without a word: {output}")
        if self.written() != self.whole:
            self.problems.append(f"{self.name}: another result than undisturbed")

    def written(self) -> dict[str, bytes]:
        """What it wrote, by path."""
        files: list[Path] = []
        for name in self.case.out:
            path = self.root / name
            files += path.rglob("*") if path.is_dir() else [path]
        return {
            str(file.relative_to(self.root)): file.read_bytes()
            for file in files
            if file.is_file()
            and HALF_WRITTEN not in str(file)
            and NOT_COMPARED.isdisjoint(file.parts)
        }

    def half_written(self) -> set[Path]:
        """What is half-written in its folder."""
        return set(self.root.rglob(f".*{HALF_WRITTEN}"))

    def remove(self) -> None:
        """Remove what it wrote, as a user who tries again."""
        for name in self.case.out:
            path = self.root / name
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)

    def _command(self) -> tuple[str, ...]:
        return sys.executable, "-m", "metassay.cli", *self.words


def kill_cluster(
    folder: Path, most: int, chance: random.Random
) -> tuple[int, list[str]]:
    """Kill workers and the scheduler of a cluster that works; how often, and what did not hold."""
    numbers = list(range(80))
    log, storage = folder / "log", folder / "shards"
    done = threading.Event()
    kills = 0
    with Machines(folder / "machines") as machines:
        machines.scheduler()
        for _ in range(2):
            machines.worker()

        def disturb() -> None:
            nonlocal kills
            while kills < most and not done.wait(chance.uniform(0.5, 2.0)):
                scheduler, *workers = machines.processes
                kills += 1
                if chance.random() < 2 / 3:
                    machines.kill(chance.choice(workers))
                else:
                    for process in (scheduler, *workers):
                        machines.kill(process)
                    machines.scheduler()
                    machines.worker()
                machines.worker()

        machines.wait(2)
        disturbing = threading.Thread(target=disturb)
        with Cluster(machines.options(storage), "squares") as cluster:
            disturbing.start()
            shards = cluster.map(work.squares, numbers, 0.2, str(log))
            done.set()
        disturbing.join()
    problems = []
    if [square for shard in shards for square in shard] != [n * n for n in numbers]:
        problems.append("dask: wrong answers")
    if (storage / "squares").exists():
        problems.append("dask: its storage is not empty")
    again = Counter(number for number, _ in work.noted(log)).total() - len(numbers)
    if again > 2 * kills:  # each of the two workers had one in hand
        problems.append(
            f"dask: {again} pieces were worked on again after {kills} kills"
        )
    return kills, problems


def main() -> None:
    """Kill, and say what held."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("number", type=int, help="kills")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--of", nargs="*", default=[*CASES, "dask"])
    chosen = parser.parse_args()
    # What a shell starts in the background ignores Ctrl-C, and so would all that it
    # starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    chance = random.Random(chosen.seed)
    os.umask(0o022)
    with tempfile.TemporaryDirectory() as folder:
        killed = [
            Killed(name, Path(folder) / str(number), chance)
            for number, name in enumerate(chosen.of)
            if name in CASES
        ]
        shares = [each.case.share for each in killed]
        of_cluster = chosen.number // 8 if "dask" in chosen.of else 0
        left_to_do = chosen.number - of_cluster
        while killed and sum(each.kills.total() for each in killed) < left_to_do:
            (command,) = chance.choices(killed, shares)
            command.once()
            total = sum(each.kills.total() for each in killed)
            print(time.strftime("%H:%M:%S"), total, command.name, flush=True)
        problems = []
        for command in killed:
            command.complete()
            problems += command.problems
            print(f"{command.kills.total():4} {command.name}: {dict(command.kills)}")
        if of_cluster:
            kills, wrong = kill_cluster(Path(folder) / "dask", of_cluster, chance)
            problems += wrong
            print(f"{kills:4} dask: workers and schedulers")
    print("\n".join(problems) or "nothing wrong")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()

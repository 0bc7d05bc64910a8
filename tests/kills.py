"""Kills runs of the sample again and again, at random moments; what must hold, it checks.

    python -m tests.kills 100 --seed 1

A language model of its own (tests/llm/scripted_server.py) writes for the sample and
takes its texts apart. One project is run, killed and run again until it is finished;
then a new one is begun. After each kill: no process of the run is left after five
seconds (of a schedule, whose Prefect ends in order, after twenty), nobody asks the
model any more, and Prefect has nothing going on; no answer that the ledger had is asked
for again, ever, and none is lost. A finished project has the same tables, to the byte,
as one that nobody disturbed.

Some runs are those of a schedule, which goes on with the next one where one of its runs
is killed, also while that adds to the history. The numbers of a finished project are
accepted, and who does so is killed at some moment of the writing: what is accepted is
the old or the new, and whole.
"""

import argparse
import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from metassay.tracking.reevaluation.outcome import BROKEN, FOLDER, load
from tests import kill_setup
from tests.kill_setup import (
    Run,
    end,
    go_on,
    kill,
    left,
    rows,
    start,
    stopped,
    unended,
    wait_until,
    writing,
)
from tests.llm.scripted_server import Answer, Call, ScriptedServer, answer_with
from tests.stage_setup import refresh_code
from tests.test_llm_pipeline import BENCHMARK, KEY, claims, one_benchmark

TARGETS = ("group", "parent", "flow", "stage", "worker", "server", "all")
OF_A_SCHEDULE = (*TARGETS, "engine")
OF_ACCEPT = ("group", "parent", "flow", "all")
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
GOES_ON = ("stage", "worker")  # without one of these, the rest of the run goes on
# all stages are over then
OF_A_FILE = tuple(end for end in OF_A_SCHEDULE if end not in GOES_ON)
SCHEDULE_GOES_ON = (*GOES_ON, "flow", "engine")
PATIENCE = {"schedule": 20.0}  # seconds until nothing is left; 5 of all others
SCHEDULED = 1 / 4  # of all that is done until a project is finished
ACCEPTED = 3  # times, of each finished project
# of who writes a small file, from its opening until it is in place, and some more
STEPS = 14
LATENCY = 0.3


class Model(ScriptedServer):
    """The model, which counts how often each question was asked."""

    def __init__(self) -> None:
        super().__init__(self.reply, latency=LATENCY, keep=False)
        self.questions: Counter[tuple[str, str]] = Counter()

    def reply(self, call: Call) -> Answer:
        """Notes and claims that depend on the question alone; who asks is known by the key."""
        pairs = [
            [message["role"], message["content"]] for message in call.body["messages"]
        ]
        self.questions[call.headers["authorization"], json.dumps(pairs)] += 1
        if call.is_claims:
            return answer_with(claims())
        return answer_with(
            f"The knee hurts [0]. There is no swelling [1]. Seen as {call.key[:8]} [0]."
        )


def build(into: Path, base_url: str) -> Path:
    """A project whose only benchmark is the sample, with a model that writes and takes apart.

    What takes time and nothing else is less than in the sample: resamples, metrics.
    """
    root = one_benchmark(into)
    path = root / "params.yaml"
    params: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    endpoint = {
        "kind": "openai",
        "base_url": base_url,
        "key_env": KEY,
        "concurrency": 4,
    }
    params |= {
        "endpoints": {"here": endpoint | {"timeout": 10.0, "sends": []}},
        "models": {"m": {"endpoint": "here", "model": "m-1", "max_tokens": 200}},
        "max_cost": None,
        "max_missing": 0,
    }
    params["systems"]["writer"] = {
        "kind": "chat",
        "model": "m",
        "unit": "full",
        "citations": True,
        "shots": 0,
        "examples": [],
        "example_citations": "none",
    }
    params["decompositions"]["apart"] = {
        "kind": "llm",
        "model": "m",
        "least": 1,
        "most": 5,
        "rounds": 1,
    }
    params["aggregation"]["resamples"] = params["meta_evaluation"]["resamples"] = 20
    params["meta_evaluation"]["permutations"] = 100
    path.write_text(yaml.safe_dump(params), encoding="utf-8")
    params: dict[str, Any] = yaml.safe_load(
        (root / BENCHMARK / "params.yaml").read_text(encoding="utf-8")
    )
    params |= {
        "name": "one",
        "systems": ["lead", "writer"],
        "decompositions": ["apart"],
    }
    params["metrics"] = ["lengths", "extractiveness"]
    (root / BENCHMARK / "params.yaml").write_text(
        yaml.safe_dump(params), encoding="utf-8"
    )
    refresh_code(root)
    return root


def answered(root: Path) -> dict[str, str]:
    """What the ledger has: answers by the messages of their questions."""
    answers = rows(root / ".work/ledger.sqlite", "SELECT request, text FROM answers")
    return {
        json.dumps(json.loads(request)["messages"]): text for request, text in answers
    }


def tables(root: Path) -> dict[str, bytes]:
    """The tables; a report shows when and by which calls it was made."""
    tables_now = kill_setup.tables(root)
    return {
        name: content
        for name, content in tables_now.items()
        if name.startswith("data/tables")
    }


def command(name: str, *words: str) -> tuple[str, ...]:
    """A command of Metassay's for the one benchmark."""
    return (sys.executable, "-m", "metassay.cli", *name.split(), "one", *words)


def told_by(target: str, number: int) -> bool:
    """Whether somebody is left who tells Prefect."""
    return not (target == "all" and number == signal.SIGKILL)


def unfinished(root: Path) -> list[str]:
    """What killed ones left half-written where people look."""
    folders = ("data/tables", "reports", "benchmarks", str(FOLDER))
    files = [
        file for folder in folders for file in (root / folder).rglob(".*.unfinished")
    ]
    return sorted(str(file.relative_to(root)) for file in files)


class Kills:
    """Projects that are killed; `problems` has whatever did not hold."""

    def __init__(self, folder: Path, model: Model) -> None:
        self.folder, self.model = folder, model
        self.first, self.last = folder / "first", folder / "last"
        self.counts: Counter[str] = Counter()
        self.problems: list[str] = []
        self.slowest = 0.0
        self.finished = 0
        build(self.first, model.base_url)
        shutil.copytree(self.first, self.last, symlinks=True)
        began = time.monotonic()
        run = start(self.last, "--no-prefect")
        if end(run, timeout=600):
            raise SystemExit(run.output)
        self.length = time.monotonic() - began
        self.whole = tables(self.last)
        (self.last / ".work/ledger.sqlite").unlink()
        shutil.rmtree(self.last / ".dvc/cache")
        self.say(f"{self.length:.0f} s undisturbed, {len(self.whole)} tables")

    def say(self, line: str) -> None:
        """Say it now."""
        print(time.strftime("%H:%M:%S"), line, flush=True)

    def wrong(self, what: str, output: str = "") -> None:
        """Note what did not hold."""
        self.problems.append(what)
        self.say(f"!! {what}\n{output}")


class Project:
    """One project after the other, each killed until it is finished."""

    def __init__(self, kills: Kills, name: str, seed: int) -> None:
        self.kills, self.name, self.random = kills, name, random.Random(seed)
        self.begin()

    def begin(self) -> None:
        """A project that has run never, or one that lost some tables and all answers."""
        kills = self.kills
        self.root = kills.folder / self.name
        shutil.rmtree(self.root, ignore_errors=True)
        self.fresh = self.random.random() < 1 / 3
        self.known: dict[str, str] = {}
        self.questions = kills.model.questions.copy()
        shutil.copytree(
            kills.first if self.fresh else kills.last, self.root, symlinks=True
        )
        if not self.fresh:
            for table in sorted(kills.whole):
                if self.random.random() < 1 / 4:
                    (self.root / table).unlink()

    def until(self, number: int) -> None:
        """Kill until there were so many kills."""
        while self.kills.counts.total() < number:
            if self.once():
                self.kills.finished += 1
                self.begin()

    def once(self) -> bool:
        """Run, and kill at some moment; whether the project is finished, and accepted."""
        if self.random.random() < SCHEDULED:
            self.scheduled()
            return False
        kills = self.kills
        words = self.random.choice([(), ("--no-prefect",)])
        moment = self.random.random() ** 2 * kills.length * (1.0 if self.fresh else 0.5)
        target = self.random.choice(
            [name for name in TARGETS if not (words and name == "server")]
        )
        number = self.random.choice(SIGNALS)
        run = start(self.root, *words, command=(), **{KEY: self.name})
        code: int | None = None
        with suppress(subprocess.TimeoutExpired):
            code = run.process.wait(moment)
        what = f"{self.name}: {number.name} {target} {' '.join(words)} from {moment:.2f} s on"
        if code is None and wait_until(
            run, lambda: kill(run, target, number), timeout=600
        ):
            kills.counts[f"run: {number.name} {target}"] += 1
            if target in GOES_ON:
                end(run, timeout=600)
            self.over(run, what, notified=told_by(target, number))
            code = run.process.wait()
        elif code is None:
            what = (
                f"{self.name}: no {target} any more {' '.join(words)} at {moment:.2f} s"
            )
            code = end(run, timeout=600)
        kills.say(f"{kills.counts.total()}: {what}: exit {code}")
        self.answers(what)
        if code == 0:
            self.complete(what, run)
            self.accepted()
        return code == 0

    def scheduled(self) -> None:
        """Serve a schedule, and kill in the middle of a run or of what it adds to the history."""
        kills, before = self.kills, self.runs()
        file = self.random.choice([None, None, "history", "changes"])
        target = self.random.choice(OF_A_FILE if file else OF_A_SCHEDULE)
        number = self.random.choice(SIGNALS)
        steps = self.random.randrange(STEPS)
        stops = writing(file, steps) if file else {}
        moment = self.random.random() * kills.length
        run = start(
            self.root,
            command=command("watch schedule", "--interval", "1"),
            **stops,
            **{KEY: self.name},
        )
        what = f"{self.name}: schedule: {number.name} {target} in {file or 'anything'}"
        kills.say(f"{what} from {moment:.2f} s on")
        reached: list[int] = []

        def there() -> bool:
            if not file or stopped(run):
                reached.extend(kill(run, target, number))
            return bool(reached) or self.runs() > before + 1

        began = wait_until(run, lambda: kill_setup.TARGETS["engine"](run), timeout=600)
        if file is None:
            time.sleep(moment)
        if not (began and wait_until(run, there, timeout=600)):
            kills.wrong(f"{what}: ended by itself", run.output)
        if reached:
            kills.counts[f"schedule: {number.name} {target}"] += 1
        ends = bool(reached) and target not in SCHEDULE_GOES_ON
        go_on(run)
        if not ends:
            self.goes_on(run, what)
            kill(run, "parent", signal.SIGINT)
        self.over(
            run, what, notified=not ends or told_by(target, number), of="schedule"
        )
        self.runs()
        kills.say(f"{kills.counts.total()}: {what}: exit {run.process.wait()}")
        self.answers(what)

    def goes_on(self, run: Run, what: str) -> None:
        """A schedule starts its next run, and that one succeeds."""
        before = self.runs()

        def further() -> bool:
            go_on(run)
            return self.runs() > before

        if not wait_until(run, further, timeout=600):
            self.kills.wrong(
                f"{what}: the schedule ended with one of its runs", run.output
            )

    def runs(self) -> int:
        """How many runs of the history succeeded."""
        return int((load(self.root, "one").runs["did"] != BROKEN).sum())

    def accepted(self) -> None:
        """Kill who accepts what was made, again and again, then let one of them end."""
        kills, folder = self.kills, self.root / BENCHMARK
        lock, current = folder / "accepted.lock", (folder / "dvc.lock").read_bytes()
        if self.random.random() < 1 / 2:
            lock.write_bytes(current + b"# of an earlier run\n")
        for _ in range(ACCEPTED):
            before = lock.read_bytes() if lock.exists() else None
            target, number = self.random.choice(OF_ACCEPT), self.random.choice(SIGNALS)
            steps = self.random.randrange(STEPS)
            run = start(
                self.root,
                command=command("watch accept"),
                **writing("accepted.lock", steps),
            )
            what = f"{self.name}: accept: {number.name} {target} at {steps}"
            if wait_until(run, lambda run=run: stopped(run), timeout=600):
                kill(run, target, number)
                kills.counts[f"accept: {number.name} {target}"] += 1
            go_on(run)
            self.over(run, what, notified=False)
            there = lock.read_bytes() if lock.exists() else None
            if there not in (before, current):
                kills.wrong(
                    f"{what}: neither the old nor the new is accepted", run.output
                )
            new = "the new" if there == current else "the old"
            kills.say(
                f"{kills.counts.total()}: {what}: {new}, exit {run.process.wait()}"
            )
        last = start(self.root, command=command("watch accept"))
        if end(last) or lock.read_bytes() != current or unfinished(self.root):
            kills.wrong(f"{self.name}: accept: {unfinished(self.root)}", last.output)
        self.complete(f"{self.name}: accept", last)

    def over(self, run: Run, what: str, *, notified: bool, of: str = "prefect") -> None:
        """What holds once a run is over; `notified`: Prefect was there to be told."""
        began = time.monotonic()
        patience = PATIENCE.get(of, 5.0)
        lives = left(run, patience=patience)
        self.kills.slowest = max(self.kills.slowest, time.monotonic() - began)
        if lives:
            self.kills.wrong(
                f"{what}: left after {patience:.0f} s: {lives}", run.output
            )
        requests = self.requests()
        time.sleep(0.5)
        if self.requests() > requests:
            self.kills.wrong(f"{what}: the model was asked by a dead run")
        if notified:
            for row in unended(self.root, of):
                self.kills.wrong(f"{what}: Prefect has going on: {row}")

    def requests(self) -> int:
        """How often this project has asked."""
        requests = self.kills.model.questions.copy()
        return sum(
            count
            for (who, _), count in requests.items()
            if who == f"Bearer {self.name}"
        )

    def answers(self, what: str) -> None:
        """No answer is lost, and none was asked for again."""
        now, requests = answered(self.root), self.kills.model.questions.copy()
        for question, text in self.known.items():
            request = (f"Bearer {self.name}", question)
            if requests[request] > self.questions[request]:
                self.kills.wrong(f"{what}: asked again")
            if now.get(question) != text:
                self.kills.wrong(f"{what}: lost or changed")
        if any((f"Bearer {self.name}", question) not in requests for question in now):
            self.kills.wrong(f"{what}: an answer that nobody gave")
        self.known, self.questions = now, requests

    def complete(self, what: str, run: Run) -> None:
        """What holds of a finished project."""
        current, whole = tables(self.root), self.kills.whole
        for name in sorted(whole.keys() | current.keys()):
            if whole.get(name) != current.get(name):
                self.kills.wrong(
                    f"{what}: {name} is not as in an undisturbed run", run.output
                )
        if unfinished(self.root):
            self.kills.wrong(
                f"{what}: finished, and half-written: {unfinished(self.root)}"
            )
        for row in unended(self.root):
            self.kills.wrong(f"{what}: finished, and Prefect has going on: {row}")


def main() -> None:
    """Kill, and say what held."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("number", type=int, help="kills")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--at-once", type=int, default=2, help="projects that run side by side"
    )
    chosen = parser.parse_args()
    # What a shell starts in the background ignores Ctrl-C, and so would all that it
    # starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with tempfile.TemporaryDirectory() as folder, Model() as model:
        kills = Kills(Path(folder), model)
        names = [f"p{number}" for number in range(chosen.at_once)]
        with ThreadPoolExecutor() as pool:
            projects = [
                Project(kills, name, chosen.seed + n) for n, name in enumerate(names)
            ]
            ends = [pool.submit(project.until, chosen.number) for project in projects]
        for what, count in sorted(kills.counts.items()):
            print(f"{count:4} {what}")
        print(f"{kills.finished} projects finished; slowest end {kills.slowest:.1f} s")
        print("\n".join(kills.problems) or "nothing wrong")
        for end in ends:
            end.result()
    sys.exit(bool(kills.problems))


if __name__ == "__main__":
    main()

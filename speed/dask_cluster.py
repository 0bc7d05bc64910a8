"""Shards on a Dask cluster: what one costs beside its work, 100,000 pairs, and a whole study.

`python speed/dask_cluster.py` starts a scheduler and 1, 2 and 4 workers as processes.
The first part is work that sleeps (.1 s for each of 64 pieces), so that it shows the
overhead on any number of cores: seconds, and the share of them that is no sleep. The
second part has the lexical judge read 100,000 pairs on two workers, asserts that its
labels are those of a run here, and prints the processor time and the most memory of the
scheduler and of this process. The third part runs all stages of an invented study of
2,000 documents by 16 systems up to `meta_evaluate` here, and then on 2 and on 4
workers, of which some are killed or stopped, and whose scheduler is started anew, while
they work: it asserts that each table has the same bytes, and that no shard is left, and
prints seconds. `python speed/dask_cluster.py study` runs that part alone.
"""

import json
import os
import random
import resource
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

from metassay.core.kinds import choose
from metassay.core.work import WORK
from metassay.datasets.workers import DASK
from metassay.executor.dask_cluster import Cluster
from metassay.executor.record import LOCAL, Executor
from metassay.judges import JUDGES
from metassay.judges.make import make_judge
from metassay.judges.protocol import Judgment, Pair
from metassay.llm.needs import Resources
from tests.executor.dask_machines import Machines
from tests.stage_setup import SETTINGS, refresh_code, run_stage, tiny_project

PIECES, NAP = 64, 0.1
WORKERS, PAIRS = (1, 2, 4), 100_000
BLOCK = {"kind": "lexical", "threshold": 0.7, "window": 30}
MOST_SECONDS = 60.0  # of the scheduler's processor for 100,000 pairs
DOCUMENTS, SYSTEMS, STUDIED_ON, LIMIT = 2_000, 16, (2, 4), 120.0
QUICK = {  # the smallest size
    "PIECES": 4,
    "NAP": 0.01,
    "WORKERS": (1,),
    "PAIRS": 200,
    "DOCUMENTS": 6,
    "SYSTEMS": 4,
    "STUDIED_ON": (2,),
    "LIMIT": 8.0,
}


def sleep(shard: Sequence[int], seconds: float) -> int:
    time.sleep(seconds * len(shard))
    return len(shard)


def overhead(folder: Path) -> None:
    print(f"{PIECES} pieces that sleep {NAP:g} s each")
    with Machines(folder / "sleep") as machines:
        machines.scheduler()
        options = machines.options(folder / "shards")
        for workers in WORKERS:
            while len(machines.processes) <= workers:
                machines.worker()
            machines.wait(workers)
            with Cluster(options, f"first {workers}") as cluster:
                cluster.map(sleep, [0] * workers, 0.0)  # each imports us
                start = time.perf_counter()
                assert sum(cluster.map(sleep, list(range(PIECES)), NAP)) == PIECES
                seconds = time.perf_counter() - start
            least = PIECES * NAP / workers
            print(
                f"{workers} workers: {seconds:5.2f} s, {1 - least / seconds:5.1%} overhead"
            )


def pairs(count: int) -> list[Pair]:
    return [
        Pair(
            f"{n:08x}",
            "entailment",
            f"The knee hurts for {n} weeks.",
            f"It hurts {n} weeks.",
        )
        for n in range(count)
    ]


def judged(asked: Sequence[Pair], executor: Executor) -> list[Judgment | None]:
    judge = make_judge(choose(JUDGES, BLOCK, where="lexical"), _resources, executor)
    return judge.judge(asked)


def _resources(_: object) -> Resources:
    return Resources(Path("data/raw"))


def many(folder: Path, count: int) -> None:
    asked = pairs(count)
    here = judged(asked, LOCAL)
    with Machines(folder / "pairs") as machines:
        scheduler = psutil.Process(machines.scheduler().pid)
        for _ in range(2):
            machines.worker()
        machines.wait(2)
        before = sum(scheduler.cpu_times()[:2])
        ours, start = time.process_time(), time.perf_counter()
        with Cluster(machines.options(folder / "shards"), "pairs") as cluster:
            assert judged(asked, cluster) == here
        seconds, used = time.perf_counter() - start, time.process_time() - ours
        of_scheduler = sum(scheduler.cpu_times()[:2]) - before
        memory = scheduler.memory_info().rss / 2**20
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    print(f"{count:,} pairs on 2 workers: {seconds:.1f} s")
    print(f"scheduler: {of_scheduler:.1f} s of processor, {memory:.0f} MiB")
    print(f"client: {used:.1f} s of processor, {most:.0f} MiB at most")
    if of_scheduler > MOST_SECONDS:
        sys.exit(f"the scheduler took more than {MOST_SECONDS:g} s")


STAGES = (
    ("ingest", ""),
    ("generate", "lead"),
    ("segment", ""),
    ("decompose", "clauses"),
    ("align", "rouge_topk"),
    ("pair", "uncited"),
    ("measure", ""),
    ("judge", "lexical"),
    ("aggregate", ""),
    ("meta_evaluate", ""),
)
PLACES = ("knee", "hip", "wrist", "ankle", "elbow", "back", "neck", "jaw")
PROBLEMS = ("hurts", "swells", "itches")


def invented(folder: Path) -> None:
    """Sources of eight statements, a reference, texts with more or fewer errors, and grades."""
    drawn = random.Random(20261127)
    sources, texts, ratings = [], [], ["study,doc_id,author,unit,rater,criterion,value"]
    for number in range(DOCUMENTS):
        doc = f"d{number:05}"
        said = [
            f"The {place} {drawn.choice(PROBLEMS)} for {drawn.randint(2, 90)} weeks, says patient"
            f" {number}."
            for place in PLACES
        ]
        sources.append({"doc_id": doc, "task": "note", "passages": said})
        texts.append({"doc_id": doc, "author": "reference", "text": " ".join(said[:3])})
        # the last is `lead`, whose texts a stage writes
        for system in range(SYSTEMS - 1):
            wrong = [drawn.random() < 0.05 * system for _ in range(2)]
            kept = zip(drawn.sample(said, 2), wrong, strict=True)
            text = " ".join(
                one.replace(" for ", " for 1") if bad else one for one, bad in kept
            )
            texts.append({"doc_id": doc, "author": f"s{system:02}", "text": text})
            grade = 5 - 2 * sum(wrong) - drawn.randint(0, 1)
            ratings.append(f"one,{doc},s{system:02},text,ann,grade,{max(1, grade)}")
    folder.mkdir(parents=True)
    for name, rows in (("sources", sources), ("texts", texts)):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    (folder / "ratings.csv").write_text("\n".join(ratings) + "\n", encoding="utf-8")


def project(root: Path) -> None:
    tiny_project(root, "http://127.0.0.1:9", ["none"])
    invented(root / "data/raw/one")
    params = root / "params.yaml"
    content = yaml.safe_load(params.read_text(encoding="utf-8"))
    change(params, systems={"lead": {"kind": "lead", "passages": 2}})
    change(params, decompositions={"clauses": {"kind": "clauses"}})
    change(params, meta_evaluation=content["meta_evaluation"] | {"resamples": 200})
    change(
        root / SETTINGS,
        criteria={
            "grade": {"low": 1, "high": 5, "better": "higher", "scale": "ordinal"}
        },
        systems=["lead"],
        segmentation="whole",
        decompositions=["clauses"],
        questions=["uncited"],
        judges=["lexical"],
        metrics=["rouge", "lengths"],
    )
    refresh_code(root)


def change(file: Path, **changes: Any) -> None:
    content = yaml.safe_load(file.read_text(encoding="utf-8"))
    file.write_text(yaml.safe_dump(content | changes), encoding="utf-8")


def tables(root: Path) -> dict[Path, bytes]:
    files = sorted((root / "data/tables").rglob("*.parquet"))
    return {file.relative_to(root): file.read_bytes() for file in files}


def study(folder: Path) -> None:
    root = folder / "study"
    project(root)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(DASK, "local")
        seconds = {stage: [timed(patch, root, stage)] for stage in STAGES}
        here = tables(root)
        for workers in STUDIED_ON:
            with Machines(root) as machines:
                machines.scheduler()
                for _ in range(workers):
                    machines.worker()
                machines.wait(workers)
                patch.setenv(DASK, machines.address)
                executor = {
                    "kind": "dask",
                    "address": machines.address,
                    "limit_s": LIMIT,
                }
                change(root / "params.yaml", executor=executor)
                for stage in STAGES:
                    with Fault(FAULTS.get(stage), machines, root, workers):
                        seconds[stage].append(timed(patch, root, stage))
            there = tables(root)
            assert there.keys() == here.keys()
            assert [name for name in here if here[name] != there[name]] == []
            assert not list((root / WORK / "shards").iterdir())
    on = ", ".join(f"on {workers} workers" for workers in STUDIED_ON)
    print(
        f"{DOCUMENTS:,} documents x {SYSTEMS} systems: {len(here)} tables, all the same; here, {on}"
    )
    for stage, each in seconds.items():
        shown = ", ".join(f"{one:6.1f} s" for one in each)
        fault = FAULTS.get(stage)
        print(f"{' '.join(stage):20} {shown}  {fault.__doc__ if fault else ''}")


def timed(patch: pytest.MonkeyPatch, root: Path, stage: tuple[str, str]) -> float:
    start = time.perf_counter()
    if run_stage(patch, root, *stage) != 0:
        sys.exit(f"{' '.join(stage)} failed")
    return time.perf_counter() - start


def die(machines: Machines, _: int) -> None:
    """One worker is killed, and another one comes."""
    machines.kill(machines.processes[-1])
    machines.worker()


def restart(machines: Machines, workers: int) -> None:
    """The scheduler is killed, and its workers with it."""
    for one in list(machines.processes):
        machines.kill(one)
    machines.scheduler()
    for _ in range(workers):
        machines.worker()


def hang(machines: Machines, _: int) -> None:
    """One worker is stopped, and never goes on."""
    os.kill(machines.processes[-1].pid, signal.SIGSTOP)


FAULTS: dict[tuple[str, str], Callable[[Machines, int], None]] = {
    ("align", "rouge_topk"): restart,
    ("measure", ""): die,
    ("judge", "lexical"): hang,
    ("meta_evaluate", ""): die,  # that one
}


class Fault:
    """Does something to machines as soon as the first shard of a stage is answered."""

    def __init__(
        self,
        fault: Callable[[Machines, int], None] | None,
        machines: Machines,
        root: Path,
        n: int,
    ) -> None:
        self._fault, self._machines, self._root, self._workers = (
            fault,
            machines,
            root,
            n,
        )
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        if self._fault is None:
            return
        shards = self._root / WORK / "shards"
        while not self._over.wait(0.02) and not list(shards.rglob("*.answer")):
            pass
        self._fault(self._machines, self._workers)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        if "study" not in sys.argv:
            overhead(Path(folder))
            many(Path(folder), PAIRS)
        study(Path(folder))


if __name__ == "__main__":
    if "--quick" in sys.argv:
        globals().update(QUICK)
    main()

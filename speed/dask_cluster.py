"""Shards on a Dask cluster: what a shard costs beside its work, and what 100,000 pairs cost.

`python speed/dask_cluster.py` starts a scheduler and 1, 2 and 4 workers as processes. The
first part is work that sleeps (.1 s for each of 64 pieces), so that it shows the overhead on any
number of cores: seconds, and the share of them that is no sleep. The second part has the lexical
judge read 100,000 pairs on two workers, asserts that its labels are those of a run here,
and prints the processor time and the most memory of the scheduler and of this process.
"""

import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import psutil

from metassay.core.kinds import choose
from metassay.executor.dask_cluster import Cluster
from metassay.executor.record import LOCAL, Executor
from metassay.judges import JUDGES
from metassay.judges.make import make_judge
from metassay.judges.protocol import Judgment, Pair
from metassay.llm.needs import Resources
from tests.executor.dask_machines import Machines

PIECES, NAP = 64, 0.1
WORKERS, PAIRS = (1, 2, 4), 100_000
BLOCK = {"kind": "lexical", "threshold": 0.7, "window": 30}
MOST_SECONDS = 60.0  # of the scheduler's processor for 100,000 pairs
QUICK = {"PIECES": 4, "NAP": 0.01, "WORKERS": (1,), "PAIRS": 200}  # the smallest size


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
            print(f"{workers} workers: {seconds:5.2f} s, {1 - least / seconds:5.1%} overhead")


def pairs(count: int) -> list[Pair]:
    return [
        Pair(f"{n:08x}", "entailment", f"The knee hurts for {n} weeks.", f"It hurts {n} weeks.")
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


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        overhead(Path(folder))
        many(Path(folder), PAIRS)


if __name__ == "__main__":
    if "--quick" in sys.argv:
        globals().update(QUICK)
    main()

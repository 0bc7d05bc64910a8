"""The same stages in the same order without Prefect: no retries, no server to wait for."""

from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from graphlib import TopologicalSorter
from pathlib import Path

from flows import dag
from flows.watch import Watch


def run(root: Path, benchmarks: list[str], *, jobs: int) -> list[str]:
    """Bring the reports up to date, `jobs` stages at a time; returns what did not succeed."""
    stages = dag.graph(root, benchmarks)
    pending = dag.stale(root, stages)
    order = TopologicalSorter({name: pending.intersection(stages[name].needs) for name in pending})
    order.prepare()
    running: dict[Future[None], str] = {}
    failed: list[str] = []

    with Watch(total=len(pending), fresh=len(stages) - len(pending)) as watch:

        def attempt(name: str) -> None:
            with watch.stage(name):
                dag.run_stage(root, name)

        with ThreadPoolExecutor(max_workers=jobs) as pool:
            while order.is_active():
                for name in sorted(order.get_ready()):
                    running[pool.submit(attempt, name)] = name
                if not running:
                    break  # everything left waits for something that failed
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    name = running.pop(future)
                    if future.exception() is None:
                        order.done(name)
                    else:
                        failed.append(name)
        left = _downstream(failed, pending, stages)
        watch.skipped(left)
    return failed + left


def _downstream(failed: list[str], pending: set[str], stages: dict[str, dag.Stage]) -> list[str]:
    reached = set(failed)
    for name, stage in stages.items():
        if name in pending and reached.intersection(stage.needs):
            reached.add(name)
    return [name for name in stages if name in reached and name not in failed]

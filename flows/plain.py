"""Run the same stages in the same order without Prefect: no retries, no server to wait for."""

from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from graphlib import TopologicalSorter
from pathlib import Path

from flows.watch import Watch
from flows.workers import Interrupted, StageFailed, Workers


def run(root: Path, workers: Workers, watch: Watch, *, jobs: int) -> list[str]:  # noqa: ARG001
    """Bring the stale stages up to date, `jobs` at a time; return those that did not succeed."""
    plan = watch.plan
    order = TopologicalSorter(
        {address: plan.needs_of(address) for address in plan.stale}
    )
    order.prepare()
    running: dict[Future[None], str] = {}
    failed: list[str] = []

    def attempt(address: str) -> None:
        stage = plan.stages[address]
        with watch.stage(stage) as ended:
            ended(workers.run(stage))

    with ThreadPoolExecutor(max_workers=jobs) as pool:
        while order.is_active():
            for address in sorted(order.get_ready()):
                running[pool.submit(attempt, address)] = address
            if not running:
                break  # everything left needs a stage that failed
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            if workers.stopped.is_set():
                raise Interrupted
            for future in done:
                address = running.pop(future)
                error = future.exception()
                if error is None:
                    order.done(address)
                elif isinstance(error, StageFailed):
                    failed.append(address)
                else:  # an error of the program, not of a stage
                    raise error
    skipped = plan.dependents_of(failed)
    watch.report_skipped(skipped)
    return failed + skipped

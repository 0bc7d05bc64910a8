"""One Prefect task per stale stage of the chosen benchmarks, retried as the stage's `meta` says.

Prefect's own task cache stays off: DVC alone decides what is stale. Between tasks go names, never
tables. A failed branch does not stop the others; the flow ends failed and names what failed.
"""

import os
from pathlib import Path
from typing import Any

# Prefect reads these when it is imported: its logs keep warnings, the terminal shows our own lines.
os.environ.setdefault("PREFECT_LOGGING_LEVEL", "WARNING")
os.environ.setdefault("PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL", "CRITICAL")

from prefect import Task, flow, get_run_logger, task
from prefect.artifacts import create_table_artifact
from prefect.cache_policies import NO_CACHE
from prefect.futures import PrefectFuture, wait
from prefect.states import Completed, Failed, State
from prefect.task_runners import ThreadPoolTaskRunner
from prefect.tasks import exponential_backoff

from flows.dag import Stage
from flows.watch import Watch
from flows.workers import StageFailed, Workers


def run(root: Path, workers: Workers, watch: Watch, *, jobs: int) -> list[str]:
    """Bring the stale stages up to date, `jobs` at a time; returns those that did not succeed."""
    configured = benchmark.with_options(task_runner=ThreadPoolTaskRunner(max_workers=jobs))  # type: ignore[arg-type]
    state: State[Any] = configured(root, workers, watch, return_state=True)
    if state.is_completed():
        return []
    failed = state.result(raise_on_failure=False)
    if isinstance(failed, BaseException):
        raise failed
    return list(failed)


@flow(name="benchmark", validate_parameters=False, persist_result=False)
def benchmark(root: Path, workers: Workers, watch: Watch) -> State[Any]:
    """Run the stale stages of the watch's plan, each after what it needs."""
    plan = watch.plan
    runs: dict[str, PrefectFuture[Any]] = {}
    for address, stage in plan.stages.items():
        if address in plan.stale:
            before = [runs[needed] for needed in plan.before(address)]
            runs[address] = _task(stage, workers, watch).submit(stage.name, wait_for=before)
    wait(list(runs.values()))
    failed = [address for address, future in runs.items() if not future.state.is_completed()]
    watch.skipped([address for address in failed if address not in watch.failures])
    for address in runs.keys() - set(failed):
        if address.endswith(":report"):
            _publish(root, plan.stages[address].benchmark)
    if failed:
        names = ", ".join(plan.stages[address].name for address in failed)
        return Failed(message=f"did not succeed: {names}", data=failed)
    return Completed(message=f"{len(runs)} stages run, {len(plan.stages) - len(runs)} fresh")


def _task(stage: Stage, workers: Workers, watch: Watch) -> Task[[str], None]:
    @task(
        name=stage.address.rpartition(":")[2].partition("@")[0],
        task_run_name="{name}",
        tags=set(stage.tags),
        retries=stage.retries,
        retry_delay_seconds=exponential_backoff(backoff_factor=stage.delay),
        retry_jitter_factor=0.5,
        retry_condition_fn=_worth_retrying,
        cache_policy=NO_CACHE,
    )
    def run_one(name: str) -> None:  # noqa: ARG001 - the task run is named by it
        with watch.stage(stage) as ended:
            outcome = workers.run(stage)
            for note in outcome.notes:
                get_run_logger().warning(note)
            ended(outcome)

    return run_one


def _worth_retrying(task: Any, task_run: Any, state: State[Any]) -> bool:  # noqa: ARG001
    error = state.result(raise_on_failure=False)
    return not isinstance(error, StageFailed) or error.retryable


def _publish(root: Path, name: str) -> None:
    """The leaderboard and the certificates as Prefect artifacts: numbers and names, no texts."""
    from metassay.reporting.headline import artifacts  # pandas, for which nobody should wait

    for kind, rows in artifacts(root / "data/tables" / name).items():
        create_table_artifact(
            key=f"{name}-{kind}".replace("_", "-"), table=rows, description=f"{kind} of {name}"
        )

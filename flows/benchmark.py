"""One Prefect task per stage instance of the chosen benchmarks, retried as the stage's `meta` says.

Prefect's own task cache stays off: DVC alone decides what is stale. Between tasks go names, never
tables. A failed branch does not stop the others; the flow ends failed and names what failed.
"""

from pathlib import Path
from typing import Any

from prefect import Task, flow, task
from prefect.artifacts import create_table_artifact
from prefect.cache_policies import NO_CACHE
from prefect.futures import PrefectFuture, wait
from prefect.states import Completed, Failed, State
from prefect.task_runners import ThreadPoolTaskRunner
from prefect.tasks import exponential_backoff

from flows import dag
from flows.watch import Watch
from metassay.reporting.headline import artifacts


def run(root: Path, benchmarks: list[str], *, jobs: int) -> list[str]:
    """Run the flow with `jobs` stages at a time; returns the stages that did not succeed."""
    configured = benchmark.with_options(task_runner=ThreadPoolTaskRunner(max_workers=jobs))  # type: ignore[arg-type]
    state: State[Any] = configured(str(root), benchmarks, return_state=True)
    if state.is_completed():
        return []
    failed = state.result(raise_on_failure=False)
    if isinstance(failed, BaseException):
        raise failed
    return list(failed)


@flow(name="benchmark", validate_parameters=False, persist_result=False)
def benchmark(root: str, benchmarks: list[str]) -> State[Any]:
    """Bring the reports of these benchmarks up to date."""
    project = Path(root)
    stages = dag.graph(project, benchmarks)
    pending = dag.stale(project, stages)
    with Watch(total=len(pending), fresh=len(stages) - len(pending)) as watch:
        runs: dict[str, PrefectFuture[Any]] = {}
        for name, stage in stages.items():
            if name in pending:
                before = [runs[needed] for needed in stage.needs if needed in runs]
                runs[name] = _task(stage, project, watch).submit(name, wait_for=before)
        wait(list(runs.values()))
        failed = [name for name, future in runs.items() if not future.state.is_completed()]
        watch.skipped([name for name in failed if name not in watch.failures])
    for name in benchmarks:
        if f"report@{name}" not in failed:
            _publish(project, name)
    if failed:
        return Failed(message=f"did not succeed: {', '.join(failed)}", data=failed)
    return Completed(message=f"{len(runs)} stages run, {len(stages) - len(runs)} fresh")


def _task(stage: dag.Stage, root: Path, watch: Watch) -> Task[[str], None]:
    @task(
        name=stage.name.split("@", maxsplit=1)[0],
        task_run_name="{name}",
        tags=set(stage.tags),
        retries=stage.retries,
        retry_delay_seconds=exponential_backoff(backoff_factor=stage.delay),
        retry_jitter_factor=0.5,
        retry_condition_fn=_worth_retrying,
        cache_policy=NO_CACHE,
    )
    def run_one(name: str) -> None:
        with watch.stage(name):
            dag.run_stage(root, name)

    return run_one


def _worth_retrying(task: Any, task_run: Any, state: State[Any]) -> bool:  # noqa: ARG001
    error = state.result(raise_on_failure=False)
    return not isinstance(error, dag.StageFailed) or error.retryable


def _publish(root: Path, name: str) -> None:
    """The leaderboard and the certificates as Prefect artifacts: numbers and names, no texts."""
    for kind, rows in artifacts(root / "data/tables" / name).items():
        create_table_artifact(
            key=f"{name}-{kind}".replace("_", "-"), table=rows, description=f"{kind} of {name}"
        )

"""A Prefect task per stale stage of the chosen benchmarks, retried as the stage's `meta` says.

Prefect's task cache is off: DVC alone decides what is stale. Tasks pass names, never
tables. A failed branch does not stop the others; the flow ends failed and names what
failed. A flow and its tasks have no arguments but names of stages: Prefect's server
gets them.
"""

import contextlib
import os
import uuid
from pathlib import Path
from typing import Any

# Prefect reads these when it is imported: its logs get warnings, the terminal shows our
# lines.
os.environ.setdefault("PREFECT_LOGGING_LEVEL", "WARNING")
os.environ.setdefault("PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL", "CRITICAL")

from prefect import Task, flow, get_run_logger, task
from prefect.artifacts import create_link_artifact, create_table_artifact
from prefect.cache_policies import NO_CACHE
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterId
from prefect.events.worker import EventsWorker
from prefect.futures import PrefectFuture, wait
from prefect.logging.handlers import APILogWorker
from prefect.runtime import flow_run
from prefect.settings import PREFECT_CLIENT_MAX_RETRIES, temporary_settings
from prefect.states import Completed, Crashed, Failed, State
from prefect.task_runners import ThreadPoolTaskRunner
from prefect.tasks import exponential_backoff

from flows.dag import Plan, Stage
from flows.watch import Watch
from flows.workers import Interrupted, StageFailed, Workers
from metassay.core.naming import prefect_key


def connection_problem() -> str:
    """Return why Prefect's server cannot be used, asked once; empty if it can."""
    try:
        with (
            temporary_settings({PREFECT_CLIENT_MAX_RETRIES: 0}),
            get_client(sync_client=True) as client,
        ):
            client.read_flows(limit=1)
    except Exception as error:  # noqa: BLE001 - no server, no right to use it, no Prefect there
        status = getattr(getattr(error, "response", None), "status_code", "")
        return f"{type(error).__name__} {status}".strip()
    return ""


def flush_reports() -> None:
    """Wait until everything is reported to the server."""
    for waiting in (EventsWorker, APILogWorker):
        waiting.drain_all(timeout=10)


def mark_lost(note: Path) -> None:
    """Mark the flow run that a note names as crashed, with its task runs; remove the note.

    It has lost the server, or was killed, so that the server holds it for running.
    """
    if not note.exists():
        return
    crashed = Crashed(message="The run lost this server, or was killed.")
    with contextlib.suppress(Exception), get_client(sync_client=True) as client:
        number = uuid.UUID(note.read_text(encoding="ascii"))
        only = FlowRunFilter(id=FlowRunFilterId(any_=[number]))
        for task_run in client.read_task_runs(flow_run_filter=only):
            if task_run.state is None or not task_run.state.is_final():
                client.set_task_run_state(task_run.id, crashed, force=True)
        client.set_flow_run_state(number, crashed, force=True)
    note.unlink(missing_ok=True)


def run(
    root: Path,
    workers: Workers,
    watch: Watch,
    *,
    jobs: int,
    notes: bool,
    note: Path | None = None,
) -> list[str]:
    """Bring the stale stages up to date, `jobs` at a time; return those that did not succeed.

    `notes`: whether Prefect may have what stages print; else only the number of notes.
    `note`: the file that gets the flow run's id.
    """

    names = dict.fromkeys(stage.benchmark for stage in watch.plan.stages.values())

    @flow(
        name="benchmark",
        flow_run_name=", ".join(filter(None, names)),
        task_runner=ThreadPoolTaskRunner(max_workers=jobs),  # type: ignore[arg-type]
        persist_result=False,
    )
    def benchmark() -> State[Any]:
        if note is not None:
            note.write_text(str(flow_run.id), encoding="ascii")
        return _run_stale(root, workers, watch, notes=notes)

    state: State[Any] = benchmark(return_state=True)
    if state.is_completed():
        return []
    failed = state.result(raise_on_failure=False)
    if isinstance(failed, BaseException):
        raise failed
    return list(failed)


def _run_stale(
    root: Path, workers: Workers, watch: Watch, *, notes: bool
) -> State[Any]:
    """Run the stale stages of the watch's plan, each after its needs."""
    plan = watch.plan
    runs: dict[str, PrefectFuture[Any]] = {}
    for address, stage in plan.stages.items():
        if address in plan.stale:
            before = [runs[need] for need in plan.needs_of(address)]
            runs[address] = _task(stage, workers, watch, notes).submit(
                stage.name, wait_for=before
            )
    wait(list(runs.values()))
    if workers.stopped.is_set():
        raise Interrupted
    failed = [
        address for address, future in runs.items() if not future.state.is_completed()
    ]
    watch.report_skipped(
        [address for address in failed if address not in watch.failures]
    )
    missing: list[str] = []
    for address in sorted(runs.keys() - set(failed)):
        if address.endswith(":report"):
            missing += _publish(root, plan, plan.stages[address].benchmark, page=notes)
    if failed:
        names = ", ".join(plan.stages[address].name for address in failed)
        why = [
            f"{failure.name}: {failure.output}" for failure in watch.failures.values()
        ]
        lines = [f"did not succeed: {names}"]
        if notes:
            lines += why
        return Failed(message="\n".join(lines), data=failed)
    done = f"{len(runs)} stages run, {len(plan.stages) - len(runs)} fresh"
    return Completed(message="\n".join([done, *missing]))


def _task(
    stage: Stage, workers: Workers, watch: Watch, notes: bool
) -> Task[[str], State[None]]:
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
    def run_one(name: str) -> State[None]:  # noqa: ARG001 - the task run is named by it
        try:
            with watch.stage(stage) as ended:
                outcome = workers.run(stage)
                ended(outcome)
        except StageFailed as failure:
            if notes:
                get_run_logger().error(failure.output)
            raise
        if notes:
            for note in outcome.notes:
                get_run_logger().warning(note)
        return Completed(message=f"{len(outcome.notes)} note(s)")

    return run_one


def _worth_retrying(task: Any, task_run: Any, state: State[Any]) -> bool:  # noqa: ARG001
    error = state.result(raise_on_failure=False)
    return not isinstance(error, StageFailed) or error.retryable


def _publish(root: Path, plan: Plan, name: str, *, page: bool) -> list[str]:
    """Publish numbers and names as artifacts, with `page` a link, too; return missing answers."""
    # Imported late since pandas is slow to import.
    from metassay.core.params import load
    from metassay.llm.endpoints import parse_models
    from metassay.reporting.headline import answers_of, artifacts
    from metassay.reporting.responses import missing_lines

    folder = root / "data/tables" / name
    stages = [stage for stage in plan.stages.values() if stage.benchmark == name]
    params = load(root)
    models = parse_models(params.endpoints, params.models).models
    answers = answers_of(
        folder, [file for stage in stages for file in stage.responses], models
    )
    tests = {"examine": ["judge_cards"], "examine_segmentations": ["segment_scores"]}
    tables = [tests[stage.dvc_name] for stage in stages if stage.dvc_name in tests][:1]
    for kind, rows in artifacts(folder, answers, *tables).items():
        key = prefect_key(f"{name}-{kind}")
        create_table_artifact(key=key, table=rows, description=f"{kind} of {name}")
    if page:
        file = root.resolve() / "reports" / name / "index.html"
        create_link_artifact(
            link=file.as_uri(), link_text=str(file), key=prefect_key(f"{name}-page")
        )
    return [f"{name}: {line}" for line in missing_lines(answers)]

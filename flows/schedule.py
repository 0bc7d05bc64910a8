"""`python -m flows.schedule NAME... (--cron "0 6 * * 1" | --interval SECONDS)`: for
`metassay watch schedule`. Serves the flow of flows/scheduled.py in the foreground until
it is interrupted.
"""

import argparse
import fcntl
import os
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from hashlib import sha256
from itertools import islice
from pathlib import Path
from socket import gethostname
from typing import Any
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from flows import history
from flows.surroundings import CREDENTIALS, exit_code, set_up
from metassay.core import parent_watch
from metassay.core.errors import BadInput

SHOWN = 3  # times that are printed
# CronSim and Prefect understand seconds, L, W and # differently.
_CRON = r"(?:\d|[*,/-]|[A-Za-z]{3})+(?:\s+(?:\d|[*,/-]|[A-Za-z]{3})+){4}"
_SETTINGS = {
    # seconds; Prefect's default, 10, is for many schedules
    "PREFECT_RUNNER_POLL_FREQUENCY": "2",
    "PREFECT_LOGGING_LEVEL": "WARNING",
    # A failed run prints its own messages.
    "PREFECT_LOGGING_LOGGERS_PREFECT_FLOW_RUNS_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_TO_API_ENABLED": "false",
}


def main() -> int:
    """Serve until interrupted; return 2 if it cannot be served."""
    parser = argparse.ArgumentParser(
        prog="python -m flows.schedule", description=__doc__
    )
    parser.add_argument("names", nargs="+")
    parser.add_argument("--jobs", type=int, default=2)
    when = parser.add_mutually_exclusive_group(required=True)
    when.add_argument("--cron")
    when.add_argument("--interval", type=int)
    parser.add_argument("--timezone", default="UTC")
    parser.add_argument("--prefect-api", metavar="URL")
    chosen = parser.parse_args()
    return exit_code(lambda: _schedule(Path.cwd(), chosen))


def _schedule(root: Path, chosen: argparse.Namespace) -> None:
    times = next_times(chosen)
    set_up(root, keep=CREDENTIALS if chosen.prefect_api else ())
    os.environ |= _SETTINGS | {
        "PREFECT_HOME": str(history.schedule_database(root).parent)
    }
    with _lock_schedule(root) as locks, _server(root, locks, chosen.prefect_api):
        print(f"{', '.join(chosen.names)} at {', '.join(times)}, ...", file=sys.stderr)
        print("Ctrl-C ends the schedule", file=sys.stderr, flush=True)
        _serve(chosen)


def next_times(chosen: argparse.Namespace) -> list[str]:
    """Return the next times that the schedule fires; raises BadInput if it is not valid."""
    try:
        now = datetime.now(ZoneInfo(chosen.timezone))
    except (KeyError, ValueError, OSError):  # which of them depends on the name
        raise BadInput(
            f"--timezone {chosen.timezone}: unknown; name one such as Europe/Berlin"
        ) from None
    if chosen.interval:
        times = [now + n * timedelta(seconds=chosen.interval) for n in range(SHOWN)]
    else:
        try:
            if not re.fullmatch(_CRON, chosen.cron.strip()):
                raise CronSimError("not in the form that all crons read alike")
            times = list(islice(CronSim(chosen.cron, now), SHOWN))
        except CronSimError as error:
            raise BadInput(
                f'--cron "{chosen.cron}": {error}; five fields (minute, hour, day, month, weekday),'
                ' such as "0 6 * * 1": Mondays at 6'
            ) from None
    return [f"{time:%a %Y-%m-%d %H:%M:%S %Z}" for time in times]


@contextmanager
def _lock_schedule(root: Path) -> Iterator[list[int]]:
    """Be the only schedule of this project; yield the file descriptor of its lock."""
    work = history.schedule_database(root).parent
    work.mkdir(parents=True, exist_ok=True)
    with (work / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BadInput(
                "a schedule of this project is served already; end it first (one schedule may name"
                " several benchmarks)"
            ) from None
        yield [lock.fileno()]


@contextmanager
def _server(root: Path, locks: list[int], url: str | None) -> Iterator[None]:
    """Use the server at `url`, or start one that ends with this process."""
    from flows.prefect_server import Server, connect, hide_settings_files

    if url:
        connect(url)
        yield
        return
    print(
        "Prefect's server starts; that takes some seconds", file=sys.stderr, flush=True
    )
    history.remove(history.schedule_database(root))  # the plans of an earlier schedule
    server = Server(root, locks, _lost, schedules=True)
    os.environ["PREFECT_API_URL"] = server.url
    with hide_settings_files():
        import flows.scheduled  # noqa: F401 - imports Prefect, too, while the server starts
    server.wait_until_it_serves()
    try:
        yield
    finally:
        server.close()


def _lost() -> None:
    print(
        "Prefect's server has ended, and the schedule with it; start it again",
        file=sys.stderr,
    )
    os._exit(1)


def _serve(chosen: argparse.Namespace) -> None:
    from prefect import serve
    from prefect.deployments.runner import EntrypointType
    from prefect.schedules import Cron, Interval, Schedule

    from flows.scheduled import scheduled

    when: Schedule = (
        Interval(timedelta(seconds=chosen.interval))
        if chosen.interval
        else Cron(chosen.cron, timezone=chosen.timezone)
    )
    name = schedule_name(Path.cwd())
    deployment: Any = scheduled.to_deployment(
        name=name,
        description=f"metassay watch check {' '.join(chosen.names)}",
        schedule=when,
        parameters={"names": chosen.names, "jobs": chosen.jobs},
        tags=["metassay"],
        entrypoint_type=EntrypointType.MODULE_PATH,
    )
    # Prefect warns at SIGTERM, but nothing is lost: schedules are paused all the same.
    warnings.filterwarnings("ignore", "coroutine 'Runner.astop' was never awaited")
    # each run's stdin is a pipe, which ends with us
    os.environ |= parent_watch.ENVIRONMENT
    # One at a time: a run that falls due meanwhile waits, and uses what the first one
    # made.
    try:
        serve(deployment, limit=1, print_starting_message=False)
    finally:
        _crash_running(name)


def schedule_name(root: Path) -> str:
    """Return the name of a project's only schedule, unique on a server that others use, too."""
    place = f"{gethostname()}:{root.resolve()}"
    # Prefect refuses some characters
    readable = re.sub(r"[^\w-]+", "-", root.resolve().name)
    return f"{readable}-{sha256(place.encode()).hexdigest()[:8]}"


def _crash_running(name: str) -> None:
    """Mark the schedule's ended run as crashed: a server that stays would show it as running."""
    from prefect import get_client
    from prefect.client.schemas import filters
    from prefect.states import Crashed

    from flows.scheduled import ENDED

    deployment = filters.DeploymentFilter(
        name=filters.DeploymentFilterName(any_=[name]),
        tags=filters.DeploymentFilterTags(all_=["metassay"]),
    )
    states = filters.FlowRunFilterStateName(any_=["Running", "Pending"])
    runs = filters.FlowRunFilter(state=filters.FlowRunFilterState(name=states))
    # may be gone as well
    with suppress(Exception), get_client(sync_client=True) as client:
        for run in client.read_flow_runs(
            deployment_filter=deployment, flow_run_filter=runs
        ):
            state: Any = Crashed(message=ENDED)
            client.set_flow_run_state(run.id, state, force=True)


if __name__ == "__main__":
    sys.exit(main())

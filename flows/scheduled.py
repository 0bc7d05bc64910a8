"""The flow that a schedule starts: of `metassay watch schedule`, or a work pool's worker.

It is `metassay watch check` for the named benchmarks, reporting to the Prefect that
started it without `notes`: Prefect gets keys and numbers. The command's exit code
becomes the state of the flow run, so that a run with regressions or missing answers is
not shown as a success.
"""

import argparse
import os
import threading
from contextlib import suppress
from typing import Any

from prefect import flow, get_client
from prefect.runtime import flow_run
from prefect.settings import PREFECT_API_AUTH_STRING, PREFECT_API_KEY, PREFECT_API_URL
from prefect.states import Completed, Crashed, Failed, State

from metassay.cli.weekly import reevaluate
from metassay.core import parent_watch
from metassay.core.exit_codes import MEANINGS

ENDED = "`metassay watch schedule` ended, and this run with it"
END_WITHIN = 5  # seconds, for telling a server that may be gone


def _run_name() -> str:
    return ", ".join(flow_run.get_parameters()["names"])


@flow(name="reevaluate", flow_run_name=_run_name, persist_result=False)
def scheduled(names: list[str], jobs: int = 2) -> State[Any]:
    """Bring these benchmarks up to date and compare them with their accepted numbers."""
    run_id = flow_run.get_id()
    parent_watch.watch(lambda: _end(run_id))
    for setting in (PREFECT_API_KEY, PREFECT_API_AUTH_STRING):
        value = setting.value()
        if value:  # of a profile: the command reads only the environment
            os.environ[setting.name] = getattr(
                value, "get_secret_value", lambda v=value: v
            )()
    server = PREFECT_API_URL.value()
    code = reevaluate(
        argparse.Namespace(
            names=names,
            jobs=jobs,
            no_prefect=not server,
            prefect_api=server,
            mirror=None,
        )
    )
    message = f"{', '.join(names)}: {MEANINGS.get(code, f'exit {code}')}"
    return Failed(message=message) if code else Completed(message=message)


def _end(run_id: str | None) -> None:
    """End with the schedule; mark the run as crashed on a server that stays."""
    threading.Timer(END_WITHIN, os._exit, [1]).start()
    with suppress(Exception):
        state: State[Any] = Crashed(message=ENDED)
        with get_client(sync_client=True) as client:
            client.set_flow_run_state(run_id, state, force=True)
    os._exit(1)

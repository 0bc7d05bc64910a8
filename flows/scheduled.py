"""The flow that a schedule starts, whosever it is: `metassay schedule` or a work pool's worker.

It is `metassay reevaluate` for the named benchmarks, reporting to the Prefect that started it, with
`notes` left out: Prefect is told keys and numbers. The exit status of that command becomes the
state of the flow run, so that what regressed, or lacks answers, is not shown as a success.
"""

import argparse
import os
from typing import Any

from prefect import flow
from prefect.settings import PREFECT_API_AUTH_STRING, PREFECT_API_KEY, PREFECT_API_URL
from prefect.states import Completed, Failed, State

from metassay import lifeline
from metassay.cli.reevaluating import SAID, reevaluate


@flow(name="reevaluate", persist_result=False)
def scheduled(names: list[str], jobs: int = 2) -> State[Any]:
    """Bring these benchmarks up to date and compare them with their accepted numbers."""
    lifeline.watch(lambda: os._exit(1))  # `metassay schedule` was killed, and its server with it
    for setting in (PREFECT_API_KEY, PREFECT_API_AUTH_STRING):
        value = setting.value()
        if value:  # of a profile: the command reads only the environment
            os.environ[setting.name] = getattr(value, "get_secret_value", lambda v=value: v)()
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
    said = f"{', '.join(names)}: {SAID.get(code, f'exit {code}')}"
    return Failed(message=said) if code else Completed(message=said)

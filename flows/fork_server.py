"""Run stages in processes with pandas and pyarrow loaded: importing these takes most of a stage.

`python -m flows.fork_server FD` is a worker (flows/worker.py) with such a server. The
server is forked before DVC is loaded, loads what most stages import, and forks once for
each stage. It has no thread and no code of the project, so that a stage starts as in a
new process, with the code as it is then. Other commands are run by DVC in a shell.
"""

import atexit
import contextlib
import gc
import importlib
import json
import os
import re
import runpy
import shlex
import sys
import threading
import traceback
from pathlib import Path
from typing import IO, Any

LOADED = ("numpy", "pandas", "pyarrow.compute", "pyarrow.parquet", "pydantic", "yaml")
_STAGE = re.compile(r"stages\.\w+")


class ForkServer:
    """The server of a worker; it ends with the worker."""

    def __init__(self) -> None:
        orders, self._send = os.pipe()
        self._receive, replies = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            os.close(self._send)
            os.close(self._receive)
            with os.fdopen(orders) as read, os.fdopen(replies, "w") as write:
                _serve(read, write)
        os.close(orders)
        os.close(replies)
        self._orders, self._replies = (
            os.fdopen(self._send, "w"),
            os.fdopen(self._receive),
        )

    def run(self, command: str, folder: str, environment: dict[str, str]) -> int | None:
        """Run a stage and return its exit code, negative for a signal; None for other commands."""
        words = shlex.split(command)
        if words[:2] != ["python", "-m"] or not _STAGE.fullmatch(words[2]):
            return None
        module, arguments = words[2], words[3:]
        order = json.dumps([module, arguments, folder, environment])
        with contextlib.suppress(BrokenPipeError):
            print(order, file=self._orders, flush=True)
            return int(self._replies.readline() or 255)
        return None

    def close(self) -> None:
        """Let the server end; the processor time of its stages then counts as the worker's."""
        with contextlib.suppress(OSError):
            self._orders.close()
            os.waitpid(self._pid, 0)


def _serve(orders: IO[str], replies: IO[str]) -> None:
    """Run stages until `orders` is closed; never returns."""
    _name_process("fork server")
    for name in LOADED:
        with contextlib.suppress(ImportError):  # the stage says what is missing
            importlib.import_module(name)
    gc.freeze()  # no stage's collector looks through what was loaded before
    # nor often through new objects: a tenth of a report's time
    gc.set_threshold(50_000, 20, 100)
    for line in orders:
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if child == 0:
            os.close(orders.fileno())
            os.close(replies.fileno())
            _run(*json.loads(line))
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), file=replies, flush=True)
    os._exit(0)


def _name_process(name: str) -> None:
    """Set the name that lists of processes show, instead of the worker's; on Linux only."""
    with contextlib.suppress(OSError):
        Path("/proc/self/comm").write_text(name)


def _run(
    module: str, arguments: list[str], folder: str, environment: dict[str, str]
) -> None:
    """Run the module as `python -m` does and end as an interpreter ends; never returns."""
    _name_process(module)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [module, *arguments]
    code: Any = 0
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as ending:
        code = ending.code
        if code is not None and not isinstance(code, int):
            print(code, file=sys.stderr)
            code = 1
    except BaseException:  # noqa: BLE001 - as an interpreter does
        traceback.print_exc()
        code = 1
    with contextlib.suppress(BaseException):
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code or 0)


if __name__ == "__main__":
    server = ForkServer()
    from flows import worker  # which loads DVC

    worker.main(server.run)
    server.close()

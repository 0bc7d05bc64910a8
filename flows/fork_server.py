"""Stages in processes that have pandas and pyarrow loaded: importing these takes most of a stage.

`python -m flows.fork_server FD` is a worker (flows/worker.py) with such a server. The server is
forked off before DVC is loaded, loads what most stages import, and forks once for each stage. It
has no thread and no code of the project, so that a stage begins as in a new process, with the code
that is there then. What is no stage DVC runs in a shell, as ever.
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
    """The server of one worker; it ends when the worker does."""

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
        self._orders, self._replies = os.fdopen(self._send, "w"), os.fdopen(self._receive)

    def run(self, command: str, folder: str, environment: dict[str, str]) -> int | None:
        """The exit code of a stage; None where the command is no stage, and then nothing ran.

        A signal that ended it is a negative code.
        """
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
        """Let the server end; the processor time of its stages counts as the worker's then."""
        with contextlib.suppress(OSError):
            self._orders.close()
            os.waitpid(self._pid, 0)


def _serve(orders: IO[str], replies: IO[str]) -> None:
    """Run stages until there is nobody to ask for another; never returns."""
    _call("fork server")
    for name in LOADED:
        with contextlib.suppress(ImportError):  # the stage says what is missing
            importlib.import_module(name)
    gc.freeze()  # no stage looks through what was loaded before it
    gc.set_threshold(50_000, 20, 100)  # nor often through what it makes: a tenth of a report's time
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


def _call(name: str) -> None:
    """What lists of processes show, which else is the worker's command; on Linux alone."""
    with contextlib.suppress(OSError):
        Path("/proc/self/comm").write_text(name)


def _run(module: str, arguments: list[str], folder: str, environment: dict[str, str]) -> None:
    """Run the module as `python -m` does, end as an interpreter ends, and never return."""
    _call(module)
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

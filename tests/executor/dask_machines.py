"""A Dask scheduler and workers as processes, which tests stop, kill and start again."""

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import distributed

from metassay.core.params import ExecutorOptions

ROOT = Path(__file__).parent.parent.parent


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


class Machines:
    """Workers stand in `folder`, with one thread each, and without a nanny unless one is wanted."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.processes: list[subprocess.Popen[bytes]] = []
        self.environment: dict[str, str] = {}  # beside that of the tests

    def __enter__(self) -> "Machines":
        return self

    def __exit__(self, *_: object) -> None:
        for process in list(self.processes):
            self.kill(process)

    def scheduler(self) -> subprocess.Popen[bytes]:
        words = [
            "scheduler",
            "--host",
            "127.0.0.1",
            "--port",
            str(self.port),
            "--no-dashboard",
        ]
        started = self.start(words)
        self.wait_for_scheduler()
        return started

    def wait_for_scheduler(self) -> None:
        for _ in range(600):
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port)):
                break
            time.sleep(0.05)

    def worker(self, path: str = "") -> subprocess.Popen[bytes]:
        """`path`: what its Python looks through first, in the place of this project."""
        words = [
            "worker",
            self.address,
            "--nthreads",
            "1",
            "--no-dashboard",
            "--no-nanny",
        ]
        scratch = self.folder / f".scratch-{len(self.processes)}"
        return self.start([*words, "--local-directory", str(scratch)], path)

    def wait(self, workers: int) -> None:
        """Return when so many workers are there."""
        with distributed.Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(workers, timeout=60)

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
        process.wait()
        if process in self.processes:
            self.processes.remove(process)

    def start(self, words: list[str], path: str = "") -> subprocess.Popen[bytes]:
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "dask.log").open("ab") as log:
            started = subprocess.Popen(
                [sys.executable, "-m", "dask", *words],
                cwd=self.folder,
                env={
                    **os.environ,
                    **self.environment,
                    "PYTHONPATH": path or str(ROOT),
                    "OMP_NUM_THREADS": "1",
                },
                stdout=log,
                stderr=log,
            )
        self.processes.append(started)
        return started

    def options(self, storage: Path, **more: Any) -> ExecutorOptions:
        wanted = {"limit_s": 60.0, "patience_s": 60.0} | more
        place = str(storage)
        return ExecutorOptions(
            kind="dask", address=self.address, storage=place, **wanted
        )

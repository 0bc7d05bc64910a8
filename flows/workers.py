"""The processes that run stages: started when needed, each for one stage at a time."""

import contextlib
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from flows.dag import Stage
from flows.surroundings import stage_environment
from metassay.core import parent_watch
from metassay.core.errors import refusal
from metassay.core.exit_codes import BAD_INPUT
from metassay.core.work import OTHERS

LINES = 20
_LEAST = 1 << 20  # bytes
NOTE = "note: "
_CRASH = "Traceback (most recent call last)"
_GROUP = f"Exception Group {_CRASH}"
_MARGIN = re.compile(r"^ *\| ")
_NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '[\w.]+'")


class StageFailed(Exception):  # noqa: N818 - reads as what happened
    """A stage failed; `output` has its last lines: keys and remedies, no texts."""

    def __init__(self, name: str, code: int, output: str) -> None:
        super().__init__(f"{name} failed (exit {code})")
        self.name, self.code, self.output = name, code, output

    @property
    def retryable(self) -> bool:
        """False if the input or the configuration is at fault."""
        return self.code != BAD_INPUT


class Interrupted(BaseException):
    """A stage was killed, or not started, since the run ends: it is not retried."""


class Outcome(NamedTuple):
    """The outcome of a stage that did not fail: whether it ran, and its notes."""

    ran: bool
    notes: tuple[str, ...]


class Workers:
    """As many processes as stages run at the same time, reused for the next stages."""

    def __init__(self, root: Path, locks: list[int], jobs: int = 1) -> None:
        self._root = root
        self._environment = stage_environment(root, jobs)
        self._locks = locks  # of the run, which last as long as any process
        # By whether outputs are for their owner only, or as the user's umask says.
        self._idle = {closed: queue.SimpleQueue[_Worker]() for closed in (True, False)}
        self._all: list[_Worker] = []
        self._lock = threading.RLock()  # a signal may come while it is locked
        self.stopped = threading.Event()
        self.lost = False  # whether one was killed while it had a stage

    def start(self) -> None:
        """Start a process for the first stage, if there is memory for it."""
        with contextlib.suppress(OSError):
            self._idle[False].put(self._start_worker(closed=False))

    def run(self, stage: Stage) -> Outcome:
        """Bring a stage up to date; raises StageFailed, or Interrupted after kill()."""
        try:
            with self._worker(stage.closed) as worker:
                code, ran, output, why = worker.ask(stage.order)
                self.lost = self.lost or not worker.alive
        except OSError as error:  # no room for a process, or for its output
            message = (
                refusal(error)
                or f"its process cannot work: {error.strerror}; run it again"
            )
            raise StageFailed(stage.name, 1, message) from error
        if self.stopped.is_set():
            raise Interrupted(stage.name)
        if code:
            raise StageFailed(stage.name, code, failure_text(output, code, why))
        return Outcome(ran, note_lines(output))

    def kill(self) -> None:
        """Start no more stages; kill the running ones with all their processes."""
        self.stopped.set()
        with self._lock:
            for worker in self._all:
                worker.kill()

    def close(self) -> None:
        """End the processes, none of which has a stage any more."""
        with self._lock:
            for worker in self._all:
                worker.close()
            self._all.clear()

    @contextmanager
    def _worker(self, closed: bool) -> "Iterator[_Worker]":
        idle = self._idle[closed]
        try:
            worker = idle.get_nowait()
            while not worker.alive:  # killed while it had nothing to do
                worker = idle.get_nowait()
        except queue.Empty:
            worker = self._start_worker(closed)
        yield worker
        if worker.alive:
            idle.put(worker)

    def _start_worker(self, closed: bool) -> "_Worker":
        with self._lock:  # so that none starts unknown to kill()
            if self.stopped.is_set():
                raise Interrupted
            worker = _Worker(self._root, self._locks, self._environment, closed=closed)
            self._all.append(worker)
        return worker


class _Worker:
    """One such process, in its own session, so that it is killed with all its processes."""

    def __init__(
        self, root: Path, locks: list[int], environment: dict[str, str], *, closed: bool
    ) -> None:
        replies, write = os.pipe()
        # Without a name and inside the project, since the output may quote a text.
        self._output: IO[bytes] = tempfile.TemporaryFile(dir=root / ".work")  # noqa: SIM115
        self._process = subprocess.Popen(
            [sys.executable, "-m", "flows.fork_server", str(write)],
            cwd=root,
            env={**environment, **parent_watch.ENVIRONMENT},
            stdin=subprocess.PIPE,
            stdout=self._output,
            stderr=self._output,
            pass_fds=[write, *locks],
            start_new_session=True,
            umask=OTHERS if closed else -1,  # which DVC reads, too, when it starts
            text=True,
        )
        os.close(write)
        self._replies = os.fdopen(replies, encoding="utf-8")

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, order: str) -> tuple[int, bool, str, str]:
        """Run a stage: return its exit code, whether it ran, its output and DVC's reason."""
        assert self._process.stdin is not None
        start = self._output.seek(0, os.SEEK_END)
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(f"{order}\n")
            self._process.stdin.flush()
        line = self._replies.readline()
        self._output.seek(start)
        output = self._output.read().decode(errors="replace")
        if not line:
            self.kill()  # its stage, which would go on without it
            return self._process.wait() or 1, True, output, ""
        reply = json.loads(line)
        return int(reply["code"]), bool(reply["ran"]), output, str(reply["why"])

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def close(self) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait()
        self._replies.close()
        self._output.close()


# ---- what may be shown of a stage's output: keys and remedies, no document's text ----


def note_lines(output: str) -> tuple[str, ...]:
    """Return a stage's lines `note: ...`, which are for the data's owner."""
    return tuple(line for line in output.splitlines() if line.startswith(NOTE))


def failure_text(output: str, code: int, why: str = "") -> str:
    """Return the last lines of a failed stage, of a crash only where it broke.

    Then come DVC's reason, if DVC failed, and the signal that ended it, if there was
    one.
    """
    if _CRASH in output:
        lines = _crash_lines(output)
    else:
        lines = [line for line in output.splitlines() if line.strip()][-LINES:]
    lines += [line for line in (why, _signal_text(code)) if line]
    if lines:
        return "\n".join(lines)
    # Output goes to the disk, which may be why there is none.
    if shutil.disk_usage(Path.cwd()).free < _LEAST:
        return "the disk is almost full; free some space and run again"
    return "no output; run the stage alone to see more (docs/index.md)"


def _signal_text(code: int) -> str:
    """Describe the signal of an exit code: negative as in Python, above 128 as in a shell."""
    try:
        name = signal.Signals(-code if code < 0 else code - 128).name
    except ValueError:
        return ""
    memory = ", perhaps because there was no memory left" if name == "SIGKILL" else ""
    return f"killed by {name}{memory}; the next run starts it again"


def _crash_lines(output: str) -> list[str]:
    """Return frames and kind of the last exception; its message could quote a document."""
    lines = output.rpartition(_CRASH)[2].splitlines()[1:]
    if _GROUP in output:
        lines = [_MARGIN.sub("", line) for line in lines]
    frames = [line.strip() for line in lines if line.startswith('  File "')]
    last = next((line for line in lines if line and not line[0].isspace()), "")
    if _NO_MODULE.fullmatch(last):
        return [*frames[-5:], f"{last}; install what the project needs (README.md)"]
    kind = last.partition(":")[0]
    return [
        *frames[-5:],
        f"{kind} (its message is not shown: it could quote a document)",
    ]

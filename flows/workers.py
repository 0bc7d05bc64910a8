"""The processes that run stages for us: started when needed, each for one stage at a time."""

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
from flows.surroundings import of_stages
from metassay.core import parent_watch
from metassay.core.errors import refusal
from metassay.core.work import OTHERS
from stages.doorway import BAD_INPUT

LINES = 20
_LEAST = 1 << 20  # bytes
NOTE = "note: "
_CRASH = "Traceback (most recent call last)"
_GROUP = f"Exception Group {_CRASH}"
_MARGIN = re.compile(r"^ *\| ")
_NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '[\w.]+'")


class StageFailed(Exception):  # noqa: N818 - reads as what happened
    """A stage ended badly; `said` has its own last lines: keys and remedies, no texts."""

    def __init__(self, name: str, code: int, said: str) -> None:
        super().__init__(f"{name} failed (exit {code})")
        self.name, self.code, self.said = name, code, said

    @property
    def retryable(self) -> bool:
        """False if the input or the configuration is at fault."""
        return self.code != BAD_INPUT


class Interrupted(BaseException):
    """A stage was killed, or not started, because the user wants no more: nothing to try again."""


class Outcome(NamedTuple):
    """How a stage went that did not fail: whether it ran at all, and what its owner should know."""

    ran: bool
    notes: tuple[str, ...]


class Workers:
    """As many processes as stages are asked for at the same time, kept for the next stages."""

    def __init__(self, root: Path, held: list[int], jobs: int = 1) -> None:
        self._root = root
        self._environment = of_stages(root, jobs)
        self._held = held  # the locks of the run, which last as long as any of them
        # Those that leave nothing to others, and those that do as their user's umask says.
        self._idle = {one: queue.SimpleQueue[_Worker]() for one in (True, False)}
        self._all: list[_Worker] = []
        self._lock = threading.RLock()  # a signal may come while it is held
        self.stopped = threading.Event()
        self.lost = False  # whether one was killed while it had a stage

    def start(self) -> None:
        """Have a process ready for the first stage, if there is room for it."""
        with contextlib.suppress(OSError):
            self._idle[False].put(self._another(closed=False))

    def run(self, stage: Stage) -> Outcome:
        """Bring one stage up to date; raises StageFailed, or Interrupted after kill()."""
        try:
            with self._worker(stage.closed) as worker:
                code, ran, output, why = worker.ask(stage.order)
                self.lost = self.lost or not worker.alive
        except OSError as error:  # no room for a process, or for what it says
            said = refusal(error) or f"its process cannot work: {error.strerror}; run it again"
            raise StageFailed(stage.name, 1, said) from error
        if self.stopped.is_set():
            raise Interrupted(stage.name)
        if code:
            raise StageFailed(stage.name, code, last_words(output, code, why))
        return Outcome(ran, notes(output))

    def kill(self) -> None:
        """Start no more stages; kill the running ones with all that they have started."""
        self.stopped.set()
        with self._lock:
            for worker in self._all:
                worker.kill()

    def close(self) -> None:
        """Let the processes go; none of them has a stage any more."""
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
            worker = self._another(closed)
        yield worker
        if worker.alive:
            idle.put(worker)

    def _another(self, closed: bool) -> "_Worker":
        with self._lock:  # so that none is started behind the back of kill()
            if self.stopped.is_set():
                raise Interrupted
            worker = _Worker(self._root, self._held, self._environment, closed=closed)
            self._all.append(worker)
        return worker


class _Worker:
    """One such process, in a session of its own, so that it dies with all that it has started."""

    def __init__(
        self, root: Path, held: list[int], environment: dict[str, str], *, closed: bool
    ) -> None:
        replies, write = os.pipe()
        # Without a name and inside the project, since what is said may quote a text.
        self._said: IO[bytes] = tempfile.TemporaryFile(dir=root / ".work")  # noqa: SIM115
        self._process = subprocess.Popen(
            [sys.executable, "-m", "flows.fork_server", str(write)],
            cwd=root,
            env={**environment, **parent_watch.ENVIRONMENT},
            stdin=subprocess.PIPE,
            stdout=self._said,
            stderr=self._said,
            pass_fds=[write, *held],
            start_new_session=True,
            umask=OTHERS if closed else -1,  # DVC, too, takes it when it starts
            text=True,
        )
        os.close(write)
        self._replies = os.fdopen(replies, encoding="utf-8")

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, order: str) -> tuple[int, bool, str, str]:
        """Have one stage brought up to date: its exit code, whether it ran, its output, and DVC's
        reason where it was DVC that failed."""
        assert self._process.stdin is not None
        start = self._said.seek(0, os.SEEK_END)
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(f"{order}\n")
            self._process.stdin.flush()
        line = self._replies.readline()
        self._said.seek(start)
        output = self._said.read().decode(errors="replace")
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
        self._said.close()


# ---- what a stage has said, as far as it may be shown: keys and remedies, no document's text ----


def notes(output: str) -> tuple[str, ...]:
    """The lines `note: ...` of a stage: what was done about the data that its owner should know."""
    return tuple(line for line in output.splitlines() if line.startswith(NOTE))


def last_words(output: str, code: int, why: str = "") -> str:
    """The last lines of a stage that failed, of a crash only where it broke; then DVC's reason, if
    it was DVC that failed, and the signal that ended it, if one did."""
    if _CRASH in output:
        said = _where_it_broke(output)
    else:
        said = [line for line in output.splitlines() if line.strip()][-LINES:]
    said += [line for line in (why, _killed_by(code)) if line]
    if said:
        return "\n".join(said)
    # A stage's words go to the disk, which may be why there are none.
    if shutil.disk_usage(Path.cwd()).free < _LEAST:
        return "the disk is almost full; free some space and run again"
    return "no output; run the stage alone to see more (docs/index.md)"


def _killed_by(code: int) -> str:
    """The signal of an exit code: below 0 as Python says it, above 128 as a shell does."""
    try:
        name = signal.Signals(-code if code < 0 else code - 128).name
    except ValueError:
        return ""
    memory = ", perhaps because there was no memory left" if name == "SIGKILL" else ""
    return f"killed by {name}{memory}; the next run starts it again"


def _where_it_broke(output: str) -> list[str]:
    """Frames and kind of the last exception, without its message: that could quote a document."""
    said = output.rpartition(_CRASH)[2].splitlines()[1:]
    if _GROUP in output:
        said = [_MARGIN.sub("", line) for line in said]
    frames = [line.strip() for line in said if line.startswith('  File "')]
    last = next((line for line in said if line and not line[0].isspace()), "")
    if _NO_MODULE.fullmatch(last):
        return [*frames[-5:], f"{last}; install what the project needs (README.md)"]
    kind = last.partition(":")[0]
    return [*frames[-5:], f"{kind} (its message is not shown: it could quote a document)"]

"""Compute shards on the workers of a Dask cluster, which get a shard's name and report its status.

There are as many shards in progress as workers have threads, so that every one is being
computed, and one that takes too long is noticed. Shards without an answer that are lost
with a worker, the scheduler or this process are submitted again.
"""

import concurrent.futures
import contextlib
import itertools
import logging
import time
import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import cloudpickle
import distributed

from metassay.core.errors import BadInput, Unfinished
from metassay.core.params import ExecutorOptions
from metassay.core.progress import bar
from metassay.executor.record import Answer
from metassay.executor.shards import (
    Storage,
    Versions,
    answer,
    contents,
    cut,
    digest,
    versions,
)

log = logging.getLogger("metassay.executor")

WAIT_SECONDS = 1.0  # between checks for overdue shards
SAYING_SECONDS = 60.0  # in which a worker must report a shard's outcome
TRIES = 3  # workers on which a shard can be overdue before it fails
_Submitted = tuple[str, float]  # a shard's name, and the time of submission
# Errors if the scheduler is gone, or forgot this client.
_LOST = (OSError, concurrent.futures.CancelledError, RuntimeError)


class _Client(distributed.Client):  # type: ignore[misc]  # which has no types
    """A client that is closed if it does not start.

    Otherwise it is closed by the garbage collector, which needs a lock: if the next
    client holds it while starting, both hang.
    """

    def __init__(self, address: str, timeout: float) -> None:
        try:
            super().__init__(address, timeout=timeout)
        except BaseException:
            self.__del__()  # handles a partial start
            raise


class _Lost(Exception):  # noqa: N818 - a state
    """The scheduler is gone, or forgot the submitted shards."""


class Cluster:
    """The workers of a scheduler, for one process. Use as a context manager.

    `name` is that of a stage's instance, which runs only once at a time: its folder in
    the storage stays until the stage is done, so that a killed one can continue.
    """

    remote = True

    def __init__(self, options: ExecutorOptions, name: str) -> None:
        assert options.address is not None
        self._options, self._address = options, options.address
        self._storage = Storage(f"{options.storage}/{name}")
        self._client: distributed.Client | None = None
        # workers that get no more shards, and why
        self._closed_workers: dict[str, str] = {}
        self._tries: Counter[str] = Counter()  # by shard
        self._reported: set[str] = set()
        for logger in list(logging.root.manager.loggerDict):
            if logger.startswith("distributed"):  # losses are handled and reported here
                logging.getLogger(logger).setLevel(logging.CRITICAL)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._disconnect()
        with contextlib.suppress(OSError):  # a late worker can write there
            if kind is None:
                self._storage.clear()
                return
        log.warning(
            "executor: shards of a failed stage, which contain texts, stay in %s; run again to"
            " continue from them, or delete that folder",
            self._storage.place,
        )

    def map(
        self,
        function: Callable[..., Answer],
        pieces: Sequence[Any],
        *common: Any,
        files: Sequence[Path] = (),
    ) -> list[Answer]:
        """Return the function's answers for shards of the pieces, in order.

        Raises BadInput as the function does, if no worker has the same versions, or if
        there is no scheduler or worker within `patience_s`; Unfinished if a shard is
        overdue on `TRIES` workers, or crashes more workers than Dask's
        `allowed-failures`.
        """
        if not pieces:
            return [function(pieces, *common)]
        file_versions = contents(files)
        shards = list(cut(pieces))
        names: list[str] = []
        done = itertools.count(1)

        def unanswered(tell: Callable[[int], object]) -> Iterator[str]:
            for shard in shards:
                content = cloudpickle.dumps((function, shard, common), 5)
                name = digest(content, repr((versions(), file_versions)).encode())
                names.append(name)
                if self._storage.has(f"{name}.answer"):
                    tell(next(done))
                else:
                    self._storage.write(f"{name}.shard", content)
                    yield name

        with bar("shards", len(shards)) as tell:
            self._work(unanswered(tell), file_versions, lambda: tell(next(done)))
        return [
            cloudpickle.loads(self._storage.read(f"{name}.answer")) for name in names
        ]

    def _work(
        self, names: Iterator[str], files: Versions, progress: Callable[[], None]
    ) -> None:
        """Run all shards until their answers are in the storage."""
        waiting = deque(itertools.islice(names, 1))
        running: dict[Any, _Submitted] = {}
        losses = 0  # of the scheduler, since the last answer
        while waiting or running:
            try:
                room = self._room(running)
                while room > 0 and waiting:
                    # its lost worker was done
                    if self._storage.has(f"{waiting[0]}.answer"):
                        progress()
                    else:
                        future = self._submit(waiting[0], files)
                        running[future] = waiting[0], time.monotonic()
                        room -= 1
                    waiting.popleft()
                    if not waiting:
                        waiting.extend(itertools.islice(names, 1))
                for future in self._done(running):
                    name, _ = running[future]
                    if self._is_answered(future, name):
                        progress()
                        losses = 0
                    else:
                        waiting.append(name)
                    del running[future]
            except _Lost as lost:
                self._disconnect()
                losses += 1
                if losses * WAIT_SECONDS > self._options.patience_s:
                    raise Unfinished(
                        f"executor: {self._address} was lost {losses} times in a row"
                        f" ({type(lost.__cause__).__name__}); look at its log, then run again"
                    ) from lost
                time.sleep(WAIT_SECONDS)
                waiting.extend(name for name, _ in running.values())
                running.clear()

    def _room(self, running: dict[Any, _Submitted]) -> int:
        """Return how many more shards can be submitted; waits if there are no workers."""
        until = time.monotonic() + self._options.patience_s
        while True:
            threads = self._threads()
            usable = {w: n for w, n in threads.items() if w not in self._closed_workers}
            if usable:
                return sum(usable.values()) - len(running)
            if threads and running:
                return 0  # closed workers compute the rest
            if threads:
                why = "; ".join(
                    f"{w}: {self._closed_workers[w]}" for w in sorted(threads)
                )
                raise BadInput(
                    f"executor: none of the {len(threads)} worker(s) of {self._address} can be"
                    f" used ({why}); start others, with this version of code and packages"
                )
            self._wait(
                until,
                f"executor: {self._address} has no worker; start some in the project's folder:"
                f" dask worker {self._address} --nthreads 1",
            )

    def _threads(self) -> dict[str, int]:
        with _detect_loss():
            return dict(self._connected().nthreads())

    def _connected(self) -> distributed.Client:
        """Return the client; BadInput if no scheduler answers within `patience_s`."""
        if self._client is not None:
            if self._client.status != "running":
                raise _Lost
            return self._client
        until = time.monotonic() + self._options.patience_s
        while True:
            try:
                with warnings.catch_warnings():
                    # of different versions, which are checked here
                    warnings.simplefilter("ignore")
                    self._client = _Client(self._address, timeout=5)
            except (OSError, ValueError, TypeError) as error:
                # A bad address, or no certificates.
                permanent = isinstance(error, ValueError | TypeError)
                self._wait(
                    0.0 if permanent else until,
                    f"executor: no scheduler answers at {self._address} ({error}); start one (dask"
                    " scheduler), or correct params.yaml > executor > address",
                )
            else:
                return self._client

    def _wait(self, until: float, missing: str) -> None:
        """Sleep, with a warning once per reason; BadInput after the time `until`."""
        if time.monotonic() > until:
            raise BadInput(missing)
        if missing not in self._reported:
            self._reported.add(missing)
            log.warning("%s; waiting for %g s", missing, self._options.patience_s)
        time.sleep(WAIT_SECONDS)

    def _submit(self, name: str, files: Versions) -> Any:
        self._tries[name] += 1
        closed = self._closed_workers
        usable = sorted(set(self._threads()) - set(closed)) if closed else None
        with _detect_loss():
            return self._connected().submit(
                answer,
                self._storage.place,
                name,
                versions(),
                files,
                key=f"metassay-{name[:16]}-{self._tries[name]}-{time.time_ns()}",
                workers=usable,
                pure=False,
            )

    def _done(self, running: dict[Any, _Submitted]) -> list[Any]:
        """Return the futures that are done; overdue ones are given up and count as done."""
        if not running:
            return []
        with _detect_loss(), contextlib.suppress(TimeoutError):
            distributed.wait(
                list(running), timeout=WAIT_SECONDS, return_when="FIRST_COMPLETED"
            )
        self._connected()
        latest_start = time.monotonic() - self._options.limit_s
        overdue = [
            future
            for future, (_, since) in running.items()
            if since < latest_start and not future.done()
        ]
        if overdue:
            self._give_up({future.key: running[future][0] for future in overdue})
        return [future for future in running if future.done() or future in overdue]

    def _give_up(self, overdue: dict[str, str]) -> None:
        """Close the workers that compute overdue shards (by key) to further shards."""
        with _detect_loss():
            processing = self._connected().processing()
        reason = f"took more than {self._options.limit_s:g} s"
        for worker, keys in processing.items():
            if worker not in self._closed_workers and any(
                str(key) in overdue for key in keys
            ):
                self._close(
                    worker, "given up", f"a shard {reason} there (executor > limit_s)"
                )
        for name in overdue.values():
            if self._tries[name] >= TRIES:
                raise Unfinished(self._fault(name, f"{reason} {TRIES} times"))

    def _close(self, worker: str, how: str, why: str) -> None:
        self._closed_workers[worker] = why
        log.warning("executor: worker %s is %s: %s", worker, how, why)

    def _is_answered(self, future: Any, name: str) -> bool:
        """Return whether a shard's answer is in the storage; raises errors of the function."""
        if future.status == "error":
            with _detect_loss():
                error = future.exception()
            if isinstance(error, distributed.KilledWorker):
                raise Unfinished(
                    self._fault(name, "took down each worker that had it")
                ) from None
            if isinstance(error, ImportError):
                raise BadInput(
                    f"executor: a worker of {self._address} cannot import what answers"
                    f" ({error}); install this version there: {versions()}"
                ) from None
            raise error
        if future.status != "finished":  # given up, or lost with the scheduler
            future.release()
            return False
        if self._storage.has(f"{name}.answer"):
            return True  # even if its worker cannot report it
        with _detect_loss():
            outcome = future.result(timeout=SAYING_SECONDS)
        if outcome.problems and not outcome.refused:
            raise BadInput(outcome.problems)
        if outcome.refused and outcome.worker not in self._closed_workers:
            self._close(outcome.worker, "refused", outcome.refused)
        self._tries[name] -= bool(outcome.refused)
        return not outcome.refused

    def _fault(self, name: str, what: str) -> str:
        return (
            f"executor: shard {name[:16]} {what}; give workers more memory, or raise params.yaml >"
            " executor > limit_s; then run again: what is done stays done"
        )

    def _disconnect(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            with contextlib.suppress(*_LOST):
                client.close(timeout=2)


@contextlib.contextmanager
def _detect_loss() -> Iterator[None]:
    try:
        yield
    except _LOST as error:
        raise _Lost from error

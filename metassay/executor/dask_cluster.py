"""Shards on the workers of a Dask cluster: what travels is a shard's name, and whether it is done.

As many shards are under way as the workers have threads, so that what is under way is being worked
on, and one that takes too long is seen. Whatever is lost, with a worker, with the scheduler or with
this process, is asked for again, but for shards whose answer is there.
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
from types import TracebackType
from typing import Any, Self

import cloudpickle
import distributed

from metassay.core.errors import BadInput, Unfinished
from metassay.core.params import ExecutorOptions
from metassay.core.progress import bar
from metassay.executor.record import Answer
from metassay.executor.shards import Storage, cut, digest
from metassay.executor.versions import Versions, contents, versions
from metassay.executor.worker import answer

log = logging.getLogger("metassay.executor")

WAIT_SECONDS = 1.0  # between two looks at what takes too long
SAYING_SECONDS = 60.0  # in which a worker says how a shard went
TRIES = 3  # workers that a shard may take too long on, before it is at fault
_Since = tuple[str, float]  # a shard's name, and when it was submitted
# What is raised where the scheduler is not there, or no longer knows of us.
_LOST = (OSError, concurrent.futures.CancelledError, RuntimeError)


class _Client(distributed.Client):  # type: ignore[misc]  # which has no types
    """A client that is closed if it does not start.

    Otherwise it is when it is collected, under a lock: if that is while the next client starts,
    which has the lock, all hangs.
    """

    def __init__(self, address: str, timeout: float) -> None:
        try:
            super().__init__(address, timeout=timeout)
        except BaseException:
            self.__del__()  # which knows how far it came
            raise


class _Lost(Exception):  # noqa: N818 - reads as what it is
    """The scheduler is gone, or forgot what it was asked for."""


class Cluster:
    """The workers of a scheduler, for one process. Use as a context manager.

    `name` is that of a stage's instance, of which one runs at a time: its folder of the storage is
    its own, and stays until the stage is done, so that one that was killed goes on.
    """

    remote = True

    def __init__(self, options: ExecutorOptions, name: str) -> None:
        assert options.address is not None
        self._options, self._address = options, options.address
        self._storage = Storage(f"{options.storage}/{name}")
        self._client: distributed.Client | None = None
        self._closed_to: dict[str, str] = {}  # workers that get nothing more, and why
        self._tries: Counter[str] = Counter()  # by shard
        self._told: set[str] = set()
        for logger in list(logging.root.manager.loggerDict):
            if logger.startswith("distributed"):  # what is lost is asked for again, and told by us
                logging.getLogger(logger).setLevel(logging.CRITICAL)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: object, __: TracebackType | None
    ) -> None:
        self._let_go()
        with contextlib.suppress(OSError):  # a worker that is late writes there
            if kind is None:
                self._storage.clear()
                return
        log.warning(
            "executor: shards of a stage that failed, which hold texts, stay in %s; run again to go"
            " on from them, or delete that folder",
            self._storage.place,
        )

    def map(
        self,
        function: Callable[..., Answer],
        pieces: Sequence[Any],
        *common: Any,
        files: Sequence[Path] = (),
    ) -> list[Answer]:
        """The function's answers for shards of the pieces, in order.

        Raises BadInput as the function does, where no worker has our versions, and where no
        scheduler or worker is there within `patience_s`; Unfinished where a shard takes too long on
        `TRIES` workers, or takes down as many as Dask's `allowed-failures` lets it, and one more.
        """
        if not pieces:
            return [function(pieces, *common)]
        known = contents(files)
        shards = list(cut(pieces))
        names: list[str] = []
        done = itertools.count(1)
        with bar("shards", len(shards)) as tell:

            def progress() -> None:
                tell(next(done))

            def open_ones() -> Iterator[str]:
                for shard in shards:
                    content = cloudpickle.dumps((function, shard, common), 5)
                    said = repr((versions(), known)).encode()
                    name = digest(content, said)
                    names.append(name)
                    if self._storage.has(f"{name}.answer"):
                        progress()
                    else:
                        self._storage.write(f"{name}.shard", content)
                        yield name

            self._work(open_ones(), known, progress)
        return [cloudpickle.loads(self._storage.read(f"{name}.answer")) for name in names]

    def _work(self, names: Iterator[str], files: Versions, progress: Callable[[], None]) -> None:
        """Have all shards answered: their answers are in the storage then."""
        again: deque[str] = deque()
        running: dict[Any, _Since] = {}
        following = next(names, None)
        losses = 0  # of the scheduler, since a shard was answered
        while following or again or running:
            try:
                room = self._room(running)
                while room > 0 and (again or following):
                    name = again[0] if again else str(following)
                    if again and self._storage.has(f"{name}.answer"):  # its worker had done it
                        progress()
                    else:
                        running[self._submit(name, files)] = name, time.monotonic()
                        room -= 1
                    if again:
                        again.popleft()
                    else:
                        following = next(names, None)
                for future in self._done(running):
                    name, _ = running[future]
                    if self._answered(future, name):
                        progress()
                        losses = 0
                    else:
                        again.append(name)
                    del running[future]
            except _Lost as lost:
                self._let_go()
                losses += 1
                if losses * WAIT_SECONDS > self._options.patience_s:
                    raise Unfinished(
                        f"executor: {self._address} was lost {losses} times in a row"
                        f" ({type(lost.__cause__).__name__}); look at its log, then run again"
                    ) from lost
                time.sleep(WAIT_SECONDS)
                again.extend(name for name, _ in running.values())
                running.clear()

    def _room(self, running: dict[Any, _Since]) -> int:
        """How many more shards can be under way; waits for workers where none is there."""
        until = time.monotonic() + self._options.patience_s
        while True:
            threads = self._threads()
            open_to = {w: n for w, n in threads.items() if w not in self._closed_to}
            if open_to:
                return sum(open_to.values()) - len(running)
            if threads and running:
                return 0  # those that get nothing more have the rest in hand
            if threads:
                why = "; ".join(f"{one}: {self._closed_to[one]}" for one in sorted(threads))
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
        with _lost_if_gone():
            return dict(self._connected().nthreads())

    def _connected(self) -> distributed.Client:
        """The client; BadInput where no scheduler is there for as long as we have patience."""
        if self._client is not None:
            if self._client.status != "running":
                raise _Lost
            return self._client
        until = time.monotonic() + self._options.patience_s
        while True:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of versions that differ, which we check
                    self._client = _Client(self._address, timeout=5)
            except (OSError, ValueError, TypeError) as error:
                never = isinstance(error, ValueError | TypeError)  # an address, or no certificates
                self._wait(
                    0.0 if never else until,
                    f"executor: no scheduler answers at {self._address} ({error}); start one (dask"
                    " scheduler), or correct params.yaml > executor > address",
                )
            else:
                return self._client

    def _wait(self, until: float, missing: str) -> None:
        """Let a while pass; BadInput if it is later than that. What is waited for is told once."""
        if time.monotonic() > until:
            raise BadInput(missing)
        if missing not in self._told:
            self._told.add(missing)
            log.warning("%s; waiting for %g s", missing, self._options.patience_s)
        time.sleep(WAIT_SECONDS)

    def _submit(self, name: str, files: Versions) -> Any:
        self._tries[name] += 1
        open_to = sorted(set(self._threads()) - set(self._closed_to)) if self._closed_to else None
        with _lost_if_gone():
            return self._connected().submit(
                answer,
                *(self._storage.place, name, versions(), files),
                key=f"metassay-{name[:16]}-{self._tries[name]}-{time.time_ns()}",
                workers=open_to,
                pure=False,
            )

    def _done(self, running: dict[Any, _Since]) -> list[Any]:
        """Those that are answered; what takes too long is given up, and counts as such."""
        if not running:
            return []
        with _lost_if_gone(), contextlib.suppress(TimeoutError):
            distributed.wait(list(running), timeout=WAIT_SECONDS, return_when="FIRST_COMPLETED")
        self._connected()
        last = time.monotonic() - self._options.limit_s
        late = [one for one, (_, since) in running.items() if since < last and not one.done()]
        if late:
            self._give_up({one.key: running[one][0] for one in late})
        return [one for one in running if one.done() or one in late]

    def _give_up(self, late: dict[str, str]) -> None:
        """Close those workers to further shards that work on these, by key, for too long."""
        with _lost_if_gone():
            processing = self._connected().processing()
        took = f"took more than {self._options.limit_s:g} s"
        for worker, keys in processing.items():
            if worker not in self._closed_to and any(str(key) in late for key in keys):
                self._close(worker, "given up", f"a shard {took} there (executor > limit_s)")
        for name in late.values():
            if self._tries[name] >= TRIES:
                raise Unfinished(self._fault(name, f"{took} {TRIES} times"))

    def _close(self, worker: str, how: str, why: str) -> None:
        self._closed_to[worker] = why
        log.warning("executor: worker %s is %s: %s", worker, how, why)

    def _answered(self, future: Any, name: str) -> bool:
        """Whether a shard's answer is there; raises what the function raised."""
        if future.status == "error":
            with _lost_if_gone():
                error = future.exception()
            if isinstance(error, distributed.KilledWorker):
                raise Unfinished(self._fault(name, "took down each worker that had it")) from None
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
            return True  # whether or not its worker is there to say so
        with _lost_if_gone():
            outcome = future.result(timeout=SAYING_SECONDS)
        if outcome.problems and not outcome.refused:
            raise BadInput(outcome.problems)
        if outcome.refused and outcome.worker not in self._closed_to:
            self._close(outcome.worker, "refused", outcome.refused)
        self._tries[name] -= bool(outcome.refused)
        return not outcome.refused

    def _fault(self, name: str, what: str) -> str:
        return (
            f"executor: shard {name[:16]} {what}; give workers more memory, or raise params.yaml >"
            " executor > limit_s; then run again: what is done stays done"
        )

    def _let_go(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            with contextlib.suppress(*_LOST):
                client.close(timeout=2)


@contextlib.contextmanager
def _lost_if_gone() -> Iterator[None]:
    try:
        yield
    except _LOST as error:
        raise _Lost from error

"""Shards on the workers of a Dask cluster: what travels is a shard's name, and whether it is done.

As many shards are under way as the workers have threads, so that what is under way is being worked
on, and one that takes too long is seen. Whatever is lost, with a worker, with the scheduler or with
this process, is asked for again, but for shards whose answer is there.
"""

import concurrent.futures
import contextlib
import logging
import sys
import time
import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import cloudpickle
import distributed
from distributed.comm.core import CommClosedError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from metassay.core.errors import BadInput, Unfinished
from metassay.core.params import ExecutorOptions
from metassay.executor.record import Answer
from metassay.executor.shards import Storage, cut, digest
from metassay.executor.versions import Versions, contents, versions
from metassay.executor.worker import answer

log = logging.getLogger("metassay.executor")

WAIT_SECONDS = 1.0  # between two looks at what takes too long
TRIES = 3  # workers that a shard may take too long on, before it is at fault
# What is raised where the scheduler is not there, or no longer knows of us.
_LOST = (OSError, TimeoutError, CommClosedError, concurrent.futures.CancelledError, RuntimeError)


class _Lost(Exception):  # noqa: N818 - reads as what it is
    """The scheduler is gone, or forgot what it was asked for."""


class _Running(NamedTuple):
    name: str
    since: float


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
        for logger in list(logging.root.manager.loggerDict):
            if logger.startswith("distributed"):  # what is lost is asked for again, and told by us
                logging.getLogger(logger).setLevel(logging.CRITICAL)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: object, __: TracebackType | None
    ) -> None:
        self._let_go()
        if kind is None:
            self._storage.clear()

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
        with _bar(len(shards)) as progress:

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
        running: dict[Any, _Running] = {}
        following = next(names, None)
        while following or again or running:
            try:
                room = self._room(running)
                while room > 0 and (again or following):
                    name = again[0] if again else str(following)
                    if again and self._storage.has(f"{name}.answer"):  # its worker had done it
                        progress()
                    else:
                        running[self._submit(name, files)] = _Running(name, time.monotonic())
                        room -= 1
                    if again:
                        again.popleft()
                    else:
                        following = next(names, None)
                for future in self._done(running):
                    name = running[future].name
                    if self._answered(future, name):
                        progress()
                    else:
                        again.append(name)
                    del running[future]
            except _Lost:
                self._let_go()
                again.extend(one.name for one in running.values())
                running.clear()

    def _room(self, running: dict[Any, _Running]) -> int:
        """How many more shards can be under way; waits for workers where none is there."""
        until = time.monotonic() + self._options.patience_s
        while True:
            threads = self._threads()
            open_to = {w: n for w, n in threads.items() if w not in self._closed_to}
            if open_to:
                return sum(open_to.values()) - len(running)
            if threads and not running:
                why = "; ".join(f"{one}: {self._closed_to[one]}" for one in sorted(threads))
                raise BadInput(
                    f"executor: none of the {len(threads)} worker(s) of {self._address} can be"
                    f" used ({why}); start others, with this version of code and packages"
                )
            if running and not threads:
                return 0
            if time.monotonic() > until:
                raise BadInput(
                    f"executor: {self._address} has no worker; start some in the project's folder:"
                    f" dask worker {self._address} --nthreads 1"
                )
            time.sleep(WAIT_SECONDS)

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
                    self._client = distributed.Client(self._address, timeout=5)
            except (OSError, TimeoutError, ValueError) as error:
                if time.monotonic() > until or isinstance(error, ValueError):
                    raise BadInput(
                        f"executor: no scheduler answers at {self._address}; start one (dask"
                        " scheduler), or correct params.yaml > executor > address"
                    ) from None
                time.sleep(WAIT_SECONDS)
            else:
                return self._client

    def _submit(self, name: str, files: Versions) -> Any:
        self._tries[name] += 1
        open_to = None
        if self._closed_to:
            open_to = sorted(set(self._threads()) - set(self._closed_to))
        with _lost_if_gone():
            return self._connected().submit(
                answer,
                *(self._storage.place, name, versions(), files),
                key=f"metassay-{name[:16]}-{self._tries[name]}-{time.time_ns()}",
                workers=open_to,
                pure=False,
            )

    def _done(self, running: dict[Any, _Running]) -> list[Any]:
        """Those that are answered; what takes too long is given up, and counts as such."""
        if not running:
            return []
        with _lost_if_gone(), contextlib.suppress(TimeoutError):
            distributed.wait(list(running), timeout=WAIT_SECONDS, return_when="FIRST_COMPLETED")
        if self._connected().status != "running":
            raise _Lost
        now, limit = time.monotonic(), self._options.limit_s
        late = [one for one in running if not one.done() and now - running[one].since > limit]
        if late:
            self._give_up({one.key: running[one].name for one in late})
        return [one for one in running if one.done() or one in late]

    def _give_up(self, late: dict[str, str]) -> None:
        """Close those workers to further shards that work on these, by key, for too long."""
        with _lost_if_gone():
            processing = self._connected().processing()
        for worker, keys in processing.items():
            if worker not in self._closed_to and any(str(key) in late for key in keys):
                limit = self._options.limit_s
                why = f"a shard took more than {limit:g} s there (executor > limit_s)"
                self._close(worker, "given up", why)
        for name in late.values():
            if self._tries[name] >= TRIES:
                limit = self._options.limit_s
                raise Unfinished(self._fault(name, f"took more than {limit:g} s {TRIES} times"))

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
                    f" ({type(error).__name__}); install this version there: {versions()}"
                ) from None
            raise error
        if future.status != "finished":  # given up, or lost with the scheduler
            future.release()
            return False
        with _lost_if_gone():  # its worker may be gone that did it; the answer is there then
            outcome = future.result()
        if outcome.problems:
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


@contextlib.contextmanager
def _bar(total: int) -> Iterator[Callable[[], None]]:
    """A bar of shards that are answered, where a person sees it."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    hidden = not sys.stderr.isatty()
    console = Console(stderr=True)
    with Progress(*columns, TimeElapsedColumn(), console=console, disable=hidden) as bar:
        task = bar.add_task("shards", total=total)
        yield lambda: bar.advance(task)

"""Show the progress of long work: bars on a terminal, or a line for the run of its stage."""

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

from metassay.core.work import WORK

PLACE = "METASSAY_PROGRESS"  # in a stage's environment: the file that its run reads
_SECONDS = 1.0  # between updates of that file

_under_way: dict[object, str] = {}  # current lines, outermost first
_lock = threading.Lock()
_screen: Any = None  # of rich, which allows only one
_written = 0.0


def place(address: str) -> Path:
    """Return the file in which a stage writes its progress, from the project's root."""
    return WORK / "progress" / quote(address, safe="")


class Tell(Protocol):
    """Updates a bar."""

    def __call__(self, done: int, total: int | None = None) -> None:
        """Set the number of `done`, and of `total` if unknown so far."""


@contextmanager
def bars() -> Iterator[Callable[[str], Tell]]:
    """Show several bars, which start in turn and disappear together."""
    with ExitStack() as stack:
        yield lambda what: stack.enter_context(bar(what))


@contextmanager
def bar(what: str, of: int | None = None) -> Iterator[Tell]:
    """Show how many of a total are done; call the yielded function with that number.

    On stderr if that is a terminal, until all is done; else in the file that a run
    names, without texts. Nested bars are shown together. Thread-safe.
    """
    if sys.stderr.isatty():
        with _bar_on_screen(what, of) as tell_screen:
            yield tell_screen
        return
    key = object()

    def tell(done: int, total: int | None = of) -> None:
        so_many = f"{done:,} of {total:,}" if total else f"{done:,}"
        _write(key, f"{what} {so_many}" if done != total else "")

    try:
        yield tell
    finally:
        _write(key, "")


@contextmanager
def _bar_on_screen(what: str, of: int | None) -> Iterator[Tell]:
    global _screen  # noqa: PLW0603 - a single terminal
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    first = _screen is None
    if first:
        name = TextColumn("{task.description}", markup=False)
        columns = (name, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        _screen = Progress(*columns, console=Console(stderr=True), transient=True)
        _screen.start()
    task = _screen.add_task(what, total=of)
    try:
        yield lambda done, total=of: _screen.update(task, completed=done, total=total)
    finally:
        _screen.remove_task(task)
        if first:
            _screen.stop()
            _screen = None


def _write(key: object, line: str) -> None:
    global _written  # noqa: PLW0603 - a single file
    with _lock:
        if line:
            _under_way[key] = line
        else:
            _under_way.pop(key, None)
        now = time.monotonic()
        if PLACE in os.environ and now - _written >= _SECONDS:
            _written = now
            with contextlib.suppress(OSError):  # no stage fails because of it
                Path(os.environ[PLACE]).write_text(
                    ", ".join(_under_way.values()), "utf-8"
                )

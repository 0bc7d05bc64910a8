"""How far long work has come: bars on a terminal, or a line for the run that shows its stages."""

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

PLACE = "METASSAY_PROGRESS"  # of a stage's environment: the file that its run reads
_SECONDS = 1.0  # between two lines in that file

_under_way: dict[object, str] = {}  # what is, outermost first
_lock = threading.Lock()
_screen: Any = None  # of rich, which allows one at a time
_written = 0.0


def place(address: str) -> Path:
    """The file in which a stage says how far it is, from the project's root."""
    return WORK / "progress" / quote(address, safe="")


class Tell(Protocol):
    """What tells a bar how far it is."""

    def __call__(self, done: int, total: int | None = None) -> None:
        """So many are `done`, of `total` if that was not known before."""


@contextmanager
def bars() -> Iterator[Callable[[str], Tell]]:
    """Bars of several things, which begin one after the other and of which none goes before all."""
    with ExitStack() as shown:
        yield lambda what: shown.enter_context(bar(what))


@contextmanager
def bar(what: str, of: int | None = None) -> Iterator[Tell]:
    """Show how many are done `of` how many; what is yielded is called with that number.

    On stderr where that is a terminal, and gone when all is done; else in the file that a run
    names, without texts. Bars within bars are shown together. Safe in threads.
    """
    if sys.stderr.isatty():
        with _bar_on_screen(what, of) as tell_there:
            yield tell_there
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
    global _screen  # noqa: PLW0603 - there is one terminal
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

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


def _write(key: object, said: str) -> None:
    global _written  # noqa: PLW0603 - there is one file
    with _lock:
        if said:
            _under_way[key] = said
        else:
            _under_way.pop(key, None)
        now = time.monotonic()
        if PLACE in os.environ and now - _written >= _SECONDS:
            _written = now
            with contextlib.suppress(OSError):  # no stage fails for it
                Path(os.environ[PLACE]).write_text(", ".join(_under_way.values()), "utf-8")

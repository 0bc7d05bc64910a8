"""Progress of a run, stage by stage, for a terminal or a log."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from flows.dag import StageFailed


class Watch:
    """A bar over all stages with the ones now running beside it, and a line for each that ended."""

    def __init__(self, *, total: int, fresh: int, console: Console | None = None) -> None:
        self.failures: dict[str, StageFailed] = {}
        self._running: list[str] = []
        self._lock = threading.Lock()
        self._progress = Progress(
            TextColumn("[bold]stages"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.description}"),
            console=console or Console(stderr=True),
        )
        self._bar = self._progress.add_task("", total=total)
        if fresh:
            self._say(f"[dim]· {fresh} stage(s) are up to date")

    def __enter__(self) -> "Watch":
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Show that a stage runs, then how it ended."""
        start = time.perf_counter()
        self._now(add=name)
        try:
            yield
        except StageFailed as failure:
            self.failures[name] = failure
            self._say(f"[red]✗ {escape(name)} (exit {failure.code})")
            self._say(escape(failure.said))
            raise
        else:
            self.failures.pop(name, None)
            self._progress.advance(self._bar)
            self._say(f"[green]✓[/] {escape(name)} [dim]{time.perf_counter() - start:.1f} s")
        finally:
            self._now(remove=name)

    def skipped(self, names: list[str]) -> None:
        """Name the stages that could not run because something before them failed."""
        for name in names:
            self._say(f"[yellow]– {escape(name)} was not run: a stage that it needs failed")

    def _now(self, *, add: str | None = None, remove: str | None = None) -> None:
        with self._lock:
            if add:
                self._running.append(add)
            if remove:
                self._running.remove(remove)
            shown = escape(", ".join(self._running))
        self._progress.update(self._bar, description=shown)

    def _say(self, line: str) -> None:
        self._progress.console.print(line, highlight=False)

"""Progress of a run, stage by stage, for a terminal or a log."""

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from flows.dag import Plan, Stage
from flows.workers import Interrupted, Outcome, StageFailed
from metassay.core.progress import place


class _Running(ProgressColumn):
    """The stages now running, and how far each of them is."""

    def __init__(self, running: Iterable[Stage]) -> None:
        super().__init__()
        self._running = running

    def render(self, _: Task) -> Text:
        """Return their names, with the progress that they write to their files."""
        names = []
        for stage in tuple(self._running):
            try:
                progress = place(stage.address).read_text(encoding="utf-8")
            except OSError:
                progress = ""
            names.append(f"{stage.name} ({progress})" if progress else stage.name)
        return Text(", ".join(names))


class Watch:
    """A bar over all stages with those now running beside it, and a line for each that ended."""

    def __init__(self, plan: Plan, *, console: Console | None = None) -> None:
        self.failures: dict[str, StageFailed] = {}
        self.plan = plan
        self._running: list[Stage] = []
        self.ended: set[str] = set()
        # As at first: the plan changes if the run loses its server.
        self._to_do = plan.stale
        self._skipped: set[str] = set()
        self._progress = Progress(
            TextColumn("[bold]stages"),
            BarColumn(20),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            _Running(self._running),
            console=console or Console(stderr=True),
        )
        self._bar = self._progress.add_task("", total=len(plan.stale))

    def __enter__(self) -> "Watch":
        fresh = len(self.plan.stages) - len(self.plan.stale)
        if fresh:
            self._print(f"[dim]· {fresh} stage(s) are up to date")
        for path in self.plan.absent:
            self._print(
                f"[dim]· {escape(path)} is missing but not needed: its tables are up to date"
            )
        if self.plan.stale:
            with contextlib.suppress(OSError):  # then there is nothing to show
                place("").mkdir(exist_ok=True)
            self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()
        for address in sorted(self._to_do - self.ended):
            if address.endswith(":report"):
                page = Path(
                    "reports", self.plan.stages[address].benchmark, "index.html"
                )
                state = (
                    "is of an earlier run, not of this one"
                    if page.exists()
                    else "is not made"
                )
                self._print(f"[yellow]! {escape(str(page))} {state}")

    @contextmanager
    def stage(self, stage: Stage) -> Iterator[Callable[[Outcome], None]]:
        """Show that a stage runs, then how it ended: call what is yielded with its outcome."""
        start = time.perf_counter()
        self._running.append(stage)
        place(stage.address).unlink(missing_ok=True)

        def ended(outcome: Outcome) -> None:
            self.failures.pop(stage.address, None)
            self.ended.add(stage.address)
            self._progress.advance(self._bar)
            name, took = escape(stage.name), time.perf_counter() - start
            if outcome.ran:
                self._print(f"[green]✓[/] {name} [dim]{took:.1f} s")
            else:
                self._print(f"[dim]· {name} did not run: its inputs did not change")
            for note in outcome.notes:
                self._print(f"  {escape(note)}")

        try:
            yield ended
        except Interrupted:
            self._print(f"[yellow]– {escape(stage.name)} was interrupted")
            raise
        except StageFailed as failure:
            before = self.failures.get(stage.address)
            self.failures[stage.address] = failure
            name, code = escape(stage.name), failure.code
            if before is not None and (before.code, before.output) == (
                code,
                failure.output,
            ):
                self._print(f"[red]✗ {name} failed again (exit {code})")
            else:
                self._print(f"[red]✗ {name} (exit {code})")
                self._print(escape(failure.output))
            raise
        finally:
            self._running.remove(stage)
            place(stage.address).unlink(missing_ok=True)

    def report_skipped(self, addresses: Iterable[str]) -> None:
        """Name the stages that could not run because a stage that they need failed."""
        for address in addresses:
            if address in self._skipped:
                continue
            self._skipped.add(address)
            name = escape(self.plan.stages[address].name)
            self._print(f"[yellow]– {name} was not run: a stage that it needs failed")

    def _print(self, line: str) -> None:
        self._progress.console.print(line, highlight=False, soft_wrap=True)

"""`python -m flows NAME... [--jobs N] [--no-prefect]`: what `metassay run` starts."""

import argparse
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flows.workers import Workers

FAILED, INTERRUPTED = 1, 130
GOODBYE = "interrupted; the next run goes on from here"


def main() -> int:
    """Run; 0 if every report is up to date, 1 if a stage failed, 130 if it was interrupted."""
    parser = argparse.ArgumentParser(prog="python -m flows", description=__doc__)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--no-prefect", action="store_true")
    chosen = parser.parse_args()
    _on_signals(_leave)
    try:
        return _run(Path.cwd(), chosen)
    except KeyboardInterrupt:
        print(GOODBYE, file=sys.stderr)
        return INTERRUPTED


def _run(root: Path, chosen: argparse.Namespace) -> int:
    # What takes seconds to import is imported after the first line, or not at all.
    print(f"looking for what changed in {', '.join(chosen.names)}", file=sys.stderr, flush=True)
    from flows import dag
    from flows.recovery import guarded
    from flows.watch import Watch
    from flows.workers import Workers

    # Prefect reads its settings when it is imported, and makes its folder but not the one above.
    os.environ.update(dag.environment(root))
    with guarded(root) as held:
        workers = Workers(root, held)
        with Watch(dag.plan(root, chosen.names)) as watch:
            if not watch.plan.stale:
                return 0
            if chosen.no_prefect:
                from flows.plain import run
            else:
                print("Prefect's server starts; that takes some 15 seconds", file=sys.stderr)
                from flows.benchmark import run
            _let_interrupt(workers)
            failed = run(root, workers, watch, jobs=chosen.jobs)
        workers.close()
    return FAILED if failed else 0


def _leave(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    """Before the first stage there is nothing to end in order, and an import cannot be left so."""
    cursor = "\x1b[?25h" if sys.stderr.isatty() else ""  # the bar may have hidden it
    os.write(sys.stderr.fileno(), f"{cursor}{GOODBYE}\n".encode())
    os._exit(INTERRUPTED)


def _let_interrupt(workers: "Workers") -> None:
    def interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        if workers.stopped.is_set():
            os._exit(INTERRUPTED)  # asked twice
        # Before anything waits for the workers: they wait for the stages.
        workers.kill()
        raise KeyboardInterrupt

    _on_signals(interrupt)


def _on_signals(handler: Callable[[int, FrameType | None], None]) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, handler)


if __name__ == "__main__":
    sys.exit(main())

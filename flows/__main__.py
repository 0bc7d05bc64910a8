"""`python -m flows NAME... [--jobs N] [--no-prefect]`: what `metassay run` starts."""

import argparse
import os
import signal
import sys
from pathlib import Path
from types import FrameType

from flows import dag
from flows.recovery import guarded


def main() -> int:
    """Run; 0 if every report is up to date, 1 if a stage failed."""
    parser = argparse.ArgumentParser(prog="python -m flows", description=__doc__)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--no-prefect", action="store_true")
    chosen = parser.parse_args()
    root = Path.cwd()
    # Prefect reads its settings when it is imported, and makes its folder but not the one above.
    os.environ.update(dag.environment(root))
    Path(os.environ["PREFECT_HOME"]).mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("PREFECT_LOGGING_LEVEL", "CRITICAL")
    signal.signal(signal.SIGTERM, _interrupt)
    signal.signal(signal.SIGINT, _interrupt)
    if chosen.no_prefect:
        from flows.plain import run
    else:
        from flows.benchmark import run
    with guarded(root):
        return 1 if run(root, chosen.names, jobs=chosen.jobs) else 0


def _interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    # Before anything waits for the workers: they wait for the stages.
    dag.kill_running()
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())

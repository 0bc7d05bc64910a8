"""The command `figures`: what papers/ of Metassay's own repository draws."""

import argparse
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from metassay.core import parent_watch
from metassay.core.errors import BadInput

PAPERS = Path("papers")
_PATIENCE = 3.0  # seconds until a process ends that was interrupted


def figures(args: argparse.Namespace) -> int:
    """Run `python -m papers` with these options; return its exit code.

    The folder `papers/` is not part of the package, since its records name the
    benchmarks of the repository. Raises BadInput where it is not.
    """
    if not (PAPERS / "__main__.py").is_file():
        raise BadInput(
            f"{PAPERS}/ is not here: it draws the figures of five papers from the benchmarks of"
            " Metassay's own repository, so run this in a copy of that; figures of your own"
            " benchmark are in reports/NAME/figures after `metassay run NAME`"
        )
    words = [word for paper in args.paper or () for word in ("--paper", paper)]
    if args.format:
        words += ["--format", args.format]
    process = subprocess.Popen(
        [sys.executable, "-m", PAPERS.name, *words],
        env=os.environ | parent_watch.ENVIRONMENT,
        stdin=subprocess.PIPE,
    )
    try:
        return process.wait()
    except KeyboardInterrupt:
        with suppress(subprocess.TimeoutExpired):
            return process.wait(_PATIENCE)  # a terminal interrupts both
    assert process.stdin is not None
    process.stdin.close()  # so that it ends in order
    return process.wait()

"""The command `figures`: what papers/ of Metassay's own repository draws."""

import argparse
import subprocess
import sys
from pathlib import Path

from metassay.core.errors import BadInput

PAPERS = Path("papers")


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
    process = subprocess.Popen([sys.executable, "-m", PAPERS.name, *words])
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:  # which it has got, too, and ends in order
            continue

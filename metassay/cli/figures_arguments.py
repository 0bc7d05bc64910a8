"""What `metassay figures` takes."""

import argparse
from collections.abc import Callable

from metassay.paper_figures import FORMATS, NAMES

ABOUT = """\
Draw tables and figures of papers from the tables of benchmarks, ours beside what was printed, into
reports/figures/PAPER/. Only those are drawn whose numbers, record or code changed; nothing else is
run. What can be drawn is; what lacks a table is named with the command that makes it, what reads a
damaged one with what is wrong, and the exit code is 3 then (1 if nothing at all could be drawn).
docs/figures.md lists all of them, those that are open too. A paper all of whose tables are there is
drawn by its stage of dvc.yaml, so that dvc.lock says from which tables. With --format the folder
has files of these formats alone, and dvc.lock stays as it is."""


def add_commands(
    add: Callable[..., argparse.ArgumentParser], piped: Callable[[str, str, str], object]
) -> None:
    """Add the command."""
    drawing = add(
        "figures",
        piped("figures", "figures", "figures"),
        "draw figures and tables of papers",
        ABOUT,
    )
    drawing.add_argument(
        "--paper", choices=NAMES, action="append", help="which (default: all; may repeat)"
    )
    drawing.add_argument(
        "--format",
        type=_formats,
        metavar=",".join(FORMATS),
        help="only files of these formats (default: all)",
    )


def _formats(text: str) -> tuple[str, ...]:
    chosen = tuple(dict.fromkeys(text.split(",")))
    unknown = [one for one in chosen if one not in FORMATS]
    if unknown:
        raise argparse.ArgumentTypeError(
            f"{', '.join(map(repr, unknown))}: choose from {', '.join(FORMATS)}"
        )
    return chosen

"""Shared output of commands: tables that cut no name, plain lines, and where a report lies."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Column, Table

from metassay.core.errors import BadInput


def folded(*heads: str, title: str) -> Table:
    """Make a table in which long names go on in the next line, and none is cut."""
    return Table(*(Column(head, overflow="fold") for head in heads), title=title)


def ruled(*columns: Column, **options: Any) -> Table:
    """Make a table with a single rule, below its heads."""
    return Table(
        *columns, box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, **options
    )


def numbers(head: str) -> Column:
    """Make a column of numbers, which are never broken."""
    return Column(head, justify="right", no_wrap=True)


def say(console: Console, *lines: str, wrap: bool = True, **options: Any) -> None:
    """Print lines unchanged; without `wrap` only the terminal breaks them."""
    for line in lines:
        console.print(
            line, markup=False, highlight=False, soft_wrap=not wrap, **options
        )


def confirm(question: str, *, without_terminal: Sequence[str]) -> bool:
    """Ask once for yes or no; without a terminal, raise BadInput with these lines."""
    if not sys.stdin.isatty():
        raise BadInput(without_terminal)
    return input(f"{question} [y/n] ").strip().lower() in ("y", "yes")


def page(name: str) -> Path:
    """Return the path of a benchmark's report."""
    return Path("reports") / name / "index.html"

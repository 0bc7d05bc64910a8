"""What several commands print: tables that cut no name, plain lines, and where a report lies."""

from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Column, Table


def folded(*heads: str, title: str) -> Table:
    """A table in which no name is cut: where there is no room it goes on in the next line."""
    return Table(*(Column(head, overflow="fold") for head in heads), title=title)


def ruled(*columns: Column, **options: Any) -> Table:
    """A table with one rule, below its heads."""
    return Table(*columns, box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, **options)


def numbers(head: str) -> Column:
    """A column of numbers, which are never parted."""
    return Column(head, justify="right", no_wrap=True)


def say(console: Console, *lines: str, wrap: bool = True, **options: Any) -> None:
    """Print lines as they are; without `wrap` the terminal alone breaks them."""
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=not wrap, **options)


def page(name: str) -> Path:
    """The page of a benchmark's report."""
    return Path("reports") / name / "index.html"

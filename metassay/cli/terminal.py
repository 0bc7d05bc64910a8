"""What several commands print: tables that cut no name, and where a report lies."""

from pathlib import Path

from rich.table import Column
from rich.table import Table as RichTable


def folded(*heads: str, title: str) -> RichTable:
    """A table in which no name is cut: where there is no room it goes on in the next line."""
    return RichTable(*(Column(head, overflow="fold") for head in heads), title=title)


def page(name: str) -> Path:
    """The page of a benchmark's report."""
    return Path("reports") / name / "index.html"

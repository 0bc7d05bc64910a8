"""The commands that work in a project: list, fetch, validate, report."""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Column
from rich.table import Table as RichTable
from rich.text import Text

from metassay.datasets.fetch import fetch
from metassay.datasets.registry import find, load_registry
from metassay.errors import BadInput, Unfinished
from metassay.params import Params, load
from metassay.raw_checks import not_fetched, raw_problems
from metassay.reporting.headline import best_metrics, board, limits_of
from metassay.validation import configuration_problems, table_problems

STAGE_FAILED = 1
NARROW = 72  # columns of a terminal in which tables are folded more
_FRAME = 3  # columns around a cell


def list_all(_: argparse.Namespace) -> int:
    """Print benchmarks and datasets."""
    params, registry = load(), load_registry()
    console = Console()
    benchmarks = folded("benchmark", "dataset", "judges", "metrics", "report", title="benchmarks")
    benchmarks.columns[0].no_wrap = True  # the name that one types
    for name, benchmark in params.benchmarks.items():
        # One below the other, so that none is parted.
        judges = "\n".join(benchmark.judges)
        metrics = "\n".join([*benchmark.metrics, *benchmark.costly_metrics])
        there = "built" if _page(name).exists() else "not yet"
        benchmarks.add_row(name, benchmark.dataset, judges, metrics, there, end_section=True)
    datasets = folded("dataset", "access", "licence", "files", "what it is", title="datasets")
    for name, dataset in registry.items():
        files = str(len(dataset.files)) if dataset.files else "local"
        datasets.add_row(name, dataset.access, dataset.licence, files, dataset.title)
    datasets.columns[0].no_wrap = True
    console.print(benchmarks, datasets)
    console.print(f"metassay run NAME builds a report, {_page('NAME')}", highlight=False)
    return 0


def fetch_one(chosen: argparse.Namespace) -> int:
    """Fetch one dataset's files."""
    dataset = find(load_registry(), chosen.name)
    into = Path("data/raw") / chosen.name
    try:
        files = fetch(chosen.name, dataset, into, mirror=chosen.mirror)
    except (Unfinished, OSError) as error:
        print(error, file=sys.stderr)
        return STAGE_FAILED
    for file in files:
        print(file)
    return 0


def validate(_: argparse.Namespace) -> int:
    """Print every problem of params, registry, raw files and tables."""
    problems, unchecked = configuration_problems(), []
    if not problems:
        benchmarks, registry = load().benchmarks, load_registry()
        problems += raw_problems(benchmarks, registry)
        unchecked = not_fetched(benchmarks, registry)
    problems += table_problems(Path("data/tables"))
    for line in unchecked:
        print(f"note: {line}", file=sys.stderr)
    if problems:
        raise BadInput(problems)
    print("params, registry, raw files and tables are as they should be")
    return 0


def report(chosen: argparse.Namespace) -> int:
    """Render one report again."""
    params = checked([chosen.name])
    stage = f"benchmarks/{chosen.name}/dvc.yaml:report"
    command = [sys.executable, "-m", "dvc", "repro", "--force", "--single-item", stage]
    done = subprocess.run(command, check=False, env=_with_python())
    if done.returncode != 0:
        return STAGE_FAILED
    headline(chosen.name, params)
    return 0


def checked(names: list[str]) -> Params:
    """The params, if they and the registry are sound and have these benchmarks."""
    problems = configuration_problems()
    if problems:
        raise BadInput(problems)
    params = load()
    unknown = [name for name in names if name not in params.benchmarks]
    if unknown:
        known = ", ".join(params.benchmarks)
        raise BadInput(
            [f"benchmarks/: none is called {name!r}; there are: {known}" for name in unknown]
        )
    return params


def headline(name: str, params: Params) -> None:
    """Print the leaderboard of one benchmark, and which metrics are closest to people."""
    console = Console()
    folder = Path("data/tables") / name
    for table in _leaders(*board(folder), f"{name}: mean score of the whole texts", console.width):
        console.print(table)
    for line in limits_of(folder, float(params.meta_evaluation["confidence"])):
        console.print(line, markup=False, highlight=False)
    best = best_metrics(folder)
    if best:
        console.print(_trust(best, f"{name}: closest to people", narrow=console.width < NARROW))
    elif not params.benchmarks[name].criteria:
        console.print("[dim]nobody rated these texts: no metric can be tested against people here")
    console.print(f"report: {_page(name)}", soft_wrap=True)


def folded(*heads: str, title: str) -> RichTable:
    """A table in which no name is cut: where there is no room it goes on in the next line."""
    return RichTable(*(Column(head, overflow="fold") for head in heads), title=title)


def _leaders(
    authors: list[str], rows: list[list[str]], title: str, width: int
) -> Iterator[RichTable]:
    """Metrics by authors, as many authors side by side as there is room for."""
    first = max((len(metric) for metric, *_ in rows), default=0) + _FRAME + 1
    each = max(map(len, authors), default=0) + _FRAME
    many = max(1, (width - first) // each)
    for start in range(0, len(authors), many):
        heads = map(escape, authors[start : start + many])
        table = folded("metric", *heads, title=title)
        for metric, *values in rows:
            table.add_row(*map(Text, [metric, *values[start : start + many]]))
        yield table


def _trust(best: list[list[str]], title: str, *, narrow: bool) -> RichTable:
    """A row per decision under each criterion; names fold where there is no room, numbers don't."""
    table = RichTable(
        Column("decision", overflow="fold", max_width=11 if narrow else 15),
        Column("metric", overflow="fold", ratio=1),
        Column("correlation,\ncorrected", justify="right", no_wrap=True),
        Column("verdict", overflow="fold", max_width=14 if narrow else 24),
        title=title,
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
        expand=True,
    )
    for criterion, rows in groupby(best, key=itemgetter(0)):
        table.add_row("", Text(criterion, style="bold"))
        for row in rows:
            table.add_row(*map(Text, row[1:]))
        table.add_section()
    return table


def _page(name: str) -> Path:
    return Path("reports") / name / "index.html"


def _with_python() -> dict[str, str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    return {**os.environ, "PATH": path}

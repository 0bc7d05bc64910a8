"""The commands that work in a project: list, fetch, run, validate, report."""

import argparse
import os
import subprocess
import sys
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Column
from rich.table import Table as RichTable
from rich.text import Text

from metassay.datasets.fetch import fetch
from metassay.datasets.registry import find, load_registry
from metassay.errors import BadInput
from metassay.params import Params, load
from metassay.reporting.headline import best_metrics, board, limits_of
from metassay.validation import configuration_problems, table_problems

STAGE_FAILED = 1
NARROW = 72  # columns of a terminal in which tables are folded more


def list_all(_: argparse.Namespace) -> int:
    """Print benchmarks and datasets."""
    params, registry = load(), load_registry()
    console = Console()
    benchmarks = RichTable(
        "benchmark", "dataset", "judges", "metrics", "report", title="benchmarks"
    )
    for name, benchmark in params.benchmarks.items():
        judges = [e.judge for e in params.judging.values() if e.benchmark == name]
        metrics = [e.metric for e in params.measuring.values() if e.benchmark == name]
        page = _page(name)
        there = str(page) if page.exists() else f"not yet: metassay run {name}"
        benchmarks.add_row(name, benchmark.dataset, ", ".join(judges), ", ".join(metrics), there)
    datasets = RichTable("dataset", "access", "licence", "files", "what it is")
    for name, dataset in registry.items():
        files = str(len(dataset.files)) if dataset.files else "local"
        datasets.add_row(name, dataset.access, dataset.licence, files, dataset.title)
    console.print(benchmarks, datasets)
    return 0


def fetch_one(chosen: argparse.Namespace) -> int:
    """Fetch one dataset's files."""
    dataset = find(load_registry(), chosen.name)
    into = Path("data/raw") / chosen.name
    try:
        files = fetch(chosen.name, dataset, into, mirror=chosen.mirror)
    except OSError as error:
        print(error, file=sys.stderr)
        return STAGE_FAILED
    for file in files:
        print(file)
    return 0


def run(chosen: argparse.Namespace) -> int:
    """Run benchmarks, then print the headline of each."""
    params = checked(chosen.names)
    command = [sys.executable, "-m", "flows", *chosen.names, "--jobs", str(chosen.jobs)]
    if chosen.no_prefect:
        command.append("--no-prefect")
    environment = dict(os.environ)
    if chosen.mirror:
        environment["METASSAY_MIRROR"] = str(chosen.mirror.resolve())
    code = subprocess.run(command, env=environment, check=False).returncode
    if code != 0:
        print(
            "not every stage succeeded; mend what is named above and run the same command again:"
            " only what is missing is done",
            file=sys.stderr,
        )
        return STAGE_FAILED
    for name in chosen.names:
        _headline(name, params)
    return 0


def validate(_: argparse.Namespace) -> int:
    """Print every problem of params, registry and tables."""
    problems = [*configuration_problems(), *table_problems(Path("data/tables"))]
    if problems:
        raise BadInput(problems)
    print("params.yaml, data/registry.yaml and all tables are as they should be")
    return 0


def report(chosen: argparse.Namespace) -> int:
    """Render one report again."""
    params = checked([chosen.name])
    command = [sys.executable, "-m", "dvc", "repro", "--force", "--single-item"]
    done = subprocess.run([*command, f"report@{chosen.name}"], check=False, env=_with_python())
    if done.returncode != 0:
        return STAGE_FAILED
    _headline(chosen.name, params)
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
            [
                f"params.yaml: no benchmark is called {name!r}; there are: {known}"
                for name in unknown
            ]
        )
    return params


def _headline(name: str, params: Params) -> None:
    console = Console()
    folder = Path("data/tables") / name
    metrics, rows = board(folder)
    # With spaces the headings can wrap where the terminal is narrow.
    headings = [metric.replace("_", " ") for metric in metrics]
    leaders = RichTable(
        Column("author", overflow="fold"),
        *(Column(heading, overflow="fold") for heading in headings),
        title=f"{name}: mean score of the whole texts",
    )
    for row in rows:
        leaders.add_row(*row)
    console.print(leaders)
    for line in limits_of(folder, float(params.meta_evaluation["confidence"])):
        console.print(line, markup=False, highlight=False)
    best = best_metrics(folder)
    if best:
        console.print(_trust(best, f"{name}: closest to people", narrow=console.width < NARROW))
    elif not params.benchmarks[name].criteria:
        console.print("[dim]nobody rated these texts: no metric can be tested against people here")
    console.print(f"report: {_page(name)}", soft_wrap=True)


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

"""`metassay`: list, fetch, run, validate, report; money.py and two_files/ add the others."""

import argparse
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Column
from rich.table import Table as RichTable

from metassay import __version__, money
from metassay.datasets.fetch import fetch
from metassay.datasets.registry import find, load_registry
from metassay.errors import BadInput
from metassay.headline import best_metrics, board
from metassay.params import Params, load
from metassay.two_files import command as two_files
from metassay.validation import configuration_problems, table_problems

DONE, STAGE_FAILED, BAD_USAGE = 0, 1, 2

ABOUT = """\
Scores generated clinical and scientific text finely, then tests every score against people.

Work happens in a project: the folder with dvc.yaml and params.yaml. A benchmark is a dataset and
the metrics, judges and systems that params.yaml puts on it; its tables are versioned by DVC, so a
run repeats only what changed. Start with `metassay run sample`. `metassay meta-eval` alone needs no
project: it takes two files."""

ENDING = """\
exit codes:
  0  done
  1  a stage failed (the others went on; what failed is named)
  2  bad usage or configuration (every problem is listed at once)

environment:
  the variable that params.yaml > endpoints > ... > key_env names holds that endpoint's key
  METASSAY_MIRROR  a folder to take datasets from instead of their URLs; see `metassay fetch --help`
"""

FETCH = """\
Bring a dataset's files to data/raw/NAME from the URL that data/registry.yaml gives, at the pinned
commit, and check each against its sha256. With --mirror DIR (or METASSAY_MIRROR) the files are
copied from DIR/<dataset's mirror folder>/<file> instead, for a site without internet access."""

RUN = """\
Bring the reports of the named benchmarks up to date, running only the stages whose inputs, code or
parameters changed. Stages that do not need each other run side by side. With Prefect each stage is
a task that is retried as dvc.yaml's `meta` says; --no-prefect does without its server and retries.
`dvc repro report@NAME` does the same work without this command."""

VALIDATE = """\
Check params.yaml, data/registry.yaml, and every table there is; print every problem with its file,
row and remedy in one go."""

REPORT = """\
Render reports/NAME/index.html again from the tables that are there, and print its headline."""


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    chosen = parser().parse_args(arguments)
    command: Callable[[argparse.Namespace], int] = chosen.command
    try:
        return command(chosen)
    except BadInput as error:
        return _complain(list(error.problems))


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
    return DONE


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
    return DONE


def run(chosen: argparse.Namespace) -> int:
    """Run benchmarks, then print the headline of each."""
    params = _checked(chosen.names)
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
    return DONE


def validate(_: argparse.Namespace) -> int:
    """Print every problem of params, registry and tables."""
    problems = [*configuration_problems(), *table_problems(Path("data/tables"))]
    if problems:
        return _complain(problems)
    print("params.yaml, data/registry.yaml and all tables are as they should be")
    return DONE


def report(chosen: argparse.Namespace) -> int:
    """Render one report again."""
    params = _checked([chosen.name])
    command = [sys.executable, "-m", "dvc", "repro", "--force", "--single-item"]
    done = subprocess.run([*command, f"report@{chosen.name}"], check=False, env=_with_python())
    if done.returncode != 0:
        return STAGE_FAILED
    _headline(chosen.name, params)
    return DONE


def parser() -> argparse.ArgumentParser:
    """What the command line takes."""
    raw = argparse.RawDescriptionHelpFormatter
    whole = argparse.ArgumentParser(
        prog="metassay", description=ABOUT, epilog=ENDING, formatter_class=raw
    )
    whole.add_argument("--version", action="version", version=f"metassay {__version__}")
    commands = whole.add_subparsers(required=True, metavar="COMMAND")

    def add(
        name: str, command: Callable[[argparse.Namespace], int], summary: str, about: str
    ) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=summary, description=about, formatter_class=raw)
        sub.set_defaults(command=command)
        return sub

    add("list", list_all, "show benchmarks and datasets", "Show benchmarks and datasets.")
    fetching = add("fetch", fetch_one, "bring a dataset's files, checked by sha256", FETCH)
    fetching.add_argument("name", metavar="NAME", help="a dataset of data/registry.yaml")
    running = add("run", run, "bring the reports of benchmarks up to date", RUN)
    running.add_argument("names", metavar="NAME", nargs="+", help="a benchmark of params.yaml")
    running.add_argument("--jobs", type=_jobs, default=2, help="stages at a time (default 2)")
    running.add_argument("--no-prefect", action="store_true", help="no Prefect server, no retries")
    for sub in (fetching, running):
        mirror = os.environ.get("METASSAY_MIRROR")
        sub.add_argument(
            "--mirror",
            type=Path,
            metavar="DIR",
            default=Path(mirror) if mirror else None,
            help="a local copy of the datasets, a folder per set",
        )
    add("validate", validate, "check params, registry and tables", VALIDATE)
    reporting = add("report", report, "render a report again", REPORT)
    reporting.add_argument("name", metavar="NAME", help="a benchmark of params.yaml")
    money.add_commands(add, _checked)
    two_files.add_commands(add)
    return whole


def _jobs(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least one stage at a time")
    return number


def _checked(names: list[str]) -> Params:
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
        Column("author", no_wrap=True), *headings, title=f"{name}: mean score of the whole texts"
    )
    for row in rows:
        leaders.add_row(*row)
    console.print(leaders)
    best = best_metrics(folder)
    if best:
        trust = RichTable(
            "criterion",
            "metric",
            "verdict",
            "correlation",
            "interval",
            "n",
            title=f"{name}: closest to people",
        )
        for row in best:
            trust.add_row(*row)
        console.print(trust)
    elif not params.benchmarks[name].criteria:
        console.print("[dim]nobody rated these texts: no metric can be tested against people here")
    console.print(f"report: {_page(name)}", soft_wrap=True)


def _page(name: str) -> Path:
    return Path("reports") / name / "index.html"


def _with_python() -> dict[str, str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    return {**os.environ, "PATH": path}


def _complain(problems: list[str]) -> int:
    for problem in problems:
        print(problem, file=sys.stderr)
    return BAD_USAGE


if __name__ == "__main__":
    sys.exit(main())

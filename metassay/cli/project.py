"""The commands that work in a project: list, fetch, validate, report, refresh."""

import argparse
import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from metassay.api.naming import meant
from metassay.cli.run_summary import closing
from metassay.cli.running import run_flows
from metassay.cli.terminal import folded, page
from metassay.core.errors import Unfinished, raise_problems
from metassay.core.kinds import is_path
from metassay.core.merges import dvc_problems, file_problems
from metassay.core.options import BENCHMARKS, PARAMS
from metassay.core.params import Params, load
from metassay.core.work import owner_alone
from metassay.datasets.croissant import write_croissant
from metassay.datasets.fetch import fetch
from metassay.datasets.registry import Dataset, find, load_registry
from metassay.project.raw_checks import not_fetched, raw_problems
from metassay.project.validation import KINDS, configuration_problems, table_problems
from metassay.versions.code_yaml import FILE as CODE
from metassay.versions.code_yaml import put, recorded, refresh

STAGE_FAILED = 1
SHOWN = 12  # names of what has changed; the rest is counted


def listing(chosen: argparse.Namespace) -> int:
    """Print what there is, or describe the datasets in files."""
    if chosen.croissant is None:
        return list_all(chosen)
    for line in write_croissant(load_registry(), chosen.croissant):
        print(line)
    print(f"written to {chosen.croissant}: a Croissant file per dataset")
    return 0


def list_all(_: argparse.Namespace) -> int:
    """Print benchmarks, datasets, and the project's own kinds."""
    params, registry = load(), load_registry()
    console = Console()
    benchmarks = folded("benchmark", "dataset", "judges", "metrics", "report", title="benchmarks")
    for name, benchmark in params.benchmarks.items():
        # One below the other, so that none is parted.
        judges = "\n".join(benchmark.judges)
        measured = [metric for _, metric in benchmark.measured_by]
        metrics = "\n".join([*measured, *benchmark.combinations])
        cells = (name, benchmark.dataset, judges, metrics, _built(name))
        benchmarks.add_row(*cells, end_section=True)
    tests = folded("judge test", "test", "dataset", "judges", "report", title="tests of judges")
    for name, test in params.judge_tests.items():
        cells = (name, test.test, test.dataset, "\n".join(test.judges), _built(name))
        tests.add_row(*cells, end_section=True)
    heads = ("test", "dataset", "segmentations", "report")
    segmenting = folded(*heads, title="tests of segmentations")
    for name, one in params.segment_tests.items():
        segmentations = "\n".join(one.segmentations)
        segmenting.add_row(name, one.dataset, segmentations, _built(name), end_section=True)
    tunings = folded("tuning", "tune", "benchmark", "models", title="tunings of models")
    for name, tuning in params.tunings.items():
        models = "\n".join(tuning.models)
        tunings.add_row(name, tuning.tune, tuning.benchmark, models, end_section=True)
    datasets = folded("dataset", "access", "licence", "files", "what it is", title="datasets")
    for name, dataset in registry.items():
        files = str(len(dataset.files)) if dataset.files else "local"
        row = (name, dataset.access, dataset.licence, files, dataset.title)
        datasets.add_row(*map(Text, row))
    for table in (benchmarks, tests, segmenting, tunings, datasets):
        table.columns[0].no_wrap = True  # the name that one types
        if table.row_count or table in (benchmarks, datasets):
            console.print(table)
    kinds = _user_kinds(params, registry)
    if kinds.row_count:
        console.print(kinds)
    console.print(f"metassay run NAME builds a report, {page('NAME')}", highlight=False)
    return 0


def _built(name: str) -> str:
    return "built" if page(name).exists() else "not yet"


def _user_kinds(params: Params, registry: Mapping[str, Dataset]) -> Table:
    kinds = folded("block", "name", "kind", title="kinds of this project")
    for block in KINDS:
        for name, options in getattr(params, block).items():
            if is_path(str(options.get("kind"))):
                kinds.add_row(block, name, options["kind"])
    for name, dataset in registry.items():
        if is_path(dataset.reader or ""):
            kinds.add_row("datasets", name, dataset.reader)
    return kinds


def fetch_one(chosen: argparse.Namespace) -> int:
    """Fetch one dataset's files."""
    dataset = find(load_registry(), chosen.name)
    into = Path("data/raw") / chosen.name
    try:
        with owner_alone() if dataset.access != "public" else nullcontext():
            files = fetch(chosen.name, dataset, into, mirror=chosen.mirror)
    except Unfinished as error:
        print(error, file=sys.stderr)
        return STAGE_FAILED
    for file in files:
        print(file)
    return 0


def validate(_: argparse.Namespace) -> int:
    """Print every problem of params, registry, raw files and tables."""
    problems, unchecked = configuration_problems(), []
    if not problems:
        benchmarks, registry = load().evaluations, load_registry()
        problems += raw_problems(benchmarks, registry)
        unchecked = not_fetched(benchmarks, registry)
    problems += [*_committed_problems(), *table_problems(Path("data/tables"))]
    for line in unchecked:
        print(f"note: {line}", file=sys.stderr)
    raise_problems(problems)
    print("params, registry, raw files and tables are as they should be")
    return 0


def _committed_problems() -> list[str]:
    """Of what DVC and `metassay refresh` write, and a merge may have broken."""
    names = sorted(file.parent.name for file in BENCHMARKS.glob(f"*/{PARAMS.name}"))
    found = dvc_problems(Path(), names)
    if Path(CODE).exists():  # the next run writes it
        renew = "; `metassay refresh` writes it anew"
        found += [one + renew for one in file_problems(Path(), Path(CODE))]
    return found


def report(chosen: argparse.Namespace) -> int:
    """Render one report again: a run of its stage alone."""
    params = checked([chosen.name])
    code = run_flows([chosen.name, "--only", "report"], dict(os.environ))
    return code or closing([chosen.name], params)


def checked(names: list[str]) -> Params:
    """The params, if they and the registry are sound and have these benchmarks."""
    raise_problems(configuration_problems())
    return named(names)


def named(names: list[str]) -> Params:
    """The params, if they have these benchmarks; the rest of the project is not looked at."""
    params = load()
    raise_problems(_unknown(name, params.every) for name in names if name not in params.every)
    return params


def _unknown(name: str, there: Iterable[str]) -> str:
    if (BENCHMARKS / name).is_dir():
        return f"{BENCHMARKS / name / PARAMS} does not exist; bring it back, as by git"
    close = meant(name, there)
    return f"{BENCHMARKS}/: none is called {name!r}{close}; there are: {', '.join(there)}"


def refresh_code(_: argparse.Namespace) -> int:
    """Write dvc.yaml files and code.yaml where they aren't true any more; say what has changed."""
    if Path("metassay/project").is_dir():  # our own repository
        from metassay.project.kit import own_dags

        dags = [str(file) for file, text in own_dags(Path()).items() if put(Path(file), text)]
        print(f"dvc.yaml: {', '.join(dags) or 'all are up to date'}")
    before = _entries()
    if not refresh(Path()):
        print(f"{CODE} is up to date")
        return 0
    after = _entries()
    changed = sorted(name for name in before | after if before.get(name) != after.get(name))
    more = f" and {len(changed) - SHOWN} more" if len(changed) > SHOWN else ""
    names = f" Changed: {', '.join(changed[:SHOWN])}{more}" if changed else ""
    print(f"{CODE} is written again; commit it.{names}")
    return 0


def _entries() -> dict[str, str]:
    every = recorded(Path()).items()
    return {f"{block}.{name}": of for block, names in every for name, of in names.items()}

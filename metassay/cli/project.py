"""The commands that look at a whole project: list, validate; and fetching its datasets."""

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path

from rich.console import Console
from rich.text import Text

from metassay.cli.terminal import folded, page
from metassay.core.errors import Unfinished, hint, raise_problems
from metassay.core.exit_codes import DONE, FAILED
from metassay.core.kinds import choose, is_path
from metassay.core.merges import dvc_problems, file_problems
from metassay.core.options import BENCHMARKS, PARAMS
from metassay.core.params import Evaluation, Params, load
from metassay.core.work import owner_alone
from metassay.datasets.croissant import write_croissant
from metassay.datasets.fetch import fetch
from metassay.datasets.registry import Dataset, load_registry
from metassay.llm.needs import all_datasets
from metassay.project.validation import (
    KINDS,
    configuration_problems,
    not_fetched,
    raw_problems,
    table_problems,
)
from metassay.versions.code_yaml import DATASETS, used_blocks
from metassay.versions.code_yaml import FILE as CODE


def listing(chosen: argparse.Namespace) -> int:
    """Print what there is, or describe the datasets in files."""
    if chosen.croissant is not None:
        for line in write_croissant(load_registry(), chosen.croissant):
            print(line)
        print(f"written to {chosen.croissant}: a Croissant file per dataset")
        return 0
    params, registry = load(), load_registry()
    console = Console()
    for title, heads, rows in _tables(params, registry):
        if rows or title in ("benchmarks", "datasets"):
            table = folded(*heads.split(", "), title=title)
            table.columns[0].no_wrap = True  # the name that one types
            for row in rows:
                # Names one below the other, so that none is parted.
                table.add_row(
                    *(Text(cell if isinstance(cell, str) else "\n".join(cell)) for cell in row),
                    end_section=title not in ("datasets", _OWN_KINDS),
                )
            console.print(table)
    console.print(f"metassay run NAME builds a report, {page('NAME')}", highlight=False)
    return 0


_OWN_KINDS = "kinds of this project"
_Rows = list[tuple[str | list[str], ...]]


def _tables(params: Params, registry: Mapping[str, Dataset]) -> Iterator[tuple[str, str, _Rows]]:
    """Title, heads and rows of each table of `metassay list`."""
    rows: _Rows = []
    for name, of in params.benchmarks.items():
        metrics = [*(metric for _, metric in of.measured_by), *of.combinations]
        rows.append((name, of.dataset, of.judges, metrics, _built(name)))
    yield "benchmarks", "benchmark, dataset, judges, metrics, report", rows
    rows = [
        (name, of.test, of.dataset, of.judges, _built(name))
        for name, of in params.judge_tests.items()
    ]
    yield "tests of judges", "judge test, test, dataset, judges, report", rows
    rows = [
        (name, of.dataset, of.segmentations, _built(name))
        for name, of in params.segment_tests.items()
    ]
    yield "tests of segmentations", "test, dataset, segmentations, report", rows
    rows = [(name, of.tune, of.benchmark, of.models) for name, of in params.tunings.items()]
    yield "tunings of models", "tuning, tune, benchmark, models", rows
    rows = [
        (name, of.access, of.licence, str(len(of.files)) if of.files else "local", of.title)
        for name, of in registry.items()
    ]
    yield "datasets", "dataset, access, licence, files, what it is", rows
    named = [(block, name, of) for block in KINDS for name, of in getattr(params, block).items()]
    rows = [(block, name, of["kind"]) for block, name, of in named if is_path(str(of.get("kind")))]
    readers = [("datasets", name, of.reader or "") for name, of in registry.items()]
    yield _OWN_KINDS, "block, name, kind", [*rows, *(one for one in readers if is_path(one[2]))]


def _built(name: str) -> str:
    return "built" if page(name).exists() else "not yet"


def fetch_all(names: list[str], mirror: Path | None) -> int:
    """Fetch the files of every dataset whose texts these benchmarks read, or of these datasets."""
    params, registry = checked([]), load_registry()
    named([name for name in names if name not in registry])
    datasets = {name for name in names if name not in params.every}
    for name in {*names} - datasets:
        datasets |= {*datasets_in(params.data_of(name), params)}
    for name in sorted(datasets):
        dataset = registry[name]
        if not dataset.files:
            print(f"{name}: a local dataset, which is read where it lies")
            continue
        try:
            with owner_alone() if dataset.access != "public" else nullcontext():
                files = fetch(name, dataset, Path("data/raw") / name, mirror=mirror)
        except Unfinished as error:
            print(error, file=sys.stderr)
            return FAILED
        for file in files:
            print(file)
    return DONE


def validate(_: argparse.Namespace) -> int:
    """Print every problem of params, registry, raw files and tables."""
    problems, unchecked = configuration_problems(), []
    if not problems:
        benchmarks, registry = load().evaluations, load_registry()
        problems += raw_problems(benchmarks, registry)
        unchecked = not_fetched(benchmarks, registry)
    # Of what DVC and `metassay update` write, and a merge may have broken.
    names = sorted(file.parent.name for file in BENCHMARKS.glob(f"*/{PARAMS.name}"))
    found = dvc_problems(Path(), names)
    if Path(CODE).exists():  # the next run writes it
        renew = "; `metassay update` writes it again"
        found += [one + renew for one in file_problems(Path(), Path(CODE))]
    problems += [*found, *table_problems(Path("data/tables"))]
    for line in unchecked:
        print(f"note: {line}", file=sys.stderr)
    raise_problems(problems)
    print("no problem found in params, registry, raw files and tables")
    return 0


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
    close = hint(name, there)
    return f"{BENCHMARKS}/: no {name!r}; there are: {', '.join(there)}{close}"


def datasets_in(folder: Evaluation, params: Params) -> list[str]:
    """The datasets whose texts the tables of a benchmark may hold: its own, and whose examples and
    claims its systems, judges and the like are shown, which the answers' prompts repeat."""
    used = used_blocks([folder])
    kinds = [
        choose(index, getattr(params, block)[name], where=f"{PARAMS} > {block} > {name}")
        for block, index in KINDS.items()
        for name in used[block]
    ]
    return sorted({*used[DATASETS], *all_datasets(kinds)})

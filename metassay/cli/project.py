"""The commands on a whole project: list, validate; and fetching its datasets."""

import argparse
import sys
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path

from rich.console import Console
from rich.text import Text

from metassay.cli.benchmark_names import name_problems
from metassay.cli.terminal import folded, page
from metassay.core.errors import Unfinished, raise_problems
from metassay.core.exit_codes import DONE, FAILED
from metassay.core.kinds import choose, is_path
from metassay.core.merges import dvc_problems, file_problems
from metassay.core.options import BENCHMARKS, PARAMS
from metassay.core.params import Evaluation, Params, load
from metassay.core.stages import VERSIONS, used_blocks
from metassay.core.versions import DATASETS
from metassay.core.work import owner_alone
from metassay.datasets.croissant import write_croissant
from metassay.datasets.fetch import fetch
from metassay.datasets.registry import Dataset, load_registry
from metassay.llm.needs import all_datasets
from metassay.project.raw_files import design_problems, not_fetched, raw_problems
from metassay.project.validation import (
    KINDS,
    configuration_problems,
    not_installed,
    table_problems,
)


def list_all(args: argparse.Namespace) -> int:
    """Print the tables of `metassay list`, or describe the datasets in files."""
    if args.croissant is not None:
        for line in write_croissant(load_registry(), args.croissant):
            print(line)
        print(f"written to {args.croissant}: a Croissant file per dataset")
        return 0
    params, registry = load(), load_registry()
    console = Console()
    for title, heads, rows in _tables(params, registry):
        if rows or title in ("benchmarks", "datasets"):
            table = folded(*heads.split(", "), title=title)
            table.columns[0].no_wrap = True  # the name, which users type
            for row in rows:
                # One name per line, so that none is broken.
                table.add_row(
                    *(
                        Text(cell if isinstance(cell, str) else "\n".join(cell))
                        for cell in row
                    ),
                    end_section=title not in ("datasets", _OWN_KINDS),
                )
            console.print(table)
    console.print(f"metassay run NAME builds a report, {page('NAME')}", highlight=False)
    return 0


_OWN_KINDS = "kinds of this project"
_Rows = list[tuple[str | list[str], ...]]


def _tables(
    params: Params, registry: Mapping[str, Dataset]
) -> Iterator[tuple[str, str, _Rows]]:
    """Yield title, heads and rows of each table of `metassay list`."""
    rows: _Rows = []
    for name, entry in params.benchmarks.items():
        metrics = [*(metric for _, metric in entry.measured_by), *entry.combinations]
        rows.append((name, entry.dataset, entry.judges, metrics, _built(name)))
    yield "benchmarks", "benchmark, dataset, judges, metrics, report", rows
    rows = [
        (name, entry.test, entry.dataset, entry.judges, _built(name))
        for name, entry in params.judge_tests.items()
    ]
    yield "tests of judges", "judge test, test, dataset, judges, report", rows
    rows = [
        (name, entry.dataset, entry.segmentations, _built(name))
        for name, entry in params.segment_tests.items()
    ]
    yield "tests of segmentations", "test, dataset, segmentations, report", rows
    tunings = params.tunings.items()
    rows = [
        (name, tuning.tune, tuning.benchmark, tuning.models) for name, tuning in tunings
    ]
    yield "tunings of models", "tuning, tune, benchmark, models", rows
    rows = [
        (name, data.access, data.licence, str(len(data.files) or "local"), data.title)
        for name, data in registry.items()
    ]
    yield "datasets", "dataset, access, licence, files, what it is", rows
    blocks = ((block, getattr(params, block).items()) for block in KINDS)
    kinds = (
        (block, name, str(b.get("kind")))
        for block, named in blocks
        for name, b in named
    )
    readers = (("datasets", name, data.reader or "") for name, data in registry.items())
    yield (
        _OWN_KINDS,
        "block, name, kind",
        [row for row in (*kinds, *readers) if is_path(row[2])],
    )


def _built(name: str) -> str:
    return "built" if page(name).exists() else "not yet"


def fetch_all(names: list[str], mirror: Path | None) -> int:
    """Fetch the files of the datasets that these benchmarks read, or of these datasets."""
    params, registry = check_project([]), load_registry()
    load_params([name for name in names if name not in registry])
    datasets = {name for name in names if name not in params.every}
    for name in {*names} - datasets:
        datasets |= {*datasets_in(params.data_of(name), params)}
    for name in sorted(datasets):
        dataset = registry[name]
        if not dataset.files:
            print(f"{name}: a local dataset, read in place")
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
        unchecked = [*not_fetched(benchmarks, registry), *not_installed(load())]
    # Files that DVC and `metassay update` write, and a merge may have broken.
    names = sorted(file.parent.name for file in BENCHMARKS.glob(f"*/{PARAMS.name}"))
    problems += dvc_problems(Path(), names)
    versions = Path(VERSIONS)
    if versions.exists():  # else the next run writes it
        remedy = "; `metassay update` writes it again"
        problems += [line + remedy for line in file_problems(Path(), versions)]
    problems += table_problems(Path("data/tables"))
    for line in unchecked:
        print(f"note: {line}", file=sys.stderr)
    raise_problems(problems)
    print("no problem found in params, registry, raw files and tables")
    return 0


def check_project(names: list[str]) -> Params:
    """Load params; BadInput for all that a run of these benchmarks would refuse.

    That is all that is wrong with params and registry, unknown names, and designs that
    name what the data do not have.
    """
    raise_problems(configuration_problems())
    params = load_params(names)
    chosen = {
        name: params.evaluations[name] for name in names if name in params.evaluations
    }
    raise_problems(design_problems(chosen, load_registry()))
    return params


def load_params(names: list[str]) -> Params:
    """Load params; BadInput for unknown benchmarks. The rest of the project is not checked."""
    params = load()
    raise_problems(name_problems(names, params.every))
    return params


def datasets_in(folder: Evaluation, params: Params) -> list[str]:
    """Return the datasets whose texts the tables of a benchmark may hold: its own, and
    those of examples and claims in the prompts of its systems, judges and other kinds.
    """
    used = used_blocks(folder)
    kinds = [
        choose(
            index, getattr(params, block)[name], where=f"{PARAMS} > {block} > {name}"
        )
        for block, index in KINDS.items()
        for name in used.get(block, ())
    ]
    return sorted({*used[DATASETS], *all_datasets(kinds)})

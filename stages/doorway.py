"""What every doorway shares: what its stage may read and write, its lock, exit code and notes."""

import contextlib
import logging
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from metassay.core import parent_watch, strict_yaml
from metassay.core.atomic import remove_leftovers
from metassay.core.errors import BadInput, Unfinished, disk_problem, raise_problems
from metassay.core.exit_codes import BAD_INPUT
from metassay.core.kinds import Chosen, choose
from metassay.core.options import PARAMS, AnyOptions, Criterion, parse
from metassay.core.params import TUNED, Params
from metassay.core.stages import files_in, files_of
from metassay.core.versions import FILE, find_stale
from metassay.core.work import WORK, close, lock_file, owner_alone, restrict_work
from metassay.datasets.registry import REGISTRY, Dataset, load_registry, place_problems
from metassay.llm.endpoints import Models, parse_models
from metassay.tables import parquet
from metassay.tables.notes import NOTES
from metassay.tables.parquet import Table
from stages.declared import Entry, find_entry

UNFINISHED = 1
TABLES = Path("data/tables")
REPORTS = Path("reports")


class StageIO:
    """What a stage may read and write: what its entry in dvc.yaml declares, no more.

    `benchmark` and `item` are the words of its command (`item` is "" if there is no
    second word); `used` collects what was read and written, as dvc.yaml names it:
    (file, key) or a path.
    """

    def __init__(self, entry: Entry, arguments: Sequence[str]) -> None:
        self.entry = entry
        self.benchmark = arguments[0]
        self.item = "".join(arguments[1:])
        self.used: set[str | tuple[str, str]] = set()
        self._tables = (TABLES / self.benchmark).as_posix()
        self._names: Callable[[str], list[str]] = lambda table: files_of(
            entry.stages, table, self.param
        )
        self._loaded: dict[str, object] = {}

    def param(self, key: str) -> Any:
        """Return a value of the benchmark's params.yaml."""
        return self._value(self.entry.params_file, key)

    def shared(self, key: str) -> Any:
        """Return a value of the root's params.yaml, such as `aggregation` or `judges.lexical`."""
        return self._value(str(PARAMS), key)

    @property
    def project(self) -> Params:
        """All params, for what `Entry` says alone."""
        assert self.entry.project is not None
        return self.entry.project

    def options(self, model: type[AnyOptions], key: str) -> AnyOptions:
        """Return a block of the root's params.yaml, checked."""
        return parse(
            model, self.shared(key), where=" > ".join([str(PARAMS), *key.split(".")])
        )

    def dataset(self, name: str = "") -> Dataset:
        """Return the registry's entry of a dataset; by default the benchmark's."""
        name = name or self.param("dataset")
        block = self._value(str(REGISTRY), f"datasets.{name}")
        return parse(Dataset, block, where=f"{REGISTRY} > datasets > {name}")

    def reader(self) -> str:
        """Return the name of the reader of the benchmark's dataset."""
        name = self.param("dataset")
        return str(self._value(str(REGISTRY), f"datasets.{name}.reader"))

    def raw(self, reader_problem: str | None = None) -> Path:
        """Return the folder of raw files; raises BadInput if it is of another dataset."""
        raw = self.path(self.param("raw"))
        name = self.param("dataset")
        # Where a dataset lies changes no number, so dvc.yaml does not declare it.
        problems = place_problems(name, load_registry()[name], raw)
        problems = [f"raw: {problem}" for problem in problems]
        problems += [f"dataset: {reader_problem}"] if reader_problem else []
        if problems:
            raise BadInput(
                f"{self.entry.params_file} > {problem}" for problem in problems
            )
        return raw

    def criteria(self) -> dict[str, Criterion]:
        """Return the criteria that the benchmark's raters judged."""
        where = f"{self.entry.params_file} > criteria"
        return {
            name: parse(Criterion, block, where=f"{where} > {name}")
            for name, block in self.param("criteria").items()
        }

    def choose(self, index: Mapping[str, str], block: str, name: str) -> Chosen:
        """Return the record and options of a named block, such as `lexical` of `judges`."""
        settings = self.shared(f"{block}.{name}")
        return choose(index, settings, where=f"{PARAMS} > {block} > {name}")

    def models(self) -> Models:
        """Return all language models and endpoints."""
        return parse_models(self.project.endpoints, self.project.models)

    def path(self, name: str) -> Path:
        """Return a declared file or folder."""
        if name not in self.entry.deps | self.entry.outs:
            raise RuntimeError(f"{self.entry.name}: dvc.yaml does not declare {name}")
        self.used.add(name)
        return Path(name)

    def watch_tuned(self) -> None:
        """Count the folder of models that are trained here as read, if this stage has one."""
        for key in (f"{name}.{self.item}" for name in TUNED):
            if key in self.entry.params.get(self.entry.params_file, ()):
                self.path(self.param(key))

    def path_beside_params(self, name: str) -> Path:
        """Return an output beside the benchmark's params.yaml, such as `headline.json`."""
        folder = Path(self.entry.params_file).parent
        return self.path((folder / name).as_posix())

    def benchmark_io(self, benchmark: str) -> "StageIO":
        """Return the same for the tables of another benchmark, whose params name their files."""
        other = copy(self)
        other.benchmark, other._tables = benchmark, (TABLES / benchmark).as_posix()
        other._names = partial(files_in, self.project.benchmarks[benchmark])
        return other

    def read(self, table: Table, name: str | None = None) -> pd.DataFrame:
        """Read a table, all its files if it is a folder; with `name`, only this declared file."""
        if f"{self._tables}/{table.name}" in self.entry.deps:
            return parquet.read(table, *self._files_of(table).values())
        return parquet.read(table, self._file(table, name))

    def read_each(self, table: Table) -> dict[str, pd.DataFrame]:
        """Read the files of a table that is a folder separately, by name."""
        return {
            name: parquet.read(table, file)
            for name, file in self._files_of(table).items()
        }

    def write(self, table: Table, frame: pd.DataFrame, name: str | None = None) -> None:
        """Write a table, or one file of a table that is a folder."""
        parquet.write(table, frame, self._file(table, name))

    def _file(self, table: Table, name: str | None) -> Path:
        return self.path(
            "/".join(filter(None, (self._tables, table.name, name))) + ".parquet"
        )

    def note(self, messages: Sequence[str]) -> None:
        """Store and print what the data's owner should know of what was done with them."""
        files = [
            out
            for out in self.entry.outs
            if out.startswith(f"{self._tables}/{NOTES.name}/")
        ]
        if len(files) != 1:
            raise RuntimeError(
                f"{self.entry.name}: dvc.yaml does not declare its notes"
            )
        name = Path(files[0]).stem
        rows = [(name, *note) for note in enumerate(dict.fromkeys(messages))]
        self.write(NOTES, pd.DataFrame(rows, columns=list(NOTES.columns)), name)
        for _, _, message in rows:
            _print_note(message)

    def _value(self, file: str, key: str) -> Any:
        if key not in self.entry.params.get(file, ()):
            raise RuntimeError(
                f"{self.entry.name}: dvc.yaml does not declare {file}: {key}"
            )
        self.used.add((file, key))
        if file not in self._loaded:
            self._loaded[file] = strict_yaml.load(Path(file))
        block: Any = self._loaded[file]
        for step in key.split("."):
            if not isinstance(block, Mapping) or step not in block:
                raise BadInput(f"{file} > {key.replace('.', ' > ')}: missing; add it")
            block = block[step]
        return block

    def _files_of(self, table: Table) -> dict[str, Path]:
        folder = self.path(f"{self._tables}/{table.name}")
        names = self._names(table.name)
        self._set_aside(folder, names)
        return {name: folder / f"{name}.parquet" for name in names}

    def _set_aside(self, folder: Path, names: Sequence[str]) -> None:
        """Move files that nobody declares away, such as the texts of a removed system.

        DVC hashes whole folders: with these files the hash would differ from a new
        clone's.
        """
        for file in sorted(folder.glob("*.parquet")):
            if file.stem not in names:
                aside = WORK / "left_over" / self.benchmark / folder.name / file.name
                aside.parent.mkdir(parents=True, exist_ok=True)
                # another stage was quicker
                with contextlib.suppress(FileNotFoundError):
                    shutil.move(file, aside)
                params = self.entry.params_file
                _print_note(
                    f"{file} is of nothing that {params} names; it is now {aside}"
                )


Main = Callable[[StageIO], None]


def program(main: Main) -> Main:
    """Run a doorway if its module is the program: `python -m stages.judge`."""
    if main.__module__ == "__main__":
        enter(main)
    return main


def enter(main: Main) -> None:
    """Run `main` for the words on the command line.

    Bad input, and what the disk refuses, is printed and exits with 78: its owner must
    act. What another run may repair exits with 1. The lock lets a run wait for one of
    the same stage that a killed DVC left behind.
    """
    parent_watch.watch()
    stage, arguments = Path(sys.argv[0]).stem, sys.argv[1:]
    try:
        # which checks that arguments can be file names
        entry = find_entry(stage, arguments)
        restrict_work(Path())
        with (
            lock_file(WORK / "locks" / "-".join([stage, *arguments])),
            _printed_warnings(),
            _access(entry, arguments[0]),
        ):
            for out in entry.outs:  # of a killed run: DVC hashes whole folders
                remove_leftovers(Path(out))
            check_versions(entry)
            main(StageIO(entry, arguments))
    except BadInput as error:
        for problem in strict_yaml.add_lines(error.problems):
            print(problem, file=sys.stderr)
        sys.exit(BAD_INPUT)
    except Unfinished as error:
        print(error, file=sys.stderr)
        sys.exit(UNFINISHED)
    except OSError as error:
        print(disk_problem(error), file=sys.stderr)  # which raises other errors again
        sys.exit(BAD_INPUT)


def close_all(benchmark: str) -> None:
    """Make a benchmark's tables and pages accessible to their owner only."""
    for folder in (TABLES, REPORTS, REPORTS / "changes"):
        close(folder / benchmark)


def _access(entry: Entry, benchmark: str) -> contextlib.AbstractContextManager[None]:
    """Give what is made of a dataset that is not public to its owner only."""
    if entry.closed:
        close_all(benchmark)
    return owner_alone() if entry.closed else contextlib.nullcontext()


def check_versions(entry: Entry) -> None:
    """Raise BadInput if versions.yaml has others than are declared: DVC would reuse old results."""
    assert entry.project is not None
    raise_problems(find_stale(Path(), entry.project, entry.params.get(FILE, ())))


@contextlib.contextmanager
def _printed_warnings() -> Iterator[None]:
    """Print the library's warnings as notes, which the terminal and Prefect's log show."""
    log, handler = logging.getLogger("metassay"), logging.StreamHandler()
    handler.setLevel(logging.WARNING)
    handler.setFormatter(logging.Formatter("note: %(message)s"))
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)


def _print_note(message: str) -> None:
    print(f"note: {message}", file=sys.stderr)

"""What every doorway shares: what it was given, its lock, its exit code, and its notes."""

import contextlib
import fcntl
import logging
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from metassay.core import parent_watch as lifeline
from metassay.core import strict_yaml
from metassay.core.atomic import remove_leftovers
from metassay.core.errors import BadInput, Unfinished, raise_problems, told
from metassay.core.kinds import Chosen, choose
from metassay.core.options import PARAMS, AnyOptions, Criterion, parse
from metassay.core.params import TUNED, Params
from metassay.core.stages import files_in, files_of
from metassay.core.work import WORK, close, own, owner_alone
from metassay.datasets.registry import REGISTRY, Dataset, misplaced
from metassay.tables import parquet
from metassay.tables.notes import NOTES
from metassay.tables.parquet import Table
from metassay.versions.code_yaml import FILE, STAGES, find_stale
from stages.declared import Declared, declared

BAD_INPUT = 78  # EX_CONFIG of sysexits.h: running the stage again cannot help
UNFINISHED = 1
TABLES = Path("data/tables")
REPORTS = Path("reports")


class StageIO:
    """What one stage instance may read and write: what its entry in dvc.yaml declares, no more.

    `benchmark` and `item` are the words of its command (`item` is "" where there is one word);
    `used` collects what was read and written, as dvc.yaml names it: (file, key) or a path.
    """

    def __init__(self, entry: Declared, arguments: Sequence[str]) -> None:
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
        """A value of the benchmark's params.yaml."""
        return self._value(self.entry.own, key)

    def shared(self, key: str) -> Any:
        """A value of the root's params.yaml, such as `aggregation` or `judges.lexical`."""
        return self._value(str(PARAMS), key)

    @property
    def project(self) -> Params:
        """All params, for what is asked about permissions alone, and for names of metrics."""
        assert self.entry.project is not None
        return self.entry.project

    def options(self, model: type[AnyOptions], key: str) -> AnyOptions:
        """A block of the root's params.yaml, checked."""
        where = " > ".join([str(PARAMS), *key.split(".")])
        return parse(model, self.shared(key), where=where)

    def dataset(self, name: str = "") -> Dataset:
        """The registry's entry of a dataset: the benchmark's, if none is named."""
        name = name or self.param("dataset")
        block = self._value(str(REGISTRY), f"datasets.{name}")
        return parse(Dataset, block, where=f"{REGISTRY} > datasets > {name}")

    def raw(self, reader_problem: str | None = None) -> Path:
        """The folder of the benchmark's raw files; BadInput if it is not its dataset's."""
        raw = self.path(self.param("raw"))
        problems = misplaced(self.param("dataset"), self.dataset(), raw)
        problems = [f"raw: {problem}" for problem in problems]
        problems += [f"dataset: {reader_problem}"] if reader_problem else []
        if problems:
            raise BadInput(f"{self.entry.own} > {problem}" for problem in problems)
        return raw

    def criteria(self) -> dict[str, Criterion]:
        """What the benchmark's raters judged."""
        where = f"{self.entry.own} > criteria"
        return {
            name: parse(Criterion, block, where=f"{where} > {name}")
            for name, block in self.param("criteria").items()
        }

    def chosen(self, index: Mapping[str, str], block: str, name: str) -> Chosen:
        """The record and options of a named block, such as `lexical` of `judges`."""
        key = f"{block}.{name}"
        alone = key in self.entry.params.get(str(PARAMS), ())
        found = self.shared(key) if alone else self.shared(block)[name]
        return choose(index, found, where=f"{PARAMS} > {block} > {name}")

    def path(self, name: str) -> Path:
        """A file or folder that is declared as it is."""
        if name not in self.entry.deps | self.entry.outs:
            raise RuntimeError(f"{self.entry.name}: dvc.yaml does not declare {name}")
        self.used.add(name)
        return Path(name)

    def watch_tuned(self) -> None:
        """Count the folder of models that are trained here as read, if this instance has one."""
        for key in (f"{name}.{self.item}" for name in TUNED):
            if key in self.entry.params.get(self.entry.own, ()):
                self.path(self.param(key))

    def headline(self) -> Path:
        """The file of headline numbers, which lies beside the benchmark's params.yaml."""
        return self.path(Path(self.entry.own).with_name("headline.json").as_posix())

    def of(self, benchmark: str) -> "StageIO":
        """What it may read of the tables of another benchmark, whose params name their files."""
        other = copy(self)
        other.benchmark, other._tables = benchmark, (TABLES / benchmark).as_posix()
        other._names = partial(files_in, self.project.benchmarks[benchmark])
        return other

    def read(self, table: Table, name: str | None = None) -> pd.DataFrame:
        """A table; of one that is a folder, all files that stages of this benchmark write there.

        Or, by name, one of these, if it alone is declared.
        """
        if f"{self._tables}/{table.name}" in self.entry.deps:
            return parquet.read(table, *self._files_of(table).values())
        at = table.name if name is None else f"{table.name}/{name}"
        return parquet.read(table, self.path(f"{self._tables}/{at}.parquet"))

    def read_each(self, table: Table) -> dict[str, pd.DataFrame]:
        """Files of a table that is a folder, each by itself, by name."""
        return {name: parquet.read(table, file) for name, file in self._files_of(table).items()}

    def write(self, table: Table, frame: pd.DataFrame, name: str | None = None) -> None:
        """Write a table, or one file of a table that is a folder."""
        at = table.name if name is None else f"{table.name}/{name}"
        parquet.write(table, frame, self.path(f"{self._tables}/{at}.parquet"))

    def note(self, messages: Sequence[str]) -> None:
        """Keep what was done about the data that its owner should know, and say it at once."""
        files = [out for out in self.entry.outs if out.startswith(f"{self._tables}/{NOTES.name}/")]
        if len(files) != 1:
            raise RuntimeError(f"{self.entry.name}: dvc.yaml does not declare its notes")
        said = list(dict.fromkeys(messages))
        name = Path(files[0]).stem
        rows = [(name, position, message) for position, message in enumerate(said)]
        self.write(NOTES, pd.DataFrame(rows, columns=list(NOTES.columns)), name)
        for message in said:
            _say(message)

    def _value(self, file: str, key: str) -> Any:
        if key not in self.entry.params.get(file, ()):
            raise RuntimeError(f"{self.entry.name}: dvc.yaml does not declare {file}: {key}")
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
        """Take out what nobody declares, such as the texts of a system that was struck off.

        DVC hashes whole folders: with what is left over they would not be those of a fresh clone.
        """
        for file in sorted(folder.glob("*.parquet")):
            if file.stem not in names:
                aside = WORK / "left_over" / self.benchmark / folder.name / file.name
                aside.parent.mkdir(parents=True, exist_ok=True)
                with contextlib.suppress(FileNotFoundError):  # another stage was quicker
                    shutil.move(file, aside)
                _say(f"{file} is of nothing that {self.entry.own} names; it is now {aside}")


Main = Callable[[StageIO], None]


def program(main: Main) -> Main:
    """Run a doorway where its module is the program: `python -m stages.judge`."""
    if main.__module__ == "__main__":
        enter(main)
    return main


def enter(main: Main) -> None:
    """Run `main` for the words on the command line.

    Bad input is told and exits with 78, and so is what the disk refuses, which waits for its owner;
    what may be mended by running again exits with 1.

    The lock keeps a second run of the same stage from starting beside one that a killed DVC left
    behind; it waits for it instead.
    """
    lifeline.watch()
    stage, arguments = Path(sys.argv[0]).stem, sys.argv[1:]
    try:
        entry = declared(stage, arguments)  # from here on the arguments can be a file's name
        own(Path())
        with _lock("-".join([stage, *arguments])), _warnings_said(), _for_whom(entry, arguments[0]):
            for out in entry.outs:  # a killed one's parts: DVC hashes whole folders
                remove_leftovers(Path(out))
            check_code(entry, stage)
            main(StageIO(entry, arguments))
    except BadInput as error:
        for problem in strict_yaml.located(error.problems):
            print(problem, file=sys.stderr)
        sys.exit(BAD_INPUT)
    except Unfinished as error:
        print(error, file=sys.stderr)
        sys.exit(UNFINISHED)
    except OSError as error:
        print(told(error), file=sys.stderr)  # if not of a disk: where it broke, not what it says
        sys.exit(BAD_INPUT)


def close_all(benchmark: str) -> None:
    """Take the tables and pages of a benchmark from all but their owner."""
    for folder in (TABLES, REPORTS, REPORTS / "changes"):
        close(folder / benchmark)


def _for_whom(entry: Declared, word: str) -> contextlib.AbstractContextManager[None]:
    """What is made of a dataset that is not public is its owner's alone."""
    if entry.closed:
        close_all(word)
    return owner_alone() if entry.closed else contextlib.nullcontext()


def check_code(entry: Declared, stage: str) -> None:
    """BadInput where code.yaml does not say what the code is: DVC would keep what is stale."""
    keys = [key.split(".", 1) for key in entry.params.get(FILE, ())]
    blocks = [(block, name) for block, name in keys if block != STAGES]
    raise_problems(find_stale(Path(), stage, blocks))


@contextlib.contextmanager
def _warnings_said() -> Iterator[None]:
    """What the library warns of is said like a note, which the terminal and Prefect's log show."""
    log, said = logging.getLogger("metassay"), logging.StreamHandler()
    said.setLevel(logging.WARNING)
    said.setFormatter(logging.Formatter("note: %(message)s"))
    log.addHandler(said)
    try:
        yield
    finally:
        log.removeHandler(said)


def _say(message: str) -> None:
    print(f"note: {message}", file=sys.stderr)


def _lock(name: str) -> Any:
    path = WORK / "locks" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    held = path.open("w")
    fcntl.flock(held, fcntl.LOCK_EX)
    return held

"""`metassay import KIND PATH... --out DIR`: read what another tool wrote as own data."""

import argparse
import errno
import os
import shlex
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from metassay.cli.parsing import roles_in
from metassay.core.atomic import whole_folder
from metassay.core.errors import BadInput, raise_problems
from metassay.core.work import owner_alone
from metassay.imports.comparisons import is_judged_and_rated
from metassay.imports.database import Column, Database
from metassay.imports.items import Task, Tool
from metassay.imports.records import FIX, names_in
from metassay.imports.tools import TOOLS, describe_file, tools_of
from metassay.imports.writing import write
from metassay.tabular.decoding import is_readable
from metassay.tabular.rows import Findings, Place

_ROLES = ("doc", "system", "judge", "human")


def import_files(args: argparse.Namespace) -> int:
    """Read all files and write what they hold, or raise BadInput with all that is wrong."""
    tool = TOOLS[args.kind]
    problems, notes = Findings(), Findings()
    columns: dict[str, tuple[str, ...]] = {}
    for word in args.columns:
        for role, field in roles_in([word], _ROLES).items():
            columns[role] = (*columns.get(role, ()), field)
    # What is imported may be private: it is its owner's alone, as a project is.
    with (
        _disk_errors(args.out),
        owner_alone(),
        whole_folder(args.out, "--out") as folder,
    ):
        file = folder / "read.sqlite"
        database = Database(file)
        for path, named in _files(args.files, tool.patterns):
            task = Task(path, columns, problems, notes, accepted=args.accepted)
            _read_file(task, tool, database, named=named)
        raise_problems(problems.lines() or ([] if database.records else notes.lines()))
        database.finish()
        of_tables = write(database, folder, args.kind, tool.letters)
        next_commands = [
            *_next_commands(args.out, _written(folder), database.columns(), database)
        ]
        lines = [*database.summary(), *of_tables, *notes.lines()]
        database.connection.close()
        file.unlink()
        written = _written(folder)
    print(
        *lines, f"written to {args.out}: {', '.join(written)}", *next_commands, sep="\n"
    )
    return 0


@contextmanager
def _disk_errors(out: Path) -> Iterator[None]:
    """Turn an error of SQLite on a full disk into that of the disk."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF not in (
            sqlite3.SQLITE_FULL,
            sqlite3.SQLITE_IOERR,
        ):
            raise
        reason = os.strerror(errno.ENOSPC)
        raise OSError(errno.ENOSPC, reason, str(out)) from error


def _written(folder: Path) -> list[str]:
    return sorted(str(file.relative_to(folder)) for file in folder.rglob("*.*"))


def _read_file(task: Task, tool: Tool, database: Database, *, named: bool) -> None:
    """Add a file's items; problems or notes where it is not the tool's. `named`: by the user."""
    path, problems = task.path, task.problems
    if not is_readable(path, problems, remedy=FIX):
        return
    names, before = names_in(path), (database.records, problems.lines())
    matches = tool.name in tools_of(path, names)
    try:
        for item in tool.read(task) if matches or not names else ():
            database.add(item, task)
    except (TypeError, AttributeError, ValueError, LookupError, RecursionError):
        n, what = database.records - before[0], f"that does not fit {tool.what}"
        fix = "docs/importing.md has the fields; correct the record or remove it"
        problems.add(Place(path.name), f"has a record, after {n} others, {what}", fix)
    if (database.records, problems.lines()) != before:
        return
    if matches:
        task.notes.add(
            Place(path.name), "has no record", "export it again if it should"
        )
    else:
        findings = problems if named else task.notes  # a folder may hold other files
        findings.add(Place(path.name), *describe_file(path, tool.name, names))


def _next_commands(
    folder: Path,
    files: Sequence[str],
    columns: Mapping[Column, str],
    database: Database,
) -> Iterator[str]:
    """Yield the commands that go on from the files of an import."""

    def command(name: str, *words: str) -> str:
        return f"next: metassay {name} {shlex.join(words)}"

    judged = {
        column.name: name for column, name in columns.items() if not column.person
    }
    by_scorer: dict[str, list[str]] = {}
    for column, name in columns.items():
        if column.person:
            by_scorer.setdefault(column.name, []).append(name)
    both = [scorer for scorer in by_scorer if scorer in judged]
    if both:
        judge, people = judged[both[0]], by_scorer[both[0]]
    elif len(judged) == len(by_scorer) == 1:  # whatever both are called
        (judge,), (people,) = judged.values(), by_scorer.values()
    else:
        judge, people = "", []
    if judge:
        options = ["--judge", judge, "--human", *people]
        yield command("judge-check", str(folder / "verdicts.csv"), *options)
    if is_judged_and_rated(database):
        yield command("judge-check", str(folder / "comparisons.csv"))
    scores, ratings = "data/scores.csv", "data/ratings.csv"
    if scores in files and ratings in files:
        yield command("meta-eval", str(folder / scores), str(folder / ratings))
    elif ratings in files:
        yield command("meta-eval", str(folder / ratings))


def _files(
    paths: Sequence[Path], patterns: Sequence[str]
) -> Iterator[tuple[Path, bool]]:
    """Yield each file, and whether it was named itself, not by its folder."""
    for path in paths:
        inside = {path}
        if path.is_dir():
            inside = {file for pattern in patterns for file in path.rglob(pattern)}
        if not inside:
            raise BadInput(
                f"{path}: has no file called {' or '.join(patterns)}; name files"
            )
        yield from ((file, file == path) for file in sorted(inside))

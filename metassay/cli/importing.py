"""`metassay import KIND PATH... --out DIR`: read what another tool wrote as own data."""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from metassay.cli.parsing import roles_in
from metassay.core.atomic import whole_folder
from metassay.core.errors import BadInput, raise_problems
from metassay.imports.records import Task, names_in
from metassay.imports.tools import FILES, READERS, describe_file, kinds_of
from metassay.imports.writing import Database, write
from metassay.tabular.rows import Findings, Place


def import_files(args: argparse.Namespace) -> int:
    """Read all files and write what they hold, or raise BadInput with all that is wrong."""
    kind, problems, notes = FILES[args.kind], Findings(), Findings()
    roles = roles_in(args.columns, ("doc", "system"))
    with whole_folder(args.out, "--out") as folder:
        file = folder / "read.sqlite"
        database = Database(file)
        for path, named in _files(args.files, kind["patterns"]):
            names, before = names_in(path), (database.records, problems.lines())
            matches = args.kind in kinds_of(path, names)
            task = Task(
                path, roles.get("doc", ""), roles.get("system", ""), problems, notes
            )
            try:
                for item in READERS[args.kind](task) if matches or not names else ():
                    database.add(item, task)
            except (TypeError, AttributeError, ValueError, LookupError):
                n, what = (
                    database.records - before[0],
                    f"that does not fit {kind['what']}",
                )
                fix = (
                    "docs/importing.md has the fields; correct the record or remove it"
                )
                problems.add(
                    Place(path.name), f"has a record, after {n} others, {what}", fix
                )
            if (database.records, problems.lines()) == before and matches:
                notes.add(
                    Place(path.name), "has no record", "export it again if it should"
                )
            elif (database.records, problems.lines()) == before:
                findings = problems if named else notes  # a folder may hold other files
                findings.add(Place(path.name), *describe_file(path, args.kind, names))
        raise_problems(problems.lines() or ([] if database.records else notes.lines()))
        of_tables = write(database, folder, args.kind, kind.get("letters", {}))
        lines = [*database.summary(), *of_tables, *notes.lines()]
        database.connection.close()
        file.unlink()
        written = sorted(str(file.relative_to(folder)) for file in folder.rglob("*.*"))
    print(*lines, f"written to {args.out}: {', '.join(written)}", sep="\n")
    return 0


def _files(
    paths: Sequence[Path], patterns: Sequence[str]
) -> Iterator[tuple[Path, bool]]:
    """Yield each file, and whether it was named itself, not by its folder."""
    for path in paths:
        inside = (
            {f for p in patterns for f in path.rglob(p)} if path.is_dir() else {path}
        )
        if not inside:
            raise BadInput(
                f"{path}: has no file called {' or '.join(patterns)}; name files"
            )
        yield from ((file, file == path) for file in sorted(inside))

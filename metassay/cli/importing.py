"""`metassay import KIND PATH... --out DIR`: what another tool wrote, as data of one's own."""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from metassay.cli.parsing import roles_in
from metassay.core.atomic import whole_folder
from metassay.core.errors import BadInput, raise_problems
from metassay.imports.record import Task
from metassay.imports.records import names_in
from metassay.imports.tools import FILES, READERS, described, kinds_of
from metassay.imports.writing import Collected, write
from metassay.tabular.rows import Findings, Place


def import_files(chosen: argparse.Namespace) -> int:
    """Read all files, and write what they hold, or say all that is wrong with them."""
    kind, problems, notes = FILES[chosen.kind], Findings(), Findings()
    roles = roles_in(chosen.columns, ("doc", "system"))
    with whole_folder(chosen.out, "--out") as folder:
        held = folder / "read.sqlite"
        found = Collected(held)
        for path, named in _files(chosen.files, kind["patterns"]):
            names, before = names_in(path), (found.records, problems.lines())
            right = chosen.kind in kinds_of(path, names)
            task = Task(path, roles.get("doc", ""), roles.get("system", ""), problems, notes)
            try:
                for item in READERS[chosen.kind](task) if right or not names else ():
                    found.add(item, task)
            except (TypeError, AttributeError, ValueError, LookupError):
                what = f"has a record, behind {found.records - before[0]} others, that is not as"
                fix = "docs/importing.md has what is read; correct it or take it out"
                problems.add(Place(path.name), f"{what} {kind['what']} has it", fix)
            if (found.records, problems.lines()) == before and right:
                notes.add(Place(path.name), "has no record", "export it again if it should")
            elif (found.records, problems.lines()) == before:
                beside = problems if named else notes  # in a folder there are others
                beside.add(Place(path.name), *described(path, chosen.kind, names))
        raise_problems(problems.lines() or ([] if found.records else notes.lines()))
        told = write(found, folder, chosen.kind, kind.get("letters", {}))
        lines = [*found.summary(), *told, *notes.lines()]
        found.connection.close()
        held.unlink()
        written = sorted(str(file.relative_to(folder)) for file in folder.rglob("*.*"))
    print(*lines, f"written to {chosen.out}: {', '.join(written)}", sep="\n")
    return 0


def _files(paths: Sequence[Path], patterns: Sequence[str]) -> Iterator[tuple[Path, bool]]:
    """Files, and whether they were named themselves, not by their folder."""
    for path in paths:
        inside = {file for one in patterns for file in path.rglob(one)} if path.is_dir() else {path}
        if not inside:
            raise BadInput(f"{path}: has no file called {' or '.join(patterns)}; name files")
        yield from ((file, file == path) for file in sorted(inside))

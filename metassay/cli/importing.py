"""`metassay import KIND PATH... --out DIR`: what another tool wrote, as data of one's own."""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from metassay.cli.parsing import SEVERAL, roles_in
from metassay.core.atomic import whole_folder
from metassay.core.errors import BadInput, raise_problems
from metassay.imports import TOOLS
from metassay.tabular.rows import Findings, Place

ABOUT = """\
Read what another tool for evaluation wrote, into a new folder: what its judges said and what people
said, apart from each other, and the texts. Inspect, promptfoo and MLflow put a person's correction
in the judge's own place; the judge's original is what is read. Nothing leaves this machine.

  verdicts.csv  an item per row: a column per judge, and one per person
  texts.csv     document, system, text, source, reference
  data/         own data: sources.jsonl, texts.jsonl, scores.csv, ratings.csv

docs/importing.md has what is read of each tool, and what goes on from there."""
SUMMARY = "read what another tool wrote: Inspect, lm-eval, Ragas, DeepEval, promptfoo ..."


def add_parser(commands: Any) -> None:
    """The command's arguments."""
    raw = argparse.RawDescriptionHelpFormatter
    sub = commands.add_parser("import", help=SUMMARY, description=ABOUT, formatter_class=raw)
    sub.add_argument("kind", choices=TOOLS, metavar="KIND", help=", ".join(TOOLS))
    what = "a file, or a folder of files of that kind"
    sub.add_argument("files", nargs="+", type=Path, metavar="PATH", help=what)
    new = "a new or empty folder"
    sub.add_argument("--out", type=Path, required=True, metavar="DIR", help=new)
    roles = "fields that name a record's doc and system: doc=metadata.id (default: the tool's)"
    sub.add_argument("--columns", metavar="ROLE=COLUMN", **SEVERAL, help=roles)
    sub.set_defaults(command=import_files)


def import_files(chosen: argparse.Namespace) -> int:
    """Read all files, and write what they hold, or say all that is wrong with them."""
    from metassay.imports.record import Task
    from metassay.imports.records import names_in
    from metassay.imports.tools import KINDS, described, kinds_of
    from metassay.imports.writing import Collected, write

    kind, problems, notes = KINDS[chosen.kind], Findings(), Findings()
    roles = roles_in(chosen.columns, ("doc", "system"))
    with whole_folder(chosen.out, "--out") as folder:
        held = folder / "read.sqlite"
        found = Collected(held)
        for path, named in _files(chosen.files, kind.patterns):
            names, before = names_in(path), (found.records, problems.lines())
            right = chosen.kind in kinds_of(names)
            task = Task(path, roles.get("doc", ""), roles.get("system", ""), problems, notes)
            try:
                for item in kind.read(task) if right or not names else ():
                    found.add(item, task)
            except (TypeError, AttributeError, ValueError, LookupError):
                what = f"has a record, behind {found.records - before[0]} others, that is not as"
                fix = "docs/importing.md has what is read; correct it or take it out"
                problems.add(Place(path.name), f"{what} {kind.what} has it", fix)
            if (found.records, problems.lines()) == before and right:
                notes.add(Place(path.name), "has no record", "export it again if it should")
            elif (found.records, problems.lines()) == before:
                beside = problems if named else notes  # in a folder there are others
                beside.add(Place(path.name), *described(path, chosen.kind, names))
        raise_problems(problems.lines() or ([] if found.records else notes.lines()))
        lines = [*found.summary(), *write(found, folder, chosen.kind), *notes.lines()]
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

"""What the tests notice: random mutants of one line, each against the tests of its room.

    python -m tests.mutants 150 --seed 1

Draws lines of ROOMS, changes one thing in each (turns a comparison, moves a number,
drops what is returned, exchanges `and` and `or`, or an operator), and runs the tests of
that room in a copy of the project until the first fails: first the files that import
the module, then all. Prints each mutant that survived, and the share that was killed by
room. A test that takes LONGEST seconds has killed it, too.
"""

import argparse
import ast
import copy
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.architecture import ROOT, sources
from tests.conftest import copy_project

LONGEST = 120
_NO_TESTS = 5  # pytest's exit code where all are slow
ROOMS = ("statistics", "meta_evaluation", "scoring", "llm", "tabular")
TESTS = {  # where a room's tests lie, if not in the folder of its name
    "tabular": (
        "tests/tabular",
        "tests/api",
        "tests/project/spreadsheets",
        "tests/datasets",
    ),
}
TURNED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
}


class Mutant(NamedTuple):
    """A file with one change; `line` and `what` say where and which."""

    file: Path
    line: int
    what: str
    text: str


def _changed(node: ast.AST) -> ast.AST | None:
    """The node with one thing changed, or None for a node that has nothing to change."""
    new: Any = copy.deepcopy(node)
    match new:
        case ast.Compare(ops=[first, *_]) if type(first) in TURNED:
            new.ops[0] = TURNED[type(first)]()
        case ast.BoolOp(op=op) | ast.BinOp(op=op) if type(op) in TURNED:
            new.op = TURNED[type(op)]()
        case ast.Constant(value=bool(value)):
            new.value = not value
        case ast.Constant(value=int(value) | float(value)):
            new.value = value + 1
        case ast.Return(value=value) if value and ast.unparse(value) != "None":
            new.value = ast.Constant(None)
        case _:
            return None
    return new


def mutants(file: Path) -> Iterator[Mutant]:
    """Every mutant of a file, outside annotations, docstrings and defaults of constants."""
    source = (ROOT / file).read_text(encoding="utf-8")
    parts = source.splitlines(keepends=True)
    functions = (
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    places = {}
    for function in functions:
        for node in (part for child in function.body for part in ast.walk(child)):
            new = _changed(node) if isinstance(node, ast.expr | ast.stmt) else None
            if new is not None and node.lineno == node.end_lineno:  # type: ignore[attr-defined]
                places[node.lineno, node.col_offset, type(node)] = node, new  # type: ignore[attr-defined]
    for (number, start, _), (node, new) in sorted(
        places.items(), key=lambda item: item[0][:2]
    ):
        line = parts[number - 1].encode()
        wanted = (
            f"({ast.unparse(new)})" if isinstance(node, ast.expr) else ast.unparse(new)
        )
        cut = line[:start] + wanted.encode() + line[node.end_col_offset :]  # type: ignore[attr-defined]
        text = "".join([*parts[: number - 1], cut.decode(), *parts[number:]])
        yield Mutant(file, number, f"{ast.unparse(node)} -> {ast.unparse(new)}", text)


def drawn(number: int, seed: int) -> list[Mutant]:
    """So many mutants, as many of each room as it has of the lines."""
    files = [file for each in ROOMS for file in sources(f"metassay/{each}")]
    sized = [
        len((ROOT / file).read_text(encoding="utf-8").splitlines()) for file in files
    ]
    chance = random.Random(seed)
    mutants_drawn: list[Mutant] = []
    while len(mutants_drawn) < number:
        (file,) = chance.choices(files, sized)
        every = [*mutants(file)]
        mutant = chance.choice(every) if every else None
        if mutant and mutant not in mutants_drawn and _parses(mutant.text):
            mutants_drawn.append(mutant)
    return mutants_drawn


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def near(root: Path, file: Path) -> list[str]:
    """The tests of a module's room that import it."""
    package, _, name = ".".join(file.with_suffix("").parts).rpartition(".")
    imported = re.compile(
        rf"{package}\.{name} import |from {package} import .*\b{name}\b"
    )
    folders = (root / folder for folder in _folders(root, file.parts[1]))
    files = (test for folder in folders for test in folder.rglob("test_*.py"))
    return sorted(
        str(file) for file in files if imported.search(file.read_text(encoding="utf-8"))
    )


def _folders(root: Path, room: str) -> list[str]:
    return [
        folder
        for folder in TESTS.get(room, (f"tests/{room}",))
        if (root / folder).exists()
    ]


def tests_pass(root: Path, places: Sequence[str]) -> bool:
    """Whether all tests in these files and folders pass."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-m", "not slow"]
    done = subprocess.run(
        [*command, "-o", f"timeout={LONGEST}", *places],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        check=False,
    )
    return done.returncode in (0, _NO_TESTS)


def main(words: Sequence[str] | None = None) -> None:
    """Draw mutants, test each, and print which survived."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("number", type=int)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args(words)
    tried: Counter[str] = Counter()
    killed: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "project"
        root.mkdir()
        copy_project(root)
        if broken := [
            each for each in ROOMS if not tests_pass(root, _folders(root, each))
        ]:
            sys.exit(f"tests fail without any mutant: {', '.join(broken)}")
        for mutant in drawn(arguments.number, arguments.seed):
            room = mutant.file.parts[1]
            whole = (root / mutant.file).read_text(encoding="utf-8")
            (root / mutant.file).write_text(mutant.text, encoding="utf-8")
            passed = all(
                tests_pass(root, places)
                for places in (near(root, mutant.file), _folders(root, room))
                if places
            )
            (root / mutant.file).write_text(whole, encoding="utf-8")
            tried[room] += 1
            killed[room] += not passed
            outcome = "survived" if passed else "killed"
            print(f"{outcome}: {mutant.file}:{mutant.line}: {mutant.what}", flush=True)
    for room in ROOMS:
        print(f"{room}: {killed[room]} of {tried[room]} killed")
    print(f"all: {killed.total()} of {tried.total()} killed")


if __name__ == "__main__":
    main()

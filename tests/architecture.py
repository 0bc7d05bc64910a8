"""The house: its rooms from the ground up, and what its imports make of them.

    python -m tests.architecture

Prints files, lines, rooms, floors, arrows between rooms, and every arrow that goes up.
tests/test_architecture.py holds the code to it.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = ("metassay", "stages", "flows", "papers")

# Floors, lowest first. A room imports from lower floors alone.
FLOORS = (
    ("core", "statistics", "text"),
    ("tables", "format", "models", "executor"),
    ("meta_evaluation", "llm", "tabular"),
    ("concepts",),
    ("metrics",),
    ("scoring", "datasets"),
    ("units", "studies"),
    ("judges", "generation", "labelled", "tuning"),
    ("reporting",),
    ("api", "tracking", "imports"),
    ("project",),
    ("cli", "stages"),
    ("flows",),
    ("papers",),
)
# What tests scores against people, from two tables: a library without the pipeline.
ASSAY = (
    "core",
    "statistics",
    "tables",
    "format",
    "tabular",
    "meta_evaluation",
    "imports",
    "api",
)
PIPELINE = (
    "scoring",
    "llm",
    "judges",
    "generation",
    "datasets",
    "units",
    "studies",
    "labelled",
    "tuning",
    "tracking",
    "project",
    "cli",
    "stages",
    "flows",
    "papers",
)

ROOT_MODULE = Path("metassay/__init__.py")  # every import passes it
FLOOR = {room: number for number, rooms in enumerate(FLOORS, start=1) for room in rooms}


def sources(package: str) -> list[Path]:
    """Every Python file of a package, from the project's root."""
    return [path.relative_to(ROOT) for path in sorted((ROOT / package).rglob("*.py"))]


def room(file: Path) -> str:
    """The room that a file lies in; metassay/__init__.py, which names what users import, in api."""
    if file.parts[0] != "metassay":
        return file.parts[0]
    return "api" if len(file.parts) == 2 else file.parts[1]


def module_file(module: str) -> Path | None:
    """The file of a module of this project, or None."""
    path = ROOT / Path(*module.split("."))
    for candidate in (path.with_suffix(".py"), path / "__init__.py"):
        if candidate.is_file():
            return candidate.relative_to(ROOT)
    return None


@cache
def imports(file: Path) -> frozenset[str]:
    """Dotted names that a file imports from this project, wherever in the file it does.

    Raises AssertionError for imports that no reader of the code can follow.
    """
    names: set[str] = set()
    for node in ast.walk(ast.parse((ROOT / file).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative imports hide where a thing lives"
            names.add(node.module or "")
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and file.parts[1:2] != ("cli",):
            name = ast.unparse(node.func).rpartition(".")[2]
            made_up = name in ("import_module", "__import__") and not isinstance(
                node.args[0], ast.Constant | ast.Name | ast.Subscript
            )
            assert not made_up, (
                f"{file}: no version of the code sees a module whose name is made"
            )
    return frozenset(name for name in names if name.split(".")[0] in PACKAGES)


def arrows() -> Iterator[tuple[Path, Path]]:
    """Pairs of files in different rooms, of which the first imports the second."""
    for file in (file for package in PACKAGES for file in sources(package)):
        for name in imports(file):
            target = module_file(name)
            if target and target != ROOT_MODULE and room(target) != room(file):
                yield file, target


def upward() -> list[str]:
    """Every import that doesn't go down, in words."""
    return [
        f"{file} imports {target}, which is not below it"
        for file, target in arrows()
        if FLOOR[room(target)] >= FLOOR[room(file)]
    ]


def lines(file: Path) -> int:
    """How many lines a file has."""
    return len((ROOT / file).read_text(encoding="utf-8").splitlines())


def main() -> None:
    """Print the house, room by room."""
    between = {(room(file), room(target)) for file, target in arrows()}
    files: Counter[str] = Counter()
    size: Counter[str] = Counter()
    for file in (file for package in PACKAGES for file in sources(package)):
        files[room(file)] += 1
        size[room(file)] += lines(file)
    for number, rooms in enumerate(FLOORS, start=1):
        for name in rooms:
            print(
                f"{number:>5} {name:<16} {files[name]:>4} files {size[name]:>7,} lines"
            )
    library = sum(lines(file) for file in sources("metassay"))
    print(f"metassay/: {library:,} lines in {len(sources('metassay'))} files")
    print(
        f"{len(FLOOR)} rooms, {len(FLOORS)} floors, {len(between)} arrows between rooms"
    )
    print("\n".join(upward()) or "no arrow goes up, so there is no knot")


if __name__ == "__main__":
    main()

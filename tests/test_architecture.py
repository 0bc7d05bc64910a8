"""The house keeps its directions, and its files stay readable."""

import ast
import re
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = ("metassay", "stages", "flows")

# Rooms of metassay/, lowest layer first; a room imports only from its own layer or a lower one.
LAYERS = (
    {
        "errors",
        "oracle",
        "alike",
        "atomic",
        "cells",
        "disk",
        "merges",
        "checks",
        "database",
        "lifeline",
        "parquet",
        "parquet_file",
        "tables",
        "strict_yaml",
        "naming",
        "options",
        "params",
        "file_names",
        "kinds",
        "code_reading",
        "code_closure",
        "text",
        "visible",
        "vocabulary",
        "work",
        "edits",
        "statistics",
        "__init__",
    },
    {
        "needs",
        "units",
        "generation",
        "alignment",
        "judges",
        "metrics",
        "models",
        "datasets",
        "llm",
        "pairing",
        "rubrics",
        "aggregation",
        "judge_tests",
        "segment_tests",
        "meta_evaluation",
        "cost",
        "code_version",
    },
    {"reporting", "studies", "comparison", "drift", "reevaluation"},
    {"paper_figures"},
    {"validation", "raw_checks", "project", "spreadsheets"},
    {"cli"},
)


def module_file(module: str) -> Path | None:
    """The file of a module of this project, or None."""
    path = ROOT / Path(*module.split("."))
    for candidate in (path.with_suffix(".py"), path / "__init__.py"):
        if candidate.is_file():
            return candidate.relative_to(ROOT)
    return None


@cache
def imports(file: Path) -> frozenset[str]:
    """Dotted names that a file imports from this project, wherever in the file it does."""
    found: set[str] = set()
    for node in ast.walk(ast.parse((ROOT / file).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative imports hide where a thing lives"
            found.add(node.module or "")
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and file.parts[1:2] != ("cli",):
            name = ast.unparse(node.func).rpartition(".")[2]
            made_up = name in ("import_module", "__import__") and not isinstance(
                node.args[0], ast.Constant | ast.Name | ast.Subscript
            )
            assert not made_up, f"{file}: no version of the code sees a module whose name is made"
    return frozenset(name for name in found if name.split(".")[0] in PACKAGES)


def sources(package: str) -> list[Path]:
    return [path.relative_to(ROOT) for path in sorted((ROOT / package).rglob("*.py"))]


def layer(file: Path) -> int:
    room = file.parts[1].removesuffix(".py")
    found = [number for number, rooms in enumerate(LAYERS) if room in rooms]
    assert found, f"{file}: {room!r} is in no layer of tests/test_architecture.py"
    return found[0]


def test_rooms_import_only_downwards() -> None:
    wrong = []
    for file in sources("metassay"):
        for name in imports(file):
            imported = module_file(name) or module_file(name.rpartition(".")[0])
            if name.split(".")[0] != "metassay" or imported is None:
                wrong.append(f"{file} imports {name}, which is not of metassay/")
            elif layer(imported) > layer(file):
                wrong.append(f"{file} imports {name} from a higher layer")
    assert not wrong


def test_statistics_know_nothing_of_the_project() -> None:
    assert not [
        f"{file} imports {name}"
        for file in sources("metassay/statistics")
        for name in imports(file)
        if not name.startswith("metassay.statistics")
    ]


def test_stages_do_not_know_flows() -> None:
    assert not [
        f"{file} imports {name}"
        for file in sources("stages")
        for name in imports(file)
        if name.startswith("flows")
    ]


def lines(file: Path) -> int:
    return len((ROOT / file).read_text(encoding="utf-8").splitlines())


def lines_of_imports(file: Path) -> int:
    body = ast.parse((ROOT / file).read_text(encoding="utf-8")).body
    found = [node for node in body if isinstance(node, ast.Import | ast.ImportFrom)]
    return sum((node.end_lineno or 0) - node.lineno + 1 for node in found)


def test_stages_stay_doorways() -> None:
    shared = {"stages/declared.py", "stages/doorway.py"}  # what all doorways go through
    long = {str(file) for file in sources("stages") if lines(file) - lines_of_imports(file) > 55}
    assert long <= shared


def test_files_stay_readable() -> None:
    files = [file for package in PACKAGES for file in sources(package)]
    assert not {str(file) for file in files if lines(file) > 600}


def test_no_path_of_one_machine_is_in_the_project() -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split("\0")
    pattern = re.compile(r"(?<![\w.])/(?:home|root|work|tmp)/[a-z]")
    found = []
    for name in filter(None, tracked):
        try:
            text = (ROOT / name).read_text(encoding="utf-8")
        except (UnicodeDecodeError, FileNotFoundError):
            continue
        if pattern.search(text) and name != "tests/test_architecture.py":
            found.append(name)
    assert not found

"""The house keeps its directions, and dvc.yaml names every file that a stage imports."""

import ast
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
PACKAGES = ("metassay", "stages", "flows")

# Rooms of metassay/, lowest layer first; a room imports only from its own layer or a lower one.
LAYERS = (
    {"errors", "parquet", "tables", "params", "text", "statistics", "__init__"},
    {
        "units",
        "generation",
        "alignment",
        "judges",
        "metrics",
        "datasets",
        "llm",
        "pairing",
        "aggregation",
        "meta_evaluation",
        "desk",
        "cost",
    },
    {"reporting"},
    {"validation"},
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
    return frozenset(name for name in found if name.split(".")[0] in PACKAGES)


def needs(file: Path) -> set[Path]:
    """Every file of this project that running `file` imports, itself included."""
    seen: set[Path] = set()
    waiting = [file]
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        for name in imports(current):
            steps = name.split(".")
            for length in range(1, len(steps) + 1):
                found = module_file(".".join(steps[:length]))
                if found:
                    waiting.append(found)
    return seen


def sources(package: str) -> list[Path]:
    return [path.relative_to(ROOT) for path in sorted((ROOT / package).rglob("*.py"))]


def layer(file: Path) -> int:
    room = file.parts[1].removesuffix(".py")
    found = [number for number, rooms in enumerate(LAYERS) if room in rooms]
    assert found, f"{file}: {room!r} is in no layer of tests/test_architecture.py"
    return found[0]


@pytest.mark.parametrize("file", sources("metassay"), ids=str)
def test_rooms_import_only_downwards(file: Path) -> None:
    for name in imports(file):
        assert name.split(".")[0] == "metassay", f"{file} imports {name}"
        imported = module_file(name) or module_file(name.rpartition(".")[0])
        assert imported is not None, f"{file}: {name}"
        assert layer(imported) <= layer(file), f"{file} imports {name} from a higher layer"


@pytest.mark.parametrize("file", sources("metassay/statistics"), ids=str)
def test_statistics_know_nothing_of_the_project(file: Path) -> None:
    assert all(name.startswith("metassay.statistics") for name in imports(file))


@pytest.mark.parametrize("file", sources("stages"), ids=str)
def test_stages_do_not_know_flows_and_stay_doorways(file: Path) -> None:
    assert not any(name.startswith("flows") for name in imports(file))
    assert len((ROOT / file).read_text(encoding="utf-8").splitlines()) <= 70


def declared() -> dict[str, dict[str, object]]:
    stages = yaml.safe_load((ROOT / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
    return {name: stage["do"] for name, stage in stages.items()}


@pytest.mark.parametrize("name", declared())
def test_deps_name_every_file_that_a_stage_imports(name: str) -> None:
    deps = [Path(str(dep)) for dep in declared()[name]["deps"]]  # type: ignore[attr-defined]
    missing = [
        str(file)
        for file in sorted(needs(Path(f"stages/{name}.py")))
        # The packages' own __init__ hold a docstring and the version; who uses the version says so.
        if file not in (Path("stages/__init__.py"), Path("metassay/__init__.py"))
        and not any(file == dep or dep in file.parents for dep in deps)
    ]
    assert not missing, f"dvc.yaml > {name} > deps lacks {missing}"


@pytest.mark.parametrize("name", declared())
def test_who_prints_the_version_depends_on_it(name: str) -> None:
    uses = any("metassay.__version__" in imports(file) for file in needs(Path(f"stages/{name}.py")))
    if uses:
        assert "metassay/__init__.py" in declared()[name]["deps"]  # type: ignore[operator]


@pytest.mark.parametrize("name", declared())
def test_deps_exist(name: str) -> None:
    deps = [str(dep) for dep in declared()[name]["deps"]]  # type: ignore[attr-defined]
    code = [dep for dep in deps if dep.startswith(("stages/", "metassay/"))]
    assert not [dep for dep in code if not (ROOT / dep).exists()]


def test_dag_stands_in_the_order_of_the_data() -> None:
    order = "fetch ingest generate segment decompose align pair judge measure aggregate"
    assert list(declared()) == [*order.split(), "meta_evaluate", "report"]


@pytest.mark.parametrize("package", PACKAGES)
def test_files_stay_readable(package: str) -> None:
    reasons = {"metassay/tables.py": "it is data: one declaration a table"}
    long = [
        str(file)
        for file in sources(package)
        if len((ROOT / file).read_text(encoding="utf-8").splitlines()) > 300
    ]
    assert set(long) <= set(reasons)


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

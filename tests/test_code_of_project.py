"""Code as a version: what stages of this project need."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import yaml

from metassay.meta_evaluation.evaluate import RESULT_TABLES
from metassay.reporting.contract_page import TABLES
from metassay.versions.closure import Code
from metassay.versions.code_yaml import (
    BLOCKS,
    JOINT,
    load_code,
    read_versions,
    refresh,
    versions,
)

ROOT = Path(__file__).parent.parent


def test_the_committed_file_is_true():
    assert read_versions(ROOT) == versions(ROOT), (
        "code.yaml is stale; run `metassay update`"
    )
    assert not refresh(ROOT)


# they do nothing else
MODELS_ALONE = {"train", "train_roles", "corrupt", "tune", "distill"}


def test_versions_do_not_depend_on_the_extras_that_are_installed():
    """The code of a stage imports only what every project has: costly kinds bring the rest."""
    about = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    lines = [*about["dependencies"], *about["optional-dependencies"]["pipeline"]]
    there = {re.split("[=<>]", line)[0] for line in lines}
    code = load_code(ROOT)
    for stage in sorted({*code.stages()} - MODELS_ALONE):
        packages = code.dependencies(f"stages.{stage}").packages
        assert {line.partition("==")[0] for line in packages} <= there, stage


def declared() -> Iterator[tuple[str, str, list[str]]]:
    """Name, doorway and keys of code.yaml of every stage of a benchmark, and of a judge test."""
    for folder in ("sample", "wice_dev"):
        file = ROOT / "benchmarks" / folder / "dvc.yaml"
        for name, entry in yaml.safe_load(file.read_text(encoding="utf-8"))[
            "stages"
        ].items():
            body = entry.get("do", entry)
            keys = [
                param["code.yaml"] for param in body["params"] if "code.yaml" in param
            ]
            doorway = body["cmd"].split()[2].partition(".")[2]
            yield f"{folder}: {name}", doorway, [key for some in keys for key in some]


PERMISSIONS = {
    # Who was shown another dataset's text, or whose claims were released: asked to know
    # who may be sent it, which moves no number.
    ("decompose", ("metassay.generation", "SYSTEMS")),
    ("judge", ("metassay.units", "DECOMPOSITIONS")),
    # What sorts metrics on pages: a test of judges has none of them.
    ("report_judges", ("metassay.metrics", "METRICS")),
    ("report_judges", ("metassay.metrics.faithfulness", "FAITHFULNESS")),
}


def indexes_read(code: Code, entry: str) -> set[tuple[str, str]]:
    """The indexes, as module and name, that a module or what it needs imports.

    It then runs code of the kinds, which is not in its own closure.
    """
    needed = {line.partition(" ")[0] for line in code.dependencies(entry).modules}
    wanted = {imported for name in needed for imported in code.module(name).imports}
    return {
        (module, index)
        for module, indexes in code.indexes.items()
        for index in indexes
        if f"{module}.{index}" in wanted
        or (module in needed and code.path(module) != code.path(f"{module}.__init__"))
    }


def test_a_stage_that_reads_an_index_declares_its_block():
    code = load_code(ROOT)
    problems = []
    for name, doorway, keys in declared():
        blocks = {key.partition(".")[0] for key in keys}
        blocks |= {JOINT[block][0] for block in blocks & JOINT.keys()}
        indexes = [BLOCKS[block] for block in blocks & BLOCKS.keys()]
        there = {(module, index) for module, *names in indexes for index in names}
        if f"stages.{doorway}" not in keys:
            problems.append(f"{name}: has not stages.{doorway}")
        for index in sorted(indexes_read(code, f"stages.{doorway}") - there):
            if (doorway, index) not in PERMISSIONS:
                problems.append(
                    f"{name}: reads {'.'.join(index)}, and has no key of its block"
                )
    assert not problems, "benchmarks/*/dvc.yaml > params > code.yaml: " + "; ".join(
        problems
    )


# Modules of metassay/tables/ that more stages need than those whose tables they are of:
# what tables have alike, the notes that every doorway writes, and what headline numbers
# are found in.
EVERYWHERE = {"columns", "names", "notes", "parquet", "parquet_file", "checks"}
# Pages say what each column means that they show, and one index has the tables of all
# pages.
OF_REPORTS = {path.stem for path in ROOT.glob("metassay/tables/*.py")}


def test_a_stage_needs_the_contracts_of_its_own_tables_alone():
    """So that a column of another table, such as one that a command keeps, makes nothing stale.

    Contracts of analyses that nothing but meta_evaluate makes stand with their code.
    """
    code, room = load_code(ROOT), "metassay.tables."
    files = ROOT.glob("metassay/meta_evaluation/[a-z]*.py")
    makers = [
        "reporting.contract_page",
        *(f"meta_evaluation.{path.stem}" for path in files),
    ]
    names = {
        name for maker in makers for name in code.module(f"metassay.{maker}").imports
    }
    constants = [
        name.split(".")
        for name in names
        if name.startswith(room) and name.count(".") == 3
    ]
    modules = {
        name.lower(): module for *_, module, name in constants if name.lower() in TABLES
    }
    assert modules.keys() | RESULT_TABLES.keys() == TABLES.keys()
    of_doorways: dict[str, set[str]] = {}
    for folder in ("sample", "sample_claims", "sample_facets"):
        file = ROOT / "benchmarks" / folder / "dvc.yaml"
        for entry in yaml.safe_load(file.read_text(encoding="utf-8"))[
            "stages"
        ].values():
            body = entry.get("do", entry)
            declared_tables = re.findall(
                r"data/tables/[^/]+/(\w+)", " ".join(body["deps"] + body["outs"])
            )
            there = {modules[name] for name in declared_tables if name in modules}
            of_doorways.setdefault(body["cmd"].split()[2], set()).update(there)
    problems = []
    for doorway, tables in of_doorways.items():
        lines = [
            line for line in code.dependencies(doorway).modules if line.startswith(room)
        ]
        needed = {line.split()[0].removeprefix(room) for line in lines}
        shared = EVERYWHERE | (
            OF_REPORTS if doorway.startswith("stages.report") else set()
        )
        # made where cards are
        shared |= {"corrected"} if doorway == "stages.examine" else set()
        problems += [
            f"{doorway} needs {name}.py for nothing"
            for name in needed - tables - shared
        ]
        problems += [
            f"{doorway} has no use of {name}.py" for name in tables - needed - shared
        ]
    assert len(of_doorways) > 15
    assert not problems, "; ".join(sorted(problems))

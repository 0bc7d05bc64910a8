"""README and docs are true: their commands parse, their names and links exist."""

import ast
import re
import shlex
import subprocess
import tomllib
from pathlib import Path

import pytest

from metassay.cli.main import parser
from metassay.core.params import load
from metassay.datasets.registry import load_registry
from papers.with_model import BENCHMARK as WITH_MODEL

ROOT = Path(__file__).parent.parent
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]


def commands(page: Path) -> list[str]:
    blocks = re.findall(
        r"```(?:sh|bash|console)\n(.*?)```", page.read_text("utf-8"), re.DOTALL
    )
    lines = [
        line.partition("#")[0].strip().removeprefix("$ ")
        for b in blocks
        for line in b.split("\n")
    ]
    return [line for line in lines if line]


ALL = [(page, command) for page in PAGES for command in commands(page)]


@pytest.mark.parametrize(("page", "command"), ALL, ids=lambda x: getattr(x, "name", x))
def test_commands_exist(page: Path, command: str) -> None:
    words = [
        word for word in shlex.split(command) if not re.fullmatch(r"[A-Z_]+=.*", word)
    ]
    program = Path(words[0]).name if words else "environment"
    if program == "metassay":
        try:
            parser().parse_args(words[1:])
        except SystemExit:
            pytest.fail(f"{page.name}: {command}: metassay does not take this")
        if words[1] == "run":
            named = [
                w
                for w in words[2:]
                if not w.startswith("-") and not w.isdigit() and "/" not in w
            ]
            known = {*load(ROOT).every, "mine", "report", "fetch"}  # of --only, too
            # Benchmarks of data of one's own, which are copied into benchmarks/.
            known |= {folder.name for folder in (ROOT / "papers/benchmarks").iterdir()}
            known.add(WITH_MODEL)
            assert set(named) <= known, f"{page.name}: {command}"
    elif program == "make":
        done = subprocess.run(
            ["make", "-n", *words[1:]], cwd=ROOT, capture_output=True, check=False
        )
        assert done.returncode == 0, f"{page.name}: {command}"
    else:
        assert program in KNOWN, f"{page.name}: {command}: say here how it is tested"


# `prefect`: tests/test_reevaluate.py has Prefect read our prefect.yaml.
KNOWN = {
    "environment",
    "export",
    "dvc",
    "prefect",
    "git",
    "cd",
    "cp",
    "mkdir",
    "pip",
    ".",
} | {
    "vllm",
    "ollama",
    "transformers",
    "dask",  # tests/executor/ starts both
    "openssl",  # tests/executor/test_exposure.py
    "python",  # of modules: tests/calibration/test_runs.py
}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text("utf-8"))
    local = [link for link in links if "://" not in link]
    assert not [link for link in local if not (page.parent / link).exists()]


def test_the_readme_fits_three_screens_and_the_site_few_pages() -> None:
    lines = (ROOT / "README.md").read_text("utf-8").splitlines()
    assert len(lines) <= 130
    assert max(len(line) for line in lines if not line.startswith("![")) <= 140
    site = tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))["project"]["nav"]
    named = [page for part in site for pages in part.values() for page in pages]
    assert len([page for page in named if "/" not in page]) <= 22


def test_a_page_names_every_benchmark_that_all_can_run() -> None:
    page = (ROOT / "docs/datasets.md").read_text("utf-8")
    datasets = load_registry(ROOT / "data/registry.yaml")
    ours = [
        name
        for name, benchmark in load(ROOT).evaluations.items()
        if datasets[benchmark.dataset].files or benchmark.dataset == "sample"
    ]
    assert not [name for name in ours if f"`{name}`" not in page], "name it there"


def test_contributing_names_files_that_are_there_and_hold_the_indexes() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    named = re.findall(
        r"`((?:metassay|data|docs|prompts|benchmarks|tests)/[^`<]*)`", text
    )
    assert not [name for name in named if not (ROOT / name).exists()]
    indexes = [name for name in named if name.endswith("__init__.py")]
    assert len(indexes) >= 5
    for name in indexes:
        tables = [
            {
                key.value: value.value
                for key, value in zip(node.keys, node.values, strict=True)
            }
            for node in ast.walk(ast.parse((ROOT / name).read_text("utf-8")))
            if isinstance(node, ast.Dict)
        ]
        assert tables, name
        for module, _, record in (
            path.partition(":") for table in tables for path in table.values()
        ):
            file = ROOT / f"{module.replace('.', '/')}.py"
            defined = rf"^(\w+, )*{record or 'KIND'}\b.* = "
            assert re.search(defined, file.read_text("utf-8"), re.MULTILINE), (
                name,
                module,
            )

"""One rule for names of every kind, and commands that no name can add anything to."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from metassay.core.errors import BadInput
from metassay.core.naming import name_problem, name_problems, prefect_key
from metassay.core.params import load
from metassay.datasets.registry import load_registry
from metassay.llm import prompts
from stages import doorway
from stages.declared import find_entry
from stages.doorway import BAD_INPUT

ROOT = Path(__file__).parent.parent
BAD = (
    "openai/gpt-4o",
    "../../../../esc",
    "x;touch y;",
    "Mine.v2",
    "[/b]x",
    "-n",
    " x",
    "x\n",
    "é",
    "x" * 300,
    "$(touch y)",
    "`touch y`",
    "it's",
    "",
    "a b",
    "\x1b[2J",
    "=1+1",
    "a\u202eb",
    "123",
    "1e3",
    "0x1F",
    "null",
    "yes",
    "2026-11-22",
)
GOOD = ("Mine", "mini-4o", "a_b-C9", "13a", "0a", "x" * 60, "fetch")
BLOCKS = (
    "segmentations",
    "decompositions",
    "alignments",
    "questions",
    "systems",
    "judges",
    "metrics",
    "costly_metrics",
    "endpoints",
    "models",
)


def test_upper_case_is_a_name_and_likeness_is_told():
    assert [name for name in BAD if not name_problem(name)] == []
    assert [name for name in GOOD if name_problem(name)] == []
    assert name_problem("Given", ["given"]) == "the name is taken; choose another"
    assert list(name_problems(["mini-4o", "Mini_4o", "other", "é"])) == [
        "Mini_4o: differs from mini-4o in case or - alone; choose another name",
        "é: use letters, digits, _ and - of ASCII alone, first a letter or digit",
    ]


def test_prefect_has_a_key_for_every_name():
    for name in GOOD:
        # Prefect's own rule
        assert re.fullmatch("[a-z0-9-]+", prefect_key(f"{name}-leaderboard"))


def put(file: Path, content: object) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    # every text in quotes
    file.write_text(json.dumps(content, indent=1), encoding="utf-8")
    return file


def project(root: Path, shared: dict[str, Any], folder: str = "sample") -> Path:
    whole = yaml.safe_load((ROOT / "params.yaml").read_text("utf-8"))
    sample = yaml.safe_load((ROOT / "benchmarks/sample/params.yaml").read_text("utf-8"))
    blocks = {block: whole[block] | shared.get(block, {}) for block in BLOCKS}
    put(root / f"benchmarks/{folder}/params.yaml", sample | {"name": folder})
    return put(root / "params.yaml", whole | blocks)


def test_the_rule_holds_for_every_block(tmp_path):
    project(tmp_path, {block: {name: {} for name in (*BAD, *GOOD)} for block in BLOCKS})
    with pytest.raises(BadInput) as caught:
        load(tmp_path)
    problems = caught.value.problems
    for block in BLOCKS:
        lead = f"params.yaml > {block} > "
        assert sum(problem.startswith(lead) for problem in problems) == len(BAD), block
    assert all(problem.isprintable() for problem in problems)


@pytest.mark.parametrize(
    "name", ["x;touch y;", "Mine.v2", "$(touch y)", "published", "é", "123"]
)
def test_the_rule_holds_for_benchmarks(tmp_path, name):
    project(tmp_path, {}, name)
    with pytest.raises(BadInput, match=r"^benchmarks/.+: ") as caught:
        load(tmp_path)
    assert len(caught.value.problems) == 1


def test_the_rule_holds_for_datasets_and_prompts(tmp_path):
    entry = {
        "reader": "files",
        "title": "t",
        "licence": "none",
        "access": "public",
        "folder": "x",
    }
    datasets = dict.fromkeys([*BAD, *GOOD, "MINE"], entry)
    path = put(tmp_path / "registry.yaml", {"fetched": [], "datasets": datasets})
    with pytest.raises(BadInput) as caught:
        load_registry(path)
    assert len(caught.value.problems) == len(BAD) + 1
    for name in BAD:
        with pytest.raises(BadInput, match=r"^prompt "):
            prompts.load(name, tmp_path)


def commands(name: str) -> list[str]:
    """What DVC makes of the commands of both dvc.yaml, with this name in every place."""
    files = (ROOT / "dvc.yaml", ROOT / "benchmarks/sample/dvc.yaml")
    stages = [
        s
        for f in files
        for s in yaml.safe_load(f.read_text("utf-8"))["stages"].values()
    ]
    templates = [stage.get("do", stage)["cmd"] for stage in stages]
    return [
        re.sub(r"\$\{(name|item|key)\}", lambda _: name, t)
        for t in templates
        if "${" in t
    ]


@pytest.mark.parametrize(
    "name", [name for name in BAD if "'" not in name and name.isprintable()]
)
def test_a_shell_takes_each_name_as_one_word_and_runs_nothing(tmp_path, name):
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\nshift 2\nfor word; do printf "%s\\n" "$word"; done\n')
    python.chmod(0o755)
    output = subprocess.run(
        ["sh", "-c", "\n".join(commands(name))],
        cwd=tmp_path,
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    words = [word for command in commands(name) for word in shlex.split(command)[3:]]
    assert output.splitlines() == words == [name] * len(words)
    assert list(tmp_path.iterdir()) == [python]


def refused(monkeypatch: pytest.MonkeyPatch, root: Path, *words: str) -> None:
    monkeypatch.chdir(root)
    monkeypatch.setattr(sys, "argv", [*words])
    with pytest.raises(SystemExit) as ended:
        doorway.enter(lambda _: pytest.fail("the doorway was entered"))
    assert ended.value.code == BAD_INPUT


def test_a_doorway_refuses_the_name_and_writes_nothing(tmp_path, monkeypatch, capsys):
    project(tmp_path / "in" / "it", {})
    before = sorted(tmp_path.rglob("*"))
    for name in BAD:
        refused(monkeypatch, tmp_path / "in" / "it", "judge.py", "sample", name)
        (line,) = capsys.readouterr().err.splitlines()
        assert line.isprintable()
        assert sorted(tmp_path.rglob("*")) == before, name


def test_a_doorway_refuses_params_with_the_line(tmp_path, monkeypatch, capsys):
    file = project(
        tmp_path, {"systems": {"openai/gpt-4o": {"kind": "lead", "passages": 1}}}
    )
    refused(monkeypatch, tmp_path, "segment.py", "sample")
    number = file.read_text("utf-8").splitlines().index('  "openai/gpt-4o": {') + 1
    lead = f"params.yaml, line {number} > systems > openai/gpt-4o: use letters, digits, _ and - of"
    error = capsys.readouterr().err
    assert error.startswith(lead)
    assert error.endswith("; its real name goes to shown_as\n")


def test_a_declared_stage_is_found_by_its_words(monkeypatch):
    monkeypatch.chdir(ROOT)
    assert find_entry("judge", ["sample", "lexical"]).name == "judge@lexical"
    with pytest.raises(
        BadInput, match=r"no dvc\.yaml has the command 'python -m stages.judge"
    ):
        find_entry("judge", ["sample", "other"])

"""A project whose code was hashed keeps its results: its locks name declared versions instead."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from dvc.utils.serialize import dumps_yaml, load_yaml  # type: ignore[import-untyped]

from metassay.project import migration
from metassay.project.refresh import refresh
from tests.conftest import ROOT

LOCK = Path("benchmarks/sample/dvc.lock")
SEMANTIC = "data/judges/semantic.json"
WHOLE = (
    "metrics",
    "questions",
    "alignments",
    "decompositions",
)  # blocks that were watched whole


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The sample as an older Metassay left it; its code's hashes are invented."""
    for name in (
        "params.yaml",
        "data/registry.yaml",
        "benchmarks/sample/params.yaml",
        str(LOCK),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    lock = load_yaml(tmp_path / LOCK)
    hashes: dict[str, dict[str, str]] = {}
    params = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    for entry in lock["stages"].values():
        for key in entry["params"].pop("versions.yaml"):
            block, name = key.split(".")
            hashes.setdefault(block, {})[name] = f"hash of {name}"
            entry["params"].setdefault("code.yaml", {})[key] = f"hash of {name}"
        shared = entry["params"].setdefault("params.yaml", {})
        for key in [key for key in shared if key.partition(".")[0] in WHOLE]:
            block = key.partition(".")[0]
            del shared[key]
            shared[block] = params[block]
        shared |= {"endpoints": {}, "models": {}}
    (tmp_path / LOCK).write_text(dumps_yaml(lock), encoding="utf-8")
    (tmp_path / "code.yaml").write_text(yaml.safe_dump(hashes), encoding="utf-8")
    stages = yaml.safe_load(yaml.safe_dump(hashes))["stages"]
    last = hashlib.sha256(json.dumps(stages).encode()).hexdigest()[:16]
    monkeypatch.setattr(migration, "CHANGED", {last: frozenset()})
    return tmp_path


def first_versions(version: Any) -> Any:
    """A version with the number 1 wherever the code declares a number."""
    if isinstance(version, int):
        return 1
    if not isinstance(version, dict):
        return version
    first = {**version, "version": 1}
    if "members" in version:
        members = version["members"].items()
        first["members"] = {name: first_versions(member) for name, member in members}
    return first


def test_a_lock_is_as_a_run_of_the_first_versions_would_write_it(project: Path) -> None:
    lines = refresh(project)
    assert f"{LOCK}: 14 of 14 stages keep their results" in lines
    expected = load_yaml(ROOT / LOCK)
    n_raised = 0
    for stage in expected["stages"].values():
        versions = stage["params"]["versions.yaml"]
        first = {key: first_versions(version) for key, version in versions.items()}
        n_raised += first != versions
        versions.update(first)
    assert n_raised > 0
    raised = f"{LOCK}: {n_raised} of these run again, as their version was raised since"
    assert raised in lines
    assert (project / LOCK).read_text("utf-8") == dumps_yaml(expected)
    assert not (project / "code.yaml").exists()
    assert refresh(project) == []


def change_yaml(file: Path, *path: str, value: object) -> None:
    content: Any = load_yaml(file)
    block = content
    for step in path[:-1]:
        block = block[step]
    block[path[-1]] = value
    file.write_text(dumps_yaml(content), encoding="utf-8")


def test_a_stage_of_other_code_is_computed_again(project: Path) -> None:
    code = ("params", "code.yaml", "judges.lexical")
    change_yaml(project / LOCK, "stages", "judge@lexical", *code, value="an older hash")
    assert f"{LOCK}: 13 of 14 stages keep their results" in refresh(project)
    assert "code.yaml" in load_yaml(project / LOCK)["stages"]["judge@lexical"]["params"]


def test_a_project_of_an_older_metassay_keeps_nothing(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migration, "CHANGED", {})
    before = (project / LOCK).read_bytes()
    assert f"{LOCK}: 0 of 14 stages keep their results" in refresh(project)
    assert (project / LOCK).read_bytes() == before


def change_since(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Say that these stages and kinds were changed since the project's last run."""
    (state,) = migration.CHANGED
    monkeypatch.setattr(migration, "CHANGED", {state: frozenset(names)})


def test_a_stage_that_was_changed_before_versions_is_computed_again(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change_since(monkeypatch, "meta_evaluate", "judge")
    assert f"{LOCK}: 11 of 14 stages keep their results" in refresh(project)


def test_a_kind_that_was_changed_before_versions_is_computed_again(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change_since(monkeypatch, "rouge")
    refresh(project)
    stages = load_yaml(project / LOCK)["stages"]
    rewritten = {name for name in stages if "versions.yaml" in stages[name]["params"]}
    assert stages.keys() - rewritten == {"measure"}


def test_answers_of_models_that_were_read_otherwise_are_read_again(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change_since(monkeypatch, migration.ASKING)
    asking = {"version": 1, "models": {"a-model": {}}}
    jury = {"version": 1, "members": {"first": 1, "second": asking}}
    assert migration._asks(asking)
    assert migration._asks(jury)
    assert not migration._asks({"version": 1, "members": {"first": 1}})
    assert f"{LOCK}: 14 of 14 stages keep their results" in refresh(project)


def test_a_file_with_coefficients_that_is_another_one_counts(project: Path) -> None:
    """code.yaml had the hash of each kind of file apart from that of the code."""
    shutil.copytree(ROOT / "data/judges", project / "data/judges")
    names = sorted([SEMANTIC, SEMANTIC.replace(".json", ".safetensors")])
    lines = [
        f"{name} {migration._hash_bytes((project / name).read_bytes())}"
        for name in names
    ]
    version = f"hash of code++{migration._hash(chr(0).join(lines))}"
    semantic = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))[
        "judges"
    ]
    change_yaml(
        project / "params.yaml", "judges", "lexical", value=semantic["semantic"]
    )
    change_yaml(project / "code.yaml", "judges", "lexical", value=version)
    code = ("params", "code.yaml", "judges.lexical")
    change_yaml(project / LOCK, "stages", "judge@lexical", *code, value=version)
    shutil.copytree(project, project.with_name("other"))
    assert f"{LOCK}: 14 of 14 stages keep their results" in refresh(project)
    other = project.with_name("other")
    (other / SEMANTIC).write_bytes((other / SEMANTIC).read_bytes() + b"\n")
    assert f"{LOCK}: 13 of 14 stages keep their results" in refresh(other)

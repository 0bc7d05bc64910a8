"""The committed locks are of this code, so that a fresh clone has nothing stale."""

import copy
import shutil
from pathlib import Path
from typing import Any

import pytest

from metassay.core.params import load
from metassay.project.refresh import refresh
from tests import edits
from tests.conftest import ROOT
from tests.locks import (
    read_lock,
    settings_of,
    stale_stages,
    unversioned_changes,
    watched,
)

FOLDERS = load(ROOT).every
SAMPLES = [name for name in FOLDERS if name == "sample" or name.startswith("sample_")]
# Folders whose results changed since `make release` last ran them all. At a release
# there are none.
WAITING: set[str] = {
    "hospital_adaptation",
    "hospital_course",
    "hospital_course_training",
}


@pytest.mark.parametrize("name", sorted(FOLDERS.keys() - WAITING))
def test_a_committed_lock_is_current(name: str) -> None:
    stale = stale_stages(ROOT, FOLDERS[name])
    assert not stale, (
        f"benchmarks/{name}/dvc.lock is of other settings or versions: {', '.join(stale)};"
        f" `{'make samples' if name in SAMPLES else 'make release'}`, and commit what changed"
    )


def test_the_lock_of_trainings_is_current() -> None:
    stale = stale_stages(ROOT, None)
    assert not stale, f"dvc.lock: {', '.join(stale)}; `make release`, and commit it"


def test_no_sample_waits() -> None:
    assert not WAITING & set(SAMPLES)
    assert FOLDERS.keys() >= WAITING


# ---- what changed without a version --------------------------------------------------------------


@pytest.fixture
def lock() -> Any:
    """The stages of the sample's committed lock, to change."""
    return copy.deepcopy(dict(read_lock(ROOT, "sample")))


def changes(lock: Any) -> list[str]:
    return list(unversioned_changes("sample", read_lock(ROOT, "sample"), lock))


def test_another_output_of_the_same_version_is_named_with_its_remedy(lock: Any) -> None:
    (out, _) = lock["measure"]["outs"]
    out["md5"] = "0"
    # What reads it writes something else, too, and is not named.
    for dependency in lock["aggregate"]["deps"]:
        if dependency["path"].endswith("/measurements"):
            dependency["md5"] = "1"
    lock["aggregate"]["outs"][0]["md5"] = "2"
    (line,) = changes(lock)
    assert line.startswith(
        "sample: measure writes something else under the same version:"
        " data/tables/sample/measurements/metrics.parquet. If results are meant to change, raise"
        " `version` of measure in metassay/core/stage_table.py, or VERSION of the kind of"
    )
    assert "VERSION of the kind of metrics > rouge" in line
    assert "judges" not in line


def test_an_output_of_a_raised_version_wants_another_run(lock: Any) -> None:
    lock["certify"]["outs"][0]["md5"] = "0"
    lock["certify"]["params"]["versions.yaml"]["stages.certify"] = 99
    (line,) = changes(lock)
    assert line == (
        "sample: certify was run with other settings or versions; `metassay run --no-prefect"
        " sample` and commit benchmarks/sample"
    )


def test_what_is_as_it_was_is_not_named(lock: Any) -> None:
    assert changes(lock) == []
    assert set(watched(ROOT, FOLDERS["sample"])) == set(lock)


# ---- what an edit makes stale --------------------------------------------------------------------


@pytest.fixture(scope="module")
def edited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the settings of the edits' project are in, with nothing built; not to be changed."""
    root = tmp_path_factory.mktemp("edits") / "project"
    shutil.copytree(ROOT / "prompts", root / "prompts")
    for name in (edits.SHARED, edits.SETTINGS, "data/registry.yaml"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    edits.make_settings(root, "http://127.0.0.1:9/v1")
    refresh(root)
    return root


@pytest.mark.parametrize(
    "case",
    [case for case in edits.EDITS if case.of_code],
    ids=lambda case: case.name,
)
def test_an_edit_of_code_changes_a_file(case: edits.Edit, tmp_path: Path) -> None:
    """What runs after it takes minutes: `python -m tests.edits`."""
    for room in ("metassay", "stages", "flows"):
        shutil.copytree(ROOT / room, tmp_path / room)
    before = {file: file.read_bytes() for file in tmp_path.rglob("*.py")}
    case.make(tmp_path)
    assert any(file.read_bytes() != content for file, content in before.items())


@pytest.mark.parametrize(
    "case",
    [case for case in edits.EDITS if not case.of_code],
    ids=lambda case: case.name,
)
def test_an_edit_makes_stale_what_it_can_change(
    case: edits.Edit, edited: Path, tmp_path: Path
) -> None:
    """`python -m tests.edits` runs them, with those of Metassay's own code."""
    root = Path(shutil.copytree(edited, tmp_path / "project"))
    before = settings_of(root, load(root).every[edits.NAME])
    case.make(root)
    refresh(root)
    after = settings_of(root, load(root).every[edits.NAME])
    assert {
        stage for stage in after if after[stage] != before.get(stage)
    } == case.stages

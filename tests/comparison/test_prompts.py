"""Which prompt files are named where a cause is a block's prompts."""

from pathlib import Path

import pytest

from metassay.code_version import _files, code_of
from metassay.comparison.causes import Cause
from metassay.comparison.prompts import with_files
from tests.comparison.states import READER, Lock, Project, base_lock, params_of

NAMES = [
    *("attribution", "preference", "entailment", "same-question"),
    *("support-grade", "three-way", "scale", "penalties"),
]
FILES = [
    *(Path(f"prompts/judge-{name}.yaml") for name in NAMES),
    *(Path(f"prompts/answer-{name}.yaml") for name in ("json", "again")),
]
CAUSE = Cause("prompt", "judge@reader", "prompts of judges.reader")


def commit(made: Project) -> None:
    made.git("add", "prompts")
    made.git("commit", "-q", "--allow-empty", "-m", "prompts")


@pytest.fixture
def written(made: Project) -> Project:
    """The prompts of one judge, committed."""
    (made.root / "prompts").mkdir()
    for file in FILES:
        (made.root / file).write_text(f"first {file}", encoding="utf-8")
    commit(made)
    return made


def lock(made: Project, key: str = "judges.reader") -> Lock:
    """The lock of a run with the prompts that are there."""
    found = base_lock()
    params_of(found, "judge@reader")["judges.reader"] = READER | {"rounds": 2}
    version = _files(made.root, code_of(made.root), FILES, "")
    params_of(found, "judge@reader", "code.yaml")[key] = f"c0de+{version}"
    return found


def named(made: Project, before: Lock, after: Lock, cause: Cause = CAUSE) -> str:
    (found,) = with_files(made.root, [cause], before, after)
    return found.what


def test_the_edited_files_are_named_be_they_committed_or_not(written: Project) -> None:
    before = lock(written)
    for name in ("penalties", "scale"):
        (written.root / f"prompts/judge-{name}.yaml").write_text("another", encoding="utf-8")
    after = lock(written)
    said = f"{CAUSE.what}: prompts/judge-penalties.yaml, prompts/judge-scale.yaml"
    assert named(written, before, after) == said
    commit(written)
    (written.root / "prompts/answer-json.yaml").write_text("a third", encoding="utf-8")
    assert named(written, before, after) == said


def test_where_a_state_is_not_known_the_block_alone_is_named(written: Project) -> None:
    before = lock(written)
    (written.root / FILES[0]).write_text("never committed", encoding="utf-8")
    lost = lock(written)
    (written.root / FILES[0]).write_text("later", encoding="utf-8")
    assert named(written, before, lost) == CAUSE.what
    params_of(before, "judge@reader")["judges.reader"] = READER  # without an option that is new
    assert named(written, before, lost) == CAUSE.what
    joint = Cause("prompt", "judge@reader", "prompts of decompositions")
    assert named(written, before, lost, joint) == joint.what
    other = Cause("settings", "judge@reader", "judges.reader > style")
    assert named(written, before, lost, other) == other.what

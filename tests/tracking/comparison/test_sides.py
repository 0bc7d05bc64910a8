"""What a dvc.lock is taken to say, and tables of another state that DVC is asked for."""

import errno
import os
import sqlite3
from pathlib import Path

import pytest
import yaml

from metassay.core.errors import BadInput
from metassay.tracking.comparison import sides
from metassay.tracking.comparison.sides import lock_text, outs_of, parse_lock

UNITS = "data/tables/one/units.parquet"
LISTS = {"decompositions": [], "released_claims": {"given": "data/raw/claims"}}
STRUCK_OFF = {  # the decomposition `clauses`
    "decompose@clauses": {"cmd": "a", "outs": [{"path": UNITS, "md5": "old"}]},
    "decompose_released@given": {"cmd": "b", "outs": [{"path": UNITS, "md5": "new"}]},
    "aggregate": {"cmd": "c", "params": {"benchmarks/one/params.yaml": LISTS}},
}
ALIGN = {  # of a benchmark that could name a single alignment
    "align": {"outs": [{"path": "alignments.parquet", "md5": "a"}]},
    "align@top": {"outs": [{"path": "alignments/top.parquet", "md5": "b"}]},
    "align@gone": {"outs": [{"path": "alignments/gone.parquet", "md5": "c"}]},
    "aggregate": {"params": {"benchmarks/one/params.yaml": {"alignments": ["top"]}}},
}


@pytest.mark.parametrize(
    ("stages", "left"),
    [
        (STRUCK_OFF, ["aggregate", "decompose_released@given"]),
        (dict(reversed(STRUCK_OFF.items())), ["aggregate", "decompose_released@given"]),
        (ALIGN, ["aggregate", "align@top"]),
        # No later stage says what there is.
        (
            {"judge@mini": {"cmd": "a"}, "aggregate": {"cmd": "b"}},
            ["aggregate", "judge@mini"],
        ),
    ],
)
def test_stages_that_were_struck_off_are_left_out_wherever_they_stand(stages, left):
    lock = parse_lock(yaml.safe_dump({"stages": stages}, sort_keys=False), "dvc.lock")
    assert sorted(lock["stages"]) == left
    if "decompose_released@given" in left:
        assert outs_of(lock) == {UNITS: "new"}


@pytest.mark.parametrize(
    "stage",
    [
        "null",
        "[]",
        "{params: [a]}",
        "{params: {params.yaml: null}}",
        "{outs: [{md5: a}]}",
        "{params: {5: {}}}",
        "{params: {params.yaml: {5: a}}}",
        "{deps: 5}",
        "{outs: {a: b}}",
        "{outs: [{path: 5}]}",
        "2026-99-99",
        "\ufffd",
    ],
    ids=lambda stage: stage[:30],
)
def test_a_stage_in_another_form_than_dvc_writes_makes_it_no_lock(stage):
    with pytest.raises(
        BadInput, match=r"accepted\.lock: is not a dvc\.lock with stages"
    ):
        parse_lock(f"stages: {{aggregate: {stage}}}", "accepted.lock")


@pytest.mark.parametrize("damage", ["bytes", "folder", "pipe", "nothing"])
def test_a_file_that_is_no_lock_is_named_and_not_waited_for(tmp_path, damage):
    file = tmp_path / "accepted.lock"
    if damage == "bytes":
        file.write_bytes(b"stages:\n  a\xff: {}\n")
    elif damage != "nothing":
        (Path.mkdir if damage == "folder" else os.mkfifo)(file)
    words = r"accepted\.lock: is not a dvc\.lock with stages; .*`metassay watch accept`"
    with pytest.raises(BadInput, match=words):
        parse_lock(lock_text(file), str(file))


def fetch(patch: pytest.MonkeyPatch, root: Path, error: Exception) -> str:
    """The problem where DVC fails so."""

    def fail(*_: object, **__: object) -> None:
        raise error

    patch.setattr("dvc.repo.Repo", fail)
    with pytest.raises(BadInput) as caught:
        sides.fetch_tables(root, {"a": "0" * 32}, name="accepted", benchmark="one")
    return str(caught.value)


def test_what_the_disk_refuses_is_told(tmp_path, monkeypatch):
    error = PermissionError(
        errno.EACCES, "Permission denied", str(Path.cwd() / ".work/dvc")
    )
    problem = fetch(monkeypatch, tmp_path, error)
    assert problem.startswith(
        "accepted: .work/dvc: you lack the permission for this; `ls -ld`"
    )


def test_a_full_disk_on_which_dvc_keeps_nothing_is_told(tmp_path, monkeypatch):
    full = sqlite3.OperationalError("database or disk is full")
    problem = fetch(monkeypatch, tmp_path, full)
    assert problem.startswith("accepted: DVC can't be asked ")
    assert "; make room on the disk" in problem
    (tmp_path / "table").touch()
    assert sides._changed_files(tmp_path, {"table": "0" * 32}) == []

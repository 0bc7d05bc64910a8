"""What a dvc.lock is taken to say."""

import os
from pathlib import Path

import pytest
import yaml

from metassay.core.errors import BadInput
from metassay.tracking.comparison.sides import lock_text, outs_of, parse_lock

UNITS = "data/tables/one/units.parquet"


def lock(order: list[str]) -> str:
    """Of a benchmark whose decomposition `clauses` was struck off, its stages in this order."""
    stages = {
        "decompose@clauses": {"cmd": "a", "outs": [{"path": UNITS, "md5": "old"}]},
        "decompose_released@given": {"cmd": "b", "outs": [{"path": UNITS, "md5": "new"}]},
        "aggregate": {
            "cmd": "c",
            "params": {
                "benchmarks/one/params.yaml": {
                    "decompositions": [],
                    "released_claims": {"given": "data/raw/claims"},
                }
            },
        },
    }
    return yaml.safe_dump({"stages": {name: stages[name] for name in order}}, sort_keys=False)


def test_stages_that_were_struck_off_are_left_out_wherever_they_stand() -> None:
    names = ["decompose@clauses", "decompose_released@given", "aggregate"]
    for order in (names, names[::-1]):
        found = parse_lock(lock(order), "dvc.lock")
        assert set(found["stages"]) == {"decompose_released@given", "aggregate"}
        assert outs_of(found) == {UNITS: "new"}


def test_an_instance_stays_where_no_later_stage_says_what_there_is() -> None:
    text = yaml.safe_dump({"stages": {"judge@mini": {"cmd": "a"}, "aggregate": {"cmd": "b"}}})
    assert set(parse_lock(text, "dvc.lock")["stages"]) == {"judge@mini", "aggregate"}


@pytest.mark.parametrize(
    "stage",
    [
        *("null", "[]", "{params: [a]}", "{params: {params.yaml: null}}", "{outs: [{md5: a}]}"),
        *("{params: {5: {}}}", "{params: {params.yaml: {5: a}}}", "{deps: 5}", "{outs: {a: b}}"),
        *("{outs: [{path: 5}]}", "2026-99-99", "[" * 100_000, "\ufffd", "- " * 9_000),
    ],
    ids=lambda stage: stage[:30],
)
def test_a_stage_in_another_form_than_dvc_writes_makes_it_no_lock(stage: str) -> None:
    with pytest.raises(BadInput, match=r"accepted\.lock: is not a dvc\.lock with stages"):
        parse_lock(f"stages: {{aggregate: {stage}}}", "accepted.lock")


@pytest.mark.parametrize("damage", ["bytes", "folder", "pipe", "nothing"])
def test_a_file_that_is_no_lock_is_named_and_not_waited_for(tmp_path: Path, damage: str) -> None:
    file = tmp_path / "accepted.lock"
    if damage == "bytes":
        file.write_bytes(b"stages:\n  a\xff: {}\n")
    elif damage == "folder":
        file.mkdir()
    elif damage == "pipe":
        os.mkfifo(file)
    with pytest.raises(
        BadInput, match=r"accepted\.lock: is not a dvc\.lock with stages; .*`metassay watch accept`"
    ):
        parse_lock(lock_text(file), str(file))


def test_a_stage_that_has_had_instances_since_is_left_out() -> None:
    """As `align` of a benchmark that could name a single alignment."""
    stages = {
        "align": {"outs": [{"path": "alignments.parquet", "md5": "a"}]},
        "align@top": {"outs": [{"path": "alignments/top.parquet", "md5": "b"}]},
        "align@gone": {"outs": [{"path": "alignments/gone.parquet", "md5": "c"}]},
        "aggregate": {"params": {"benchmarks/one/params.yaml": {"alignments": ["top"]}}},
    }
    found = parse_lock(yaml.safe_dump({"stages": stages}), "lock")
    assert list(found["stages"]) == ["aggregate", "align@top"]

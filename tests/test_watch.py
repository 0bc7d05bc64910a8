"""What is shown of a stage that fails."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from flows.dag import Plan, Stage
from flows.watch import Watch
from flows.workers import StageFailed


def test_a_stage_that_fails_the_same_way_again_says_its_cause_once() -> None:
    stage = Stage(f"{Path('benchmarks/one/dvc.yaml')}:align", (), 1, 0.0, ())
    shown = io.StringIO()
    plan = Plan({stage.address: stage}, frozenset([stage.address]))
    with Watch(plan, console=Console(file=shown, width=200)) as watch:
        for output in ("disk is busy", "3 of 9 are missing", "3 of 9 are missing"):
            with pytest.raises(StageFailed), watch.stage(stage):
                raise StageFailed(stage.name, 1, output)
    lines = [line.strip() for line in shown.getvalue().splitlines()]
    assert lines[:5] == [
        "✗ one: align (exit 1)",
        "disk is busy",
        "✗ one: align (exit 1)",
        "3 of 9 are missing",
        "✗ one: align failed again (exit 1)",
    ]


def test_a_dataset_that_is_not_there_is_named() -> None:
    shown = io.StringIO()
    with Watch(
        Plan({}, frozenset(), ("data/raw/x",)), console=Console(file=shown, width=200)
    ):
        pass
    message = "· data/raw/x is missing but not needed: its tables are up to date"
    assert shown.getvalue().rstrip("\n") == message

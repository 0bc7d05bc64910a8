"""Whose deployments and runs a schedule touches on a Prefect server that others use, too."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4

import prefect
import pytest
from prefect.flows import _raise_on_name_with_banned_characters

from flows import schedule


class Shared:
    """A server's list of runs, each as (deployment, state), that answers filters."""

    def __init__(self, runs: dict[UUID, list[str]]) -> None:
        self.runs = runs

    def __enter__(self) -> "Shared":
        return self

    def __exit__(self, *_: object) -> None: ...

    def read_flow_runs(self, deployment_filter: Any, flow_run_filter: Any) -> list[Any]:
        names, states = deployment_filter.name.any_, flow_run_filter.state.name.any_
        keys = [key for key, (name, state) in self.runs.items() if name in names]
        return [SimpleNamespace(id=key) for key in keys if self.runs[key][1] in states]

    def set_flow_run_state(self, key: UUID, state: Any, *, force: bool) -> None:
        assert force
        self.runs[key][1] = state.name


def test_a_schedule_that_ends_leaves_runs_of_another_project_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = (
        schedule.schedule_name(tmp_path / place / "own data & more") for place in "ab"
    )
    states = [
        (ours, "Running"),
        (ours, "Pending"),
        (ours, "Completed"),
        (theirs, "Running"),
    ]
    server = Shared({uuid4(): list(state) for state in states})
    monkeypatch.setattr(prefect, "get_client", lambda **_: server)
    schedule._crash_running(ours)
    assert [state for _, state in server.runs.values()] == [
        "Crashed",
        "Crashed",
        "Completed",
        "Running",
    ]


def test_a_project_keeps_the_name_of_its_schedule_and_prefect_takes_it(
    tmp_path: Path,
) -> None:
    root = tmp_path / "Übung 5 % & more"
    name = schedule.schedule_name(root)
    assert name.startswith("Übung-5-more-")
    assert schedule.schedule_name(root / "benchmarks" / "..") == name
    _raise_on_name_with_banned_characters(name)

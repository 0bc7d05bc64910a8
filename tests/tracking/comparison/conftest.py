"""A project whose states are made, not run."""

from pathlib import Path

import pytest

from metassay.tracking.comparison import sides
from metassay.versions.code_yaml import read_versions
from tests.tracking.comparison.states import Project


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """An empty project that is the working folder; no table and no commit yet."""
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(
        sides, "versions", read_versions
    )  # its versions are invented, as its states are
    return Project(tmp_path / "project")

"""A project whose states are made, not run."""

import shutil
from pathlib import Path

import pytest

from metassay.core.versions import read
from metassay.tracking.comparison import sides
from tests.tracking.comparison.states import Project, scores


@pytest.fixture(scope="session")
def template(tmp_path_factory):
    """States `base`, and `worse` in which one system lost; the latter is what is here."""
    project = Project.begin(tmp_path_factory.mktemp("states") / "project")
    project.state("base", scores())
    project.state("worse", scores(lead=-0.05))
    return project.root


@pytest.fixture
def two(template, tmp_path, monkeypatch):
    """A copy that is the working folder; its versions are invented, as its states are."""
    root = Path(shutil.copytree(template, tmp_path / "project"))
    monkeypatch.chdir(root)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(sides, "versions", lambda folder, _: read(folder))
    return Project(root)

"""What all tests of metrics have."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What models computed is kept below the folder that a test runs in."""
    monkeypatch.chdir(tmp_path)

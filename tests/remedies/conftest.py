import pytest

from tests.remedies.following import Terminal


@pytest.fixture
def terminal(tmp_path, monkeypatch, capsys) -> Terminal:
    """A terminal in a new folder."""
    monkeypatch.chdir(tmp_path)
    return Terminal(capsys)

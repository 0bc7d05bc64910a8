"""What `metassay run` and `metassay run --only report` make of how their flows ended."""

import pytest

from metassay.cli import running
from metassay.core.exit_codes import FAILED, INTERRUPTED, REFUSED


@pytest.mark.parametrize(
    ("ended", "code", "said"),
    [
        (0, 0, ""),
        (REFUSED, REFUSED, ""),
        (INTERRUPTED, INTERRUPTED, ""),
        (1, FAILED, "not every stage succeeded"),
        (-9, FAILED, "the run was killed"),
    ],
)
def test_each_end_has_its_code_and_its_words(
    monkeypatch, capsys, ended: int, code: int, said: str
) -> None:
    monkeypatch.setattr(running, "_run_watched", lambda *_: ended)
    assert running.run_flows(["sample"], {}) == code
    assert capsys.readouterr().err.startswith(said)

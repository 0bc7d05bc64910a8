"""DVC is asked for tables of another state."""

import errno
import os
from pathlib import Path

import pytest

from metassay.core.errors import BadInput
from metassay.tracking.comparison import sides


def test_what_the_disk_refuses_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refusing(*_: object, **__: object) -> None:
        raise PermissionError(
            errno.EACCES, os.strerror(errno.EACCES), str(Path.cwd() / ".work/dvc")
        )

    monkeypatch.setattr("dvc.repo.Repo", refusing)
    with pytest.raises(BadInput, match=r"^accepted: \.work/dvc: you have no right .*; `ls -ld`"):
        sides._find(tmp_path, {"a": "0" * 32}, name="accepted", benchmark="one")

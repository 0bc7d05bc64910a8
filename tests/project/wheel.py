"""The wheel of the working tree, built once in a process."""

import subprocess
import sys
from functools import cache
from pathlib import Path

from tests.conftest import ROOT


@cache
def _built(folder: Path) -> Path:
    command = [
        sys.executable,
        "-m",
        "hatchling",
        "build",
        "-t",
        "wheel",
        "-d",
        str(folder),
    ]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


def wheel(tmp_path: Path) -> Path:
    """The wheel's file, in pytest's folder of this run."""
    return _built(tmp_path.parent / "wheel")

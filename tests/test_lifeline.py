"""A process on a lifeline ends with who holds the other end, together with what it has started."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from metassay.core import parent_watch as lifeline

ROOT = Path(__file__).parent.parent
WATCH = "from metassay.core import parent_watch; parent_watch.watch()"
STARTS_ANOTHER = f"""
import subprocess, sys, time
{WATCH}
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print(child.pid, flush=True)
time.sleep(60)
"""


def begin(code: str, variables: dict[str, str]) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=os.environ | variables,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )


@pytest.mark.parametrize("line", [b"", b"what nobody reads\n"])
def test_it_ends_with_its_children_when_the_line_is_let_go(line: bytes) -> None:
    with begin(STARTS_ANOTHER, lifeline.ENVIRONMENT) as process:
        assert process.stdin
        assert process.stdout
        child = psutil.Process(int(process.stdout.readline()))
        process.stdin.write(line)
        process.stdin.flush()
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.1)
        process.stdin.close()
        assert process.wait(30) == -signal.SIGKILL
        assert not psutil.wait_procs([child], timeout=30)[1]


def test_stdin_that_is_no_line_means_nothing() -> None:
    code = f"import time; {WATCH}; time.sleep(0.2)"
    with begin(code, {}) as process:
        assert process.stdin
        process.stdin.close()
        assert process.wait(30) == 0

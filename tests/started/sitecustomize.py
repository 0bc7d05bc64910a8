"""What Python runs first in processes that a test starts with this folder in PYTHONPATH.

`METASSAY_TEST_STOP="accepted.lock 3"` stops a process once, at the third thing that it
asks of the system (of Python's audit events) from the moment on in which it begins to
write a file whose name holds that. Whoever waits for it sends it a signal then, and
SIGCONT.
"""

import os
import signal
import sys
from typing import Any

STOP = "METASSAY_TEST_STOP"


def stop_in_writing(word: str, number: int) -> None:
    """Stop this process at the number-th audit event from the first on that writes `word`."""
    left = number + 1

    def heard(event: str, args: tuple[Any, ...]) -> None:
        nonlocal left
        if left > number and not (
            event == "open" and _writes(args) and word in str(args[0])
        ):
            return
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGSTOP)

    sys.addaudithook(heard)


def _writes(args: tuple[Any, ...]) -> bool:
    return isinstance(args[2], int) and bool(args[2] & os.O_ACCMODE)


if STOP in os.environ:
    name, _, times = os.environ[STOP].partition(" ")
    stop_in_writing(name, int(times))

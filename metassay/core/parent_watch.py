"""A process that was started for a run ends with who started it, however that one went.

Who starts it holds the other end of its stdin, and says so in the environment: `HELD`. The system
closes that end even after SIGKILL. What the process starts hangs on the same line.
"""

import os
import select
import signal
import threading
from collections.abc import Callable

HELD = {"METASSAY_LIFELINE": "stdin"}


def end_group() -> None:
    """Kill this process's group at once: itself and what it has started."""
    os.killpg(0, signal.SIGKILL)


def watch(end: Callable[[], None] = end_group) -> None:
    """Call `end`, in a thread, when nobody holds the other end of stdin any more.

    Does nothing in a process whose environment does not have HELD: its stdin is its user's.
    """
    if HELD.items() <= os.environ.items():
        threading.Thread(target=_wait, args=(end,), daemon=True, name="lifeline").start()


def _wait(end: Callable[[], None]) -> None:
    line = select.poll()
    line.register(0, 0)  # nothing is read: only that it is closed is told
    while not line.poll():
        pass
    end()

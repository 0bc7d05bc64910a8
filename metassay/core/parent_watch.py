"""End a process that was started for a run when its parent ends, in any way.

The parent keeps the other end of the process's stdin open, and marks this in the
environment: `ENVIRONMENT`. The system closes that end even after SIGKILL. Children of
the process inherit it.
"""

import os
import select
import signal
import threading
from collections.abc import Callable

ENVIRONMENT = {"METASSAY_LIFELINE": "stdin"}


def end_group() -> None:
    """Kill this process's group: itself and its children."""
    os.killpg(0, signal.SIGKILL)


def watch(end: Callable[[], None] = end_group) -> None:
    """Call `end`, in a thread, when the other end of stdin is closed.

    Does nothing in a process without ENVIRONMENT in its environment: its stdin is the
    user's.
    """

    def wait() -> None:
        line = select.poll()
        line.register(0, 0)  # waits for the close without reading
        while not line.poll():
            pass
        end()

    if ENVIRONMENT.items() <= os.environ.items():
        threading.Thread(target=wait, daemon=True, name="lifeline").start()

"""How a run ends before its time: at a signal, or when what it needs is gone.

All that a run has started hangs on it (metassay/core/parent_watch.py), so that it may end at any
moment. Where it can, it ends in order: the stages are killed, which their tasks report to Prefect.
"""

import os
import signal
import sys
import threading
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flows.workers import Workers

INTERRUPTED = 130  # as a shell says it
GOODBYE = "interrupted; the next run goes on from here"
_PATIENCE = 2.0  # seconds for an orderly end


class Ending:
    """Why the run ends, once it does; what is asked for first counts."""

    def __init__(self) -> None:
        self.code = 0
        self._message = ""
        self._workers: Workers | None = None

    def listen(self) -> None:
        """End the run at Ctrl-C, SIGTERM and SIGHUP."""

        def came(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
            self.interrupt()

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # as it is under nohup
                signal.signal(number, came)

    def in_order(self, workers: "Workers") -> None:
        """From now on there are stages to kill before the run can go."""
        self._workers = workers

    def interrupt(self) -> None:
        """End as the user wants it, or since who started the run is gone; twice: this moment."""
        if self.code:
            self.leave()
        self.end(INTERRUPTED, GOODBYE)

    def end(self, code: int, message: str) -> None:
        """Kill the stages, and leave soon; at once where there is nothing to end in order."""
        if self.code:
            return
        self.code, self._message = code, message
        if self._workers is None:
            self.leave()
            return
        patience = threading.Timer(_PATIENCE, self.leave)
        patience.daemon = True
        patience.start()
        self._workers.kill()

    def leave(self) -> None:
        """Go this moment, from wherever: imports cannot be left by an exception."""
        cursor = "\x1b[?25h" if sys.stderr.isatty() else ""  # the bar may have hidden it
        try:
            os.write(sys.stderr.fileno(), f"{cursor}{self._message}\n".encode())
        except OSError:  # nobody reads any more
            pass
        finally:
            os._exit(self.code)

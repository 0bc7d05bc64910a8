"""How a run ends early: at a signal, or when something that it needs is gone.

Every process that a run starts ends with it (metassay/core/parent_watch.py), so it can
end at any moment. If it can, it ends in order: it kills the stages, and their tasks
report that to Prefect.
"""

import os
import signal
import sys
import threading
from types import FrameType
from typing import TYPE_CHECKING

from metassay.core.exit_codes import INTERRUPTED

if TYPE_CHECKING:
    from flows.workers import Workers

_PATIENCE = 2.0  # seconds for an orderly end


class Ending:
    """Why the run ends, once it does; the first reason counts."""

    def __init__(self) -> None:
        self.code = 0
        self._reports = True
        self._message = ""
        self._workers: Workers | None = None

    def listen(self) -> None:
        """End the run at Ctrl-C, SIGTERM and SIGHUP."""

        def handle(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
            self.interrupt()

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # as it is under nohup
                signal.signal(number, handle)

    def end_first(self, workers: "Workers") -> None:
        """From now on, kill these workers' stages before the run ends."""
        self._workers = workers

    def drop_reports(self) -> None:
        """End without what waits to be reported: Prefect tries each report for seconds."""
        self._reports = False

    def finish(self, code: int) -> int:
        """Return the exit code, or end with it at once if reports are dropped."""
        if not self._reports:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
        return code

    def interrupt(self) -> None:
        """End since the user wants it, or the parent process is gone; the second time at once."""
        if self.code:
            self.leave()
        self.end(INTERRUPTED, "interrupted; the next run goes on from here")

    def end(self, code: int, message: str) -> None:
        """Kill the stages and end soon; at once if there are no stages to kill."""
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
        """Exit at once, from wherever: an exception cannot leave imports."""
        # the bar may have hidden it
        cursor = "\x1b[?25h" if sys.stderr.isatty() else ""
        try:
            os.write(sys.stderr.fileno(), f"{cursor}{self._message}\n".encode())
        except OSError:  # stderr is closed
            pass
        finally:
            os._exit(self.code)

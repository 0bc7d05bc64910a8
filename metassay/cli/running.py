"""The command `run`: its first line comes at once, and Ctrl-C ends it in order."""

import argparse
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import FrameType

STAGE_FAILED = 1
INTERRUPTED = 130  # as a shell says it


def run(chosen: argparse.Namespace) -> int:
    """Run benchmarks, then print the headline of each."""
    print("checking params.yaml and the registry", file=sys.stderr, flush=True)
    # Seconds, with all that they import.
    from metassay.cli.project import checked, headline
    from metassay.code_version import FILE, refresh

    params = checked(chosen.names)
    if refresh(Path()):
        print(f"{FILE} is written again, since the code is another; commit it", file=sys.stderr)
    command = [sys.executable, "-m", "flows", *chosen.names, "--jobs", str(chosen.jobs)]
    if chosen.no_prefect:
        command.append("--no-prefect")
    environment = dict(os.environ)
    if chosen.mirror:
        environment["METASSAY_MIRROR"] = str(chosen.mirror.resolve())
    code = _in_a_session_of_its_own(command, environment)
    if code == INTERRUPTED:
        return INTERRUPTED
    if code != 0:
        print(
            "not every stage succeeded; mend what is named above and run the same command again:"
            " only what is missing is done",
            file=sys.stderr,
        )
        return STAGE_FAILED
    for name in chosen.names:
        headline(name, params)
    return 0


def _in_a_session_of_its_own(command: list[str], environment: dict[str, str]) -> int:
    """Run the command and hand on to it what signals come; returns its exit code.

    Ctrl-C in a terminal goes to every process at once. Prefect's server must live on for a moment,
    to be told that the run is over, so only the command itself is to hear of it.
    """
    started: list[subprocess.Popen[bytes]] = []

    def hand_on(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        if not started:
            raise KeyboardInterrupt
        started[0].send_signal(number)

    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, hand_on) for number in signals}
    try:
        started.append(subprocess.Popen(command, env=environment, start_new_session=True))
        return started[0].wait()
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

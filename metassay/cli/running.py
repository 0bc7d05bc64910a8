"""The command `run`: its first line comes at once, and what it has begun ends with it."""

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from metassay.core import parent_watch as lifeline
from metassay.core.exit_codes import FAILED, INTERRUPTED, REFUSED

if TYPE_CHECKING:
    from metassay.core.params import Params

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # ignored ones stay so, as under nohup
_PATIENCE = 3.0  # seconds for an orderly end


def run(chosen: argparse.Namespace) -> int:
    """Run benchmarks, or one thing of them alone, then print what each came to."""
    print("checking params.yaml and the registry", file=sys.stderr, flush=True)
    if chosen.only == "fetch":
        from metassay.cli.project import fetch_all

        return fetch_all(chosen.names, chosen.mirror)
    params: list[Params] = []

    def check() -> None:
        from metassay.cli.project import checked  # seconds, with all that it imports

        params.append(checked(chosen.names))
        refreshed()

    words, environment = words_of(chosen)
    if chosen.only:
        words += ["--only", chosen.only]
    if chosen.ask_again:
        words.append("--ask-again")
    code = run_flows([*words, "--wait"], environment, meanwhile=check)
    if code:
        return code
    from metassay.cli.run_summary import closing

    return closing(chosen.names, *params)


def refreshed() -> None:
    """Bring code.yaml up to date, and say so if it was not."""
    from metassay.versions.code_yaml import FILE, refresh

    if refresh(Path()):
        print(
            f"{FILE} was updated, since code or a named block changed; commit it",
            file=sys.stderr,
        )


def words_of(chosen: argparse.Namespace) -> tuple[list[str], dict[str, str]]:
    """What was chosen, for `run_flows`: words and environment."""
    words = [*chosen.names, "--jobs", str(chosen.jobs)]
    if getattr(chosen, "no_prefect", False):  # a schedule is always Prefect's
        words.append("--no-prefect")
    if chosen.prefect_api:
        words += ["--prefect-api", chosen.prefect_api]
    environment = dict(os.environ)
    if getattr(chosen, "dask", None):
        environment["METASSAY_DASK"] = chosen.dask
    if chosen.mirror:
        environment["METASSAY_MIRROR"] = str(chosen.mirror.resolve())
    return words, environment


def run_flows(
    words: list[str],
    environment: dict[str, str],
    *,
    module: str = "flows",
    own: tuple[int, ...] = (),
    meanwhile: Callable[[], None] | None = None,
) -> int:
    """`python -m flows` with these words; returns this command's exit code, and says why it is 1.

    `meanwhile` is done here while it starts and waits (`--wait`); it is killed if that raises.

    What is refused or interrupted has said so, and so have the exit codes that are the module's
    `own`.
    """
    code = _on_a_lifeline([sys.executable, "-m", module, *words], environment, meanwhile)
    if code in (0, INTERRUPTED, REFUSED, *own):
        return code
    if code < 0:
        said = "the run was killed; run the same command again to continue"
    else:
        said = (
            "not every stage succeeded; fix what is named above and run the same command again,"
            " which does only what is missing"
        )
    print(said, file=sys.stderr)
    return FAILED


def _on_a_lifeline(
    command: list[str], environment: dict[str, str], meanwhile: Callable[[], None] | None = None
) -> int:
    """Run the command in a session of its own, which ends when this process does; its exit code.

    Ctrl-C goes to every process of a terminal, and Prefect's server must live on for a moment: so
    this process alone hears of it, and lets go of the line. Asked twice, or after _PATIENCE, it
    kills.
    """
    started = subprocess.Popen(
        command,
        env={**environment, **lifeline.ENVIRONMENT},
        stdin=subprocess.PIPE,
        start_new_session=True,
    )
    assert started.stdin is not None
    asked: list[int] = []

    def kill() -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(started.pid, signal.SIGKILL)

    def let_go(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        if asked:
            kill()
            return
        asked.append(number)
        started.stdin.close()  # type: ignore[union-attr]
        patience = threading.Timer(_PATIENCE, kill)
        patience.daemon = True
        patience.start()

    if meanwhile:
        try:
            meanwhile()
        except BaseException:
            kill()  # before it sees the line end, and says that it was interrupted
            started.wait()
            started.stdin.close()
            raise
        with contextlib.suppress(BrokenPipeError):  # it has ended, and said why
            started.stdin.write(b".")
            started.stdin.flush()
    listened = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, let_go) for number in listened}
    try:
        code = started.wait()
        return INTERRUPTED if asked else code
    finally:
        with contextlib.suppress(BrokenPipeError):
            started.stdin.close()
        if not asked:  # else it is over in a moment, and asking again changes nothing
            for number, handler in before.items():
                signal.signal(number, handler)

"""The command `run`: its first line comes at once, and its subprocesses end with it."""

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

from metassay.cli.benchmark_names import check_names
from metassay.core import parent_watch
from metassay.core.exit_codes import FAILED, INTERRUPTED, REFUSED

if TYPE_CHECKING:
    from metassay.core.params import Params

# unless ignored, as under nohup
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PATIENCE = 3.0  # seconds until an orderly end is forced


def run(args: argparse.Namespace) -> int:
    """Run benchmarks, or one thing of them alone, then print a summary of each."""
    if args.only != "fetch":  # which takes names of datasets, too
        check_names(args.names)
    print("checking params.yaml and the registry", file=sys.stderr, flush=True)
    if args.only == "fetch":
        from metassay.cli.project import fetch_all

        return fetch_all(args.names, args.mirror)
    params: list[Params] = []

    def check() -> None:
        from metassay.cli.project import check_project  # its imports take seconds

        params.append(check_project(args.names))
        warn_of_exposure(args.names, params[0], args.dask)
        refresh_project()

    words, environment = words_of(args)
    if args.only:
        words += ["--only", args.only]
    if args.ask_again:
        words.append("--ask-again")
    code = run_flows([*words, "--wait"], environment, meanwhile=check)
    if code:
        return code
    from metassay.cli.run_summary import print_summary

    return print_summary(args.names, *params)


def refresh_project() -> None:
    """Bring versions.yaml and dvc.yaml files up to date, and tell the user what changed."""
    from metassay.project.refresh import refresh

    for line in refresh(Path()):
        print(line, file=sys.stderr)


def warn_of_exposure(names: list[str], params: "Params", dask: str | None) -> None:
    """Warn if others can reach the workers; BadInput if the benchmarks' texts are not public."""
    from metassay.cli.project import datasets_in
    from metassay.datasets.registry import load_registry
    from metassay.datasets.workers import exposed_to, set_address

    registry = load_registry()
    evaluations = [
        params.evaluations[name] for name in names if name in params.evaluations
    ]
    datasets = {name for folder in evaluations for name in datasets_in(folder, params)}
    address = dask or os.environ.get("METASSAY_DASK")
    options = set_address(params.executor, address)
    if warning := exposed_to(options, [registry[name] for name in datasets]):
        print(warning, file=sys.stderr)


def words_of(args: argparse.Namespace) -> tuple[list[str], dict[str, str]]:
    """Return the arguments and the environment for `run_flows`."""
    words = [*args.names, "--jobs", str(args.jobs)]
    if getattr(args, "no_prefect", False):  # a schedule always uses Prefect
        words.append("--no-prefect")
    if args.prefect_api:
        words += ["--prefect-api", args.prefect_api]
    environment = dict(os.environ)
    if getattr(args, "dask", None):
        environment["METASSAY_DASK"] = args.dask
    if args.mirror:
        environment["METASSAY_MIRROR"] = str(args.mirror.resolve())
    return words, environment


def run_flows(
    words: list[str],
    environment: dict[str, str],
    *,
    module: str = "flows",
    passed_on: tuple[int, ...] = (),
    meanwhile: Callable[[], None] | None = None,
) -> int:
    """Run `python -m flows` with these words; return the exit code, and tell why it is 1.

    `meanwhile` is called while the module starts and waits (`--wait`); if it raises,
    the module is killed. A module has explained a refusal or an interruption itself,
    and its exit codes `passed_on`.
    """
    code = _run_watched([sys.executable, "-m", module, *words], environment, meanwhile)
    if code in (0, INTERRUPTED, REFUSED, *passed_on):
        return code
    if code < 0:
        reason = "the run was killed; run the same command again to continue"
    else:
        reason = (
            "not every stage succeeded; fix what is named above and run the same command again,"
            " which does only what is missing"
        )
    print(reason, file=sys.stderr)
    return FAILED


def _run_watched(
    command: list[str],
    environment: dict[str, str],
    meanwhile: Callable[[], None] | None = None,
) -> int:
    """Run the command in a session that ends with this process; return its exit code.

    Ctrl-C goes to every process of a terminal, but Prefect's server must outlive it for
    a moment: so only this process receives it, and closes the pipe that the session
    watches. A second one kills, and so do _PATIENCE seconds.
    """
    process = subprocess.Popen(
        command,
        env={**environment, **parent_watch.ENVIRONMENT},
        stdin=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdin is not None
    signals: list[int] = []

    def kill() -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

    def end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        if signals:
            kill()
            return
        signals.append(number)
        process.stdin.close()  # type: ignore[union-attr]
        patience = threading.Timer(_PATIENCE, kill)
        patience.daemon = True
        patience.start()

    if meanwhile:
        try:
            meanwhile()
        except BaseException:
            kill()  # before it reads the end of the pipe, and reports an interruption
            process.wait()
            process.stdin.close()
            raise
        with contextlib.suppress(BrokenPipeError):  # it has ended, and told why
            process.stdin.write(b".")
            process.stdin.flush()
    heard = [
        number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN
    ]
    before = {number: signal.signal(number, end) for number in heard}
    try:
        code = process.wait()
        return INTERRUPTED if signals else code
    finally:
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        # else it is over in a moment, and another signal changes nothing
        if not signals:
            for number, handler in before.items():
                signal.signal(number, handler)

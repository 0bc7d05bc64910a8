"""Which Prefect a run reports to: a server of its own, or the one that its user names.

Another server is told keys and numbers only: no notes and words of a stage, which name documents.
"""

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from flows.prefect_server import NoPrefect, Server
from flows.surroundings import files_of_prefect

Way = Callable[..., list[str]]
LOST = (
    "Prefect's server has ended, which the run needs; run the same command again, or with"
    " --no-prefect, which needs no server"
)


def tell(root: Path, variables: list[str]) -> None:
    """Say what of Prefect's settings is there and has no effect on this run."""
    found = [*variables, *files_of_prefect(root)]
    if found:
        print(
            f"not used: {', '.join(found)}; a run has a Prefect server of its own"
            " (another one: --prefect-api URL)",
            file=sys.stderr,
        )


@contextmanager
def own(root: Path, held: list[int], lost: Callable[[], None]) -> Iterator[Way]:
    """Run with a server that lives as long as the run; `lost` is called if it ends before."""
    print("Prefect's server starts; that takes some 15 seconds", file=sys.stderr)
    server = Server(root, held, lost)
    os.environ["PREFECT_API_URL"] = server.url
    with settings_of_nobody():
        from flows import benchmark  # while it starts
    server.wait_until_it_serves()
    yield partial(benchmark.run, notes=True)
    benchmark.report_all()
    server.close()


@contextmanager
def of_others(url: str) -> Iterator[Way]:
    """Run with the server at `url`; raises NoPrefect if there is none."""
    prefect_at(url)
    from flows import benchmark

    try:
        yield partial(benchmark.run, notes=False)
    finally:
        benchmark.report_all()


def prefect_at(url: str) -> None:
    """Have Prefect in this process report to the server at `url`; NoPrefect if there is none."""
    os.environ |= {"PREFECT_API_URL": url, "PREFECT_LOGGING_TO_API_ENABLED": "false"}
    with settings_of_nobody():
        from flows import benchmark
    reason = benchmark.unreachable()
    if reason:
        place = urlsplit(url)
        raise NoPrefect(
            f"no Prefect server answers at {place.scheme}://{place.hostname} ({reason}); see that"
            " --prefect-api names its API, as http://HOST:4200/api does, and that"
            " PREFECT_API_KEY or PREFECT_API_AUTH_STRING is right if it wants one"
        )


@contextmanager
def settings_of_nobody() -> Iterator[None]:
    """Prefect reads files of the working folder when it is imported, and this one has none."""
    home = Path(os.environ["PREFECT_HOME"])
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise NoPrefect(
            f"{home}: {error.strerror}; make that a folder that you may write, or run with"
            " --no-prefect"
        ) from None
    with contextlib.chdir(home):
        yield

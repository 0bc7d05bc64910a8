"""Prefect's server for one run: on loopback, in a process that is gone when the run is.

`python -m flows.prefect_server SOCKET DATABASE`, with the file descriptor of a listening socket:
what the run starts. Prefect could start a server itself, but that one outlives a killed run.
"""

import contextlib
import http.client
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from flows import history
from metassay.core import parent_watch
from metassay.core.errors import BadInput

Way = Callable[..., list[str]]
LOST = (
    "Prefect's server has ended, which the run needs; run the same command again, or with"
    " --no-prefect, which needs no server"
)

BEGUN = Path(__file__).with_name("prefect_database.sql")  # as Prefect 3.8.8 begins
DAMAGED = 65  # EX_DATAERR of sysexits.h: the database is at fault, as far as one can tell
START_TIMEOUT = 120.0
_ROOM = 2**20  # bytes, for what SQLite writes to open a database
_GRACE = {b"": 1.5, b".": 30.0}  # seconds to write down what it was told: of a killed run, or not
_ALONE = {"PREFECT_UI_ENABLED": "0", "PREFECT__SERVER_FINAL": "1"}
_WITHOUT_SERVICES = {"PREFECT__SERVER_EPHEMERAL": "1"}


class NoPrefect(BadInput):
    """There is no Prefect server to be had; the message says why, and what to do."""


@contextmanager
def own(server: "Server") -> Iterator[Way]:
    """Run with this server, which has started and lives as long as the run."""
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


class Server:
    """The server as the run sees it, from `start` to `close`; `url` is where Prefect finds it."""

    def __init__(
        self, root: Path, held: list[int], lost: Callable[[], None], *, schedules: bool = False
    ) -> None:
        """`lost` is called, in a thread, if it ends before `close`; `held` are the run's locks.

        `schedules`: it is that of `metassay watch schedule`, which starts runs by the clock, and
        has a list of its own, since runs have servers of theirs meanwhile.
        """
        self._database = history.of_schedule(root) if schedules else history.database(root)
        self._schedules = schedules
        self._held = held
        self._lost = lost
        self._serving = self._closing = False
        self._port = 0
        with _explained():
            self._database.parent.mkdir(parents=True, exist_ok=True)
            # Without a name, since what a server says may quote what it was told.
            self._said: IO[bytes] = tempfile.TemporaryFile(dir=self._database.parent)  # noqa: SIM115
            self._begin()

    @property
    def url(self) -> str:
        """What PREFECT_API_URL has to be."""
        return f"http://127.0.0.1:{self._port}/api"

    def wait_until_it_serves(self) -> None:
        """Return when it answers; a damaged database is set aside, once. Raises NoPrefect."""
        if not self._serves():
            with _explained():
                if self._ended() != DAMAGED or not self._database.exists():
                    raise OSError(self._last_words())
                # On a full disk a sound database cannot be opened either.
                with tempfile.TemporaryFile(dir=self._database.parent) as probe:
                    probe.write(bytes(_ROOM))
                aside = history.set_aside(self._database)
                print(
                    f"Prefect's list of past runs, {self._database.name}, is damaged: it is now"
                    f" {aside.name}, and a new one is begun",
                    file=sys.stderr,
                )
                self._begin()
                if not self._serves():
                    raise OSError(self._last_words())
        self._serving = True
        if self._process.poll() is not None:  # before anybody looked
            self._gone(self._process.returncode)

    def close(self) -> None:
        """End it, after it has written down what it was told."""
        self._closing = True
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(b".")
            self._process.stdin.close()
        self._process.wait()
        self._said.close()

    def drop(self) -> None:
        """End it at once if nobody has told it anything."""
        if not self._serving:
            self._closing = True
            self._process.kill()
            self._process.wait()

    def _begin(self) -> None:
        with socket.create_server(("127.0.0.1", self._port), backlog=512) as listening:
            self._port = int(listening.getsockname()[1])
            number = str(listening.fileno())
            settings = _ALONE if self._schedules else _ALONE | _WITHOUT_SERVICES
            home = {"PREFECT_HOME": str(self._database.parent)}
            self._process = subprocess.Popen(
                [sys.executable, "-m", "flows.prefect_server", number, str(self._database)],
                env={**os.environ, **settings, **home, **parent_watch.ENVIRONMENT},
                stdin=subprocess.PIPE,
                stdout=self._said,
                stderr=self._said,
                pass_fds=[listening.fileno(), *self._held],
                start_new_session=True,  # Ctrl-C is for the run, which then ends it
            )
        process = self._process
        watching = threading.Thread(
            target=lambda: self._gone(process.wait()), daemon=True, name="server"
        )
        watching.start()

    def _serves(self) -> bool:
        """Whether it answers: the socket takes the question before anybody serves it."""
        asking = http.client.HTTPConnection("127.0.0.1", self._port, timeout=START_TIMEOUT)
        try:
            asking.request("GET", "/api/health")
            return asking.getresponse().status == http.HTTPStatus.OK
        except (OSError, http.client.HTTPException):
            return False
        finally:
            asking.close()

    def _gone(self, code: int) -> None:
        """End the run at once; but a start that failed, and was not killed, has its reasons."""
        if not self._closing and (self._serving or code <= 0):
            history.mark_crashed(self._database)
            self._lost()

    def _ended(self) -> int:
        """The exit code of a server that does not answer; it is not waited for any longer."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._process.wait(timeout=5)
        self._closing = True
        self._process.kill()
        return self._process.wait()

    def _last_words(self) -> str:
        """The last error in what it said: of a start, where no texts are yet."""
        self._said.seek(0)
        said = self._said.read().decode(errors="replace")
        errors = re.findall(r"^\S*(?:Error|Exception)\b.*", said, re.MULTILINE)
        return errors[-1] if errors else f"exit {self._process.returncode}"


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise NoPrefect(
            f"Prefect's server cannot start in .work/prefect: {error}; fix that, or run with"
            " --no-prefect, which needs no server"
        ) from None


def main() -> None:
    """Serve until the run has gone; then what it left going on in the database has crashed."""
    listening, file = socket.socket(fileno=int(sys.argv[1])), Path(sys.argv[2])
    servers: list[Any] = []

    def end() -> None:
        for server in servers:
            server.should_exit = True
            time.sleep(_GRACE[os.read(0, 1)])
        _settle(file)

    parent_watch.watch(end)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if not history.sound(file):
        sys.exit(DAMAGED)
    os.chdir(file.parent)  # Prefect reads settings in the working folder: those of its user
    import uvicorn

    begin(file)
    factory = "prefect.server.api.server:create_app"
    servers.append(uvicorn.Server(uvicorn.Config(factory, factory=True, log_level="error")))
    servers[0].capture_signals = contextlib.nullcontext  # it would first start, then end
    try:
        servers[0].run(sockets=[listening])
    except SystemExit:  # what it does first is to bring the database up to date
        sys.exit(DAMAGED)
    _settle(file)


def begin(file: Path) -> None:
    """Give an empty database the tables that Prefect's migrations would make in 3.5 seconds.

    Prefect then migrates from there, as it does from any earlier version; an older one, which
    doesn't know that state, makes its own.
    """
    import prefect

    tables = BEGUN.read_text(encoding="utf-8")
    revision = tables.rpartition("alembic_version\" VALUES('")[2].partition("'")[0]
    known = Path(prefect.__file__).parent / "server/database/_migrations/versions/sqlite"
    if file.stat().st_size == 0 and any(known.glob(f"*_{revision}_*.py")):
        with closing(sqlite3.connect(file)) as database:
            database.executescript(f"BEGIN; {tables} COMMIT;")


def _settle(file: Path) -> None:
    history.mark_crashed(file)
    os._exit(0)  # whatever its threads still wait for


if __name__ == "__main__":
    main()

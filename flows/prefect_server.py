"""Prefect's server for a run: on loopback, in a process that ends with the run.

`python -m flows.prefect_server SOCKET DATABASE`, with the file descriptor of a
listening socket, is that process. Prefect could start a server itself, but that would
outlive a killed run.
"""

import contextlib
import hashlib
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
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlsplit

from flows import history
from metassay.core import parent_watch
from metassay.core.errors import BadInput

if TYPE_CHECKING:
    from flows.watch import Watch
    from flows.workers import Workers

RunStages = Callable[..., list[str]]
LOST = (
    "Prefect's server has ended, which the run needs; run the same command again, or with"
    " --no-prefect, which needs no server"
)

# those of a new Prefect 3.8.8
TABLES = Path(__file__).with_name("prefect_database.sql")
DAMAGED = 65  # EX_DATAERR of sysexits.h: the database seems to be at fault
START_TIMEOUT = 120.0
_ROOM = 2**20  # bytes that SQLite may write to open a database
# seconds to store reports: of a killed run, or one that ended
_GRACE = {b"": 1.5, b".": 30.0}
_ALONE = {"PREFECT_UI_ENABLED": "0", "PREFECT__SERVER_FINAL": "1"}
_WITHOUT_SERVICES = {"PREFECT__SERVER_EPHEMERAL": "1"}


class NoPrefect(BadInput):
    """No Prefect server can be used; the message says why, and what to do."""


@contextmanager
def run_with(server: "Server") -> Iterator[RunStages]:
    """Run with this server, which has started and lives as long as the run."""
    os.environ["PREFECT_API_URL"] = server.url
    with hide_settings_files():
        from flows import benchmark  # imported while it starts
    server.wait_until_it_serves()
    yield partial(benchmark.run, notes=True)
    benchmark.flush_reports()
    server.close()


@contextmanager
def run_at(url: str, lost: Callable[[], None]) -> Iterator[RunStages]:
    """Run with the server at `url`; raises NoPrefect if there is none.

    All work is done here, so a run goes on without a server that goes away: then `lost`
    is called.
    """
    connect(url)
    from flows import benchmark

    benchmark.mark_lost(_note_of(url))
    yield partial(_run_or_go_on, url, lost)


def _run_or_go_on(
    url: str,
    lost: Callable[[], None],
    root: Path,
    workers: "Workers",
    watch: "Watch",
    *,
    jobs: int,
) -> list[str]:
    """Run the stages with the server; if it goes away, run the rest without it."""
    from flows import benchmark, plain
    from flows.workers import Interrupted

    note = _note_of(url)
    try:
        failed = benchmark.run(root, workers, watch, jobs=jobs, notes=False, note=note)
        problem = failed and benchmark.connection_problem()
    except Interrupted:
        raise
    except Exception:
        problem = benchmark.connection_problem()
        if not problem:
            raise
    if not problem:
        note.unlink(missing_ok=True)
        benchmark.flush_reports()
        return failed
    lost()
    print(
        f"Prefect's server at {_place(url)} no longer answers ({problem}); the run"
        " goes on without it",
        file=sys.stderr,
    )
    before = list(watch.failures)
    after = watch.plan.dependents_of(before)
    watch.report_skipped(after)
    watch.plan = watch.plan.mark_done([*watch.ended, *before, *after])
    return [*before, *after, *plain.run(root, workers, watch, jobs=jobs)]


def _note_of(url: str) -> Path:
    """Return the file that names the flow run at a server, as long as it lasts."""
    name = hashlib.sha256(url.encode()).hexdigest()[:16]
    return Path(os.environ["PREFECT_HOME"]) / f"run-at-{name}"


def _place(url: str) -> str:
    place = urlsplit(url)
    port = f":{place.port}" if place.port else ""
    return f"{place.scheme}://{place.hostname}{port}"


def connect(url: str) -> None:
    """Let Prefect in this process report to the server at `url`; raises NoPrefect without one."""
    os.environ |= {
        "PREFECT_API_URL": url,
        "PREFECT_LOGGING_TO_API_ENABLED": "false",
        # The run says itself what goes wrong.
        "PREFECT_LOGGING_LEVEL": "CRITICAL",
        "PREFECT_LOGGING_INTERNAL_LEVEL": "CRITICAL",
        "PREFECT_CLIENT_MAX_RETRIES": "1",  # seconds, in place of minutes
    }
    with hide_settings_files():
        from flows import benchmark
    reason = benchmark.connection_problem()
    if reason:
        raise NoPrefect(
            f"no Prefect server answers at {_place(url)} ({reason}); see that"
            " --prefect-api names its API, as http://HOST:4200/api does, and that"
            " PREFECT_API_KEY or PREFECT_API_AUTH_STRING is right if it wants one"
        )


@contextmanager
def hide_settings_files() -> Iterator[None]:
    """Change to a folder without settings: Prefect reads those of the working folder at import."""
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
    """The server as the run sees it, from start to `close`; `url` is for Prefect."""

    def __init__(
        self,
        root: Path,
        locks: list[int],
        lost: Callable[[], None],
        *,
        schedules: bool = False,
    ) -> None:
        """Start the server; `lost` is called, in a thread, if it ends early; `locks` are the run's.

        `schedules`: for `metassay watch schedule`, which starts runs by the clock and
        has its own database, since its runs have their own servers meanwhile.
        """
        self._database = (
            history.schedule_database(root) if schedules else history.database(root)
        )
        self._schedules = schedules
        self._locks = locks
        self._lost = lost
        self._serving = self._closing = False
        self._port = 0
        with _explain_errors():
            self._database.parent.mkdir(parents=True, exist_ok=True)
            # Without a name, since a server's output may quote what it was sent.
            self._output: IO[bytes] = tempfile.TemporaryFile(dir=self._database.parent)  # noqa: SIM115
            self._start()

    @property
    def url(self) -> str:
        """The value for PREFECT_API_URL."""
        return f"http://127.0.0.1:{self._port}/api"

    def wait_until_it_serves(self) -> None:
        """Return when it answers; a damaged database is set aside, once. Raises NoPrefect."""
        if not self._serves():
            with _explain_errors():
                if self._exit_code() != DAMAGED or not self._database.exists():
                    raise OSError(self._last_error())
                # On a full disk an intact database cannot be opened either.
                with tempfile.TemporaryFile(dir=self._database.parent) as probe:
                    probe.write(bytes(_ROOM))
                aside = history.set_aside(self._database)
                print(
                    f"Prefect's list of past runs, {self._database.name}, is damaged: it is now"
                    f" {aside.name}, and a new one is begun",
                    file=sys.stderr,
                )
                self._start()
                if not self._serves():
                    raise OSError(self._last_error())
        self._serving = True
        if self._process.poll() is not None:  # it ended before this point
            self._handle_end(self._process.returncode)

    def close(self) -> None:
        """End it, after it has stored what was reported."""
        self._closing = True
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(b".")
            self._process.stdin.close()
        self._process.wait()
        self._output.close()

    def drop(self) -> None:
        """End it at once if nothing was reported."""
        if not self._serving:
            self._closing = True
            self._process.kill()
            self._process.wait()

    def _start(self) -> None:
        with socket.create_server(("127.0.0.1", self._port), backlog=512) as listening:
            self._port = int(listening.getsockname()[1])
            number = str(listening.fileno())
            settings = _ALONE if self._schedules else _ALONE | _WITHOUT_SERVICES
            home = {"PREFECT_HOME": str(self._database.parent)}
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "flows.prefect_server",
                    number,
                    str(self._database),
                ],
                env={**os.environ, **settings, **home, **parent_watch.ENVIRONMENT},
                stdin=subprocess.PIPE,
                stdout=self._output,
                stderr=self._output,
                pass_fds=[listening.fileno(), *self._locks],
                start_new_session=True,  # Ctrl-C is for the run, which then ends it
            )
        process = self._process
        watching = threading.Thread(
            target=lambda: self._handle_end(process.wait()), daemon=True, name="server"
        )
        watching.start()

    def _serves(self) -> bool:
        """Return whether it answers; the socket queues the request until it serves."""
        connection = http.client.HTTPConnection(
            "127.0.0.1", self._port, timeout=START_TIMEOUT
        )
        with (
            closing(connection),
            contextlib.suppress(OSError, http.client.HTTPException),
        ):
            connection.request("GET", "/api/health")
            return connection.getresponse().status == http.HTTPStatus.OK
        return False

    def _handle_end(self, code: int) -> None:
        """End the run at once, unless a start failed without a kill, which has its own errors."""
        if not self._closing and (self._serving or code <= 0):
            history.mark_crashed(self._database)
            self._lost()

    def _exit_code(self) -> int:
        """Return the exit code of a server that does not answer; kill it if it has not ended."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._process.wait(timeout=5)
        self._closing = True
        self._process.kill()
        return self._process.wait()

    def _last_error(self) -> str:
        """Return the last error of a failed start, where the output has no texts yet."""
        self._output.seek(0)
        output = self._output.read().decode(errors="replace")
        errors = re.findall(r"^\S*(?:Error|Exception)\b.*", output, re.MULTILINE)
        return errors[-1] if errors else f"exit {self._process.returncode}"


@contextmanager
def _explain_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise NoPrefect(
            f"Prefect's server cannot start in .work/prefect: {error}; fix that, or run with"
            " --no-prefect, which needs no server"
        ) from None


def main() -> None:
    """Serve until the run has ended; then mark what it left unfinished as crashed."""
    listening, file = socket.socket(fileno=int(sys.argv[1])), Path(sys.argv[2])
    servers: list[Any] = []

    def end() -> None:
        for server in servers:
            server.should_exit = True
            time.sleep(_GRACE[os.read(0, 1)])
        _exit(file)

    parent_watch.watch(end)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # A machine that shuts down ends all processes at once: the run, which is told so
    # too, may be gone before it could mark anything.
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as it is under nohup
            signal.signal(number, lambda *_: _exit(file))
    if not history.is_intact(file):
        sys.exit(DAMAGED)
    os.chdir(file.parent)  # Prefect reads settings in the working folder
    import uvicorn

    create_tables(file)
    factory = "prefect.server.api.server:create_app"
    servers.append(
        uvicorn.Server(uvicorn.Config(factory, factory=True, log_level="error"))
    )
    # else it would start before it ends
    servers[0].capture_signals = contextlib.nullcontext
    try:
        servers[0].run(sockets=[listening])
    except SystemExit:  # it migrates the database first
        sys.exit(DAMAGED)
    _exit(file)


def create_tables(file: Path) -> None:
    """Give an empty database the tables that Prefect's migrations would make in 3.5 seconds.

    Prefect then migrates from there, as from any earlier version. An older Prefect,
    which does not know that state, makes its own tables.
    """
    import prefect

    tables = TABLES.read_text(encoding="utf-8")
    revision = tables.rpartition("alembic_version\" VALUES('")[2].partition("'")[0]
    migrations = (
        Path(prefect.__file__).parent / "server/database/_migrations/versions/sqlite"
    )
    if file.stat().st_size == 0 and any(migrations.glob(f"*_{revision}_*.py")):
        with closing(sqlite3.connect(file)) as database:
            database.executescript(f"BEGIN; {tables} COMMIT;")


def _exit(file: Path) -> None:
    history.mark_crashed(file)
    os._exit(0)  # whatever its threads still wait for


if __name__ == "__main__":
    main()

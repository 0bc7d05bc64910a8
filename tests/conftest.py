"""What every test may rely on: no network beyond loopback, the mirror, a copy of the project."""

import fcntl
import gc
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent

# What a shell starts in the background ignores Ctrl-C, and so would all that tests
# start and end.
signal.signal(signal.SIGINT, signal.default_int_handler)

gc.disable()  # until all tests are imported, which leaves next to nothing to collect


def pytest_collection_finish() -> None:
    """What was imported stays: no collection goes through it, least of all one that a test asks."""
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with slow tests first: where the processes end apart, it is by one quick file."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


@pytest.fixture(autouse=True, scope="session")
def _only_loopback() -> Any:
    """No test reaches beyond this machine by accident."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX and address[0] not in (
            "127.0.0.1",
            "::1",
            "localhost",
        ):
            raise AssertionError(f"a test tried to reach {address!r}")
        connect(self, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded)
        yield


@pytest.fixture(scope="session")
def mirror() -> Path:
    """The local copy of the public datasets, or a skip that says how to get them."""
    return mirror_of(os.environ, ROOT.parent / "shared")


def mirror_of(environment: Mapping[str, str], beside: Path) -> Path:
    """The mirror that METASSAY_MIRROR names. Without it: a skip, or in CI a failure.

    In CI a folder `shared` beside the project is where the mirror is: what is tested
    against the real data must not pass there because nobody found it.
    """
    folder = environment.get("METASSAY_MIRROR")
    if folder and Path(folder).is_dir():
        return Path(folder)
    remedy = (
        "needs the public datasets: point METASSAY_MIRROR at a folder with one folder per set"
        " (folders and files as data/registry.yaml says), or copy what `metassay run NAME"
        " --only fetch` got"
    )
    if environment.get("CI", "").lower() in ("true", "1") and beside.is_dir():
        pytest.fail(
            f"{remedy}; this is CI, and {beside.name}/ is there, so it may not be skipped"
        )
    pytest.skip(remedy)


def made_once(
    factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]
) -> Path:
    """A folder that all processes of a run of pytest share, made by the first that asks."""
    base = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    with (base / f"{name}.lock").open("a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # Asked for now: while this process waited, another may have made it.
        if not os.fstat(lock.fileno()).st_size:
            make(base / name)
            lock.write("made")
    return base / name


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An invented project, everything of its benchmarks b00 and b01 up to date; to be copied."""
    from speed.dag import build
    from tests.support.invented_project import run

    def make(root: Path) -> None:
        build(root)
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)
        done = run(root, "b00", "b01", "--no-prefect")
        assert done.returncode == 0, done.stderr

    return made_once(tmp_path_factory, "built", make)


@pytest.fixture(scope="session")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`project` for tests that change nothing in it; made once."""
    return made_once(tmp_path_factory, "clone", copy_project)


@pytest.fixture
def project(tmp_path: Path, clone: Path) -> Path:
    """A clone of this project as it is in the working tree, committed, with nothing built."""
    return Path(shutil.copytree(clone, tmp_path / "project", symlinks=True))


def copy_project(into: Path, *, without: Sequence[str] = ()) -> Path:
    """Copy the files that git tracks or would track, and commit them there.

    `without` names folders that stay behind.
    """
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file() and name.partition("/")[0] not in without:
            (into / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, into / name)
    identity = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
    for command in (
        ["init", "-q"],
        ["add", "-A"],
        [*identity, "commit", "-qm", "copy"],
    ):
        subprocess.run(["git", *command], cwd=into, check=True, capture_output=True)
    return into

"""Files and folders that are there whole or not at all, whenever a run is killed.

What is being written has a hidden name beside its place, and takes the place in one step. Who may
read it is as before, and else as the umask says.
"""

import contextlib
import glob
import os
import secrets
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from metassay.core.errors import BadInput

STDOUT = Path("/dev/stdout")
_UNFINISHED = ".unfinished"
_ANY_MAY_WRITE = 0o222


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A new file to write to, which replaces `path` at the end; after an error nothing is left.

    Makes the folder that it lies in. Of a link what it leads to is replaced, and the link stays. A
    device or a pipe is written to, and so is the file that stdout goes to. An OSError names `path`.
    """
    with _named(path):
        former = _stat(path)
        through = _through(path, former)
        if through is not None:
            with os.fdopen(through, "wb") as file:
                yield file
            return
        if former is not None and path.is_symlink() and not former.st_mode & _ANY_MAY_WRITE:
            former, place = None, path  # a link into DVC's cache, which stays as it is
        else:
            place = Path(os.path.realpath(path)) if path.is_symlink() else path
        place.parent.mkdir(parents=True, exist_ok=True)
        made = _hidden(place)
        try:
            with os.fdopen(_begun(made, former), "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            made.replace(place)
        except BaseException:
            made.unlink(missing_ok=True)
            raise


def out_file(word: str) -> Path:
    """The file that a word of the command line names to be written; `-` is stdout."""
    return STDOUT if word == "-" else Path(word)


def is_stdout(path: Path) -> bool:
    """Whether what is written there goes where stdout goes."""
    with contextlib.suppress(OSError):
        return os.path.samestat(path.stat(), os.fstat(1))
    return False


@contextmanager
def whole_folder(folder: Path, where: str, *, replace: bool = False) -> Iterator[Path]:
    """A new folder to write to, which becomes `folder` at the end; after an error nothing is left.

    Raises BadInput, led by `where`, if `folder` is a file, holds something, or cannot be made. With
    `replace` what it holds is gone at the end.
    """
    folder = Path(os.path.realpath(folder))
    if folder.exists() and not folder.is_dir():
        raise BadInput(f"{where} {folder}: is a file; name a folder")
    if not replace and folder.is_dir() and any(folder.iterdir()):
        raise BadInput(f"{where} {folder}: holds something already; empty it or name another one")
    made, former = _hidden(folder), None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        made.mkdir()
    except OSError as error:
        raise BadInput(f"{where} {folder}: cannot be made: {error.strerror}") from error
    try:
        with _named(folder):
            yield made
            if folder.is_dir():
                _as_before(made, folder.stat())
                if replace:
                    former = folder.rename(_hidden(folder))
                else:
                    folder.rmdir()
            made.replace(folder)
            if former is not None:
                shutil.rmtree(former, ignore_errors=True)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _through(path: Path, former: os.stat_result | None) -> int | None:
    """A file descriptor of what is written to as it is; None for what a new file replaces."""
    if is_stdout(path):
        sys.stdout.flush()
        return os.dup(1)
    if former is None or stat.S_ISREG(former.st_mode):
        return None
    return os.open(path, os.O_WRONLY)


def _hidden(place: Path) -> Path:
    return place.with_name(f".{place.name}.{secrets.token_hex(4)}{_UNFINISHED}")


def _begun(made: Path, former: os.stat_result | None) -> int:
    """A new file that those may read who could read the former one, from its first byte on."""
    mode = 0o666 if former is None else 0o600
    handle = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    if former is not None:
        _as_before(made, former)
    return handle


def _as_before(made: Path, former: os.stat_result) -> None:
    """Owner, group and mode of what was there, as far as its user may give them away."""
    with contextlib.suppress(OSError):
        os.chown(made, -1, former.st_gid)
        os.chown(made, former.st_uid, -1)
    with contextlib.suppress(OSError):
        made.chmod(stat.S_IMODE(former.st_mode))


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Let an OSError name the file that is meant: writing names none, or the hidden one."""
    try:
        yield
    except OSError as error:
        if (error.errno and not error.filename) or _UNFINISHED in str(error.filename):
            error.filename = str(path)
        raise


def remove_leftovers(path: Path) -> None:
    """Remove what killed runs left of this file or folder; only where nobody else is writing it."""
    if path.parent.is_dir():
        _remove(path.parent.glob(f".{glob.escape(path.name)}.*{_UNFINISHED}"))


def remove_leftovers_in(folder: Path) -> None:
    """Likewise of all files and folders in it, however deep."""
    _remove(folder.rglob(f".*{_UNFINISHED}"))


def _remove(found: Iterable[Path]) -> None:
    for left in list(found):
        if left.is_dir():
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink(missing_ok=True)

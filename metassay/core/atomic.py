"""Write files and folders completely or not at all, even if a run is killed.

They are written under a hidden name in the same folder and renamed at the end.
Permissions of an existing file stay; new files get those of the umask. A folder that
is not finished is its owner's alone, whatever its files may be.

What a killed process leaves is removed by the next one that writes beside it. It can
tell that from what others are writing: a hidden name has its writer's process, which
also locks a folder as long as it lives.
"""

import contextlib
import fcntl
import functools
import glob
import logging
import os
import re
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
_HIDDEN = re.compile(rf"\..+\.(\d+)-[0-9a-f]{{8}}{re.escape(_UNFINISHED)}")
_ANY_MAY_WRITE = 0o222
_OWNER_ALONE = 0o700

log = logging.getLogger("metassay.atomic")


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a new file that replaces `path` at the end; after an error nothing remains.

    Creates the parent folder. For a link the target is replaced, and the link stays.
    Devices, pipes and the file of stdout are written to directly. An OSError names
    `path`.
    """
    former = None
    with _name_errors(path):
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            former = path.stat()
        if is_stdout(path) or (former is not None and not stat.S_ISREG(former.st_mode)):
            sys.stdout.flush()
            in_place = os.dup(1) if is_stdout(path) else os.open(path, os.O_WRONLY)
            with os.fdopen(in_place, "wb") as file:
                yield file
            return
        if (
            former is not None
            and path.is_symlink()
            and not former.st_mode & _ANY_MAY_WRITE
        ):
            former, place = None, path  # a link into DVC's cache, which must not change
        else:
            place = Path(os.path.realpath(path)) if path.is_symlink() else path
        place.parent.mkdir(parents=True, exist_ok=True)
        _remove_dead_once(place.parent)
        temporary = _hidden(place)
        # until it has those of the former file
        mode = 0o666 if former is None else 0o600
        try:
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
            with os.fdopen(handle, "wb") as file:
                _lock(handle)
                if former is not None:
                    _copy_permissions(temporary, former)
                yield file
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(place)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def write_if_changed(path: Path, text: str) -> bool:
    """Write a file unless it has this text already; return whether it was written."""
    if path.exists() and path.read_bytes() == text.encode():
        return False
    with whole_file(path) as file:
        file.write(text.encode())
    return True


def out_file(word: str) -> Path:
    """Return the output file of a command-line word; `-` is stdout."""
    return STDOUT if word == "-" else Path(word)


def is_stdout(path: Path) -> bool:
    """Return whether a file is the same as stdout."""
    with contextlib.suppress(OSError):
        return os.path.samestat(path.stat(), os.fstat(1))
    return False


@contextmanager
def whole_folder(folder: Path, where: str, *, replace: bool = False) -> Iterator[Path]:
    """Create a new folder that becomes `folder` at the end; after an error nothing remains.

    Raises BadInput, starting with `where`, if `folder` is a file, is not empty, or
    cannot be created. With `replace` its content is replaced.
    """
    named = folder  # as the user wrote it
    folder = Path(os.path.realpath(folder))
    if folder.exists() and not folder.is_dir():
        raise BadInput(f"{where} {named}: is a file; name a folder")
    if not replace and folder.is_dir() and any(folder.iterdir()):
        raise BadInput(
            f"{where} {named}: holds something already; empty it or name another one"
        )
    temporary, former = _hidden(folder), None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        remove_dead(folder.parent)
        temporary.mkdir()
        mode = stat.S_IMODE(temporary.stat().st_mode)  # by the umask
        temporary.chmod(_OWNER_ALONE)
    except OSError as error:
        raise BadInput(f"{where} {named}: cannot be made: {error.strerror}") from error
    try:
        with _name_errors(folder), _locked(temporary):
            yield temporary
            temporary.chmod(mode)
            if folder.is_dir():
                _copy_permissions(temporary, folder.stat())
                if replace:
                    former = folder.rename(_hidden(folder))
                else:
                    folder.rmdir()
            temporary.replace(folder)
            if former is not None:
                shutil.rmtree(former, ignore_errors=True)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def _hidden(place: Path) -> Path:
    token = f"{os.getpid()}-{secrets.token_hex(4)}"
    return place.with_name(f".{place.name}.{token}{_UNFINISHED}")


def _lock(handle: int) -> None:
    """Lock an open file or folder, as far as its disk knows locks, until it is closed."""
    with contextlib.suppress(OSError):
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    handle = os.open(folder, os.O_RDONLY)
    try:
        _lock(handle)
        yield
    finally:
        os.close(handle)


@functools.cache
def _remove_dead_once(folder: Path) -> None:
    """Look once per process: a folder of thousands of files takes long to look through."""
    remove_dead(folder)


def remove_dead(folder: Path) -> None:
    """Remove what killed processes were writing in a folder, and tell the user."""
    for path in sorted(folder.glob(f".*{_UNFINISHED}")):
        hidden = _HIDDEN.fullmatch(path.name)
        if hidden and not _is_alive(int(hidden[1])) and not _is_locked(path):
            _remove([path])
            log.warning("%s: a killed run had left it; it was removed", path)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # of another user
        pass
    return True


def _is_locked(path: Path) -> bool:
    """Return whether a process locks it, which may be of another container or machine."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # a disk without locks
        return False
    finally:
        os.close(handle)
    return False


def _copy_permissions(path: Path, former: os.stat_result) -> None:
    """Copy owner, group and mode of the former file, as far as permitted."""
    with contextlib.suppress(OSError):
        os.chown(path, -1, former.st_gid)
        os.chown(path, former.st_uid, -1)
    with contextlib.suppress(OSError):
        path.chmod(stat.S_IMODE(former.st_mode))


@contextmanager
def _name_errors(path: Path) -> Iterator[None]:
    """Put the real path into an OSError, which names none or the hidden file."""
    try:
        yield
    except OSError as error:
        if (error.errno and not error.filename) or _UNFINISHED in str(error.filename):
            error.filename = str(path)
        raise


def remove_leftovers(path: Path) -> None:
    """Remove what killed runs left of this file or folder; nobody else may be writing it."""
    if path.parent.is_dir():
        _remove(path.parent.glob(f".{glob.escape(path.name)}.*{_UNFINISHED}"))


def remove_leftovers_in(folder: Path) -> None:
    """Remove what killed runs left of all files and folders in a folder, at any depth."""
    _remove(folder.rglob(f".*{_UNFINISHED}"))


def _remove(paths: Iterable[Path]) -> None:
    for path in list(paths):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)

"""Files and folders that are there whole or not at all, whenever a run is killed.

What is being written has a hidden name beside its place, and takes the place in one step.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from metassay.errors import BadInput

_UNFINISHED = ".unfinished"


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A new file to write to, which replaces `path` at the end; after an error nothing is left.

    Makes the folder that it lies in. An OSError of writing it names `path`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with _named(path):
        handle, name = tempfile.mkstemp(
            prefix=f".{path.name}.", suffix=_UNFINISHED, dir=path.parent
        )
    made = Path(name)
    try:
        with _named(path):
            with os.fdopen(handle, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            made.chmod(0o644)
            made.replace(path)
    except BaseException:
        made.unlink(missing_ok=True)
        raise


@contextmanager
def whole_folder(folder: Path, where: str) -> Iterator[Path]:
    """A new folder to write to, which becomes `folder` at the end; after an error nothing is left.

    Raises BadInput, led by `where`, if `folder` is a file, holds something, or cannot be made.
    """
    folder = folder.resolve()
    if folder.exists() and not folder.is_dir():
        raise BadInput(f"{where} {folder}: is a file; name a folder")
    if folder.is_dir() and any(folder.iterdir()):
        raise BadInput(f"{where} {folder}: holds something already; empty it or name another one")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        name = tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=_UNFINISHED, dir=folder.parent)
    except OSError as error:
        raise BadInput(f"{where} {folder}: cannot be made: {error.strerror}") from error
    made = Path(name)
    try:
        with _named(folder):
            yield made
            made.chmod(0o755)
            if folder.is_dir():
                folder.rmdir()
            made.replace(folder)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise


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
    if not path.parent.is_dir():
        return
    for left in path.parent.iterdir():
        if left.name.startswith(f".{path.name}.") and left.name.endswith(_UNFINISHED):
            if left.is_dir():
                shutil.rmtree(left, ignore_errors=True)
            else:
                left.unlink(missing_ok=True)

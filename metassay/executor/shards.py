"""Shards: neighbouring pieces, cut by content, and kept as files where client and workers read.

A shard's name is a hash of all that its answer can hang on. So an answer that is there need not be
computed again, whoever asks: a client that was killed, or one whose scheduler was.
"""

import hashlib
import os
import pickle
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from metassay.core.atomic import whole_file
from metassay.core.errors import BadInput

MOST = 64  # pieces of a shard, on average
SHARDS = 64  # at least so many, where there are as many pieces
_LONGEST = 4  # times the average: a shard ends there, whatever its pieces are
LATE_SECONDS = 60.0  # after which a network drive shows a file that was looked for too early


def cut(pieces: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """The pieces in shards, in order.

    Where a shard ends its last piece says, by its hash: a piece more or less changes its own shard
    and leaves the others, and their names, as they are. How many there are on average goes by
    powers of two of the number of pieces, and never by who works.
    """
    average = 1 << max(0, min(MOST, len(pieces) // SHARDS).bit_length() - 1)
    start = 0
    for end, piece in enumerate(pieces, start=1):
        last = end - start == _LONGEST * average or end == len(pieces)
        if last or int(digest(pickle.dumps(piece, 5))[:8], 16) % average == 0:
            yield pieces[start:end]
            start = end


def digest(*contents: bytes) -> str:
    """SHA-256 of some contents, each by itself."""
    return hashlib.sha256(b"".join(hashlib.sha256(one).digest() for one in contents)).hexdigest()


class Storage:
    """A folder, or whatever fsspec reads (`s3://bucket/prefix`): files that are whole or not there.

    A folder that is made is its owner's alone.
    """

    def __init__(self, place: str) -> None:
        import fsspec  # with Dask, which needs it

        self.place = place if "://" in place else os.path.abspath(place)  # noqa: PTH100
        try:
            self._files, self._root = fsspec.url_to_fs(self.place)
        except (ImportError, ValueError) as error:
            raise BadInput(f"params.yaml > executor > storage: {self.place}: {error}") from error

    def has(self, name: str) -> bool:
        """Whether a file is there."""
        return bool(self._files.exists(f"{self._root}/{name}"))

    def read(self, name: str) -> bytes:
        """The content of a file; FileNotFoundError if it does not come, either."""
        until = time.monotonic() + LATE_SECONDS
        while not self.has(name) and time.monotonic() < until:
            time.sleep(0.5)
        return bytes(self._files.cat_file(f"{self._root}/{name}"))

    def write(self, name: str, content: bytes) -> None:
        """Put a file there, whole."""
        if "://" in self.place:  # what is stored so appears when it is complete
            self._files.pipe_file(f"{self._root}/{name}", content)
            return
        os.makedirs(self._root, 0o700, exist_ok=True)  # noqa: PTH103
        with whole_file(Path(self._root, name)) as file:
            file.write(content)

    def clear(self) -> None:
        """Take away the folder with all that is in it."""
        if self._files.exists(self._root):
            self._files.rm(self._root, recursive=True)

"""Shards: consecutive pieces, split by content, in files that client and workers can read.

A shard's name is a hash of everything that can change its answer. So an existing answer is not
computed again after a client or a scheduler was killed.
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
SHARDS = 64  # at least, if there are enough pieces
_LONGEST = 4  # maximal length of a shard, times the average
LATE_SECONDS = 60.0  # until a network drive shows a new file


def cut(pieces: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Split pieces into shards, in order.

    A shard ends at a piece by the hash of that piece: adding or removing a piece changes its own
    shard, but not the others and their names. The average length is a power of two and depends on
    the number of pieces, not on the workers.
    """
    average = 1 << max(0, min(MOST, len(pieces) // SHARDS).bit_length() - 1)
    start = 0
    for end, piece in enumerate(pieces, start=1):
        last = end - start == _LONGEST * average or end == len(pieces)
        if last or int(digest(pickle.dumps(piece, 5))[:8], 16) % average == 0:
            yield pieces[start:end]
            start = end


def digest(*contents: bytes) -> str:
    """Return the SHA-256 of the SHA-256s of some contents."""
    digests = (hashlib.sha256(content).digest() for content in contents)
    return hashlib.sha256(b"".join(digests)).hexdigest()


class Storage:
    """A folder, or a URL of fsspec (`s3://bucket/prefix`), of files that are complete or missing.

    A new folder is accessible to its owner only.
    """

    def __init__(self, place: str) -> None:
        import fsspec  # a dependency of Dask

        self.place = place if "://" in place else os.path.abspath(place)  # noqa: PTH100
        try:
            self._files, self._root = fsspec.url_to_fs(self.place)
        except (ImportError, ValueError) as error:
            raise BadInput(f"params.yaml > executor > storage: {self.place}: {error}") from error

    def has(self, name: str) -> bool:
        """Return whether a file exists."""
        return bool(self._files.exists(f"{self._root}/{name}"))

    def read(self, name: str) -> bytes:
        """Return the content of a file, which can appear late; else raises FileNotFoundError."""
        until = time.monotonic() + LATE_SECONDS
        while not self.has(name) and time.monotonic() < until:
            time.sleep(0.5)
        return bytes(self._files.cat_file(f"{self._root}/{name}"))

    def write(self, name: str, content: bytes) -> None:
        """Write a file completely."""
        if "://" in self.place:  # such files appear when complete
            self._files.pipe_file(f"{self._root}/{name}", content)
            return
        os.makedirs(self._root, 0o700, exist_ok=True)  # noqa: PTH103
        with whole_file(Path(self._root, name)) as file:
            file.write(content)

    def clear(self) -> None:
        """Delete the folder with its content."""
        if self._files.exists(self._root):
            self._files.rm(self._root, recursive=True)

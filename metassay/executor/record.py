"""The protocol of an executor, which applies a function to independent pieces.

    parts = [part for answer in executor.map(function, pieces, options) for part in answer]

The function gets a shard (consecutive pieces) and the common arguments, and returns an answer for
the shard. `Local` makes a single shard; a cluster makes several (`dask_cluster`).
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

Answer = TypeVar("Answer")


class Executor(Protocol):
    """`remote`: whether other processes do the work."""

    remote: bool

    def map(
        self,
        function: Callable[..., Answer],
        pieces: Sequence[Any],
        *common: Any,
        files: Sequence[Path] = (),
    ) -> list[Answer]:
        """Return `function(shard, *common)` for each shard of the pieces, in order.

        `files`: files of the project that the function reads; workers must have the same.
        """


class Local:
    """This process, with all pieces in a single shard."""

    remote = False

    def map(
        self,
        function: Callable[..., Answer],
        pieces: Sequence[Any],
        *common: Any,
        files: Sequence[Path] = (),  # noqa: ARG002 - this process has them
    ) -> list[Answer]:
        """Return the function's answer for all pieces."""
        return [function(pieces, *common)]


LOCAL = Local()

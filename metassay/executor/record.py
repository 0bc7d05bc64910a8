"""What an executor is: it has a function work on pieces that do not need each other.

    parts = [part for done in executor.map(function, pieces, options) for part in done]

The function gets a shard (neighbouring pieces, in their order) and what all shards have in common,
and answers for the shard. Here all pieces are one shard; a cluster cuts several (`dask_cluster`).
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

Answer = TypeVar("Answer")


class Executor(Protocol):
    """`remote`: whether others than this process do the work."""

    remote: bool

    def map(
        self,
        function: Callable[..., Answer],
        pieces: Sequence[Any],
        *common: Any,
        files: Sequence[Path] = (),
    ) -> list[Answer]:
        """`function(shard, *common)` of each shard of the pieces, in the order of the pieces.

        `files`: those of the project that the function reads, which workers must have alike.
        """


class Local:
    """This process, which works on everything at once."""

    remote = False

    def map(
        self,
        function: Callable[..., Answer],
        pieces: Sequence[Any],
        *common: Any,
        files: Sequence[Path] = (),  # noqa: ARG002 - they are those that are here
    ) -> list[Answer]:
        """The function's answer for all pieces."""
        return [function(pieces, *common)]


LOCAL = Local()

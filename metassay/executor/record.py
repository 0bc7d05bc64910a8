"""The protocol of an executor, which applies a function to independent pieces.

    parts = [part for answer in executor.map(function, pieces, options) for part in
    answer]

The function gets a shard (consecutive pieces) and the common arguments, and returns an
answer for the shard. `Local` makes a single shard; a cluster makes several
(`dask_cluster`). Pieces can be the rows of documents (`group_by_document`), of which
`apply_to_frames` makes tables again.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

import pandas as pd

Answer = TypeVar("Answer")
Rows = tuple[list[tuple[Any, ...]], ...]  # of one document, by table


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

        `files`: files of the project that the function reads; workers must have the
        same.
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


def group_by_document(
    *frames: pd.DataFrame,
) -> tuple[list[Rows], tuple[pd.DataFrame, ...]]:
    """Return the rows of each document in each frame, and the frames without rows.

    Documents are in the order of the first frame; others are left out.
    """
    by_doc: dict[str, Rows] = {
        doc: tuple([] for _ in frames) for doc in frames[0]["doc_id"]
    }
    for number, frame in enumerate(frames):
        rows = frame.itertuples(index=False, name=None)
        for doc, row in zip(frame["doc_id"], rows, strict=True):
            if doc in by_doc:
                by_doc[doc][number].append(row)
    return list(by_doc.values()), tuple(frame[:0] for frame in frames)


def apply_to_frames(
    shard: Sequence[Rows],
    forms: Sequence[pd.DataFrame],
    function: Callable[..., Any],
    *rest: Any,
) -> Any:
    """Apply a function to the frames of a shard of documents; `forms` are frames without rows."""
    frames = []
    for number, form in enumerate(forms):
        rows = [row for document in shard for row in document[number]]
        frames.append(
            pd.DataFrame(rows, columns=form.columns).astype(form.dtypes.to_dict())
        )
    return function(*frames, *rest)

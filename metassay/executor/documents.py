"""Split tables by document for an executor, and make frames of the rows again."""

from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd

Rows = tuple[list[tuple[Any, ...]], ...]  # of one document, by table


def by_document(*frames: pd.DataFrame) -> tuple[list[Rows], tuple[pd.DataFrame, ...]]:
    """Return the rows of each document in each frame, and the frames without rows.

    Documents are in the order of the first frame; others are left out.
    """
    by_doc: dict[str, Rows] = {doc: tuple([] for _ in frames) for doc in frames[0]["doc_id"]}
    for number, frame in enumerate(frames):
        columns = (frame[name].tolist() for name in frame.columns)
        for doc, row in zip(frame["doc_id"], zip(*columns, strict=True), strict=True):
            if doc in by_doc:
                by_doc[doc][number].append(row)
    return list(by_doc.values()), tuple(frame[:0] for frame in frames)


def on_frames(
    shard: Sequence[Rows], forms: Sequence[pd.DataFrame], function: Callable[..., Any], *rest: Any
) -> Any:
    """Apply a function to the frames of a shard of documents; `forms` are frames without rows."""
    frames = []
    for number, form in enumerate(forms):
        rows = [row for document in shard for row in document[number]]
        frames.append(pd.DataFrame(rows, columns=form.columns).astype(form.dtypes.to_dict()))
    return function(*frames, *rest)

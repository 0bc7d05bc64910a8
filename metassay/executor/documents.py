"""Tables as pieces for an executor: the rows of each document, and frames of them again."""

from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd

Rows = tuple[list[tuple[Any, ...]], ...]  # of one document, by table


def by_document(*frames: pd.DataFrame) -> tuple[list[Rows], tuple[pd.DataFrame, ...]]:
    """The rows of each document in each frame, in the order of the first; and what the frames are.

    Rows of documents that the first frame does not have are left out.
    """
    found: dict[str, Rows] = {doc: tuple([] for _ in frames) for doc in frames[0]["doc_id"]}
    for number, frame in enumerate(frames):
        columns = (frame[name].tolist() for name in frame.columns)
        for doc, row in zip(frame["doc_id"], zip(*columns, strict=True), strict=True):
            if doc in found:
                found[doc][number].append(row)
    return list(found.values()), tuple(frame[:0] for frame in frames)


def on_frames(
    shard: Sequence[Rows],
    forms: Sequence[pd.DataFrame],
    function: Callable[..., Any],
    *rest: Any,
) -> Any:
    """What a function makes of the frames of some documents; `forms` are frames without rows."""
    frames = [
        pd.DataFrame([row for rows in shard for row in rows[number]], columns=form.columns).astype(
            form.dtypes.to_dict()
        )
        for number, form in enumerate(forms)
    ]
    return function(*frames, *rest)

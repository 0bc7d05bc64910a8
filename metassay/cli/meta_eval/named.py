"""What the columns of the two files are called."""

from typing import NamedTuple


class Named(NamedTuple):
    """What columns are called, and those that slice the texts."""

    doc: str = "doc_id"
    system: str = "system"  # `author` may stand for it, unless another name is asked for
    rater: str = "rater"
    by: tuple[str, ...] = ()

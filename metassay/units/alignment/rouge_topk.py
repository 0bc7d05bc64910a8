"""ROUGE-TopK: the source passages most like a statement (Adams et al. 2023, section 6.1).

A passage's value for a statement is the mean of the F1 of ROUGE-1, ROUGE-2 and ROUGE-L: 0 to 1,
higher is closer.
"""

from collections.abc import Sequence

import numpy as np
from pydantic import Field

from metassay.core.options import Options
from metassay.units.alignment.rouge import Reals, mean_rouge
from metassay.units.record import Aligned, Alignment, Statements


class RougeTopKOptions(Options):
    """How many passages a statement gets at most (the paper takes 5)."""

    k: int = Field(ge=1)


def align(documents: Sequence[Statements], options: RougeTopKOptions) -> Aligned:
    """For each statement its k best passages, best first.

    Equal values go by lower index. A passage that shares no token with the statement has the value
    0 and is left out: a statement may get fewer than k passages, or none.
    """
    return Aligned(
        [
            [best(row, options.k) for row in mean_rouge(passages, statements)]
            for passages, _, statements in documents
        ]
    )


def best(values: Reals, k: int) -> list[tuple[int, float]]:
    """The k highest values above 0 with their indexes, highest first, ties by lower index."""
    candidates = np.flatnonzero(values > 0)
    order = np.argsort(-values[candidates], kind="stable")[:k]
    return [(int(i), float(values[i])) for i in candidates[order]]


KIND = Alignment(options=RougeTopKOptions, align=align)

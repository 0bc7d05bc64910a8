"""Full: as much of the source as a model reads at once (Adams et al. 2023, section 6.1)."""

from collections.abc import Sequence

import numpy as np
from pydantic import Field

from metassay.core.options import Options
from metassay.units.alignment.rouge import Integers, Reals, mean_rouge, rouge_tokens
from metassay.units.record import Aligned, Alignment, Passages, Statements


class FullOptions(Options):
    """How many tokens the passages have at most: runs of letters and digits, as ROUGE has them."""

    tokens: int = Field(ge=1)


def align(documents: Sequence[Statements], options: FullOptions) -> Aligned:
    """For each statement the passages that fit, in source order.

    They are taken by mean F1 of ROUGE-1 and ROUGE-2 with the statement, which is their value: 0 to
    1, higher is closer; equal ones go by lower index, those of value 0 too. The first that does not
    fit is the end: a shorter one behind it is not taken.
    """
    return Aligned([_of_document(*document, options.tokens) for document in documents])


def _of_document(
    passages: Sequence[str], _: Sequence[str], statements: Sequence[str], most: int
) -> Passages:
    sizes = np.array([len(rouge_tokens(text)) for text in passages], np.int64)
    values = mean_rouge(passages, statements, longest=False)
    return [_fitting(row, sizes, most) for row in values]


def _fitting(values: Reals, sizes: Integers, most: int) -> list[tuple[int, float]]:
    order = np.argsort(-values, kind="stable")
    count = int((np.cumsum(sizes[order]) <= most).sum())
    return [(int(i), float(values[i])) for i in sorted(order[:count])]


KIND = Alignment(options=FullOptions, align=align)

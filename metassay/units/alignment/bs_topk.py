"""BS-TopK: the source passages of highest BERTScore with a statement (Adams et al. 2023, 6.1)."""

from collections.abc import Sequence

import numpy as np

from metassay.units.alignment import vectors
from metassay.units.alignment.rouge import Reals
from metassay.units.alignment.rouge_topk import best
from metassay.units.record import Aligned, Alignment, Statements

NAME = "bs_topk"


def align(documents: Sequence[Statements], options: vectors.EncoderOptions) -> Aligned:
    """For each statement its k best passages, best first, by the F1 of BERTScore, without idf.

    Up to 1, higher is closer, as metrics.bertscore gives it. Equal values go by lower index; those
    that are not above 0 are left out. Raises BadInput as `vectors.aligned` does.
    """

    def choose(statement: vectors.Tokens, passages: vectors.Passages) -> list[tuple[int, float]]:
        return best(f1(statement, passages), options.k)

    return vectors.aligned(NAME, documents, options, choose)


def f1(statement: vectors.Tokens, passages: vectors.Passages) -> Reals:
    """BERTScore's F1 of a statement with each of p passages: p values, 0 if a side is not above 0.

    Zhang et al. 2020, section 3. Special tokens can be matched, and weigh nothing.
    """
    similarity = statement.units @ passages.units.T
    of_statement = np.maximum.reduceat(similarity, passages.starts, axis=1)
    precision = of_statement[~statement.special].mean(0)
    own = (~passages.special).astype(np.float64)
    recall = np.add.reduceat(similarity.max(0) * own, passages.starts)
    recall /= np.add.reduceat(own, passages.starts)
    precision, recall = precision.round(vectors.DECIMALS), recall.round(vectors.DECIMALS)
    total = precision + recall
    above = np.minimum(precision, recall) > 0
    found: Reals = np.zeros_like(total)
    np.divide(2 * precision * recall, total, out=found, where=above)
    return found


KIND = Alignment(
    options=vectors.EncoderOptions,
    align=align,
    recipe=lambda options, _: vectors.recipe(NAME, options),
)

"""BS-Gain: passages are added as long as they cover more of a statement's tokens.

Adams et al. 2023, section 6.1; the rule is that of the released code of Adams et al. 2022
(amazon-science/summary-reference-revision).
"""

from collections.abc import Sequence

import numpy as np

from metassay.units.alignment import vectors
from metassay.units.alignment.rouge import Reals
from metassay.units.record import Aligned, Alignment, Statements

NAME = "bs_gain"
MEAN_GAIN, HIGHEST_GAIN = 0.01, 0.05  # a passage is kept whose gain has either
LEAST_WEIGHT = 1e-4


def align(documents: Sequence[Statements], options: vectors.EncoderOptions) -> Aligned:
    """For each statement the passages that cover its tokens, in the order of choice; see `gain`.

    Tokens of stop words (text/tokens.py), of no word, and those that the encoder adds take no part
    on the statement's side; on the passages' side only the last do not. A statement of which none
    is left is aligned with nothing. Raises BadInput as `vectors.aligned` does.
    """

    def choose(statement: vectors.Tokens, passages: vectors.Passages) -> list[tuple[int, float]]:
        cosines = statement.units[~statement.stop] @ passages.units.T
        cosines[:, passages.special] = -1
        if not len(cosines):
            return []
        covered = np.maximum.reduceat(cosines, passages.starts, axis=1).clip(0, 1)
        return gain(covered.T.round(vectors.DECIMALS), options.k)

    return vectors.aligned(NAME, documents, options, choose)


def gain(covers: Reals, k: int) -> list[tuple[int, float]]:
    """The passages to keep, in the order of choice, with their values: 0 to 1, higher is better.

    `covers`: p passages x n tokens, how far each covers each token, 0 to 1. At most k times the
    passage of highest value is taken, ties by lower index. Its value is the mean of what it covers,
    weighed by what is not covered yet: w = 1 - c, at least LEAST_WEIGHT, where c is the highest
    cover so far. It is kept if it raises c by MEAN_GAIN on average or by HIGHEST_GAIN for a token.

    covers [[.9, .8, .2, .1], [.3, .2, .9, .85]]: passage 1 comes first with .5625, then passage 0,
    weighed by [.7, .8, .1, .15], with .745714.
    """
    covered = np.zeros(covers.shape[1])
    free = np.ones(len(covers), bool)
    kept = []
    for _ in range(min(k, len(covers))):
        weights = np.clip(1 - covered, LEAST_WEIGHT, 1)
        values = (covers @ weights / weights.sum()).round(vectors.DECIMALS)
        at = int(np.where(free, values, -1).argmax())
        free[at] = False
        more = np.maximum(covered, covers[at]) - covered
        if more.mean() >= MEAN_GAIN or more.max() >= HIGHEST_GAIN:
            kept.append((at, float(values[at])))
        covered = np.maximum(covered, covers[at])
    return kept


KIND = Alignment(
    options=vectors.EncoderOptions,
    align=align,
    recipe=lambda options, _: vectors.recipe(NAME, options),
)

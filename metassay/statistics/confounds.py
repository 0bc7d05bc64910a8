"""Is it quality that a metric sees, or copying, length, or who wrote the text?

Arrays are system x document, NaN missing. A metric's plain correlation with coverage, density or
length is `correlation.correlate(metric, coverage, ...)`.
"""

import numpy as np
from numpy.typing import ArrayLike

from metassay.statistics.arithmetic import NOISE
from metassay.statistics.components import correlate_at
from metassay.statistics.correlation import Coefficient, Correlation, Level, matrices
from metassay.statistics.layout import Layout


def most_abstractive(
    metric: ArrayLike,
    human: ArrayLike,
    coverage: ArrayLike,
    level: Level,
    coefficient: Coefficient,
    *,
    share: float,
    layout: Layout | None = None,
) -> Correlation:
    """`correlate_at` on the `share` (0 to 1] of the items that copy least, by coverage.

    The share is of the items that have metric, human and coverage; items that tie with the last
    one taken are taken too, so that n can be larger. Source: Adams et al. 2023, A meta-evaluation
    of faithfulness metrics for long-form hospital-course summarization. Raises ValueError for
    another share, or shapes that differ.
    """
    if not 0 < share <= 1:
        raise ValueError(f"want a share above 0 and up to 1, got {share}")
    a, b, present = matrices(metric, human)
    copied = np.asarray(coverage, dtype=np.float64)
    present &= matrices(copied, b)[2]
    known = np.sort(copied[present])
    taken = int(np.ceil(share * known.size - 1e-9))
    most = known[taken - 1] if taken else -np.inf
    kept = present & (np.where(present, copied, np.inf) <= most + NOISE * abs(most))
    kept_a, kept_b = (np.where(kept, side, np.nan) for side in (a, b))
    found = correlate_at(kept_a, kept_b, level, coefficient, layout)
    some = np.isfinite(a) | np.isfinite(b)
    return found._replace(n_missing=int(np.count_nonzero(some & ~present)))

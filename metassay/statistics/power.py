"""How large a study would have to be to settle whether a metric is of use."""

import numpy as np
import scipy.special

from metassay.statistics.correlation import Level

POWER = 0.8  # four times in five


def needed(
    variances: tuple[float, float],
    shape: tuple[int, int],
    useful: float,
    *,
    confidence: float,
    level: Level,
) -> tuple[float, float]:
    """How many systems and documents would settle whether a correlation reaches `useful`.

    variances: of the correlation (Fisher's scale) from new systems and from new documents, in a
    study of `shape` (systems, documents). Each shrinks with the number of its own. Wanted is an
    interval so narrow that a metric with no correlation has `useful` excluded, and one with
    `useful` has 0 excluded, four times in five; of all such pairs the one with the fewest texts.
    At system level, and without variances (NaN), by Fisher's transform for the systems alone. NaN
    where more of both would not do within a hundred times the study. A rough guide: the variances
    are estimates.
    """
    systems, documents = shape
    of_systems, of_documents = variances
    target = float(np.arctanh(useful))
    tail = (1.0 + confidence) / 2.0
    if level == "system" or np.isnan(of_systems) or np.isnan(of_documents):
        reach = float(scipy.special.ndtri(tail) + scipy.special.ndtri(POWER)) / target
        return float(max(systems, np.ceil(reach**2 + 3))), float(documents)
    best = (np.nan, np.nan)
    for wanted in _steps(systems, 100 * systems):
        for many in _steps(documents, 100 * documents):
            if best[0] * best[1] <= wanted * many:
                break
            shrunk = of_systems * systems / wanted, of_documents * documents / many
            total = sum(shrunk)
            freedoms = max(wanted - 1, 1), max(many - 1, 1)
            parts = sum(v**2 / f for v, f in zip(shrunk, freedoms, strict=True))
            freedom = total**2 / parts if parts > 0 else 1e6
            reach = scipy.special.stdtrit(freedom, tail) + scipy.special.ndtri(POWER)
            if reach * np.sqrt(total) <= target:
                best = (float(wanted), float(many))
                break
    return best


def _steps(first: int, last: int) -> list[int]:
    # Each about a tenth more than the one before; two digits beyond 100, as it is a rough guide.
    steps = [first]
    while steps[-1] < last:
        more = max(steps[-1] + 1, round(steps[-1] * 1.1))
        digits = max(0, len(str(more)) - 2)
        steps.append(max(steps[-1] + 1, int(np.ceil(more / 10**digits) * 10**digits)))
    return steps

"""How large a study would have to be to settle what a metric is worth."""

import numpy as np
import scipy.special

from metassay.statistics.correlation import Level

POWER = 0.8  # four times in five


def needed(
    variances: tuple[float, float],
    shape: tuple[int, int],
    target: float,
    *,
    confidence: float,
    level: Level,
) -> tuple[float, float]:
    """How many systems and documents would tell correlations apart that differ by `target`.

    variances: of the correlation from new systems and from new documents, in a study of `shape`
    (systems, documents that count by themselves). Each shrinks with the number of its own. They
    and `target` are on Fisher's z scale. Wanted is an interval so narrow that its end lies beyond
    what is so far away, four times in five; of all such pairs the one with the fewest texts.
    At system level, and without variances (NaN), by Fisher's transform for the systems alone. NaN
    where more of both would not do within a hundred times the study, for a target of 0 or less, and
    for what no study has: nothing in it, or variances below 0.
    A rough guide: the variances are estimates.
    """
    systems, documents = shape
    of_systems, of_documents = variances
    if not target > 0 or min(shape) < 1 or of_systems < 0 or of_documents < 0:
        return np.nan, np.nan
    tail = (1.0 + confidence) / 2.0
    if level == "system" or np.isnan(of_systems) or np.isnan(of_documents):
        reach = float(scipy.special.ndtri(tail) + scipy.special.ndtri(POWER)) / target
        enough = float(max(systems, np.ceil(reach**2 + 3)))
        return (enough, float(documents)) if enough <= 100 * systems else (np.nan, np.nan)
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

"""Is it quality that a metric sees, or copying, length, or who wrote the text?

Arrays are system x document, NaN missing. A metric's plain correlation with coverage, density or
length is `correlation.correlate(metric, coverage, ...)`.
"""

from typing import NamedTuple

import numpy as np
import scipy.special
import scipy.stats
from numpy.typing import ArrayLike, NDArray

from metassay.statistics.arithmetic import NOISE, Array
from metassay.statistics.correlation import (
    Coefficient,
    Correlation,
    Level,
    correlate,
    matrices,
    pearson,
)


class Partial(NamedTuple):
    """A correlation with what a control explains taken out of both sides."""

    value: float  # true sign; NaN if undefined
    n: int  # items that have metric, human and control
    n_missing: int  # items that have some of the three but not all
    p: float  # two-sided, of no association, items taken for independent


def most_abstractive(
    metric: ArrayLike,
    human: ArrayLike,
    coverage: ArrayLike,
    level: Level,
    coefficient: Coefficient,
    *,
    share: float,
) -> Correlation:
    """`correlate` on the `share` (0 to 1] of the items that copy least, by coverage.

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
    found = correlate(np.where(kept, a, np.nan), np.where(kept, b, np.nan), level, coefficient)
    some = np.isfinite(a) | np.isfinite(b)
    return found._replace(n_missing=int(np.count_nonzero(some & ~present)))


def partial(
    metric: ArrayLike, human: ArrayLike, control: ArrayLike, coefficient: Coefficient
) -> Partial:
    """Partial correlation of all items, pooled, given a number per item (coverage, length).

    (r_mh - r_mc r_hc) / sqrt((1 - r_mc**2) (1 - r_hc**2)), of ranks for Spearman. For Kendall the
    same formula of taus, without p (Kendall 1942, Partial rank correlation). NaN where a pair is
    undefined or the control explains one side wholly. Raises ValueError for shapes that differ and
    for tau-c, of which there is no partial.
    """
    if coefficient == "kendall_c":
        raise ValueError("tau-c has no partial correlation; ask for kendall")
    x, y, z, missing = _trio(metric, human, control)
    rows = [(x, y), (x, z), (y, z)]
    found = [correlate(p[None], q[None], "global", coefficient).value for p, q in rows]
    rest = (1 - found[1] ** 2) * (1 - found[2] ** 2)
    value = np.nan
    if rest > NOISE:
        value = float(np.clip((found[0] - found[1] * found[2]) / np.sqrt(rest), -1.0, 1.0))
    p = np.nan if coefficient == "kendall" else _p(value, x.size - 3)
    return Partial(value, x.size, missing, p)


def partial_given_system(metric: ArrayLike, human: ArrayLike, coefficient: Coefficient) -> Partial:
    """Partial correlation of all items given who wrote them: both sides less their system's mean.

    What is left when a metric cannot score by telling good systems from bad ones. Spearman takes
    ranks among all items before the means. Systems with one item say nothing and drop out. Raises
    ValueError for Kendall, which has no such partial, and for shapes that differ.
    """
    if coefficient not in ("pearson", "spearman"):
        raise ValueError(f"{coefficient} cannot be taken given a system; ask for spearman")
    a, b, present = matrices(metric, human)
    missing = int(np.sum(np.isfinite(a) != np.isfinite(b)))
    system = np.nonzero(present)[0]
    alone = np.bincount(system, minlength=len(a))[system] < 2
    system = system[~alone]
    sides = [side[present][~alone] for side in (a, b)]
    if coefficient == "spearman":
        sides = [scipy.stats.rankdata(side) if side.size else side for side in sides]
    left = [_less_means(side, system, len(a)) for side in sides]
    value = float(pearson(left[0], left[1]))
    freedom = system.size - np.unique(system).size - 1
    return Partial(value, system.size, missing, _p(value, freedom))


def _trio(
    metric: ArrayLike, human: ArrayLike, control: ArrayLike
) -> tuple[Array, Array, Array, int]:
    a, b, present = matrices(metric, human)
    c, _, controlled = matrices(control, b)
    whole = present & controlled
    some = np.isfinite(a) | np.isfinite(b)
    return a[whole], b[whole], c[whole], int(np.count_nonzero(some & ~whole))


def _less_means(values: Array, system: NDArray[np.intp], n: int) -> Array:
    count = np.maximum(np.bincount(system, minlength=n), 1)
    left = values - (np.bincount(system, values, minlength=n) / count)[system]
    # The rest of a system's constant scores is rounding, and must not correlate.
    size = float(np.max(np.abs(values), initial=0.0))
    cleaned: Array = np.where(np.abs(left) <= 10 * NOISE * size, 0.0, left)
    return cleaned


def _p(value: float, freedom: int) -> float:
    if np.isnan(value) or freedom < 1:
        return np.nan
    if 1.0 - abs(value) <= NOISE:
        return 0.0
    t = abs(value) * np.sqrt(freedom / (1.0 - value**2))
    return float(2.0 * scipy.special.stdtr(freedom, -t))

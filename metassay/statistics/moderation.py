"""Variances of many metrics, each estimated from few systems, that learn from each other.

With eight systems a metric's variance between systems has seven degrees of freedom, which makes its
interval wide. Twenty metrics of the same systems say how large such
variances are: each is moderated towards what they have in common, and gains degrees of freedom.
Source: Smyth 2004, Linear models and empirical Bayes methods for assessing differential expression
in microarray experiments, section 6.2 (the prior's two numbers by the moments of log variances).
"""

from collections.abc import Callable, Sequence

import numpy as np
import scipy.special

from metassay.statistics.arithmetic import Array
from metassay.statistics.jackknife import LeftOut, Spread, fisher_z, spread

LEAST = 1e-6  # degrees of freedom that metrics must lend each other to count
Moderate = Callable[[Spread], Spread]


def between_systems(left: LeftOut, *, difference: bool = False) -> Spread | None:
    """The variance between systems of one metric; None where it is not known."""
    values, of = left.sources[0]
    return spread(fisher_z(values / 2.0 if difference else values), of)


def moderator(found: Sequence[Spread | None], moves: Array, *, alone: bool = False) -> Moderate:
    """What `jackknife.interval` does to a variance, from those of all metrics.

    `moves` (metrics, leave-outs): of `simultaneous.deviations`. The larger of the variance and the
    moderated one is taken. Metrics that move alike count as fewer: degrees of freedom never exceed
    those of so many independent ones. `alone`: the interval rests on systems alone, and the metric
    keeps its own degrees of freedom, because with more of them too many lower ends are too high
    (`docs/calibration.md`). With fewer than three metrics nothing changes.
    """
    known = [one for one in found if one is not None and one.variance > 0]
    if len(known) < 3:
        return lambda one: one
    variance = np.array([one.variance for one in known])
    freedom = np.array([one.freedom for one in known])
    half = freedom / 2.0
    e = np.log(variance) - scipy.special.digamma(half) + np.log(half)
    excess = float(np.var(e, ddof=1) - np.mean(scipy.special.polygamma(1, half)))
    prior = 2.0 * _inverse_trigamma(excess) if excess > 0 else np.inf
    prior = min(prior, (_independent(moves) - 1.0) * float(np.mean(freedom)))
    if prior < LEAST:
        return lambda one: one
    common = np.exp(np.mean(e) + scipy.special.digamma(prior / 2.0) - np.log(prior / 2.0))

    def moderate(one: Spread) -> Spread:
        total = prior + one.freedom
        shrunk = (prior * common + one.freedom * one.variance) / total
        return Spread(max(one.variance, float(shrunk)), one.freedom if alone else total)

    return moderate


def _independent(moves: Array) -> float:
    """To how many independent metrics these come, by how alike they move."""
    length = np.sqrt(np.sum(moves**2, axis=1))
    used = moves[length > 0] / length[length > 0, None]
    # No BLAS: its order of summation, and so the last bit, differs between processors.
    alike = np.einsum("ml,nl->mn", used, used)
    return float(len(used) ** 2 / np.sum(alike**2))


def _inverse_trigamma(value: float) -> float:
    """x with trigamma(x) = value, above 0; by Newton's method as in Smyth 2004, appendix."""
    if value > 1e7:
        return float(1.0 / np.sqrt(value))
    if value < 1e-6:
        return 1.0 / value
    x = 0.5 + 1.0 / value
    for _ in range(50):
        tri = float(scipy.special.polygamma(1, x))
        step = tri * (1.0 - tri / value) / float(scipy.special.polygamma(2, x))
        x += step
        if -step / x < 1e-8:
            break
    return float(x)

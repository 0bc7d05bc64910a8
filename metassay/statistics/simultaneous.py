"""Many metrics at once: variances that learn from each other, intervals that hold together.

With eight systems a metric's variance between systems has seven degrees of freedom, which makes its
interval wide. Twenty metrics of the same systems say how large such variances are: each is
moderated towards what they have in common, and gains degrees of freedom. Source: Smyth 2004, Linear
models and empirical Bayes methods for assessing differential expression in microarray experiments,
section 6.2 (the prior's two numbers by the moments of log variances).

Then the best of many: intervals that hold for all metrics at once, values corrected for choice.
"""

from collections.abc import Callable, Sequence

import numpy as np
import scipy.special

from metassay.statistics.exact_sums import Array
from metassay.statistics.jackknife import LeftOut, Spread, fisher_z, spread

LEAST_FREEDOM = 1e-6  # degrees of freedom that metrics must lend each other to count
Moderate = Callable[[Spread], Spread]


def between_systems(left: LeftOut, *, difference: bool = False) -> Spread | None:
    """The variance between systems of one metric; None where it is not known."""
    values, of = left.sources[0]
    return spread(fisher_z(values / 2.0 if difference else values), of)


def moderator(found: Sequence[Spread | None], moves: Array, *, alone: bool = False) -> Moderate:
    """What `jackknife.interval` does to a variance, from those of all metrics.

    `moves` (metrics, leave-outs): of `deviations`. The larger of the variance and the
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
    if prior < LEAST_FREEDOM:
        return lambda one: one
    common = np.exp(np.mean(e) + scipy.special.digamma(prior / 2.0) - np.log(prior / 2.0))

    def moderate(one: Spread) -> Spread:
        total = prior + one.freedom
        shrunk = (prior * common + one.freedom * one.variance) / total
        return Spread(max(one.variance, float(shrunk)), one.freedom if alone else total)

    return moderate


def _independent(moves: Array) -> float:
    """To how many independent metrics these come, by how alike they move."""
    used = _directions(moves)
    # No BLAS: its order of summation, and so the last bit, differs between processors.
    alike = np.einsum("ml,nl->mn", used, used)
    return float(len(used) ** 2 / np.sum(alike**2))


def _directions(moves: Array) -> Array:
    """The metrics that move at all, each of length 1."""
    length = np.sqrt(np.sum(moves**2, axis=1))
    directions: Array = moves[length > 0] / length[length > 0, None]
    return directions


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


DRAWS = 20_000  # of the largest of all deviations
GRID = 201  # places on which the distribution of true values is fitted
ROUNDS = 300  # of fitting it
LEAST_ERROR = 1e-6  # smallest standard error on the scale of Fisher's z


def deviations(left: Sequence[LeftOut], *, difference: bool = False) -> Array:
    """(metrics, leave-outs): how each leave-out moves each metric; squares sum to its variance.

    NaN counts as no move. The scale is that of `jackknife.interval`.
    """
    rows = []
    for one in left:
        row = []
        for values, of in one.sources:
            moved = fisher_z(values / 2.0 if difference else values)
            known = ~np.isnan(moved)
            n = np.bincount(of[known], minlength=int(of.max(initial=0)) + 1)
            centre = np.bincount(of[known], moved[known], minlength=n.size) / np.maximum(n, 1)
            scale = np.sqrt(np.maximum(n - 1, 0) / np.maximum(n, 1))
            row.append(np.where(known, moved - centre[of], 0.0) * scale[of])
        rows.append(np.concatenate(row))
    return np.stack(rows) if rows else np.empty((0, 0))


def joint_confidence(moves: Array, *, confidence: float, rng: np.random.Generator) -> float:
    """The confidence that each interval needs so that all hold together with `confidence`.

    `moves`: of `deviations`. The metrics' errors are taken for normal with the correlations that
    their leave-outs have; one metric alone needs no more than `confidence`.
    """
    used = _directions(moves)
    if len(used) < 2:
        return confidence
    # No BLAS: its order of summation, and so the last bit, differs between processors.
    drawn = np.einsum("ml,ld->md", used, rng.standard_normal((used.shape[1], DRAWS)))
    largest = np.max(np.abs(drawn), axis=0)
    reach = np.quantile(largest, confidence)
    return max(confidence, float(2.0 * scipy.special.ndtr(reach) - 1.0))


def corrected_for_choice(values: Array, moves: Array) -> Array:
    """Each metric's value as it is expected to be when it is met again: less luck for the best.

    Values (metrics,) are correlations, `moves` of `deviations` on Fisher's scale. The distribution
    of all metrics' true values is fitted without assuming a shape (Kiefer and Wolfowitz 1956, by
    expectation maximisation), and each metric gets its posterior mean: metrics that differ no more
    than chance would make them meet in the middle, one that stands out by more keeps its place.
    The error that all metrics share is not chosen by, and stays in. One metric alone is returned
    as it is; NaN stays NaN.
    """
    known = np.flatnonzero(~np.isnan(values))
    found = np.array(values, dtype=np.float64)
    if known.size < 2:
        return found
    z, own = fisher_z(found[known]), moves[known] - np.mean(moves[known], axis=0)
    spread = np.sqrt(np.sum(own**2, axis=1) * known.size / (known.size - 1))
    # The mean of all can be noisier than a metric that is known well.
    error = np.maximum(np.minimum(spread, np.sqrt(np.sum(moves[known] ** 2, axis=1))), LEAST_ERROR)
    if np.ptp(z) == 0:
        return found
    # With the values themselves, so that one with next to no error has a place where it may be.
    places = np.union1d(np.linspace(z.min(), z.max(), GRID), z)
    likelihood = np.exp(-0.5 * ((z[:, None] - places) / error[:, None]) ** 2) / error[:, None]
    likelihood /= np.maximum(likelihood.max(axis=1, keepdims=True), np.finfo(float).tiny)
    weight = np.full(places.size, 1.0 / places.size)
    for _ in range(ROUNDS):
        joint = likelihood * weight
        weight = np.mean(joint / joint.sum(axis=1, keepdims=True), axis=0)
    joint = likelihood * weight
    found[known] = np.tanh(np.sum(joint * places, axis=1) / joint.sum(axis=1))
    return found

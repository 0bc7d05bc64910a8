"""The best of many: intervals that hold for all metrics at once, values corrected for choice."""

from collections.abc import Sequence

import numpy as np
import scipy.special

from metassay.statistics.arithmetic import Array
from metassay.statistics.jackknife import LeftOut, fisher_z

DRAWS = 20_000  # of the largest of all deviations
GRID = 201  # places on which the distribution of true values is fitted
ROUNDS = 300  # of fitting it
LEAST = 1e-6  # smallest standard error on the scale of Fisher's z


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
    length = np.sqrt(np.sum(moves**2, axis=1))
    used = moves[length > 0] / length[length > 0, None]
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
    error = np.maximum(np.minimum(spread, np.sqrt(np.sum(moves[known] ** 2, axis=1))), LEAST)
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

"""Estimate the weight of each facet in an overall score, by least squares.

Texts are rows, facets columns: `shares[i, f]` is text i's grade of facet f as a share
of the best grade, NaN where the text lacks the facet; `overall[i]` is its overall score
as a share. `counts` (resamples, texts) is how often each text counts, so that all
resamples are fitted at once.
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from metassay.statistics.exact_sums import Array, blocks, quotient

Method = Literal["complete", "renormalised"]

_STEPS = 100
_CONVERGED = 1e-11  # the search ends when no weight changes by more
# ratio of smallest to largest eigenvalue below which weights are undefined
_SINGULAR = 1e-10
_EXACT = 1e-12  # smaller errors are rounding, which differs between processors
CHUNK = 1 << 21  # numbers in one temporary array: 16 MB


def fit(
    overall: ArrayLike,
    shares: ArrayLike,
    counts: ArrayLike,
    method: Method,
    *,
    non_negative: bool = False,
) -> Array:
    """Fit weights (resamples, facets), in the order of the columns; NaN where undefined.

    - `complete`: the weights w that minimise the sum of (overall - shares w)**2 over
      the texts with all facets, without intercept or constraint on their sum: the
      linear fit of Guo et al. 2024.
    - `renormalised`: over all texts, of (overall - (shares w) / (present w))**2, where
      `present` is 1 if the text has the facet. Only ratios of such weights are
      identified; they are scaled to sum 1. By Gauss-Newton: multiplied out, the problem
      is linear in w, but noise in the overall scores would bias the weights towards
      facets that are often absent.

    `non_negative`: the best weights of at least 0 (Lawson and Hanson 1974). Weights are
    undefined with fewer texts than facets, or if a facet is a combination of others.
    Raises ValueError unless shapes fit.
    """
    y, s, present = _check(overall, shares)
    times = np.asarray(counts, dtype=np.float64)
    if times.ndim != 2 or times.shape[1] != y.size:
        raise ValueError(
            f"expected counts of {y.size} texts in each row, got {times.shape}"
        )
    if method == "complete":
        complete = present.all(axis=1)
        s_by_facet = _put_texts_last(s[complete])
        weighted = times[:, None, complete] * s_by_facet
        normal = np.einsum("rfn,gn->rfg", weighted, s_by_facet)
        return _solve(
            normal, np.einsum("rfn,n->rf", weighted, y[complete]), non_negative
        )
    weights = np.empty((len(times), s.shape[1]))
    s_by_facet, present_by_facet = _put_texts_last(s), _put_texts_last(present)
    for rows in blocks(len(times), s.size, numbers=CHUNK):
        weights[rows] = _ratios(
            y, s_by_facet, present_by_facet, times[rows], non_negative
        )
    return weights


def mean_squared_error(
    overall: ArrayLike, shares: ArrayLike, weights: ArrayLike, method: Method
) -> float:
    """Return the mean of (overall - predicted)**2 over the texts that `method` uses.

    NaN without texts, for NaN weights, and if all facets of a text have weight 0.
    """
    y, s, present = _check(overall, shares)
    w = np.asarray(weights, dtype=np.float64)
    if method == "complete":
        complete = present.all(axis=1)
        y, predicted = y[complete], np.einsum("nf,f->n", s[complete], w)
    else:
        sums = np.einsum("nf,f->n", present, w)
        predicted = quotient(np.einsum("nf,f->n", s, w), sums, sums != 0)
    error = y - predicted
    error[np.abs(error) <= _EXACT] = 0.0
    return float(np.mean(error**2)) if y.size else np.nan


def _check(overall: ArrayLike, shares: ArrayLike) -> tuple[Array, Array, Array]:
    # Overall scores, shares with 0 for NaN, and present.
    y, s = np.asarray(overall, dtype=np.float64), np.asarray(shares, dtype=np.float64)
    if y.ndim != 1 or s.ndim != 2 or len(s) != y.size:
        raise ValueError(
            f"expected (texts,) and (texts, facets), got {y.shape}, {s.shape}"
        )
    present = np.isfinite(s)
    if not (np.isfinite(y).all() and present.any(axis=1).all()):
        raise ValueError("a text has no overall score, or no facet")
    return y, np.where(present, s, 0.0), present


def _put_texts_last(values: Array) -> Array:
    # Texts last: einsum sums along them five times as fast.
    return np.ascontiguousarray(values.T, dtype=np.float64)


def _ratios(
    y: Array, s: Array, present: Array, times: Array, non_negative: bool
) -> Array:
    # Gauss-Newton from equal weights. The derivative J of the predictions has J w = 0,
    # as only ratios matter; the square of (sum of weights - 1) added to each step's
    # problem fixes the sum.
    n_facets = len(s)
    w = np.full((len(times), n_facets), 1.0 / n_facets)
    step = np.full(len(times), np.inf)
    for _ in range(_STEPS):
        open_rows = np.flatnonzero(step > _CONVERGED)  # NaN counts as finished
        if not open_rows.size:
            break
        current, counted = w[open_rows], times[open_rows]
        sums = np.einsum("rf,fn->rn", current, present)
        defined = sums != 0
        inverse = quotient(1.0, sums, defined, other=0.0)
        predicted = np.einsum("rf,fn->rn", current, s) * inverse
        slope = present * (s - predicted[:, None]) * inverse[:, None]
        weighted = counted[:, None] * slope
        error = np.where(defined, y - predicted, 0.0)
        target = np.einsum("rfn,rn->rf", weighted, error) + 1.0
        updated = _solve(
            np.einsum("rfn,rgn->rfg", weighted, slope) + 1.0, target, non_negative
        )
        total = updated.sum(axis=1, keepdims=True)
        updated = quotient(updated, total, total > 0)
        step[open_rows] = np.abs(updated - current).max(axis=1)
        w[open_rows] = updated
    return np.where(step[:, None] <= _CONVERGED, w, np.nan)


def _solve(left: Array, right: Array, non_negative: bool) -> Array:
    # The solution of each left w = right; non-negative least squares if requested.
    eigenvalues = np.linalg.eigvalsh(left) if len(left) else np.zeros((0, 1))
    regular = eigenvalues[:, 0] > _SINGULAR * np.maximum(
        eigenvalues[:, -1], np.finfo(float).tiny
    )
    solution = np.full(right.shape, np.nan)
    solution[regular] = _eliminate(left[regular], right[regular])
    if non_negative:
        from scipy.optimize import nnls  # slow to import

        for row in np.flatnonzero(regular & (solution < 0).any(axis=1)):
            root = np.linalg.cholesky(left[row])
            positive = np.flatnonzero(
                nnls(root.T, np.linalg.solve(root, right[row]))[0]
            )
            solution[row] = 0.0
            part = (
                left[row][np.ix_(positive, positive)][None],
                right[[row]][:, positive],
            )
            solution[row, positive] = _eliminate(*part)
    return solution


def _eliminate(left: Array, right: Array) -> Array:
    # The solution of each positive definite left w = right, by Gauss and Jordan: LAPACK
    # and BLAS round in an order that depends on the processor.
    rows = np.concatenate([left, right[:, :, None]], axis=2)
    for pivot in range(right.shape[1]):
        rows[:, pivot] /= rows[:, pivot, pivot, None]
        factor = rows[:, :, pivot, None].copy()
        factor[:, pivot] = 0.0
        rows -= factor * rows[:, pivot, None]
    return np.asarray(rows[:, :, -1])
